//! The text of a scenario.

use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::RangeInclusive;
use core::str::FromStr;
use core::time::Duration;

use super::flow::FlowSpec;
use super::{Before, Scenario};
use crate::Seed;
use crate::lab::opportunities::Opportunities;
use crate::lab::stage::Change;

/// The longest time in a scenario: an hour.
const HOUR: f64 = 3600.0;

/// The highest rate, in kbit/s.
const MOST_RATE: f64 = 100_000_000.0;

/// The most bytes that a policer passes at once. With a round trip of 0 only this bounds what happens in a moment.
const MOST_DEPTH: u64 = 1 << 30;

/// The shortest time after which something is drawn anew or begins again: shorter ones would make billions of
/// changes in an hour.
const LEAST_PERIOD: Duration = Duration::from_millis(1);

/// A word of a scenario that means nothing.
///
/// ```
/// use porous_sim::lab::Scenario;
///
/// let error = "rate=1000 rtx=3".parse::<Scenario>().unwrap_err();
/// assert!(error.to_string().starts_with("rtx=3: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    word: String,
    problem: Problem,
}

/// What is wrong with a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    NoValue,
    NoKey,
    NoNumber,
    OutOfRange(String),
    NoQueue,
    NoChange,
    Parts(&'static str),
    NoController,
    NoWork,
    TcpWorks,
    EndsBefore,
    ShortPeriod,
    BesideTrace,
    NoTrace(&'static str),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoValue => f.write_str("a word is KEY=VALUE"),
            Self::NoKey => f.write_str(
                "no such key; there are rate rtt q loss aloss jit jre jstep wander radio policer ticks at \
                 every step gap trace from end seed flow",
            ),
            Self::NoNumber => f.write_str("not a number"),
            Self::OutOfRange(range) => write!(f, "a number has to be {range}"),
            Self::NoQueue => f.write_str("a queue is PERCENT, time:MS, codel or fqcodel"),
            Self::NoChange => f.write_str(
                "a change is SECOND:delay:MS, SECOND:rate:KBITS, SECOND:loss:PERCENT or SECOND:down:1",
            ),
            Self::Parts(parts) => write!(f, "the value is {parts}"),
            Self::NoController => f.write_str(
                "no such flow; there are default lean reno cubic paper fixed binary tcpreno tcpcubic tcpbbr",
            ),
            Self::NoWork => {
                f.write_str("a flow has +game, +stRATExBYTES, +stRATExBYTESr or +pushSECONDSxBYTES")
            }
            Self::TcpWorks => f.write_str("TCP sends bulk data only"),
            Self::EndsBefore => f.write_str("the end is not behind the beginning"),
            Self::ShortPeriod => f.write_str("a period has to be 1 ms or more"),
            Self::BesideTrace => f.write_str("a trace has its own rate, which nothing else may set"),
            Self::NoTrace(why) => f.write_str(why),
        }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.word, self.problem)
    }
}

impl core::error::Error for ScenarioError {}

/// A number in this range.
pub(super) fn number<T>(text: &str, range: RangeInclusive<T>) -> Result<T, Problem>
where
    T: FromStr + PartialOrd + fmt::Display,
{
    let number: T = text.parse().map_err(|_| Problem::NoNumber)?;
    if range.contains(&number) {
        return Ok(number);
    }
    let (least, most) = (range.start(), range.end());
    Err(Problem::OutOfRange(alloc::format!("{least} to {most}")))
}

/// Milliseconds.
pub(super) fn time(text: &str) -> Result<Duration, Problem> {
    let millis = number(text, 0.0..=1000.0 * HOUR)?;
    Ok(micros(1000.0 * millis))
}

pub(super) fn seconds(text: &str) -> Result<Duration, Problem> {
    Ok(micros(1e6 * number(text, 0.0..=HOUR)?))
}

/// Whole microseconds, at most those of an hour.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked by the caller"
)]
fn micros(micros: f64) -> Duration {
    Duration::from_micros(micros.round() as u64)
}

/// Kilobits a second, as bits.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked here"
)]
fn rate(text: &str) -> Result<u64, Problem> {
    Ok((1000.0 * number(text, 1.0..=MOST_RATE)?) as u64)
}

fn percent(text: &str) -> Result<f64, Problem> {
    number(text, 0.0..=100.0)
}

/// The parts between colons.
fn parts<'t, const N: usize>(text: &'t str, what: &'static str) -> Result<[&'t str; N], Problem> {
    let parts: Vec<&str> = text.split(':').collect();
    parts.try_into().map_err(|_| Problem::Parts(what))
}

/// A time after which something is drawn anew or begins again.
fn period(duration: Duration) -> Result<Duration, Problem> {
    if duration < LEAST_PERIOD {
        return Err(Problem::ShortPeriod);
    }
    Ok(duration)
}

