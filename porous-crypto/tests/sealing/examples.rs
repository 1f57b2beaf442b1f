//! One connection from the token to the goodbye, byte for byte: what another implementation, in another
//! language, has computed (`docs/vectors/seal.py`), and what `docs/wire.md` shows.

use alloc::collections::BTreeMap;
use core::time::Duration;

use porous_proto::Instant;
use porous_proto::hooks::sealing::{
    Form, Initiator, Keys, Opener, Responder, Sealed, SealedShort, Sealer, Setup, Terms, covered,
    goodbye,
};
use porous_proto::seal::{Claims, Psk, PublicKey, SecretKey, Suite, Token, TokenKey};

use crate::tokens::Counting;
use crate::{PROVIDER, hex, kit, suites};

const EXAMPLES: &str = include_str!("../../../docs/vectors/sealed.txt");

const DOCUMENT: &str = include_str!("../../../docs/wire.md");

const APPLICATION: u64 = 0x0123_4567_89ab_cdef;

/// The nonces of the two hosts, as numbers.
const NONCES: [u64; 2] = [0xa7a6_a5a4_a3a2_a1a0, 0xb7b6_b5b4_b3b2_b1b0];

const TIMEOUT: Duration = Duration::from_millis(100);

/// The examples by their names.
fn examples() -> BTreeMap<&'static str, Vec<u8>> {
    let lines = EXAMPLES.lines().map(|line| line.split_once(" = ").unwrap());
    lines.map(|(name, digits)| (name, hex(digits))).collect()
}

fn example(name: &str) -> Vec<u8> {
    examples().remove(name).unwrap()
}

fn example_array<const N: usize>(name: &str) -> [u8; N] {
    example(name).try_into().unwrap()
}

fn token_key() -> TokenKey {
    TokenKey::from_bytes(example_array("token key"))
}

/// What is made of nothing but the secrets, the two requests, and what both hosts mean to say.
struct Connection {
    terms: Terms,
    prologue: Vec<u8>,
    messages: [Vec<u8>; 2],
    keys: Keys,
}

impl Connection {
    fn new() -> Self {
        let claims = Claims::new(APPLICATION, 42, 1_800_000_000..1_800_000_030);
        let claims = claims.key_number(7).single_use().audience(0x51).unwrap();
        let claims = claims.user_data(b"ana").unwrap();
        let mut rng = Counting(0x40);
        let (token, psk) = Token::mint(&PROVIDER, &token_key(), &claims, &mut rng).unwrap();
        let kit = kit(Suite::CHACHA_POLY);
        let secret = SecretKey::from_bytes(example_array("server secret"));
        let server = kit.public_key(&secret).unwrap();
        let terms = Terms {
            suite: Suite::CHACHA_POLY.number(),
            key_tag: Some(kit.key_tag(&server)),
            psk: None,
            token: Some(token.as_bytes().to_vec()),
        };
        let prologue = terms.prologue(&example("req"), &example("req cookie"));
        let setup = Setup {
            kit,
            prologue: &prologue,
            psk: Some(&psk),
        };
        let (messages, keys) = shake_hands(&setup, &server);
        Self {
            terms,
            prologue,
            messages,
            keys,
        }
    }
}

/// Both messages of the handshake, and its keys, which both sides have.
fn shake_hands(setup: &Setup<'_>, server: &PublicKey) -> ([Vec<u8>; 2], Keys) {
    let (mut buffer, mut out) = ([0; 256], [0; 256]);
    let ephemeral = example_array("secret of e 1");
    let started = Initiator::start(setup, Some(server), ephemeral, b"hi", &mut buffer);
    let (initiator, length) = started.unwrap();
    let first = buffer[..length].to_vec();
    let identity = Some(example_array("server secret"));
    let (responder, length) = Responder::open(setup, identity, &first, &mut out).unwrap();
    assert_eq!(&out[..length], b"hi");
    let id = hex("04 d1 d2 d3 d4");
    let ephemeral = example_array("secret of e 2");
    let (keys, length) = responder.reply(ephemeral, &id, &mut buffer).unwrap();
    let second = buffer[..length].to_vec();
    let (same, length) = initiator.finish(&second, &mut out).unwrap();
    assert_eq!(out[..length], id);
    assert_eq!(same, keys);
    ([first, second], keys)
}

#[test]
fn the_token_of_the_example_is_minted_and_opens() {
    let connection = Connection::new();
    assert_eq!(connection.terms.token, Some(example("token")));
    let token = Token::from_bytes(&example("token")).unwrap();
    let (claims, psk) = token.open(&PROVIDER, &token_key(), APPLICATION).unwrap();
    assert_eq!(psk.as_bytes(), &example_array("psk"));
    assert_eq!((claims.client_id(), claims.data()), (42, &b"ana"[..]));
}

#[test]
fn the_handshake_of_the_example_gives_its_keys() {
    let connection = Connection::new();
    assert_eq!(connection.prologue, example("prologue"));
    let expected = Keys {
        keys: ["k1", "k2", "k3"].map(example_array),
        binding: example_array("h"),
    };
    assert_eq!(connection.keys, expected);
    let kit = kit(Suite::CHACHA_POLY);
    let secret = SecretKey::from_bytes(example_array("server secret"));
    let server = PublicKey::from_bytes(&example("server key"));
    assert_eq!(kit.public_key(&secret), server);
    let psk = Psk::from_bytes(example_array("psk"));
    let setup = Setup {
        kit,
        prologue: &example("prologue"),
        psk: Some(&psk),
    };
    assert_eq!(shake_hands(&setup, &server.unwrap()).1, connection.keys);
}

