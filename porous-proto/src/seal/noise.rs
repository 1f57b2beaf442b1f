//! The Noise Protocol Framework, revision 34, as far as a connection needs it: the patterns NNpsk0 and
//! NKpsk0, both sides.
//!
//! ```text
//! NNpsk0:    -> psk, e              NKpsk0:    <- s
//!            <- e, ee                          ...
//!                                              -> psk, e, es
//!                                              <- e, ee
//! ```
//!
//! Each of the two messages has one payload, and before each payload stands a token that makes a new key.
//! So every key seals once, with the nonce 0, and no counter is needed.
//!
//! Nothing here is random: ephemeral keys are arguments. A host must not start twice with one ephemeral key
//! unless prologue, psk and payload are the same as well, since in these patterns the key of message 1
//! follows from psk and ephemeral key alone (Noise §9.2).

use arrayvec::ArrayVec;

use super::crypto::Crypto;
use super::hkdf::{expand, extract};
use super::provider::{PublicKey, Suite, Weak};
use super::secret::{Psk, Secret, SecretKey};
use crate::frame::SEAL_TAG;

/// Bytes of a tag.
pub(crate) const TAG: usize = SEAL_TAG;

/// Stands for the psk where there is none: a pattern with a psk is then as good as the one without.
const NO_PSK: [u8; 32] = [0; 32];

/// Why a message was neither written nor read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The message is too short to be one.
    Length,
    /// A key in the message, or the server's, is none of the suite.
    Weak,
    /// The message does not open: it was changed, or the two sides do not have the same prologue, psk, or
    /// server key.
    Forged,
    /// The buffer is too short.
    NoRoom,
}

impl From<Weak> for Failure {
    fn from(_: Weak) -> Self {
        Self::Weak
    }
}

/// What both sides have to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup<'a> {
    pub(crate) crypto: Crypto,
    /// What both sides have seen of each other before: the handshake fails if they have not seen the same.
    pub(crate) prologue: &'a [u8],
    pub(crate) psk: Option<&'a Psk>,
}

/// A server's static key pair.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    secret: SecretKey,
    public: PublicKey,
}

impl Identity {
    pub(crate) fn new(crypto: Crypto, secret: SecretKey) -> Result<Self, Weak> {
        let public = crypto.public_key(&secret)?;
        Ok(Self { secret, public })
    }

    #[cfg(feature = "record")]
    pub(crate) const fn secret(&self) -> &SecretKey {
        &self.secret
    }

    pub(crate) const fn public(&self) -> &PublicKey {
        &self.public
    }
}

/// What a handshake gives.
#[derive(Debug)]
pub(crate) struct Keys {
    /// Seals what the initiator sends.
    pub(crate) initiator: Secret,
    /// Seals what the responder sends.
    pub(crate) responder: Secret,
    /// From which all other secrets of the connection are derived.
    pub(crate) control: Secret,
    /// Names this handshake, and is no secret: h of Noise §11.2.
    pub(crate) binding: [u8; 32],
}

/// Noise's SymmetricState (§5.2), without its CipherState: a key is used at once.
#[derive(Clone, Debug)]
struct Symmetric {
    crypto: Crypto,
    /// ck.
    chain: Secret,
    /// h.
    hash: [u8; 32],
}

impl Symmetric {
    /// The state before the first ephemeral key.
    fn new(setup: &Setup<'_>, server: Option<&PublicKey>) -> Self {
        let hash = hash_of_name(setup.crypto, server.is_some());
        let mut state = Self {
            crypto: setup.crypto,
            chain: Secret::new(hash),
            hash,
        };
        state.mix_hash(setup.prologue);
        if let Some(server) = server {
            state.mix_hash(server.as_bytes());
        }
        state.mix_psk(setup.psk.map_or(&NO_PSK, Psk::as_bytes));
        state
    }

    fn mix_hash(&mut self, data: &[u8]) {
        self.hash = self.crypto.hash(&[&self.hash, data]);
    }

