//! Whether conditions are good or bad, by Gaffer's simple binary congestion avoidance: bad ones are believed
//! at once, good ones after a trial, which becomes longer with each disappointment (`docs/deviations.md` D7).

use core::time::Duration;

use crate::time::Instant;

/// The two modes of an [`Advisor`](super::Advisor).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryMode {
    /// Round trips are short and little is lost: send often.
    Good,
    /// Round trips are long, or much is lost: send seldom.
    Bad,
}

/// How long conditions must be good before good mode begins, at first.
const TRIAL: Duration = Duration::from_secs(4);
const TRIAL_MIN: Duration = Duration::from_secs(1);
const TRIAL_MAX: Duration = Duration::from_secs(60);
/// Good mode that ends sooner was a mistake and doubles the trial. Each time good mode has lasted for this
/// long, the trial is halved.
const PROOF: Duration = Duration::from_secs(10);

/// The current mode, and how long the next trial is.
#[derive(Clone, Debug)]
pub(super) struct Conditions {
    mode: BinaryMode,
    /// In good mode, when it began. In bad mode, when conditions became good; `None` while they are bad.
    since: Option<Instant>,
    /// In good mode, when the current [`PROOF`] began.
    proven: Instant,
    /// How long conditions must be good before good mode begins.
    trial: Duration,
}

impl Conditions {
    /// In good mode, as nothing speaks against it yet.
    pub(super) const fn new() -> Self {
        Self {
            mode: BinaryMode::Good,
            since: None,
            proven: Instant::ZERO,
            trial: TRIAL,
        }
    }

    pub(super) const fn mode(&self) -> BinaryMode {
        self.mode
    }

    /// Conditions are bad or good now.
    pub(super) fn update(&mut self, is_bad: bool, now: Instant) {
        match self.mode {
            BinaryMode::Good => self.update_good(is_bad, now),
            BinaryMode::Bad => self.update_bad(is_bad, now),
        }
    }

    fn update_good(&mut self, is_bad: bool, now: Instant) {
        let since = *self.since.get_or_insert_with(|| {
            self.proven = now; // a clock may begin anywhere: time before the first call proves nothing
            now
        });
        // More than one at a time where updates are rare, so that nothing depends on how often they come.
        while now.saturating_duration_since(self.proven) >= PROOF && self.trial > TRIAL_MIN {
            self.proven = self.proven + PROOF;
            self.trial = (self.trial / 2).max(TRIAL_MIN);
        }
        if is_bad {
            // Modes must not flicker: a path that toggles is trusted ever less.
            if now.saturating_duration_since(since) < PROOF {
                self.trial = (self.trial * 2).min(TRIAL_MAX);
            }
            self.mode = BinaryMode::Bad;
            self.since = None;
        }
    }

    fn update_bad(&mut self, is_bad: bool, now: Instant) {
        if is_bad {
            self.since = None;
            return;
        }
        let since = *self.since.get_or_insert(now);
        if now.saturating_duration_since(since) >= self.trial {
            self.mode = BinaryMode::Good;
            self.since = Some(now);
            self.proven = now;
        }
    }
}

/// What became of frames in about a second.
#[derive(Clone, Debug)]
pub(super) struct Fates {
    /// When the current second began; `None` before the first call.
    since: Option<Instant>,
    /// Frames of this second whose fate is known.
    known: u64,
    /// Those of them that were lost, in ten-thousandths of a frame.
    lost: u64,
    /// Frames of 10,000 that may be lost.
    allowed: u16,
    /// True if more were lost in the last whole second.
    is_lossy: bool,
}

impl Fates {
    /// A share of fewer frames says little: a second with fewer is prolonged.
    const FEW: u64 = 20;
    /// The longest time for which a second is prolonged. A sender of so few frames is taken to lose none.
    const LONG: Duration = Duration::from_secs(10);

    pub(super) const fn new() -> Self {
        Self {
            since: None,
            known: 0,
            lost: 0,
            allowed: 500,
            is_lossy: false,
        }
    }

    /// `allowed`: frames of 10,000 that may be lost.
    pub(super) const fn allow(&mut self, allowed: u16) {
        self.allowed = allowed;
    }

    /// The fate of `known` more frames is known now: `lost` of them are lost.
    pub(super) fn add(&mut self, known: u64, lost: u64, now: Instant) {
        self.add_parts(known, lost.saturating_mul(10_000), now);
    }

    /// The same, with `lost` in ten-thousandths of a frame.
    pub(super) fn add_parts(&mut self, known: u64, lost: u64, now: Instant) {
        let since = *self.since.get_or_insert(now);
        self.known = self.known.saturating_add(known);
        self.lost = self.lost.saturating_add(lost);
        let time = now.saturating_duration_since(since);
        let is_enough = self.known >= Self::FEW;
        if time >= Self::LONG || is_enough && time >= Duration::from_secs(1) {
            let allowed = self.known.saturating_mul(self.allowed.into());
            self.is_lossy = is_enough && self.lost > allowed;
            (self.since, self.known, self.lost) = (Some(now), 0, 0);
        }
    }

