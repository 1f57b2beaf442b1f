//! Long forms, byte by byte, and which of them are refused.

use super::*;
use crate::frame::Refusal;
use Malformed::{BadValue, Reserved, TrailingBytes, Truncated, UnknownType, Version};

/// Offsets of the parts of a long form.
const VERSION_AT: usize = 3;
const NONCE_SELF_AT: usize = 7;
const NONCE_PEER_AT: usize = 15;
const BODY_AT: usize = 23;

fn request() -> Vec<u8> {
    bytes_of(|buffer| connect().encode_request(&[], buffer))
}

fn acknowledge() -> Vec<u8> {
    bytes_of(|buffer| connect().encode_acknowledge(buffer))
}

fn cookie() -> Vec<u8> {
    let connection_id = ConnectionId::default();
    let connect = Connect {
        cookie: true,
        connection_id,
        ..connect()
    };
    bytes_of(|buffer| connect.encode_request(&[], buffer))
}

fn refuse(refusal: Refusal) -> Vec<u8> {
    let refuse = Refuse {
        nonce_peer: 7,
        newest_version: 9,
        oldest_version: 8,
        refusal,
    };
    bytes_of(|buffer| refuse.encode(buffer))
}

fn application(data: &[u8]) -> Refusal {
    Refusal::Application(RefusalData::new(data).unwrap())
}

fn error(datagram: &[u8]) -> Malformed {
    decode(datagram, 4).unwrap_err()
}

/// The datagram with other bytes from `at` on.
fn with(datagram: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut changed = datagram.to_vec();
    changed[at..at + bytes.len()].copy_from_slice(bytes);
    changed
}

#[test]
fn every_long_form_begins_alike() {
    for form in [request(), acknowledge(), cookie(), refuse(Refusal::Full)] {
        assert!(form[0] >= 0xC0);
        assert_eq!(
            usize::from(u16::from_le_bytes([form[1], form[2]])),
            form.len() - 3
        );
    }
    let form = request();
    assert_eq!(form[VERSION_AT..NONCE_SELF_AT], VERSION.to_le_bytes());
    assert_eq!(form[NONCE_SELF_AT..NONCE_PEER_AT], [0x11; 8]);
    assert_eq!(form[NONCE_PEER_AT..BODY_AT], [0x22; 8]);
}

#[test]
fn no_prefix_of_a_long_form_decodes() {
    let forms = [
        request(),
        acknowledge(),
        cookie(),
        refuse(application(b"no")),
    ];
    for form in forms {
        for end in 0..form.len() {
            assert_eq!(error(&form[..end]), Truncated, "{end} of {form:02x?}");
        }
    }
}

#[test]
fn a_request_in_another_version_is_recognized_by_its_head() {
    let other = Rest::OtherVersion {
        version: 9,
        nonce_self: 0x1111_1111_1111_1111,
    };
    let datagram = with(&request(), VERSION_AT, &[9, 0, 0, 0]);
    assert_eq!(decode(&datagram, 0).unwrap().rest, other);
    assert_eq!(
        decode(&datagram[..15], 0).unwrap().rest,
        other,
        "15 bytes are enough"
    );
    assert_eq!(error(&datagram[..14]), Truncated);
    let flags = with(&datagram, 0, &[0xCF]);
    assert_eq!(
        decode(&flags, 0).unwrap().rest,
        other,
        "its flags may mean something there"
    );
}

#[test]
fn other_forms_in_another_version_are_refused_except_refusals() {
    assert_eq!(error(&with(&acknowledge(), VERSION_AT, &[9])), Version);
    let end = Disconnect {
        nonce_self: 1,
        nonce_peer: 2,
        reason: 3,
    };
    assert_eq!(
        error(&with(&bytes_of(|b| end.encode(b)), VERSION_AT, &[9])),
        Version
    );
    let mut pair = acknowledge();
    pair.extend(with(&request(), VERSION_AT, &[9]));
    assert_eq!(error(&pair), Version);
    let (newest, oldest) = (9, 8);
    let refusal = refuse(Refusal::Version { oldest, newest });
    let refusal = decode(&refusal, 0).unwrap().rest;
    assert!(matches!(
        refusal,
        Rest::Refuse(Refuse {
            newest_version: 9,
            oldest_version: 8,
            ..
        })
    ));
}

