//! What the fuzz targets share: operations to draw, a pair of hosts to do them to, the contract
//! that both must keep, and an encoder that was written from `docs/wire.md` alone.

extern crate alloc;

mod contract;
pub mod ops;
pub mod pair;

pub use contract::Contract;