    /// Whether more frames than allowed were lost in the last whole second.
    pub(super) const fn is_lossy(&self) -> bool {
        self.is_lossy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::script::ms;

    /// Updates ten times a second, from one millisecond to another.
    fn run(conditions: &mut Conditions, is_bad: bool, (from, to): (u64, u64)) {
        for time in (from..to).step_by(100) {
            conditions.update(is_bad, ms(time));
        }
    }

    /// The first millisecond of good mode, if conditions are good from `from` on.
    fn good_again(conditions: &mut Conditions, from: u64) -> u64 {
        let mut time = from;
        while conditions.mode() == BinaryMode::Bad {
            conditions.update(false, ms(time));
            assert!(time < from + 100_000, "never");
            time += 1;
        }
        time - 1
    }

    /// D7.
    #[test]
    fn good_turns_bad_at_once_and_bad_turns_good_after_a_trial() {
        let mut conditions = Conditions::new();
        run(&mut conditions, false, (0, 9000));
        assert_eq!(conditions.mode(), BinaryMode::Good);
        conditions.update(true, ms(9000));
        assert_eq!(conditions.mode(), BinaryMode::Bad);
        // Good mode lasted for less than ten seconds: the trial is eight seconds instead of four.
        assert_eq!(good_again(&mut conditions, 9100), 17_100);
    }

    /// A clock may begin anywhere.
    #[test]
    fn time_before_the_first_look_proves_nothing() {
        let mut conditions = Conditions::new();
        run(&mut conditions, false, (1_000_000, 1_009_000));
        conditions.update(true, ms(1_009_000));
        assert_eq!(good_again(&mut conditions, 1_010_000), 1_018_000);
    }

    #[test]
    fn a_trial_begins_again_with_each_bad_moment() {
        let mut conditions = Conditions::new();
        conditions.update(true, ms(0));
        run(&mut conditions, false, (0, 7900));
        conditions.update(true, ms(7900));
        assert_eq!(good_again(&mut conditions, 8000), 16_000);
    }

    /// D7.
    #[test]
    fn each_disappointment_doubles_the_trial_up_to_a_minute() {
        let mut conditions = Conditions::new();
        let mut time = 0;
        for trial in [8000, 16_000, 32_000, 60_000, 60_000] {
            conditions.update(true, ms(time));
            assert_eq!(good_again(&mut conditions, time), time + trial);
            time += trial + 9999;
        }
        // Good mode has lasted for ten seconds: the trial is not doubled, but halved.
        time += 1;
        conditions.update(true, ms(time));
        assert_eq!(good_again(&mut conditions, time), time + 30_000);
    }

    /// D7.
    #[test]
    fn each_ten_good_seconds_halve_the_trial_down_to_a_second() {
        for (good, trial) in [
            (10_000, 2000),
            (19_900, 2000),
            (20_000, 1000),
            (90_000, 1000),
        ] {
            let mut conditions = Conditions::new();
            run(&mut conditions, false, (0, good));
            conditions.update(true, ms(good));
            assert_eq!(good_again(&mut conditions, good), good + trial, "{good}");
        }
    }

    /// An application that asks once an hour gets the same answers.
    #[test]
    fn nothing_depends_on_how_often_it_is_told() {
        let mut conditions = Conditions::new();
        conditions.update(false, ms(0));
        conditions.update(true, ms(3_600_000));
        assert_eq!(good_again(&mut conditions, 3_600_000), 3_601_000);
        let mut conditions = Conditions::new();
        conditions.update(true, ms(0));
        conditions.update(false, ms(0));
        conditions.update(false, ms(3_600_000));
        assert_eq!(conditions.mode(), BinaryMode::Good);
    }

    /// D7.
    #[test]
    fn more_than_one_in_twenty_is_too_much() {
        for (lost, is_lossy) in [(5, false), (6, true)] {
            let mut fates = Fates::new();
            fates.add(50, 0, ms(0));
            fates.add(50, lost, ms(999));
            assert!(!fates.is_lossy());
            fates.add(0, 0, ms(1000));
            assert_eq!(fates.is_lossy(), is_lossy, "{lost} %");
            // The next second is another one.
            fates.add(100, 0, ms(1999));
            assert_eq!(fates.is_lossy(), is_lossy, "{lost} %");
            fates.add(0, 0, ms(2000));
            assert!(!fates.is_lossy());
        }
    }

    /// D7.
    #[test]
    fn one_of_a_few_is_no_share() {
        let mut fates = Fates::new();
        fates.add(10, 1, ms(0));
        fates.add(9, 0, ms(1500));
        assert!(!fates.is_lossy());
        fates.add(1, 1, ms(1600)); // two of twenty
        assert!(fates.is_lossy());
        // For a sender of next to nothing the verdict stays for ten seconds.
        fates.add(1, 1, ms(11_599));
        assert!(fates.is_lossy());
        fates.add(0, 0, ms(11_600));
        assert!(!fates.is_lossy());
    }
}
