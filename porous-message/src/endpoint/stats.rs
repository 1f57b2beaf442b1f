//! What an endpoint counts.

/// What an [`Endpoint`](super::Endpoint) has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageStats {
    /// Packets written.
    pub packets_written: u64,
    /// Packets read.
    pub packets_read: u64,
    /// Packets refused: with an unknown kind of message, a value outside of its bounds, or an end too
    /// soon or too late. Nothing of them was taken.
    pub packets_refused: u64,
    /// Packets acknowledged.
    pub packets_acked: u64,
    /// Messages and blocks that were accepted by `send`.
    pub sent: u64,
    /// Messages and blocks that the application received.
    pub received: u64,
    /// Messages and pieces of blocks that went into another packet, counted once for each.
    pub resent: u64,
    /// Messages and pieces of blocks that came again.
    pub duplicates: u64,
    /// Unreliable messages given up because no packet had room for them within their
    /// [age](super::MessageChannel::age).
    pub expired: u64,
    /// Unreliable messages that the application did not receive before newer ones needed their room.
    pub overrun: u64,
}
