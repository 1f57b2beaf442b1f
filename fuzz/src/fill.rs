//! The bytes of drawn forms.

use porous_tests::encoder;

use crate::forms::{self, Form, Long, Message, Nonces, Place, Whose};
use crate::insider::{Key, Text};
use crate::target::{FRAGMENT, Target};

/// The datagram of a form that comes from this place.
pub(crate) fn encode(target: &mut Target, from: Place, form: &Form) -> Vec<u8> {
    match form {
        Form::Short(short) | Form::Short2(short) => encode_short(target, from, short),
        Form::Long(long) => encode_long(target, from, long),
    }
}

/// A valid request of a stranger.
pub(crate) fn request() -> Vec<u8> {
    let body = body_of(forms::Offer::Same, &[9; 4]);
    porous_tests::remote::request([9, 0], &body)
}

fn encode_long(target: &mut Target, from: Place, form: &Long) -> Vec<u8> {
    let long = |target: &Target, byte0, nonces: &Nonces, body: &[u8]| {
        encoder::long(
            byte0,
            encoder::VERSION,
            nonces.map(|nonce| target.nonce(nonce)),
            body,
        )
    };
    let body = |change: &forms::Offer| body_of(*change, &[from as u8; 4]);
    match form {
        Long::Request(nonces, change, cookie, padded, version) => {
            let (byte0, body) = match cookie {
                true => (0xC1, body_of(*change, &[])),
                false => (0xC0, body(change)),
            };
            let mut datagram = long(target, byte0, nonces, &body);
            if !version {
                datagram[3] = 0xEE;
            }
            if *padded {
                datagram.resize(encoder::PADDED, 0);
            }
            datagram
        }
        Long::Acknowledge(nonces, change) => long(target, 0xD0, nonces, &body(change)),
        Long::Both(nonces, change) => {
            let mut datagram = long(target, 0xD0, nonces, &body(change));
            datagram.extend(long(target, 0xC0, nonces, &body(change)));
            datagram.resize(encoder::PADDED, 0);
            datagram
        }
        Long::AcknowledgeShort(nonces, change, short) => {
            let mut datagram = long(target, 0xD0, nonces, &body(change));
            datagram.extend(encode_short(target, from, short));
            datagram
        }
        Long::Refuse([_, peer], reason) => {
            let mut body = vec![*reason, 1, 0, 0, 0, 0];
            let said: &[u8] = match reason {
                1 => &[9; 8],
                3 => b"no",
                _ => &[],
            };
            body[5] = u8::try_from(said.len()).expect("8 at most");
            body.extend(said);
            long(target, 0xE0, &[forms::Nonce::Zero, *peer], &body)
        }
        Long::Disconnect(nonces, reason) => long(target, 0xF0, nonces, &reason.to_le_bytes()),
        Long::DisconnectAck(nonces) => long(target, 0xF1, nonces, &[]),
        Long::Reset(id) => {
            let mut body = vec![8];
            body.extend(id.to_le_bytes());
            encoder::long(0xF2, encoder::VERSION, [0; 2], &body)
        }
    }
}

/// The offer of the host, with one parameter changed.
pub(crate) fn offer(change: forms::Offer) -> encoder::Offer {
    let mut offer = encoder::Offer {
        application: 0,
        channels: 3,
        datagram: 512,
        packet: 1000,
        budget: 1064,
        windows: [6, 6],
        rates: [u32::MAX; 2],
        integrity: 0,
        extensions: 0,
        path_mtu: None,
        sealed: &[],
        timeout: None,
    };
    match change {
        forms::Offer::Same | forms::Offer::Same2 => {}
        forms::Offer::Application(id) => offer.application = id,
        forms::Offer::Channels(count) => offer.channels = count,
        forms::Offer::Datagram(longest) => offer.datagram = longest,
        forms::Offer::Packet(longest, more) => {
            (offer.packet, offer.budget) = (longest, longest.saturating_add(more % 100_000));
        }
        forms::Offer::Windows(frames, packets) => offer.windows = [frames, packets],
        forms::Offer::Rates(send, receive) => offer.rates = [send, receive],
        forms::Offer::Integrity(integrity) => offer.integrity = integrity,
        forms::Offer::Extensions(bits) => offer.extensions = bits,
        forms::Offer::PathMtu(mtu) => offer.path_mtu = Some(mtu),
        forms::Offer::Sealed(which) => {
            let lists: [&[u8]; 6] = [
                &[1],
                &[2, 1],
                &[1, 2, 3, 4],
                &[0],
                &[1, 1],
                &[1, 2, 3, 4, 5],
            ];
            offer.sealed = lists[usize::from(which)];
        }
        forms::Offer::Timeout(timeout) => offer.timeout = Some(timeout),
        forms::Offer::Greeting(_) | forms::Offer::Unknown(..) => {}
    }
    offer
}

/// The body of a REQ or an ACK with that offer, and with the parameters that follow it.
fn body_of(change: forms::Offer, connection_id: &[u8]) -> Vec<u8> {
    let mut body = offer(change).body(connection_id);
    if let forms::Offer::Greeting(length) = change {
        body.extend(encoder::parameter(14, &vec![b'g'; length.into()]));
    }
    if let forms::Offer::Unknown(kind, length) = change {
        body.extend(encoder::parameter(kind, &vec![b'u'; length.into()]));
    }
    body
}

