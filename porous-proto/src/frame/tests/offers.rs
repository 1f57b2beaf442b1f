//! Offers in requests and acknowledgements, and which of them are refused.

use super::*;
use Malformed::{BadValue, Reserved, Truncated, UnknownType};

const BODY_AT: usize = 23;

fn request() -> Vec<u8> {
    bytes_of(|buffer| connect().encode_request(&[], buffer))
}

/// A request with this body, and with a length that fits it.
fn with_body(body: &[u8]) -> Vec<u8> {
    let mut changed = request()[..BODY_AT].to_vec();
    changed.extend(body);
    let length = u16::try_from(changed.len() - 3).unwrap();
    changed[1..3].copy_from_slice(&length.to_le_bytes());
    changed
}

fn error(datagram: &[u8]) -> Malformed {
    decode(datagram, 4).unwrap_err()
}

#[test]
fn parameters_come_once_each_in_order() {
    let form = request();
    let body = &form[BODY_AT..];
    assert!(decode(&with_body(body), 0).is_ok());
    // After the connection id: application, channels, max_datagram, ...
    let (id, application, rest) = (&body[..5], &body[5..15], &body[15..]);
    let error_of = |parts: &[&[u8]]| error(&with_body(&parts.concat()));
    assert_eq!(error_of(&[id, rest]), UnknownType);
    assert_eq!(error_of(&[id, application, application, rest]), UnknownType);
    assert_eq!(
        error_of(&[id, &rest[..5], application, &rest[5..]]),
        UnknownType
    );
    assert_eq!(error_of(&[id, application, rest, &[9, 0]]), UnknownType);
    assert_eq!(
        error_of(&[id, application, rest, &[10, 4, 0, 0, 0, 0]]),
        UnknownType
    );
    assert_eq!(
        error_of(&[id, application, &rest[..rest.len() - 6]]),
        Truncated
    );
}

#[test]
fn parameters_have_exact_lengths() {
    let form = request();
    let body = &form[BODY_AT..];
    let short = [&body[..5], &[1, 7], &body[7..14], &body[15..]].concat();
    assert_eq!(error(&with_body(&short)), BadValue);
    let long = [&body[..5], &[1, 9], &body[7..15], &[0], &body[15..]].concat();
    assert_eq!(error(&with_body(&long)), BadValue);
}

#[test]
fn a_path_is_searched_for_what_is_longer_than_any_datagram() {
    let with = |more: &'static [u8]| offered(|body| body.extend(more));
    assert_eq!(with(&[11, 2, 0xB1, 0x04]), None, "1201");
    assert_eq!(with(&[11, 2, 0xFF, 0xFF]), None);
    assert_eq!(with(&[11, 2, 0xB0, 0x04]), Some(BadValue), "1200");
    assert_eq!(with(&[11, 2, 0, 0]), Some(BadValue));
    assert_eq!(with(&[11, 1, 0xFF]), Some(BadValue));
    assert_eq!(with(&[11, 3, 0xFF, 0xFF, 0]), Some(BadValue));
    assert_eq!(with(&[11, 2, 0xFF]), Some(Truncated));
    let twice = &[11, 2, 0xFF, 0xFF, 11, 2, 0xFF, 0xFF];
    assert_eq!(with(twice), Some(UnknownType));
}

#[test]
fn what_is_optional_comes_at_most_once_each_in_order() {
    let parts: [&[u8]; 6] = [
        &[11, 2, 0xFF, 0xFF],
        &[12, 1, 1],
        &[13, 4, 1, 0, 0, 0],
        &[14, 1, b'x'],
        &[15, 0],
        &[255, 3, 1, 2, 3],
    ];
    for some in 0..1 << parts.len() {
        let chosen = (0..parts.len()).filter(|n| some >> n & 1 == 1);
        let bytes: Vec<_> = chosen.flat_map(|n| parts[n].to_vec()).collect();
        assert_eq!(offered(|body| body.extend(bytes)), None, "{some:06b}");
    }
    for (n, first) in parts.iter().enumerate() {
        for second in &parts[..=n] {
            let two = [*first, second].concat();
            assert_eq!(
                offered(|body| body.extend(&two)),
                Some(UnknownType),
                "{two:?}"
            );
        }
    }
}