#[test]
fn nonces_are_there_where_they_must_be() {
    let zero = [0; 8];
    assert_eq!(error(&with(&request(), NONCE_SELF_AT, &zero)), BadValue);
    assert!(decode(&with(&request(), NONCE_PEER_AT, &zero), 0).is_ok());
    assert_eq!(error(&with(&cookie(), NONCE_PEER_AT, &zero)), BadValue);
    assert_eq!(error(&with(&acknowledge(), NONCE_SELF_AT, &zero)), BadValue);
    assert_eq!(error(&with(&acknowledge(), NONCE_PEER_AT, &zero)), BadValue);
    let refusal = refuse(Refusal::Full);
    assert_eq!(error(&with(&refusal, NONCE_PEER_AT, &zero)), BadValue);
    assert_eq!(error(&with(&refusal, NONCE_SELF_AT, &[1])), BadValue);
    for control in [0xF0, 0xF1] {
        let end = Disconnect {
            nonce_self: 1,
            nonce_peer: 2,
            reason: 3,
        };
        let form = with(&bytes_of(|b| end.encode(b)), 0, &[control]);
        assert_eq!(error(&with(&form, NONCE_SELF_AT, &zero)), BadValue);
        assert_eq!(error(&with(&form, NONCE_PEER_AT, &zero)), BadValue);
    }
}

#[test]
fn reserved_bits_of_byte_0_are_refused() {
    assert_eq!(
        error(&with(&request(), 0, &[0xC2])),
        Reserved,
        "authentication"
    );
    assert_eq!(error(&with(&request(), 0, &[0xC4])), Reserved);
    assert_eq!(error(&with(&acknowledge(), 0, &[0xD1])), Reserved);
    assert_eq!(error(&with(&acknowledge(), 0, &[0xD2])), Reserved, "AUTH");
    assert_eq!(error(&with(&refuse(Refusal::Full), 0, &[0xE1])), Reserved);
    assert_eq!(error(&with(&refuse(Refusal::Full), 0, &[0xF3])), Version);
    let end = DisconnectAck {
        nonce_self: 1,
        nonce_peer: 2,
    };
    assert_eq!(
        error(&with(&bytes_of(|b| end.encode(b)), 0, &[0xF3])),
        UnknownType
    );
    for with_mac in [0xF8, 0xF9] {
        let form = with(&bytes_of(|b| end.encode(b)), 0, &[with_mac]);
        assert_eq!(error(&form), UnknownType);
    }
}

#[test]
fn a_request_with_a_cookie_carries_no_connection_id() {
    assert!(decode(&cookie(), 0).is_ok());
    assert_eq!(error(&with(&request(), 0, &[0xC1])), BadValue);
}

#[test]
fn only_zeros_may_follow_a_request() {
    let mut padded = request();
    padded.resize(1200, 0);
    let Rest::Request(request) = decode(&padded, 0).unwrap().rest else {
        panic!("no request")
    };
    assert_eq!(request.datagram_length, 1200);
    padded[1199] = 1;
    assert_eq!(error(&padded), TrailingBytes);
}

#[test]
fn a_cookie_covers_all_but_flags_peer_nonce_and_padding() {
    let input = |datagram: &[u8]| {
        let Rest::Request(request) = decode(datagram, 0).unwrap().rest else {
            panic!()
        };
        request.cookie_input().concat()
    };
    let form = request();
    let mut expected = form[1..15].to_vec();
    expected.extend(&form[23..]);
    let mut again = with(&form, NONCE_PEER_AT, &[0x77; 8]);
    again.resize(1200, 0);
    assert_eq!(input(&form), expected);
    assert_eq!(input(&again), expected);
    assert_ne!(input(&with(&form, NONCE_SELF_AT, &[0x77])), expected);
}

