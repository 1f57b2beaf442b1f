//! Connection requests and acknowledgements (§2.3). They share one body: a connection id, which
//! the other end is to put into short datagrams, and the sender's offer.

use crate::wire::{NoRoom, Reader, all_zero};

use super::long::{self, ACKNOWLEDGE, HEAD, Long, REQUEST, VERSION};
use super::{ConnectionId, Malformed, Offer};

/// The lengths in bytes to which an initiator may pad its requests. No answer to a forged one can be
/// longer than a third of the shortest: a cookie of a host with 255 channels has 152 bytes.
pub(crate) const REQUEST_SIZE_MIN: u16 = 512;
pub(crate) const REQUEST_SIZE_MAX: u16 = 1200;

/// The answer of a listener that keeps no state: its nonce is a cookie.
const COOKIE: u8 = 1;

/// A request or an acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Connect {
    /// Of requests only: `nonce_self` is a cookie, and there is no connection id yet.
    pub(crate) cookie: bool,
    /// The sender's random id; never 0.
    pub(crate) nonce_self: u64,
    /// The receiver's random id, 0 as long as the sender does not know it. An acknowledgement and
    /// a request with a cookie always know it.
    pub(crate) nonce_peer: u64,
    pub(crate) connection_id: ConnectionId,
    pub(crate) offer: Offer,
}

impl Connect {
    pub(crate) fn encode_request(&self, buffer: &mut [u8]) -> Result<usize, NoRoom> {
        debug_assert!(!self.cookie || self.connection_id.is_empty());
        self.encode(
            buffer,
            if self.cookie {
                REQUEST | COOKIE
            } else {
                REQUEST
            },
        )
    }

    pub(crate) fn encode_acknowledge(&self, buffer: &mut [u8]) -> Result<usize, NoRoom> {
        debug_assert!(!self.cookie && self.nonce_peer != 0);
        self.encode(buffer, ACKNOWLEDGE)
    }

    fn encode(&self, buffer: &mut [u8], byte0: u8) -> Result<usize, NoRoom> {
        debug_assert!(self.nonce_self != 0 && self.offer.is_sane());
        long::encode(
            buffer,
            byte0,
            VERSION,
            [self.nonce_self, self.nonce_peer],
            |writer| {
                self.connection_id.encode(writer)?;
                self.offer.encode(writer)
            },
        )
    }

    pub(super) fn decode_acknowledge(long: &Long<'_>) -> Result<Self, Malformed> {
        if long.flags != 0 {
            return Err(Malformed::Reserved);
        }
        long.expect_nonces()?;
        Self::decode(long)
    }

    fn decode_request(long: &Long<'_>) -> Result<Self, Malformed> {
        if long.flags & !COOKIE != 0 {
            return Err(Malformed::Reserved);
        }
        let cookie = long.flags & COOKIE != 0;
        if long.nonce_self == 0 || (cookie && long.nonce_peer == 0) {
            return Err(Malformed::BadValue);
        }
        let connect = Self::decode(long)?;
        if cookie && !connect.connection_id.is_empty() {
            return Err(Malformed::BadValue);
        }
        Ok(Self { cookie, ..connect })
    }

    fn decode(long: &Long<'_>) -> Result<Self, Malformed> {
        if long.version != VERSION {
            return Err(Malformed::Version);
        }
        let mut reader = Reader::new(long.body);
        Ok(Self {
            cookie: false,
            nonce_self: long.nonce_self,
            nonce_peer: long.nonce_peer,
            connection_id: ConnectionId::decode(&mut reader)?,
            offer: Offer::decode(&mut reader)?,
        })
    }
}

/// A request as it was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request<'a> {
    pub(crate) connect: Connect,
    /// Of the whole datagram, padding and a leading acknowledgement included: an answer to an
    /// address that proved nothing must be shorter.
    pub(crate) datagram_length: usize,
    form: &'a [u8],
}

impl<'a> Request<'a> {
    /// `padding` is what follows the form in its datagram: zeros or nothing.
    pub(super) fn decode(
        long: &Long<'a>,
        padding: &[u8],
        datagram_length: usize,
    ) -> Result<Self, Malformed> {
        let connect = Connect::decode_request(long)?;
        if !all_zero(padding) {
            return Err(Malformed::TrailingBytes);
        }
        Ok(Self {
            connect,
            datagram_length,
            form: long.form,
        })
    }

    /// What a cookie vouches for: all of the request but its flags, `nonce_peer` and padding.
    /// These are length, version and `nonce_self`, then the body.
    pub(crate) fn cookie_input(&self) -> [&'a [u8]; 2] {
        const NONCE_PEER: usize = HEAD - 8;
        [
            self.form.get(1..NONCE_PEER).unwrap_or_default(),
            self.form.get(HEAD..).unwrap_or_default(),
        ]
    }
}
