//! Configurations that cannot work, and some that only just do.

use alloc::string::ToString as _;
use alloc::vec;

use porous_proto::Instant;

use super::super::config::MessageConfig;
use super::super::{Endpoint, Reason};
use super::*;

const RELIABLE: MessageChannel = MessageChannel::reliable();
const UNRELIABLE: MessageChannel = MessageChannel::unreliable();

#[test]
fn what_cannot_work_is_an_error_that_names_the_field() {
    let cases = [
        (vec![], 1100, "declare 1 to 64 channels"),
        (vec![UNRELIABLE; 65], 1100, "declare 1 to 64 channels"),
        (vec![RELIABLE.blocks(1 << 20); 8], 16, "packet: "),
        (vec![RELIABLE], 0, "packet: "),
        (vec![RELIABLE], 8, "packet: "),
        (
            vec![RELIABLE, RELIABLE.blocks(5000).fragment(1100)],
            1100,
            "fragment of channel 1: ",
        ),
        (vec![RELIABLE.blocks(5000)], 200, "fragment of channel 0: "),
        (
            vec![RELIABLE.blocks(5000).budget(200)],
            1100,
            "fragment of channel 0: ",
        ),
        (vec![RELIABLE.budget(0)], 1100, "budget of channel 0: "),
        (
            vec![RELIABLE, UNRELIABLE.budget(0)],
            1100,
            "budget of channel 1: ",
        ),
        (vec![RELIABLE.budget(8)], 1100, "budget of channel 0: "),
        (
            vec![RELIABLE, UNRELIABLE.blocks(1000)],
            1100,
            "blocks of channel 1: ",
        ),
    ];
    for (channels, packet, message) in cases {
        let error = MessageConfig::with_packet(&channels, packet).unwrap_err();
        let said = error.to_string();
        assert!(said.starts_with(message), "{channels:?}: {said}");
    }
}

/// With the shortest packet that is accepted, a message and a block arrive on each channel.
#[test]
fn what_is_accepted_works() {
    let sets = [
        vec![RELIABLE],
        vec![UNRELIABLE],
        vec![RELIABLE.blocks(3000).fragment(64)],
        vec![RELIABLE.blocks(3000).fragment(64); 8],
        vec![UNRELIABLE, RELIABLE, RELIABLE.blocks(1).fragment(300)],
    ];
    for channels in sets {
        let least = (1..1100).find(|&packet| MessageConfig::with_packet(&channels, packet).is_ok());
        let config = MessageConfig::with_packet(&channels, least.unwrap()).unwrap();
        let mut ends = [(); 2].map(|()| Endpoint::<bool>::new(config.clone()));
        let mut expected = 0;
        for (position, channel) in channels.iter().enumerate() {
            ends[0].send(position, true).unwrap();
            expected += 1;
            if channel.max_block > 0 {
                // The message of a block takes one bit more than its first piece has.
                let sent = ends[0].send_block(position, true, vec![7; 1]);
                let reason = sent.map_err(|unsent| unsent.reason);
                assert!(
                    matches!(reason, Ok(()) | Err(Reason::TooLarge)),
                    "{reason:?}"
                );
                expected += usize::from(reason.is_ok());
            }
        }
        let mut buffer = [0; 1100];
        for sequence in 0..1000 {
            let now = Instant::from_micros(u64::from(sequence) * 100_000);
            for from in 0..2 {
                let packet = ends[from].write_packet(now, sequence, &mut buffer).unwrap();
                if let Some(packet) = packet.map(|packet| packet.to_vec()) {
                    ends[1 - from].read_packet(&packet).unwrap();
                    ends[from].packet_acked(sequence);
                }
            }
            while ends[1].receive().is_some() {
                expected -= 1;
            }
        }
        assert_eq!(expected, 0, "{channels:?}");
    }
}
