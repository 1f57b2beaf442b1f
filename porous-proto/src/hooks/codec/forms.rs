//! What a datagram says, in plain values.

use alloc::vec::Vec;

use crate::frame::{Integrity, Mode};

/// A form of a datagram. The bits and bytes are those of `docs/wire.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// ACK.
    Acknowledge(Connect),
    /// REQ. Padding says nothing.
    Request(Connect),
    /// REQ in another version.
    OtherVersion {
        /// Which.
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
        /// The newest and the oldest that its sender speaks.
        versions: [u32; 2],
        /// At most 64 bytes: the application's, or the application id of reason 1.
        data: Vec<u8>,
    },
    /// DISC: nonces of its sender and its receiver, and the reason.
    Disconnect([u64; 2], u32),
    /// `DISC_ACK`: nonces of its sender and its receiver.
    DisconnectAck([u64; 2]),
    /// RESET, and the connection id.
    Reset(Vec<u8>),
    /// The short form.
    Short(Short),
}

/// What REQ and ACK share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connect {
    /// COOKIE.
    pub cookie: bool,
    /// Of the sender and of the receiver.
    pub nonces: [u64; 2],
    /// Of at most 20 bytes.
    pub connection_id: Vec<u8>,
    /// 1: which application.
    pub application: u64,
    /// 2: for each channel whether it has high priority.
    pub channels: Vec<bool>,
    /// 3: the longest datagram.
    pub datagram: u16,
    /// 4: the longest packet.
    pub packet: u32,
    /// 5: the budget for received packets.
    pub budget: u32,
    /// 6: the logarithms of `N_P` and `N_Q`.
    pub windows: [u8; 2],
    /// 7 and 8: bytes a second to send and to receive.
    pub rates: [u32; 2],
    /// 9.
    pub integrity: Integrity,
    /// 10.
    pub extensions: u32,
    /// 11: the longest datagram if the path carries it.
    pub path_mtu: Option<u16>,
    /// 12: the numbers of suites, none if it is absent.
    pub sealed: Vec<u8>,
    /// 13: milliseconds.
    pub timeout: Option<u32>,
    /// 14: of requests, empty if it is absent.
    pub greeting: Vec<u8>,
}

/// A short form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Short {
    /// Of the receiver.
    pub connection_id: Vec<u8>,
    /// The frame id, its low bytes, and how many.
    pub id: (u32, u8),
    /// N.
    pub nonce: bool,
    /// R.
    pub ack_now: bool,
    /// The acknowledgement.
    pub ack: Option<Ack>,
    /// The messages.
    pub messages: Vec<Message>,
    /// The length of the padding, 0 for none.
    pub padding: usize,
}

/// An acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The newest id, its low bytes, and how many.
    pub largest: (u32, u8),
    /// How long it was held back, in its own notation.
    pub delay: Option<u8>,
    /// All 32 bits.
    pub map: u32,
    /// Gaps and lengths.
    pub ranges: Vec<(u32, u32)>,
    /// X.
    pub nonces: bool,
    /// Whether the newest came with ECT(0) or CE, and how many with CE, if that is told.
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
    /// How it is delivered.
    pub mode: Mode,
    /// On which channel.
    pub channel: u8,
    /// The low bytes of its id.
    pub id: u32,
    /// How far back the reliable packet is that it depends on.
    pub dependency: u32,
    /// Where its first byte stands in the packet, and the packet's length.
    pub fragment: Option<(u32, u32)>,
    /// Its sender wants to be told what becomes of it.
    pub receipt: bool,
    /// What is in it.
    pub payload: Vec<u8>,
}
