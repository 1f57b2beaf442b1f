//! The laboratory as a user runs it: what it prints and writes, and its exit status.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_porous"));
    command.args(["sim", "lab", "--quick"]).args(args);
    command
}

fn lab(args: &[&str]) -> Output {
    command(args).output().expect("this program starts")
}

/// The one line in which a run that failed says why.
fn bad(output: &Output, status: i32) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("error: "), "{said}");
    said
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The names and the contents of all files.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = fs::read_dir(folder)
        .expect("it was written")
        .map(|entry| entry.expect("a file").path())
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into();
            (name, fs::read_to_string(path).expect("text"))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn what_is_written_does_not_depend_on_the_threads() {
    let written = ["1", "3"].map(|threads| {
        let folder = folder(&format!("lab-{threads}"));
        let out = folder.to_str().expect("a path in words");
        let run = lab(&["--only", "alone-4", "--threads", threads, "--out", out]);
        assert!(run.status.success(), "{run:?}");
        (run.stdout, files(&folder))
    });
    assert_eq!(written[0], written[1]);
    let names: Vec<&str> = written[0].1.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["README.md", "alone-4.svg", "results.csv"]);
    let results = &written[0].1[2].1;
    assert!(results.contains("\nalone-4,reno,"), "{results}");
}

#[test]
fn what_flows_are_told_is_a_table_of_its_own() {
    let folder = folder("lab-told");
    let out = folder.to_str().expect("a path in words");
    let run = lab(&["--only", "game-1", "--out", out]);
    assert!(run.status.code().is_some_and(|code| code < 2), "{run:?}");
    let told = fs::read_to_string(folder.join("told.md")).expect("it was written");
    let lines: Vec<&str> = told
        .lines()
        .filter(|line| line.contains("game-1"))
        .collect();
    // TCP takes no part here.
    assert_eq!(lines.len(), 6, "{told}");
    assert!(
        lines.iter().all(|line| line.split(" | ").count() == 7),
        "{told}"
    );
}

/// The texts of a picture, with their places: `end` are ticks of values, in the order of the panels.
fn texts(svg: &str) -> Vec<(&str, &str)> {
    let parts = svg.split("<text ").skip(1);
    parts
        .map(|part| {
            let (head, rest) = part.split_once('>').expect("a tag");
            let (_, anchor) = head.split_once("text-anchor=\"").expect("a place");
            let anchor = anchor.split('"').next().expect("its name");
            (anchor, rest.split('<').next().expect("a text").trim())
        })
        .collect()
}

/// Checks that a picture can be read.
fn is_legible(name: &str, svg: &str) {
    assert!(
        svg.contains("<title>") && svg.contains("prefers-color-scheme:dark"),
        "{name}"
    );
    for word in ["NaN", "inf"] {
        assert!(!svg.contains(word), "{name}: {word}");
    }
    let texts = texts(svg);
    let count = |wanted: &str| texts.iter().filter(|(_, text)| *text == wanted).count();
    let panels = count("time, s");
    assert!(panels > 0 && panels % 4 == 0, "{name}: {texts:?}");
    for axis in ["rate, MB/s", "window, kB", "queue, ms", "RTT, ms"] {
        assert_eq!(4 * count(axis), panels, "{name}: {axis}");
    }
    let title = name.strip_suffix(".svg").expect("a picture");
    assert_eq!(count(title), 1, "{name}: {texts:?}");
    let axes = texts.chunk_by(|one, other| one.0 == "end" && other.0 == "end");
    let axes: Vec<Vec<&str>> = axes
        .filter(|axis| axis[0].0 == "end")
        .map(|axis| axis.iter().map(|(_, text)| *text).collect())
        .collect();
    assert_eq!(axes.len(), panels, "{name}: {axes:?}");
    for axis in axes {
        let mut ticks = axis.clone();
        ticks.sort_unstable();
        ticks.dedup();
        assert!(
            ticks.len() == axis.len() && axis.len() > 1,
            "{name}: {axis:?}"
        );
    }
}

#[test]
#[ignore = "long: .ci/run runs it"]
fn every_row_is_told_and_drawn_and_nothing_is_written_beside_the_folder() {
    let folder = folder("lab-all");
    // There is none in the first run.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    // A missing folder in it, and a controller whose runs are short.
    let args = [
        "--controller",
        "reno",
        "--plots",
        "--out",
        "in/out",
        "--json",
        "-",
    ];
    let run = command(&args)
        .current_dir(&folder)
        .output()
        .expect("this program starts");
    assert!(run.status.code().is_some_and(|code| code < 2), "{run:?}");
    assert!(run.stderr.is_empty(), "{run:?}");
    let entries = |path: &Path| fs::read_dir(path).expect("a folder").count();
    assert_eq!([entries(&folder), entries(&folder.join("in"))], [1, 1]);

    let json: Value = serde_json::from_slice(&run.stdout).expect("JSON and nothing else");
    let runs = json["runs"].as_array().expect("a list");
    let rows: Vec<&str> = runs.iter().filter_map(|run| run["row"].as_str()).collect();
    assert!(rows.len() > 80, "{rows:?}");
    let files = files(&folder.join("in/out"));
    let mut wanted: Vec<String> = rows.iter().map(|row| format!("{row}.svg")).collect();
    wanted.extend(["README.md", "results.csv", "told.md"].map(String::from));
    wanted.sort();
    let names: Vec<&String> = files.iter().map(|(name, _)| name).collect();
    assert!(names.iter().copied().eq(&wanted), "{names:?}");
    for (name, text) in &files {
        if name.ends_with(".svg") {
            is_legible(name, text);
            continue;
        }
        for cell in text
            .split(['|', ',', '\n'])
            .map(|cell| cell.trim_matches([' ', '*']))
        {
            assert!(!["NaN", "inf", "-inf"].contains(&cell), "{name}: {cell}");
        }
    }
    let csv = &files
        .iter()
        .find(|(name, _)| name == "results.csv")
        .expect("numbers")
        .1;
    let numbers = runs
        .iter()
        .filter_map(|run| Some(run["measures"].as_array()?.len()));
    assert_eq!(csv.lines().count(), 1 + numbers.sum::<usize>());
}

