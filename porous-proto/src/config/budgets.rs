//! What a host may spend, whatever the network sends.

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
    /// None: a part of `max_peers`.
    max_peers_per_source: Option<u32>,
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

    /// How many peers of one source there may be.
    pub(crate) fn peers_per_source(&self) -> u32 {
        let most = self.max_peers_per_source;
        let most = most.unwrap_or_else(|| (self.max_peers / 4).max(16));
        most.min(self.max_peers)
    }
}

impl Config {
    /// The bytes that may wait to be sent or acknowledged at one peer, 64 a packet included, and 64
    /// for each packet whose [receipt](crate::SendOptions::receipt) was not taken;
    /// beyond, [`send`](crate::Host::send) fails with `Full`. If nothing waits, one packet fits
    /// whatever its length. Default 4 MiB.
    ///
    /// Channels do not keep each other out. A quarter of the budget is cut into equal reserves, two for
    /// each channel of the connection: one for its unreliable packets and one for its other ones. The
    /// rest is common. What is within its reserve finds room whatever else waits, unless receipts that
    /// were not taken have used up the common part; so an application that sends one long file may fill
    /// three quarters of the budget and its own reserve. With the default and four channels a reserve
    /// has 128 KiB.
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
        self.budgets.send_budget = bytes;
        Ok(self)
    }

    /// What received packets of all peers together may take until the application pulls them, in bytes,
    /// as they count in the [receive budget](Self::receive_budget) of a peer, which holds beside it.
    /// Half of it is divided among [`max_peers`](Self::max_peers): each has its share, whatever others
    /// do. The other half is for peers that need more than their shares, in the order in which it
    /// comes. What finds no room is refused as [`OverBudget`](crate::Ignored::OverBudget) and comes
    /// again, as with the receive budget of a peer; one peer at a time may then go on to that, or parts
    /// of large packets would wait for each other. So the most is this and one receive budget. Peers
    /// that we connect to have a share each, too, beyond the budget if they and those that connected to
    /// us are more than `max_peers`. Default 256 MiB.
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
    /// probes of peers always leave; data has an eighth of the cap left even where they need all of it.
    /// Strangers are answered with a tenth of the cap at most. No second has more than the cap, a
    /// fiftieth of it and one datagram; if the host is stepped less often than fifty times a second,
    /// than the cap, one step's worth and one datagram. Peers take turns by datagram. It holds under
    /// both policies, and can be [changed](crate::Host::set_host_send_rate) at any time.
    ///
    /// ```
    /// let _config = porous_proto::Config::new().host_send_rate(1_250_000); // ten megabits a second
    /// ```
    #[must_use]
    pub const fn host_send_rate(mut self, bytes_a_second: u32) -> Self {
        self.budgets.host_send_rate = positive(bytes_a_second);
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
        self.budgets.max_peers = peers;
        self
    }

    /// How many of [`max_peers`](Self::max_peers) may be of one source: of an address, or of what else
    /// [`Host::set_source_of`](crate::Host::set_source_of) says. A further one is refused with `Full`,
    /// and counted as [`HostStats::source_full`](crate::HostStats::source_full): one machine with a
    /// thousand ports must not keep everybody else out. More than `max_peers` is as much as that. A
    /// peer counts for the source that it connected from, wherever it moves to. By default the larger
    /// of 16 and a quarter of `max_peers`, so that a class or an office behind one address gets in.
    ///
    /// ```
    /// let _config = porous_proto::Config::new().max_peers_per_source(4);
    /// ```
    #[must_use]
    pub const fn max_peers_per_source(mut self, peers: u32) -> Self {
        self.budgets.max_peers_per_source = Some(peers);
        self
    }

    /// How many answers a second senders get that are no peers (cookies, refusals, resets), and what
    /// is left of connections that have ended: one address, and all together. 1 to 1,000,000 each;
    /// a quarter of it may go out at once. What is beyond is not answered, and counted as
    /// [`TooManyReplies`](crate::Ignored::TooManyReplies). Default 20 and 20,000.
    ///
    /// An address is all of it, with the port. Addresses share buckets of 8 bytes by a secret hash, a
    /// power of two from 64 to 4096: at least four times as many as may use up what all get, so 4096 by
    /// default; 64 if the host cannot listen. A driver that wants to limit whole networks (a /32 or a
    /// /64) has to drop what comes from them before the host sees it (`docs/wire.md`, "Limits of
    /// answers").
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
        self.budgets.replies_per_address = address;
        self.budgets.replies = all;
        Ok(self)
    }
}
