//! Secrets that are drawn.

use porous_proto::hooks::doc::example_rng;
use porous_proto::seal::{Psk, SecretKey, TokenKey};

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
