//! What happens to the road of a scenario, and how much it could carry.

use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::Instant;

use super::Scenario;
use crate::lab::stage::Change;
use crate::rand_core::Rng as _;
use crate::{ChaCha8Rng, below};

/// A time up to this one.
fn up_to(rng: &mut ChaCha8Rng, most: Duration) -> Duration {
    let micros = u64::try_from(most.as_micros()).unwrap_or(u64::MAX);
    Duration::from_micros(below(rng.next_u64(), micros.saturating_add(1)))
}

impl Scenario {
    /// All changes of the road, in the order of time.
    pub(super) fn changes(&self) -> Vec<(Duration, Change)> {
        let mut changes = self.at.clone();
        if let Some([most, mean]) = self.wander {
            let mut rng = self.seed.stream("wander", 0);
            self.redraw(&mut changes, mean, &mut rng, |rng| {
                Change::Detour(up_to(rng, most))
            });
        }
        if let Some((least, most, mean)) = self.radio {
            let mut rng = self.seed.stream("radio", 0);
            self.redraw(&mut changes, mean, &mut rng, |rng| {
                Change::Rate(least + below(rng.next_u64(), most - least + 1))
            });
        }
        if let Some([least, most, every]) = self.step {
            let mut rng = self.seed.stream("step", 0);
            let mut at = every;
            while at < self.end {
                let by = least + up_to(&mut rng, most - least);
                let half = self.rtt / 2;
                let delay = if below(rng.next_u64(), 2) == 0 {
                    half + by
                } else {
                    half.saturating_sub(by)
                };
                changes.push((at, Change::Delay(delay)));
                at += every;
            }
        }
        if let Some([period, length]) = self.every {
            let mut at = period;
            while at < self.end + period {
                changes.push((at - length, Change::Down(true)));
                changes.push((at, Change::Down(false)));
                at += period;
            }
        }
        changes.sort_by_key(|&(at, _)| at);
        changes
    }

    /// Adds changes that are drawn anew, each after a time of U(0, 2 `mean`).
    fn redraw(
        &self,
        changes: &mut Vec<(Duration, Change)>,
        mean: Duration,
        rng: &mut ChaCha8Rng,
        mut draw: impl FnMut(&mut ChaCha8Rng) -> Change,
    ) {
        let mut at = Duration::ZERO;
        while at < self.end {
            changes.push((at, draw(rng)));
            at += up_to(rng, 2 * mean).max(Duration::from_micros(1));
        }
    }

    /// The bytes that the road could carry in the time that is measured.
    pub(super) fn capacity(&self, changes: &[(Duration, Change)]) -> f64 {
        let changes = changes.iter().map(|&(at, change)| (at, Some(change)));
        let (mut rate, mut is_down) = (self.rate, false);
        let (mut since, mut bytes) = (Duration::ZERO, 0.0);
        for (at, change) in changes.chain([(self.end, None)]) {
            let [from, to] = [since, at].map(|at| at.clamp(self.from, self.end));
            if !is_down {
                bytes += self.carries(rate, from, to);
            }
            since = at;
            match change {
                Some(Change::Rate(new)) => rate = new,
                Some(Change::Down(down)) => is_down = down,
                // The road can carry as much as before.
                Some(
                    Change::Delay(_) | Change::Detour(_) | Change::Loss(_) | Change::NoFeedback,
                )
                | None => {}
            }
        }
        bytes
    }

    fn carries(&self, rate: u64, from: Duration, to: Duration) -> f64 {
        match &self.trace {
            Some(trace) => {
                let [from, to] = [from, to].map(|at| Instant::ZERO + at);
                trace.capacity(from, to) as f64
            }
            None => rate as f64 / 8.0 * (to - from).as_secs_f64(),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;

    use super::*;

    fn capacity(words: &str) -> f64 {
        let text = alloc::format!("rate=8000 from=10 end=20 {words}");
        let scenario: Scenario = text.parse().unwrap();
        scenario.capacity(&scenario.changes())
    }

    #[test]
    fn the_capacity_is_what_the_road_takes_in_the_measured_time() {
        // 8 Mbit/s are a megabyte a second.
        for (words, megabytes) in [
            ("", 10.0),
            ("at=5:rate:4000", 5.0),
            ("at=15:rate:4000", 7.5),
            ("at=30:rate:4000", 10.0),
            ("at=12:down:1 at=14:down:0", 8.0),
            ("at=12:down:1 at=13:rate:4000 at=14:down:0", 5.0),
            ("at=5:down:1", 0.0),
            ("every=1000:100 at=11:loss:50 at=12:delay:30", 9.0),
            ("radio=4000:4000:10", 5.0),
        ] {
            let bytes = capacity(words);
            assert!((bytes - 1e6 * megabytes).abs() < 1.0, "{words}: {bytes}");
        }
        let radio = capacity("radio=4000:12000:20");
        assert!((9e6..11e6).contains(&radio), "{radio}");
    }

    #[test]
    fn the_capacity_of_a_trace_is_that_of_its_opportunities() {
        let mut scenario: Scenario = "rate=1 from=1 end=3 at=2:down:1".parse().unwrap();
        scenario.trace = Some(Arc::new("4\n8\n".parse().unwrap()));
        assert_eq!(scenario.capacity(&scenario.changes()), 375_000.0);
    }
}
