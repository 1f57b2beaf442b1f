//! The forms that only hosts that seal understand: byte by byte, and which of them are refused.

use super::*;
use crate::frame::auth::Auth;
use crate::frame::long::Long;
use crate::frame::mac::MAC;
use Malformed::{BadValue, Reserved, TrailingBytes, Truncated, UnknownType, Version};
use proptest::prelude::*;

/// Offsets of the parts of a long form.
const VERSION_AT: usize = 3;
const NONCE_SELF_AT: usize = 7;
const NONCE_PEER_AT: usize = 15;
const SUITE_AT: usize = 23;
const FLAGS_AT: usize = 24;

/// A key of 32 bytes, a greeting of 2, and a tag.
const MESSAGE: [u8; 50] = [0xE1; 50];

fn terms() -> Terms<'static> {
    Terms {
        suite: 1,
        key_tag: None,
        proof: Proof::None,
    }
}

fn first_of<'a>(terms: Terms<'a>, message: &'a [u8]) -> FirstAuth<'a> {
    let connect = connect();
    FirstAuth {
        nonce_self: connect.nonce_self,
        nonce_peer: connect.nonce_peer,
        terms,
        message,
    }
}

fn second_of(suite: u8, message: &[u8]) -> SecondAuth<'_> {
    SecondAuth {
        nonce_self: 3,
        nonce_peer: 4,
        suite,
        message,
    }
}

/// Message 1 alone.
fn first() -> Vec<u8> {
    bytes_of(|buffer| first_of(terms(), &MESSAGE).encode(buffer))
}

fn second() -> Vec<u8> {
    bytes_of(|buffer| second_of(1, &MESSAGE).encode(buffer))
}

fn request() -> Vec<u8> {
    bytes_of(|buffer| connect().encode_request(&[], buffer))
}

/// Message 1 and the request behind it.
fn opening(first: &[u8]) -> Vec<u8> {
    [first, &request()].concat()
}

/// ACK with AUTH, with this body.
fn with_body(body: &[u8]) -> Vec<u8> {
    let mut form = first()[..SUITE_AT].to_vec();
    form.extend(body);
    let length = u16::try_from(form.len() - 3).unwrap();
    form[1..3].copy_from_slice(&length.to_le_bytes());
    form
}

/// A goodbye whose MAC is of one byte many times: the sum of what it covers.
fn sum(covered: &[u8]) -> [u8; MAC] {
    [covered.iter().fold(0, |sum, byte| sum.wrapping_add(*byte)); MAC]
}

const BYE: Disconnect = Disconnect {
    nonce_self: 7,
    nonce_peer: 8,
    reason: 42,
};

const BYE_ACK: DisconnectAck = DisconnectAck {
    nonce_self: 8,
    nonce_peer: 7,
};

fn disconnect() -> Vec<u8> {
    bytes_of(|buffer| encode_disconnect(&BYE, buffer, sum))
}

fn disconnect_ack() -> Vec<u8> {
    bytes_of(|buffer| encode_disconnect_ack(&BYE_ACK, buffer, sum))
}

fn read(datagram: &[u8]) -> Result<Sealed<'_>, Malformed> {
    decode_sealed(datagram, 4).expect("a form of hosts that seal")
}

fn error(datagram: &[u8]) -> Malformed {
    read(datagram).expect_err("it is refused")
}

/// Why message 1 with this body is refused, if it is.
fn refused(body: &[u8]) -> Option<Malformed> {
    read(&opening(&with_body(body))).err()
}

/// The datagram with other bytes from `at` on.
fn with(datagram: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut changed = datagram.to_vec();
    changed[at..at + bytes.len()].copy_from_slice(bytes);
    changed
}

/// A sealed short form: its head, `sealed` bytes, and the tag.
fn short_form(byte0: u8, sealed: usize) -> Vec<u8> {
    let head = [byte0, 0xC1, 0xC2, 0xC3, 0xC4, 9];
    [&head[..], &vec![0x5E; sealed + SEAL_TAG]].concat()
}

