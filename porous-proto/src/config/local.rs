//! The part of the configuration that a host keeps to itself: what it may spend, and how long it
//! waits.

use core::num::NonZeroU32;
use core::time::Duration;

use super::{Config, Policy};
use crate::congestion::Congestion;
use crate::error::ConfigError;

impl Config {
    /// The bytes that may wait to be sent or acknowledged at one peer, 64 a packet included, and 64
    /// for each packet whose [receipt](crate::SendOptions::receipt) was not taken;
    /// beyond, [`send`](crate::Host::send) fails with `Full`. If nothing waits, one packet fits
    /// whatever its length. Default 4 MiB.
    ///
    /// Channels do not keep each other out. A quarter of the budget is cut into equal reserves, two for
    /// each channel of the connection: one for its unreliable packets and one for its other ones. The
    /// rest is common. What is within its reserve finds room whatever else waits, unless receipts that
    /// were not taken have used up the common part; so who sends one long file may fill three quarters
    /// of the budget and its own reserve. With the default and four channels a reserve has 128 KiB.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Zero`] if it is zero.
    ///
    /// ```
    /// assert!(porous_proto::Config::new().send_budget(256 * 1024).is_ok());
    /// ```
    pub const fn send_budget(mut self, bytes: u32) -> Result<Self, ConfigError> {
        if bytes == 0 {
            return Err(ConfigError::Zero("send_budget"));
        }
        self.send_budget = bytes;
        Ok(self)
    }

    /// What received packets of all peers together may take until the application pulls them, in bytes, as
    /// they count in the [receive budget](Self::receive_budget) of a peer, which holds beside it. Half of
    /// it is divided among [`max_peers`](Self::max_peers): each has its share, whatever others do. The
    /// other half is for peers that need more than their shares, in the order in which it comes. What finds
    /// no room is refused as [`OverBudget`](crate::Ignored::OverBudget) and comes again, as with the
    /// receive budget of a peer; one peer at a time may then go on to that, or parts of large packets
    /// would wait for each other. So the most is this and one receive budget. Peers that we connect to have a share each, too, beyond the budget if
    /// they and those that connected to us are more than `max_peers`. Default 256 MiB.
    ///
    /// ```
    /// let _config = porous_proto::Config::new().max_peers(64).host_receive_budget(16 << 20);
    /// ```
    #[must_use]
    pub const fn host_receive_budget(mut self, bytes: u64) -> Self {
        self.host_receive_budget = bytes;
        self
    }

    /// The most that this host sends to all peers together, in bytes a second. 0 counts as 1. Default
    /// `u32::MAX`: no cap.
    ///
    /// All UDP payload counts, but only data is held back: handshakes, acknowledgements, signalling
    /// and probes of peers always leave; data has an eighth of the cap left even where they need all of
    /// it. Strangers are answered with a tenth of the cap at most. No second has more than the cap, a fiftieth of it and one datagram; if the host is stepped less
    /// often than fifty times a second, than the cap, one step's worth and one datagram. Peers take
    /// turns by datagram. It holds under both policies, and can be
    /// [changed](crate::Host::set_host_send_rate) at any time.
    ///
    /// ```
    /// let _config = porous_proto::Config::new().host_send_rate(1_250_000); // ten megabits a second
    /// ```
    #[must_use]
    pub const fn host_send_rate(mut self, bytes_a_second: u32) -> Self {
        self.host_send_rate = if bytes_a_second > 0 {
            bytes_a_second
        } else {
            1
        };
        self
    }

    /// How many peers may be connected that connected to us; a further one is refused with
    /// `Full`. Peers that we connect to are not limited (`deviations.md` C15). Default 1024.
    ///
    /// ```
    /// let _config = porous_proto::Config::new().max_peers(64);
    /// ```
    #[must_use]
    pub const fn max_peers(mut self, peers: u32) -> Self {
        self.max_peers = peers;
        self
    }

