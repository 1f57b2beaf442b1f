//! The packets that two hosts exchange: numbered questions, and the same bytes as answers.

use alloc::collections::VecDeque;
use core::time::Duration;

use porous_std::{Instant, Mode};

const QUESTION: u8 = b'?';
const ANSWER: u8 = b'!';

/// Bytes of the head of a packet: its kind and its number.
const HEAD: usize = 9;

/// Bytes of a short question: three of four are short.
const SHORT: usize = 100;

/// The most questions that wait for an answer.
const OPEN: u64 = 64;

/// The questions of one host to one peer, and the answers.
#[derive(Debug, Default)]
pub(crate) struct Talk {
    /// The number of the next question.
    asked: u64,
    /// One more than the highest number of an answer that came.
    next: u64,
    /// Answers that came.
    pub(crate) answers: u64,
    /// Questions of the peer that were answered.
    pub(crate) questions: u64,
    /// The numbers of reliable questions without an answer, and when they were asked.
    open: VecDeque<(u64, Instant)>,
    /// The longest time that a reliable question has waited for its answer since the last report.
    slowest: Duration,
}

/// The mode of a question and of its answer: every other one is reliable.
const fn mode(number: u64) -> Mode {
    if number % 2 == 0 {
        Mode::Reliable
    } else {
        Mode::Unreliable
    }
}

fn packet(kind: u8, number: u64, size: usize) -> Vec<u8> {
    let len = if number % 4 == 2 { size } else { SHORT };
    let number = number.to_le_bytes();
    let filling = (0..=u8::MAX).cycle().skip(number[0].into());
    let head = [kind].into_iter().chain(number);
    head.chain(filling).take(len.max(HEAD)).collect()
}

impl Talk {
    /// The next question, unless too many are open.
    pub(crate) fn ask(&mut self, now: Instant, size: usize) -> Option<(Mode, Vec<u8>)> {
        if self.asked - self.next >= OPEN {
            return None;
        }
        let number = self.asked;
        self.asked += 1;
        if mode(number) == Mode::Reliable {
            self.open.push_back((number, now));
        }
        Some((mode(number), packet(QUESTION, number, size)))
    }

    /// Takes a packet of the peer. Returns the answer if the packet is a question.
    ///
    /// # Errors
    ///
    /// If the packet is unknown, is damaged, comes a second time, or comes before a reliable one that was
    /// sent earlier.
    pub(crate) fn hear(
        &mut self,
        now: Instant,
        bytes: &[u8],
        size: usize,
    ) -> Result<Option<Vec<u8>>, String> {
        if bytes.first() == Some(&QUESTION) {
            self.questions += 1;
            let mut answer = bytes.to_vec();
            answer[0] = ANSWER;
            return Ok(Some(answer));
        }
        let number = bytes.get(1..HEAD).and_then(|number| number.try_into().ok());
        let number = u64::from_le_bytes(number.ok_or("a packet without a number")?);
        let next_reliable = self.next.next_multiple_of(2);
        if bytes != packet(ANSWER, number, size) {
            return Err(format!("answer {number} has other bytes"));
        }
        if !(self.next..=next_reliable).contains(&number) {
            return Err(format!("answer {number} instead of {next_reliable}"));
        }
        self.next = number + 1;
        self.answers += 1;
        while let Some(&(open, asked)) = self.open.front() {
            if open > number {
                break;
            }
            self.open.pop_front();
            self.slowest = self.slowest.max(now.saturating_duration_since(asked));
        }
        Ok(None)
    }

    /// The longest time that a reliable question has waited for its answer, or still waits, since the last
    /// call.
    pub(crate) fn slowest(&mut self, now: Instant) -> Duration {
        let first = self.open.front();
        let waits = first.map(|&(_, asked)| now.saturating_duration_since(asked));
        core::mem::take(&mut self.slowest).max(waits.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers to questions 0 to 3, of which the third is long.
    fn answers(talk: &mut Talk) -> Vec<Vec<u8>> {
        let mut answer = |_| {
            let (_, question) = talk.ask(Instant::ZERO, 300).unwrap();
            Talk::default()
                .hear(Instant::ZERO, &question, 300)
                .unwrap()
                .unwrap()
        };
        (0..4).map(&mut answer).collect()
    }

    #[test]
    fn answers_come_once_and_in_order_and_reliable_ones_do_come() {
        let mut talk = Talk::default();
        let answers = answers(&mut talk);
        assert_eq!(
            answers.iter().map(Vec::len).collect::<Vec<_>>(),
            [100, 100, 300, 100]
        );
        assert!(
            talk.hear(Instant::ZERO, &answers[2], 300).is_err(),
            "0 is reliable"
        );
        assert_eq!(talk.hear(Instant::ZERO, &answers[0], 300), Ok(None));
        assert_eq!(
            talk.hear(Instant::ZERO, &answers[2], 300),
            Ok(None),
            "1 is not"
        );
        assert!(talk.hear(Instant::ZERO, &answers[1], 300).is_err(), "late");
        assert!(talk.hear(Instant::ZERO, &answers[2], 300).is_err(), "twice");
        assert_eq!(talk.answers, 2);
    }

    #[test]
    fn answers_with_other_bytes_are_found() {
        let mut talk = Talk::default();
        let mut answer = answers(&mut talk).swap_remove(0);
        answer[99] ^= 1;
        assert!(talk.hear(Instant::ZERO, &answer, 300).is_err());
        assert!(talk.hear(Instant::ZERO, b"", 300).is_err());
    }

    #[test]
    fn no_more_questions_are_open_than_may_be() {
        let mut talk = Talk::default();
        let asked = core::iter::from_fn(|| talk.ask(Instant::ZERO, 300))
            .take(1000)
            .count();
        assert_eq!(asked, 64);
    }

    #[test]
    fn the_slowest_answer_is_known_and_what_is_not_answered_counts() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut talk = Talk::default();
        let answers = answers(&mut talk);
        assert_eq!(talk.hear(at(3), &answers[0], 300), Ok(None));
        assert_eq!(talk.slowest(at(7)).as_millis(), 7, "2 waits");
        assert_eq!(talk.hear(at(9), &answers[2], 300), Ok(None));
        assert_eq!(talk.slowest(at(20)).as_millis(), 9);
        assert_eq!(talk.slowest(at(20)).as_millis(), 0);
    }
}
