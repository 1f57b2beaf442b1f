//! Messages: packets, fragments, what is predicted of them, and control messages.

use porous_tests::encoder::{Message, Packet, varint};

use super::frames::{Frame, noop};
use super::offers::bytes;
use super::vector::{Context, Vector};

const MODES: [(u8, &str); 3] = [(0, "unreliable"), (1, "reliable"), (2, "passive")];

/// With packet ids of three bytes.
const WIDE: Context = Context {
    window: 32_768,
    ..Context::PLAIN
};

pub(crate) fn all() -> Vec<Vector> {
    let packets = [
        kinds(),
        lengths(),
        ids(),
        dependencies(),
        fragments(),
        many(),
    ];
    [packets.concat(), controls(), fates(), paddings()].concat()
}

fn frame(packets: impl IntoIterator<Item = Packet>) -> Frame {
    Frame::new(Context::PLAIN).packets(packets)
}

fn packet(mode: u8, channel: u8, id: u32, length: usize) -> Packet {
    Packet::whole(mode, channel, id, u32::from(mode == 1), bytes(length))
}

fn with_receipt(packet: Packet) -> Packet {
    Packet {
        receipt: true,
        ..packet
    }
}

fn kinds() -> Vec<Vector> {
    let mut all = Vec::new();
    for (mode, name) in MODES {
        for (channel, on) in [(0, "channel 0"), (1, "channel 1"), (254, "channel 254")] {
            let one = packet(mode, channel, 7, 3);
            all.push(frame([one.clone()]).vector(format!("{name} packet on {on}")));
            let one = with_receipt(one);
            all.push(frame([one]).vector(format!("{name} packet with a receipt on {on}")));
        }
        let part = packet(mode, 2, 9, 256);
        let whole = part.clone().part(0, 700);
        all.push(frame([whole]).vector(format!("{name} fragment")));
        let part = with_receipt(part.part(256, 700));
        all.push(frame([part]).vector(format!("{name} fragment with a receipt")));
    }
    all
}

/// How long a payload is, as the last message and before another one.
fn lengths() -> Vec<Vector> {
    let mut all = Vec::new();
    for length in [0, 1, 127, 128, 255, 256, 1100] {
        let one = packet(0, 0, 5, length);
        all.push(frame([one.clone()]).vector(format!("{length} bytes to the end")));
        let two = frame([one.clone()]).message(noop());
        all.push(two.vector(format!("{length} bytes before a NOOP")));
        if length <= 256 {
            let three = [one, packet(0, 0, 6, length), packet(0, 0, 7, length)];
            all.push(frame(three).vector(format!("{length} bytes three times")));
        }
    }
    let lengths = [3, 3, 4, 3, 300, 300, 2];
    let packets = (0..)
        .zip(lengths)
        .map(|(id, length)| packet(0, 0, id, length));
    all.push(frame(packets).vector("lengths that come again and change"));
    all
}

/// Packet ids of both widths, and where they wrap.
fn ids() -> Vec<Vector> {
    let mut all = Vec::new();
    for (context, last) in [(Context::PLAIN, 0xFFFF), (WIDE, 0xFF_FFFF)] {
        let bytes = context.id_bytes();
        for id in [0, 1, 255, 256, last - 1, last] {
            let one = Frame::new(context).packets([packet(0, 0, id, 2)]);
            all.push(one.vector(format!("packet id {id} in {bytes} bytes")));
        }
        let wraps = [
            packet(1, 0, last, 1),
            packet(1, 0, 0, 2),
            packet(1, 0, 1, 3),
        ];
        let wraps = Frame::new(context).packets(wraps);
        all.push(wraps.vector(format!("packet ids of {bytes} bytes that wrap")));
        let back = [packet(0, 0, 9, 1), packet(0, 0, 8, 2), packet(0, 0, 8, 3)];
        let back = Frame::new(context).packets(back);
        all.push(back.vector(format!("packet ids of {bytes} bytes that go back and stay")));
        let step = [packet(0, 0, 9, 1), packet(0, 0, 11, 2), packet(0, 0, 12, 3)];
        let step = Frame::new(context).packets(step);
        all.push(step.vector(format!("packet ids of {bytes} bytes, one left out")));
    }
    let turns = [(3, 5), (0, 5), (3, 6), (0, 6), (0, 7), (3, 7)];
    let turns = turns.map(|(channel, id)| packet(0, channel, id, 1));
    all.push(frame(turns).vector("channels take turns, and each has its own ids"));
    all
}

