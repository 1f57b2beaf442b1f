//! One connection from the token to the goodbye, byte for byte: what another implementation, in another
//! language, has computed.

use core::time::Duration;

use porous_crypto::RustCrypto;
use porous_proto::Instant;
use porous_proto::hooks::sealing::{Initiator, Keys, Opener, Responder, Sealed, Sealer, Setup};
use porous_proto::seal::{Claims, Psk, PublicKey, SecretKey, Suite, Token, TokenKey};

use crate::tokens::Counting;
use crate::{counting, hex, hex_array, kit, suites};

/// The initiator's REQ, of which the nonce of the listener is not known yet.
const REQUEST: &str = "c0 54 00 01 00 00 00 a0 a1 a2 a3 a4 a5 a6 a7 00 00 00 00 00 00 00 00 04 c1 c2 c3
    c4 01 08 ef cd ab 89 67 45 23 01 02 03 05 04 01 03 02 b0 04 04 04 00 00 10 00 05 04 00 00 40 00 06 02
    0c 0c 07 04 ff ff ff ff 08 04 00 00 10 00 09 01 00 0a 04 00 00 00 00 0c 01 01";

/// The listener's REQ with COOKIE.
const COOKIE: &str = "c1 50 00 01 00 00 00 b0 b1 b2 b3 b4 b5 b6 b7 a0 a1 a2 a3 a4 a5 a6 a7 00 01 08 ef
    cd ab 89 67 45 23 01 02 03 05 04 01 03 02 78 05 04 04 00 00 10 00 05 04 00 00 40 00 06 02 0c 0c 07 04
    ff ff ff ff 08 04 00 00 10 00 09 01 00 0a 04 00 00 00 00 0c 01 01";

const TOKEN: &str = "01 07 1e d2 49 6b 00 00 00 00 40 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f 50 51
    52 53 54 55 56 57 db 14 1c 2c 0c a4 66 c6 47 d4 15 4e fa e9 bb 63 38 21 19 ce b8 e7 f1 5b 07 52 ad 75
    62 19 b8 89 b8 5e 6c 4e 59 69 3c 51 66 f9 ad 3a 84 a8";

const PSK: &str = "1ebe2060f2edef55be5fad1545afad6994b5b40bfd7bf7e0b9f59946cca5cf30";

const SERVER: &str = "a4e09292b651c278b9772c569f5fa9bb13d906b46ab68c9df9dc2b4409f8a209";

/// Of the acknowledgement that carries message 1: what stands before the token.
const HEAD: &str = "01 0a 1a 92 f2 38 50 00";

const FIRST: &str =
    "ce 8d 3a d1 cc b6 33 ec 7b 70 c1 78 14 a5 c7 6e cd 02 96 85 05 0d 34 47 45 ba 05 87
    0e 58 7d 59 d3 5d b9 d7 8b 73 6b 2f c8 e5 97 5d 2d 9a d9 02 a7 2d";

const SECOND: &str =
    "5d fe dd 3b 6b d4 7f 6f a2 8e e1 5d 96 9d 5b b0 ea 53 77 4d 48 8b da f9 df 1c 6e 01
    24 b3 ef 22 b6 30 84 56 97 ba 55 3c 74 6c f3 dd 58 70 7b fe 41 eb 7c 8f f4";

const KEYS: [&str; 3] = [
    "404c33b25b7c83a8b836c99baadaa66c6d37d823a93cdd4dcd4177b9a42dd329",
    "d31f9c936c89d2d9bcb0f86a4a4bd8534a21988a7446e0b6e1401b02f7b9c08a",
    "393c3b6c402bc07770c0121c9e8ba29aa753a5be9da7b195f9eedba9aafa3f16",
];

const BINDING: &str = "b992dfc0f4ce4a80f4d76d40e093df58583652c5ab70107527a3432c09f2b903";

const BYE: &str = "f4c2cb3aae47df055c9f0195a9f23a962470bd1e4b5ea0ed72335cf8b1074099";

fn token_key() -> TokenKey {
    TokenKey::from_bytes(counting(0))
}

