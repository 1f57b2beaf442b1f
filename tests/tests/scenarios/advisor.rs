//! A game asks an advisor how often to send, on a path that gets worse and better.
#![expect(clippy::unwrap_used, reason = "a test")]

use core::time::Duration;

use porous_proto::congestion::{Advisor, BinaryMode};
use porous_proto::{Instant, Mode};
use porous_sim::{LinkConfig, Pair, Service};
use porous_tests::{config, seed};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
/// 60 ticks a second.
const TICK: Duration = Duration::from_micros(16_667);

/// The line, with its delay one way.
fn line(delay: u32) -> LinkConfig {
    LinkConfig::new().delay(delay * MS)
}

/// Two hosts in game loops; A sends its state as often as it is told to, and B ten times a second.
struct Game {
    pair: Pair,
    advisor: Advisor,
    mode: BinaryMode,
    next_state: Instant,
    sent: u32,
}

impl Game {
    fn new() -> Self {
        let mut pair = Pair::new(seed(), line(50), config::new(), config::new());
        for host in [Pair::A, Pair::B] {
            pair.world.set_service(host, Service::tick(TICK));
        }
        pair.connect_to_listener();
        Self {
            next_state: pair.world.now(),
            pair,
            advisor: Advisor::new(),
            mode: BinaryMode::Good,
            sent: 0,
        }
    }

    fn tick(&mut self) {
        let now = self.pair.world.now();
        let peer = self.pair.peer(Pair::A);
        let stats = self.pair.world.host(Pair::A).peer(peer).unwrap().stats();
        let advice = self.advisor.update(&stats, now);
        self.mode = advice.mode;
        if now >= self.next_state {
            self.next_state = now + SECOND / advice.packets;
            self.sent += 1;
            let state = vec![7; 256];
            self.pair.send(Pair::A, 0, Mode::Unreliable, state).unwrap();
        }
        self.pair.world.run_for(TICK);
        for host in [Pair::A, Pair::B] {
            self.pair.receive_all(host);
        }
    }

    fn set_link(&mut self, link: LinkConfig) {
        let network = self.pair.world.network_mut();
        network.set_both(Pair::A, Pair::B, link);
    }

    /// Plays for `time`, and returns the number of states that were sent.
    fn play(&mut self, time: Duration) -> u32 {
        let (end, before) = (self.pair.world.now() + time, self.sent);
        while self.pair.world.now() < end {
            self.tick();
        }
        self.sent - before
    }

    /// The time until the mode changes.
    fn until_it_changes(&mut self) -> Duration {
        let (start, mode) = (self.pair.world.now(), self.mode);
        while self.mode == mode {
            self.tick();
            let time = self.pair.world.now().saturating_duration_since(start);
            assert!(time < 90 * SECOND, "{mode:?} for ever");
        }
        self.pair.world.now().saturating_duration_since(start)
    }
}

/// D7.
#[test]
fn a_game_sends_less_while_round_trips_are_long() {
    let mut game = Game::new();
    let states = game.play(11 * SECOND);
    // At 60 ticks a second, thirty states a second are one every second or third tick.
    assert!((200..=330).contains(&states), "{states} in eleven seconds");
    assert_eq!(game.mode, BinaryMode::Good);

    game.set_link(line(300));
    let time = game.until_it_changes();
    assert!(time < 8 * SECOND, "noticed after {time:?}");
    let states = game.play(10 * SECOND);
    assert!((80..=101).contains(&states), "{states} in ten seconds");
    assert_eq!(game.mode, BinaryMode::Bad);

    game.set_link(line(50));
    let time = game.until_it_changes();
    assert!(time > SECOND && time < 20 * SECOND, "after {time:?}");
}

/// Each time that the path was good only for a moment, it takes longer until the advisor trusts it.
/// D7.
#[test]
fn a_path_that_toggles_is_trusted_ever_less() {
    let mut game = Game::new();
    let mut waits = Vec::new();
    for _ in 0..4 {
        game.set_link(line(300));
        game.until_it_changes();
        game.set_link(line(50));
        waits.push(game.until_it_changes());
        game.play(SECOND);
    }
    let doubled = |pair: &[Duration]| pair[1] > pair[0] + pair[0] / 3;
    assert!(waits.windows(2).all(doubled), "{waits:?}");
    // After a quiet minute the advisor trusts the path at once.
    game.play(60 * SECOND);
    game.set_link(line(300));
    game.until_it_changes();
    game.set_link(line(50));
    assert!(game.until_it_changes() < waits[0], "{waits:?}");
}

#[test]
fn a_game_sends_less_while_much_is_lost() {
    let mut game = Game::new();
    game.play(11 * SECOND);
    assert_eq!(game.mode, BinaryMode::Good);
    game.set_link(line(50).loss(30.0));
    let time = game.until_it_changes();
    assert!(time < 5 * SECOND, "noticed after {time:?}");
    game.set_link(line(50));
    let time = game.until_it_changes();
    assert!(time < 20 * SECOND, "forgotten after {time:?}");
    // A loss of less than one in a hundred is no reason to send less.
    game.set_link(line(50).loss(0.5));
    let states = game.play(60 * SECOND);
    // A few losses in a row may be taken for more, for some seconds.
    assert!(states > 1200, "{states} in a minute");
}
