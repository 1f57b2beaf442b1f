//! Marks of congestion (RFC 3168, RFC 9000 §13.4; `docs/deviations.md` D9). The remote host is told with
//! which marks its frames came, and believed in what it tells of the frames of this host, as far as that can
//! be true.

use crate::event::Ecn;
use crate::frame::Marks;

/// Marked frames that are lost, with none that came, after which the path is taken to drop marked frames. As
/// many are sent before one has come: a path that drops them costs no more, whatever time that takes to show
/// (RFC 9000 §13.4.2, appendix A.4).
const DROPPED: u8 = 10;

/// The marks with which frames of the remote host came.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// True if the newest frame came with ECT(0) or CE.
    newest: bool,
    /// Frames that came with CE.
    count: u32,
    /// The first frame of this host that tells of all of them.
    told_by: u64,
    /// True once the remote host has acknowledged such a frame: the count need not be told any more.
    is_told: bool,
}

impl Heard {
    /// A frame came. `is_newest`: its id is above all others. `is_new`: it came for the first time.
    /// `own_next`: the id of the next frame of this host.
    pub(super) fn on_frame(&mut self, ecn: Ecn, is_newest: bool, is_new: bool, own_next: u64) {
        if is_newest {
            self.newest = matches!(ecn, Ecn::Ect0 | Ecn::Ce);
        }
        // A duplicate is no second mark: more CE than marked frames would end marks at the sender.
        if is_new && ecn == Ecn::Ce {
            self.count = self.count.saturating_add(1);
            (self.told_by, self.is_told) = (own_next, false);
        }
    }

    /// The frame `own_id` of this host, which had an acknowledgement in it, has come.
    pub(super) fn confirm(&mut self, own_id: u64) {
        self.is_told |= own_id >= self.told_by;
    }

    /// The marks that the next block tells.
    pub(super) const fn marks(&self) -> Marks {
        Marks {
            newest: self.newest,
            count: if self.is_told { 0 } else { self.count },
        }
    }
}

/// The marks with which frames of this host are sent.
#[derive(Debug, Default)]
pub(crate) struct Marking {
    /// True while the path seems to carry marks. Once false, it stays so.
    is_on: bool,
    /// Frames that were sent with ECT(0).
    sent: u64,
    /// Those of them that were sent on this path before one of them was acknowledged.
    tried: u8,
    /// True once a marked frame was acknowledged.
    has_passed: bool,
    /// Marked frames lost since a marked one was acknowledged, as far as the loss may be due to the mark.
    lost: u8,
    /// Id of the newest acknowledged frame without a mark.
    unmarked: u64,
    /// What `unmarked` was when a loss was last counted.
    counted: u64,
    /// Frames that came with CE, as the remote host tells.
    count: u32,
}

impl Marking {
    pub(super) fn new(is_on: bool) -> Self {
        Self {
            is_on,
            ..Self::default()
        }
    }

    /// The connection has moved here from a path that was marked like `from`.
    pub(super) const fn inherit(&mut self, from: &Self) {
        // The remote host goes on counting, and its counts are compared with these.
        (self.sent, self.count) = (from.sent, from.count);
    }

    pub(crate) const fn is_on(&self) -> bool {
        self.is_on
    }

    pub(crate) const fn count(&self) -> u32 {
        self.count
    }

    /// The mark of the next frame.
    pub(super) const fn mark(&mut self, is_new_data: bool) -> Ecn {
        // Only new data: what repeats a frame that may be lost because of its mark has none.
        if !self.is_on || !is_new_data || self.tried == DROPPED {
            return Ecn::NotEct;
        }
        if !self.has_passed {
            self.tried += 1;
        }
        self.sent += 1;
        Ecn::Ect0
    }

    /// A marked frame is considered dropped.
    pub(super) const fn on_lost(&mut self, id: u64) {
        // Before any marked frame has come, each loss counts. After that an outage must not end marks: a loss
        // counts only if a frame without a mark came after the loss before it.
        let others_pass = id > self.counted && self.unmarked > self.counted;
        if !self.has_passed || others_pass {
            self.lost = self.lost.saturating_add(1);
            self.counted = self.unmarked;
            self.is_on &= self.lost < DROPPED;
        }
    }

    /// A frame was acknowledged.
    pub(super) const fn on_passed(&mut self, id: u64, is_marked: bool) {
        if is_marked {
            (self.has_passed, self.tried, self.lost) = (true, 0, 0);
        } else if id > self.unmarked {
            self.unmarked = id;
        }
    }

