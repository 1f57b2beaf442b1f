//! What was in a packet: what its acknowledgement is about.

use core::time::Duration;

use porous_proto::Instant;

/// What was in a packet. Small, as there is much of it while nothing is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// Messages in a row: the first id, and how many there are.
    Messages { channel: u8, first: u32, count: u16 },
    /// A piece of a block.
    Fragment { channel: u8, block: u32, index: u32 },
    /// The confirmation of all messages before `next`.
    NextMessage { channel: u8, next: u32 },
    /// The confirmation of all blocks before `next`.
    NextBlock { channel: u8, next: u32 },
}

impl Item {
    /// The channel that it belongs to.
    pub(super) fn channel(&self) -> usize {
        match self {
            Self::Messages { channel, .. }
            | Self::Fragment { channel, .. }
            | Self::NextMessage { channel, .. }
            | Self::NextBlock { channel, .. } => (*channel).into(),
        }
    }
}

/// What is chosen, and sent, at this moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) now: Instant,
    /// What was sent so long ago goes again.
    pub(super) resend: Duration,
    /// The sequence number of the packet.
    pub(super) packet: u16,
}

/// When something was last sent, in which packet, and whether one that it was in has arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fate {
    last: Option<(Instant, u16)>,
    was_sent: bool,
    pub(super) acked: bool,
}

impl Fate {
    /// Whether it goes into this packet, if there is room.
    pub(super) fn is_due(&self, turn: &Turn) -> bool {
        let is_fresh = |(at, _): (Instant, u16)| turn.now < at + turn.resend;
        !self.acked && !self.last.is_some_and(is_fresh)
    }

    /// It is in this packet. Returns whether it was in one before.
    pub(super) const fn sent(&mut self, turn: &Turn) -> bool {
        self.last = Some((turn.now, turn.packet));
        core::mem::replace(&mut self.was_sent, true)
    }

    /// A packet has arrived that it was in.
    pub(super) const fn acked(&mut self) {
        self.acked = true;
    }

    /// A packet has not left yet: if it was in no later one, its time begins anew.
    pub(super) fn waits(&mut self, packet: u16, now: Instant) {
        if let Some((at, _)) = self.last.as_mut().filter(|(_, last)| *last == packet) {
            *at = now;
        }
    }

    /// A packet is lost: if it was in no later one, it need not wait.
    pub(super) fn lost(&mut self, packet: u16) {
        if self.last.is_some_and(|(_, last)| last == packet) {
            self.last = None;
        }
    }

    /// It has not arrived after all.
    pub(super) fn doubt(&mut self) {
        self.last = None;
        self.acked = false;
    }
}

/// How long a thing is acknowledged without being confirmed before that is doubted.
const DOUBT: Duration = Duration::from_secs(1);

/// Doubt about what was acknowledged by packets, and not confirmed by the receiver: the carrier may
/// have dropped a packet that it had acknowledged. The longer it goes on, the less likely that is:
/// rather, the application does not receive.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doubt {
    since: Option<Instant>,
    times: u32,
}

impl Doubt {
    /// Whether what is first in line, and acknowledged, has to be sent again all the same.
    pub(super) fn strikes(&mut self, now: Instant) -> bool {
        let since = *self.since.get_or_insert(now);
        if now < since + DOUBT * (1 << self.times.min(6)) {
            return false;
        }
        self.since = None;
        self.times += 1;
        true
    }

    /// Something was confirmed, or is not even acknowledged.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
