//! Reno (RFC 5681).

use super::window::Growth;

#[derive(Debug)]
pub(super) struct Reno;

impl Growth for Reno {
    /// One segment a round trip: RFC 5681 (3).
    fn on_ack(&mut self, _now: f64, window: f64, acked: u32, _rtt: f64) -> f64 {
        window + f64::from(acked) / window
    }

    /// RFC 5681 (4): the window is always full here.
    fn on_loss(&mut self, window: f64) -> f64 {
        window / 2.0
    }
}
