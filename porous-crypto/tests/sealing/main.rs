//! The sealing of `porous-proto` over this crate's provider: vectors that others have published, another
//! implementation of Noise, and the examples of the protocol's specification.
#![expect(clippy::unwrap_used, reason = "a test")]

extern crate alloc;

mod common;
mod crates;
mod examples;
mod handshake;
mod keys;
mod oracle;
mod tokens;
mod vectors;

use common::{flips, hex, hex_array, kit, suites};
use porous_crypto::RustCrypto;

/// The provider that is tested. To test another one, give it a root like this file: all modules but `crates`,
/// `keys` and `oracle` ask nothing but this constant.
const PROVIDER: RustCrypto = RustCrypto;
