//! What a host is configured with before it connects to any other (§2.1).

mod budgets;
mod channel;
mod offered;
mod path;
#[cfg(feature = "serde")]
mod plain;
#[cfg(feature = "record")]
pub(crate) mod record;
mod timeouts;

#[cfg(feature = "seal")]
use arrayvec::ArrayVec;

use self::budgets::Budgets;
use self::channel::ChannelList;
pub use self::channel::{Channel, Order};
use self::offered::Offered;
use self::path::PathSettings;
pub(crate) use self::timeouts::Timeouts;
use crate::congestion::Congestion;
use crate::error::ConfigError;
use crate::frame::{ConnectionId, Offer, Suites};
#[cfg(feature = "seal")]
use crate::seal::Suite;

/// How urgent a channel is for the host that sends on it: everything of high priority leaves before
/// anything of low priority (§3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Priority {
    /// Bulk: it waits for everything of high priority.
    #[default]
    Low,
    /// Urgent: it leaves first. Under [`Policy::Modern`] it may also leave ahead of the congestion window and
    /// the pace, by two full datagrams or a quarter of the window if that is less, until bulk leaves next: an
    /// event leaves at once although a file fills the window.
    High,
}

/// Which rules a host follows where the paper can be improved. Hosts with different policies
/// understand each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Policy {
    /// The paper's, as printed.
    Paper,
    /// Acknowledgements alone tell what was lost, and losses are repaired sooner: the thresholds learn
    /// from reordering, probes leave the congestion window alone, and what was not lost after all costs
    /// nothing (RFC 9002, RFC 8985). The bytes in flight follow the delay of the queue on the path
    /// ([`Congestion::Lean`]), and data is paced.
    #[default]
    Modern,
}

/// The configuration of a host. It only ever holds valid values: a setter that can be given an invalid
/// one returns an error.
///
/// # Memory
///
/// Whatever the network sends, one peer costs at most 4 · ([receive budget](Self::receive_budget) +
/// [send budget](Self::send_budget)) bytes and 128 bytes for each id of its
/// [windows](Self::windows), N_P + N_Q · channels. The factor is 4 for packets without content,
/// which count 64 bytes each in the budgets and cost more; for packets of 1 KiB and more it is less
/// than 2. Unreliable packets leave the send budget when they are sent: those in flight cost 80
/// bytes each, at most 128 in each of N_P frames. Reliable packets leave it when the remote host says
/// that it has passed them, and keep their bytes until their frames are acknowledged or dropped: at
/// most N_P datagrams. Received packets of all peers together are held to the
/// [budget of the host](Self::host_receive_budget). A packet that was sent with a time to live, a
/// receipt or a key costs up to 256 bytes more while it waits or is on its way. Memory that the budgets
/// allow is given back when it is no longer used; memory of the windows may stay until the peer ends.
///
/// ```
/// use porous_proto::{Config, Priority};
///
/// let config = Config::new()
///     .application_id(0x7069_6e67)
///     .channels(&[Priority::High, Priority::Low])?
///     .max_peers(64);
/// # let _ = config;
/// # Ok::<(), porous_proto::ConfigError>(())
/// ```
///
/// # Limits
///
/// What the network sends never makes a host grow past what its configuration says, with these
/// fixed limits beside it:
///
/// - Peers that have ended are kept for 30 s, to answer for their connections: at most two for each
///   of [`max_peers`](Self::max_peers), and two where that is 0. The oldest go first.
/// - Answers to senders that are no peers wait to be sent: at most as many as may leave at once, which
///   is a quarter of a second's by [`reply_limits`](Self::reply_limits), and 1024. Further ones are
///   dropped and counted as [`TooManyReplies`](crate::Ignored::TooManyReplies).
/// - While 4096 events wait for the application that tell of peers which come, go or ask, no new peer is let in:
///   requests are refused with [`Full`](crate::Refusal::Full). Each peer adds one
///   [`Readable`](crate::Event::Readable) and one [`Writable`](crate::Event::Writable) at most, and
///   one event for each packet that was sent to it with a receipt, which takes 64 bytes of the
///   [send budget](Self::send_budget) until the event is taken.
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) offered: Offered,
    pub(crate) channels: ChannelList,
    pub(crate) path: PathSettings,
    pub(crate) budgets: Budgets,
    pub(crate) timeouts: Timeouts,
    pub(crate) policy: Policy,
    /// `None`: the controller of the policy.
    congestion: Option<Congestion>,
    pub(crate) connection_id_len: u8,
    listen_allowed: bool,
    /// None in a host that does not seal.
    suites: Suites,
    /// The id of the first frame and of each channel's first packet; 0 but in tests.
    pub(crate) first_id: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

