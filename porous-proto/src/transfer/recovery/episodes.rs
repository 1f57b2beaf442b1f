//! Episodes of loss: frames that are lost within one round trip shrink the window once, and not at all if
//! they prove to have been only late (RFC 9002 §7.3.1; `docs/deviations.md` P5).

/// The episodes of one path. One lasts from the first loss until a frame is acknowledged that was sent after
/// that loss was noticed.
#[derive(Debug, Default)]
pub(super) struct Episodes {
    /// True during an episode.
    is_on: bool,
    /// Id of the first frame that the newest episode lost. Losses are found from the oldest frame on.
    first: u64,
    /// The id that was next when the newest episode began. The loss of an older frame begins no episode: the
    /// window shrank for that flight already.
    end: u64,
    /// Losses of the newest episode that did not prove spurious, and its marks.
    real: u32,
}

impl Episodes {
    /// A frame is lost; `next` is the id that the next frame will have. Returns whether an episode begins.
    pub(super) const fn on_lost(&mut self, id: u64, next: u64) -> bool {
        self.on_trouble(id, next)
    }

    /// A router has marked a frame. Returns whether an episode begins.
    pub(super) const fn on_marked(&mut self, id: u64, next: u64) -> bool {
        // Counted as real for good: a late acknowledgement excuses a loss, but nothing excuses a mark.
        self.on_trouble(id, next)
    }

    const fn on_trouble(&mut self, id: u64, next: u64) -> bool {
        if self.is_on {
            self.real += 1;
            return false;
        }
        let begins = id >= self.end;
        if begins {
            (self.is_on, self.first, self.end, self.real) = (true, id, next, 1);
        }
        begins
    }

    /// A frame was acknowledged, which may end an episode.
    pub(super) const fn on_acknowledged(&mut self, id: u64) {
        self.is_on &= id < self.end;
    }

    /// A frame that had counted as lost has arrived. Returns true if nothing of the episode was lost.
    pub(super) const fn on_spurious(&mut self, id: u64) -> bool {
        // A frame of an earlier episode excuses nothing of this one: its loss is not counted in `real`.
        if !self.is_on || id < self.first || id >= self.end {
            return false;
        }
        self.real = self.real.saturating_sub(1);
        let none = self.real == 0;
        if none {
            // The window was restored, so that a further loss of the same flight has to begin an episode of
            // its own: `end` goes back.
            (self.is_on, self.end) = (false, self.first);
        }
        none
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_ends_with_what_was_sent_after_it_began() {
        let mut episodes = Episodes::default();
        assert!(episodes.on_lost(10, 20));
        episodes.on_acknowledged(19);
        assert!(!episodes.on_lost(12, 30));
        episodes.on_acknowledged(20);
        // Frame 19 was sent before the episode began: the window has shrunk for it already.
        assert!(!episodes.on_lost(19, 40));
        assert!(episodes.on_lost(20, 40));
    }

    /// P5.
    #[test]
    fn a_late_frame_of_an_earlier_episode_excuses_nothing() {
        let mut episodes = Episodes::default();
        episodes.on_lost(10, 20);
        episodes.on_acknowledged(20);
        assert!(!episodes.on_spurious(10));
        assert!(episodes.on_lost(25, 40));
        assert!(!episodes.on_spurious(10));
        assert!(episodes.on_spurious(25));
    }

    /// P5.
    #[test]
    fn an_episode_that_was_taken_back_excuses_no_later_loss() {
        let mut episodes = Episodes::default();
        assert!(episodes.on_lost(10, 20) && !episodes.on_lost(11, 20));
        assert!(!episodes.on_spurious(10) && episodes.on_spurious(11));
        assert!(episodes.on_lost(12, 20));
        assert!(!episodes.on_spurious(11));
    }

    /// D9.
    #[test]
    fn a_mark_is_an_episode_or_a_part_of_one_and_is_not_excused() {
        let mut episodes = Episodes::default();
        assert!(episodes.on_marked(10, 20) && !episodes.on_marked(15, 25));
        assert!(!episodes.on_lost(16, 26) && !episodes.on_spurious(16));
        episodes.on_acknowledged(20);
        assert!(!episodes.on_marked(19, 30), "sent before the first");
        assert!(episodes.on_lost(20, 30) && !episodes.on_marked(29, 31));
        assert!(!episodes.on_spurious(20), "there was a mark");
    }
}
