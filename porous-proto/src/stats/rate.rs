//! Bytes a second.

use core::time::Duration;

use crate::time::Instant;

/// Half of the time that is looked back on.
const HALF: Duration = Duration::from_millis(500);

/// A count, and when it was that.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    at: Instant,
    bytes: u64,
}

/// How fast a count of bytes grew over the last half to whole second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rate {
    /// When the halves began: the one before, and this one.
    marks: [Mark; 2],
    now: Mark,
}

impl Rate {
    /// It is so much now: to be told before it grows.
    pub(crate) fn note(&mut self, bytes: u64, now: Instant) {
        let mark = Mark { at: now, bytes };
        let age = now.saturating_duration_since(self.marks[1].at);
        if age >= 2 * HALF {
            self.marks = [mark; 2]; // there was silence
        } else if age >= HALF {
            self.marks = [self.marks[1], mark];
        }
        self.now = mark;
    }

    /// Bytes a second, if the count is so much now.
    pub(crate) fn recent(&self, bytes: u64) -> u32 {
        let [mark, _] = self.marks;
        let time = self.now.at.saturating_duration_since(mark.at).max(HALF);
        let grown = u128::from(bytes.saturating_sub(mark.bytes)) * 1_000_000;
        u32::try_from(grown / time.as_micros()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds 100 bytes so often, from one time to another, in milliseconds.
    fn send(rate: &mut Rate, bytes: &mut u64, from: u64, to: u64, every: u64) {
        for at in (from..to).step_by(usize::try_from(every).unwrap()) {
            rate.note(*bytes, Instant::from_micros(1000 * at));
            *bytes += 100;
        }
    }

    #[test]
    fn the_rate_of_the_last_second_is_told() {
        let (mut rate, mut bytes) = (Rate::default(), 0);
        assert_eq!(rate.recent(0), 0);
        send(&mut rate, &mut bytes, 7000, 10_000, 10);
        let told = rate.recent(bytes);
        assert!((9_900..=10_300).contains(&told), "{told}");
        send(&mut rate, &mut bytes, 10_000, 12_000, 100);
        let told = rate.recent(bytes);
        assert!((900..=1200).contains(&told), "{told}");
    }

    #[test]
    fn after_silence_it_begins_anew() {
        let (mut rate, mut bytes) = (Rate::default(), 0);
        send(&mut rate, &mut bytes, 0, 3000, 10);
        send(&mut rate, &mut bytes, 9000, 9001, 10);
        assert_eq!(rate.recent(bytes), 200);
    }
}
