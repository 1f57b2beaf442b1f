//! Probes: frames that repeat what is reliable and on its way, whatever the windows say, so that
//! an acknowledgement tells what became of it (RFC 9002 §6.2.4; `docs/deviations.md` P6).

use super::assembly::Plan;
use super::{Source, Transfer};
use crate::frame::{Control, MAX_MESSAGES};
use crate::time::Instant;

/// No more frames are looked at for one probe.
const FRAMES_MAX: usize = 64;

/// Datagrams that are to be sent once the host is asked for some.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// The frames whose reliable content is repeated: from this id on,
    pub(crate) from: u64,
    /// and before this one.
    end: u64,
    /// So many datagrams.
    left: u8,
    /// If there is none, a ping goes out.
    pub(crate) insists: bool,
    /// The first datagram is a ping alone.
    pings: bool,
    /// Also what a newer frame carries, too.
    is_late: bool,
}

impl Probe {
    /// In one datagram.
    pub(crate) const fn early(from: u64, end: u64) -> Self {
        Self {
            from,
            end,
            left: 1,
            insists: false,
            pings: false,
            is_late: false,
        }
    }

    /// In two; a ping, if there is nothing to repeat. If nothing answered one such probe, a ping that is as
    /// short as can be goes before them: what is to be repeated may be too long for the path.
    pub(crate) const fn late(from: u64, end: u64, again: bool) -> Self {
        Self {
            from,
            end,
            left: 2 + again as u8,
            insists: true,
            pings: again,
            is_late: true,
        }
    }
}

/// An early probe that is under way, and the newest frame that it repeats.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    probe: u64,
    frame: u64,
}

impl Transfer {
    /// Sees what an acknowledgement says of the last early probe.
    pub(super) fn judge_probe(&mut self) {
        let Some(asked) = self.asked else {
            return;
        };
        let arrived = self.queue.is_acknowledged(asked.frame);
        if arrived || self.queue.get(asked.probe).is_none() {
            self.path.recovery.on_probed(arrived);
            self.asked = None;
        }
    }

    /// Repeats in the next frame what fits and is of use, the oldest first: no more than every path
    /// carries, or one message that is longer. How long the frame may become.
    pub(super) fn plan_probe(
        &mut self,
        plan: &mut Plan,
        source: &impl Source,
        now: Instant,
        max: usize,
    ) -> usize {
        let Some(mut probe) = self.probe.take() else {
            return max;
        };
        if core::mem::take(&mut probe.pings) {
            (probe.left, probe.insists) = (probe.left - 1, false);
            self.probe = (probe.from < probe.end).then_some(probe);
            self.plan_ping(plan, now);
            return plan.len;
        }
        let before = plan.messages;
        let sure = max.min(self.surest());
        self.repeat_open(&mut probe, plan, source, now, [sure, max]);
        let repeats = plan.messages > before;
        if repeats && !probe.is_late {
            self.asked = Some(Asked {
                probe: plan.header.id,
                frame: probe.end - 1,
            });
        }
        plan.data |= repeats;
        plan.repeats = repeats;
        plan.header.ack_now = repeats || probe.insists;
        if probe.insists {
            self.plan_ping(plan, now);
        }
        probe.left -= 1;
        probe.insists = false;
        if probe.left > 0 && probe.from < probe.end {
            self.probe = Some(probe);
        }
        sure.max(plan.len)
    }

    /// Fills the frame with what the probe is to repeat. It becomes as long as surely passes, or as long
    /// as the one message in it that is longer.
    fn repeat_open(
        &mut self,
        probe: &mut Probe,
        plan: &mut Plan,
        source: &impl Source,
        now: Instant,
        [sure, max]: [usize; 2],
    ) {
        let before = plan.messages;
        let mut is_full = false;
        for _ in 0..FRAMES_MAX {
            let Some(id) = self.queue.first_open(probe.from, probe.end - 1) else {
                probe.from = probe.end;
                break;
            };
            if let Some((sent, contents)) = self.queue.reliable_contents(id) {
                let (layout, len, messages) = (&mut plan.layout, &mut plan.len, &mut plan.messages);
                let to = &mut plan.contents;
                self.store.repeat(contents, to, now, |message, newest| {
                    // Several of the frames may carry it.
                    if !source.is_current(message)
                        || newest == now
                        || !probe.is_late && newest > sent
                    {
                        return false;
                    }
                    let more = layout.length(message);
                    let limit = if *messages == before { max } else { sure };
                    is_full |= *len + more > limit || *messages >= MAX_MESSAGES;
                    if !is_full {
                        layout.push(message);
                        *len += more;
                        *messages += 1;
                    }
                    !is_full
                });
            }
            if is_full {
                break;
            }
            probe.from = id + 1;
        }
    }

    /// A ping, if there is nothing else, that is to be acknowledged at once.
    fn plan_ping(&mut self, plan: &mut Plan, now: Instant) {
        plan.header.ack_now = true;
        if plan.messages == 0 {
            let id = self.pings.send(now, self.path.rtt.smoothed());
            plan.control(Control::Ping(id));
            plan.fresh.push(Control::Ping(id));
        }
    }
}
