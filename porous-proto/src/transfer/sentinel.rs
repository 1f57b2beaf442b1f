//! Sentinel frames (§3.1.2): an empty frame in place of a dropped, unreliable one, twice in each
//! transfer window, repeated until acknowledged.

/// Which ids call for a sentinel frame, and whether one is to be sent.
#[derive(Debug)]
pub(crate) struct SentinelFrames {
    /// S = N_P / 2.
    spacing: u64,
    pub(crate) pending: bool,
}

impl SentinelFrames {
    pub(crate) const fn new(window: u64) -> Self {
        Self {
            spacing: window / 2,
            pending: false,
        }
    }

    /// A frame was dropped that held nothing to be sent again, or a sentinel frame was.
    pub(crate) const fn on_dropped(&mut self, id: u64, was_sentinel: bool) {
        if was_sentinel || id % self.spacing == self.spacing - 1 {
            self.pending = true; // (4)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equation_04_one_dropped_frame_in_half_a_window_leaves_a_sentinel() {
        let mut sentinels = SentinelFrames::new(16);
        for id in 0..7 {
            sentinels.on_dropped(id, false);
        }
        assert!(!sentinels.pending);
        sentinels.on_dropped(7, false);
        assert!(sentinels.pending);
        sentinels.pending = false;
        sentinels.on_dropped(8, true); // the sentinel itself was lost
        assert!(sentinels.pending);
    }
}
