//! What a channel believes of the remote host: how far that has come (`docs/wire.md`, "Leaps";
//! `docs/deviations.md` P14), as a forged packet could otherwise make the receive window leap over all
//! packets to come; and which of two messages that contradict each other is true.

use crate::frame::MAX_MESSAGES;
use crate::serial;

/// Packets in a row that may be missing while the next one is believed at once.
const LEAP: u64 = 32;

/// [`LEAP`] of a channel with this N_Q: a quarter of it at most.
pub(crate) fn leap(window: u64) -> u64 {
    (window / 4).clamp(1, LEAP)
}

/// Packets that were never sent and that one forged frame can make a receiver believe in: those that the
/// frame passes over, and those that it brings.
pub(crate) fn forgeable(window: u64) -> u64 {
    (leap(window) + MAX_MESSAGES as u64).min(window)
}

/// What is asked of the remote host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Nothing,
    /// A question is to leave with the next frame.
    Due,
    /// The question with this number has left. `overtaken`: true once a suspect has come since.
    Sent {
        number: u16,
        overtaken: bool,
    },
}

/// What one channel believes.
#[derive(Debug)]
pub(crate) struct Trust {
    /// One past the newest packet that the remote host is believed to have begun. Packets from here on are
    /// suspects: they are kept, and not consumed.
    reach: u64,
    /// The frame that is being taken in, and the number of packets that it may still pass over.
    frame: u64,
    left: u64,
    /// The suspect that came last, and the frame that brought it.
    suspect: Option<(u64, u64)>,
    asked: Asked,
}

impl Trust {
    pub(crate) const fn new(first_id: u64) -> Self {
        Self {
            reach: first_id,
            frame: u64::MAX, // no frame has this id
            left: 0,
            suspect: None,
            asked: Asked::Nothing,
        }
    }

    pub(crate) const fn reach(&self) -> u64 {
        self.reach
    }

    /// All packets before `end` are believed.
    pub(crate) fn believe(&mut self, end: u64) {
        self.reach = self.reach.max(end);
    }

    /// A message of the packet `id` has come in this frame: believes it, or makes it a suspect.
    pub(crate) fn on_message(&mut self, id: u64, frame: u64, window: u64) {
        let leap = leap(window);
        if self.frame != frame {
            // For all messages of the frame together: a forged one may bring many.
            (self.frame, self.left) = (frame, leap);
        }
        let Some(over) = id.checked_sub(self.reach) else {
            return;
        };
        let other = self.suspect.filter(|&(other, before)| {
            before != frame && other >= self.reach && other.abs_diff(id) <= leap
        });
        // Ordinary losses, which are worth no question.
        if over <= self.left {
            self.left -= over;
            self.reach = id + 1;
        // Two frames bring packets that are near each other, as after an outage: one forged frame cannot.
        } else if let Some((other, _)) = other {
            self.reach = id.max(other) + 1;
        } else {
            self.suspect = Some((id, frame));
            if let Asked::Sent { overtaken, .. } = &mut self.asked {
                *overtaken = true;
            }
        }
    }

    /// There are suspects: makes a question due. True if none was due or open.
    pub(crate) fn wants_to_ask(&mut self) -> bool {
        let begins = self.asked == Asked::Nothing;
        if begins {
            self.asked = Asked::Due;
        }
        begins
    }

    /// The question that is due leaves under this number; none if there is no suspect any more.
    pub(crate) const fn ask(&mut self, number: Option<u16>) {
        self.asked = match number {
            Some(number) => Asked::Sent {
                number,
                overtaken: false,
            },
            None => Asked::Nothing,
        };
    }

    /// The question with this number was lost: whether it becomes due again.
    pub(crate) fn lost(&mut self, number: u16) -> bool {
        let is_open = matches!(self.asked, Asked::Sent { number: asked, .. } if asked == number);
        if is_open {
            self.asked = Asked::Due;
        }
        is_open
    }

    /// The remote host answers the question with this number: `next` is the low 32 bits of the id that its
    /// next packet gets. True if suspects that this does not confirm were never sent.
    pub(crate) fn told(&mut self, number: u16, next: u32, (base, window): (u64, u64)) -> bool {
        let Asked::Sent {
            number: asked,
            overtaken,
        } = self.asked
        else {
            return false;
        };
        // An answer to an earlier question: packets may have been sent in between.
        if asked != number {
            return false;
        }
        self.asked = Asked::Nothing;
        const HALF: u64 = 1 << 31;
        if let Some(next) = serial::expand(next, 32, base, HALF) {
            // No more than its window: a host cannot have begun what lies beyond.
            self.reach = self.reach.max(next.min(base + window));
        }
        // What had come before the question left was sent before the answer. A suspect that came later may
        // have been sent after it.
        !overtaken
    }
}

/// The frames that have contradicted what a channel keeps (`docs/wire.md`, "Contradictions"). An honest host
/// sends none: one of the two messages is forged, and no receiver can tell which. But what is true and
/// reliable comes again until it is taken: so two frames are believed.
#[derive(Debug, Default)]
pub(crate) struct Dispute {
    first: Option<u64>,
    /// Another frame, which was believed.
    second: Option<u64>,
}

impl Dispute {
    /// This frame contradicts. True if it is believed, as another frame has contradicted before.
    pub(super) fn is_believed(&mut self, frame: u64) -> bool {
        if self.second != Some(frame) {
            if self.first.is_none() || self.second.is_some() {
                // The first frame, or the first since another one was believed, which settled what came
                // before.
                (self.first, self.second) = (Some(frame), None);
            } else if self.first != Some(frame) {
                self.second = Some(frame);
            }
        }
        self.second == Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Q13.
    #[test]
    fn two_frames_are_believed_and_one_is_not() {
        let mut dispute = Dispute::default();
        let asked = [1, 1, 7, 7, 1, 1, 8, 9, 9, 7, 10];
        let expected = [
            false, false, true, true, false, false, true, false, false, true, false,
        ];
        assert_eq!(asked.map(|frame| dispute.is_believed(frame)), expected);
    }
}
