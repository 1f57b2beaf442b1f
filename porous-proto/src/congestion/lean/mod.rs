//! A controller for games and lossy lines (`docs/deviations.md` P12). The window follows the delay of the
//! queue, so that the queue stays short and losses by chance do no harm (FAST TCP, Wei et al. 2006). Beside
//! connections that fill the queue until it overflows it follows losses, as they do, until they are gone (the
//! idea is that of Copa, Arun and Balakrishnan 2018). `docs/design.md` says why, and what was measured.

mod path;
mod rivals;
mod start;
#[cfg(test)]
mod tests;

use self::path::{Acked, Fastest, LONGEST, Path, Round, bytes_in, per_second};
use self::rivals::{Losses, Rivals};
use self::start::Start;
use super::controller::{Ack, Controller, Signal, Trouble};
use super::{MAX_WINDOW, initial_window, min_window};
use crate::time::{Instant, Micros};

/// Time between drains: the queue is emptied, to see the path without it.
const DRAIN_EVERY: Micros = Micros::from_secs(4);

/// Time from the end of slow start to the first drain. It is short, as a connection that comes late sees the
/// queue of others as part of the path, and takes more for it.
const DRAIN_FIRST: Micros = Micros::from_secs(1);

/// The most bytes of a datagram (UDP).
const MTU_MAX: u32 = u16::MAX as u32;

/// Rounds with next to no queue after which each further one doubles what is added to the window.
const PATIENCE: u32 = 3;

/// The most doublings of what is added to the window.
const HASTE_MAX: u32 = 6;

/// What the window follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing: the window grows until there is a queue.
    Start,
    /// The delay.
    Steady,
    /// Losses, beside connections that fill the queue.
    Competing,
}

/// The controller of one peer.
#[derive(Debug)]
pub(super) struct Lean {
    mtu: u32,
    phase: Phase,
    /// In bytes, without the drain.
    window: u32,
    start: Start,
    path: Path,
    /// The smoothed round trip.
    smoothed: Micros,
    round: Round,
    /// Rounds to come that still tell of another window than this one.
    skip: u32,
    /// The rates at which data arrived in the last rounds.
    rate: Fastest,
    /// True if data arrived faster in the last round than in those before.
    is_growing: bool,
    /// Consecutive rounds with next to no queue.
    short: u32,
    losses: Losses,
    rivals: Rivals,
    /// Consecutive rounds without a sample of the round trip.
    silent: u32,
    /// When the window began to follow losses, as that of rivals does.
    competing: Instant,
    /// When the next drain is due.
    drain_at: Instant,
    /// Bytes that the window is smaller by while the queue is emptied.
    drain: u32,
    /// The window before the last cut, in bytes.
    uncut: Option<u32>,
}

impl Lean {
    pub(super) fn new(mtu: u32) -> Self {
        let mtu = mtu.clamp(1, MTU_MAX);
        Self {
            mtu,
            phase: Phase::Start,
            window: initial_window(mtu),
            start: Start::default(),
            path: Path::default(),
            smoothed: Micros::ZERO,
            round: Round::new(Instant::ZERO),
            skip: 0,
            rate: Fastest::default(),
            is_growing: false,
            short: 0,
            losses: Losses::default(),
            rivals: Rivals::default(),
            silent: 0,
            competing: Instant::ZERO,
            drain_at: Instant::ZERO,
            drain: 0,
            uncut: None,
        }
    }

    fn set_window(&mut self, window: u32) {
        self.window = window.clamp(2 * min_window(self.mtu), MAX_WINDOW);
    }

    fn share(&self) -> u32 {
        self.path.share(self.window, self.mtu)
    }

    fn on_start(&mut self, ack: &Acked) {
        self.start.on_ack(ack);
        // A window that is not used does not grow (RFC 9002 §7.8).
        if ack.is_limited {
            let more = self.start.growth(ack, self.window, &self.path);
            self.set_window(self.window.saturating_add(more));
        }
        if self.start.is_enough(ack.step, &self.path) {
            self.leave_start(ack);
        }
    }

    /// The path is full: slow start is over.
    fn leave_start(&mut self, ack: &Acked) {
        self.phase = Phase::Steady;
        // What arrives in a round trip without a queue is what fits.
        let rate = self.rate.get().max(self.round.rate(ack.now));
        let fits = bytes_in(rate, self.path.base() + ack.step);
        self.set_window(self.window.min(fits.saturating_add(self.share())));
        self.drain_at = ack.now + DRAIN_FIRST;
        self.begin_anew(ack.now);
    }

