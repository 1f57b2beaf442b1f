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
#[cfg(any(test, feature = "audit", feature = "record"))]
pub mod codec;
pub mod doc;
#[cfg(feature = "record")]
pub mod recording;
#[cfg(feature = "seal")]
pub mod sealing;

/// The work that was done, for tests: the number of steps of all loops whose length the network has a say
/// in. Without the feature `audit` nothing is counted.
pub mod work {
    /// Counts `steps` for the current thread.
    #[cfg(any(test, feature = "audit"))]
    pub(crate) fn count(steps: u64) {
        counter::STEPS.with(|sum| sum.set(sum.get() + steps));
    }

    /// Counts nothing.
    #[cfg(not(any(test, feature = "audit")))]
    pub(crate) const fn count(_steps: u64) {}

    /// The number of steps that this thread has counted.
    #[cfg(any(test, feature = "audit"))]
    pub fn done() -> u64 {
        counter::STEPS.with(core::cell::Cell::get)
    }

    #[cfg(any(test, feature = "audit"))]
    mod counter {
        std::thread_local! {
            pub(super) static STEPS: core::cell::Cell<u64> = const { core::cell::Cell::new(0) };
        }
    }
}
