//! Marks of congestion (RFC 3168, RFC 9000 §13.4; `docs/deviations.md` D9): what the remote host's
//! frames came with is told to it, and what it tells of ours is believed as far as it can be true.

use crate::event::Ecn;
use crate::frame::Marks;

/// Marked frames that are lost, with none that came, after which the path is taken to drop what has a
/// mark (RFC 9000 §13.4.2). Once some have come, an outage is no reason: frames without a mark must
/// have come between one loss and the next.
const DROPPED: u8 = 10;

/// What the frames of the remote host came with.
#[derive(Debug, Default)]
pub(super) struct Heard {
    newest: bool,
    /// Frames with CE.
    count: u32,
    /// The first of our frames that tells of all of them.
    told_by: u64,
    is_told: bool,
}

impl Heard {
    /// A frame came: with an id above all others, or for the first time. `own_next` is the id of our
    /// next frame.
    pub(super) fn on_frame(&mut self, ecn: Ecn, is_newest: bool, is_new: bool, own_next: u64) {
        if is_newest {
            self.newest = matches!(ecn, Ecn::Ect0 | Ecn::Ce);
        }
        if is_new && ecn == Ecn::Ce {
            self.count = self.count.saturating_add(1);
            (self.told_by, self.is_told) = (own_next, false);
        }
    }

    /// Our frame with this id and an acknowledgement in it has come.
    pub(super) fn confirm(&mut self, own_id: u64) {
        self.is_told |= own_id >= self.told_by;
    }

    pub(super) const fn marks(&self) -> Marks {
        Marks {
            newest: self.newest,
            count: if self.is_told { 0 } else { self.count },
        }
    }
}

/// What our frames are sent with.
#[derive(Debug, Default)]
pub(crate) struct Marking {
    is_on: bool,
    /// Frames with ECT(0).
    sent: u64,
    /// One of them was acknowledged.
    has_passed: bool,
    /// Marked frames that were lost since, of those that count.
    lost: u8,
    /// The newest frame without a mark that was acknowledged.
    unmarked: u64,
    /// The newest one when a loss was last counted.
    counted: u64,
    /// How many came with CE.
    count: u32,
}

impl Marking {
    pub(super) fn new(is_on: bool) -> Self {
        Self {
            is_on,
            ..Self::default()
        }
    }

    /// The connection has moved here from a path that was marked like that. The remote host counts on.
    pub(super) const fn inherit(&mut self, from: &Self) {
        (self.sent, self.count) = (from.sent, from.count);
    }

    pub(crate) const fn is_on(&self) -> bool {
        self.is_on
    }

    pub(crate) const fn count(&self) -> u32 {
        self.count
    }

    /// What the next frame is sent with. Only data is marked, and nothing that repeats what may be
    /// lost because it was.
    pub(super) const fn mark(&mut self, is_new_data: bool) -> Ecn {
        if !self.is_on || !is_new_data {
            return Ecn::NotEct;
        }
        self.sent += 1;
        Ecn::Ect0
    }

    /// A marked frame is considered dropped.
    pub(super) const fn on_lost(&mut self, id: u64) {
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
            (self.has_passed, self.lost) = (true, 0);
        } else if id > self.unmarked {
            self.unmarked = id;
        }
    }

    /// An acknowledgement came. `was_marked`: its newest frame was sent with ECT(0), and is
    /// acknowledged for the first time. Whether routers have marked frames since the last one.
    pub(super) fn on_ack(&mut self, was_marked: bool, marks: Marks) -> bool {
        if was_marked && !marks.newest || u64::from(marks.count) > self.sent {
            // The mark was removed, or some were invented: they mean nothing here.
            self.is_on = false;
            return false;
        }
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

    /// One that has sent so many frames.
    fn sent(frames: u64) -> Marking {
        let mut marking = Marking::new(true);
        for _ in 0..frames {
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
        let mut marking = sent(20);
        (0..9).for_each(|id| marking.on_lost(id));
        assert!(marking.is_on());
        marking.on_lost(9);
        assert!(!marking.is_on());
    }

    #[test]
    fn a_path_that_begins_to_drop_what_is_marked_is_told_from_an_outage() {
        let mut marking = sent(200);
        marking.on_passed(0, true);
        (1..50).for_each(|id| marking.on_lost(id));
        (100..150).for_each(|id| marking.on_passed(id, false));
        (50..100).for_each(|id| marking.on_lost(id));
        assert!(marking.is_on(), "nothing passes");
        let mut marking = sent(200);
        marking.on_passed(0, true);
        for round in 1..=20_u64 {
            let id = 10 * round;
            marking.on_passed(id, false);
            // Sent before that, and after it.
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
