//! Every public function and method of the crates that are used as libraries has an example that runs:
//! `cargo test` compiles and runs the code in the fences, this test checks that each has one.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::{Path, PathBuf};

const CRATES: [&str; 13] = [
    "bevy",
    "godot/core",
    "porous-message",
    "porous-metrics",
    "porous-mio",
    "porous-proto",
    "porous-sim",
    "porous-smoltcp",
    "porous-std",
    "porous-token",
    "porous-tokio",
    "porous-trace",
    "porous-udp",
];

fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push(path);
        }
    }
}

/// True if the line declares a function that users can call. A function that only the crate can reach is
/// `pub(crate)`: the compiler's lint `unreachable_pub` ensures this.
fn is_public_function(line: &str) -> bool {
    let rest = line.strip_prefix("pub ").unwrap_or_default();
    let rest = rest.strip_prefix("const ").unwrap_or(rest);
    let rest = rest.strip_prefix("async ").unwrap_or(rest);
    rest.starts_with("fn ")
}

/// True if the fence of a block of code says that the code runs: it is neither ignored, nor only
/// compiled, nor of another language.
fn runs(language: &str) -> bool {
    matches!(language, "" | "rust" | "should_panic")
}

/// The number of public functions of a source, and those without an example.
fn without_example(source: &str) -> (usize, Vec<&str>) {
    let (mut functions, mut missing) = (0, Vec::new());
    let (mut has_example, mut is_hidden, mut in_block) = (false, false, false);
    for line in source.lines().map(str::trim) {
        if line == "mod tests {" {
            break;
        }
        if is_public_function(line) && !is_hidden {
            functions += 1;
            if !has_example {
                missing.push(line);
            }
        }
        if let Some(language) = line.strip_prefix("/// ```") {
            has_example |= !in_block && runs(language);
            in_block = !in_block;
        }
        is_hidden |= line == "#[doc(hidden)]";
        // A blank line or the end of another item separates a comment from the next item.
        if line.is_empty() || (line.ends_with(['{', '}', ';']) && !line.starts_with("///")) {
            (has_example, is_hidden) = (false, false);
        }
    }
    (functions, missing)
}

#[test]
fn every_public_function_has_an_example_that_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut missing = Vec::new();
    for name in CRATES {
        let (folder, mut paths) = (root.join(name).join("src"), Vec::new());
        sources(&folder, &mut paths);
        let mut functions = 0;
        // The hidden module that tests and the examples themselves use.
        let hooks = folder.join("hooks");
        for path in paths
            .iter()
            .filter(|path| !path.with_extension("").starts_with(&hooks))
        {
            let source = fs::read_to_string(path).unwrap();
            let (found, without) = without_example(&source);
            functions += found;
            let without = without
                .iter()
                .map(|line| format!("{}: {line}", path.display()));
            missing.extend(without);
        }
        assert!(functions > 3, "{name}: looked at {functions} functions");
    }
    assert!(missing.is_empty(), "no example:\n{}", missing.join("\n"));
}

#[test]
fn what_counts_as_an_example() {
    let missing = |source| without_example(source).1.len();
    assert_eq!(missing("/// Text.\npub fn a() {}"), 1);
    assert_eq!(missing("/// Text.\npub async fn a() {}"), 1);
    assert_eq!(
        missing("/// ```\n/// a();\n/// ```\n#[must_use]\npub const fn a() {}"),
        0
    );
    assert_eq!(missing("/// ```text\n/// a();\n/// ```\npub fn a() {}"), 1);
    assert_eq!(
        missing("/// ```\n/// ```\npub fn a() {\n}\npub fn b() {}"),
        1,
        "b"
    );
    assert_eq!(missing("pub(crate) fn a() {}\nfn b() {}"), 0);
    assert_eq!(missing("#[doc(hidden)]\npub fn a() {}"), 0);
    assert_eq!(missing("mod tests {\npub fn a() {}"), 0);
}
