//! What an endpoint counts.

/// What an [`Endpoint`](super::Endpoint) has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageStats {
    /// Packets that were written.
    pub packets_written: u64,
    /// Packets that were read.
    pub packets_read: u64,
    /// Packets that were refused: an unknown kind of message, a value outside of its bounds, an end
    /// too soon or too late. Nothing of them was taken.
    pub packets_refused: u64,
    /// Packets that were acknowledged.
    pub packets_acked: u64,
    /// Messages and blocks that were accepted by `send`.
    pub sent: u64,
    /// Messages and blocks that the application received.
    pub received: u64,
    /// Messages and pieces of blocks that went into another packet.
    pub resent: u64,
    /// Messages and pieces of blocks that had come before.
    pub duplicates: u64,
    /// Unreliable messages that found no room in a packet in their time.
    pub expired: u64,
    /// Unreliable messages that made room for newer ones before the application received them.
    pub overrun: u64,
}
