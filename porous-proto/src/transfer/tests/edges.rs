//! Counters of the wire that wrap, what leaves although the window is full, and what waits for the next frame.

use super::*;
use crate::frame::Fragment;

impl Side {
    /// A side whose frames begin with this id.
    fn starting_at(first: u64) -> Self {
        let mut side = Self::new();
        side.transfer = Transfer::new(side.transfer.params, first);
        side.transfer.signals.pings.pending = false;
        side
    }

    /// The newest frame and the `count - 1` before it are acknowledged.
    fn acknowledge_newest(&mut self, count: u32) {
        let newest = self.transfer.outbound.queue.next() - 1;
        let rest = count - 33;
        let block = AckBlock {
            largest_low: crate::serial::truncate(newest, 32),
            largest_width: 4,
            delay: None,
            map: u32::MAX,
            nonce: false,
            marks: crate::frame::Marks::default(),
            ranges: arrayvec::ArrayVec::from_iter([crate::frame::AckRange {
                gap: 0,
                length: rest,
            }]),
        };
        let acked = self.transfer.check_ack(&block).unwrap();
        self.transfer.on_ack(&acked, &mut self.script, self.now);
    }
}

#[test]
fn frames_are_acknowledged_where_their_ids_wrap() {
    for edge in [1 << 8, 1 << 16, 1 << 24, 1 << 31, 1 << 32, 1 << 40] {
        let mut side = Side::starting_at(edge - 20);
        for round in 1..=3 {
            side.transfer.congestion_for_test(1 << 20);
            for name in 0..40 {
                let next = message(name, 400, Mode::Reliable);
                side.script.low.push_back(next);
                assert_eq!(side.frame(), Some(vec![name]), "{edge}");
            }
            side.acknowledge_newest(40);
            let transfer = &side.transfer;
            assert_eq!(transfer.outbound.queue.flight(), 0, "{edge}");
            let counts = (
                transfer.outbound.figures.sent,
                transfer.outbound.figures.lost,
            );
            assert_eq!(counts, (40 * round, 0), "{edge}");
            assert_eq!(side.script.acknowledged.len() as u64, 40 * round, "{edge}");
        }
    }
}

/// The remote host changes what it wants to receive, more often than its serials can count (C14).
#[test]
fn limits_take_effect_in_order_and_their_serials_wrap() {
    let mut side = Side::new();
    side.transfer.set_send_rate(500_000);
    for change in 1..=200_000_u32 {
        let serial = u16::try_from(change % (1 << 16)).unwrap();
        side.transfer.on_limits(serial, change);
        assert_eq!(side.transfer.outbound.messages.rates.bandwidth(), change);
        // LIMITS that were overtaken, or come twice.
        for late in [0, 1, 77] {
            side.transfer.on_limits(serial.wrapping_sub(late), 7);
            assert_eq!(side.transfer.outbound.messages.rates.bandwidth(), change);
        }
    }
    side.transfer.on_limits(4000, u32::MAX); // the limit of this host is the smaller one
    assert_eq!(side.transfer.outbound.messages.rates.bandwidth(), 500_000);
}

/// Window acknowledgements do not wait for room in the congestion window (T20).
#[test]
fn window_acknowledgements_leave_although_the_window_is_full() {
    let mut side = Side::new();
    side.transfer.congestion_for_test(512);
    for name in [1, 2] {
        let next = message(name, 400, Mode::Reliable);
        side.script.low.push_back(next);
    }
    assert_eq!(side.frame(), Some(vec![1]));
    assert_eq!(side.frame(), None);
    side.script.windows.push_back(Control::Window {
        channel: 0,
        id: 12345,
    });
    assert_eq!(side.frame(), Some(vec![u8::MAX]));
    assert_eq!(side.frame(), None);
}

/// P2: the remote host acknowledges no frame, but goes on to ask for them.
#[test]
fn a_frame_that_too_many_others_followed_is_sent_again() {
    for (window, others) in [(16, 64), (256, 256), (4096, 1024)] {
        fill_up(window, others);
    }
}

