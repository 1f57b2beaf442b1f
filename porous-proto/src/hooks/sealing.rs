//! The sealing of the core, for tests with a provider: those of `porous-crypto`. And the forms of datagrams
//! that only hosts that seal understand. A host calls it with what it knows; here a test says all of it.

use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use crate::frame::{self, Disconnect, DisconnectAck, FirstAuth, Proof, SecondAuth, Short};
use crate::seal::{
    Claims, Crypto, Provider, Psk, PublicKey, Secret, SecretKey, Suite, TokenKey, TokenRefusal,
    gate, hkdf, noise, phases, used,
};
use crate::wire::NoRoom;
use crate::{Instant, Malformed};

/// A provider and one of its suites.
#[derive(Clone, Copy, Debug)]
pub struct Kit(Crypto);

impl Kit {
    /// `None` if the provider does not have the suite.
    #[must_use]
    pub fn new(provider: &'static dyn Provider, suite: Suite) -> Option<Self> {
        Crypto::new(provider, suite).ok().map(Self)
    }

    /// HMAC.
    #[must_use]
    pub fn hmac(self, key: &[u8], message: &[u8]) -> [u8; 32] {
        hkdf::hmac(self.0, key, [message, &[], &[]])
    }

    /// HKDF, with `N` times 32 bytes as its result.
    #[must_use]
    pub fn hkdf<const N: usize>(self, salt: &[u8], input: &[u8], info: &[u8]) -> [[u8; 32]; N] {
        let key = hkdf::extract(self.0, salt, [input, &[]]);
        let keys: [Secret; N] = hkdf::expand(self.0, &key, info);
        keys.map(|key| *key.bytes())
    }

    /// What names a server's public key in message 1.
    #[must_use]
    pub fn key_tag(self, public: &PublicKey) -> [u8; 4] {
        self.0.key_tag(public)
    }

    /// The public half of a key pair; `None` if there is none.
    #[must_use]
    pub fn public_key(self, secret: &SecretKey) -> Option<PublicKey> {
        self.0.public_key(secret).ok()
    }
}

/// Why a message of a handshake was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Too short.
    Length,
    /// A key is none, or of low order.
    Weak,
    /// It does not open.
    Forged,
    /// The buffer is too short.
    NoRoom,
}

impl From<noise::Failure> for Failure {
    fn from(failure: noise::Failure) -> Self {
        match failure {
            noise::Failure::Length => Self::Length,
            noise::Failure::Weak => Self::Weak,
            noise::Failure::Forged => Self::Forged,
            noise::Failure::NoRoom => Self::NoRoom,
        }
    }
}

/// What both sides of a handshake have to know.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The algorithms.
    pub kit: Kit,
    /// What both have seen.
    pub prologue: &'a [u8],
    /// Their secret.
    pub psk: Option<&'a Psk>,
}

impl<'a> Setup<'a> {
    const fn inner(&self) -> noise::Setup<'a> {
        noise::Setup {
            crypto: self.kit.0,
            prologue: self.prologue,
            psk: self.psk,
        }
    }
}

/// What a handshake gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// k1, k2 and k3.
    pub keys: [[u8; 32]; 3],
    /// h.
    pub binding: [u8; 32],
}

impl From<noise::Keys> for Keys {
    fn from(keys: noise::Keys) -> Self {
        let all = [&keys.initiator, &keys.responder, &keys.control];
        Self {
            keys: all.map(|key| *key.bytes()),
            binding: keys.binding,
        }
    }
}

/// The side that connects.
#[derive(Debug)]
pub struct Initiator(noise::Initiator);

impl Initiator {
    /// Writes message 1, and gives its length.
    pub fn start(
        setup: &Setup<'_>,
        server: Option<&PublicKey>,
        ephemeral: [u8; 32],
        payload: &[u8],
        out: &mut [u8],
    ) -> Result<(Self, usize), Failure> {
        let ephemeral = SecretKey::from_bytes(ephemeral);
        let (state, length) =
            noise::Initiator::start(&setup.inner(), server, ephemeral, payload, out)?;
        Ok((Self(state), length))
    }

    /// Opens message 2, and gives the length of its payload.
    pub fn finish(&self, message: &[u8], out: &mut [u8]) -> Result<(Keys, usize), Failure> {
        let (keys, length) = self.0.finish(message, out)?;
        Ok((keys.into(), length))
    }
}

/// The side that was connected to.
#[derive(Debug)]
pub struct Responder(noise::Responder);

impl Responder {
    /// Opens message 1, and gives the length of its payload.
    pub fn open(
        setup: &Setup<'_>,
        identity: Option<[u8; 32]>,
        message: &[u8],
        out: &mut [u8],
    ) -> Result<(Self, usize), Failure> {
        let identity = identity.map(SecretKey::from_bytes);
        let identity = identity.map(|secret| noise::Identity::new(setup.kit.0, secret));
        let identity = identity.transpose().map_err(|_| Failure::Weak)?;
        let (state, length) =
            noise::Responder::open(&setup.inner(), identity.as_ref(), message, out)?;
        Ok((Self(state), length))
    }

