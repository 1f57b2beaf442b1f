//! A flow of a scenario, and its text.

use alloc::boxed::Box;
use alloc::string::{String, ToString as _};
use core::time::Duration;

use porous_proto::Mode;

use super::text::{Problem, number, seconds, time};
use crate::Seed;
use crate::lab::controllers::{Controller, Subject};
use crate::lab::ends::Ends;
use crate::lab::work::Work;

/// The most flows of a word, and the most bytes of a packet or a push.
const MOST_FLOWS: u64 = 256;
const MOST_BYTES: u64 = 1 << 20;
/// The shortest packet with a time in it.
const LEAST_BYTES: u64 = 8;

/// A flow of a scenario.
#[derive(Clone, Debug)]
pub(super) struct FlowSpec {
    pub(super) name: String,
    subject: Subject,
    work: Work,
    pub(super) start: Duration,
    /// `Duration::MAX` for never.
    pub(super) stop: Duration,
    pub(super) rtt: Option<Duration>,
}

impl Default for FlowSpec {
    fn default() -> Self {
        Self {
            name: "default".to_string(),
            subject: Subject::Porous(None),
            work: Work::bulk(),
            start: Duration::ZERO,
            stop: Duration::MAX,
            rtt: None,
        }
    }
}

impl FlowSpec {
    pub(super) const fn is_porous(&self) -> bool {
        matches!(self.subject, Subject::Porous(_))
    }

    pub(super) fn ends(&self, seed: Seed) -> Box<dyn Ends> {
        self.subject.ends(self.work, seed)
    }

    /// The flow that begins this much later.
    pub(super) fn later(&self, by: Duration) -> Self {
        Self {
            start: self.start + by,
            ..self.clone()
        }
    }

    /// A flow, and how many of it there are.
    pub(super) fn parse(text: &str) -> Result<(Self, u64), Problem> {
        let (text, rtt) = match text.split_once(':') {
            Some((text, rtt)) => (text, Some(time(rtt)?)),
            None => (text, None),
        };
        let (text, times) = match text.split_once('@') {
            Some((text, times)) => (text, Some(times)),
            None => (text, None),
        };
        let (start, stop) = times.map_or(Ok((Duration::ZERO, Duration::MAX)), life)?;
        let mut parts = text.split('+');
        let head = parts.next().unwrap_or_default();
        let (name, number) = match head.split_once('*') {
            Some((name, many)) => (name, number(many, 1..=MOST_FLOWS)?),
            None => (head, 1),
        };
        let controller = Controller::named(name).ok_or(Problem::NoController)?;
        let subject = controller.subject;
        let work = work(parts)?;
        if work.is_some() && matches!(subject, Subject::Tcp(_)) {
            return Err(Problem::TcpWorks);
        }
        let spec = Self {
            name: name.to_string(),
            subject,
            work: work.unwrap_or(Work::bulk()),
            start,
            stop,
            rtt,
        };
        Ok((spec, number))
    }
}

/// `START` or `START-STOP`, in seconds.
fn life(text: &str) -> Result<(Duration, Duration), Problem> {
    let Some((start, stop)) = text.split_once('-') else {
        return Ok((seconds(text)?, Duration::MAX));
    };
    let (start, stop) = (seconds(start)?, seconds(stop)?);
    if stop <= start {
        return Err(Problem::EndsBefore);
    }
    Ok((start, stop))
}

/// What a flow does; `None` if no word says it.
fn work<'t>(words: impl Iterator<Item = &'t str>) -> Result<Option<Work>, Problem> {
    let (mut steady, mut push) = (None, None);
    for word in words {
        if let Some(text) = word.strip_prefix("push") {
            let (after, bytes) = text.split_once('x').ok_or(Problem::NoWork)?;
            push = Some((seconds(after)?, number(bytes, 1..=64 * MOST_BYTES)?));
        } else if word == "game" {
            steady = Some(Work::game().and_bulk());
        } else if let Some(text) = word.strip_prefix("st") {
            let (text, mode) = match text.strip_suffix('r') {
                Some(text) => (text, Mode::Reliable),
                None => (text, Mode::Unreliable),
            };
            let (rate, bytes) = text.split_once('x').ok_or(Problem::NoWork)?;
            let rate = number(rate, 1..=1_000_000)?;
            let bytes = number(bytes, LEAST_BYTES..=MOST_BYTES)?;
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            steady = Some(Work::steady(rate, bytes, mode));
        } else {
            return Err(Problem::NoWork);
        }
    }
    Ok(match push {
        Some((after, bytes)) => {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            Some(steady.unwrap_or(Work::game()).and_push(after, bytes))
        }
        None => steady,
    })
}