fn ordered<T: PartialOrd>(least: T, most: T) -> Result<(T, T), Problem> {
    if least > most {
        return Err(Problem::OutOfRange(
            "from the least to the most".to_string(),
        ));
    }
    Ok((least, most))
}

fn queue(text: &str) -> Result<Before, Problem> {
    match text.split_once(':') {
        Some(("time", longest)) => Ok(Before::Time(time(longest)?)),
        Some(_) => Err(Problem::NoQueue),
        None if text == "codel" => Ok(Before::CoDel),
        None if text == "fqcodel" => Ok(Before::FqCoDel),
        None => match number(text, 0..=100_000) {
            Err(Problem::NoNumber) => Err(Problem::NoQueue),
            percent => Ok(Before::Percent(percent?)),
        },
    }
}

fn change(text: &str) -> Result<(Duration, Change), Problem> {
    let [at, what, value] = parts(text, "").map_err(|_| Problem::NoChange)?;
    let change = match what {
        "delay" => Change::Delay(time(value)?),
        "rate" => Change::Rate(rate(value)?),
        "loss" => Change::Loss(percent(value)?),
        "down" => Change::Down(number(value, 0..=1_u64)? == 1),
        _ => return Err(Problem::NoChange),
    };
    Ok((seconds(at)?, change))
}

fn trace(file: &str) -> Result<Opportunities, Problem> {
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|_| Problem::NoTrace("the trace cannot be read"))?;
    text.parse().map_err(|_| {
        Problem::NoTrace(
            "a trace has a line with a number of milliseconds for each packet, in their order",
        )
    })
}

/// Whether a word replaces the rate of a trace.
fn sets_rate(word: &str) -> bool {
    let is_change = word.starts_with("at=") && word.contains(":rate:");
    is_change || word.starts_with("radio=") || word.starts_with("policer=")
}

impl Scenario {
    fn set(&mut self, key: &str, value: &str) -> Result<(), Problem> {
        match key {
            "rate" => self.rate = rate(value)?,
            "rtt" => self.rtt = time(value)?,
            "q" => self.before = queue(value)?,
            "loss" => self.loss = percent(value)?,
            "aloss" => self.loss_back = percent(value)?,
            "jit" => self.jitter = time(value)?,
            "jre" => self.jitter_reorders = number(value, 0..=1_u64)? == 1,
            "jstep" => self.jitter_step = time(value)?,
            "wander" => {
                let [most, mean] = parts(value, "J:TAU")?;
                self.wander = Some([time(most)?, period(time(mean)?)?]);
            }
            "radio" => {
                let [least, most, mean] = parts(value, "LO:HI:TAU")?;
                let (least, most) = ordered(rate(least)?, rate(most)?)?;
                self.radio = Some((least, most, period(time(mean)?)?));
            }
            "policer" => self.policer = Some(number(value, 1..=MOST_DEPTH)?),
            "ticks" => {
                let hz = number(value, 1..=1000_u64)?;
                self.ticks = u32::try_from(hz).ok();
            }
            "at" => self.at.push(change(value)?),
            "every" => {
                let [period, length] = parts(value, "PERIOD:LEN")?;
                let (length, period) = ordered(time(length)?, self::period(time(period)?)?)?;
                self.every = Some([period, length]);
            }
            "step" => {
                let [least, most, every] = parts(value, "LO:HI:S")?;
                let (least, most) = ordered(time(least)?, time(most)?)?;
                self.step = Some([least, most, period(seconds(every)?)?]);
            }
            "gap" => self.gap = time(value)?,
            "trace" => self.trace = Some(Arc::new(trace(value)?)),
            "from" => self.from = seconds(value)?,
            "end" => self.end = seconds(value)?,
            "seed" => self.seed = Seed::new(number(value, 0..=u64::MAX)?),
            _ => return Err(Problem::NoKey),
        }
        Ok(())
    }
}

impl FromStr for Scenario {
    type Err = ScenarioError;

