//! Readers that stop (`docs/wire.md`, "Budgets"): they hold up the peers that send to them, and no
//! others, for as long as they do not read; no reliable packet is lost by it.
#![expect(clippy::unwrap_used, reason = "a test")]

use core::time::Duration;

use porous_proto::{ChannelId, Config, Event, Ignored, Listen, Mode, PeerId, PeerState, Priority};
use porous_sim::{Intercept, LinkConfig, Pair, World};
use porous_tests::{Traffic, config, connected, ended, events, seed};

const MS: Duration = Duration::from_millis(1);
const BUDGET: u32 = 32 * 1024;

fn line() -> LinkConfig {
    LinkConfig::new().delay(20 * MS)
}

fn small() -> Config {
    let config = config::new().receive_budget(8 * 1024, BUDGET).unwrap();
    config.send_budget(BUDGET).unwrap()
}

/// A server and its players, all connected.
struct Game {
    world: World,
    /// The server's peer id of each player, and each player's peer id of the server.
    players: Vec<(PeerId, PeerId)>,
    /// The number of the next packet to each player, and of the next one expected from the server.
    numbers: Vec<(u32, u32)>,
}

const SERVER: u32 = 100;

impl Game {
    fn new(players: u32) -> Self {
        let mut world = World::new(seed(), line());
        world.add_host(SERVER, small());
        world.host_mut(SERVER).listen(Listen::Open).unwrap();
        let mut both = Vec::new();
        for player in 0..players {
            world.add_host(player, small());
            let there = world.connect(player, SERVER).unwrap();
            world.run_for(500 * MS);
            assert_eq!(connected(&events(&mut world, player)), [there]);
            let here = connected(&events(&mut world, SERVER));
            both.push((here[0], there));
        }
        Self {
            world,
            players: both,
            numbers: vec![(0, 0); players as usize],
        }
    }

    /// The server sends 500 reliable bytes to every player whose peer accepts them.
    fn serve(&mut self) {
        for (&(player, _), (number, _)) in self.players.iter().zip(&mut self.numbers) {
            let mut packet = number.to_le_bytes().to_vec();
            packet.resize(500, 7);
            let host = self.world.host_mut(SERVER);
            let sent = host.send(player, ChannelId(0), packet, Mode::Reliable);
            *number += u32::from(sent.is_ok());
        }
    }

    /// A player reads, and answers every packet.
    fn read(&mut self, player: u32) {
        let context = self.world.seed();
        let (_, server) = self.players[player as usize];
        let (_, expected) = &mut self.numbers[player as usize];
        let host = self.world.host_mut(player);
        while let Some(packet) = host.receive(server) {
            let number = packet.payload[..4].try_into().unwrap();
            assert_eq!(u32::from_le_bytes(number), *expected, "{player}; {context}");
            *expected += 1;
            let sent = host.send(server, ChannelId(0), vec![1; 20], Mode::Reliable);
            assert_eq!(sent, Ok(()), "{player}; {context}");
        }
    }

    /// The number of answers that the server receives now.
    fn answers(&mut self, player: u32) -> u32 {
        let host = self.world.host_mut(SERVER);
        let (player, _) = self.players[player as usize];
        let answers = core::iter::from_fn(|| host.receive(player));
        u32::try_from(answers.count()).unwrap()
    }
}

/// Player 0 of three does not read for `duration`.
fn stopped(duration: Duration) {
    let mut game = Game::new(3);
    let context = format!("{duration:?}; {}", game.world.seed());
    let mut answers = [0; 3];
    let rounds = u32::try_from(duration.as_millis() / 20).unwrap();
    for round in 0..rounds + 500 {
        game.serve();
        game.world.run_for(20 * MS);
        for player in 0..3 {
            if player > 0 || round >= rounds {
                game.read(player);
            }
            answers[player as usize] += game.answers(player);
        }
        if round + 1 == rounds {
            // The player's budget holds as many packets as fit, 58 of 564 bytes each; the server's send
            // budget holds 50 more, because an eighth of it is kept for unreliable packets.
            assert_eq!(game.numbers[0], (58 + 50, 0), "{context}");
            assert!(game.numbers[1].0 == rounds && game.numbers[2].1 > rounds - 5);
        }
    }
    game.world.run_for(500 * MS);
    for player in 0..3 {
        game.read(player);
        game.world.run_for(500 * MS);
        answers[player as usize] += game.answers(player);
        let (sent, got) = game.numbers[player as usize];
        assert_eq!((got, answers[player as usize]), (sent, sent), "{context}");
        assert!(sent > 500, "{player}: {sent}; {context}");
        let told = events(&mut game.world, player);
        assert!(ended(&told).is_empty(), "{told:?}; {context}");
        let stats = game.world.host(player).stats();
        assert_eq!(stats.ignored(Ignored::OverBudget), 0, "{context}");
    }
    let told = events(&mut game.world, SERVER);
    assert!(ended(&told).is_empty(), "{told:?}; {context}");
    let (reader, _) = game.players[0];
    let writable = |event: &&Event<u32>| **event == Event::Writable { peer: reader };
    assert!(told.iter().any(|event| writable(&event)), "{context}");
}

#[test]
fn a_reader_that_stops_for_ten_seconds_holds_up_nobody_else() {
    stopped(Duration::from_secs(10));
}

#[test]
fn a_reader_that_stops_for_ten_minutes_holds_up_nobody_else() {
    stopped(Duration::from_secs(600));
}

