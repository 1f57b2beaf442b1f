//! Large data beside messages.

use porous_message::{MessageChannel, MessageConfig, Reason};

use crate::carrier::{A, B, Both};

const MAX: u32 = 20_000;

fn channel() -> MessageChannel {
    MessageChannel::reliable().blocks(MAX)
}

fn data(length: usize) -> Vec<u8> {
    (0..length)
        .map(|at| u8::try_from(at * 7 % 251).unwrap())
        .collect()
}

/// The messages that B has received, and the lengths of blocks, whose content is checked.
fn received(both: &mut Both<u32>) -> Vec<(u32, Option<usize>)> {
    let arrivals = core::iter::from_fn(|| both.ends[B].receive());
    let check = |block: &[u8]| {
        assert_eq!(block, data(block.len()));
        block.len()
    };
    arrivals
        .map(|arrival| (arrival.message, arrival.block.as_deref().map(check)))
        .collect()
}

#[test]
fn blocks_of_every_length_arrive_with_their_message() {
    let mut both = Both::new(&[channel()]);
    for length in [0, 1, 255, 256, 257, 512, 10_000, 20_000] {
        both.ends[A].send_block(0, 5, data(length)).unwrap();
        both.exchange();
        assert_eq!(received(&mut both), [(5, Some(length))]);
        both.exchange();
        assert_eq!(both.ends[A].queued(0), 0);
    }
}

#[test]
fn a_block_that_is_a_byte_too_long_is_refused_and_given_back() {
    let mut both = Both::new(&[channel(), MessageChannel::reliable()]);
    let reason = |both: &mut Both<u32>, channel, length| {
        let unsent = both.ends[A].send_block(channel, 5, data(length));
        unsent.map_err(|unsent| (unsent.message, unsent.reason))
    };
    let max = MAX as usize;
    assert_eq!(reason(&mut both, 0, max + 1), Err((5, Reason::TooLarge)));
    assert_eq!(reason(&mut both, 1, 1), Err((5, Reason::NoBlocks)));
    assert_eq!(reason(&mut both, 2, 1), Err((5, Reason::NoChannel)));
    assert_eq!(both.write(A), None);
    assert_eq!(reason(&mut both, 0, max), Ok(()));
}

#[test]
fn a_first_piece_that_fits_into_no_packet_is_refused() {
    let config = MessageConfig::with_packet(&[channel().fragment(383)], 400).unwrap();
    let mut both = Both::<u32>::with(config);
    let unsent = both.ends[A].send_block(0, 5, data(1000)).unwrap_err();
    assert_eq!(unsent.reason, Reason::TooLarge);
    both.ends[A].send_block(0, 5, data(300)).unwrap();
}

#[test]
fn many_pieces_are_in_a_packet_and_many_packets_on_their_way() {
    let mut both = Both::new(&[channel()]);
    both.ends[A].send_block(0, 5, data(10_000)).unwrap();
    let packets: Vec<_> = core::iter::from_fn(|| both.write(A)).collect();
    assert_eq!(packets.len(), 10, "four pieces of 256 bytes in 1100");
    // The last packet first, and one of them twice.
    for packet in packets.iter().rev().chain(&packets[3..4]) {
        both.read(packet);
        both.ack(packet);
    }
    assert_eq!(received(&mut both), [(5, Some(10_000))]);
    assert_eq!(both.ends[A].stats().resent, 0);
}

#[test]
fn pieces_take_turns_while_no_acknowledgement_comes() {
    let mut both = Both::new(&[channel()]);
    for number in [1, 2] {
        both.ends[A].send_block(0, number, data(5000)).unwrap();
    }
    // Each block has twenty pieces, four in a packet. A piece that was sent is due again at once.
    for _ in 0..10 {
        let packet = both.write(A).unwrap();
        both.read(&packet);
        both.wait(100);
    }
    assert_eq!(received(&mut both), [(1, Some(5000)), (2, Some(5000))]);
    assert_eq!(both.ends[A].stats().resent, 0);
}

#[test]
fn only_lost_pieces_of_a_block_are_sent_again() {
    let mut both = Both::new(&[channel()]);
    both.ends[A].send_block(0, 5, data(10_000)).unwrap();
    let packets: Vec<_> = core::iter::from_fn(|| both.write(A)).collect();
    for packet in packets.iter().skip(2) {
        both.read(packet);
        both.ack(packet);
    }
    both.wait(100);
    both.exchange();
    assert_eq!(received(&mut both), [(5, Some(10_000))]);
    assert_eq!(both.ends[A].stats().resent, 8);
}

#[test]
fn messages_do_not_wait_for_a_block_nor_blocks_for_blocks() {
    let mut both = Both::new(&[channel()]);
    both.ends[A].send_block(0, 1, data(20_000)).unwrap();
    let lost = both.write(A).unwrap();
    both.ends[A].send_block(0, 2, data(100)).unwrap();
    both.ends[A].send(0, 3).unwrap();
    let mut packets = Vec::new();
    while let Some(packet) = both.write(A) {
        both.read(&packet);
        packets.push(packet);
    }
    assert_eq!(received(&mut both), [(3, None), (2, Some(100))]);
    for packet in &packets {
        both.read(packet);
    }
    assert_eq!(received(&mut both), [], "once is enough");
    both.read(&lost);
    assert_eq!(received(&mut both), [(1, Some(20_000))]);
}

