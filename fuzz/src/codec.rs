//! Properties of every datagram that decodes, under every agreement.

use porous_proto::hooks::codec::{
    self, Ack, Agreement, Check, Connect, Form, Message, Packet, Short,
};
use porous_proto::hooks::sealing;
use porous_proto::{Integrity, Malformed, Mode};
use porous_tests::encoder;

/// Random bytes that choose an agreement.
pub type Choice = [u8; 3];

/// Any agreement that two hosts could come to.
#[must_use]
pub fn agreement([length, window, rest]: Choice) -> Agreement {
    let log = 4 + window % 13;
    // Where the expansion of an id may go wrong: near both ends, and where its low bytes are 0.
    let anchor = [0, 200, 1 << 32, u64::MAX][usize::from(rest >> 4) % 4];
    Agreement {
        connection_id_len: usize::from(length % 21),
        id_bytes: if log <= 14 { 2 } else { 3 },
        window: 1 << log,
        check: (rest & 0x80 != 0).then_some(Check {
            integrity: if length / 21 % 2 == 0 {
                Integrity::Header
            } else {
                Integrity::Crc32c
            },
            nonces: [77, 33],
            next: anchor,
            acked: 1 << 31,
        }),
    }
}

/// The only id in [i_b - 3R, i_b + R) that has these low bytes.
fn expand(low: u32, width: u8, anchor: u64) -> Option<u64> {
    let range = 1_i128 << (8 * width);
    let least = i128::from(anchor) - 3 * range / 4;
    let id = least + (i128::from(low) - least).rem_euclid(range);
    u64::try_from(id).ok()
}

