//! The fields of datagrams as JSON, under the names that `docs/vectors/README.md` lists.

use porous_proto::hooks::codec::{Ack, Connect, Form, Message, Packet, Short};
use porous_proto::hooks::sealing::{self, SealedShort, Terms};
use porous_proto::{Integrity, Mode};
use serde_json::{Map, Value, json};

use crate::talk::{Anchors, whole};

/// The control messages by their subtypes.
pub const CONTROL: [&str; 13] = [
    "NOOP",
    "PING",
    "PONG",
    "WINDOW",
    "SENTINEL",
    "TOMBSTONE",
    "LIMITS",
    "PATH_CHALLENGE",
    "PATH_RESPONSE",
    "PADDING",
    "ASK",
    "TOLD",
    "FATES",
];

/// The fields of the control messages, in their order.
const CONTROL_FIELDS: [&[&str]; 13] = [
    &[],
    &["id"],
    &["id"],
    &["channel", "packet_id"],
    &["channel", "packet_id", "dependency"],
    &["channel", "packet_id", "dependency"],
    &["serial", "receive_rate"],
    &["data"],
    &["data"],
    &[],
    &["channel", "number"],
    &["channel", "number", "packet_id"],
    &["channel", "packet_id", "count", "skipped"],
];

/// Bytes of public keys of the suites 1 and 2.
const KEY: usize = 32;

/// Bytes in hexadecimal digits.
///
/// ```
/// assert_eq!(porous_trace::fields::hex(&[1, 0xAB]), "01ab");
/// ```
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A number of 64 bits, as text: not every reader of JSON has such integers.
///
/// ```
/// assert_eq!(porous_trace::fields::id64(1), "0x0000000000000001");
/// ```
#[must_use]
pub fn id64(number: u64) -> String {
    format!("0x{number:016x}")
}

/// The whole id, or what was sent of it if none can be meant.
fn whole_or_low(low: (u32, u8), anchor: u64) -> u64 {
    whole(low, anchor).unwrap_or_else(|| low.0.into())
}

/// All forms of a datagram.
///
/// ```
/// use porous_proto::hooks::codec::Form;
/// use porous_trace::{Anchors, fields};
///
/// let reset = [Form::Reset(vec![1, 2])];
/// let json = fields::forms(&reset, b"\xf2\x01\x02", Anchors::default());
/// assert_eq!(json[0]["form"], "RESET");
/// ```
#[must_use]
pub fn forms(forms: &[Form], datagram: &[u8], at: Anchors) -> Vec<Value> {
    let mut rest = datagram;
    let one = |form: &Form| {
        let json = self::form(form, rest, at);
        // RESET has no length, and is alone.
        if rest.first().is_some_and(|byte| *byte >= 0xC0) {
            rest = rest.get(form_length(rest)..).unwrap_or_default();
        }
        json
    };
    forms.iter().map(one).collect()
}

/// A form at the front of `bytes`.
fn form(form: &Form, bytes: &[u8], at: Anchors) -> Value {
    match form {
        Form::Request(request) => {
            let mut json = connect(request, bytes);
            json["form"] = if request.cookie {
                "REQ with COOKIE"
            } else {
                "REQ"
            }
            .into();
            json["padding"] = bytes.len().saturating_sub(form_length(bytes)).into();
            json
        }
        Form::Acknowledge(ack) => {
            let mut json = connect(ack, bytes);
            json["form"] = "ACK".into();
            json
        }
        Form::OtherVersion {
            version,
            nonce_self,
        } => json!({
            "form": "REQ of another version",
            "version": version,
            "nonce_self": id64(*nonce_self),
        }),
        Form::Refuse {
            nonce_peer,
            reason,
            versions: [newest, oldest],
            data,
        } => refuse(*nonce_peer, *reason, [*newest, *oldest], data),
        Form::Disconnect(nonces, reason) => {
            with_nonces("DISC", nonces, json!({ "reason": reason }))
        }
        Form::DisconnectAck(nonces) => with_nonces("DISC_ACK", nonces, json!({})),
        Form::Reset(id) => json!({ "form": "RESET", "connection_id": hex(id) }),
        Form::Short(form) => short(form, at),
        Form::Sealed(form) => sealed_form(form),
        Form::SealedShort(form) => sealed_short(form, at),
    }
}

/// The length of a long form at the front of `bytes`.
fn form_length(bytes: &[u8]) -> usize {
    match bytes {
        [_, low, high, ..] => 3 + usize::from(u16::from_le_bytes([*low, *high])),
        _ => bytes.len(),
    }
}

