//! A datagram that is no packet of the other end is refused as a whole. A message that cannot be sent is
//! handed back.

use porous_message::{
    Endpoint, Error, MessageChannel, MessageConfig, Reason, Serialize, Stream, WriteStream,
};
use porous_proto::Instant;

use crate::carrier::{A, B, Both};

/// A set of two messages, one of them with bounds.
#[derive(Clone, Debug, PartialEq)]
enum Game {
    Fire(u8),
    Jump,
    Score(u16),
}

impl Serialize for Game {
    fn blank() -> Self {
        Self::Jump
    }

    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        let mut kind = match self {
            Self::Fire(_) => 0,
            Self::Jump => 1,
            Self::Score(_) => 2,
        };
        stream.kind(&mut kind, 3)?;
        if S::READS {
            *self = match kind {
                0 => Self::Fire(0),
                1 => Self::Jump,
                _ => Self::Score(0),
            };
        }
        match self {
            Self::Fire(weapon) => stream.ranged(weapon, 0..=9),
            Self::Jump => Ok(()),
            Self::Score(score) => stream.ranged(score, 0..=999),
        }
    }
}

fn config() -> MessageConfig {
    let channels = [
        MessageChannel::reliable().blocks(1000).window(16),
        MessageChannel::unreliable(),
    ];
    MessageConfig::new(&channels).unwrap()
}

/// A packet with a bit of everything.
fn packet(both: &mut Both<Game>) -> Vec<u8> {
    for message in [Game::Fire(9), Game::Jump, Game::Score(999)] {
        both.ends[A].send(0, message.clone()).unwrap();
        both.ends[A].send(1, message).unwrap();
    }
    both.ends[A]
        .send_block(0, Game::Jump, vec![1; 300])
        .unwrap();
    both.write(A).unwrap().bytes
}

