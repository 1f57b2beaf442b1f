//! How long a round trip takes, and the times to wait that follow from it. The paper measures pings alone,
//! the modern policy every acknowledgement (`docs/deviations.md` T13).

use crate::config::Policy;
use crate::stats::{Jitter, Minimum, Smoothed};
use crate::time::{Instant, Micros};

/// Least margin of a timeout above the round trip (RFC 9002 §6.1.2, kGranularity). Without it a remote host
/// that answers pings before they have come, and makes this host step often, would be sent to without end
/// (`docs/deviations.md` P4).
const GRANULARITY: Micros = Micros::from_millis(1);

/// Longest time for which an honest host holds an acknowledgement back while its steps are short
/// (`docs/deviations.md` T19). A longer delay means that acknowledgements were lost.
pub(super) const MAX_ACK_DELAY: Micros = Micros::from_millis(25);

/// A delay that no honest host reports, even with steps a tenth of a second apart: the acknowledgement only
/// repeats an earlier one that was lost (`docs/deviations.md` P9).
const ABSURD_DELAY: Micros = Micros::from_millis(200);

/// Round trip that is assumed before the first sample (§3.1.3).
const INITIAL: Micros = Micros::from_millis(200);

/// Longest round trip that counts: nothing overflows, and the estimate outlives a jump of the clock.
const LONGEST: Micros = Micros::from_secs(60);

/// Samples in a round trip that count in full. Where there are more, each counts less, so that a flow of 60
/// or 240 frames a second remembers as many round trips as one with two samples in each.
const SAMPLES: u32 = 2;

/// Bits of an average behind the microsecond. In whole microseconds it would stop short of its samples by as
/// many as the least weight of a sample has parts.
const FRACTION: u32 = 10;

/// A smoothed round-trip time and its variation.
#[derive(Clone, Copy, Debug)]
struct Estimator {
    /// In 1024ths of a microsecond.
    smoothed: u64,
    /// In 1024ths of a microsecond.
    variation: u64,
    latest: Micros,
    /// True once there was a sample.
    is_measured: bool,
    /// When the current round of samples began, which lasts for a smoothed round trip.
    round_began: Instant,
    /// Samples in the current round.
    in_round: u32,
    /// Samples in the last whole round.
    rate: u32,
}

impl Estimator {
    const fn new() -> Self {
        let initial = INITIAL.get() << FRACTION;
        Self {
            smoothed: initial,
            variation: initial / 2,
            latest: INITIAL,
            is_measured: false,
            round_began: Instant::ZERO,
            in_round: 0,
            rate: 0,
        }
    }

    /// A round trip took this long.
    fn sample(&mut self, rtt: Micros, now: Instant) {
        self.latest = rtt.min(LONGEST);
        let latest = self.latest.get() << FRACTION;
        if !self.is_measured {
            // The first sample replaces what was assumed, which averages would remember for many round trips
            // (RFC 9002 §5.3).
            self.is_measured = true;
            (self.smoothed, self.variation) = (latest, latest / 2);
            self.round_began = now;
            return;
        }
        self.count(now);
        // At least 1: where samples are rare each counts in full.
        let weight = i64::from((self.rate / SAMPLES).max(1));
        let error = signed(latest) - signed(self.smoothed);
        let surprise = error.abs() - signed(self.variation);
        self.variation = self
            .variation
            .saturating_add_signed(surprise / (4 * weight));
        self.smoothed = self.smoothed.saturating_add_signed(error / (8 * weight));
    }

    fn count(&mut self, now: Instant) {
        self.in_round = self.in_round.saturating_add(1);
        if now.since(self.round_began) >= self.smoothed() {
            self.rate = self.in_round;
            (self.in_round, self.round_began) = (0, now);
        }
    }

    const fn smoothed(&self) -> Micros {
        rounded(self.smoothed)
    }

    const fn variation(&self) -> Micros {
        rounded(self.variation)
    }
}

/// An average to the nearest microsecond.
const fn rounded(average: u64) -> Micros {
    Micros::new((average + (1 << FRACTION) / 2) >> FRACTION)
}

