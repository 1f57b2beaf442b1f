//! What a host tells and asks about packets: window acknowledgements (§3.2.1; `docs/wire.md`, "Budgets"),
//! what became of packets with receipts ("Receipts"), questions about suspects, and answers to those of the
//! remote host ("Leaps").

use alloc::collections::VecDeque;
use core::time::Duration;

use super::SequencingParams;
use super::channels::ChannelTable;
use crate::frame::{Control, Fates};
use crate::hooks::work;
use crate::serial;
use crate::time::Instant;

/// Longest time that packets are passed without a report (`docs/wire.md`, "Budgets").
pub(super) const REPORT_AFTER: Duration = Duration::from_millis(500);

/// Least time between bursts of answers: asking costs the remote host next to nothing.
const ANSWER_INTERVAL: Duration = Duration::from_millis(10);

/// Lost FATES that may wait to be repeated, of all channels: far more than an honest sender leaves
/// unacknowledged within a retransmission timeout.
const REPEATED_MAX: usize = 1024;

/// What one channel has reported of its receive window (§3.2.1). Only the newest report of a channel is ever
/// sent, until it is acknowledged.
#[derive(Debug)]
pub(crate) struct Reports {
    /// One past the last packet that was reported as passed.
    pub(super) reported: u64,
    /// True if the next report names the last packet that was passed, not the one where (18) fired.
    pub(crate) all: bool,
    /// True while it is in the queue of channels with a report due.
    pub(crate) due: bool,
}

impl Reports {
    pub(crate) const fn new(first_id: u64) -> Self {
        Self {
            reported: first_id,
            all: false,
            due: false,
        }
    }

    /// FATES have reported everything before `end`.
    pub(crate) const fn note(&mut self, end: u64) {
        self.reported = end;
        self.all = false;
    }

    /// Whether the window moved since the last report.
    pub(crate) const fn is_unreported(&self, base: u64) -> bool {
        base > self.reported
    }

    /// Makes the report: the low 32 bits of the marked id that was passed where (18) fired, or else of the
    /// last packet that was passed.
    pub(crate) fn report(&mut self, base: u64, fired: Option<u64>) -> u32 {
        self.due = false;
        let all = core::mem::take(&mut self.all);
        // A repeated report names the last packet that was passed: where (18) fired was reported before.
        let fired = fired.filter(|&id| !all && id >= self.reported);
        let id = fired.unwrap_or_else(|| base.saturating_sub(1));
        self.reported = id + 1;
        serial::truncate(id, 32)
    }

    /// Whether the report of `id` is the newest of this channel: if it is lost, it must be repeated.
    pub(crate) fn is_newest(&self, id: u32) -> bool {
        serial::truncate(self.reported.wrapping_sub(1), 32) == id
    }
}

/// The fates of packets that the window of a channel has passed and that were not reported yet: the last of
/// them is the one before m_b (`docs/wire.md`, "Receipts"; `docs/deviations.md` D2).
#[derive(Debug)]
pub(super) struct FateLog {
    /// The oldest first. All but the last are full.
    blocks: VecDeque<Fates>,
    /// True until the first report: what was passed before is told by WINDOW.
    first: bool,
}

impl FateLog {
    /// A log from when the sender first asks. `reported` is one past the last packet that WINDOW has
    /// reported.
    pub(super) fn new(reported: u64, base: u64, params: &SequencingParams) -> Self {
        let mut log = Self {
            blocks: VecDeque::new(),
            first: true,
        };
        // The first message of every such packet asks: what was passed before has not come.
        log.push(base - reported, true, params);
        log
    }

    /// The window has passed this number of further packets, of which all were skipped or none.
    pub(super) fn push(&mut self, mut packets: u64, skipped: bool, params: &SequencingParams) {
        while packets > 0 {
            work::count(1);
            let full = |block: &Fates| block.count == Fates::MAX;
            if self.blocks.back().is_none_or(full) {
                self.blocks.push_back(Fates {
                    count: 0,
                    first: false,
                    skipped: 0,
                });
            }
            let Some(block) = self.blocks.back_mut() else {
                return;
            };
            let room = Fates::MAX - block.count;
            let taken = u8::try_from(packets).unwrap_or(u8::MAX).min(room);
            let after = block.count + taken;
            // The next bits above those that are taken.
            if skipped {
                block.skipped |= Fates::mask(after) & !Fates::mask(block.count);
            }
            block.count = after;
            packets -= u64::from(taken);
        }
        // The oldest is dropped: an honest sender does not go on until it knows of a window's packets, so
        // that there are never more of them.
        let most = params.window / u64::from(Fates::MAX) + 2;
        while self.blocks.len() as u64 > most {
            self.blocks.pop_front();
        }
    }

