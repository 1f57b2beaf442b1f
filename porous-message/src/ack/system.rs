//! The algorithm of packet acks, of which each side runs one.

use core::time::Duration;

use porous_proto::Instant;

use super::header::AckHeader;
use super::rtt::{MAX_RTT, Rtt};
use crate::sequence_buffer::SequenceBuffer;

/// Packets that a header acknowledges.
const ACKS: u16 = 32;

/// Half of the sequence numbers: beyond this distance older and newer numbers cannot be told apart.
const HALF_A_TURN: u64 = 1 << 15;

/// The least time before a packet without an ack counts in the share of lost ones: the other side has to
/// send a packet, and one or two of its packets may get lost.
const LOST_AFTER: Duration = Duration::from_millis(250);

/// A packet without an ack for longer than this is reported as lost (`docs/message.md`, "Acks").
const LOST: Duration = Duration::from_secs(1);

/// Packets from which the loss is estimated: the newest ones that should have an ack by now.
const LOSS_OF: usize = 256;

/// The whole, in hundredths of a percent.
const ALL: usize = 10_000;

/// The answer to whether a packet with a certain sequence number was accepted before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "a packet that is not new is to be dropped"]
pub enum Freshness {
    /// A packet that was not accepted before.
    New,
    /// The packet was accepted before.
    Duplicate,
    /// The number is so old that it is not known whether the packet was accepted before.
    Stale,
}

/// Counts of an [`AckSystem`] since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct AckStats {
    /// Packets sent.
    pub sent: u64,
    /// Packets sent that were acknowledged.
    pub acked: u64,
    /// Packets sent that [`packets_lost`](AckSystem::packets_lost) has reported. A packet that is
    /// acknowledged after that counts as acknowledged, too.
    pub lost: u64,
    /// Packets received and accepted: the new ones.
    pub received: u64,
    /// Packets received again, of those that [`packet_received`](AckSystem::packet_received) was told of.
    pub duplicates: u64,
    /// Packets received too late to know whether they were new, of those that `packet_received` was told of.
    pub stale: u64,
    /// Acks of unknown packets: never sent, or sent so long ago that they are forgotten.
    pub unknown_acks: u64,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    is_acked: bool,
}

/// Tells which of the packets that one side sends have come to the other, by the headers of the packets
/// that the other side sends. The [module](crate::ack) has the order of calls, and an example.
///
/// A packet that is acknowledged has come, as long as no packet is on its way for longer than the
/// numbers take to wrap around, and as long as the other side is honest. A packet that is not acknowledged
/// was most probably lost; but perhaps it came, and all 32 packets with its ack were lost. So data that is
/// sent again may come twice, and needs a number of its own to be recognized.
///
/// The headers are trusted: an attacker that can forge one can acknowledge packets that have not come,
/// and can make all genuine packets too old by a number far ahead. Where strangers could forge headers,
/// the packets need protection of their own.
#[derive(Clone, Debug)]
pub struct AckSystem {
    sent: SequenceBuffer<Sent>,
    received: SequenceBuffer<()>,
    rtt: Rtt,
    stats: AckStats,
    /// Packets sent up to the newest acknowledged one, itself included.
    sent_till_acked: u64,
    /// Packets, from the first one on, whose fate is known: acknowledged, or reported as lost.
    judged: u64,
}

impl AckSystem {
    /// A system that remembers the newest `size` packets that were sent, and as many that were received.
    /// The size is 32 to 32,768, rounded up to a power of two; other numbers become the nearest of these.
    /// It has to be more than the packets that are sent before the ack of the first of them can be expected:
    /// 1024 is right for 60 packets a second, with much to spare. Each packet takes 17 bytes.
    ///
    /// The first packet has number 0.
    ///
    /// ```
    /// use porous_message::AckSystem;
    ///
    /// let acks = AckSystem::new(1024);
    /// assert_eq!(acks.stats().sent, 0);
    /// ```
    #[must_use]
    pub fn new(size: usize) -> Self {
        let size = size.max(ACKS.into());
        Self {
            sent: SequenceBuffer::new(size),
            received: SequenceBuffer::new(size),
            rtt: Rtt::default(),
            stats: AckStats::default(),
            sent_till_acked: 0,
            judged: 0,
        }
    }