#[test]
fn an_acknowledgement_goes_with_a_request_or_a_short_form_only() {
    let with_rest = |rest: &[u8]| [acknowledge(), rest.to_vec()].concat();
    assert_eq!(decode(&acknowledge(), 0).unwrap().rest, Rest::Nothing);
    let short = short(
        &header(4),
        None,
        &[Message::Control(Control::Noop)],
        0,
        CONTEXT,
    );
    let datagram = with_rest(&short);
    let decoded = decode(&datagram, 4).unwrap();
    assert_eq!(decoded.acknowledge, Some(connect()));
    assert!(matches!(decoded.rest, Rest::Short(form) if form.bytes == short));
    assert!(
        decode(&with_rest(&request()), 4)
            .unwrap()
            .acknowledge
            .is_some()
    );
    for rest in [acknowledge(), refuse(Refusal::Full), vec![0]] {
        assert_eq!(error(&with_rest(&rest)), TrailingBytes);
    }
    for rest in [&[0x40][..], &[0]] {
        let refusal = [refuse(Refusal::Full), rest.to_vec()].concat();
        assert_eq!(error(&refusal), TrailingBytes);
    }
}

#[test]
fn only_an_application_says_more_with_a_refusal() {
    assert!(decode(&refuse(application(&[7; 64])), 0).is_ok());
    let said = refuse(application(b"no"));
    for reason in [0, 1, 2, 4, 5, 255] {
        assert_eq!(
            error(&with(&said, BODY_AT, &[reason])),
            BadValue,
            "{reason}"
        );
    }
    let bare = refuse(Refusal::Security);
    assert_eq!(bare[BODY_AT..], [4, 8, 0, 0, 0, 0]);
    for reason in [0, 2, 3, 4] {
        let refusal = with(&bare, BODY_AT, &[reason]);
        assert_eq!(reencode(&refusal, 0, CONTEXT), Ok(refusal), "{reason}");
    }
    for reason in [1, 5, 255] {
        assert_eq!(
            error(&with(&bare, BODY_AT, &[reason])),
            BadValue,
            "{reason}"
        );
    }
    assert_eq!(error(&with(&said, BODY_AT + 5, &[1])), TrailingBytes);
    assert_eq!(error(&with(&said, BODY_AT + 5, &[3])), Truncated);
    let mut long = refuse(application(&[7; 64]));
    long.push(7);
    let long = with(&with(&long, 1, &[91]), BODY_AT + 5, &[65]);
    assert_eq!(error(&long), BadValue);
}

/// C8.
#[test]
fn an_incompatible_host_says_what_application_it_is() {
    let application_id = 0x0102_0304_0506_0708;
    let form = refuse(Refusal::Incompatible { application_id });
    assert_eq!(form[BODY_AT..], [1, 8, 0, 0, 0, 8, 8, 7, 6, 5, 4, 3, 2, 1]);
    let Rest::Refuse(read) = decode(&form, 0).unwrap().rest else {
        panic!()
    };
    assert_eq!(read.refusal, Refusal::Incompatible { application_id });
    assert_eq!(reencode(&form, 0, CONTEXT), Ok(form.clone()));
    // More or less than the eight bytes of an application id is refused.
    let mut long = with(&form, 1, &[form[1] + 1]);
    long[BODY_AT + 5] = 9;
    long.push(0);
    assert_eq!(error(&long), BadValue);
    let mut short = with(&form, 1, &[form[1] - 1]);
    short[BODY_AT + 5] = 7;
    short.pop();
    assert_eq!(error(&short), BadValue);
}

#[test]
fn a_reset_names_a_connection() {
    for length in 1..=20 {
        let connection_id = connection_id(length);
        let reset = Reset { connection_id };
        let form = bytes_of(|b| reset.encode(b));
        for configured in 0..=20 {
            let decoded = decode(&form, configured).unwrap();
            assert_eq!(decoded.rest, Rest::Reset(reset));
        }
        // Byte 0, the same id and one byte of a frame id: the shortest datagram that a reset answers.
        let shortest = [&[0x40], connection_id.as_bytes(), &[0]].concat();
        assert!(decode(&shortest, length).is_ok());
        assert!(form.len() < shortest.len());
    }
    assert_eq!(error(&[0xF2]), Truncated);
    assert_eq!(error(&[0xF2; 22]), TrailingBytes);
}

#[test]
fn a_long_form_needs_room() {
    let mut buffer = vec![0; request().len() - 1];
    assert!(connect().encode_request(&[], &mut buffer).is_err());
}