    /// Writes message 2, and gives its length.
    pub fn reply(
        self,
        ephemeral: [u8; 32],
        payload: &[u8],
        out: &mut [u8],
    ) -> Result<(Keys, usize), Failure> {
        let ephemeral = SecretKey::from_bytes(ephemeral);
        let (keys, length) = self.0.reply(&ephemeral, payload, out)?;
        Ok((keys.into(), length))
    }
}

/// Seals the frames of one direction.
#[derive(Debug)]
pub struct Sealer(phases::Sealer);

impl Sealer {
    /// For frames from the id `first` on. `limits` are frames and time of a phase.
    #[must_use]
    pub fn new(
        kit: Kit,
        key: [u8; 32],
        first: u64,
        now: Instant,
        limits: Option<(u64, Duration)>,
    ) -> Self {
        let most = phases::Limits::MOST;
        let limits = limits.map(|(frames, time)| most.lowered(frames, time.into()));
        let key = Secret::new(key);
        let limits = limits.unwrap_or(most);
        Self(phases::Sealer::new(kit.0, &key, first, now, limits))
    }

    /// The phase bit of a frame.
    pub fn phase(&mut self, id: u64, now: Instant, timeout: Duration) -> bool {
        self.0.phase(id, now, timeout.into())
    }

    /// Seals a frame.
    #[must_use]
    pub fn seal(&mut self, id: u64, aad: &[u8], body: &mut [u8]) -> Option<[u8; 16]> {
        self.0.seal(id, aad, body)
    }

    /// A frame was acknowledged.
    pub fn on_acknowledged(&mut self, id: u64, now: Instant) {
        self.0.on_acknowledged(id, now);
    }
}

/// A frame that came.
#[derive(Clone, Copy, Debug)]
pub struct Sealed<'a> {
    /// Its id.
    pub id: u64,
    /// Its phase bit.
    pub phase: bool,
    /// All that stands before the body.
    pub aad: &'a [u8],
    /// The last 16 bytes.
    pub tag: &'a [u8; 16],
}

/// Opens the frames of one direction.
#[derive(Debug)]
pub struct Opener(phases::Opener);

impl Opener {
    /// For frames from the id `first` on.
    #[must_use]
    pub fn new(kit: Kit, key: [u8; 32], first: u64) -> Self {
        Self(phases::Opener::new(kit.0, &Secret::new(key), first))
    }

    /// Whether a frame opens; an error if too many have not.
    #[expect(clippy::result_unit_err, reason = "there is one error")]
    pub fn open(
        &mut self,
        now: Instant,
        timeout: Duration,
        frame: &Sealed<'_>,
        body: &mut [u8],
    ) -> Result<bool, ()> {
        let frame = phases::Sealed {
            id: frame.id,
            phase: frame.phase,
            aad: frame.aad,
            tag: frame.tag,
        };
        match self.0.open(now, timeout.into(), &frame, body) {
            Ok(()) => Ok(true),
            Err(phases::Unopened::Forged) => Ok(false),
            Err(phases::Unopened::TooManyForgeries) => Err(()),
        }
    }
}

/// A server that takes tokens.
#[derive(Debug)]
pub struct Door<'a> {
    /// The cryptography.
    pub provider: &'static dyn Provider,
    /// The id of the application.
    pub application: u64,
    /// The id of the server.
    pub server: Option<u64>,
    /// Keys and their numbers.
    pub keys: &'a [(u8, TokenKey)],
    /// The longest time that a token may last, in seconds.
    pub max_lifetime: u64,
    /// The tokens that were used.
    pub used: UsedTokens,
}

impl Door<'_> {
    /// Looks at a token, and uses it if it may be used once.
    pub fn enter(
        &mut self,
        token: &[u8],
        now: Option<u64>,
        ip: Option<[u8; 16]>,
    ) -> Result<(Claims, Psk), TokenRefusal> {
        let gate = gate::Gate {
            provider: self.provider,
            application: self.application,
            server: self.server,
            keys: self.keys,
            max_lifetime: self.max_lifetime,
        };
        let admission = gate.check(token, now, ip)?;
        if admission.claims.is_single_use() {
            let table = &mut self.used.0;
            table.check(&admission.id, admission.until)?;
            table.spend(&admission.id, admission.until, now.unwrap_or_default())?;
        }
        Ok((admission.claims, admission.psk))
    }
}

/// Tokens of one use that were used.
#[derive(Debug)]
pub struct UsedTokens(used::UsedTokens);

