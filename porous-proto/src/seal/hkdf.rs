//! HMAC (RFC 2104) and HKDF (RFC 5869) over a provider's hash.

use zeroize::Zeroizing;

use super::crypto::Crypto;
use super::secret::Secret;

/// Bytes of a block of SHA-256.
const BLOCK: usize = 64;

/// The authentication code of the parts of a message, as if they were one.
pub(crate) fn hmac(crypto: Crypto, key: &[u8], [a, b, c]: [&[u8]; 3]) -> [u8; 32] {
    let mut block = Zeroizing::new([0; BLOCK]);
    if let Some(start) = block.get_mut(..key.len()) {
        start.copy_from_slice(key);
    } else {
        // Longer keys are hashed, RFC 2104 §2.
        let hash = crypto.hash(&[key]);
        for (to, from) in block.iter_mut().zip(hash) {
            *to = from;
        }
    }
    let inner = Zeroizing::new(block.map(|byte| byte ^ 0x36));
    let outer = Zeroizing::new(block.map(|byte| byte ^ 0x5C));
    let digest = Zeroizing::new(crypto.hash(&[&inner[..], a, b, c]));
    crypto.hash(&[&outer[..], &digest[..]])
}

/// The pseudorandom key in `input`, which may be of several parts: RFC 5869 §2.2.
pub(crate) fn extract(crypto: Crypto, salt: &[u8], [a, b]: [&[u8]; 2]) -> Secret {
    Secret::new(hmac(crypto, salt, [a, b, &[]]))
}

/// `N` keys from one: RFC 5869 §2.3.
pub(crate) fn expand<const N: usize>(crypto: Crypto, key: &Secret, info: &[u8]) -> [Secret; N] {
    const { assert!(N < 256, "a byte counts them") };
    let (mut last, mut number): (Option<Secret>, u8) = (None, 0);
    core::array::from_fn(|_| {
        number = number.wrapping_add(1);
        let before = last.as_ref().map_or(&[][..], |last| last.bytes());
        let next = Secret::new(hmac(crypto, key.bytes(), [before, info, &[number]]));
        last = Some(next.clone());
        next
    })
}
