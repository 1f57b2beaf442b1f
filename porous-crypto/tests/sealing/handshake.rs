//! Handshakes: the vectors that the Noise community has published, and messages that were changed.

use porous_proto::hooks::sealing::{Failure, Initiator, Keys, Responder, Setup};
use porous_proto::seal::{Provider, Psk, PublicKey, SecretKey, Suite};
use serde::Deserialize;

use crate::vectors::LOW_ORDER;
use crate::{PROVIDER, flips, hex, hex_array, kit, suites};

#[derive(Deserialize)]
struct Vectors {
    vectors: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    protocol_name: String,
    init_prologue: String,
    init_psks: [String; 1],
    init_ephemeral: String,
    init_remote_static: Option<String>,
    resp_static: Option<String>,
    resp_ephemeral: String,
    handshake_hash: String,
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    payload: String,
    ciphertext: String,
}

fn public(secret: [u8; 32]) -> PublicKey {
    let kit = kit(Suite::CHACHA_POLY);
    kit.public_key(&SecretKey::from_bytes(secret)).unwrap()
}

/// What the two sides of a handshake say, and what both know.
struct Scene {
    suite: Suite,
    prologue: Vec<u8>,
    psk: Option<Psk>,
    server: Option<[u8; 32]>,
    ephemerals: [[u8; 32]; 2],
    payloads: [Vec<u8>; 2],
}

impl Scene {
    fn new(suite: Suite, server: Option<[u8; 32]>) -> Self {
        Self {
            suite,
            prologue: b"before".to_vec(),
            psk: Some(Psk::from_bytes([5; 32])),
            server,
            ephemerals: [[2; 32], [3; 32]],
            payloads: [b"hi".to_vec(), b"hello".to_vec()],
        }
    }

    fn setup(&self) -> Setup<'_> {
        Setup {
            kit: kit(self.suite),
            prologue: &self.prologue,
            psk: self.psk.as_ref(),
        }
    }

    fn start(&self) -> (Initiator, Vec<u8>) {
        let mut out = [0; 512];
        let server = self.server.map(public);
        let started = Initiator::start(
            &self.setup(),
            server.as_ref(),
            self.ephemerals[0],
            &self.payloads[0],
            &mut out,
        );
        let (initiator, length) = started.unwrap();
        (initiator, out[..length].to_vec())
    }

    fn open(&self, message: &[u8]) -> Result<(Responder, Vec<u8>), Failure> {
        let mut out = [0xEE; 512];
        let opened = Responder::open(&self.setup(), self.server, message, &mut out);
        if opened
            .as_ref()
            .is_err_and(|failure| *failure == Failure::Forged)
        {
            let length = message.len() - 32 - 16;
            assert!(
                out[..length].iter().all(|byte| *byte == 0),
                "something is left"
            );
        }
        let (responder, length) = opened?;
        Ok((responder, out[..length].to_vec()))
    }

    fn reply(&self, responder: Responder) -> (Keys, Vec<u8>) {
        let mut out = [0; 512];
        let reply = responder.reply(self.ephemerals[1], &self.payloads[1], &mut out);
        let (keys, length) = reply.unwrap();
        (keys, out[..length].to_vec())
    }

    /// Both messages, and the keys of both sides.
    fn run(&self) -> ([Vec<u8>; 2], [Keys; 2]) {
        let (initiator, first) = self.start();
        let (responder, payload) = self.open(&first).unwrap();
        assert_eq!(payload, self.payloads[0]);
        let (keys, second) = self.reply(responder);
        let (own, payload) = finish(&initiator, &second).unwrap();
        assert_eq!(payload, self.payloads[1]);
        ([first, second], [own, keys])
    }
}

fn finish(initiator: &Initiator, message: &[u8]) -> Result<(Keys, Vec<u8>), Failure> {
    let mut out = [0; 512];
    let (keys, length) = initiator.finish(message, &mut out)?;
    Ok((keys, out[..length].to_vec()))
}

fn suite_of(name: &str) -> Suite {
    if name.contains("ChaChaPoly") {
        Suite::CHACHA_POLY
    } else {
        Suite::AES_GCM
    }
}