impl UsedTokens {
    /// A table for `limit` tokens.
    #[must_use]
    pub fn new(limit: u32) -> Self {
        Self(used::UsedTokens::new(limit))
    }
}

/// What message 1 says in the open. The bits and bytes here and below are those of `docs/wire.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The number of the suite.
    pub suite: u8,
    /// K: the tag of the server's public key.
    pub key_tag: Option<[u8; 4]>,
    /// P: the number of the psk.
    pub psk: Option<u32>,
    /// T, which excludes P: the token.
    pub token: Option<Vec<u8>>,
}

impl Terms {
    fn inner(&self) -> frame::Terms<'_> {
        let proof = match (self.psk, &self.token) {
            (None, None) => Proof::None,
            (Some(number), None) => Proof::Psk(number),
            (None, Some(token)) => Proof::Token(token),
            (Some(_), Some(_)) => panic!("no form says both"),
        };
        frame::Terms {
            suite: self.suite,
            key_tag: self.key_tag,
            proof,
        }
    }

    /// The prologue of the handshake of these terms, and of the requests by which initiator and responder
    /// speak of themselves, without their padding.
    #[must_use]
    pub fn prologue(&self, initiator: &[u8], responder: &[u8]) -> Vec<u8> {
        let [initiator, responder] = [initiator, responder].map(frame::cookie_input);
        frame::prologue(&self.inner(), initiator, responder)
    }
}

impl From<frame::Terms<'_>> for Terms {
    fn from(terms: frame::Terms<'_>) -> Self {
        let (psk, token) = match terms.proof {
            Proof::None => (None, None),
            Proof::Psk(number) => (Some(number), None),
            Proof::Token(token) => (None, Some(token.to_vec())),
        };
        Self {
            suite: terms.suite,
            key_tag: terms.key_tag,
            psk,
            token,
        }
    }
}

/// A form that only a host that seals understands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// ACK with AUTH, message 1.
    First {
        /// The nonces of the sender and of the receiver.
        nonces: [u64; 2],
        /// What it says in the open.
        terms: Terms,
        /// The message of Noise.
        message: Vec<u8>,
    },
    /// ACK with AUTH, message 2.
    Second {
        /// The nonces of the sender and of the receiver.
        nonces: [u64; 2],
        /// The number of the suite.
        suite: u8,
        /// The message of Noise.
        message: Vec<u8>,
    },
    /// DISC with a MAC, or `DISC_ACK` if there is no reason.
    Goodbye {
        /// The nonces of the sender and of the receiver.
        nonces: [u64; 2],
        /// The reason.
        reason: Option<u32>,
        /// The MAC.
        mac: [u8; 16],
    },
}

impl Form {
    /// The form's bytes.
    ///
    /// # Panics
    ///
    /// If a token has more than 372 bytes, or a message more than its most.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::First {
                nonces: [nonce_self, nonce_peer],
                terms,
                message,
            } => written(|buffer| {
                let form = FirstAuth {
                    nonce_self: *nonce_self,
                    nonce_peer: *nonce_peer,
                    terms: terms.inner(),
                    message,
                };
                form.encode(buffer)
            }),
            Self::Second {
                nonces: [nonce_self, nonce_peer],
                suite,
                message,
            } => written(|buffer| {
                let form = SecondAuth {
                    nonce_self: *nonce_self,
                    nonce_peer: *nonce_peer,
                    suite: *suite,
                    message,
                };
                form.encode(buffer)
            }),
            Self::Goodbye {
                nonces,
                reason,
                mac,
            } => goodbye(*nonces, *reason, |_| *mac),
        }
    }

    /// The form at the front of a datagram that only a host that seals understands, and the length of the
    /// form in bytes; `None` if it is another datagram.
    #[must_use]
    pub fn decode(
        datagram: &[u8],
        connection_id_len: usize,
    ) -> Option<Result<(Self, usize), Malformed>> {
        let sealed = match frame::decode_sealed(datagram, connection_id_len)? {
            Ok(sealed) => sealed,
            Err(malformed) => return Some(Err(malformed)),
        };
        let form = Self::from(&sealed);
        // What follows it was read, too.
        let length = datagram.get(1..3).and_then(<[u8]>::first_chunk).copied();
        let length = length.map_or(0, |length| 3 + usize::from(u16::from_le_bytes(length)));
        Some(Ok((form, length)))
    }
}

