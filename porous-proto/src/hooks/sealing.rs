//! The sealing of the core, for tests with a provider: those of `porous-crypto`. The state machine of
//! connections does not call any of it yet.

use core::time::Duration;

use crate::Instant;
use crate::seal::{
    Claims, Crypto, Provider, Psk, PublicKey, Secret, SecretKey, Suite, TokenKey, TokenRefusal,
    gate, hkdf, noise, phases, used,
};

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
