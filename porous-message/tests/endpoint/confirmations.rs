//! Confirmations: each end tells the other the next id that it awaits. So a packet that its carrier
//! acknowledges and nevertheless drops costs time, but no message.

use porous_message::MessageChannel;

use crate::carrier::{A, B, Both, Packet};

const RELIABLE: MessageChannel = MessageChannel::reliable();

#[test]
fn a_packet_that_is_acknowledged_but_never_read_costs_a_second() {
    let mut both = Both::new(&[RELIABLE]);
    for number in 0..3_u32 {
        both.ends[A].send(0, number).unwrap();
        let packet = both.write(A).unwrap();
        if number != 1 {
            both.read(&packet);
        }
        both.ack(&packet);
    }
    assert_eq!(both.received(B), [0]);
    both.exchange();
    both.wait(999);
    both.exchange();
    assert_eq!(both.received(B), []);
    both.wait(1);
    both.exchange();
    assert_eq!(both.received(B), [1, 2]);
    both.exchange();
    assert_eq!(both.ends[A].queued(0), 0);
}

#[test]
fn each_message_is_given_its_second() {
    let mut both = Both::new(&[RELIABLE]);
    for number in 0..2_u32 {
        both.ends[A].send(0, number).unwrap();
    }
    let packet = both.write(A).unwrap();
    both.read(&packet);
    both.ack(&packet);
    assert_eq!(both.write(A), None);
    both.wait(900);
    assert_eq!(
        both.ends[B].receive().map(|arrival| arrival.message),
        Some(0)
    );
    let told = both.write(B).unwrap();
    both.read(&told);
    for _ in 0..9 {
        assert_eq!(both.write(A), None);
        both.wait(100);
    }
    both.wait(100);
    assert!(both.write(A).is_some());
}

#[test]
fn the_last_message_is_not_lost_either() {
    let mut both = Both::new(&[RELIABLE]);
    both.ends[A].send(0, 7_u32).unwrap();
    let packet = both.write(A).unwrap();
    both.ack(&packet);
    assert_eq!(both.write(A), None);
    both.wait(1000);
    both.exchange();
    assert_eq!(both.received(B), [7]);
}

#[test]
fn a_confirmation_that_is_acknowledged_but_never_read_comes_again() {
    let mut both = Both::new(&[RELIABLE.window(1)]);
    both.ends[A].send(0, 1_u32).unwrap();
    both.ends[A].send(0, 2_u32).unwrap();
    let packet = both.write(A).unwrap();
    both.read(&packet);
    both.ack(&packet);
    assert_eq!(both.received(B), [1]);
    let told = both.write(B).unwrap();
    both.ack(&told);
    assert_eq!(both.write(B), None);
    for _ in 0..2 {
        both.exchange();
        both.wait(1000);
    }
    both.exchange();
    assert_eq!(both.received(B), [2]);
}

#[test]
fn a_receiver_that_does_not_read_is_asked_less_and_less_often() {
    let mut both = Both::new(&[RELIABLE.window(4)]);
    for number in 0..10_u32 {
        both.ends[A].send(0, number).unwrap();
    }
    both.exchange();
    for _ in 0..600 {
        both.wait(100);
        both.exchange();
    }
    // The message is sent again after 1, 3, 7, 15 and 31 s.
    assert_eq!(both.ends[A].stats().resent, 5);
    for _ in 0..3 {
        both.received(B);
        both.exchange();
    }
    assert_eq!(both.ends[B].stats().received, 10);
}

#[test]
fn it_is_asked_less_often_where_acknowledgements_take_time_too() {
    let mut both = Both::new(&[RELIABLE, RELIABLE.blocks(4096)]);
    both.ends[A].send(0, 7_u32).unwrap();
    let block = vec![7; 4096];
    both.ends[A].send_block(1, 7_u32, block).unwrap();
    let mut under_way = Vec::new();
    let mut times = Vec::new();
    for tick in 0..600 {
        for packet in under_way.drain(..) {
            both.read(&packet);
            both.ack(&packet);
        }
        let before = both.ends[A].stats().resent;
        while let Some(packet) = both.write(A) {
            under_way.push(packet);
        }
        if both.ends[A].stats().resent > before {
            times.push(tick / 10);
        }
        under_way.extend(both.write(B));
        both.wait(100);
    }
    // After 1, 3, 7, 15 and 31 s, and the time of the acknowledgements.
    assert_eq!(times, [1, 3, 7, 15, 31]);
    assert_eq!(both.received(B), [7, 7], "the message and the block");
}

