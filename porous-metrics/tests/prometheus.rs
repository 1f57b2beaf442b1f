//! The page of a Prometheus exporter, and the dashboard that is drawn from it.
#![expect(clippy::unwrap_used, reason = "a test")]

extern crate alloc;

mod common;

use alloc::collections::{BTreeMap, BTreeSet};

use common::Crowd;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use porous_metrics::Sampler;
use porous_std::{Config, UdpHost};

const DASHBOARD: &str = include_str!("../../docs/grafana.json");

/// The page of a program with two hosts: a server of a crowd, and a host on a socket.
fn page() -> String {
    let mut builder = PrometheusBuilder::new();
    for (name, bounds) in porous_metrics::BUCKETS {
        builder = builder
            .set_buckets_for_metric(Matcher::Full(name.into()), bounds)
            .unwrap();
    }
    let recorder = builder.build_recorder();
    let crowd = Crowd::new(3);
    let udp = UdpHost::bind("127.0.0.1:0", Config::client()).unwrap();
    metrics::with_local_recorder(&recorder, || {
        porous_metrics::describe();
        Sampler::new("lobby").sample(&crowd.server, crowd.now);
        let mut sampler = Sampler::new("match \"3\"");
        sampler.sample(udp.host(), udp.now());
        sampler.sample_socket(&udp.socket_stats());
    });
    recorder.handle().run_upkeep();
    recorder.handle().render()
}

/// A line of the text format: the name, its labels, and the value.
fn parsed(line: &str) -> (&str, BTreeMap<String, String>, f64) {
    let (series, value) = line.rsplit_once(' ').unwrap();
    let (name, labels) = series.split_once('{').unwrap();
    let mut labels = labels.strip_suffix('}').unwrap();
    let mut all = BTreeMap::new();
    while let Some((key, rest)) = labels.split_once("=\"") {
        let end = (0..rest.len())
            .find(|&at| rest[at..].starts_with('"') && !rest[..at].ends_with('\\'))
            .unwrap();
        all.insert(key.to_owned(), rest[..end].to_owned());
        labels = rest[end + 1..].trim_start_matches(',');
    }
    assert!(labels.is_empty(), "{line}");
    (name, all, value.parse().unwrap())
}

/// The names of the page, with the kind of each.
fn kinds(page: &str) -> BTreeMap<&str, &str> {
    let types = page.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    types.map(|line| line.split_once(' ').unwrap()).collect()
}

#[test]
fn the_page_says_what_the_hosts_have_counted() {
    let page = page();
    let kinds = kinds(&page);
    assert_eq!(kinds.len(), 12, "{kinds:?}");
    for (name, kind) in &kinds {
        let help = page.contains(&format!("# HELP {name} "));
        assert!(help, "{name} is not described");
        assert_eq!(name.ends_with("_total"), *kind == "counter", "{name}");
    }
    let mut values = BTreeMap::new();
    for line in page
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
    {
        let (name, labels, value) = parsed(line);
        let hosts = ["lobby", "match \\\"3\\\""];
        assert!(hosts.contains(&labels["host"].as_str()), "{line}");
        let others: Vec<_> = labels.iter().filter(|(key, _)| *key != "host").collect();
        assert!(others.len() <= 2, "{line}");
        values.insert((name.to_owned(), labels), value);
    }
    let value = |name: &str, label: &str, of: &str| {
        let host = ("host".to_owned(), "lobby".to_owned());
        let labels = BTreeMap::from([host, (label.to_owned(), of.to_owned())]);
        values[&(name.to_owned(), labels)]
    };
    assert_eq!(value("porous_peers", "state", "connected"), 3.0);
    assert_eq!(value("porous_handshakes_total", "step", "connected"), 3.0);
    assert!(value("porous_datagrams_total", "direction", "sent") >= 6.0);
    // Round trips of 20 ms or a little more.
    assert_eq!(value("porous_rtt_seconds_bucket", "le", "0.01"), 0.0);
    assert_eq!(value("porous_rtt_seconds_bucket", "le", "0.05"), 3.0);
    assert_eq!(value("porous_queued_bytes_bucket", "le", "1000"), 3.0);
}

/// The names of metrics in a text: as they stand there.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("porous_")).collect()
}

#[test]
fn the_dashboard_is_json_and_draws_each_metric_that_there_is() {
    let board: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
    let page = page();
    let kinds = kinds(&page);
    let mut drawn = BTreeSet::new();
    let panels = board["panels"].as_array().unwrap();
    assert!(panels.len() >= 8);
    let mut places = BTreeSet::new();
    for panel in panels {
        let title = panel["title"].as_str().unwrap();
        let place = (
            panel["gridPos"]["x"].as_u64(),
            panel["gridPos"]["y"].as_u64(),
        );
        assert!(places.insert(place), "{title} covers another panel");
        for target in panel["targets"].as_array().unwrap() {
            let query = target["expr"].as_str().unwrap();
            let used = names(query);
            assert!(!used.is_empty(), "{title}: {query}");
            assert!(query.contains("host=~\"$host\""), "{title}: {query}");
            for name in used {
                let of_histogram = name.strip_suffix("_bucket");
                let metric = of_histogram.unwrap_or(name);
                let kind = kinds.get(metric);
                assert!(kind.is_some(), "{title}: there is no {name}");
                let is_histogram = kind == Some(&"histogram");
                assert_eq!(is_histogram, of_histogram.is_some(), "{title}: {query}");
                drawn.insert(metric);
            }
        }
    }
    let all: BTreeSet<_> = kinds.keys().copied().collect();
    assert_eq!(drawn, all, "each is drawn");
}

/// The documentation of the crate lists the same names.
#[test]
fn the_documentation_names_each_metric() {
    let page = page();
    let text = include_str!("../src/lib.rs");
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | `"));
    // The names stand in the first column.
    let table: Vec<_> = rows.filter_map(|row| row.split('|').next()).collect();
    let listed = table.join("\n");
    let expected: BTreeSet<_> = kinds(&page).into_keys().collect();
    assert_eq!(names(&listed), expected);
}