fn with_nonces(form: &str, [own, peer]: &[u64; 2], mut json: Value) -> Value {
    json["form"] = form.into();
    json["nonce_self"] = id64(*own).into();
    json["nonce_peer"] = id64(*peer).into();
    json
}

fn refuse(nonce_peer: u64, reason: u8, [newest, oldest]: [u32; 2], data: &[u8]) -> Value {
    let mut json = json!({
        "form": "REJ",
        "version": newest,
        "oldest_version": oldest,
        "nonce_peer": id64(nonce_peer),
        "reason": reason,
    });
    match reason {
        1 => {
            let id = data.first_chunk().copied().unwrap_or_default();
            json["application_id"] = id64(u64::from_le_bytes(id)).into();
        }
        3 => json["data"] = hex(data).into(),
        _ => {}
    }
    json
}

/// What REQ and ACK share. The parameters that are not known are read in `bytes`.
fn connect(connect: &Connect, bytes: &[u8]) -> Value {
    let mut offer = offer(connect);
    offer["unknown"] = unknown(bytes, connect.connection_id.len()).into();
    let json = json!({ "connection_id": hex(&connect.connection_id), "offer": offer });
    with_nonces("", &connect.nonces, json)
}

fn offer(connect: &Connect) -> Value {
    let channels = connect.channels.iter().enumerate();
    let high: Vec<usize> = channels
        .filter(|(_, high)| **high)
        .map(|(i, _)| i)
        .collect();
    let mut json = json!({
        "application_id": id64(connect.application),
        "channels": connect.channels.len(),
        "high_priority": high,
        "longest_datagram": connect.datagram,
        "longest_packet": connect.packet,
        "receive_budget": connect.budget,
        "log2_n_p": connect.windows[0],
        "log2_n_q": connect.windows[1],
        "send_rate": connect.rates[0],
        "receive_rate": connect.rates[1],
        "check": match connect.integrity {
            Integrity::Header => "head",
            Integrity::Crc32c => "all",
        },
        "extensions": connect.extensions,
    });
    if let Some(mtu) = connect.path_mtu {
        json["longest_datagram_of_path"] = mtu.into();
    }
    if !connect.sealed.is_empty() {
        json["suites"] = connect.sealed.clone().into();
    }
    if let Some(timeout) = connect.timeout {
        json["timeout_ms"] = timeout.into();
    }
    if !connect.greeting.is_empty() {
        json["greeting"] = hex(&connect.greeting).into();
    }
    json
}

/// The parameters of a type above 14.
fn unknown(bytes: &[u8], connection_id_len: usize) -> Vec<Value> {
    let form = bytes.get(..form_length(bytes)).unwrap_or(bytes);
    let mut rest = form.get(23 + 1 + connection_id_len..).unwrap_or_default();
    let mut unknown = Vec::new();
    while let [kind, length, behind @ ..] = rest {
        let Some((value, next)) = behind.split_at_checked((*length).into()) else {
            break;
        };
        if *kind > 14 {
            unknown.push(json!({ "type": kind, "value": hex(value) }));
        }
        rest = next;
    }
    unknown
}

fn sealed_form(form: &sealing::Form) -> Value {
    match form {
        sealing::Form::First {
            nonces,
            terms:
                Terms {
                    suite,
                    key_tag,
                    psk,
                    token,
                },
            message,
        } => {
            let mut json = with_nonces("ACK with AUTH", nonces, auth(1, *suite, message));
            if let Some(tag) = key_tag {
                json["server_key_tag"] = hex(tag).into();
            }
            if let Some(number) = psk {
                json["psk"] = (*number).into();
            }
            if let Some(token) = token {
                json["token"] = hex(token).into();
            }
            json
        }
        sealing::Form::Second {
            nonces,
            suite,
            message,
        } => with_nonces("ACK with AUTH", nonces, auth(2, *suite, message)),
        sealing::Form::Goodbye {
            nonces,
            reason,
            mac,
        } => {
            let mac = json!({ "mac": hex(mac) });
            match reason {
                Some(reason) => {
                    let mut json = with_nonces("DISC", nonces, mac);
                    json["reason"] = (*reason).into();
                    json
                }
                None => with_nonces("DISC_ACK", nonces, mac),
            }
        }
    }
}

/// Of a suite that is not known, nobody can tell where the key ends.
fn auth(number: u8, suite: u8, message: &[u8]) -> Value {
    let mut json = json!({ "message": number, "suite": suite });
    let parts = message.split_at_checked(KEY);
    if let Some((e, sealed)) = parts.filter(|_| suite <= 2) {
        json["e"] = hex(e).into();
        json["sealed"] = hex(sealed).into();
    } else {
        json["e_and_sealed"] = hex(message).into();
    }
    json
}

