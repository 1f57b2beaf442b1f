//! The deadlines of a peer: a fixed table, so that none can be forgotten.

use crate::time::Instant;

/// What can be due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deadline {
    /// The next request, or disconnection request.
    Retry,
    /// The end of a handshake or disconnection that is not answered, or of a flush.
    Attempt,
    /// The end of a connection on which nothing comes (§2.2).
    Silence,
    /// The final timeout of a peer that has ended (§2.2).
    Linger,
}

const COUNT: usize = 4;

/// The table.
#[derive(Debug)]
pub(crate) struct Deadlines([Instant; COUNT]);

impl Deadlines {
    pub(crate) const fn new() -> Self {
        Self([Instant::NEVER; COUNT])
    }

    pub(crate) const fn set(&mut self, which: Deadline, at: Instant) {
        self.0[which as usize] = at;
    }

    pub(crate) const fn stop(&mut self, which: Deadline) {
        self.0[which as usize] = Instant::NEVER;
    }

    /// When this one is to come.
    pub(crate) const fn get(&self, which: Deadline) -> Instant {
        self.0[which as usize]
    }

    pub(crate) const fn is_set(&self, which: Deadline) -> bool {
        !self.0[which as usize].is_never()
    }

    pub(crate) const fn clear(&mut self) {
        self.0 = [Instant::NEVER; COUNT];
    }

    /// The earliest of all.
    pub(crate) fn next(&self) -> Instant {
        self.0.iter().copied().min().unwrap_or(Instant::NEVER)
    }

    /// Whether this one has come; it is stopped then.
    pub(crate) fn expired(&mut self, which: Deadline, now: Instant) -> bool {
        let due = self.0[which as usize] <= now;
        if due {
            self.stop(which);
        }
        due
    }
}
