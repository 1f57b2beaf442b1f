//! Probes: frames that repeat reliable content that is on its way, whatever the windows say, so that an
//! acknowledgement tells what became of it (RFC 9002 §6.2.4; `docs/deviations.md` P6).

use super::path::Path;
use super::ping::Pings;
use super::plan::Plan;
use super::queue::TransferQueue;
use super::recovery::Question;
use super::store::{List, Store};
use crate::frame::Control;
use crate::source::Source;
use crate::time::{Instant, Micros};

/// Frames that are looked at for one datagram: the work of a probe stays bounded, however long the queue is.
const FRAMES_MAX: usize = 64;

/// Datagrams that leave as soon as the host is asked for datagrams.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// The first of the frames whose reliable content is repeated.
    from: u64,
    /// One past the last of them.
    end: u64,
    /// Datagrams that are left to be sent.
    left: u8,
    /// True if a ping goes out where there is nothing to repeat.
    insists: bool,
    /// True if the first datagram is a ping alone.
    pings: bool,
    /// True after a timeout: messages that a newer frame carries as well are repeated, too.
    is_late: bool,
}

impl Probe {
    /// An early probe: one datagram.
    const fn early(from: u64, end: u64) -> Self {
        Self {
            from,
            end,
            left: 1,
            insists: false,
            pings: false,
            is_late: false,
        }
    }

    /// This probe and an early one that is due beside it.
    fn joined(self, early: Self) -> Self {
        // Several frames may be due at once: one probe repeats all of them.
        let (from, end, is_late) = if self.from < self.end {
            (
                self.from.min(early.from),
                self.end.max(early.end),
                self.is_late,
            )
        } else {
            // This one is a ping alone.
            (early.from, early.end, false)
        };
        Self {
            from,
            end,
            is_late,
            ..self
        }
    }

    /// The probe of a timeout: two datagrams, or a ping if there is nothing to repeat. `again`: the timeout
    /// before was not answered either.
    const fn late(from: u64, end: u64, again: bool) -> Self {
        Self {
            from,
            end,
            // What is to be repeated may be too long for the path: from the second timeout on a ping, as
            // short as can be, goes first (D16).
            left: 2 + again as u8,
            insists: true,
            pings: again,
            is_late: true,
        }
    }
}

/// An early probe that is on its way, and the newest frame that it repeats.
#[derive(Clone, Copy, Debug)]
struct Asked {
    probe: u64,
    frame: u64,
}

/// The probes of one peer.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    due: Option<Probe>,
    /// The last early probe, until it is known whether it was needless.
    asked: Option<Asked>,
}

impl Probes {
    /// The remote host has moved: the answer to the last probe tells nothing of the path any more.
    pub(super) const fn forget_asked(&mut self) {
        self.asked = None;
    }

    /// Whether a probe is to be sent.
    pub(super) const fn are_due(&self) -> bool {
        self.due.is_some()
    }

    /// Whether the next datagram asks for an acknowledgement, whatever it contains.
    pub(super) fn insists(&self) -> bool {
        self.due.is_some_and(|probe| probe.insists)
    }

    /// Reliable content that has waited for long goes out once more, in one datagram.
    pub(super) fn probe_early(&mut self, queue: &mut TransferQueue, path: &mut Path, now: Instant) {
        path.recovery.on_sent(now); // it leaves soon: otherwise a timeout might be due as well
        while let Some((id, sent)) = queue.unprobed() {
            let asks = sent.probe().unwrap_or_default();
            if sent.at + path.recovery.early_probe(asks, &path.rtt) > now {
                break;
            }
            let early = Probe::early(id, id + 1);
            self.due = Some(self.due.map_or(early, |due| due.joined(early)));
            queue.mark_probed(id);
        }
    }

    /// A timeout: all reliable content that is on its way goes out once more, in two datagrams. A ping takes
    /// its place if there is none, if too many timeouts were not answered, or if data goes on leaving; then it
    /// goes before a probe that is due as well.
    pub(super) fn probe_late(&mut self, queue: &TransferQueue, path: &mut Path, now: Instant) {
        if let Some(Question { repeats, is_again }) = path.recovery.on_timeout(&path.rtt, now) {
            // A ping alone takes the place of no early probe, which comes once for each frame.
            if let (false, Some(early)) = (repeats, &mut self.due) {
                early.left += u8::from(!core::mem::replace(&mut early.pings, true));
                return;
            }
            let end = queue.next();
            let from = if repeats { queue.base() } else { end };
            self.due = Some(Probe::late(from, end, is_again));
        }
    }

