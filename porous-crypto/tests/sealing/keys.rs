//! Secrets that are drawn, and the memory that keys take.

use porous_proto::hooks::doc::example_rng;
use porous_proto::hooks::sealing;
use porous_proto::seal::{Provider, Psk, SecretKey, Suite, TokenKey};

use crate::PROVIDER;

#[test]
fn keys_that_are_drawn_differ() {
    let mut rng = example_rng();
    let [a, b] = [(); 2].map(|()| SecretKey::generate(&mut rng));
    let [c, d] = [(); 2].map(|()| Psk::generate(&mut rng));
    let e = TokenKey::generate(&mut rng);
    let all = [
        a.as_bytes(),
        b.as_bytes(),
        c.as_bytes(),
        d.as_bytes(),
        e.as_bytes(),
    ];
    for (i, key) in all.iter().enumerate() {
        assert!(!all[..i].contains(key) && **key != [0; 32]);
    }
}

/// Of a peer that seals: both directions, and the four AEADs that they hold.
#[test]
fn the_keys_of_a_peer_are_small() {
    let sizes = sealing::sizes();
    let size = |name| sizes.iter().find(|(of, _)| *of == name).unwrap().1;
    let both = size("Sealer") + size("Opener");
    assert!(both <= 256, "{sizes:?}");
    for (suite, most) in [(Suite::CHACHA_POLY, 512), (Suite::AES_GCM, 8192)] {
        if PROVIDER.suites().contains(&suite) {
            let aead = size_of_val(&*PROVIDER.aead(suite, &[0; 32]));
            assert!(both + 4 * aead <= most, "{both} + 4 * {aead}");
        }
    }
}
