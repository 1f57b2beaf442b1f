//! What becomes of frames: which ones a block acknowledges, and what a dropped one leaves behind.

use super::*;
use crate::frame::AckRange;

/// A side that has sent frames with these ids, each with one message of its name.
fn sent(first: u64, count: u8, mode: Mode) -> Side {
    let mut side = Side::new();
    side.transfer = Transfer::new(side.transfer.params, first);
    side.transfer.signals.pings.pending = false;
    side.transfer.congestion_for_test(1 << 20);
    for name in 0..count {
        side.script.low.push_back(message(name, 400, mode));
        assert_eq!(side.frame(), Some(vec![name]));
    }
    side
}

/// A block of all ids behind `largest` that the map covers, and of these ranges, each a gap and a length.
fn block<const N: usize>(largest: u32, ranges: [(u32, u32); N]) -> AckBlock {
    let ranges = ranges.map(|(gap, length)| AckRange { gap, length });
    AckBlock {
        largest_low: largest,
        largest_width: 4,
        delay: None,
        map: u32::MAX,
        nonce: false,
        marks: crate::frame::Marks::default(),
        ranges: ranges.into_iter().collect(),
    }
}

/// `docs/wire.md`, "Acknowledgements".
#[test]
fn a_range_begins_where_the_one_before_ended() {
    let mut side = sent(0, 61, Mode::Reliable);
    // The map says 28 to 60. Then 24 to 27, not 22 and 23, and 19 to 21.
    let block = block(60, [(0, 4), (2, 3)]);
    let acked = side.transfer.check_ack(&block).unwrap();
    side.transfer.on_ack(&acked, &mut side.script, side.now);
    let mut acknowledged = side.script.acknowledged.clone();
    acknowledged.sort_unstable();
    let expected: Vec<u8> = (19..=21).chain(24..=60).collect();
    assert_eq!(acknowledged, expected);
    // All others have seen three later ones acknowledged: they are sent again in the order of sending.
    let mut again = Vec::new();
    while let Some(names) = side.frame() {
        again.extend(names);
    }
    let expected: Vec<u8> = (0..19).chain(22..24).collect();
    assert_eq!(again, expected);
}

#[test]
fn no_range_reaches_below_the_first_frame_or_beyond_the_newest() {
    let side = sent(0, 61, Mode::Reliable);
    let valid = |block: &AckBlock| side.transfer.check_ack(block).is_some();
    // Below 24 to 27 there are 24 ids.
    for (gap, length, expected) in [
        (1, 23, true),
        (1, 24, false),
        (23, 1, true),
        (24, 1, false),
        (22, 2, true),
        (22, 3, false),
    ] {
        let block = block(60, [(0, 4), (gap, length)]);
        assert_eq!(valid(&block), expected, "{gap}, {length}");
    }
    // No id is left below the range.
    assert!(valid(&block(60, [(0, 28)])) && !valid(&block(60, [(0, 28), (1, 1)])));
    assert!(!valid(&block(61, [])));
}

#[test]
fn ids_below_the_first_read_as_received() {
    let side = sent(0, 40, Mode::Reliable);
    for largest in [0, 1, 7, 31, 32, 39] {
        for bit in 0..32 {
            let mut block = block(largest, []);
            block.map &= !(1 << bit);
            let exists = bit < largest;
            let valid = side.transfer.check_ack(&block).is_some();
            assert_eq!(valid, exists, "{largest}, {bit}");
        }
    }
}

/// §3.1.2.
#[test]
fn the_flight_size_is_what_was_sent_and_not_acknowledged() {
    let mut side = sent(0, 3, Mode::Reliable);
    let each = side.transfer.outbound.queue.flight() / 3;
    assert!((400..420).contains(&each));
    for (id, left) in [(1, 2), (0, 1), (2, 0)] {
        side.acknowledge(&[id]);
        assert_eq!(side.transfer.outbound.queue.flight(), left * each);
    }
}

