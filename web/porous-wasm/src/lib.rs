//! POROUS in browsers: a host for JavaScript, whose datagrams WebTransport carries.
//!
//! [`PorousHost`] is the core without input and output, as that of `porous_core_new` in the C interface: the program
//! hands over datagrams and times. `porous.js` beside the built module does both by `WebTransport` and
//! `performance.now()`. As a crate this is what other modules for browsers are made of: a game in Rust has the
//! [host within](PorousHost::inner).
//!
//! Times are milliseconds as `performance.now()` counts them, sizes are bytes.

extern crate alloc;

mod config;
mod event;
mod host;
mod object;
mod stats;

pub use host::{Core, PorousHost};
pub use object::instant;
pub use porous_proto as proto;
