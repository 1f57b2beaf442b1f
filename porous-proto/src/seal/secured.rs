//! What is known of a sealed connection, and the keys that outlive its handshake.

use alloc::boxed::Box;
use core::fmt;

use super::claims::Claims;
use super::crypto::Crypto;
use super::hkdf::hmac;
use super::noise::Keys;
use super::provider::{PublicKey, Suite};
use super::secret::Secret;
use crate::frame::{self, Goodbye, MAC};
use crate::wire::NoRoom;

/// What a handshake has proved of the two hosts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proved {
    /// The responder has the secret half of this key.
    pub(crate) server_key: Option<PublicKey>,
    /// Both hosts have the psk with this number.
    pub(crate) psk: Option<u32>,
    /// What the client's token says; `None` at the client itself.
    pub(crate) claims: Option<Box<Claims>>,
}

/// What proves that two hosts speak of one sealed connection: [`Peer::secured`](crate::Peer::secured).
#[derive(Clone)]
pub struct Secured {
    crypto: Crypto,
    /// What the handshake has proved of the two hosts.
    proved: Proved,
    /// Names the handshake.
    binding: [u8; 32],
    /// From which other secrets are derived.
    control: Secret,
    /// Signs goodbyes.
    bye: Secret,
    /// True once something that the remote host has sealed came: it has the keys, and says nothing in plain
    /// any more.
    pub(crate) is_heard: bool,
    /// True if the last goodbye of the remote host was signed, and so is its acknowledgement.
    pub(crate) was_signed: bool,
    /// The number of goodbyes that were written while the remote host might not have had the keys.
    goodbyes: u8,
}

impl Secured {
    pub(crate) fn new(crypto: Crypto, keys: &Keys, proved: Proved) -> Self {
        let bye = hmac(crypto, keys.control.bytes(), [b"porous bye", &[], &[]]);
        Self {
            crypto,
            proved,
            binding: keys.binding,
            control: keys.control.clone(),
            bye: Secret::new(bye),
            is_heard: false,
            was_signed: false,
            goodbyes: 0,
        }
    }

    /// The algorithms.
    ///
    /// ```
    /// # fn of(secured: &porous_proto::seal::Secured) {
    /// println!("sealed with suite {}", secured.suite().number());
    /// # }
    /// # let _ = of;
    /// ```
    #[must_use]
    pub const fn suite(&self) -> Suite {
        self.crypto.suite()
    }

    /// The key that the host that was connected to has proved to have the secret half of; `None` if the host that
    /// connected did not name one. That host may be this one.
    ///
    /// ```
    /// # fn of(secured: &porous_proto::seal::Secured) {
    /// let is_checked = secured.server_key().is_some();
    /// # let _ = is_checked;
    /// # }
    /// # let _ = of;
    /// ```
    #[must_use]
    pub const fn server_key(&self) -> Option<&PublicKey> {
        self.proved.server_key.as_ref()
    }

    /// The number of the psk that both hosts have proved to have; `None` if the connection was made without.
    ///
    /// ```
    /// # fn of(secured: &porous_proto::seal::Secured) {
    /// let is_of_the_group = secured.psk() == Some(7);
    /// # let _ = is_of_the_group;
    /// # }
    /// # let _ = of;
    /// ```
    #[must_use]
    pub const fn psk(&self) -> Option<u32> {
        self.proved.psk
    }

    /// The id of the client in the token by which it was let in; `None` at the client itself, and of a client
    /// without a token.
    ///
    /// ```
    /// # fn of(secured: &porous_proto::seal::Secured) {
    /// if let Some(player) = secured.client_id() {
    ///     println!("player {player}");
    /// }
    /// # }
    /// # let _ = of;
    /// ```
    #[must_use]
    pub fn client_id(&self) -> Option<u64> {
        Some(self.proved.claims.as_ref()?.client_id())
    }

    /// What the backend has written into the client's token, 255 bytes at most; none at the client itself.
    ///
    /// ```
    /// # fn of(secured: &porous_proto::seal::Secured) {
    /// let name = core::str::from_utf8(secured.user_data());
    /// # let _ = name;
    /// # }
    /// # let _ = of;
    /// ```
    #[must_use]
    pub fn user_data(&self) -> &[u8] {
        let claims = self.proved.claims.as_ref();
        claims.map_or(&[], |claims| claims.data())
    }

    /// A name of this connection, and no secret: both hosts have the same, and no other connection has it. A
    /// signature of it, sent over the connection, proves that the signer is at the other end of this very
    /// connection (RFC 9266 §2, "channel binding"; Noise §11.2).
    ///
    /// ```
    /// # fn of(secured: &porous_proto::seal::Secured) {
    /// let to_be_signed: &[u8; 32] = secured.binding();
    /// # let _ = to_be_signed;
    /// # }
    /// # let _ = of;
    /// ```
    #[must_use]
    pub const fn binding(&self) -> &[u8; 32] {
        &self.binding
    }

    /// A secret that both hosts have and nobody else, another one for each label: a key for voice that
    /// goes another way, for instance.
    ///
    /// ```
    /// # fn of(secured: &porous_proto::seal::Secured) {
    /// let voice: [u8; 32] = secured.export(b"voice");
    /// # let _ = voice;
    /// # }
    /// # let _ = of;
    /// ```
    #[must_use]
    pub fn export(&self, label: &[u8]) -> [u8; 32] {
        let control = self.control.bytes();
        hmac(self.crypto, control, [b"porous export", label, &[]])
    }

    /// Signs the goodbye in the first `len` bytes of `buf`, and returns its length with the MAC. Forms that are
    /// no goodbyes stay as they are.
    pub(crate) fn sign_goodbye(&mut self, len: usize, buf: &mut [u8]) -> Result<usize, NoRoom> {
        let signs = match buf.get(..len).and_then(frame::goodbye_of) {
            None => false,
            Some(Goodbye::Acknowledgement) => self.was_signed,
            // A remote host that was not heard may or may not have the keys by now: it is told in both ways,
            // in turns.
            Some(Goodbye::Request) => {
                self.goodbyes = self.goodbyes.wrapping_add(1);
                self.is_heard || self.goodbyes % 2 == 1
            }
        };
        if !signs {
            return Ok(len);
        }
        frame::append_mac(buf, len, |covered| self.sign(covered))
    }

    /// Signs a goodbye: all of its form but the MAC.
    pub(crate) fn sign(&self, covered: &[u8]) -> [u8; MAC] {
        let whole = hmac(self.crypto, self.bye.bytes(), [covered, &[], &[]]);
        let mut mac = [0; MAC];
        for (to, from) in mac.iter_mut().zip(whole) {
            *to = from;
        }
        mac
    }

    /// Whether the remote host has signed this, in a time that does not depend on where the MACs differ.
    pub(crate) fn is_signed(&self, covered: &[u8], mac: &[u8; MAC]) -> bool {
        let right = self.sign(covered);
        let differs = right.iter().zip(mac).fold(0, |all, (a, b)| all | (a ^ b));
        core::hint::black_box(differs) == 0
    }
}

impl fmt::Debug for Secured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Secured");
        shown
            .field("suite", &self.suite())
            .field("is_heard", &self.is_heard)
            .field("was_signed", &self.was_signed)
            .field("goodbyes", &self.goodbyes)
            .finish_non_exhaustive()
    }
}
