//! When a client shows what: snapshots are shown a little later than they come, so that there are two to show the
//! way between.

/// Time is counted in parts of a tick.
pub(crate) const PARTS: i64 = 16;

/// How much later than they come, in the mean, snapshots are shown: two intervals, so that one may get lost, and
/// 50 ms of jitter. It is added to the latency of the game.
pub(crate) const DELAY: i64 = 9;

/// A new distance between the clocks counts as a sixteenth, so that one late snapshot does not move the world.
const SHARE: i64 = 16;

/// The time of the world that a client shows, from the times at which snapshots came.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Playout {
    /// How far the server's clock is ahead of ours as seen from here, in parts of a tick, smoothed.
    ahead: Option<i64>,
    shown: Option<i64>,
}

impl Playout {
    /// A snapshot of the server's `tick` came at `now`, in ticks of this client.
    pub(crate) fn heard(&mut self, now: u32, tick: u32) {
        let sample = (i64::from(tick) - i64::from(now)) * PARTS;
        self.ahead = Some(match self.ahead {
            Some(ahead) => ahead + (sample - ahead) / SHARE,
            None => sample,
        });
    }

    /// The time to show at `now`, in parts of the server's ticks. It never goes back.
    pub(crate) fn advance(&mut self, now: u32) -> Option<i64> {
        let at = i64::from(now) * PARTS + self.ahead? - DELAY * PARTS;
        self.shown = Some(self.shown.unwrap_or(at).max(at));
        self.shown
    }

    /// The time that is shown.
    pub(crate) const fn shown(&self) -> Option<i64> {
        self.shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_delay_behind_whatever_the_jitter_is() {
        let mut playout = Playout::default();
        assert_eq!(playout.advance(5), None);
        let mut last = i64::MIN;
        for now in 0..1000_u32 {
            if now % 3 == 0 {
                // From 7 to 11 ticks under way.
                playout.heard(now, 500 + now - 7 - now % 5);
            }
            let shown = playout.advance(now).unwrap();
            assert!(shown >= last, "time goes on");
            last = shown;
        }
        let mean = (500 + 999 - 9 - DELAY) * PARTS;
        assert!((last - mean).abs() < 2 * PARTS, "{last} {mean}");
    }
}
