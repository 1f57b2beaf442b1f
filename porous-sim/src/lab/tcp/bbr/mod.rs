//! BBR, version 3 (draft-ietf-ccwg-bbr).
//!
//! The sender models the path: the bandwidth is the highest rate at which segments arrived in the last two
//! cycles, the delay the shortest round trip of ten seconds, and losses bound both the rate and the flight.
//! It sends at the bandwidth of the model times the gain of its phase, with a window beyond the product of
//! both. The names in quotes are sections of the draft, with those of its pseudocode in backticks.
//!
//! | what is modelled | where |
//! |---|---|
//! | "Delivery Rate Samples" | [`delivery`](super::delivery), for all controls alike |
//! | "Startup", "Drain", "ProbeBW", "ProbeRTT", with the gains of "Summary of Control Behavior in the State Machine" | [`Phase`], [`Bbr`] |
//! | "Exiting Acceleration Based on Bandwidth Plateau", "BBR.max_bw Max Filter" | [`bandwidth`] |
//! | "Exiting Startup Based on Packet Loss" | [`Bbr`] |
//! | "Time Scale for Bandwidth Probing", "Precautionary Bandwidth Probing" | [`probe`] |
//! | "BBR.min_rtt: Estimated Minimum Round-Trip Time", the schedule of "ProbeRTT Logic" | [`delay`] |
//! | "BBR.extra_acked" | [`aggregation`] |
//! | "Updating the Model Upon Packet Loss" | [`bounds`] |
//! | "Updating Network Path Model Parameters" as a whole | [`model`] |
//! | "Pacing Rate", "Congestion Window" | [`Bbr`], and the sender, which spaces its segments |
//!
//! Left out:
//!
//! - "Restarting From Idle", and application limits but for `ProbeRTT`: the sender always has data.
//! - "Send Quantum" and the offload budget: a segment is a quantum, as no host here sends by larger ones.
//!   Three quanta are less than the least window.
//! - "Updating the Model Upon Detecting a Spurious Loss Recovery": the sender, with neither DSACK nor RACK,
//!   does not learn that a segment was not lost.
//! - ECN, which the draft leaves to later versions.
//!
//! Where the draft says less than a program needs: the flow is as large as before an acknowledgement when it
//! is compared with the long-term bound (after it, a full window never reaches the bound), whole segments
//! are compared, and the rate of Startup is set again by the first round trip, as its text says, although
//! its pseudocode does so only for a round trip that is known before.

mod aggregation;
mod bandwidth;
mod bounds;
mod delay;
mod model;
mod phase;
mod probe;
mod rounds;
#[cfg(test)]
mod tests;

use self::bounds::{BETA, Loss};
use self::model::{Doing, Model};
use self::phase::Phase;
use self::probe::Probe;
use super::INITIAL_WINDOW;
use super::control::{Ack, Control, Moment};
use super::delivery::{Sample, Sent};
use crate::Seed;

/// The least window, in segments: two in flight, and two for which an acknowledgement is on its way.
const LEAST_WINDOW: f64 = 4.0;

/// The part of the bandwidth that is used, so that queues shrink.
const PACING_MARGIN: f64 = 0.99;

/// The round trip of the first rate, before there is a sample, in seconds.
const FIRST_RTT: f64 = 0.001;

/// Ranges of segments that are lost in a round trip when Startup ends.
const STARTUP_LOSSES: u32 = 6;

/// The most round trips of Drain.
const DRAIN_ROUNDS: u64 = 3;

/// How long the flight is small in `ProbeRTT`, in seconds.
const PROBE_RTT: f64 = 0.2;

/// The segments of the window beyond the BDP while the sender looks for bandwidth.
const UP_EXTRA: f64 = 2.0;

