//! How long a host waits.

use core::num::NonZeroU32;
use core::time::Duration;

use super::Config;
use crate::error::ConfigError;

/// How long a host waits, as the setters of the same names say: each a microsecond at least.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    pub(crate) connect_timeout: Duration,
    pub(crate) timeout: Duration,
    pub(crate) disconnect_timeout: Duration,
    pub(crate) unreliable_age: Duration,
    pub(crate) keepalive: Duration,
}

impl Timeouts {
    pub(super) const DEFAULT: Self = Self {
        connect_timeout: Duration::from_secs(10),
        timeout: Duration::from_secs(10),
        disconnect_timeout: Duration::from_secs(5),
        unreliable_age: Duration::from_secs(2),
        // Half of the 30 s for which many routers keep a silent connection.
        keepalive: Duration::from_secs(15),
    };

    /// The timeout as the remote host is told it, in whole milliseconds.
    pub(crate) fn timeout_ms(&self) -> Option<NonZeroU32> {
        // At least 1, as 0 is no value of type 13, and 49 days at most.
        let whole = u32::try_from(self.timeout.as_millis()).unwrap_or(u32::MAX);
        NonZeroU32::new(whole.max(1))
    }
}

impl Config {
    /// The time for which [`connect`](crate::Host::connect) tries, and for which an
    /// [`Event::Request`](crate::Event::Request) waits for its answer. Default 10 s.
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
        self.timeouts.connect_timeout = timeout;
        Ok(self)
    }

    /// The silence after which a connection ends: nothing valid has come on it for this time.
    /// Default 10 s.
    ///
    /// The remote host is told, in milliseconds. Each host keeps the connection alive by the shorter one
    /// of both timeouts; see [`Peer::remote_timeout`](crate::Peer::remote_timeout). Time in which the
    /// host is not stepped does not count, three pauses in a row at most. §2.2 of the paper.
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
        self.timeouts.timeout = timeout;
        Ok(self)
    }

    /// The silence of a peer after which it is sent a ping, under
    /// [`Policy::Modern`](crate::Policy::Modern): at least 100 ms, and at most a quarter of the
    /// [`timeout`](Self::timeout). Further pings follow until an answer comes: one each second, or ten in
    /// a timeout. Default 15 s, but a quarter of the timeout is
    /// less: with the default timeout 2.5 s.
    ///
    /// Of both hosts' timeouts the shorter one counts. One exchange of pings serves both hosts: the one
    /// with the larger random id waits a quarter longer after the other has pinged it. Many routers that
    /// translate addresses keep a silent connection for 30 s, although two minutes are asked of them (RFC
    /// 4787 REQ-5).
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
        self.timeouts.keepalive = interval;
        Ok(self)
    }

    /// The time for which a disconnection waits for its acknowledgement. Default 5 s. §2.5 of the paper.
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
        self.timeouts.disconnect_timeout = timeout;
        Ok(self)
    }

    /// The time for which an unreliable packet may wait to be sent, while the network or the remote host
    /// takes no more. An older packet is dropped, counted in
    /// [`packets_expired`](crate::PeerStats::packets_expired), and leaves the send budget. A packet of
    /// which a part has been sent is sent to its end. With `Duration::MAX` packets wait for ever.
    ///
    /// Where an application offers more than is taken, packets do not become as old: once no packet of a
    /// channel has left within 30 ms for 400 ms, unreliable packets that are more than 60 ms older than the
    /// newest one are dropped in the same way. Packets with a [time to live](crate::SendOptions::ttl) are
    /// not, and with `Duration::MAX` none is.
    ///
    /// [`send`](crate::Host::send) is told no time: a packet's age counts from when the host is
    /// [polled](crate::Host::poll_transmit) for the first time afterwards. So with an age of a
    /// microsecond packets are sent at once or not at all.
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
        self.timeouts.unreliable_age = age;
        Ok(self)
    }
}

/// Whether a time is 0 in whole microseconds, in which all times count.
const fn is_zero(time: Duration) -> bool {
    time.as_micros() == 0
}
