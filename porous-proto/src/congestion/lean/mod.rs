//! A controller for games and lossy lines (`docs/deviations.md` P12). The window follows the delay of the
//! queue, so that the queue stays short and losses by chance do no harm (FAST TCP, Wei et al. 2006). Where
//! that is not enough it asks the path by sending less: for a round, to see whose the queue is, and for some
//! hundred frames, to see whose the losses are. Beside connections that fill the queue until it overflows, and
//! where the queue is too short to be seen, it follows losses, as others do (the idea is that of Copa, Arun and
//! Balakrishnan 2018). `docs/design.md` says why, and what was measured.

mod chance;
mod drain;
mod losses;
mod path;
mod rivals;
mod round;
mod start;
#[cfg(test)]
mod tests;
mod trial;

use self::chance::Chance;
use self::drain::{Drain, Drains, Finding, Quiet};
use self::losses::{ALL, Losses};
use self::path::Path;
use self::rivals::Rivals;
use self::round::Round;
use self::start::Start;
use self::trial::{Trials, Verdict, View};
use super::controller::{Ack, Controller, Signal, Trouble};
use super::{MAX_WINDOW, initial_window, min_window};
use crate::stats::{Ring, bytes_in, per_second, scaled};
use crate::time::{Instant, Micros};

/// Rounds with next to no queue after which each further one doubles what is added to the window.
const PATIENCE: u32 = 3;

/// The most doublings of what is added to the window.
const HASTE_MAX: u32 = 6;

/// Frames in a window from which on losses may be taken for chance. A connection with fewer is one of many, or
/// a slow one that loses little by following losses.
const FEW: u32 = 16;

/// Bytes a second below which losses do not slow a connection down: over a second of round trip with a quarter of
/// all frames lost nothing would ever arrive otherwise.
const SLOWEST: u32 = 10_000;

/// A host that is called no later than this sees when frames come.
const ON_TIME: Micros = Micros::from_millis(4);

/// What the window follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Nothing: the window grows until there is a queue.
    #[default]
    Start,
    /// The delay.
    Steady,
    /// Losses, beside connections that fill the queue.
    Competing,
    /// Losses, which are this connection's own.
    Yielding,
}

impl Phase {
    const fn follows_losses(self) -> bool {
        matches!(self, Self::Competing | Self::Yielding)
    }
}

/// The controller of one peer.
#[derive(Debug, Default)]
pub(super) struct Lean {
    phase: Phase,
    /// In bytes, without what a drain holds back.
    window: u32,
    start: Start,
    path: Path,
    round: Round,
    /// Rounds to come that still tell of another window than this one.
    skip: u32,
    /// The rates at which data arrived in the last rounds.
    rates: Ring<u32>,
    /// True if data arrived faster in the last round than in those before.
    is_growing: bool,
    /// Consecutive rounds with next to no queue.
    short: u32,
    /// Drains without effect while losses were this connection's own.
    quiet: Quiet,
    losses: Losses,
    chance: Chance,
    trials: Trials,
    rivals: Rivals,
    drains: Drains,
    /// Consecutive rounds without a sample of the round trip.
    silent: u32,
    /// The window before the last cut, in bytes.
    uncut: Option<u32>,
}

impl Lean {
    pub(super) fn new(mtu: u32) -> Self {
        let mut lean = Self::default();
        lean.on_mtu(mtu);
        lean.window = initial_window(lean.path.mtu);
        lean
    }

    fn set_window(&mut self, window: u32) {
        self.window = window.clamp(min_window(self.path.mtu), MAX_WINDOW);
    }

    /// Reduces the window to what passes in a round trip without a queue, at `rate` bytes a second, and the
    /// share.
    fn fit(&mut self, rate: u32, rtt: Micros) {
        let fits = bytes_in(rate, rtt).saturating_add(self.path.share(self.window));
        self.set_window(self.window.min(fits));
    }

