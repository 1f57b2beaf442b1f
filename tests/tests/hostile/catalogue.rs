//! `docs/hostile.md` lists every case with what it may cost, and answers every known attack.

use alloc::collections::{BTreeMap, BTreeSet};
use core::fmt::Write;
use std::fs;
use std::path::Path;

use porous_proto::congestion::Congestion;
use porous_tests::{again, config};

use crate::costs::{self, Bounds, Cost, HOW, RECORD, SLACK};
use crate::scene::{FLOOR, PLACE, offer};

/// The environment variable that, if it is there, has the document written.
const WRITE: &str = "POROUS_WRITE_CATALOGUE";
/// Tests that a run of all cases leaves out: those of this file.
const NO_CASES: &str = "catalogue::";

/// A part of the document that is printed here, between two comments.
struct Part(&'static str);

const RULES: Part = Part("rules");
const CASES: Part = Part("cases");

impl Part {
    fn begin(&self) -> String {
        format!("<!-- {}: written by the test -->\n", self.0)
    }

    fn end(&self) -> String {
        format!("<!-- end of the {} -->\n", self.0)
    }

    /// The document with this in the part.
    fn replace(&self, document: &str, text: &str) -> String {
        let (begin, end) = (self.begin(), self.end());
        let (before, rest) = document.split_once(&begin).unwrap();
        let (_, after) = rest.split_once(&end).unwrap();
        [before, &begin, text, &end, after].concat()
    }
}

/// A case as its source tells it.
struct Case {
    name: String,
    /// The attacks that it is one of.
    rows: Vec<String>,
    what: String,
}

/// A file of cases.
struct Topic {
    about: String,
    cases: Vec<Case>,
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
        cases.push(Case {
            name,
            rows: rows.split(' ').map(Into::into).collect(),
            what: what.to_owned(),
        });
    }
    cases
}

fn topics() -> Vec<Topic> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    let files = fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut topics = Vec::new();
    for file in files {
        let source = fs::read_to_string(&file).unwrap();
        let cases = cases_in(&source);
        if !cases.is_empty() && !file.ends_with("catalogue.rs") {
            let about = source.lines().next().unwrap_or_default();
            let about = about.trim_start_matches("//! ").to_owned();
            topics.push(Topic { about, cases });
        }
    }
    topics
}

/// The rules that follow from constants.
fn rules() -> String {
    let offer = offer();
    let (floor, place) = (FLOOR / 1024, PLACE / 1024);
    format!(
        "
After a minute of silence the tables hold no more than {floor} KiB, and {place} KiB for each peer that
there was at the same time. The host of most cases takes packets of {} KiB, {} KiB of them
from each peer at a time, on {} channels with windows of {}. The cost of a case is at most
its bound, and the bound is at most twice the cost and {} bytes or {} steps.

",
        offer.packet / 1024,
        offer.budget / 1024,
        offer.channels,
        1 << offer.windows[0],
        SLACK.bytes,
        SLACK.steps,
    )
}

fn listed(topics: &[Topic], bounds: &BTreeMap<String, Bounds>) -> String {
    let count: usize = topics.iter().map(|topic| topic.cases.len()).sum();
    let mut text = format!("\n{count} cases on {} topics.\n", topics.len());
    for Topic { about, cases } in topics {
        writeln!(text, "\n### {}\n", about.trim_end_matches('.')).unwrap();
        writeln!(text, "| case | attacks | what happens | bytes | steps |").unwrap();
        writeln!(text, "|---|---|---|---|---|").unwrap();
        for Case { name, rows, what } in cases {
            let Bounds { modern, paper } = bounds.get(name).copied().unwrap_or_default();
            let bytes = costs::cell([modern.bytes, paper.bytes]);
            let steps = costs::cell([modern.steps, paper.steps]);
            let rows = rows.join(" ");
            writeln!(text, "| `{name}` | {rows} | {what} | {bytes} | {steps} |").unwrap();
        }
    }
    text.push('\n');
    text
}