    /// The header of a packet that is sent now. Each packet needs a header of its own, even if it
    /// carries the same as another one.
    ///
    /// ```
    /// use porous_message::{AckHeader, AckSystem};
    /// use porous_proto::Instant;
    ///
    /// let mut acks = AckSystem::new(1024);
    /// let header = acks.packet_sent(Instant::ZERO);
    /// assert_eq!(header, AckHeader { sequence: 0, ack: 0, ack_bits: 0 });
    /// assert_eq!(acks.packet_sent(Instant::ZERO).sequence, 1);
    /// ```
    #[must_use = "it has to be in the packet"]
    pub fn packet_sent(&mut self, now: Instant) -> AckHeader {
        let sequence = self.sent.newest().map_or(0, |last| last.wrapping_add(1));
        let packet = Sent {
            at: now,
            is_acked: false,
        };
        self.sent.insert(sequence, packet);
        self.stats.sent += 1;
        // 0 with no bits set before the first packet has come: the bits tell it from packet 0.
        let ack = self.received.newest().unwrap_or(0);
        let has_come = |n: &u16| self.received.contains(ack.wrapping_sub(*n));
        let ack_bits = (0..ACKS).filter(has_come).fold(0, |bits, n| bits | 1 << n);
        AckHeader {
            sequence,
            ack,
            ack_bits,
        }
    }

    /// The freshness that [`packet_received`](Self::packet_received) would return for a packet with this
    /// number. Changes nothing, so that a packet that cannot be used as a whole can be dropped after this.
    ///
    /// ```
    /// use porous_message::{AckHeader, AckSystem, Freshness};
    /// use porous_proto::Instant;
    ///
    /// let mut acks = AckSystem::new(1024);
    /// let header = AckHeader { sequence: 2000, ack: 0, ack_bits: 0 };
    /// assert_eq!(acks.packet_received(Instant::ZERO, &header, |_| {}), Freshness::New);
    /// assert_eq!(acks.check(2000), Freshness::Duplicate);
    /// assert_eq!(acks.check(1999), Freshness::New);
    /// assert_eq!(acks.check(976), Freshness::Stale);
    /// ```
    pub fn check(&self, sequence: u16) -> Freshness {
        if self.received.contains(sequence) {
            Freshness::Duplicate
        } else if self.received.accepts(sequence) {
            Freshness::New
        } else {
            Freshness::Stale
        }
    }

    /// Accepts a packet that has come, if it is new: the packet will be acknowledged. Calls `on_acked`
    /// with the number of each packet that the header acknowledges for the first time, the oldest first.
    ///
    /// Do not call this for a new packet that cannot be used as a whole (see [`check`](Self::check)). A
    /// packet that is not new is only counted: its acks were taken before, or are out of date.
    ///
    /// ```
    /// use porous_message::{AckHeader, AckSystem, Freshness};
    /// use porous_proto::Instant;
    ///
    /// let mut acks = AckSystem::new(1024);
    /// for _ in 0..3 {
    ///     let _ = acks.packet_sent(Instant::ZERO);
    /// }
    /// let mut acked = vec![];
    /// let header = AckHeader { sequence: 0, ack: 2, ack_bits: 0b101 };
    /// let freshness = acks.packet_received(Instant::ZERO, &header, |sequence| acked.push(sequence));
    /// assert_eq!((freshness, acked), (Freshness::New, vec![0, 2]));
    /// ```
    pub fn packet_received(
        &mut self,
        now: Instant,
        header: &AckHeader,
        on_acked: impl FnMut(u16),
    ) -> Freshness {
        let freshness = self.check(header.sequence);
        match freshness {
            Freshness::New => {
                self.stats.received += 1;
                self.received.insert(header.sequence, ());
                self.take_acks(now, header, on_acked);
            }
            Freshness::Duplicate => self.stats.duplicates += 1,
            Freshness::Stale => self.stats.stale += 1,
        }
        freshness
    }

