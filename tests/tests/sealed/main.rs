//! Sealed connections with the true cryptography, in virtual time: what they carry over bad links, and what an
//! attacker on the path can do to them. Every run is under a `Recorder`, which sees to it that no key seals two
//! texts with one nonce.
#![expect(clippy::unwrap_used, reason = "tests")]

extern crate alloc;

mod scene;

mod chaos;
mod inject;
mod links;
mod memory;
mod middle;
mod places;
mod shapes;
mod sizes;
mod strangers;
mod warm;
