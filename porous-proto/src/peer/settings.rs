//! What a host gives a peer: the peer's ids when it is made, the host's settings, and the time with each
//! call.

#[cfg(feature = "seal")]
use alloc::boxed::Box;

use super::agreement::Agreement;
use crate::config::Config;
use crate::error::ConnectError;
use crate::event::Ignored;
#[cfg(feature = "seal")]
use crate::frame::FirstAuth;
use crate::frame::{Connect, ConnectionId, GREETING_MAX, Offer, Refusal, Suites, grease};
#[cfg(feature = "seal")]
use crate::seal::{Credentials, Crypto, Security, Shown};
use crate::time::{Instant, Micros};
use crate::wire::NoRoom;

/// The settings of a host, for all its peers.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) config: Config,
    /// What the configuration says to remote hosts, in each handshake.
    pub(crate) offer: Offer,
    /// How the host seals, if it does. Boxed, as it has room for many keys.
    #[cfg(feature = "seal")]
    pub(crate) security: Option<Box<Security>>,
}

impl Settings {
    pub(crate) fn new(config: Config) -> Self {
        let offer = config.offer();
        Self {
            config,
            offer,
            #[cfg(feature = "seal")]
            security: None,
        }
    }

    /// The length of the longest datagram that the host sends, in bytes.
    pub(crate) fn longest(&self) -> usize {
        let path = &self.config.path;
        path.largest().max(path.request_size).into()
    }

    /// Whether a request of this length, in bytes, may be answered: no answer is as long.
    pub(crate) fn check_padding(&self, datagram_length: usize) -> Result<(), Ignored> {
        let is_padded = datagram_length >= usize::from(self.config.path.request_size);
        is_padded.then_some(()).ok_or(Ignored::Unpadded)
    }

    /// The terms of a connection with the sender of this request without COOKIE, or why there is none.
    pub(crate) fn agree(&self, connect: &Connect) -> Result<Agreement, Refusal> {
        let application_id = self.offer.application;
        let agreement = Agreement::new(&self.offer, &connect.offer)
            .ok_or(Refusal::Incompatible { application_id })?;
        self.secure(agreement, connect).ok_or(Refusal::Security)
    }

    /// The terms with what they say of sealing; `None` if one of the two hosts demands what the other cannot
    /// or does not want to do.
    #[cfg(feature = "seal")]
    fn secure(&self, agreement: Agreement, connect: &Connect) -> Option<Agreement> {
        if connect.offer.sealed.is_empty() {
            let security = self.security.as_ref();
            let allows = security.is_none_or(|security| security.allows_plain());
            return allows.then_some(agreement);
        }
        self.crypto(connect).map(|_| agreement.sealed())
    }

    /// A host that asks for sealing never goes on without it, and this one does not seal.
    #[cfg(not(feature = "seal"))]
    fn secure(&self, agreement: Agreement, connect: &Connect) -> Option<Agreement> {
        connect.offer.sealed.is_empty().then_some(agreement)
    }

    /// The cryptography of a connection that the remote host asks for by this request.
    #[cfg(feature = "seal")]
    pub(crate) fn crypto(&self, connect: &Connect) -> Option<Crypto> {
        let security = self.security.as_ref()?;
        security.agree(&connect.offer.sealed, &self.offer.sealed)
    }

    /// How this host seals its attempts; `None` if it does not seal.
    #[cfg(feature = "seal")]
    pub(crate) fn sealing(&self) -> Option<&Security> {
        let security = self.security.as_deref()?;
        let can_seal = security
            .agree(&self.offer.sealed, &self.offer.sealed)
            .is_some();
        can_seal.then_some(security)
    }

    /// Whether the longest request of a sealed attempt with these credentials fits.
    #[cfg(feature = "seal")]
    pub(crate) fn check_credentials(&self, with: &Credentials) -> Result<(), ConnectError> {
        let token = match with.shown() {
            Shown::Token(token, _) => token.as_bytes().len(),
            Shown::Nothing | Shown::Psk(..) => 0,
        };
        let request = self.longest_request().encoded_length(&[]);
        let longest = request + FirstAuth::longest(with.greeting_bytes().len(), token);
        let fits = longest <= usize::from(self.config.path.request_size);
        fits.then_some(()).ok_or(ConnectError::TooLong)
    }

    /// Whether the longest request with this greeting fits.
    pub(crate) fn check_greeting(&self, greeting: &[u8]) -> Result<(), ConnectError> {
        // The request that brings a cookie back has the acknowledgement of the cookie before it.
        let request = self.longest_request();
        let longest = request.encoded_length(&[]) + request.encoded_length(greeting);
        let fits = longest <= usize::from(self.config.path.request_size);
        // Without a greeting the longest offer fits into the shortest request.
        let is_sent = greeting.is_empty() || (fits && greeting.len() <= GREETING_MAX);
        is_sent.then_some(()).ok_or(ConnectError::TooLong)
    }

