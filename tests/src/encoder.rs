//! An encoder of datagrams that was written from `docs/wire.md` and shares no code with the library's:
//! the library has to understand what it writes.

use alloc::collections::BTreeMap;

use crc::{CRC_32_ISCSI, Crc};
use siphasher::sip::SipHasher13;

/// The version field of long forms.
pub const VERSION: u32 = 1;

/// The length in bytes to which a request is padded.
pub const PADDED: usize = 1200;

/// The parts of an agreement that shape the short forms of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The bytes of a packet id, 2 or 3.
    pub id_bytes: usize,
    /// N_Q.
    pub window: u32,
    /// The input of the check, if short forms get one.
    pub check: Option<Check>,
}

/// The input of the check of a short form.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// True if the check covers all bytes, and not only the head.
    pub is_crc: bool,
    /// The nonces of the sender and of the receiver.
    pub nonces: [u64; 2],
}

impl Check {
    /// Appends the check to a short form with these full ids: its own, and the newest one that it
    /// acknowledges.
    pub fn append(&self, id: u64, acked: Option<u64>, short: &mut Vec<u8>) {
        let [sender, receiver] = self.nonces;
        let mut ids = id.to_le_bytes().to_vec();
        ids.extend(acked.into_iter().flat_map(u64::to_le_bytes));
        let check = if self.is_crc {
            static CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);
            let mut digest = CRC.digest();
            digest.update(&sender.to_le_bytes());
            digest.update(&receiver.to_le_bytes());
            digest.update(&ids);
            digest.update(short);
            digest.finalize()
        } else {
            ids.push(short[0]);
            let hasher = SipHasher13::new_with_keys(sender, receiver);
            u32::try_from(hasher.hash(&ids) & u64::from(u32::MAX)).expect("32 bits")
        };
        short.extend(check.to_le_bytes());
    }
}

/// A long form: its first byte, the nonces of its sender and its receiver, and its body.
#[must_use]
pub fn long(byte0: u8, version: u32, nonces: [u64; 2], body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(20 + body.len()).expect("a short body");
    let mut bytes = vec![byte0];
    bytes.extend(length.to_le_bytes());
    bytes.extend(version.to_le_bytes());
    bytes.extend(nonces[0].to_le_bytes());
    bytes.extend(nonces[1].to_le_bytes());
    bytes.extend(body);
    bytes
}

/// A parameter of a REQ or an ACK, of any type: it stands behind an [`Offer`].
#[must_use]
pub fn parameter(kind: u8, value: &[u8]) -> Vec<u8> {
    let length = u8::try_from(value.len()).expect("255 at most");
    [&[kind, length], value].concat()
}

/// The parameters with which REQ and ACK describe their sender.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// 1: the application id.
    pub application: u64,
    /// 2: the number of channels, all of low priority.
    pub channels: u8,
    /// 3: the longest datagram.
    pub datagram: u16,
    /// 4: the longest packet.
    pub packet: u32,
    /// 5: the budget for received packets.
    pub budget: u32,
    /// 6: the logarithms of N_P and N_Q.
    pub windows: [u8; 2],
    /// 7 and 8: bytes a second to send and to receive.
    pub rates: [u32; 2],
    /// 9: 1 asks for a check of all bytes.
    pub integrity: u8,
    /// 10: optional extensions, a bit each.
    pub extensions: u32,
    /// 11: the longest datagram if the path carries it. `None` leaves the parameter out.
    pub path_mtu: Option<u16>,
    /// 12: the numbers of suites. Empty leaves the parameter out.
    pub sealed: &'static [u8],
    /// 13: the sender's timeout in milliseconds. `None` leaves the parameter out.
    pub timeout: Option<u32>,
}

impl Offer {
    /// The body of a REQ or an ACK.
    #[must_use]
    pub fn body(&self, connection_id: &[u8]) -> Vec<u8> {
        let mut body = vec![u8::try_from(connection_id.len()).expect("20 at most")];
        body.extend(connection_id);
        let mut add = |kind: u8, value: &[u8]| body.extend(parameter(kind, value));
        add(1, &self.application.to_le_bytes());
        let mut channels = vec![self.channels];
        channels.resize(1 + usize::from(self.channels).div_ceil(4), 0);
        add(2, &channels);
        add(3, &self.datagram.to_le_bytes());
        add(4, &self.packet.to_le_bytes());
        add(5, &self.budget.to_le_bytes());
        add(6, &self.windows);
        add(7, &self.rates[0].to_le_bytes());
        add(8, &self.rates[1].to_le_bytes());
        add(9, &[self.integrity]);
        add(10, &self.extensions.to_le_bytes());
        if let Some(path_mtu) = self.path_mtu {
            add(11, &path_mtu.to_le_bytes());
        }
        if !self.sealed.is_empty() {
            add(12, self.sealed);
        }
        if let Some(timeout) = self.timeout {
            add(13, &timeout.to_le_bytes());
        }
        body
    }
}