    /// MixKey: gives the key that now seals, from the nonce 0 on.
    fn mix_key(&mut self, input: &[u8]) -> Secret {
        let key = extract(self.crypto, self.chain.bytes(), [input, &[]]);
        let [chain, key] = expand(self.crypto, &key, &[]);
        self.chain = chain;
        key
    }

    /// MixKeyAndHash. The key that it gives is never used, as the ephemeral key makes another.
    fn mix_psk(&mut self, psk: &[u8; 32]) {
        let key = extract(self.crypto, self.chain.bytes(), [psk, &[]]);
        let [chain, hash] = expand(self.crypto, &key, &[]);
        self.chain = chain;
        self.mix_hash(hash.bytes());
    }

    /// The token `e`: with a psk the public key is mixed into the key as well (§9.2).
    fn mix_ephemeral(&mut self, public: &[u8]) -> Secret {
        self.mix_hash(public);
        self.mix_key(public)
    }

    /// Writes an ephemeral key and then the payload, sealed with `key`. Gives the length of the message.
    fn write(
        &mut self,
        key: &Secret,
        public: &PublicKey,
        payload: &[u8],
        out: &mut [u8],
    ) -> Result<usize, Failure> {
        let public = public.as_bytes();
        let length = public.len() + payload.len() + TAG;
        let out = out.get_mut(..length).ok_or(Failure::NoRoom)?;
        let (start, sealed) = out.split_at_mut(public.len());
        start.copy_from_slice(public);
        let (text, tag) = sealed.split_at_mut(payload.len());
        text.copy_from_slice(payload);
        let mut aead = self.crypto.aead(key.bytes());
        tag.copy_from_slice(&aead.seal(0, &self.hash, text));
        self.mix_hash(sealed);
        Ok(length)
    }

    /// Opens a payload into `out`, and gives its length. If it does not open, nothing of it is left there.
    fn read(&mut self, key: &Secret, sealed: &[u8], out: &mut [u8]) -> Result<usize, Failure> {
        let (text, tag) = sealed.split_last_chunk::<TAG>().ok_or(Failure::Length)?;
        let out = out.get_mut(..text.len()).ok_or(Failure::NoRoom)?;
        out.copy_from_slice(text);
        let mut aead = self.crypto.aead(key.bytes());
        if !aead.open(0, &self.hash, out, tag) {
            out.fill(0);
            return Err(Failure::Forged);
        }
        self.mix_hash(sealed);
        Ok(text.len())
    }

    /// Split, with a third key: the first two are what Noise's gives (§5.2).
    fn split(&self) -> Keys {
        let key = extract(self.crypto, self.chain.bytes(), [&[], &[]]);
        let [initiator, responder, control] = expand(self.crypto, &key, &[]);
        Keys {
            initiator,
            responder,
            control,
            binding: self.hash,
        }
    }
}

/// h of Noise's Initialize: the name of the protocol, hashed if it is longer than a hash (§5.2).
fn hash_of_name(crypto: Crypto, with_server_key: bool) -> [u8; 32] {
    let mut name: ArrayVec<u8, 48> = ArrayVec::new();
    let pattern: &[u8] = if with_server_key {
        b"Noise_NKpsk0_"
    } else {
        b"Noise_NNpsk0_"
    };
    let number = [crypto.suite().number()];
    let suite: [&[u8]; 2] = match crypto.suite() {
        Suite::CHACHA_POLY => [b"25519_ChaChaPoly_SHA256", &[]],
        Suite::AES_GCM => [b"25519_AESGCM_SHA256", &[]],
        // Nobody has agreed on a name: the number must do, so that two suites never share a hash.
        _ => [b"porous_suite_", &number],
    };
    name.extend(pattern.iter().chain(suite[0]).chain(suite[1]).copied());
    let mut hash = [0; 32];
    if let Some(start) = hash.get_mut(..name.len()) {
        start.copy_from_slice(&name);
        return hash;
    }
    crypto.hash(&[&name])
}