    fn on_start(&mut self, ack: &Ack) {
        self.start.on_ack(ack);
        // A window that is not used does not grow (RFC 9002 §7.8).
        if ack.is_limited {
            let more = self.start.growth(ack, self.window, &self.path);
            self.set_window(self.window.saturating_add(more));
        }
        if self.round.is_limited() && self.start.is_enough(&self.path) {
            self.leave_start(ack.now);
        }
    }

    /// The path is full: slow start is over.
    fn leave_start(&mut self, now: Instant) {
        let rate = self.rates.max().max(self.round.rate());
        self.fit(rate, self.path.floor() + self.path.step);
        self.begin_anew(now);
    }

    /// What arrives now was sent before the window changed: it tells of the old one. Slow start is over then.
    fn begin_anew(&mut self, now: Instant) {
        if self.phase == Phase::Start {
            self.phase = Phase::Steady;
            self.drains.begin_anew(now);
        }
        self.round = Round::new(now);
        self.losses.begin_anew(now);
        self.skip = 1;
    }

    fn on_round(&mut self, now: Instant) {
        let round = core::mem::replace(&mut self.round, Round::new(now));
        // A remote host that tells no delay shows no queue. Such rounds are counted, as a window that follows
        // the delay is blind then.
        if round.rtt() == Micros::MAX {
            self.silent = self.silent.saturating_add(1);
            if self.is_blind() {
                self.on_blind_round(&round);
            }
            return;
        }
        self.silent = 0;
        let rate = round.rate();
        self.is_growing = rate > self.rates.max() / 16 * 17;
        // What an application sends says how fast the path is only if it is faster than anything before.
        if round.is_limited() || rate > self.rates.max() {
            self.rates.note(rate);
        }
        if self.skip == 0 {
            self.on_whole_round(&round);
        }
        match self.phase {
            Phase::Start => self.on_start_round(&round),
            _ if self.skip > 0 => self.on_skipped_round(&round),
            Phase::Steady => self.on_steady_round(&round),
            Phase::Competing | Phase::Yielding => self.on_competing_round(&round),
        }
    }

    /// Whether no round trip shows the queue.
    const fn is_blind(&self) -> bool {
        self.silent > 1
    }

    /// Losses alone cut the window of such a connection, and it grows by a frame a round. A drain would show nothing,
    /// and never end.
    fn on_blind_round(&mut self, round: &Round) {
        (self.drains.current, self.skip) = (None, 0);
        if self.phase != Phase::Start && round.is_limited() {
            self.set_window(self.window.saturating_add(self.path.mtu));
        }
    }

    /// A round of which all was sent with the window as it is.
    fn on_whole_round(&mut self, round: &Round) {
        self.path.on_round(round.rtt());
        if round.is_used() {
            // A burst that is lost stays in flight until it is noticed, and what comes waits until this host is
            // called: both look like a spread.
            let lost = self.losses.last.get();
            let is_seen = lost <= ALL / 8 || self.chance.is_seen(self.path.base());
            let is_seen = is_seen && self.path.step <= ON_TIME;
            self.path
                .spread
                .note(u64::from(is_seen) * round.spread(lost));
        } else if self.phase != Phase::Yielding {
            self.trials.learn(&self.losses);
        }
        // A window that is not used makes no queue and loses nothing: both are those of the path.
        if !round.is_limited() && !self.phase.follows_losses() {
            self.path.learn(round.rtt());
        }
        match self.phase {
            Phase::Steady => self.on_steady_losses(round),
            Phase::Competing | Phase::Yielding => self.on_followed_losses(round),
            Phase::Start => {}
        }
    }

    fn on_start_round(&mut self, round: &Round) {
        // All samples of a round are enough to end slow start, however few they are: a remote host must not
        // gain by acknowledging seldom.
        let is_long = Start::is_long(round.rtt(), &self.path) && round.is_limited();
        // A queue that is too short to be seen shows by losses, and by a rate that no longer grows.
        let is_still = self.start.on_round(round.rate(), round.is_used());
        let is_full = is_still && self.losses.last.get() > ALL / 16;
        if is_long || is_full {
            self.leave_start(round.now);
        }
    }

