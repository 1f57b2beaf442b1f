//! Path MTU discovery (RFC 8899; `docs/deviations.md` D8): how large datagrams may be on this path.
//! Nothing here has a timer: only a peer that has more to send than fits into a datagram has something
//! to gain, and is asked for datagrams often.

#[cfg(test)]
mod tests;

use core::time::Duration;

use crate::time::Instant;

/// A connection that has just begun has better things to do.
const BEGIN: Duration = Duration::from_secs(5);

/// A path may carry more after a while (`PMTU_RAISE_TIMER`, RFC 8899 §5.1.1).
const RAISE: Duration = Duration::from_secs(600);

/// How long a path that carries less than before is left alone.
const REST: Duration = Duration::from_secs(60);

/// Sizes that are tried are so far apart.
const STEP: u16 = 20;

/// How often a size is tried (`MAX_PROBES`, RFC 8899 §5.1.2).
const TRIES: u8 = 3;

/// A probe is lost after so long at least (`PROBE_TIMER`, RFC 8899 §5.1.1).
const PATIENCE: Duration = Duration::from_secs(1);

/// Large datagrams that are lost, with none that came later, after which the path is taken not to carry
/// them (RFC 8899 §4.3).
const VANISHED: u8 = 4;

/// What is used of a path that does not carry what a connection begins with: what the shortest requests
/// have (`Config::request_size`).
const FLOOR: u16 = 512;

/// Frames that are no longer tell nothing of whether the path carries [`FLOOR`].
const SMALL: u16 = 256;

/// A path carries less than it did, or than it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Narrowed {
    /// The most bytes that datagrams have now.
    To(u16),
    /// Not even the least.
    TooFar,
}

/// A probe on its way.
#[derive(Clone, Copy, Debug)]
struct SizeProbe {
    id: u64,
    size: u16,
    sent: Instant,
}

/// The search of one peer.
#[derive(Debug, Default)]
pub(crate) struct PathMtu {
    /// What a connection begins with, and nearly every path carries.
    base: u16,
    /// What both hosts take.
    max: u16,
    current: u16,
    /// The least size that did not pass in this search; more than `max` if none was tried.
    ceiling: u16,
    /// The size that seems to be too large now, until a probe has told.
    doubted: Option<u16>,
    /// It is asked after no more than once in a while.
    no_doubt_before: Instant,
    /// No probe before. Not known before the first look.
    due: Option<Instant>,
    /// A message had no room in a datagram: a larger one would have been of use.
    is_wanted: bool,
    probe: Option<SizeProbe>,
    /// How often this size was tried without success.
    tries: u8,
    /// The newest large frame that was acknowledged.
    passed: u64,
    /// The number of newer ones that are lost.
    vanished: u8,
    /// Frames before this one were sent when datagrams had another size: their loss tells nothing.
    since: u64,
    /// Not even `base` seems to pass, or what is used instead.
    suspicion: Option<Suspicion>,
    /// Something was acknowledged since the size was doubted.
    heard: bool,
    /// The application has yet to be told.
    narrowed: Option<Narrowed>,
}

impl PathMtu {
    /// `first`: the first frame that is sent on the path.
    pub(super) fn new(base: u16, max: u16, first: u64) -> Self {
        Self {
            base,
            max,
            current: base,
            ceiling: max.saturating_add(1),
            since: first,
            ..Self::default()
        }
    }

    /// Frames that are longer are large: their loss may be due to their length.
    pub(super) const fn largest_small(&self) -> u16 {
        if self.current > self.base {
            self.base
        } else if self.current > FLOOR {
            FLOOR
        } else {
            SMALL
        }
    }

    /// What surely passes, if anything does.
    pub(super) fn sure(&self) -> u16 {
        match self.suspicion {
            Some(_) => self.largest_small(),
            None => self.base.min(self.current),
        }
    }

    /// Whether there is nothing to find out.
    pub(super) const fn is_settled(&self) -> bool {
        self.max == self.current && self.suspicion.is_none()
    }

    pub(crate) const fn current(&self) -> u16 {
        self.current
    }

    /// The size to try next: at first all of it, as most paths carry that of Ethernet or no more
    /// than what every path does.
    const fn next_size(&self) -> Option<u16> {
        if self.doubted.is_some() {
            return self.doubted;
        }
        let gap = self.ceiling.saturating_sub(self.current);
        if self.ceiling > self.max && gap > 1 {
            Some(self.max)
        } else if gap >= 2 * STEP {
            Some(self.current + gap / 2)
        } else {
            None
        }
    }

