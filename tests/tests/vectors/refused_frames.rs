//! Short forms whose head, ids, acknowledgement or check is refused.

use porous_proto::Malformed::{self, BadValue, Integrity, NotCanonical, Reserved, Truncated};
use porous_tests::encoder::{Packet, varint};

use super::frames::{Frame, block, noop};
use super::offers::bytes;
use super::vector::{Context, Vector};

pub(crate) fn all() -> Vec<Vector> {
    [heads(), ids(), acknowledgements(), checks()].concat()
}

/// Frame 0 with any byte 0 and any body, and a check that fits. `acked`: the id that the body acknowledges.
pub(crate) fn raw(flags: u8, body: &[u8], acked: Option<u64>) -> Vec<u8> {
    let context = Context::PLAIN;
    let id = bytes(context.connection_id_len);
    let mut frame = [&[0x40 | flags][..], &id, &[0], body].concat();
    context.append_check(0, acked, &mut frame);
    frame
}

fn heads() -> Vec<Vector> {
    let whole = Frame::new(Context::PLAIN).message(noop()).encode();
    let cut = (1..=5).map(|length| {
        let name = format!("refused: a frame of {length} bytes");
        Vector::short(name, Context::PLAIN, whole[..length].to_vec()).refused(Truncated)
    });
    let phase = raw(8, &[0xC0, 0], None);
    let phase = Vector::short("refused: K in a plain frame", Context::PLAIN, phase);
    let now = raw(1, &[], None);
    let now = Vector::short("refused: R without a message", Context::PLAIN, now);
    let padding = raw(1, &[0xC0, 9, 0], None);
    let padding = Vector::short(
        "refused: R with nothing but padding",
        Context::PLAIN,
        padding,
    );
    let others = [
        phase.refused(Reserved),
        now.refused(NotCanonical),
        padding.refused(NotCanonical),
    ];
    let sealed = Context {
        is_sealed: true,
        ..Context::PLAIN
    };
    let short = [&[0x40][..], &bytes(4), &[0], &bytes(15)].concat();
    let short = Vector::short("refused: a sealed frame without a whole tag", sealed, short);
    cut.chain(others)
        .chain([short.refused(Truncated)])
        .collect()
}

/// There are no ids below zero, and a check does not fit another id than that of its sender.
fn ids() -> Vec<Vector> {
    let mut all = Vec::new();
    for width in 1..=4_u8 {
        let quarter = 1_u64 << (8 * width - 2);
        // At the beginning only the ids of the first quarter exist.
        let early = Frame::new(Context::PLAIN)
            .id(quarter, width)
            .message(noop());
        let name = format!("refused: the first id is {quarter} in {width} bytes");
        all.push(early.vector(name).refused(BadValue));
        let base = 1_u64 << 40;
        let context = Context {
            next_frame: base,
            next_acknowledged: base,
            ..Context::PLAIN
        };
        for (id, what) in [(base + quarter, "new"), (base - 3 * quarter - 1, "old")] {
            let frame = Frame::new(context).id(id, width).message(noop());
            let name = format!("refused: an id that is too {what} for {width} bytes");
            all.push(frame.vector(name).refused(Integrity));
            let frame = Frame::new(context).id(base, 1).ack(id, block(width));
            let name = format!("refused: acknowledges an id that is too {what} for {width} bytes");
            all.push(frame.vector(name).refused(Integrity));
        }
        let early = Frame::new(Context::PLAIN).ack(quarter, block(width));
        let name = format!("refused: the first acknowledgement names {quarter} in {width} bytes");
        all.push(early.vector(name).refused(BadValue));
    }
    all
}

/// The block behind its head and one byte of the newest id, 9.
fn ack(head: u8, rest: &[u8]) -> Vec<u8> {
    raw(4, &[&[head, 9][..], rest].concat(), Some(9))
}

fn number(value: u32) -> Vec<u8> {
    let mut out = Vec::new();
    varint(&mut out, value);
    out
}

