//! Gaffer's simple binary congestion avoidance, as a game sees it: 30 packets a second or 10.

use porous_proto::congestion::BinaryMode;
use porous_sim::{LinkConfig, Pair};

use super::{milliseconds, settings};
use crate::game::{Game, Settings, TICKS};

/// One-way delays in ms, for round trips of 120 and 300 ms.
const SHORT: u64 = 60;
const LONG: u64 = 150;

/// A game on a network whose round trips are forced up and down.
struct Forced {
    game: Game,
    /// The tick since which the round trip has not been too long.
    calm_since: u32,
    ticks: u32,
}

impl Forced {
    fn new() -> Self {
        let link = LinkConfig::new().delay(milliseconds(SHORT));
        let settings = Settings {
            rates: [30, 10],
            ..settings(1, link)
        };
        Self {
            game: Game::new(settings),
            calm_since: 0,
            ticks: 0,
        }
    }

    fn is_long(&self) -> bool {
        self.game.stats().rtt > milliseconds(250)
    }

    fn set_delay(&mut self, delay: u64) {
        let link = LinkConfig::new().delay(milliseconds(delay));
        let network = self.game.pair.world.network_mut();
        network.set_both(Pair::A, Pair::B, link);
    }

    fn tick(&mut self) {
        if self.is_long() {
            self.calm_since = self.ticks + 1;
        }
        self.game.tick();
        self.ticks += 1;
    }

    /// The number of snapshots in this many seconds.
    fn snapshots(&mut self, seconds: u32) -> u64 {
        let before = self.game.figures().snapshots;
        for _ in 0..seconds * TICKS {
            self.tick();
        }
        self.game.figures().snapshots - before
    }

    /// Makes the round trip long: bad mode begins with the tick that sees it.
    fn force_up(&mut self) {
        self.set_delay(LONG);
        while !self.is_long() {
            assert_eq!(self.game.mode, BinaryMode::Good, "too early");
            self.tick();
        }
        self.tick();
        assert_eq!(self.game.mode, BinaryMode::Bad, "at once");
    }

    /// Makes the round trip short again. Returns for how many seconds it was short until good mode began.
    fn force_down(&mut self) -> u32 {
        self.set_delay(SHORT);
        while self.game.mode == BinaryMode::Bad {
            self.tick();
        }
        // The last tick has seen that all before it were good.
        (self.ticks - 1 - self.calm_since).div_ceil(TICKS)
    }
}

#[test]
fn thirty_packets_a_second_become_ten_at_once_and_thirty_again_after_a_while() {
    let mut forced = Forced::new();
    assert_eq!(forced.snapshots(5), 150);
    forced.force_up();
    let before = forced.game.figures().snapshots;
    assert_eq!(forced.snapshots(10), 100);
    assert_eq!(forced.game.figures().snapshots, before + 100);
    // Twice the four seconds, because good mode had lasted for less than ten.
    assert_eq!(forced.force_down(), 8);
    assert_eq!(forced.snapshots(5), 150);
}

#[test]
fn good_mode_that_ends_within_ten_seconds_doubles_the_wait_up_to_a_minute() {
    let mut forced = Forced::new();
    for wait in [8, 16, 32, 60, 60] {
        forced.snapshots(1);
        forced.force_up();
        assert_eq!(forced.force_down(), wait);
    }
}

#[test]
fn each_ten_seconds_of_good_mode_halve_the_wait_down_to_a_second() {
    for (good, wait) in [(12, 2), (22, 1), (60, 1)] {
        let mut forced = Forced::new();
        forced.snapshots(good);
        forced.force_up();
        assert_eq!(forced.force_down(), wait, "after {good} good seconds");
    }
}
