//! Signalling of the transfer layer, outside the congestion window (`docs/deviations.md` T20): pings,
//! answers, sentinels and rates.

use super::TransferParams;
use super::messages::Messages;
use super::outbound::Outbound;
use super::ping::Pings;
use super::plan::Plan;
use crate::frame::Control;
use crate::source::Source;
use crate::time::{Instant, Micros};

/// The most bytes of a LIMITS message.
const LIMITS_LEN: usize = 8;

/// The most bytes of a signalling message of the layer above.
const SIGNAL_LEN: usize = 16;

/// The least time between answers. No honest host asks more often (`docs/wire.md`, "Control").
const INTERVAL: Micros = Micros::from_millis(10);

/// Answers to pings (§3.1.3) and to path challenges. At most one of each waits, and they leave at most once
/// in 10 ms, so that a flood of questions makes no flood of answers.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    pong: Option<u16>,
    path_response: Option<u64>,
    /// Questions that come before this time are not answered.
    not_before: Instant,
    /// Questions that were not answered.
    pub(crate) withheld: u64,
}

impl Answers {
    /// A ping came. Only the newest of those that wait is answered.
    pub(crate) fn on_ping(&mut self, id: u16, now: Instant) {
        if self.allows(now) {
            self.pong = Some(id);
        }
    }

    /// A challenge came. Only the newest of those that wait is answered.
    pub(crate) fn on_path_challenge(&mut self, data: u64, now: Instant) {
        if self.allows(now) {
            self.path_response = Some(data);
        }
    }

    fn allows(&mut self, now: Instant) -> bool {
        let allowed = now >= self.not_before;
        self.withheld += u64::from(!allowed);
        allowed
    }

    /// Whether an answer waits.
    const fn are_due(&self) -> bool {
        self.pong.is_some() || self.path_response.is_some()
    }

    /// The answers for the datagram that is sent now.
    pub(crate) fn take(&mut self, now: Instant) -> impl Iterator<Item = Control> + use<> {
        if self.are_due() {
            self.not_before = now + INTERVAL;
        }
        let pong = self.pong.take().map(Control::Pong);
        let response = self.path_response.take().map(Control::PathResponse);
        pong.into_iter().chain(response)
    }
}

/// Sentinel frames (§3.1.2): an empty frame in place of a dropped, unreliable one, twice in each transfer
/// window, repeated until it is acknowledged.
#[derive(Debug)]
pub(super) struct Sentinels {
    /// Ids between sentinels: S = N_P / 2.
    spacing: u64,
    /// True if a sentinel is to be sent.
    pub(super) pending: bool,
}

impl Sentinels {
    pub(super) const fn new(window: u64) -> Self {
        Self {
            spacing: window / 2,
            pending: false,
        }
    }

    /// A frame was dropped of which nothing is sent again. `was_sentinel`: it carried a sentinel.
    pub(super) const fn on_dropped(&mut self, id: u64, was_sentinel: bool) {
        // At fixed ids, two in each window: not every dropped frame needs a sentinel.
        if was_sentinel || id % self.spacing == self.spacing - 1 {
            self.pending = true; // (4)
        }
    }
}

/// The signalling of one peer.
#[derive(Debug)]
pub(crate) struct Signals {
    pub(crate) pings: Pings,
    pub(crate) answers: Answers,
}

impl Signals {
    pub(super) fn new(params: &TransferParams) -> Self {
        Self {
            pings: Pings::new(
                params.policy,
                params.timeout,
                params.keepalive,
                // Exactly one of two hosts has the larger random id: it leaves the pings to the other (D13).
                params.check.ours > params.check.theirs,
            ),
            answers: Answers::default(),
        }
    }

    /// Whether signalling is due, of this layer or of the one above.
    pub(super) fn are_due(&self, outbound: &Outbound, source: &impl Source) -> bool {
        outbound.sentinels.pending
            || self.pings.pending
            || self.answers.are_due()
            || outbound.messages.rates.are_due()
            || source.has_signal()
    }

    /// Adds the signalling that is due, of this layer and of the one above, to a frame of at most `max`
    /// bytes.
    #[inline]
    pub(super) fn plan(
        &mut self,
        plan: &mut Plan,
        outbound: &mut Outbound,
        source: &mut impl Source,
        max: usize,
        now: Instant,
    ) {
        // Added without a look at the room that is left: all of these together are shorter than any datagram.
        if core::mem::take(&mut outbound.sentinels.pending) {
            plan.say(Control::Noop);
        }
        if self.pings.pending {
            let rtt = outbound.path.rtt.smoothed();
            plan.say(Control::Ping(self.pings.send(now, rtt)));
        }
        for answer in self.answers.take(now) {
            plan.say(answer);
        }
        let Messages { store, rates, .. } = &mut outbound.messages;
        if plan.len + LIMITS_LEN <= max {
            if let Some(control) = rates.take_due() {
                plan.say_latest(store, control);
            }
        }
        while plan.fits(SIGNAL_LEN, max) {
            let Some(control) = source.next_signal() else {
                break;
            };
            plan.say_latest(store, control);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn the_newest_question_is_answered_once_and_not_too_often() {
        let (mut answers, start) = (Answers::default(), Instant::ZERO);
        answers.on_ping(1, start);
        answers.on_ping(2, start);
        answers.on_path_challenge(7, start);
        let all: Vec<Control> = answers.take(start).collect();
        assert_eq!(all, [Control::Pong(2), Control::PathResponse(7)]);
        assert_eq!(answers.take(start).count(), 0);
        // Just before the interval is over, and just then.
        answers.on_ping(3, start + (INTERVAL - Micros::new(1)));
        answers.on_path_challenge(8, start + (INTERVAL - Micros::new(1)));
        assert_eq!(
            (answers.take(start + INTERVAL).count(), answers.withheld),
            (0, 2)
        );
        answers.on_ping(4, start + INTERVAL);
        assert_eq!(
            answers.take(start + INTERVAL).next(),
            Some(Control::Pong(4))
        );
        assert_eq!(answers.withheld, 2);
        // An answer of one kind holds back those of both kinds.
        answers.on_path_challenge(9, start + INTERVAL);
        answers.on_ping(5, start + INTERVAL);
        assert_eq!(
            (answers.take(start + INTERVAL).count(), answers.withheld),
            (0, 4)
        );
    }

    #[test]
    fn equation_04_one_dropped_frame_in_half_a_window_leaves_a_sentinel() {
        let mut sentinels = Sentinels::new(16);
        for id in 0..7 {
            sentinels.on_dropped(id, false);
        }
        assert!(!sentinels.pending);
        sentinels.on_dropped(7, false);
        assert!(sentinels.pending);
        sentinels.pending = false;
        sentinels.on_dropped(8, true); // the sentinel itself was lost
        assert!(sentinels.pending);
    }
}
