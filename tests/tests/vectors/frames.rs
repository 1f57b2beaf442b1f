//! The head of short forms: connection ids, frame ids and their expansion, acknowledgements, and checks.

use porous_tests::encoder::{Ack, Message, Packet, Short};

use super::offers::bytes;
use super::vector::{Context, Vector};

/// A short form that is being put together.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    context: Context,
    short: Short,
    /// The whole id that the acknowledgement names.
    acked: Option<u64>,
}

impl Frame {
    /// Frame 0, without an acknowledgement or a message.
    pub(crate) fn new(context: Context) -> Self {
        let short = Short {
            connection_id: bytes(context.connection_id_len),
            id: 0,
            width: 1,
            nonce: false,
            ack_now: false,
            ack: None,
            messages: Vec::new(),
        };
        Self {
            context,
            short,
            acked: None,
        }
    }

    pub(crate) fn id(mut self, id: u64, width: u8) -> Self {
        (self.short.id, self.short.width) = (id, width);
        self
    }

    pub(crate) fn nonce(mut self) -> Self {
        self.short.nonce = true;
        self
    }

    pub(crate) fn now(mut self) -> Self {
        self.short.ack_now = true;
        self
    }

    /// Acknowledges this id, as the block tells the rest.
    pub(crate) fn ack(mut self, largest: u64, mut ack: Ack) -> Self {
        ack.largest = u32::try_from(largest & u64::from(u32::MAX)).unwrap();
        (self.short.ack, self.acked) = (Some(ack), Some(largest));
        self
    }

    pub(crate) fn message(mut self, message: Message) -> Self {
        self.short.messages.push(message);
        self
    }

    pub(crate) fn packets(mut self, packets: impl IntoIterator<Item = Packet>) -> Self {
        self.short
            .messages
            .extend(packets.into_iter().map(Message::from));
        self
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = self.short.encode(&self.context.shape());
        self.context
            .append_check(self.short.id, self.acked, &mut bytes);
        bytes
    }

    pub(crate) fn vector(&self, name: impl Into<String>) -> Vector {
        Vector::short(name, self.context, self.encode())
    }
}

/// A block of one byte of id, with nothing missing.
pub(crate) const fn block(width: u8) -> Ack {
    Ack {
        largest: 0,
        width,
        map: u32::MAX,
        delay: None,
        ranges: Vec::new(),
        nonces: false,
        marks: (false, 0),
    }
}

pub(crate) const NOOP: [u8; 1] = [0];

pub(crate) fn noop() -> Message {
    Message::Control(NOOP.into())
}

pub(crate) fn all() -> Vec<Vector> {
    [
        heads(),
        frame_ids(),
        acked_ids(),
        maps(),
        extensions(),
        checks(),
    ]
    .concat()
}

fn heads() -> Vec<Vector> {
    let ids = (0..=20).map(|connection_id_len| {
        let context = Context {
            connection_id_len,
            ..Context::PLAIN
        };
        let name = format!("frame: a connection id of {connection_id_len} bytes");
        Frame::new(context).message(noop()).vector(name)
    });
    let frame = || Frame::new(Context::PLAIN).message(noop());
    let flags = [
        Frame::new(Context::PLAIN).vector("frame: nothing in it"),
        frame().nonce().vector("frame: N"),
        frame().now().vector("frame: R"),
        frame().nonce().now().vector("frame: N and R"),
        frame()
            .nonce()
            .now()
            .ack(0, block(1))
            .vector("frame: A, N and R"),
    ];
    ids.chain(flags).collect()
}

/// Ids at both ends of the range in which their low bytes are looked for.
fn frame_ids() -> Vec<Vector> {
    let mut all = Vec::new();
    for width in 1..=4_u8 {
        let quarter = 1_u64 << (8 * width - 2);
        for next_frame in [0, 1, quarter, 3 * quarter, 1 << 33, (1 << 40) + 77] {
            let context = Context {
                next_frame,
                ..Context::PLAIN
            };
            let oldest = next_frame.saturating_sub(3 * quarter);
            let mut ids = vec![oldest, next_frame, next_frame + quarter - 1];
            ids.extend(next_frame.checked_sub(1));
            ids.sort_unstable();
            ids.dedup();
            for id in ids {
                let name = format!("frame id {id} in {width} bytes, where {next_frame} is next");
                all.push(
                    Frame::new(context)
                        .id(id, width)
                        .message(noop())
                        .vector(name),
                );
            }
        }
    }
    all
}

fn acked_ids() -> Vec<Vector> {
    let mut all = Vec::new();
    for width in 1..=4_u8 {
        let quarter = 1_u64 << (8 * width - 2);
        let next_acknowledged = (1 << 34) + 5;
        let context = Context {
            next_acknowledged,
            ..Context::PLAIN
        };
        let (oldest, newest) = (
            next_acknowledged - 3 * quarter,
            next_acknowledged + quarter - 1,
        );
        for id in [oldest, next_acknowledged, newest] {
            let name =
                format!("acknowledges {id} in {width} bytes, where {next_acknowledged} is next");
            all.push(Frame::new(context).ack(id, block(width)).vector(name));
        }
    }
    all
}

