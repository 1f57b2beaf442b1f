//! The result of a world, or of many.

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;

/// The names of the modes, by number.
const MODES: [&str; 3] = ["unreliable", "reliable", "passive"];

/// What happened in one world, or in many together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The durations of all connections together, in microseconds.
    pub connected: u64,
    /// Connections that were established, each counted at both ends.
    pub established: u64,
    /// Those of them that were sealed.
    pub sealed: u64,
    /// Datagrams that hosts and strangers sent.
    pub datagrams: u64,
    /// Packets sent and delivered, by mode.
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

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const HOUR: u64 = 3_600_000_000;
        let tenths = self.connected % HOUR * 10 / HOUR;
        writeln!(f, "connection-hours  {}.{tenths}", self.connected / HOUR)?;
        writeln!(f, "connections       {}", self.established / 2)?;
        writeln!(f, "sealed            {}", self.sealed / 2)?;
        writeln!(f, "datagrams         {}", self.datagrams)?;
        writeln!(f, "audits            {}", self.checks)?;
        for (mode, [sent, delivered]) in MODES.iter().zip(self.packets) {
            writeln!(f, "{mode:18}{sent} sent, {delivered} delivered")?;
        }
        writeln!(f, "faults")?;
        for (kind, count) in &self.faults {
            writeln!(f, "  {kind:28}{count}")?;
        }
        Ok(())
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