#[test]
fn a_full_buffer_is_told_of_its_room_once_each_time() {
    let mut pair = Pair::new(seed(), line(), small(), small());
    let context = pair.world.seed();
    pair.connect_to_listener();
    let (a, b) = (pair.peer(Pair::A), pair.peer(Pair::B));
    let mut traffic = Traffic::new(&pair, Pair::A, 4000, 11);
    for round in 0..50 {
        while traffic.send_as(&mut pair.world, Mode::Reliable) {}
        pair.world.run_for(2000 * MS);
        while traffic.send_as(&mut pair.world, Mode::Reliable) {}
        events(&mut pair.world, Pair::A);
        for _ in 0..10 {
            traffic.receive(&mut pair.world, b);
            pair.world.run_for(500 * MS);
        }
        let told = events(&mut pair.world, Pair::A);
        assert_eq!(told, [Event::Writable { peer: a }], "{round}; {context}");
    }
    assert!(traffic.model.is_complete(), "{context}");
}

/// B reads only now and then, while for `down`, again and again, no datagram of B gets through.
fn windows_lost(down: Duration, mode: Mode) {
    let config = small().timeout(Duration::from_secs(60)).unwrap();
    let mut pair = Pair::new(seed(), line(), config.clone(), config);
    let context = format!("{down:?} {mode:?}; {}", pair.world.seed());
    pair.connect_to_listener();
    let b = pair.peer(Pair::B);
    let mut traffic = Traffic::new(&pair, Pair::A, 8000, 13);
    for round in 0..20 {
        // Beside the packets that B keeps, as many again wait at A until B reads.
        while traffic.send_as(&mut pair.world, mode) {}
        pair.world.run_for(2000 * MS);
        while traffic.send_as(&mut pair.world, mode) {}
        let until = pair.world.now() + down;
        pair.world.intercept(move |passing| {
            if passing.from == Pair::B && passing.now < until {
                Intercept::Drop
            } else {
                Intercept::Pass
            }
        });
        traffic.receive(&mut pair.world, b);
        let before = traffic.model.counts(mode).1;
        pair.world.run_until(until);
        for _ in 0..20 {
            pair.world.run_for(100 * MS);
            traffic.receive(&mut pair.world, b);
        }
        let after = traffic.model.counts(mode).1;
        assert!(after > before, "no progress in round {round}; {context}");
    }
    pair.world.run_for(2000 * MS);
    traffic.receive(&mut pair.world, b);
    assert!(traffic.model.is_complete(), "{context}");
    let stats = pair.world.host(Pair::B).stats();
    assert_eq!(stats.ignored(Ignored::OverBudget), 0, "{context}");
}

#[test]
fn lost_window_acknowledgements_are_made_up_for() {
    for ms in [100, 700, 3000] {
        for mode in [Mode::Reliable, Mode::Passive] {
            windows_lost(ms * MS, mode);
        }
    }
}

#[test]
fn all_channels_share_one_budget_and_all_resume() {
    let channels = vec![Priority::Low; 255];
    let config = small().channels(&channels).unwrap();
    let mut pair = Pair::new(seed(), line(), config.clone(), config);
    let context = pair.world.seed();
    pair.connect_to_listener();
    let b = pair.peer(Pair::B);
    let mut traffic = Traffic::new(&pair, Pair::A, 3000, 17);
    for _ in 0..10 {
        for _ in 0..100 {
            traffic.send(&mut pair.world);
            pair.world.run_for(10 * MS);
        }
        traffic.receive(&mut pair.world, b);
    }
    for _ in 0..100 {
        pair.world.run_for(100 * MS);
        traffic.receive(&mut pair.world, b);
    }
    assert!(traffic.model.is_complete(), "{context}");
    assert!(traffic.model.counts(Mode::Reliable).0 > 100, "{context}");
    let stats = pair.world.host(Pair::B).stats();
    assert_eq!(stats.ignored(Ignored::OverBudget), 0, "{context}");
}

#[test]
fn after_a_flood_of_what_may_be_lost_a_reader_gets_what_came_last() {
    let mut pair = Pair::new(seed(), line(), small(), small());
    let context = pair.world.seed();
    pair.connect_to_listener();
    let ms = |pair: &Pair| u32::try_from(pair.world.now().as_micros() / 1000).unwrap();
    let ages = |pair: &mut Pair| {
        let got = pair.receive_all(Pair::B);
        let sent = |payload: &[u8]| u32::from_le_bytes(payload[..4].try_into().unwrap());
        let ages = got.iter().map(|packet| ms(pair) - sent(&packet.payload));
        ages.collect::<Vec<_>>()
    };
    for round in 0..3000 {
        let mut packet = ms(&pair).to_le_bytes().to_vec();
        packet.resize(1000, 0);
        let _ = pair.send(Pair::A, 0, Mode::Unreliable, packet);
        pair.world.run_for(20 * MS);
        if round < 2500 {
            continue;
        }
        let ages = ages(&mut pair);
        assert_eq!(ages.len(), if round == 2500 { 30 } else { 1 }, "{context}");
        let oldest = ages.into_iter().max();
        assert!(oldest < Some(31 * 20 + 20), "{oldest:?} ms; {context}");
    }
    let sender = pair.world.host(Pair::A).peer(pair.peer(Pair::A)).unwrap();
    assert_eq!(sender.state(), PeerState::Connected, "{context}");
    let stats = sender.stats();
    assert_eq!(stats.packets_expired, 0, "{stats:?}; {context}");
    let reader = pair.world.host(Pair::B).peer(pair.peer(Pair::B)).unwrap();
    let evicted = reader.stats().packets_evicted;
    assert_eq!(evicted, 2501 - 30, "{context}");
    assert_eq!(reader.stats().packets_received.total(), 30 + 499);
}
