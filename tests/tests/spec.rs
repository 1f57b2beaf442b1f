//! The documents are right: every test that they name exists, every part of the paper and every row of
//! `docs/deviations.md` is cited by the code and shown by a test.
#![expect(clippy::unwrap_used, reason = "a test")]

extern crate alloc;

use alloc::collections::{BTreeMap, BTreeSet};
use core::fmt::Write;
use core::ops::RangeInclusive;
use std::path::Path;

use porous_tests::sources::{SourceFile, files, functions};

/// The sections that say what an implementation does.
const SECTIONS: [&str; 14] = [
    "2.1", "2.2", "2.3", "2.4", "2.5", "3.1", "3.1.1", "3.1.2", "3.1.3", "3.1.4", "3.1.5", "3.2.1",
    "3.2.2", "3.2.3",
];

const EQUATIONS: RangeInclusive<u32> = 1..=18;

const FIGURES: RangeInclusive<u32> = 1..=11;

/// The rows of the holes in the paper, by part: connections, transfer layer, sequencing layer.
const HOLES: [(char, u32); 3] = [('C', 21), ('T', 27), ('Q', 16)];

const DEVIATIONS: &str = "docs/deviations.md";

/// What follows in `docs/deviations.md` is printed by a test: the tests of each row.
const INDEX: &str = "<!-- index: written by the test -->\n";

/// Set in the environment, the test writes the index instead of comparing it.
const WRITE: &str = "POROUS_WRITE_INDEX";

/// The document without its index.
fn deviations() -> String {
    let mut text = document(DEVIATIONS);
    text.truncate(text.find(INDEX).unwrap());
    text
}

fn document(path: &str) -> String {
    let mut documents = files(&["md"]);
    documents.retain(|file| file.path == path);
    documents.pop().unwrap().text
}

/// The rows of the document: each is a paragraph that begins with its name, as in `**C1. Title.**`.
fn rows(text: &str) -> Vec<&str> {
    let begins = text.lines().filter_map(|line| line.strip_prefix("**"));
    let names = begins.filter_map(|line| Some(line.split_once(". ")?.0));
    names.filter(|name| names_in(name) == [*name]).collect()
}

/// The names in "C19, T3, T16 to T19 and T26".
fn names_in(text: &str) -> Vec<String> {
    let words = || text.split(|c: char| !c.is_alphanumeric());
    let parse = |word: &str| {
        let mut chars = word.chars();
        let part = chars.next().filter(|c| "CTQPD".contains(*c))?;
        Some((part, chars.as_str().parse::<u32>().ok()?))
    };
    let mut names = Vec::new();
    let (mut last, mut through) = (None, false);
    for word in words().filter(|word| !word.is_empty()) {
        if let Some((part, number)) = parse(word) {
            let first = match last {
                Some((before, start)) if through && before == part => start + 1,
                _ => number,
            };
            names.extend((first..=number).map(|number| format!("{part}{number}")));
            last = Some((part, number));
        }
        through = word == "to" && last.is_some();
    }
    names
}

/// True if a text cites this: `§3.1.4` and its equations as in `(11)`, rows as in `C5`.
fn cites(text: &str, what: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(what).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + what.len()..].chars();
        let (next, second) = (after.next(), after.next());
        let goes_on = next == Some('.') && second.is_some_and(|c| c.is_ascii_digit());
        !before.is_some_and(is_part) && !next.is_some_and(is_part) && !goes_on
    })
}

/// The part of a line that is a comment.
fn comment(line: &str) -> &str {
    line.split_once("//").map_or("", |(_, comment)| comment)
}

fn lines_of(file: &SourceFile) -> Vec<&str> {
    file.text.lines().collect()
}

/// All comments of the core except those of its tests.
fn source_comments() -> String {
    let mut all = String::new();
    for file in files(&["rs"]) {
        if file.path.starts_with("porous-proto/src/") && !file.is_test() {
            let code = file.text.split("\n#[cfg(test)]\nmod tests {").next();
            for line in code.unwrap().lines() {
                all.push_str(comment(line));
                all.push('\n');
            }
        }
    }
    all
}

/// What the comments of a test say, by the test's name. What stands at the head of a file of tests
/// belongs to no test, and has an empty name.
fn tests() -> BTreeMap<String, String> {
    let mut comments: BTreeMap<String, String> = BTreeMap::new();
    for file in files(&["rs"]) {
        let lines = lines_of(&file);
        let all = functions(&lines);
        let tests: Vec<_> = all.iter().filter(|function| function.is_test).collect();
        if file.is_test() && !tests.is_empty() && file.path != "tests/tests/spec.rs" {
            let head = lines.iter().take_while(|line| line.starts_with("//!"));
            let heads = comments.entry(String::new()).or_default();
            heads.extend(head.flat_map(|line| [line, "\n"]));
        }
        for test in tests {
            let own = comments.entry(test.name.to_owned()).or_default();
            let lines = test.lines.iter().map(|line| comment(line));
            own.extend(lines.flat_map(|line| [line, "\n"]));
        }
    }
    comments
}

