//! Counts again what the books of the sequencing layer say.

use super::channels::{ChannelTable, Totals};
use super::cost;
use super::entry::Content;
use super::rules::is_marked;
use super::scheduler::Scheduler;
use super::sender::Sender;
use crate::frame::Mode;
use crate::hooks::audit::Audit;

/// Compares the books with what is there. No message counts more than `longest` bytes.
///
/// # Panics
///
/// If a budget does not say what is there, or a channel waits for a turn that never comes.
pub(super) fn check(table: &ChannelTable, scheduler: &Scheduler, audit: &mut Audit, longest: u64) {
    let mut found = Totals {
        room: table.totals.room.empty(),
        ..Totals::default()
    };
    let mut queued = 0;
    for (channel, made) in table.iter() {
        found.room.audit(made.sender.held);
        queued += count(&made.sender, &mut found);
        let (mut entries, mut sentinels, mut partial) = (0_usize, 0_usize, 0);
        for (id, entry) in made.receiver.delivery.queue.iter() {
            let is_sentinel = entry.sentinel && matches!(entry.content, Content::Sentinel);
            entries += usize::from(!is_sentinel);
            sentinels += usize::from(is_sentinel);
            assert!(
                !is_sentinel || is_marked(id, table.params.spacing),
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
        assert!(all <= table.params.window, "beyond Q_r (17)");
        audit.sentinels += sentinels;
        assert_eq!(
            made.receiver.delivery.partials.len(),
            partial,
            "partial packets"
        );
        audit.entries += entries;
        let (mut promises, passed) = made.sender.promises.ids();
        let promised = promises.next();
        found.unsettled += passed;
        let base = made.sender.window.base();
        assert!(
            promised.is_none_or(|id| id >= base),
            "{promised:?} was passed"
        );
        // A channel that was forgotten would be silent until the next `send` on it.
        let served = made.in_turn || made.blocked || !made.sender.has_more();
        assert!(served, "channel {channel} has more and no turn");
        let turns = scheduler.turns(channel);
        assert_eq!(turns, usize::from(made.in_turn), "channel {channel}");
        made.lane.audit(longest);
        let ready = made.receiver.is_ready(&table.params);
        assert_eq!(made.ready, ready, "channel {channel}");
        assert!(made.arrived || !ready, "channel {channel} is not offered");
    }
    compare(table, &found);
    assert_eq!(table.totals.room.used(), queued, "send budget");
    audit.queued += queued;
    audit.charged += found.charged;
    audit.kept += found.kept;
}

fn compare(table: &ChannelTable, found: &Totals) {
    let books = |totals: &Totals| {
        (
            totals.room.sums(),
            [totals.charged, totals.kept, totals.kept_unreliable],
            [totals.undelivered, totals.unsent, totals.unsettled],
        )
    };
    assert_eq!(books(&table.totals), books(found), "budgets");
    let params = &table.params;
    assert!(
        found.charged <= params.remote_budget,
        "{found:?} {params:?}"
    );
    assert!(found.kept <= params.receive_budget, "{found:?} {params:?}");
}

/// Adds what a channel has charged to the books that are made anew; the bytes that it has queued.
fn count(sender: &Sender, found: &mut Totals) -> u64 {
    let mut sum = 0;
    for waiting in sender.waiting.iter() {
        sum += cost(waiting.payload.len());
        found.unsent += 1;
        found.undelivered += u32::from(waiting.options.mode != Mode::Unreliable);
    }
    for sent in sender.window.iter() {
        found.charged += u64::from(sent.is_charged) * sent.cost();
        sum += u64::from(sent.is_queued) * sent.cost();
        found.undelivered += u32::from(sent.open > 0 && sent.mode != Mode::Unreliable);
    }
    found.unsent += u32::from(sender.current.is_some());
    sum
}
