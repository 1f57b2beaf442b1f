//! Unreliable messages, which are in one packet each.

use core::time::Duration;

use porous_message::{MessageChannel, MessageConfig, Reason};

use crate::carrier::{A, B, Both};

const UNRELIABLE: MessageChannel = MessageChannel::unreliable();

#[test]
fn an_unreliable_message_is_in_one_packet() {
    let mut both = Both::new(&[UNRELIABLE]);
    both.ends[A].send(0, 7_u32).unwrap();
    let packet = both.write(A).unwrap();
    assert_eq!(packet.bytes.len(), (1 + 32 + 1_usize).div_ceil(8));
    both.wait(1000);
    assert_eq!(both.write(A), None);
    both.read(&packet);
    assert_eq!(both.received(B), [7]);
}

/// A message of a kilobyte: a packet holds one.
fn large(number: u8) -> [u8; 1000] {
    [number; 1000]
}

#[test]
fn the_most_urgent_go_first_and_of_those_the_oldest() {
    let mut both = Both::new(&[UNRELIABLE]);
    for (number, urgency) in [(1, 0), (2, 5), (3, 9), (4, 5)] {
        both.ends[A].send_urgent(0, large(number), urgency).unwrap();
    }
    let mut order = Vec::new();
    while let Some(packet) = both.write(A) {
        both.read(&packet);
        order.extend(both.received(B).iter().map(|message| message[0]));
    }
    assert_eq!(order, [3, 2, 4, 1]);
}

#[test]
fn what_finds_no_room_in_its_time_is_given_up() {
    let age = Duration::from_millis(30);
    let mut both = Both::new(&[UNRELIABLE.age(age)]);
    for number in 0..5 {
        both.ends[A].send(0, large(number)).unwrap();
    }
    for _ in 0..2 {
        assert!(both.write(A).is_some());
        both.wait(30);
    }
    assert!(both.write(A).is_none(), "60 ms after the first chance");
    assert_eq!(both.ends[A].stats().expired, 3);
}

#[test]
fn with_no_age_there_is_one_chance() {
    let mut both = Both::new(&[UNRELIABLE.age(Duration::ZERO)]);
    both.ends[A].send(0, large(1)).unwrap();
    both.ends[A].send(0, large(2)).unwrap();
    assert!(both.write(A).is_some());
    both.wait(1);
    assert!(both.write(A).is_none());
}

#[test]
fn a_queue_that_is_full_gives_back_and_one_that_nobody_reads_keeps_the_newest() {
    let mut both = Both::new(&[UNRELIABLE.queue(3)]);
    for number in 0..3_u32 {
        both.ends[A].send(0, number).unwrap();
    }
    let unsent = both.ends[A].send(0, 3).unwrap_err();
    assert_eq!((unsent.message, unsent.reason), (3, Reason::Full));
    both.exchange();
    both.ends[A].send(0, 4).unwrap();
    both.exchange();
    assert_eq!(both.received(B), [1, 2, 4]);
    assert_eq!(both.ends[B].stats().overrun, 1);
}

#[test]
fn they_ride_in_the_same_packets_as_reliable_ones() {
    let config = MessageConfig::new(&[MessageChannel::reliable(), UNRELIABLE]).unwrap();
    let mut both = Both::with(config);
    both.ends[A].send(0, 1_u32).unwrap();
    both.ends[A].send(1, 2).unwrap();
    let packet = both.write(A).unwrap();
    assert_eq!(both.write(A), None);
    both.read(&packet);
    assert_eq!(both.received(B), [1, 2]);
}
