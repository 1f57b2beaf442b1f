//! Counters and estimates. All counters only ever grow, unless it is said, and all are cheap enough
//! to be always on: a few additions a frame.

#[cfg(feature = "serde")]
mod plain;
mod rate;
mod recent;

use core::time::Duration;

pub(crate) use self::rate::{bytes_in, per_second, scaled, time_of};
pub(crate) use self::recent::{
    Jitter, Loss, Maximum, Minimum, Peak, QueueTime, Rate, Ring, Smoothed, VALUES,
};
use crate::event::Ignored;
use crate::frame::Mode;
#[cfg(feature = "seal")]
use crate::seal::TokenRefusal;

/// Counts by delivery mode: of packets, or of the bytes in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
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
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PeerStats {
    /// The smoothed round-trip time `T_rtt,avg` (5), 200 ms until it has been measured. Under
    /// [`Policy::Modern`](crate::Policy::Modern) it is that of the path alone: without the time for
    /// which the remote host says that it held an acknowledgement back.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "rtt_us", serialize_with = "plain::us")
    )]
    pub rtt: Duration,
    /// `T_rtt,var` (6): how far round trips are from the smoothed one.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "rtt_variance_us", serialize_with = "plain::us")
    )]
    pub rtt_variance: Duration,
    /// The shortest round trip of the last 5 to 10 s in which any was measured; zero before the
    /// first.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "rtt_minimum_us", serialize_with = "plain::us")
    )]
    pub rtt_minimum: Duration,
    /// How much a round trip differs from the one before, smoothed by 1/16 as in RFC 3550 §6.4.1.
    /// Round trips are those of [`rtt`](Self::rtt).
    #[cfg_attr(
        feature = "serde",
        serde(rename = "jitter_us", serialize_with = "plain::us")
    )]
    pub jitter: Duration,
    /// `T_rto` (7).
    #[cfg_attr(
        feature = "serde",
        serde(rename = "resend_timeout_us", serialize_with = "plain::us")
    )]
    pub resend_timeout: Duration,
    /// Bytes sent that are neither acknowledged nor considered dropped: the flight size (§3.1.2).
    pub flight: u32,
    /// The congestion window W_c in bytes (§3.1.4).
    pub window: u32,
    /// The largest UDP payload that is sent now, in bytes; 0 while connecting. It grows by a search
    /// ([`Config::path_mtu_discovery`](crate::Config::path_mtu_discovery)), and falls if the path narrows.
    pub path_mtu: u16,
    /// The largest packet that leaves in one datagram now, in bytes; 0 while connecting:
    /// [`Peer::max_unfragmented`](crate::Peer::max_unfragmented).
    pub max_unfragmented: u16,
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
    /// Frames with data: packets, or parts of them. Frames with nothing but what hosts tell each other are in none of
    /// these counts.
    pub frames_sent: u64,
    /// Of those, the ones considered dropped (§3.1.5).
    pub frames_lost: u64,
    /// Of those, the ones that were acknowledged all the same: they were late, not lost. What was
    /// really lost is `frames_lost - frames_spurious` of `frames_sent`.
    pub frames_spurious: u64,
    /// Of those, the ones that routers have marked instead of dropping them (ECN), as the remote host
    /// says.
    pub frames_marked: u64,
    /// Whether data is sent as ECN-capable now: [`Config::ecn`](crate::Config::ecn) asks for it, and
    /// the path seems to carry it.
    pub ecn: bool,
    /// Frames of the remote host, of any kind, without duplicates.
    pub frames_received: u64,
    /// Frames that the remote host has sent before the newest one that came, and that did not come.
    /// Fewer when one comes late. One may be counted only when 512 more were sent: a remote host leaves
    /// out one number in 512 on purpose, and what was left out is no loss.
    pub frames_missing: u64,
    /// The share of our frames that was lost recently, in hundredths of a percent, 0 to 10,000: of
    /// those whose fate became known in the last 5 to 10 s in which any did.
    pub loss_sent: u16,
    /// The share of the remote host's frames that was lost recently, in the same unit, in the last 5 to
    /// 10 s in which any came.
    pub loss_received: u16,
    /// Bytes a second in the datagrams sent, over the half to whole second before the last one.
    pub send_rate: u32,
    /// Bytes a second in the datagrams received, over the same time.
    pub receive_rate: u32,
    /// How good the connection is, from 0 to 100; 0 while there is none. From 100 is taken:
    ///
    /// - for loss 2 for each percent of [`loss_sent`](Self::loss_sent) and
    ///   [`loss_received`](Self::loss_received), at most 60;
    /// - for delay 1 for each 10 ms by which [`rtt`](Self::rtt) and four times the
    ///   [`jitter`](Self::jitter) are above 60 ms, at most 40.
    pub quality: u8,
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
    /// than [`Config::unreliable_age`](crate::Config::unreliable_age) allows. They count as sent, too.
    pub packets_expired: u64,
    /// Packets that were not sent, or not sent again, as a newer one with the same
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

impl PeerStats {
    /// What [`quality`](Self::quality) says.
    pub(crate) fn rate_quality(&self) -> u8 {
        let loss = (u32::from(self.loss_sent) + u32::from(self.loss_received)) / 50;
        let delay = (self.rtt + 4 * self.jitter).saturating_sub(Duration::from_millis(60));
        let delay = u32::try_from(delay.as_millis() / 10).unwrap_or(u32::MAX);
        u8::try_from(100 - loss.min(60) - delay.min(40)).unwrap_or(0)
    }
}

