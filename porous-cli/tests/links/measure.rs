//! `porous serve` and `porous ping`.

use core::time::Duration;

use porous_std::{ChannelId, Config, Event, Mode, Priority, SendError, UdpHost};
use serde_json::Value;

use crate::program::{KEY, OTHER_KEY, Program, bad, file, good, porous};

/// The application id of both commands, for tickets.
const APPLICATION: &str = "--application=0x706f726f75732d6d";

fn serve(args: &[&str]) -> (Program, String) {
    let all = [&["serve", "127.0.0.1:0", "--duration=90"][..], args].concat();
    Program::listen(&all)
}

/// The results of a short measurement.
fn ping(address: &str, args: &[&str]) -> Value {
    let all = [&["ping", address, "--duration=1", "--json=-"][..], args].concat();
    let text = good(&porous(&all));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn number(results: &Value, path: &str) -> u64 {
    let number = results.pointer(path).and_then(Value::as_u64);
    number.unwrap_or_else(|| panic!("no number at {path}: {results}"))
}

/// Checks that all modes were measured and nothing was lost: loopback loses nothing.
fn check(results: &Value, rate: u64) {
    let modes = results["modes"].as_array().unwrap();
    let names: Vec<_> = modes
        .iter()
        .map(|mode| mode["mode"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["reliable", "unreliable", "passive"]);
    for mode in modes {
        let n = |name| number(mode, &format!("/{name}"));
        assert_eq!(n("sent") + n("not_sent"), rate, "{mode}");
        assert!(
            n("arrived") <= n("sent") && n("back") <= n("echoed"),
            "{mode}"
        );
        let percentile = |name| mode[name].as_f64().unwrap();
        assert!(percentile("p50_ms") <= percentile("p99_ms"), "{mode}");
        assert!(percentile("longest_ms") > 0.0, "{mode}");
    }
    let reliable = &modes[0];
    for name in ["arrived", "echoed", "back"] {
        assert_eq!(reliable[name], reliable["sent"], "{results}");
    }
    let history = results["history"].as_array().unwrap();
    assert!(
        !history.is_empty() && history[0]["bytes_sent"].is_u64(),
        "{results}"
    );
    let text = results["verdict"]["text"].as_str().unwrap();
    assert!(text.contains("play"), "{text}");
    assert!(results["ended"].is_null(), "{results}");
}

#[cfg(unix)]
#[test]
fn a_plain_connection_is_measured_and_the_server_says_what_it_did() {
    let (mut server, address) = serve(&[]);
    let results = ping(&address, &[]);
    check(&results, 60);
    assert_eq!(results["sealed"], false);
    assert_eq!(results["address"], address.as_str());
    assert!(server.line().ends_with("has connected, plain"));
    assert!(server.line().contains("has left after "));
    server.interrupt();
    let text = good(&server.end());
    assert!(text.contains("connections 1, at the end 0"), "{text}");
    assert!(
        text.contains(&format!("{:<10} {:>12} {:>12}\n", "reliable", 60, 60)),
        "{text}"
    );
}

#[test]
fn load_is_what_was_asked_for() {
    let (server, address) = serve(&[]);
    let few = ping(
        &address,
        &["--rate=20", "--size=25", "--mode=passive,reliable"],
    );
    let names: Vec<_> = few["modes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mode| &mode["mode"])
        .collect();
    assert_eq!(names, ["reliable", "passive"]);
    assert_eq!(number(&few, "/modes/0/sent"), 20);
    let args = ["--rate=100", "--size=3000", "--channels=16"];
    let one_way = ping(&address, &args);
    check(&one_way, 100);
    let there = number(&one_way, "/connection/bytes_sent");
    let back = number(&one_way, "/connection/bytes_received");
    assert!(there > 800_000 && back < there / 5, "{one_way}");
    let both_ways = ping(&address, &[&args[..], &["--bidirectional"]].concat());
    check(&both_ways, 100);
    assert!(
        number(&both_ways, "/connection/bytes_received") > 800_000,
        "{both_ways}"
    );
    drop(server);
}

#[test]
fn a_key_seals_and_another_one_is_refused() {
    let key = file("measure", "good.key", KEY);
    let other = file("measure", "other.key", OTHER_KEY);
    let (server, address) = serve(&["--key", &key]);
    let results = ping(&address, &["--key", &key]);
    check(&results, 60);
    assert_eq!(results["sealed"], true);
    for args in [
        &["ping", &address, "--key", &other][..],
        &["ping", &address],
    ] {
        let line = bad(&porous(args), 1);
        assert!(line.contains("refuses the keys"), "{line}");
    }
    drop(server);
}

#[test]
fn a_ticket_seals() {
    let key = file("measure", "token.key", KEY);
    let (server, address) = serve(&["--token", &key, "--key-number=7"]);
    let mint = |extra: &[&str]| {
        let args = [
            "token",
            "mint",
            "--key",
            &key,
            "--key-number=7",
            "--client=42",
        ];
        good(&porous(&[&args[..], &[APPLICATION], extra].concat()))
    };
    let ticket = file("measure", "ticket", mint(&["--single-use"]));
    let results = ping(&address, &["--token", &ticket]);
    assert_eq!(results["sealed"], true);
    let line = bad(&porous(&["ping", &address, "--token", &ticket]), 1);
    assert!(line.contains("refuses the keys"), "used: {line}");
    let digits = format!("--server-key={KEY}");
    let with_key = file("measure", "with-key", mint(&[&digits]));
    let line = bad(&porous(&["ping", &address, "--token", &with_key]), 2);
    assert!(line.contains("--server-key"), "{line}");
    drop(server);
}

#[test]
fn ipv6_and_names_are_addresses() {
    let all = ["serve", "[::1]:0", "--duration=90"];
    let mut server = Program::start(&all);
    let line = server.line();
    let Some(address) = line.strip_prefix("listening on ") else {
        eprintln!("skipped: this machine has no IPv6");
        return;
    };
    assert!(address.starts_with("[::1]:"), "{address}");
    let results = ping(address, &["--rate=10"]);
    assert_eq!(results["address"], address);
    drop(server);
    // A name may stand for addresses of both families, of which one has the server.
    let (server, address) = serve(&[]);
    let port = address.rsplit_once(':').unwrap().1;
    let results = ping(&format!("localhost:{port}"), &["--rate=10"]);
    assert_eq!(results["address"], address.as_str());
    drop(server);
}

#[cfg(target_os = "linux")]
#[test]
fn threads_share_a_port() {
    let (server, address) = serve(&["--threads=4"]);
    let clients: Vec<_> = (0..6)
        .map(|_| Program::start(&["ping", &address, "--duration=1", "--json=-"]))
        .collect();
    for client in clients {
        check(&serde_json::from_str(&good(&client.end())).unwrap(), 60);
    }
    server.interrupt();
    let text = good(&server.end());
    assert!(text.contains("connections 6, at the end 0"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_server_that_is_stopped_says_goodbye_and_tells_who_was_there() {
    let (mut server, address) = serve(&[]);
    let client = Program::start(&["ping", &address, "--duration=80"]);
    assert!(server.line().ends_with("has connected, plain"));
    server.interrupt_twice();
    let text = good(&server.end());
    let part = " probes: this end has ended the connection\n";
    assert!(text.contains(part), "{text}");
    assert!(text.contains("connections 1, at the end 1"), "{text}");
    let line = bad(&client.end(), 1);
    assert!(line.contains("the other end has ended"), "{line}");
}

#[cfg(unix)]
#[test]
fn json_goes_to_standard_output_alone() {
    let mut server = Program::start(&["serve", "127.0.0.1:0", "--json=-", "--threads=1"]);
    let line = server.error_line();
    let address = line.strip_prefix("listening on ").unwrap();
    ping(address, &[]);
    server.interrupt();
    let results: Value = serde_json::from_str(&good(&server.end())).unwrap();
    assert_eq!(number(&results, "/connections"), 1);
    assert_eq!(number(&results, "/reliable/probes"), 60);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_measurement_with_its_report() {
    let (server, address) = serve(&[]);
    let mut client = Program::start(&["ping", &address, "--duration=80"]);
    // The head of the lines, and the first second.
    for _ in 0..3 {
        client.line();
    }
    client.interrupt();
    let text = good(&client.end());
    assert!(text.contains("good for"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    drop(server);
}

#[test]
fn a_server_that_is_killed_ends_a_measurement_with_its_report() {
    let (server, address) = serve(&[]);
    let mut client = Program::start(&["ping", &address, "--duration=80"]);
    for _ in 0..3 {
        client.line();
    }
    server.kill();
    let output = client.end();
    let line = bad(&output, 1);
    assert!(line.contains("the connection ended"), "{line}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("reliable") && text.contains("good for"),
        "{text}"
    );
}

/// A probe that wants an echo of the same length.
fn probe(serial: u64) -> Vec<u8> {
    let mut probe = [&[2][..], &serial.to_le_bytes(), &[0; 8]].concat();
    probe.resize(10_000, 0);
    probe
}

#[test]
fn a_client_that_takes_no_echoes_is_held_back_and_gets_them_all_later() {
    let (server, address) = serve(&[]);
    let application = u64::from_be_bytes(*b"porous-m");
    let config = Config::client().application_id(application);
    let config = config.channels(&[Priority::High; 2]).unwrap();
    let mut host = UdpHost::bind("127.0.0.1:0", config).unwrap();
    let peer = host.connect(address.parse().unwrap()).unwrap();
    let (mut sent, mut stuck) = (0, 0);
    // Full at both ends: of what is sent there and back each end keeps a few megabytes.
    while stuck < 100 {
        host.wait(Duration::from_millis(20)).unwrap();
        while let Some(event) = host.poll_event() {
            assert!(!matches!(event, Event::Disconnected { .. }), "{event:?}");
        }
        let before = sent;
        while host
            .send(peer, ChannelId(1), probe(sent), Mode::Reliable)
            .is_ok()
        {
            sent += 1;
        }
        stuck = if sent == before && sent > 0 {
            stuck + 1
        } else {
            0
        };
    }
    let full = host.send(peer, ChannelId(1), probe(sent), Mode::Reliable);
    assert_eq!(full, Err(SendError::Full));
    assert!(sent < 2500, "held back before 25 MB: {sent}");
    let (mut echoes, mut idle) = (0, 0);
    while echoes < sent {
        let before = echoes;
        while let Some(packet) = host.receive(peer) {
            let mut expected = probe(echoes);
            expected[0] = 3;
            let counted = echoes + 1;
            expected[17..25].copy_from_slice(&counted.to_le_bytes());
            assert_eq!(packet.payload, expected);
            echoes += 1;
        }
        idle = if echoes == before { idle + 1 } else { 0 };
        assert!(idle < 1000, "{echoes} of {sent}");
        host.wait(Duration::from_millis(20)).unwrap();
        while let Some(event) = host.poll_event() {
            assert!(!matches!(event, Event::Disconnected { .. }), "{event:?}");
        }
    }
    drop(server);
}

#[test]
fn an_address_without_a_server_and_a_name_without_an_address_fail() {
    // Bound, so that no other program gets the port.
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let silent = socket.local_addr().unwrap().to_string();
    for (address, part) in [
        (silent.as_str(), "nothing answers"),
        ("no.such.host.invalid:4000", "cannot find"),
        ("127.0.0.1:0", "port 0"),
        ("0.0.0.0:4000", "0.0.0.0"),
    ] {
        let line = bad(&porous(&["ping", address]), 1);
        assert!(line.contains(part), "{line}");
    }
    for address in ["no.such.host.invalid:4000", "192.0.2.1:0", &silent] {
        bad(&porous(&["serve", address]), 1);
    }
}

#[test]
fn wrong_arguments_get_one_line() {
    let short = file("measure", "short.key", &KEY[2..]);
    let missing = "no/such/file";
    for args in [
        &["ping"][..],
        &["ping", "localhost"],
        &["ping", "::1:7"],
        &["ping", "a:1", "b:2"],
        &["ping", "a:1", "--rate=0"],
        &["ping", "a:1", "--rate=10001"],
        &["ping", "a:1", "--size=24"],
        &["ping", "a:1", "--size=60001"],
        &["ping", "a:1", "--mode=fast"],
        &["ping", "a:1", "--mode="],
        &["ping", "a:1", "--channels=0"],
        &["ping", "a:1", "--channels=17"],
        &["ping", "a:1", "--duration=0"],
        &["ping", "a:1", "--duration=x"],
        &["ping", "a:1", "--key", missing],
        &["ping", "a:1", "--key", &short],
        &["ping", "a:1", "--token", missing],
        &["ping", "a:1", "--token", &short],
        &["ping", "a:1", "--key", &short, "--token", &short],
        &["ping", "a:1", "--json", missing],
        &["serve"],
        &["serve", "localhost"],
        &["serve", "127.0.0.1:0", "--threads=0"],
        &["serve", "127.0.0.1:0", "--threads=3"],
        &["serve", "127.0.0.1:0", "--threads=256"],
        &["serve", "127.0.0.1:0", "--duration=0"],
        &["serve", "127.0.0.1:0", "--key", &short],
        &["serve", "127.0.0.1:0", "--token", missing],
        &["serve", "127.0.0.1:0", "--key-number=1"],
        &["serve", "127.0.0.1:0", "--json", missing],
    ] {
        let output = porous(args);
        bad(&output, 2);
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn help_lists_possible_values_in_80_columns() {
    for (command, part) in [
        (&["ping"][..], "unreliable:"),
        (&["serve"], "--threads"),
        (&["send"], "--retry"),
        (&["recv"], "--many"),
        (&["demo"], "modern:"),
        (&["sim", "road"], "KEY=VALUE"),
        (&["token", "mint"], "chacha:"),
    ] {
        let text = good(&porous(&[command, &["--help"]].concat()));
        assert!(text.contains(part), "{text}");
        let long = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(long, None);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_and_a_closed_pipe_lose_nothing_else() {
    let (server, address) = serve(&[]);
    let ping = ["ping", &address, "--duration=1"];
    let output = porous(&[&ping[..], &["--json=/dev/full"]].concat());
    let line = bad(&output, 1);
    assert!(line.contains("--json"), "{line}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("good for"), "{text}");

    let json = file("measure", "full.json", "");
    let full = std::fs::File::create("/dev/full").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_porous"));
    command.args(ping).args(["--json", &json]).stdout(full);
    let output = command.output().unwrap();
    let line = bad(&output, 1);
    assert!(line.contains("standard output"), "{line}");
    let results = std::fs::read_to_string(&json).unwrap();
    check(&serde_json::from_str(&results).unwrap(), 60);

    let mut client = Program::start(&[&ping[..], &["--json", &json]].concat());
    client.close_pipe();
    let output = client.end();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    drop(server);
}
