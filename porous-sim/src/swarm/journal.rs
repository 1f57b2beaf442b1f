//! The disturbances of each host, with their times: the excuses that the end of a connection may have.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::Instant;

/// The connections that a disturbance concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whom {
    /// All connections of a host.
    Host(usize),
    /// The connections between two hosts.
    Between(usize, usize),
    /// The connections between two hosts, until the weather changes.
    Weather(usize, usize),
}

impl Whom {
    fn touches(self, a: usize, b: usize) -> bool {
        match self {
            Self::Host(host) => host == a || host == b,
            Self::Between(x, y) | Self::Weather(x, y) => (x, y) == (a, b) || (y, x) == (a, b),
        }
    }
}

/// The most time from a command, or from the remote host's end of a connection, to a host's own end, its
/// timeout not counted. The remote host repeats its goodbye for up to 5 s, perhaps unheard, and then this
/// host has to time out.
const AFTERMATH: Duration = Duration::from_secs(30);

/// The longest time that a datagram is late.
pub(super) const LATENESS: Duration = Duration::from_secs(60);

/// The time that may pass besides a timeout: a round trip, and the wait until applications look.
const SLACK: Duration = Duration::from_secs(4);

#[derive(Clone, Copy, Debug)]
struct Disturbance {
    whom: Whom,
    from: Instant,
    until: Instant,
}

/// A host ended a connection with another, or was told that it had ended.
#[derive(Clone, Copy, Debug)]
struct End {
    by: usize,
    with: usize,
    at: Instant,
}

/// All that may end a connection.
#[derive(Debug, Default)]
pub(super) struct Journal {
    /// Disturbances that keep datagrams away, or make a host forget.
    disturbances: Vec<Disturbance>,
    ends: Vec<End>,
    /// From one host to another, from when to when datagrams may come that are late by up to a minute.
    late: BTreeMap<(usize, usize), Vec<(Instant, Instant)>>,
}

impl Journal {
    /// From now until `end`, or until the weather changes, datagrams from one host to another may be held back for
    /// [`LATENESS`]: to a connection that is being cut off, each is a sign of life when it comes.
    pub(super) fn late(&mut self, way: (usize, usize), now: Instant, end: Instant) {
        self.late
            .entry(way)
            .or_default()
            .push((now, end + LATENESS));
    }

    /// The weather from one host to another changes: what was held back comes within [`LATENESS`].
    pub(super) fn on_time(&mut self, way: (usize, usize), now: Instant) {
        if let Some((_, until)) = self.late.get_mut(&way).and_then(|late| late.last_mut()) {
            *until = (*until).min(now + LATENESS);
        }
    }

    /// The most time that a sign of life may be late on a connection that was over at `over`.
    fn lateness(&self, [a, b]: [usize; 2], over: Instant) -> Duration {
        let mut late = [(a, b), (b, a)]
            .into_iter()
            .flat_map(|way| self.late.get(&way));
        let covers = |late: &Vec<(Instant, Instant)>| {
            let mut late = late.iter();
            late.any(|&(from, until)| from <= over && until >= over)
        };
        if late.any(covers) {
            LATENESS
        } else {
            Duration::ZERO
        }
    }

    /// Datagrams may be kept away from `from` to `until`.
    pub(super) fn disturb(&mut self, whom: Whom, from: Instant, until: Instant) {
        self.disturbances.push(Disturbance { whom, from, until });
    }

    /// A disturbance is over.
    pub(super) fn calm(&mut self, whom: Whom, now: Instant) {
        for entry in &mut self.disturbances {
            if entry.whom == whom {
                entry.until = entry.until.min(now);
            }
        }
    }

    /// A stranger repeats a datagram that one of the two may not have had before: to a connection that
    /// is being cut off the copy is a last sign of life, and its end comes later.
    pub(super) fn prolong(&mut self, a: usize, b: usize, now: Instant) {
        let recent = |entry: &Disturbance| {
            entry.whom.touches(a, b) && entry.from <= now && entry.until + AFTERMATH >= now
        };
        // Otherwise the connection lives, and a copy is no news to it.
        if self.disturbances.iter().any(recent) {
            self.disturb(Whom::Between(a, b), now, now);
        }
    }

    /// The application of a host ended a connection with another, or was told of its end.
    pub(super) fn end(&mut self, by: usize, with: usize, at: Instant) {
        self.ends.push(End { by, with, at });
    }

    /// When the last disturbance is over.
    pub(super) fn calm_at(&self) -> Instant {
        let until = self.disturbances.iter().map(|entry| entry.until);
        until.max().unwrap_or(Instant::ZERO)
    }

    /// The events of a connection between the two in the minute before, as text.
    pub(super) fn history(&self, [own, remote]: [usize; 2], at: Instant) -> String {
        let recent = |then: Instant| then <= at && then + Duration::from_secs(60) >= at;
        let disturbances = self.disturbances.iter();
        let disturbances = disturbances.filter(|entry| entry.whom.touches(own, remote));
        let disturbances: Vec<_> = disturbances.filter(|entry| recent(entry.until)).collect();
        let ends: Vec<_> = self.ends.iter().filter(|end| recent(end.at)).collect();
        format!("{disturbances:?} {ends:?}")
    }

    /// True if there is a reason why a connection with `remote` was over at `own` at this time.
    pub(super) fn explains(
        &self,
        [own, remote]: [usize; 2],
        at: Instant,
        timeout: Duration,
    ) -> bool {
        let disturbed = self.disturbances.iter().any(|entry| {
            let lateness = self.lateness([own, remote], entry.until);
            // A connection that is cut off ends a timeout after the last datagram that got through.
            let near = entry.from <= at && entry.until + timeout + SLACK + lateness >= at;
            near && entry.whom.touches(own, remote)
        });
        let told = self.ends.iter().rev().any(|end| {
            let lateness = self.lateness([own, remote], end.at);
            let near = end.at < at && end.at + timeout + AFTERMATH + lateness >= at;
            // Ends by the own application are known to the caller.
            near && (end.by, end.with) == (remote, own)
        });
        disturbed || told
    }
}
