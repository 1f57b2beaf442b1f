//! What tests, fuzzers and the examples of the documentation use to look into the core. Not part of the
//! interface: it changes without notice.
//!
//! A user's build, which has no features, has little of it. The code of the core calls
//! `canary::strikes` with a name of a `canary::Bug`, and `work::count`: without features both are empty
//! `const` functions, so that these lines need no `cfg` and come to no code. Doc tests link the library
//! as its users build it, so that [`doc`] is there in each build; nothing else calls it, and the linker
//! drops it.

#[cfg(any(test, feature = "audit"))]
pub mod audit;
pub mod canary;
#[cfg(any(test, feature = "audit"))]
pub mod codec;
pub mod doc;
#[cfg(any(test, feature = "audit"))]
pub(crate) mod reencode;
pub mod work;
