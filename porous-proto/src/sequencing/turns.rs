//! Channels take turns to send (`docs/deviations.md` T21), and how long their packets waited for it.

use bytes::Bytes;

use super::{Sequencing, lanes, sent_packet};
use crate::config::Priority;
use crate::frame::Message;
use crate::options::SendOptions;
use crate::stats::ChannelStats;
use crate::time::Instant;
use crate::work;

impl Sequencing {
    pub(super) fn wants_turn(&mut self, channel: u8) {
        let level = self.params.priority(channel);
        let Some(made) = self.channels[usize::from(channel)].as_deref_mut() else {
            return;
        };
        if !core::mem::replace(&mut made.in_turn, true) {
            self.lanes.push(level, channel, &made.lane);
        }
    }

    /// The next new message of this priority, with `most` bytes of a packet at most, and how it is to be
    /// sent. A channel that had its turn waits for the others.
    pub(crate) fn next_message(
        &mut self,
        priority: Priority,
        most: usize,
    ) -> Option<(Message<Bytes>, SendOptions)> {
        let now = self.ageing.now;
        while let Some(channel) = self.lanes.pop(priority) {
            work::count(1);
            let made = self.channels[usize::from(channel)].as_deref_mut()?;
            if let Some(until) = made.lane.bucket.hold(now) {
                self.lanes.hold(channel, until);
                continue;
            }
            let part = (channel, most);
            let next = (made.sender).next_message(part, &self.params, &mut self.totals);
            if let Some((message, options)) = next {
                let cost = lanes::cost(&message);
                self.lanes.sent(priority, channel, &mut made.lane, cost);
                return Some((message, options));
            }
            made.in_turn = false;
            if made.sender.has_more() && !core::mem::replace(&mut made.blocked, true) {
                self.blocked.push_back(channel);
            }
        }
        None
    }

    /// Changes the cap of a channel. If it was held back, it is looked at anew.
    pub(crate) fn set_rate(&mut self, channel: u8, rate: u32, now: Instant) {
        let Some((made, ..)) = self.get_mut(channel) else {
            return;
        };
        made.lane.bucket.set_rate(rate, now);
        if self.lanes.let_go(channel) {
            if let Some((made, ..)) = self.get_mut(channel) {
                made.in_turn = false;
            }
            self.wants_turn(channel);
        }
    }

    /// Channels that their caps held back until now get a turn.
    pub(super) fn release_held(&mut self, now: Instant) {
        while let Some(channel) = self.lanes.release(now) {
            work::count(1);
            let level = self.params.priority(channel);
            if let Some(made) = self.channels[usize::from(channel)].as_deref_mut() {
                made.lane.bucket.release(now);
                self.lanes.push(level, channel, &made.lane);
            }
        }
    }

    /// When a channel that its cap holds back may send.
    pub(crate) fn lane_deadline(&self) -> Instant {
        self.lanes.due()
    }

    /// A message is in the next frame. If it is the first of its packet, that has waited until now.
    pub(crate) fn sent(&mut self, message: &Message<Bytes>) {
        let now = self.ageing.now;
        if let Some((channel, id)) = sent_packet(message) {
            if let Some((made, params, _)) = self.get_mut(channel) {
                if let Some(since) = made.sender.take_since(id, params) {
                    let waited = now.saturating_duration_since(since);
                    made.queue_time.sample(waited, now);
                }
            }
        }
    }

    pub(crate) fn channel_stats(&self, channel: u8) -> ChannelStats {
        self.get(channel)
            .map_or_else(ChannelStats::default, |made| ChannelStats {
                queue_time: made.queue_time.smoothed(),
                queue_time_longest: made.queue_time.longest(),
                waiting: made.sender.waiting_count(),
            })
    }
}
