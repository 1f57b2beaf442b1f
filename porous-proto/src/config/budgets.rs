//! What a host may spend on memory, peers and answers, whatever the network sends.

use super::{Config, positive};
use crate::error::ConfigError;

/// What a host may spend, as the setters of the same names say: bytes, rates in bytes a second, and
/// answers a second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budgets {
    pub(crate) send_budget: u32,
    pub(crate) host_receive_budget: u64,
    pub(crate) host_send_rate: u32,
    pub(crate) max_peers: u32,
    /// `None`: a part of `max_peers`.
    pub(super) max_peers_per_source: Option<u32>,
    pub(crate) replies_per_address: u32,
    pub(crate) replies: u32,
}

impl Budgets {
    pub(super) const DEFAULT: Self = Self {
        send_budget: 4 << 20,
        host_receive_budget: 256 << 20,
        host_send_rate: u32::MAX,
        max_peers: 1024,
        max_peers_per_source: None,
        replies_per_address: 20,
        replies: 20_000,
    };

    /// The most peers of one source.
    pub(crate) fn peers_per_source(&self) -> u32 {
        // A class or an office behind one address gets in, and leaves three quarters to others.
        let most = self.max_peers_per_source;
        let most = most.unwrap_or_else(|| (self.max_peers / 4).max(16));
        most.min(self.max_peers)
    }
}

impl Config {
    /// The most bytes of packets to one peer that may wait to be sent or acknowledged. Each packet counts
    /// 64 bytes more than its length, and 64 bytes for its [receipt](crate::SendOptions::receipt) until
    /// that is taken. Beyond the budget, [`send`](crate::Host::send) fails with `Full`. If nothing
    /// waits, one packet fits whatever its length. Default 4 MiB.
    ///
    /// Channels do not keep each other out. A quarter of the budget is cut into equal reserves, two for
    /// each channel of the connection: one for its unreliable packets and one for its other ones. The
    /// rest is common. A packet that fits into its reserve finds room whatever else waits, unless
    /// receipts that were not taken have used up the common part. So an application that sends one long
    /// file may fill three quarters of the budget and the reserve of the file. With the default budget
    /// and four channels a reserve has 128 KiB.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Zero`] if the budget is zero.
    ///
    /// ```
    /// assert!(porous_proto::Config::new().send_budget(256 * 1024).is_ok());
    /// ```
    pub const fn send_budget(mut self, bytes: u32) -> Result<Self, ConfigError> {
        if bytes == 0 {
            return Err(ConfigError::Zero("send_budget"));
        }
        self.budgets.send_budget = bytes;
        Ok(self)
    }

    /// The most bytes that received packets of all peers together may take until the application pulls
    /// them. They count as in the [receive budget](Self::receive_budget) of a peer, which holds as well.
    /// Default 256 MiB.
    ///
    /// Half of the budget is divided among [`max_peers`](Self::max_peers): each peer has its share,
    /// whatever others do. The other half goes to peers that need more than their shares, first come
    /// first served. A datagram that finds no room is refused as
    /// [`OverBudget`](crate::Ignored::OverBudget), and what is reliable in it comes again. One peer at a
    /// time may then go on to its own receive budget, as parts of large packets would otherwise wait for
    /// each other. So all peers together take this budget and one receive budget at most. Peers that this
    /// host connects to have a share each, too, even beyond the budget if there are more than
    /// `max_peers` peers in all.
    ///
    /// ```
    /// let _config = porous_proto::Config::new().max_peers(64).host_receive_budget(16 << 20);
    /// ```
    #[must_use]
    pub const fn host_receive_budget(mut self, bytes: u64) -> Self {
        self.budgets.host_receive_budget = bytes;
        self
    }

    /// The most that this host sends to all peers together, in bytes a second. 0 counts as 1. Default
    /// `u32::MAX`: no cap.
    ///
    /// All UDP payload counts, but only data is held back: handshakes, acknowledgements, signalling and
    /// probes of peers always leave. Data has an eighth of the cap left even where these need all of it,
    /// and answers to strangers get a tenth at most. In any second leave at most the cap, a fiftieth of
    /// it and one datagram; from a host that is stepped less often than fifty times a second, the cap,
    /// one step's worth of it and one datagram. Peers take turns by datagram. The cap holds under both
    /// policies, and can be [changed](crate::Host::set_host_send_rate) at any time.
    ///
    /// ```
    /// let _config = porous_proto::Config::new().host_send_rate(1_250_000); // ten megabits a second
    /// ```
    #[must_use]
    pub const fn host_send_rate(mut self, bytes_a_second: u32) -> Self {
        self.budgets.host_send_rate = positive(bytes_a_second);
        self
    }