/// The conversion cannot fail: no time is longer than [`LONGEST`].
fn signed(average: u64) -> i64 {
    i64::try_from(average).unwrap_or(i64::MAX)
}

/// Estimates of the round trip, by policy.
#[derive(Clone, Copy, Debug)]
enum Samples {
    Paper(Pings),
    Modern {
        /// Round trips with all that holds acknowledgements back: for timers.
        feedback: Estimator,
        /// Round trips without the delay that the remote host reports: the network alone.
        network: Estimator,
        /// Smoothed delay that the remote host reports, up to [`MAX_ACK_DELAY`].
        ack_delay: Smoothed,
    },
}

/// The round trips of one path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rtt {
    samples: Samples,
    minimum: Minimum<5>,
    pub(crate) jitter: Jitter,
    /// T_step,avg of (7): the average time between the steps of this host.
    step: Micros,
}

impl Rtt {
    pub(crate) fn new(policy: Policy) -> Self {
        let samples = match policy {
            Policy::Paper => Samples::Paper(Pings::new()),
            Policy::Modern => Samples::Modern {
                feedback: Estimator::new(),
                network: Estimator::new(),
                ack_delay: Smoothed::new(MAX_ACK_DELAY),
            },
        };
        Self {
            samples,
            minimum: Minimum::default(),
            jitter: Jitter::default(),
            step: Micros::ZERO,
        }
    }

    pub(crate) const fn set_step(&mut self, step: Micros) {
        self.step = step;
    }

    pub(crate) const fn step(&self) -> Micros {
        self.step
    }

    /// A ping was answered `elapsed` after it was sent.
    pub(crate) fn on_pong(&mut self, elapsed: Micros, now: Instant) {
        // By the modern policy acknowledgements tell enough, and answers to pings leave at intervals.
        if let Samples::Paper(pings) = &mut self.samples {
            pings.sample(elapsed);
            self.note(elapsed, now);
        }
    }

    /// The newest frame of an acknowledgement was sent `elapsed` ago, and the remote host reports that it
    /// held the acknowledgement back for `delay`. Returns the sample without that delay, as far as the report
    /// can be true; `None` if there is no sample.
    #[inline]
    pub(crate) fn on_ack(
        &mut self,
        elapsed: Micros,
        delay: Micros,
        now: Instant,
    ) -> Option<Micros> {
        let Samples::Modern {
            feedback,
            network,
            ack_delay,
        } = &mut self.samples
        else {
            return None;
        };
        // The frame arrived long ago, and earlier acknowledgements of it were lost: a sample of many seconds
        // would stop the timers (P9).
        if delay > ABSURD_DELAY {
            return None;
        }
        // Timers count the whole time: a delay that the remote host makes up must not shorten them.
        feedback.sample(elapsed, now);
        ack_delay.sample(delay.min(MAX_ACK_DELAY));
        // A round trip below the shortest one is a lie about the delay: then the whole time is the sample
        // (RFC 9002 §5.3). The first sample is whole for want of a shortest one.
        let without = elapsed - delay;
        let is_possible = self.minimum.get().is_some_and(|least| without >= least);
        let sample = if is_possible { without } else { elapsed };
        network.sample(sample, now);
        self.note(sample, now);
        Some(sample)
    }

    fn note(&mut self, sample: Micros, now: Instant) {
        self.minimum.sample(sample, now);
        self.jitter.sample(sample);
    }

    /// A frame that was considered dropped was acknowledged, `elapsed` after it was sent.
    pub(crate) fn on_late(&mut self, elapsed: Micros) {
        // T_rto was too short: a line on which full frames are slower than pings would drop everything for
        // ever (`docs/deviations.md` P1). The modern policy drops nothing by time.
        if let Samples::Paper(pings) = &mut self.samples {
            pings.sample(elapsed);
        }
    }

