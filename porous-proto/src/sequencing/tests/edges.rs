//! Turns, budgets, and messages that no honest sender sends.

use super::*;
use crate::buffers::Buffers;

/// Q15.
#[test]
fn channels_of_one_priority_take_turns_by_fragment() {
    let mut wire = Wire::new(params(16, 2));
    wire.sender
        .send(0, Bytes::from_static(&[0; 30]), Mode::Reliable);
    wire.sender
        .send(1, Bytes::from_static(&[1; 30]), Mode::Reliable);
    let mut order = Vec::new();
    while let Some(NextMessage {
        message: Message::Packet(packet),
        ..
    }) = wire.sender.next_message(Priority::Low, FRAGMENT)
    {
        order.push(packet.channel);
    }
    assert_eq!(order, [0, 1, 0, 1, 0, 1]); // T21
}

/// Q2.
#[test]
fn a_reader_that_stops_stalls_the_sender_at_the_budget() {
    let mut small = params(16, 2);
    // Room for three packets of 2 bytes, at 66 each, and a little more.
    small.remote_budget = 3 * 74;
    small.receive_budget = small.remote_budget;
    let mut wire = Wire::new(small);
    wire.send("r0 r1 r2 r3 r4");
    let sent = wire.messages.len();
    assert_eq!(sent, 3);
    wire.arrive("r0 r1 r2");
    // A packet's name has 2 bytes, and each packet counts 64 more.
    assert_eq!(wire.receiver.totals().kept, 3 * 66);
    assert_eq!(wire.delivered(), ["r0", "r1", "r2"]);
    assert_eq!(wire.window_acks(), [2]);
    assert_eq!(
        (wire.receiver.totals().kept, wire.sender.totals().charged),
        (0, 0)
    );
    wire.send("");
    assert_eq!(wire.messages.len(), 5);
}

/// Q2.
#[test]
fn unreliable_packets_make_room_for_others() {
    let mut small = params(16, 2);
    small.receive_budget = 4 * 66;
    let mut wire = Wire::new(small);
    wire.send("r0 u1 u2 r3 r4");
    wire.arrive("u1 u2 r3");
    assert!(wire.receiver.make_room(66, u64::MAX));
    assert!(
        wire.receiver.make_room(2 * 66, u64::MAX),
        "the unreliable ones have to go"
    );
    assert_eq!(wire.receiver.totals().kept, 2 * 66);
    assert!(
        wire.receiver.make_room(3 * 66, u64::MAX) && !wire.receiver.make_room(4 * 66, u64::MAX)
    );
    wire.arrive("r0 r4");
    assert_eq!(wire.delivered(), ["r0", "r3", "r4"]);
}

/// The sender's charge for an unreliable packet ends when it is lost. If its sentinel still took some of the
/// budget, packets for which the sender sees room would be refused for ever. Q2.
#[test]
fn sentinels_take_nothing_of_the_receive_budget() {
    let mut small = params(16, 2);
    small.receive_budget = 3 * 66;
    let mut wire = Wire::new(small);
    wire.send("u0 u1 u2 u3");
    wire.arrive("s1 s3");
    assert_eq!(wire.receiver.totals().kept, 0);
    assert!(wire.receiver.make_room(3 * 66, u64::MAX));
    wire.arrive("u3");
    assert_eq!(wire.receiver.totals().kept, 66);
    assert!(
        wire.receiver.make_room(3 * 66, u64::MAX),
        "it has to go again"
    );
    assert_eq!(wire.receiver.totals().kept, 0);
}

/// The receiver may throw an unreliable packet out to make room, and never says so. A sender that went on to
/// charge for it could wait for ever. Q2.
#[test]
fn an_unreliable_packet_is_charged_until_it_has_arrived_or_was_lost() {
    let mut small = params(16, 16);
    small.remote_budget = 3 * 66;
    let mut wire = Wire::new(small);
    wire.send("u0 r1 u2 u3 u4 r5");
    assert_eq!(wire.messages.len(), 3);
    let messages = wire.messages.clone();
    wire.sender.acknowledged(&messages[0]);
    assert_eq!(wire.sender.totals().charged, 2 * 66);
    // A reliable packet stays charged until the remote window passes it.
    wire.sender.acknowledged(&messages[1]);
    assert_eq!(wire.sender.totals().charged, 2 * 66, "r1 is there");
    wire.sender.lost(&messages[2]);
    assert_eq!(wire.sender.totals().charged, 66);
    wire.send("");
    assert_eq!(wire.messages.len(), 5);
}

