//! What an attacker makes of the datagrams that it has seen. It knows `docs/wire.md`, and no key.

use crate::{nonce_peer, nonce_self};

/// The bytes before what the length of a long form counts.
const PREFIX: usize = 3;

/// Where a long form has its connection id, and behind it its offer.
const ID: usize = 23;

/// The type of the parameter that says what a host can seal with.
const SEALED: u8 = 12;

/// The long forms at the beginning of a datagram, and what stands behind them.
#[must_use]
pub fn split(datagram: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let (mut forms, mut rest) = (Vec::new(), datagram);
    while let &[byte0, low, high, ..] = rest {
        let end = PREFIX + usize::from(u16::from_le_bytes([low, high]));
        if byte0 & 0x80 == 0 || byte0 == 0xF2 || end > rest.len() {
            break;
        }
        let (form, behind) = rest.split_at(end);
        forms.push(form);
        rest = behind;
    }
    (forms, rest)
}

/// A long form with these nonces, its sender's first.
///
/// # Panics
///
/// If the body has more than 65,515 bytes.
#[must_use]
pub fn long(byte0: u8, nonces: [&[u8]; 2], body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(20 + body.len()).expect("a short body");
    let version = crate::encoder::VERSION;
    let mut form = vec![byte0];
    form.extend(length.to_le_bytes());
    form.extend(version.to_le_bytes());
    form.extend(nonces.concat());
    form.extend(body);
    form
}

/// The nonces of a long form, its sender's first.
///
/// # Panics
///
/// If the form is too short to be a long one.
#[must_use]
pub fn nonces(form: &[u8]) -> [&[u8]; 2] {
    [&form[nonce_self()], &form[nonce_peer()]]
}

/// A request with another parameter 12, or with none.
fn offering(form: &[u8], suites: Option<&[u8]>) -> Vec<u8> {
    let start = ID + 1 + usize::from(form[ID]);
    let mut body = form[ID..start].to_vec();
    let mut rest = &form[start..];
    while let &[kind, length, ..] = rest {
        let (parameter, behind) = rest.split_at(2 + usize::from(length));
        match suites {
            _ if kind != SEALED => body.extend(parameter),
            Some(suites) => {
                body.extend([SEALED, u8::try_from(suites.len()).expect("few suites")]);
                body.extend(suites);
            }
            None => {}
        }
        rest = behind;
    }
    long(form[0], nonces(form), &body)
}

/// This datagram with another parameter 12 in all of its requests, or with none. Its length stays, as that of
/// requests is looked at.
///
/// # Panics
///
/// If a request in it is cut off.
#[must_use]
pub fn reoffer(datagram: &[u8], suites: Option<&[u8]>) -> Vec<u8> {
    let (forms, rest) = split(datagram);
    let mut made = Vec::new();
    for form in forms {
        match form[0] {
            0xC0 | 0xC1 => made.extend(offering(form, suites)),
            _ => made.extend(form),
        }
    }
    made.extend(rest);
    // Behind a request there are zeros.
    if is_request(datagram) {
        made.resize(datagram.len(), 0);
    }
    made
}

/// True of a datagram that is padded with zeros.
#[must_use]
pub fn is_request(datagram: &[u8]) -> bool {
    let (forms, _) = split(datagram);
    forms.last().is_some_and(|form| form[0] == 0xC0)
}

/// True of a datagram that begins with ACK with AUTH: message 1 if a request is behind it, else message 2.
///
/// # Panics
///
/// If it is empty.
#[must_use]
pub fn has_message(datagram: &[u8]) -> bool {
    datagram[0] == 0xD2
}

/// True of a short form.
///
/// # Panics
///
/// If it is empty.
#[must_use]
pub fn is_short(datagram: &[u8]) -> bool {
    datagram[0] & 0xC0 == 0x40
}