/// The vectors of the library cacophony: NN and NK with a psk, both suites.
#[test]
fn handshakes_are_as_published() {
    let text = include_str!("noise.json");
    let Vectors { vectors } = serde_json::from_str(text).unwrap();
    let is_here = |vector: &&Vector| suites().any(|suite| suite == suite_of(&vector.protocol_name));
    let here = vectors.iter().filter(is_here);
    assert_eq!(here.clone().count(), 2 * suites().count());
    for vector in here {
        let name = &vector.protocol_name;
        assert_eq!(name.contains("NK"), vector.resp_static.is_some());
        let server = vector.resp_static.as_deref().map(hex_array);
        let known = vector.init_remote_static.as_deref().map(hex);
        assert_eq!(server.map(|key| public(key).as_bytes().to_vec()), known);
        let scene = Scene {
            suite: suite_of(name),
            prologue: hex(&vector.init_prologue),
            psk: Some(Psk::from_bytes(hex_array(&vector.init_psks[0]))),
            server,
            ephemerals: [
                hex_array(&vector.init_ephemeral),
                hex_array(&vector.resp_ephemeral),
            ],
            payloads: [
                hex(&vector.messages[0].payload),
                hex(&vector.messages[1].payload),
            ],
        };
        let (messages, [a, b]) = scene.run();
        for (message, published) in messages.iter().zip(&vector.messages) {
            assert_eq!(*message, hex(&published.ciphertext), "{name}");
        }
        assert_eq!(a, b, "{name}");
        assert_eq!(a.binding, hex_array(&vector.handshake_hash), "{name}");
        for (number, message) in vector.messages[2..].iter().enumerate() {
            let mut aead = PROVIDER.aead(scene.suite, &a.keys[number % 2]);
            let mut text = hex(&message.payload);
            let tag = aead.seal(number as u64 / 2, &[], &mut text);
            text.extend(tag);
            assert_eq!(text, hex(&message.ciphertext), "{name}, {number}");
        }
    }
}

fn scenes() -> impl Iterator<Item = Scene> {
    suites().flat_map(|suite| [None, Some([1; 32])].map(|server| Scene::new(suite, server)))
}

#[test]
fn a_message_with_a_wrong_bit_is_refused_and_changes_nothing() {
    for scene in scenes() {
        let (initiator, first) = scene.start();
        for flipped in flips(&first) {
            assert!(scene.open(&flipped).is_err());
        }
        let (responder, _) = scene.open(&first).unwrap();
        let (keys, second) = scene.reply(responder);
        for flipped in flips(&second) {
            assert!(finish(&initiator, &flipped).is_err());
        }
        assert_eq!(finish(&initiator, &second).unwrap().0, keys);
    }
}

#[test]
fn a_message_that_was_cut_or_has_more_is_refused() {
    for scene in scenes() {
        let (initiator, first) = scene.start();
        let (responder, _) = scene.open(&first).unwrap();
        let (_, second) = scene.reply(responder);
        for length in 0..first.len() {
            let failure = if length < 48 {
                Failure::Length
            } else {
                Failure::Forged
            };
            assert_eq!(scene.open(&first[..length]).err(), Some(failure));
        }
        for length in 0..second.len() {
            let failure = if length < 48 {
                Failure::Length
            } else {
                Failure::Forged
            };
            assert_eq!(finish(&initiator, &second[..length]).err(), Some(failure));
        }
        assert!(scene.open(&[&first[..], &[0]].concat()).is_err());
        assert!(finish(&initiator, &[&second[..], &[0]].concat()).is_err());
    }
}

#[test]
fn both_sides_must_know_the_same() {
    for scene in scenes() {
        let (_, first) = scene.start();
        let other = |change: fn(&mut Scene)| {
            let mut other = Scene::new(scene.suite, scene.server);
            change(&mut other);
            other.open(&first).err()
        };
        assert_eq!(other(|_| {}), None);
        assert_eq!(other(|scene| scene.prologue.push(0)), Some(Failure::Forged));
        assert_eq!(other(|scene| scene.psk = None), Some(Failure::Forged));
        let psk = |scene: &mut Scene| scene.psk = Some(Psk::from_bytes([6; 32]));
        assert_eq!(other(psk), Some(Failure::Forged));
        assert_eq!(
            other(|scene| scene.server = Some([7; 32])),
            Some(Failure::Forged)
        );
    }
}

/// The psk of 32 zeros and none are the same: one code path.
#[test]
fn no_psk_is_a_psk_of_zeros() {
    let mut scene = Scene::new(Suite::CHACHA_POLY, None);
    scene.psk = None;
    let (_, first) = scene.start();
    scene.psk = Some(Psk::from_bytes([0; 32]));
    assert!(scene.open(&first).is_ok());
}

