//! What the two ends of a flow have to do, whatever protocol they speak.

use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::Instant;

/// Both ends of a flow. End 0 sends data to end 1.
pub(super) trait Ends {
    /// End 0 begins.
    fn begin(&mut self, now: Instant);

    /// A datagram has come to an end.
    fn take(&mut self, end: usize, now: Instant, datagram: &[u8]);

    /// An end looks at its timers, and its application works.
    fn serve(&mut self, end: usize, now: Instant);

    /// The next datagram that an end sends now.
    fn next(&mut self, end: usize, now: Instant) -> Option<Vec<u8>>;

    /// When an end wants to be served, if nothing comes before.
    fn deadline(&self, end: usize) -> Option<Instant>;

    /// What can be seen of it now.
    fn seen(&self) -> Seen;

    /// The small packets that have arrived: when each was sent and when it came, in microseconds.
    fn small(&self) -> &[(u64, u64)] {
        &[]
    }
}

/// A flow at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// Bytes of the application that have arrived.
    pub(super) delivered: u64,
    /// Bytes of the application that were to be sent so far; 0 for as many as possible.
    pub(super) offered: u64,
    /// Bytes that may be in flight.
    pub(super) window: f64,
    /// The smoothed round trip.
    pub(super) rtt: Duration,
    /// Datagrams that the sender took for lost.
    pub(super) lost: u64,
    /// Of those, the ones that were not.
    pub(super) spurious: u64,
}
