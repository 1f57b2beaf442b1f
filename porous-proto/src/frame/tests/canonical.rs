//! Each rule of the canonical form, with datagrams that break it and are refused.

use super::*;

/// The result of decoding a short form without connection id and with id width 1.
fn decode_with(body: &[u8], context: Context) -> Result<Vec<u8>, Malformed> {
    let mut datagram = vec![0x40, 0xD0];
    datagram.extend(body);
    reencode(&datagram, 0, context).map(|again| {
        assert_eq!(again, datagram);
        again
    })
}

fn accepts(body: &[u8]) {
    assert!(
        decode_with(body, CONTEXT).is_ok(),
        "{body:02x?}: {:?}",
        decode_with(body, CONTEXT)
    );
}

fn refuses(body: &[u8], why: Malformed) {
    assert_eq!(decode_with(body, CONTEXT), Err(why), "{body:02x?}");
}

use Malformed::{BadValue, NotCanonical, Reserved, TooManyMessages, Truncated, UnknownType};

// Heads: mode << 5 | C 0x10 | S 0x08 | D 0x04 | length form. Reliable is 0x20, passive 0x40,
// fragments 0x60 more.

#[test]
fn a_channel_is_named_only_when_it_changes() {
    accepts(&[0x18, 3, 7, 0, b'a']);
    // Channel 0 is predicted at first, and that of the message before afterwards.
    refuses(&[0x18, 0, 7, 0, b'a'], NotCanonical);
    accepts(&[0x1A, 3, 7, 0, 1, b'a', 0x00, b'b']);
    refuses(&[0x1A, 3, 7, 0, 1, b'a', 0x10, 3, b'b'], NotCanonical);
}

#[test]
fn an_id_is_told_only_when_it_is_not_the_next() {
    accepts(&[0x0A, 7, 0, 1, b'a', 0x00, b'b']);
    accepts(&[0x0A, 7, 0, 1, b'a', 0x08, 9, 0, b'b']);
    // The next id is predicted, also where ids wrap; nothing predicts the first one.
    refuses(&[0x0A, 7, 0, 1, b'a', 0x08, 8, 0, b'b'], NotCanonical);
    refuses(&[0x0A, 0xFF, 0xFF, 1, b'a', 0x08, 0, 0, b'b'], NotCanonical);
    refuses(&[0x00, b'a'], NotCanonical);
}

#[test]
fn a_dependency_is_told_only_when_it_is_not_as_predicted() {
    accepts(&[0x2C, 7, 0, 2, b'a']);
    // Predicted are 1 for a first reliable packet, 0 for another first one, and 1 behind a reliable one.
    refuses(&[0x2C, 7, 0, 1, b'a'], NotCanonical);
    refuses(&[0x0C, 7, 0, 0, b'a'], NotCanonical);
    accepts(&[0x2A, 7, 0, 1, b'a', 0x04, 2, b'b']);
    refuses(&[0x2A, 7, 0, 1, b'a', 0x04, 1, b'b'], NotCanonical);
}

#[test]
fn a_dependency_is_below_the_window() {
    accepts(&[0x0C, 7, 0, 0xFF, 0x1F, b'a']);
    // N_Q itself; and then 2, in one byte too many.
    refuses(&[0x0C, 7, 0, 0x80, 0x20, b'a'], BadValue);
    refuses(&[0x0C, 7, 0, 0x82, 0x00, b'a'], NotCanonical);
}

#[test]
fn only_the_last_message_goes_without_a_length() {
    accepts(&[0x08, 7, 0]);
    // The last message with a length, and with that of the one before.
    refuses(&[0x0A, 7, 0, 1, b'a'], NotCanonical);
    refuses(&[0x0A, 7, 0, 1, b'a', 0x01, b'b'], NotCanonical);
    // With padding behind it a message is not the last, and has a length.
    accepts(&[0x0A, 7, 0, 1, b'a', 0xC0, 9]);
}

#[test]
fn a_length_is_told_in_the_shortest_way() {
    accepts(&[0x0A, 7, 0, 1, b'a', 0x01, b'b', 0x00]);
    // A length that is as before; "as before" without one before; and 255 in two bytes.
    refuses(&[0x0A, 7, 0, 1, b'a', 0x02, 1, b'b', 0x00], NotCanonical);
    refuses(&[0x09, 7, 0, b'a', 0x00], NotCanonical);
    let mut long = vec![0x0B, 7, 0, 0x00, 0x01];
    long.extend([b'a'; 256]);
    long.push(0x00);
    accepts(&long);
    long.remove(5);
    (long[3], long[4]) = (0xFF, 0x00);
    refuses(&long, NotCanonical);
}

/// The result of decoding a fragment with this offset and packet length, as varints, and a payload of
/// `length` bytes.
fn fragment(numbers: &[u8], length: usize) -> Result<(), Malformed> {
    let body = [&[0x68, 7, 0], numbers, &vec![7; length]].concat();
    decode_with(&body, CONTEXT).map(drop)
}

