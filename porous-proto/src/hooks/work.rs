//! The work that was done, for tests: the number of steps of all loops whose length the network has a say
//! in. Without the feature `audit` nothing is counted.

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