/// The control of a flow. Rates are in segments a second, volumes in segments, times in seconds.
#[derive(Debug)]
pub(super) struct Bbr {
    phase: Phase,
    window: f64,
    /// The window before a repair or `ProbeRTT`.
    prior_window: f64,
    /// True while lost segments are repaired.
    in_recovery: bool,
    pace: f64,
    model: Model,
    /// The round trip in which Drain began.
    drain_began: u64,
    probe: Probe,
}

impl Bbr {
    pub(super) fn new(seed: Seed) -> Self {
        Self {
            phase: Phase::Startup,
            window: INITIAL_WINDOW,
            prior_window: 0.0,
            in_recovery: false,
            pace: Phase::Startup.pacing_gain() * INITIAL_WINDOW / FIRST_RTT,
            model: Model::new(),
            drain_began: 0,
            probe: Probe::new(seed),
        }
    }

    /// A window that holds this volume (`QuantizationBudget`).
    fn whole(&self, volume: f64) -> f64 {
        let extra = if self.phase == Phase::Up {
            UP_EXTRA
        } else {
            0.0
        };
        volume.max(LEAST_WINDOW) + extra
    }

    /// The volume that the flow wants in flight (`TargetInflight`).
    fn target(&self) -> f64 {
        self.model.bdp(1.0).min(self.window)
    }

    fn save_window(&mut self) {
        let is_small = self.in_recovery || matches!(self.phase, Phase::ProbeRtt { .. });
        let before = if is_small { self.prior_window } else { 0.0 };
        self.prior_window = self.window.max(before);
    }

    fn restore_window(&mut self) {
        self.window = self.window.max(self.prior_window);
    }

    /// Takes the sample into the model of the path.
    fn learn(&mut self, ack: &Ack, sample: &Sample) {
        if let Some(rtt) = sample.rtt.filter(|_| self.model.delay.get().is_none()) {
            self.pace = Phase::Startup.pacing_gain() * INITIAL_WINDOW / rtt;
        }
        let doing = Doing {
            window: self.window,
            is_accelerating: self.phase.is_accelerating(),
        };
        self.model.learn(ack, sample, doing);
        if self.model.rounds.has_begun() {
            self.probe.on_round();
        }
    }

    /// `CheckStartupDone`, `CheckDrainDone`.
    fn leave_startup(&mut self, ack: &Ack, sample: &Sample) {
        let is_lossy = self.phase == Phase::Startup
            && ack.in_fast_recovery
            && self.model.short.has_ended_round()
            && self.model.short.ranges() >= STARTUP_LOSSES
            && Loss::since(&sample.newest, ack.at.lost).is_too_high();
        if is_lossy {
            self.model.pipe.was_full = true;
            let bdp = self.model.bdp(1.0);
            self.model.long.flight = bdp.max(self.model.short.latest_volume());
        }
        if self.phase == Phase::Startup && self.model.pipe.was_full {
            self.phase = Phase::Drain;
            self.drain_began = self.model.rounds.count();
        }
        if self.phase != Phase::Drain {
            return;
        }
        let is_drained = f64::from(ack.at.in_flight) <= self.whole(self.model.bdp(1.0));
        if is_drained || self.model.rounds.count() > self.drain_began + DRAIN_ROUNDS {
            self.go_down(&ack.at);
        }
    }

    /// `UpdateProbeBWCyclePhase`.
    fn cycle(&mut self, ack: &Ack, sample: &Sample) {
        if !self.model.pipe.was_full || self.adapt(ack, sample) {
            return;
        }
        let now = ack.at.now;
        match self.phase {
            Phase::Down | Phase::Cruise if self.probe.is_due(now, self.target()) => {
                self.refill(&ack.at);
            }
            Phase::Down => {
                let flight = f64::from(ack.at.in_flight);
                let bdp = self.whole(self.model.full_bdp());
                let headroom = self.model.long.with_headroom().max(LEAST_WINDOW);
                if flight <= headroom && flight <= bdp {
                    self.phase = Phase::Cruise;
                }
            }
            Phase::Refill if self.model.rounds.has_begun() => {
                self.probe.has_samples = true;
                self.go_up(&ack.at, sample);
            }
            Phase::Up => {
                if self.has_seen_enough(ack, sample) {
                    self.probe.was_too_high = false;
                    self.go_down(&ack.at);
                }
            }
            Phase::Startup
            | Phase::Drain
            | Phase::Cruise
            | Phase::Refill
            | Phase::ProbeRtt { .. } => {}
        }
    }

