//! Rates that the application knows: one rate whatever happens, or one for good conditions and one for bad
//! conditions (Gaffer's simple binary congestion avoidance).

use core::time::Duration;

use super::MAX_WINDOW;
use super::conditions::{BinaryMode, Conditions, Fates};
use super::controller::{Ack, Controller, Signal, Trouble};

/// Sends at one of two rates.
#[derive(Debug)]
pub(super) struct Binary {
    /// The rate in good conditions, in bytes a second.
    good: u32,
    /// The rate in bad conditions, in bytes a second.
    bad: u32,
    conditions: Conditions,
    fates: Fates,
}

impl Binary {
    /// Conditions are bad while the smoothed round trip is longer than this.
    const RTT: Duration = Duration::from_millis(250);

    pub(super) fn new(good: u32, bad: u32) -> Self {
        Self {
            // A pace of 0 would hold data back for ever.
            good: good.max(1),
            bad: bad.max(1),
            conditions: Conditions::new(),
            fates: Fates::new(),
        }
    }
}

impl Controller for Binary {
    fn on_ack(&mut self, ack: &Ack) {
        self.fates.add(u64::from(ack.frames), 0, ack.now);
        let is_bad = ack.smoothed_rtt > Self::RTT || self.fates.is_lossy();
        self.conditions.update(is_bad, ack.now);
    }

    fn on_trouble(&mut self, trouble: &Trouble) {
        match trouble.signal {
            Signal::Loss | Signal::FurtherLoss => self.fates.add(1, 1, trouble.now),
            // Nothing gets through: conditions are bad, whatever share was lost of few frames.
            Signal::Persistent => {
                self.fates.add(1, 1, trouble.now);
                self.conditions.update(true, trouble.now);
            }
            // A router says that its queue is full: there is nothing to count.
            Signal::Mark => self.conditions.update(true, trouble.now),
        }
        if self.fates.is_lossy() {
            self.conditions.update(true, trouble.now);
        }
    }

    fn on_mtu(&mut self, _: u32) {}

    fn window(&self) -> u32 {
        MAX_WINDOW
    }

    fn pacing_rate(&self) -> Option<u32> {
        Some(match self.conditions.mode() {
            BinaryMode::Good => self.good,
            BinaryMode::Bad => self.bad,
        })
    }
}

/// Sends at one rate whatever happens.
#[derive(Debug)]
pub(super) struct Fixed {
    /// In bytes a second.
    rate: u32,
}

impl Fixed {
    pub(super) fn new(rate: u32) -> Self {
        Self { rate: rate.max(1) }
    }
}

impl Controller for Fixed {
    fn on_ack(&mut self, _: &Ack) {}

    fn on_trouble(&mut self, _: &Trouble) {}

    fn on_mtu(&mut self, _: u32) {}

    fn window(&self) -> u32 {
        MAX_WINDOW
    }

    fn pacing_rate(&self) -> Option<u32> {
        Some(self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::script::{Script, ms};

    fn binary() -> Script<Binary> {
        Script::new(Binary::new(30_000, 10_000))
    }

    #[test]
    fn a_long_round_trip_is_bad_until_it_has_been_short_for_a_while() {
        let mut binary = binary();
        assert_eq!(binary.pacing_rate(), Some(30_000));
        binary.acknowledge(1000);
        binary.at(ms(11_000));
        binary.rtt = Duration::from_millis(250);
        binary.acknowledge(1000);
        assert_eq!(binary.pacing_rate(), Some(30_000));
        binary.rtt = Duration::from_millis(251);
        binary.acknowledge(1000);
        assert_eq!(binary.pacing_rate(), Some(10_000));
        binary.rtt = Duration::from_millis(250);
        for (time, rate) in [(11_001, 10_000), (13_000, 10_000), (13_001, 30_000)] {
            binary.at(ms(time)); // half of a trial of four seconds: good mode has lasted for ten
            binary.acknowledge(1000);
            assert_eq!(binary.pacing_rate(), Some(rate), "{time}");
        }
    }

    #[test]
    fn more_than_a_twentieth_lost_in_a_second_is_bad() {
        for (lost, rate) in [(5, 30_000), (6, 10_000)] {
            let mut binary = binary();
            binary.acknowledge_frames(100 - lost);
            for _ in 1..lost {
                binary.trouble(Signal::FurtherLoss);
            }
            assert_eq!(binary.pacing_rate(), Some(30_000));
            binary.at(ms(1000));
            binary.trouble(Signal::Loss);
            assert_eq!(binary.pacing_rate(), Some(rate), "{lost} % lost");
        }
    }

    /// D7.
    #[test]
    fn marks_and_persistent_congestion_are_bad_at_once() {
        for signal in [Signal::Mark, Signal::Persistent] {
            let mut binary = binary();
            binary.trouble(signal);
            assert_eq!(binary.pacing_rate(), Some(10_000));
        }
    }

    #[test]
    fn no_rate_is_zero_and_the_window_is_no_limit() {
        let mut binary = Script::new(Binary::new(0, 0));
        assert_eq!(binary.pacing_rate(), Some(1));
        binary.trouble(Signal::Mark);
        assert_eq!(binary.pacing_rate(), Some(1));
        assert_eq!(binary.window(), u32::MAX / 2);
    }

    mod fixed {
        use super::super::*;
        use crate::congestion::Signal;
        use crate::congestion::tests::script::Script;

        #[test]
        fn nothing_changes_the_rate() {
            let mut fixed = Script::new(Fixed::new(50_000));
            fixed.acknowledge(1000);
            fixed.trouble(Signal::Loss);
            fixed.trouble(Signal::Persistent);
            fixed.on_mtu(500);
            assert_eq!(fixed.pacing_rate(), Some(50_000));
            assert_eq!(fixed.window(), u32::MAX / 2);
        }

        #[test]
        fn the_rate_is_never_zero() {
            assert_eq!(Fixed::new(0).pacing_rate(), Some(1));
        }
    }
}
