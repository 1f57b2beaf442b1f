//! `porous sim road` as a user runs it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn porous(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_porous"))
        .args(args)
        .output()
        .expect("this program starts")
}

fn road(args: &[&str]) -> Output {
    porous(&[&["sim", "road"], args].concat())
}

/// The one line in which a run that failed says why.
fn bad(output: &Output, status: i32) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("error: "), "{said}");
    said
}

/// The results of a road that can be run.
fn results(text: &str) -> Value {
    let run = road(&[text, "--json", "-"]);
    assert!(run.status.success() && run.stderr.is_empty(), "{run:?}");
    serde_json::from_slice(&run.stdout).expect("JSON and nothing else")
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is a number"))
}

#[test]
fn the_results_are_lines_and_json_and_always_the_same() {
    let text = "rate=2000 flow=lean*2 flow=lean+st60x100@1:80 from=3 end=8";
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("road.json");
    let to_file = road(&[text, "--json", file.to_str().expect("a path in words")]);
    assert!(to_file.status.success(), "{to_file:?}");
    let lines = String::from_utf8(to_file.stdout).expect("text");
    assert!(
        lines.lines().all(|line| line.chars().count() <= 80),
        "{lines}"
    );
    let (flows, told) = lines.split_once("RTT told").expect("two tables");
    assert_eq!(flows.matches("\nlean ").count(), 3, "{lines}");
    assert_eq!(told.matches("\nlean ").count(), 3, "{lines}");

    let json = results(text);
    let read = fs::read(&file).expect("it was written");
    assert_eq!(serde_json::from_slice::<Value>(&read).expect("JSON"), json);
    assert!(number(&json["used_percent"]) > 90.0, "{json}");
    assert!(number(&json["goodput_percent"]) > 85.0 && number(&json["jain"]) > 0.3);
    assert!(number(&json["queue"]["mean_ms"]) <= number(&json["queue"]["p95_ms"]));
    let flows = json["flows"].as_array().expect("a list");
    assert!(flows[0]["latency_ms"]["p50"].is_null() && flows[0]["name"] == "lean");
    let latency = &flows[2]["latency_ms"];
    assert!(number(&latency["p50"]) >= 40.0 && number(&latency["p99"]) >= number(&latency["p50"]));
}

#[test]
fn words_may_be_one_argument_or_several() {
    let all = ["rate=1000", "from=1", "end=3"];
    let [one, three] = [road(&[&all.join(" ")]), road(&all)];
    assert!(
        one.status.success() && one.stdout == three.stdout,
        "{one:?} {three:?}"
    );
}

#[test]
fn each_kind_of_road_does_what_it_says() {
    let short = "rate=4000 from=5 end=20";
    let queue = |words: &str| number(&results(&format!("{short} {words}"))["queue"]["mean_ms"]);
    let dropped = |words: &str| {
        let json = results(&format!("{short} {words}"));
        number(&json["flows"][0]["dropped_percent"])
    };
    assert!(queue("flow=tcpcubic q=400") > 60.0);
    assert!(queue("flow=tcpcubic q=time:20") < 20.0);
    assert!(queue("flow=tcpcubic q=codel") < 10.0);
    assert!(queue("flow=tcpcubic q=400 flow=tcpreno@0-4") > 60.0);
    assert!(dropped("flow=fixed policer=20000") > 30.0);
    assert!(dropped("flow=fixed every=1000:100") > 5.0);
    // Nobody pushes a flow with a queue of its own aside.
    let fair = results(&format!("{short} q=fqcodel flow=fixed flow=tcpreno"));
    let tcp = &fair["flows"][1];
    assert!(number(&tcp["kbyte_per_s"]) > 200.0, "{fair}");

    let trace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("road.trace");
    fs::write(&trace, "4\n8\n").expect("it can be written");
    let trace = trace.to_str().expect("a path in words");
    let json = results(&format!("trace={trace} flow=tcpcubic from=5 end=20"));
    // Two packets of 1500 bytes in 8 ms are 375 kB a second; 1448 bytes of each are data.
    let flow = number(&json["flows"][0]["kbyte_per_s"]);
    assert!((340.0..=362.0).contains(&flow), "{json}");
    let used = number(&json["used_percent"]);
    assert!((95.0..=101.0).contains(&used), "{json}");
    // A megabyte a second, and its headers, of 20 Mbit/s.
    let json = results("rate=20000 flow=fixed from=2 end=5");
    let used = number(&json["used_percent"]);
    assert!((40.0..=43.0).contains(&used), "{json}");
}

#[test]
fn what_arrives_and_was_declared_lost_is_counted() {
    // Before the sender has learnt how far frames overtake each other.
    let json = results("jit=5 jre=1 flow=reno from=0 end=2");
    let flow = &json["flows"][0];
    assert!(number(&flow["falsely_lost_percent"]) > 0.01, "{json}");
    let lossy = results("rate=5000 loss=2 flow=fixed from=2 end=20");
    assert!(
        number(&lossy["flows"][0]["falsely_lost_percent"]) < 0.2,
        "{lossy}"
    );
}