    /// An acknowledgement came with these marks. `was_marked`: its newest frame was sent with ECT(0), and is
    /// acknowledged for the first time. Returns whether routers have marked frames since the acknowledgement
    /// before.
    pub(super) fn on_ack(&mut self, was_marked: bool, marks: Marks) -> bool {
        if was_marked && !marks.newest || u64::from(marks.count) > self.sent {
            // Marks are removed on this path, or invented: they mean nothing here (RFC 9000 §13.4.2).
            self.is_on = false;
            return false;
        }
        // Acknowledgements may overtake each other, so that a smaller count is an older one.
        let is_news = marks.count > self.count;
        self.count = self.count.max(marks.count);
        is_news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn marks(newest: bool, count: u32) -> Marks {
        Marks { newest, count }
    }

    /// The state after this many marked frames, the first of which is acknowledged if there are more than ten.
    fn sent(frames: u64) -> Marking {
        let mut marking = Marking::new(true);
        for frame in 0..frames {
            if frame == DROPPED.into() {
                assert_eq!(marking.mark(true), Ecn::NotEct);
                marking.on_passed(0, true);
            }
            assert_eq!(marking.mark(true), Ecn::Ect0);
        }
        assert_eq!(marking.mark(false), Ecn::NotEct);
        marking
    }

    #[test]
    fn each_new_mark_is_told_once_and_counts_only_grow() {
        let mut marking = sent(5);
        assert!(!marking.on_ack(true, marks(true, 0)));
        assert!(marking.on_ack(true, marks(true, 2)));
        assert!(!marking.on_ack(true, marks(true, 2)));
        assert!(!marking.on_ack(false, marks(false, 1)), "it came late");
        assert!(marking.on_ack(false, marks(true, 5)));
        assert_eq!((marking.is_on(), marking.count()), (true, 5));
    }

    #[test]
    fn a_mark_that_was_removed_or_invented_ends_it() {
        let mut marking = sent(5);
        assert!(!marking.on_ack(true, marks(false, 0)) && !marking.is_on());
        assert_eq!(marking.mark(true), Ecn::NotEct);
        let mut marking = sent(5);
        assert!(!marking.on_ack(true, marks(true, 6)) && !marking.is_on());
        let mut marking = Marking::new(false);
        assert!(!marking.on_ack(false, marks(true, 1)));
        assert_eq!(marking.count(), 0);
    }

    #[test]
    fn a_path_that_drops_what_is_marked_is_left_in_peace() {
        let mut marking = sent(10);
        (0..9).for_each(|id| marking.on_lost(id));
        assert!(marking.is_on());
        marking.on_lost(9);
        assert!(!marking.is_on());
    }

    /// D9.
    #[test]
    fn a_path_that_begins_to_drop_what_is_marked_is_told_from_an_outage() {
        let mut marking = sent(200);
        (1..50).for_each(|id| marking.on_lost(id));
        (100..150).for_each(|id| marking.on_passed(id, false));
        (50..100).for_each(|id| marking.on_lost(id));
        assert!(marking.is_on(), "nothing passes");
        let mut marking = sent(200);
        for round in 1..=20_u64 {
            let id = 10 * round;
            marking.on_passed(id, false);
            // Marked frames from before the unmarked one that came, and from after it.
            for id in [id - 2, id - 1, id + 1] {
                marking.on_lost(id);
            }
            assert_eq!(marking.is_on(), round < 10, "{round}");
        }
        let mut marking = sent(200);
        for id in 0..100 {
            marking.on_passed(3 * id, false);
            marking.on_lost(3 * id + 1);
            if id % 9 == 0 {
                marking.on_passed(3 * id + 2, true);
            }
        }
        assert!(marking.is_on(), "others pass");
    }

    /// D9.
    #[test]
    fn marks_are_told_until_that_has_come() {
        let mut heard = Heard::default();
        heard.on_frame(Ecn::Ect0, true, true, 3);
        assert_eq!(heard.marks(), marks(true, 0));
        heard.on_frame(Ecn::Ce, false, true, 4);
        heard.on_frame(Ecn::Ce, true, false, 5); // a duplicate
        assert_eq!(heard.marks(), marks(true, 1));
        heard.confirm(3);
        assert_eq!(heard.marks(), marks(true, 1));
        heard.confirm(4);
        assert_eq!(heard.marks(), marks(true, 0));
        heard.on_frame(Ecn::Ce, true, true, 9);
        heard.on_frame(Ecn::NotEct, true, true, 9);
        assert_eq!(heard.marks(), marks(false, 2));
        heard.on_frame(Ecn::Ect1, true, true, 9);
        assert_eq!(heard.marks(), marks(false, 2));
    }
}
