//! Packets that come in part (`docs/deviations.md` Q1, Q10), and the edges of the receive budget.

use super::*;
use crate::buffers::Buffers;
use crate::frame::Fragment;

const SECOND: Duration = Duration::from_secs(1);

/// A fragment of ten bytes, of a packet of three.
fn part(mode: Mode, id: u32, index: u32) -> Packet<&'static [u8]> {
    Packet {
        mode,
        channel: 0,
        id,
        dependency: 0,
        fragment: Fragment::new(10 * index, 30),
        receipt: false,
        payload: &[7; 10],
    }
}

fn whole(mode: Mode, id: u32, payload: &[u8]) -> Packet<&[u8]> {
    Packet {
        mode,
        channel: 0,
        id,
        dependency: 0,
        fragment: None,
        receipt: false,
        payload,
    }
}

fn receiver(budget: u64) -> Sequencing {
    let mut params = params(64, 8);
    params.receive_budget = budget;
    Sequencing::new(params, 0, AGE)
}

/// Takes a packet in as a session does: checks it, makes room, and inserts it. Whether there was room.
fn take(receiver: &mut Sequencing, packet: &Packet<&[u8]>, now: Instant) -> bool {
    let needed = match receiver.check_packet(packet) {
        Verdict::Begin => cost(packet.payload.len()),
        Verdict::Join(news) => news as u64,
        Verdict::Stale | Verdict::Violation => return false,
    };
    let fits = receiver.make_room(needed, u64::MAX);
    if fits {
        receiver
            .next_frame()
            .on_packet(packet, now, &mut Buffers::new(0));
    }
    assert!(receiver.totals().kept <= receiver.table.params.receive_budget);
    fits
}

fn dropped(receiver: &Sequencing) -> (u64, u64) {
    (receiver.totals().incomplete, receiver.totals().evicted)
}

#[test]
fn what_becomes_deliverable_because_another_packet_is_gone_is_offered() {
    let depends = |packet: Packet<&'static [u8]>| Packet {
        dependency: 1,
        ..packet
    };
    // No honest sender lets 2 depend on nothing while 1 depends on 0. A receiver must get along with it.
    for (budget, more) in [(10_000, 0), (400, 400)] {
        let mut receiver = receiver(budget);
        let later = whole(Mode::Reliable, 2, &[7; 10]);
        assert!(take(&mut receiver, &later, NOW));
        let partial = depends(part(Mode::Unreliable, 1, 0));
        assert!(take(&mut receiver, &partial, NOW));
        assert!(!receiver.is_readable());
        assert_eq!(receiver.receive(NOW), None);
        if more > 0 {
            assert!(!receiver.make_room(more, u64::MAX));
            assert!(receiver.make_room(300, u64::MAX));
        } else {
            receiver.handle_timeout(NOW + 2 * SECOND);
        }
        assert!(receiver.is_readable());
        receiver.audit(&mut Audit::default(), LONGEST);
        assert!(receiver.receive(NOW).is_some());
    }
}

/// Q10.
#[test]
fn an_incomplete_unreliable_packet_is_given_up_two_seconds_after_its_last_fragment() {
    let mut receiver = receiver(10_000);
    assert!(take(&mut receiver, &part(Mode::Unreliable, 0, 0), NOW));
    let later = NOW + SECOND;
    assert!(take(&mut receiver, &part(Mode::Unreliable, 0, 1), later));
    for mode in [Mode::Reliable, Mode::Passive] {
        assert!(take(&mut receiver, &part(mode, 1 + mode as u32, 1), later));
    }
    assert_eq!(receiver.table.give_up_at, NOW + 2 * SECOND);
    receiver.handle_timeout(NOW + 2 * SECOND);
    assert_eq!((receiver.totals().kept, dropped(&receiver)), (232, (0, 0)));
    assert_eq!(receiver.table.give_up_at, NOW + 3 * SECOND);
    receiver.handle_timeout(NOW + 3 * SECOND);
    assert_eq!((receiver.totals().kept, dropped(&receiver)), (148, (1, 0)));
    assert!(receiver.table.give_up_at.is_never());
    // The packet that was given up begins anew; the fragments of the others are still there.
    for index in 0..3 {
        assert!(take(
            &mut receiver,
            &part(Mode::Unreliable, 0, index),
            later
        ));
    }
    assert_eq!(receiver.receive(later).unwrap().2.len(), 30);
    assert_eq!(receiver.totals().kept_unreliable, 0);
}

#[test]
fn what_is_complete_or_passed_is_not_given_up() {
    let mut receiver = receiver(10_000);
    for index in 0..3 {
        assert!(take(&mut receiver, &part(Mode::Unreliable, 1, index), NOW));
    }
    assert!(take(&mut receiver, &part(Mode::Unreliable, 0, 0), NOW));
    assert!(receiver.receive(NOW).is_some()); // 1; with it, 0 is passed
    assert!(take(&mut receiver, &whole(Mode::Unreliable, 2, &[1]), NOW));
    receiver.handle_timeout(NOW + 10 * SECOND);
    assert_eq!((receiver.totals().kept, dropped(&receiver)), (65, (0, 0)));
}

#[test]
fn the_sentinel_of_a_packet_that_is_given_up_stays() {
    let mut receiver = receiver(10_000);
    assert!(take(&mut receiver, &part(Mode::Unreliable, 7, 0), NOW));
    receiver.next_frame().on_sentinel(marker(0, 7, 0));
    receiver.handle_timeout(NOW + 2 * SECOND);
    assert_eq!((receiver.totals().kept, dropped(&receiver)), (0, (1, 0)));
    // The sentinel lets the window move on when all packets of a window were lost (§3.2.2).
    receiver.next_frame().on_sentinel(marker(0, 55, 0));
    receiver.next_frame().on_sentinel(marker(0, 63, 0));
    assert!(receiver.receive(NOW).is_none());
    assert_eq!(receiver.table.get(0).unwrap().receiver.base(), 8);
}

