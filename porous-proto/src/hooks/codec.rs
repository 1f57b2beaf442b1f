//! The codec by itself, for fuzzers: what a host reads in a datagram before it knows which peer the
//! datagram is for.

mod forms;

use alloc::vec::Vec;
use arrayvec::ArrayVec;

use super::reencode;
use crate::frame::{self, Context, Control, Integrity, Malformed, Marker, Refusal, Rest};
use crate::serial;

pub use forms::{Ack, Connect, Form, Message, Packet, Short};

/// What a reader of a connection's datagrams has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// The length of connection ids in bytes, 0 to 20.
    pub connection_id_len: usize,
    /// The width of packet ids in bytes, 2 or 3.
    pub id_bytes: u8,
    /// The window of a channel in packets: `N_Q`.
    pub window: u32,
    /// What the check at the end of datagrams is made from. `None` if there is no check.
    pub check: Option<Check>,
}

/// What checks are made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    /// What checks cover.
    pub integrity: Integrity,
    /// The nonces of the sender and of the receiver.
    pub nonces: [u64; 2],
    /// One past the newest frame id that the receiver knows.
    pub next: u64,
    /// One past the newest id of the receiver's own frames that was acknowledged.
    pub acked: u64,
}

impl Agreement {
    const fn context(&self) -> Context {
        Context {
            id_bytes: self.id_bytes,
            window: self.window,
            tag: if self.check.is_some() { frame::TAG } else { 0 },
        }
    }
}

/// Reads all of a datagram: one form, or an ACK and what follows it.
///
/// # Errors
///
/// As `Malformed` says.
pub fn decode(datagram: &[u8], agreement: &Agreement) -> Result<Vec<Form>, Malformed> {
    let decoded = frame::decode(datagram, agreement.connection_id_len)?;
    let mut forms = Vec::new();
    forms.extend(decoded.acknowledge.map(|ack| Form::Acknowledge(ack.into())));
    let form = match decoded.rest {
        Rest::Nothing => return Ok(forms),
        Rest::Request(request) => Form::Request(Connect {
            greeting: request.greeting.to_vec(),
            ..request.connect.into()
        }),
        Rest::OtherVersion {
            version,
            nonce_self,
        } => Form::OtherVersion {
            version,
            nonce_self,
        },
        Rest::Refuse(refuse) => Form::Refuse {
            nonce_peer: refuse.nonce_peer,
            // As `docs/wire.md` numbers them.
            reason: match refuse.refusal {
                Refusal::Version { .. } => 0,
                Refusal::Incompatible { .. } => 1,
                Refusal::Full => 2,
                Refusal::Application(_) => 3,
                Refusal::Security => 4,
            },
            versions: [refuse.newest_version, refuse.oldest_version],
            data: match refuse.refusal {
                Refusal::Incompatible { application_id } => application_id.to_le_bytes().into(),
                Refusal::Application(data) => data.as_bytes().into(),
                Refusal::Version { .. } | Refusal::Full | Refusal::Security => Vec::new(),
            },
        },
        Rest::Disconnect(form) => Form::Disconnect([form.nonce_self, form.nonce_peer], form.reason),
        Rest::DisconnectAck(form) => Form::DisconnectAck([form.nonce_self, form.nonce_peer]),
        Rest::Reset(reset) => Form::Reset(reset.connection_id.as_bytes().to_vec()),
        Rest::Short(form) => Form::Short(short(&form, agreement)?),
    };
    forms.push(form);
    Ok(forms)
}

/// Reads all of a datagram, and writes what it says. The rest of a request in another version and the
/// parameters that are not known stay as they are.
///
/// # Errors
///
/// As for [`decode`].
///
/// # Panics
///
/// If what is written has more bytes than the datagram.
pub fn reencode(datagram: &[u8], agreement: &Agreement) -> Result<Vec<u8>, Malformed> {
    reencode::reencode(datagram, agreement.connection_id_len, agreement.context())
}

