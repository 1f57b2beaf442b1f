//! A server that is offered twice what its core can do.

use core::time::Duration;

use porous_proto::{ChannelId, DisconnectReason, Event, Instant, Listen, Mode, PeerId, Refusal};
use porous_sim::{LinkConfig, Service, World};
use porous_tests::{config, events, seed};

const SERVER: u32 = 1;
/// The first client; the others follow.
const FIRST: u32 = 1000;
const PLAYERS: u32 = 100;
/// Clients that come while the server is overloaded, and one that comes when it no longer is.
const LATE: [u32; 3] = [10, 11, 12];
const AFTER: u32 = 13;

const SECOND: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_micros(16_667);

/// Each player and the server send each other a state in each tick: 12,000 datagrams a second.
const STATE: [usize; 2] = [64, 200];

/// What the server's core takes for a datagram: twice as much as there is time for, and a quarter of that.
const SLOW: Duration = Duration::from_micros(166);
const FAST: Duration = Duration::from_micros(40);

const FULL: Option<DisconnectReason> = Some(DisconnectReason::Refused(Refusal::Full));

/// A server, its players, and what they have seen.
struct Match {
    world: World,
    /// The players' names for the server, in the order of their addresses.
    players: Vec<PeerId>,
    /// The server's names for them.
    guests: Vec<PeerId>,
    seen: Seen,
}

/// What arrived at the players in a second.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    states: u64,
    /// The greatest age of a state.
    oldest: Duration,
    /// Reliable packets of the players that have reached the server.
    said: u64,
}

fn connect(world: &mut World, address: u32) -> PeerId {
    let peer = world.connect(address, SERVER);
    peer.unwrap_or_else(|error| panic!("{error}; replay with {}", world.seed()))
}

impl Match {
    fn new() -> Self {
        let line = LinkConfig::new().delay(Duration::from_millis(20));
        let mut world = World::new(seed(), line);
        world.add_host(SERVER, config::new());
        let listens = world.host_mut(SERVER).listen(Listen::Open);
        assert_eq!(listens, Ok(()));
        let mut players = Vec::new();
        for address in FIRST..FIRST + PLAYERS {
            world.add_host(address, config::client());
            players.push(connect(&mut world, address));
        }
        world.run_for(SECOND);
        let mut guests = Vec::new();
        for event in events(&mut world, SERVER) {
            if let Event::Connected { peer, .. } = event {
                guests.push(peer);
            }
        }
        assert_eq!(guests.len(), players.len());
        for address in FIRST..FIRST + PLAYERS {
            assert_eq!(events(&mut world, address).len(), 1);
        }
        Self {
            world,
            players,
            guests,
            seen: Seen::default(),
        }
    }

    /// Lets everybody play for a second, in which each player says something that must arrive, and tells what
    /// they have seen in it.
    fn play(&mut self) -> Seen {
        self.seen = Seen::default();
        for (address, &peer) in (FIRST..).zip(&self.players) {
            let player = self.world.host_mut(address);
            let said = player.send(peer, ChannelId(0), &b"word"[..], Mode::Reliable);
            assert_eq!(said, Ok(()));
        }
        let end = self.world.now() + SECOND;
        while self.world.now() < end {
            self.tick();
        }
        self.seen
    }

    fn tick(&mut self) {
        let now = self.world.now();
        let mut state = vec![0; STATE[1]];
        state[..8].copy_from_slice(&now.as_micros().to_be_bytes());
        for &guest in &self.guests {
            // The send budget of none of them is ever full of states.
            let server = self.world.host_mut(SERVER);
            let sent = server.send(guest, ChannelId(0), &state[..], Mode::Unreliable);
            assert_eq!(sent, Ok(()));
        }
        for (address, &peer) in (FIRST..).zip(&self.players) {
            let player = self.world.host_mut(address);
            let sent = player.send(peer, ChannelId(0), &[0; STATE[0]][..], Mode::Unreliable);
            assert_eq!(sent, Ok(()));
        }
        self.world.run_for(TICK);
        self.read();
    }

    fn read(&mut self) {
        let now = self.world.now();
        for (address, &peer) in (FIRST..).zip(&self.players) {
            while let Some(packet) = self.world.host_mut(address).receive(peer) {
                let sent = packet.payload[..8].try_into().map(u64::from_be_bytes);
                let sent = Instant::from_micros(sent.expect("8 bytes"));
                let age = now.saturating_duration_since(sent);
                self.seen.oldest = self.seen.oldest.max(age);
                self.seen.states += 1;
            }
        }
        for &guest in &self.guests {
            while let Some(packet) = self.world.host_mut(SERVER).receive(guest) {
                self.seen.said += u64::from(packet.mode == Mode::Reliable);
            }
        }
    }

    /// How the attempts of these clients, which begin now, have ended after a second of play.
    fn come(&mut self, clients: &[u32]) -> Vec<Option<DisconnectReason>> {
        for &address in clients {
            self.world.add_host(address, config::client());
            connect(&mut self.world, address);
        }
        self.play();
        let ends = clients.iter().map(|&address| {
            let told = events(&mut self.world, address);
            let [told] = told.as_slice() else {
                panic!("{told:?}");
            };
            if let Event::Disconnected { reason, .. } = told {
                return Some(*reason);
            }
            assert!(matches!(told, Event::Connected { .. }), "{told:?}");
            None
        });
        ends.collect()
    }
}

/// Newcomers go first, then states, the oldest of them; what must arrive arrives, and nobody's connection ends.
#[test]
fn a_server_that_is_offered_twice_what_its_core_can_do_keeps_its_players_and_recovers() {
    if config::by_policy(false, true) {
        return; // the paper's senders do not slow down, and requests of newcomers are lost with all else
    }
    let mut game = Match::new();
    let replay = format!("replay with {}", game.world.seed());
    let all = u64::from(PLAYERS) * 60;
    let is_well = |seen: &Seen| seen.states >= all * 98 / 100 && seen.oldest < 3 * TICK;
    let before = game.play();
    assert!(is_well(&before), "{before:?}; {replay}");

    game.world.set_service(SERVER, Service::Core(SLOW));
    // Buffers fill up before anything gets lost.
    let mut said = before.said + game.play().said + game.play().said;
    assert_eq!(game.come(&LATE), [FULL; LATE.len()], "{replay}");
    said += game.seen.said;
    for second in 0..7 {
        let seen = game.play();
        said += seen.said;
        // `unreliable_age`, the line, and the turns of the hosts.
        let is_fresh = seen.oldest < 2 * SECOND + 6 * TICK;
        assert!(
            seen.states > all / 5 && is_fresh,
            "{second}: {seen:?}; {replay}"
        );
    }
    let refused = game.world.host(SERVER).stats().overloaded;
    assert!(refused >= LATE.len() as u64, "{refused}; {replay}");
    assert!(
        game.world.overflowed(SERVER) > all,
        "it was no overload; {replay}"
    );

    game.world.set_service(SERVER, Service::Core(FAST));
    said += game.play().said;
    let after = game.play();
    assert!(is_well(&after), "{after:?}; {replay}");
    assert_eq!(game.come(&[AFTER]), [None], "{replay}");
    said += after.said + game.seen.said + game.play().said;
    assert_eq!(said, 15 * u64::from(PLAYERS), "words were lost; {replay}");
    for address in (SERVER..=SERVER).chain(FIRST..FIRST + PLAYERS) {
        let ends = |event: &Event<u32>| matches!(event, Event::Disconnected { .. });
        let told = events(&mut game.world, address);
        assert!(!told.iter().any(ends), "{address}: {told:?}; {replay}");
    }
}