#[test]
fn what_seals_and_how_long_and_what_is_said_have_ranges() {
    let with = |more: &[u8]| offered(|body| body.extend(more));
    for suites in [&[12, 1, 1][..], &[12, 1, 255], &[12, 4, 4, 3, 2, 1]] {
        assert_eq!(with(suites), None, "{suites:?}");
    }
    for suites in [
        &[12, 0][..],
        &[12, 1, 0],
        &[12, 2, 1, 0],
        &[12, 2, 7, 7],
        &[12, 5, 1, 2, 3, 4, 5],
    ] {
        assert_eq!(with(suites), Some(BadValue), "{suites:?}");
    }
    assert_eq!(with(&[13, 4, 1, 0, 0, 0]), None);
    assert_eq!(with(&[13, 4, 0xFF, 0xFF, 0xFF, 0xFF]), None);
    assert_eq!(with(&[13, 4, 0, 0, 0, 0]), Some(BadValue));
    assert_eq!(with(&[13, 3, 1, 0, 0]), Some(BadValue));
    assert_eq!(with(&[13, 5, 1, 0, 0, 0, 0]), Some(BadValue));
    assert_eq!(with(&[14, 0]), Some(BadValue));
    assert_eq!(with(&[&[14, 255][..], &[7; 255]].concat()), None);
    for cut in [
        &[12, 2, 1][..],
        &[13, 4, 1, 0],
        &[14, 3, b'x', b'y'],
        &[14],
        &[99],
        &[99, 1],
        &[255, 255, 0],
    ] {
        assert_eq!(with(cut), Some(Truncated), "{cut:?}");
    }
}

#[test]
fn a_greeting_is_in_requests_without_a_cookie_only() {
    let greeting = &[14, 2, b'h', b'i'];
    let form = with_body(&[&request()[BODY_AT..], greeting].concat());
    let Rest::Request(read) = decode(&form, 0).unwrap().rest else {
        panic!()
    };
    assert_eq!((read.connect, read.greeting), (connect(), &b"hi"[..]));
    assert_eq!(
        bytes_of(|buffer| connect().encode_request(b"hi", buffer)),
        form
    );
    // A greeting is refused in an acknowledgement, and beside a cookie.
    let mut acknowledge = form.clone();
    acknowledge[0] = 0xD0;
    assert_eq!(error(&acknowledge), UnknownType);
    let without_id = [&[0], &request()[BODY_AT + 5..]].concat();
    let mut cookie = with_body(&without_id);
    cookie[0] = 0xC1;
    assert!(decode(&cookie, 0).is_ok());
    let mut greets = with_body(&[&without_id[..], greeting].concat());
    greets[0] = 0xC1;
    assert_eq!(error(&greets), UnknownType);
}

/// D14.
#[test]
fn types_that_are_not_known_are_skipped_and_covered_by_a_cookie() {
    let more = [20, 2, 1, 2, 99, 0];
    let form = with_body(&[&request()[BODY_AT..], &more].concat());
    let covered = |form: &[u8]| {
        let Rest::Request(request) = decode(form, 0).unwrap().rest else {
            panic!()
        };
        assert_eq!((&request.connect, request.greeting), (&connect(), &b""[..]));
        request.cookie_input().concat()
    };
    assert!(covered(&form).ends_with(&more));
    let mut other = form.clone();
    other[form.len() - 3] = 3;
    assert_ne!(covered(&other), covered(&form));
    assert_eq!(reencode(&form, 0, CONTEXT), Ok(form.clone()));
    let mut padded = form;
    padded.resize(1200, 0);
    assert_eq!(reencode(&padded, 0, CONTEXT), Ok(padded.clone()));
    // Unknown types are skipped in an acknowledgement as well, also if a request follows.
    let mut both = padded.clone();
    both[0] = 0xD0;
    both.truncate(3 + usize::from(both[1]));
    both.extend(&padded);
    assert_eq!(decode(&both, 0).unwrap().acknowledge, Some(connect()));
    assert_eq!(reencode(&both, 0, CONTEXT), Ok(both));
}

#[test]
fn an_offer_leaves_room_for_what_a_driver_adds_down_to_512_bytes() {
    let rows = [
        ((1200, Some(1452)), 0, (1200, Some(1452))),
        ((1200, Some(1452)), 16, (1184, Some(1436))),
        ((1200, None), 255, (945, None)),
        ((540, Some(1452)), 32, (512, Some(1420))),
        ((512, Some(530)), 32, (512, None)),
        ((512, None), 1, (512, None)),
    ];
    for ((max_datagram, path_mtu), envelope, expected) in rows {
        let whole = Offer {
            max_datagram,
            path_mtu,
            ..offer()
        };
        let shorter = whole.within(envelope);
        assert_eq!((shorter.max_datagram, shorter.path_mtu), expected);
        assert!(shorter.is_sane());
    }
}