/// The document with the number of cases in the last cell of each attack.
fn counted(document: &str, topics: &[Topic]) -> String {
    let mut counts = BTreeMap::<_, u32>::new();
    for row in names(topics, |case| case.rows.clone()) {
        *counts.entry(row).or_default() += 1;
    }
    let mut text = String::new();
    for line in document.split_inclusive('\n') {
        match attack(line).zip(line.rsplitn(3, '|').nth(2)) {
            Some((name, rest)) => {
                let count = counts.get(name).copied().unwrap_or_default();
                writeln!(text, "{rest}| {count} |").unwrap();
            }
            None => text.push_str(line),
        }
    }
    text
}

/// The whole document, with these bounds.
fn printed(document: &str, topics: &[Topic], bounds: &BTreeMap<String, Bounds>) -> String {
    let document = RULES.replace(&counted(document, topics), &rules());
    CASES.replace(&document, &listed(topics, bounds))
}

fn names<T>(topics: &[Topic], of: impl Fn(&Case) -> Vec<T>) -> Vec<T> {
    let cases = topics.iter().flat_map(|topic| &topic.cases);
    cases.flat_map(of).collect()
}

/// Runs all cases under both policies: the bounds that they should have.
fn measured(old: &BTreeMap<String, Bounds>) -> BTreeMap<String, Bounds> {
    for is_paper in [false, true] {
        // It is not there if nothing was ever measured.
        let _ = fs::remove_file(costs::record(is_paper));
        let paper = [(config::PAPER, 1)];
        let variables = [(RECORD, 1)].into_iter();
        let variables = variables.chain(paper.into_iter().filter(|_| is_paper));
        again::run_with(&variables.collect::<Vec<_>>(), &[NO_CASES]);
    }
    let (modern, paper) = (costs::recorded(false), costs::recorded(true));
    let bounds = modern.into_iter().map(|(name, cost)| {
        let bounds = Bounds::of(cost, paper.get(&name).copied(), old.get(&name).copied());
        (name, bounds)
    });
    bounds.collect()
}

/// The name of the attack that this line of a table is about.
fn attack(line: &str) -> Option<&str> {
    let name = line.strip_prefix("| ")?.split(' ').next()?;
    let number = name.strip_prefix(['X', 'B', 'R'])?;
    number.parse::<u32>().is_ok().then_some(name)
}

/// The names of the attacks that the document knows, and of those that it says do not apply.
fn attacks(document: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut all, mut excused) = (BTreeSet::new(), BTreeSet::new());
    for line in document.lines() {
        if let Some(name) = attack(line) {
            all.insert(name.to_owned());
            if line.contains("does not apply") {
                excused.insert(name.to_owned());
            }
        }
    }
    (all, excused)
}

#[test]
fn every_case_says_what_it_is() {
    for Topic { about, cases } in topics() {
        assert!(about.ends_with('.'), "a heading has one line: {about}");
        for case in cases {
            assert!(!case.what.is_empty(), "{} has no description", case.name);
        }
    }
}

#[test]
fn the_document_lists_the_cases_as_they_are() {
    let (old, topics) = (costs::document(), topics());
    let mut bounds = costs::bounds_in(&old);
    if std::env::var_os(WRITE).is_some() {
        bounds = measured(&bounds);
        fs::write(costs::path(), printed(&old, &topics, &bounds)).unwrap();
    }
    let names = names(&topics, |case| vec![case.name.clone()]);
    let names = BTreeSet::from_iter(&names);
    let rows: BTreeSet<_> = bounds.keys().collect();
    let missing: Vec<_> = names.difference(&rows).collect();
    assert!(
        missing.is_empty(),
        "docs/hostile.md has no bounds of {missing:?}: {HOW}"
    );
    let gone: Vec<_> = rows.difference(&names).collect();
    assert!(
        gone.is_empty(),
        "docs/hostile.md has bounds of {gone:?}, which are gone: {HOW}"
    );
    let is_new = printed(&old, &topics, &bounds) == costs::document();
    assert!(is_new, "docs/hostile.md is not what the cases say: {HOW}");
}

