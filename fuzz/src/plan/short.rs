//! Short forms.

use bolero::TypeGenerator;
use bolero::generator::produce;
use porous_proto::hooks::codec::{self, Agreement, Form};
use porous_proto::{Integrity, Mode};
use porous_tests::encoder::{self, Check, Shape, Waste};

const MODES: [Mode; 3] = [Mode::Unreliable, Mode::Reliable, Mode::Passive];
/// The most bytes of packets in a datagram.
const LONGEST: usize = 50_000;

/// A short form.
#[derive(Clone, Debug, TypeGenerator)]
pub struct Short {
    connection_id: [u8; 20],
    id: u32,
    #[generator(1..5_u8)]
    width: u8,
    flags: [bool; 2],
    ack: Option<Ack>,
    #[generator(produce::<Vec<Message>>().with().len(0..10_usize))]
    messages: Vec<Message>,
    /// If this is more than 250, the messages are repeated, up to 128 messages in all.
    again: u8,
    padding: Option<u8>,
}

#[derive(Clone, Debug, TypeGenerator)]
struct Ack {
    largest: u32,
    #[generator(1..5_u8)]
    width: u8,
    map: u32,
    /// The number of the map's oldest bits that are set.
    #[generator(0..33_u8)]
    full: u8,
    delay: Option<u8>,
    #[generator(produce::<Vec<(u32, u32)>>().with().len(0..17_usize))]
    ranges: Vec<(u32, u32)>,
    /// The number of bits by which gaps and lengths are shortened.
    #[generator(0..32_u8)]
    shift: u8,
    nonces: bool,
    marks: (bool, u32),
}

#[derive(Clone, Debug, TypeGenerator)]
enum Message {
    Packet(Packet),
    /// A packet: drawn more often.
    Packet2(Packet),
    /// The subtype, and its fields. Subtype 9 stands for FATES.
    Control(#[generator(0..10_u8)] u8, u64, u32),
}

#[derive(Clone, Copy, Debug, TypeGenerator)]
struct Packet {
    #[generator(0..3_u8)]
    mode: u8,
    #[generator(0..3_u8)]
    channel: u8,
    /// One of a few ids on both sides of 0, so that packets of one channel meet.
    #[generator(-3..6_i8)]
    id: i8,
    /// Any channel and any id, instead.
    any: Option<(u8, u32)>,
    #[generator(0..6_u8)]
    dependency: u8,
    /// Any dependency, instead.
    far: Option<u32>,
    #[generator(0..300_u16)]
    len: u16,
    /// The fragment's offset, and the bytes of the packet after it.
    fragment: Option<(u32, u32)>,
    fill: u8,
}

impl Short {
    pub(super) fn encode(&self, agreement: &Agreement) -> (Form, Vec<u8>) {
        let (meant, short) = self.plan(agreement);
        (Form::Short(meant), short.encode(&shape(agreement)))
    }

    /// The datagram, and the same in a longer spelling, which has to be refused unless both are equal.
    #[must_use]
    pub fn spell(&self, agreement: &Agreement, waste: Waste) -> [Vec<u8>; 2] {
        let (_, short) = self.plan(agreement);
        let shape = shape(agreement);
        [short.encode(&shape), short.encode_longer(&shape, waste)]
    }

    fn plan(&self, agreement: &Agreement) -> (codec::Short, encoder::Short) {
        let connection_id = &self.connection_id[..agreement.connection_id_len];
        let mut said = Vec::new();
        let mut messages = Vec::new();
        let mut length = 0;
        let rounds = if self.again > 250 { 128 } else { 1 };
        for message in (0..rounds).flat_map(|_| &self.messages).take(128) {
            let (what, bytes) = message.plan(agreement);
            if let encoder::Message::Packet(packet) = &bytes {
                length += packet.payload.len();
            }
            if length > LONGEST {
                break;
            }
            said.push(what);
            messages.push(bytes);
        }
        let ack_now = self.flags[1] && !said.is_empty();
        if let Some(zeros) = self.padding {
            let bytes = [vec![9], vec![0; zeros.into()]].concat();
            messages.push(encoder::Message::Control(bytes));
        }
        let id = self.id(agreement);
        let (ack, block) = self.ack.as_ref().map(|ack| ack.plan(agreement)).unzip();
        let short = encoder::Short {
            connection_id: connection_id.to_vec(),
            id,
            width: self.width,
            nonce: self.flags[0],
            ack_now,
            ack: block,
            messages,
        };
        let meant = codec::Short {
            connection_id: connection_id.to_vec(),
            id: low(id, self.width),
            nonce: self.flags[0],
            ack_now,
            ack,
            messages: said,
            padding: self.padding.map_or(0, |zeros| 2 + usize::from(zeros)),
        };
        (meant, short)
    }