    /// The size of the probe that is to be sent now. `patience`: the time after which a probe is
    /// lost.
    /// `next`: the id of the next frame.
    pub(super) fn probe_now(&mut self, patience: Duration, next: u64, now: Instant) -> Option<u16> {
        if let Some(suspicion) = &mut self.suspicion {
            return match suspicion.next_step(patience, now) {
                Step::Wait => None,
                Step::Probe(size) => Some(size),
                Step::Confirmed => {
                    self.narrow(next, now);
                    None
                }
            };
        }
        let due = *self.due.get_or_insert(now + BEGIN);
        if let Some(probe) = self.probe {
            if now < probe.sent + patience.max(PATIENCE) {
                return None;
            }
            self.probe = None;
            self.tries += 1;
            if self.tries >= TRIES && self.doubted.is_some() {
                self.narrowed = self.heard.then_some(Narrowed::To(self.base));
                self.rest(now + REST);
            } else if self.tries >= TRIES {
                (self.tries, self.ceiling) = (0, probe.size);
            }
        }
        if !self.is_wanted || now < due || self.current >= self.max {
            return None;
        }
        let size = self.next_size();
        if size.is_none() {
            self.rest(now + RAISE);
        }
        size
    }

    /// A datagram holds no more, but would with one more message if it could be so long. Parts of a
    /// packet would be fewer.
    pub(super) fn on_full(&mut self, needed: usize, is_part: bool) {
        let sizes = usize::from(self.current) + 1..=usize::from(self.max);
        self.is_wanted |= sizes.contains(&needed) || is_part && self.current < self.max;
    }

    /// The next search begins then.
    const fn rest(&mut self, until: Instant) {
        self.due = Some(until);
        (self.is_wanted, self.probe, self.tries, self.doubted) = (false, None, 0, None);
        self.ceiling = self.max.saturating_add(1);
    }

    /// The path does not carry the size that is used.
    fn narrow(&mut self, next: u64, now: Instant) {
        self.suspicion = None;
        if self.current > FLOOR {
            (self.current, self.vanished, self.since) = (FLOOR, 0, next);
            self.rest(now + REST);
            self.narrowed = Some(Narrowed::To(FLOOR));
        } else {
            self.narrowed = Some(Narrowed::TooFar);
        }
    }

    /// A frame was acknowledged: whether datagrams can be larger now.
    pub(super) fn on_passed(&mut self, id: u64, is_large: bool) -> bool {
        let was_probe = |suspicion: &mut Suspicion| suspicion.on_passed(id);
        let is_passed = self.suspicion.as_mut().is_some_and(was_probe);
        self.heard |= id >= self.since;
        if is_large || is_passed {
            self.passed = self.passed.max(id);
            self.vanished = 0;
            self.suspicion = None;
        }
        match self.probe {
            Some(probe) if probe.id == id => {
                (self.probe, self.tries, self.doubted) = (None, 0, None);
                (self.current, self.passed) = (probe.size, self.passed.max(id));
                true
            }
            Some(_) | None => false,
        }
    }

    /// A large frame was lost: whether the path seems to carry none any more. That is what it looks
    /// like when many are lost by chance, so that a probe asks. `next`: the id of the next frame.
    pub(super) fn on_vanished(&mut self, id: u64, next: u64, now: Instant) -> bool {
        if id <= self.passed || id < self.since || self.suspicion.is_some() {
            return false;
        }
        self.vanished += 1;
        if self.vanished < VANISHED {
            return false;
        }
        let size = self.current;
        self.vanished = 0;
        if size <= self.base {
            // Much is lost by chance, and what is shorter costs more: the probes come first.
            self.suspicion = Some(Suspicion::new(size));
            return false;
        }
        (self.current, self.since, self.heard) = (self.base, next, false);
        if now < self.no_doubt_before {
            self.rest(now + REST);
            return true;
        }
        self.rest(now);
        (self.doubted, self.is_wanted) = (Some(size), true);
        self.no_doubt_before = now + REST;
        true
    }

    /// The probe that [`probe_now`](Self::probe_now) asked for leaves in this frame.
    pub(super) fn on_probe(&mut self, id: u64, size: u16, now: Instant) {
        let probe = SizeProbe {
            id,
            size,
            sent: now,
        };
        match &mut self.suspicion {
            Some(suspicion) => suspicion.on_probe(probe),
            None => self.probe = Some(probe),
        }
    }

    /// What has been found that the application does not know yet.
    pub(crate) const fn take_narrowed(&mut self) -> Option<Narrowed> {
        self.narrowed.take()
    }
}

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A probe is on its way.
    Wait,
    /// One of this size is to be sent.
    Probe(u16),
    /// The path carries no datagrams of this size.
    Confirmed,
}

/// Datagrams of a size seem not to arrive.
#[derive(Debug)]
struct Suspicion {
    size: u16,
    probe: Option<SizeProbe>,
    /// Something shorter arrived that was sent after the probe: the path is there.
    heard: bool,
    /// The number of lost probes of which that is so.
    tries: u8,
}

impl Suspicion {
    const fn new(size: u16) -> Self {
        Self {
            size,
            probe: None,
            heard: false,
            tries: 0,
        }
    }

    /// `patience`: the time after which a probe is lost.
    fn next_step(&mut self, patience: Duration, now: Instant) -> Step {
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
    const fn on_probe(&mut self, probe: SizeProbe) {
        self.probe = Some(probe);
    }

    /// A frame was acknowledged: whether it was the probe, so that nothing is left of the suspicion.
    fn on_passed(&mut self, id: u64) -> bool {
        self.heard |= self.probe.is_some_and(|probe| id > probe.id);
        self.probe.is_some_and(|probe| id == probe.id)
    }
}
