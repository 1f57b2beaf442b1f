//! Times to live, receipts, keys and cancelling, as the sender sees them (`docs/deviations.md`
//! D1 to D4).

use super::*;
use crate::buffers::Buffers;
use crate::event::Outcome;
use crate::frame::Fates;
use crate::hooks::audit::Audit;

const TTL: Duration = Duration::from_millis(100);
const TICK: Duration = Duration::from_micros(1);

fn sender() -> Sequencing {
    Sequencing::new(params(16, 2), 0, AGE)
}

fn options(mode: Mode, token: u64) -> SendOptions {
    SendOptions::new(mode).receipt(token)
}

/// All messages that are to be sent.
fn messages(sender: &mut Sequencing) -> Vec<Message<MessageBytes>> {
    let all = core::iter::from_fn(|| Some(sender.next_message(Priority::Low, FRAGMENT)?.message))
        .collect();
    sender.audit(&mut Audit::default(), LONGEST);
    all
}

fn receipts(sender: &mut Sequencing) -> Vec<(u64, Outcome, bool)> {
    sender.audit(&mut Audit::default(), LONGEST);
    let next = || {
        let receipt = sender.next_receipt()?;
        Some((receipt.token, receipt.outcome, receipt.again))
    };
    core::iter::from_fn(next).collect()
}

const fn fates(count: u8, first: bool, skipped: u64) -> Fates {
    Fates {
        count,
        first,
        skipped,
    }
}

fn tombstone(id: u32) -> Message<MessageBytes> {
    Message::Control(Control::Tombstone(Marker {
        channel: 0,
        id,
        dependency: 0,
    }))
}

/// D1.
#[test]
fn what_waits_beyond_its_time_takes_no_id_and_no_room() {
    let mut sender = sender();
    for mode in [Mode::Reliable, Mode::Passive, Mode::Unreliable] {
        sender.send(0, "abc".into(), options(mode, 1).ttl(TTL));
        sender.send(0, "abc".into(), options(mode, 2).ttl(TTL / 2));
    }
    sender.look(NOW);
    assert_eq!(sender.scheduler.expiry, NOW + TTL / 2 + TICK);
    sender.look(NOW + TTL / 2 + TICK);
    assert_eq!(receipts(&mut sender), [(2, Outcome::Expired, false); 3]);
    assert_eq!(sender.scheduler.expiry, NOW + TTL + TICK);
    sender.look(NOW + TTL + TICK);
    assert_eq!(receipts(&mut sender), [(1, Outcome::Expired, false); 3]);
    assert_eq!(
        (sender.totals().room.used(), sender.totals().unsent),
        (0, 0)
    );
    assert_eq!(
        (sender.totals().undelivered, sender.totals().expired),
        (0, 6)
    );
    assert!(sender.scheduler.expiry.is_never() && messages(&mut sender).is_empty());
}

/// D1.
#[test]
fn a_lost_packet_whose_time_is_over_is_buried() {
    for mode in [Mode::Reliable, Mode::Passive] {
        let mut sender = sender();
        sender.send(0, "abc".into(), options(mode, 1).ttl(TTL));
        sender.look(NOW);
        let sent = messages(&mut sender);
        sender.look(NOW + TTL);
        assert!(sender.is_current(&sent[0]));
        sender.look(NOW + TTL + TICK);
        assert!(!sender.is_current(&sent[0]));
        assert!(receipts(&mut sender).is_empty());
        sender.skipped(&sent[0]);
        // The second time changes nothing.
        sender.skipped(&sent[0]);
        assert_eq!(receipts(&mut sender), [(1, Outcome::Expired, false)]);
        assert_eq!(messages(&mut sender), [tombstone(0)]);
        assert!(sender.is_current(&tombstone(0)));
        // The tombstone counts as undelivered: the remote host has to know before the connection may be
        // closed.
        assert_eq!(
            (sender.totals().room.used(), sender.totals().undelivered),
            (0, 1)
        );
        sender.acknowledged(&tombstone(0));
        assert_eq!(
            (sender.totals().undelivered, sender.totals().charged),
            (0, 67)
        );
        sender.acknowledged(&sent[0]);
        sender.on_window(0, 0);
        assert_eq!(sender.totals().charged, 0);
        assert!(receipts(&mut sender).is_empty());
    }
}