/// A packet of 1 byte on channel 0 with this dependency.
fn depends(mode: u8, id: u32, dependency: u32) -> Packet {
    Packet::whole(mode, 0, id, dependency, vec![1])
}

fn dependencies() -> Vec<Vector> {
    let mut all = Vec::new();
    for (mode, name) in MODES {
        for dependency in [0, 1, 2, 127, 128, 4095] {
            let one = frame([depends(mode, 5000, dependency)]);
            all.push(one.vector(format!("{name} packet that depends on {dependency} before")));
        }
    }
    for dependency in [128, 16_383, 16_384, 32_767] {
        let one = Frame::new(WIDE).packets([depends(2, 70_000, dependency)]);
        all.push(one.vector(format!("depends on {dependency} before, N_Q 32768")));
    }
    let pairs: [(&str, [Packet; 2]); 9] = [
        (
            "on the reliable one before",
            [depends(1, 8, 1), depends(0, 9, 1)],
        ),
        (
            "on the reliable one two before",
            [depends(1, 8, 1), depends(1, 10, 2)],
        ),
        (
            "on what the one before depends on",
            [depends(0, 8, 3), depends(2, 9, 4)],
        ),
        (
            "on nothing, as the one before",
            [depends(0, 8, 0), depends(1, 9, 0)],
        ),
        (
            "on nothing, unlike the one before",
            [depends(0, 8, 3), depends(0, 9, 0)],
        ),
        (
            "on another one than predicted",
            [depends(1, 8, 1), depends(0, 9, 2)],
        ),
        (
            "on nothing, as the step reaches N_Q",
            [depends(1, 8, 1), depends(0, 4104, 0)],
        ),
        (
            "on nothing, as the sum reaches N_Q",
            [depends(0, 5000, 4095), depends(0, 5001, 0)],
        ),
        (
            "on nothing, as the id goes back",
            [depends(1, 8, 1), depends(1, 7, 0)],
        ),
    ];
    for (name, pair) in pairs {
        all.push(frame(pair).vector(format!("a second packet depends {name}")));
    }
    let farthest = frame([depends(1, 8, 1), depends(0, 4103, 4095)]);
    all.push(farthest.vector("a second packet depends on 4095 before, as predicted"));
    all
}

fn fragments() -> Vec<Vector> {
    let part = |offset: u32, length: usize, whole: u32| packet(1, 0, 3, length).part(offset, whole);
    let parts = [
        ("the least", part(0, 256, 257)),
        ("the last byte", part(256, 1, 257)),
        ("from the least offset on", part(256, 256, 513)),
        ("in the middle", part(1000, 300, 5000)),
        ("a long end", part(300, 1000, 1300)),
        ("of 16 KiB", part(16_383, 256, 16_640)),
        ("of 1 MiB", part((1 << 20) - 1, 1, 1 << 20)),
        ("of the longest packet", part(u32::MAX - 1, 1, u32::MAX)),
        (
            "the beginning of the longest packet",
            part(0, 256, u32::MAX),
        ),
    ];
    let mut all: Vec<Vector> = parts
        .map(|(name, part)| frame([part]).vector(format!("fragment: {name}")))
        .into();
    let two = [part(0, 300, 700), part(300, 400, 700)];
    all.push(frame(two).vector("two fragments of a packet"));
    let ends = [
        part(900, 10, 910),
        packet(1, 0, 4, 10),
        packet(1, 0, 5, 10).part(512, 522),
    ];
    all.push(frame(ends).vector("fragments and packets of one length"));
    all
}

fn many() -> Vec<Vector> {
    let packets = (0..128).map(|id| packet(0, 0, id, 1));
    let channels = (0..128).map(|channel| packet(2, channel, 1, 0));
    let all_kinds = MODES
        .iter()
        .zip(0..)
        .map(|((mode, _), id)| packet(*mode, 0, id, 4));
    let mixed = Frame::new(Context::PLAIN)
        .message(noop())
        .packets(all_kinds)
        .message(Message::Control(vec![1, 7, 0]))
        .packets([packet(1, 0, 3, 4), with_receipt(packet(0, 1, 0, 4))]);
    vec![
        frame(packets).vector("128 packets on one channel"),
        frame(channels).vector("128 packets on 128 channels"),
        mixed.vector("packets and control messages, of which predictions know nothing"),
    ]
}