impl From<&frame::Sealed<'_>> for Form {
    fn from(sealed: &frame::Sealed<'_>) -> Self {
        match sealed {
            frame::Sealed::First(form, _) => Self::First {
                nonces: [form.nonce_self, form.nonce_peer],
                terms: form.terms.into(),
                message: form.message.to_vec(),
            },
            frame::Sealed::Second(form, _) => Self::Second {
                nonces: [form.nonce_self, form.nonce_peer],
                suite: form.suite,
                message: form.message.to_vec(),
            },
            frame::Sealed::Disconnect(bye) => Self::Goodbye {
                nonces: [bye.form.nonce_self, bye.form.nonce_peer],
                reason: Some(bye.form.reason),
                mac: *bye.mac,
            },
            frame::Sealed::DisconnectAck(bye) => Self::Goodbye {
                nonces: [bye.form.nonce_self, bye.form.nonce_peer],
                reason: None,
                mac: *bye.mac,
            },
        }
    }
}

/// DISC, or `DISC_ACK` if there is no reason, with the MAC of all that stands before it.
pub fn goodbye(
    nonces: [u64; 2],
    reason: Option<u32>,
    mac: impl FnOnce(&[u8]) -> [u8; 16],
) -> Vec<u8> {
    let [nonce_self, nonce_peer] = nonces;
    written(|buffer| match reason {
        Some(reason) => {
            let form = Disconnect {
                nonce_self,
                nonce_peer,
                reason,
            };
            frame::encode_disconnect(&form, buffer, mac)
        }
        None => {
            let form = DisconnectAck {
                nonce_self,
                nonce_peer,
            };
            frame::encode_disconnect_ack(&form, buffer, mac)
        }
    })
}

/// What the MAC of a goodbye covers, and the MAC; `None` if the datagram is no such form.
#[must_use]
pub fn covered(datagram: &[u8]) -> Option<(&[u8], [u8; 16])> {
    match frame::decode_sealed(datagram, 0)?.ok()? {
        frame::Sealed::Disconnect(bye) => Some((bye.covered, *bye.mac)),
        frame::Sealed::DisconnectAck(bye) => Some((bye.covered, *bye.mac)),
        frame::Sealed::First(..) | frame::Sealed::Second(..) => None,
    }
}

/// A sealed short form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedShort {
    /// The connection id of the receiver.
    pub connection_id: Vec<u8>,
    /// The low bytes of the frame id, and their number.
    pub id: (u32, u8),
    /// K: the phase bit.
    pub phase: bool,
    /// N: the nonce bit of the frame.
    pub nonce: bool,
    /// R: true if the receiver is to acknowledge at once.
    pub ack_now: bool,
    /// A: true if the sealed part begins with an acknowledgement.
    pub has_ack: bool,
    /// The sealed part, with its tag.
    pub sealed: Vec<u8>,
}

impl SealedShort {
    /// Reads a short form that is all of `bytes`.
    ///
    /// # Errors
    ///
    /// If it is too short to be a sealed one.
    pub fn decode(bytes: &[u8], connection_id_len: usize) -> Result<Self, Malformed> {
        Self::read(&Short::decode_any_phase(bytes, connection_id_len)?)
    }

    pub(crate) fn read(short: &Short<'_>) -> Result<Self, Malformed> {
        let parts = short.sealed()?;
        Ok(Self {
            connection_id: short.connection_id.as_bytes().to_vec(),
            id: (short.id_low, short.id_width),
            phase: short.phase(),
            nonce: short.nonce,
            ack_now: short.ack_now,
            has_ack: short.has_ack,
            sealed: [parts.body, parts.tag].concat(),
        })
    }

    /// The form's head, which the tag covers as well.
    #[must_use]
    pub fn head(&self) -> Vec<u8> {
        let (low, width) = self.id;
        let flags = [self.phase, self.has_ack, self.nonce, self.ack_now];
        let flags = flags.iter().fold(0, |bits, bit| bits << 1 | u8::from(*bit));
        let byte0 = 0x40 | (width.saturating_sub(1) << 4) | flags;
        let id = low.to_le_bytes();
        let id = id.get(..usize::from(width)).unwrap_or_default();
        [&[byte0], &self.connection_id[..], id].concat()
    }

    /// The form's bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        [self.head(), self.sealed.clone()].concat()
    }
}

/// The bytes that `encode` writes.
fn written(encode: impl FnOnce(&mut [u8]) -> Result<usize, NoRoom>) -> Vec<u8> {
    // No form is longer than the longest datagram that a request or its answer may be in.
    let mut buffer = vec![0; usize::from(frame::REQUEST_SIZE_MAX)];
    let length = encode(&mut buffer).expect("no form is longer");
    buffer.truncate(length);
    buffer
}

/// Bytes of the types, as they lie in a peer.
#[must_use]
pub const fn sizes() -> [(&'static str, usize); 6] {
    [
        ("Sealer", size_of::<phases::Sealer>()),
        ("Opener", size_of::<phases::Opener>()),
        ("Initiator", size_of::<noise::Initiator>()),
        ("Responder", size_of::<noise::Responder>()),
        ("Keys", size_of::<noise::Keys>()),
        ("Admission", size_of::<gate::Admission>()),
    ]
}