/// §3.1.2 (4): N_P is 4096.
#[test]
fn a_dropped_frame_leaves_a_sentinel_if_nothing_of_it_is_sent_again() {
    const SENTINEL: u8 = u8::MAX;
    for (first, mode, expected) in [
        (2046, Mode::Unreliable, None),
        (2047, Mode::Unreliable, Some(vec![SENTINEL])),
        (2047, Mode::Reliable, Some(vec![0])),
        (4095, Mode::Unreliable, Some(vec![SENTINEL])),
    ] {
        let mut side = sent(first, 1, mode);
        side.now = side.transfer.recovery_deadline_for_test();
        side.transfer.handle_timeout(&mut side.script, side.now);
        assert_eq!(side.transfer.outbound.queue.flight(), 0);
        assert_eq!(side.frame(), expected, "{first}, {mode:?}");
        // The sentinel is lost as well.
        side.now = side.transfer.recovery_deadline_for_test();
        if !side.now.is_never() {
            side.transfer.handle_timeout(&mut side.script, side.now);
            assert_eq!(side.frame(), expected, "{first}, {mode:?}");
        }
    }
}

#[test]
fn a_frame_is_dropped_when_its_time_has_come_and_not_before() {
    let mut side = sent(0, 1, Mode::Reliable);
    let due = side.transfer.recovery_deadline_for_test();
    side.now = due;
    let just_before = Instant::from_micros(due.as_micros() - 1);
    side.transfer.handle_timeout(&mut side.script, just_before);
    assert_eq!(
        (side.transfer.outbound.figures.lost, side.frame()),
        (0, None)
    );
    side.transfer.handle_timeout(&mut side.script, due);
    assert_eq!(side.transfer.outbound.figures.lost, 1);
    assert_eq!(side.frame(), Some(vec![0]));
}

/// (7).
#[test]
fn a_step_that_is_long_puts_off_the_resend() {
    let mut side = sent(0, 1, Mode::Reliable);
    let before = side.transfer.recovery_deadline_for_test();
    side.transfer
        .outbound
        .path
        .set_steps(Micros::from_secs(1), Micros::ZERO);
    let after = side.transfer.recovery_deadline_for_test();
    // 200 ms and 1 s, instead of 200 ms and four times 100 ms.
    assert_eq!(after, before + Micros::from_millis(600));
}

/// A side whose frames each have one reliable message, of its number, and the ids of the frames.
fn sent_under(policy: Policy, count: u8) -> (Side, Vec<u64>) {
    let mut side = Side::with(policy);
    side.transfer.congestion_for_test(1 << 20);
    let mut ids = Vec::new();
    for name in 0..count {
        ids.push(side.transfer.outbound.queue.next());
        (side.script.low).push_back(message(name, 400, Mode::Reliable));
        assert_eq!(side.frame(), Some(vec![name]));
    }
    (side, ids)
}

/// §3.1.2. T6.
#[test]
fn what_was_considered_dropped_and_is_acknowledged_is_not_sent_again() {
    for policy in [Policy::Paper, Policy::Modern] {
        let (mut side, ids) = sent_under(policy, 200);
        side.acknowledge(&ids[196..]);
        let lost = side.transfer.outbound.figures.lost;
        assert!(lost >= 195, "{lost}");
        // One message leaves again. Then all but two of the frames that seemed lost are acknowledged.
        assert_eq!(side.frame(), Some(vec![0]));
        let late: Vec<u64> = (ids.iter().copied().enumerate())
            .filter(|(name, _)| ![50, 120].contains(name))
            .map(|(_, id)| id)
            .collect();
        side.acknowledge(&late);
        let mut acknowledged = side.script.acknowledged.clone();
        acknowledged.sort_unstable();
        let expected: Vec<u8> = (0..200).filter(|name| ![50, 120].contains(name)).collect();
        assert_eq!(acknowledged, expected, "each once");
        assert_eq!(side.frame(), Some(vec![50]));
        assert_eq!(side.frame(), Some(vec![120]));
        assert_eq!(side.frame(), None);
        let end = side.transfer.outbound.queue.next();
        side.acknowledge(&[end - 2, end - 1]);
        side.acknowledge(&[end - 3]);
        assert_eq!(side.script.acknowledged.len(), 200, "0 had arrived");
        assert_eq!(
            (side.frame(), side.transfer.outbound.messages.store.used()),
            (None, 0)
        );
    }
}