    /// Whether what the last early probe repeated had arrived before; `None` if there is no probe, or its
    /// fate is not known yet.
    pub(super) fn judge(&mut self, queue: &TransferQueue) -> Option<bool> {
        let asked = self.asked?;
        let had_arrived = queue.is_acknowledged(asked.frame);
        // If the frame itself is acknowledged, its content had arrived. If only the probe is, or was
        // considered dropped, the content had not.
        let is_known = had_arrived || queue.get(asked.probe).is_none();
        is_known.then(|| {
            self.asked = None;
            had_arrived
        })
    }

    /// Repeats in the next frame what fits and is of use, the oldest first. `sure`: the bytes that every path
    /// carries; `max`: the most bytes of the frame. Returns the most bytes that the frame may have.
    #[inline]
    pub(super) fn plan(
        &mut self,
        plan: &mut Plan,
        way: &mut Way<'_>,
        source: &impl Source,
        [sure, max]: [usize; 2],
        now: Instant,
    ) -> usize {
        let Some(mut probe) = self.due.take() else {
            return max;
        };
        if core::mem::take(&mut probe.pings) {
            (probe.left, probe.insists) = (probe.left - 1, false);
            self.due = (probe.from < probe.end).then_some(probe);
            way.ping(plan, now);
            // As short as can be: no data follows in this frame.
            return plan.len;
        }
        let before = plan.messages;
        let sure = max.min(sure);
        probe.repeat(plan, way, source, now, [sure, max]);
        let repeats = plan.messages > before;
        // A timeout is no early probe: it says nothing of whether early ones come too early.
        if repeats && !probe.is_late {
            self.asked = Some(Asked {
                probe: plan.header.id,
                frame: probe.end - 1,
            });
        }
        plan.has_data |= repeats;
        plan.is_repeat = repeats;
        plan.header.ack_now = repeats || probe.insists;
        if probe.insists {
            way.ping(plan, now);
        }
        probe.left -= 1;
        probe.insists = false; // the first datagram has asked
        if probe.left > 0 && probe.from < probe.end {
            self.due = Some(probe);
        }
        if plan.messages == before {
            // There was nothing to repeat: new data has the frame for itself.
            return max;
        }
        // New data joins only up to what surely passes: this frame has to be answered.
        sure.max(plan.len)
    }
}

/// What probes are planned from.
pub(super) struct Way<'a> {
    pub(super) queue: &'a TransferQueue,
    pub(super) store: &'a mut Store,
    pub(super) pings: &'a mut Pings,
    pub(super) rtt: Micros,
}

impl Way<'_> {
    /// A ping, if the frame has no messages, in a frame that asks to be acknowledged at once.
    fn ping(&mut self, plan: &mut Plan, now: Instant) {
        plan.header.ack_now = true;
        if plan.messages == 0 {
            plan.say(Control::Ping(self.pings.send(now, self.rtt)));
        }
    }
}

impl Probe {
    /// Fills the frame with what the probe repeats, up to `sure` bytes, or `max` if a single message is
    /// longer.
    fn repeat(
        &mut self,
        plan: &mut Plan,
        way: &mut Way<'_>,
        source: &impl Source,
        now: Instant,
        [sure, max]: [usize; 2],
    ) {
        let before = plan.messages;
        for _ in 0..FRAMES_MAX {
            let Some(id) = way.queue.first_open(self.from, self.end - 1) else {
                self.from = self.end;
                return;
            };
            if let Some((sent, contents)) = way.queue.reliable_contents(id) {
                let mut list = core::mem::replace(&mut plan.contents, List::EMPTY);
                let mut is_full = false;
                way.store
                    .repeat(&contents.open(), &mut list, now, |message, newest| {
                        // Several of the frames may carry a message: it is repeated once in this frame, and
                        // by an early probe only if no newer frame may have brought it.
                        let is_newer = newest == now || !self.is_late && newest > sent;
                        if is_newer || !source.is_current(message) {
                            return false;
                        }
                        let len = plan.layout.length(message);
                        let limit = if plan.messages == before { max } else { sure };
                        is_full |= !plan.fits(len, limit);
                        if !is_full {
                            plan.push(message, len);
                        }
                        !is_full
                    });
                plan.contents = list;
                if is_full {
                    return;
                }
            }
            self.from = id + 1;
        }
    }
}