/// Cuts a message into the ephemeral key at its front, and the payload.
fn cut(crypto: Crypto, message: &[u8]) -> Result<(&[u8], &[u8]), Failure> {
    let parts = message.split_at_checked(crypto.public_key_length());
    parts.ok_or(Failure::Length)
}

/// The side that connects, between its message and the answer.
#[derive(Debug)]
pub(crate) struct Initiator {
    state: Symmetric,
    ephemeral: SecretKey,
}

impl Initiator {
    /// Writes message 1 into `out`. Gives its length as well.
    pub(crate) fn start(
        setup: &Setup<'_>,
        server: Option<&PublicKey>,
        ephemeral: SecretKey,
        payload: &[u8],
        out: &mut [u8],
    ) -> Result<(Self, usize), Failure> {
        let crypto = setup.crypto;
        let mut state = Symmetric::new(setup, server);
        let public = crypto.public_key(&ephemeral)?;
        let mut key = state.mix_ephemeral(public.as_bytes());
        if let Some(server) = server {
            let shared = crypto.agree(&ephemeral, server.as_bytes())?; // es
            key = state.mix_key(shared.as_bytes());
        }
        let length = state.write(&key, &public, payload, out)?;
        Ok((Self { state, ephemeral }, length))
    }

    /// Opens message 2 into `out`. Gives the length of its payload as well. A message that does not open
    /// changes nothing, and the next one may.
    pub(crate) fn finish(&self, message: &[u8], out: &mut [u8]) -> Result<(Keys, usize), Failure> {
        let crypto = self.state.crypto;
        let (public, sealed) = cut(crypto, message)?;
        let mut state = self.state.clone();
        // The key of the token `e` is not used: `ee` makes another.
        let _ = state.mix_ephemeral(public);
        let shared = crypto.agree(&self.ephemeral, public)?; // ee
        let key = state.mix_key(shared.as_bytes());
        let length = state.read(&key, sealed, out)?;
        Ok((state.split(), length))
    }
}

/// The side that was connected to, between message 1 and its answer.
#[derive(Debug)]
pub(crate) struct Responder {
    state: Symmetric,
    /// The initiator's ephemeral key.
    remote: PublicKey,
}

impl Responder {
    /// Opens message 1 into `out`. Gives the length of its payload as well. With `identity` the message is
    /// one for that server key, and the costly agreement on keys comes before it can be seen to be forged;
    /// without, only hashes do.
    pub(crate) fn open(
        setup: &Setup<'_>,
        identity: Option<&Identity>,
        message: &[u8],
        out: &mut [u8],
    ) -> Result<(Self, usize), Failure> {
        let crypto = setup.crypto;
        let (public, sealed) = cut(crypto, message)?;
        let remote = PublicKey::from_bytes(public).ok_or(Failure::Length)?;
        let mut state = Symmetric::new(setup, identity.map(|identity| &identity.public));
        let mut key = state.mix_ephemeral(public);
        if let Some(identity) = identity {
            let shared = crypto.agree(&identity.secret, public)?; // es
            key = state.mix_key(shared.as_bytes());
        }
        let length = state.read(&key, sealed, out)?;
        Ok((Self { state, remote }, length))
    }

    /// Writes message 2 into `out`. Gives its length as well. It takes the state, so that no two messages
    /// are sealed with one key.
    pub(crate) fn reply(
        mut self,
        ephemeral: &SecretKey,
        payload: &[u8],
        out: &mut [u8],
    ) -> Result<(Keys, usize), Failure> {
        let crypto = self.state.crypto;
        let public = crypto.public_key(ephemeral)?;
        // The key of the token `e` is not used: `ee` makes another.
        let _ = self.state.mix_ephemeral(public.as_bytes());
        let shared = crypto.agree(ephemeral, self.remote.as_bytes())?; // ee
        let key = self.state.mix_key(shared.as_bytes());
        let length = self.state.write(&key, &public, payload, out)?;
        Ok((self.state.split(), length))
    }
}