#[test]
fn message_1_is_written_as_it_is_documented() {
    let token = [0x70; 5];
    let key_tag = Some([0x1A, 0x92, 0xF2, 0x38]);
    for (key_tag, proof, part) in [
        (None, Proof::None, &[1, 0][..]),
        (key_tag, Proof::None, &[1, 2, 0x1A, 0x92, 0xF2, 0x38]),
        (None, Proof::Psk(0x0403_0201), &[1, 4, 1, 2, 3, 4]),
        (
            key_tag,
            Proof::Psk(7),
            &[1, 6, 0x1A, 0x92, 0xF2, 0x38, 7, 0, 0, 0],
        ),
        (
            None,
            Proof::Token(&token),
            &[1, 8, 5, 0, 0x70, 0x70, 0x70, 0x70, 0x70],
        ),
        (
            key_tag,
            Proof::Token(&token[..1]),
            &[1, 10, 0x1A, 0x92, 0xF2, 0x38, 1, 0, 0x70],
        ),
    ] {
        let terms = Terms {
            suite: 1,
            key_tag,
            proof,
        };
        let form = bytes_of(|buffer| first_of(terms, &MESSAGE).encode(buffer));
        assert_eq!(form[..3], [0xD2, u8::try_from(form.len() - 3).unwrap(), 0]);
        assert_eq!(form[VERSION_AT..NONCE_SELF_AT], VERSION.to_le_bytes());
        assert_eq!(form[NONCE_SELF_AT..NONCE_PEER_AT], [0x11; 8]);
        assert_eq!(form[NONCE_PEER_AT..SUITE_AT], [0x22; 8]);
        assert_eq!(form[SUITE_AT..], [part, &MESSAGE].concat());
        assert_eq!(terms.prologue_part()[..], *part);
        let datagram = opening(&form);
        let Sealed::First(read, request) = read(&datagram).unwrap() else {
            panic!("message 1");
        };
        assert_eq!(read, first_of(terms, &MESSAGE));
        assert_eq!(request.connect, connect());
        assert_eq!(request.datagram_length, datagram.len());
    }
}

#[test]
fn message_2_is_written_as_it_is_documented() {
    let form = second();
    assert_eq!(form[..3], [0xD2, 72, 0]);
    assert_eq!(form[SUITE_AT..], [&[1, 1][..], &MESSAGE].concat());
    assert_eq!(
        read(&form),
        Ok(Sealed::Second(second_of(1, &MESSAGE), None))
    );
}

#[test]
fn the_prologue_is_what_both_hosts_have_seen() {
    let terms = Terms {
        proof: Proof::Psk(7),
        ..terms()
    };
    let (initiator, mut responder) = (request(), request());
    responder[NONCE_SELF_AT] = 9;
    let made = prologue(&terms, cookie_input(&initiator), cookie_input(&responder));
    let expected = [
        &b"porous seal 1\x01\x04\x07\0\0\0"[..],
        &initiator[1..15],
        &initiator[23..],
        &responder[1..15],
        &responder[23..],
    ];
    assert_eq!(made, expected.concat());
}

/// What a cookie covers is the same of a form that is to be sent and of the form that comes.
#[test]
fn a_host_covers_its_own_request_as_the_other_host_does() {
    let form = request();
    let datagram = opening(&first());
    let Ok(Sealed::First(_, request)) = read(&datagram) else {
        panic!("message 1");
    };
    assert_eq!(request.cookie_input(), cookie_input(&form));
}

#[test]
fn no_prefix_decodes() {
    let token = [0x70; 20];
    let terms = Terms {
        suite: 2,
        key_tag: Some([1; 4]),
        proof: Proof::Token(&token),
    };
    let with_token = bytes_of(|buffer| first_of(terms, &MESSAGE).encode(buffer));
    let firsts = [first(), with_token].map(|first| opening(&first));
    for datagram in firsts.into_iter().chain([disconnect(), disconnect_ack()]) {
        assert!(read(&datagram).is_ok());
        for end in 1..datagram.len() {
            assert_eq!(error(&datagram[..end]), Truncated, "{end}");
        }
    }
    // Message 2 may stand alone.
    let answer = [second(), short_form(0x40, 3)].concat();
    assert!(read(&answer).is_ok());
    for end in 1..answer.len() {
        let is_whole = end == second().len() || end >= answer.len() - 3;
        assert_eq!(read(&answer[..end]).is_ok(), is_whole, "{end}");
    }
    assert_eq!(decode_sealed(&[], 4), None);
}