    /// What arrives now was sent before the window changed: it tells of the old one.
    fn begin_anew(&mut self, now: Instant) {
        self.round = Round::new(now);
        self.losses.begin_anew(now);
        self.skip = 1;
    }

    fn on_round(&mut self, ack: &Acked) {
        let round = core::mem::replace(&mut self.round, Round::new(ack.now));
        // A remote host that tells no delay shows no queue. Such rounds are counted, as a window that follows
        // the delay is blind then.
        if round.samples == 0 {
            self.silent = self.silent.saturating_add(1);
            return;
        }
        self.silent = 0;
        let rate = round.rate(ack.now);
        self.is_growing = rate > self.rate.get() / 16 * 17;
        self.rate.note(rate);
        self.drain = 0; // a drain lasts for one round
        match self.phase {
            // All samples of a round are enough to end slow start, however few they are: a remote host must
            // not gain by acknowledging seldom.
            Phase::Start if Start::is_long(round.rtt, ack.step, &self.path) => {
                self.leave_start(ack);
            }
            Phase::Start => {}
            Phase::Steady if self.skip > 0 => self.skip -= 1,
            Phase::Steady => self.on_steady_round(&round, ack),
            Phase::Competing => self.on_competing_round(&round, ack),
        }
    }

    fn on_steady_round(&mut self, round: &Round, ack: &Acked) {
        let queue = self.path.queue(round.rtt, ack.step);
        let own = self.path.wanted(self.rivals.window(), self.mtu);
        let excess = queue - own;
        // Before the window changes: what exceeds the share of this connection although the window has given
        // way belongs to others.
        if self.rivals.on_round(excess, self.path.base(), ack.now) {
            return self.compete(ack.now);
        }
        self.rivals.note(self.window, ack.now);
        let is_short = queue < self.path.wanted(self.window, self.mtu) / 2 && round.is_limited;
        self.short = if is_short { self.short + 1 } else { 0 };
        if !round.is_limited {
            return; // this window was not used, so that it does not fill the queue
        }
        let target = self.target(round.rtt, queue);
        // Half of the way to the target in each round: this converges from both sides in a few round trips
        // (FAST TCP).
        self.set_window(self.window / 2 + target / 2);
        // Where no queue is seen there is nothing to empty.
        if ack.now >= self.drain_at && !queue.is_zero() {
            self.drain_at = ack.now + DRAIN_EVERY;
            self.begin_drain(round.rtt, queue);
        }
    }

    /// The window at which as much is in the queue as is wanted there: window · base / rtt + share (FAST
    /// TCP).
    fn target(&self, rtt: Micros, queue: Micros) -> u32 {
        let without = (rtt - queue).get();
        let part = u64::from(self.window).saturating_mul(without) / rtt.get().max(1);
        let part = u32::try_from(part).unwrap_or(u32::MAX);
        // Next to no queue for several rounds: the path has become faster, and a share a round would take
        // long to fill it.
        let haste = self.short.saturating_sub(PATIENCE).min(HASTE_MAX);
        let share = self.share();
        let target = part.saturating_add(share.saturating_mul(1 << haste));
        // Round trips that are measured at ticks of a game show a queue too late: only what has come through
        // bounds haste.
        target.min(self.most().saturating_add(share))
    }

    /// The largest window in bytes, by what has come through in the last rounds.
    fn most(&self) -> u32 {
        let fits = u64::from(bytes_in(self.rate.get(), self.path.base()));
        // A quarter more while the rate grows, an eighth otherwise. What is lost by chance does not come
        // through, and has to be added.
        let more = if self.is_growing { 64 } else { 32 };
        let most = fits * u64::from(256 + more + self.losses.part()) / 256;
        u32::try_from(most).unwrap_or(u32::MAX)
    }

    /// For a round trip less is sent, to see the path without its queue.
    fn begin_drain(&mut self, rtt: Micros, queue: Micros) {
        // Three times what this connection has in the queue, as others have something there as well; a
        // quarter of the window at most, so that the rate hardly suffers.
        let thrice = 3 * u64::from(self.window);
        let queued = thrice.saturating_mul(queue.get()) / rtt.get().max(1);
        let queued = u32::try_from(queued).unwrap_or(u32::MAX);
        self.drain = queued.min(self.window / 4) + self.window / 32;
        self.skip = 2;
    }

