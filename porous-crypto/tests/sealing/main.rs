//! The sealing of `porous-proto` over this crate's provider: vectors that others have published, another
//! implementation of Noise, and the examples of the protocol's specification.
#![expect(clippy::unwrap_used, reason = "a test")]

extern crate alloc;

mod examples;
mod handshake;
mod keys;
mod oracle;
mod tokens;
mod vectors;

use porous_crypto::RustCrypto;
use porous_proto::hooks::sealing::Kit;
use porous_proto::seal::{Provider, Suite};

fn kit(suite: Suite) -> Kit {
    Kit::new(&RustCrypto, suite).unwrap()
}

fn suites() -> impl Iterator<Item = Suite> {
    RustCrypto.suites().iter().copied()
}

/// Bytes of hexadecimal digits; blanks between them do not count.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    assert_eq!(
        digits.len(),
        text.chars().filter(|c| !c.is_whitespace()).count()
    );
    let byte = |pair: &[u32]| u8::try_from(pair[0] << 4 | pair[1]).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn hex_array<const N: usize>(text: &str) -> [u8; N] {
    hex(text).try_into().unwrap()
}

/// 32 bytes that count.
fn counting(first: u8) -> [u8; 32] {
    let mut next = first..;
    core::array::from_fn(|_| next.next().unwrap())
}

/// All values that differ from these bytes in one bit.
fn flips(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..bytes.len() * 8).map(|bit| {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        flipped
    })
}
