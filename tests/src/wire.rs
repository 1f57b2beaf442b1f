//! The part of `docs/wire.md` that a test needs to recognise a datagram.

use core::ops::Range;

/// The kind of a datagram, by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// REQ without a cookie.
    Request,
    /// REQ with a cookie: the answer of a listener.
    Cookie,
    /// ACK, and any form behind it.
    Acknowledge,
    /// REJ.
    Refuse,
    /// DISC.
    Disconnect,
    /// `DISC_ACK`.
    DisconnectAck,
    /// RESET.
    Reset,
    /// A datagram of a connection.
    Short,
    /// No form of the protocol.
    Other,
}

/// The kind of this datagram.
#[must_use]
pub fn kind(datagram: &[u8]) -> Kind {
    match datagram.first() {
        Some(0xC0) => Kind::Request,
        Some(0xC1) => Kind::Cookie,
        Some(0xD0) => Kind::Acknowledge,
        Some(0xE0) => Kind::Refuse,
        Some(0xF0) => Kind::Disconnect,
        Some(0xF1) => Kind::DisconnectAck,
        Some(0xF2) => Kind::Reset,
        Some(0x40..=0x7F) => Kind::Short,
        _ => Kind::Other,
    }
}

/// The bytes of `nonce_self` in a long form.
#[must_use]
pub const fn nonce_self() -> Range<usize> {
    7..15
}

/// The bytes of `nonce_peer` in a long form.
#[must_use]
pub const fn nonce_peer() -> Range<usize> {
    15..23
}