    /// The smoothed round trip: T_rtt,avg.
    pub(crate) const fn smoothed(&self) -> Micros {
        match &self.samples {
            Samples::Paper(pings) => pings.average(),
            Samples::Modern { network, .. } => network.smoothed(),
        }
    }

    /// The smoothed deviation of round trips: T_rtt,var.
    pub(crate) const fn variation(&self) -> Micros {
        match &self.samples {
            Samples::Paper(pings) => pings.variance(),
            Samples::Modern { network, .. } => network.variation(),
        }
    }

    /// The shortest round trip of the last five to ten seconds; `None` before the first sample.
    pub(crate) fn minimum(&self) -> Option<Micros> {
        self.minimum.get()
    }

    /// The smoothed round trip for timers, with the delays of acknowledgements.
    pub(crate) const fn feedback(&self) -> Micros {
        match &self.samples {
            Samples::Paper(pings) => pings.average(),
            Samples::Modern { feedback, .. } => feedback.smoothed(),
        }
    }

    /// T_rto (7), or the probe timeout of the modern policy (RFC 9002 §6.2.1; `docs/deviations.md` T18).
    pub(crate) fn timeout(&self) -> Micros {
        let variance = match &self.samples {
            Samples::Paper(pings) => pings.variance(),
            Samples::Modern { feedback, .. } => feedback.variation(),
        };
        // A step is part of the margin, as this host looks at what came no more often than that; delays of
        // acknowledgements are in the samples.
        self.feedback() + self.step.max(4 * variance).max(GRANULARITY)
    }

    /// Age at which a frame is lost that a later one has overtaken: 9/8 of a round trip (RFC 9002 §6.1.2).
    pub(crate) fn loss_delay(&self) -> Micros {
        let rtt = match &self.samples {
            Samples::Paper(pings) => pings.average(),
            // Where round trips grow, the smoothed one is late to follow.
            Samples::Modern { feedback, .. } => feedback.smoothed().max(feedback.latest),
        };
        (rtt + rtt / 8).max(GRANULARITY.max(self.step))
    }

    /// Time from sending a frame to its early probe. `at_once`: the frame asked to be acknowledged at once
    /// (`docs/deviations.md` P6).
    pub(crate) fn early_probe(&self, at_once: bool) -> Micros {
        let hold = match &self.samples {
            Samples::Modern { ack_delay, .. } if !at_once => ack_delay.get(),
            Samples::Modern { .. } | Samples::Paper(_) => Micros::ZERO,
        };
        let variation = (2 * self.variation()).max(GRANULARITY);
        // Samples include how seldom both hosts look, so that no step comes on top. A host that is called at
        // the frames of a game is called half a step late on average: the probe is due that much earlier, by
        // an eighth of a round trip at most.
        let early = (self.step / 2).min(self.smoothed() / 8);
        self.smoothed() + variation + hold - early
    }
}

/// The estimates of (5) and (6), in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pings {
    average: u64,
    variance: u64,
}

impl Pings {
    pub(super) const fn new() -> Self {
        Self {
            average: INITIAL.get(),
            variance: INITIAL.get() / 2,
        }
    }

    /// A ping was answered after this time.
    pub(super) fn sample(&mut self, ping: Micros) {
        let ping = ping.min(LONGEST).get();
        // The variance comes first: (6) uses the average as it was before (5).
        self.variance = (3 * self.variance + self.average.abs_diff(ping)) / 4; // (6)
        self.average = (7 * self.average + ping) / 8; // (5)
    }

    /// The smoothed round trip: T_rtt,avg.
    pub(super) const fn average(&self) -> Micros {
        Micros::new(self.average)
    }

