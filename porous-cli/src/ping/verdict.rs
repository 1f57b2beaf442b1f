//! The verdict: for what play a connection is good.

use serde::Serialize;

/// What play at one rate needs. The same numbers stand in the help of the command.
#[derive(Clone, Copy, Debug)]
struct Play {
    hertz: u32,
    /// The bounds, in the units of [`Measured`].
    round_trip: f64,
    jitter: f64,
    loss: f64,
}

/// The most demanding first. Jitter has a tick of the game: a state that is later than that misses its turn.
/// Round trips and losses are those at which players of fast, of common and of slow games begin to complain.
const PLAYS: [Play; 3] = [
    Play {
        hertz: 60,
        round_trip: 100.0,
        jitter: 1000.0 / 60.0,
        loss: 2.0,
    },
    Play {
        hertz: 30,
        round_trip: 200.0,
        jitter: 1000.0 / 30.0,
        loss: 5.0,
    },
    Play {
        hertz: 10,
        round_trip: 500.0,
        jitter: 100.0,
        loss: 10.0,
    },
];

/// What is judged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    /// The names of modes, and their p99 in milliseconds.
    pub(crate) round_trips: Vec<(&'static str, f64)>,
    /// In milliseconds.
    pub(crate) jitter: f64,
    /// In percent, of the worse way.
    pub(crate) loss: f64,
}

/// What is said of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Verdict {
    /// The rate of play for which it is good; `None` for none.
    pub(crate) hertz: Option<u32>,
    pub(crate) text: String,
}

impl Verdict {
    pub(crate) fn of(measured: &Measured) -> Self {
        if measured.round_trips.is_empty() {
            return Self {
                hertz: None,
                text: "no verdict: no echo has come".to_owned(),
            };
        }
        let good = PLAYS.iter().find(|play| play.misses(measured).is_none());
        // The bound that a better connection would keep.
        let better = PLAYS
            .iter()
            .take_while(|play| play.misses(measured).is_some());
        let missed = better.last().and_then(|play| play.misses(measured));
        let head = match good {
            Some(play) => format!("good for {} Hz play", play.hertz),
            None => "not good for play".to_owned(),
        };
        let why = missed.unwrap_or_else(|| measured.words());
        Self {
            hertz: good.map(|play| play.hertz),
            text: format!("{head}: {why}"),
        }
    }
}

impl Play {
    /// The first bound that does not hold, in words.
    fn misses(&self, measured: &Measured) -> Option<String> {
        let worst = measured.worst();
        let late = worst.filter(|(_, p99)| *p99 > self.round_trip);
        if let Some((name, p99)) = late {
            let most = self.round_trip;
            return Some(format!(
                "{name} p99 {p99:.1} ms, for {} Hz at most {most:.1}",
                self.hertz
            ));
        }
        let miss = |name: &str, value: f64, unit: &str, most: f64| {
            (value > most).then(|| {
                format!(
                    "{name} {value:.1} {unit}, for {} Hz at most {most:.1}",
                    self.hertz
                )
            })
        };
        miss("jitter", measured.jitter, "ms", self.jitter)
            .or_else(|| miss("loss", measured.loss, "%", self.loss))
    }
}

impl Measured {
    /// The mode with the longest p99.
    fn worst(&self) -> Option<(&'static str, f64)> {
        let all = self.round_trips.iter().copied();
        all.max_by(|(_, a), (_, b)| a.total_cmp(b))
    }

    fn words(&self) -> String {
        let worst = self.worst();
        let round_trip = worst.map_or_else(String::new, |(name, p99)| {
            format!("{name} p99 {p99:.1} ms, ")
        });
        format!(
            "{round_trip}jitter {:.1} ms, loss {:.1} %",
            self.jitter, self.loss
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(p99: f64, jitter: f64, loss: f64) -> Verdict {
        Verdict::of(&Measured {
            round_trips: vec![("states", 1.0), ("events", p99)],
            jitter,
            loss,
        })
    }

    #[test]
    fn each_bound_counts() {
        for (p99, jitter, loss, hertz) in [
            (100.0, 16.6, 2.0, Some(60)),
            (100.1, 0.0, 0.0, Some(30)),
            (0.0, 16.7, 0.0, Some(30)),
            (0.0, 0.0, 2.1, Some(30)),
            (200.1, 0.0, 0.0, Some(10)),
            (0.0, 33.4, 0.0, Some(10)),
            (0.0, 0.0, 5.1, Some(10)),
            (500.1, 0.0, 0.0, None),
            (0.0, 100.1, 0.0, None),
            (0.0, 0.0, 10.1, None),
        ] {
            let verdict = verdict(p99, jitter, loss);
            assert_eq!(verdict.hertz, hertz, "{verdict:?}");
            assert!(verdict.text.len() <= 80, "{verdict:?}");
        }
    }

    #[test]
    fn it_says_what_keeps_a_connection_from_better() {
        let good = "good for 60 Hz play: events p99 12.3 ms, jitter 0.4 ms, loss 0.0 %";
        assert_eq!(verdict(12.3, 0.4, 0.0).text, good);
        let slow = "good for 30 Hz play: events p99 140.0 ms, for 60 Hz at most 100.0";
        assert_eq!(verdict(140.0, 0.4, 0.0).text, slow);
        let bad = "not good for play: loss 30.0 %, for 10 Hz at most 10.0";
        assert_eq!(verdict(140.0, 0.4, 30.0).text, bad);
    }

    #[test]
    fn without_echoes_there_is_none() {
        let verdict = Verdict::of(&Measured::default());
        assert_eq!(verdict.hertz, None);
        assert!(verdict.text.starts_with("no verdict"), "{verdict:?}");
    }
}