/// Q10.
#[test]
fn at_most_32_unreliable_packets_of_a_channel_are_incomplete() {
    let mut receiver = receiver(100_000);
    for id in 0..32 {
        assert!(take(&mut receiver, &part(Mode::Unreliable, id, 0), NOW));
        assert!(take(&mut receiver, &part(Mode::Reliable, 32 + id, 0), NOW));
    }
    assert_eq!(
        (receiver.totals().kept, dropped(&receiver)),
        (64 * 74, (0, 0))
    );
    // The oldest is given up, even if it is the one that has just come.
    receiver = self::receiver(100_000);
    for id in 1..=33 {
        assert!(take(&mut receiver, &part(Mode::Unreliable, id, 0), NOW));
    }
    assert_eq!(
        (receiver.totals().kept, dropped(&receiver)),
        (32 * 74, (1, 0))
    );
    assert!(take(&mut receiver, &part(Mode::Unreliable, 0, 0), NOW));
    let verdicts = [0, 1, 2].map(|id| receiver.check_packet(&part(Mode::Unreliable, id, 0)));
    assert_eq!(verdicts, [Verdict::Begin, Verdict::Begin, Verdict::Stale]);
    // A packet that becomes complete makes room for another incomplete one.
    for index in [1, 2] {
        assert!(take(&mut receiver, &part(Mode::Unreliable, 2, index), NOW));
    }
    assert!(take(&mut receiver, &part(Mode::Unreliable, 1, 0), NOW));
    assert_eq!(dropped(&receiver), (2, 0));
}

/// Q2.
#[test]
fn the_budget_is_kept_to_the_byte() {
    for (len, fits) in [(99, true), (100, true), (101, false)] {
        let mut receiver = receiver(64 + 100);
        let packet = alloc::vec![0; len];
        let packet = whole(Mode::Reliable, 0, &packet);
        assert_eq!(take(&mut receiver, &packet, NOW), fits, "{len}");
    }
    let mut receiver = receiver(2 * 64 + 20);
    assert!(take(&mut receiver, &part(Mode::Reliable, 0, 0), NOW));
    assert!(take(
        &mut receiver,
        &whole(Mode::Reliable, 1, &[0; 10]),
        NOW
    ));
    // The budget is full: there is room for neither a fragment nor an empty packet until one is consumed.
    assert!(!take(&mut receiver, &part(Mode::Reliable, 0, 1), NOW));
    assert!(!take(&mut receiver, &whole(Mode::Passive, 2, &[]), NOW));
    assert!(receiver.receive(NOW).is_some());
    assert!(take(&mut receiver, &whole(Mode::Passive, 2, &[0; 10]), NOW));
}

/// Q10.
#[test]
fn incomplete_packets_make_room_before_complete_ones_and_none_if_it_is_not_enough() {
    let mut receiver = receiver(4 * 74);
    assert!(take(
        &mut receiver,
        &whole(Mode::Unreliable, 0, &[0; 10]),
        NOW
    ));
    assert!(take(&mut receiver, &part(Mode::Unreliable, 1, 0), NOW));
    assert!(take(
        &mut receiver,
        &whole(Mode::Reliable, 2, &[0; 10]),
        NOW
    ));
    assert!(take(
        &mut receiver,
        &whole(Mode::Unreliable, 3, &[0; 10]),
        NOW
    ));
    let kept = receiver.totals().kept;
    assert!(!receiver.make_room(3 * 74 + 1, u64::MAX));
    assert_eq!((receiver.totals().kept, dropped(&receiver)), (kept, (0, 0)));
    assert!(take(
        &mut receiver,
        &whole(Mode::Reliable, 4, &[0; 10]),
        NOW
    ));
    assert_eq!(dropped(&receiver), (1, 0));
    assert!(take(
        &mut receiver,
        &whole(Mode::Reliable, 5, &[0; 10]),
        NOW
    ));
    assert_eq!(dropped(&receiver), (1, 1));
    // Of the two complete unreliable packets the older one, 0, made room.
    let left: Vec<_> = core::iter::from_fn(|| receiver.receive(NOW)).collect();
    let modes: Vec<_> = left.iter().map(|(_, mode, _)| *mode).collect();
    let (r, u) = (Mode::Reliable, Mode::Unreliable);
    assert_eq!(modes, [r, u, r, r]);
}

#[test]
fn a_fragment_whose_packet_made_room_for_others_does_not_exceed_the_budget() {
    let mut receiver = receiver(64 + 30);
    assert!(take(&mut receiver, &part(Mode::Unreliable, 0, 0), NOW));
    // One datagram holds a reliable packet and the second fragment of an unreliable packet, whose first
    // fragment has to make room for both.
    assert!(receiver.make_room(64 + 20 + 10, u64::MAX));
    assert_eq!(dropped(&receiver), (1, 0));
    receiver.next_frame().on_packet(
        &whole(Mode::Reliable, 1, &[0; 20]),
        NOW,
        &mut Buffers::new(0),
    );
    receiver
        .next_frame()
        .on_packet(&part(Mode::Unreliable, 0, 1), NOW, &mut Buffers::new(0));
    assert_eq!(receiver.totals().kept, 64 + 20);
}

#[test]
fn a_sentinel_takes_nothing_of_the_budget() {
    let mut receiver = receiver(64 + 20);
    receiver.next_frame().on_sentinel(marker(0, 7, 0));
    assert!(take(
        &mut receiver,
        &whole(Mode::Reliable, 8, &[0; 20]),
        NOW
    ));
}