/// The queue has room for `window` frames of data, and for `others` beside them.
fn fill_up(window: u64, others: u64) {
    let mut side = Side::new();
    side.transfer.params.window = window;
    side.transfer = Transfer::new(side.transfer.params, 0);
    side.transfer.signals.pings.pending = false;
    let next = message(7, 100, Mode::Reliable);
    side.script.low.push_back(next);
    assert_eq!(side.frame(), Some(vec![7]));
    side.now = Instant::from_micros(1);
    for n in 1..window + others {
        side.transfer.signals.answers = signals::Answers::default();
        side.transfer.signals.answers.on_ping(0, side.now);
        assert_eq!(side.frame(), Some(vec![u8::MAX]), "{n}");
    }
    assert_eq!(side.frame(), None);
    side.transfer.signals.answers = signals::Answers::default();
    side.transfer.signals.answers.on_ping(0, side.now);
    assert_eq!(side.frame(), Some(vec![u8::MAX]));
    assert_eq!(side.frame(), Some(vec![7]), "the first one was forgotten");
    assert_eq!(side.transfer.outbound.figures.lost, 0);
}

/// An acknowledgement of many holes takes much of a datagram, again and again: only frames of the remote host
/// can tell that it has arrived.
#[test]
fn an_acknowledgement_that_is_not_due_keeps_no_full_message_from_leaving() {
    let most = MTU - 16;
    for policy in [Policy::Paper, Policy::Modern] {
        let mut side = Side::with(policy);
        for id in (0..400).filter(|id| id % 5 < 2) {
            side.transfer.inbound.received.record(id, 1, false, 0);
        }
        let Report { block, .. } = side.transfer.inbound.received.report(Micros::ZERO).unwrap();
        assert!(block.length() > 16);
        side.script
            .low
            .push_back(message(1, most - 16, Mode::Reliable));
        assert_eq!(side.frame(), Some(vec![1]), "{policy:?}");
        // When the acknowledgement is due it leaves alone, and the next message in a frame after it.
        side.script
            .low
            .push_back(message(2, most - 16, Mode::Reliable));
        side.transfer
            .inbound
            .ack_timer
            .on_frame(Urgency::AtOnce, 100, side.now);
        assert_eq!(side.frame(), Some(vec![]), "{policy:?}");
        assert_eq!(side.frame(), Some(vec![2]), "{policy:?}");
        // An acknowledgement that was left out is not forgotten.
        side.script
            .low
            .push_back(message(3, most - 16, Mode::Reliable));
        side.transfer.inbound.ack_timer.on_data(side.now);
        side.transfer
            .inbound
            .ack_timer
            .on_frame(Urgency::High, 100, side.now);
        let due = side.transfer.inbound.ack_timer.due();
        let pending = side.transfer.inbound.ack_timer.pending;
        let expected = if pending { vec![] } else { vec![3] };
        assert_eq!(side.frame(), Some(expected), "{policy:?}");
        assert_eq!(side.transfer.inbound.ack_timer.due(), due, "{policy:?}");
    }
}

/// 400 bytes of an unreliable packet from byte `start` on, which share the memory of the packet.
fn view(name: u8, packet: &Bytes, start: u16) -> NextMessage {
    let mut next = message(name, 1, Mode::Unreliable);
    if let Message::Packet(part) = &mut next.message {
        let whole = u32::try_from(packet.len()).unwrap();
        part.fragment = Fragment::new(start.into(), whole);
        let start = usize::from(start);
        part.payload = MessageBytes::Own(packet.slice(start..start + 400));
    }
    next
}

#[test]
fn a_fragment_that_waits_does_not_hold_the_memory_of_its_packet() {
    // Before the fragment: one that leaves it no room, and as many messages as a frame may have.
    let packet = Bytes::from(vec![0; 60_000]);
    let large = vec![view(200, &packet, 0)];
    let small = (0..128).map(|name| message(name, 1, Mode::Unreliable));
    for before in [large, small.collect()] {
        let (mut side, count) = (Side::new(), before.len());
        side.transfer.congestion_for_test(1 << 20);
        side.script.low.extend(before);
        side.script.low.push_back(view(201, &packet, 400));
        assert_eq!(side.frame().map(|names| names.len()), Some(count));
        assert!(side.script.low.is_empty() && packet.is_unique(), "{count}");
        assert_eq!(side.frame().map(|names| names.len()), Some(1), "{count}");
    }
}
