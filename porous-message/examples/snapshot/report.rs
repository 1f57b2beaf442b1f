//! The counts of a game, and their printed form.

use core::fmt;

use porous_message::measure;
use porous_sim::LinkStats;

use crate::history::{GROUPS, Group};
use crate::server::Snapshot;
use crate::world::OBJECTS;

/// Bytes of an object as a program has it: position, rotation and speed as floats of 32 bits, whether
/// it is at rest, and its health.
const RAW_BYTES: u64 = 4 * (3 + 4 + 3) + 1 + 1;

/// Counts of a game.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) ticks: u32,
    pub(crate) bad_ticks: u32,
    pub(crate) snapshots: u64,
    /// Snapshots that had room for everything new.
    pub(crate) whole: u64,
    pub(crate) parts: u64,
    pub(crate) arrived: u64,
    pub(crate) expired: u64,
    pub(crate) refused: u64,
    /// Snapshots of which all parts arrived.
    pub(crate) complete: u64,
    /// Objects that moved, summed over snapshots.
    pub(crate) moving: u64,
    /// Bytes of the parts, and of the same snapshots without differences.
    pub(crate) bytes: u64,
    pub(crate) full_bytes: u64,
    /// The counts of the link to the client.
    pub(crate) link: LinkStats,
}

impl Figures {
    /// Counts a snapshot that is being sent.
    pub(crate) fn count(&mut self, snapshot: &Snapshot, world: &[Group; GROUPS]) {
        self.snapshots += 1;
        self.whole += u64::from(snapshot.is_whole);
        self.parts += snapshot.parts.len() as u64;
        let bytes = snapshot.parts.iter().map(|(_, part)| part.len() as u64);
        self.bytes += bytes.sum::<u64>();
        let bits = measure(&mut { *world }).expect("it is within its bounds");
        self.full_bytes += bits.div_ceil(8);
        let moving = world.iter().flatten().filter(|body| !body.is_at_rest());
        self.moving += moving.count() as u64;
    }

    /// The bytes of differences, in percent of the same snapshots without differences.
    pub(crate) fn percent(&self) -> f64 {
        100.0 * ratio(self.bytes, self.full_bytes)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let objects = self.snapshots * OBJECTS as u64;
        let seconds = f64::from(self.ticks) / 60.0;
        writeln!(
            f,
            "snapshots   {}, {:.1} a second, of {OBJECTS} objects, of which {:.0} % move; \
             bad network for {:.1} of {seconds:.0} s",
            self.snapshots,
            self.snapshots as f64 / seconds,
            100.0 * ratio(self.moving, objects),
            f64::from(self.bad_ticks) / 60.0,
        )?;
        for (name, bytes) in [
            ("differences", self.bytes),
            ("full", self.full_bytes),
            ("raw", objects * RAW_BYTES),
        ] {
            writeln!(
                f,
                "{name:<11} {:8.0} bytes a snapshot, {:8.1} kbit/s, {:6.1} bits an object",
                ratio(bytes, self.snapshots),
                8.0 * bytes as f64 / 1000.0 / seconds,
                8.0 * ratio(bytes, objects),
            )?;
        }
        writeln!(
            f,
            "saved       differences are {:.1} % of full snapshots, and {:.1} % of raw ones",
            self.percent(),
            100.0 * ratio(self.bytes, objects * RAW_BYTES),
        )?;
        writeln!(
            f,
            "parts       {:.1} a snapshot; {:.1} % arrived, {:.1} % found no room in time, {} were \
             refused",
            ratio(self.parts, self.snapshots),
            100.0 * ratio(self.arrived, self.parts),
            100.0 * ratio(self.expired, self.parts),
            self.refused,
        )?;
        writeln!(
            f,
            "whole       {:.1} % of the snapshots fitted their parts; {:.1} % arrived with all of \
             them",
            100.0 * ratio(self.whole, self.snapshots),
            100.0 * ratio(self.complete, self.snapshots),
        )?;
        let lost = self.link.lost + self.link.queue_dropped + self.link.bad_checksum;
        writeln!(
            f,
            "wire        {:.1} kbit/s to the client in {} datagrams, of which {:.1} % were lost",
            8.0 * self.link.bytes_sent as f64 / 1000.0 / seconds,
            self.link.sent,
            100.0 * ratio(lost, self.link.sent),
        )
    }
}

fn ratio(part: u64, all: u64) -> f64 {
    part as f64 / all.max(1) as f64
}
