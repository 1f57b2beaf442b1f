//! Connection requests and acknowledgements. They share one body: a connection id, which the remote host is
//! to put into short datagrams, and the sender's offer (§2.3).

use crate::wire::{NoRoom, Reader, all_zero};

#[cfg(feature = "seal")]
use super::auth::FirstAuth;
use super::long::{self, ACKNOWLEDGE, HEAD, Long, REQUEST, VERSION};
use super::offer::{encode_greeting, greeting_length};
use super::{ConnectionId, Malformed, Offer};

/// The shortest and the longest length in bytes to which a host pads its requests. An answer to a forged
/// request is never longer than a third of the shortest: a cookie of a host with 255 channels has 158 bytes,
/// and 6 more with four suites.
pub(crate) const REQUEST_SIZE_MIN: u16 = 512;
pub(crate) const REQUEST_SIZE_MAX: u16 = 1200;

/// The flag of a request by which a listener answers and keeps no state: its random id is a cookie.
const COOKIE: u8 = 1;

/// A request or an acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Connect {
    /// True in a request whose `nonce_self` is a cookie, and whose connection id is still empty.
    pub(crate) cookie: bool,
    /// The sender's random id; never 0.
    pub(crate) nonce_self: u64,
    /// The receiver's random id; 0 while the sender does not know it, which only a request without a cookie
    /// may.
    pub(crate) nonce_peer: u64,
    /// The id that the receiver is to put into its short datagrams.
    pub(crate) connection_id: ConnectionId,
    pub(crate) offer: Offer,
}

impl Connect {
    /// Writes a request. The greeting has 255 bytes at most, and none beside a cookie.
    pub(crate) fn encode_request(
        &self,
        greeting: &[u8],
        buffer: &mut [u8],
    ) -> Result<usize, NoRoom> {
        debug_assert!(!self.cookie || (self.connection_id.is_empty() && greeting.is_empty()));
        let byte0 = if self.cookie {
            REQUEST | COOKIE
        } else {
            REQUEST
        };
        self.encode(buffer, byte0, greeting)
    }

    pub(crate) fn encode_acknowledge(&self, buffer: &mut [u8]) -> Result<usize, NoRoom> {
        debug_assert!(!self.cookie && self.nonce_peer != 0);
        self.encode(buffer, ACKNOWLEDGE, &[])
    }

    /// Bytes of a request with this greeting, or of an acknowledgement if that is empty.
    pub(crate) fn encoded_length(&self, greeting: &[u8]) -> usize {
        let parts = [
            self.connection_id.len().saturating_add(1),
            self.offer.encoded_length(),
            greeting_length(greeting),
        ];
        parts.into_iter().fold(HEAD, usize::saturating_add)
    }

    fn encode(&self, buffer: &mut [u8], byte0: u8, greeting: &[u8]) -> Result<usize, NoRoom> {
        debug_assert!(self.nonce_self != 0 && self.offer.is_sane());
        long::encode(
            buffer,
            byte0,
            VERSION,
            [self.nonce_self, self.nonce_peer],
            |writer| {
                self.connection_id.encode(writer)?;
                self.offer.encode(writer)?;
                encode_greeting(writer, greeting)
            },
        )
    }

    pub(super) fn decode_acknowledge(long: &Long<'_>) -> Result<Self, Malformed> {
        if long.flags != 0 {
            return Err(Malformed::Reserved);
        }
        long.expect_nonces()?;
        match Self::decode(long)? {
            // Greetings stand in requests alone (D12).
            (connect, []) => Ok(connect),
            _ => Err(Malformed::UnknownType), // no such parameter here
        }
    }