/// D1.
#[test]
fn fragments_that_wait_beyond_the_time_are_not_sent() {
    for mode in [Mode::Reliable, Mode::Passive, Mode::Unreliable] {
        let mut sender = sender();
        sender.send(0, Bytes::from_static(&[7; 25]), options(mode, 1).ttl(TTL));
        sender.look(NOW);
        assert!(sender.next_message(Priority::Low, FRAGMENT).is_some());
        assert_eq!(sender.scheduler.expiry, NOW + TTL + TICK);
        sender.look(NOW + TTL + TICK);
        assert_eq!(receipts(&mut sender), [(1, Outcome::Expired, false)]);
        let told = messages(&mut sender);
        // A tombstone, unless no other packet can wait for this one.
        let expected = if mode == Mode::Unreliable { 0 } else { 1 };
        assert_eq!(told.len(), expected, "{mode:?}: {told:?}");
        assert_eq!(
            (sender.totals().room.used(), sender.totals().unsent),
            (0, 0)
        );
    }
}

#[test]
fn what_arrives_in_time_is_delivered() {
    for mode in [Mode::Reliable, Mode::Passive, Mode::Unreliable] {
        let mut sender = sender();
        sender.send(0, Bytes::from_static(&[7; 25]), options(mode, 1).ttl(TTL));
        sender.look(NOW);
        for message in messages(&mut sender) {
            assert!(receipts(&mut sender).is_empty());
            sender.acknowledged(&message);
        }
        assert_eq!(receipts(&mut sender), [(1, Outcome::Delivered, false)]);
        sender.look(NOW + 2 * TTL);
        sender.on_fates(0, 0, fates(1, true, 0));
        assert!(receipts(&mut sender).is_empty(), "{mode:?}");
        sender.close();
        assert!(sender.next_receipt().is_none(), "{mode:?}");
    }
}

/// D2.
#[test]
fn a_lost_packet_that_was_only_late_is_delivered_after_all() {
    let mut sender = sender();
    sender.send(
        0,
        Bytes::from_static(&[7; 25]),
        options(Mode::Unreliable, 1),
    );
    let [first, second, third] = messages(&mut sender).try_into().unwrap();
    sender.acknowledged(&first);
    // Both matter, as the packet has a receipt; the receipt is told once.
    assert!(sender.lost(&second) && sender.lost(&third));
    assert_eq!(receipts(&mut sender), [(1, Outcome::Lost, false)]);
    sender.acknowledged(&second);
    assert!(receipts(&mut sender).is_empty());
    sender.acknowledged(&third);
    assert_eq!(receipts(&mut sender), [(1, Outcome::Delivered, true)]);
    // A late arrival matters only to a packet with a receipt.
    sender.send(0, "abc".into(), Mode::Unreliable);
    let plain = messages(&mut sender);
    assert!(!sender.lost(&plain[0]));
}

/// D2.
#[test]
fn what_the_receive_window_passes_has_come_only_if_it_was_waited_for() {
    let mut sender = sender();
    for (token, mode) in [
        (1, Mode::Unreliable),
        (2, Mode::Passive),
        (3, Mode::Reliable),
    ] {
        sender.send(0, "abc".into(), options(mode, token));
    }
    let sent = messages(&mut sender);
    sender.on_window(0, 2);
    let expected = [
        (1, Outcome::Lost, false),
        (2, Outcome::Lost, false),
        (3, Outcome::Delivered, false),
    ];
    assert_eq!(receipts(&mut sender), expected);
    for message in &sent {
        sender.acknowledged(message);
    }
    assert!(receipts(&mut sender).is_empty());
}

