//! Unordered channels (`docs/deviations.md` D5).

use alloc::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::buffers::Buffers;
use crate::config::Channel as Settings;
use crate::hooks::audit::Audit;

/// A receiver whose first channel is unordered. The sender need not know.
fn unordered(params: SequencingParams) -> Sequencing {
    let settings = Settings::new(Priority::Low).unordered();
    Sequencing::new(params, 0, AGE).with_channels(&[settings])
}

fn wire(params: SequencingParams) -> Wire {
    let mut wire = Wire::new(params);
    wire.receiver = unordered(params);
    wire
}

#[test]
fn packets_are_delivered_as_they_come_and_each_once() {
    let mut wire = wire(params(16, 2));
    wire.send("r0 u1 r2 p3 r4");
    wire.arrive("r4 u1");
    assert_eq!(wire.delivered(), ["u1", "r4"]);
    assert_eq!((wire.m_b(), wire.receiver.totals().kept), (0, 0));
    let Message::Packet(again) = wire.messages[1].clone() else {
        unreachable!()
    };
    assert_eq!(wire.receiver.check_packet(&borrow(&again)), Verdict::Stale);
    wire.receiver
        .next_frame()
        .on_packet(&borrow(&again), NOW, &mut Buffers::new(0));
    wire.arrive("r0 r2 p3");
    assert_eq!(wire.delivered(), ["r0", "r2", "p3"]);
    assert_eq!(wire.m_b(), 5);
}

/// Two frames make a receiver forget what they contradict, but not that it has delivered a packet. D5.
#[test]
fn forgeries_of_a_packet_that_was_delivered_bring_it_no_second_time() {
    let mut wire = wire(params(16, 2));
    wire.send("r0 u1");
    wire.arrive("u1");
    assert_eq!(wire.delivered(), ["u1"]);
    let Message::Packet(packet) = wire.messages[0].clone() else {
        unreachable!()
    };
    let packet = borrow(&packet);
    for forged in [Mode::Reliable, Mode::Passive, Mode::Reliable].map(|mode| Packet {
        mode,
        id: 1,
        ..packet
    }) {
        let frame = wire.receiver.next_frame().frame;
        if wire.receiver.check_packet(&forged) == Verdict::Violation {
            let refused = [Message::Packet(forged)];
            wire.receiver.on_refused(frame, &refused);
        }
    }
    let again = Packet {
        id: 1,
        mode: Mode::Unreliable,
        dependency: 1,
        ..packet
    };
    assert_eq!(wire.receiver.check_packet(&again), Verdict::Stale);
    assert!(wire.delivered().is_empty());
}

/// D5.
#[test]
fn a_late_packet_is_not_skipped_before_the_second_report() {
    let mut wire = wire(params(256, 32));
    wire.send("u0 u1 p2 u3");
    wire.arrive("u3");
    assert_eq!(wire.delivered(), ["u3"]);
    wire.receiver.handle_timeout(NOW + REPORT_AFTER);
    // At the first report the window waits for 0 to 2, which are missing for the first time.
    assert_eq!((wire.m_b(), wire.window_acks().len()), (0, 0));
    wire.arrive("u1");
    assert_eq!(wire.delivered(), ["u1"]);
    let again = wire.receiver.signals.report_deadline();
    // There is another report without further arrivals: it passes what is still missing.
    assert_eq!(again, NOW + 2 * REPORT_AFTER);
    wire.receiver.handle_timeout(again);
    assert_eq!((wire.m_b(), wire.window_acks()), (4, alloc::vec![3]));
    assert!(wire.receiver.signals.report_deadline().is_never());
    wire.arrive_late("u0 p2");
    assert!(wire.delivered().is_empty());
}

#[test]
fn what_is_reliable_is_never_skipped() {
    let mut wire = wire(params(16, 2));
    wire.send("u0 r1 u2 r3 u4 u5 u6 u7 u8 u9 u10 u11 u12 u13 u14 u15");
    wire.arrive("r3 u4 u14 u15");
    assert_eq!(wire.delivered(), ["r3", "u4", "u14", "u15"]);
    for n in 1..5 {
        wire.receiver.handle_timeout(NOW + n * REPORT_AFTER);
        wire.receiver.audit(&mut Audit::default(), LONGEST);
        assert_eq!(wire.m_b(), 0, "r1 may come");
    }
    wire.arrive("r1");
    assert_eq!(wire.delivered(), ["r1"]);
    wire.receiver.handle_timeout(NOW + 6 * REPORT_AFTER);
    assert_eq!(wire.m_b(), 16);
}

#[test]
fn the_window_is_never_more_than_half_full_of_holes() {
    let mut wire = wire(params(16, 2));
    let names: Vec<_> = (0..16).map(|id| alloc::format!("u{id}")).collect();
    wire.send(&names.join(" "));
    for (newest, base) in [(7, 0), (8, 0), (9, 0), (12, 4), (15, 7)] {
        wire.arrive(&alloc::format!("u{newest}"));
        if newest == 7 {
            wire.arrive("u3");
        }
        while wire.receiver.receive(NOW).is_some() {}
        // A call without a packet to deliver moves the window as well.
        let _ = wire.receiver.receive(NOW);
        wire.receiver.audit(&mut Audit::default(), LONGEST);
        assert!(wire.m_b() >= base, "{newest}: {}", wire.m_b());
    }
}

