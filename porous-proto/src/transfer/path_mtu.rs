//! Path MTU discovery (RFC 8899; `docs/deviations.md` D8): how many bytes datagrams may have on this path.
//! Nothing here has a timer: only a peer with more to send than fits into a datagram has something to gain,
//! and such a peer is asked for datagrams often.

#[cfg(test)]
mod tests;

use crate::time::{Instant, Micros};

/// Time from the beginning of a connection to the first search: its first seconds have better uses.
const BEGIN: Micros = Micros::from_secs(5);

/// Time from a search that ended to the next: a path may carry more after a while (`PMTU_RAISE_TIMER`,
/// RFC 8899 §5.1.1).
const RAISE: Micros = Micros::from_secs(600);

/// Time without a search on a path that carries less than before.
const REST: Micros = Micros::from_secs(60);

/// The least distance in bytes between sizes that are tried.
const STEP: u16 = 20;

/// Lost probes after which a size is given up (`MAX_PROBES`, RFC 8899 §5.1.2).
const TRIES: u8 = 3;

/// The same before a connection ends because its path does not carry [`FLOOR`]. An end is final, and a queue that
/// overflows at every tick of a game may let only short datagrams in for ten seconds.
const TRIES_BEFORE_END: u8 = 12;

/// The least time after which a probe is lost (`PROBE_TIMER`, RFC 8899 §5.1.1).
const PATIENCE: Micros = Micros::from_secs(1);

/// Large datagrams that are lost, with none acknowledged that came later, after which the path is taken not
/// to carry them (RFC 8899 §4.3).
const VANISHED: u8 = 4;

/// Bytes of datagrams on a path that does not carry what a connection begins with: the length of the shortest
/// requests (`Config::request_size`).
const FLOOR: u16 = 512;

/// Frames of at most this many bytes tell nothing of whether the path carries [`FLOOR`].
const SMALL: u16 = 256;

/// What an application hears of a path that carries less than it did, or than it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Narrowed {
    /// The most bytes that datagrams have now.
    To(u16),
    /// The path does not even carry [`FLOOR`] bytes.
    TooFar,
}

/// A probe on its way.
#[derive(Clone, Copy, Debug)]
struct SizeProbe {
    id: u64,
    size: u16,
    sent: Instant,
}

/// The search on the path of one peer.
#[derive(Debug, Default)]
pub(crate) struct PathMtu {
    /// Bytes that a connection begins with, and that nearly every path carries.
    base: u16,
    /// The most bytes that both hosts take.
    max: u16,
    /// The most bytes that datagrams have now.
    current: u16,
    /// The least size that did not pass in this search; more than `max` if each one did.
    ceiling: u16,
    /// The size that was in use and seems to be too large, until a probe of it has told.
    doubted: Option<u16>,
    /// A size that vanishes before this time is given up without a probe.
    no_doubt_before: Instant,
    /// No probe leaves before this time. `None` before the first look.
    due: Option<Instant>,
    /// True if a message had no room in a datagram, so that a larger one would have been of use.
    is_wanted: bool,
    probe: Option<SizeProbe>,
    /// Probes of this size that were lost.
    tries: u8,
    /// Id of the newest large frame that was acknowledged.
    passed: u64,
    /// Large frames with a newer id than `passed` that are lost.
    vanished: u8,
    /// Frames before this one were sent when datagrams had another size: their loss tells nothing.
    since: u64,
    /// Datagrams of the size in use, `base` or less, seem not to arrive (`docs/deviations.md` D16).
    suspicion: Option<Suspicion>,
    /// True if a frame was acknowledged that was sent after the last probe of the doubted size.
    heard: bool,
    /// What the application has yet to be told.
    narrowed: Option<Narrowed>,
}

impl PathMtu {
    /// `base` and `max` in bytes; `first`: the first frame that is sent on the path.
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

    /// The most bytes of a frame that is not large. The loss of a large one may be due to its length.
    pub(super) const fn largest_small(&self) -> u16 {
        if self.current > self.base {
            self.base
        } else if self.current > FLOOR {
            FLOOR
        } else {
            SMALL
        }
    }

