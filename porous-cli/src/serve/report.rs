//! What the server has done, for a person and as the JSON file has it.

use core::net::SocketAddr;

use serde::Serialize;

use super::view::View;
use super::worker::{Snapshot, add};
use crate::echo::{Count, Counts};

/// The sums of all threads.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    address: SocketAddr,
    threads: u8,
    seconds: f64,
    /// Connections that there have been.
    connections: u64,
    /// Connections that were there at the end.
    connected: usize,
    reliable: CountReport,
    unreliable: CountReport,
    passive: CountReport,
    /// Bytes of UDP payload.
    bytes_sent: u64,
    bytes_received: u64,
}

/// What was counted of one mode.
#[derive(Clone, Copy, Debug, Serialize)]
struct CountReport {
    probes: u64,
    echoes: u64,
}

impl From<Count> for CountReport {
    fn from(count: Count) -> Self {
        Self {
            probes: count.probes,
            echoes: count.echoes,
        }
    }
}

impl Report {
    pub(crate) fn new(view: &View, all: &[Snapshot], seconds: f64) -> Self {
        let mut counts = Counts::default();
        for one in all {
            add(&mut counts, &one.counts);
        }
        let [reliable, unreliable, passive] = counts.map(CountReport::from);
        Self {
            address: view.address,
            threads: view.threads,
            seconds,
            connections: all.iter().map(|one| one.accepted).sum(),
            connected: all.iter().map(|one| one.connected).sum(),
            reliable,
            unreliable,
            passive,
            bytes_sent: all.iter().map(|one| one.bytes_sent).sum(),
            bytes_received: all.iter().map(|one| one.bytes_received).sum(),
        }
    }

    /// The lines for a person.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "\n{:.1} s at {}: connections {}, at the end {}\n\n{:<10} {:>12} {:>12}\n",
            self.seconds,
            self.address,
            self.connections,
            self.connected,
            "mode",
            "probes",
            "echoes"
        );
        for (name, count) in [
            ("reliable", self.reliable),
            ("unreliable", self.unreliable),
            ("passive", self.passive),
        ] {
            text.push_str(&format!(
                "{name:<10} {:>12} {:>12}\n",
                count.probes, count.echoes
            ));
        }
        text.push_str(&format!(
            "\n{} bytes sent, {} received, of UDP payload\n",
            self.bytes_sent, self.bytes_received
        ));
        text
    }
}
