//! Messages that contradict what is kept (`docs/wire.md`, "Contradictions"). An honest host sends none:
//! one of the two is forged, and no receiver can tell which. But what is real and reliable comes again
//! until it is taken.

use super::receiver::Receiver;
use super::{Sequencing, SequencingParams, Totals};
use crate::frame::{Message, Packet};

/// The frames that have contradicted what a channel keeps.
#[derive(Debug, Default)]
pub(crate) struct Dispute {
    first: Option<u64>,
    /// Another one, which was believed.
    second: Option<u64>,
}

impl Dispute {
    /// This frame contradicts: whether it is believed, because another one did so before.
    fn is_believed(&mut self, frame: u64) -> bool {
        if self.second != Some(frame) {
            if self.first.is_none() || self.second.is_some() {
                (self.first, self.second) = (Some(frame), None);
            } else if self.first != Some(frame) {
                self.second = Some(frame);
            }
        }
        self.second == Some(frame)
    }
}

impl Sequencing {
    /// A frame is refused, because a message of it cannot be: what has been contradicted by two frames is
    /// forgotten, so that the next one is taken.
    pub(crate) fn on_refused(&mut self, frame: u64, messages: &[Message<&[u8]>]) {
        for message in messages {
            let Message::Packet(packet) = message else {
                continue;
            };
            if self.get(packet.channel).is_none() {
                continue;
            }
            let Some((made, params, totals)) = self.get_mut(packet.channel) else {
                continue;
            };
            if (made.receiver).on_contradiction(packet, frame, params, totals) {
                self.has_arrived(packet.channel);
            }
        }
    }
}

impl Receiver {
    /// Forgets what this message of a refused frame contradicts, if another frame did so before. Whether
    /// it has.
    fn on_contradiction(
        &mut self,
        packet: &Packet<&[u8]>,
        frame: u64,
        params: &SequencingParams,
        totals: &mut Totals,
    ) -> bool {
        let Some(id) = self.contradicted_by(packet, params) else {
            return false;
        };
        if !self.dispute.is_believed(frame) {
            return false;
        }
        self.partials.forget(id);
        if let Some(entry) = self.queue.remove(id) {
            totals.release(entry.mode, entry.cost());
        }
        self.queue.settle();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
