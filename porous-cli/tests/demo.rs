//! The demo as a user runs it: its arguments, its exit status, its results.
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

/// A folder of this test's own.
fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn porous(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_porous"))
        .args(args)
        .output()
        .unwrap()
}

/// Runs a short demo with a file of `file_len` bytes. Returns the output and the results of the JSON file.
fn demo(test: &str, file_len: u32, args: &[&str]) -> (Output, Value) {
    let folder = folder(test);
    let (file, json) = (folder.join("file"), folder.join("results.json"));
    let content: Vec<u8> = (0..file_len)
        .map(|n| (n * n / 251).to_le_bytes()[0])
        .collect();
    std::fs::write(&file, content).unwrap();
    let file = file.to_str().unwrap();
    let mut all = vec![
        "demo",
        "--seed",
        "7",
        "--file",
        file,
        "--json",
        json.to_str().unwrap(),
    ];
    all.extend(args);
    let output = porous(&all);
    let text = std::fs::read_to_string(&json).unwrap();
    let results =
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text:?} {output:?}"));
    (output, results)
}

fn number(results: &Value, path: &str) -> u64 {
    let number = results.pointer(path).and_then(Value::as_u64);
    number.unwrap_or_else(|| panic!("no number at {path}: {results}"))
}

/// Checks that hold for any run of one second in which all clients connected.
fn check(results: &Value, clients: u64, file_len: u64) {
    let n = |path| number(results, path);
    assert_eq!(n("/seed"), 7);
    assert_eq!(n("/connected_clients"), clients);
    let per_client = [
        ("reliable", 2 * 12, 24),
        ("unreliable", 2 * 60, 200),
        ("passive", 4, 3000),
    ];
    let mut payload = file_len * clients;
    for (mode, sent, size) in per_client {
        let n = |name| number(results, &format!("/modes/{mode}/{name}"));
        assert_eq!(n("sent"), sent * clients, "{results}");
        assert_eq!(n("lost"), n("sent") - n("delivered"));
        for never in ["duplicated", "out_of_order", "corrupt"] {
            assert_eq!(n(never), 0, "{mode} {never}: {results}");
        }
        payload += n("delivered") * size;
        let percentile = |p| results["modes"][mode][p].as_f64().unwrap();
        let [p50, p95, p99] = ["p50_ms", "p95_ms", "p99_ms"].map(percentile);
        assert!(p50 <= p95 && p95 <= p99, "{mode}: {results}");
    }
    assert_eq!(n("/modes/reliable/lost"), 0, "{results}");
    assert_eq!(n("/file/bytes"), file_len);
    assert_eq!(
        (n("/file/clients"), n("/file/sha256_ok")),
        (clients, clients)
    );
    assert_eq!(n("/payload_bytes"), payload);
    let links = results["links"].as_array().unwrap();
    assert_eq!(links.len() as u64, clients);
    let wire: u64 = links.iter().map(|link| number(link, "/wire_bytes")).sum();
    assert_eq!(n("/wire_bytes"), wire);
    assert!(wire > payload, "{results}");
}

#[test]
fn a_good_network() {
    let args = [
        "--clients",
        "2",
        "--seconds",
        "1",
        "--rtt",
        "10",
        "--jitter",
        "0",
        "--loss",
        "0",
    ];
    let (output, results) = demo("good", 20_500, &args);
    assert!(output.status.success(), "{output:?}");
    check(&results, 2, 20_500);
    assert!(output.stderr.is_empty(), "{output:?}");
    let p50 = results["modes"]["reliable"]["p50_ms"].as_f64().unwrap();
    assert!(p50 >= 5.0, "nothing is faster than its link: {p50}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("right at 2 of 2 clients"), "{table}");
}

#[test]
fn a_bad_network() {
    let (output, results) = demo(
        "bad",
        20_500,
        &[
            "--clients=2",
            "--seconds=1",
            "--rtt=40",
            "--jitter=10",
            "--loss=5",
            "--duplicate=5",
            "--reorder=10",
        ],
    );
    assert!(output.status.success(), "{output:?}");
    check(&results, 2, 20_500);
}

#[test]
fn a_slow_network_and_an_empty_file() {
    let args = [
        "--clients=1",
        "--seconds=1",
        "--rtt=20",
        "--rate=2000",
        "--loss=0",
    ];
    let (output, results) = demo("slow", 0, &args);
    assert!(output.status.success(), "{output:?}");
    check(&results, 1, 0);
}

#[test]
fn a_bad_network_and_sealed_connections() {
    let args = [
        "--sealed",
        "--clients=2",
        "--seconds=1",
        "--rtt=20",
        "--loss=5",
    ];
    let (output, results) = demo("sealed", 20_500, &args);
    assert!(output.status.success(), "{output:?}");
    check(&results, 2, 20_500);
    assert_eq!(number(&results, "/sealed_clients"), 2);
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(
        table.contains("sealed, by the key of the server: 2 of 2"),
        "{table}"
    );
}

#[test]
fn no_network() {
    let args = ["--clients=2", "--seconds=1", "--rtt=0", "--loss=100"];
    let (output, results) = demo("none", 10, &args);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "error: only 0 of 2 clients could connect\n");
    assert_eq!(number(&results, "/connected_clients"), 0);
    assert_eq!(number(&results, "/file/sha256_ok"), 0);
}

#[test]
fn bad_arguments_get_one_line() {
    let folder = folder("arguments");
    let (folder, missing) = (folder.to_str().unwrap(), folder.join("no/such/file"));
    let missing = missing.to_str().unwrap();
    for args in [
        &["demo", "--clients", "0"][..],
        &["demo", "--clients", "1000000"],
        &["demo", "--seconds", "0"],
        &["demo", "--loss", "101"],
        &["demo", "--duplicate", "-1"],
        &["demo", "--reorder", "NaN"],
        &["demo", "--rtt", "1e9"],
        &["demo", "--file", missing],
        &["demo", "--file", folder],
        &["demo", "--json", missing],
        &["demo", "--json", folder],
        &["demo", "--no-such-option"],
        &["demo", "stray"],
        &["no-such-command"],
    ] {
        let output = porous(args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{args:?}: {said}");
        assert!(said.starts_with("error: "), "{args:?}: {said}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn help_is_no_error() {
    for args in [
        &["--help"][..],
        &["help", "demo"],
        &["demo", "--help"],
        &["--version"],
    ] {
        let output = porous(args);
        assert!(
            output.status.success() && !output.stdout.is_empty(),
            "{args:?}"
        );
    }
    assert_eq!(porous(&[]).status.code(), Some(2));
}