/// D2.
#[test]
fn the_word_of_the_receiver_is_the_last() {
    use Outcome::{Cancelled, Delivered, Expired, Lost, Skipped};
    for mode in [Mode::Unreliable, Mode::Passive] {
        let mut sender = sender();
        (0..6).for_each(|token| sender.send(0, "abc".into(), options(mode, token)));
        let mut sent = messages(&mut sender);
        sent.retain(|message| matches!(message, Message::Packet(_)));
        assert!(sent.iter().all(is_asked), "{mode:?}");
        // given: packets 0 to 3 were acknowledged / when: FATES of 0 to 4 say that 1, 2 and 4 were skipped
        (0..4).for_each(|n| sender.acknowledged(&sent[n]));
        let told: Vec<_> = (0..4).map(|token| (token, Delivered, false)).collect();
        assert_eq!(receipts(&mut sender), told);
        sender.on_fates(0, 4, fates(5, true, 0b10110));
        // then: the receipts of 1 and 2 are corrected, and 4 gets its first one
        let expected = [(1, Skipped, true), (2, Skipped, true), (4, Lost, false)];
        assert_eq!(receipts(&mut sender), expected, "{mode:?}");
        // ... a late acknowledgement, and FATES that come again, change nothing
        sender.acknowledged(&sent[4]);
        sender.on_fates(0, 4, fates(5, true, 0));
        assert!(receipts(&mut sender).is_empty(), "{mode:?}");
        // ... and the next packet does not ask any more
        sender.send(0, "abc".into(), options(mode, 9));
        let next = messages(&mut sender);
        assert!(!next.iter().any(is_asked), "{mode:?}");
    }
    for mode in [Mode::Reliable, Mode::Passive] {
        let mut sender = sender();
        sender.send(0, "abc".into(), options(mode, 1).ttl(TTL));
        sender.send(0, "abc".into(), options(mode, 2).ttl(TTL));
        sender.send(0, "abc".into(), options(mode, 3));
        sender.look(NOW);
        let sent = messages(&mut sender);
        sender.cancel(0, 3);
        sender.look(NOW + TTL + TICK);
        sent.iter().for_each(|message| sender.skipped(message));
        let told = [
            (1, Expired, false),
            (2, Expired, false),
            (3, Cancelled, false),
        ];
        assert_eq!(receipts(&mut sender), told);
        // given: 1 and 3 came before their tombstones, and 2 did not / then: FATES are the last word
        sender.acknowledged(&sent[0]);
        sender.on_fates(0, 2, fates(3, true, 0b010));
        let expected = [(1, Delivered, true), (3, Delivered, true)];
        assert_eq!(receipts(&mut sender), expected, "{mode:?}");
    }
}

fn is_asked(message: &Message<MessageBytes>) -> bool {
    matches!(message, Message::Packet(packet) if packet.receipt)
}

/// D2.
#[test]
fn fates_may_come_in_any_order_and_need_not_begin_with_the_first_packet() {
    use Outcome::{Delivered, Lost};
    let mut sender = sender();
    (0..6).for_each(|token| sender.send(0, "abc".into(), options(Mode::Unreliable, token)));
    let _ = messages(&mut sender);
    // given: the second FATES come first
    sender.on_fates(0, 5, fates(2, false, 0b01));
    let expected = [(4, Lost, false), (5, Delivered, false)];
    assert_eq!(receipts(&mut sender), expected);
    assert_eq!(sender.totals().unsettled, 4);
    // when: the first FATES tell of 2 and 3 / then: no packet before them was delivered
    sender.on_fates(0, 3, fates(2, true, 0b10));
    let mut told = receipts(&mut sender);
    told.sort_by_key(|receipt| receipt.0);
    let expected = [
        (0, Lost, false),
        (1, Lost, false),
        (2, Delivered, false),
        (3, Lost, false),
    ];
    assert_eq!(
        (told.as_slice(), sender.totals().unsettled),
        (&expected[..], 0)
    );
}

#[test]
fn lost_fates_are_repeated_as_they_were_and_are_not_hoarded() {
    let mut wire = Wire::new(params(16, 2));
    wire.sender
        .send(0, "abc".into(), options(Mode::Unreliable, 7));
    let sent = wire
        .sender
        .next_message(Priority::Low, FRAGMENT)
        .unwrap()
        .message;
    let Message::Packet(packet) = &sent else {
        panic!("{sent:?}");
    };
    wire.receiver
        .next_frame()
        .on_packet(&borrow(packet), NOW, &mut Buffers::new(0));
    assert!(wire.receiver.receive(NOW).is_some());
    wire.receiver.handle_timeout(NOW + REPORT_AFTER);
    let told = Message::Control(wire.receiver.next_signal().unwrap());
    let expected = Control::Fates {
        channel: 0,
        id: 0,
        fates: fates(1, true, 0),
    };
    assert_eq!(told, Message::Control(expected));
    assert!(wire.receiver.next_signal().is_none());
    for _ in 0..5000 {
        assert!(!wire.receiver.lost(&told));
    }
    let again = core::iter::from_fn(|| wire.receiver.next_signal());
    let again: Vec<Control> = again.collect();
    // No more than a bound may wait to be repeated.
    assert!(again.len() == 1024 && again.iter().all(|control| *control == expected));
}

