//! `docs/hostile.md` lists every case with what it may cost, and answers every known attack.

use alloc::collections::BTreeSet;
use core::fmt::Write;
use std::fs;
use std::path::Path;

/// Between these lines the document lists what stands in the source.
const BEGIN: &str = "<!-- cases: written by the test -->\n";
const END: &str = "<!-- end of the cases -->\n";
const WRITE: &str = "POROUS_WRITE_CATALOGUE";

/// A case as its source tells it.
struct Case {
    name: String,
    /// The attacks that it is one of.
    rows: Vec<String>,
    what: String,
    bytes: String,
    steps: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn document() -> String {
    fs::read_to_string(root().join("../docs/hostile.md")).unwrap()
}

/// What follows `key` in the text, up to one of these.
fn field<'a>(text: &'a str, key: &str, end: &[char]) -> Option<&'a str> {
    let from = text.find(key)? + key.len();
    let len = text[from..].find(end)?;
    Some(text[from..from + len].trim())
}

/// The documentation of what stands at the end of this text.
fn comment(text: &str) -> String {
    let lines = text.lines().rev().skip_while(|line| line.is_empty());
    let mut lines: Vec<_> = lines
        .map_while(|line| line.trim().strip_prefix("///"))
        .map(str::trim)
        .collect();
    lines.reverse();
    lines.join(" ")
}

fn cases_in(source: &str) -> Vec<Case> {
    let parts: Vec<_> = source.split("#[test]\n").collect();
    let mut cases = Vec::new();
    for (before, after) in parts.iter().zip(&parts[1..]) {
        let name = field(after, "fn ", &['(']).unwrap_or_default().to_owned();
        let comment = comment(before);
        let rows = field(&comment, "`[", &[']']).unwrap_or_default();
        let what = comment.split_once("]`").map_or("", |(_, what)| what.trim());
        let body = after.split("\n}\n").next().unwrap_or_default();
        let cost = |key| {
            field(body, key, &[',', ' ', '\n'])
                .unwrap_or_default()
                .to_owned()
        };
        cases.push(Case {
            name,
            rows: rows.split(' ').map(Into::into).collect(),
            what: what.to_owned(),
            bytes: cost("bytes: "),
            steps: cost("steps: "),
        });
    }
    cases
}

/// Every file of cases: what it is about, and the cases.
fn topics() -> Vec<(String, Vec<Case>)> {
    let folder = root().join("tests/hostile");
    let files = fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut topics = Vec::new();
    for file in files {
        let source = fs::read_to_string(&file).unwrap();
        let cases = cases_in(&source);
        if source.contains("Cost") && !cases.is_empty() && !file.ends_with("catalogue.rs") {
            let about = source.lines().next().unwrap_or_default();
            topics.push((about.trim_start_matches("//! ").to_owned(), cases));
        }
    }
    topics
}

fn listed(topics: &[(String, Vec<Case>)]) -> String {
    let mut text = String::new();
    for (about, cases) in topics {
        writeln!(text, "\n### {}\n", about.trim_end_matches('.')).unwrap();
        writeln!(text, "| case | attacks | what happens | bytes | steps |").unwrap();
        writeln!(text, "|---|---|---|---|---|").unwrap();
        for case in cases {
            let (name, rows, what) = (&case.name, case.rows.join(" "), &case.what);
            writeln!(
                text,
                "| `{name}` | {rows} | {what} | {} | {} |",
                case.bytes, case.steps
            )
            .unwrap();
        }
    }
    text.push('\n');
    text
}

/// The names of the attacks that the document knows, and of those that it says do not apply.
fn attacks(document: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut all, mut excused) = (BTreeSet::new(), BTreeSet::new());
    let text = document.split(BEGIN).next().unwrap();
    for row in text.lines().filter(|line| line.starts_with("| ")) {
        let name = row[2..].split(' ').next().unwrap();
        let mut letters = name.chars();
        let is_name = letters.next().is_some_and(|first| "XBR".contains(first));
        if is_name && letters.as_str().parse::<u32>().is_ok() {
            all.insert(name.to_owned());
            if row.contains("does not apply") {
                excused.insert(name.to_owned());
            }
        }
    }
    (all, excused)
}

#[test]
fn every_case_says_what_it_is_and_what_it_may_cost() {
    for (_, cases) in topics() {
        for case in cases {
            let name = &case.name;
            assert!(!case.what.is_empty(), "{name} has no description");
            assert!(
                !case.bytes.is_empty() && !case.steps.is_empty(),
                "{name} has no cost"
            );
        }
    }
}

#[test]
fn the_document_lists_the_cases_as_they_are() {
    let (text, topics) = (document(), topics());
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (old, after) = rest.split_once(END).unwrap();
    let new = listed(&topics);
    if std::env::var_os(WRITE).is_some() {
        let text = [before, BEGIN, &new, END, after].concat();
        fs::write(root().join("../docs/hostile.md"), text).unwrap();
    } else {
        let how =
            format!("{WRITE}=1 cargo test -p porous-tests --test hostile catalogue writes it");
        assert!(old == new, "docs/hostile.md is old: {how}");
    }
}

#[test]
fn every_known_attack_has_a_case() {
    let (all, excused) = attacks(&document());
    let topics = topics();
    let cases = topics.iter().flat_map(|(_, cases)| cases);
    let tried: BTreeSet<String> = cases.flat_map(|case| case.rows.clone()).collect();
    let unknown: Vec<_> = tried.difference(&all).collect();
    assert!(unknown.is_empty(), "the document does not know {unknown:?}");
    let expected: BTreeSet<_> = all.difference(&excused).cloned().collect();
    let missing: Vec<_> = expected.difference(&tried).collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}
