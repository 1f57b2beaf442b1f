//! Another path than the one that the connection uses: what is said on it to find out whether the
//! remote host is there, and what is forgotten when it has moved (RFC 9000 §8.2, §9.4;
//! `docs/wire.md`, "Roaming").

use super::assembly::Plan;
use super::{Source, Transfer, Written};
use crate::event::Ecn;
use crate::frame::Control;
use crate::time::Instant;
use crate::wire::NoRoom;

/// What a frame that was taken says of the path that it came on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathWords {
    /// Its id.
    pub(crate) id: u64,
    /// No newer one has come.
    pub(crate) is_newest: bool,
    /// The remote host wants to know whether we are where it sends to.
    pub(crate) challenge: Option<u64>,
    /// It answers a challenge of ours.
    pub(crate) response: Option<u64>,
}

impl Transfer {
    /// What the frame with this id, which has not been noted yet, says by its place.
    pub(crate) const fn path_words(&self, id: u64) -> PathWords {
        PathWords {
            id,
            is_newest: id >= self.received.next(),
            challenge: None,
            response: None,
        }
    }

    /// Writes a frame with these words and nothing else: what it is answered with is all that is
    /// wanted of the other path. `None` if the buffer is too short for it, or too much is on its way.
    pub(crate) fn write_path_words(
        &mut self,
        words: &[Control],
        now: Instant,
        buf: &mut [u8],
    ) -> Result<Option<Written>, NoRoom> {
        self.gate.ask();
        let mut plan = Plan::new(self.header(now), self.params.context);
        plan.is_aside = true;
        for &word in words {
            plan.fresh.push(word);
            plan.control(word);
        }
        if plan.len > buf.len() || self.queue.is_full() {
            return Ok(None);
        }
        let len = self.write(&plan, buf)?;
        self.remember(&mut plan, (len, Ecn::NotEct), now);
        Ok(Some(Written::plain(len)))
    }

    /// The remote host has moved. What was sent to where it was and is not acknowledged is lost, so
    /// that what is reliable of it is repeated at once; and that tells nothing of where it is (RFC 9000
    /// §9.4). `same_host`: only its port is another, which is the doing of a router on the same path.
    /// Otherwise nothing is known of the path.
    pub(crate) fn on_moved(&mut self, same_host: bool, source: &mut impl Source, now: Instant) {
        let first = self.queue.next();
        self.path.begin_anew(first);
        self.asked = None;
        while let Some((id, _)) = self.queue.oldest() {
            self.drop_frame(id, source, now);
        }
        if !same_host {
            self.path.renew(&self.params, first);
        }
    }
}
