//! What the library exports, what the header has, and what the code of each function looks like, are one.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test, which says what it leaves out"
)]

extern crate alloc;

use alloc::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Functions that run in no guard, and why they need none.
const UNGUARDED: [(&str, &str); 4] = [
    ("porous_version", "it returns a constant"),
    ("porous_check_abi", "it compares two numbers"),
    (
        "porous_status_text",
        "it looks into a table that never changes",
    ),
    (
        "porous_packet_data",
        "it returns two fields, and has no status",
    ),
];

/// Functions of the feature `hooks`.
const HOOKS: [&str; 2] = ["porous_memory", "porous_set_allocator"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The functions of the header, behind each `POROUS_API`.
fn declared() -> BTreeSet<String> {
    let header = fs::read_to_string(root().join("include/porous.h")).unwrap();
    let declarations = header.split("\nPOROUS_API").skip(1);
    let name = |declaration: &str| {
        let before = declaration.split('(').next()?;
        Some(before.rsplit([' ', '*']).next()?.to_owned())
    };
    declarations.filter_map(name).collect()
}

/// The sources of the library.
fn sources() -> Vec<String> {
    let folder = fs::read_dir(root().join("src")).unwrap();
    let paths = folder.map(|entry| entry.unwrap().path());
    paths
        .map(|path| fs::read_to_string(path).unwrap())
        .collect()
}

/// The names and bodies of the functions that are exported.
fn exported() -> Vec<(String, String)> {
    let of = |source: &String| -> Vec<(String, String)> {
        let functions = source.split("#[unsafe(no_mangle)]\n").skip(1);
        let parts = |text: &str| {
            let (head, rest) = text.split_once('{')?;
            let (body, _) = rest.split_once("\n}")?;
            let name = head.split("fn ").nth(1)?.split('(').next()?;
            Some((name.to_owned(), body.to_owned()))
        };
        // What is not public is for the compiler.
        let ours = functions.filter(|text| text.starts_with("pub "));
        ours.map(|text| parts(text).unwrap()).collect()
    };
    sources().iter().flat_map(of).collect()
}

#[test]
fn each_function_runs_behind_a_guard() {
    let functions = exported();
    assert!(functions.len() > 80, "where are the functions?");
    for (name, body) in &functions {
        let code: Vec<&str> = body
            .lines()
            .map(str::trim)
            .filter(|line| !line.starts_with("//") && !line.starts_with("use "))
            .collect();
        let code = code.join("");
        let begins = ["guard(|| {", "unsafe { enter(", "unsafe {enter("];
        let is_guarded = begins.iter().any(|begin| code.starts_with(begin));
        let is_exception = UNGUARDED.iter().any(|(exception, _)| exception == name);
        assert_eq!(is_guarded, !is_exception, "{name} begins so: {code:.60}");
    }
}

#[test]
fn the_header_has_all_functions() {
    let exported = exported().into_iter().map(|(name, _)| name);
    assert_eq!(exported.collect::<BTreeSet<_>>(), declared());
}

#[test]
fn a_program_calls_each_function() {
    let read = |folder: &str| {
        let folder = fs::read_dir(root().join(folder)).unwrap();
        folder.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
    };
    let programs: String = read("tests/c").chain(read("tests/bare")).collect();
    for function in declared() {
        assert!(
            programs.contains(&format!("{function}(")),
            "no program of C calls {function}"
        );
    }
}

#[test]
fn the_shared_library_exports_the_functions_of_the_header_and_nothing_else() {
    if !cfg!(target_os = "linux") {
        println!("skipped: only Linux's nm is asked");
        return;
    }
    let folder = env::current_exe().unwrap().parent().unwrap().to_owned();
    let mut command = Command::new("nm");
    command.args(["-D", "--defined-only"]);
    let output = command.arg(folder.join("libporous.so")).output();
    let Some(output) = output.ok().filter(|output| output.status.success()) else {
        println!("skipped: nm is not installed");
        assert!(env::var_os("CI").is_none(), "nm is missing");
        return;
    };
    let table = String::from_utf8(output.stdout).unwrap();
    let names = table.lines().filter_map(|line| line.split(' ').nth(2));
    let names: BTreeSet<String> = names.map(str::to_owned).collect();
    let mut wanted = declared();
    if cfg!(not(feature = "hooks")) {
        // `scripts/installed.sh` builds and calls them.
        wanted.retain(|name| !HOOKS.contains(&name.as_str()));
    }
    assert_eq!(names, wanted);
}