#[test]
fn keys_of_low_order_are_refused_on_both_sides() {
    for point in LOW_ORDER.map(hex) {
        let mut scene = Scene::new(Suite::CHACHA_POLY, Some([1; 32]));
        let (initiator, mut message) = scene.start();
        message[..32].copy_from_slice(&point);
        assert_eq!(scene.open(&message).err(), Some(Failure::Weak));
        assert_eq!(finish(&initiator, &message).err(), Some(Failure::Weak));

        // A server's key, when it is pinned.
        let server = PublicKey::from_bytes(&point).unwrap();
        let started = Initiator::start(&scene.setup(), Some(&server), [2; 32], b"", &mut [0; 512]);
        assert_eq!(started.err(), Some(Failure::Weak));

        // An initiator's that seals its message well, as it needs no agreement to do.
        scene.server = None;
        let message = sealed_with(&scene, &point);
        let (responder, _) = scene.open(&message).unwrap();
        let reply = responder.reply([3; 32], b"", &mut [0; 512]);
        assert_eq!(reply.err(), Some(Failure::Weak));
    }
}

/// Message 1 of NNpsk0 with any public key in it, written once more from Noise's text.
fn sealed_with(scene: &Scene, point: &[u8]) -> Vec<u8> {
    let kit = kit(scene.suite);
    let hash = |parts: &[&[u8]]| PROVIDER.hash(scene.suite, parts);
    let name = hash(&[b"Noise_NNpsk0_25519_ChaChaPoly_SHA256"]);
    let h = hash(&[&name, &scene.prologue]);
    let psk = scene.psk.as_ref().unwrap();
    let [chain, temp, _] = kit.hkdf::<3>(&name, psk.as_bytes(), &[]);
    let h = hash(&[&hash(&[&h, &temp]), point]);
    let [_, key] = kit.hkdf::<2>(&chain, point, &[]);
    let tag = PROVIDER.aead(scene.suite, &key).seal(0, &h, &mut []);
    [point, &tag].concat()
}

#[test]
fn buffers_that_are_too_short_are_told() {
    let scene = Scene::new(Suite::CHACHA_POLY, None);
    let (initiator, first) = scene.start();
    let start = |out: &mut [u8]| {
        Initiator::start(&scene.setup(), None, scene.ephemerals[0], b"hi", out).err()
    };
    assert_eq!(start(&mut [0; 49]), Some(Failure::NoRoom));
    assert_eq!(start(&mut [0; 50]), None);
    let open = |out: &mut [u8]| Responder::open(&scene.setup(), None, &first, out).err();
    assert_eq!(open(&mut [0; 1]), Some(Failure::NoRoom));
    assert_eq!(open(&mut [0; 2]), None);
    let reply = |out: &mut [u8]| {
        let (responder, _) = scene.open(&first).unwrap();
        responder.reply([3; 32], b"hello", out).err()
    };
    assert_eq!(reply(&mut [0; 52]), Some(Failure::NoRoom));
    assert_eq!(reply(&mut [0; 53]), None);
    let (responder, _) = scene.open(&first).unwrap();
    let (_, second) = scene.reply(responder);
    let finish = |out: &mut [u8]| initiator.finish(&second, out).err();
    assert_eq!(finish(&mut [0; 4]), Some(Failure::NoRoom));
    assert_eq!(finish(&mut [0; 5]), None);
}

/// Both sides derive the same, each key differs from each other, and another handshake has others.
#[test]
fn all_keys_differ() {
    for scene in scenes() {
        let (_, [a, b]) = scene.run();
        assert_eq!(a, b);
        let mut other = Scene::new(scene.suite, scene.server);
        other.ephemerals[1] = [4; 32];
        let (_, [c, _]) = other.run();
        let all = [a.keys.as_slice(), &[a.binding], &c.keys, &[c.binding]].concat();
        for (i, key) in all.iter().enumerate() {
            assert!(!all[..i].contains(key));
        }
    }
}

#[test]
fn no_secret_of_a_handshake_is_printed() {
    let scene = Scene::new(Suite::CHACHA_POLY, Some([1; 32]));
    let (initiator, first) = scene.start();
    let (responder, _) = scene.open(&first).unwrap();
    let shown = format!("{initiator:?} {responder:?} {:?}", scene.setup());
    assert!(
        shown.contains("SecretKey(..)") && shown.contains("Secret(..)"),
        "{shown}"
    );
    assert!(
        !shown.contains("[2, 2,") && !shown.contains("[5, 5,"),
        "{shown}"
    );
}