/// A form whose length leaves out the end of its fields.
#[test]
fn no_field_reaches_beyond_its_form() {
    let token = [0x70; 20];
    for proof in [Proof::None, Proof::Psk(9), Proof::Token(&token)] {
        let terms = Terms {
            key_tag: Some([1; 4]),
            proof,
            ..terms()
        };
        let form = bytes_of(|buffer| first_of(terms, &[0xE1; 48]).encode(buffer));
        for end in SUITE_AT..form.len() {
            let cut = with_body(&form[SUITE_AT..end]);
            assert_eq!(error(&opening(&cut)), Truncated, "{end}");
        }
    }
    let form = bytes_of(|buffer| second_of(1, &[0xE1; 49]).encode(buffer));
    for end in SUITE_AT..form.len() {
        assert_eq!(error(&with_body(&form[SUITE_AT..end])), Truncated, "{end}");
    }
}

#[test]
fn only_byte_0_of_these_forms_is_taken() {
    let request = request();
    for byte0 in 0..=255_u8 {
        let is_taken = decode_sealed(&with(&request, 0, &[byte0]), 4).is_some();
        let is_one = matches!(byte0, 0xD2 | 0xF8 | 0xF9);
        assert_eq!(is_taken, is_one, "{byte0:02x}");
    }
    // A host that does not seal refuses them.
    assert_eq!(decode(&opening(&first()), 4), Err(Reserved));
    assert_eq!(decode(&second(), 4), Err(Reserved));
    assert_eq!(decode(&disconnect(), 4), Err(UnknownType));
    assert_eq!(decode(&disconnect_ack(), 4), Err(UnknownType));
}

#[test]
fn another_version_is_refused() {
    for datagram in [opening(&first()), second(), disconnect(), disconnect_ack()] {
        assert_eq!(error(&with(&datagram, VERSION_AT, &[9])), Version);
    }
    let behind = first().len() + VERSION_AT;
    assert_eq!(error(&with(&opening(&first()), behind, &[9])), Version);
}

#[test]
fn both_nonces_are_named() {
    for datagram in [opening(&first()), second(), disconnect(), disconnect_ack()] {
        for at in [NONCE_SELF_AT, NONCE_PEER_AT] {
            assert_eq!(error(&with(&datagram, at, &[0; 8])), BadValue);
        }
    }
}

#[test]
fn flags_that_mean_nothing_are_refused() {
    for flags in 0..=255_u8 {
        // Enough bytes for any field: a key tag, and a psk, or a token of 257 bytes.
        let body = [&[1, flags, 1, 1, 1, 1, 1, 1, 1, 1][..], &[1; 330]].concat();
        let expected = match flags {
            0 | 2 | 4 | 6 | 8 | 10 => None,
            // P and T exclude each other.
            12 | 14 => Some(BadValue),
            _ => Some(Reserved),
        };
        let body = &body[..if flags & 8 == 0 { 100 } else { 340 }];
        if flags == 1 {
            assert!(read(&with_body(body)).is_ok(), "message 2");
        } else {
            assert_eq!(refused(body), expected, "{flags:08b}");
        }
        if flags & 1 != 0 && flags != 1 {
            assert_eq!(error(&with_body(body)), Reserved, "{flags:08b}");
        }
    }
}

#[test]
fn a_suite_has_a_number() {
    assert_eq!(error(&with(&opening(&first()), SUITE_AT, &[0])), BadValue);
    assert_eq!(error(&with(&second(), SUITE_AT, &[0])), BadValue);
    for suite in [1, 2, 3, 192, 255] {
        assert!(read(&with(&opening(&first()), SUITE_AT, &[suite])).is_ok());
        assert!(read(&with(&second(), SUITE_AT, &[suite])).is_ok());
    }
}

#[test]
fn a_token_has_1_to_372_bytes() {
    let body = |length: u16, bytes: usize| {
        let [low, high] = length.to_le_bytes();
        [&[1, 8, low, high][..], &vec![0x70; bytes], &MESSAGE].concat()
    };
    for length in [1, 2, 255, 256, 372] {
        assert_eq!(
            refused(&body(length, usize::from(length))),
            None,
            "{length}"
        );
    }
    assert_eq!(refused(&body(0, 0)), Some(BadValue));
    assert_eq!(refused(&body(373, 373)), Some(BadValue));
    assert_eq!(refused(&body(u16::MAX, 0)), Some(BadValue));
    // The token may be what it takes of the message.
    assert_eq!(refused(&body(6, 5)), None);
    assert_eq!(refused(&body(8, 5)), Some(Truncated));
}