    /// Others fill the queue.
    fn compete(&mut self, now: Instant) {
        self.phase = Phase::Competing;
        self.competing = now;
        // What this connection had before it gave way is taken back, and defended as the others do.
        self.set_window(self.rivals.window().max(self.window));
    }

    /// A round beside rivals, by the rules of Reno: a frame more in each round trip.
    fn on_competing_round(&mut self, round: &Round, ack: &Acked) {
        let queue = self.path.queue(round.rtt, ack.step);
        if round.is_limited {
            self.set_window(self.window.saturating_add(self.mtu));
        }
        self.rivals.note(self.window, ack.now);
        let is_empty = queue < self.path.base() / 8;
        if self.rivals.on_competing_round(is_empty, ack.now) {
            self.phase = Phase::Steady;
            self.short = 0;
            self.drain_at = ack.now + DRAIN_EVERY;
        }
    }

    /// Reduces the window to seven tenths, as CUBIC does, for reasons that are no queue.
    fn cut(&mut self, now: Instant) {
        self.uncut = Some(self.window);
        self.set_window(self.window / 10 * 7);
        if self.phase == Phase::Start {
            self.phase = Phase::Steady;
            self.drain_at = now + DRAIN_FIRST;
        }
        self.begin_anew(now);
    }

    /// Whether rivals hide the path now, and have not done so for too long.
    fn is_beside_rivals(&self, now: Instant) -> bool {
        self.phase == Phase::Competing && now.since(self.competing) < LONGEST
    }
}

impl Controller for Lean {
    fn on_ack(&mut self, ack: &Ack) {
        self.smoothed = Micros::from(ack.smoothed_rtt).min(LONGEST);
        let ack = &Acked::from(ack);
        if let Some(rtt) = ack.rtt {
            // Rivals keep the queue full, so that no sample shows the path without it: the shortest round
            // trip of before must not be forgotten.
            let keeps = self.is_beside_rivals(ack.now);
            self.path.on_round_trip(rtt, keeps, ack.now);
        }
        // More than one frame in eight is no chance.
        if self.losses.on_acknowledged(ack.frames, ack.sent) {
            self.cut(ack.now);
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
        // A mark has no bytes: nothing was lost.
        if trouble.bytes > 0 {
            self.losses.on_lost(trouble.sent);
        }
        match trouble.signal {
            Signal::Mark => {
                self.cut(trouble.now);
                self.uncut = None; // nothing takes a mark back
            }
            Signal::Loss if self.phase == Phase::Competing => {
                self.uncut = Some(self.window);
                self.set_window(self.window / 2);
                self.rivals.forget(self.window, trouble.now);
            }
            // Without samples of the delay the queue is not seen, and losses are all there is. Otherwise a
            // remote host that says its acknowledgements waited for seconds would never see a cut.
            Signal::Loss if self.silent > 1 => self.cut(trouble.now),
            // Losses by chance do not touch the window: only their share counts, above.
            Signal::Loss | Signal::FurtherLoss => {}
            Signal::Persistent => {
                self.uncut = Some(self.window);
                self.phase = Phase::Start;
                self.rate = Fastest::default();
                // The path may be another: slow start begins anew, with no more than a connection may begin
                // with.
                self.set_window(self.window.min(initial_window(self.mtu)));
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
        self.window
            .saturating_sub(self.drain)
            .max(min_window(self.mtu))
    }

    fn pacing_rate(&self) -> Option<u32> {
        // Faster than data arrives, or the window could not be used: twice as fast in slow start, as each
        // acknowledgement lets twice as much go; otherwise by as much as measuring is off by.
        let (rtt, sixteenths) = match self.phase {
            Phase::Start => (self.smoothed, 32),
            Phase::Steady => (self.path.base(), 17),
            Phase::Competing => (self.smoothed, 20),
        };
        let rate = u64::from(per_second(self.window, rtt)) * sixteenths / 16;
        let rate = u32::try_from(rate).unwrap_or(u32::MAX);
        Some(rate.max(self.mtu)) // a frame a second at least
    }
}
