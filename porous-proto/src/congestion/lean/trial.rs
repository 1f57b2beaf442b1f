//! Whether frames are lost by chance or because the window is too large: with a smaller window fewer are lost
//! in the second case.

use super::losses::{ALL, Losses};
use super::round::LONGEST;
use crate::time::{Instant, Micros};

/// Fewer losses than one in 64 are not looked into.
const LEAST: u32 = ALL / 64;

/// A loss of more than a third is not taken for chance, whatever it is.
const MOST: u32 = ALL / 3;

/// Losses that a count must have, or be expected to have, before it is judged. The number is fixed beforehand:
/// an average that is looked at until it crosses a threshold crosses it by chance.
const LOSSES: u32 = 24;

/// Frames after which a count is judged that has fewer losses.
const FRAMES: u32 = 2048;

/// Losses after which a window that follows losses is judged.
const LOSSES_AGAIN: u32 = 16;

/// The same where losses come at any round trip.
const LOSSES_BY_CHANCE: u32 = 4;

/// Time to the second trial; four times as long to each further one, up to a minute.
const WAIT: Micros = Micros::from_secs(4);

/// What a connection sees when it asks whether losses are its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) now: Instant,
    pub(super) window: u32,
    /// True if the window held data back for most of the round.
    pub(super) is_used: bool,
    /// True if frames are lost at any round trip, short or long.
    pub(super) is_chance: bool,
    /// True if frames are lost while round trips are long.
    pub(super) is_overflow: bool,
    /// True if there are signs of other connections in the queue. One of many cannot tell by a trial whether
    /// losses are chance: its own window hardly changes them.
    pub(super) is_company: bool,
    /// True if the queue does not become longer and shorter.
    pub(super) is_steady: bool,
    /// How long a count has to last, to have seen enough of the path: outages are no losses by chance.
    pub(super) least: Micros,
}

impl View {
    /// Whether other connections are likely to be in the queue. Jitter shows the same signs.
    const fn is_crowded(&self) -> bool {
        self.is_company && !self.is_chance
    }
}

/// What is known of losses at the end of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing new.
    Open,
    /// This window, in bytes, has to be used: a smaller one that is tried, or that of before the trial, as
    /// what is lost is chance.
    Window(u32),
    /// Frames are lost because the window is too large: this one, in bytes, that of before the trial.
    Own(u32),
}

/// A smaller window, to see whether fewer frames are lost with it.
#[derive(Clone, Copy, Debug, Default)]
struct Trial {
    /// The window before, in bytes.
    window: u32,
    /// What was lost before, in 1024ths.
    part: u32,
    /// Steps of seven eighths so far.
    steps: u32,
    /// True if fewer frames were lost in the step before.
    is_low: bool,
}

/// The trials of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trials {
    trial: Option<Trial>,
    /// No trial before this time, unless far more is lost than by chance.
    not_before: Instant,
    /// How long that was off when it was set; zero before the first trial.
    wait: Micros,
    /// The part, in 1024ths, that is lost by chance. At most a third.
    pub(super) chance: u32,
    /// True if that was found in spite of signs of company.
    in_company: bool,
    /// The part, in 1024ths, that is lost while the window is not used.
    unused: u32,
    /// The part, in 1024ths, that was lost when the window began to follow losses, and when that was.
    own: u32,
    found: Instant,
}

impl Trials {
    pub(super) const fn is_open(&self) -> bool {
        self.trial.is_some()
    }

    /// Gives a trial up without a result.
    pub(super) const fn stop(&mut self) {
        self.trial = None;
    }

    /// The window was not used for a round: what is lost is not lost because of it.
    pub(super) const fn learn(&mut self, losses: &Losses) {
        self.unused = (7 * self.unused + losses.recent.get()) / 8;
    }

    /// Whether a round says nothing of losses, whatever else it shows.
    pub(super) fn is_idle(&self, losses: &Losses) -> bool {
        let is_quiet = losses.recent.get() < LEAST && self.trial.is_none();
        is_quiet && losses.lost < LOSSES && losses.all < FRAMES
    }

    /// A round of a connection that follows the delay. `losses` begin a new count where the verdict is not
    /// [`Verdict::Open`].
    pub(super) fn on_round(&mut self, losses: &mut Losses, view: &View) -> Verdict {
        match self.trial {
            None => self.on_quiet_round(losses, view),
            Some(trial) => self.on_trial_round(trial, losses, view),
        }
    }