#[test]
fn messages_have_the_lengths_that_their_suite_allows() {
    let first =
        |suite: u8, length: usize| refused(&[&[suite, 0], &vec![0xE1; length][..]].concat());
    let second = |suite: u8, length: usize| {
        read(&with_body(&[&[suite, 1], &vec![0xE1; length][..]].concat())).err()
    };
    for suite in [1, 2] {
        // A key of 32 bytes, greetings of 0 to 255, a tag.
        assert_eq!(first(suite, 47), Some(Truncated));
        assert_eq!(first(suite, 48), None);
        assert_eq!(first(suite, 303), None);
        assert_eq!(first(suite, 304), Some(BadValue));
        // And an id of up to 20 bytes with its length.
        assert_eq!(second(suite, 48), Some(Truncated));
        assert_eq!(second(suite, 49), None);
        assert_eq!(second(suite, 324), None);
        assert_eq!(second(suite, 325), Some(BadValue));
    }
    // Keys of 1 to 65 bytes.
    for suite in [3, 191, 192, 255] {
        assert_eq!(first(suite, 16), Some(Truncated));
        assert_eq!(first(suite, 17), None);
        assert_eq!(first(suite, 336), None);
        assert_eq!(first(suite, 337), Some(BadValue));
        assert_eq!(second(suite, 17), Some(Truncated));
        assert_eq!(second(suite, 18), None);
        assert_eq!(second(suite, 357), None);
        assert_eq!(second(suite, 358), Some(BadValue));
    }
}

#[test]
fn message_1_is_followed_by_the_request_of_its_sender() {
    let behind = |rest: &[u8]| read(&[&first(), rest].concat()).err();
    assert_eq!(behind(&request()), None);
    let mut padded = request();
    padded.resize(1200, 0);
    assert_eq!(behind(&padded), None);
    padded[1199] = 1;
    assert_eq!(behind(&padded), Some(TrailingBytes));

    assert_eq!(behind(&[]), Some(Truncated));
    for rest in [
        first(),
        second(),
        short_form(0x40, 0),
        disconnect(),
        bytes_of(|buffer| connect().encode_acknowledge(buffer)),
        vec![0],
    ] {
        assert_eq!(behind(&rest), Some(TrailingBytes), "{rest:02x?}");
    }
    // The nonces of another host, or of another attempt.
    for at in [NONCE_SELF_AT, NONCE_PEER_AT] {
        assert_eq!(behind(&with(&request(), at, &[9])), Some(BadValue));
    }
    assert_eq!(behind(&with(&request(), 0, &[0xC2])), Some(Reserved));
    let cookie = Connect {
        cookie: true,
        connection_id: ConnectionId::EMPTY,
        ..connect()
    };
    let cookie = bytes_of(|buffer| cookie.encode_request(&[], buffer));
    assert_eq!(behind(&cookie), Some(BadValue));
}

#[test]
fn message_2_is_followed_by_a_sealed_short_form_or_nothing() {
    let behind = |rest: &[u8]| read(&[&second(), rest].concat()).err();
    assert_eq!(behind(&[]), None);
    for rest in [
        first(),
        second(),
        request(),
        disconnect(),
        bytes_of(|buffer| connect().encode_acknowledge(buffer)),
        vec![0],
    ] {
        assert_eq!(behind(&rest), Some(TrailingBytes), "{rest:02x?}");
    }
    // All bits of byte 0 mean something, and the shortest form is a head and a tag.
    for byte0 in 0x40..=0x4F {
        assert_eq!(behind(&short_form(byte0, 0)), None, "{byte0:02x}");
        let cut = short_form(byte0, 0);
        assert_eq!(behind(&cut[..cut.len() - 1]), Some(Truncated));
    }
}

#[test]
fn a_sealed_short_form_is_cut_where_its_head_ends() {
    for (byte0, phase) in [(0x44, false), (0x4C, true)] {
        let form = short_form(byte0, 2);
        let short = Short::decode_any_phase(&form, 4).unwrap();
        assert_eq!((short.phase(), short.has_ack), (phase, true));
        let parts = short.sealed().unwrap();
        assert_eq!(parts.aad, &form[..6]);
        assert_eq!(parts.body, &form[6..8]);
        assert_eq!(parts.tag, &[0x5E; SEAL_TAG]);
    }
    // Plain connections have no phases.
    let plain = |byte0| decode(&short_form(byte0, 2), 4).err();
    assert_eq!([plain(0x44), plain(0x4C)], [None, Some(Reserved)]);
}