#[test]
fn what_a_flow_is_told_stands_beside_what_is_true() {
    let near = |json: &Value, key: &str, most: f64| {
        let [told, truth] = ["told", "true"].map(|which| number(&json[which][key]));
        assert!((told - truth).abs() <= most, "{json}");
        truth
    };
    // A queue that is always full, behind which datagrams are lost.
    let json = results("rate=7000 q=time:100 loss=2 flow=fixed flow=tcpreno from=15 end=40");
    let fixed = &json["flows"][0];
    let rtt = near(fixed, "rtt_ms", 3.0);
    assert!((145.0..=151.0).contains(&rtt), "{json}");
    let loss = near(fixed, "loss_percent", 1.5);
    let dropped = number(&fixed["dropped_percent"]);
    assert!(loss > dropped + 0.5 && loss < dropped + 2.5, "{json}");
    assert!(number(&fixed["told"]["quality"]) < 70.0, "{json}");
    let tcp = &json["flows"][1];
    assert!(tcp["told"].is_null() && tcp["true"].is_null(), "{json}");

    // Where there is no queue, the way takes what it takes, and longer one way as well.
    let json = results("rtt=80 jit=0 flow=default+st60x100 flow=default+st60x100@0-1 end=12");
    let rtt = near(&json["flows"][0], "rtt_ms", 1.5);
    assert!((80.0..=81.0).contains(&rtt), "{json}");
    assert!(json["flows"][1]["told"].is_null(), "it vanished: {json}");
    let json = results("rtt=80 jit=0 flow=default+st60x100 from=4 end=4.01");
    near(&json["flows"][0], "rtt_ms", 1.5);
    let json = results("at=5:delay:60 wander=0:1000 aloss=20 flow=default+st60x100 end=20");
    let rtt = near(&json["flows"][0], "rtt_ms", 1.5);
    assert!((119.0..=122.0).contains(&rtt), "{json}");
    assert_eq!(
        number(&json["flows"][0]["true"]["loss_percent"]),
        0.0,
        "{json}"
    );
}

#[test]
fn a_connection_that_ends_is_told_and_is_no_panic() {
    let json = results("loss=100 aloss=100 from=60 end=70");
    assert_eq!(json["flows"][0]["ended"], true, "{json}");
    assert!(
        json["flows"][0]["told"].is_null(),
        "never connected: {json}"
    );
    // A connection that ends in the time that is measured keeps what it had counted.
    let json = results("at=5:down:1 flow=reno rate=1000 q=50 from=4 end=200");
    let flow = &json["flows"][0];
    assert_eq!(flow["ended"], true, "{json}");
    assert!(number(&flow["lost_percent"]) > 1.0, "{json}");
}

#[test]
fn what_means_nothing_is_named_in_one_line() {
    let words = [
        "rtx=3",
        "flow=quic",
        "rate=fast",
        "trace=/no/such/file",
        "flow=lean@9-3",
    ];
    for word in words {
        let run = road(&["rate=1000", word]);
        assert_eq!(run.status.code(), Some(2), "{run:?}");
        let told = String::from_utf8_lossy(&run.stderr);
        assert!(told.starts_with("error: ") && told.contains(word), "{told}");
        assert!(told.lines().count() == 1 && run.stdout.is_empty(), "{told}");
    }
    let trace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("alone.trace");
    fs::write(&trace, "4\n8\n").expect("it can be written");
    let trace = format!("trace={}", trace.to_str().expect("a path in words"));
    for word in ["radio=1:2:10", "policer=30000", "at=12:rate:1000"] {
        let run = road(&[word, &trace, "end=13"]);
        assert_eq!(run.status.code(), Some(2), "{run:?}");
        let told = String::from_utf8_lossy(&run.stderr);
        assert!(
            told.starts_with(&format!("error: {word}: a trace")),
            "{told}"
        );
        assert!(told.lines().count() == 1 && run.stdout.is_empty(), "{told}");
    }
    assert!(road(&[&trace, "at=12:delay:30", "end=13"]).status.success());
    let run = road(&["end=11", "--json", "/no/such/folder/file"]);
    assert_eq!(run.status.code(), Some(2), "{run:?}");
}

/// A file of a test's own.
fn path(name: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    path.to_str().expect("a path in words").to_owned()
}

/// The objects of `porous trace --json`.
fn records(file: &str) -> Vec<Value> {
    let shown = porous(&["trace", "--json", file]);
    assert!(shown.status.success(), "{shown:?}");
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("JSON")
}