#[test]
fn the_acknowledgements_of_the_example_carry_the_handshake() {
    let Connection {
        terms, messages, ..
    } = Connection::new();
    let [first, second] = messages;
    let [ours, theirs] = NONCES;
    let form = Form::First {
        nonces: NONCES,
        terms,
        message: first,
    };
    // Behind it the request once more, which names the cookie now.
    let mut request = example("req");
    request[15..23].copy_from_slice(&theirs.to_le_bytes());
    let datagram = example("step 3");
    assert_eq!([form.encode(), request].concat(), datagram);
    assert_eq!(Form::decode(&datagram, 4), Some(Ok((form, 161))));

    let form = Form::Second {
        nonces: [theirs, ours],
        suite: 1,
        message: second,
    };
    let frame = seal(&mut sealer("k2", 0), 0, "40 c1 c2 c3 c4 00", "c0 01 01");
    let datagram = example("step 4");
    assert_eq!([form.encode(), frame].concat(), datagram);
    assert_eq!(Form::decode(&datagram, 4), Some(Ok((form, 78))));
}

fn sealer(key: &str, first: u64) -> Sealer {
    let (kit, key) = (kit(Suite::CHACHA_POLY), example_array(key));
    Sealer::new(kit, key, first, Instant::ZERO, None)
}

/// Seals a frame, and gives its whole datagram.
fn seal(sealer: &mut Sealer, id: u64, head: &str, body: &str) -> Vec<u8> {
    let (head, mut body) = (hex(head), hex(body));
    let tag = sealer.seal(id, &head, &mut body).unwrap();
    [head, body, tag.to_vec()].concat()
}

#[test]
fn the_frames_of_the_example_are_sealed_and_opened() {
    let now = Instant::ZERO;
    let mut sealer = sealer("k1", 0);
    let mut opener = Opener::new(kit(Suite::CHACHA_POLY), example_array("k1"), 0);
    assert!(!sealer.phase(7, now, TIMEOUT));
    let frame = seal(&mut sealer, 7, "44 d1 d2 d3 d4 07", "00 2a");
    assert_eq!(frame, example("frame 7"));
    assert_eq!(open(&mut opener, 7, &frame), Some(hex("00 2a")));

    // The first frame of the second phase.
    sealer.on_acknowledged(7, now);
    let later = now + 3 * TIMEOUT;
    assert!(!sealer.phase(4_194_303, later, TIMEOUT));
    assert!(sealer.phase(4_194_304, later, TIMEOUT));
    let frame = seal(&mut sealer, 4_194_304, "58 d1 d2 d3 d4 00 00", "c0 01 02");
    assert_eq!(frame, example("frame 4194304"));
    assert_eq!(open(&mut opener, 4_194_304, &frame), Some(hex("c0 01 02")));
}

/// Opens a datagram with connection ids of four bytes.
fn open(opener: &mut Opener, id: u64, datagram: &[u8]) -> Option<Vec<u8>> {
    let short = SealedShort::decode(datagram, 4).unwrap();
    assert_eq!(short.encode(), datagram);
    let (body, tag) = short.sealed.split_last_chunk::<16>()?;
    let frame = Sealed {
        id,
        phase: short.phase,
        aad: &short.head(),
        tag,
    };
    let mut body = body.to_vec();
    let opens = opener.open(Instant::ZERO, TIMEOUT, &frame, &mut body);
    opens.unwrap().then_some(body)
}

/// The first 16 bytes of the code of the whole form, under a key of its own.
#[test]
fn the_goodbyes_of_the_example_have_their_macs() {
    let kit = kit(Suite::CHACHA_POLY);
    let bye = kit.hmac(&example("k3"), b"porous bye");
    assert_eq!(bye, example_array("bye"));
    let mac = |form: &[u8]| *kit.hmac(&bye, form).first_chunk::<16>().unwrap();
    let [ours, theirs] = NONCES;
    let form = goodbye([ours, theirs], Some(42), mac);
    assert_eq!(form, example("disc"));
    let (bytes, code) = covered(&form).unwrap();
    assert_eq!(mac(bytes), code);
    let form = goodbye([theirs, ours], None, mac);
    assert_eq!(form, example("disc ack"));
    let (bytes, code) = covered(&form).unwrap();
    assert_eq!(mac(bytes), code);
}

/// The examples of sealing in `docs/wire.md` are these, and all datagrams of these are there.
#[test]
fn the_document_shows_the_same_bytes() {
    let mut shown: Vec<Vec<u8>> = Vec::new();
    for block in DOCUMENT.split("```hex\n").skip(1) {
        let (head, lines) = block.split("```").next().unwrap().split_once('\n').unwrap();
        if head.ends_with(" sealed") {
            let code = lines.lines().map(|line| line.split('#').next().unwrap());
            shown.push(hex(&code.collect::<String>()));
        }
    }
    let mut examples = examples();
    examples.retain(|name, _| {
        name.starts_with("step") || name.starts_with("frame") || name.starts_with("disc")
    });
    let mut datagrams: Vec<Vec<u8>> = examples.into_values().collect();
    shown.sort();
    datagrams.sort();
    assert_eq!(shown, datagrams);
    // The token stands in its section as well.
    let of_token = DOCUMENT.split_once("### Tokens").unwrap().1;
    let block = of_token.split("```text\n").nth(1).unwrap();
    assert_eq!(hex(block.split("```").next().unwrap()), example("token"));
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
