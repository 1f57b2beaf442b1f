//! Tombstones, as a receiver takes them in (`docs/wire.md`, "Control").

use super::*;
use crate::buffers::Buffers;
use crate::frame::Fragment;

fn receiver() -> Sequencing {
    Sequencing::new(params(16, 2), 0, AGE)
}

fn packet(mode: Mode, id: u32, dependency: u16) -> Packet<&'static [u8]> {
    Packet {
        mode,
        channel: 0,
        id,
        dependency,
        fragment: None,
        receipt: false,
        payload: b"abc",
    }
}

/// A fragment of ten bytes, of a packet of three.
fn part(mode: Mode, index: u32) -> Packet<&'static [u8]> {
    Packet {
        fragment: Fragment::new(10 * index, 30),
        payload: &[7; 10],
        ..packet(mode, 0, 0)
    }
}

/// A tombstone arrives: the verdict on it.
fn bury(receiver: &mut Sequencing, id: u32, dependency: u32) -> Verdict {
    let verdict = receiver.check_tombstone(marker(0, id, dependency));
    receiver
        .next_frame()
        .on_tombstone(marker(0, id, dependency));
    receiver.audit(&mut Audit::default(), LONGEST);
    verdict
}

fn received(receiver: &mut Sequencing) -> usize {
    let count = core::iter::from_fn(|| receiver.receive(NOW)).count();
    receiver.audit(&mut Audit::default(), LONGEST);
    count
}

#[test]
fn a_tombstone_is_consumed_as_an_empty_packet_and_not_delivered() {
    let mut receiver = receiver();
    receiver
        .next_frame()
        .on_packet(&packet(Mode::Reliable, 1, 1), NOW, &mut Buffers::new(0));
    assert!(!receiver.is_readable());
    assert_eq!(bury(&mut receiver, 0, 0), Verdict::Begin);
    assert_eq!(receiver.totals().kept, 64 + 67);
    assert_eq!(received(&mut receiver), 1);
    assert_eq!(receiver.totals().kept, 0);
    assert_eq!(bury(&mut receiver, 0, 0), Verdict::Stale);
    assert_eq!(receiver.totals().kept, 0);
}

#[test]
fn a_tombstone_waits_for_what_it_depends_on() {
    let mut receiver = receiver();
    assert_eq!(bury(&mut receiver, 1, 1), Verdict::Begin);
    receiver
        .next_frame()
        .on_packet(&packet(Mode::Reliable, 2, 1), NOW, &mut Buffers::new(0));
    assert_eq!(received(&mut receiver), 0);
    receiver
        .next_frame()
        .on_packet(&packet(Mode::Reliable, 0, 0), NOW, &mut Buffers::new(0));
    // Both packets, and not the tombstone between them.
    assert_eq!(received(&mut receiver), 2);
}

#[test]
fn a_tombstone_takes_the_place_of_an_incomplete_packet_that_may_be_waited_for() {
    for mode in [Mode::Reliable, Mode::Passive] {
        let mut receiver = receiver();
        receiver
            .next_frame()
            .on_packet(&part(mode, 0), NOW, &mut Buffers::new(0));
        receiver
            .next_frame()
            .on_packet(&part(mode, 2), NOW, &mut Buffers::new(0));
        // 64 for the packet, and what came of it; then only the charge of the tombstone is left.
        assert_eq!(receiver.totals().kept, 64 + 20);
        assert_eq!(bury(&mut receiver, 0, 0), Verdict::Stale);
        assert_eq!(receiver.totals().kept, 64);
        let late = receiver.check_packet(&part(mode, 1));
        assert_eq!(late, Verdict::Stale);
        receiver
            .next_frame()
            .on_packet(&packet(Mode::Reliable, 1, 1), NOW, &mut Buffers::new(0));
        assert_eq!(received(&mut receiver), 1);
    }
}

#[test]
fn a_packet_that_its_tombstone_overtook_is_stale_in_whatever_mode() {
    for mode in [Mode::Reliable, Mode::Passive] {
        let mut receiver = receiver();
        assert_eq!(bury(&mut receiver, 0, 0), Verdict::Begin);
        assert_eq!(receiver.check_packet(&packet(mode, 0, 0)), Verdict::Stale);
        receiver
            .next_frame()
            .on_packet(&packet(mode, 0, 0), NOW, &mut Buffers::new(0));
        assert_eq!((receiver.totals().kept, received(&mut receiver)), (64, 0));
    }
}

#[test]
fn a_tombstone_changes_nothing_of_a_packet_that_is_complete_or_unreliable() {
    let mut other = receiver();
    other
        .next_frame()
        .on_packet(&part(Mode::Unreliable, 0), NOW, &mut Buffers::new(0));
    // An unreliable packet has no tombstone, and a complete one is delivered all the same.
    assert_eq!(bury(&mut other, 0, 0), Verdict::Stale);
    assert_eq!(other.totals().kept, 64 + 10);
    other
        .next_frame()
        .on_packet(&part(Mode::Unreliable, 1), NOW, &mut Buffers::new(0));
    other
        .next_frame()
        .on_packet(&part(Mode::Unreliable, 2), NOW, &mut Buffers::new(0));
    assert_eq!(received(&mut other), 1);
    let mut receiver = receiver();
    receiver
        .next_frame()
        .on_packet(&packet(Mode::Reliable, 0, 0), NOW, &mut Buffers::new(0));
    assert_eq!(bury(&mut receiver, 0, 0), Verdict::Stale);
    assert_eq!((receiver.totals().kept, received(&mut receiver)), (67, 1));
}

#[test]
fn a_tombstone_that_nobody_can_have_sent_changes_nothing() {
    let mut receiver = receiver();
    // It depends on a packet before the first one, or names a channel that does not exist.
    assert_eq!(bury(&mut receiver, 0, 1), Verdict::Violation);
    receiver.next_frame().on_tombstone(marker(0, 1, 0));
    assert_eq!(bury(&mut receiver, 2, 3), Verdict::Violation);
    assert_eq!(receiver.check_sentinel(marker(0, 0, 1)), Verdict::Violation);
    assert_eq!(receiver.totals().kept, 64);
    assert_eq!(
        receiver.check_tombstone(marker(2, 0, 0)),
        Verdict::Violation
    );
    receiver.next_frame().on_tombstone(marker(2, 0, 0));
    assert_eq!(receiver.totals().kept, 64);
    // It comes on a channel of which nothing has come yet.
    assert_eq!(receiver.check_tombstone(marker(1, 0, 0)), Verdict::Begin);
}
