//! What tests, fuzzers and the examples in the documentation look into the core through. Not part of
//! the interface: it changes without notice.
//!
//! A user's build, which has no features, has little of it. Production lines call
//! `canary::strikes` with a name of a `canary::Bug`, and `work::count`: both are then empty
//! `const` functions, so that these lines need no `cfg` and come to no code. Doc tests link the library
//! as its users build it, so that [`doc`] is there; nothing calls it, and the linker drops it.

#[cfg(any(test, feature = "audit"))]
pub mod audit;
pub mod canary;
#[cfg(any(test, feature = "audit"))]
pub mod codec;
pub mod doc;
#[cfg(any(test, feature = "audit"))]
pub(crate) mod reencode;
pub mod work;