    /// A round of which a part was sent with another window.
    fn on_skipped_round(&mut self, round: &Round) {
        self.skip -= 1;
        if self.skip > 0 {
            self.drains.current = self.drains.current.map(Drain::on_first_round);
        } else if let Some(drain) = self.drains.current {
            self.drains.current = drain.longer(round.rtt(), self.window, &self.path);
            if self.drains.current.is_some() {
                self.skip = 2;
            } else {
                self.on_drained(&drain, round);
            }
        }
    }

    fn on_steady_round(&mut self, round: &Round) {
        let queue = self.path.queue(round.rtt());
        // Before this window is noted: the queue is that of the larger ones of before.
        if round.is_limited() && self.rivals.on_round(queue, &self.path) {
            return self.begin_drain(self.window / 2, round.now);
        }
        self.rivals.peak.note(self.window, round.now);
        let is_short = queue < self.path.wanted(self.window) / 2 && round.is_limited();
        self.short = if is_short { self.short + 1 } else { 0 };
        if !round.is_limited() {
            return; // this window was not used, so that it does not fill the queue
        }
        let target = self.target(round.rtt(), queue.min(round.rtt() - self.usual()));
        // Half of the way to the target in each round: this converges from both sides in a few round trips
        // (FAST TCP).
        self.set_window(self.window / 2 + target / 2);
        // Where no queue is seen there is nothing to empty.
        if self.drains.is_due(round.now) && !queue.is_zero() {
            // Four times what this connection has in the queue, as others have something there as well; a
            // quarter of the window at most, so that the rate hardly suffers.
            let queued = bytes_in(self.rates.max(), queue);
            self.begin_drain((queued.saturating_mul(4)).min(self.window / 4), round.now);
        }
    }

    /// The window at which as much is in the queue as is wanted there: window · floor / rtt + share (FAST
    /// TCP).
    fn target(&self, rtt: Micros, queue: Micros) -> u32 {
        let part = scaled(self.window, (rtt - queue).get(), rtt.get());
        // Next to no queue for several rounds: the path has become faster, and a share a round would take
        // long to fill it.
        let haste = self.short.saturating_sub(PATIENCE).min(HASTE_MAX);
        // On a path with jitter a round that is short by chance must not empty the line.
        let noise = bytes_in(self.rates.max(), self.path.noise());
        let share = self.path.share(self.window);
        let target = part.saturating_add(share.saturating_mul(1 << haste));
        // Round trips that are measured at ticks of a game show a queue too late: only what has come through
        // bounds haste. In a trial the window stays as it is, unless there is a queue.
        let most = self.most().saturating_add(share).saturating_add(noise);
        let is_open = self.trials.is_open();
        let most = if is_open { self.window } else { most };
        target.saturating_add(noise).min(most)
    }

    /// A round trip as it usually is without a queue, where the floor does not tell: of a round of few frames the
    /// shortest round trip says little on a path with jitter, and a window that follows it stays small. Zero
    /// otherwise, and where losses may be those of a queue.
    fn usual(&self) -> Micros {
        if self.window < FEW * self.path.mtu && self.chance.is_seen(self.path.base()) {
            self.chance.usual()
        } else {
            Micros::ZERO
        }
    }

    /// The largest window in bytes, by what has come through in the last rounds.
    fn most(&self) -> u32 {
        let floor = self.path.floor().max(self.usual());
        let fits = bytes_in(self.rates.max(), floor + self.path.spread.min());
        // A quarter more while the rate grows, an eighth otherwise. What is lost by chance does not come
        // through, and has to be added.
        let more = if self.is_growing { ALL / 4 } else { ALL / 8 };
        scaled(fits, (ALL + more).into(), (ALL - self.trials.chance).into())
    }

    /// For a round trip less is sent, to see what that changes.
    fn begin_drain(&mut self, held: u32, now: Instant) {
        self.drains.begin(held, self.window, &self.path, now);
        self.skip = 2;
    }

