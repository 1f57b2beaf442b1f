//! Questions after suspects, and the answers to those of the remote host (`docs/wire.md`, "Leaps").

use alloc::collections::VecDeque;
use core::time::Duration;

use super::Sequencing;
use crate::frame::Control;
use crate::serial;
use crate::time::Instant;

/// Answers leave at most once in this time, of each channel the newest.
const INTERVAL: Duration = Duration::from_millis(10);

/// What one peer has to ask and to answer.
#[derive(Debug)]
pub(super) struct Asking {
    /// The frame that is taken in.
    pub(super) frame: u64,
    /// Channels with a question that is due.
    questions: VecDeque<u8>,
    next_number: u16,
    /// Channels that are asked after, and the numbers of the questions.
    answers: VecDeque<(u8, u16)>,
    /// Answers wait until then; NEVER if they need not.
    held_until: Instant,
}

impl Asking {
    pub(super) const fn new() -> Self {
        Self {
            frame: 0,
            questions: VecDeque::new(),
            next_number: 0,
            answers: VecDeque::new(),
            held_until: Instant::NEVER,
        }
    }

    pub(super) fn ask(&mut self, channel: u8) {
        self.questions.push_back(channel);
    }

    /// The newest question about a channel counts: an older one may come later, or be answered again as
    /// that answer was lost.
    pub(super) fn answer(&mut self, channel: u8, number: u16) {
        const HALF: u16 = 1 << 15;
        match self.answers.iter_mut().find(|(other, _)| *other == channel) {
            Some((_, waiting)) if number.wrapping_sub(*waiting) < HALF => *waiting = number,
            Some(_) => {}
            None => self.answers.push_back((channel, number)),
        }
    }

    /// When answers that are held back may go.
    pub(super) fn due(&self) -> Instant {
        if self.answers.is_empty() {
            Instant::NEVER
        } else {
            self.held_until
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.held_until <= now {
            self.held_until = Instant::NEVER;
        }
    }

    fn next_answer(&mut self, now: Instant) -> Option<(u8, u16)> {
        self.handle_timeout(now);
        if !self.held_until.is_never() {
            return None;
        }
        let next = self.answers.pop_front()?;
        if self.answers.is_empty() {
            self.held_until = now + INTERVAL;
        }
        Some(next)
    }
}

impl Sequencing {
    /// The messages that come next are those of this frame.
    pub(crate) const fn begin_frame(&mut self, id: u64) {
        self.asking.frame = id;
    }

    /// When an answer may be sent.
    pub(crate) fn answer_deadline(&self) -> Instant {
        self.asking.due()
    }

    /// The next signalling to be sent: a question, an answer, or a window acknowledgement.
    pub(crate) fn next_signal(&mut self) -> Option<Control> {
        let signal = self.next_question().or_else(|| self.next_answer());
        let signal = signal.or_else(|| self.repeated.pop());
        signal.or_else(|| self.next_window())
    }

    pub(super) fn next_question(&mut self) -> Option<Control> {
        while let Some(channel) = self.asking.questions.pop_front() {
            let number = self.asking.next_number;
            let (made, ..) = self.get_mut(channel)?;
            if made.receiver.ask(number) {
                self.asking.next_number = number.wrapping_add(1);
                return Some(Control::Ask { channel, number });
            }
        }
        None
    }

    fn next_answer(&mut self) -> Option<Control> {
        let (channel, number) = self.asking.next_answer(self.ageing.now)?;
        let made = self.get(channel);
        let next = made.map_or(self.first_id, |made| made.sender.next_id());
        Some(Control::Told {
            channel,
            number,
            next: serial::truncate(next, 32),
        })
    }

    /// The remote host asks how far we have come on a channel.
    pub(crate) fn on_ask(&mut self, channel: u8, number: u16) {
        self.asking.answer(channel, number);
    }

    /// The remote host tells how far it has come.
    pub(crate) fn on_told(&mut self, channel: u8, number: u16, next: u32) {
        if self.get(channel).is_none() {
            return;
        }
        if let Some((made, params, totals)) = self.get_mut(channel) {
            made.receiver.told(number, next, params, totals);
        }
        self.has_arrived(channel);
    }

    /// A question was lost: another takes its place, if there is no answer yet.
    pub(super) fn ask_again(&mut self, channel: u8, number: u16) {
        if let Some((made, ..)) = self.get_mut(channel) {
            if made.receiver.trust.lost(number) {
                self.asking.ask(channel);
            }
        }
    }
}
