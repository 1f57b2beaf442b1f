//! The results, as the JSON file has them.

use core::time::Duration;

use porous_std::PeerStats;
use serde::Serialize;

use super::check::Counts;
use super::client::Client;
use super::file;
use super::kind::Kind;
use super::session::Session;
use crate::args::DemoArgs;
use crate::latency::Latencies;

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) seed: u64,
    pub(crate) seconds: u32,
    pub(crate) connected_clients: usize,
    /// Clients whose connection is sealed and whose server has proved to have its key; `None` without `--sealed`.
    pub(crate) sealed_clients: Option<usize>,
    pub(crate) modes: Modes,
    pub(crate) file: FileReport,
    pub(crate) links: Vec<LinkReport>,
    pub(crate) wire_bytes: u64,
    pub(crate) payload_bytes: u64,
}

/// Packets by mode, both directions and all clients together, without the file.
#[derive(Debug, Serialize)]
pub(crate) struct Modes {
    pub(crate) reliable: ModeReport,
    pub(crate) unreliable: ModeReport,
    pub(crate) passive: ModeReport,
}

/// Counts and latencies of the packets of one mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct ModeReport {
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    pub(crate) duplicated: u64,
    pub(crate) out_of_order: u64,
    pub(crate) corrupt: u64,
    pub(crate) p50_ms: Option<f64>,
    pub(crate) p95_ms: Option<f64>,
    pub(crate) p99_ms: Option<f64>,
}

/// The file, and at how many clients it arrived intact.
#[derive(Debug, Serialize)]
pub(crate) struct FileReport {
    pub(crate) bytes: usize,
    pub(crate) clients: usize,
    /// Clients whose copy is right.
    pub(crate) sha256_ok: usize,
}

/// A client's link, both directions together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct LinkReport {
    pub(crate) rtt_ms: f64,
    pub(crate) loss_percent: f64,
    pub(crate) wire_bytes: u64,
    pub(crate) overhead_percent: f64,
    pub(crate) jitter_ms: f64,
    /// The lower one of the qualities that both ends report.
    pub(crate) quality: u8,
}

impl Report {
    pub(crate) fn new(args: &DemoArgs, seed: u64, file: &[u8], session: &Session) -> Self {
        let links: Vec<_> = session.clients.iter().map(|c| link(c, session)).collect();
        let hash = file::hash(file);
        let clients = &session.clients;
        Self {
            seed,
            seconds: args.seconds,
            connected_clients: session.connected(),
            sealed_clients: args
                .sealed
                .then(|| clients.iter().filter(|c| c.is_sealed()).count()),
            modes: Modes {
                reliable: mode(Kind::Event, session),
                unreliable: mode(Kind::State, session),
                passive: mode(Kind::Update, session),
            },
            file: FileReport {
                bytes: file.len(),
                clients: clients.len(),
                sha256_ok: clients
                    .iter()
                    .filter(|c| c.transfer.is_right(&hash))
                    .count(),
            },
            wire_bytes: links.iter().map(|link| link.wire_bytes).sum(),
            payload_bytes: clients.iter().map(|c| c.payload_bytes).sum(),
            links,
        }
    }

    /// True if every client connected, by a sealed connection if that was asked for, every reliable packet
    /// arrived once, in order and intact, and every copy of the file is right.
    pub(crate) fn is_success(&self) -> bool {
        self.connected_clients == self.links.len()
            && self
                .sealed_clients
                .is_none_or(|sealed| sealed == self.links.len())
            && self.modes.reliable.is_perfect()
            && self.file.is_right()
    }
}

impl FileReport {
    /// True if every copy is right.
    pub(crate) const fn is_right(&self) -> bool {
        self.sha256_ok == self.clients
    }
}

fn mode(kind: Kind, session: &Session) -> ModeReport {
    let mut counts = Counts::default();
    let mut sent = 0;
    let flows = session.clients.iter().flat_map(|client| &client.flows);
    for flow in flows.filter(|flow| flow.kind == kind) {
        counts += flow.counts();
        sent += flow.sent();
    }
    ModeReport::new(sent, counts, &session.latencies[kind as usize])
}

impl ModeReport {
    fn new(sent: u64, counts: Counts, latencies: &Latencies) -> Self {
        Self {
            sent,
            delivered: counts.delivered,
            lost: sent.saturating_sub(counts.delivered),
            duplicated: counts.duplicated,
            out_of_order: counts.out_of_order,
            corrupt: counts.corrupt,
            p50_ms: latencies.percentile(50),
            p95_ms: latencies.percentile(95),
            p99_ms: latencies.percentile(99),
        }
    }

    /// True if every packet arrived once, in order and intact.
    pub(crate) const fn is_perfect(&self) -> bool {
        self.lost == 0 && self.duplicated == 0 && self.out_of_order == 0 && self.corrupt == 0
    }
}

fn link(client: &Client, session: &Session) -> LinkReport {
    let up = client.host.endpoint().conditioner().stats().bytes_sent;
    let down = session.server.endpoint().conditioner().link(client.address);
    let wire_bytes = up + down.map_or(0, |link| link.stats().bytes_sent);
    LinkReport::new(
        client.stats(&session.server),
        wire_bytes,
        client.payload_bytes,
    )
}