    fn from_str(text: &str) -> Result<Self, ScenarioError> {
        let mut scenario = Self::default();
        let mut flows: Vec<(FlowSpec, u64)> = Vec::new();
        for word in text.split_whitespace() {
            let error = |problem| ScenarioError {
                word: word.to_string(),
                problem,
            };
            let (key, value) = word
                .split_once('=')
                .ok_or_else(|| error(Problem::NoValue))?;
            if key == "flow" {
                flows.push(FlowSpec::parse(value).map_err(error)?);
            } else {
                scenario.set(key, value).map_err(error)?;
            }
        }
        let mut words = text.split_whitespace();
        if let Some(word) = words.find(|word| scenario.trace.is_some() && sets_rate(word)) {
            return Err(ScenarioError {
                word: word.to_string(),
                problem: Problem::BesideTrace,
            });
        }
        if scenario.end <= scenario.from {
            let [from, end] = [scenario.from, scenario.end].map(|at| at.as_secs_f64());
            return Err(ScenarioError {
                word: alloc::format!("from={from} end={end}"),
                problem: Problem::EndsBefore,
            });
        }
        if !flows.is_empty() {
            let gap = scenario.gap;
            let of = |(flow, number): (FlowSpec, u64)| {
                (0..number)
                    .map(move |index| flow.later(gap * u32::try_from(index).unwrap_or(u32::MAX)))
            };
            scenario.flows = flows.into_iter().flat_map(of).collect();
        }
        Ok(scenario)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_understood() {
        let text = "rate=500.5 rtt=0.5 q=time:60 loss=1.5 aloss=2 jit=3 jre=1 jstep=4 wander=20:50 \
                    radio=100:200:10 policer=30000 ticks=60 at=3:delay:30 at=4:rate:1 at=5:loss:1 \
                    at=6:down:1 every=1000:50 step=1:2:15 gap=10 from=1 end=2 seed=9 flow=lean*3 \
                    flow=default+st60x1000r@1.5-2.5:80 flow=reno+game flow=cubic+st10x20+push3x1000";
        let scenario: Scenario = text.parse().unwrap();
        assert_eq!(
            (scenario.rate, scenario.rtt),
            (500_500, Duration::from_micros(500))
        );
        assert_eq!((scenario.flows.len(), scenario.at.len()), (6, 4));
        let starts = scenario.flows.iter().map(|flow| flow.start.as_millis());
        assert_eq!(starts.collect::<Vec<_>>(), [0, 10, 20, 1500, 0, 0]);
        assert_eq!(scenario.flows[3].rtt, Some(Duration::from_millis(80)));
        for queue in ["codel", "fqcodel", "0", "400"] {
            assert!(alloc::format!("q={queue}").parse::<Scenario>().is_ok());
        }
    }

    #[test]
    fn nothing_is_the_usual_scenario_and_the_last_word_counts() {
        let usual: Scenario = "".parse().unwrap();
        assert_eq!((usual.rate, usual.flows.len()), (10_000_000, 1));
        let last: Scenario = "seed=2 rate=3 seed=4".parse().unwrap();
        assert_eq!(last.seed, Seed::new(4));
    }

    /// Words of which each alone is wrong.
    const WRONG: &[&str] = &[
        "rate",
        "x=1",
        "rate=",
        "rate=0",
        "rate=-1",
        "rate=nan",
        "rate=1e12",
        "rtt=fast",
        "rtt=-1",
        "q=",
        "q=-1",
        "q=1.5",
        "q=red",
        "q=time",
        "q=time:x",
        "q=space:3",
        "loss=101",
        "loss=NaN",
        "aloss=-1",
        "jit=x",
        "jre=2",
        "jstep=-1",
        "wander=20",
        "wander=20:0",
        "wander=20:0.999",
        "wander=1:2:3",
        "radio=5:4:10",
        "radio=1:2:0",
        "radio=1:2:0.001",
        "radio=1:2",
        "policer=0",
        "policer=2000000000",
        "ticks=0",
        "ticks=2000",
        "ticks=1.5",
        "at=3",
        "at=3:up:1",
        "at=x:down:1",
        "at=3:down:2",
        "at=3:loss:200",
        "every=10:20",
        "every=0:0",
        "every=0.5:0.5",
        "step=2:1:3",
        "step=1:2:0",
        "step=1:2:0.0005",
        "gap=x",
        "trace=/no/such/file",
        "trace=",
        "from=x",
        "end=99999",
        "from=60",
        "end=10",
        "seed=-1",
        "seed=1.5",
        "flow=",
        "flow=quic",
        "flow=lean*0",
        "flow=lean*x",
        "flow=lean*9999",
        "flow=lean@5-5",
        "flow=lean@5-4",
        "flow=lean@x",
        "flow=lean:x",
        "flow=lean+",
        "flow=lean+st60",
        "flow=lean+st0x10",
        "flow=lean+st1x7",
        "flow=lean+push1",
        "flow=lean+nap",
        "flow=tcpreno+game",
    ];

    #[test]
    fn what_is_wrong_is_named_in_one_line() {
        for &bad in WRONG {
            let error = bad.parse::<Scenario>().unwrap_err().to_string();
            let word = if ["from=60", "end=10"].contains(&bad) {
                "from="
            } else {
                bad
            };
            assert!(
                error.starts_with(word) && !error.contains('\n'),
                "{bad}: {error}"
            );
        }
    }
}
