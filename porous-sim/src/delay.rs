//! The time that a datagram travels: delay, jitter, and the time that it is held back.

use core::time::Duration;

use crate::dice::{Dice, Effect};
use crate::{LinkConfig, below};

/// The longest time that a datagram is held back on a link with little jitter: enough that a game's next
/// datagram may overtake it.
const HOLD_BACK_MIN: Duration = Duration::from_millis(10);

/// The delay of datagram `number`, with its jitter by `effect`.
pub(crate) fn travel(config: &LinkConfig, dice: &Dice, effect: Effect, number: u64) -> Duration {
    let jitter = micros(config.jitter);
    let spread = jitter.saturating_mul(2).saturating_add(1);
    let offset = below(dice.draw(effect, number), spread);
    let step = micros(config.jitter_step).max(1);
    let offset = offset.checked_next_multiple_of(step).unwrap_or(offset);
    let micros = micros(config.delay)
        .saturating_add(offset)
        .saturating_sub(jitter);
    Duration::from_micros(micros)
}

/// The time that datagram `number` is held back so that later ones overtake it; `None` for most.
pub(crate) fn hold_back(config: &LinkConfig, dice: &Dice, number: u64) -> Option<Duration> {
    if !config.reorder.happens(dice.draw(Effect::HoldBack, number)) {
        return None;
    }
    let usual = || config.jitter.saturating_mul(2).max(HOLD_BACK_MIN);
    let longest = micros(config.reorder_by.unwrap_or_else(usual)).max(1);
    Some(Duration::from_micros(
        1 + below(dice.draw(Effect::HoldBackBy, number), longest),
    ))
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    fn range(config: &LinkConfig) -> (u64, u64) {
        let dice = Dice::new(Seed::new(5));
        let all = (0..10_000).map(|n| micros(travel(config, &dice, Effect::Delay, n)));
        (all.clone().min().unwrap(), all.max().unwrap())
    }

    #[test]
    fn jitter_is_as_wide_as_it_says() {
        let c = LinkConfig::new().delay(Duration::from_micros(100));
        assert_eq!(range(&c), (100, 100));
        assert_eq!(range(&c.jitter(Duration::from_micros(30))), (70, 130));
        assert_eq!(range(&c.jitter(Duration::from_micros(150))), (0, 250));
    }

    #[test]
    fn jitter_comes_in_steps() {
        let dice = Dice::new(Seed::new(5));
        let c = LinkConfig::new()
            .delay(Duration::from_micros(100))
            .jitter(Duration::from_micros(30))
            .jitter_step(Duration::from_micros(25));
        let all = (0..1000).map(|n| micros(travel(&c, &dice, Effect::Delay, n)));
        let all: alloc::collections::BTreeSet<u64> = all.collect();
        assert!(all.into_iter().eq([70, 95, 120, 145]));
    }

    #[test]
    fn jitter_is_even() {
        let dice = Dice::new(Seed::new(5));
        let c = LinkConfig::new()
            .delay(Duration::from_millis(50))
            .jitter(Duration::from_millis(9));
        let sum: u64 = (0..10_000)
            .map(|n| micros(travel(&c, &dice, Effect::Delay, n)))
            .sum();
        // sigma = 18 ms / sqrt(12) / sqrt(10000) = 52 us; the bound is four sigma.
        assert!((sum / 10_000).abs_diff(50_000) < 208, "{}", sum / 10_000);
    }

    #[test]
    fn held_back_by_one_to_the_longest() {
        let dice = Dice::new(Seed::new(5));
        let c = LinkConfig::new().reorder(100.0);
        let span = |c: &LinkConfig| {
            let all = (0..200_000)
                .filter_map(|n| hold_back(c, &dice, n))
                .map(micros);
            (all.clone().min().unwrap(), all.max().unwrap())
        };
        assert_eq!(span(&c), (1, 10_000));
        assert_eq!(span(&c.jitter(Duration::from_millis(8))), (1, 16_000));
        assert_eq!(span(&c.reorder_by(Duration::from_micros(3))), (1, 3));
        assert_eq!(span(&c.reorder_by(Duration::ZERO)), (1, 1));
        assert_eq!(hold_back(&c.reorder(0.0), &dice, 0), None);
    }

    #[test]
    fn extremes_saturate() {
        let dice = Dice::new(Seed::new(5));
        let c = LinkConfig::new()
            .delay(Duration::MAX)
            .jitter(Duration::MAX)
            .reorder(100.0);
        let _ = travel(&c, &dice, Effect::Delay, 0);
        assert!(hold_back(&c.reorder_by(Duration::MAX), &dice, u64::MAX).is_some());
    }
}