    /// The most live peers that connected to this host; a further one is refused with
    /// [`Full`](crate::Refusal::Full). Peers that this host connects to do not count
    /// (`deviations.md` C15). Default 1024.
    ///
    /// ```
    /// let _config = porous_proto::Config::new().max_peers(64);
    /// ```
    #[must_use]
    pub const fn max_peers(mut self, peers: u32) -> Self {
        self.budgets.max_peers = peers;
        self
    }

    /// The most of [`max_peers`](Self::max_peers) that may come from one source: an IP address, or what
    /// [`Host::set_source_of`](crate::Host::set_source_of) says. One machine with a thousand ports must
    /// not keep all others out. A further peer is refused with [`Full`](crate::Refusal::Full), and
    /// counted as [`HostStats::source_full`](crate::HostStats::source_full). Numbers above `max_peers`
    /// count as `max_peers`. A peer counts for the source that it connected from, wherever it moves to.
    /// By default the larger of 16 and a quarter of `max_peers`, so that a class or an office behind one
    /// address gets in.
    ///
    /// ```
    /// let _config = porous_proto::Config::new().max_peers_per_source(4);
    /// ```
    #[must_use]
    pub const fn max_peers_per_source(mut self, peers: u32) -> Self {
        self.budgets.max_peers_per_source = Some(peers);
        self
    }

    /// The most answers a second to senders that are no peers (cookies, refusals, resets), and to what
    /// is left of connections that have ended: to one address, and to all together. 1 to 1,000,000 each;
    /// a quarter may leave at once. Further datagrams are not answered, and counted as
    /// [`TooManyReplies`](crate::Ignored::TooManyReplies). Default 20 and 20,000.
    ///
    /// An address includes the port. Addresses share buckets of 8 bytes by a secret hash. There are a
    /// power of two of them, from 64 to 4096: at least four times as many as can use up together what
    /// all addresses get, so 4096 by default; 64 if the host cannot listen. A driver that wants to limit
    /// whole networks (a /32 or a /64) has to drop their datagrams before the host sees them
    /// (`docs/wire.md`, "Limits of answers").
    ///
    /// # Errors
    ///
    /// [`ConfigError::ReplyLimit`] if either is outside this range.
    ///
    /// ```
    /// assert!(porous_proto::Config::new().reply_limits(5, 1000).is_ok());
    /// assert!(porous_proto::Config::new().reply_limits(0, 1000).is_err());
    /// ```
    pub const fn reply_limits(mut self, address: u32, all: u32) -> Result<Self, ConfigError> {
        // The time from one answer to the next counts in whole microseconds.
        const MAX: u32 = 1_000_000;
        if address == 0 || all == 0 || address > MAX || all > MAX {
            return Err(ConfigError::ReplyLimit);
        }
        self.budgets.replies_per_address = address;
        self.budgets.replies = all;
        Ok(self)
    }

    /// This configuration for each of `hosts` hosts that share one port: each gives its part of the
    /// [answers](Self::reply_limits) to all strangers, and at least one a second. 0 hosts count as 1. All other
    /// limits stay as they are, for each host; also that for one address, as the requests of one address
    /// all come to one host.
    ///
    /// ```
    /// use porous_proto::Config;
    ///
    /// let config = Config::new().reply_limits(20, 10_000)?.divided_among(4);
    /// # let _ = config;
    /// # Ok::<(), porous_proto::ConfigError>(())
    /// ```
    #[must_use]
    pub const fn divided_among(mut self, hosts: u8) -> Self {
        let hosts = if hosts == 0 { 1 } else { hosts as u32 };
        let part = self.budgets.replies / hosts;
        self.budgets.replies = if part == 0 { 1 } else { part };
        self
    }
}