/// A control message in frame 0: the subtype and the bytes of its fields.
fn control(name: impl Into<String>, fields: &[&[u8]]) -> Vector {
    let message = Message::Control(fields.concat());
    Frame::new(Context::PLAIN).message(message).vector(name)
}

/// A dependency as a varint.
fn number(value: u32) -> Vec<u8> {
    let mut out = Vec::new();
    varint(&mut out, value);
    out
}

fn controls() -> Vec<Vector> {
    let mut all = vec![control("NOOP", &[&[0]])];
    for id in [0, 1, 0x1234, 0xFFFF_u16] {
        all.push(control(format!("PING {id}"), &[&[1], &id.to_le_bytes()]));
        all.push(control(format!("PONG {id}"), &[&[2], &id.to_le_bytes()]));
        all.push(control(format!("ASK {id}"), &[&[10, 3], &id.to_le_bytes()]));
        let rate = (u32::from(id) + 1).to_le_bytes();
        all.push(control(
            format!("LIMITS {id}"),
            &[&[6], &id.to_le_bytes(), &rate],
        ));
    }
    for id in [0, 511, u32::MAX] {
        for channel in [0, 254] {
            let name = format!("WINDOW {id} of channel {channel}");
            all.push(control(name, &[&[3, channel], &id.to_le_bytes()]));
            let name = format!("TOLD {id} of channel {channel}");
            all.push(control(name, &[&[11, channel, 7, 0], &id.to_le_bytes()]));
        }
    }
    for (subtype, name) in [(4, "SENTINEL"), (5, "TOMBSTONE")] {
        for (id, dependency) in [(0, 0), (511, 383), (0xFFFF, 4095_u32)] {
            let id: u16 = id;
            let fields = [&[subtype, 2][..], &id.to_le_bytes(), &number(dependency)];
            all.push(control(
                format!("{name} {id} that depends on {dependency} before"),
                &fields,
            ));
        }
        let fields = [&[subtype, 2, 1, 2, 3][..], &number(32_767)].concat();
        let wide = Frame::new(WIDE).message(Message::Control(fields));
        all.push(wide.vector(format!("{name} with an id of three bytes")));
    }
    all.push(control("LIMITS: none", &[&[6, 1, 0], &[0xFF; 4]]));
    all.push(control(
        "PATH_CHALLENGE",
        &[&[7], &[1, 2, 3, 4, 5, 6, 7, 8]],
    ));
    all.push(control("PATH_CHALLENGE of zeros", &[&[7], &[0; 8]]));
    all.push(control("PATH_RESPONSE", &[&[8], &[0xFF; 8]]));
    all
}

fn fates() -> Vec<Vector> {
    let fates = |count: u8, bits: &[u8]| [&[12, 1, 9, 0, 0, 0, count][..], bits].concat();
    let all = [
        ("one, delivered", fates(1, &[0])),
        ("one, skipped", fates(1, &[1])),
        ("the first one", fates(0x81, &[0])),
        ("seven", fates(7, &[0x7F])),
        ("eight", fates(8, &[0xFF])),
        ("nine", fates(9, &[0, 1])),
        ("ten, the first ones", fates(0x8A, &[0x82, 0])),
        (
            "63",
            fates(63, &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]),
        ),
        ("64", fates(64, &[1, 2, 3, 4, 5, 6, 7, 0x88])),
        ("64, the first ones", fates(0xC0, &[0; 8])),
    ];
    all.map(|(name, fields)| control(format!("FATES: {name}"), &[&fields]))
        .into()
}

fn paddings() -> Vec<Vector> {
    let padding = |zeros: usize| Message::Control([vec![9], vec![0; zeros]].concat());
    let plain = || Frame::new(Context::PLAIN);
    let probe = || plain().now().message(noop());
    let challenge = Message::Control([&[7][..], &bytes(8)].concat());
    vec![
        plain()
            .message(padding(0))
            .vector("padding alone, without a zero"),
        plain().message(padding(5)).vector("padding alone"),
        probe()
            .message(padding(1200 - 14))
            .vector("a probe of 1200 bytes"),
        probe()
            .message(padding(1452 - 14))
            .vector("a probe of 1452 bytes"),
        plain()
            .message(challenge)
            .message(padding(4))
            .vector("a challenge with padding"),
        frame([packet(1, 0, 3, 2)])
            .message(padding(0))
            .vector("a packet before padding has a length"),
        frame([packet(1, 0, 3, 2), packet(1, 0, 4, 2)])
            .message(padding(3))
            .vector("two packets of one length before padding"),
    ]
}
