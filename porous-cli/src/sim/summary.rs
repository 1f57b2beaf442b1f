//! What a swarm came to.

use core::fmt::Write as _;

use porous_sim::swarm::{Outcome, Report};
use serde::Serialize;

/// The names of the modes, by number.
const MODES: [&str; 3] = ["unreliable", "reliable", "passive"];

/// The worlds of a swarm together.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    sum: Report,
    worlds: u64,
    failures: Vec<Failure>,
}

/// A world in which a promise was broken.
#[derive(Debug, Serialize)]
struct Failure {
    seed: u64,
    what: String,
}

/// The same for other programs.
#[derive(Debug, Serialize)]
pub(crate) struct Numbers<'a> {
    worlds: u64,
    failures: &'a [Failure],
    connection_seconds: f64,
    connections: u64,
    sealed: u64,
    datagrams: u64,
    audits: u64,
    packets: Vec<Packets>,
    faults: &'a alloc::collections::BTreeMap<&'static str, u64>,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct Packets {
    mode: &'static str,
    sent: u64,
    delivered: u64,
}

impl Summary {
    pub(crate) fn add(&mut self, outcome: &Outcome) {
        self.sum.add(&outcome.report);
        self.worlds += 1;
        if let Some(what) = &outcome.failure {
            let (seed, what) = (outcome.seed, what.clone());
            self.failures.push(Failure { seed, what });
        }
    }

    /// Whether all promises were held.
    pub(crate) fn is_good(&self) -> bool {
        self.failures.is_empty()
    }

    /// What a user wants to know first, what was done, and what it was up against.
    pub(crate) fn text(&self, seconds: u64) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut text, seconds);
        text
    }

    fn write(&self, text: &mut String, seconds: u64) -> core::fmt::Result {
        let (worlds, failed, sum) = (self.worlds, self.failures.len(), &self.sum);
        match failed {
            0 => writeln!(text, "{worlds} worlds, all promises held")?,
            _ => writeln!(
                text,
                "{failed} of {worlds} worlds broke a promise: see above"
            )?,
        }
        let minutes = sum.connected / 60_000_000;
        let (hours, tenths) = (minutes / 60, minutes % 60 / 6);
        writeln!(
            text,
            "\n\
             In each world a seed draws a few hosts, their traffic, and what goes wrong:\n\
             networks, clocks, programs, attackers. Then all heals, and each packet, event\n\
             and byte of memory is accounted for.\n\n\
             {hours}.{tenths} hours of connections, in {seconds} s\n\
             {} connections, {} of them sealed\n\
             {} ends of them held to what was sent, {} to a cause why they ended\n\
             {} datagrams of hosts and strangers\n\
             {} audits of all that a host holds\n",
            sum.established / 2,
            sum.sealed / 2,
            sum.judged,
            sum.ends,
            sum.datagrams,
            sum.checks,
        )?;
        writeln!(text, "{:<32}{:>12}{:>12}", "packets", "sent", "delivered")?;
        for (mode, [sent, delivered]) in MODES.iter().zip(sum.packets) {
            writeln!(text, "  {mode:<30}{sent:>12}{delivered:>12}")?;
        }
        writeln!(
            text,
            "A reliable packet that was not delivered is one of a connection that ended\n\
             first: by a command, a crash or a partition."
        )?;
        writeln!(text, "\n{:<32}{:>12}", "what went wrong", "times")?;
        for (kind, count) in &sum.faults {
            writeln!(text, "  {kind:<30}{count:>12}")?;
        }
        Ok(())
    }

    pub(crate) fn numbers(&self, seconds: f64) -> Numbers<'_> {
        let sum = &self.sum;
        let packets = MODES.iter().zip(sum.packets);
        Numbers {
            worlds: self.worlds,
            failures: &self.failures,
            #[expect(clippy::cast_precision_loss, reason = "a figure to be read")]
            connection_seconds: sum.connected as f64 / 1e6,
            connections: sum.established / 2,
            sealed: sum.sealed / 2,
            datagrams: sum.datagrams,
            audits: sum.checks,
            packets: packets
                .map(|(mode, [sent, delivered])| Packets {
                    mode,
                    sent,
                    delivered,
                })
                .collect(),
            faults: &sum.faults,
            seconds,
        }
    }
}