#[test]
fn what_was_acknowledged_and_is_lost_after_all_goes_at_once() {
    let mut both = Both::new(&[RELIABLE, RELIABLE.blocks(4096)]);
    let mut packets = Vec::new();
    for number in 0..10_u32 {
        both.ends[A].send(0, number).unwrap();
        packets.push(both.write(A).unwrap());
    }
    let block = vec![7; 4096];
    both.ends[A].send_block(1, 7_u32, block).unwrap();
    packets.extend(core::iter::from_fn(|| both.write(A)));
    for packet in &packets {
        both.ack(packet);
    }
    both.wait(500);
    assert_eq!(both.write(A), None);
    for packet in &packets[1..] {
        both.ends[A].packet_lost(packet.sequence);
    }
    both.exchange();
    assert_eq!(
        both.received(B),
        [7],
        "the block, and no message without the first"
    );
    both.read(&packets[0]);
    assert_eq!(both.received(B), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn an_endpoint_without_messages_repeats_its_confirmation_until_it_arrives() {
    let mut both = Both::new(&[RELIABLE]);
    both.ends[A].send(0, 7_u32).unwrap();
    let packet = both.write(A).unwrap();
    both.read(&packet);
    assert_eq!(both.write(B), None, "the application has not received it");
    assert_eq!(both.received(B), [7]);
    let told = both.write(B).unwrap();
    assert_eq!(
        told.bytes,
        [0b0000_0011, 0, 0, 0, 0],
        "one, 1 as 32 bits, no messages"
    );
    assert_eq!(both.write(B), None);
    both.wait(100);
    let again = both.write(B).unwrap();
    assert_eq!(again.bytes, told.bytes);
    both.ack(&again);
    both.wait(100);
    assert_eq!(both.write(B), None);
}

#[test]
fn a_confirmation_rides_in_every_packet_until_one_has_arrived() {
    let mut both = Both::new(&[RELIABLE]);
    both.ends[A].send(0, 7_u32).unwrap();
    both.exchange();
    assert_eq!(both.received(B), [7]);
    let is_told = |packet: &Packet| packet.bytes[0] & 1 == 1;
    let write = |both: &mut Both<u32>| {
        both.ends[B].send(0, 8).unwrap();
        both.write(B).unwrap()
    };
    let first = write(&mut both);
    let second = write(&mut both);
    assert!(is_told(&first) && is_told(&second));
    both.ack(&second);
    assert!(!is_told(&write(&mut both)));
}

#[test]
fn an_older_confirmation_that_arrives_later_is_nothing_new() {
    let mut both = Both::new(&[RELIABLE]);
    let mut told = Vec::new();
    for number in 0..2_u32 {
        both.ends[A].send(0, number).unwrap();
        let packet = both.write(A).unwrap();
        both.read(&packet);
        assert_eq!(both.received(B), [number]);
        told.push(both.write(B).unwrap());
    }
    both.ack(&told[1]);
    both.ack(&told[0]);
    both.wait(1000);
    assert_eq!(both.write(B), None);
}

#[test]
fn confirmations_of_what_was_never_sent_and_old_ones_change_nothing() {
    let mut both = Both::new(&[RELIABLE]);
    for number in 0..3_u32 {
        both.ends[A].send(0, number).unwrap();
    }
    let confirm = |next: u32| {
        let bits = 1 | u64::from(next) << 1;
        bits.to_le_bytes()[..5].to_vec()
    };
    for next in [4, 0, 65_535, 65_536, 1 << 31, u32::MAX] {
        both.ends[A].read_packet(&confirm(next)).unwrap();
        assert_eq!(both.ends[A].queued(0), 3, "{next}");
    }
    both.ends[A].read_packet(&confirm(2)).unwrap();
    assert_eq!(both.ends[A].queued(0), 1);
    both.ends[A].read_packet(&confirm(1)).unwrap();
    assert_eq!(both.ends[A].queued(0), 1);
    let packet = both.write(A).unwrap();
    assert_eq!(packet.bytes.len(), (1 + 1 + 32 + 32 + 1_usize).div_ceil(8));
}