    /// How many of [`max_peers`](Self::max_peers) may be of one source: of an address, or of what else
    /// [`Host::set_source_of`](crate::Host::set_source_of) says. A further one is refused with `Full`,
    /// and counted as [`HostStats::source_full`](crate::HostStats::source_full): one machine with a
    /// thousand ports must not keep everybody else out. More than `max_peers` is as much as that. A
    /// peer counts for the source that it connected from, wherever it moves to. By default the larger of
    /// 16 and a quarter of `max_peers`, so that a class or an office behind one address gets in.
    ///
    /// ```
    /// let _config = porous_proto::Config::new().max_peers_per_source(4);
    /// ```
    #[must_use]
    pub const fn max_peers_per_source(mut self, peers: u32) -> Self {
        self.max_peers_per_source = Some(peers);
        self
    }

    /// How many peers of one source there may be.
    pub(crate) fn peers_per_source(&self) -> u32 {
        let most = self.max_peers_per_source;
        let most = most.unwrap_or_else(|| (self.max_peers / 4).max(16));
        most.min(self.max_peers)
    }

    /// How many answers a second those get who are no peers (cookies, refusals, resets), and what
    /// is left of connections that have ended: one address, and all together. 1 to 1,000,000 each;
    /// a quarter of it may go out at once. What is beyond is not answered, and counted as
    /// [`TooManyReplies`](crate::Ignored::TooManyReplies). Default 20 and 20,000.
    ///
    /// An address is all of it, with the port. Addresses share buckets of 8 bytes by a secret hash,
    /// a power of two from 64 to 4096: at least four times as many as may use up what all get, so
    /// 4096 by default; 64 if the host cannot listen. A driver that wants to limit whole networks (a /32 or a /64) has
    /// to drop what comes from them before the host sees it (`docs/wire.md`, "Limits of answers").
    ///
    /// # Errors
    ///
    /// [`ConfigError::ReplyLimit`] outside this range.
    ///
    /// ```
    /// assert!(porous_proto::Config::new().reply_limits(5, 1000).is_ok());
    /// assert!(porous_proto::Config::new().reply_limits(0, 1000).is_err());
    /// ```
    pub const fn reply_limits(mut self, address: u32, all: u32) -> Result<Self, ConfigError> {
        const MAX: u32 = 1_000_000;
        if address == 0 || all == 0 || address > MAX || all > MAX {
            return Err(ConfigError::ReplyLimit);
        }
        self.replies_per_address = address;
        self.replies = all;
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

    /// What decides how much may be in flight.
    pub(crate) fn controller(&self) -> Congestion {
        self.congestion.unwrap_or(match self.policy {
            Policy::Paper => Congestion::Paper,
            Policy::Modern => Congestion::Lean,
        })
    }

    /// How long [`connect`](crate::Host::connect) tries. Default 10 s.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Zero`] if it is shorter than a microsecond.
    ///
    /// ```
    /// use core::time::Duration;
    ///
    /// assert!(porous_proto::Config::new().connect_timeout(Duration::from_secs(3)).is_ok());
    /// ```
    pub const fn connect_timeout(mut self, timeout: Duration) -> Result<Self, ConfigError> {
        if is_zero(timeout) {
            return Err(ConfigError::Zero("connect_timeout"));
        }
        self.connect_timeout = timeout;
        Ok(self)
    }

    /// A connection on which nothing valid came for so long has ended (§2.2). Default 10 s.
    ///
    /// The remote host is told, in milliseconds, and keeps the connection alive by the shorter of the
    /// two timeouts; see [`Peer::remote_timeout`](crate::Peer::remote_timeout).
    ///
    /// # Errors
    ///
    /// [`ConfigError::Zero`] if it is shorter than a microsecond.
    ///
    /// ```
    /// use core::time::Duration;
    ///
    /// assert!(porous_proto::Config::new().timeout(Duration::from_secs(120)).is_ok());
    /// ```
    pub const fn timeout(mut self, timeout: Duration) -> Result<Self, ConfigError> {
        if is_zero(timeout) {
            return Err(ConfigError::Zero("timeout"));
        }
        self.timeout = timeout;
        Ok(self)
    }

    /// The timeout as the remote host is told it: in whole milliseconds, 1 at least, and 49 days at most.
    pub(crate) fn timeout_ms(&self) -> Option<NonZeroU32> {
        let whole = u32::try_from(self.timeout.as_millis()).unwrap_or(u32::MAX);
        NonZeroU32::new(whole.max(1))
    }

    /// What is silent for so long under [`Policy::Modern`] is sent a ping, at least 100 ms and at
    /// most a quarter of the [`timeout`](Self::timeout), and more until an answer comes: one each second,
    /// or ten in a timeout. The timeout that counts is the shorter one of the two hosts. One of them is
    /// enough: the host with the larger random id waits a quarter longer after the other has pinged it.
    /// A router that translates addresses keeps a silent connection for 30 s or more (RFC 4787
    /// REQ-5). Default 15 s, but a quarter of the timeout is less: with the default timeout 2.5 s.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Zero`] if it is shorter than a microsecond.
    ///
    /// ```
    /// use core::time::Duration;
    ///
    /// let config = porous_proto::Config::new().timeout(Duration::from_secs(90))?;
    /// let _config = config.keepalive(Duration::from_secs(20))?;
    /// # Ok::<(), porous_proto::ConfigError>(())
    /// ```
    pub const fn keepalive(mut self, interval: Duration) -> Result<Self, ConfigError> {
        if is_zero(interval) {
            return Err(ConfigError::Zero("keepalive"));
        }
        self.keepalive = interval;
        Ok(self)
    }

    /// How long a disconnection waits for its acknowledgement (§2.5). Default 5 s.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Zero`] if it is shorter than a microsecond.
    ///
    /// ```
    /// use core::time::Duration;
    ///
    /// assert!(porous_proto::Config::new().disconnect_timeout(Duration::from_secs(1)).is_ok());
    /// ```
    pub const fn disconnect_timeout(mut self, timeout: Duration) -> Result<Self, ConfigError> {
        if is_zero(timeout) {
            return Err(ConfigError::Zero("disconnect_timeout"));
        }
        self.disconnect_timeout = timeout;
        Ok(self)
    }

    /// Where the ids of frames and packets begin, for tests: both hosts must say the same, and
    /// nothing tells them if they do not (`deviations.md` C21).
    #[doc(hidden)]
    #[must_use]
    pub const fn first_id(mut self, id: u64) -> Self {
        self.first_id = id;
        self
    }

    /// How long an unreliable packet may wait to be sent, while the network or the remote host
    /// takes no more: an older one is dropped, counted in
    /// [`packets_expired`](crate::PeerStats::packets_expired), and leaves the send budget. One that
    /// has been sent in part is sent to its end. `Duration::MAX`: for ever.
    ///
    /// [`send`](crate::Host::send) is told no time: a packet's age counts from when the host is
    /// [polled](crate::Host::poll_transmit) for the first time afterwards. So what may only have an
    /// age of a microsecond is sent at once or not at all.
    ///
    /// Default 2 s: what is older is of no use in a game, and a network that was interrupted for a
    /// moment has recovered by then.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Zero`] if it is shorter than a microsecond.
    ///
    /// ```
    /// use core::time::Duration;
    ///
    /// assert!(porous_proto::Config::new().unreliable_age(Duration::from_millis(500)).is_ok());
    /// ```
    pub const fn unreliable_age(mut self, age: Duration) -> Result<Self, ConfigError> {
        if is_zero(age) {
            return Err(ConfigError::Zero("unreliable_age"));
        }
        self.unreliable_age = age;
        Ok(self)
    }
}

/// Times count in whole microseconds.
const fn is_zero(time: Duration) -> bool {
    time.as_micros() == 0
}
