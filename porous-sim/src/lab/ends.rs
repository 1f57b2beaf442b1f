//! The interface of the two ends of a flow, for any protocol.

use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::Instant;

/// Both ends of a flow. End 0 sends data to end 1.
pub(super) trait Ends {
    /// End 0 begins to connect or send.
    fn begin(&mut self, now: Instant);

    /// A datagram has come to an end.
    fn take(&mut self, end: usize, now: Instant, datagram: &[u8]);

    /// An end looks at its timers, and its application works.
    fn serve(&mut self, end: usize, now: Instant);

    /// The next datagram that an end sends now.
    fn next(&mut self, end: usize, now: Instant) -> Option<Vec<u8>>;

    /// When an end wants to be served, if nothing comes before.
    fn deadline(&self, end: usize) -> Option<Instant>;

    /// The measured state of the flow now.
    fn seen(&self) -> Seen;

    /// The small packets that have arrived: the times when each was sent and when it came, in
    /// microseconds.
    fn small(&self) -> &[(u64, u64)] {
        &[]
    }
}

/// The state of a flow at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// Bytes of application data that have arrived.
    pub(super) delivered: u64,
    /// Bytes of application data that were to be sent so far; 0 for as many as possible.
    pub(super) offered: u64,
    /// The congestion window in bytes.
    pub(super) window: f64,
    /// The smoothed round trip.
    pub(super) rtt: Duration,
    /// Datagrams that the sender took for lost.
    pub(super) lost: u64,
    /// The part of `lost` that did arrive.
    pub(super) spurious: u64,
}
