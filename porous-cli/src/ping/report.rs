//! The results, for a person and as the JSON file has them.

use core::net::SocketAddr;
use core::time::Duration;

use porous_metrics::Second;
use porous_std::{Mode, PeerStats};
use serde::Serialize;

use super::PingArgs;
use super::session::Session;
use super::stream::{Stream, percent};
use super::verdict::{Measured, Verdict};
use super::view::name;
use crate::net::link::why;

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// The address at which the server has answered.
    address: SocketAddr,
    sealed: bool,
    /// Seconds for which probes were sent.
    seconds: f64,
    rate: u32,
    size: u16,
    channels: u8,
    bidirectional: bool,
    modes: Vec<ModeReport>,
    connection: Connection,
    /// The last minute.
    history: Vec<Option<SecondReport>>,
    verdict: Verdict,
    /// Why the connection has ended before its time; `None` if it has not.
    ended: Option<&'static str>,
}

/// The probes of one mode, and their round trips.
#[derive(Clone, Debug, Serialize)]
struct ModeReport {
    mode: &'static str,
    sent: u64,
    /// Probes that were due, and for which there was no room.
    not_sent: u64,
    /// Probes that the server has counted, and echoes that it has sent, as far as it could say.
    arrived: u64,
    echoed: u64,
    /// Echoes that came back.
    back: u64,
    loss_there_percent: f64,
    loss_back_percent: f64,
    p50_ms: Option<f64>,
    p95_ms: Option<f64>,
    p99_ms: Option<f64>,
    longest_ms: Option<f64>,
}

/// What the host has measured of the connection.
#[derive(Clone, Copy, Debug, Serialize)]
struct Connection {
    rtt_ms: f64,
    rtt_minimum_ms: f64,
    jitter_ms: f64,
    /// Of all frames of the run.
    loss_there_percent: f64,
    loss_back_percent: f64,
    datagrams_sent: u64,
    datagrams_received: u64,
    bytes_sent: u64,
    bytes_received: u64,
    /// The longest datagram that the path carries, as far as it was tried.
    path_mtu: u16,
    quality: u8,
}

/// One second of the history.
#[derive(Clone, Copy, Debug, Serialize)]
struct SecondReport {
    rtt_ms: f64,
    jitter_ms: f64,
    loss_there_percent: f64,
    loss_back_percent: f64,
    queued_bytes: u32,
    bytes_sent: u64,
    bytes_received: u64,
}

fn millis(time: Duration) -> f64 {
    // Microseconds are what the host counts in.
    time.as_micros() as f64 / 1e3
}

impl From<&Second> for SecondReport {
    fn from(second: &Second) -> Self {
        Self {
            rtt_ms: millis(second.rtt),
            jitter_ms: millis(second.jitter),
            loss_there_percent: f64::from(second.loss_sent) / 100.0,
            loss_back_percent: f64::from(second.loss_received) / 100.0,
            queued_bytes: second.queued_bytes,
            bytes_sent: second.bytes_sent,
            bytes_received: second.bytes_received,
        }
    }
}

impl From<&Stream> for ModeReport {
    fn from(stream: &Stream) -> Self {
        let percentile = |percent| stream.round_trips.percentile(percent);
        Self {
            mode: name(stream.mode),
            sent: stream.sent,
            not_sent: stream.not_sent,
            arrived: stream.there.probes,
            echoed: stream.there.echoes,
            back: stream.back,
            loss_there_percent: stream.loss_there(),
            loss_back_percent: stream.loss_back(),
            p50_ms: percentile(50),
            p95_ms: percentile(95),
            p99_ms: percentile(99),
            longest_ms: (stream.back > 0).then(|| millis(stream.longest)),
        }
    }
}

