//! What all tests need: a provider, which the root of the program names, and bytes.

use porous_proto::hooks::sealing::Kit;
use porous_proto::seal::{Provider, Suite};

use crate::PROVIDER;

pub(crate) fn kit(suite: Suite) -> Kit {
    Kit::new(&PROVIDER, suite).unwrap()
}

pub(crate) fn suites() -> impl Iterator<Item = Suite> {
    PROVIDER.suites().iter().copied()
}

/// Bytes of hexadecimal digits; blanks between them do not count.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    assert_eq!(
        digits.len(),
        text.chars().filter(|c| !c.is_whitespace()).count()
    );
    let byte = |pair: &[u32]| u8::try_from(pair[0] << 4 | pair[1]).unwrap();
    digits.chunks(2).map(byte).collect()
}

pub(crate) fn hex_array<const N: usize>(text: &str) -> [u8; N] {
    hex(text).try_into().unwrap()
}

/// All values that differ from these bytes in one bit.
pub(crate) fn flips(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..bytes.len() * 8).map(|bit| {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        flipped
    })
}