fn encode_short(target: &mut Target, from: Place, short: &forms::Short) -> Vec<u8> {
    let to = match short.to {
        // Where peers are followed, some datagrams of the plain peer come from other addresses.
        Whose::Own3 if target.roaming.is_on => Place::Plain,
        Whose::Own | Whose::Own2 | Whose::Own3 => from,
        Whose::Of(place) => place,
    };
    let id = target.frame(to, short.frame);
    let Some(remote) = target.remote(to) else {
        return vec![0x40, 1, 2, 3, 4, 0];
    };
    let mut shape = remote.shape;
    let is_open = short.check == 0;
    if is_open {
        shape.check = None;
    }
    let (messages, stride) = (short.messages.iter(), target.stride);
    let (id_bytes, echo) = (shape.id_bytes, target.roaming.challenge);
    let form = encoder::Short {
        connection_id: remote.connection_id.clone(),
        id,
        width: short.width,
        nonce: short.flags[0],
        ack_now: short.flags[1],
        ack: short
            .ack
            .as_ref()
            .map(|ack| acknowledgement(ack, remote.newest)),
        messages: messages
            .map(|of| message(&echoed(of, echo), stride, id_bytes))
            .collect(),
    };
    let datagram = form.encode(&shape);
    let insider = target.insider.as_mut();
    let Some(insider) = insider.filter(|_| to == Place::Plain && !is_open) else {
        return datagram;
    };
    let head = 1 + form.connection_id.len() + usize::from(short.width);
    let key = match short.check {
        1 => Key::Wrong,
        2 => Key::Next,
        _ => Key::Current,
    };
    insider.seal(datagram, head, id, key)
}

/// A frame of the plain peer, which has keys, in which anything is sealed.
pub(crate) fn sealed_text(target: &mut Target, text: &Text) -> Vec<u8> {
    let id = target.frame(Place::Plain, text.frame);
    let remote = target.remote(Place::Plain);
    let connection_id = remote.map_or(&[][..], |remote| &remote.connection_id);
    let mut form = vec![0x40 | (text.width - 1) << 4 | text.flags];
    form.extend(connection_id);
    form.extend(&id.to_le_bytes()[..usize::from(text.width)]);
    let head = form.len();
    form.extend(&text.bytes);
    let (byte, count) = text.tail;
    form.extend(vec![byte; count.unwrap_or_default().into()]);
    match &mut target.insider {
        Some(insider) => insider.seal(form, head, id, Key::Current),
        None => form,
    }
}

fn acknowledgement(ack: &forms::Ack, (newest, width): (u32, u8)) -> encoder::Ack {
    let largest = newest.saturating_add_signed(-i32::from(ack.behind));
    // The bits of frames before the first one have to be set.
    let below = u32::MAX.checked_shl(largest).unwrap_or(0);
    encoder::Ack {
        largest,
        width,
        map: ack.map | below,
        delay: ack.delay,
        ranges: ack
            .range
            .iter()
            .map(|&(gap, len)| (gap.into(), len.into()))
            .collect(),
        marks: ack.marks,
        nonces: ack.nonces,
    }
}

/// Turns half of the signalling messages into answers to the host's challenge, if there is one: random
/// data would never answer it.
fn echoed(message: &Message, echo: Option<[u8; 8]>) -> Message {
    match (message, echo) {
        (Message::Signal(_, fields), Some(data)) if fields[0] % 2 == 0 => Message::Signal(8, data),
        _ => message.clone(),
    }
}

fn message(message: &Message, stride: u32, id_bytes: usize) -> encoder::Message {
    let packet = |packet: &forms::Packet, fragment, len| {
        encoder::Message::Packet(encoder::Packet {
            mode: packet.mode,
            channel: packet.channel,
            id: stride * u32::from(packet.id),
            dependency: packet.dependency.into(),
            fragment,
            receipt: packet.id % 4 == 3,
            payload: vec![packet.id; len],
        })
    };
    match *message {
        Message::Packet(ref of, len)
        | Message::Packet2(ref of, len)
        | Message::Packet3(ref of, len) => packet(of, None, len.into()),
        Message::Fragment(ref of, place, pieces, wrong) => {
            // Some fragments are cut at other places, so that they overlap the others.
            let place = u32::from(place);
            let whole = 232 * u32::from(pieces) + 100;
            let offset = match place % u32::from(pieces) {
                0 => 0,
                index => 232 * index + 24 + place / 64 * 8,
            };
            let full = FRAGMENT.min(256 + place as usize);
            let len = full.min((whole - offset) as usize) + usize::from(wrong == 0);
            packet(of, Some((offset, whole)), len)
        }
        Message::Signal(12, [channel, id, count, bits @ ..]) => {
            let (id, count) = (stride * u32::from(id), count % 72);
            let mut bytes = vec![12, channel % 4];
            bytes.extend(id.to_le_bytes());
            // Some messages report the fates of no packet, or of too many.
            bytes.push(count | bits[0] & 0x80);
            bytes.extend(bits.iter().cycle().take(usize::from(count.div_ceil(8))));
            encoder::Message::Control(bytes)
        }
        Message::Signal(kind, fields) => {
            let lengths = [0, 2, 2, 5, 4, 4, 6, 8, 8, 8, 3, 7];
            let mut bytes = vec![kind];
            bytes.extend(&fields[..lengths[usize::from(kind)]]);
            encoder::Message::Control(bytes)
        }
        Message::Place(kind, channel, id, dependency) => {
            let mut bytes = vec![kind, channel];
            let width = if kind == 3 { 4 } else { id_bytes };
            bytes.extend(&(stride * u32::from(id)).to_le_bytes()[..width]);
            if kind != 3 {
                bytes.push(dependency);
            }
            encoder::Message::Control(bytes)
        }
    }
}
