//! `porous trace`, `porous replay`, and what other commands record for them.

use core::iter;
use core::ops::Range;
use std::sync::LazyLock;

use serde_json::Value;

use crate::program::{KEY, Program, bad, file, folder, good, porous};

/// A demo of a second, with these arguments beside. Its file is short, so that a busy machine is in time.
fn demo(args: &[&str]) -> std::process::Output {
    static SHORT: LazyLock<String> =
        LazyLock::new(|| file("demo", "short", "a file, ".repeat(200)));
    let first = [
        "demo",
        "--clients",
        "2",
        "--seconds",
        "1",
        "--seed",
        "1",
        "--rtt",
        "20",
        "--file",
        &SHORT,
    ];
    porous(&[&first[..], args].concat())
}

/// The objects of `--json` lines.
fn objects(text: &str) -> Vec<Value> {
    let lines = text.lines().map(serde_json::from_str);
    lines.map(Result::unwrap).collect()
}

/// What all datagrams say, in their order.
fn forms(text: &str) -> Vec<Value> {
    let datagrams = objects(text)
        .into_iter()
        .filter(|it| it["forms"].is_array());
    datagrams.map(|mut it| it["forms"].take()).collect()
}

/// A pcap with the same times in nanoseconds.
fn in_nanoseconds(mut pcap: Vec<u8>) -> Vec<u8> {
    let number = |pcap: &[u8], at: usize| {
        let bytes = pcap[at..].first_chunk().unwrap();
        u32::from_le_bytes(*bytes)
    };
    assert_eq!(number(&pcap, 0), 0xA1B2_C3D4, "little-endian, microseconds");
    pcap[..4].copy_from_slice(&0xA1B2_3C4D_u32.to_le_bytes());
    let mut at = 24;
    while at < pcap.len() {
        let nanoseconds = 1000 * number(&pcap, at + 4);
        pcap[at + 4..at + 8].copy_from_slice(&nanoseconds.to_le_bytes());
        at += 16 + number(&pcap, at + 8) as usize;
    }
    pcap
}

/// A pcap as it would be if only the first bytes of each packet had been captured.
fn captured(pcap: &[u8], most: usize) -> Vec<u8> {
    let mut cut = pcap[..24].to_vec();
    let mut at = 24;
    while at < pcap.len() {
        let length: [u8; 4] = *pcap[at + 8..].first_chunk().unwrap();
        let length = u32::from_le_bytes(length) as usize;
        let there = length.min(most);
        cut.extend(&pcap[at..at + 8]);
        cut.extend(u32::try_from(there).unwrap().to_le_bytes());
        cut.extend(&pcap[at + 12..at + 16 + there]);
        at += 16 + length;
    }
    cut
}

#[test]
fn a_demo_that_was_recorded_is_replayed_and_shown() {
    let folder = folder("recorded");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (trace, pcap, again) = (path("a.trace"), path("a.pcap"), path("b.pcap"));
    good(&demo(&["--trace", &trace, "--pcap", &pcap]));

    let said = good(&porous(&["replay", &trace]));
    assert!(said.contains("all the same\n"), "{said}");
    assert!(said.contains("not compared: the payloads"), "{said}");
    assert!(!said.contains("crashed"), "{said}");

    let lines = good(&porous(&["trace", &trace]));
    assert!(lines.lines().all(|line| line.chars().count() <= 100));
    for part in [
        "listen policy=open",
        " REQ ",
        " ACK ",
        " packet ",
        "acknowledgement",
    ] {
        assert!(lines.contains(part), "{part}");
    }
    assert!(!lines.contains("not read"));
    let all = good(&porous(&["trace", "--all", &trace]));
    assert!(all.contains(" idle") && all.lines().count() > lines.lines().count());

    // The same datagrams from the trace, from the pcap that was written beside it, and from one made of it.
    let json = good(&porous(&["trace", "--json", &trace]));
    let all = objects(&json);
    assert_eq!(all[1]["kind"], "host");
    assert_eq!(all.last().unwrap()["kind"], "end");
    let of_trace = forms(&json);
    assert!(of_trace.len() > 100);
    let json_of_pcap = good(&porous(&["trace", "--json", &pcap]));
    assert!(forms(&json_of_pcap) == of_trace);
    let nanoseconds = path("nanoseconds.pcap");
    std::fs::write(&nanoseconds, in_nanoseconds(std::fs::read(&pcap).unwrap())).unwrap();
    assert!(good(&porous(&["trace", "--json", &nanoseconds])) == json_of_pcap);
    good(&porous(&["trace", &trace, "--pcap", &again]));
    assert!(std::fs::read(&again).unwrap() == std::fs::read(&pcap).unwrap());
    let lines = good(&porous(&["trace", &pcap]));
    assert!(lines.lines().all(|line| line.chars().count() <= 100));
    assert!(!lines.contains("not read"));
    let cut = path("cut.pcap");
    std::fs::write(&cut, captured(&std::fs::read(&pcap).unwrap(), 128)).unwrap();
    let output = porous(&["trace", &cut]);
    assert!(!output.stdout.is_empty());
    let why = bad(&output, 1);
    assert!(why.contains("not captured whole"), "{why}");
}