    fn decode_request<'a>(long: &Long<'a>) -> Result<(Self, &'a [u8]), Malformed> {
        if long.flags & !COOKIE != 0 {
            return Err(Malformed::Reserved);
        }
        let cookie = long.flags & COOKIE != 0;
        // No answer could name a request without a random id, and a cookie answers a request that has one.
        if long.nonce_self == 0 || (cookie && long.nonce_peer == 0) {
            return Err(Malformed::BadValue);
        }
        let (connect, greeting) = Self::decode(long)?;
        // A listener that keeps no state has no connection yet to give an id to.
        if cookie && !connect.connection_id.is_empty() {
            return Err(Malformed::BadValue);
        }
        if cookie && !greeting.is_empty() {
            return Err(Malformed::UnknownType); // no such parameter here
        }
        Ok((Self { cookie, ..connect }, greeting))
    }

    fn decode<'a>(long: &Long<'a>) -> Result<(Self, &'a [u8]), Malformed> {
        if long.version != VERSION {
            return Err(Malformed::Version);
        }
        let mut reader = Reader::new(long.body);
        let connection_id = ConnectionId::decode(&mut reader)?;
        let (offer, greeting) = Offer::decode(&mut reader)?;
        let connect = Self {
            cookie: false,
            nonce_self: long.nonce_self,
            nonce_peer: long.nonce_peer,
            connection_id,
            offer,
        };
        Ok((connect, greeting))
    }
}

/// A request as it was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request<'a> {
    pub(crate) connect: Connect,
    /// What the sender's application says to the receiver's; empty if it says nothing (`deviations.md` D12).
    pub(crate) greeting: &'a [u8],
    /// Bytes of the whole datagram, with padding and a leading acknowledgement: an answer to an address that
    /// proved nothing must be shorter.
    pub(crate) datagram_length: usize,
    /// The request without its padding.
    form: &'a [u8],
    /// The message of the handshake of a sealed connection that stood in front.
    #[cfg(feature = "seal")]
    pub(crate) auth: Option<FirstAuth<'a>>,
}

impl<'a> Request<'a> {
    /// Reads a request. `padding` is what follows the form in its datagram: zeros or nothing.
    pub(super) fn decode(
        long: &Long<'a>,
        padding: &[u8],
        datagram_length: usize,
    ) -> Result<Self, Malformed> {
        let (connect, greeting) = Connect::decode_request(long)?;
        // Padding is zeros: a datagram has one spelling, and holds one form.
        if !all_zero(padding) {
            return Err(Malformed::TrailingBytes);
        }
        Ok(Self {
            connect,
            greeting,
            datagram_length,
            form: long.form,
            #[cfg(feature = "seal")]
            auth: None,
        })
    }

    /// The request with this message in front.
    #[cfg(feature = "seal")]
    pub(crate) fn with_auth(self, auth: FirstAuth<'a>) -> Self {
        let auth = Some(auth);
        Self { auth, ..self }
    }

    /// The request as it came, without its padding.
    #[cfg(feature = "seal")]
    pub(crate) const fn form(&self) -> &'a [u8] {
        self.form
    }

    /// Whether the connection is to be sealed.
    pub(crate) fn asks_to_seal(&self) -> bool {
        !self.connect.offer.sealed.is_empty()
    }

    /// A request without a greeting, for tests.
    #[cfg(test)]
    pub(crate) const fn unpadded(connect: Connect) -> Self {
        Self {
            connect,
            greeting: &[],
            datagram_length: 0,
            form: &[],
            #[cfg(feature = "seal")]
            auth: None,
        }
    }

    /// The parts of the request that a cookie covers: all but its flags, `nonce_peer` and padding.
    pub(crate) fn cookie_input(&self) -> [&'a [u8]; 2] {
        cookie_input(self.form)
    }
}

/// The parts of an encoded request that a cookie covers, and that the handshake of a sealed connection begins
/// with. `form` has no padding.
pub(crate) fn cookie_input(form: &[u8]) -> [&[u8]; 2] {
    const NONCE_PEER: usize = HEAD - 8;
    [
        // Length, version and `nonce_self`; then the body. `nonce_peer` is the cookie itself when it comes
        // back, and 0 before.
        form.get(1..NONCE_PEER).unwrap_or_default(),
        form.get(HEAD..).unwrap_or_default(),
    ]
}
