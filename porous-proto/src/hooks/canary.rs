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
        let (active, count) = caged.get();
        let opportunity = active == Some(bug);
        caged.set((active, count + u64::from(opportunity)));
        opportunity && count % cage::EVERY == cage::EVERY - 1
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
    cage::BUG.with(|caged| caged.set((bug, 0)));
}

#[cfg(feature = "canary")]
mod cage {
    use core::cell::Cell;

    /// The opportunities for one strike: a bug that always strikes would be no art to find.
    pub(super) const EVERY: u64 = 16;

    std::thread_local! {
        pub(super) static BUG: Cell<(Option<super::Bug>, u64)> = const { Cell::new((None, 0)) };
    }
}
