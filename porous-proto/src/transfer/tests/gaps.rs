//! When an acknowledgement tells of missing frames at once.

use super::*;
use crate::transfer::Urgency;

/// A host that sends data each 10 ms, and what comes to it.
struct Busy {
    side: Side,
    now: Instant,
}

impl Busy {
    fn new() -> Self {
        Self {
            side: Side::with(Policy::Modern),
            now: Instant::ZERO + Micros::from_secs(100),
        }
    }

    /// This much later a frame comes. Returns whether it is acknowledged at once.
    fn hears(&mut self, id: u64, urgency: Urgency, after: Micros) -> bool {
        self.now = self.now + after;
        let timer = &mut self.side.transfer.inbound.ack_timer;
        for n in (1..=60).rev() {
            timer.on_data(Instant::from_micros(self.now.as_micros() - 10_000 * n));
        }
        timer.on_sent();
        let short = Short {
            connection_id: ConnectionId::EMPTY,
            id_width: 1,
            id_low: crate::serial::truncate(id, 8),
            nonce: false,
            ack_now: false,
            has_ack: false,
            bytes: &[0; 50],
            body: 2,
        };
        let frame = Incoming {
            id,
            ecn: Ecn::NotEct,
            urgency: Some(urgency),
        };
        self.side.transfer.on_frame(&frame, &short, self.now);
        self.side.transfer.inbound.ack_timer.pending
    }
}

const TICK: Micros = Micros::from_millis(10);
const SECOND: Micros = Micros::from_secs(1);

/// T19.
#[test]
fn a_gap_is_told_at_once_where_something_may_have_to_be_sent_again() {
    let mut busy = Busy::new();
    assert!(!busy.hears(0, Urgency::Low, TICK));
    assert!(!busy.hears(2, Urgency::Low, TICK), "nothing is sent again");
    assert!(!busy.hears(3, Urgency::High, TICK));
    assert!(busy.hears(5, Urgency::Low, TICK));
    assert!(!busy.hears(6, Urgency::Low, TICK));
    assert!(!busy.hears(8, Urgency::Low, SECOND), "a second later");
    assert!(busy.hears(10, Urgency::High, TICK));
}

/// T19.
#[test]
fn where_frames_overtake_each_other_a_gap_is_no_loss() {
    let mut busy = Busy::new();
    assert!(!busy.hears(0, Urgency::High, TICK));
    assert!(busy.hears(2, Urgency::High, TICK));
    assert!(!busy.hears(1, Urgency::High, TICK), "it was only late");
    assert!(!busy.hears(4, Urgency::High, TICK));
    // A copy was not overtaken.
    assert!(!busy.hears(4, Urgency::High, 9 * SECOND));
    assert!(!busy.hears(6, Urgency::High, TICK));
    assert!(busy.hears(8, Urgency::High, SECOND));
}
