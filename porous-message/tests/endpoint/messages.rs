//! The steps of the article on reliable ordered messages (`docs/message.md`), one by one.

use porous_message::{MessageChannel, MessageConfig};

use crate::carrier::{A, B, Both};

const RELIABLE: MessageChannel = MessageChannel::reliable();

#[test]
fn a_message_goes_into_packets_a_tenth_of_a_second_apart_until_one_is_acknowledged() {
    let mut both = Both::new(&[RELIABLE]);
    both.ends[A].send(0, 7_u32).unwrap();
    assert!(both.write(A).is_some());
    both.wait(99);
    assert_eq!(both.write(A), None);
    both.wait(1);
    let second = both.write(A).unwrap();
    both.wait(100);
    both.ack(&second);
    assert_eq!(both.write(A), None);
    both.read(&second);
    assert_eq!(both.received(B), [7]);
}

#[test]
fn an_acknowledgement_of_any_packet_that_it_was_in_counts() {
    let mut both = Both::new(&[RELIABLE]);
    both.ends[A].send(0, 7_u32).unwrap();
    let first = both.write(A).unwrap();
    both.wait(100);
    assert!(both.write(A).is_some());
    both.ack(&first);
    both.wait(500);
    assert_eq!(both.write(A), None);
    assert_eq!(both.ends[A].stats().resent, 1);
}

#[test]
fn messages_are_received_in_the_order_they_were_sent_whatever_the_packets_do() {
    let mut both = Both::new(&[RELIABLE]);
    let packets: Vec<_> = (0..5_u32)
        .map(|number| {
            both.ends[A].send(0, number).unwrap();
            both.write(A).unwrap()
        })
        .collect();
    for (index, expected) in [(3, vec![]), (1, vec![]), (0, vec![0, 1]), (4, vec![])] {
        both.read(&packets[index]);
        assert_eq!(both.received(B), expected, "after packet {index}");
    }
    both.read(&packets[2]);
    assert_eq!(both.received(B), [2, 3, 4]);
}

#[test]
fn a_message_is_received_once_however_often_it_comes() {
    let mut both = Both::new(&[RELIABLE]);
    both.ends[A].send(0, 7_u32).unwrap();
    let packet = both.write(A).unwrap();
    for _ in 0..3 {
        both.read(&packet);
    }
    assert_eq!(both.received(B), [7]);
    both.read(&packet);
    assert_eq!(both.received(B), []);
    assert_eq!(both.ends[B].stats().duplicates, 3);
}

/// A message of 40 bytes.
type Text = [u8; 40];

#[test]
fn older_messages_go_first_and_one_that_fits_goes_instead_of_one_that_does_not() {
    // Room for two texts, of 320 bits, but not for three.
    let config = MessageConfig::with_packet(&[RELIABLE], 100).unwrap();
    let mut both = Both::<Option<Text>>::with(config);
    for message in [Some([1; 40]), Some([2; 40]), Some([3; 40]), None] {
        both.ends[A].send(0, message).unwrap();
    }
    let first = both.write(A).unwrap();
    assert!(first.bytes.len() <= 100);
    both.read(&first);
    assert_eq!(both.received(B), [Some([1; 40]), Some([2; 40])]);
    let second = both.write(A).unwrap();
    both.read(&second);
    // The last message came in the first packet.
    assert_eq!(both.received(B), [Some([3; 40]), None]);
    assert_eq!(both.ends[B].stats().duplicates, 0);
}

#[test]
fn nothing_is_sent_that_the_receiver_cannot_buffer() {
    let mut both = Both::new(&[RELIABLE.window(4)]);
    for number in 0..10_u32 {
        both.ends[A].send(0, number).unwrap();
    }
    let first = both.write(A).unwrap();
    both.read(&first);
    both.ack(&first);
    // Four messages are there, and acknowledged, but the application has not received them.
    both.wait(100);
    assert_eq!(both.write(A), None);
    assert_eq!(both.received(B), [0, 1, 2, 3]);
    let told = both.write(B).unwrap();
    both.read(&told);
    let second = both.write(A).unwrap();
    both.read(&second);
    assert_eq!(both.received(B), [4, 5, 6, 7]);
}

