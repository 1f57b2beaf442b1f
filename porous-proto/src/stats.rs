//! Counters and estimates. All of them only ever grow, but for the estimates, and all are cheap
//! enough to be always on.

use core::time::Duration;

use crate::event::Ignored;
use crate::frame::Mode;

/// Counts by delivery mode: of packets, or of the bytes in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModeCounts {
    /// Of unreliable packets.
    pub unreliable: u64,
    /// Of reliable packets.
    pub reliable: u64,
    /// Of passive packets.
    pub passive: u64,
}

impl ModeCounts {
    pub(crate) const fn add(&mut self, mode: Mode, count: u64) {
        match mode {
            Mode::Unreliable => self.unreliable += count,
            Mode::Reliable => self.reliable += count,
            Mode::Passive => self.passive += count,
        }
    }

    /// The sum of the three.
    ///
    /// ```
    /// assert_eq!(porous_proto::ModeCounts::default().total(), 0);
    /// ```
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.unreliable + self.reliable + self.passive
    }
}

/// What is known about one peer's connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerStats {
    /// `T_rtt,avg` (5).
    pub rtt: Duration,
    /// `T_rtt,var` (6).
    pub rtt_variance: Duration,
    /// `T_rto` (7).
    pub resend_timeout: Duration,
    /// Bytes sent that are neither acknowledged nor considered dropped: the flight size (§3.1.2).
    pub flight: u32,
    /// The congestion window W_c in bytes (§3.1.4).
    pub window: u32,
    /// Bytes accepted by `send` that wait to be sent or acknowledged, 64 a packet included.
    pub queued_bytes: u32,
    /// Datagrams sent.
    pub datagrams_sent: u64,
    /// Datagrams received and taken: all that were not [ignored](crate::Disposition::Ignored).
    pub datagrams_received: u64,
    /// UDP payload bytes sent.
    pub bytes_sent: u64,
    /// UDP payload bytes in the datagrams received.
    pub bytes_received: u64,
    /// Frames whose acknowledgement is or was awaited.
    pub frames_sent: u64,
    /// Of those, the ones considered dropped (§3.1.5).
    pub frames_lost: u64,
    /// Packets accepted by `send`.
    pub packets_sent: ModeCounts,
    /// Bytes in them.
    pub packet_bytes_sent: ModeCounts,
    /// Packets given to the application by `receive`.
    pub packets_received: ModeCounts,
    /// Bytes in them.
    pub packet_bytes_received: ModeCounts,
    /// Pings and path challenges that came within 10 ms of an answer, and got none.
    pub answers_withheld: u64,
    /// Packets that were not sent, or not sent again, as their
    /// [time to live](crate::SendOptions::ttl) was over; unreliable ones also that had waited longer
    /// than [`Config::unreliable_age`](crate::Config::unreliable_age). They count as sent, too.
    pub packets_expired: u64,
    /// Packets that were not sent, as a newer one with the same
    /// [key](crate::SendOptions::key) took their place. They count as sent, too.
    pub packets_replaced: u64,
    /// Packets that were not sent, or not sent again, as they had been
    /// [cancelled](crate::Host::cancel). They count as sent, too.
    pub packets_cancelled: u64,
    /// Unreliable packets that came in part and were given up: no fragment came for 2 s, more than
    /// 32 of a channel were incomplete, or they made room for others.
    pub packets_incomplete: u64,
    /// Unreliable packets that had come and made room for others, as the application had not
    /// received them and the [receive budget](crate::Config::receive_budget) was used up.
    pub packets_evicted: u64,
}

/// What is known about a host, over all its peers since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostStats {
    /// Datagrams handed to [`handle_datagram`](crate::Host::handle_datagram).
    pub datagrams_received: u64,
    /// Bytes in them.
    pub bytes_received: u64,
    /// Datagrams handed out by [`poll_transmit`](crate::Host::poll_transmit).
    pub datagrams_sent: u64,
    /// Bytes in them.
    pub bytes_sent: u64,
    /// Connections accepted from others, established or not.
    pub accepted: u64,
    /// Connections established.
    pub connected: u64,
    pub(crate) ignored: [u64; Ignored::COUNT],
}

impl HostStats {
    /// How many datagrams were ignored for this cause. All malformed ones are counted together.
    ///
    /// ```
    /// use porous_proto::{HostStats, Ignored};
    ///
    /// assert_eq!(HostStats::default().ignored(Ignored::UnknownConnection), 0);
    /// ```
    #[must_use]
    pub const fn ignored(&self, cause: Ignored) -> u64 {
        self.ignored[cause.index()]
    }

    /// How many datagrams were ignored for any cause.
    ///
    /// ```
    /// assert_eq!(porous_proto::HostStats::default().ignored_total(), 0);
    /// ```
    #[must_use]
    pub fn ignored_total(&self) -> u64 {
        self.ignored.iter().sum()
    }
}
