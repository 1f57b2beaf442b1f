//! Window acknowledgements (§3.2.1): only the newest of a channel is ever sent, until it is
//! acknowledged.

use crate::serial;

/// What one channel has reported of its receive window.
#[derive(Debug)]
pub(crate) struct Reports {
    /// The base m_b that the last report stands for.
    reported: u64,
    /// Everything that was passed is to be reported, not only where (18) fired.
    pub(crate) all: bool,
    /// It is in the queue of channels with a report due.
    pub(crate) due: bool,
}

impl Reports {
    pub(crate) const fn new(first_id: u64) -> Self {
        Self {
            reported: first_id,
            all: false,
            due: false,
        }
    }

    /// One past what the last report stands for.
    pub(crate) const fn reported(&self) -> u64 {
        self.reported
    }

    /// Everything before this id was reported otherwise.
    pub(crate) const fn note(&mut self, end: u64) {
        self.reported = end;
        self.all = false;
    }

    /// Whether the window moved since the last report.
    pub(crate) const fn is_unreported(&self, base: u64) -> bool {
        base > self.reported
    }

    /// Makes the report: the marked id that was passed where (18) fired, else the last one passed;
    /// its low 32 bits. A repeated report names the last one passed.
    pub(crate) fn report(&mut self, base: u64, fired: Option<u64>) -> u32 {
        self.due = false;
        let all = core::mem::take(&mut self.all);
        let fired = fired.filter(|&id| !all && id >= self.reported);
        let id = fired.unwrap_or_else(|| base.saturating_sub(1));
        self.reported = id + 1;
        serial::truncate(id, 32)
    }

    /// Whether no newer report was made than the one of `id`: if it is lost, it must be repeated.
    pub(crate) fn is_newest(&self, id: u32) -> bool {
        serial::truncate(self.reported.wrapping_sub(1), 32) == id
    }
}

/// The full id of a window acknowledgement, if it is in or ahead of the transfer window that
/// begins at `base`; what is behind is old and has no effect.
pub(crate) fn expand(id: u32, base: u64) -> Option<u64> {
    const HALF: u64 = 1 << 31;
    serial::expand(id, 32, base, HALF).filter(|&id| id >= base)
}