    /// The longest request, without a greeting.
    fn longest_request(&self) -> Connect {
        let id = [0; ConnectionId::MAX];
        let id = id.get(..self.config.connection_id_len.into());
        let own = Identity {
            nonce: 1,
            connection_id: id.and_then(ConnectionId::new).unwrap_or_default(),
            secret: 0,
            envelope: 0,
        };
        own.connect(1, &self.offer, Role::Listener)
    }
}

/// What a new peer is known by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    /// Our random id; of a peer that connected to us, the cookie (§2.3).
    pub(crate) nonce: u64,
    /// The connection id that the remote host has to put into its datagrams.
    pub(crate) connection_id: ConnectionId,
    /// A key that nobody else knows.
    pub(crate) secret: u64,
    /// Bytes that the driver adds to each datagram of the connection; 0 if this host did not begin it.
    pub(crate) envelope: u8,
}

/// Which of the two hosts asked to be connected, and which one gives way if they have come to different
/// addresses of each other: that one sends to the address that the newest datagram came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The remote host asked, and this one gives way. Such a peer counts against `max_peers`.
    Listener,
    /// This host asked, and the remote host gives way.
    Leader,
    /// Both hosts asked, and this one gives way.
    Follower,
}

impl Identity {
    /// The offer of this host for this connection.
    pub(super) fn offer(&self, ours: &Offer) -> Offer {
        ours.clone().within(self.envelope)
    }

    /// The body of our requests and acknowledgements. `nonce_peer`: the remote host's random id; 0 if it
    /// is not known.
    pub(super) fn connect(&self, nonce_peer: u64, ours: &Offer, role: Role) -> Connect {
        let mut offer = self.offer(ours);
        if role != Role::Listener {
            // Bits without a meaning are random, so that nobody learns to demand that they be 0 (RFC
            // 8701), but the same throughout an attempt, as its cookie covers them. A listener's offer is
            // always the same, as it keeps nothing between two datagrams.
            offer.features |= grease(self.nonce);
            // The host that connects decides whether the connection is sealed: only a sealed attempt offers
            // it.
            offer.sealed = Suites::NONE;
        }
        Connect {
            cookie: false,
            nonce_self: self.nonce,
            nonce_peer,
            connection_id: self.connection_id,
            offer,
        }
    }

    /// The body of our requests for a sealed connection.
    #[cfg(feature = "seal")]
    pub(super) fn connect_sealed(&self, nonce_peer: u64, ours: &Offer) -> Connect {
        let mut connect = self.connect(nonce_peer, ours, Role::Leader);
        connect.offer.sealed = ours.sealed;
        connect
    }

    /// Writes an acknowledgement of the request of the host with this random id.
    pub(super) fn acknowledge(
        &self,
        nonce_peer: u64,
        ours: &Offer,
        role: Role,
        buf: &mut [u8],
    ) -> Result<usize, NoRoom> {
        self.connect(nonce_peer, ours, role).encode_acknowledge(buf)
    }
}

/// The time of a call, and what the host knows of its own steps and limits then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick {
    pub(crate) now: Instant,
    /// `T_step,avg` of (7): the average time between steps.
    pub(crate) step: Micros,
    /// How late the host is stepped when something is due, the worst of recent steps: 0 for a host that is
    /// called in time, about a step for one that is called once for each frame of a game.
    pub(crate) lag: Micros,
    /// True if the host's cap holds back the data of all peers.
    pub(crate) is_full: bool,
    /// The most bytes that received packets of the peer may take, by the budget of the host.
    pub(crate) may_keep: u64,
    /// When the host was first stepped again after its last pause.
    pub(crate) awake_since: Instant,
    /// When the host was first stepped again after its last pause of more than a quarter of the timeout:
    /// no peer can be blamed for silence while the host did not listen (`docs/deviations.md` T23).
    pub(crate) back_since: Instant,
}

/// The number of the host's pauses that have put off the end of a peer since it was last heard.
#[derive(Debug, Default)]
pub(super) struct Excuses(u8);

impl Excuses {
    /// The most pauses in a row that put off the end: without a bound it would never come where the host
    /// is always stepped as seldom (`docs/deviations.md` T23).
    const MAX: u8 = 3;

    /// Whether a deadline has come. `later`: the deadline with the last pause left out. If that one has
    /// not come, the deadline is put off to it.
    pub(super) fn is_over(&mut self, deadline: &mut Instant, later: Instant, now: Instant) -> bool {
        if *deadline > now {
            return false;
        }
        let excused = later > now && self.0 < Self::MAX;
        if excused {
            *deadline = later;
            self.0 += 1;
        }
        !excused
    }
}