/// Bits without a meaning are random, so that no host learns to demand that they be 0 (RFC 8701).
/// D14.
#[test]
fn grease_is_in_the_highest_eight_bits() {
    assert_eq!(grease(0xFFFF_FFFF_FFFF_FF00_u64.rotate_right(8)), 0);
    assert_eq!(grease(u64::MAX), 0xFF00_0000);
    assert_eq!(grease(0xA5 << 56), 0xA500_0000);
}

/// The error of a request with a changed offer, if it is one.
fn offered(change: impl FnOnce(&mut Vec<u8>)) -> Option<Malformed> {
    let form = request();
    let mut body = form[BODY_AT..].to_vec();
    change(&mut body);
    decode(&with_body(&body), 0).err()
}

#[test]
fn parameters_are_in_range() {
    // Offsets in the body: 5 bytes of connection id, 10 of application id, 5 of channels.
    let set =
        |at: usize, bytes: &[u8]| offered(|body| body[at..at + bytes.len()].copy_from_slice(bytes));
    let (datagram, packet, budget, windows) = (22, 26, 32, 38);
    let (send, receive, integrity, features) = (42, 48, 54, 57);
    assert_eq!(set(datagram, &511_u16.to_le_bytes()), Some(BadValue));
    assert_eq!(set(datagram, &512_u16.to_le_bytes()), None);
    assert_eq!(set(packet, &[0; 4]), Some(BadValue));
    assert_eq!(set(packet, &u32::MAX.to_le_bytes()), Some(BadValue));
    assert_eq!(
        set(budget, &((1_u32 << 20) + 63).to_le_bytes()),
        Some(BadValue)
    );
    assert_eq!(set(budget, &((1_u32 << 20) + 64).to_le_bytes()), None);
    for (window, error) in [
        (3, Some(BadValue)),
        (4, None),
        (16, None),
        (17, Some(BadValue)),
    ] {
        assert_eq!(set(windows, &[window]), error);
        assert_eq!(set(windows + 1, &[window]), error);
    }
    assert_eq!(set(send, &[0; 4]), Some(BadValue));
    assert_eq!(set(receive, &[0; 4]), Some(BadValue));
    assert_eq!(set(integrity, &[1]), None);
    assert_eq!(set(integrity, &[2]), Some(BadValue));
    assert_eq!(
        set(features, &[0xFF; 4]),
        None,
        "unknown features are never agreed on"
    );
}

#[test]
fn channels_are_counted_and_have_no_spare_bits() {
    // Five channels, of which 1 and 4 have high priority.
    let at = 17;
    let set = |bytes: &[u8]| offered(|body| body[at..at + 3].copy_from_slice(bytes));
    assert_eq!(
        &request()[BODY_AT + 15..BODY_AT + 20],
        &[2, 3, 5, 0x04, 0x01]
    );
    assert_eq!(set(&[5, 0x55, 0x01]), None);
    assert_eq!(set(&[0, 0, 0]), Some(BadValue));
    assert_eq!(set(&[4, 0, 0]), Some(BadValue));
    assert_eq!(set(&[9, 0, 0]), Some(BadValue));
    for unordered in [0x02, 0x08, 0x20, 0x80] {
        assert_eq!(set(&[5, unordered, 0]), Some(Reserved));
    }
    for spare in [0x04, 0x10, 0x40] {
        assert_eq!(set(&[5, 0, spare]), Some(Reserved));
    }
}

#[test]
fn channels_keep_their_priority_up_to_the_255th() {
    let mut channels = Channels::new(255);
    for channel in [0, 31, 32, 254, 255] {
        channels.set_high(channel, true);
    }
    channels.set_high(31, false);
    let high: Vec<_> = (0..=255)
        .filter(|channel| channels.is_high(*channel))
        .collect();
    assert_eq!(high, [0, 32, 254], "channel 255 does not exist");
    let offer = Offer {
        channels,
        ..offer()
    };
    let form = bytes_of(|b| {
        Connect {
            offer: offer.clone(),
            ..connect()
        }
        .encode_request(&[], b)
    });
    let Rest::Request(request) = decode(&form, 0).unwrap().rest else {
        panic!()
    };
    assert_eq!(request.connect.offer, offer);
}
