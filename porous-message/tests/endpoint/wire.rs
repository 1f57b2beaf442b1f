//! Endpoints write the packets that `docs/message.md` shows.

use porous_message::MessageChannel;

use crate::carrier::{A, B, Both, Packet};

/// The bits of an example in the document, and its bytes.
fn shown(name: &str) -> (String, Vec<u8>) {
    let document = include_str!("../../../docs/message.md");
    let (_, block) = document.split_once("```packets\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let line = block.lines().find(|line| line.starts_with(name)).unwrap();
    let fields: Vec<&str> = line.split('|').collect();
    let bits = fields[1].chars().filter(|bit| !bit.is_whitespace());
    let byte = |hex: &str| u8::from_str_radix(hex, 16).unwrap();
    (
        bits.collect(),
        fields[2].split_whitespace().map(byte).collect(),
    )
}

/// The bits of these bytes, the lowest of each first.
fn bits(bytes: &[u8]) -> String {
    let bit = |index: usize| bytes[index / 8] >> (index % 8) & 1;
    (0..8 * bytes.len())
        .map(|index| char::from(b'0' + bit(index)))
        .collect()
}

fn check(name: &str, packet: &Packet) {
    let (shown_bits, shown_bytes) = shown(name);
    assert_eq!(packet.bytes, shown_bytes, "{name}");
    let written = bits(&packet.bytes);
    let (start, padding) = written.split_at(shown_bits.len());
    assert_eq!(start, shown_bits, "{name}");
    assert!(padding.len() < 8 && !padding.contains('1'), "{name}");
}

#[test]
fn packets_are_as_the_document_shows_them() {
    let channels = [
        MessageChannel::reliable().blocks(1000),
        MessageChannel::unreliable(),
    ];
    let mut both = Both::new(&channels);
    for (channel, message) in [(0, 7_u8), (0, 8), (1, 9)] {
        both.ends[A].send(channel, message).unwrap();
    }
    let packet = both.write(A).unwrap();
    check("messages 7 and 8, and 9 unreliable", &packet);
    both.read(&packet);
    assert_eq!(both.received(B), [7, 8, 9]);
    let told = both.write(B).unwrap();
    check("message 2 is the next", &told);
    both.read(&told);
    both.ack(&packet);
    both.ends[A].send_block(0, 5, vec![1, 2]).unwrap();
    let block = both.write(A).unwrap();
    check("a block of two bytes, with 5", &block);
}
