//! How far a large packet has come, at its sender and at its receiver (`docs/deviations.md` D15).

/// How far a packet that was sent has come: [`Peer::send_progress`](crate::Peer::send_progress).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SendProgress {
    /// The length of the packet, in bytes.
    pub len: u32,
    /// Bytes of the packet that have left, or are next to leave. What is sent again counts once.
    pub sent: u32,
    /// Bytes of the packet that were acknowledged.
    pub acknowledged: u32,
}

/// How much of a packet has come: [`Peer::receive_progress`](crate::Peer::receive_progress).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceiveProgress {
    /// The length of the packet, in bytes.
    pub len: u32,
    /// Bytes that have come, of any part of the packet: fewer than its length.
    pub received: u32,
}