/// Frames that a host has sent to all its peers since it was made: [`Host::frames`](crate::Host::frames).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FrameStats {
    /// Frames with data: packets, or parts of them.
    pub sent: u64,
    /// Of those, the ones considered dropped (§3.1.5).
    pub lost: u64,
    /// Of those, the ones that were acknowledged all the same: they were late, not lost.
    pub spurious: u64,
    /// Of the frames sent, the ones that routers have marked instead of dropping them (ECN), as the remote
    /// hosts say.
    pub marked: u64,
}

impl FrameStats {
    /// The frames to one peer.
    pub(crate) const fn of(peer: &PeerStats) -> Self {
        Self {
            sent: peer.frames_sent,
            lost: peer.frames_lost,
            spurious: peer.frames_spurious,
            marked: peer.frames_marked,
        }
    }

    #[must_use]
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self {
            sent: self.sent + other.sent,
            lost: self.lost + other.lost,
            spurious: self.spurious + other.spurious,
            marked: self.marked + other.marked,
        }
    }
}

/// What is known about a channel to a peer, as far as it is sent on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ChannelStats {
    /// How long a packet waits before the first byte of it is sent, smoothed by 1/8. It counts from
    /// when the host is [polled](crate::Host::poll_transmit) first after
    /// [`send`](crate::Host::send).
    #[cfg_attr(
        feature = "serde",
        serde(rename = "queue_time_us", serialize_with = "plain::us")
    )]
    pub queue_time: Duration,
    /// The longest such time of the last 2.5 to 5 s in which packets were sent.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "queue_time_longest_us", serialize_with = "plain::us")
    )]
    pub queue_time_longest: Duration,
    /// Packets of which nothing was sent yet.
    pub waiting: u32,
}

/// What is known about a host, over all its peers since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
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
    /// Requests that were refused as full because of
    /// [`Config::max_peers_per_source`](crate::Config::max_peers_per_source).
    pub source_full: u64,
    /// Requests that were refused while more came than the program could take in: see
    /// [`Host::handle_backlog`](crate::Host::handle_backlog).
    pub overloaded: u64,
    #[cfg_attr(feature = "serde", serde(serialize_with = "plain::ignored"))]
    pub(crate) ignored: [u64; Ignored::COUNT],
    #[cfg(feature = "seal")]
    #[cfg_attr(feature = "serde", serde(serialize_with = "plain::tokens_refused"))]
    pub(crate) tokens_refused: [u64; TokenRefusal::COUNT],
}

impl HostStats {
    /// How many clients were refused for this fault of their token.
    ///
    /// ```
    /// use porous_proto::{HostStats, seal::TokenRefusal};
    ///
    /// assert_eq!(HostStats::default().tokens_refused(TokenRefusal::Expired), 0);
    /// ```
    #[cfg(feature = "seal")]
    #[must_use]
    pub const fn tokens_refused(&self, cause: TokenRefusal) -> u64 {
        self.tokens_refused[cause.index()]
    }

    /// How many clients were refused for each fault of their token, in the order of [`TokenRefusal::ALL`]: the name of
    /// the fault as metrics have it, and the count.
    ///
    /// ```
    /// let stats = porous_proto::HostStats::default();
    /// let names: Vec<&str> = stats.tokens_refused_by_name().map(|(name, _)| name).collect();
    /// assert_eq!((names.len(), names[4]), (11, "expired"));
    /// ```
    #[cfg(feature = "seal")]
    pub fn tokens_refused_by_name(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        TokenRefusal::NAMES.into_iter().zip(self.tokens_refused)
    }

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

    /// How many datagrams were ignored for the cause with this [number](Ignored::number), for a
    /// foreign interface or a list of all. `None` if there is no such cause.
    ///
    /// ```
    /// use porous_proto::HostStats;
    ///
    /// let stats = HostStats::default();
    /// let all: Vec<u64> = (1..).map_while(|n| stats.ignored_by_number(n)).collect();
    /// assert_eq!((all.len(), all.iter().sum()), (17, stats.ignored_total()));
    /// ```
    #[must_use]
    pub fn ignored_by_number(&self, number: u8) -> Option<u64> {
        let index = usize::from(number).checked_sub(1)?;
        self.ignored.get(index).copied()
    }

    /// How many datagrams were ignored for each cause, in the order of their [numbers](Ignored::number): the name of
    /// the cause as metrics have it, and the count.
    ///
    /// ```
    /// let stats = porous_proto::HostStats::default();
    /// let names: Vec<&str> = stats.ignored_by_name().map(|(name, _)| name).collect();
    /// assert_eq!(names[1], "unknown_connection");
    /// ```
    pub fn ignored_by_name(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        Ignored::NAMES.into_iter().zip(self.ignored)
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

/// How far a packet that was sent has come: [`Peer::send_progress`](crate::Peer::send_progress)
/// (`docs/deviations.md` D15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SendProgress {
    /// The length of the packet, in bytes.
    pub len: u32,
    /// Bytes of the packet that have left, or are next to leave. What is sent again counts once.
    pub sent: u32,
    /// Bytes of the packet that were acknowledged.
    pub acknowledged: u32,
}

/// How much of a packet has come: [`Peer::receive_progress`](crate::Peer::receive_progress).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ReceiveProgress {
    /// The length of the packet, in bytes.
    pub len: u32,
    /// Bytes that have come, of any part of the packet: fewer than its length.
    pub received: u32,
}