/// §3.1.2: neither is a message whose repetition is lost. T6.
#[test]
fn a_message_that_arrived_late_is_not_sent_a_third_time() {
    for policy in [Policy::Paper, Policy::Modern] {
        let (mut side, ids) = sent_under(policy, 5);
        side.acknowledge(&ids[1..]);
        assert_eq!(side.frame(), Some(vec![0]));
        side.acknowledge(&ids[..1]);
        let next = side.transfer.outbound.queue.next();
        side.now = side.now + Micros::from_millis(2);
        for name in 5..25 {
            (side.script.low).push_back(message(name, 400, Mode::Reliable));
            assert_eq!(side.frame(), Some(vec![name]));
        }
        let rest: Vec<u64> = (next..next + 20).collect();
        side.acknowledge(&rest);
        assert_eq!(side.transfer.outbound.figures.lost, 2);
        assert_eq!(
            (side.frame(), side.transfer.outbound.messages.store.used()),
            (None, 0)
        );
    }
}

/// §3.1.2: window acknowledgements and limits, of which the newest is sent again. T6.
#[test]
fn limits_that_were_only_late_are_not_said_again() {
    for policy in [Policy::Paper, Policy::Modern] {
        let mut side = Side::with(policy);
        side.transfer.set_receive_rate(1000);
        assert_eq!(side.frame(), Some(vec![u8::MAX]));
        for name in 1..6 {
            (side.script.low).push_back(message(name, 400, Mode::Unreliable));
            assert_eq!(side.frame(), Some(vec![name]));
        }
        side.acknowledge(&[3, 4, 5]);
        side.acknowledge(&[0]);
        assert_eq!(side.frame(), None);
        side.transfer.set_receive_rate(2000);
        assert_eq!(side.frame(), Some(vec![u8::MAX]));
    }
}

/// (14): the frames that are dropped in the step of a reset do not set W_s by (12). P13.
#[test]
fn equation_14_holds_for_all_drops_of_a_step() {
    let mut side = sent(0, 1, Mode::Unreliable);
    side.now = side.transfer.recovery_deadline_for_test();
    side.transfer.handle_timeout(&mut side.script, side.now);
    // Nothing arrives for long, and then three frames are dropped at once.
    side.now = side.now + Micros::from_secs(10);
    side.transfer.congestion_for_test(64 * 512);
    for name in 1..4 {
        side.script
            .low
            .push_back(message(name, 400, Mode::Unreliable));
        assert_eq!(side.frame(), Some(vec![name]));
    }
    side.now = side.transfer.recovery_deadline_for_test();
    side.transfer.handle_timeout(&mut side.script, side.now);
    assert_eq!(
        (side.transfer.outbound.figures.lost, side.transfer.window()),
        (4, 512)
    );
    // Slow start goes on up to W_s, half of what W_c was: each acknowledgement adds a frame.
    for acknowledged in 1..=32 {
        let id = side.transfer.outbound.queue.next();
        side.script.low.push_back(message(7, 400, Mode::Unreliable));
        assert!(side.frame().is_some_and(|names| names.ends_with(&[7])));
        side.acknowledge(&[id]);
        assert_eq!(side.transfer.window(), (1 + acknowledged) * 512);
    }
    let id = side.transfer.outbound.queue.next();
    side.script.low.push_back(message(7, 400, Mode::Unreliable));
    assert!(side.frame().is_some_and(|names| names.ends_with(&[7])));
    side.acknowledge(&[id]);
    assert_eq!(side.transfer.window(), 33 * 512, "congestion avoidance");
}
