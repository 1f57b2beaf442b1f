//! Deliberate bugs, to test the tests: a swarm or a fuzzer that does not find each of them is not
//! worth its electricity. Without the feature `canary` there is none.

/// A bug. One of them at a time strikes at each 16th opportunity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A packet is delivered twice.
    DeliversTwice,
    /// A packet is delivered although what it depends on was not.
    SkipsDependency,
    /// A reliable message that was lost is not sent again.
    ForgetsResend,
    /// A datagram is acknowledged, and what is in it dropped.
    AcksWhatItDropped,
    /// An incomplete packet that is given up stays in the budget.
    LeaksFragment,
    /// A stranger gets two answers to one request.
    AnswersTwice,
    /// The transfer window is one longer than the receive window.
    WindowOffByOne,
    /// What the layers wait for has no deadline.
    LosesDeadline,
}

#[cfg(feature = "canary")]
impl Bug {
    /// All of them.
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

/// Whether the bug strikes now.
#[cfg(feature = "canary")]
pub(crate) fn strikes(bug: Bug) -> bool {
    cage::BUG.with(|caged| {
        let (active, count) = caged.get();
        let opportunity = active == Some(bug);
        caged.set((active, count + u64::from(opportunity)));
        opportunity && count % cage::EVERY == cage::EVERY - 1
    })
}

/// There are no bugs.
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

    /// A bug that strikes always would be no art to find.
    pub(super) const EVERY: u64 = 16;

    std::thread_local! {
        pub(super) static BUG: Cell<(Option<super::Bug>, u64)> = const { Cell::new((None, 0)) };
    }
}