    /// The id of the oldest packet in the log, where the window is at `base`.
    fn from(&self, base: u64) -> u64 {
        let full = self.blocks.len().saturating_sub(1) as u64 * u64::from(Fates::MAX);
        let last = self.blocks.back().map_or(0, |block| u64::from(block.count));
        base.saturating_sub(full + last)
    }

    /// Whether a packet was skipped, and the sender has not been told.
    pub(super) fn is_skipped(&self, id: u64, base: u64) -> bool {
        let Some(place) = id.checked_sub(self.from(base)) else {
            return false;
        };
        let each = u64::from(Fates::MAX);
        let block = usize::try_from(place / each).ok();
        let block = block.and_then(|block| self.blocks.get(block));
        block.is_some_and(|block| block.skipped >> (place % each) & 1 == 1)
    }

    /// The next report, where the window is at `base`: the id of its last packet, and the fates of those up
    /// to it.
    fn report(&mut self, base: u64) -> Option<(u64, Fates)> {
        let from = self.from(base);
        let mut fates = self.blocks.pop_front()?;
        fates.first = core::mem::take(&mut self.first);
        if self.blocks.is_empty() {
            self.blocks = VecDeque::new();
        }
        Some((from + u64::from(fates.count) - 1, fates))
    }
}

/// Signalling that is due, of all channels.
#[derive(Debug)]
pub(super) struct Signals {
    /// Channels with a question that is due.
    questions: VecDeque<u8>,
    /// The number of the next question. It wraps.
    next_number: u16,
    /// Channels that the remote host asks about, and the number of the newest question about each.
    answers: VecDeque<(u8, u16)>,
    /// Answers wait until this time; `NEVER` if they need not.
    answers_held: Instant,
    /// Lost FATES that are to be repeated.
    repeated: VecDeque<Control>,
    /// Channels whose window acknowledgement is due.
    reports: VecDeque<u8>,
    /// Since when some channel has passed packets without reporting.
    unreported_since: Option<Instant>,
}

impl Signals {
    pub(super) fn new() -> Self {
        Self {
            questions: VecDeque::new(),
            next_number: 0,
            answers: VecDeque::new(),
            answers_held: Instant::NEVER,
            repeated: VecDeque::new(),
            reports: VecDeque::new(),
            unreported_since: None,
        }
    }

    /// Whether something waits to be signalled.
    pub(super) fn are_due(&self) -> bool {
        !(self.questions.is_empty()
            && self.answers.is_empty()
            && self.repeated.is_empty()
            && self.reports.is_empty())
    }

    /// The next signalling to be sent: a question, an answer, or a window acknowledgement.
    pub(super) fn next(&mut self, now: Instant, table: &mut ChannelTable) -> Option<Control> {
        // First what a packet waits for: suspects are not delivered before the answer has come.
        let signal = self.next_question(table);
        let signal = signal.or_else(|| self.next_answer(now, table));
        let signal = signal.or_else(|| self.next_repeated());
        signal.or_else(|| self.next_window(table))
    }

    /// A question how far the remote host has come on this channel becomes due.
    pub(super) fn ask(&mut self, channel: u8) {
        self.questions.push_back(channel);
    }

    pub(super) fn next_question(&mut self, table: &mut ChannelTable) -> Option<Control> {
        while let Some(channel) = self.questions.pop_front() {
            let number = self.next_number;
            let (made, ..) = table.get_mut(channel)?;
            // The suspects may have been confirmed or forgotten since.
            if made.receiver.ask(number) {
                self.next_number = number.wrapping_add(1);
                return Some(Control::Ask { channel, number });
            }
        }
        None
    }

    /// A question was lost: another one takes its place, unless an answer has come.
    pub(super) fn ask_again(&mut self, channel: u8, number: u16, table: &mut ChannelTable) {
        if let Some((made, ..)) = table.get_mut(channel) {
            if made.receiver.trust.lost(number) {
                self.ask(channel);
            }
        }
    }

