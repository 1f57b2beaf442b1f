//! `porous sim road`: one situation of the congestion laboratory.

use core::fmt::Write;
use std::process::ExitCode;

use porous_sim::lab::{self, Beside, FlowReport, Report, Scenario};
use serde::Serialize;

use crate::args::RoadArgs;
use crate::exit;
use crate::json::Json;
use crate::out::Out;
use crate::record::Recording;

/// Runs the situation.
pub(crate) fn main(args: &RoadArgs) -> ExitCode {
    exit::run(open(args), run)
}

/// What the arguments name.
struct Opened {
    scenario: Scenario,
    record: Option<lab::Recording>,
    recording: Recording,
    out: Out,
}

fn open(args: &RoadArgs) -> Result<Opened, String> {
    let scenario: Result<Scenario, _> = args.text.join(" ").parse();
    let scenario = scenario.map_err(|error| error.to_string())?;
    if args.record.is_asked() && !scenario.has_hosts() {
        return Err("all flows are models of TCP, which have no hosts to record".to_owned());
    }
    let json = args.json.as_deref().map(Json::open).transpose()?;
    let (record, recording) = args.record.open()?;
    Ok(Opened {
        scenario,
        record,
        recording,
        out: Out::new(json),
    })
}

fn run(opened: Opened) -> Result<bool, String> {
    let Opened {
        scenario,
        record,
        recording,
        out,
    } = opened;
    let report = match record {
        Some(record) => scenario.run_recorded(record),
        None => scenario.run(),
    };
    out.finish(&lines(&report), &Results::new(&report))?;
    recording.result()?;
    Ok(true)
}

/// The report in lines of at most 80 columns.
fn lines(report: &Report) -> String {
    let mut text = format!(
        "queue     mean {:.1} ms, p95 {:.1} ms\nused      {} %\ngoodput   {} %\nJain      {}\n\n",
        report.queue.mean_ms,
        report.queue.p95_ms,
        told(report.used_percent, 1),
        told(report.goodput_percent, 1),
        told(report.jain, 3)
    );
    text.push_str("flow          kB/s  dropped    lost  falsely     p50     p95     p99 ms\n");
    for flow in &report.flows {
        let latency = flow.latency;
        let latency = [
            latency.map(|it| it.p50),
            latency.map(|it| it.p95),
            latency.map(|it| it.p99),
        ];
        let [p50, p95, p99] = latency.map(|ms| told(ms, 1));
        let end = if flow.is_ended { "  ended" } else { "" };
        // Writing to a text does not fail.
        let _ = writeln!(
            text,
            "{:<10}{:>8.1}{:>7} %{:>6} %{:>7} %{p50:>8}{p95:>8}{p99:>8}{end}",
            flow.name,
            flow.kbyte_per_s,
            told(flow.dropped_percent, 2),
            told(flow.lost_percent, 2),
            told(flow.falsely_lost_percent, 3),
        );
    }
    text.push_str(&beside(report));
    text
}

/// A number with this many decimals, or "-" if there is none.
fn told(number: Option<f64>, decimals: usize) -> String {
    number.map_or_else(|| "-".to_owned(), |number| format!("{number:.decimals$}"))
}

/// What the flows of porous were told of their paths beside what was true.
fn beside(report: &Report) -> String {
    let flows = report.flows.iter();
    let flows = flows.filter_map(|flow| Some((&flow.name, flow.beside?)));
    let lines = flows.map(|(name, beside)| {
        let Beside {
            told_rtt_ms,
            told_loss_percent,
            told_quality,
            true_rtt_ms,
            true_loss_percent,
        } = beside;
        let true_loss = told(true_loss_percent, 2);
        format!(
            "{name:<10}{told_rtt_ms:>9.1}{true_rtt_ms:>9.1} ms{told_loss_percent:>9.2}{true_loss:>9} %\
             {told_quality:>9.0}\n"
        )
    });
    let lines: String = lines.collect();
    if lines.is_empty() {
        return lines;
    }
    format!("\nflow      RTT told     true    loss told     true    quality\n{lines}")
}

/// What `--json` writes. A number that there is none of is null.
#[derive(Debug, Serialize)]
struct Results<'r> {
    queue: Queue,
    used_percent: Option<f64>,
    goodput_percent: Option<f64>,
    jain: Option<f64>,
    flows: Vec<Flow<'r>>,
}

#[derive(Debug, Serialize)]
struct Queue {
    mean_ms: f64,
    p95_ms: f64,
}

#[derive(Debug, Serialize)]
struct Flow<'r> {
    name: &'r str,
    kbyte_per_s: f64,
    dropped_percent: Option<f64>,
    lost_percent: Option<f64>,
    falsely_lost_percent: Option<f64>,
    latency_ms: Latency,
    ended: bool,
    told: Option<Told>,
    #[serde(rename = "true")]
    really: Option<Really>,
}

/// The means of `PeerStats`.
#[derive(Debug, Serialize)]
struct Told {
    rtt_ms: f64,
    loss_percent: f64,
    quality: f64,
}

/// What the path did.
#[derive(Debug, Serialize)]
struct Really {
    rtt_ms: f64,
    loss_percent: Option<f64>,
}

/// Null where no packet has a time.
#[derive(Debug, Serialize)]
struct Latency {
    p50: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
}

impl<'r> Results<'r> {
    fn new(report: &'r Report) -> Self {
        Self {
            queue: Queue {
                mean_ms: report.queue.mean_ms,
                p95_ms: report.queue.p95_ms,
            },
            used_percent: report.used_percent,
            goodput_percent: report.goodput_percent,
            jain: report.jain,
            flows: report.flows.iter().map(Flow::new).collect(),
        }
    }
}

impl<'r> Flow<'r> {
    fn new(flow: &'r FlowReport) -> Self {
        let latency = flow.latency.as_ref();
        Self {
            name: &flow.name,
            kbyte_per_s: flow.kbyte_per_s,
            dropped_percent: flow.dropped_percent,
            lost_percent: flow.lost_percent,
            falsely_lost_percent: flow.falsely_lost_percent,
            latency_ms: Latency {
                p50: latency.map(|latency| latency.p50),
                p95: latency.map(|latency| latency.p95),
                p99: latency.map(|latency| latency.p99),
            },
            ended: flow.is_ended,
            told: flow.beside.map(|beside| Told {
                rtt_ms: beside.told_rtt_ms,
                loss_percent: beside.told_loss_percent,
                quality: beside.told_quality,
            }),
            really: flow.beside.map(|beside| Really {
                rtt_ms: beside.true_rtt_ms,
                loss_percent: beside.true_loss_percent,
            }),
        }
    }
}