/// An acknowledgement block.
#[derive(Clone, Debug)]
pub struct Ack {
    /// The newest id, of which the lowest `width` bytes are sent.
    pub largest: u32,
    /// The bytes of `largest` that are sent, 1 to 4.
    pub width: u8,
    /// Bit i: `largest - 1 - i` was received.
    pub map: u32,
    /// The time for which the acknowledgement was held back, in the notation of `docs/wire.md`.
    pub delay: Option<u8>,
    /// Gaps and lengths.
    pub ranges: Vec<(u32, u32)>,
    /// True if the sum of the frames' nonce bits is 1.
    pub nonces: bool,
    /// Whether the newest frame came with ECT(0) or CE, and the number of frames that came with CE, if
    /// marks are told.
    pub marks: (bool, u32),
}

/// A longer spelling of the same datagram, which no sender may use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waste {
    /// True if the map has one byte more than it needs.
    pub map: bool,
    /// The message with a field that it could do without,
    pub message: usize,
    /// and this field: C, S and D as bits of the message's head; bit 0 stands for a longer length.
    pub fields: u8,
}

impl Ack {
    fn encode(&self, out: &mut Vec<u8>, waste: Waste) {
        let map = self.map.to_le_bytes();
        let sent = map
            .iter()
            .rposition(|&byte| byte != 0xFF)
            .map_or(0, |last| last + 1);
        let sent = (sent + usize::from(waste.map)).min(4);
        let sent_bits = u8::try_from(sent).expect("4 at most");
        let flags = u8::from(self.delay.is_some()) << 2
            | u8::from(!self.ranges.is_empty() || self.marks != (false, 0)) << 1
            | u8::from(self.nonces);
        out.push((self.width - 1) << 6 | sent_bits << 3 | flags);
        out.extend(&self.largest.to_le_bytes()[..usize::from(self.width)]);
        out.extend(self.delay);
        out.extend(&map[..sent]);
        if flags & 2 != 0 {
            let count = u8::try_from(self.ranges.len()).expect("16 at most");
            out.push(u8::from(self.marks.0) << 7 | u8::from(self.marks.1 > 0) << 6 | count);
        }
        if self.marks.1 > 0 {
            varint(out, self.marks.1);
        }
        for &(gap, length) in &self.ranges {
            varint(out, gap);
            varint(out, length);
        }
    }
}

/// A message: a packet or a part of one, or the bytes of a control message behind its head.
#[derive(Clone, Debug)]
pub enum Message {
    /// A packet.
    Packet(Packet),
    /// Signalling.
    Control(Vec<u8>),
}

/// A packet, or a fragment of one.
#[derive(Clone, Debug)]
pub struct Packet {
    /// 0 unreliable, 1 reliable, 2 passive.
    pub mode: u8,
    /// The channel.
    pub channel: u8,
    /// The packet id.
    pub id: u32,
    /// The distance in ids to the reliable packet that this packet depends on.
    pub dependency: u32,
    /// The offset of its first byte in the packet, and the packet's length. `None` for a whole packet.
    pub fragment: Option<(u32, u32)>,
    /// True if its sender wants a receipt.
    pub receipt: bool,
    /// The payload.
    pub payload: Vec<u8>,
}

/// A short form.
#[derive(Clone, Debug)]
pub struct Short {
    /// The connection id of the receiver.
    pub connection_id: Vec<u8>,
    /// The frame id, of which the lowest `width` bytes are sent.
    pub id: u64,
    /// The bytes of the frame id that are sent, 1 to 4.
    pub width: u8,
    /// True if the nonce bit of the frame is 1 (N).
    pub nonce: bool,
    /// True if an acknowledgement is asked for at once, if there is a message (R).
    pub ack_now: bool,
    /// The acknowledgement.
    pub ack: Option<Ack>,
    /// The messages.
    pub messages: Vec<Message>,
}

impl Short {
    /// The datagram.
    #[must_use]
    pub fn encode(&self, shape: &Shape) -> Vec<u8> {
        self.encode_longer(shape, Waste::default())
    }

