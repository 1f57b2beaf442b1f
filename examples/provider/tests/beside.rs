//! Both providers side by side: what one makes of random inputs, the other makes as well.
#![expect(clippy::unwrap_used, reason = "a test")]

use porous_crypto::RustCrypto;
use porous_proto::seal::{Provider, SecretKey, Suite};
use porous_sim::{ChaCha8Rng, Seed};
use provider::AwsLc;
use rand_core::Rng;

const BOTH: [&dyn Provider; 2] = [&RustCrypto, &AwsLc];

/// Each provider with the other.
const EITHER_WAY: [[&dyn Provider; 2]; 2] = [[&RustCrypto, &AwsLc], [&AwsLc, &RustCrypto]];

const CASES: u64 = 200;

/// The generators of the cases of a test.
fn cases(name: &'static str) -> impl Iterator<Item = ChaCha8Rng> + Clone {
    (0..CASES).map(move |number| Seed::new(1).stream(name, number))
}

fn array<const N: usize>(rng: &mut ChaCha8Rng) -> [u8; N] {
    let mut bytes = [0; N];
    rng.fill_bytes(&mut bytes);
    bytes
}

fn text(rng: &mut ChaCha8Rng, longest: u32) -> Vec<u8> {
    let length = rng.next_u32() % (longest + 1);
    let mut bytes = vec![0; length.try_into().unwrap()];
    rng.fill_bytes(&mut bytes);
    bytes
}

#[test]
fn both_have_the_same_suites() {
    let [a, b] = BOTH.map(Provider::suites);
    assert_eq!(a, b);
}

#[test]
fn both_make_the_same_public_keys() {
    for mut rng in cases("public keys") {
        let secret = SecretKey::from_bytes(array(&mut rng));
        let [a, b] = BOTH.map(|provider| provider.public_key(Suite::CHACHA_POLY, &secret));
        assert_eq!(a.unwrap(), b.unwrap());
    }
}

/// Also on bytes of which no pair was made, half of which are points of the twist; on those next to the prime,
/// some of which are above it; and on none for the points of low order.
#[test]
fn both_agree_on_the_same() {
    let near = |low: u8, high: u8| {
        let mut point = [0xFF; 32];
        (point[0], point[31]) = (low, high);
        point
    };
    let near = (0..=255).flat_map(|low| [near(low, 0x7F), near(low, 0xFF)]);
    let random = cases("points").map(|mut rng| array(&mut rng));
    let mut secrets = cases("secrets").cycle();
    let mut refused = 0;
    for point in random.chain(near) {
        let secret = SecretKey::from_bytes(array(&mut secrets.next().unwrap()));
        let [a, b] = BOTH.map(|provider| {
            let shared = provider.agree(Suite::AES_GCM, &secret, &point);
            shared.map(|shared| *shared.as_bytes())
        });
        assert_eq!(a, b, "{point:?}");
        refused += u32::from(a.is_err());
    }
    assert_eq!(
        refused, 6,
        "-1, 0 and 1, each with and without the highest bit"
    );
}

#[test]
fn each_agrees_with_the_other() {
    for mut rng in cases("pairs") {
        let secrets = [(); 2].map(|()| SecretKey::from_bytes(array(&mut rng)));
        let [ours, theirs] = [(0, 1), (1, 0)].map(|(own, other)| {
            let public = BOTH[other].public_key(Suite::CHACHA_POLY, &secrets[other]);
            let public = public.unwrap();
            BOTH[own].agree(Suite::CHACHA_POLY, &secrets[own], public.as_bytes())
        });
        assert_eq!(ours.unwrap().as_bytes(), theirs.unwrap().as_bytes());
    }
}

#[test]
fn both_hash_the_same() {
    for mut rng in cases("hashes") {
        let parts = [(); 3].map(|()| text(&mut rng, 200));
        let parts = parts.each_ref().map(Vec::as_slice);
        let [a, b] = BOTH.map(|provider| provider.hash(Suite::CHACHA_POLY, &parts));
        assert_eq!(a, b);
    }
}

#[test]
fn what_one_seals_the_other_opens() {
    for mut rng in cases("seals") {
        let (key, nonce) = (array(&mut rng), rng.next_u64());
        let (aad, said) = (text(&mut rng, 60), text(&mut rng, 1500));
        for suite in [Suite::CHACHA_POLY, Suite::AES_GCM] {
            for [sealer, opener] in EITHER_WAY {
                let mut buf = said.clone();
                let tag = sealer.aead(suite, &key).seal(nonce, &aad, &mut buf);
                let mut aead = opener.aead(suite, &key);
                let mut wrong = buf.clone();
                assert!(!aead.open(nonce.wrapping_add(1), &aad, &mut wrong, &tag));
                assert!(aead.open(nonce, &aad, &mut buf, &tag), "{suite:?}");
                assert_eq!(buf, said);
            }
        }
    }
}