/// The lowest `width` bytes of an id, at the front of `bytes`.
fn low(bytes: &[u8], width: u8) -> Option<u32> {
    let bytes = bytes.get(..width.into())?.iter().rev();
    Some(bytes.fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
}

/// The whole ids of a short form: its own, and the newest one that it acknowledges.
fn ids(short: &[u8], agreement: &Agreement, check: &Check) -> Option<(u64, Option<u64>)> {
    let (first, rest) = short.split_first()?;
    let rest = rest.get(agreement.connection_id_len..)?;
    let width = (first >> 4 & 3) + 1;
    let id = expand(low(rest, width)?, width, check.next)?;
    if first & 4 == 0 {
        return Some((id, None));
    }
    let (head, rest) = rest.get(width.into()..)?.split_first()?;
    let width = (head >> 6) + 1;
    let acked = expand(low(rest, width)?, width, check.acked)?;
    Some((id, Some(acked)))
}

/// Appends the check to a datagram that ends with a short form, if there is one in this agreement.
pub fn seal(datagram: &mut Vec<u8>, agreement: &Agreement) {
    let Some(check) = agreement.check else {
        return;
    };
    let start = match datagram[..] {
        // What is sealed has no check.
        [0xD2, ..] => return,
        [first, low, high, ..] if first >> 4 == 0xD => {
            3 + usize::from(low) + 256 * usize::from(high)
        }
        _ => 0,
    };
    if datagram.get(start).is_none_or(|first| first & 0xC0 != 0x40) {
        return;
    }
    let mut short = datagram.split_off(start);
    if let Some((id, acked)) = ids(&short, agreement, &check) {
        let check = encoder::Check {
            is_crc: check.integrity == Integrity::Crc32c,
            nonces: check.nonces,
        };
        check.append(id, acked, &mut short);
    }
    datagram.extend(short);
}

/// The forms in a datagram, if it decodes.
///
/// # Errors
///
/// Those of the library's decoder.
///
/// # Panics
///
/// If the forms encode to other bytes, or if a value in them is outside its bounds.
pub fn read(datagram: &[u8], agreement: &Agreement) -> Result<Vec<Form>, Malformed> {
    let forms = codec::decode(datagram, agreement)?;
    // Each datagram has only one spelling.
    let again = codec::reencode(datagram, agreement).expect("it decoded");
    assert_eq!(again, datagram, "{forms:?}");
    for form in &forms {
        check_form(form, datagram, agreement);
    }
    match &forms[..] {
        // Message 1 never stands alone.
        [
            Form::Sealed(sealing::Form::First { nonces, .. }),
            Form::Request(request),
        ] => {
            assert!(!request.cookie && request.nonces == *nonces);
            Ok(forms)
        }
        [Form::Sealed(sealing::Form::First { .. })] => panic!("{forms:?}"),
        [_]
        | [Form::Acknowledge(_), Form::Request(_) | Form::Short(_)]
        | [
            Form::Sealed(sealing::Form::Second { .. }),
            Form::SealedShort(_),
        ] => Ok(forms),
        _ => panic!("{forms:?}"),
    }
}

fn check_form(form: &Form, datagram: &[u8], agreement: &Agreement) {
    match form {
        Form::Acknowledge(connect) => {
            assert!(!connect.cookie && !connect.nonces.contains(&0));
            assert!(connect.greeting.is_empty());
            check_connect(connect);
        }
        Form::Request(connect) => {
            let needed = usize::from(connect.cookie) + 1;
            assert!(!connect.nonces[..needed].contains(&0));
            assert!(!connect.cookie || connect.connection_id.is_empty());
            assert!(!connect.cookie || connect.greeting.is_empty());
            check_connect(connect);
        }
        Form::OtherVersion {
            version,
            nonce_self,
        } => {
            assert_ne!(*version, encoder::VERSION);
            let head = [&version.to_le_bytes()[..], &nonce_self.to_le_bytes()];
            assert_eq!(datagram[3..15], head.concat());
        }
        Form::Refuse {
            nonce_peer,
            reason,
            data,
            ..
        } => {
            assert!(*nonce_peer != 0 && *reason < 5 && data.len() <= 64);
            match *reason {
                1 => assert_eq!(data.len(), 8),
                3 => {}
                _ => assert!(data.is_empty()),
            }
        }
        Form::Disconnect(nonces, _) | Form::DisconnectAck(nonces) => {
            assert!(!nonces.contains(&0));
        }
        Form::Reset(id) => assert!((1..=20).contains(&id.len())),
        Form::Short(short) => check_short(short, agreement),
        Form::Sealed(sealed) => check_sealed(sealed),
        Form::SealedShort(short) => {
            assert_eq!(short.connection_id.len(), agreement.connection_id_len);
            assert!(short.sealed.len() >= 16);
        }
    }
}

fn check_sealed(form: &sealing::Form) {
    // Suites 1 and 2 have keys of 32 bytes, others of 1 to 65.
    let keys = |suite| match suite {
        0 => panic!("no suite"),
        1 | 2 => (32, 32),
        _ => (1, 65),
    };
    let nonces = match form {
        sealing::Form::First {
            nonces,
            terms,
            message,
        } => {
            let (least, most) = keys(terms.suite);
            assert!((least + 16..=most + 255 + 16).contains(&message.len()));
            assert!(terms.psk.is_none() || terms.token.is_none());
            let mut token = terms.token.iter();
            assert!(token.all(|token| (1..=372).contains(&token.len())));
            nonces
        }
        sealing::Form::Second {
            nonces,
            suite,
            message,
        } => {
            let (least, most) = keys(*suite);
            assert!((least + 17..=most + 1 + 20 + 255 + 16).contains(&message.len()));
            nonces
        }
        sealing::Form::Goodbye { nonces, .. } => nonces,
    };
    assert!(!nonces.contains(&0));
}

fn check_connect(connect: &Connect) {
    assert!(connect.connection_id.len() <= 20);
    assert!((1..=255).contains(&connect.channels.len()));
    assert!(connect.datagram >= 512 && connect.packet >= 1);
    assert!(connect.path_mtu.is_none_or(|mtu| mtu > connect.datagram));
    assert!(u64::from(connect.budget) >= u64::from(connect.packet) + 64);
    assert!(connect.windows.iter().all(|log| (4..=16).contains(log)));
    assert!(!connect.rates.contains(&0));
    let suites = &connect.sealed;
    assert!(suites.len() <= 4 && !suites.contains(&0));
    let once = |(place, suite)| !suites[..place].contains(suite);
    assert!(suites.iter().enumerate().all(once));
    assert!(connect.timeout != Some(0) && connect.greeting.len() <= 255);
}

fn check_short(short: &Short, agreement: &Agreement) {
    assert_eq!(short.connection_id.len(), agreement.connection_id_len);
    check_low(short.id);
    if let Some(Ack {
        largest, ranges, ..
    }) = &short.ack
    {
        check_low(*largest);
        assert!(ranges.len() <= 16);
        for (i, (gap, length)) in ranges.iter().enumerate() {
            assert!((i == 0 || *gap > 0) && *length > 0);
        }
    }
    assert!(short.messages.len() <= 128 && short.padding != 1);
    assert!(!short.ack_now || !short.messages.is_empty());
    for message in &short.messages {
        check_message(message, agreement);
    }
}

/// Checks that `width` bytes, 1 to 4, hold the low bytes of an id.
fn check_low((low, width): (u32, u8)) {
    assert!((1..=4).contains(&width) && u64::from(low) < 1 << (8 * width));
}

fn check_message(message: &Message, agreement: &Agreement) {
    let window = agreement.window;
    match message {
        Message::Packet(packet) => {
            let Packet {
                id,
                dependency,
                fragment,
                payload,
                mode: Mode::Unreliable | Mode::Reliable | Mode::Passive,
                ..
            } = packet;
            check_low((*id, agreement.id_bytes));
            assert!(*dependency < window);
            if let Some((offset, whole)) = *fragment {
                let end = u64::from(offset) + payload.len() as u64;
                let is_end = end == u64::from(whole);
                assert!(offset == 0 || offset >= 256);
                assert!(!payload.is_empty() && end <= u64::from(whole));
                assert!(is_end && offset > 0 || !is_end && payload.len() >= 256);
            }
        }
        Message::Control(4 | 5, fields) => {
            let [_, id, dependency] = fields[..] else {
                panic!("{message:?}");
            };
            assert!(id < 1 << (8 * agreement.id_bytes) && dependency < window.into());
        }
        Message::Control(6, fields) => assert_ne!(fields[1], 0),
        Message::Control(12, fields) => {
            let [_, _, count, skipped] = fields[..] else {
                panic!("{message:?}");
            };
            let count = count & 0x7F;
            assert!((1..=64).contains(&count), "{message:?}");
            assert_eq!(
                skipped
                    .checked_shr(u32::try_from(count).unwrap_or(64))
                    .unwrap_or(0),
                0
            );
        }
        Message::Control(subtype, _) => assert!(matches!(subtype, 0..=8 | 10 | 11)),
    }
}