/// D5.
#[test]
fn a_sentinel_lets_the_window_move_when_a_whole_window_was_lost() {
    let mut wire = wire(params(24, 4));
    let names: Vec<_> = (0..24).map(|id| alloc::format!("u{id}")).collect();
    wire.send(&names.join(" "));
    wire.arrive("s3 s7 s11 s15 s19 s23");
    assert!(wire.receiver.is_readable());
    assert!(wire.delivered().is_empty());
    // Half a window is left to the sender: sentinels before that are passed at once.
    assert_eq!(wire.m_b(), 12);
    assert_eq!(wire.window_acks(), [11]);
    wire.send("u24");
    wire.arrive("u24 u14");
    assert_eq!(wire.delivered(), ["u14", "u24"]);
}

#[test]
fn a_tombstone_is_not_delivered_and_nobody_waits_for_it() {
    let mut receiver = unordered(params(16, 2));
    receiver.next_frame().on_tombstone(marker(0, 1, 1));
    assert_eq!(receiver.receive(NOW), None);
    receiver.next_frame().on_tombstone(marker(0, 0, 0));
    assert_eq!(receiver.receive(NOW), None);
    assert_eq!(receiver.table.get(0).unwrap().receiver.base(), 2);
    receiver.audit(&mut Audit::default(), LONGEST);
}

#[test]
fn what_was_not_read_is_not_skipped() {
    let mut wire = wire(params(16, 2));
    let names: Vec<_> = (0..16).map(|id| alloc::format!("u{id}")).collect();
    wire.send(&names.join(" "));
    wire.arrive("u1 u2 u15 u14 u13");
    assert_eq!(
        wire.receiver.receive(NOW).map(|(.., it)| it),
        Some("u1".into())
    );
    wire.receiver.handle_timeout(NOW + REPORT_AFTER);
    wire.receiver.handle_timeout(NOW + 2 * REPORT_AFTER);
    // Packet 2 is complete and was not read: no report passes it.
    assert!(wire.m_b() <= 2);
    assert_eq!(wire.delivered(), ["u2", "u13", "u14", "u15"]);
}

/// A message arrives.
fn arrive(wire: &mut Wire, index: usize) {
    match wire.messages[index].clone() {
        Message::Packet(packet) => {
            let verdict = wire.receiver.check_packet(&borrow(&packet));
            assert_ne!(verdict, Verdict::Violation);
            wire.receiver
                .next_frame()
                .on_packet(&borrow(&packet), NOW, &mut Buffers::new(0));
        }
        Message::Control(Control::Sentinel(marker)) => {
            wire.receiver.next_frame().on_sentinel(marker)
        }
        Message::Control(other) => unreachable!("{other:?}"),
    }
}

/// Receives all packets that can be delivered, each for the first time, and the sender hears of it.
fn settle(wire: &mut Wire, now: Instant, seen: &mut BTreeSet<u8>) {
    while let Some((_, _, payload)) = wire.receiver.receive(now) {
        assert!(seen.insert(payload[0]), "{} twice", payload[0]);
    }
    wire.receiver.audit(&mut Audit::default(), LONGEST);
    wire.window_acks();
}

/// All repeated messages arrive, until the sender has come to the end.
fn heal(wire: &mut Wire, mut now: Instant, seen: &mut BTreeSet<u8>) {
    for _ in 0..60 {
        wire.send("");
        for index in 0..wire.messages.len() {
            let lost = matches!(&wire.messages[index],
                Message::Packet(packet) if packet.mode == Mode::Unreliable);
            if !lost {
                arrive(wire, index);
            }
        }
        now = now + REPORT_AFTER;
        wire.receiver.handle_timeout(now);
        settle(wire, now, seen);
    }
}

proptest! {
    /// Whichever messages are lost, doubled or late, each packet comes at most once; and once all reliable
    /// messages have come, all reliable packets were delivered and the windows can move on. D5.
    #[test]
    fn each_packet_comes_at_most_once_and_reliable_ones_exactly_once(
        modes in proptest::collection::vec(0_u8..3, 1..120),
        order in proptest::collection::vec((any::<u16>(), 0_u8..8), 0..400),
    ) {
        let mut wire = wire(params(16, 2));
        let (mut now, mut seen, mut reliable) = (NOW, BTreeSet::new(), BTreeSet::new());
        for (n, mode) in (0..).zip(modes) {
            let mode = [Mode::Unreliable, Mode::Reliable, Mode::Passive][usize::from(mode)];
            reliable.extend((mode == Mode::Reliable).then_some(n));
            wire.sender.send(0, Bytes::copy_from_slice(&[n]), mode);
        }
        for (pick, what) in order {
            match what {
                5 => wire.send(""),
                6 => {
                    now = now + REPORT_AFTER;
                    wire.receiver.handle_timeout(now);
                }
                7 => settle(&mut wire, now, &mut seen),
                _ if wire.messages.is_empty() => {}
                _ => {
                    let index = usize::from(pick) % wire.messages.len();
                    arrive(&mut wire, index);
                }
            }
        }
        heal(&mut wire, now, &mut seen);
        prop_assert_eq!(wire.sender.totals().unsent, 0, "the sender is stuck");
        prop_assert!(reliable.is_subset(&seen), "a reliable packet is missing");
    }
}