    /// Less was sent for a round, or for some.
    fn on_drained(&mut self, drain: &Drain, round: &Round) {
        let rtt = round.rtt();
        if drain.is_lower(rtt, &self.path) {
            self.path.set_floor(rtt + 2 * self.path.noise());
            self.fit(self.rates.max(), self.path.floor());
            self.trials = Trials::default();
        }
        match (self.phase, drain.finding(rtt, self.window, &self.path)) {
            (Phase::Yielding, _) => {
                // Less than two frames are never in flight, so that the drain of a small window is none.
                if self.window >= 2 * min_window(self.path.mtu) {
                    self.quiet.on_drained(drain, rtt, &self.path);
                }
                if drain.has_emptied(rtt, self.window, &self.path) || drain.has_shown_path(rtt) {
                    self.steady(round.now);
                }
            }
            (Phase::Competing, Finding::Own) => self.steady(round.now),
            // No other connection is there.
            (_, Finding::Own) => {}
            // What was taken for a queue is the path: a longer path loses no more than before.
            (_, Finding::Stiff) if !self.trials.are_more(&self.losses) => {
                self.path.set_floor((3 * drain.before + rtt) / 4);
                self.take_back();
                self.steady(round.now);
            }
            // Others fill the queue: it is defended as they do.
            (Phase::Steady, _) => {
                self.phase = Phase::Competing;
                self.trials.stop();
                self.trials.follow(self.losses.recent.get(), round.now);
                self.take_back();
            }
            _ => {}
        }
    }

    /// The window is again what it was before this connection gave way.
    fn take_back(&mut self) {
        self.set_window(self.rivals.peak.get().max(self.window));
    }

    /// The window follows the delay again.
    fn steady(&mut self, now: Instant) {
        self.phase = Phase::Steady;
        self.short = 0;
        self.begin_anew(now);
    }

    /// A round in which the window follows losses, by the rules of Reno: a frame more in each round trip.
    fn on_competing_round(&mut self, round: &Round) {
        let is_yielding = self.phase == Phase::Yielding;
        if round.is_limited() {
            // Where losses are this connection's own a small window grows by less, so that fewer are lost.
            let slower = (self.window / 32).clamp(self.path.mtu / 2, self.path.mtu);
            let more = if is_yielding { slower } else { self.path.mtu };
            self.set_window(self.window.saturating_add(more));
        }
        self.rivals.peak.note(self.window, round.now);
        if self.drains.is_due(round.now) {
            self.begin_drain(self.window / 2, round.now);
        }
    }

    /// What a connection with this window sees when it asks whether losses are its own.
    fn view(&self, window: u32, round: &Round) -> View {
        let is_few = window < FEW * self.path.mtu;
        let is_company = is_few || self.path.is_long(self.window) || !self.path.is_trusted();
        let is_chance = self.chance.is_seen(self.path.base());
        View {
            now: round.now,
            window,
            is_used: round.is_used(),
            is_chance,
            is_overflow: self.chance.is_refuted(),
            is_company,
            is_steady: self.path.is_steady() || is_chance,
            least: (12 * self.path.smoothed).min(Micros::from_secs(1)),
        }
    }

    /// Losses of a connection that follows the delay, at the end of a round.
    fn on_steady_losses(&mut self, round: &Round) {
        // Nearly always: what a view has costs a look at all recent rounds.
        if self.trials.is_idle(&self.losses) {
            return;
        }
        let view = self.view(self.window, round);
        match self.trials.on_round(&mut self.losses, &view) {
            Verdict::Open => return,
            Verdict::Window(window) => self.set_window(window),
            Verdict::Own(window) => {
                self.uncut = Some(window);
                self.give_way(round.now);
            }
        }
        self.begin_anew(round.now);
    }

    /// The window follows losses, which are this connection's own.
    fn give_way(&mut self, now: Instant) {
        self.phase = Phase::Yielding;
        self.quiet = Quiet::default();
        self.trials.stop();
        self.rivals.forget(self.window, now);
    }

    /// Losses of a connection that follows them, at the end of a round.
    fn on_followed_losses(&mut self, round: &Round) {
        let mut view = self.view(self.uncut.unwrap_or(0), round);
        // Drains have shown that there is no queue, and so no other connection in it.
        let is_quiet = self.quiet.is_proved(&self.path);
        view.is_company &= !is_quiet;
        view.is_steady |= is_quiet;
        if self.trials.are_chance(&mut self.losses, &view) {
            self.on_spurious();
            self.steady(round.now);
        }
    }