/// Q3.
#[test]
fn a_fragment_has_a_place_and_is_not_too_short() {
    const NONE: &[u8] = &[0];
    const LEAST: &[u8] = &[0x80, 2]; // 256
    const MORE: &[u8] = &[0x81, 2];
    const LARGE: &[u8] = &[0x80, 4]; // 512
    const MOST: &[u8] = &[0xFF, 0xFF, 0xFF, 0xFF, 0x0F];
    // The whole packet is no fragment, but all of it except a byte is; and its end may have one byte.
    for (offset, len, length) in [
        (NONE, MORE, 256),
        (NONE, MOST, 256),
        (NONE, LARGE, 511),
        (LEAST, MORE, 1),
        (LEAST, LARGE, 256),
        (MORE, MOST, 300),
        (&[0xFE, 0xFF, 0xFF, 0xFF, 0x0F], MOST, 1),
    ] {
        let taken = fragment(&[offset, len].concat(), length);
        assert_eq!(taken, Ok(()), "{offset:02x?} {len:02x?} {length}");
    }
    // All of the packet or more; too short; of an empty packet; beyond the end; and offsets that are less
    // than the shortest fragment.
    for (offset, len, length) in [
        (NONE, LARGE, 512), // that is no fragment
        (NONE, LARGE, 513),
        (NONE, LARGE, 255),
        (NONE, LARGE, 0),
        (NONE, NONE, 0),
        (LEAST, LARGE, 255),
        (LEAST, LARGE, 257),
        (LEAST, LEAST, 0),
        (MORE, LEAST, 0),
        (MORE, LEAST, 300),
        (&[0xFF, 1], LEAST, 1), // nothing fits before it
        (&[0xFF, 1], MOST, 300),
        (&[1], LARGE, 256),
        (MOST, MOST, 0),
        (MOST, MOST, 1),
    ] {
        let taken = fragment(&[offset, len].concat(), length);
        assert_eq!(taken, Err(BadValue), "{offset:02x?} {len:02x?} {length}");
    }
    // Varints in too many bytes, or beyond 32 bits.
    for numbers in [
        &[0, 0x80, 0x82, 0][..],
        &[0x80, 0, 0x81, 2],
        &[0, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F],
    ] {
        assert!(fragment(numbers, 256).is_err(), "{numbers:02x?}");
    }
}

#[test]
fn control_has_one_head_and_known_subtypes() {
    accepts(&[0xC0, 0]);
    for flag in [0x10, 0x08, 0x04, 0x02, 0x01] {
        refuses(&[0xC0 | flag, 0], Reserved);
    }
    // An unknown subtype, an unknown head, and messages that end too early.
    refuses(&[0xC0, 13], UnknownType);
    refuses(&[0xE1, 0], UnknownType);
    refuses(&[0xC0], Truncated);
    refuses(&[0xC0, 1, 0], Truncated);
}

#[test]
fn control_fields_are_in_range() {
    accepts(&[0xC0, 4, 3, 7, 0, 0xFF, 0x1F]);
    // A dependency of N_Q, in a sentinel and in a tombstone.
    refuses(&[0xC0, 4, 3, 7, 0, 0x80, 0x20], BadValue);
    refuses(&[0xC0, 5, 3, 7, 0, 0x80, 0x20], BadValue);
    accepts(&[0xC0, 6, 1, 0, 1, 0, 0, 0]);
    // A rate of 0.
    refuses(&[0xC0, 6, 1, 0, 0, 0, 0, 0], BadValue);
}

#[test]
fn padding_is_zeros_to_the_end() {
    accepts(&[0xC0, 9]);
    accepts(&[0xC0, 0, 0xC0, 9, 0, 0, 0]);
    refuses(&[0xC0, 9, 0, 1], Reserved);
    refuses(&[0xC0, 9, 0xC0, 0], Reserved);
}

/// T12.
#[test]
fn a_frame_has_at_most_128_messages() {
    accepts(&[0xC0, 0].repeat(MAX_MESSAGES));
    refuses(&[0xC0, 0].repeat(MAX_MESSAGES + 1), TooManyMessages);
}

#[test]
fn ack_now_needs_something_to_acknowledge() {
    let read = |datagram: &[u8]| reencode(datagram, 0, CONTEXT).map(|_| ());
    assert_eq!(read(&[0x41, 0xD0, 0xC0, 0]), Ok(()));
    // Without a message, with padding alone, and with an acknowledgement alone.
    assert_eq!(read(&[0x41, 0xD0]), Err(NotCanonical));
    assert_eq!(read(&[0x41, 0xD0, 0xC0, 9]), Err(NotCanonical));
    assert_eq!(read(&[0x45, 0xD0, 0x00, 0x2A]), Err(NotCanonical));
}

#[test]
fn the_head_of_a_short_form_is_checked() {
    let read = |datagram: &[u8], id: usize| reencode(datagram, id, CONTEXT).map(|_| ());
    assert_eq!(read(&[0x48, 0xD0], 0), Err(Reserved), "key phase");
    assert_eq!(read(&[0x00, 0xD0], 0), Err(UnknownType));
    assert_eq!(read(&[0x80, 0xD0], 0), Err(UnknownType));
    assert_eq!(read(&[0x50, 0xD0], 0), Err(Truncated), "an id of two bytes");
    assert_eq!(read(&[0x40, 1, 2, 3, 4], 4), Err(Truncated));
    assert_eq!(read(&[0x40, 1, 2, 3, 4, 0xD0], 4), Ok(()));
    assert_eq!(read(&[], 0), Err(Truncated));
}

