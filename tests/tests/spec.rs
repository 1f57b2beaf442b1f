//! The documents keep their promises: every test that they name exists, and every equation and
//! figure of the paper has one.
#![expect(clippy::unwrap_used, reason = "a test")]

extern crate alloc;

use alloc::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_path_buf()
}

fn sources(folder: &Path, all: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push(fs::read_to_string(&path).unwrap());
        }
    }
}

/// The names of all test functions of the project.
fn tests() -> BTreeSet<String> {
    let mut all = Vec::new();
    sources(&root(), &mut all);
    let mut names = BTreeSet::new();
    for source in &all {
        let mut is_test = false;
        for line in source.lines().map(str::trim) {
            if let (true, Some(rest)) = (is_test, line.strip_prefix("fn ")) {
                names.insert(rest.split(['(', '<']).next().unwrap().to_owned());
            }
            is_test = line.starts_with("#[test]") || (is_test && line.starts_with("#["));
        }
    }
    names
}

#[test]
fn every_test_that_the_deviations_name_exists() {
    let tests = tests();
    let text = fs::read_to_string(root().join("docs/deviations.md")).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
    assert!(rows.len() > 50);
    for row in rows.iter().filter(|row| !row.contains("| tests |")) {
        let last = row.trim_end_matches('|').rsplit('|').next().unwrap();
        let named: Vec<&str> = last.split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "no test: {row}");
        for name in named {
            assert!(tests.contains(name), "there is no test {name}: {row}");
        }
    }
}

#[test]
fn every_equation_and_figure_has_a_test() {
    let tests = tests();
    let has = |prefix: &str| tests.iter().any(|name| name.starts_with(prefix));
    for equation in 1..=18 {
        assert!(
            has(&format!("equation_{equation:02}_")),
            "equation ({equation})"
        );
    }
    for figure in 1..=11 {
        assert!(has(&format!("figure_{figure:02}_")), "figure {figure}");
    }
}
