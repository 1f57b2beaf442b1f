//! The forms of a datagram, in plain values.

use alloc::vec::Vec;

use crate::frame::{Integrity, Mode};

/// A form of a datagram. The bits and bytes are those of `docs/wire.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// ACK.
    Acknowledge(Connect),
    /// REQ, without its padding, which says nothing.
    Request(Connect),
    /// REQ in another version.
    OtherVersion {
        /// The version.
        version: u32,
        /// The random id of its sender.
        nonce_self: u64,
    },
    /// REJ.
    Refuse {
        /// The random id of the receiver.
        nonce_peer: u64,
        /// 0 to 4.
        reason: u8,
        /// The newest and the oldest version that the sender speaks.
        versions: [u32; 2],
        /// Of reason 1 the application id, else up to 64 bytes of the application's.
        data: Vec<u8>,
    },
    /// DISC: nonces of its sender and its receiver, and the reason.
    Disconnect([u64; 2], u32),
    /// `DISC_ACK`: nonces of its sender and its receiver.
    DisconnectAck([u64; 2]),
    /// RESET: the connection id.
    Reset(Vec<u8>),
    /// The short form.
    Short(Short),
}

/// What REQ and ACK share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connect {
    /// True if COOKIE is set.
    pub cookie: bool,
    /// The nonces of the sender and of the receiver.
    pub nonces: [u64; 2],
    /// At most 20 bytes.
    pub connection_id: Vec<u8>,
    /// Type 1: the application id.
    pub application: u64,
    /// Type 2: true of each channel with high priority.
    pub channels: Vec<bool>,
    /// Type 3: the longest datagram at first, in bytes.
    pub datagram: u16,
    /// Type 4: the longest packet, in bytes.
    pub packet: u32,
    /// Type 5: the budget for received packets, in bytes.
    pub budget: u32,
    /// Type 6: the logarithms of `N_P` and `N_Q`, to the base 2.
    pub windows: [u8; 2],
    /// Types 7 and 8: the most to send and to receive, in bytes a second.
    pub rates: [u32; 2],
    /// Type 9: what checks cover.
    pub integrity: Integrity,
    /// Type 10: the optional extensions, a bit each.
    pub extensions: u32,
    /// Type 11: the longest datagram if the path carries it, in bytes.
    pub path_mtu: Option<u16>,
    /// Type 12: the numbers of suites; empty if the type is absent.
    pub sealed: Vec<u8>,
    /// Type 13: the timeout, in milliseconds.
    pub timeout: Option<u32>,
    /// Type 14: the greeting of a request; empty if the type is absent.
    pub greeting: Vec<u8>,
}

/// A short form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Short {
    /// The connection id of the receiver.
    pub connection_id: Vec<u8>,
    /// The low bytes of the frame id, and their number.
    pub id: (u32, u8),
    /// N: the nonce bit of the frame.
    pub nonce: bool,
    /// R: true if the receiver is to acknowledge at once.
    pub ack_now: bool,
    /// The acknowledgement.
    pub ack: Option<Ack>,
    /// The messages.
    pub messages: Vec<Message>,
    /// The length of the padding in bytes, 0 if there is none.
    pub padding: usize,
}

/// An acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The low bytes of the newest id, and their number.
    pub largest: (u32, u8),
    /// How long the acknowledgement was held back, in the notation of the wire.
    pub delay: Option<u8>,
    /// One bit for each of the 32 ids before the newest.
    pub map: u32,
    /// The ranges before those: a gap and a length each, in ids.
    pub ranges: Vec<(u32, u32)>,
    /// X: the sum of the nonce bits.
    pub nonces: bool,
    /// True if the newest frame came with ECT(0) or CE, and the number of frames that came with CE.
    pub marks: (bool, u32),
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A packet, or a part of one.
    Packet(Packet),
    /// The subtype of a control message, and its fields in their order.
    Control(u8, Vec<u64>),
}

/// A packet, or a fragment of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The delivery mode.
    pub mode: Mode,
    /// The number of the channel.
    pub channel: u8,
    /// The low bytes of the packet's id.
    pub id: u32,
    /// How far back the reliable packet is that this one depends on, in ids.
    pub dependency: u32,
    /// Of a fragment, where its first byte stands in the packet, and the packet's length, in bytes.
    pub fragment: Option<(u32, u32)>,
    /// True if the sender wants to be told what becomes of the packet.
    pub receipt: bool,
    /// The bytes of the packet or fragment.
    pub payload: Vec<u8>,
}
