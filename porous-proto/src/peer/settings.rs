//! What a host gives a peer: ids when it comes to be, its settings and the time when it is called.

use core::time::Duration;

use super::agreement::Agreement;
use crate::config::Config;
use crate::error::ConnectError;
use crate::event::Ignored;
use crate::frame::{Connect, ConnectionId, GREETING_MAX, Offer, Refusal, grease};
use crate::time::Instant;
use crate::wire::NoRoom;

/// The settings of a host, for all its peers.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) config: Config,
    /// What the configuration says to remote hosts.
    pub(crate) offer: Offer,
}

impl Settings {
    pub(crate) fn new(config: Config) -> Self {
        let offer = config.offer();
        Self { config, offer }
    }

    /// The bytes of the longest datagram that is sent.
    pub(crate) fn longest(&self) -> usize {
        let path = &self.config.path;
        path.largest().max(path.request_size).into()
    }

    /// Whether a request of this length may be answered: no answer is as long.
    pub(crate) fn check_padding(&self, datagram_length: usize) -> Result<(), Ignored> {
        let is_padded = datagram_length >= usize::from(self.config.path.request_size);
        is_padded.then_some(()).ok_or(Ignored::Unpadded)
    }

    /// What comes of a request without COOKIE, if anything can: else what its host is told.
    pub(crate) fn agree(&self, connect: &Connect) -> Result<Agreement, Refusal> {
        let application_id = self.offer.application;
        let agreement = Agreement::new(&self.offer, &connect.offer)
            .ok_or(Refusal::Incompatible { application_id })?;
        // A host that asks for sealing never goes on without it, and this one does not seal.
        let is_open = connect.offer.sealed.is_empty();
        is_open.then_some(agreement).ok_or(Refusal::Security)
    }

    /// Whether the longest request with this greeting fits: the acknowledgement of a cookie goes
    /// before it.
    pub(crate) fn check_greeting(&self, greeting: &[u8]) -> Result<(), ConnectError> {
        let id = [0; ConnectionId::MAX];
        let id = id.get(..self.config.connection_id_len.into());
        let own = Identity {
            nonce: 1,
            connection_id: id.and_then(ConnectionId::new).unwrap_or_default(),
            secret: 0,
        };
        let connect = own.connect(1, &self.offer, Role::Listener);
        let longest = connect.encoded_length(&[]) + connect.encoded_length(greeting);
        let fits = longest <= usize::from(self.config.path.request_size);
        let is_sent = greeting.is_empty() || (fits && greeting.len() <= GREETING_MAX);
        is_sent.then_some(()).ok_or(ConnectError::TooLong)
    }
}

/// What a new peer is known by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    /// Our random id (§2.3). For a connection that came to us, the cookie.
    pub(crate) nonce: u64,
    /// What the remote host is to put into its datagrams.
    pub(crate) connection_id: ConnectionId,
    /// What nobody else is to know.
    pub(crate) secret: u64,
}

/// Which of the two hosts asked to be connected, and which gives way if they have come to different
/// addresses of each other: it sends to where the newest datagram came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The remote host asked, and we give way. Such a peer counts against `max_peers`.
    Listener,
    /// We asked, and the remote host gives way.
    Leader,
    /// Both asked, and we give way.
    Follower,
}

impl Identity {
    /// The body of our requests and acknowledgements. `nonce_peer`: the remote host's random id, 0 if
    /// that is not known.
    pub(super) fn connect(&self, nonce_peer: u64, ours: &Offer, role: Role) -> Connect {
        let mut offer = ours.clone();
        if role != Role::Listener {
            // Bits without a meaning are random, an attempt's throughout, so that nobody learns to
            // demand that they be 0 (RFC 8701). A listener's offer is always the same.
            offer.features |= grease(self.nonce);
        }
        Connect {
            cookie: false,
            nonce_self: self.nonce,
            nonce_peer,
            connection_id: self.connection_id,
            offer,
        }
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

/// The present.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick {
    pub(crate) now: Instant,
    /// `T_step,avg` of (7): the average time between steps.
    pub(crate) step: Duration,
    /// How late the host is stepped when something is due, the worst of recent steps: nothing for one
    /// that is called in time, about a step for one that is called once a frame.
    pub(crate) lag: Duration,
    /// The host's cap holds the data of all peers back.
    pub(crate) is_full: bool,
    /// What received packets of the peer may take, by what those of all peers may.
    pub(crate) may_keep: u64,
    /// When the host was first stepped again after a pause, however short.
    pub(crate) awake_since: Instant,
    /// When it was first stepped again after a pause of a quarter of the timeout: nobody can be
    /// blamed for silence while we did not listen (`docs/deviations.md` T23).
    pub(crate) back_since: Instant,
}

/// The pauses of ours that have put off the end of the peer since something was heard: only a few in a
/// row do, or the end would never come to a host that is always stepped as seldom
/// (`docs/deviations.md` T23).
#[derive(Debug, Default)]
pub(super) struct Excuses(u8);

impl Excuses {
    const MAX: u8 = 3;

    /// Whether a deadline has come. If it would be `later` but for a pause of ours, it is put off.
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
