//! The model of the path ("Updating Network Path Model Parameters"). Rates are in segments a second,
//! volumes in segments.

use super::super::INITIAL_WINDOW;
use super::super::control::Ack;
use super::super::delivery::Sample;
use super::aggregation::{Aggregation, Expected};
use super::bandwidth::{Bandwidth, FullPipe};
use super::bounds::{LongTerm, ShortTerm};
use super::delay::Delay;
use super::rounds::Rounds;

#[derive(Debug)]
pub(super) struct Model {
    pub(super) rounds: Rounds,
    pub(super) bandwidth: Bandwidth,
    pub(super) pipe: FullPipe,
    pub(super) delay: Delay,
    aggregation: Aggregation,
    pub(super) short: ShortTerm,
    pub(super) long: LongTerm,
}

/// What the sender was doing when a sample came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doing {
    /// The congestion window.
    pub(super) window: f64,
    /// True if losses are expected, and are not held against the path at once.
    pub(super) is_accelerating: bool,
}

impl Model {
    pub(super) fn new() -> Self {
        Self {
            rounds: Rounds::default(),
            bandwidth: Bandwidth::default(),
            pipe: FullPipe::default(),
            delay: Delay::new(),
            aggregation: Aggregation::default(),
            short: ShortTerm::new(),
            long: LongTerm::new(),
        }
    }

    /// The bandwidth that the flow may use.
    pub(super) fn usable(&self) -> f64 {
        self.bandwidth.get().min(self.short.bandwidth)
    }

    /// `gain` times the product of the usable bandwidth and the delay.
    pub(super) fn bdp(&self, gain: f64) -> f64 {
        self.product(gain * self.usable())
    }

    /// The product of the delay and the bandwidth of the path, whatever was lost in this cycle.
    pub(super) fn full_bdp(&self) -> f64 {
        self.product(self.bandwidth.get())
    }

    fn product(&self, bandwidth: f64) -> f64 {
        let delay = self.delay.get();
        delay.map_or(INITIAL_WINDOW, |delay| bandwidth * delay)
    }

    /// What has to be in flight besides the BDP, as acknowledgements come in bunches.
    pub(super) fn extra(&self) -> f64 {
        self.aggregation.get()
    }

    /// Takes in a sample, but for its round trip.
    pub(super) fn learn(&mut self, ack: &Ack, sample: &Sample, doing: Doing) {
        let had_losses = self.short.on_ack(sample, ack.at.delivered);
        let delivered_before = sample.newest.delivered;
        let begins = self.rounds.on_ack(delivered_before, ack.at.delivered);
        self.bandwidth.on_rate(sample.rate);
        if had_losses && !doing.is_accelerating {
            self.short.lower(self.bandwidth.get(), doing.window);
        }
        let expected = Expected {
            bandwidth: self.usable(),
            window: doing.window,
        };
        let (round, newly) = (self.rounds.count(), ack.newly.into());
        self.aggregation.expire(round, !self.pipe.was_full);
        self.aggregation.on_ack(ack.at.now, newly, round, expected);
        if begins {
            self.pipe.on_round(sample);
        }
    }
}
