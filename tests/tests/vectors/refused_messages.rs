//! Frames with a message that is refused.

use porous_proto::Malformed::{
    self, BadValue, NotCanonical, Reserved, TooManyMessages, Truncated, UnknownType,
};

use super::offers::bytes;
use super::refused_frames::raw;
use super::vector::{Context, Vector};

pub(crate) fn all() -> Vec<Vector> {
    [
        packets(),
        predictions(),
        dependencies(),
        lengths(),
        fragments(),
        controls(),
        counts(),
    ]
    .concat()
}

fn refused<const N: usize>(all: [(&str, Vec<u8>, Malformed); N]) -> Vec<Vector> {
    let vector = |(name, body, cause): (&str, Vec<u8>, Malformed)| {
        let name = format!("refused: message: {name}");
        Vector::short(name, Context::PLAIN, raw(0, &body, None)).refused(cause)
    };
    all.map(vector).into()
}

fn packets() -> Vec<Vector> {
    let ping = vec![0xE0, 0xC0, 1, 1, 0];
    refused([
        ("a receipt at the end", vec![0xE0], Truncated),
        ("a receipt for a PING", ping, BadValue),
        ("a receipt for padding", vec![0xE0, 0xC0, 9], BadValue),
        ("a receipt twice", vec![0xE0, 0xE0, 8, 7, 0, 1], UnknownType),
        ("another kind 7", vec![0xE8, 7, 0, 1], UnknownType),
        ("the last kind 7", vec![0xFF, 7, 0, 1], UnknownType),
        ("no channel", vec![0x18], Truncated),
        ("half a packet id", vec![8, 7], Truncated),
        ("no dependency", vec![0x0C, 7, 0], Truncated),
        ("no length", vec![0x0A, 7, 0], Truncated),
        ("half a length", vec![0x0B, 7, 0, 0], Truncated),
        ("half a payload", vec![0x0A, 7, 0, 3, 1, 2], Truncated),
        ("half a fragment", vec![0x68, 7, 0, 0x80], Truncated),
    ])
}

/// A field that is there although it was predicted, or the other way round.
fn predictions() -> Vec<Vector> {
    let second = |rest: &[u8]| [&[0x2A, 7, 0, 1, 0xAA][..], rest].concat();
    let wraps = [&[0x2A, 0xFF, 0xFF, 1, 0xAA][..], &[8, 0, 0, 1]].concat();
    refused([
        (
            "channel 0 where it was predicted",
            vec![0x18, 0, 7, 0],
            NotCanonical,
        ),
        (
            "a channel again",
            [&[0x1A, 3, 7, 0, 1, 0xAA][..], &[0x10, 3]].concat(),
            NotCanonical,
        ),
        (
            "no packet id where none is predicted",
            vec![0],
            NotCanonical,
        ),
        (
            "no packet id on a new channel",
            second(&[0x10, 3, 1]),
            NotCanonical,
        ),
        (
            "a packet id where it was predicted",
            second(&[8, 8, 0, 1]),
            NotCanonical,
        ),
        ("a packet id that wraps as predicted", wraps, NotCanonical),
    ])
}

/// The same of dependencies.
fn dependencies() -> Vec<Vector> {
    let second = |rest: &[u8]| [&[0x2A, 7, 0, 1, 0xAA][..], rest].concat();
    refused([
        (
            "dependency 1 of a reliable one",
            vec![0x2C, 7, 0, 1],
            NotCanonical,
        ),
        (
            "dependency 0 of an unreliable one",
            vec![0x0C, 7, 0, 0],
            NotCanonical,
        ),
        (
            "dependency 0 of a passive one",
            vec![0x4C, 7, 0, 0],
            NotCanonical,
        ),
        (
            "a dependency on the one before",
            second(&[4, 1, 1]),
            NotCanonical,
        ),
        (
            "a dependency where a step back predicts 0",
            second(&[0x0C, 6, 0, 0, 1]),
            NotCanonical,
        ),
        (
            "a dependency of N_Q",
            vec![0x0C, 7, 0, 0x80, 0x20],
            BadValue,
        ),
        (
            "a dependency of 2^32 - 1",
            vec![0x0C, 7, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F],
            BadValue,
        ),
        (
            "a dependency of 2^32",
            vec![0x0C, 7, 0, 0x80, 0x80, 0x80, 0x80, 0x10],
            BadValue,
        ),
        (
            "a dependency in too many bytes",
            vec![0x0C, 7, 0, 0x82, 0],
            NotCanonical,
        ),
    ])
}

fn lengths() -> Vec<Vector> {
    let long = [&[0x0B, 7, 0, 0xFF, 0][..], &bytes(255), &[0xC0, 0]].concat();
    let again = [&[0x0A, 7, 0, 2, 1, 2][..], &[2, 2, 3, 4], &[0xC0, 0]].concat();
    let two = [&[0x0B, 7, 0, 0, 1][..], &bytes(256)].concat();
    let again_long = [&two[..], &[3, 0, 1], &bytes(256), &[0xC0, 0]].concat();
    let last = [&[0x0A, 7, 0, 2, 1, 2][..], &[1, 3, 4]].concat();
    refused([
        (
            "a length as before where none is",
            vec![9, 7, 0, 0xC0, 0],
            NotCanonical,
        ),
        ("a length of 255 in two bytes", long, NotCanonical),
        ("a length that is that before", again, NotCanonical),
        (
            "a length of two bytes that is that before",
            again_long,
            NotCanonical,
        ),
        (
            "a length of the last packet",
            vec![0x0A, 7, 0, 2, 1, 2],
            NotCanonical,
        ),
        (
            "a length of the last packet of 256 bytes",
            two,
            NotCanonical,
        ),
        ("a length as before of the last packet", last, NotCanonical),
        (
            "a length of the last packet, which is empty",
            vec![0x0A, 7, 0, 0],
            NotCanonical,
        ),
    ])
}