#[test]
fn a_window_that_was_lost_is_repeated_although_fates_are_wanted_since() {
    let mut wire = Wire::new(params(16, 2));
    wire.sender.send(0, "abc".into(), Mode::Unreliable);
    wire.sender
        .send(0, "abc".into(), options(Mode::Unreliable, 7));
    let mut sent = messages(&mut wire.sender);
    sent.retain(|message| matches!(message, Message::Packet(_)));
    let take = |n: usize, receiver: &mut Sequencing| {
        let Message::Packet(packet) = &sent[n] else {
            panic!("{sent:?}");
        };
        receiver
            .next_frame()
            .on_packet(&borrow(packet), NOW, &mut Buffers::new(0));
    };
    // given: the first packet was passed, WINDOW has told it, and WINDOW is lost
    take(0, &mut wire.receiver);
    assert!(wire.receiver.receive(NOW).is_some());
    wire.receiver.handle_timeout(NOW + REPORT_AFTER);
    let told = wire.receiver.next_signal().unwrap();
    assert_eq!(told, Control::Window { channel: 0, id: 0 });
    take(1, &mut wire.receiver);
    // when / then
    assert!(wire.receiver.lost(&Message::Control(told)));
    assert_eq!(wire.receiver.next_signal(), Some(told));
    // ... until there is something newer to tell
    assert!(wire.receiver.receive(NOW).is_some());
    wire.receiver.handle_timeout(NOW + 2 * REPORT_AFTER);
    let told = wire.receiver.next_signal().unwrap();
    let first = Control::Fates {
        channel: 0,
        id: 1,
        fates: fates(1, true, 0),
    };
    assert_eq!(told, first);
    assert!(
        !wire
            .receiver
            .lost(&Message::Control(Control::Window { channel: 0, id: 0 }))
    );
    assert!(wire.receiver.next_signal().is_none());
}

#[test]
fn a_packet_that_waits_for_its_last_receipt_takes_room() {
    let mut sender = sender();
    for token in 0..8 {
        sender.send(0, "abc".into(), options(Mode::Unreliable, token));
    }
    let sent = messages(&mut sender);
    sent.iter().for_each(|message| sender.acknowledged(message));
    sender.send(0, "abc".into(), Mode::Reliable);
    let _ = messages(&mut sender);
    // when: FATES tell of the last packet only / then: each of the 7 others takes 192 bytes
    let room = |sender: &mut Sequencing| {
        let fits = |&len: &usize| sender.has_room(0, Mode::Reliable, len, 0);
        (0..100_000).rev().find(fits).unwrap()
    };
    let before = room(&mut sender);
    sender.on_fates(0, 7, fates(1, false, 0));
    assert_eq!(before - room(&mut sender), 7 * 192);
    sender.on_fates(0, 6, fates(7, true, 0));
    assert_eq!(room(&mut sender), before);
}

/// D4.
#[test]
fn what_is_cancelled_before_it_was_sent_is_gone() {
    let mut sender = sender();
    for token in [1, 2, 1] {
        sender.send(0, "abc".into(), options(Mode::Reliable, token));
    }
    // Both packets with receipt 1 at once; nothing is left for the second call, nor is there any on channel
    // 1.
    assert!(sender.cancel(0, 1) && !sender.cancel(0, 1) && !sender.cancel(1, 2));
    assert_eq!(receipts(&mut sender), [(1, Outcome::Cancelled, false); 2]);
    assert_eq!(
        (sender.totals().room.used(), sender.totals().unsent),
        (67, 1)
    );
    assert_eq!(sender.totals().cancelled, 2);
    assert_eq!(messages(&mut sender).len(), 1);
}