    /// Bytes of a datagram that arrives if any does. `in_doubt`: see [`Path::is_in_doubt`](super::path::Path).
    pub(super) fn sure(&self, in_doubt: bool) -> u16 {
        if in_doubt {
            self.largest_small()
        } else {
            self.base.min(self.current)
        }
    }

    /// Whether datagrams of the size in use seem not to arrive.
    pub(super) const fn is_suspicious(&self) -> bool {
        self.suspicion.is_some()
    }

    /// Whether the probe that leaves now should have a short frame behind it, whose acknowledgement tells that
    /// the path is there. `is_silent`: nothing is acknowledged.
    pub(super) fn needs_ping(&self, is_silent: bool) -> bool {
        // Most often others are such frames, and one more would take its room from data on a slow line.
        let is_alone = |suspicion: &Suspicion| is_silent || suspicion.was_alone;
        self.suspicion.as_ref().is_some_and(is_alone)
    }

    /// Whether a size that was given up is tried once more.
    pub(super) const fn is_doubtful(&self) -> bool {
        self.doubted.is_some()
    }

    /// Whether there is nothing to find out.
    pub(super) const fn is_settled(&self) -> bool {
        self.max == self.current && self.suspicion.is_none()
    }

    pub(crate) const fn current(&self) -> u16 {
        self.current
    }

    /// The size to try next; `None` ends the search.
    const fn next_size(&self) -> Option<u16> {
        if self.doubted.is_some() {
            return self.doubted;
        }
        let gap = self.ceiling.saturating_sub(self.current);
        // All of it at first: most paths carry as much as Ethernet, or no more than every path does.
        if self.ceiling > self.max && gap > 1 {
            Some(self.max)
        } else if gap >= 2 * STEP {
            Some(self.current + gap / 2)
        } else {
            None
        }
    }

