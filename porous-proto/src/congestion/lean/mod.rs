//! A controller for games and lossy lines: the window follows the delay of the queue (FAST TCP, Wei
//! et al. 2006), so that the queue stays short, and losses by chance do no harm. Beside those who
//! fill the queue until it overflows, it does as they do (Copa, Arun and Balakrishnan 2018).
//! `docs/design.md` says why.

mod rivals;
mod round;
#[cfg(test)]
mod tests;

use core::time::Duration;

use self::rivals::Rivals;
use self::round::{Fastest, Round, Train, bytes_in, per_second};
use super::controller::{Ack, Controller, Signal, Trouble};
use super::{Minimum, initial_window, min_window};
use crate::time::Instant;

/// A queue of this part of the round trip ends slow start, but at least and at most of so long
/// (HyStart++, RFC 9406 §4.2).
const START_PART: u32 = 8;
const START_LEAST: Duration = Duration::from_millis(4);
const START_MOST: Duration = Duration::from_millis(16);

/// So many round trips must agree on it (RFC 9406, N_RTT_SAMPLE).
const START_SAMPLES: u32 = 8;

/// A connection keeps about as many frames in the queue as the square root of its rate in units of
/// so many bytes a second: few enough to keep the queue short at any rate, and of two connections
/// the faster one has less in it for its rate, so that they meet.
const QUEUE_UNIT: u32 = 70_000;

/// Losses of one frame in so many are not by chance, counted over so many frames.
const LOSS_PART: u32 = 10;
const LOSS_FRAMES: u32 = 128;

/// How often the queue is emptied, to see the path without it.
const DRAIN_EVERY: Duration = Duration::from_secs(4);

/// The first time is soon: who comes late sees others' queue as part of the path.
const DRAIN_FIRST: Duration = Duration::from_secs(1);

/// A minute stands for all that is longer, so that nothing can overflow.
const LONGEST: Duration = Duration::from_secs(60);

/// No datagram is longer (UDP).
const MTU_MAX: u32 = u16::MAX as u32;

/// What is done with the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Twice as much each round trip.
    Start,
    /// By the delay.
    Steady,
    /// By losses, beside those who fill the queue.
    Competing,
}

/// The controller of one peer.
#[derive(Debug)]
pub(super) struct Lean {
    mtu: u32,
    phase: Phase,
    window: u32,
    /// The path without its queue.
    base: Minimum,
    round: Round,
    smoothed: Duration,
    /// The shortest of the last few round trips, for slow start.
    recent: [Duration; START_SAMPLES as usize],
    samples: u32,
    /// How fast data arrived at most, in the last rounds.
    rate: Fastest,
    /// How fast the first frames came through that were sent at once.
    train: Train,
    /// In how many rounds in a row there was next to no queue.
    short_rounds: u32,
    rivals: Rivals,
    /// Since when we do as they do.
    competing: Instant,
    /// The part of frames that is lost, in 256ths, while it is taken for chance.
    loss: u32,
    /// Whether more data came through than in the rounds before.
    is_growing: bool,
    /// Frames acknowledged and lost, for the part that is lost.
    fates: (u32, u32),
    drain_at: Instant,
    /// Rounds that tell of another window than this one.
    skip: u32,
    is_draining: bool,
    drain: u32,
    /// What was sent before then says nothing of how it is now.
    since: Instant,
    /// The window before the last cut by losses.
    uncut: Option<u32>,
}

impl Lean {
    pub(super) fn new(mtu: u32) -> Self {
        let mtu = mtu.clamp(1, MTU_MAX);
        Self {
            mtu,
            phase: Phase::Start,
            window: initial_window(mtu),
            base: Minimum::new(),
            round: Round::new(Instant::ZERO),
            smoothed: Duration::ZERO,
            recent: [Duration::ZERO; START_SAMPLES as usize],
            samples: 0,
            rate: Fastest::new(),
            train: Train::new(),
            short_rounds: 0,
            rivals: Rivals::new(),
            competing: Instant::ZERO,
            loss: 0,
            is_growing: false,
            fates: (0, 0),
            drain_at: Instant::ZERO,
            skip: 0,
            is_draining: false,
            drain: 0,
            since: Instant::ZERO,
            uncut: None,
        }
    }

    fn base(&self) -> Duration {
        self.base.get().unwrap_or_default()
    }

    /// How much of a round trip is the queue, as far as a host can see that is called in steps.
    fn queue(&self, rtt: Duration, step: Duration) -> Duration {
        rtt.saturating_sub(self.base()).saturating_sub(step)
    }

