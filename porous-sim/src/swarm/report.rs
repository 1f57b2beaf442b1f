//! The result of a world, or of many.

use alloc::collections::BTreeMap;
use alloc::string::String;

/// What happened in one world, or in many together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The durations of all connections together, in microseconds.
    pub connected: u64,
    /// Connections that were established, each counted at both ends.
    pub established: u64,
    /// Those of them that were sealed.
    pub sealed: u64,
    /// Those of all that were held to what was sent until they ended.
    pub judged: u64,
    /// Those of the judged ones that ended, and whose ends needed a cause.
    pub ends: u64,
    /// Datagrams that hosts and strangers sent.
    pub datagrams: u64,
    /// Packets sent and delivered: unreliable, reliable and passive ones.
    pub packets: [[u64; 2]; 3],
    /// Faults, by kind.
    pub faults: BTreeMap<&'static str, u64>,
    /// Looks of applications at their hosts, each with an audit and all checks.
    pub checks: u64,
}

impl Report {
    /// Counts faults.
    pub(super) fn fault(&mut self, kind: &'static str, count: u64) {
        *self.faults.entry(kind).or_default() += count;
    }

    /// Adds another report to this one.
    ///
    /// ```
    /// use porous_sim::swarm::Report;
    ///
    /// let mut sum = Report::default();
    /// sum.add(&Report { datagrams: 7, ..Report::default() });
    /// assert_eq!(sum.datagrams, 7);
    /// ```
    pub fn add(&mut self, other: &Self) {
        self.connected += other.connected;
        self.established += other.established;
        self.sealed += other.sealed;
        self.judged += other.judged;
        self.ends += other.ends;
        self.datagrams += other.datagrams;
        self.checks += other.checks;
        for (sum, packets) in self.packets.iter_mut().zip(other.packets) {
            sum[0] += packets[0];
            sum[1] += packets[1];
        }
        for (kind, count) in &other.faults {
            self.fault(kind, *count);
        }
    }
}

/// How one world ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The number of its seed.
    pub seed: u64,
    /// What went wrong, if anything.
    pub failure: Option<String>,
    /// What happened, up to the failure if there was one.
    pub report: Report,
    /// The digest of all datagrams and events.
    pub digest: u64,
    /// All datagrams and events as lines, if text was asked for.
    pub text: Option<String>,
}