impl Config {
    /// The configuration that we recommend: one channel of low priority, 1024 peers, and
    /// [`Policy::Modern`] with windows of 4096 frames and 4096 packets.
    ///
    /// ```
    /// let _config = porous_proto::Config::new();
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self {
            offered: Offered::DEFAULT,
            channels: ChannelList::DEFAULT,
            path: PathSettings::DEFAULT,
            budgets: Budgets::DEFAULT,
            timeouts: Timeouts::DEFAULT,
            policy: Policy::Modern,
            congestion: None,
            // With the check of a datagram, 2^64 datagrams to guess for a forger that sees nothing.
            connection_id_len: 4,
            listen_allowed: true,
            suites: Suites::NONE,
            first_id: 0,
        }
    }

    /// The configuration of the paper: its policy, and windows of 65,536 frames and 65,536 packets (N_P
    /// and N_Q, §3.1.1, §3.2.1).
    ///
    /// ```
    /// let _config = porous_proto::Config::paper();
    /// ```
    #[must_use]
    pub const fn paper() -> Self {
        let mut config = Self::new();
        config.offered.frame_window_log2 = 16;
        config.offered.packet_window_log2 = 16;
        config.policy = Policy::Paper;
        config
    }

    /// For a host that only connects: connection ids of 2 bytes, and
    /// [`listen`](crate::Host::listen) is an error.
    ///
    /// ```
    /// let _config = porous_proto::Config::client();
    /// ```
    #[must_use]
    pub const fn client() -> Self {
        let mut config = Self::new();
        // Shorter datagrams; with their check a forger that sees nothing still has 2^48 to guess.
        config.connection_id_len = 2;
        config.listen_allowed = false;
        config
    }

    /// For a microcontroller: as [`new`](Self::new), but in a few dozen kilobytes.
    ///
    /// | | here | [`new`](Self::new) |
    /// |---|---|---|
    /// | [`windows`](Self::windows) | 64 and 64 | 4096 and 4096 |
    /// | [`receive_budget`](Self::receive_budget): a packet, and all that wait | 4 KiB, 8 KiB | 1 MiB, 4 MiB |
    /// | [`send_budget`](Self::send_budget) | 8 KiB | 4 MiB |
    /// | [`max_peers`](Self::max_peers) | 2 | 1024 |
    /// | [`reply_limits`](Self::reply_limits): an address, and all | 10, 100 | 20, 20,000 |
    ///
    /// The remote host may have any configuration: a connection has the smaller windows and the smaller
    /// largest packet of both.
    ///
    /// Measured on a Cortex-M3 (`docs/embedded.md`, which also tells how to go on from here): a host
    /// takes 2.8 KiB, a peer 6.7 KiB as soon as it is connected, and about 30 KiB more while both
    /// sides send packets of up to 4 KiB over a path that loses a tenth. Whatever the remote host sends,
    /// and even if it acknowledges nothing, a peer takes at most 64 KiB where pointers have 8 bytes, and
    /// less where they have 4. Only the program itself can make it take more: an unreliable packet that
    /// is on its way is in no budget, and takes 80 bytes.
    ///
    /// ```
    /// use porous_proto::{Config, Priority};
    ///
    /// // A sensor: commands, and what it measures, to one base station.
    /// let config = Config::embedded()
    ///     .channels(&[Priority::High, Priority::Low])?
    ///     .max_peers(1);
    /// # let _ = config;
    /// # Ok::<(), porous_proto::ConfigError>(())
    /// ```
    #[must_use]
    pub const fn embedded() -> Self {
        let mut config = Self::new();
        config.offered.frame_window_log2 = 6;
        config.offered.packet_window_log2 = 6;
        config.offered.max_packet = 4 << 10;
        config.offered.receive_budget = 8 << 10;
        config.budgets.send_budget = 8 << 10;
        config.budgets.max_peers = 2;
        config.budgets.replies_per_address = 10;
        config.budgets.replies = 100;
        config
    }

    /// The bytes that packets of all peers may take in this host's budgets.
    pub(crate) fn budgets_of_peers(&self) -> u64 {
        let (offered, budgets) = (&self.offered, &self.budgets);
        let one = u64::from(offered.receive_budget) + u64::from(budgets.send_budget);
        // A host that takes no peers in may connect to some itself.
        let all = one.saturating_mul(budgets.max_peers.max(1).into());
        all.min(budgets.host_receive_budget)
    }

    /// The length of the connection ids that remote hosts put into datagrams to this host, 0 to 20
    /// bytes. Default 4.
    ///
    /// A longer id is harder to guess for a sender that sees no datagrams of the connection. A host with
    /// ids of 0 bytes tells its peers apart by address alone, and cannot listen. If its program is
    /// killed and started again at the same address, it can connect to the same host only when the old
    /// connection has timed out there.
    ///
    /// # Errors
    ///
    /// [`ConfigError::ConnectionIdLen`] above 20.
    ///
    /// ```
    /// assert!(porous_proto::Config::new().connection_id_len(20).is_ok());
    /// assert!(porous_proto::Config::new().connection_id_len(21).is_err());
    /// ```
    pub const fn connection_id_len(mut self, bytes: u8) -> Result<Self, ConfigError> {
        if bytes as usize > ConnectionId::MAX {
            return Err(ConfigError::ConnectionIdLen);
        }
        self.connection_id_len = bytes;
        Ok(self)
    }

    /// The rules that this host follows where the paper can be improved. Remote hosts need not have the
    /// same. Default [`Policy::Modern`].
    ///
    /// ```
    /// use porous_proto::{Config, Policy};
    ///
    /// let _config = Config::new().policy(Policy::Modern);
    /// ```
    #[must_use]
    pub const fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Seals with these suites, the best first, 1 to 4 of them: connections that are made by
    /// [`Host::connect_sealed`](crate::Host::connect_sealed), and those of hosts that ask for it. The host
    /// needs a [`Security`](crate::seal::Security) as well. Of two hosts the one that connects decides
    /// which suite it is, of those that both have. Without this call a host does not seal.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Suites`] for no suite, more than four, or one that is named twice.
    ///
    /// ```
    /// use porous_proto::{Config, seal::Suite};
    ///
    /// assert!(Config::new().sealed(&[Suite::CHACHA_POLY, Suite::AES_GCM]).is_ok());
    /// assert!(Config::new().sealed(&[]).is_err());
    /// ```
    #[cfg(feature = "seal")]
    pub fn sealed(mut self, suites: &[Suite]) -> Result<Self, ConfigError> {
        // One more than there may be, so that it is seen.
        let numbers = suites.iter().map(|suite| suite.number());
        let numbers: ArrayVec<u8, { Suites::MAX + 1 }> = numbers.take(Suites::MAX + 1).collect();
        self.suites = Suites::of(&numbers).ok_or(ConfigError::Suites)?;
        Ok(self)
    }

    /// Whether there are suites to seal with: whether [`sealed`](Self::sealed) was called.
    ///
    /// ```
    /// use porous_proto::{Config, seal::Suite};
    ///
    /// assert!(!Config::new().seals());
    /// assert!(Config::new().sealed(&[Suite::CHACHA_POLY])?.seals());
    /// # Ok::<(), porous_proto::ConfigError>(())
    /// ```
    #[cfg(feature = "seal")]
    #[must_use]
    pub fn seals(&self) -> bool {
        !self.suites.is_empty()
    }

    /// The controller that decides how many bytes may be in flight to a peer. Default: that of the policy,
    /// [`Congestion::Lean`] under [`Policy::Modern`], [`Congestion::Paper`] under [`Policy::Paper`].
    ///
    /// ```
    /// use porous_proto::{Config, congestion::Congestion};
    ///
    /// let _config = Config::new().congestion(Congestion::Reno);
    /// ```
    #[must_use]
    pub const fn congestion(mut self, congestion: Congestion) -> Self {
        self.congestion = Some(congestion);
        self
    }

    /// Where the ids of frames and packets begin, for tests. Both hosts must begin at the same id, and
    /// nothing tells them if they do not (`deviations.md` C21).
    #[doc(hidden)]
    #[must_use]
    pub const fn first_id(mut self, id: u64) -> Self {
        self.first_id = id;
        self
    }

    /// Whether hosts with this configuration may listen.
    pub(crate) const fn may_listen(&self) -> bool {
        // Without ids a listener could not tell a newcomer from an old peer at the same address (C5).
        self.listen_allowed && self.connection_id_len > 0
    }

    /// The controller, by the policy if none was set.
    pub(crate) fn controller(&self) -> Congestion {
        self.congestion.unwrap_or(match self.policy {
            Policy::Paper => Congestion::Paper,
            Policy::Modern => Congestion::Lean,
        })
    }

    /// What the handshake tells of this configuration (§2.3).
    pub(crate) fn offer(&self) -> Offer {
        let (ours, max_datagram, most) = (&self.offered, self.path.first(), self.path.largest());
        Offer {
            application: ours.application_id,
            channels: self.channels.offered(),
            max_datagram,
            max_packet: ours.max_packet,
            receive_budget: ours.receive_budget,
            frame_window_log2: ours.frame_window_log2,
            packet_window_log2: ours.packet_window_log2,
            send_rate: ours.send_rate,
            receive_rate: ours.receive_rate,
            integrity: ours.integrity,
            features: 0,
            // Left out if it says nothing new, as `docs/wire.md` demands of type 11.
            path_mtu: (most > max_datagram).then_some(most),
            sealed: self.suites,
            timeout_ms: self.timeouts.timeout_ms(),
        }
    }
}

/// A rate in bytes a second, of which 0 counts as 1: with 0 nothing would ever leave.
const fn positive(rate: u32) -> u32 {
    if rate > 0 { rate } else { 1 }
}

#[cfg(test)]
mod tests;
