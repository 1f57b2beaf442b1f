//! Which of several hosts a datagram is for: what a router or balancer in front of them needs, without
//! state and without memory (`docs/wire.md`, "What a router may rely on").
//!
//! A [short form](Kind::Short), which is nearly every datagram of a connection, carries an id that the
//! receiving host has made; [`ConnectionIds`](crate::ConnectionIds) says how, and so a router finds the host
//! by the id, from whatever address the datagram comes. A [long form](Kind::Long) carries none: a router
//! sends all long forms from one address to one host, for example by a hash of the address. A handshake then
//! ends at the host at which it began, and that host makes the id.
//!
//! ```
//! use porous_proto::route::{Kind, classify, shard};
//!
//! /// Which of four hosts on one machine a datagram is for.
//! fn host(datagram: &[u8], hash_of_address: usize) -> Option<usize> {
//!     match classify(datagram, 8) {
//!         Kind::Short { .. } => shard(datagram, 2).map(usize::from),
//!         Kind::Long => Some(hash_of_address % 4),
//!         Kind::Other => None,
//!     }
//! }
//!
//! let short = [0x44, 0xF2, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4];
//! assert_eq!(host(&short, 7), Some(2));
//! assert_eq!(host(&[0xC0, 1, 2, 3], 7), Some(3));
//! assert_eq!(host(&[0x16, 0xFE, 0xFD], 7), None); // DTLS, say
//! ```
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod quic_lb;
#[cfg(feature = "quic-lb")]
mod quic_lb_key;

use crate::frame::{FORM, LONG, SHORT};

pub use quic_lb::{QuicLb, ServerId, quic_lb_rotation, quic_lb_server};
#[cfg(feature = "quic-lb")]
pub use quic_lb_key::QuicLbKey;

/// What a router can tell of a datagram. There are no further kinds, in no version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<'d> {
    /// A short form: the traffic of a connection that exists.
    Short {
        /// The connection id, which the host that the datagram is for has made.
        id: &'d [u8],
    },
    /// A long form: a handshake, a refusal, a goodbye or a reset. It names no host, so route it by the
    /// address of its sender.
    Long,
    /// Nothing that a host takes.
    Other,
}

/// Tells what a datagram is by its first byte. `id_len` is the length of the connection ids of the hosts
/// behind the router, in bytes, which must all have the same
/// ([`Config::connection_id_len`](crate::Config::connection_id_len)). A short form that is too short for its
/// id is [`Other`](Kind::Other).
///
/// That the datagram is well-formed is not checked: the host does that.
///
/// ```
/// use porous_proto::route::{Kind, classify};
///
/// assert_eq!(classify(&[0x44, 1, 2, 3, 4], 2), Kind::Short { id: &[1, 2] });
/// assert_eq!(classify(&[0x44, 1, 2, 3, 4], 5), Kind::Other);
/// assert_eq!(classify(&[0xC0, 1, 2, 3, 4], 2), Kind::Long);
/// assert_eq!(classify(&[], 2), Kind::Other);
/// ```
#[must_use]
pub fn classify(datagram: &[u8], id_len: usize) -> Kind<'_> {
    let Some((first, rest)) = datagram.split_first() else {
        return Kind::Other;
    };
    match first & FORM {
        SHORT => rest
            .get(..id_len)
            .map_or(Kind::Other, |id| Kind::Short { id }),
        LONG => Kind::Long,
        _ => Kind::Other,
    }
}

/// The shard that a short form is for: the low `bits` bits (1 to 8) of the first byte of its connection id,
/// as [`ConnectionIds::Sharded`](crate::ConnectionIds::Sharded) makes them. `None` if the datagram is no
/// short form with an id, or if `bits` is 0 or more than 8.
///
/// ```
/// use porous_proto::route::shard;
///
/// assert_eq!(shard(&[0x40, 0b1011_0110, 9], 3), Some(0b110));
/// assert_eq!(shard(&[0xC0, 0b1011_0110, 9], 3), None);
/// ```
#[must_use]
pub fn shard(datagram: &[u8], bits: u8) -> Option<u8> {
    let Kind::Short { id: &[id] } = classify(datagram, 1) else {
        return None;
    };
    Some(id & shard_mask(bits)?)
}

/// The bits of the first byte of an id that tell the shard; `None` if `bits` is 0 or more than 8.
pub(crate) const fn shard_mask(bits: u8) -> Option<u8> {
    match bits {
        // In this range nothing overflows.
        1..=8 => Some(u8::MAX >> 8_u8.saturating_sub(bits)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Of all first bytes, those with the upper bits 01 are short forms, and those with 11 long ones.
    #[test]
    fn the_two_upper_bits_tell_what_a_datagram_is() {
        for first in 0..=u8::MAX {
            let datagram = [first, 7, 8];
            let kind = match first >> 6 {
                1 => Kind::Short { id: &[7, 8] },
                3 => Kind::Long,
                _ => Kind::Other,
            };
            assert_eq!(classify(&datagram, 2), kind, "{first:#x}");
            assert_eq!(shard(&datagram, 8).is_some(), first >> 6 == 1, "{first:#x}");
        }
    }

    #[test]
    fn an_id_is_all_there_or_the_datagram_is_nothing() {
        for length in 0..=20 {
            let datagram = vec![0x40; 1 + length];
            let id = &datagram[1..];
            assert_eq!(classify(&datagram, length), Kind::Short { id });
            assert_eq!(classify(&datagram, length + 1), Kind::Other);
        }
        assert_eq!(classify(&[0x40; 30], usize::MAX), Kind::Other);
    }

    #[test]
    fn a_shard_is_the_low_bits_of_the_first_byte_of_the_id() {
        let datagram = [0x7F, 0b1010_0101];
        let shards = [1, 1, 5, 5, 5, 37, 37, 165];
        for (bits, expected) in (1..=8).zip(shards) {
            assert_eq!(shard(&datagram, bits), Some(expected));
        }
        assert_eq!([0, 9, 255].map(|bits| shard(&datagram, bits)), [None; 3]);
        assert_eq!(shard(&[0x40], 1), None, "there is no id");
    }
}
