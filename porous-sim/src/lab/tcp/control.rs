//! The interface of a congestion control to the sender of TCP.

/// A congestion control. Windows are in segments, times in seconds.
pub(super) trait Control: core::fmt::Debug {
    /// The most segments that may be in flight.
    fn window(&self) -> f64;

    /// Takes note of an acknowledgement.
    fn on_ack(&mut self, ack: &Ack);

    /// Takes note that fast recovery begins: SACK has told of a loss.
    fn on_recovery(&mut self);

    /// Takes note that the timer has run out. `first` is true unless it did so before in the same
    /// episode of repair.
    fn on_timeout(&mut self, first: bool);
}

/// An acknowledgement, as the sender understood it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack {
    pub(super) now: f64,
    /// True if the first segment that is missing is a later one than before.
    pub(super) moved: bool,
    /// Segments that were not known to have arrived.
    pub(super) newly: u32,
    /// The smoothed round trip; `None` before the first sample.
    pub(super) rtt: Option<f64>,
    /// True in fast recovery, but not after a timeout.
    pub(super) in_fast_recovery: bool,
}
