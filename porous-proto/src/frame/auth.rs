//! The acknowledgement that carries a message of the handshake of a sealed connection: ACK with AUTH
//! (`docs/wire.md`, "ACK with AUTH").

use alloc::vec::Vec;
use core::ops::RangeInclusive;

use arrayvec::ArrayVec;

use crate::wire::{NoRoom, Reader, Writer};

use super::long::{self, ACKNOWLEDGE, Long, VERSION};
use super::{ConnectionId, GREETING_MAX, Malformed};

/// The flag of an acknowledgement that carries a message of the handshake.
const AUTH: u8 = 2;

/// Byte 0 of an acknowledgement with a message of the handshake.
pub(super) const ACKNOWLEDGE_AUTH: u8 = ACKNOWLEDGE | AUTH;

/// The flags in the body: set in message 2, and in no message 1.
const ANSWER: u8 = 1 << 0;
const KEY: u8 = 1 << 1;
const PSK: u8 = 1 << 2;
const TOKEN: u8 = 1 << 3;

/// Bytes of the tag behind whatever is sealed (RFC 8439 §2.8, NIST SP 800-38D §5.2.1.2 for AES-GCM).
pub(crate) const SEAL_TAG: usize = 16;

/// The most bytes of a token: those of one with four audiences, an address and 255 bytes of user data.
pub(crate) const TOKEN_MAX: usize = 372;

/// Bytes of the tag of a server's public key.
pub(crate) const KEY_TAG: usize = 4;

/// The most bytes of a public key: those of a point of P-256 that is not compressed (SEC 1 §2.3.3).
pub(crate) const KEY_MAX: usize = 65;

/// Bytes of a public key of the suites 1 and 2 (RFC 7748 §5).
const X25519: usize = 32;

/// The most bytes of what stands before the ephemeral key in message 1.
const TERMS_MAX: usize = 1 + 1 + KEY_TAG + 2 + TOKEN_MAX;

/// What the prologue of every handshake begins with, so that its hash is that of no other protocol.
const LABEL: &[u8] = b"porous seal 1";

/// By what an initiator proves its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof<'a> {
    /// By nothing: everybody may connect.
    None,
    /// By the psk with this number, which both hosts have.
    Psk(u32),
    /// By the psk that belongs to this token, which has 1 to 372 bytes.
    Token(&'a [u8]),
}

/// What message 1 says in the open: what its receiver needs before it can read the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms<'a> {
    /// The number of the suite, never 0.
    pub(crate) suite: u8,
    /// The first bytes of the hash of the server's public key that the initiator expects; `None` if it takes
    /// any server.
    pub(crate) key_tag: Option<[u8; KEY_TAG]>,
    pub(crate) proof: Proof<'a>,
}

impl<'a> Terms<'a> {
    /// The bytes as they stand in the form, from the suite up to the ephemeral key: a part of the
    /// [`prologue`].
    pub(crate) fn prologue_part(&self) -> ArrayVec<u8, TERMS_MAX> {
        let mut bytes = [0; TERMS_MAX];
        let mut writer = Writer::new(&mut bytes);
        let written = self.encode(&mut writer);
        debug_assert!(written.is_ok(), "a token is too long");
        let length = writer.position();
        bytes.into_iter().take(length).collect()
    }

    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), NoRoom> {
        debug_assert!(self.suite != 0);
        let key = if self.key_tag.is_some() { KEY } else { 0 };
        let proof = match self.proof {
            Proof::None => 0,
            Proof::Psk(_) => PSK,
            Proof::Token(_) => TOKEN,
        };
        writer.u8(self.suite)?;
        writer.u8(key | proof)?;
        if let Some(tag) = &self.key_tag {
            writer.bytes(tag)?;
        }
        match self.proof {
            Proof::None => Ok(()),
            Proof::Psk(number) => writer.u32(number),
            Proof::Token(token) => {
                debug_assert!((1..=TOKEN_MAX).contains(&token.len()));
                writer.u16(u16::try_from(token.len()).map_err(|_| NoRoom)?)?;
                writer.bytes(token)
            }
        }
    }

    /// Reads what follows the suite and the flags.
    fn decode(suite: u8, flags: u8, reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        if flags & !(KEY | PSK | TOKEN) != 0 {
            return Err(Malformed::Reserved);
        }
        let key_tag = if flags & KEY != 0 {
            reader.bytes(KEY_TAG)?.first_chunk().copied()
        } else {
            None
        };
        let proof = match (flags & PSK != 0, flags & TOKEN != 0) {
            (false, false) => Proof::None,
            (true, false) => Proof::Psk(reader.u32()?),
            (false, true) => {
                let length = usize::from(reader.u16()?);
                // Before the bytes are read: a length that is out of range is no datagram that ends too early.
                if !(1..=TOKEN_MAX).contains(&length) {
                    return Err(Malformed::BadValue);
                }
                Proof::Token(reader.bytes(length)?)
            }
            // The handshake has room for one psk: a token brings its own.
            (true, true) => return Err(Malformed::BadValue),
        };
        Ok(Self {
            suite,
            key_tag,
            proof,
        })
    }
}

/// ACK with AUTH, message 1: the initiator's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FirstAuth<'a> {
    pub(crate) nonce_self: u64,
    pub(crate) nonce_peer: u64,
    pub(crate) terms: Terms<'a>,
    /// The message of Noise: the ephemeral key, and the sealed greeting with its tag. They are not cut apart
    /// here, as only a provider knows how long a key of its suite is, and Noise takes them in one piece.
    pub(crate) message: &'a [u8],
}

