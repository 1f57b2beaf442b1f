//! When window acknowledgements are due (§3.2.1; `docs/wire.md`, "Budgets").

use core::time::Duration;

use super::Sequencing;
use crate::frame::Control;
use crate::serial;
use crate::time::Instant;
use crate::work;

/// How long the passing of packets may go unreported (`docs/wire.md`, "Budgets").
pub(super) const REPORT_AFTER: Duration = Duration::from_millis(500);

impl Sequencing {
    /// After consuming: reports at once where (18) fired or much was passed, else in a while.
    pub(super) fn prompt_report(&mut self, channel: u8, now: Instant) {
        let quarter = self.params.receive_budget / 4;
        let much = self.totals.passed >= quarter;
        let Some((made, ..)) = self.get_mut(channel) else {
            return;
        };
        let base = made.receiver.base();
        let lags = made.receiver.lags();
        if made.reports.is_unreported(base) {
            let fired = made.receiver.fired();
            if fired.is_some() {
                self.wants_report(channel);
            }
            if fired.is_none_or(|id| id + 1 < base) {
                self.unreported_since.get_or_insert(now);
            }
        }
        if lags {
            self.unreported_since.get_or_insert(now);
        }
        if much {
            self.report_all(now);
        }
    }

    fn report_all(&mut self, now: Instant) {
        self.unreported_since = None;
        for channel in 0..self.params.channels {
            work::count(1);
            let Some(made) = self.channels[usize::from(channel)].as_deref_mut() else {
                continue;
            };
            if made.receiver.lags() {
                made.receiver.catch_up(&self.params, &mut self.totals);
                made.look_again(channel, &self.params, &mut self.arrived);
            }
            if made.receiver.lags() {
                self.unreported_since = Some(now);
            }
            if made.reports.is_unreported(made.receiver.base()) {
                made.reports.all = true;
                self.wants_report(channel);
            }
        }
        self.totals.passed = 0;
    }

    pub(super) fn wants_report(&mut self, channel: u8) {
        if let Some((made, ..)) = self.get_mut(channel) {
            if !core::mem::replace(&mut made.reports.due, true) {
                self.reports.push_back(channel);
            }
        }
    }

    /// A report has arrived. If it was to be repeated, because it seemed to be lost, and there is nothing
    /// newer to tell, it is not.
    pub(super) fn is_reported(&mut self, channel: u8, id: u32) {
        let Some((made, ..)) = self.get_mut(channel) else {
            return;
        };
        let reports = &mut made.reports;
        if reports.due && reports.is_newest(id) && !reports.is_unreported(made.receiver.base()) {
            reports.due = false;
            self.reports.retain(|&other| other != channel);
        }
    }

    /// When packets that were passed must be reported at the latest.
    pub(crate) fn report_deadline(&self) -> Instant {
        self.unreported_since
            .map_or(Instant::NEVER, |since| since + REPORT_AFTER)
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    pub(crate) fn deadline(&self) -> Instant {
        self.report_deadline()
            .min(self.give_up_deadline())
            .min(self.answer_deadline())
            .min(self.expiry_deadline())
            .min(self.lane_deadline())
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.look(now);
        self.asking.handle_timeout(now);
        self.give_up_overdue(now);
        if self.report_deadline() <= now {
            self.report_all(now);
        }
    }

    /// The next window acknowledgement to be sent, the newest of its channel.
    pub(super) fn next_window(&mut self) -> Option<Control> {
        while let Some(channel) = self.reports.pop_front() {
            let (made, ..) = self.get_mut(channel)?;
            let fired = made.receiver.take_fired();
            let base = made.receiver.base();
            let Some(log) = &mut made.receiver.fates else {
                let id = made.reports.report(base, fired);
                return Some(Control::Window { channel, id });
            };
            let is_first = log.is_first();
            made.reports.due = false;
            if let Some((last, fates)) = log.report() {
                made.reports.note(last + 1);
                if made.reports.is_unreported(base) {
                    self.wants_report(channel);
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
