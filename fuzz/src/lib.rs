//! Shared parts of the fuzz targets: operations to draw, a pair of hosts to apply them to, the contract
//! that both must keep, and one host that gets arbitrary datagrams.

extern crate alloc;

use bolero::generator::ValueGenerator;
use bolero::generator::bolero_generator::driver;
use porous_sim::Seed;
use porous_sim::rand_core::Rng;

pub mod codec;
mod fill;
pub mod forms;
pub mod insider;
pub mod ops;
pub mod pair;
pub mod plan;
pub mod roaming;
pub mod runs;
pub mod target;

pub use porous_sim::swarm::{Contract, Life, Wishes};

/// A drawn value that is the same on every machine, for tests of the generators themselves.
///
/// # Panics
///
/// If the generator gives no value.
pub fn drawn<G: ValueGenerator>(seed: Seed, generator: &G) -> G::Output {
    let mut bytes = vec![0; 32_768];
    seed.stream("drawn", 0).fill_bytes(&mut bytes);
    let options = driver::Options::default().with_max_len(bytes.len());
    let mut driver = driver::bytes::Driver::new(bytes, &options);
    generator.generate(&mut driver).expect("enough bytes")
}