#[test]
fn only_a_packet_can_have_a_receipt() {
    accepts(&[0xE0, 0x08, 7, 0, b'a']);
    accepts(&[0x0A, 7, 0, 1, b'a', 0xE0, 0x00, b'b']);
    refuses(&[0xE0], Truncated);
    // Before a control message, twice, and with flags.
    refuses(&[0xE0, 0xC0, 0], BadValue);
    refuses(&[0xE0, 0xE0, 0x08, 7, 0, b'a'], UnknownType);
    for bits in 1..32 {
        refuses(&[0xE0 | bits, 0x08, 7, 0, b'a'], UnknownType);
    }
}

#[test]
fn fates_are_of_one_to_64_packets() {
    accepts(&[0xC0, 12, 2, 9, 0, 0, 0, 1, 0b1]);
    accepts(&[0xC0, 12, 2, 9, 0, 0, 0, 0x80 | 9, 0xFF, 0b1]);
    accepts(&[0xC0, 12, 2, 9, 1, 0, 0, 64, 1, 2, 3, 4, 5, 6, 7, 0xFF]);
    // No packet, with and without F; 65 packets; bits beyond the count; and too few bits.
    refuses(&[0xC0, 12, 2, 9, 0, 0, 0, 0], BadValue);
    refuses(&[0xC0, 12, 2, 9, 0, 0, 0, 0x80], BadValue);
    refuses(
        &[0xC0, 12, 2, 9, 0, 0, 0, 65, 1, 2, 3, 4, 5, 6, 7, 8, 1],
        BadValue,
    );
    refuses(&[0xC0, 12, 2, 9, 0, 0, 0, 1, 0b10], Reserved);
    refuses(&[0xC0, 12, 2, 9, 0, 0, 0, 9, 0xFF, 0b10], Reserved);
    refuses(&[0xC0, 12, 2, 9, 0, 0, 0, 9, 0xFF], Truncated);
}

#[test]
fn a_tag_is_no_part_of_the_messages() {
    let context = Context { tag: 4, ..CONTEXT };
    assert_eq!(reencode(&[0x40, 0xD0, 1, 2, 3], 0, context), Err(Truncated));
    assert!(reencode(&[0x40, 0xD0, 1, 2, 3, 4], 0, context).is_ok());
    assert!(decode_with(&[0x08, 7, 0, b'a', 1, 2, 3, 4], context).is_ok());
}

#[test]
fn a_frame_that_is_full_or_closed_takes_no_more() {
    let noop: Message<&[u8]> = Message::Control(Control::Noop);
    let mut buffer = [0; 600];
    let mut layout = Layout::new(CONTEXT);
    let mut frame = FrameWriter::new(&mut buffer, &header(0), None, &mut layout).unwrap();
    for _ in 0..MAX_MESSAGES {
        frame.message(&noop, false).unwrap();
    }
    assert!(frame.message(&noop, false).is_err());
    let mut layout = Layout::new(CONTEXT);
    let mut frame = FrameWriter::new(&mut buffer[..3], &header(0), None, &mut layout).unwrap();
    assert!(
        frame.message(&noop, false).is_err(),
        "two bytes do not fit into one"
    );
    assert!(frame.padding(1).is_err(), "padding has at least two bytes");
}

#[test]
fn the_overhead_of_common_datagrams_is_small() {
    let ack = AckBlock {
        largest_low: 0x2A,
        largest_width: 1,
        delay: Some(8),
        map: u32::MAX,
        nonce: false,
        marks: Marks::default(),
        ranges: ArrayVec::new(),
    };
    let packet = |mode, channel, id, payload| {
        let dependency = u16::from(mode == Mode::Reliable);
        Message::Packet(Packet {
            mode,
            channel,
            id,
            dependency,
            fragment: None,
            receipt: false,
            payload,
        })
    };
    let length = |messages: &[_]| short(&header(4), Some(&ack), messages, 0, CONTEXT).len();
    assert_eq!(
        length(&[packet(Mode::Unreliable, 0, 7, &[1; 200][..])]) - 200,
        12
    );
    assert_eq!(
        length(&[packet(Mode::Reliable, 0, 7, &[1; 24][..])]) - 24,
        12
    );
    assert_eq!(
        length(&[packet(Mode::Reliable, 2, 7, &[1; 24][..])]) - 24,
        13
    );
    let ten: Vec<_> = (0..10)
        .map(|i| {
            let channel = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2][i];
            packet(
                Mode::Unreliable,
                channel,
                100 + u32::try_from(i).unwrap(),
                &[1; 16][..],
            )
        })
        .collect();
    assert!(
        (28..=29).contains(&(length(&ten) - 160)),
        "{}",
        length(&ten) - 160
    );
}
