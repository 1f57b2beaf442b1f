//! The text of this workspace, for the tests of its house rules.

use std::fs;
use std::path::Path;

/// A file of the workspace.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its path from the root of the workspace, with `/` on every system.
    pub path: String,
    /// Its text.
    pub text: String,
}

impl SourceFile {
    /// True if the whole file is test code.
    #[must_use]
    pub fn is_test(&self) -> bool {
        self.path.starts_with("tests/")
            || self.path.contains("/tests/")
            || self.path.ends_with("/tests.rs")
    }
}

/// All files of the workspace with one of these extensions, in the order of their paths, without build
/// results and the code of other programs.
///
/// # Panics
///
/// If a file cannot be read.
#[must_use]
pub fn files(extensions: &[&str]) -> Vec<SourceFile> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("a root");
    let mut all = Vec::new();
    collect(root, "", extensions, &mut all);
    all.sort_by(|a: &SourceFile, b| a.path.cmp(&b.path));
    all
}

fn collect(root: &Path, folder: &str, extensions: &[&str], all: &mut Vec<SourceFile>) {
    for entry in fs::read_dir(root.join(folder)).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{folder}{name}");
        if entry.file_type().expect("a type").is_dir() {
            if name != "target" && !name.starts_with('.') {
                collect(root, &format!("{path}/"), extensions, all);
            }
        } else if extensions.iter().any(|wanted| has_extension(&name, wanted)) {
            let text = fs::read_to_string(entry.path()).expect("a text");
            all.push(SourceFile { path, text });
        }
    }
}

fn has_extension(name: &str, wanted: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, found)| found == wanted)
}

/// A function in a file that rustfmt has formatted.
#[derive(Clone, Debug)]
pub struct Function<'a> {
    /// Its name.
    pub name: &'a str,
    /// The number of its first line, from 1.
    pub line: usize,
    /// From `fn` to its closing brace.
    pub length: usize,
    /// The attributes and comments directly above the function, and then the function itself.
    pub lines: &'a [&'a str],
    /// True if it is a test.
    pub is_test: bool,
}

/// All functions with a body, also those inside of others. A closing brace has the same indentation as
/// the `fn` that it belongs to, as rustfmt writes them.
#[must_use]
pub fn functions<'a>(lines: &'a [&'a str]) -> Vec<Function<'a>> {
    let mut found = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else {
            continue;
        };
        let Some(length) = body_length(&lines[first..]) else {
            continue;
        };
        let above = lines[..first]
            .iter()
            .rev()
            .take_while(|line| line.trim_start().starts_with(['#', '/']))
            .count();
        let start = first - above;
        found.push(Function {
            name,
            line: first + 1,
            length,
            lines: &lines[start..first + length],
            is_test: lines[start..first]
                .iter()
                .any(|line| line.trim() == "#[test]"),
        });
    }
    found
}

fn function_name(line: &str) -> Option<&str> {
    let words = [
        "pub",
        "pub(crate)",
        "pub(super)",
        "const",
        "async",
        "unsafe",
    ];
    let mut rest = line.trim_start();
    while let Some((word, after)) = rest.split_once(' ') {
        if word == "fn" {
            return after.split(['(', '<']).next();
        }
        if !words.contains(&word) {
            return None;
        }
        rest = after;
    }
    None
}

/// `None` for a declaration without a body.
fn body_length(lines: &[&str]) -> Option<usize> {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let own = indentation(lines[0]);
    for (index, line) in lines.iter().enumerate() {
        let text = line.trim();
        if indentation(line) != own || text.is_empty() {
            continue;
        }
        if text.ends_with(';') {
            return None;
        }
        if text.starts_with('}') || (index == 0 && text.ends_with('}')) {
            return Some(index + 1);
        }
    }
    None
}