#[test]
fn what_was_in_a_lost_packet_goes_at_once_unless_it_was_in_a_later_one() {
    let mut both = Both::new(&[RELIABLE]);
    both.ends[A].send(0, 7_u32).unwrap();
    let first = both.write(A).unwrap();
    both.wait(100);
    let second = both.write(A).unwrap();
    both.ends[A].packet_lost(first.sequence);
    assert_eq!(both.write(A), None);
    both.ends[A].packet_lost(second.sequence);
    assert!(both.write(A).is_some());
    // The packet was only late.
    both.ack(&second);
    both.wait(100);
    assert_eq!(both.write(A), None);
}

#[test]
fn what_was_in_packets_that_are_too_old_goes_again() {
    let mut both = Both::new(&[RELIABLE, MessageChannel::unreliable()]);
    both.ends[A].send(0, 7_u32).unwrap();
    let first = both.write(A).unwrap();
    for _ in 0..1024 {
        both.ends[A].send(1, 8).unwrap();
        assert!(both.write(A).is_some());
    }
    both.ack(&first);
    assert_eq!(both.ends[A].stats().packets_acked, 0);
    both.wait(100);
    assert!(both.write(A).is_some());
}

#[test]
fn ids_wrap_around_three_times() {
    let mut both = Both::new(&[RELIABLE]);
    let mut expected = 0_u32;
    while expected < 3 * 65_536 + 100 {
        for number in expected..expected + 200 {
            both.ends[A].send(0, number).unwrap();
        }
        both.exchange();
        for number in both.received(B) {
            assert_eq!(number, expected);
            expected += 1;
        }
        both.exchange();
    }
    assert_eq!(both.ends[A].queued(0), 0);
}

#[test]
fn an_acknowledgement_that_comes_after_a_turn_of_the_ids_is_of_the_old_message() {
    let mut both = Both::new(&[RELIABLE]);
    both.ends[A].send(0, 0_u32).unwrap();
    let late = both.write(A).unwrap();
    both.read(&late);
    let mut number = 1;
    while number < 65_536 {
        for _ in 0..255.min(65_536 - number) {
            both.ends[A].send(0, number).unwrap();
            number += 1;
        }
        both.exchange();
        both.received(B);
        both.exchange();
    }
    // The new message has the id of the first one.
    both.ends[A].send(0, number).unwrap();
    assert!(both.write(A).is_some(), "it is lost");
    both.ack(&late);
    both.wait(100);
    both.exchange();
    assert_eq!(both.received(B), [65_536]);
}

/// Sends messages with these numbers, which arrive, except in packets that are held back.
fn pass(both: &mut Both<u32>, numbers: core::ops::Range<u32>) {
    let mut number = numbers.start;
    while number < numbers.end {
        for _ in 0..255.min(numbers.end - number) {
            both.ends[A].send(0, number).unwrap();
            number += 1;
        }
        both.exchange();
        both.received(B);
        both.exchange();
    }
}

/// 260 packets later, an id differs from that of the next message only in bits that an older version
/// did not write.
#[test]
fn a_packet_that_was_held_back_for_65_536_messages_brings_nothing_new() {
    let mut both = Both::new(&[RELIABLE]);
    both.ends[A].send(0, 0_u32).unwrap();
    let held_back = both.write(A).unwrap();
    both.wait(100);
    pass(&mut both, 1..65_536);
    both.ends[A].send(0, 65_536).unwrap();
    both.read(&held_back);
    assert_eq!(both.received(B), []);
    both.exchange();
    assert_eq!(both.received(B), [65_536]);
}