impl From<&PeerStats> for Connection {
    fn from(stats: &PeerStats) -> Self {
        let lost = stats.frames_lost.saturating_sub(stats.frames_spurious);
        let came = stats.frames_received + stats.frames_missing;
        Self {
            rtt_ms: millis(stats.rtt),
            rtt_minimum_ms: millis(stats.rtt_minimum),
            jitter_ms: millis(stats.jitter),
            loss_there_percent: percent(lost, stats.frames_sent),
            loss_back_percent: percent(stats.frames_missing, came),
            datagrams_sent: stats.datagrams_sent,
            datagrams_received: stats.datagrams_received,
            bytes_sent: stats.bytes_sent,
            bytes_received: stats.bytes_received,
            path_mtu: stats.path_mtu,
            quality: stats.quality,
        }
    }
}

impl Report {
    pub(crate) fn new(args: &PingArgs, session: &Session) -> Self {
        let connection = Connection::from(&session.stats);
        let history = session.history.seconds();
        Self {
            address: session.link.address,
            sealed: session.is_sealed,
            seconds: session.elapsed.as_secs_f64(),
            rate: args.rate,
            size: args.size,
            channels: args.channels,
            bidirectional: args.bidirectional,
            modes: session.streams.iter().map(ModeReport::from).collect(),
            history: history
                .map(|second| second.map(SecondReport::from))
                .collect(),
            verdict: Verdict::of(&measured(session, &connection)),
            connection,
            ended: session.ended.map(|reason| why(reason, false)),
        }
    }

    /// Why the connection has ended before its time.
    pub(crate) const fn why_ended(&self) -> Option<&'static str> {
        self.ended
    }

    /// The lines for a person.
    pub(crate) fn text(&self) -> String {
        let seal = if self.sealed { "sealed" } else { "plain" };
        let mut text = format!("\n{}, {seal}, {:.1} s\n\n", self.address, self.seconds);
        text.push_str("round trips in ms     p50     p95     p99 longest\n");
        for mode in &self.modes {
            let ms = |ms: Option<f64>| ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1}"));
            text.push_str(&format!(
                "{:<17} {:>7} {:>7} {:>7} {:>7}\n",
                mode.mode,
                ms(mode.p50_ms),
                ms(mode.p95_ms),
                ms(mode.p99_ms),
                ms(mode.longest_ms)
            ));
        }
        text.push_str(
            "\nprobes        no room     sent  arrived     back  lost there  lost back\n",
        );
        for mode in &self.modes {
            text.push_str(&format!(
                "{:<12} {:>8} {:>8} {:>8} {:>8} {:>9.2} % {:>8.2} %\n",
                mode.mode,
                mode.not_sent,
                mode.sent,
                mode.arrived,
                mode.back,
                mode.loss_there_percent,
                mode.loss_back_percent
            ));
        }
        let connection = &self.connection;
        text.push_str(&format!(
            "\ndatagrams lost {:.2} % there, {:.2} % back; jitter {:.1} ms\n{} bytes sent, {} received\n",
            connection.loss_there_percent,
            connection.loss_back_percent,
            connection.jitter_ms,
            connection.bytes_sent,
            connection.bytes_received
        ));
        text.push_str(&format!("\n{}\n", self.verdict.text));
        text
    }
}

/// What the verdict is made of.
fn measured(session: &Session, connection: &Connection) -> Measured {
    let named = |stream: &Stream| {
        let name = match stream.mode {
            Mode::Reliable => "events",
            Mode::Unreliable => "states",
            Mode::Passive => "updates",
        };
        Some((name, stream.round_trips.percentile(99)?))
    };
    let states = session
        .streams
        .iter()
        .find(|stream| stream.mode == Mode::Unreliable);
    let loss = match states {
        Some(states) => {
            let gone = states.sent - states.there.probes + states.not_sent;
            let there = percent(gone, states.sent + states.not_sent);
            there.max(states.loss_back())
        }
        None => connection
            .loss_there_percent
            .max(connection.loss_back_percent),
    };
    Measured {
        round_trips: session.streams.iter().filter_map(named).collect(),
        jitter: connection.jitter_ms,
        loss,
    }
}