#[test]
fn a_passive_packet_that_was_passed_is_not_sent_again() {
    let mut wire = Wire::new(params(4, 2));
    wire.send("p0 r1");
    wire.arrive("r1");
    assert_eq!(wire.delivered(), ["r1"]);
    let p0 = wire.messages[0].clone();
    assert!(wire.sender.is_current(&p0));
    assert_eq!(wire.sender.totals().undelivered, 2);
    wire.window_acks();
    // The window acknowledgement of r1 passes p0 as well: it counts neither as undelivered nor in the budget.
    assert!(!wire.sender.is_current(&p0)); // Q9
    assert_eq!(
        (
            wire.sender.totals().undelivered,
            wire.sender.totals().room.used()
        ),
        (0, 0)
    );
}

#[test]
fn an_empty_packet_is_a_packet() {
    let mut wire = Wire::new(params(16, 2));
    wire.sender.send(0, Bytes::new(), Mode::Reliable);
    wire.send("");
    let Message::Packet(packet) = wire.messages[0].clone() else {
        unreachable!()
    };
    assert_eq!(wire.receiver.check_packet(&borrow(&packet)), Verdict::Begin);
    wire.receiver
        .next_frame()
        .on_packet(&borrow(&packet), NOW, &mut Buffers::new(0));
    assert_eq!(wire.delivered(), [Bytes::new()]); // Q14
}

#[test]
fn a_fragment_that_contradicts_an_earlier_one_is_refused() {
    let mut wire = Wire::new(params(16, 2));
    wire.sender
        .send(0, Bytes::from_static(&[7; 25]), Mode::Reliable);
    wire.send("");
    let parts: Vec<Packet<MessageBytes>> = wire
        .messages
        .iter()
        .map(|message| match message {
            Message::Packet(packet) => packet.clone(),
            Message::Control(_) => unreachable!(),
        })
        .collect();
    wire.receiver
        .next_frame()
        .on_packet(&borrow(&parts[0]), NOW, &mut Buffers::new(0));
    assert_eq!(wire.receiver.totals().kept, 64 + 10); // Q1: what arrived, not what was announced
    let changes: [fn(&mut Packet<MessageBytes>); 5] = [
        |packet| packet.mode = Mode::Passive,
        |packet| packet.dependency = 1,
        |packet| packet.fragment = crate::frame::Fragment::new(0, 26),
        |packet| packet.fragment = None,
        |packet| packet.payload = MessageBytes::Own(Bytes::from_static(&[8; 10])),
    ];
    for change in changes {
        let mut other = parts[0].clone();
        change(&mut other);
        assert_eq!(
            wire.receiver.check_packet(&borrow(&other)),
            Verdict::Violation
        ); // Q13
    }
    // The true fragments are taken as ever, in any order.
    for part in [&parts[0], &parts[2], &parts[1]] {
        wire.receiver
            .next_frame()
            .on_packet(&borrow(part), NOW, &mut Buffers::new(0));
    }
    assert_eq!(wire.delivered(), [Bytes::from_static(&[7; 25])]);
}

#[test]
fn packets_beyond_the_agreed_maximum_are_refused() {
    let wire = Wire::new(params(16, 2));
    let part = |offset, len, bytes: usize| Packet {
        mode: Mode::Reliable,
        channel: 0,
        id: 0,
        dependency: 0,
        fragment: crate::frame::Fragment::new(offset, len),
        receipt: false,
        payload: &[0_u8; 10][..bytes],
    };
    for (offset, len, bytes, verdict) in [
        (990, 1000, 10, Verdict::Begin),
        (0, 1000, 10, Verdict::Begin),
        (0, 1001, 10, Verdict::Violation),
        (1000, 1001, 1, Verdict::Violation),
    ] {
        let part = part(offset, len, bytes);
        assert_eq!(wire.receiver.check_packet(&part), verdict); // Q4
    }
}

/// A sender that has sent the first of three fragments of a packet.
fn half_sent(mode: Mode) -> Sequencing {
    let mut sender = Sequencing::new(params(16, 2), 0, AGE);
    sender.send(0, Bytes::from_static(&[7; 25]), mode);
    assert!(sender.next_message(Priority::Low, FRAGMENT).is_some());
    sender
}