/// All of a short form, in the order in which a connection reads it.
fn short(form: &frame::Short<'_>, agreement: &Agreement) -> Result<Short, Malformed> {
    if let Some(check) = agreement.check {
        // A connection ignores what was never sent, and does not call it malformed.
        let id = serial::expand_frame(form.id_low, form.id_width.into(), check.next);
        let acked = form.newest_acked()?.map(|(low, width)| {
            serial::expand_frame(low, width.into(), check.acked).ok_or(Malformed::BadValue)
        });
        let ids = frame::Ids {
            frame: id.ok_or(Malformed::BadValue)?,
            acked: acked.transpose()?,
        };
        let [theirs, ours] = check.nonces;
        let integrity = check.integrity;
        frame::Check {
            integrity,
            ours,
            theirs,
        }
        .verify(form.bytes, ids)?;
    }
    let mut messages = ArrayVec::new();
    let body = form.decode_body(agreement.context(), &mut messages)?;
    Ok(Short {
        connection_id: form.connection_id.as_bytes().to_vec(),
        id: (form.id_low, form.id_width),
        nonce: form.nonce,
        ack_now: form.ack_now,
        ack: body.ack.map(Ack::from),
        messages: messages.into_iter().map(Message::from).collect(),
        padding: body.padding,
    })
}

impl From<frame::Connect> for Connect {
    fn from(connect: frame::Connect) -> Self {
        let offer = connect.offer;
        let channels = 0..offer.channels.count();
        Self {
            cookie: connect.cookie,
            nonces: [connect.nonce_self, connect.nonce_peer],
            connection_id: connect.connection_id.as_bytes().to_vec(),
            application: offer.application,
            channels: channels.map(|i| offer.channels.is_high(i)).collect(),
            datagram: offer.max_datagram,
            packet: offer.max_packet,
            budget: offer.receive_budget,
            windows: [offer.frame_window_log2, offer.packet_window_log2],
            rates: [offer.send_rate, offer.receive_rate],
            integrity: offer.integrity,
            extensions: offer.features,
            path_mtu: offer.path_mtu,
            sealed: offer.sealed.as_bytes().to_vec(),
            timeout: offer.timeout_ms.map(core::num::NonZeroU32::get),
            greeting: Vec::new(),
        }
    }
}

impl From<frame::AckBlock> for Ack {
    fn from(block: frame::AckBlock) -> Self {
        let ranges = block.ranges.iter();
        Self {
            largest: (block.largest_low, block.largest_width),
            delay: block.delay,
            map: block.map,
            ranges: ranges.map(|range| (range.gap, range.length)).collect(),
            nonces: block.nonce,
            marks: (block.marks.newest, block.marks.count),
        }
    }
}

impl From<frame::Message<&[u8]>> for Message {
    fn from(message: frame::Message<&[u8]>) -> Self {
        match message {
            frame::Message::Packet(packet) => Self::Packet(Packet {
                mode: packet.mode,
                channel: packet.channel,
                id: packet.id,
                dependency: packet.dependency.into(),
                fragment: packet.fragment.map(|part| (part.offset, part.len())),
                receipt: packet.receipt,
                payload: packet.payload.to_vec(),
            }),
            frame::Message::Control(control) => {
                let (subtype, fields) = fields(control);
                Self::Control(subtype, fields)
            }
        }
    }
}

/// The subtype and the fields of a control message.
fn fields(control: Control) -> (u8, Vec<u64>) {
    match control {
        Control::Noop => (0, Vec::new()),
        Control::Ping(id) => (1, [id.into()].into()),
        Control::Pong(id) => (2, [id.into()].into()),
        Control::Window { channel, id } => (3, [channel.into(), id.into()].into()),
        Control::Sentinel(marker) => (4, place(marker)),
        Control::Tombstone(marker) => (5, place(marker)),
        Control::Limits {
            serial,
            receive_rate,
        } => (6, [serial.into(), receive_rate.into()].into()),
        Control::PathChallenge(data) => (7, [data].into()),
        Control::PathResponse(data) => (8, [data].into()),
        Control::Fates { channel, id, fates } => {
            // One number of the two, as they share a byte of the datagram.
            let count = u64::from(fates.count) | u64::from(fates.first) << 7;
            (12, [channel.into(), id.into(), count, fates.skipped].into())
        }
        Control::Ask { channel, number } => (10, [channel.into(), number.into()].into()),
        Control::Told {
            channel,
            number,
            next,
        } => (11, [channel.into(), number.into(), next.into()].into()),
    }
}

fn place(marker: Marker) -> Vec<u64> {
    [
        marker.channel.into(),
        marker.id.into(),
        marker.dependency.into(),
    ]
    .into()
}