    /// The datagram in the longer spelling, which has to be refused if it differs.
    #[must_use]
    pub fn encode_longer(&self, shape: &Shape, waste: Waste) -> Vec<u8> {
        let now = self.ack_now && !self.messages.is_empty();
        let flags = u8::from(self.ack.is_some()) << 2 | u8::from(self.nonce) << 1 | u8::from(now);
        let mut out = vec![0x40 | (self.width - 1) << 4 | flags];
        out.extend(&self.connection_id);
        out.extend(&self.id.to_le_bytes()[..usize::from(self.width)]);
        if let Some(ack) = &self.ack {
            ack.encode(&mut out, waste);
        }
        let mut predictor = Predictor::default();
        for (n, message) in self.messages.iter().enumerate() {
            match message {
                Message::Control(fields) => {
                    out.push(0xC0);
                    out.extend(fields);
                }
                Message::Packet(packet) => {
                    let is_last = n + 1 == self.messages.len();
                    predictor.fields = if n == waste.message { waste.fields } else { 0 };
                    predictor.encode(packet, is_last, shape, &mut out);
                }
            }
        }
        if let Some(check) = &shape.check {
            let acked = self.ack.as_ref().map(|ack| ack.largest.into());
            check.append(self.id, acked, &mut out);
        }
        out
    }
}

/// What the fields of a packet are predicted from.
#[derive(Debug, Default)]
struct Predictor {
    channel: u8,
    length: Option<usize>,
    /// By channel, of the message before: id, dependency, whether it was reliable.
    last: BTreeMap<u8, (u32, u32, bool)>,
    /// Spelling with needless fields.
    fields: u8,
}

impl Predictor {
    fn encode(&mut self, packet: &Packet, is_last: bool, shape: &Shape, out: &mut Vec<u8>) {
        let (mask, length) = ((1 << (8 * shape.id_bytes)) - 1, packet.payload.len());
        let reliable = packet.mode == 1;
        let id = self
            .last
            .get(&packet.channel)
            .map(|last| (last.0 + 1) & mask);
        let predicted = match self.last.get(&packet.channel) {
            None => u32::from(reliable),
            Some(&(before, dependency, was_reliable)) => {
                let step = packet.id.wrapping_sub(before) & mask;
                let sum = match (was_reliable, dependency) {
                    (true, _) => step,
                    (false, 0) => 0,
                    (false, dependency) => dependency + step,
                };
                if step >= 1 && sum < shape.window {
                    sum
                } else {
                    0
                }
            }
        };
        let wasted = |bit: u8| self.fields & bit != 0;
        let has_channel = packet.channel != self.channel || wasted(0x10);
        let has_id = id != Some(packet.id) || wasted(0x08);
        let has_dependency = predicted != packet.dependency || wasted(0x04);
        let length_form = match (is_last, self.length) {
            (true, _) if !wasted(1) => 0,
            (false, Some(before)) if before == length && !wasted(1) => 1,
            (false, None) if wasted(1) => 3,
            (true | false, _) => {
                if length <= 255 {
                    2
                } else {
                    3
                }
            }
        };
        let kind = packet.mode + if packet.fragment.is_some() { 3 } else { 0 };
        let bits =
            u8::from(has_channel) << 4 | u8::from(has_id) << 3 | u8::from(has_dependency) << 2;
        if packet.receipt {
            out.push(0xE0);
        }
        out.push(kind << 5 | bits | length_form);
        if has_channel {
            out.push(packet.channel);
        }
        if has_id {
            out.extend(&packet.id.to_le_bytes()[..shape.id_bytes]);
        }
        if has_dependency {
            varint(out, packet.dependency);
        }
        let bytes = length.to_le_bytes();
        out.extend(&bytes[..usize::from(length_form).saturating_sub(1)]);
        if let Some((offset, len)) = packet.fragment {
            varint(out, offset);
            varint(out, len);
        }
        out.extend(&packet.payload);
        (self.channel, self.length) = (packet.channel, Some(length));
        self.last
            .insert(packet.channel, (packet.id, packet.dependency, reliable));
    }
}

/// Appends a varint: seven bits a byte, the low ones first.
pub fn varint(out: &mut Vec<u8>, mut number: u32) {
    while number > 0x7F {
        out.push(0x80 | (number & 0x7F).to_le_bytes()[0]);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

impl Packet {
    /// A packet in one piece: its mode (0 unreliable, 1 reliable, 2 passive), its channel and id, and its
    /// payload.
    #[must_use]
    pub const fn whole(mode: u8, channel: u8, id: u32, dependency: u32, payload: Vec<u8>) -> Self {
        Self {
            mode,
            channel,
            id,
            dependency,
            fragment: None,
            receipt: false,
            payload,
        }
    }

    /// The same bytes as a fragment: the offset of its first byte in the packet, and the packet's length.
    #[must_use]
    pub const fn part(mut self, offset: u32, len: u32) -> Self {
        self.fragment = Some((offset, len));
        self
    }
}

impl From<Packet> for Message {
    fn from(packet: Packet) -> Self {
        Self::Packet(packet)
    }
}