    fn take_acks(&mut self, now: Instant, header: &AckHeader, mut on_acked: impl FnMut(u16)) {
        if self.has_lost_track() {
            self.stats.unknown_acks += u64::from(header.ack_bits.count_ones());
            return;
        }
        // The lowest bit is the newest packet, and the oldest is told first.
        for n in (0..ACKS).rev().filter(|n| header.ack_bits >> n & 1 == 1) {
            let sequence = header.ack.wrapping_sub(n);
            if self.take_ack(now, sequence) {
                on_acked(sequence);
            }
        }
    }

    /// Takes an ack. True if it is the first one of the packet.
    fn take_ack(&mut self, now: Instant, sequence: u16) -> bool {
        let behind = self
            .sent
            .newest()
            .map_or(0, |newest| newest.wrapping_sub(sequence));
        // No error: a header that repeats 32 acks may reach back further than this side remembers.
        let Some(packet) = self.sent.get_mut(sequence) else {
            self.stats.unknown_acks += 1;
            return false;
        };
        if packet.is_acked {
            return false;
        }
        packet.is_acked = true;
        self.rtt.sample(now.saturating_duration_since(packet.at));
        self.stats.acked += 1;
        // In 64 bits, which never wrap, so that a whole turn without an ack can be told from none.
        let till_this = self.stats.sent - u64::from(behind);
        self.sent_till_acked = self.sent_till_acked.max(till_this);
        true
    }

    /// True if 32,768 packets were sent since the newest acknowledged one, or since the start.
    ///
    /// That is half of all numbers, and for the other side new packets soon look like old ones. From
    /// then on no ack is believed, since an ack could as well mean a packet of the turn before. The
    /// state is final: both sides need a new `AckSystem`. At 60 packets a second this takes nine minutes
    /// without an ack, far longer than a game keeps a connection without an answer.
    ///
    /// ```
    /// use porous_message::AckSystem;
    /// use porous_proto::Instant;
    ///
    /// let mut acks = AckSystem::new(1024);
    /// for _ in 0..32_768 {
    ///     assert!(!acks.has_lost_track());
    ///     let _ = acks.packet_sent(Instant::ZERO);
    /// }
    /// assert!(acks.has_lost_track());
    /// ```
    #[must_use]
    pub const fn has_lost_track(&self) -> bool {
        self.stats.sent - self.sent_till_acked >= HALF_A_TURN
    }

    /// The smoothed time from a packet to its ack: each ack moves it by a tenth of the distance, and a
    /// time longer than a second counts as a second. It includes the time that the other side waits before
    /// its next packet. `None` before the first ack.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_message::{AckHeader, AckSystem};
    /// use porous_proto::Instant;
    ///
    /// let mut acks = AckSystem::new(1024);
    /// let _ = acks.packet_sent(Instant::ZERO);
    /// assert_eq!(acks.rtt(), None);
    /// let header = AckHeader { sequence: 0, ack: 0, ack_bits: 1 };
    /// let _ = acks.packet_received(Instant::from_micros(30_000), &header, |_| {});
    /// assert_eq!(acks.rtt(), Some(Duration::from_millis(30)));
    /// ```
    #[must_use]
    pub const fn rtt(&self) -> Option<Duration> {
        self.rtt.average()
    }