#[test]
fn every_known_attack_has_a_case() {
    let (all, excused) = attacks(&costs::document());
    let tried: BTreeSet<String> = names(&topics(), |case| case.rows.clone())
        .into_iter()
        .collect();
    let unknown: Vec<_> = tried.difference(&all).collect();
    assert!(unknown.is_empty(), "the document does not know {unknown:?}");
    let expected: BTreeSet<_> = all.difference(&excused).cloned().collect();
    let missing: Vec<_> = expected.difference(&tried).collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}

#[test]
fn a_bound_is_the_cost_and_a_quarter_in_two_digits() {
    let bounds = [0, 1, 8, 79, 80, 81, 4000, 4001, 1_000_000].map(costs::rounded);
    assert_eq!(bounds, [0, 2, 10, 99, 100, 110, 5000, 5100, 1_300_000]);
}

#[test]
fn a_bound_that_holds_stays_and_the_paper_has_its_own_where_it_does_not() {
    let cost = |bytes| Cost { bytes, steps: 0 };
    let bounds = |modern, paper| Bounds {
        modern: cost(modern),
        paper: cost(paper),
    };
    let of = |modern, paper, old| Bounds::of(cost(modern), Some(cost(paper)), old);
    assert_eq!(of(10_000, 11_000, None), bounds(13_000, 13_000));
    assert_eq!(of(10_000, 14_000, None), bounds(13_000, 18_000));
    assert_eq!(of(10_000, 1000, None), bounds(13_000, 1300));
    let old = Some(bounds(14_000, 20_000));
    assert_eq!(of(14_000, 15_000, old), bounds(14_000, 20_000));
    assert_eq!(of(14_001, 5000, old), bounds(18_000, 6300));
    assert_eq!(of(6743, 11_000, old), bounds(8500, 20_000));
    assert_eq!(Bounds::of(cost(10_000), None, old), bounds(14_000, 14_000));
}

#[test]
fn cells_are_read_as_they_are_written() {
    let bounds = |modern, paper| Bounds {
        modern: Cost {
            bytes: modern,
            steps: 1,
        },
        paper: Cost {
            bytes: paper,
            steps: 1,
        },
    };
    let rows =
        "| case | bytes | steps |\n| `a` | b \\| c | 1,234,567 | 1 |\n| `d` | 0 / 999 | 1 |\n";
    let read = costs::bounds_in(rows);
    let names = ["a", "d"].map(String::from);
    let expected = [bounds(1_234_567, 1_234_567), bounds(0, 999)];
    assert_eq!(read, names.into_iter().zip(expected).collect());
    assert_eq!(costs::cell([1_234_567; 2]), "1,234,567");
    assert_eq!(costs::cell([0, 1000]), "0 / 1,000");
}

/// Every case runs under the policy that hosts have by default, and once more here.
#[test]
#[ignore = "long: .ci/run runs it"]
fn all_of_it_holds_under_the_policy_of_the_paper() {
    again::run_with(&[(config::PAPER, 1)], &[NO_CASES]);
}

/// Every case once more at a host that seals, also what it says to its friend. The attackers have no keys.
#[test]
#[ignore = "long: .ci/run runs it"]
fn all_of_it_holds_where_friends_seal() {
    again::run_with(&[(config::SEALED, 1)], &[NO_CASES]);
}

mod rarely {
    use super::*;

    /// Every case costs up to four times its bounds with the other controllers.
    #[test]
    #[ignore = "rare: before a release"]
    fn all_of_it_holds_with_every_controller() {
        for number in 1..Congestion::BUILT_IN.len() as u64 {
            again::run_with(&[(config::CONTROLLER, number)], &[NO_CASES]);
        }
    }
}
