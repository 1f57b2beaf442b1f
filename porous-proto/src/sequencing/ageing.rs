//! Packets that wait too long to be sent are dropped where they wait: unreliable ones
//! (`docs/deviations.md` T8), and those whose time to live is over (`docs/deviations.md` D1).

use core::time::Duration;

use bytes::Bytes;

use super::Sequencing;
use super::backlog::end;
use super::channel::Channel;
use crate::frame::{Message, Mode};
use crate::time::Instant;

/// How old an unreliable packet may become, and when packets expire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ageing {
    pub(super) age: Duration,
    /// The latest look.
    pub(super) now: Instant,
    /// Nothing expires before this. Packets are sent in the meantime, so it may be early.
    due: Instant,
    /// Packets were sent since the last look.
    pub(super) fresh: bool,
}

impl Ageing {
    pub(super) const fn new(age: Duration) -> Self {
        Self {
            age,
            now: Instant::ZERO,
            due: Instant::NEVER,
            fresh: false,
        }
    }
}

impl Sequencing {
    /// When packets are to be dropped, at the earliest.
    pub(crate) const fn expiry_deadline(&self) -> Instant {
        self.ageing.due
    }

    /// The host looks what is to be done: packets wait from when it first did, as `send` is told no
    /// time. Those that have expired are dropped.
    pub(crate) fn look(&mut self, now: Instant) {
        self.ageing.now = now;
        if core::mem::take(&mut self.ageing.fresh) {
            // `send` has given their channels a turn.
            for channel in self.lanes.channels() {
                if let Some(made) = self.channels[usize::from(channel)].as_deref_mut() {
                    made.sender.look(now);
                    self.ageing.due = self.ageing.due.min(made.sender.next_expiry());
                }
            }
        }
        self.drop_expired(now);
        self.release_held(now);
    }

    /// Whether this is the beginning of an unreliable packet that has become too old while it was
    /// the next in turn and there was no room for it.
    fn is_too_old(&self, message: &Message<Bytes>) -> bool {
        let Message::Packet(packet) = message else {
            return false;
        };
        let begins = packet.fragment.is_none_or(|fragment| fragment.offset == 0);
        if packet.mode != Mode::Unreliable || !begins {
            return false;
        }
        let made = self.get(packet.channel);
        let begun = made.map_or(Instant::NEVER, |made| {
            made.sender.begun(packet.id, &self.params)
        });
        end(begun, self.ageing.age) <= self.ageing.now
    }

    /// Whether this message belongs to a packet of which nothing is to be sent any more.
    pub(super) fn is_given_up(&self, message: &Message<Bytes>) -> bool {
        let Message::Packet(packet) = message else {
            return false;
        };
        let given_up = self.get(packet.channel).is_some_and(|made| {
            made.sender
                .is_given_up(packet.id, self.ageing.now, &self.params)
        });
        given_up || self.is_too_old(message)
    }

    /// A message that was no longer [current](Self::is_current) is not sent. If others wait for its
    /// packet, a tombstone is sent instead.
    pub(crate) fn skipped(&mut self, message: &Message<Bytes>) {
        if !self.is_given_up(message) {
            return; // the receive window has passed it
        }
        if let Message::Packet(packet) = message {
            let (channel, which) = (packet.channel, (packet.id, packet.dependency.into()));
            if let Some((made, params, totals)) = self.get_mut(channel) {
                made.sender.give_up(channel, which, params, totals);
            }
            self.wants_turn_for_controls(channel);
            self.unblock_senders();
        }
    }

    /// The remote host has to be told of a packet that was given up.
    fn wants_turn_for_controls(&mut self, channel: u8) {
        let owes = |made: &Channel| !made.sender.controls.is_empty();
        if self.get(channel).is_some_and(owes) {
            self.wants_turn(channel);
        }
    }

    /// Drops the packets that have expired. Of one that has begun to be sent, nothing else is.
    pub(crate) fn drop_expired(&mut self, now: Instant) {
        if self.ageing.due > now || self.ageing.due.is_never() {
            return;
        }
        self.ageing.due = Instant::NEVER;
        let expired = self.totals.expired;
        for channel in 0..self.params.channels {
            let Some(made) = self.channels[usize::from(channel)].as_deref_mut() else {
                continue;
            };
            made.sender
                .drop_expired(channel, now, &self.params, &mut self.totals);
            self.ageing.due = self.ageing.due.min(made.sender.next_expiry());
            self.wants_turn_for_controls(channel);
        }
        if self.totals.expired > expired {
            // What waited behind them may fit.
            self.unblock_senders();
        }
    }
}