    /// The share of recent packets that were lost, in hundredths of a percent, 0 to 10,000: the packets
    /// without an ack, of the last 256 that should have one by now. An ack is due after two [round
    /// trips](Self::rtt), and at least 250 ms; after a second if no ack has ever come. An ack that
    /// comes later corrects the share. `None` if no packet is that old.
    ///
    /// Packets that are no longer remembered do not count. [`packets_lost`](Self::packets_lost) tells which
    /// packets were lost.
    ///
    /// ```
    /// use porous_message::{AckHeader, AckSystem};
    /// use porous_proto::Instant;
    ///
    /// let mut acks = AckSystem::new(1024);
    /// for _ in 0..4 {
    ///     let _ = acks.packet_sent(Instant::ZERO);
    /// }
    /// let header = AckHeader { sequence: 0, ack: 3, ack_bits: 0b1011 };
    /// let _ = acks.packet_received(Instant::from_micros(30_000), &header, |_| {});
    /// assert_eq!(acks.loss(Instant::from_micros(30_000)), None);
    /// assert_eq!(acks.loss(Instant::from_micros(300_000)), Some(2500)); // a quarter
    /// ```
    #[must_use]
    pub fn loss(&self, now: Instant) -> Option<u16> {
        let newest = self.sent.newest()?;
        let patience = self.rtt().map_or(MAX_RTT, |rtt| (2 * rtt).max(LOST_AFTER));
        let (mut lost, mut all) = (0, 0);
        (0..=u16::MAX)
            .take(self.sent.size())
            .filter_map(|back| self.sent.get(newest.wrapping_sub(back)))
            .filter(|packet| now.saturating_duration_since(packet.at) > patience)
            .take(LOSS_OF)
            .for_each(|packet| {
                all += 1;
                lost += usize::from(!packet.is_acked);
            });
        (lost * ALL)
            .checked_div(all)
            .and_then(|share| u16::try_from(share).ok())
    }

    /// Calls `on_lost` with the number of each packet that was sent longer than a second ago and has no
    /// ack, the oldest first, and once for each packet. So every packet is either acknowledged or reported
    /// as lost, and its content can be sent again. [`packet_received`](Self::packet_received) reports an
    /// ack that comes after that as any other.
    ///
    /// To be called about ten times a second. A packet without an ack that is no longer remembered counts
    /// as lost.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_message::{AckHeader, AckSystem};
    /// use porous_proto::Instant;
    ///
    /// let mut acks = AckSystem::new(1024);
    /// for _ in 0..3 {
    ///     let _ = acks.packet_sent(Instant::ZERO);
    /// }
    /// let header = AckHeader { sequence: 0, ack: 2, ack_bits: 0b101 };
    /// let _ = acks.packet_received(Instant::ZERO, &header, |_| {});
    /// let mut lost = vec![];
    /// acks.packets_lost(Instant::ZERO + Duration::from_secs(1), |sequence| lost.push(sequence));
    /// assert_eq!(lost, []);
    /// acks.packets_lost(Instant::ZERO + Duration::from_millis(1001), |sequence| lost.push(sequence));
    /// assert_eq!(lost, [1]);
    /// assert_eq!(acks.stats().lost, 1);
    /// ```
    pub fn packets_lost(&mut self, now: Instant, mut on_lost: impl FnMut(u16)) {
        while self.judged < self.stats.sent {
            // Packets are numbered from 0, so a packet's number is the count of those before it, modulo 2^16.
            let [low, high, ..] = self.judged.to_le_bytes();
            let sequence = u16::from_le_bytes([low, high]);
            let is_forgotten = self.stats.sent - self.judged > self.sent.size() as u64;
            let packet = self.sent.get(sequence).filter(|_| !is_forgotten);
            let is_young = |sent: &Sent| now.saturating_duration_since(sent.at) <= LOST;
            if packet.is_some_and(|sent| !sent.is_acked && is_young(sent)) {
                // The packets behind it are younger still.
                return;
            }
            self.judged += 1;
            if packet.is_none_or(|sent| !sent.is_acked) {
                self.stats.lost += 1;
                on_lost(sequence);
            }
        }
    }

    /// The counts since this system was made.
    ///
    /// ```
    /// use porous_message::AckSystem;
    /// use porous_proto::Instant;
    ///
    /// let mut acks = AckSystem::new(1024);
    /// let _ = acks.packet_sent(Instant::ZERO);
    /// assert_eq!(acks.stats().sent, 1);
    /// ```
    #[must_use]
    pub const fn stats(&self) -> AckStats {
        self.stats
    }
}
