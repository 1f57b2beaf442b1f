//! Unreliable packets that wait too long to be sent are dropped where they wait
//! (`docs/deviations.md` T8).

use core::time::Duration;

use bytes::Bytes;

use super::{Sequencing, sent_packet};
use crate::frame::{Message, Mode};
use crate::time::Instant;

/// How old an unreliable packet may become, and when that is looked at next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ageing {
    age: Duration,
    /// The latest look.
    now: Instant,
    /// Nothing is too old before this. Packets are sent in the meantime, so it may be early.
    due: Instant,
    /// Packets were sent since the last look, and unreliable ones.
    pub(super) fresh: bool,
    pub(super) ages: bool,
}

impl Ageing {
    pub(super) const fn new(age: Duration) -> Self {
        Self {
            age,
            now: Instant::ZERO,
            due: Instant::NEVER,
            fresh: false,
            ages: false,
        }
    }

    /// When a packet that waits since then is too old.
    fn end(&self, since: Instant) -> Instant {
        // It may become exactly as old as that.
        since + self.age + Duration::from_micros(1)
    }

    pub(super) const fn now(&self) -> Instant {
        self.now
    }

    fn note(&mut self, since: Instant) {
        self.due = self.due.min(self.end(since));
    }
}

impl Sequencing {
    /// When unreliable packets are to be dropped, at the earliest.
    pub(crate) const fn expiry_deadline(&self) -> Instant {
        self.ageing.due
    }

    /// The host looks what is to be done: packets wait from when it first did, as `send` is told no
    /// time. Those that have become too old are dropped.
    pub(crate) fn look(&mut self, now: Instant) {
        self.ageing.now = now;
        if core::mem::take(&mut self.ageing.ages) {
            self.ageing.note(now);
        }
        if core::mem::take(&mut self.ageing.fresh) {
            // `send` has given their channels a turn.
            for channel in self.lanes.channels() {
                if let Some(made) = self.channels[usize::from(channel)].as_deref_mut() {
                    made.sender.look(now);
                }
            }
        }
        self.drop_expired(now);
        self.release_held(now);
    }

    /// Whether this is the beginning of an unreliable packet that has become too old while it was
    /// the next in turn and there was no room for it.
    pub(super) fn is_too_old(&self, message: &Message<Bytes>) -> bool {
        let Message::Packet(packet) = message else {
            return false;
        };
        let begins = packet.fragment.is_none_or(|fragment| fragment.index == 0);
        if packet.mode != Mode::Unreliable || !begins {
            return false;
        }
        let made = self.get(packet.channel);
        let begun = made.map_or(Instant::NEVER, |made| {
            made.sender.begun(packet.id, &self.params)
        });
        self.ageing.end(begun) <= self.ageing.now
    }

    /// A message that was no longer [current](Self::is_current) is not sent.
    pub(crate) fn skipped(&mut self, message: &Message<Bytes>) {
        if !self.is_too_old(message) {
            return; // the receive window has passed it
        }
        if let Some((channel, id)) = sent_packet(message) {
            if let Some((made, params, totals)) = self.get_mut(channel) {
                made.sender.skip(id, params, totals);
            }
            self.unblock_senders();
        }
    }

    /// Drops the unreliable packets that have become too old. One that has begun to be sent has an
    /// id, and goes on.
    pub(crate) fn drop_expired(&mut self, now: Instant) {
        if self.ageing.due > now || self.ageing.due.is_never() {
            return;
        }
        self.ageing.due = Instant::NEVER;
        let ageing = self.ageing;
        let expired = self.totals.expired;
        for made in self.channels.iter_mut().flatten() {
            let sender = &mut made.sender;
            while let Some(since) = sender.oldest_unreliable() {
                if ageing.end(since) > now {
                    self.ageing.note(since);
                    break;
                }
                sender.drop_oldest_unreliable(&mut self.totals);
            }
        }
        if self.totals.expired > expired {
            // What waited behind them may fit.
            self.unblock_senders();
        }
    }
}
