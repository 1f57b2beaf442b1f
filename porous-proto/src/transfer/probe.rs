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
    insists: bool,
}

impl Probe {
    /// In one datagram.
    pub(crate) const fn early(from: u64, end: u64) -> Self {
        Self {
            from,
            end,
            left: 1,
            insists: false,
        }
    }

    /// In two, or a ping.
    pub(crate) const fn late(from: u64, end: u64) -> Self {
        Self {
            from,
            end,
            left: 2,
            insists: true,
        }
    }
}

impl Transfer {
    /// Repeats in the next frame what fits, the oldest first.
    pub(super) fn plan_probe(
        &mut self,
        plan: &mut Plan,
        source: &impl Source,
        now: Instant,
        max: usize,
    ) {
        let Some(mut probe) = self.probe.take() else {
            return;
        };
        let before = plan.messages;
        let mut is_full = false;
        for _ in 0..FRAMES_MAX {
            let Some(id) = self.queue.first_open(probe.from, probe.end - 1) else {
                probe.from = probe.end;
                break;
            };
            if let Some(contents) = self.queue.reliable_contents(id) {
                let (layout, len, messages) = (&mut plan.layout, &mut plan.len, &mut plan.messages);
                self.store.repeat(contents, &mut plan.contents, |message| {
                    if !source.is_current(message) {
                        return false;
                    }
                    let more = layout.length(message);
                    is_full |= *len + more > max || *messages >= MAX_MESSAGES;
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
        let repeats = plan.messages > before;
        plan.data |= repeats;
        plan.repeats = repeats;
        plan.header.ack_now = repeats || probe.insists;
        if probe.insists && plan.messages == 0 {
            let id = self.pings.send(now, self.recovery.average());
            plan.control(Control::Ping(id));
            plan.fresh.push(Control::Ping(id));
        }
        probe.left -= 1;
        probe.insists = false;
        if probe.left > 0 && probe.from < probe.end {
            self.probe = Some(probe);
        }
    }
}