    /// `AdaptLongTermModel`. Returns true if it has changed the phase.
    fn adapt(&mut self, ack: &Ack, sample: &Sample) -> bool {
        if self.probe.is_stopping && self.model.rounds.has_begun() {
            self.probe.has_samples = false;
            self.probe.is_stopping = false;
            if self.phase.is_probe_bw() {
                if !sample.newest.held_back {
                    self.model.bandwidth.advance();
                }
                if self.probe.was_cautious && !self.probe.was_too_high {
                    // What stopped early has gone well: look again, and do not stop.
                    self.refill(&ack.at);
                    return true;
                }
            }
        }
        if Loss::since(&sample.newest, ack.at.lost).is_too_high() {
            return false;
        }
        self.model.long.allow(sample.newest.in_flight);
        if self.phase == Phase::Up && self.is_bound(ack) {
            self.model.long.raise(ack.newly);
            if self.model.rounds.has_begun() {
                self.model.long.steepen(self.window);
            }
        }
        false
    }

    /// True if the long-term bound is what keeps the flight from growing.
    fn is_bound(&self, ack: &Ack) -> bool {
        ack.is_window_full && self.window >= self.model.long.flight
    }

    /// `IsTimeToGoDown`.
    fn has_seen_enough(&mut self, ack: &Ack, sample: &Sample) -> bool {
        if self.probe.was_too_high && self.model.long.is_reached(ack.flight) {
            self.probe.was_cautious = true;
            return true;
        }
        if self.is_bound(ack) {
            self.model.pipe.restart(sample.rate);
            return false;
        }
        self.model.pipe.is_full()
    }

    /// `StartProbeBW_DOWN`.
    fn go_down(&mut self, at: &Moment) {
        self.model.short.forget_round();
        self.probe.wait(at.now);
        self.model.rounds.restart(at.delivered);
        self.phase = Phase::Down;
    }

    /// `StartProbeBW_REFILL`.
    fn refill(&mut self, at: &Moment) {
        self.model.short.forget_bounds();
        self.model.long.restart();
        self.probe.refill();
        self.model.rounds.restart(at.delivered);
        self.phase = Phase::Refill;
    }

    /// `StartProbeBW_UP`.
    fn go_up(&mut self, at: &Moment, sample: &Sample) {
        self.model.rounds.restart(at.delivered);
        self.model.pipe.restart(sample.rate);
        self.phase = Phase::Up;
        self.model.long.steepen(self.window);
    }

    /// `CheckProbeRTT`.
    fn probe_rtt(&mut self, at: &Moment, is_due: bool) {
        if is_due && !matches!(self.phase, Phase::ProbeRtt { .. }) {
            self.save_window();
            self.phase = Phase::ProbeRtt {
                until: None,
                round_passed: false,
            };
            self.probe.is_stopping = true;
            self.model.rounds.restart(at.delivered);
        }
        let most = self.probe_rtt_window();
        let Phase::ProbeRtt {
            until,
            round_passed,
        } = &mut self.phase
        else {
            return;
        };
        match *until {
            None if f64::from(at.in_flight) <= most => {
                *until = Some(at.now + PROBE_RTT);
                self.model.rounds.restart(at.delivered);
            }
            None => {}
            Some(until) => {
                *round_passed |= self.model.rounds.has_begun();
                if *round_passed && at.now > until {
                    self.leave_probe_rtt(at);
                }
            }
        }
    }