#[test]
fn numbers_that_there_are_none_of_are_a_stroke_and_null() {
    let folder = folder("lab-none");
    let (out, json) = (folder.join("out"), folder.join("lab.json"));
    fs::create_dir_all(&folder).expect("a folder");
    let [out, json] = [&out, &json].map(|path| path.to_str().expect("a path in words"));
    // A controller that is told its rate has no window.
    let args = [
        "--only",
        "push",
        "--controller",
        "fixed",
        "--out",
        out,
        "--json",
        json,
    ];
    let run = lab(&args);
    assert!(run.status.success() && run.stderr.is_empty(), "{run:?}");
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(text.contains(" - MTU\n"), "{text}");
    let results: Value =
        serde_json::from_slice(&fs::read(json).expect("it was written")).expect("JSON");
    let measures = results["runs"][0]["measures"].as_array().expect("a list");
    let window = measures
        .iter()
        .find(|it| it["what"] == "window before")
        .expect("there");
    assert!(
        window["value"].is_null() && window["never"] == false,
        "{window}"
    );
    assert!(measures[0]["value"].is_number(), "{measures:?}");
    let csv = fs::read_to_string(Path::new(out).join("results.csv")).expect("it was written");
    assert!(csv.contains("\npush,fixed,window before,,MTU,,\n"), "{csv}");
    let tables = fs::read_to_string(Path::new(out).join("README.md")).expect("it was written");
    assert!(tables.contains(" | - | "), "{tables}");
    assert!(
        !Path::new(out).join("push.svg").exists(),
        "nobody asked for it"
    );
}

#[test]
fn one_row_of_one_controller_is_recorded_and_replayed() {
    let folder = folder("lab-traced");
    fs::create_dir_all(&folder).expect("a folder");
    let path = |name: &str| {
        folder
            .join(name)
            .to_str()
            .expect("a path in words")
            .to_owned()
    };
    let with = |more: &[&str]| lab(&[&["--only", "push", "--controller", "lean"], more].concat());
    let traces = [path("1.trace"), path("2.trace")];
    for trace in &traces {
        let run = with(&["--trace", trace, "--of", "server"]);
        assert!(run.status.success() && run.stderr.is_empty(), "{run:?}");
    }
    let [one, two] = [&traces[0], &traces[1]].map(|trace| fs::read(trace).expect("it was written"));
    assert!(one == two && one.len() > 1_000_000, "{} bytes", one.len());
    let mut replay = Command::new(env!("CARGO_BIN_EXE_porous"));
    let replayed = replay
        .args(["replay", &traces[0]])
        .output()
        .expect("this program starts");
    assert!(replayed.status.success(), "{replayed:?}");
    // Of several there would be several hosts, and TCP has none.
    for args in [
        &["--only", "push"][..],
        &["--only", "alone-", "--controller", "lean"],
        &["--only", "alone-4", "--controller", "tcp-reno"],
    ] {
        let why = bad(&lab(&[args, &["--trace", &path("none")]].concat()), 2);
        assert!(why.contains("--only"), "{why}");
    }
    assert!(!folder.join("none").exists());
    if cfg!(target_os = "linux") {
        let why = bad(&with(&["--pcap", "/dev/full"]), 1);
        assert!(why.contains("--pcap"), "{why}");
    }
}

#[test]
fn where_nothing_can_be_written_is_told() {
    let folder = folder("lab-wrong");
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("file");
    fs::write(&file, "").expect("it can be written");
    let file = file.to_str().expect("a path in words");
    let short = ["--only", "push", "--controller", "lean"];
    let with = |more: &[&str]| lab(&[&short[..], more].concat());
    // Before anything runs.
    for out in [file, "/proc/none", "/dev/null/none"] {
        let why = bad(&with(&["--out", out]), 2);
        assert!(why.contains("--out") && why.contains(out), "{why}");
    }
    let why = bad(&with(&["--json", "/no/such/folder/file"]), 2);
    assert!(why.contains("--json"), "{why}");
    let why = bad(&with(&["--plots"]), 2);
    assert!(why.contains("--out"), "{why}");
    bad(&with(&["--threads", "0"]), 2);
    bad(&with(&["--threads", "many"]), 2);
    if cfg!(target_os = "linux") {
        let why = bad(&with(&["--json", "/dev/full"]), 1);
        assert!(why.contains("--json"), "{why}");
        let full = || {
            fs::File::options()
                .write(true)
                .open("/dev/full")
                .expect("Linux has it")
        };
        let run = command(&short)
            .stdout(full())
            .output()
            .expect("this program starts");
        assert!(bad(&run, 1).contains("standard output"), "{run:?}");
    }
    // A reader that stops early is none.
    let mut child = command(&short)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let run = child.wait_with_output().expect("it ends");
    assert!(run.status.success() && run.stderr.is_empty(), "{run:?}");
}

#[test]
fn a_row_that_there_is_not_is_refused() {
    let run = lab(&["--only", "nowhere"]);
    let told = bad(&run, 2);
    assert!(
        told.contains("reno-1") && told.contains("tcp-cubic"),
        "{told}"
    );
}
