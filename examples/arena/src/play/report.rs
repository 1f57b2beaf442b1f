//! What a game has measured, at its end.

use core::fmt;
use core::time::Duration;

use porous_arena::Figures;
use porous_std::{Instant, PeerStats};

use crate::session::Session;

/// The summary of a game.
#[derive(Debug)]
pub(crate) struct Report {
    clients: usize,
    seconds: f64,
    ticks: u32,
    rtt: Duration,
    /// Of the frames of the server, and of the clients, in percent.
    lost: [f64; 2],
    /// Bytes a second of a client, from the server and to it.
    rates: [f64; 2],
    figures: Figures,
    /// Reliable packets that the server has made.
    told: u64,
}

/// The share in percent, 0 of nothing.
#[expect(clippy::cast_precision_loss, reason = "a share for people")]
fn percent(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        _ => part as f64 * 100.0 / whole as f64,
    }
}

/// The share of frames that were lost, of those that were sent.
fn lost(stats: &[PeerStats]) -> f64 {
    let lost = |it: &PeerStats| it.frames_lost.saturating_sub(it.frames_spurious);
    let sent = stats.iter().map(|it| it.frames_sent).sum();
    percent(stats.iter().map(lost).sum(), sent)
}

impl Report {
    /// What was measured since `begin`, while all are connected.
    #[expect(clippy::cast_precision_loss, reason = "rates for people")]
    pub(crate) fn new(session: &Session, begin: Instant) -> Self {
        let stats = session.stats();
        let clients = session.games().count();
        let seconds = session.now().saturating_duration_since(begin).as_secs_f64();
        let peers = u32::try_from(stats[0].len()).unwrap_or(u32::MAX).max(1);
        let rtt: Duration = stats[0].iter().map(|it| it.rtt).sum();
        let bytes = session.bytes();
        let each = seconds * clients as f64;
        Self {
            clients,
            seconds,
            ticks: session.server().tick(),
            rtt: rtt / peers,
            lost: [lost(&stats[0]), lost(&stats[1])],
            rates: [bytes.down, bytes.up].map(|bytes| bytes as f64 / each),
            figures: Figures::default(),
            told: 0,
        }
    }

    /// Counts what the clients have seen and heard, after the last events have arrived.
    pub(crate) fn count_events(&mut self, session: &Session) {
        self.told = session.server().told();
        for figures in session.games().map(porous_arena::Client::figures) {
            let all = &mut self.figures;
            all.interpolated += figures.interpolated;
            all.held += figures.held;
            all.in_time += figures.in_time;
            all.late += figures.late;
            all.unusable += figures.unusable;
            all.told += figures.told;
            all.tables += figures.tables;
        }
    }

    /// True if every reliable packet has arrived, and something was seen.
    pub(crate) const fn is_whole(&self) -> bool {
        self.figures.told == self.told && self.figures.in_time > 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = &self.figures;
        let (frames, snapshots) = (all.interpolated + all.held, all.in_time + all.late);
        writeln!(
            f,
            "played      {:.1} s, {} ticks, {} clients",
            self.seconds, self.ticks, self.clients
        )?;
        writeln!(f, "round trip  {:.1} ms", self.rtt.as_secs_f64() * 1000.0)?;
        let [down, up] = self.lost;
        writeln!(f, "lost        {down:.1} % down, {up:.1} % up")?;
        let [down, up] = self.rates;
        writeln!(f, "a client    {down:.0} bytes/s down, {up:.0} bytes/s up")?;
        writeln!(
            f,
            "snapshots   {snapshots} arrived, {} of them late, {} unusable",
            all.late, all.unusable
        )?;
        writeln!(
            f,
            "frames      {:.1} % interpolated, {:.1} % without a next snapshot",
            percent(all.interpolated, frames),
            percent(all.held, frames)
        )?;
        writeln!(f, "events      {} of {} arrived", all.told, self.told)?;
        writeln!(f, "scores      {} tables arrived", all.tables)
    }
}