    /// What this connection wants to have in the queue, in bytes.
    fn share(&self, window: u32) -> u32 {
        let rate = per_second(window, self.base().max(Duration::from_millis(1)));
        // In sixteenths, so that slow connections have no steps of whole frames.
        let frames = (256 * (rate / QUEUE_UNIT)).isqrt().max(16);
        (u64::from(self.mtu) * u64::from(frames) / 16) as u32
    }

    /// How long the queue is with that, if nobody else has anything in it.
    fn wanted(&self, window: u32) -> Duration {
        let micros = u64::try_from(self.base().as_micros()).unwrap_or(u64::MAX);
        let part = u64::from(self.share(window)).saturating_mul(micros) / u64::from(window.max(1));
        Duration::from_micros(part)
    }

    fn set_window(&mut self, window: u32) {
        self.window = window.clamp(4 * self.mtu, u32::MAX / 2);
    }

    fn on_start(&mut self, ack: &Ack) {
        self.train.on_ack(ack);
        if ack.is_limited {
            // At most eight times as much, as far as the first frames tell that it fits; else twice.
            let fits = bytes_in(self.train.rate(ack.step), self.base()) / 4 * 3;
            let most = ack
                .bytes
                .saturating_mul(7)
                .min(fits.saturating_sub(self.window));
            let more = ack.bytes.max(most);
            self.set_window(self.window.saturating_add(more));
        }
        let needed = if ack.step > START_LEAST {
            2
        } else {
            START_SAMPLES as usize
        };
        let recent = self
            .recent
            .iter()
            .cycle()
            .skip((self.samples as usize % 8) + 8 - needed);
        let least = recent.take(needed).copied().min().unwrap_or_default();
        let limit = (self.base() / START_PART).clamp(START_LEAST, START_MOST);
        if self.samples as usize >= needed && self.queue(least, ack.step) > limit {
            self.leave_start(ack);
        }
    }

    /// The path is full: what arrives in a round trip without a queue is what fits.
    fn leave_start(&mut self, ack: &Ack) {
        self.phase = Phase::Steady;
        let rate = self.rate.get().max(self.round.rate(ack.now));
        let fits = bytes_in(rate, self.base() + ack.step);
        self.set_window(
            self.window
                .min(fits.saturating_add(self.share(self.window))),
        );
        self.drain_at = ack.now + DRAIN_FIRST;
        self.begin_anew(ack.now, 1);
    }

    /// What comes now was sent before something changed.
    fn begin_anew(&mut self, now: Instant, skip: u32) {
        self.round = Round::new(now);
        self.since = now;
        self.fates = (0, 0);
        self.skip = skip;
    }

    fn on_round(&mut self, ack: &Ack) {
        let round = core::mem::replace(&mut self.round, Round::new(ack.now));
        if round.samples == 0 {
            return;
        }
        let rate = round.rate(ack.now);
        self.is_growing = rate > self.rate.get() / 16 * 17;
        self.rate.note(rate);
        match self.phase {
            Phase::Start => {}
            Phase::Steady => self.on_steady_round(&round, ack),
            Phase::Competing => self.on_competing_round(&round, ack),
        }
    }

    fn on_steady_round(&mut self, round: &Round, ack: &Ack) {
        let queue = self.queue(round.rtt, ack.step);
        let share = self.share(self.window);
        let wanted = self.wanted(self.window);
        self.is_draining = false;
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        let own = self.wanted(self.rivals.window());
        let excess = queue.saturating_sub(own);
        if self.rivals.on_round(excess, self.base(), ack.now) {
            self.compete(ack.now);
            return;
        }
        self.rivals.note(self.window, ack.now);
        if queue < wanted / 2 && round.is_limited {
            self.short_rounds = (self.short_rounds + 1).min(16);
        } else {
            self.short_rounds = 0;
        }
        // (FAST) half of the way to where there is as much in the queue as is wanted.
        let haste = self.short_rounds.saturating_sub(3).min(6);
        let without = round.rtt.saturating_sub(queue);
        let part = u128::from(self.window) * without.as_micros() / round.rtt.as_micros().max(1);
        let part = u32::try_from(part).unwrap_or(u32::MAX);
        let target = part.saturating_add(share.saturating_mul(1 << haste));
        let target = target.min(self.most().saturating_add(share));
        if target < self.window || round.is_limited {
            self.set_window(self.window / 2 + target / 2);
        }
        if ack.now >= self.drain_at && queue > Duration::ZERO {
            self.drain_at = ack.now + DRAIN_EVERY;
            self.is_draining = true;
            let micros = round.rtt.as_micros().max(1);
            let queued = u128::from(self.window) * 3 * queue.as_micros() / micros;
            self.drain = u32::try_from(queued)
                .unwrap_or(u32::MAX)
                .min(self.window / 4)
                + self.window / 32;
            self.skip = 2;
        }
    }