    /// Bytes of the probe that is to be sent now; `None` if none is due. `timeout`: the time in which a probe
    /// should be acknowledged. `next`: the id of the next frame.
    pub(super) fn probe_now(&mut self, timeout: Micros, next: u64, now: Instant) -> Option<u16> {
        if let Some(suspicion) = &mut self.suspicion {
            return match suspicion.next_step(timeout, now) {
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
            // Long, as a round trip may have become longer, and nothing shows that the path is there.
            if now < probe.sent + (3 * timeout).max(PATIENCE) {
                return None;
            }
            self.probe = None;
            // While nothing arrives at all, a size that had passed is not the cause.
            let counts = core::mem::take(&mut self.heard) || self.doubted.is_none();
            self.tries += u8::from(counts);
            if self.tries >= TRIES && self.doubted.is_some() {
                self.narrowed = Some(Narrowed::To(self.base));
                self.rest(now + REST);
            } else if self.tries >= TRIES {
                (self.tries, self.ceiling) = (0, probe.size);
            }
        }
        // A probe is a wasted datagram to a peer that fills none.
        if !self.is_wanted || now < due || self.current >= self.max {
            return None;
        }
        let size = self.next_size();
        if size.is_none() {
            self.rest(now + RAISE);
        }
        size
    }

    /// A datagram is full: with one more message it would have `needed` bytes. `is_part`: that is a part of a
    /// packet, of which a larger datagram takes more.
    pub(super) fn on_full(&mut self, needed: usize, is_part: bool) {
        let sizes = usize::from(self.current) + 1..=usize::from(self.max);
        self.is_wanted |= sizes.contains(&needed) || is_part && self.current < self.max;
    }

    /// Ends the search. The next one begins at `until`.
    const fn rest(&mut self, until: Instant) {
        self.due = Some(until);
        (self.is_wanted, self.probe, self.tries, self.doubted) = (false, None, 0, None);
        self.ceiling = self.max.saturating_add(1);
    }

    /// The path does not carry the size in use.
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

    /// A frame was acknowledged. Returns whether datagrams can be larger now.
    pub(super) fn on_passed(&mut self, id: u64, is_large: bool) -> bool {
        let was_probe = |suspicion: &mut Suspicion| suspicion.on_passed(id);
        let is_passed = self.suspicion.as_mut().is_some_and(was_probe);
        self.heard |= self.probe.is_some_and(|probe| id > probe.id);
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

    /// A large frame was lost. Returns whether datagrams are shorter now. `next`: the id of the next frame.
    pub(super) fn on_vanished(&mut self, id: u64, next: u64, now: Instant) -> bool {
        // A later large frame has come, or the size is another now: this loss was chance, or tells of the
        // past.
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
            // Much loss by chance looks the same, and shorter datagrams cost more for long: here probes ask
            // first (D16).
            self.suspicion = Some(Suspicion::new(size));
            return false;
        }
        self.give_up(next);
        if now < self.no_doubt_before {
            // Twice in a minute is no chance: the size is not tried once more (D8).
            self.rest(now + REST);
        } else {
            self.doubt(size, now);
            self.no_doubt_before = now + REST;
        }
        true
    }

    /// Nothing is acknowledged any more. Returns whether datagrams are shorter now. `next`: the id of the next
    /// frame.
    pub(super) fn on_silence(&mut self, next: u64, now: Instant) -> bool {
        // Frames of up to `base` bytes are no large ones while a longer size is in use: their loss would tell
        // nothing of a path that has become too narrow for them (D16).
        let size = self.current;
        let is_longer = size > self.base;
        if is_longer {
            self.give_up(next);
            self.doubt(size, now);
        }
        is_longer
    }

    /// Gives up a size that a search has found: if the path has changed, nothing of that size arrives.
    const fn give_up(&mut self, next: u64) {
        (self.current, self.since, self.vanished) = (self.base, next, 0);
    }

    /// A size that was given up is tried once more.
    const fn doubt(&mut self, size: u16, now: Instant) {
        self.rest(now);
        (self.doubted, self.is_wanted, self.heard) = (Some(size), true, false);
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

    /// What was found and the application does not know yet.
    pub(crate) const fn take_narrowed(&mut self) -> Option<Narrowed> {
        self.narrowed.take()
    }
}

/// What a suspicion needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A probe is on its way.
    Wait,
    /// A probe of this many bytes.
    Probe(u16),
    /// The path carries no datagrams of this size.
    Confirmed,
}

/// Datagrams of a size seem not to arrive; probes of that size ask.
#[derive(Debug)]
struct Suspicion {
    size: u16,
    probe: Option<SizeProbe>,
    /// True if a shorter frame has arrived that was sent after the probe: the path is there.
    heard: bool,
    /// True if no such frame arrived after the last probe that was lost.
    was_alone: bool,
    /// Lost probes after which such a frame has arrived.
    tries: u8,
}

impl Suspicion {
    const fn new(size: u16) -> Self {
        Self {
            size,
            probe: None,
            heard: false,
            was_alone: false,
            tries: 0,
        }
    }

    /// `timeout`: the time in which a probe should be acknowledged.
    fn next_step(&mut self, timeout: Micros, now: Instant) -> Step {
        if let Some(probe) = self.probe {
            if now < probe.sent + timeout.max(PATIENCE) {
                return Step::Wait;
            }
            self.probe = None;
            // While nothing arrives at all, the size is not the cause.
            let heard = core::mem::take(&mut self.heard);
            self.was_alone = !heard;
            self.tries += u8::from(heard);
        }
        let needed = if self.size > FLOOR {
            TRIES
        } else {
            TRIES_BEFORE_END
        };
        if self.tries >= needed {
            Step::Confirmed
        } else {
            Step::Probe(self.size)
        }
    }

    /// A probe leaves.
    const fn on_probe(&mut self, probe: SizeProbe) {
        self.probe = Some(probe);
    }

    /// A frame was acknowledged. Returns true if it was the probe, so that nothing is left of the suspicion.
    fn on_passed(&mut self, id: u64) -> bool {
        self.heard |= self.probe.is_some_and(|probe| id > probe.id);
        self.probe.is_some_and(|probe| id == probe.id)
    }
}