    /// The remote host asks about a channel, or the answer to this question was lost.
    pub(super) fn answer(&mut self, channel: u8, number: u16) {
        const HALF: u16 = 1 << 15;
        match self.answers.iter_mut().find(|(other, _)| *other == channel) {
            Some((_, waiting)) if number.wrapping_sub(*waiting) < HALF => *waiting = number,
            // An older question: it came late, or its answer is the one that was lost.
            Some(_) => {}
            None => self.answers.push_back((channel, number)),
        }
    }

    /// When answers that are held back may leave.
    pub(super) fn answer_deadline(&self) -> Instant {
        if self.answers.is_empty() {
            Instant::NEVER
        } else {
            self.answers_held
        }
    }

    fn next_answer(&mut self, now: Instant, table: &ChannelTable) -> Option<Control> {
        self.release_answers(now);
        if !self.answers_held.is_never() {
            return None;
        }
        let (channel, number) = self.answers.pop_front()?;
        if self.answers.is_empty() {
            // Only after the last: of all channels one answer each may leave at once.
            self.answers_held = now + ANSWER_INTERVAL;
        }
        let (next, _) = table.next_and_base(channel);
        Some(Control::Told {
            channel,
            number,
            next: serial::truncate(next, 32),
        })
    }

    fn release_answers(&mut self, now: Instant) {
        if self.answers_held <= now {
            self.answers_held = Instant::NEVER;
        }
    }

    /// FATES were lost, and are to be repeated as they were.
    pub(super) fn repeat(&mut self, control: Control) {
        // Bounded, or the list would grow while a remote host acknowledges none of them.
        if self.repeated.len() < REPEATED_MAX {
            self.repeated.push_back(control);
        }
    }

    fn next_repeated(&mut self) -> Option<Control> {
        let next = self.repeated.pop_front();
        if self.repeated.is_empty() {
            self.repeated = VecDeque::new();
        }
        next
    }

    /// The number of channels with a report that is due, and since when packets were passed that no report
    /// tells of.
    pub(super) fn pending(&self) -> (usize, Option<Instant>) {
        (self.reports.len(), self.unreported_since)
    }

    /// Latest time at which packets that were passed are reported.
    pub(super) fn report_deadline(&self) -> Instant {
        self.unreported_since
            .map_or(Instant::NEVER, |since| since + REPORT_AFTER)
    }

    pub(super) fn handle_timeout(&mut self, now: Instant, table: &mut ChannelTable) {
        self.release_answers(now);
        table.give_up_overdue(now);
        if self.report_deadline() <= now {
            self.report_all(now, table);
        }
    }

    /// To be called after packets of a channel were consumed: a report is due at once or in a while.
    #[inline]
    pub(super) fn prompt_report(&mut self, channel: u8, now: Instant, table: &mut ChannelTable) {
        // The sender may be waiting for its budget: it is told before that is used up.
        let much = table.totals.passed >= table.params.receive_budget / 4;
        let Some((made, ..)) = table.get_mut(channel) else {
            return;
        };
        let base = made.receiver.base();
        let delivery = &made.receiver.delivery;
        let (fired, lags) = (delivery.fired, delivery.lags());
        let moved = made.reports.is_unreported(base);
        if moved && fired.is_some() {
            self.wants_report(channel, table);
        }
        // Beyond the marked id, which is told at once, the report can wait for more to be passed.
        if moved && fired.is_none_or(|id| id + 1 < base) || lags {
            self.unreported_since.get_or_insert(now);
        }
        if much {
            self.report_all(now, table);
        }
    }

    fn report_all(&mut self, now: Instant, table: &mut ChannelTable) {
        self.unreported_since = None;
        for channel in 0..table.params.channels {
            work::count(1);
            let Some((made, mut shared)) = table.made(channel) else {
                continue;
            };
            // On an unordered channel a report is when m_b passes what was missing at the report before (D5).
            let lagged = made.receiver.delivery.lags();
            if lagged {
                made.receiver.catch_up(&mut shared);
            }
            if made.receiver.delivery.lags() {
                // What is missing now is passed at the next report, and that must come without further
                // arrivals.
                self.unreported_since = Some(now);
            }
            let is_due = made.reports.is_unreported(made.receiver.base());
            made.reports.all |= is_due;
            if lagged {
                table.look_again(channel);
            }
            if is_due {
                self.wants_report(channel, table);
            }
        }
        table.totals.passed = 0;
    }