#[test]
fn each_end_is_recorded_and_replayed_and_the_same_words_write_the_same_bytes() {
    let words = "rate=2000 loss=2 flow=tcpreno flow=lean+st60x100 from=1 end=3";
    let mut printed = Vec::new();
    for (end, first) in [("client", "connect"), ("server", "listen")] {
        let files = [1, 2].map(|n| {
            [
                format!("road-{end}-{n}.trace"),
                format!("road-{end}-{n}.pcap"),
            ]
        });
        let files = files.map(|names| names.map(|name| path(&name)));
        for [trace, pcap] in &files {
            let run = road(&[words, "--trace", trace, "--pcap", pcap, "--of", end]);
            assert!(run.status.success() && run.stderr.is_empty(), "{run:?}");
            printed.push(run.stdout);
        }
        let read = |name: &str| fs::read(name).expect("it was written");
        let [[trace, pcap], [again, pcap_again]] = &files;
        assert!(
            read(trace) == read(again) && read(pcap) == read(pcap_again),
            "{end}"
        );

        let replayed = porous(&["replay", trace]);
        let said = String::from_utf8_lossy(&replayed.stdout).into_owned();
        assert!(
            replayed.status.success() && said.contains("all the same\n"),
            "{replayed:?}"
        );
        assert!(!said.contains("did not end in order"), "{said}");
        let (of_trace, of_pcap) = (records(trace), records(pcap));
        let kinds: Vec<&str> = of_trace
            .iter()
            .filter_map(|it| it["kind"].as_str())
            .collect();
        assert!(kinds.contains(&first), "{end}: {:?}", &kinds[..10]);
        let forms = |of: &[Value]| {
            let datagrams = of.iter().filter(|it| it["forms"].is_array());
            datagrams.map(|it| it["forms"].clone()).collect::<Vec<_>>()
        };
        assert!(
            forms(&of_trace) == forms(&of_pcap) && of_pcap.len() > 100,
            "{end}"
        );
        assert!(of_pcap.iter().all(|it| it["unread"].is_null()), "{end}");
        let ends = ["192.0.2.1:49152", "192.0.2.2:4000"];
        assert!(
            of_pcap
                .iter()
                .all(|it| ends.contains(&it["from"].as_str().expect("text")))
        );
    }
    printed.dedup();
    assert_eq!(
        printed.len(),
        1,
        "whichever host is recorded, the run is the same"
    );
}

#[test]
fn the_client_is_recorded_if_nobody_says_which_and_payloads_if_somebody_does() {
    let words = "rate=2000 flow=lean+st60x100 from=1 end=2";
    let [client, usual, payloads] =
        ["client", "usual", "payloads"].map(|name| path(&format!("road-of-{name}.trace")));
    for args in [
        &[words, "--trace", &client, "--of", "client"][..],
        &[words, "--trace", &usual],
        &[words, "--trace", &payloads, "--payloads"],
    ] {
        let run = road(args);
        assert!(run.status.success() && run.stderr.is_empty(), "{run:?}");
    }
    let read = |name: &str| fs::read(name).expect("it was written");
    assert!(read(&usual) == read(&client) && read(&usual) != read(&payloads));
    assert!(porous(&["replay", &payloads]).status.success());
}

#[test]
fn what_cannot_be_recorded_is_told() {
    let trace = path("road-none.trace");
    let short = "end=11";
    let why = bad(&road(&["flow=tcpreno", short, "--trace", &trace]), 2);
    assert!(why.contains("TCP") && !Path::new(&trace).exists(), "{why}");
    for option in ["--trace", "--pcap", "--json"] {
        let why = bad(&road(&[short, option, "/no/such/folder/file"]), 2);
        assert!(why.contains(option), "{why}");
    }
    for args in [
        &["--of", "server"][..],
        &["--of", "both", "--trace", &trace],
        &["--payloads"],
        &["--trace-keys"],
    ] {
        let why = bad(&road(&[&[short], args].concat()), 2);
        assert!(why.contains(args[0]), "{why}");
    }
    if cfg!(target_os = "linux") {
        for option in ["--trace", "--pcap", "--json"] {
            let why = bad(&road(&[short, option, "/dev/full"]), 1);
            assert!(
                why.contains("cannot write") && why.contains(option),
                "{why}"
            );
        }
        let full = fs::File::options()
            .write(true)
            .open("/dev/full")
            .expect("Linux has it");
        let mut command = Command::new(env!("CARGO_BIN_EXE_porous"));
        let run = command.args(["sim", "road", short]).stdout(full).output();
        let run = run.expect("this program starts");
        assert!(bad(&run, 1).contains("standard output"), "{run:?}");
    }
}

#[test]
fn a_flow_that_sends_nothing_has_strokes_for_numbers_and_a_reader_may_stop_early() {
    let words = "flow=default flow=default@0-1 from=5 end=8";
    let run = road(&[words]);
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let second = text.lines().nth(7).expect("a line for each flow");
    let cells: Vec<&str> = second.split_whitespace().collect();
    assert_eq!(
        cells[..8],
        ["default", "0.0", "-", "%", "-", "%", "-", "%"],
        "{text}"
    );
    let json = results(words);
    assert!(json["flows"][1]["dropped_percent"].is_null(), "{json}");
    let nothing = results("at=0:down:1 from=1 end=3");
    assert!(nothing["jain"].is_null(), "{nothing}");

    let mut command = Command::new(env!("CARGO_BIN_EXE_porous"));
    let command = command
        .args(["sim", "road", "end=11"])
        .stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let run = child.wait_with_output().expect("it ends");
    assert!(run.status.success() && run.stderr.is_empty(), "{run:?}");
}
