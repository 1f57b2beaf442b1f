//! The whole game in virtual time, over bad networks.
#![expect(clippy::unwrap_used, reason = "a test")]

extern crate alloc;

use alloc::collections::BTreeMap;
use core::time::Duration;

use porous_arena::{Bodies, Bot, ClientNet, Input, Server, ServerNet, configured};
use porous_proto::{Config, Disconnect, Event, Listen};
use porous_sim::{LinkConfig, Preset, Seed, World};

const SERVER: u32 = 0;
const TICK: Duration = Duration::from_micros(16_667);

/// A server and clients with bots, on a simulated network.
struct Rehearsal {
    seed: Seed,
    world: World,
    server: ServerNet,
    clients: Vec<(u32, ClientNet, Bot)>,
    /// The bodies at each tick, as the server had them.
    truth: BTreeMap<u32, Bodies>,
}

impl Rehearsal {
    fn new(seed: Seed, clients: u32, [up, down]: [LinkConfig; 2]) -> Self {
        let mut world = World::new(seed, up);
        world.add_host(SERVER, configured(Config::new()).unwrap());
        world.host_mut(SERVER).listen(Listen::Open).unwrap();
        let clients = (1..=clients).map(|at| {
            world.add_host(at, configured(Config::client()).unwrap());
            world.network_mut().set_link(SERVER, at, down);
            world.connect(at, SERVER).unwrap();
            (at, ClientNet::default(), Bot::new(seed, at.into()))
        });
        let clients = clients.collect();
        Self {
            seed,
            server: ServerNet::new(Server::new(seed)),
            clients,
            world,
            truth: BTreeMap::new(),
        }
    }

    fn play(&mut self, seconds: u32) {
        for _ in 0..seconds * porous_arena::TICKS {
            self.take_in();
            for (at, client, bot) in &mut self.clients {
                let input = bot.think(client.game.you(), &client.game.view());
                client.step(self.world.host_mut(*at), input);
            }
            self.server.step(self.world.host_mut(SERVER));
            let tick = self.server.game.tick();
            let bodies = self.server.game.bodies_at(tick).unwrap();
            self.truth.insert(tick, *bodies);
            self.world.run_for(TICK);
            self.check();
        }
    }

    fn take_in(&mut self) {
        while let Some(event) = self.world.poll_event(SERVER) {
            self.server.on_event(self.world.host_mut(SERVER), event);
        }
        for (at, client, _) in &mut self.clients {
            while let Some(event) = self.world.poll_event(*at) {
                assert!(
                    !matches!(event, Event::Disconnected { .. }),
                    "{event:?}, {}",
                    self.seed
                );
                client.on_event(self.world.host_mut(*at), event);
            }
        }
    }

    /// What a client has seen is what was there.
    fn check(&self) {
        for (_, client, _) in &self.clients {
            if let Some((tick, seen)) = client.game.past().last_key_value() {
                assert_eq!(Some(seen), self.truth.get(tick), "{}", self.seed);
            }
        }
    }

    /// Lets the last packets arrive.
    fn settle(&mut self) {
        for _ in 0..600 {
            self.take_in();
            self.world.run_for(TICK);
        }
    }
}

fn bad() -> [LinkConfig; 2] {
    let delay = Duration::from_millis(60);
    [LinkConfig::new().loss(5.0).delay(delay); 2]
}

#[test]
fn everybody_sees_what_was_there_and_hears_all_that_happened() {
    let mut game = Rehearsal::new(Seed::from_env(Seed::new(1)), 32, bad());
    game.play(10);
    game.settle();
    let seed = game.seed;
    let heard = game.clients.iter().map(|(_, it, _)| it.game.figures().told);
    assert_eq!(heard.sum::<u64>(), game.server.game.told(), "{seed}");
    assert_eq!(game.server.refused(), 0, "{seed}");
    let felled: u32 = game
        .server
        .game
        .all_scores()
        .iter()
        .map(|it| it.felled)
        .sum();
    assert!(felled > 3, "{felled}: they fight; {seed}");
    for (_, client, _) in &game.clients {
        let figures = client.game.figures();
        // Of 200 snapshots 190 arrive. Two in a row are lost once in 400, and then a frame or two stand still.
        assert!(figures.in_time + figures.late > 160, "{figures:?}, {seed}");
        assert!(figures.late * 50 < figures.in_time, "{figures:?}, {seed}");
        assert!(
            figures.held * 20 < figures.interpolated,
            "{figures:?}, {seed}"
        );
        assert_eq!(figures.unusable, 0, "{seed}");
        assert!(figures.tables > 5, "{figures:?}, {seed}");
    }
}

#[test]
fn the_same_seed_plays_the_same_game() {
    let digest = |seed| {
        let mut game = Rehearsal::new(Seed::new(seed), 8, Preset::HomeWifi.links());
        game.play(5);
        game.world.trace().digest()
    };
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}

#[test]
fn the_worst_network_shows_nothing_that_was_not_there() {
    for seed in 1..=3 {
        let mut game = Rehearsal::new(Seed::new(seed), 6, Preset::Terrible.links());
        game.play(20);
        for (_, client, _) in &game.clients {
            assert!(client.game.figures().in_time > 0, "{seed}");
        }
    }
}

#[test]
fn a_player_that_leaves_is_gone_for_the_others() {
    let mut game = Rehearsal::new(Seed::new(1), 3, bad());
    game.play(3);
    assert_eq!(game.server.players(), 3);
    let (at, leaver, _) = game.clients.pop().unwrap();
    let number = usize::from(leaver.game.you().unwrap());
    let seen = |game: &Rehearsal| game.clients[0].1.game.view()[number].is_some();
    assert!(seen(&game));
    let now = game.world.now();
    let server = leaver.server().unwrap();
    let host = game.world.host_mut(at);
    host.disconnect(now, server, Disconnect::Now { reason: 0 })
        .unwrap();
    game.play(2);
    assert_eq!(game.server.players(), 2);
    assert!(!seen(&game));
    // The next one gets its place.
    assert_eq!(game.server.game.enter().map(usize::from), Some(number));
}

/// A client that sends anything moves nobody but itself.
#[test]
fn what_no_client_sends_changes_nothing() {
    let [mut server, mut other] = [1, 1].map(|seed| Server::new(Seed::new(seed)));
    let player = server.enter().unwrap();
    assert_eq!(other.enter(), Some(player));
    for bytes in [&[][..], &[0xff; 3], &[0xff; 1200], &[0; 5]] {
        server.receive(player, bytes);
    }
    server.receive(9, &[0; 8]);
    server.delivered(player, u64::MAX);
    server.delivered(9, 1);
    assert_eq!(server.step(), other.step());
    assert_eq!(Input::IDLE.walk, porous_arena::STAND);
}
