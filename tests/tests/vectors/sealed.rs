//! The forms of sealed connections. What is sealed in them is some bytes: `docs/vectors/sealed.txt` has examples
//! with keys.

use porous_tests::encoder::{VERSION, long};

use super::offers::{ANSWERS, ASKS, ID, Parameters, bytes, padded};
use super::vector::{Context, Vector};

/// Flags of the body of ACK with AUTH.
const ANSWER: u8 = 1;
const KEY: u8 = 2;
const PSK: u8 = 4;
const TOKEN: u8 = 8;

/// Of a connection that is sealed.
pub(crate) const SEALED: Context = Context {
    is_sealed: true,
    ..Context::PLAIN
};

pub(crate) fn all() -> Vec<Vector> {
    [first(), second(), frames(), goodbyes()].concat()
}

/// ACK with AUTH: the suite, the flags, and the bytes that the flags name; then those of Noise.
pub(crate) fn auth(suite: u8, flags: u8, said: &[u8], noise: usize) -> Vec<u8> {
    [&[suite, flags][..], said, &bytes(noise)].concat()
}

/// A datagram with message 1 of this body, and the REQ behind it.
pub(crate) fn message_1(body: &[u8]) -> Vec<u8> {
    let offer = Parameters::least().with(12, [1]);
    [
        long(0xD2, VERSION, [ASKS, ANSWERS], body),
        offer.second_req(),
    ]
    .concat()
}

/// Message 2 of this body.
pub(crate) fn message_2(body: &[u8]) -> Vec<u8> {
    long(0xD2, VERSION, [ANSWERS, ASKS], body)
}

/// A token of this length behind its length.
fn token(length: u16) -> Vec<u8> {
    [length.to_le_bytes().to_vec(), bytes(length.into())].concat()
}

fn first() -> Vec<Vector> {
    let (tag, psk) = ([0x1A, 0x92, 0xF2, 0x38], 7_u32.to_le_bytes());
    let key_and_psk = [tag, psk].concat();
    let key_and_token = [tag.to_vec(), token(80)].concat();
    let bodies = [
        ("no flag", auth(1, 0, &[], 32 + 16)),
        ("a greeting of 255 bytes", auth(1, 0, &[], 32 + 16 + 255)),
        ("suite 2", auth(2, 0, &[], 32 + 16 + 2)),
        ("K", auth(1, KEY, &tag, 48)),
        ("P", auth(1, PSK, &psk, 48)),
        ("the largest number of a psk", auth(1, PSK, &[0xFF; 4], 48)),
        ("K and P", auth(1, KEY | PSK, &key_and_psk, 48)),
        ("a token of 1 byte", auth(1, TOKEN, &token(1), 48)),
        ("a token of 372 bytes", auth(1, TOKEN, &token(372), 48)),
        ("K and T", auth(1, KEY | TOKEN, &key_and_token, 48 + 2)),
        ("a suite to come, the shortest", auth(3, 0, &[], 1 + 16)),
        (
            "a suite to come, the longest",
            auth(191, 0, &[], 65 + 255 + 16),
        ),
        (
            "a suite that two hosts have agreed on",
            auth(255, PSK, &psk, 65 + 16),
        ),
    ];
    let mut all: Vec<Vector> = bodies
        .map(|(name, body)| Vector::long(format!("message 1: {name}"), message_1(&body)))
        .into();
    let padded = padded(message_1(&auth(1, 0, &[], 48)), 1200);
    all.push(Vector::long("message 1: a padded REQ behind it", padded));
    all
}

fn second() -> Vec<Vector> {
    let bodies = [
        ("an empty connection id", auth(1, ANSWER, &[], 32 + 17)),
        ("a connection id of 4 bytes", auth(1, ANSWER, &[], 32 + 21)),
        ("the longest", auth(2, ANSWER, &[], 32 + 1 + 20 + 255 + 16)),
        (
            "a suite to come, the shortest",
            auth(100, ANSWER, &[], 1 + 17),
        ),
        (
            "a suite to come, the longest",
            auth(200, ANSWER, &[], 65 + 1 + 20 + 255 + 16),
        ),
    ];
    let mut all: Vec<Vector> = bodies
        .map(|(name, body)| Vector::long(format!("message 2: {name}"), message_2(&body)))
        .into();
    let ack = message_2(&auth(1, ANSWER, &[], 32 + 21));
    for (name, byte0, length) in [("a frame", 0x40, 19), ("an empty frame", 0x44, 16)] {
        let frame = [&[byte0][..], &ID, &[0], &bytes(length)].concat();
        let datagram = [ack.clone(), frame].concat();
        all.push(Vector::short(
            format!("message 2: {name} behind it"),
            SEALED,
            datagram,
        ));
    }
    all
}

fn frames() -> Vec<Vector> {
    // Byte 0 without the width of the frame id: K, A, N, R.
    let flags = (0..16).map(|flags| {
        let frame = [&[0x40 | flags][..], &ID, &[7], &bytes(19)].concat();
        Vector::short(format!("sealed frame: flags {flags:04b}"), SEALED, frame)
    });
    let widths = (1..=4).map(|width: u8| {
        let low = [0x11, 0x22, 0x33, 0x44];
        let byte0 = 0x40 | (width - 1) << 4;
        let head = [&[byte0][..], &ID, &low[..usize::from(width)]].concat();
        let context = Context {
            next_frame: 0x0100_4433_2211,
            ..SEALED
        };
        let frame = [head, bytes(40)].concat();
        Vector::short(
            format!("sealed frame: an id of {width} bytes"),
            context,
            frame,
        )
    });
    let ids = [0, 1, 8, 20].map(|length| {
        let context = Context {
            connection_id_len: length,
            ..SEALED
        };
        let frame = [vec![0x40], bytes(length), vec![0], bytes(16)].concat();
        Vector::short(
            format!("sealed frame: a connection id of {length} bytes"),
            context,
            frame,
        )
    });
    flags.chain(widths).chain(ids).collect()
}

fn goodbyes() -> Vec<Vector> {
    let mac = bytes(16);
    let goodbyes = [0, 42, u32::MAX].map(|reason: u32| {
        let body = [&reason.to_le_bytes()[..], &mac].concat();
        let goodbye = long(0xF8, VERSION, [ASKS, ANSWERS], &body);
        Vector::long(format!("DISC with a MAC: reason {reason}"), goodbye)
    });
    let ack = long(0xF9, VERSION, [ANSWERS, ASKS], &mac);
    let ack = Vector::long("DISC_ACK with a MAC", ack);
    goodbyes.into_iter().chain([ack]).collect()
}
