//! The header is what the code says, and a compiler for C takes it without a warning.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::path::Path;
use std::{env, fs};

/// Set in the environment, the test writes the header instead of comparing it.
const BLESS: &str = "POROUS_BLESS";

const HEAD: &str = include_str!("header/head.h");

fn written() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let version = |part: &str| format!("#define POROUS_VERSION_{part}");
    let versions = [
        format!("{} {}", version("MAJOR"), env!("CARGO_PKG_VERSION_MAJOR")),
        format!("{} {}", version("MINOR"), env!("CARGO_PKG_VERSION_MINOR")),
        format!("{} {}", version("PATCH"), env!("CARGO_PKG_VERSION_PATCH")),
    ];
    let (above, below) = HEAD.split_once("/* ---- */\n").unwrap();
    config.header = Some(above.trim_end().into());
    config.after_includes = Some(format!("\n{}\n\n{}", versions.join("\n"), below.trim_end()));
    let mut bytes = Vec::new();
    let built = cbindgen::Builder::new()
        .with_src(root.join("src/lib.rs"))
        .with_config(config)
        .generate()
        .unwrap();
    built.write(&mut bytes);
    tightened(&String::from_utf8(bytes).unwrap())
}

/// The header with comments of one line on one line, with lists of numbers in one piece, and with negative numbers
/// in parentheses, as wherever a macro may stand.
fn tightened(header: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in header.lines() {
        let begins_before = lines.iter().rev().nth(1).map(|line| line.trim());
        if line.trim() == "*/" && begins_before == Some("/**") {
            let text = lines.pop().unwrap_or_default();
            let indent = line.strip_suffix("*/").unwrap_or_default();
            let indent = indent.strip_suffix(' ').unwrap_or_default();
            let text = text.trim_start().trim_start_matches("* ");
            lines.pop();
            lines.push(format!("{indent}/** {text} */"));
        } else if let Some((name, number)) = line.split_once(" -") {
            let is_constant = name.starts_with("#define ");
            let constant = format!("{name} (-{number})");
            lines.push(if is_constant { constant } else { line.into() });
        } else {
            lines.push(line.into());
        }
    }
    without_gaps(&lines)
}

/// What the name of a constant begins with, up to its last words.
fn family(line: &str) -> Option<&str> {
    let name = line.strip_prefix("#define ")?.split(' ').next()?;
    let mut ends = name.match_indices('_').map(|(at, _)| at);
    ends.nth(1).map(|end| &name[..end])
}

/// Joins constants of one family that are described in one line each.
fn without_gaps(lines: &[String]) -> String {
    let mut header = String::new();
    for (at, line) in lines.iter().enumerate() {
        let of = |at: Option<usize>| at.and_then(|at| family(lines.get(at)?));
        let (last, next) = (of(at.checked_sub(1)), of(at.checked_add(2)));
        if line.is_empty() && last.is_some() && last == next {
            continue;
        }
        header += line;
        header.push('\n');
    }
    header
}

#[test]
fn the_header_is_what_the_code_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/porous.h");
    let written = written();
    if env::var_os(BLESS).is_some() {
        fs::write(&path, &written).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == written,
        "{} is out of date: run the test with {BLESS}=1",
        path.display()
    );
}