#[test]
fn a_confirmation_that_was_held_back_for_65_536_messages_confirms_nothing() {
    let mut both = Both::new(&[RELIABLE]);
    pass(&mut both, 0..3);
    both.ends[A].send(0, 3_u32).unwrap();
    let packet = both.write(A).unwrap();
    both.read(&packet);
    both.received(B);
    let held_back = both.write(B).unwrap();
    both.wait(1000);
    pass(&mut both, 4..65_539);
    both.ends[A].send(0, 65_539).unwrap();
    both.read(&held_back);
    assert_eq!(both.ends[A].queued(0), 1);
    both.exchange();
    assert_eq!(both.received(B), [65_539]);
}

/// An engine of its own numbers all its packets, most of which have no content of the endpoint.
#[test]
fn after_any_number_of_packets_without_content_acknowledgements_count() {
    for empty in [32_000, 32_768, 40_000, 65_535, 65_536, 200_000] {
        for asks in [true, false] {
            let mut both = Both::new(&[RELIABLE]);
            pass(&mut both, 0..1);
            let before = both.ends[A].stats().packets_acked;
            for _ in 0..empty {
                if asks {
                    assert_eq!(both.write(A), None);
                }
                both.next[A] = both.next[A].wrapping_add(1);
            }
            both.ends[A].send(0, 1).unwrap();
            let packet = both.write(A).unwrap();
            both.ack(&packet);
            let acked = both.ends[A].stats().packets_acked - before;
            assert_eq!(acked, 1, "{empty} {asks}");
        }
    }
}

/// The packet's number is that of a packet one turn before, which was lost.
#[test]
fn the_acknowledgement_of_a_packet_without_content_is_of_no_other() {
    let mut both = Both::new(&[RELIABLE]);
    both.ends[A].send(0, 0_u32).unwrap();
    let lost = both.write(A).unwrap();
    pass(&mut both, 1..2);
    for _ in 0..65_536 {
        assert_eq!(both.write(A), None);
        both.next[A] = both.next[A].wrapping_add(1);
    }
    let before = both.ends[A].stats().packets_acked;
    both.ends[A].packet_acked(lost.sequence);
    assert_eq!(both.ends[A].stats().packets_acked, before);
}

#[test]
fn a_packet_has_as_many_messages_as_are_allowed() {
    let config = MessageConfig::new(&[RELIABLE, RELIABLE]).unwrap();
    let mut both = Both::with(config.messages_per_packet(3));
    for _ in 0..2 {
        both.ends[A].send(0, 1_u8).unwrap();
        both.ends[A].send(1, 2_u8).unwrap();
    }
    let first = both.write(A).unwrap();
    both.read(&first);
    assert_eq!(both.received(B), [1, 1, 2]);
}

#[test]
fn a_packet_is_filled_to_the_last_bits_and_not_beyond() {
    let config = MessageConfig::with_packet(&[RELIABLE], 64).unwrap();
    let mut both = Both::with(config);
    for _ in 0..1000 {
        both.ends[A].send(0, true).unwrap();
    }
    let packet = both.write(A).unwrap();
    assert_eq!(packet.bytes.len(), 64);
    both.read(&packet);
    // 512 bits: two of the channel, 34 of the first message, and three of each other one.
    assert_eq!(both.received(B).len(), 1 + (512 - 2 - 34) / 3);
}

#[test]
fn messages_of_a_packet_cost_two_bits_each_beside_their_own() {
    let mut both = Both::new(&[RELIABLE]);
    for _ in 0..100 {
        both.ends[A].send(0, 200_u8).unwrap();
    }
    let packet = both.write(A).unwrap();
    // One bit for the confirmation, 32 for the first id, one bit at the end; and for each message one
    // bit before it, one for its id except for the first, and its own eight.
    assert_eq!(
        packet.bytes.len(),
        (1 + 32 + 1 + 100 * (1 + 8) + 99_usize).div_ceil(8)
    );
}
