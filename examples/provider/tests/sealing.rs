//! The tests of `porous-crypto`, over this provider: what RFCs, NIST and Noise have published, the examples of
//! the protocol's specification, and what is changed on the way.
#![expect(clippy::unwrap_used, reason = "a test")]

extern crate alloc;

#[path = "../../../porous-crypto/tests/sealing/common.rs"]
mod common;
#[path = "../../../porous-crypto/tests/sealing/examples.rs"]
mod examples;
#[path = "../../../porous-crypto/tests/sealing/handshake.rs"]
mod handshake;
#[path = "../../../porous-crypto/tests/sealing/tokens.rs"]
mod tokens;
#[path = "../../../porous-crypto/tests/sealing/vectors.rs"]
mod vectors;

use common::{flips, hex, hex_array, kit, suites};
use provider::AwsLc;

const PROVIDER: AwsLc = AwsLc;
