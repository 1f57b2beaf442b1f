//! The interface of a congestion control to the sender of TCP.

use super::delivery::{Sample, Sent};

/// A congestion control. Windows are in segments, times in seconds. One that has but a window leaves the rest
/// as it is.
pub(super) trait Control: core::fmt::Debug {
    /// The most segments that may be in flight.
    fn window(&self) -> f64;

    /// The segments a second at which the sender spaces them; infinite if the window alone decides.
    fn pace(&self) -> f64 {
        f64::INFINITY
    }

    /// True while the control keeps the flight smaller than the path takes.
    fn is_holding_back(&self) -> bool {
        false
    }

    /// Takes note of an acknowledgement, after the losses of which it tells.
    fn on_ack(&mut self, ack: &Ack);

    /// Takes note of a lost segment, as it was sent.
    fn on_lost(&mut self, _at: &Moment, _sent: &Sent) {}

    /// Takes note that fast recovery begins: SACK has told of a loss.
    fn on_recovery(&mut self);

    /// Takes note that the timer has run out. `first` is true unless it did so before in the same
    /// episode of repair.
    fn on_timeout(&mut self, first: bool);

    /// Takes note that all segments have arrived that were sent before the repair.
    fn on_recovered(&mut self) {}
}

/// The counts of the sender at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) now: f64,
    /// Segments that have arrived.
    pub(super) delivered: u64,
    /// Segments that were lost.
    pub(super) lost: u64,
    pub(super) in_flight: u32,
}

/// An acknowledgement, as the sender understood it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack {
    pub(super) at: Moment,
    /// True if the first segment that is missing is a later one than before.
    pub(super) moved: bool,
    /// Segments that were not known to have arrived.
    pub(super) newly: u32,
    /// The smoothed round trip; `None` before the first sample.
    pub(super) rtt: Option<f64>,
    /// True in fast recovery, but not after a timeout.
    pub(super) in_fast_recovery: bool,
    /// Segments in flight before it came.
    pub(super) flight: u32,
    /// True if the flight has filled the window within the last round trip.
    pub(super) is_window_full: bool,
    /// `None` if it tells of no arrival whose sending is known.
    pub(super) sample: Option<Sample>,
}
