//! The state of a connection that a session needs.

use core::time::Duration;

use porous_proto::{ChannelId, Peer, PeerStats};

/// The state of the connection that carries a [`Session`](crate::Session), at this moment.
///
/// ```
/// use porous_message::Carrier;
/// use porous_proto::ChannelId;
/// # use porous_proto::hooks::doc::example_pair;
///
/// # let (host, peer) = example_pair();
/// let carrier = host.peer(peer).map(|peer| Carrier::of(peer, ChannelId(0)));
/// assert!(carrier.is_some_and(|carrier| carrier.waiting == 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Carrier {
    /// The smoothed round trip: [`PeerStats::rtt`].
    pub rtt: Duration,
    /// How long the host waits for an acknowledgement before it asks for one:
    /// [`PeerStats::resend_timeout`].
    pub resend_timeout: Duration,
    /// The most bytes of data that may be on their way at once: [`PeerStats::window`].
    pub window: u32,
    /// Packets of the session's channel of which no byte was sent yet:
    /// [`ChannelStats::waiting`](porous_proto::ChannelStats::waiting).
    pub waiting: u32,
}

impl Carrier {
    /// The connection to this peer, whose host carries the session's packets on this channel.
    ///
    /// ```
    /// use porous_message::Carrier;
    /// use porous_proto::ChannelId;
    /// # use porous_proto::hooks::doc::example_pair;
    ///
    /// # let (host, peer) = example_pair();
    /// let peer = host.peer(peer).unwrap();
    /// assert_eq!(Carrier::of(peer, ChannelId(0)).rtt, peer.rtt());
    /// ```
    #[must_use]
    pub fn of(peer: &Peer, channel: ChannelId) -> Self {
        Self {
            waiting: peer.channel_stats(channel).waiting,
            ..Self::from(&peer.stats())
        }
    }
}

impl From<&PeerStats> for Carrier {
    /// For a program without a [`Peer`] at hand, such as one whose host runs in a thread of its own.
    /// [`waiting`](Self::waiting) is not known and becomes 0. The session then learns only from receipts
    /// that its packets have left, a round trip later.
    fn from(stats: &PeerStats) -> Self {
        Self {
            rtt: stats.rtt,
            resend_timeout: stats.resend_timeout,
            window: stats.window,
            waiting: 0,
        }
    }
}
