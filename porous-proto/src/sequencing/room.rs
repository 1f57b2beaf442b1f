//! The receive budget (`docs/wire.md`, "Budgets"): what is kept, and what makes room.

use super::Sequencing;
use crate::time::Instant;
use crate::work;

impl Sequencing {
    /// Whether `more` bytes can be kept; unreliable packets make room if they must, incomplete ones
    /// first. If that would not be enough, they stay. `may_keep`: what the host has for this peer.
    pub(crate) fn make_room(&mut self, more: u64, may_keep: u64) -> bool {
        let budget = self.params.receive_budget.min(may_keep);
        let Some(kept) = budget.checked_sub(more) else {
            return false;
        };
        if self.totals.kept.saturating_sub(kept) > self.totals.kept_unreliable {
            return false;
        }
        for complete in [false, true] {
            for (channel, made) in (0..=u8::MAX).zip(&mut self.channels) {
                if self.totals.kept <= kept {
                    return true;
                }
                work::count(1);
                let Some(made) = made else { continue };
                if made
                    .receiver
                    .delivery
                    .evict(complete, kept, &mut self.totals)
                {
                    made.look_again(channel, &self.params, &mut self.arrived);
                }
            }
        }
        self.totals.kept <= kept
    }

    /// When incomplete packets are to be given up, at the earliest.
    pub(crate) const fn give_up_deadline(&self) -> Instant {
        self.give_up_at
    }

    /// Gives up the incomplete packets whose time has come (`docs/deviations.md` Q10). The time was
    /// noted when a fragment came, and later ones may have put it off.
    pub(super) fn give_up_overdue(&mut self, now: Instant) {
        if self.give_up_at > now {
            return;
        }
        self.give_up_at = Instant::NEVER;
        for (channel, made) in (0..=u8::MAX).zip(&mut self.channels) {
            work::count(1);
            let Some(made) = made else { continue };
            if made
                .receiver
                .delivery
                .give_up_overdue(&mut self.totals, now)
            {
                made.look_again(channel, &self.params, &mut self.arrived);
            }
            self.give_up_at = self.give_up_at.min(made.receiver.delivery.partials.due());
        }
    }
}