/// The last cell of a table's row.
fn last_cell(row: &str) -> &str {
    row.trim_end_matches([' ', '|'])
        .rsplit('|')
        .next()
        .unwrap()
        .trim()
}

/// The last cell of each row names tests, and there are such tests.
fn assert_tests_exist<'t>(rows: impl Iterator<Item = &'t str>, at_least: usize) {
    let tests = tests();
    let rows: Vec<&str> = rows.filter(|row| !row.contains("| tests |")).collect();
    assert!(rows.len() >= at_least);
    for row in rows {
        let named: Vec<&str> = last_cell(row).split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "no test: {row}");
        for name in named {
            assert!(tests.contains_key(name), "there is no test {name}: {row}");
        }
    }
}

/// The name by which links find a heading, as forges make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        _ => c.is_alphanumeric().then(|| c.to_ascii_lowercase()),
    });
    kept.collect()
}

/// The text of a document without its code.
fn without_code(text: &str) -> String {
    let blocks = text.split("\n```");
    blocks.step_by(2).collect::<Vec<_>>().join("\n")
}

/// The links of a document to files and headings of this project.
fn links(text: &str) -> Vec<String> {
    let text = without_code(text);
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let own = targets.filter(|target| !target.contains("://") && !target.contains(' '));
    own.map(Into::into).collect()
}

/// In the guides, that is: where one page leaves off and another goes on.
#[test]
fn every_link_of_a_guide_leads_to_a_file_and_a_heading() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut followed = 0;
    for page in files(&["md"]) {
        let folder = match page.path.split_once('/') {
            None => root.clone(),
            Some(("docs", name)) if !name.contains('/') => root.join("docs"),
            Some(_) => continue,
        };
        for link in links(&page.text) {
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let at = if file.is_empty() {
                root.join(&page.path)
            } else {
                folder.join(file)
            };
            assert!(at.exists(), "{}: no file {link}", page.path);
            if !heading.is_empty() {
                let text = without_code(&std::fs::read_to_string(at).unwrap());
                let headings = text.lines().filter(|line| line.starts_with('#'));
                let mut anchors = headings.map(|line| anchor(line.trim_start_matches('#')));
                let found = anchors.any(|anchor| anchor == heading);
                assert!(found, "{}: no heading {link}", page.path);
            }
            followed += 1;
        }
    }
    assert!(followed > 100, "{followed}: where are the links?");
}

#[test]
fn links_and_headings_are_read_as_forges_do() {
    assert_eq!(
        anchor(" What `UdpHost` does, and *why*?"),
        "what-udphost-does-and-why"
    );
    assert_eq!(anchor(" `porous_message::Error`"), "porous_messageerror");
    let text = "[a](b.md#c) ![d](e.svg)\n```\n[f](g)\n```\n[h](https://i) [j](#k)\n";
    assert_eq!(links(text), ["b.md#c", "e.svg", "#k"]);
}

/// `room/file.rs` in a document is a file of some crate.
#[test]
fn every_file_that_a_document_names_exists() {
    let code = files(&["rs"]);
    let (mut named, mut gone) = (0, Vec::new());
    for document in files(&["md"]) {
        let words = document.text.split(['`', ' ', '(', ')', '\n', ',']);
        for file in words.filter(|word| word.ends_with(".rs") && word.contains('/')) {
            let end = format!("/{}", file.trim_start_matches("../"));
            let is_pattern = file.contains(['*', '{', '<']);
            named += 1;
            if !is_pattern
                && !code
                    .iter()
                    .any(|other| format!("/{}", other.path).ends_with(&end))
            {
                gone.push(format!("{}: {file}", document.path));
            }
        }
    }
    assert!(named > 50, "where are the documents?");
    assert!(gone.is_empty(), "{gone:#?}");
}

/// The tests whose comments cite a row of `docs/deviations.md` are listed there, behind its name.
#[test]
fn the_index_of_the_deviations_lists_the_tests_that_cite_each_row() {
    let (text, tests) = (deviations(), tests());
    let cited: Vec<(&String, Vec<String>)> = tests
        .iter()
        .filter(|(name, _)| !name.is_empty())
        .map(|(name, comments)| (name, names_in(comments)))
        .collect();
    let mut index = String::from("\n| row | tests |\n|---|---|\n");
    for row in rows(&text) {
        let of_row = cited
            .iter()
            .filter(|(_, rows)| rows.iter().any(|cited| cited == row));
        let names: Vec<String> = of_row.map(|(name, _)| format!("`{name}`")).collect();
        assert!(!names.is_empty(), "the comment of no test cites {row}");
        writeln!(index, "| {row} | {} |", names.join(", ")).unwrap();
    }
    let new = [text.as_str(), INDEX, &index].concat();
    if std::env::var_os(WRITE).is_some() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        std::fs::write(root.join(DEVIATIONS), new).unwrap();
    } else {
        let how = format!("{WRITE}=1 cargo test -p porous-tests --test spec index writes it");
        assert!(new == document(DEVIATIONS), "the index is old: {how}");
    }
}

#[test]
fn every_test_that_the_limits_name_exists() {
    let text = document("docs/limits.md");
    assert_tests_exist(text.lines().filter(|line| line.starts_with("| ")), 25);
}

