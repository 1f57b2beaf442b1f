//! The work that a remote host may make us do: as much as its bytes are worth, and a bounded excess a
//! second (`docs/limits.md`, "Frames of a connected peer").

use crate::bucket::Bucket;
use crate::time::{Instant, Micros};

/// The bytes of a datagram that pay for one message. Most messages of a game are longer, so that an
/// honest peer spends nothing.
const BYTES: u64 = 8;

/// The ids in a ring of a receive queue that cost as much as one message if the ring is made anew, which
/// takes memory that has to be asked for and set to 0. Ids that a packet leaps over cost the same, as
/// they are looked through.
const IDS: u64 = 1024;

/// Messages a second that are taken beyond those that bytes pay for: 400 datagrams with 128 empty
/// packets each, as many as a datagram holds. They cost a hundredth of a core.
const A_SECOND: u32 = 50_000;

/// The time for which unused effort is saved up: a host that stood still takes in at once all that came
/// in the meantime.
const SAVED: Micros = Micros::from_secs(1);

/// The work of one peer's datagrams beyond what their bytes pay for, in messages.
#[derive(Debug)]
pub(super) struct Effort(Bucket);

impl Effort {
    pub(super) fn new() -> Self {
        Self(Bucket::full(A_SECOND, SAVED))
    }

    /// Whether the peer's datagrams are refused now.
    pub(super) fn is_spent(&mut self, now: Instant) -> bool {
        // Asked before the work of a datagram is known: the last one may exceed what is left.
        self.0.fill(now, SAVED);
        self.0.hold(now).is_some()
    }

    /// Charges for a datagram of this length with this number of messages.
    pub(super) fn decode(&mut self, bytes: usize, messages: usize) {
        let work = messages as u64;
        // Bytes that pay for more messages than there are save nothing up.
        self.0.spend(work.saturating_sub(bytes as u64 / BYTES));
    }

    /// Charges for rings of this number of ids, which were made for the messages or looked through.
    pub(super) fn look_through(&mut self, ids: u64) {
        self.0.spend(ids / IDS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of such datagrams that are taken in a second, of one each microsecond.
    fn taken(bytes: usize, messages: usize, ids: u64) -> usize {
        let mut effort = Effort::new();
        let at = |n: u64| Instant::from_micros(1_000_000 + n);
        let mut take = |n| {
            let is_taken = !effort.is_spent(at(n));
            if is_taken {
                effort.decode(bytes, messages);
                effort.look_through(ids);
            }
            is_taken
        };
        (0..1_000_000).filter(|&n| take(n)).count()
    }

    #[test]
    fn messages_that_their_bytes_pay_for_are_never_too_much() {
        for (bytes, messages, ids) in [(1200, 128, 0), (8, 1, 1023), (65_507, 8188, 0)] {
            assert_eq!(
                taken(bytes, messages, ids),
                1_000_000,
                "{bytes} {messages} {ids}"
            );
        }
    }

    #[test]
    fn messages_beyond_what_bytes_pay_for_are_taken_up_to_a_rate() {
        // What was saved up, what came in the second, and one more.
        assert_eq!(taken(140, 128, 0), 100_000_usize.div_ceil(128 - 17));
        assert_eq!(
            taken(1024, 128, 128 * 65_536),
            100_000_usize.div_ceil(128 * 64)
        );
    }
}