fn acknowledgements() -> Vec<Vector> {
    let thirty_three = [vec![0x21], vec![1; 66]].concat();
    let seventeen = [vec![17], vec![1; 34]].concat();
    let ranges = |numbers: &[&[u8]]| ack(2, &[&[1][..], &numbers.concat()].concat());
    let all: [(&str, Vec<u8>, Malformed); 22] = [
        ("no head", raw(4, &[], None), Truncated),
        ("no newest id", raw(4, &[0], None), Truncated),
        ("half a newest id", raw(4, &[0x40, 9], None), Truncated),
        ("no delay", ack(4, &[]), Truncated),
        ("half a map", ack(0x10, &[0]), Truncated),
        ("no byte n", ack(2, &[]), Truncated),
        ("a map of 5 bytes", ack(0x28, &[0; 5]), BadValue),
        ("a map of 7 bytes", ack(0x38, &[0; 7]), BadValue),
        ("a map of a byte FF", ack(8, &[0xFF]), NotCanonical),
        (
            "a map that ends with FF",
            ack(0x20, &[0, 0, 0, 0xFF]),
            NotCanonical,
        ),
        ("n of 0", ack(2, &[0]), NotCanonical),
        ("bit 5 of n", ack(2, &thirty_three), BadValue),
        ("17 ranges", ack(2, &seventeen), BadValue),
        ("no marks", ack(2, &[0x40]), Truncated),
        ("0 marks", ack(2, &[0x40, 0]), NotCanonical),
        (
            "marks in too many bytes",
            ack(2, &[0x40, 0x83, 0]),
            NotCanonical,
        ),
        ("half a range", ranges(&[&[1]]), Truncated),
        ("an empty range", ranges(&[&[1], &[0]]), BadValue),
        ("a second gap of 0", ack(2, &[2, 0, 1, 0, 1]), NotCanonical),
        (
            "a gap in too many bytes",
            ranges(&[&[0x80, 0], &[1]]),
            NotCanonical,
        ),
        (
            "a length of 2^32",
            ranges(&[&[1], &[0x80, 0x80, 0x80, 0x80, 0x10]]),
            BadValue,
        ),
        (
            "a length of six bytes",
            {
                let most = number(u32::MAX);
                ranges(&[&most, &[0xFF, 0xFF, 0xFF, 0xFF, 0x8F, 1]])
            },
            BadValue,
        ),
    ];
    let vector = |(name, bytes, cause): (&str, Vec<u8>, Malformed)| {
        let context = Context {
            next_acknowledged: 9,
            ..Context::PLAIN
        };
        let name = format!("refused: acknowledgement: {name}");
        Vector::short(name, context, bytes).refused(cause)
    };
    all.map(vector).into()
}

fn checks() -> Vec<Vector> {
    let mut all = Vec::new();
    for is_crc in [false, true] {
        let context = Context {
            is_crc,
            next_frame: 40,
            ..Context::PLAIN
        };
        let what = if is_crc { "all bytes" } else { "the head" };
        let packet = Packet::whole(0, 0, 7, 0, b"hi".to_vec());
        let good = Frame::new(context).id(41, 1).packets([packet]).encode();
        let last = good.len() - 1;
        // Byte 0, the frame id, and each byte of the check.
        let places = [0, 5, last - 3, last - 2, last - 1, last];
        let body = is_crc.then_some(last - 4);
        for place in places.into_iter().chain(body) {
            let mut damaged = good.clone();
            damaged[place] ^= if place == 0 { 2 } else { 1 };
            let name = format!("refused: a check of {what}: byte {place} is damaged");
            all.push(Vector::short(name, context, damaged).refused(Integrity));
        }
        let other = Context {
            next_frame: 40 + 256,
            ..context
        };
        let name = format!("refused: a check of {what}: 256 frames later");
        all.push(Vector::short(name, other, good.clone()).refused(Integrity));
        let other = Context {
            is_crc: !is_crc,
            ..context
        };
        let name = format!("refused: a check of {what}: the other check was agreed on");
        all.push(Vector::short(name, other, good).refused(Integrity));
    }
    all
}