#[test]
fn payloads_and_keys_are_kept_only_if_they_are_asked_for() {
    let folder = folder("kept");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let holds = |path: &str| {
        let bytes = std::fs::read(path).unwrap();
        bytes
            .windows(16)
            .any(|window| window == b"a file, a file, ")
    };
    let (without, with) = (path("without"), path("with"));
    good(&demo(&["--trace", &without]));
    good(&demo(&["--trace", &with, "--payloads"]));
    assert!(!holds(&without) && holds(&with));
    let said = good(&porous(&["replay", &with]));
    assert!(!said.contains("not compared"), "{said}");

    let (without, with) = (path("sealed"), path("keys"));
    good(&demo(&["--sealed", "--trace", &without, "--payloads"]));
    let why = bad(&porous(&["replay", &without]), 1);
    assert!(why.contains("has no keys"), "{why}");
    good(&porous(&["trace", &without]));
    good(&demo(&["--sealed", "--trace", &with, "--trace-keys"]));
    let said = good(&porous(&["replay", &with]));
    assert!(said.contains("all the same"), "{said}");
}

#[test]
fn a_server_and_its_client_are_recorded_each() {
    let key = file("traced", "key", KEY);
    let folder = folder("traced");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (server, client) = (path("server"), path("client"));
    let args = ["--key", &key, "--trace-keys", "--trace"];
    let serve = [
        &["serve", "127.0.0.1:0", "--plain", "--duration", "4"],
        &args[..],
        &[&server],
    ];
    let (program, address) = Program::listen(&serve.concat());
    let ping = [
        &["ping", &address, "--plain", "--duration", "1"],
        &args[..],
        &[&client],
    ];
    good(&porous(&ping.concat()));
    good(&program.end());
    for trace in [&server, &client] {
        let said = good(&porous(&["replay", trace]));
        assert!(said.contains("all the same"), "{said}");
        assert!(!said.contains("not end in order"), "{said}");
    }
}

/// Where the records of a trace have what is between their lengths and their checks.
fn contents(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let next = |at: usize| {
        let length = bytes.get(at..)?.first_chunk()?;
        let start = at + 4;
        Some(start..start + u32::from_le_bytes(*length) as usize)
    };
    iter::successors(next(12), move |content| next(content.end + 4))
}

#[test]
fn files_that_are_no_good_are_told_in_one_line() {
    let folder = folder("bad");
    let trace = folder.join("trace").to_str().unwrap().to_owned();
    good(&demo(&["--trace", &trace]));
    let bytes = std::fs::read(&trace).unwrap();
    let changed = |at: usize| {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0xFF;
        bytes
    };
    let middle = contents(&bytes).find(|content| content.end > bytes.len() / 2);
    let middle = middle.unwrap();
    let cut = file("bad", "cut", &bytes[..middle.end]);
    let damaged = file("bad", "damaged", changed(middle.start));
    let version = file("bad", "version", changed(8));
    let other = file("bad", "other", "what is this?");
    let empty = file("bad", "empty", "");
    let folder = folder.to_str().unwrap();
    for command in ["trace", "replay"] {
        for (path, status, part) in [
            ("/no/such/file", 2, "cannot read /no/such/file"),
            (folder, 2, "cannot read"),
            (&other, 2, "no"),
            (&empty, 2, "no"),
            (&version, 2, "version"),
            (&cut, 1, "cut off"),
            (&damaged, 1, "damaged"),
        ] {
            let why = bad(&porous(&[command, path]), status);
            assert!(why.contains(part), "{command} {path}: {why}");
        }
    }
    // What is good is shown all the same.
    let shown = porous(&["trace", &cut]).stdout;
    assert!(shown.len() > 1000);
    let why = bad(&porous(&["trace", &other, "--pcap", "/tmp/never"]), 2);
    assert!(why.contains("no trace"), "{why}");
}

#[test]
fn a_replay_that_differs_names_the_record() {
    let folder = folder("differs");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let trace = path("trace");
    good(&demo(&["--trace", &trace]));
    let mut bytes = std::fs::read(&trace).unwrap();
    // A datagram that left, with another byte at its end and the check that fits.
    let content = contents(&bytes).find(|content| bytes[content.start] == 16);
    let content = content.unwrap();
    bytes[content.end - 1] ^= 1;
    let check = crc::Crc::<u32>::new(&crc::CRC_32_ISCSI);
    let check = check.checksum(&bytes[content.clone()]).to_le_bytes();
    bytes[content.end..content.end + 4].copy_from_slice(&check);
    std::fs::write(&trace, bytes).unwrap();
    let why = bad(&porous(&["replay", &trace]), 1);
    assert!(why.contains("the replay differs: record "), "{why}");
    assert!(why.contains("sent, bytes: expected "), "{why}");
}

#[test]
fn what_cannot_be_written_is_told_before_or_at_the_end() {
    let why = bad(&demo(&["--trace", "/no/such/folder/file"]), 2);
    assert!(why.contains("cannot write --trace"), "{why}");
    let why = bad(&demo(&["--payloads"]), 2);
    assert!(why.contains("--payloads"), "{why}");
    bad(&demo(&["--trace-keys"]), 2);
    if cfg!(target_os = "linux") {
        for option in ["--trace", "--pcap"] {
            let why = bad(&demo(&[option, "/dev/full"]), 1);
            assert!(
                why.contains("cannot write") && why.contains(option),
                "{why}"
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_stops_early_is_no_error() {
    let folder = folder("closed");
    let trace = folder.join("trace").to_str().unwrap().to_owned();
    good(&demo(&["--trace", &trace]));
    let mut program = Program::start(&["trace", "--all", &trace]);
    program.line();
    program.close_pipe();
    let output = program.end();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}
