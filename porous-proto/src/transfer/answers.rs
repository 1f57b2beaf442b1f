//! What pings (§3.1.3) and path challenges are answered with: at most one of each waits, and
//! answers leave at most once in 10 ms, so that a flood of questions is no flood of answers.

use core::time::Duration;

use crate::frame::Control;
use crate::time::Instant;

/// No honest host asks so often (`docs/wire.md`, "Control").
const INTERVAL: Duration = Duration::from_millis(10);

/// The answers of one peer.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    pong: Option<u16>,
    path_response: Option<u64>,
    /// Questions that come earlier are not answered.
    not_before: Instant,
    /// How many those were.
    pub(crate) withheld: u64,
}

impl Answers {
    /// The newest ping counts.
    pub(crate) fn on_ping(&mut self, id: u16, now: Instant) {
        if self.allows(now) {
            self.pong = Some(id);
        }
    }

    /// The newest challenge counts.
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

    /// What goes into the datagram that is sent now.
    pub(crate) fn take(&mut self, now: Instant) -> impl Iterator<Item = Control> + use<> {
        let pong = self.pong.take().map(Control::Pong);
        let response = self.path_response.take().map(Control::PathResponse);
        if pong.is_some() || response.is_some() {
            self.not_before = now + INTERVAL;
        }
        pong.into_iter().chain(response)
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
        answers.on_ping(3, start + (INTERVAL - Duration::from_micros(1)));
        answers.on_path_challenge(8, start + (INTERVAL - Duration::from_micros(1)));
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
        // One kind of answer holds back both.
        answers.on_path_challenge(9, start + INTERVAL);
        answers.on_ping(5, start + INTERVAL);
        assert_eq!(
            (answers.take(start + INTERVAL).count(), answers.withheld),
            (0, 4)
        );
    }
}