impl LinkReport {
    fn new([server, client]: [PeerStats; 2], wire_bytes: u64, payload_bytes: u64) -> Self {
        // Frames that arrived after all were not lost.
        let lost = |stats: &PeerStats| stats.frames_lost - stats.frames_spurious;
        let lost = lost(&server) + lost(&client);
        let ms = |duration: Duration| round(duration.as_secs_f64() * 1000.0);
        let beyond = wire_bytes.saturating_sub(payload_bytes);
        Self {
            rtt_ms: ms(server.rtt),
            jitter_ms: ms(server.jitter),
            loss_percent: percent(lost, server.frames_sent + client.frames_sent),
            quality: server.quality.min(client.quality),
            wire_bytes,
            overhead_percent: percent(beyond, payload_bytes),
        }
    }
}

/// `part` in percent of `whole`; 0 of nothing.
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    round(part as f64 * 100.0 / whole as f64)
}

/// To three decimals: more would be noise.
fn round(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A run in which everything went well.
    pub(crate) fn good() -> Report {
        let reliable = ModeReport {
            sent: 24,
            delivered: 24,
            p50_ms: Some(31.5),
            ..ModeReport::default()
        };
        let unreliable = ModeReport {
            sent: 120,
            delivered: 117,
            lost: 3,
            ..reliable
        };
        let link = LinkReport {
            rtt_ms: 61.25,
            jitter_ms: 2.5,
            loss_percent: 2.0,
            quality: 96,
            wire_bytes: 9000,
            overhead_percent: 12.5,
        };
        Report {
            seed: 5,
            seconds: 1,
            connected_clients: 1,
            sealed_clients: Some(1),
            modes: Modes {
                reliable,
                unreliable,
                passive: ModeReport::default(),
            },
            file: FileReport {
                bytes: 10,
                clients: 1,
                sha256_ok: 1,
            },
            links: vec![link],
            wire_bytes: 9000,
            payload_bytes: 8000,
        }
    }

    #[test]
    fn only_reliable_packets_decide_the_exit_status() {
        assert!(good().is_success(), "unreliable packets may be lost");
        let break_it: [fn(&mut Report); 7] = [
            |report| report.modes.reliable.lost = 1,
            |report| report.modes.reliable.duplicated = 1,
            |report| report.modes.reliable.out_of_order = 1,
            |report| report.modes.reliable.corrupt = 1,
            |report| report.file.sha256_ok = 0,
            |report| report.connected_clients = 0,
            |report| report.sealed_clients = Some(0),
        ];
        for (n, break_it) in break_it.into_iter().enumerate() {
            let mut report = good();
            break_it(&mut report);
            assert!(!report.is_success(), "{n}");
        }
    }

    #[test]
    fn a_mode_adds_up() {
        let mut latencies = Latencies::default();
        latencies.record(Duration::from_millis(30));
        let counts = Counts {
            delivered: 7,
            duplicated: 1,
            out_of_order: 2,
            corrupt: 3,
        };
        let report = ModeReport::new(10, counts, &latencies);
        assert_eq!((report.sent, report.delivered, report.lost), (10, 7, 3));
        assert_eq!(
            (report.duplicated, report.out_of_order, report.corrupt),
            (1, 2, 3)
        );
        assert_eq!((report.p50_ms, report.p99_ms), (Some(30.0), Some(30.0)));
    }

    #[test]
    fn a_link_adds_up() {
        let mut server = PeerStats::default();
        server.frames_sent = 300;
        server.frames_lost = 1;
        server.jitter = Duration::from_micros(2500);
        server.quality = 95;
        server.rtt = Duration::from_micros(61_234);
        let mut client = PeerStats::default();
        client.frames_sent = 100;
        client.frames_lost = 9;
        client.frames_spurious = 2;
        client.quality = 90;
        let expected = LinkReport {
            rtt_ms: 61.234,
            jitter_ms: 2.5,
            loss_percent: 2.0,
            quality: 90,
            wire_bytes: 1500,
            overhead_percent: 50.0,
        };
        assert_eq!(LinkReport::new([server, client], 1500, 1000), expected);
        let none = LinkReport::new([PeerStats::default(); 2], 0, 0);
        assert_eq!((none.loss_percent, none.overhead_percent), (0.0, 0.0));
    }

    #[test]
    fn the_json_has_the_documented_names() {
        let json = serde_json::to_string(&good()).unwrap();
        let expected = concat!(
            r#"{"seed":5,"seconds":1,"connected_clients":1,"sealed_clients":1,"modes":{"#,
            r#""reliable":{"sent":24,"delivered":24,"lost":0,"duplicated":0,"out_of_order":0,"#,
            r#""corrupt":0,"p50_ms":31.5,"p95_ms":null,"p99_ms":null},"#,
        );
        assert!(json.starts_with(expected), "{json}");
        let expected = concat!(
            r#""file":{"bytes":10,"clients":1,"sha256_ok":1},"#,
            r#""links":[{"rtt_ms":61.25,"loss_percent":2.0,"wire_bytes":9000,"#,
            r#""overhead_percent":12.5,"jitter_ms":2.5,"quality":96}],"#,
            r#""wire_bytes":9000,"payload_bytes":8000}"#,
        );
        assert!(json.ends_with(expected), "{json}");
    }
}
