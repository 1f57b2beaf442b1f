//! What a host is configured with before it connects to anyone (§2.1).

mod channel;
mod embedded;
mod local;
mod path;

use core::time::Duration;

pub use self::channel::{Channel, Order};
use crate::congestion::Congestion;
use crate::error::ConfigError;
use crate::frame::{
    Channels, ConnectionId, Integrity, Offer, PACKET_CHARGE, REQUEST_SIZE_MAX, Suites,
};

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
    pub(crate) application_id: u64,
    pub(crate) channel_count: u8,
    pub(crate) channels: [Channel; 255],
    pub(crate) max_datagram: u16,
    pub(crate) request_size: u16,
    /// 0: the path is not searched.
    pub(crate) path_mtu: u16,
    pub(crate) ecn: bool,
    pub(crate) roaming: bool,
    pub(crate) max_packet: u32,
    pub(crate) receive_budget: u32,
    pub(crate) send_budget: u32,
    pub(crate) host_receive_budget: u64,
    pub(crate) frame_window_log2: u8,
    pub(crate) packet_window_log2: u8,
    pub(crate) send_rate: u32,
    pub(crate) host_send_rate: u32,
    pub(crate) receive_rate: u32,
    pub(crate) integrity: Integrity,
    pub(crate) connection_id_len: u8,
    pub(crate) listen_allowed: bool,
    pub(crate) max_peers: u32,
    /// None: a part of `max_peers`.
    pub(crate) max_peers_per_source: Option<u32>,
    pub(crate) replies_per_address: u32,
    pub(crate) replies: u32,
    pub(crate) connect_timeout: Duration,
    pub(crate) timeout: Duration,
    pub(crate) disconnect_timeout: Duration,
    pub(crate) unreliable_age: Duration,
    pub(crate) policy: Policy,
    /// None: that of the policy.
    pub(crate) congestion: Option<Congestion>,
    pub(crate) keepalive: Duration,
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
            application_id: 0,
            channel_count: 1,
            channels: [Channel::new(Priority::Low); 255],
            max_datagram: 1200,
            request_size: REQUEST_SIZE_MAX,
            path_mtu: 0,
            ecn: false,
            roaming: false,
            max_packet: 1 << 20,
            receive_budget: 4 << 20,
            send_budget: 4 << 20,
            host_receive_budget: 256 << 20,
            frame_window_log2: 12,
            packet_window_log2: 12,
            send_rate: u32::MAX,
            host_send_rate: u32::MAX,
            receive_rate: u32::MAX,
            integrity: Integrity::Header,
            connection_id_len: 4,
            listen_allowed: true,
            max_peers: 1024,
            max_peers_per_source: None,
            replies_per_address: 20,
            replies: 20_000,
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(10),
            disconnect_timeout: Duration::from_secs(5),
            unreliable_age: Duration::from_secs(2),
            policy: Policy::Modern,
            congestion: None,
            keepalive: Duration::from_secs(15),
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
        config.frame_window_log2 = 16;
        config.packet_window_log2 = 16;
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

    /// Names the application and its version. Hosts with different ids refuse each other.
    /// Default 0.
    ///
    /// ```
    /// let _config = porous_proto::Config::new().application_id(0x7069_6e67);
    /// ```
    #[must_use]
    pub const fn application_id(mut self, id: u64) -> Self {
        self.application_id = id;
        self
    }

    /// The channels and the priority with which this host sends on each. A connection has as many
    /// channels as the host with fewer. Default: one of low priority. [`channel`](Self::channel)
    /// says more about one of them.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Channels`] unless there are 1 to 255.
    ///
    /// ```
    /// use porous_proto::{Config, Priority};
    ///
    /// assert!(Config::new().channels(&[Priority::High; 3]).is_ok());
    /// assert!(Config::new().channels(&[]).is_err());
    /// ```
    #[expect(clippy::cast_possible_truncation, reason = "checked to be at most 255")]
    pub const fn channels(mut self, priorities: &[Priority]) -> Result<Self, ConfigError> {
        if priorities.is_empty() || priorities.len() > 255 {
            return Err(ConfigError::Channels);
        }
        self.channel_count = priorities.len() as u8;
        let mut channel = 0;
        while channel < priorities.len() {
            self.channels[channel] = Channel::new(priorities[channel]);
            channel += 1;
        }
        Ok(self)
    }

    /// The largest UDP payload to send or receive, in bytes, 512 to 65,507. The smaller of both
    /// hosts' counts. Default 1200, which passes everywhere (RFC 8899 §5.1.2, RFC 9000 §14).
    ///
    /// What is more than [`request_size`](Self::request_size) is used when a search has found that the
    /// path carries it: see [`path_mtu_discovery`](Self::path_mtu_discovery).
    ///
    /// # Errors
    ///
    /// [`ConfigError::MaxDatagram`] outside this range.
    ///
    /// ```
    /// assert!(porous_proto::Config::new().max_datagram(1452).is_ok());
    /// assert!(porous_proto::Config::new().max_datagram(100).is_err());
    /// ```
    pub const fn max_datagram(mut self, bytes: u16) -> Result<Self, ConfigError> {
        if bytes < 512 || bytes > 65_507 {
            return Err(ConfigError::MaxDatagram);
        }
        self.max_datagram = bytes;
        Ok(self)
    }

    /// The largest packet to send or receive, and the memory that a peer's received packets may
    /// take before the application pulls them, both in bytes. The smaller `max_packet` of both
    /// hosts counts. Default 1 MiB and 4 MiB (`docs/wire.md`, "Budgets").
    ///
    /// # Errors
    ///
    /// [`ConfigError::Zero`] if `max_packet` is zero, [`ConfigError::ReceiveBudget`] if the budget
    /// is less than `max_packet` and 64 bytes.
    ///
    /// ```
    /// assert!(porous_proto::Config::new().receive_budget(1000, 1064).is_ok());
    /// assert!(porous_proto::Config::new().receive_budget(1000, 1063).is_err());
    /// ```
    pub const fn receive_budget(
        mut self,
        max_packet: u32,
        budget: u32,
    ) -> Result<Self, ConfigError> {
        if max_packet == 0 {
            return Err(ConfigError::Zero("max_packet"));
        }
        match max_packet.checked_add(PACKET_CHARGE) {
            Some(least) if budget >= least => {}
            _ => return Err(ConfigError::ReceiveBudget),
        }
        self.max_packet = max_packet;
        self.receive_budget = budget;
        Ok(self)
    }

    /// The largest packet to send or receive, in bytes, with the
    /// [receive budget](Self::receive_budget) as it is: a larger one is refused by
    /// [`send`](crate::Host::send), and by this host if it comes. The smaller one of both hosts counts
    /// ([`Peer::max_packet`](crate::Peer::max_packet)). Default 1 MiB.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Zero`] if it is zero, [`ConfigError::ReceiveBudget`] if it is not at least 64
    /// bytes less than the receive budget: that is to be raised before, with
    /// [`receive_budget`](Self::receive_budget).
    ///
    /// ```
    /// use porous_proto::Config;
    ///
    /// assert!(Config::new().max_packet(64 * 1024).is_ok());
    /// assert!(Config::new().max_packet(4 << 20).is_err()); // 64 bytes too many
    /// let _large = Config::new().receive_budget(1 << 20, 64 << 20)?.max_packet(16 << 20)?;
    /// # Ok::<(), porous_proto::ConfigError>(())
    /// ```
    pub const fn max_packet(self, bytes: u32) -> Result<Self, ConfigError> {
        let budget = self.receive_budget;
        self.receive_budget(bytes, budget)
    }

    /// The windows N_P of frames (1) and N_Q of packets (16): powers of two from 16 to 65,536.
    /// The smaller of both hosts' counts. Default 4096 and 4096; the paper's are 65536.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Window`] for anything else.
    ///
    /// ```
    /// assert!(porous_proto::Config::new().windows(64, 128).is_ok());
    /// assert!(porous_proto::Config::new().windows(64, 100).is_err());
    /// ```
    #[expect(clippy::cast_possible_truncation, reason = "a logarithm of at most 16")]
    pub const fn windows(mut self, frames: u32, packets: u32) -> Result<Self, ConfigError> {
        if !is_window(frames) || !is_window(packets) {
            return Err(ConfigError::Window);
        }
        self.frame_window_log2 = frames.trailing_zeros() as u8;
        self.packet_window_log2 = packets.trailing_zeros() as u8;
        Ok(self)
    }

    /// The most that this host wants to send to and to receive from one peer, in bytes a second.
    /// A direction gets the smaller of its sender's and its receiver's limit: B of (10)
    /// (`deviations.md` C14). Default `u32::MAX` and `u32::MAX`: no limit.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Zero`] if either is zero.
    ///
    /// ```
    /// assert!(porous_proto::Config::new().bandwidth(125_000, 1_250_000).is_ok());
    /// ```
    pub const fn bandwidth(mut self, send: u32, receive: u32) -> Result<Self, ConfigError> {
        if send == 0 {
            return Err(ConfigError::Zero("bandwidth: send"));
        }
        if receive == 0 {
            return Err(ConfigError::Zero("bandwidth: receive"));
        }
        self.send_rate = send;
        self.receive_rate = receive;
        Ok(self)
    }

    /// What the check at the end of each datagram covers. If either host asks for
    /// [`Integrity::Crc32c`], both use it. Default [`Integrity::Header`].
    ///
    /// ```
    /// use porous_proto::{Config, Integrity};
    ///
    /// let _config = Config::new().integrity(Integrity::Crc32c);
    /// ```
    #[must_use]
    pub const fn integrity(mut self, integrity: Integrity) -> Self {
        self.integrity = integrity;
        self
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

    /// Whether hosts with this configuration may listen: they must tell their peers apart.
    pub(crate) const fn may_listen(&self) -> bool {
        self.listen_allowed && self.connection_id_len > 0
    }
}

impl Config {
    /// What the handshake says of this configuration (§2.3).
    pub(crate) fn offer(&self) -> Offer {
        let mut channels = Channels::new(self.channel_count);
        for (number, channel) in (0..=u8::MAX).zip(self.channel_settings()) {
            channels.set_high(number, channel.priority == Priority::High);
        }
        // A request as long as this has passed; whether more does has yet to be found out.
        let max_datagram = self.max_datagram.min(self.request_size);
        let most = self.max_datagram.max(self.path_mtu);
        Offer {
            application: self.application_id,
            channels,
            max_datagram,
            max_packet: self.max_packet,
            receive_budget: self.receive_budget,
            frame_window_log2: self.frame_window_log2,
            packet_window_log2: self.packet_window_log2,
            send_rate: self.send_rate,
            receive_rate: self.receive_rate,
            integrity: self.integrity,
            features: 0,
            path_mtu: (most > max_datagram).then_some(most),
            sealed: Suites::default(),
            timeout_ms: self.timeout_ms(),
        }
    }
}

const fn is_window(size: u32) -> bool {
    size.is_power_of_two() && size >= 16 && size <= 65_536
}

#[cfg(test)]
mod tests;
