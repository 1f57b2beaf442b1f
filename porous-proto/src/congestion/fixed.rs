//! A rate that the application knows, and no control.

use super::MAX_WINDOW;
use super::controller::{Ack, Controller, Trouble};

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
    use super::super::script::Script;
    use super::*;
    use crate::congestion::Signal;

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