/// An unreliable fragment, packet 7 of channel 0, to the end: its offset and length as varints.
fn part(offset: &[u8], whole: &[u8], payload: usize) -> Vec<u8> {
    [&[0x68, 7, 0][..], offset, whole, &bytes(payload)].concat()
}

fn fragments() -> Vec<Vector> {
    let before = [&[0x6A, 7, 0, 255, 0, 0x80, 8][..], &bytes(255), &[0xC0, 0]].concat();
    refused([
        (
            "a fragment of an empty packet",
            part(&[0], &[0], 0),
            BadValue,
        ),
        (
            "a fragment that is the whole packet",
            part(&[0], &[0x80, 4], 512),
            BadValue,
        ),
        (
            "a fragment of 255 bytes",
            part(&[0], &[0x80, 8], 255),
            BadValue,
        ),
        (
            "a fragment of 255 bytes, not the last message",
            before,
            BadValue,
        ),
        (
            "a fragment at 255",
            part(&[0xFF, 1], &[0x80, 8], 300),
            BadValue,
        ),
        ("a fragment at 1", part(&[1], &[0x80, 8], 300), BadValue),
        ("an empty end", part(&[0x80, 8], &[0x80, 8], 0), BadValue),
        (
            "a fragment beyond the end",
            part(&[0x80, 2], &[0x80, 4], 257),
            BadValue,
        ),
        (
            "a fragment that begins beyond the end",
            part(&[0x81, 8], &[0x80, 8], 256),
            BadValue,
        ),
        (
            "an empty fragment in the middle",
            part(&[0x80, 2], &[0x80, 8], 0),
            BadValue,
        ),
        (
            "an offset in too many bytes",
            part(&[0x80, 0x82, 0], &[0x80, 8], 256),
            NotCanonical,
        ),
        (
            "a packet length of 2^32",
            part(&[0], &[0x80, 0x80, 0x80, 0x80, 0x10], 256),
            BadValue,
        ),
    ])
}

fn controls() -> Vec<Vector> {
    let cut = [
        (1, 2),
        (2, 2),
        (3, 5),
        (4, 4),
        (5, 4),
        (6, 6),
        (7, 8),
        (8, 8),
        (10, 3),
        (11, 7),
        (12, 7),
    ];
    let cut = cut.map(|(subtype, length)| {
        // Ones: a dependency of 1, a rate that is not 0, one fate.
        let body = [vec![0xC0, subtype], vec![1; length - 1]].concat();
        let name = format!("refused: message: subtype {subtype} with a byte less");
        Vector::short(name, Context::PLAIN, raw(0, &body, None)).refused(Truncated)
    });
    let fates = |rest: &[u8]| [&[0xC0, 12, 0, 9, 0, 0, 0][..], rest].concat();
    let others = refused([
        ("no subtype", vec![0xC0], Truncated),
        ("subtype 13", vec![0xC0, 13], UnknownType),
        ("subtype 255", vec![0xC0, 255], UnknownType),
        ("a flag of a control message", vec![0xC1, 0], Reserved),
        ("every flag of a control message", vec![0xDF, 0], Reserved),
        ("LIMITS of 0", vec![0xC0, 6, 1, 0, 0, 0, 0, 0], BadValue),
        (
            "SENTINEL that depends on N_Q before",
            vec![0xC0, 4, 0, 9, 0, 0x80, 0x20],
            BadValue,
        ),
        (
            "TOMBSTONE, N_Q in too many bytes",
            vec![0xC0, 5, 0, 9, 0, 0x81, 0],
            NotCanonical,
        ),
        ("padding that is not 0", vec![0xC0, 9, 0, 0, 1], Reserved),
        ("a message behind padding", vec![0xC0, 9, 0xC0, 0], Reserved),
        ("FATES of none", fates(&[0]), BadValue),
        ("FATES of none, the first", fates(&[0x80]), BadValue),
        (
            "FATES of 65",
            fates(&[65, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            BadValue,
        ),
        (
            "FATES of 127",
            fates(&[127, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            BadValue,
        ),
        ("FATES with a spare bit", fates(&[1, 2]), Reserved),
        (
            "FATES with the last spare bit",
            fates(&[9, 0, 0x80]),
            Reserved,
        ),
    ]);
    cut.into_iter().chain(others).collect()
}

fn counts() -> Vec<Vector> {
    let noops = [0xC0, 0].repeat(129);
    let packets = [&[0x0A, 0, 0, 0][..], &[1].repeat(127), &[0]].concat();
    refused([
        ("129 NOOPs", noops, TooManyMessages),
        ("129 packets", packets, TooManyMessages),
    ])
}