#[test]
fn the_message_of_a_block_fits_into_a_packet_with_the_first_piece() {
    fn is_sent<const N: usize>() -> bool {
        let channel = channel().fragment(1000);
        let mut both = Both::<[u8; N]>::new(&[channel]);
        let is_sent = both.ends[A].send_block(0, [7; N], data(1000)).is_ok();
        assert_eq!(both.write(A).is_some(), is_sent);
        is_sent
    }
    // 68 bits of the channel, and 48 of the piece: a 1, 32 for its id, and 15 for the length.
    assert!(is_sent::<85>() && !is_sent::<86>());
}

#[test]
fn as_many_blocks_as_are_allowed_are_on_their_way() {
    let mut both = Both::new(&[channel().block_window(2)]);
    for number in 0..5 {
        both.ends[A].send_block(0, number, data(100)).unwrap();
    }
    let packet = both.write(A).unwrap();
    both.read(&packet);
    both.ack(&packet);
    assert_eq!(both.write(A), None, "the others wait");
    assert_eq!(received(&mut both).len(), 2);
    both.exchange();
    assert_eq!(received(&mut both).len(), 2);
}

#[test]
fn a_block_whose_packets_are_acknowledged_but_never_read_comes_a_second_later() {
    let mut both = Both::new(&[channel()]);
    both.ends[A].send_block(0, 5, data(1000)).unwrap();
    let packet = both.write(A).unwrap();
    both.ack(&packet);
    both.wait(500);
    both.exchange();
    assert_eq!(received(&mut both), []);
    both.wait(1500);
    both.exchange();
    assert_eq!(received(&mut both), [(5, Some(1000))]);
}

#[test]
fn a_piece_that_is_acknowledged_twice_does_not_stand_for_another_one() {
    let config = MessageConfig::with_packet(&[channel()], 290).unwrap();
    let mut both = Both::<u32>::with(config);
    both.ends[A].send_block(0, 5, data(300)).unwrap();
    let longs = [(); 2].map(|()| {
        let long = both.write(A).unwrap();
        let short = both.write(A).unwrap();
        assert!(long.bytes.len() > 256 && short.bytes.len() < 100);
        both.wait(100);
        long
    });
    for long in &longs {
        both.ack(long);
    }
    for _ in 0..30 {
        assert!(both.write(A).unwrap().bytes.len() < 100);
        assert_eq!(both.write(A), None);
        both.wait(100);
    }
}

#[test]
fn pieces_fill_what_messages_leave_and_messages_go_first() {
    let mut both = Both::new(&[channel()]);
    both.ends[A].send_block(0, 1, data(20_000)).unwrap();
    for number in 100..110 {
        both.ends[A].send(0, number).unwrap();
        let packet = both.write(A).unwrap();
        assert!(packet.bytes.len() > 1024 && packet.bytes.len() <= 1100);
        both.read(&packet);
        assert_eq!(received(&mut both), [(number, None)]);
    }
}

#[test]
fn more_blocks_than_the_queue_takes_are_given_back() {
    let mut both = Both::new(&[channel().queue(3)]);
    for number in 0..3_u32 {
        both.ends[A].send_block(0, number, data(10)).unwrap();
    }
    let unsent = both.ends[A].send_block(0, 3, data(10)).unwrap_err();
    assert_eq!((unsent.message, unsent.reason), (3, Reason::Full));
}

#[test]
fn block_ids_wrap_around() {
    let mut both = Both::new(&[channel()]);
    for number in 0..70_000_u32 {
        both.ends[A].send_block(0, number, data(3)).unwrap();
        both.exchange();
        assert_eq!(received(&mut both), [(number, Some(3))]);
        if number % 2 == 0 {
            both.exchange();
        }
    }
}

#[test]
fn a_piece_that_was_held_back_for_65_536_blocks_brings_nothing_new() {
    let channel = MessageChannel::reliable().blocks(10).block_window(256);
    let mut both = Both::new(&[channel]);
    both.ends[A].send_block(0, 0_u32, vec![]).unwrap();
    let held_back = both.write(A).unwrap();
    both.wait(100);
    let mut number = 1;
    while number < 65_536 {
        for _ in 0..128.min(65_536 - number) {
            both.ends[A].send_block(0, number, vec![]).unwrap();
            number += 1;
        }
        both.exchange();
        while both.ends[B].receive().is_some() {}
        both.exchange();
    }
    assert_eq!(both.ends[A].queued(0), 0);
    both.ends[A].send_block(0, 65_536, vec![]).unwrap();
    both.read(&held_back);
    assert_eq!(both.ends[B].receive(), None);
    both.exchange();
    let arrival = both.ends[B].receive();
    assert_eq!(arrival.map(|arrival| arrival.message), Some(65_536));
}
