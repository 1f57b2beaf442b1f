//! What a host tells and asks of packets: window acknowledgements (§3.2.1; `docs/wire.md`, "Budgets"),
//! what became of packets with receipts ("Receipts"), and questions about suspects with the answers to
//! those of the remote host ("Leaps").

use alloc::collections::VecDeque;
use core::time::Duration;

use super::SequencingParams;
use super::channels::ChannelTable;
use crate::frame::{Control, Fates};
use crate::hooks::work;
use crate::serial;
use crate::time::Instant;

/// How long the passing of packets may go unreported (`docs/wire.md`, "Budgets").
pub(super) const REPORT_AFTER: Duration = Duration::from_millis(500);

/// Answers leave at most once in this time, of each channel the newest.
const ANSWER_INTERVAL: Duration = Duration::from_millis(10);

/// How many messages that were lost may wait to be repeated, of all channels: what an honest sender
/// leaves unacknowledged within a retransmission timeout is far less.
const REPEATED_MAX: usize = 1024;

/// What one channel has reported of its receive window (§3.2.1). Only the newest report of a channel is ever
/// sent, until it is acknowledged.
#[derive(Debug)]
pub(crate) struct Reports {
    /// One past what the last report stands for.
    pub(super) reported: u64,
    /// True if everything that was passed is to be reported, not only where (18) fired.
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

    /// Everything before this id was reported otherwise.
    pub(crate) const fn note(&mut self, end: u64) {
        self.reported = end;
        self.all = false;
    }

    /// Whether the window moved since the last report.
    pub(crate) const fn is_unreported(&self, base: u64) -> bool {
        base > self.reported
    }

    /// Makes the report: the marked id that was passed where (18) fired, else the last one passed;
    /// its low 32 bits. A repeated report names the last one passed.
    pub(crate) fn report(&mut self, base: u64, fired: Option<u64>) -> u32 {
        self.due = false;
        let all = core::mem::take(&mut self.all);
        let fired = fired.filter(|&id| !all && id >= self.reported);
        let id = fired.unwrap_or_else(|| base.saturating_sub(1));
        self.reported = id + 1;
        serial::truncate(id, 32)
    }

    /// Whether no newer report was made than the one of `id`: if it is lost, it must be repeated.
    pub(crate) fn is_newest(&self, id: u32) -> bool {
        serial::truncate(self.reported.wrapping_sub(1), 32) == id
    }
}

/// The fates of the last packets that the window of a channel has passed, up to m_b, that were not
/// reported yet (`docs/wire.md`, "Receipts"; `docs/deviations.md` D2).
#[derive(Debug)]
pub(super) struct FateLog {
    /// All but the last are full.
    blocks: VecDeque<Fates>,
    /// True until the first report: what was passed before is told by WINDOW.
    first: bool,
}

impl FateLog {
    /// The sender asks for the first time: nothing that it asks for has come before. `reported` is one
    /// past what was reported.
    pub(super) fn new(reported: u64, base: u64, params: &SequencingParams) -> Self {
        let mut log = Self {
            blocks: VecDeque::new(),
            first: true,
        };
        log.push(base - reported, true, params);
        log
    }

    /// The window has passed this number of packets more, all of which were skipped or none.
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
            if skipped {
                block.skipped |= Fates::mask(after) & !Fates::mask(block.count);
            }
            block.count = after;
            packets -= u64::from(taken);
        }
        // An honest sender does not go on until it knows of a window's packets.
        let most = params.window / u64::from(Fates::MAX) + 2;
        while self.blocks.len() as u64 > most {
            self.blocks.pop_front();
        }
    }

    /// The oldest packet, where the window is at `base`.
    fn from(&self, base: u64) -> u64 {
        let full = self.blocks.len().saturating_sub(1) as u64 * u64::from(Fates::MAX);
        let last = self.blocks.back().map_or(0, |block| u64::from(block.count));
        base.saturating_sub(full + last)
    }

    /// Whether a packet was passed and not given to the application, and is not reported yet.
    pub(super) fn is_skipped(&self, id: u64, base: u64) -> bool {
        let Some(place) = id.checked_sub(self.from(base)) else {
            return false;
        };
        let each = u64::from(Fates::MAX);
        let block = usize::try_from(place / each).ok();
        let block = block.and_then(|block| self.blocks.get(block));
        block.is_some_and(|block| block.skipped >> (place % each) & 1 == 1)
    }

    /// What is told next, where the window is at `base`: the last packet, and the fates of those up to
    /// it.
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

/// The signalling of all channels that is due.
#[derive(Debug)]
pub(super) struct Signals {
    /// Channels with a question that is due.
    questions: VecDeque<u8>,
    next_number: u16,
    /// Channels that are asked after, and the numbers of the questions.
    answers: VecDeque<(u8, u16)>,
    /// Until when answers wait; NEVER if they need not.
    answers_held: Instant,
    /// FATES that were lost.
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

    /// The next signalling to be sent: a question, an answer, or a window acknowledgement.
    pub(super) fn next(&mut self, now: Instant, table: &mut ChannelTable) -> Option<Control> {
        let signal = self.next_question(table);
        let signal = signal.or_else(|| self.next_answer(now, table));
        let signal = signal.or_else(|| self.next_repeated());
        signal.or_else(|| self.next_window(table))
    }

    /// The remote host has to be asked how far it has come on this channel.
    pub(super) fn ask(&mut self, channel: u8) {
        self.questions.push_back(channel);
    }

    pub(super) fn next_question(&mut self, table: &mut ChannelTable) -> Option<Control> {
        while let Some(channel) = self.questions.pop_front() {
            let number = self.next_number;
            let (made, ..) = table.get_mut(channel)?;
            if made.receiver.ask(number) {
                self.next_number = number.wrapping_add(1);
                return Some(Control::Ask { channel, number });
            }
        }
        None
    }

    /// A question was lost: another takes its place, if there is no answer yet.
    pub(super) fn ask_again(&mut self, channel: u8, number: u16, table: &mut ChannelTable) {
        if let Some((made, ..)) = table.get_mut(channel) {
            if made.receiver.trust.lost(number) {
                self.ask(channel);
            }
        }
    }

    /// The remote host asks. The newest question about a channel counts: an older one may come later, or
    /// be answered again as that answer was lost.
    pub(super) fn answer(&mut self, channel: u8, number: u16) {
        const HALF: u16 = 1 << 15;
        match self.answers.iter_mut().find(|(other, _)| *other == channel) {
            Some((_, waiting)) if number.wrapping_sub(*waiting) < HALF => *waiting = number,
            Some(_) => {}
            None => self.answers.push_back((channel, number)),
        }
    }

    /// When answers that are held back may go.
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

    /// FATES were lost: they are repeated as they were.
    pub(super) fn repeat(&mut self, control: Control) {
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

    /// When packets that were passed must be reported at the latest.
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

    /// After consuming: reports at once where (18) fired or much was passed, else in a while.
    pub(super) fn prompt_report(&mut self, channel: u8, now: Instant, table: &mut ChannelTable) {
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
            let lagged = made.receiver.delivery.lags();
            if lagged {
                made.receiver.catch_up(&mut shared);
            }
            if made.receiver.delivery.lags() {
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

    /// A report has arrived. If it was to be repeated, because it seemed to be lost, and there is nothing
    /// newer to tell, it is not.
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

    /// A report was lost. Whether it is to be repeated: there was none since.
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
                if made.reports.is_unreported(base) {
                    self.wants_report(channel, table);
                }
                let id = serial::truncate(last, 32);
                return Some(Control::Fates { channel, id, fates });
            }
            if is_first {
                // One that was lost.
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