    /// Reduces the window to seven tenths, as CUBIC does, for reasons that are no queue.
    fn cut(&mut self, now: Instant) {
        self.uncut = Some(self.window);
        self.set_window(self.window / 10 * 7);
        self.begin_anew(now);
    }

    /// A frame was lost while the window follows losses.
    fn halve(&mut self, now: Instant) {
        self.uncut = Some(self.window);
        let least = bytes_in(SLOWEST, self.path.floor()).min(self.window);
        self.set_window((self.window / 2).max(least));
        self.rivals.forget(self.window, now);
        // Where a queue overflows all that fill it lose frames at the same time. They drain it together, and
        // see the path without it.
        if !self.is_blind() && self.drains.is_due_by_loss(now) {
            self.begin_drain(self.window / 2, now);
        }
    }
}

impl Controller for Lean {
    fn on_ack(&mut self, ack: &Ack) {
        self.path.on_ack(ack);
        self.losses.note(ack.frames, 0, ack.sent);
        if let Some(rtt) = ack.rtt {
            self.chance.sample(rtt.into(), ack.sent);
        }
        let is_over = self.round.on_ack(ack);
        if self.phase == Phase::Start {
            self.on_start(ack);
        }
        if is_over {
            self.on_round(ack.now);
        }
    }

    fn on_trouble(&mut self, trouble: &Trouble) {
        // A mark has no bytes: nothing was lost.
        if trouble.bytes > 0 {
            self.losses.note(0, 1, trouble.sent);
            self.chance.on_loss(trouble.sent);
        }
        match trouble.signal {
            // A router that marks keeps its queue too short to be seen: only marks tell.
            Signal::Mark => {
                self.cut(trouble.now);
                self.uncut = None; // nothing takes a mark back
                if self.phase == Phase::Steady {
                    self.give_way(trouble.now);
                }
            }
            Signal::Loss if self.phase.follows_losses() => self.halve(trouble.now),
            // Without samples of the delay the queue is not seen, and losses are all there is. Otherwise a
            // remote host that says its acknowledgements waited for seconds would never see a cut.
            Signal::Loss if self.is_blind() => self.cut(trouble.now),
            // Losses by chance do not touch the window: only their part counts.
            Signal::Loss | Signal::FurtherLoss => {}
            Signal::Persistent => {
                self.uncut = Some(self.window);
                self.phase = Phase::Start;
                self.start.begin_anew();
                self.round = Round::new(trouble.now);
                self.skip = 0;
                self.rates = Ring::default();
                self.losses.begin_anew(trouble.now);
                self.trials.stop();
                self.drains.current = None;
                // The path may be another: slow start begins anew, with no more than a connection may begin
                // with.
                self.set_window(self.window.min(initial_window(self.path.mtu)));
            }
        }
    }

    fn on_spurious(&mut self) {
        if let Some(window) = self.uncut.take() {
            self.set_window(self.window.max(window));
        }
    }

    fn on_mtu(&mut self, mtu: u32) {
        self.path.mtu = mtu.clamp(1, u16::MAX.into()); // UDP has no larger datagrams
    }

    fn window(&self) -> u32 {
        self.window
            .saturating_sub(self.drains.held())
            .max(min_window(self.path.mtu))
    }

    fn pacing_rate(&self) -> Option<u32> {
        // Faster than data arrives, or the window could not be used: twice as fast in slow start, as each
        // acknowledgement lets twice as much go; otherwise by as much as measuring is off by.
        let (rtt, sixteenths) = match self.phase {
            Phase::Start => (self.path.smoothed, 32),
            Phase::Steady => (self.path.floor(), 17),
            Phase::Competing | Phase::Yielding => (self.path.smoothed, 20),
        };
        // A frame a second at least.
        Some(scaled(per_second(self.window, rtt), sixteenths, 16).max(self.path.mtu))
    }
}