    /// A frame id that can be expanded from its low bytes.
    fn id(&self, agreement: &Agreement) -> u64 {
        let id = u64::from(self.id);
        match agreement.check {
            None => id,
            Some(check) => {
                let behind = 3 << (8 * self.width - 2);
                // The very last id is never used.
                check.next.saturating_sub(id % behind).min(u64::MAX - 1)
            }
        }
    }
}

const fn shape(agreement: &Agreement) -> Shape {
    Shape {
        id_bytes: agreement.id_bytes as usize,
        window: agreement.window,
        check: match agreement.check {
            Some(check) => Some(Check {
                is_crc: matches!(check.integrity, Integrity::Crc32c),
                nonces: check.nonces,
            }),
            None => None,
        },
    }
}

/// The low bytes of an id, and their number.
fn low(id: u64, width: u8) -> (u32, u8) {
    let low = id & ((1 << (8 * width)) - 1);
    (u32::try_from(low).expect("four bytes at most"), width)
}

impl Ack {
    fn plan(&self, agreement: &Agreement) -> (codec::Ack, encoder::Ack) {
        let largest = self.largest(agreement);
        let map = self.map | !u32::MAX.checked_shr(self.full.into()).unwrap_or(0);
        let ranges = self.ranges.iter().enumerate();
        let ranges: Vec<_> = ranges
            .map(|(i, &(gap, length))| {
                let least = u32::from(i > 0);
                let gap = (gap >> self.shift).max(least);
                (gap, (length >> self.shift).max(1))
            })
            .collect();
        let meant = codec::Ack {
            largest: low(largest.into(), self.width),
            delay: self.delay,
            map,
            ranges: ranges.clone(),
            marks: (self.marks.0, self.marks.1 >> self.shift),
            nonces: self.nonces,
        };
        let block = encoder::Ack {
            largest,
            width: self.width,
            map,
            delay: self.delay,
            ranges,
            marks: (self.marks.0, self.marks.1 >> self.shift),
            nonces: self.nonces,
        };
        (meant, block)
    }

    /// A newest acknowledged id that can be expanded from its low bytes.
    fn largest(&self, agreement: &Agreement) -> u32 {
        let Some(check) = agreement.check else {
            return self.largest;
        };
        let behind = 3 << (8 * self.width - 2);
        let id = check.acked.saturating_sub(u64::from(self.largest) % behind);
        u32::try_from(id).expect("the anchor is one")
    }
}

impl Message {
    fn plan(&self, agreement: &Agreement) -> (codec::Message, encoder::Message) {
        match self {
            Self::Packet(packet) | Self::Packet2(packet) => packet.plan(agreement),
            Self::Control(subtype, one, two) => control(*subtype, *one, *two, agreement),
        }
    }
}

fn control(
    kind: u8,
    one: u64,
    two: u32,
    agreement: &Agreement,
) -> (codec::Message, encoder::Message) {
    let mut bytes = vec![kind];
    let number = one.to_le_bytes();
    let short = u16::from_le_bytes([number[0], number[1]]);
    let fields = match kind {
        0 => Vec::new(),
        1 | 2 => {
            bytes.extend(short.to_le_bytes());
            vec![short.into()]
        }
        3 => {
            bytes.push(number[0]);
            bytes.extend(two.to_le_bytes());
            vec![number[0].into(), two.into()]
        }
        4 | 5 => {
            let (id, width) = low(one >> 8, agreement.id_bytes);
            let dependency = two % agreement.window;
            bytes.push(number[0]);
            bytes.extend(&id.to_le_bytes()[..width.into()]);
            encoder::varint(&mut bytes, dependency);
            vec![number[0].into(), id.into(), dependency.into()]
        }
        6 => {
            bytes.extend(short.to_le_bytes());
            bytes.extend(two.max(1).to_le_bytes());
            vec![short.into(), two.max(1).into()]
        }
        9 => {
            bytes[0] = 12;
            let [channel, place, first, ..] = number;
            let count = 1 + place % 64;
            let skipped = (one ^ u64::from(two) << 20) & u64::MAX >> (64 - count);
            let head = count | (first & 1) << 7;
            bytes.push(channel);
            bytes.extend(two.to_le_bytes());
            bytes.push(head);
            bytes.extend(&skipped.to_le_bytes()[..usize::from(count.div_ceil(8))]);
            vec![channel.into(), two.into(), head.into(), skipped]
        }
        _ => {
            bytes.extend(number);
            vec![one]
        }
    };
    (
        codec::Message::Control(bytes[0], fields),
        encoder::Message::Control(bytes),
    )
}

impl Packet {
    fn plan(&self, agreement: &Agreement) -> (codec::Message, encoder::Message) {
        let near = (self.channel, 0_u32.wrapping_add_signed(self.id.into()));
        let (channel, id) = self.any.unwrap_or(near);
        let (id, _) = low(id.into(), agreement.id_bytes);
        let dependency = self.far.unwrap_or_else(|| self.dependency.into()) % agreement.window;
        let mut len = usize::from(self.len);
        let fragment = self.fragment.map(|(offset, rest)| {
            let offset = if offset % 4 == 0 { 0 } else { offset / 2 };
            let offset = if offset < 256 { 0 } else { offset };
            // Half of the fragments are the end of their packet, if they can be.
            let rest = if rest % 2 == 0 && offset > 0 {
                0
            } else {
                (rest / 4).max(1)
            };
            len = if rest == 0 {
                len.max(1)
            } else {
                256 + len % 900
            };
            (offset, offset + u32::try_from(len).unwrap_or(0) + rest)
        });
        let payload = vec![self.fill; len];
        let meant = codec::Packet {
            mode: MODES[usize::from(self.mode)],
            channel,
            id,
            dependency,
            fragment,
            receipt: self.fill % 4 == 3,
            payload: payload.clone(),
        };
        let packet = encoder::Packet {
            mode: self.mode,
            channel,
            id,
            dependency,
            fragment,
            receipt: self.fill % 4 == 3,
            payload,
        };
        (
            codec::Message::Packet(meant),
            encoder::Message::Packet(packet),
        )
    }
}