/// Only a remote host that breaks the rules reports this: it has not seen all of the packet.
#[test]
fn a_packet_that_is_passed_while_it_is_being_sent_is_not_sent_any_further() {
    for mode in [Mode::Unreliable, Mode::Passive, Mode::Reliable] {
        let mut sender = half_sent(mode);
        assert!(sender.check_window(0, 0));
        sender.on_window(0, 0);
        sender.audit(&mut Audit::default(), LONGEST);
        assert_eq!(
            (sender.totals().room.used(), sender.totals().unsent),
            (0, 0)
        );
        assert!(sender.next_message(Priority::Low, FRAGMENT).is_none());
        sender.send(0, Bytes::from_static(&[8]), mode);
        let Some(NextMessage {
            message: Message::Packet(next),
            ..
        }) = sender.next_message(Priority::Low, FRAGMENT)
        else {
            unreachable!()
        };
        assert_eq!((next.id, &own(&next)[..]), (1, &[8][..]));
    }
}

#[test]
fn what_becomes_of_messages_of_a_packet_that_was_passed_changes_nothing() {
    for mode in [Mode::Unreliable, Mode::Passive, Mode::Reliable] {
        let mut sender = half_sent(mode);
        let part = sender
            .next_message(Priority::Low, FRAGMENT)
            .unwrap()
            .message;
        sender.on_window(0, 0);
        sender.acknowledged(&part);
        sender.lost(&part);
        sender.audit(&mut Audit::default(), LONGEST);
        let totals = sender.totals();
        assert_eq!((totals.charged, totals.undelivered), (0, 0));
    }
}

/// Only the newest window acknowledgement is repeated (§3.2.1).
#[test]
fn a_window_acknowledgement_that_was_lost_is_repeated_unless_there_is_a_newer_one() {
    let mut wire = Wire::new(params(16, 2));
    wire.send("r0 r1 r2 r3");
    let reported = |wire: &mut Wire, names: &str| {
        wire.arrive(names);
        wire.delivered();
        Message::Control(wire.receiver.next_window().unwrap())
    };
    let first = reported(&mut wire, "r0 r1");
    wire.receiver.lost(&first);
    assert_eq!(
        wire.receiver.next_window().map(Message::Control),
        Some(first.clone())
    );
    let second = reported(&mut wire, "r2 r3");
    wire.receiver.lost(&first);
    assert_eq!(wire.receiver.next_window(), None);
    wire.receiver.lost(&second);
    assert_eq!(
        wire.receiver.next_window().map(Message::Control),
        Some(second)
    );
    // Other lost signalling is not repeated: a new ping says more.
    wire.receiver.lost(&Message::Control(Control::Ping(7)));
    assert_eq!(wire.receiver.next_window(), None);
}

/// The bytes of a packet are there for its fragments as long as one may be sent, and no longer: then they
/// count in no budget.
#[test]
fn the_bytes_of_fragments_are_kept_until_none_of_them_is_sent_any_more() {
    fn next(sender: &mut Sequencing) -> Packet<MessageBytes> {
        match sender.next_message(Priority::Low, FRAGMENT) {
            Some(NextMessage {
                message: Message::Packet(packet),
                ..
            }) => packet,
            _ => unreachable!("a fragment is left"),
        }
    }
    for mode in [Mode::Passive, Mode::Reliable] {
        // Passed.
        let mut sender = half_sent(mode);
        let part = next(&mut sender);
        assert_eq!(sender.kept(&part), Some(&[7; 10][..]));
        sender.on_window(0, 0);
        assert_eq!(sender.kept(&part), None);
        // Acknowledged whole.
        let mut sender = Sequencing::new(params(16, 2), 0, AGE);
        sender.send(0, Bytes::from_static(&[7; 25]), mode);
        let parts: [_; 3] = core::array::from_fn(|_| next(&mut sender));
        for part in &parts {
            assert!(sender.kept(part).is_some());
            sender.acknowledged(&Message::Packet(part.clone()));
        }
        assert_eq!(sender.kept(&parts[2]), None);
        // Given up. A datagram that is being planned may name them, so they go at the next look.
        let mut sender = Sequencing::new(params(16, 2), 0, AGE);
        let options = SendOptions::new(mode).ttl(Duration::from_secs(1));
        sender.send(0, Bytes::from_static(&[7; 25]), options);
        sender.look(NOW);
        let part = next(&mut sender);
        let late = NOW + Duration::from_secs(2);
        sender.look(late);
        assert!(!sender.is_current(&Message::Packet(part.clone())));
        sender.look(late);
        assert_eq!(sender.kept(&part), None);
        sender.audit(&mut Audit::default(), LONGEST);
    }
}