/// D4.
#[test]
fn a_packet_that_has_its_id_and_has_not_left_is_cancelled() {
    for mode in [Mode::Unreliable, Mode::Reliable] {
        let mut sender = sender();
        sender.send(0, "abc".into(), options(mode, 1));
        let taken = messages(&mut sender);
        assert!(sender.is_current(&taken[0]));
        assert!(sender.cancel(0, 1) && !sender.cancel(0, 1), "{mode:?}");
        assert!(!sender.is_current(&taken[0]), "{mode:?}");
        sender.skipped(&taken[0]);
        let cancelled = [(1, Outcome::Cancelled, false)];
        assert_eq!(receipts(&mut sender), cancelled, "{mode:?}");
    }
    // What has left cannot be called back.
    let mut sender = sender();
    sender.send(0, "abc".into(), options(Mode::Unreliable, 1));
    let left = messages(&mut sender);
    sender.sent(&left[0]);
    assert!(!sender.cancel(0, 1));
}

/// D4.
#[test]
fn what_is_cancelled_on_its_way_is_buried_if_it_is_lost() {
    let mut sender = sender();
    sender.send(0, "abc".into(), options(Mode::Unreliable, 1));
    sender.send(0, "abc".into(), options(Mode::Reliable, 1));
    sender.send(0, "abc".into(), options(Mode::Reliable, 2));
    let sent = messages(&mut sender);
    // With this receipt there is an unreliable packet, too, which would not be sent again anyway.
    assert!(sender.cancel(0, 1) && !sender.cancel(0, 1));
    assert!(sender.cancel(0, 2));
    assert!(receipts(&mut sender).is_empty());
    let [_, lost, arrived] = &sent[..] else {
        unreachable!()
    };
    sender.acknowledged(arrived);
    sender.skipped(lost);
    let expected = [
        (2, Outcome::Delivered, false),
        (1, Outcome::Cancelled, false),
    ];
    assert_eq!(receipts(&mut sender), expected);
    assert_eq!(messages(&mut sender), [tombstone(1)]);
}

/// D4.
#[test]
fn a_packet_that_is_being_sent_is_cancelled_at_once() {
    let mut sender = sender();
    sender.send(
        0,
        Bytes::from_static(&[7; 25]),
        options(Mode::Unreliable, 1),
    );
    sender.send(0, Bytes::from_static(&[7; 25]), options(Mode::Reliable, 2));
    assert!(sender.next_message(Priority::Low, FRAGMENT).is_some());
    assert!(sender.cancel(0, 1));
    assert!(sender.next_message(Priority::Low, FRAGMENT).is_some());
    assert!(sender.cancel(0, 2));
    assert_eq!(
        receipts(&mut sender),
        [
            (1, Outcome::Cancelled, false),
            (2, Outcome::Cancelled, false)
        ]
    );
    let left = messages(&mut sender);
    let ids: Vec<_> = left.iter().filter_map(sent_packet).collect();
    assert!(matches!(left[0], Message::Control(Control::Tombstone(_))));
    assert_eq!(ids, [(0, 1)]);
    assert_eq!(
        (sender.totals().unsent, sender.totals().undelivered),
        (0, 1)
    );
}

/// D3.
#[test]
fn what_was_replaced_is_told_and_leaves_the_budget() {
    let mut sender = sender();
    let keyed = |token| options(Mode::Reliable, token).key(9);
    sender.send(0, "abcdef".into(), keyed(1));
    sender.send(0, "abc".into(), keyed(2));
    assert_eq!(receipts(&mut sender), [(1, Outcome::Cancelled, false)]);
    assert_eq!(
        (sender.totals().room.used(), sender.totals().replaced),
        (67, 1)
    );
    assert_eq!(messages(&mut sender).len(), 1);
    // The packet has left, so that the next one with its key replaces nothing.
    sender.send(0, "abc".into(), keyed(3));
    assert_eq!(messages(&mut sender).len(), 1);
    assert!(receipts(&mut sender).is_empty());
}

/// A packet waits for an outdated one only if it was begun before the newer one with the key. D3.
#[test]
fn a_packet_does_not_wait_for_an_older_one_with_its_key() {
    let mut sender = sender();
    let plain = SendOptions::new(Mode::Reliable);
    let mut dependencies = Vec::new();
    for options in [
        plain,
        plain.key(1),
        plain.key(1),
        plain.key(2),
        plain.key(1),
        SendOptions::new(Mode::Unreliable).key(1),
        plain,
    ] {
        sender.send(0, "abc".into(), options);
        for message in messages(&mut sender) {
            if let Message::Packet(packet) = message {
                dependencies.push(packet.dependency);
            }
        }
    }
    // 0 <- 1, 0 <- 2, 2 <- 3, 3 <- 4, 3 <- 5, 3 <- 6.
    assert_eq!(dependencies, [0, 1, 2, 1, 1, 2, 3]);
}

