//! What a host is configured with before it connects to anyone (§2.1).

mod budgets;
mod channel;
mod offered;
mod path;
mod timeouts;

use self::budgets::Budgets;
use self::channel::ChannelList;
pub use self::channel::{Channel, Order};
use self::offered::Offered;
use self::path::PathSettings;
pub(crate) use self::timeouts::Timeouts;
use crate::congestion::Congestion;
use crate::error::ConfigError;
use crate::frame::{ConnectionId, Offer, Suites};

/// How urgent a channel is, for the side that sends on it (§3.1): everything of high priority
/// leaves before anything of low priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Priority {
    /// Bulk: waits for everything of high priority.
    #[default]
    Low,
    /// Urgent.
    High,
}

/// Which rules a host follows where the paper can be improved. Hosts with different policies
/// understand each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Policy {
    /// The paper's, as printed.
    Paper,
    /// Losses are told by acknowledgements alone, and repaired sooner: thresholds that learn from
    /// reordering, probes that never touch the congestion window, and no penalty for what was not
    /// lost after all (RFC 9002, RFC 8985). What may be in flight follows the delay of the queue
    /// ([`Congestion::Lean`]), and data is paced.
    #[default]
    Modern,
}

/// The configuration of a host. It only ever holds valid values: a setter that could be given a
/// bad one returns an error.
///
/// # Memory
///
/// Whatever the network sends, one peer costs at most 4 · ([receive budget](Self::receive_budget) +
/// [send budget](Self::send_budget)) bytes and 128 bytes for each id of its
/// [windows](Self::windows), N_P + N_Q · channels. The factor is 4 for packets without content,
/// which count 64 bytes each in the budgets and cost more; for packets of 1 KiB and more it is less
/// than 2. Unreliable packets leave the send budget when they are sent: those in flight cost 80
/// bytes each, at most 128 in each of N_P frames. Reliable ones leave it when the remote host says
/// that it has passed them, and keep their bytes until their frames are acknowledged or dropped:
/// at most N_P datagrams. All peers together are held to the
/// [budget of the host](Self::host_receive_budget) in what they make it keep. A packet that was sent with a time to live, a receipt or a key costs up to
/// 256 bytes more while it waits or is on its way. What the budgets allow is given back when it is
/// no longer used; what the windows take may stay until the peer ends.
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
///   of [`max_peers`](Self::max_peers), the oldest go first.
/// - As many answers to those who are no peers may wait to be sent as may go out at once, a quarter
///   of a second's by [`reply_limits`](Self::reply_limits), and no more than 1024; further ones are
///   dropped and counted as [`TooManyReplies`](crate::Ignored::TooManyReplies).
/// - While 4096 events wait for the application, nobody is let in: requests are refused with
///   [`Full`](crate::Refusal::Full). Each peer that is there adds a handful of events at most, and
///   one for each packet that was sent to it with a receipt, which takes 64 bytes of the
///   [send budget](Self::send_budget) until then.
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) offered: Offered,
    pub(crate) channels: ChannelList,
    pub(crate) path: PathSettings,
    pub(crate) budgets: Budgets,
    pub(crate) timeouts: Timeouts,
    pub(crate) policy: Policy,
    /// None: that of the policy.
    congestion: Option<Congestion>,
    pub(crate) connection_id_len: u8,
    listen_allowed: bool,
    /// Of the first frame and of each channel's first packet; 0 but in tests.
    pub(crate) first_id: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

impl Config {
    /// What we recommend: one low-priority channel, 1024 peers, [`Policy::Modern`] with windows of
    /// 4096 frames and packets.
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
            connection_id_len: 4,
            listen_allowed: true,
            first_id: 0,
        }
    }

    /// The paper: its policy, and N_P = N_Q = 65536 (§3.1.1, §3.2.1).
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
        config.connection_id_len = 2;
        config.listen_allowed = false;
        config
    }

    /// For a microcontroller: what [`new`](Self::new) is, in a few dozen kilobytes.
    ///
    /// | | here | [`new`](Self::new) |
    /// |---|---|---|
    /// | [`windows`](Self::windows) | 64 and 64 | 4096 and 4096 |
    /// | [`receive_budget`](Self::receive_budget): a packet, and all that wait | 4 KiB, 8 KiB | 1 MiB, 4 MiB |
    /// | [`send_budget`](Self::send_budget) | 8 KiB | 4 MiB |
    /// | [`max_peers`](Self::max_peers) | 2 | 1024 |
    /// | [`reply_limits`](Self::reply_limits): an address, and all | 10, 100 | 20, 20,000 |
    ///
    /// The other host needs no such thing: a connection has the smaller windows and the smaller
    /// largest packet of both.
    ///
    /// Measured on a Cortex-M3 (`docs/embedded.md`, which also tells how to go on from here): a host
    /// takes 2.7 KiB, a peer 7.1 KiB as soon as it is connected, and about 30 KiB more while both
    /// sides send packets of up to 4 KiB over a path that loses a tenth. Whatever it sends, and if it
    /// acknowledges nothing, a peer takes at most 64 KiB where pointers have 8 bytes, and less where
    /// they have 4. The program itself can take more: an unreliable packet that is on its way is in no
    /// budget, and takes 80 bytes.
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

    /// The length of the connection ids that peers put into datagrams to this host, 0 to 20 bytes.
    /// A longer id is harder to guess from off the path; with 0 the host tells its peers apart by
    /// address alone and cannot listen; killed and started again at the same address, it is let in
    /// when its old connection has timed out. Default 4.
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

    /// Which rules this host follows where the paper can be improved. Default
    /// [`Policy::Modern`].
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

    /// What decides how much may be in flight to a peer. Default: that of the policy,
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

    /// Where the ids of frames and packets begin, for tests: both hosts must say the same, and
    /// nothing tells them if they do not (`deviations.md` C21).
    #[doc(hidden)]
    #[must_use]
    pub const fn first_id(mut self, id: u64) -> Self {
        self.first_id = id;
        self
    }

    /// Whether hosts with this configuration may listen: they must tell their peers apart.
    pub(crate) const fn may_listen(&self) -> bool {
        self.listen_allowed && self.connection_id_len > 0
    }

    /// What decides how much may be in flight.
    pub(crate) fn controller(&self) -> Congestion {
        self.congestion.unwrap_or(match self.policy {
            Policy::Paper => Congestion::Paper,
            Policy::Modern => Congestion::Lean,
        })
    }

    /// What the handshake says of this configuration (§2.3).
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
            path_mtu: (most > max_datagram).then_some(most),
            sealed: Suites::default(),
            timeout_ms: self.timeouts.timeout_ms(),
        }
    }
}

/// A rate of 0 counts as 1.
const fn positive(rate: u32) -> u32 {
    if rate > 0 { rate } else { 1 }
}

#[cfg(test)]
mod tests;
