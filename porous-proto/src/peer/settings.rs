//! What a host gives a peer: settings and ids when it comes to be, the time whenever it is called.

use alloc::boxed::Box;
use core::time::Duration;

use crate::config::{Channel, Config, Policy};
use crate::congestion::Congestion;
use crate::frame::{Connect, ConnectionId, Offer, grease};
use crate::time::Instant;
use crate::wire::NoRoom;

/// The part of the host's [`Config`] that no other host is told. What is negotiated comes with the
/// [`Offer`].
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// In bytes, 64 a packet included.
    pub(crate) send_budget: u64,
    /// Requests are padded to it.
    pub(crate) request_size: usize,
    pub(crate) connect_timeout: Duration,
    /// Silence for so long ends the connection (§2.2).
    pub(crate) timeout: Duration,
    pub(crate) disconnect_timeout: Duration,
    /// Unreliable packets that have waited longer are not sent.
    pub(crate) unreliable_age: Duration,
    pub(crate) policy: Policy,
    pub(crate) congestion: Congestion,
    pub(crate) keepalive: Duration,
    /// Data is marked as ECN-capable.
    pub(crate) ecn: bool,
    /// Of the first frame and of each channel's first packet; 0 but in tests.
    pub(crate) first_id: u64,
    /// Of each channel; empty if all are the default.
    pub(crate) channels: Box<[Channel]>,
}

impl Settings {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            send_budget: u64::from(config.budgets.send_budget),
            request_size: config.path.request_size.into(),
            connect_timeout: config.timeouts.connect_timeout,
            timeout: config.timeouts.timeout,
            disconnect_timeout: config.timeouts.disconnect_timeout,
            unreliable_age: config.timeouts.unreliable_age,
            policy: config.policy,
            congestion: config.controller(),
            keepalive: config.timeouts.keepalive,
            ecn: config.path.ecn,
            first_id: config.first_id,
            channels: config.channels.settings(),
        }
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
        let connect = self.connect(nonce_peer, ours, role);
        connect.encode_acknowledge(buf)
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