    pub(super) fn wants_report(&mut self, channel: u8, table: &mut ChannelTable) {
        if let Some((made, ..)) = table.get_mut(channel) {
            if !core::mem::replace(&mut made.reports.due, true) {
                self.reports.push_back(channel);
            }
        }
    }

    /// A report has arrived. If it seemed to be lost and nothing is newer, it is not repeated.
    pub(super) fn is_reported(&mut self, channel: u8, id: u32, table: &mut ChannelTable) {
        let Some((made, ..)) = table.get_mut(channel) else {
            return;
        };
        let reports = &mut made.reports;
        if reports.due && reports.is_newest(id) && !reports.is_unreported(made.receiver.base()) {
            reports.due = false;
            self.reports.retain(|&other| other != channel);
        }
    }

    /// A report was lost. True if it is repeated, as no newer one was made.
    pub(super) fn report_lost(&mut self, channel: u8, id: u32, table: &mut ChannelTable) -> bool {
        let made = table.get_mut(channel);
        let is_newest = made.is_some_and(|(made, ..)| made.reports.is_newest(id));
        if is_newest {
            self.wants_report(channel, table);
        }
        is_newest
    }

    /// The next window acknowledgement to be sent, the newest of its channel.
    pub(super) fn next_window(&mut self, table: &mut ChannelTable) -> Option<Control> {
        while let Some(channel) = self.reports.pop_front() {
            let (made, ..) = table.get_mut(channel)?;
            let base = made.receiver.base();
            let delivery = &mut made.receiver.delivery;
            let fired = delivery.fired.take();
            let Some(log) = &mut delivery.fates else {
                let id = made.reports.report(base, fired);
                return Some(Control::Window { channel, id });
            };
            let is_first = log.first;
            made.reports.due = false;
            if let Some((last, fates)) = log.report(base) {
                made.reports.note(last + 1);
                // A message tells of 64 packets at most: the rest needs another one.
                if made.reports.is_unreported(base) {
                    self.wants_report(channel, table);
                }
                let id = serial::truncate(last, 32);
                return Some(Control::Fates { channel, id, fates });
            }
            if is_first {
                // Nothing was passed since the sender first asked: this repeats a WINDOW that was lost.
                let id = made.reports.report(base, None);
                return Some(Control::Window { channel, id });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequencing::tests::params;

    /// What is reported, packet by packet: whether it was skipped.
    fn report(log: &mut FateLog, base: u64) -> (u64, alloc::vec::Vec<bool>) {
        let (last, fates) = log.report(base).expect("something was passed");
        let bits = (0..fates.count).map(|place| fates.skipped >> place & 1 == 1);
        assert_eq!(fates.skipped & !Fates::mask(fates.count), 0);
        (last, bits.collect())
    }

    /// D2.
    #[test]
    fn each_packet_is_reported_once_and_in_order() {
        let params = params(1024, 128);
        let mut log = FateLog::new(5, 7, &params);
        log.push(1, false, &params);
        log.push(2, true, &params);
        assert!([5, 6, 8, 9].iter().all(|&id| log.is_skipped(id, 10)));
        assert!(![4, 7, 10].iter().any(|&id| log.is_skipped(id, 10)));
        assert!(log.first);
        let expected = alloc::vec![true, true, false, true, true];
        assert_eq!(report(&mut log, 10), (9, expected));
        assert!(!log.first && log.report(10).is_none());
        log.push(63, false, &params);
        log.push(200, true, &params);
        let mut told = alloc::vec::Vec::new();
        let mut end = 10;
        while let Some((last, fates)) = log.report(273) {
            assert!(!fates.first && last + 1 == end + u64::from(fates.count));
            end = last + 1;
            told.extend((0..fates.count).map(|place| fates.skipped >> place & 1 == 1));
        }
        assert_eq!(told, [[false; 63].as_slice(), &[true; 200]].concat());
    }

    #[test]
    fn more_than_a_window_is_not_kept() {
        let params = params(256, 32);
        let mut log = FateLog::new(0, 0, &params);
        const BASE: u64 = 70_000;
        for _ in 0..BASE / 7 {
            log.push(7, true, &params);
            assert!(log.blocks.len() <= 6);
        }
        assert!(log.is_skipped(BASE - 256, BASE) && !log.is_skipped(BASE - 2 * 256, BASE));
    }
}