    /// `CheckProbeRTTDone`, `ExitProbeRTT`.
    fn leave_probe_rtt(&mut self, at: &Moment) {
        self.model.delay.postpone(at.now);
        self.restore_window();
        self.model.short.forget_bounds();
        if self.model.pipe.was_full {
            self.go_down(at);
            // The queue is empty already.
            self.phase = Phase::Cruise;
        } else {
            self.phase = Phase::Startup;
        }
    }

    /// The window of `ProbeRTT`, to be asked in this phase only.
    fn probe_rtt_window(&self) -> f64 {
        let bdp = self.model.bdp(self.phase.window_gain());
        bdp.max(LEAST_WINDOW)
    }

    /// `SetPacingRate`.
    fn set_pace(&mut self) {
        let pace = self.phase.pacing_gain() * self.model.usable() * PACING_MARGIN;
        // Before the path is full, a slow sample tells of the start and not of the path.
        if self.model.pipe.was_full || pace > self.pace {
            self.pace = pace;
        }
    }

    /// `SetCwnd`.
    fn set_window(&mut self, ack: &Ack) {
        let most = self.model.bdp(self.phase.window_gain()) + self.model.extra();
        let most = self.whole(most);
        let grown = self.window + f64::from(ack.newly);
        if self.model.pipe.was_full {
            self.window = grown.min(most);
        } else if self.window < most || (ack.at.delivered as f64) < INITIAL_WINDOW {
            self.window = grown;
        }
        if matches!(self.phase, Phase::ProbeRtt { .. }) {
            self.window = self.window.min(self.probe_rtt_window());
        }
        let bound = match self.phase {
            Phase::Startup | Phase::Drain => f64::INFINITY,
            Phase::Down | Phase::Refill | Phase::Up => self.model.long.flight,
            Phase::Cruise | Phase::ProbeRtt { .. } => self.model.long.with_headroom(),
        };
        let bound = bound.min(self.model.short.flight).max(LEAST_WINDOW);
        self.window = self.window.max(LEAST_WINDOW).min(bound);
    }

    /// `HandleInflightTooHigh`.
    fn answer_loss(&mut self, at: &Moment, sent: &Sent, loss: Loss) {
        self.probe.was_too_high = true;
        self.probe.has_samples = false;
        if !sent.held_back {
            self.model.long.flight = loss.flight().max(BETA * self.target());
        }
        if self.phase == Phase::Up {
            self.go_down(at);
        }
    }
}

impl Control for Bbr {
    fn window(&self) -> f64 {
        self.window
    }

    fn pace(&self) -> f64 {
        self.pace
    }

    fn is_holding_back(&self) -> bool {
        matches!(self.phase, Phase::ProbeRtt { .. })
    }

    /// "Per-ACK Steps".
    fn on_ack(&mut self, ack: &Ack) {
        // A segment that was sent twice may have arrived from its first sending: with the time of its second,
        // each such arrival would look like the end of a round trip.
        if let Some(sample) = &ack.sample {
            self.learn(ack, sample);
            self.leave_startup(ack, sample);
            self.cycle(ack, sample);
            let is_due = self.model.delay.on_ack(ack.at.now, sample.rtt);
            self.probe_rtt(&ack.at, is_due);
            self.model.short.advance(sample);
        }
        self.set_pace();
        self.set_window(ack);
    }

    /// `HandleLostPacket`.
    fn on_lost(&mut self, at: &Moment, sent: &Sent) {
        if !self.model.short.has_lost() {
            self.save_window();
        }
        self.model.short.on_lost(sent.number, at.delivered);
        let loss = Loss::since(sent, at.lost);
        if self.probe.has_samples && loss.is_too_high() {
            self.answer_loss(at, sent, loss);
        }
    }

    fn on_recovery(&mut self) {
        self.save_window();
        self.in_recovery = true;
    }

    fn on_timeout(&mut self, _first: bool) {
        self.save_window();
        self.in_recovery = true;
        self.window = 1.0;
    }

    fn on_recovered(&mut self) {
        self.in_recovery = false;
        self.restore_window();
    }
}
