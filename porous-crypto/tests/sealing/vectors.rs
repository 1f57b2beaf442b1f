//! The algorithms, by the vectors of RFCs and NIST.

use porous_proto::seal::{Provider, SecretKey, Suite, Weak};

use crate::{PROVIDER, hex, hex_array, kit, suites};

fn agree(secret: [u8; 32], public: &[u8]) -> Result<[u8; 32], Weak> {
    let secret = SecretKey::from_bytes(secret);
    let shared = PROVIDER.agree(Suite::CHACHA_POLY, &secret, public)?;
    Ok(*shared.as_bytes())
}

fn public(secret: [u8; 32]) -> Vec<u8> {
    let secret = SecretKey::from_bytes(secret);
    let public = PROVIDER.public_key(Suite::CHACHA_POLY, &secret);
    public.unwrap().as_bytes().to_vec()
}

/// RFC 7748 §5.2.
#[test]
fn x25519_multiplies_as_published() {
    for [secret, point, product] in [
        [
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
        ],
        [
            "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
        ],
    ] {
        assert_eq!(
            agree(hex_array(secret), &hex(point)),
            Ok(hex_array(product))
        );
    }
}

/// RFC 7748 §5.2.
#[test]
fn x25519_multiplies_a_thousand_times_as_published() {
    let mut base = [0; 32];
    base[0] = 9;
    let (mut k, mut u) = (base, base);
    for round in 1..=1000 {
        (k, u) = (agree(k, &u).unwrap(), k);
        let published = match round {
            1 => "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079",
            1000 => "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51",
            _ => continue,
        };
        assert_eq!(k, hex_array(published));
    }
}

/// RFC 7748 §6.1.
#[test]
fn x25519_agrees_as_published() {
    let a = hex_array("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
    let b = hex_array("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
    let shared = hex_array("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
    let public_a = "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a";
    assert_eq!(public(a), hex(public_a));
    let public_b = "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f";
    assert_eq!(public(b), hex(public_b));
    assert_eq!(agree(a, &public(b)), Ok(shared));
    assert_eq!(agree(b, &public(a)), Ok(shared));
}

/// The points of low order of Curve25519 and of its twist, below 2^255.
pub(crate) const LOW_ORDER: [&str; 7] = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
];

#[test]
fn points_of_low_order_and_keys_of_other_lengths_are_refused() {
    for point in LOW_ORDER {
        assert_eq!(agree([7; 32], &hex(point)), Err(Weak), "{point}");
    }
    for length in [0, 31, 33, 65] {
        assert_eq!(agree([7; 32], &vec![9; length]), Err(Weak), "{length}");
    }
    assert!(agree([7; 32], &[9; 32]).is_ok());
}

/// FIPS 180, the message "abc"; and that parts are one message.
#[test]
fn sha256_hashes_as_published() {
    let published = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    for parts in [&[&b"abc"[..]][..], &[b"", b"a", b"bc"]] {
        let hash = PROVIDER.hash(Suite::CHACHA_POLY, parts);
        assert_eq!(hash, hex_array(published));
    }
}

/// RFC 4231 §4.3 and §4.7: a short key, and one that is longer than a block.
#[test]
fn hmac_authenticates_as_published() {
    let kit = kit(Suite::CHACHA_POLY);
    let code = kit.hmac(b"Jefe", b"what do ya want for nothing?");
    let published = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    assert_eq!(code, hex_array(published));
    let message = b"Test Using Larger Than Block-Size Key - Hash Key First";
    let published = "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54";
    assert_eq!(kit.hmac(&[0xAA; 131], message), hex_array(published));
}

/// RFC 5869, A.1 to A.3.
#[test]
fn hkdf_derives_as_published() {
    let range = |from: u8, to: u8| (from..=to).collect::<Vec<u8>>();
    let kit = kit(Suite::CHACHA_POLY);
    for (salt, input, info, published) in [
        (
            range(0, 0x0C),
            vec![0x0B; 22],
            range(0xF0, 0xF9),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf
             34007208d5b887185865",
        ),
        (
            range(0x60, 0xAF),
            range(0, 0x4F),
            range(0xB0, 0xFF),
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c
             59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71
             cc30c58179ec3e87c14c01d5c1f3434f1d87",
        ),
        (
            vec![],
            vec![0x0B; 22],
            vec![],
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d
             9d201395faa4b61a96c8",
        ),
    ] {
        let derived = kit.hkdf::<3>(&salt, &input, &info).concat();
        assert!(derived.starts_with(&hex(published)), "{published}");
    }
}

/// RFC 8439 A.5, of which the first bytes and the tag are compared.
#[test]
fn suite_1_seals_and_opens_as_published() {
    let key = hex_array("1c9240a5eb55d38af333888604f6b5f0473917c1402b80099dca5cbc207075c0");
    let nonce = u64::from_le_bytes(hex_array("0102030405060708"));
    let aad = hex("f33388860000000000004e91");
    let published = "Internet-Drafts are draft documents valid for a maximum of six months and may \
        be updated, replaced, or obsoleted by other documents at any time. It is inappropriate to \
        use Internet-Drafts as reference material or to cite them other than as /\u{201c}work in \
        progress./\u{201d}";
    let mut text = published.as_bytes().to_vec();
    let mut aead = PROVIDER.aead(Suite::CHACHA_POLY, &key);
    let tag = aead.seal(nonce, &aad, &mut text);
    assert!(text.starts_with(&hex(
        "64a0861575861af460f062c79be643bd5e805cfd345cf389f108670ac76c8cb2"
    )));
    assert_eq!(tag, hex_array("eead9d67890cbb22392336fea1851f38"));
    assert!(aead.open(nonce, &aad, &mut text, &tag));
    assert_eq!(text, published.as_bytes());
}

/// NIST's GCM, test cases 13 and 14: a key and a nonce of zeros.
#[test]
fn suite_2_seals_and_opens_as_published() {
    if !suites().any(|suite| suite == Suite::AES_GCM) {
        return;
    }
    let mut aead = PROVIDER.aead(Suite::AES_GCM, &[0; 32]);
    let tag = aead.seal(0, &[], &mut []);
    assert_eq!(tag, hex_array("530f8afbc74536b9a963b4f1c4cb738b"));
    let mut text = [0; 16];
    let tag = aead.seal(0, &[], &mut text);
    assert_eq!(text, hex_array("cea7403d4d606b6e074ec5d3baf39d18"));
    assert_eq!(tag, hex_array("d0d1c8a799996bf0265b98b5d48ab919"));
    assert!(aead.open(0, &[], &mut text, &tag));
    assert_eq!(text, [0; 16]);
}

#[test]
fn what_does_not_open_is_not_decrypted() {
    for suite in suites() {
        let mut aead = PROVIDER.aead(suite, &[3; 32]);
        let mut text = *b"secret";
        let tag = aead.seal(1, b"head", &mut text);
        let sealed = text;
        for (nonce, aad, flip) in [(1, &b"head"[..], 1), (1, b"heat", 0), (2, b"head", 0)] {
            let mut wrong = tag;
            wrong[15] ^= flip;
            let mut left = sealed;
            assert!(!aead.open(nonce, aad, &mut left, &wrong));
            assert!(left == sealed || left == [0; 6], "{suite:?}: {left:?}");
        }
        assert!(aead.open(1, b"head", &mut text, &tag));
    }
}

#[test]
#[should_panic(expected = "none of the provider's suites")]
fn a_suite_that_is_not_listed_is_the_callers_mistake() {
    let _ = PROVIDER.aead(Suite::new(77).unwrap(), &[0; 32]);
}