#[test]
fn goodbyes_with_a_mac_are_the_plain_ones_and_a_mac() {
    let plain = bytes_of(|buffer| BYE.encode(buffer));
    let form = disconnect();
    assert_eq!(form.len(), plain.len() + MAC);
    assert_eq!(form[..3], [0xF8, 40, 0]);
    assert_eq!(form[3..27], plain[3..]);
    assert_eq!(form[27..], sum(&form[..27]));
    let Ok(Sealed::Disconnect(read_again)) = read(&form) else {
        panic!("DISC");
    };
    assert_eq!(read_again.form, BYE);
    assert_eq!(read_again.covered, &form[..27]);
    assert_eq!(read_again.mac, &form[27..]);

    let plain = bytes_of(|buffer| BYE_ACK.encode(buffer));
    let form = disconnect_ack();
    assert_eq!(form.len(), plain.len() + MAC);
    assert_eq!(form[..3], [0xF9, 36, 0]);
    assert_eq!(form[3..23], plain[3..]);
    assert_eq!(form[23..], sum(&form[..23]));
    let Ok(Sealed::DisconnectAck(read_again)) = read(&form) else {
        panic!("DISC_ACK");
    };
    assert_eq!(read_again.form, BYE_ACK);
    assert_eq!(read_again.covered, &form[..23]);
    assert_eq!(read_again.mac, &form[23..]);
}

/// So that neither form can be sent back, or turned into the other, or lengthened.
#[test]
fn a_mac_covers_each_byte_before_it() {
    for (form, covered) in [(disconnect(), 27), (disconnect_ack(), 23)] {
        let mut given = Vec::new();
        let mac = |bytes: &[u8]| {
            given = bytes.to_vec();
            [0; MAC]
        };
        let again = bytes_of(|buffer| match form[0] {
            0xF8 => encode_disconnect(&BYE, buffer, mac),
            _ => encode_disconnect_ack(&BYE_ACK, buffer, mac),
        });
        assert_eq!(given, form[..covered]);
        assert_eq!(again[..covered], form[..covered]);
    }
}

#[test]
fn goodbyes_with_a_mac_have_one_length() {
    for form in [disconnect(), disconnect_ack()] {
        let behind = [&form[..], &[0]].concat();
        assert_eq!(error(&behind), TrailingBytes, "behind the form");
        let longer = with(&behind, 1, &[form[1] + 1]);
        assert_eq!(error(&longer), TrailingBytes, "within the form");
        let shorter = with(&form[..form.len() - 1], 1, &[form[1] - 1]);
        assert_eq!(error(&shorter), Truncated);
    }
    // A MAC of one is not one of the other.
    assert_eq!(error(&with(&disconnect(), 0, &[0xF9])), TrailingBytes);
    assert_eq!(error(&with(&disconnect_ack(), 0, &[0xF8])), Truncated);
    // A plain goodbye has no MAC.
    let plain = bytes_of(|buffer| BYE.encode(buffer));
    assert_eq!(error(&with(&plain, 0, &[0xF8])), Truncated);
}

#[test]
fn these_forms_need_room() {
    let fits = |length: usize, encode: &dyn Fn(&mut [u8]) -> bool| {
        !encode(&mut vec![0; length - 1]) && encode(&mut vec![0; length])
    };
    let token = [0x70; 3];
    let first = first_of(
        Terms {
            proof: Proof::Token(&token),
            ..terms()
        },
        &MESSAGE,
    );
    assert!(fits(80, &|buffer| first.encode(buffer).is_ok()));
    let second = second_of(1, &MESSAGE);
    assert!(fits(75, &|buffer| second.encode(buffer).is_ok()));
    let bye = |buffer: &mut [u8]| encode_disconnect(&BYE, buffer, sum).is_ok();
    assert!(fits(43, &bye));
    let ack = |buffer: &mut [u8]| encode_disconnect_ack(&BYE_ACK, buffer, sum).is_ok();
    assert!(fits(39, &ack));
}

