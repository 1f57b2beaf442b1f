//! The suspicion that a path does not carry what a connection begins with: settled by probes, as what
//! is lost by chance looks the same.

use core::time::Duration;

use super::{PATIENCE, SizeProbe, TRIES};
use crate::time::Instant;

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A probe is on its way.
    Wait,
    /// One of this size is to be sent.
    Probe(u16),
    /// The path carries no datagrams of this size.
    Confirmed,
}

/// Datagrams of a size seem not to arrive.
#[derive(Debug)]
pub(super) struct Suspicion {
    size: u16,
    probe: Option<SizeProbe>,
    /// Something shorter arrived that was sent after the probe: the path is there.
    heard: bool,
    /// The number of lost probes of which that is so.
    tries: u8,
}

impl Suspicion {
    pub(super) const fn new(size: u16) -> Self {
        Self {
            size,
            probe: None,
            heard: false,
            tries: 0,
        }
    }

    /// `patience`: a probe that was sent so long ago is lost.
    pub(super) fn next_step(&mut self, patience: Duration, now: Instant) -> Step {
        if let Some(probe) = self.probe {
            if now < probe.sent + patience.max(PATIENCE) {
                return Step::Wait;
            }
            self.probe = None;
            // While nothing arrives at all, the size is not the cause.
            self.tries += u8::from(core::mem::take(&mut self.heard));
        }
        if self.tries >= TRIES {
            Step::Confirmed
        } else {
            Step::Probe(self.size)
        }
    }

    /// The probe is sent.
    pub(super) const fn on_probe(&mut self, probe: SizeProbe) {
        self.probe = Some(probe);
    }

    /// A frame was acknowledged: whether it was the probe, so that nothing is left of the suspicion.
    pub(super) fn on_passed(&mut self, id: u64) -> bool {
        self.heard |= self.probe.is_some_and(|probe| id > probe.id);
        self.probe.is_some_and(|probe| id == probe.id)
    }
}