    /// Not much more than what has come through: an eighth while that grows, else next to nothing.
    fn most(&self) -> u32 {
        let fits = u64::from(bytes_in(self.rate.get(), self.base()));
        let more = if self.is_growing { 64 } else { 32 };
        let most = fits * u64::from(256 + more + self.loss) / 256;
        u32::try_from(most).unwrap_or(u32::MAX)
    }

    /// Others fill the queue: what we had is taken back, and defended as they do.
    fn compete(&mut self, now: Instant) {
        self.phase = Phase::Competing;
        self.competing = now;
        self.set_window(self.rivals.window().max(self.window));
    }

    fn on_competing_round(&mut self, round: &Round, ack: &Ack) {
        let queue = self.queue(round.rtt, ack.step);
        if round.is_limited {
            self.set_window(self.window.saturating_add(self.mtu));
        }
        self.rivals.note(self.window, ack.now);
        if self
            .rivals
            .on_competing_round(queue < self.base() / 8, ack.now)
        {
            self.phase = Phase::Steady;
            self.short_rounds = 0;
            self.drain_at = ack.now + DRAIN_EVERY;
        }
    }

    /// The part of frames that is lost, over many: whether it is too much.
    fn is_lossy(&mut self) -> bool {
        let (acknowledged, lost) = self.fates;
        let all = acknowledged + lost;
        if all < LOSS_FRAMES {
            return false;
        }
        self.fates = (0, 0);
        self.loss = (256 * lost / all).min(256 / LOSS_PART);
        lost > all / LOSS_PART
    }

    fn cut(&mut self) {
        self.uncut = Some(self.window);
        self.set_window(self.window / 10 * 7);
        if self.phase == Phase::Start {
            self.phase = Phase::Steady;
        }
    }
}

impl Controller for Lean {
    fn on_ack(&mut self, ack: &Ack) {
        let ack = &Ack {
            rtt: ack.rtt.map(|rtt| rtt.min(LONGEST)),
            smoothed_rtt: ack.smoothed_rtt.min(LONGEST),
            step: ack.step.min(LONGEST),
            ..*ack
        };
        self.smoothed = ack.smoothed_rtt;
        if ack.sent >= self.since {
            self.fates.0 = self.fates.0.saturating_add(ack.frames);
        }
        let rtt = ack.rtt;
        if let Some(rtt) = rtt {
            // Beside others the path is not seen without its queue: what is known of it is kept for a
            // minute.
            let keeps = self.phase == Phase::Competing
                && ack.now.saturating_duration_since(self.competing) < LONGEST;
            let least = if keeps { self.base() } else { rtt };
            self.base.sample(rtt.min(least), ack.now);
            let place = (self.samples % START_SAMPLES) as usize;
            if let Some(place) = self.recent.get_mut(place) {
                *place = rtt;
            }
            self.samples = self.samples.saturating_add(1);
        }
        if self.is_lossy() {
            self.cut();
            self.begin_anew(ack.now, 1);
        }
        let is_over = self.round.on_ack(ack);
        if self.phase == Phase::Start {
            self.on_start(ack);
        }
        if is_over {
            self.on_round(ack);
        }
    }

    fn on_trouble(&mut self, trouble: &Trouble) {
        if trouble.bytes > 0 && trouble.sent >= self.since {
            self.fates.1 = self.fates.1.saturating_add(1);
        }
        match trouble.signal {
            Signal::Mark => self.cut(),
            Signal::Loss if self.phase == Phase::Competing => {
                self.uncut = Some(self.window);
                self.set_window(self.window / 2);
                self.rivals.forget(self.window, trouble.now);
            }
            Signal::Loss | Signal::FurtherLoss => {}
            Signal::Persistent => {
                self.phase = Phase::Start;
                self.rate = Fastest::new();
                self.set_window(0);
            }
        }
    }

    fn on_spurious(&mut self) {
        if let Some(window) = self.uncut.take() {
            self.set_window(self.window.max(window));
        }
    }

    fn on_mtu(&mut self, mtu: u32) {
        self.mtu = mtu.clamp(1, MTU_MAX);
    }

    fn window(&self) -> u32 {
        if self.is_draining {
            self.window
                .saturating_sub(self.drain)
                .max(min_window(self.mtu))
        } else {
            self.window
        }
    }

    fn pacing_rate(&self) -> Option<u32> {
        let (rtt, sixteenths) = match self.phase {
            Phase::Start => (self.smoothed, 32),
            Phase::Steady => (self.base(), 17),
            Phase::Competing => (self.smoothed, 20),
        };
        let rate = u64::from(per_second(self.window, rtt)) * sixteenths / 16;
        let rate = u32::try_from(rate).unwrap_or(u32::MAX);
        Some(rate.max(self.mtu)) // a frame a second at least
    }
}