/// A newer packet of which nothing left before it was given up has made no older one useless: all that comes behind
/// still waits for that. D3.
#[test]
fn a_state_that_never_left_does_not_take_the_place_of_an_older_one() {
    for (mode, len) in [
        (Mode::Reliable, 3),
        (Mode::Passive, 3),
        (Mode::Unreliable, 3),
        (Mode::Reliable, 25),
        (Mode::Passive, 25),
        (Mode::Unreliable, 25),
    ] {
        let mut sender = sender();
        sender.send(0, "abc".into(), options(Mode::Reliable, 1).key(9));
        let older = messages(&mut sender);
        sender.sent(&older[0]);
        let newer = alloc::vec![7; len];
        sender.send(0, newer.into(), options(mode, 2).key(9));
        let newer = sender.next_message(Priority::Low, FRAGMENT).unwrap();
        // It waits for its datagram.
        assert!(sender.cancel(0, 2), "{mode:?} {len}");
        sender.skipped(&newer.message);
        assert_eq!(receipts(&mut sender), [(2, Outcome::Cancelled, false)]);
        assert!(sender.is_current(&older[0]));
        sender.send(0, "abc".into(), SendOptions::new(Mode::Reliable));
        let controls = marker(0, 1, 1);
        // The id of the newer one is marked.
        let expected = match mode {
            Mode::Unreliable => Control::Sentinel(controls),
            Mode::Reliable | Mode::Passive => Control::Tombstone(controls),
        };
        let left = messages(&mut sender);
        assert_eq!(left[0], Message::Control(expected), "{mode:?} {len}");
        let Message::Packet(next) = &left[1] else {
            unreachable!("{left:?}")
        };
        assert_eq!((next.id, next.dependency), (2, 2), "{mode:?} {len}");
    }
}

#[test]
fn an_outdated_packet_is_buried_if_it_is_lost_and_left_alone_if_not() {
    for mode in [Mode::Reliable, Mode::Passive] {
        let mut sender = sender();
        let keyed = |token| options(mode, token).key(9);
        sender.send(0, "abc".into(), keyed(1));
        let older = messages(&mut sender);
        sender.sent(&older[0]);
        sender.send(0, "abc".into(), keyed(2));
        let newer = messages(&mut sender);
        assert!(sender.is_current(&older[0]), "the newer one has not left");
        sender.sent(&newer[0]);
        assert!(!sender.is_current(&older[0]) && sender.is_current(&newer[0]));
        assert!(receipts(&mut sender).is_empty());
        sender.skipped(&older[0]);
        assert_eq!(receipts(&mut sender), [(1, Outcome::Cancelled, false)]);
        assert_eq!(messages(&mut sender), [tombstone(0)]);
        assert_eq!((sender.totals().replaced, sender.totals().expired), (1, 0));
        sender.acknowledged(&newer[0]);
        sender.acknowledged(&tombstone(0));
        assert_eq!(receipts(&mut sender), [(2, Outcome::Delivered, false)]);
        assert_eq!(
            (sender.totals().room.used(), sender.totals().undelivered),
            (0, 0)
        );
    }
}

#[test]
fn at_the_end_all_that_is_open_is_lost() {
    let mut sender = sender();
    sender.send(0, "abc".into(), options(Mode::Reliable, 1));
    sender.send(0, "abc".into(), options(Mode::Unreliable, 2));
    let sent = messages(&mut sender);
    sender.lost(&sent[1]);
    sender.send(0, "abc".into(), options(Mode::Reliable, 3));
    let mut last = sender.close();
    let tokens = core::iter::from_fn(|| last.pop()).map(|receipt| (receipt.token, receipt.outcome));
    let tokens: Vec<_> = tokens.collect();
    let lost = |token| (token, Outcome::Lost);
    assert_eq!(tokens, [lost(2), lost(3), lost(1)]);
}
