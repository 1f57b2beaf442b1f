//! The codec by itself, for fuzzers: what a host reads in a datagram before it knows which peer the
//! datagram is for.

use alloc::vec;
use alloc::vec::Vec;
use arrayvec::ArrayVec;

use crate::frame::{
    self, Context, Control, FrameWriter, Header, Integrity, Layout, Malformed, Marker, Mode,
    Refusal, Rest,
};
#[cfg(feature = "seal")]
use crate::hooks::sealing;
use crate::serial;
use crate::wire::NoRoom;

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
    /// A form that only a host that seals understands.
    #[cfg(feature = "seal")]
    Sealed(sealing::Form),
    /// The sealed short form behind a message of the handshake.
    #[cfg(feature = "seal")]
    SealedShort(sealing::SealedShort),
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
    #[cfg(feature = "seal")]
    if let Some(sealed) = frame::decode_sealed(datagram, agreement.connection_id_len) {
        return sealed_forms(&sealed?);
    }
    let decoded = frame::decode(datagram, agreement.connection_id_len)?;
    let mut forms = Vec::new();
    forms.extend(decoded.acknowledge.map(|ack| Form::Acknowledge(ack.into())));
    let form = match decoded.rest {
        Rest::Nothing => return Ok(forms),
        Rest::Request(request) => Form::Request(request.into()),
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

/// All of a datagram that only a host that seals understands.
#[cfg(feature = "seal")]
fn sealed_forms(sealed: &frame::Sealed<'_>) -> Result<Vec<Form>, Malformed> {
    let form = Form::Sealed(sealed.into());
    let rest = match sealed {
        frame::Sealed::First(_, request) => Some(Form::Request(request.clone().into())),
        frame::Sealed::Second(_, Some(short)) => {
            Some(Form::SealedShort(sealing::SealedShort::read(short)?))
        }
        frame::Sealed::Second(_, None)
        | frame::Sealed::Disconnect(_)
        | frame::Sealed::DisconnectAck(_) => None,
    };
    Ok(core::iter::once(form).chain(rest).collect())
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
    write_again(datagram, agreement.connection_id_len, agreement.context())
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

impl From<frame::Request<'_>> for Connect {
    fn from(request: frame::Request<'_>) -> Self {
        Self {
            greeting: request.greeting.to_vec(),
            ..request.connect.into()
        }
    }
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

/// Decodes all of a datagram and encodes it again, without a look at its check.
///
/// # Panics
///
/// If what is written has more bytes than the datagram.
pub(crate) fn write_again(
    datagram: &[u8],
    connection_id_len: usize,
    context: Context,
) -> Result<Vec<u8>, Malformed> {
    #[cfg(feature = "seal")]
    if let Some(sealed) = frame::decode_sealed(datagram, connection_id_len) {
        return write_sealed_again(datagram, &sealed?);
    }
    let decoded = frame::decode(datagram, connection_id_len)?;
    let write =
        |encode: &dyn Fn(&mut [u8]) -> Result<usize, NoRoom>| written(datagram.len(), encode);
    let mut again = Vec::new();
    if let Some(acknowledge) = &decoded.acknowledge {
        let known = write(&|buffer| acknowledge.encode_acknowledge(buffer));
        again = with_unknown(known, datagram);
    }
    again.extend(match &decoded.rest {
        Rest::Nothing => Vec::new(),
        Rest::Request(request) => write_request(request, datagram, again.len()),
        // Nothing but the head is known of it.
        Rest::OtherVersion { .. } => datagram.to_vec(),
        Rest::Refuse(refuse) => write(&|buffer| refuse.encode(buffer)),
        Rest::Disconnect(disconnect) => write(&|buffer| disconnect.encode(buffer)),
        Rest::DisconnectAck(ack) => write(&|buffer| ack.encode(buffer)),
        Rest::Reset(reset) => write(&|buffer| reset.encode(buffer)),
        Rest::Short(form) => reencode_short(form, context)?,
    });
    Ok(again)
}

/// The same, of a datagram that only a host that seals understands.
#[cfg(feature = "seal")]
fn write_sealed_again(datagram: &[u8], sealed: &frame::Sealed<'_>) -> Result<Vec<u8>, Malformed> {
    let mut again = sealing::Form::from(sealed).encode();
    match sealed {
        frame::Sealed::First(_, request) => {
            again.extend(write_request(request, datagram, again.len()));
        }
        frame::Sealed::Second(_, Some(short)) => {
            again.extend(sealing::SealedShort::read(short)?.encode());
        }
        frame::Sealed::Second(_, None)
        | frame::Sealed::Disconnect(_)
        | frame::Sealed::DisconnectAck(_) => {}
    }
    Ok(again)
}

/// A request with its padding, which begins `start` bytes behind the front of `datagram`.
fn write_request(request: &frame::Request<'_>, datagram: &[u8], start: usize) -> Vec<u8> {
    let known = written(datagram.len(), |buffer| {
        request.connect.encode_request(request.greeting, buffer)
    });
    let form = datagram.get(start..);
    let mut bytes = with_unknown(known, form.expect("an acknowledgement is a part of it"));
    let length = request.datagram_length.checked_sub(start);
    bytes.resize(length.expect("an acknowledgement is a part of it"), 0);
    bytes
}

/// What `encode` writes, `most` bytes at most.
fn written(most: usize, encode: impl FnOnce(&mut [u8]) -> Result<usize, NoRoom>) -> Vec<u8> {
    let mut buffer = vec![0; most];
    let length = encode(&mut buffer).expect("no more bytes than there were");
    buffer.truncate(length);
    buffer
}

/// A form with the parameters that are not known: they are taken over from the form at the front of
/// `original`, whose length counts them.
fn with_unknown(mut known: Vec<u8>, original: &[u8]) -> Vec<u8> {
    let prefix = original.first_chunk().expect("it was decoded");
    let [_, low, high] = *prefix;
    let end = prefix.len() + usize::from(u16::from_le_bytes([low, high]));
    // They stand behind all that are known: types ascend.
    let unknown = original.get(known.len()..end);
    let unknown = unknown.expect("no more bytes than there were");
    let Some(&first) = unknown.first() else {
        return known;
    };
    // One with a lower type was read and not written again.
    assert!(first > 14, "known: {unknown:02x?}");
    known.extend(unknown);
    if let Some(length) = known.get_mut(1..3) {
        length.copy_from_slice(&[low, high]);
    }
    known
}

fn reencode_short(form: &frame::Short<'_>, context: Context) -> Result<Vec<u8>, Malformed> {
    let mut messages = ArrayVec::new();
    let body = form.decode_body(context, &mut messages)?;
    let header = Header {
        connection_id: form.connection_id,
        id: form.id_low.into(),
        id_width: form.id_width,
        nonce: form.nonce,
        ack_now: form.ack_now,
    };
    let mut buffer = vec![0; form.bytes.len()];
    let mut write = || {
        let mut layout = Layout::new(context);
        let mut frame = FrameWriter::new(&mut buffer, &header, body.ack.as_ref(), &mut layout)?;
        let last = messages.len().checked_sub(1);
        for (i, message) in messages.iter().enumerate() {
            // The last message has no length of its own, unless padding follows.
            frame.message(message, body.padding == 0 && Some(i) == last)?;
        }
        if body.padding > 0 {
            frame.padding(body.padding)?;
        }
        Ok::<_, NoRoom>(frame.finish())
    };
    let length = write().expect("no more bytes than there were");
    buffer.truncate(length);
    // The check is taken over: to make it anew would take the nonces of both hosts.
    let tag = form.bytes.len().checked_sub(context.tag);
    buffer.extend(
        tag.and_then(|tag| form.bytes.get(tag..))
            .unwrap_or_default(),
    );
    Ok(buffer)
}