/// Which of the 32 ids before the newest are missing, and the delay.
fn maps() -> Vec<Vector> {
    let context = Context {
        next_acknowledged: 990,
        ..Context::PLAIN
    };
    let maps = [
        ("the one before", 0xFFFF_FFFE),
        ("the eighth before", 0xFFFF_FF7F),
        ("the ninth before", 0xFFFF_FEFF),
        ("the sixteenth before", 0xFFFF_7FFF),
        ("the seventeenth before", 0xFFFE_FFFF),
        ("the twenty-fifth before", 0xFEFF_FFFF),
        ("the last of the map", 0x7FFF_FFFF),
        ("every second one", 0xAAAA_AAAA),
        ("all of the map", 0),
    ];
    let maps = maps.map(|(name, map)| {
        let ack = Ack { map, ..block(2) };
        Frame::new(context)
            .ack(1000, ack)
            .vector(format!("missing: {name}"))
    });
    let delays = [0, 1, 8, 31, 32, 48, 63, 0x90, 0xE0, 0xFE, 0xFF].map(|delay| {
        let ack = Ack {
            delay: Some(delay),
            ..block(2)
        };
        Frame::new(context)
            .ack(1000, ack)
            .vector(format!("a delay told as {delay:#04x}"))
    });
    let sum = Ack {
        nonces: true,
        ..block(2)
    };
    let sum = Frame::new(context)
        .ack(1000, sum)
        .vector("a sum of nonces of 1");
    let firsts = [0_u64, 1, 5, 31, 32].map(|largest| {
        let name = format!("acknowledges {largest} and all before it");
        Frame::new(Context::PLAIN)
            .ack(largest, block(1))
            .vector(name)
    });
    let holes = [(1, 0xFFFF_FFFE), (5, 0xFFFF_FFE0), (32, 0x7FFF_FFFF)].map(|(largest, map)| {
        let name = format!("acknowledges {largest}, and frame 0 is missing");
        let ack = Ack { map, ..block(1) };
        Frame::new(Context::PLAIN).ack(largest, ack).vector(name)
    });
    let parts = maps.into_iter().chain(delays).chain([sum]);
    parts.chain(firsts).chain(holes).collect()
}

/// Ranges and marks.
fn extensions() -> Vec<Vector> {
    let largest = 1 << 40;
    let context = Context {
        next_acknowledged: largest,
        ..Context::PLAIN
    };
    let ranges: [(&str, Vec<(u32, u32)>); 9] = [
        ("one right behind the map", vec![(0, 1)]),
        ("a gap of one", vec![(1, 1)]),
        ("numbers of one byte", vec![(127, 127)]),
        ("numbers of two bytes", vec![(128, 16_383)]),
        ("numbers of three bytes", vec![(16_384, (1 << 21) - 1)]),
        ("numbers of four bytes", vec![(1 << 21, (1 << 28) - 1)]),
        ("numbers of five bytes", vec![(1 << 28, u32::MAX)]),
        ("two", vec![(0, 5), (128, 3)]),
        ("sixteen", (0..16).map(|i| (i, i * i + 1)).collect()),
    ];
    let ranges = ranges.into_iter().map(|(name, ranges)| {
        let ack = Ack { ranges, ..block(4) };
        Frame::new(context)
            .ack(largest, ack)
            .vector(format!("ranges: {name}"))
    });
    let marks = [
        (true, 0),
        (false, 1),
        (true, 3),
        (false, 128),
        (true, u32::MAX),
    ];
    let marks = marks.map(|marks| {
        let ack = Ack { marks, ..block(4) };
        Frame::new(context)
            .ack(largest, ack)
            .vector(format!("marks: {marks:?}"))
    });
    let everything = Ack {
        map: 0x7FFF_FFF5,
        delay: Some(9),
        ranges: vec![(2, 300), (1, 1)],
        nonces: true,
        marks: (true, 200),
        ..block(3)
    };
    let everything = Frame::new(context)
        .ack(largest, everything)
        .id(3, 2)
        .now()
        .packets([Packet::whole(2, 3, 9, 0, bytes(30))])
        .vector("everything that an acknowledgement may have, and a packet");
    ranges.chain(marks).chain([everything]).collect()
}

fn checks() -> Vec<Vector> {
    let mut all = Vec::new();
    for is_crc in [false, true] {
        let context = Context {
            is_crc,
            next_frame: (1 << 32) + 10,
            next_acknowledged: (1 << 33) + 20,
            ..Context::PLAIN
        };
        let frame = Frame::new(context).id((1 << 32) + 16, 1);
        let what = if is_crc { "all bytes" } else { "the head" };
        let packet = Packet::whole(0, 0, 7, 0, b"hi".to_vec());
        all.extend([
            frame
                .clone()
                .vector(format!("a check of {what}: an empty frame")),
            frame
                .clone()
                .packets([packet.clone()])
                .vector(format!("a check of {what}: a packet")),
            frame
                .clone()
                .nonce()
                .vector(format!("a check of {what}: N")),
            frame
                .ack((1 << 33) + 25, block(1))
                .packets([packet])
                .vector(format!(
                    "a check of {what}: a packet and an acknowledgement"
                )),
        ]);
    }
    all
}