#[test]
fn every_end_that_is_too_soon_or_too_late_refuses_the_whole_packet() {
    let mut both = Both::with(config());
    let bytes = packet(&mut both);
    for length in 0..bytes.len() {
        assert_eq!(both.ends[B].read_packet(&bytes[..length]), Err(Error::End));
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert_eq!(both.ends[B].read_packet(&longer), Err(Error::Trailing));
    assert_eq!(both.ends[B].stats().packets_refused, bytes.len() as u64 + 1);
    assert_eq!(both.ends[B].receive(), None, "nothing of them was taken");
    both.ends[B].read_packet(&bytes).unwrap();
    assert_eq!(both.received(B).len(), 7);
}

#[test]
fn an_unknown_kind_a_value_out_of_bounds_and_padding_refuse_the_whole_packet() {
    // The second channel alone: no confirmation, no messages, no blocks; then one message each.
    let with = |kind: u32, value: u32, bits: u32, padding: u32| {
        let tail = kind << 5 | value << 7 | padding << (7 + bits + 1);
        (1 << 4 | tail).to_le_bytes()[..3].to_vec()
    };
    let mut endpoint = Endpoint::<Game>::new(config());
    let cases = [
        (with(0, 9, 4, 0), Err(Error::Trailing)),
        (with(0, 9, 4, 0)[..2].to_vec(), Ok(())),
        (with(0, 10, 4, 0)[..2].to_vec(), Err(Error::OutOfRange)),
        (with(0, 9, 4, 1)[..2].to_vec(), Err(Error::NotCanonical)),
        (with(3, 0, 0, 0)[..1].to_vec(), Err(Error::OutOfRange)),
        (with(2, 999, 10, 0), Ok(())),
        (with(2, 1000, 10, 0), Err(Error::OutOfRange)),
    ];
    for (bytes, expected) in cases {
        assert_eq!(endpoint.read_packet(&bytes), expected, "{bytes:?}");
    }
    let all: Vec<Game> = core::iter::from_fn(|| endpoint.receive())
        .map(|arrival| arrival.message)
        .collect();
    assert_eq!(all, [Game::Fire(9), Game::Score(999)]);
    let stats = endpoint.stats();
    assert_eq!((stats.packets_read, stats.packets_refused), (2, 5));
}

#[test]
fn a_message_ahead_of_the_window_refuses_the_whole_packet() {
    let wide = MessageConfig::new(&[MessageChannel::reliable().window(100)]).unwrap();
    let narrow = MessageConfig::new(&[MessageChannel::reliable().window(8)]).unwrap();
    let (mut a, mut b) = (Endpoint::new(wide), Endpoint::<u8>::new(narrow));
    let mut buffer = [0; 1000];
    let mut write = |a: &mut Endpoint<u8>, count: u8| {
        for number in 0..count {
            a.send(0, number).unwrap();
        }
        let packet = a.write_packet(Instant::ZERO, 0, &mut buffer).unwrap();
        packet.unwrap().to_vec()
    };
    let eight = write(&mut a, 8);
    let ninth = write(&mut a, 1);
    assert_eq!(b.read_packet(&ninth), Err(Error::OutOfRange));
    b.read_packet(&eight).unwrap();
    assert_eq!(b.receive().map(|arrival| arrival.message), Some(0));
    b.read_packet(&ninth).unwrap();
}

#[test]
fn a_packet_with_a_message_too_many_is_refused() {
    let config = MessageConfig::new(&[MessageChannel::unreliable()]).unwrap();
    let mut sender = Endpoint::new(config.clone().messages_per_packet(4));
    let mut receiver = Endpoint::<u8>::new(config.messages_per_packet(3));
    let mut buffer = [0; 100];
    for count in [4_u8, 3] {
        for number in 0..count {
            sender.send(0, number).unwrap();
        }
        let packet = sender.write_packet(Instant::ZERO, 0, &mut buffer).unwrap();
        let read = receiver.read_packet(packet.unwrap());
        let expected = if count == 3 {
            Ok(())
        } else {
            Err(Error::OutOfRange)
        };
        assert_eq!(read, expected, "{count}");
    }
}

#[test]
fn pieces_that_disagree_about_their_block_refuse_the_packet() {
    let channels = [MessageChannel::reliable().blocks(1000)];
    let config = MessageConfig::with_packet(&channels, 320).unwrap();
    let mut first = Both::<u8>::with(config.clone());
    let mut second = Both::<u8>::with(config);
    first.ends[A].send_block(0, 1, vec![1; 600]).unwrap();
    second.ends[A].send_block(0, 1, vec![1; 601]).unwrap();
    let piece = first.write(A).unwrap();
    let other = second.write(A).unwrap();
    first.read(&piece);
    assert_eq!(
        first.ends[B].read_packet(&other.bytes),
        Err(Error::OutOfRange)
    );
}

/// A packet with these pieces of block 0, of a channel of blocks up to 1000 bytes. Each piece: the
/// stated length of the block, the piece's index, and its length in bytes.
fn pieces(pieces: &[(u32, u32, usize)]) -> Vec<u8> {
    let mut buffer = [0; 1000];
    let mut stream = WriteStream::new(&mut buffer);
    stream.bits(&mut 0, 3).unwrap();
    for (place, (length, index, bytes)) in pieces.iter().enumerate() {
        // A whole id for the first piece; for others, that the id is the same.
        let (one, bits) = if place == 0 { (1, 33) } else { (3, 2) };
        stream.bits(&mut { one }, bits).unwrap();
        stream.ranged(&mut length.clone(), 0..=1000).unwrap();
        let count = length.div_ceil(256);
        stream.kind(&mut index.clone(), count).unwrap();
        if *index == 0 {
            stream.ranged(&mut 5, 0..=u8::MAX).unwrap();
        }
        stream.bytes(&mut vec![7; *bytes]).unwrap();
    }
    stream.bool(&mut false).unwrap();
    stream.finish().to_vec()
}

#[test]
fn of_pieces_in_one_packet_that_disagree_the_first_one_counts() {
    let channels = [MessageChannel::reliable().blocks(1000)];
    let mut endpoint = Endpoint::<u8>::new(MessageConfig::new(&channels).unwrap());
    let both = pieces(&[(300, 0, 256), (301, 1, 45)]);
    endpoint.read_packet(&both).unwrap();
    assert_eq!(endpoint.receive(), None);
    endpoint.read_packet(&pieces(&[(300, 1, 44)])).unwrap();
    let block = endpoint.receive().unwrap().block.unwrap();
    assert_eq!(block.len(), 300);
}

#[test]
fn a_piece_of_a_block_ahead_of_the_window_refuses_the_packet() {
    let channel = MessageChannel::reliable().blocks(1000);
    let config = |window| MessageConfig::new(&[channel.block_window(window)]).unwrap();
    let mut sender = Endpoint::new(config(2));
    let mut receiver = Endpoint::<u8>::new(config(1));
    let mut buffer = [0; 1100];
    for number in [0_u8, 1] {
        sender.send_block(0, number, vec![1; 10]).unwrap();
    }
    let packet = sender.write_packet(Instant::ZERO, 0, &mut buffer).unwrap();
    let read = receiver.read_packet(packet.unwrap());
    assert_eq!(read, Err(Error::OutOfRange));
    assert_eq!(receiver.receive(), None);
}

#[test]
fn a_message_out_of_its_bounds_is_given_back() {
    let mut both = Both::with(config());
    let unsent = both.ends[A].send(0, Game::Fire(10)).unwrap_err();
    assert_eq!(unsent.reason, Reason::Invalid(Error::OutOfRange));
    assert_eq!(unsent.message, Game::Fire(10));
    let unsent = both.ends[A]
        .send_block(0, Game::Fire(10), vec![])
        .unwrap_err();
    assert_eq!(unsent.reason, Reason::Invalid(Error::OutOfRange));
    assert_eq!(both.write(A), None);
}

/// Measures nothing, and writes a thousand bits.
#[derive(Debug)]
struct Liar;

impl Serialize for Liar {
    fn blank() -> Self {
        Self
    }

    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        if stream.bytes(&mut [0; 1]).is_ok() && core::any::type_name::<S>().contains("Write") {
            stream.bytes(&mut [0; 2000])?;
        }
        Ok(())
    }
}

#[test]
fn one_that_writes_more_than_it_measured_is_an_error_and_counts_as_not_sent() {
    let mut endpoint = Endpoint::new(config());
    endpoint.send(0, Liar).unwrap();
    let mut buffer = [0; 1100];
    for _ in 0..2 {
        let written = endpoint.write_packet(Instant::ZERO, 0, &mut buffer);
        assert_eq!(written, Err(Error::End));
    }
    assert_eq!(endpoint.stats().packets_written, 0);
}

#[test]
fn a_buffer_that_is_too_short_is_an_error() {
    let mut endpoint = Endpoint::<u8>::new(config());
    let written = endpoint.write_packet(Instant::ZERO, 0, &mut []);
    assert_eq!(written, Err(Error::End));
}
