//! What a remote host can make an endpoint keep. In a program of its own: allocations are counted.
#![expect(clippy::unwrap_used, reason = "a test")]

use allocation_counter::{AllocationInfo, measure};
use porous_message::{Endpoint, MessageChannel, MessageConfig};
use porous_proto::Instant;

const BLOCK: u32 = 100_000;

fn endpoint() -> Endpoint<u8> {
    let channel = MessageChannel::reliable()
        .blocks(BLOCK)
        .window(64)
        .queue(64);
    let channels = [channel, MessageChannel::unreliable().queue(64)];
    Endpoint::new(MessageConfig::new(&channels).unwrap())
}

/// The packets of an endpoint that has sent a block of the largest size.
fn packets_of_a_block() -> Vec<Vec<u8>> {
    let mut sender = endpoint();
    for _ in 0..6 {
        sender.send_block(0, 7, vec![1; BLOCK as usize]).unwrap();
    }
    let mut buffer = [0; 1100];
    let mut packet = |sequence| {
        let packet = sender.write_packet(Instant::ZERO, sequence, &mut buffer);
        Some(packet.unwrap()?.to_vec())
    };
    (0..).map_while(&mut packet).collect()
}

#[test]
fn a_piece_costs_what_it_brings_and_blocks_what_they_may() {
    let packets = packets_of_a_block();
    let bytes: usize = packets.iter().map(Vec::len).sum();
    assert!(bytes > 4 * BLOCK as usize, "the window of blocks");
    let mut receiver = endpoint();
    let read = |receiver: &mut Endpoint<u8>, packets: &[Vec<u8>]| -> AllocationInfo {
        measure(|| {
            for packet in packets {
                receiver.read_packet(packet).unwrap();
            }
        })
    };
    let first = read(&mut receiver, &packets[..1]);
    assert!(first.bytes_current < 3000, "{first:?}");
    let rest = read(&mut receiver, &packets[1..]);
    let kept = first.bytes_current + rest.bytes_current;
    assert!(kept < 2 * i64::from(4 * BLOCK), "{kept}");
    // Once more, nothing is new.
    let again = read(&mut receiver, &packets);
    assert_eq!(again.bytes_current, 0);
}

#[test]
fn messages_that_nobody_receives_are_as_many_as_the_windows_have() {
    let mut sender = endpoint();
    let mut receiver = endpoint();
    let mut buffer = [0; 1100];
    let mut exchange = |sequence: u16| {
        for channel in 0..2 {
            while sender.send(channel, 7).is_ok() {}
        }
        let now = Instant::from_micros(u64::from(sequence) * 200_000);
        let packet = sender.write_packet(now, sequence, &mut buffer).unwrap();
        measure(|| receiver.read_packet(packet.unwrap()).unwrap()).bytes_current
    };
    let first: i64 = (0..10).map(&mut exchange).sum();
    let many: i64 = (10..5000).map(&mut exchange).sum();
    assert!(first < 1000 && many == 0, "{first} {many}");
}

#[test]
fn a_sender_whose_packets_are_not_acknowledged_remembers_so_many_of_them() {
    let mut sender = endpoint();
    let mut buffer = [0; 1100];
    let mut write = |sequence: u16| {
        while sender.send(0, 7).is_ok() {}
        let now = Instant::from_micros(u64::from(sequence) * 200_000);
        let written = measure(|| {
            let packet = sender.write_packet(now, sequence, &mut buffer);
            assert!(packet.unwrap().is_some());
        });
        written.bytes_current
    };
    let first: i64 = (0..1024).map(&mut write).sum();
    assert!(first < 1024 * 64 * 9, "64 messages each: {first}");
    let more: i64 = (1024..5000).map(&mut write).sum();
    assert_eq!(more, 0);
}
