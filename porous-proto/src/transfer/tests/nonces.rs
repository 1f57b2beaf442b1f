//! Acknowledgements of frames that never came gain nothing (`docs/deviations.md` T26).

use super::*;
use crate::transfer::received::Received;

/// A sender, and what its peer knows.
struct Pair {
    side: Side,
    received: Received,
}

impl Pair {
    fn new() -> Self {
        Self {
            side: Side::with(Policy::Modern),
            received: Received::new(256, 4096, 0),
        }
    }

    /// Sends a frame with one message, if the window allows. `comes`: it arrives. Returns its id if it
    /// arrives.
    fn send(&mut self, comes: bool) -> Option<u64> {
        let Side {
            transfer,
            script,
            now,
        } = &mut self.side;
        script.low.push_back(message(1, 400, Mode::Unreliable));
        let mut buf = [0; MTU];
        let written = transfer.poll_transmit(script, *now, &mut buf).unwrap();
        let (Some(Written { len, .. }), true) = (written, comes) else {
            return None;
        };
        let datagram = crate::frame::decode(&buf[..len], 0).unwrap();
        let Rest::Short(short) = datagram.rest else {
            unreachable!()
        };
        let id = self.received.expand(short.id_low, short.id_width);
        let id = id.unwrap();
        self.received.record(id, short.id_width, short.nonce, 0);
        Some(id)
    }

    /// Acknowledges as this block says. Returns whether the sender believes it.
    fn acknowledge(&mut self, block: &AckBlock) -> bool {
        let Side {
            transfer,
            script,
            now,
        } = &mut self.side;
        let Some(acked) = transfer.check_ack(block) else {
            return false;
        };
        let believed = transfer.nonces.check(&acked);
        if believed {
            transfer.on_ack(&acked, script, *now);
        }
        believed
    }

    fn honest(&self) -> AckBlock {
        self.received.report(Micros::ZERO).unwrap().block
    }

    fn window(&self) -> u32 {
        self.side.transfer.outbound.path.control.own_window()
    }
}

/// T26.
#[test]
fn a_true_acknowledgement_is_believed() {
    let mut pair = Pair::new();
    for n in 0_u32..5000 {
        let id = pair.send(n % 7 != 3);
        pair.side.now = pair.side.now + Micros::from_millis(1);
        if n % 7 != 3 {
            let block = pair.honest();
            assert!(pair.acknowledge(&block), "frame {id:?}");
        }
    }
    // One id of each 512 was left out.
    let ids = pair.received.next();
    assert!((5000 + 9..=5000 + 10).contains(&ids), "{ids}");
    assert!(pair.side.transfer.nonces.is_trusted());
}

/// T26, P15: the frame that follows would be refused by honest hosts.
#[test]
fn no_frame_takes_an_id_that_nonces_leave_out_behind_those_that_a_forged_frame_costs() {
    let mut pair = Pair::new();
    for _ in 0..2000 {
        pair.send(true);
        let block = pair.honest();
        pair.acknowledge(&block);
        pair.side.now = pair.side.now + Micros::from_millis(1);
        let transfer = &mut pair.side.transfer;
        let next = transfer.outbound.queue.next();
        transfer.on_ack_of_unsent(next + 1, pair.side.now);
        let next = transfer.outbound.queue.next();
        assert!(!transfer.nonces.skips(next), "{next}");
    }
}

/// T26.
#[test]
fn a_frame_that_did_not_come_cannot_be_acknowledged_by_guessing() {
    let mut pair = Pair::new();
    let mut believed = 0;
    for _ in 0..200 {
        pair.send(false);
        // The block claims that all frames came, and that their bits sum up to 0.
        let newest = u32::try_from(pair.side.transfer.outbound.queue.next() - 1).unwrap();
        let everything = AckBlock {
            largest_low: newest,
            largest_width: 4,
            delay: None,
            map: u32::MAX,
            nonce: false,
            marks: crate::frame::Marks::default(),
            ranges: arrayvec::ArrayVec::new(),
        };
        believed += u32::from(pair.acknowledge(&everything));
        pair.side.now = pair.side.now + Micros::from_millis(50);
        let Side {
            transfer,
            script,
            now,
        } = &mut pair.side;
        transfer.handle_timeout(script, *now);
    }
    assert!((60..140).contains(&believed), "{believed}");
    // Half of the blocks were believed, and the window grew only by the first few.
    assert!(pair.window() <= 16 * 512, "{}", pair.window());
}

/// T26.
#[test]
fn after_a_wrong_sum_the_window_grows_only_when_64_were_right() {
    let mut pair = Pair::new();
    pair.send(true);
    let mut block = pair.honest();
    block.nonce = !block.nonce;
    assert!(!pair.acknowledge(&block));
    let before = pair.window();
    for right in 1..70 {
        pair.send(true);
        let block = pair.honest();
        assert!(pair.acknowledge(&block));
        assert_eq!(pair.window() > before, right >= 64, "{right}");
    }
}

/// T26.
#[test]
fn an_id_that_was_left_out_cannot_be_acknowledged() {
    let mut pair = Pair::new();
    let mut last = 0;
    let left_out = loop {
        let id = pair.send(true).unwrap();
        if id > last + 1 {
            break last + 1;
        }
        last = id;
        let block = pair.honest();
        assert!(pair.acknowledge(&block));
    };
    // Both sums are wrong then.
    for nonce in [false, true] {
        let mut block = pair.honest();
        block.map |= 1 << (pair.received.next() - 2 - left_out);
        block.nonce = nonce;
        assert!(!pair.acknowledge(&block));
    }
    let block = pair.honest();
    assert!(pair.acknowledge(&block));
}

/// T26.
#[test]
fn an_id_older_than_the_window_cannot_be_acknowledged() {
    let mut pair = Pair::new();
    for _ in 0..5000 {
        pair.send(true);
        let block = pair.honest();
        pair.acknowledge(&block);
    }
    // Down to the oldest of 4096 ids, and to the one below.
    for (length, possible) in [(4096 - 33, true), (4096 - 32, false)] {
        let mut block = pair.honest();
        block.ranges.clear();
        block.ranges.push(crate::frame::AckRange { gap: 0, length });
        assert_eq!(
            pair.side.transfer.check_ack(&block).is_some(),
            possible,
            "{length}"
        );
    }
}
