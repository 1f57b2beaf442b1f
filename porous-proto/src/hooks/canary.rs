//! Deliberate bugs, to test the tests: a swarm or a fuzzer has to find each of them. Without the feature
//! `canary` there is none.

/// A bug. One at a time is loose, and strikes at each 16th opportunity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A packet is delivered twice.
    DeliversTwice,
    /// A packet is delivered although what it depends on was not.
    SkipsDependency,
    /// A reliable message that was lost is not sent again.
    ForgetsResend,
    /// A datagram is acknowledged, and its messages are dropped.
    AcksWhatItDropped,
    /// An incomplete packet that is given up stays in the budget.
    LeaksFragment,
    /// A stranger gets two answers to one datagram.
    AnswersTwice,
    /// The transfer window is one longer than the receive window.
    WindowOffByOne,
    /// The deadlines of the layers are left out of the peer's.
    LosesDeadline,
}

#[cfg(feature = "canary")]
impl Bug {
    /// All bugs.
    pub const ALL: [Self; 8] = [
        Self::DeliversTwice,
        Self::SkipsDependency,
        Self::ForgetsResend,
        Self::AcksWhatItDropped,
        Self::LeaksFragment,
        Self::AnswersTwice,
        Self::WindowOffByOne,
        Self::LosesDeadline,
    ];
}

/// Whether this bug is loose and strikes now.
#[cfg(feature = "canary")]
pub(crate) fn strikes(bug: Bug) -> bool {
    cage::BUG.with(|caged| {
        let (active, every, count) = caged.get();
        let opportunity = active == Some(bug);
        caged.set((active, every, count + u64::from(opportunity)));
        opportunity && count % every == every - 1
    })
}

/// False: no bug is loose in a build without the feature.
#[cfg(not(feature = "canary"))]
pub(crate) const fn strikes(_: Bug) -> bool {
    false
}

/// Lets a bug loose in all hosts of this thread, or none.
#[cfg(feature = "canary")]
pub fn release(bug: Option<Bug>) {
    release_each(cage::EVERY, bug);
}

/// As [`release`], for a bug that strikes at each `every`th opportunity: for runs that have few.
#[cfg(feature = "canary")]
pub fn release_each(every: u64, bug: Option<Bug>) {
    cage::BUG.with(|caged| caged.set((bug, every.max(1), 0)));
}

/// The opportunities of the bug so far that is loose in this thread: they decide when it strikes.
#[cfg(feature = "canary")]
#[must_use]
pub fn opportunities() -> u64 {
    cage::BUG.with(|caged| caged.get().2)
}

#[cfg(feature = "canary")]
mod cage {
    use core::cell::Cell;

    /// The opportunities for one strike: a bug that always strikes would be no art to find.
    pub(super) const EVERY: u64 = 16;

    /// A bug, the opportunities for one strike, and those so far.
    type Caged = (Option<super::Bug>, u64, u64);

    std::thread_local! {
        pub(super) static BUG: Cell<Caged> = const { Cell::new((None, EVERY, 0)) };
    }
}