#[test]
fn the_token_of_the_example_is_minted() {
    let claims = Claims::new(0x0123_4567_89ab_cdef, 42, 1_800_000_000..1_800_000_030);
    let claims = claims.key_number(7).single_use().audience(0x51).unwrap();
    let claims = claims.user_data(b"ana").unwrap();
    let mut rng = Counting(0x40);
    let (token, psk) = Token::mint(&RustCrypto, &token_key(), &claims, &mut rng).unwrap();
    assert_eq!(token.as_bytes(), hex(TOKEN));
    assert_eq!(psk.as_bytes(), &hex_array(PSK));
    let (opened, same) = token
        .open(&RustCrypto, &token_key(), 0x0123_4567_89ab_cdef)
        .unwrap();
    assert_eq!(opened, claims);
    assert_eq!(same.as_bytes(), psk.as_bytes());
}

/// What a cookie covers of a form: bytes 1 to 14, and 23 to the end.
fn covered(form: &str) -> Vec<u8> {
    let form = hex(form);
    [&form[1..15], &form[23..]].concat()
}

#[test]
fn the_handshake_of_the_example_gives_its_keys() {
    let token = hex(TOKEN);
    let parts = [
        b"porous seal 1".to_vec(),
        hex(HEAD),
        token,
        covered(REQUEST),
        covered(COOKIE),
    ];
    let (prologue, psk) = (parts.concat(), Psk::from_bytes(hex_array(PSK)));
    let setup = Setup {
        kit: kit(Suite::CHACHA_POLY),
        prologue: &prologue,
        psk: Some(&psk),
    };
    let server = PublicKey::from_bytes(&hex(SERVER)).unwrap();
    let secret = SecretKey::from_bytes([1; 32]);
    assert_eq!(setup.kit.public_key(&secret), Some(server.clone()));

    let (mut message, mut out) = ([0; 256], [0; 256]);
    let started = Initiator::start(&setup, Some(&server), [2; 32], b"hi", &mut message);
    let (initiator, length) = started.unwrap();
    assert_eq!(message[..length], hex(FIRST));
    let (responder, length) =
        Responder::open(&setup, Some([1; 32]), &hex(FIRST), &mut out).unwrap();
    assert_eq!(&out[..length], b"hi");
    let id = hex("04 d1 d2 d3 d4");
    let (keys, length) = responder.reply([3; 32], &id, &mut message).unwrap();
    assert_eq!(message[..length], hex(SECOND));
    let (same, length) = initiator.finish(&hex(SECOND), &mut out).unwrap();
    assert_eq!(out[..length], id);
    assert_eq!(same, keys);
    let expected = Keys {
        keys: KEYS.map(hex_array),
        binding: hex_array(BINDING),
    };
    assert_eq!(keys, expected);
}

const TIMEOUT: Duration = Duration::from_millis(100);

/// Seals a frame, and gives its whole datagram.
fn seal(sealer: &mut Sealer, id: u64, head: &str, body: &str) -> Vec<u8> {
    let (head, mut body) = (hex(head), hex(body));
    let tag = sealer.seal(id, &head, &mut body).unwrap();
    [head, body, tag.to_vec()].concat()
}

#[test]
fn the_frames_of_the_example_are_sealed_and_opened() {
    let (kit, now) = (kit(Suite::CHACHA_POLY), Instant::ZERO);
    let [ours, theirs, _] = KEYS.map(hex_array);

    let mut sealer = Sealer::new(kit, theirs, 0, now, None);
    let frame = seal(&mut sealer, 0, "40 c1 c2 c3 c4 00", "c0 01 01");
    let published = "40 c1 c2 c3 c4 00 9d b9 38 07 33 12 fe bc c7 ff 81 2c 4a f7 af 49 2a 08 c2";
    assert_eq!(frame, hex(published));

    let mut sealer = Sealer::new(kit, ours, 0, now, None);
    let mut opener = Opener::new(kit, ours, 0);
    assert!(!sealer.phase(7, now, TIMEOUT));
    let frame = seal(&mut sealer, 7, "44 d1 d2 d3 d4 07", "00 2a");
    let published = "44 d1 d2 d3 d4 07 7f 04 55 7d 94 59 ed 08 07 6a 65 f8 9d 67 cd 44 0c bb";
    assert_eq!(frame, hex(published));
    assert_eq!(open(&mut opener, 7, 6, &frame), Some(hex("00 2a")));

    // The first frame of the second phase.
    sealer.on_acknowledged(7, now);
    let later = now + 3 * TIMEOUT;
    assert!(!sealer.phase(4_194_303, later, TIMEOUT));
    assert!(sealer.phase(4_194_304, later, TIMEOUT));
    let frame = seal(&mut sealer, 4_194_304, "58 d1 d2 d3 d4 00 00", "c0 01 02");
    let published = "58 d1 d2 d3 d4 00 00 e2 63 1b 8d 10 ef 3d 42 e1 e7 6a e8 e4 f7 0a 52 f5 f8 c5";
    assert_eq!(frame, hex(published));
    assert_eq!(
        open(&mut opener, 4_194_304, 7, &frame),
        Some(hex("c0 01 02"))
    );
}