    /// The smoothed deviation of round trips: T_rtt,var.
    pub(super) const fn variance(&self) -> Micros {
        Micros::new(self.variance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Micros = Micros::from_millis(1);
    const RTT: Micros = Micros::from_millis(64);

    /// In microseconds.
    const ROUND_TRIPS: [u64; 12] = [
        1, 2, 3, 7, 15, 999, 4093, 33_333, 100_001, 250_007, 1_000_003, 10_000_000,
    ];

    /// The paper's round trips after `pings` pings of `rtt`, with this step.
    fn pinged(pings: usize, rtt: Micros, step: Micros) -> Rtt {
        let mut new = Rtt::new(Policy::Paper);
        (0..pings).for_each(|_| new.on_pong(rtt, Instant::ZERO));
        new.set_step(step);
        new
    }

    /// Modern round trips that do not vary, and acknowledgements that were held back.
    fn settled(delay: Micros, step: Micros) -> Rtt {
        let mut new = Rtt::new(Policy::Modern);
        for n in 0..200 {
            new.on_ack(RTT + delay, delay, Instant::from_micros(64_000 * n));
        }
        new.set_step(step);
        new
    }

    #[test]
    fn equation_07_timeout_is_at_least_a_step_above_the_average() {
        assert_eq!(pinged(0, MS, Micros::ZERO).timeout(), 600 * MS);
        let timeout = pinged(200, 50 * MS, 16 * MS).timeout();
        assert!(timeout > 65 * MS && timeout < 67 * MS, "{timeout:?}");
    }

    /// P4.
    #[test]
    fn round_trips_of_nothing_leave_a_millisecond() {
        let timeout = |step| pinged(200, Micros::ZERO, step).timeout();
        assert_eq!((timeout(Micros::ZERO), timeout(2 * MS)), (MS, 2 * MS));
    }

    /// P6.
    #[test]
    fn a_host_that_is_called_late_probes_half_a_step_early() {
        let early = |step| settled(Micros::ZERO, step).early_probe(true);
        assert_eq!(early(16 * MS), RTT + MS - 8 * MS);
        assert_eq!(early(500 * MS), RTT + MS - RTT / 8);
    }

    /// P6.
    #[test]
    fn what_the_remote_host_holds_back_is_waited_for_unless_asked_for() {
        let hold = |rtt: &Rtt| (rtt.early_probe(false) - rtt.early_probe(true)).get() / 1000;
        let mut rtt = settled(10 * MS, Micros::ZERO);
        assert_eq!(hold(&rtt), 10);
        // After lost acknowledgements the next one looks as if it had been held back for long.
        for n in 0..100 {
            rtt.on_ack(RTT, 190 * MS, Instant::from_micros(n));
        }
        assert!((24..=25).contains(&hold(&rtt)), "{}", hold(&rtt));
    }

    /// The remote host says how long it held an acknowledgement back, and may lie. T13.
    #[test]
    fn a_delay_shortens_the_path_but_not_the_timers() {
        let mut rtt = settled(Micros::ZERO, Micros::ZERO);
        for n in 0..200 {
            rtt.on_ack(
                RTT + 20 * MS,
                20 * MS,
                Instant::from_micros(20_000_000 + 100_000 * n),
            );
            rtt.on_ack(
                RTT + 20 * MS,
                60 * MS,
                Instant::from_micros(20_050_000 + 100_000 * n),
            );
        }
        assert_eq!(rtt.minimum(), Some(RTT));
        assert!(rtt.feedback() > RTT + 19 * MS);
        let path = rtt.smoothed();
        assert!(path > RTT && path < RTT + 15 * MS, "{path:?}");
    }

    /// P9: a block that is repeated tells of a frame that arrived long ago.
    #[test]
    fn lost_acknowledgements_do_not_make_the_path_longer() {
        for mut rtt in [
            settled(Micros::ZERO, Micros::ZERO),
            Rtt::new(Policy::Modern),
        ] {
            let before = rtt.timeout();
            for n in 0..200 {
                rtt.on_ack(
                    5000 * MS,
                    496 * MS,
                    Instant::from_micros(20_000_000 + 1_000_000 * n),
                );
            }
            assert_eq!(rtt.timeout(), before);
            for n in 0..200 {
                rtt.on_ack(
                    5000 * MS,
                    200 * MS,
                    Instant::from_micros(300_000_000 + 1_000_000 * n),
                );
            }
            assert!(rtt.timeout() > 4000 * MS);
        }
    }

    mod pings {
        use super::super::*;

        const MS: Micros = Micros::from_millis(1);

        #[test]
        fn equation_05_average_moves_by_an_eighth() {
            let mut rtt = Pings::new();
            rtt.sample(40 * MS);
            assert_eq!(rtt.average(), 180 * MS);
        }

        #[test]
        fn equation_06_variance_uses_the_average_before_the_sample() {
            let mut rtt = Pings::new();
            assert_eq!(rtt.variance(), 100 * MS);
            rtt.sample(40 * MS);
            // 0.75 * 100 + 0.25 * |200 - 40|
            assert_eq!(rtt.variance(), 115 * MS);
        }

        #[test]
        fn absurd_samples_do_not_overflow() {
            let mut rtt = Pings::new();
            for _ in 0..1000 {
                rtt.sample(Micros::MAX);
            }
            assert!(rtt.average() <= 60_000 * MS);
        }
    }

    mod estimator {
        use alloc::vec::Vec;

        use super::super::*;
        use super::ROUND_TRIPS;

        const MS: Micros = Micros::from_millis(1);

        fn after(samples: &[(u64, u64)]) -> Estimator {
            let mut estimator = Estimator::new();
            for &(at, rtt) in samples {
                estimator.sample(rtt * MS, Instant::ZERO + Micros::from_millis(at));
            }
            estimator
        }

        /// T13.
        #[test]
        fn the_first_sample_replaces_what_was_believed() {
            let estimator = after(&[(0, 40)]);
            assert_eq!(estimator.smoothed(), 40 * MS);
            assert_eq!(estimator.variation(), 20 * MS);
        }

        #[test]
        fn two_samples_a_round_trip_count_in_full() {
            let estimator = after(&[(0, 40), (40, 80)]);
            assert_eq!(estimator.smoothed(), 45 * MS);
            assert_eq!(estimator.variation(), 25 * MS);
            assert_eq!(estimator.latest, 80 * MS);
        }

        #[test]
        fn a_round_trip_that_does_not_change_is_reached() {
            // From above and from below; with one sample in a round trip, and with 64.
            for (before, part) in [(0, 1), (20_000_000, 1), (0, 64)] {
                for rtt in ROUND_TRIPS {
                    let mut estimator = Estimator::new();
                    estimator.sample(Micros::new(before), Instant::ZERO);
                    let apart = rtt.max(before) / part;
                    for n in 1..=200 * part {
                        estimator.sample(Micros::new(rtt), Instant::from_micros(n * apart));
                    }
                    let told = (estimator.smoothed().get(), estimator.variation());
                    let is_near = told.0.abs_diff(rtt) <= 1 && told.1 <= Micros::new(1);
                    assert!(is_near, "{rtt} from {before}, {part}: {told:?}");
                }
            }
        }

        /// The memory is one of round trips, not of samples. T13.
        #[test]
        fn many_samples_a_round_trip_count_less() {
            let sparse: Vec<_> = (0..400)
                .map(|n| (n * 50, if n < 200 { 40 } else { 80 }))
                .collect();
            let dense: Vec<_> = (0..4000)
                .map(|n| (n * 5, if n < 2000 { 40 } else { 80 }))
                .collect();
            let until = |samples: &[(u64, u64)], at| {
                let samples: Vec<_> = samples.iter().copied().filter(|&(t, _)| t <= at).collect();
                after(&samples).smoothed().get() / 1000
            };
            for at in [10_200, 10_400, 10_800] {
                let (few, many) = (until(&sparse, at), until(&dense, at));
                assert!(few.abs_diff(many) <= 6, "{few} and {many} after {at}");
            }
        }

        #[test]
        fn absurd_samples_do_not_overflow() {
            let mut estimator = Estimator::new();
            for _ in 0..1000 {
                estimator.sample(Micros::MAX, Instant::NEVER);
                estimator.sample(Micros::ZERO, Instant::ZERO);
            }
            assert!(estimator.smoothed() <= LONGEST && estimator.variation() <= LONGEST);
        }
    }
}