impl FirstAuth<'_> {
    /// The most bytes of the form with a greeting and a token of these lengths.
    pub(crate) const fn longest(greeting: usize, token: usize) -> usize {
        // Suite, flags, the tag of a key, and the number of a psk or the length of a token.
        const TERMS: usize = 1 + 1 + KEY_TAG + 4;
        const REST: usize = long::HEAD + TERMS + KEY_MAX + SEAL_TAG;
        REST.saturating_add(greeting).saturating_add(token)
    }

    pub(crate) fn encode(&self, buffer: &mut [u8]) -> Result<usize, NoRoom> {
        debug_assert!(first_lengths(self.terms.suite).contains(&self.message.len()));
        encode(buffer, [self.nonce_self, self.nonce_peer], |writer| {
            self.terms.encode(writer)?;
            writer.bytes(self.message)
        })
    }
}

/// ACK with AUTH, message 2: the responder's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SecondAuth<'a> {
    pub(crate) nonce_self: u64,
    pub(crate) nonce_peer: u64,
    /// The number of the suite, never 0.
    pub(crate) suite: u8,
    /// The message of Noise: the ephemeral key, and, sealed with a tag, the length of the connection id, the
    /// id, and the greeting.
    pub(crate) message: &'a [u8],
}

impl SecondAuth<'_> {
    pub(crate) fn encode(&self, buffer: &mut [u8]) -> Result<usize, NoRoom> {
        debug_assert!(self.suite != 0);
        debug_assert!(second_lengths(self.suite).contains(&self.message.len()));
        encode(buffer, [self.nonce_self, self.nonce_peer], |writer| {
            writer.bytes(&[self.suite, ANSWER])?;
            writer.bytes(self.message)
        })
    }
}

/// A message of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Auth<'a> {
    First(FirstAuth<'a>),
    Second(SecondAuth<'a>),
}

impl<'a> Auth<'a> {
    /// Reads a form whose byte 0 the caller has looked at.
    pub(super) fn decode(long: &Long<'a>) -> Result<Self, Malformed> {
        if long.version != VERSION {
            return Err(Malformed::Version);
        }
        long.expect_nonces()?;
        let (nonce_self, nonce_peer) = (long.nonce_self, long.nonce_peer);
        let mut reader = Reader::new(long.body);
        let suite = reader.u8()?;
        if suite == 0 {
            return Err(Malformed::BadValue);
        }
        let flags = reader.u8()?;
        if flags & ANSWER == 0 {
            let terms = Terms::decode(suite, flags, &mut reader)?;
            let message = message(&mut reader, &first_lengths(suite))?;
            return Ok(Self::First(FirstAuth {
                nonce_self,
                nonce_peer,
                terms,
                message,
            }));
        }
        if flags != ANSWER {
            return Err(Malformed::Reserved);
        }
        let message = message(&mut reader, &second_lengths(suite))?;
        Ok(Self::Second(SecondAuth {
            nonce_self,
            nonce_peer,
            suite,
            message,
        }))
    }
}

fn encode(
    buffer: &mut [u8],
    nonces: [u64; 2],
    body: impl FnOnce(&mut Writer<'_>) -> Result<(), NoRoom>,
) -> Result<usize, NoRoom> {
    long::encode(buffer, ACKNOWLEDGE_AUTH, VERSION, nonces, body)
}

/// Reads the message of Noise, which is all that is left.
fn message<'a>(
    reader: &mut Reader<'a>,
    lengths: &RangeInclusive<usize>,
) -> Result<&'a [u8], Malformed> {
    let message = reader.rest();
    if message.len() < *lengths.start() {
        return Err(Malformed::Truncated);
    }
    // More than the longest greeting is in it, or what is no message at all.
    if message.len() > *lengths.end() {
        return Err(Malformed::BadValue);
    }
    Ok(message)
}

/// The bytes that public keys of a suite may have. Of a suite that is not known here only a provider can tell
/// more.
const fn key_lengths(suite: u8) -> [usize; 2] {
    match suite {
        1 | 2 => [X25519, X25519],
        _ => [1, KEY_MAX],
    }
}

/// The bytes that message 1 may have: a key, a greeting, and its tag.
const fn first_lengths(suite: u8) -> RangeInclusive<usize> {
    let [least, most] = key_lengths(suite);
    least.saturating_add(SEAL_TAG)..=most.saturating_add(GREETING_MAX + SEAL_TAG)
}

/// The bytes that message 2 may have: a key, a connection id with its length, a greeting, and the tag.
const fn second_lengths(suite: u8) -> RangeInclusive<usize> {
    const MOST: usize = 1 + ConnectionId::MAX + GREETING_MAX + SEAL_TAG;
    let [least, most] = key_lengths(suite);
    least.saturating_add(1 + SEAL_TAG)..=most.saturating_add(MOST)
}

/// The prologue of a handshake: what both hosts must have seen alike. `initiator` and `responder` are what a
/// cookie covers ([`cookie_input`](super::cookie_input)) of the request by which each of them speaks of itself.
/// With a listener that of the responder is its cookie, and so the address of the initiator is in the prologue.
pub(crate) fn prologue(terms: &Terms<'_>, initiator: [&[u8]; 2], responder: [&[u8]; 2]) -> Vec<u8> {
    // Each part tells its length, so that no byte can move from one into another.
    let terms = terms.prologue_part();
    let [[a, b], [c, d]] = [initiator, responder];
    [LABEL, &terms, a, b, c, d].concat()
}