/// Opens a datagram whose body begins behind `head` bytes.
fn open(opener: &mut Opener, id: u64, head: usize, datagram: &[u8]) -> Option<Vec<u8>> {
    let (aad, sealed) = datagram.split_at(head);
    let (body, tag) = sealed.split_last_chunk::<16>()?;
    let frame = Sealed {
        id,
        phase: datagram[0] & 1 << 3 != 0,
        aad,
        tag,
    };
    let mut body = body.to_vec();
    let opens = opener.open(Instant::ZERO, TIMEOUT, &frame, &mut body);
    opens.unwrap().then_some(body)
}

/// The first 16 bytes of the code of the whole form, under a key of its own.
#[test]
fn the_goodbyes_of_the_example_have_their_codes() {
    let kit = kit(Suite::CHACHA_POLY);
    let bye = kit.hmac(&hex(KEYS[2]), b"porous bye");
    assert_eq!(bye, hex_array(BYE));
    for (form, code) in [
        (
            "f8 28 00 01 00 00 00 a0 a1 a2 a3 a4 a5 a6 a7 b0 b1 b2 b3 b4 b5 b6 b7 2a 00 00 00",
            "50 84 9f e1 61 ad 24 64 a8 74 46 55 ff 56 21 96",
        ),
        (
            "f9 24 00 01 00 00 00 b0 b1 b2 b3 b4 b5 b6 b7 a0 a1 a2 a3 a4 a5 a6 a7",
            "fe 11 3a 50 2b 8d 10 23 be 4e e2 47 19 ed 05 4d",
        ),
    ] {
        assert_eq!(kit.hmac(&bye, &hex(form))[..16], hex(code));
    }
}

/// Ten phases of both suites; what is not of the stream does not open.
#[test]
fn keys_follow_each_other_on_both_sides() {
    for suite in suites() {
        let kit = kit(suite);
        let limits = Some((16, Duration::from_secs(60)));
        let start = Instant::ZERO + Duration::from_secs(100);
        let mut sealer = Sealer::new(kit, [8; 32], 100, start, limits);
        let mut opener = Opener::new(kit, [8; 32], 100);
        let mut phases = 0;
        let mut before = false;
        for id in 100..260 {
            let now = Instant::ZERO + Duration::from_secs(id);
            let phase = sealer.phase(id, now, TIMEOUT);
            phases += u32::from(phase != before);
            before = phase;
            let mut body = *b"body";
            let tag = sealer.seal(id, &[u8::from(phase)], &mut body).unwrap();
            let frame = Sealed {
                id,
                phase,
                aad: &[u8::from(phase)],
                tag: &tag,
            };
            for wrong in [
                Sealed {
                    id: id + 1,
                    ..frame
                },
                Sealed {
                    phase: !phase,
                    ..frame
                },
                Sealed { aad: &[2], ..frame },
                Sealed {
                    tag: &[0; 16],
                    ..frame
                },
            ] {
                let opened = opener.open(now, TIMEOUT, &wrong, &mut body.clone());
                assert_eq!(opened, Ok(false));
            }
            assert_eq!(opener.open(now, TIMEOUT, &frame, &mut body), Ok(true));
            assert_eq!(&body, b"body");
            sealer.on_acknowledged(id, now);
        }
        assert_eq!(phases, 9);
    }
}