/// A sealed short form.
///
/// ```
/// use porous_proto::hooks::sealing::SealedShort;
/// use porous_trace::{Anchors, fields};
///
/// let short = SealedShort::decode(&[0x40; 30], 4)?;
/// assert_eq!(fields::sealed_short(&short, Anchors::default())["frame_id"], 0x40);
/// # Ok::<(), porous_proto::Malformed>(())
/// ```
#[must_use]
pub fn sealed_short(short: &SealedShort, at: Anchors) -> Value {
    json!({
        "form": "short form",
        "connection_id": hex(&short.connection_id),
        "frame_id": whole_or_low(short.id, at.next_frame),
        "frame_id_bytes": short.id.1,
        "nonce_bit": u8::from(short.nonce),
        "acknowledge_now": short.ack_now,
        "phase": u8::from(short.phase),
        "acknowledges": short.has_ack,
        "sealed": hex(&short.sealed),
    })
}

fn short(short: &Short, at: Anchors) -> Value {
    let messages: Vec<Value> = short.messages.iter().map(message).collect();
    let mut json = json!({
        "form": "short form",
        "connection_id": hex(&short.connection_id),
        "frame_id": whole_or_low(short.id, at.next_frame),
        "frame_id_bytes": short.id.1,
        "nonce_bit": u8::from(short.nonce),
        "acknowledge_now": short.ack_now,
        "messages": messages,
    });
    if let Some(ack) = &short.ack {
        json["acknowledgement"] = acknowledgement(ack, at);
    }
    if short.padding > 0 {
        json["padding"] = short.padding.into();
    }
    json
}

fn acknowledgement(ack: &Ack, at: Anchors) -> Value {
    let largest = whole_or_low(ack.largest, at.next_acknowledged);
    let missing = (0..32).filter(|bit| ack.map >> bit & 1 == 0);
    let missing: Vec<u64> = missing
        .filter_map(|bit| largest.checked_sub(1 + bit))
        .collect();
    let mut json = json!({
        "largest": largest,
        "largest_bytes": ack.largest.1,
        "nonce_sum": u8::from(ack.nonces),
        "missing": missing,
    });
    if let Some(delay) = ack.delay {
        json["delay"] = delay.into();
    }
    let range = |&(gap, length): &(u32, u32)| json!({ "gap": gap, "length": length });
    if !ack.ranges.is_empty() {
        json["ranges"] = ack.ranges.iter().map(range).collect();
    }
    if ack.marks.0 {
        json["newest_is_ecn_capable"] = true.into();
    }
    if ack.marks.1 > 0 {
        json["marks"] = ack.marks.1.into();
    }
    json
}

fn message(message: &Message) -> Value {
    match message {
        Message::Packet(packet) => self::packet(packet),
        Message::Control(subtype, values) => control(usize::from(*subtype), values),
    }
}

fn packet(packet: &Packet) -> Value {
    let mut json = json!({
        "message": "packet",
        "mode": match packet.mode {
            Mode::Unreliable => "unreliable",
            Mode::Reliable => "reliable",
            Mode::Passive => "passive",
        },
        "receipt": packet.receipt,
        "channel": packet.channel,
        "packet_id": packet.id,
        "dependency": packet.dependency,
        "payload": hex(&packet.payload),
    });
    if let Some((offset, length)) = packet.fragment {
        json["message"] = "fragment".into();
        json["offset"] = offset.into();
        json["packet_length"] = length.into();
    }
    json
}

fn control(subtype: usize, values: &[u64]) -> Value {
    let mut json = Map::new();
    let (Some(name), Some(fields)) = (CONTROL.get(subtype), CONTROL_FIELDS.get(subtype)) else {
        return Value::Null; // no decoder gives it
    };
    json.insert("message".into(), (*name).into());
    for (field, value) in fields.iter().zip(values) {
        let value = match *field {
            "data" => hex(&value.to_le_bytes()).into(),
            _ => Value::from(*value),
        };
        json.insert((*field).into(), value);
    }
    if let ("FATES", [_, _, head, skipped]) = (*name, values) {
        let count = head & 0x7F;
        let skipped: Vec<u64> = (0..count).filter(|bit| skipped >> bit & 1 == 1).collect();
        json.insert("first".into(), (*head >= 0x80).into());
        json.insert("count".into(), count.into());
        json.insert("skipped".into(), skipped.into());
    }
    json.into()
}
