//! The interface of the two ends of a flow, for any protocol.

use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::Instant;

use super::recording::Recording;

/// Both ends of a flow. End 0 sends data to end 1.
pub(super) trait Ends {
    /// Records an end from its beginning on. Returns the recording if these ends have no hosts of porous.
    fn record(&mut self, recording: Recording) -> Option<Recording> {
        Some(recording)
    }

    /// Lets end 0 begin to connect or send.
    fn begin(&mut self, now: Instant);

    /// Takes in a datagram that has come to an end.
    fn take(&mut self, end: usize, now: Instant, datagram: &[u8]);

    /// Lets an end look at its timers, and its application work.
    fn serve(&mut self, end: usize, now: Instant);

    /// The next datagram that an end sends now.
    fn next(&mut self, end: usize, now: Instant) -> Option<Vec<u8>>;

    /// When an end wants to be served, if no datagram comes before.
    fn deadline(&self, end: usize) -> Option<Instant>;

    /// The measured state of the flow now.
    fn seen(&self) -> Seen;

    /// Whether the connection has ended.
    fn is_ended(&self) -> bool {
        false
    }

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
    /// Bytes of application data that were to be sent so far; 0 if the flow sends as many as possible.
    pub(super) offered: u64,
    /// The congestion window in bytes; infinite if nothing limits it.
    pub(super) window: f64,
    /// The smoothed round trip.
    pub(super) rtt: Duration,
    /// Datagrams that the sender took for lost.
    pub(super) lost: u64,
    /// The part of `lost` that did arrive.
    pub(super) spurious: u64,
    /// What else the application is told of its path, while it is connected; TCP tells nothing.
    pub(super) told: Option<Told>,
}

/// Statistics of a porous flow about its path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    /// The share of frames that were lost recently, in hundredths of a percent.
    pub(super) loss: u16,
    /// From 0 to 100.
    pub(super) quality: u8,
}
