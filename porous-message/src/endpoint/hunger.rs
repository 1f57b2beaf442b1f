//! Messages and pieces that find no room in packet after packet, because others choose before them.

use core::time::Duration;

use porous_proto::Instant;

/// The time without room after which a message or piece goes first, among its equals.
const STARVING: Duration = Duration::from_millis(250);

/// The first message or piece that was due and found no room, and when it first found none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hunger<T>(Option<(T, Instant)>);

impl<T: Copy> Hunger<T> {
    pub(super) const fn new() -> Self {
        Self(None)
    }

    /// The message or piece, if it has found no room for [`STARVING`].
    pub(super) fn starving(&self, now: Instant) -> Option<T> {
        let (thing, since) = self.0?;
        (since + STARVING <= now).then_some(thing)
    }

    /// The content of a packet is chosen, and `first` is the first thing that found no room; `is_due`
    /// is true of a thing that still waits.
    #[must_use]
    pub(super) fn after(self, first: Option<T>, is_due: impl Fn(T) -> bool, now: Instant) -> Self {
        let still = self.0.filter(|&(thing, _)| is_due(thing));
        Self(still.or_else(|| Some((first?, now))))
    }
}
