//! The content of a packet, which its acknowledgement is about.

use core::time::Duration;

use porous_proto::Instant;

/// One item of a packet. Small, as there are many items while nothing is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// Messages in a row: the first id, and the number of ids.
    Messages { channel: u8, first: u32, count: u16 },
    /// A piece of a block.
    Fragment { channel: u8, block: u32, index: u32 },
    /// The confirmation of all messages before `next`.
    NextMessage { channel: u8, next: u32 },
    /// The confirmation of all blocks before `next`.
    NextBlock { channel: u8, next: u32 },
}

impl Item {
    /// The position of the channel that the item belongs to.
    pub(super) fn channel(&self) -> usize {
        match self {
            Self::Messages { channel, .. }
            | Self::Fragment { channel, .. }
            | Self::NextMessage { channel, .. }
            | Self::NextBlock { channel, .. } => (*channel).into(),
        }
    }
}

/// The packet that is chosen and sent at this moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) now: Instant,
    /// The time after which a message or piece without an acknowledgement is sent again.
    pub(super) resend: Duration,
    /// The sequence number of the packet.
    pub(super) packet: u16,
}

/// When and in which packet a message or piece was last sent, and whether a packet with it has arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fate {
    last: Option<(Instant, u16)>,
    was_sent: bool,
    pub(super) acked: bool,
}

impl Fate {
    /// True if the message or piece goes into this packet, if there is room.
    pub(super) fn is_due(&self, turn: &Turn) -> bool {
        let is_fresh = |(at, _): (Instant, u16)| turn.now < at + turn.resend;
        !self.acked && !self.last.is_some_and(is_fresh)
    }

    /// The message or piece is in this packet. True if it was in an earlier one.
    pub(super) const fn sent(&mut self, turn: &Turn) -> bool {
        self.last = Some((turn.now, turn.packet));
        core::mem::replace(&mut self.was_sent, true)
    }

    /// A packet with the message or piece has arrived.
    pub(super) const fn acked(&mut self) {
        self.acked = true;
    }

    /// A packet has not left yet: if the message or piece was in no later one, its time begins anew.
    pub(super) fn waits(&mut self, packet: u16, now: Instant) {
        if let Some((at, _)) = self.last.as_mut().filter(|(_, last)| *last == packet) {
            *at = now;
        }
    }

    /// A packet is lost: if the message or piece was in no later one, it need not wait.
    pub(super) fn lost(&mut self, packet: u16) {
        if self.last.is_some_and(|(_, last)| last == packet) {
            self.last = None;
        }
    }

    /// The acknowledgement of a packet was taken back: if the message or piece was in no later one, it has not arrived.
    pub(super) fn taken_back(&mut self, packet: u16) {
        if self.acked && self.last.is_some_and(|(_, last)| last == packet) {
            self.doubt();
        }
    }

    /// The message or piece has not arrived after all.
    pub(super) fn doubt(&mut self) {
        self.last = None;
        self.acked = false;
    }
}

/// The time from the acknowledgement of a message or piece until its arrival is doubted, unless it is
/// confirmed before. Each doubt doubles the time to the next, up to 64 times.
const DOUBT: Duration = Duration::from_secs(1);

/// Doubt about what was acknowledged by packets, and not confirmed by the receiver: the carrier may
/// have dropped a packet that it had acknowledged. The longer the confirmation takes, the less likely
/// that is, and the more likely it is that the application does not receive.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doubt {
    /// When the oldest message or block was found acknowledged and not confirmed.
    since: Option<Instant>,
    /// Doubts in a row.
    times: u32,
}

impl Doubt {
    /// True if the oldest message or block, which is acknowledged, has to be sent again all the same.
    pub(super) fn strikes(&mut self, now: Instant) -> bool {
        let since = *self.since.get_or_insert(now);
        if now < since + DOUBT * (1 << self.times.min(6)) {
            return false;
        }
        self.since = None;
        self.times += 1;
        true
    }

    /// The oldest message or block is not acknowledged, or not any more.
    pub(super) fn pause(&mut self) {
        self.since = None;
    }

    /// A message or block was confirmed.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