/// In the tables that have a column of tests. A row of them may say what nothing keeps out.
#[test]
fn every_test_that_the_page_on_security_names_exists() {
    let text = document("docs/security.md");
    let tables = text.split("\n\n").filter(|text| {
        let mut rows = text.lines();
        rows.next().is_some_and(|head| last_cell(head) == "tests")
    });
    let names_tests = |line: &&str| line.starts_with("| ") && !last_cell(line).starts_with("none");
    assert_tests_exist(tables.flat_map(str::lines).filter(names_tests), 25);
}

#[test]
fn every_case_of_real_networks_has_a_test() {
    let text = document("docs/testing.md");
    let (_, section) = text.split_once("## Real networks").unwrap();
    let section = section.split("\n## ").next().unwrap();
    assert_tests_exist(section.lines().filter(|line| line.starts_with("| ")), 12);
}

/// The last cell of each row names tests that exist, or says that a test is to come or never will.
#[test]
fn every_behaviour_of_the_peers_has_a_test_or_a_reason() {
    let text = document("docs/testing.md");
    let (_, section) = text.split_once("## Behaviours of the peers").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let is_row = |line: &&str| line.starts_with("| ") && !line.starts_with("| no. |");
    let (with, without): (Vec<&str>, Vec<&str>) = section
        .lines()
        .filter(is_row)
        .partition(|row| last_cell(row).starts_with('`'));
    assert_tests_exist(with.into_iter(), 40);
    for row in without {
        let cell = last_cell(row);
        let reason = cell.starts_with("later: ") || cell.starts_with("never: ");
        assert!(reason, "neither a test nor a reason: {row}");
    }
}

/// Each hole has a row, or stands in the list of those without, never both; and no other row exists.
#[test]
fn the_rows_are_all_holes_of_the_paper() {
    let text = deviations();
    let (tables, open) = text.split_once("## A number without a row").unwrap();
    let mut named: Vec<String> = rows(tables).into_iter().map(Into::into).collect();
    let own = |part| {
        let count = named.iter().filter(|name| name.starts_with(part)).count();
        (part, u32::try_from(count).unwrap())
    };
    let own = [own('P'), own('D')];
    named.extend(names_in(open));
    let parts = HOLES.into_iter().chain(own);
    let mut holes: Vec<String> = parts
        .flat_map(|(part, last)| (1..=last).map(move |number| format!("{part}{number}")))
        .collect();
    named.sort();
    holes.sort();
    assert_eq!(named, holes);
}

#[test]
fn the_source_cites_every_part_of_the_paper() {
    let comments = source_comments();
    let missing: Vec<String> = SECTIONS
        .iter()
        .map(|section| format!("§{section}"))
        .chain(EQUATIONS.map(|equation| format!("({equation})")))
        .filter(|part| !cites(&comments, part))
        .collect();
    assert!(missing.is_empty(), "nothing cites {missing:?}");
}

#[test]
fn every_part_of_the_paper_has_a_test() {
    let tests = tests();
    let comments: String = tests.values().map(String::as_str).collect();
    let has = |prefix: String| tests.keys().any(|name| name.starts_with(&prefix));
    let missing: Vec<String> = SECTIONS
        .iter()
        .map(|section| format!("§{section}"))
        .filter(|section| !cites(&comments, section))
        .chain(
            EQUATIONS
                .map(|n| format!("equation_{n:02}_"))
                .filter(|prefix| !has(prefix.clone())),
        )
        .chain(
            FIGURES
                .map(|n| format!("figure_{n:02}_"))
                .filter(|prefix| !has(prefix.clone())),
        )
        .collect();
    assert!(missing.is_empty(), "no test for {missing:?}");
}

#[test]
fn the_source_cites_every_row_and_no_other() {
    let (comments, text) = (source_comments(), deviations());
    let rows: BTreeSet<&str> = rows(&text).into_iter().collect();
    let missing: Vec<_> = rows.iter().filter(|row| !cites(&comments, row)).collect();
    assert!(missing.is_empty(), "nothing cites {missing:?}");
    for name in names_in(&comments) {
        assert!(rows.contains(name.as_str()), "there is no row {name}");
    }
}

#[test]
fn citations_are_whole_words() {
    let text = "See §3.1.4 (11), C5. And §2.3.";
    for what in ["§3.1.4", "(11)", "C5", "§2.3"] {
        assert!(cites(text, what), "{what}");
    }
    for what in ["§3.1", "§3", "(1)", "C", "5"] {
        assert!(!cites(text, what), "{what}");
    }
    assert!(!cites("C51 and ABC5", "C5"));
}

#[test]
fn names_and_ranges_of_rows_are_read() {
    let text = "T3, T10 and T16 to T18 belong to C19. Q1, up to Q3, T0x.";
    let names = ["T3", "T10", "T16", "T17", "T18", "C19", "Q1", "Q2", "Q3"];
    assert_eq!(names_in(text), names);
    assert_eq!(rows("Text.\n\n**C1. Title.** Text, C2.\n"), ["C1"]);
}