    /// A round without a trial.
    fn on_quiet_round(&mut self, losses: &mut Losses, view: &View) -> Verdict {
        // Beside others there is no time for counts.
        let part = losses.recent.get();
        if view.is_crowded() && self.is_doubtful(part, view) {
            return self.own(part, view.window, view.now);
        }
        if losses.lost < LOSSES && losses.all < FRAMES {
            return Verdict::Open;
        }
        let part = losses.part();
        losses.begin_anew(view.now);
        let is_doubtful = self.is_doubtful(part, view);
        self.chance -= self.chance.saturating_sub(part) / 8;
        if is_doubtful && view.is_crowded() {
            return self.own(part, view.window, view.now);
        }
        if is_doubtful {
            // What began this is more than usual, maybe by chance: it is counted again before anything
            // changes.
            self.trial = Some(Trial {
                window: view.window,
                part,
                ..Trial::default()
            });
        }
        Verdict::Open
    }

    /// A round with a smaller window.
    fn on_trial_round(&mut self, trial: Trial, losses: &Losses, view: &View) -> Verdict {
        let needed = LOSSES * ALL / trial.part.max(1);
        if losses.all < needed || view.now.since(losses.since) < view.least {
            return Verdict::Open;
        }
        self.trial = None;
        let part = losses.part();
        if trial.steps == 0 {
            if part < LEAST || self.is_known(part, view.now) {
                return Verdict::Open;
            }
            if part > MOST {
                return self.own(part, trial.window, view.now);
            }
            return self.step(Trial { part, ..trial }, view);
        }
        // If the losses are this connection's own, what passes stays the same, and the part `own` is lost.
        let kept = (0..trial.steps).fold(ALL, |kept, _| kept * 7 / 8);
        let own = ALL.saturating_sub((ALL - trial.part) * ALL / kept);
        let is_low = part <= (trial.part + own) / 2;
        // Two counts have to agree.
        let is_last = trial.steps >= 2;
        if is_low && trial.is_low || !is_low && is_last && !view.is_steady {
            self.own(trial.part, trial.window, view.now)
        } else if is_low || !is_last {
            self.step(Trial { is_low, ..trial }, view)
        } else {
            self.settle((trial.part + part) / 2, view);
            Verdict::Window(trial.window)
        }
    }

    /// A round of a connection that follows losses. `view` is that of the window before the last cut.
    /// Returns whether they are chance by now.
    pub(super) fn are_chance(&mut self, losses: &mut Losses, view: &View) -> bool {
        let needed = if view.is_chance {
            LOSSES_BY_CHANCE
        } else {
            LOSSES_AGAIN
        };
        if losses.lost < needed || view.now.since(self.found) < view.least {
            return false;
        }
        let is_many = losses.part() > self.own.min(MOST) / 2 && losses.part() < MOST;
        let are_chance = is_many && !view.is_crowded() && view.is_steady;
        if are_chance {
            self.settle(losses.part(), view);
        } else {
            losses.begin_anew(view.now);
        }
        are_chance
    }

    /// A trial with a window that is smaller by a further step.
    fn step(&mut self, mut trial: Trial, view: &View) -> Verdict {
        trial.steps += 1;
        self.trial = Some(trial);
        Verdict::Window(view.window / 8 * 7)
    }

    /// This part is lost because the window is too large.
    const fn own(&mut self, part: u32, window: u32, now: Instant) -> Verdict {
        self.follow(part, now);
        Verdict::Own(window)
    }

    /// The window follows losses from now on; this part is lost.
    pub(super) const fn follow(&mut self, part: u32, now: Instant) {
        (self.own, self.found) = (part, now);
    }

    /// Losses are chance, for some time.
    fn settle(&mut self, chance: u32, view: &View) {
        self.chance = chance.min(MOST);
        self.in_company = view.is_company;
        self.wait = (4 * self.wait).clamp(WAIT, LONGEST);
        self.not_before = view.now + self.wait;
    }

    /// Whether a trial has found this part to be chance, not long ago.
    fn is_known(&self, part: u32, now: Instant) -> bool {
        part <= 2 * self.chance + ALL / 100 && now < self.not_before
    }

    /// Whether it has to be found out why this part is lost.
    fn is_doubtful(&self, part: u32, view: &View) -> bool {
        // As much is lost also where the window is not used.
        let is_unused = self.unused > 0 && part <= 2 * self.unused + ALL / 100;
        let is_known = self.is_known(part, view.now) || view.is_crowded() && is_unused;
        // What was found in spite of signs of company is no longer so where a queue overflows.
        let is_over = self.in_company && view.is_crowded() && view.is_overflow;
        view.is_used && part >= LEAST && (!is_known || is_over)
    }

    /// Whether far more is lost now than by chance: twice as much, and one in 25.
    pub(super) fn are_more(&self, losses: &Losses) -> bool {
        losses.last.get() > 2 * self.chance.max(self.unused) + ALL / 25
    }
}
