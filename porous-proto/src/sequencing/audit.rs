//! The books of the sequencing layer.

use super::entry::Content;
use super::rules::is_marked;
use super::{Sequencing, Totals, cost};
use crate::audit::Audit;
use crate::frame::Mode;

impl Sequencing {
    /// No message counts more than `longest`.
    ///
    /// # Panics
    ///
    /// If a budget does not say what is there, or a channel waits for a turn that never comes.
    pub(crate) fn audit(&self, audit: &mut Audit, longest: u64) {
        let mut found = Totals {
            room: self.totals.room.empty(),
            ..Totals::default()
        };
        let mut queued = 0;
        for (channel, made) in self.channels.iter().enumerate() {
            let Some(made) = made else { continue };
            found.room.audit(made.sender.held);
            queued += made.sender.count(&mut found);
            let (mut entries, mut sentinels, mut partial) = (0_usize, 0_usize, 0);
            for (id, entry) in made.receiver.delivery.queue.iter() {
                let is_sentinel = entry.sentinel && matches!(entry.content, Content::Sentinel);
                entries += usize::from(!is_sentinel);
                sentinels += usize::from(is_sentinel);
                assert!(
                    !is_sentinel || is_marked(id, self.params.spacing),
                    "{id} is none"
                );
                found.kept += entry.cost();
                if entry.mode == Mode::Unreliable {
                    found.kept_unreliable += entry.cost();
                }
                let open = entry.mode == Mode::Unreliable && !entry.is_complete();
                partial += usize::from(open && entry.cost() > 0);
                assert!(id >= made.receiver.base(), "{id} was passed");
            }
            let all = (entries + sentinels) as u64;
            assert!(all <= self.params.window, "beyond Q_r (17)");
            audit.sentinels += sentinels;
            assert_eq!(
                made.receiver.delivery.partials.len(),
                partial,
                "partial packets"
            );
            audit.entries += entries;
            let (promised, passed) = made.sender.promises();
            found.unsettled += passed;
            let base = made.sender.base();
            assert!(
                promised.is_none_or(|id| id >= base),
                "{promised:?} was passed"
            );
            let served = made.in_turn || made.blocked || !made.sender.has_more();
            assert!(served, "channel {channel} has more and no turn");
            let number = |&other: &u8| usize::from(other) == channel;
            let turns = self.lanes.channels().filter(number).count();
            assert_eq!(turns, usize::from(made.in_turn), "channel {channel}");
            made.lane.bucket.audit(longest);
            let ready = made.receiver.is_ready(&self.params);
            assert_eq!(made.ready, ready, "channel {channel}");
            assert!(made.arrived || !ready, "channel {channel} is not offered");
        }
        self.compare(&found);
        assert_eq!(self.totals.room.used(), queued, "send budget");
        audit.queued += queued;
        audit.charged += found.charged;
        audit.kept += found.kept;
    }

    fn compare(&self, found: &Totals) {
        let books = |totals: &Totals| {
            (
                totals.room.sums(),
                [totals.charged, totals.kept, totals.kept_unreliable],
                [totals.undelivered, totals.unsent, totals.unsettled],
            )
        };
        assert_eq!(books(&self.totals), books(found), "budgets");
        assert!(
            found.charged <= self.params.remote_budget,
            "{found:?} {:?}",
            self.params
        );
        assert!(
            found.kept <= self.params.receive_budget,
            "{found:?} {:?}",
            self.params
        );
    }
}

impl super::sender::Sender {
    /// Counts again what is charged, and what is queued.
    fn count(&self, found: &mut Totals) -> u64 {
        let mut sum = 0;
        for (mode, payload) in self.waiting() {
            sum += cost(payload.len());
            found.unsent += 1;
            found.undelivered += u32::from(mode != Mode::Unreliable);
        }
        for (mode, charged, queued, is_open) in self.sent() {
            found.charged += charged;
            sum += queued;
            found.undelivered += u32::from(is_open && mode != Mode::Unreliable);
        }
        found.unsent += u32::from(self.is_sending());
        sum
    }
}
