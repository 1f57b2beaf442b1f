//! The memory that a remote host can make an endpoint keep. In a program of its own, as allocations are
//! counted.
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
    // The same packets once more: nothing is new.
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
fn a_sender_remembers_a_bounded_number_of_unacknowledged_packets() {
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
    assert!(more.abs() < 1000, "nodes of a tree: {more}");
}

/// The most bytes that a channel takes if it is not used, or if it was used to its limits and is at rest
/// again.
const AT_REST: i64 = 2000;

/// A message as large as those of many games.
type Large = [u8; 64];

/// Channels with default settings.
fn three() -> MessageConfig {
    let channels = [
        MessageChannel::reliable(),
        MessageChannel::reliable().blocks(BLOCK),
        MessageChannel::unreliable(),
    ];
    MessageConfig::new(&channels).unwrap()
}

#[test]
fn channels_that_nobody_uses_take_next_to_nothing() {
    let config = three();
    let mut endpoints = Vec::with_capacity(1000);
    let all = measure(|| {
        for _ in 0..1000 {
            endpoints.push(Endpoint::<Large>::new(config.clone()));
        }
    });
    let each = all.bytes_current / 1000;
    assert!(each < 3 * AT_REST, "{each}");
}

/// One packet each way, of which a third is lost; the loss is known a little later.
fn exchange(ends: &mut [Endpoint<Large>; 2], step: u32) {
    let now = Instant::from_micros(u64::from(step) * 50_000);
    let mut buffer = [0; 1100];
    let sequence = u16::try_from(step % 65_536).unwrap();
    for from in 0..2 {
        let packet = ends[from].write_packet(now, sequence, &mut buffer);
        let Some(packet) = packet.unwrap().map(|packet| packet.to_vec()) else {
            continue;
        };
        if (step + u32::try_from(from).unwrap()) % 3 == 0 {
            ends[from].packet_lost(sequence);
        } else {
            ends[1 - from].read_packet(&packet).unwrap();
            ends[from].packet_acked(sequence);
        }
    }
}

#[test]
fn channels_that_were_used_and_are_at_rest_give_back_what_they_took() {
    let config = three();
    let mut ends = None;
    let all = measure(|| {
        let mut both = [(); 2].map(|()| Endpoint::new(config.clone()));
        for end in &mut both {
            while end.send(0, [7; 64]).is_ok() {}
            while end.send(2, [7; 64]).is_ok() {}
            for _ in 0..3 {
                end.send_block(1, [7; 64], vec![7; 50_000]).unwrap();
            }
        }
        for step in 0..4000 {
            exchange(&mut both, step);
            for end in &mut both {
                if step > 100 {
                    while end.receive().is_some() {}
                }
            }
        }
        assert_eq!(
            both.each_ref().map(|end| end.queued(0) + end.queued(1)),
            [0; 2]
        );
        ends = Some(both);
    });
    let each = all.bytes_current / 2;
    assert!(all.bytes_max > 500_000, "{all:?}");
    assert!(each < 3 * AT_REST, "{each}");
    drop(ends);
}