/// The longest step 3: all channels, an id of 20 bytes, four suites, the longest token, key and greeting.
#[test]
fn the_longest_message_1_and_its_request_fit_a_datagram() {
    let offer = Offer {
        channels: Channels::new(255),
        path_mtu: Some(1452),
        sealed: Suites::decode(&[1, 2, 3, 4]).unwrap(),
        timeout_ms: core::num::NonZeroU32::new(10_000),
        ..offer()
    };
    let connect = Connect {
        connection_id: connection_id(20),
        offer,
        ..connect()
    };
    let token = [0x70; TOKEN_MAX];
    let terms = Terms {
        suite: 255,
        key_tag: Some([1; 4]),
        proof: Proof::Token(&token),
    };
    let message = [0xE1; KEY_MAX + GREETING_MAX + SEAL_TAG];
    let first = bytes_of(|buffer| first_of(terms, &message).encode(buffer));
    let request = bytes_of(|buffer| connect.encode_request(&[], buffer));
    let datagram = [first, request].concat();
    assert!(read(&datagram).is_ok());
    assert_eq!(datagram.len(), 917);
    assert!(datagram.len() <= usize::from(REQUEST_SIZE_MAX));
}

fn bytes(length: core::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), length)
}

/// A datagram of one of these kinds.
fn datagram() -> impl Strategy<Value = Vec<u8>> {
    let key_tag = any::<Option<[u8; 4]>>();
    let proof = (0..3, any::<u32>(), bytes(1..=TOKEN_MAX));
    let suite = prop_oneof![Just(1), Just(2), 3..=255_u8];
    let first = (suite.clone(), key_tag, proof, bytes(48..=303), 0..200_usize).prop_map(
        |(suite, key_tag, (kind, number, token), message, padding)| {
            let proof = match kind {
                0 => Proof::None,
                1 => Proof::Psk(number),
                _ => Proof::Token(&token),
            };
            let terms = Terms {
                suite,
                key_tag,
                proof,
            };
            let form = bytes_of(|buffer| first_of(terms, &message).encode(buffer));
            // What is written is what is read.
            let datagram = opening(&form);
            let Ok(Sealed::First(read, _)) = read(&datagram) else {
                panic!("message 1");
            };
            assert_eq!(read, first_of(terms, &message));
            [datagram, vec![0; padding]].concat()
        },
    );
    let second = (suite, bytes(49..=324), 0x40..=0x4F_u8, 0..300_usize).prop_map(
        |(suite, message, byte0, sealed)| {
            let form = bytes_of(|buffer| second_of(suite, &message).encode(buffer));
            assert_eq!(
                read(&form),
                Ok(Sealed::Second(second_of(suite, &message), None))
            );
            match sealed {
                0 => form,
                sealed => [form, short_form(byte0, sealed - 1)].concat(),
            }
        },
    );
    let bye = (any::<[u8; MAC]>(), any::<u32>()).prop_map(|(mac, reason)| {
        bytes_of(|buffer| encode_disconnect(&Disconnect { reason, ..BYE }, buffer, |_| mac))
    });
    let ack = any::<[u8; MAC]>()
        .prop_map(|mac| bytes_of(|buffer| encode_disconnect_ack(&BYE_ACK, buffer, |_| mac)));
    prop_oneof![4 => first, 2 => second, 1 => bye, 1 => ack]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_written_is_read_and_written_alike(datagram in datagram()) {
        prop_assert_eq!(reencode(&datagram, 4, CONTEXT), Ok(datagram));
    }

    #[test]
    fn what_decodes_from_damaged_datagrams_encodes_to_the_same_bytes(
        mut datagram in datagram(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 0..4),
        from_the_front: bool,
    ) {
        for (at, byte, edit) in edits {
            let at = at.index(if from_the_front { datagram.len().min(40) } else { datagram.len() });
            match edit {
                0 => datagram[at] ^= 1 << (byte % 8),
                1 => datagram[at] = byte,
                _ => datagram.truncate(at + 1),
            }
        }
        if let Ok(again) = reencode(&datagram, 4, CONTEXT) {
            prop_assert_eq!(again, datagram);
        }
    }

    #[test]
    fn any_body_of_an_acknowledgement_has_one_spelling(body in bytes(0..=420), flags in 0..16_u8) {
        let mut form = with_body(&body);
        if let Some(place) = form.get_mut(FLAGS_AT) {
            *place = flags;
        }
        let (long, _) = Long::split(&form).unwrap();
        let again = match Auth::decode(&long) {
            Ok(Auth::First(first)) => bytes_of(|buffer| first.encode(buffer)),
            Ok(Auth::Second(second)) => bytes_of(|buffer| second.encode(buffer)),
            Err(_) => return Ok(()),
        };
        prop_assert_eq!(again, form);
    }
}
