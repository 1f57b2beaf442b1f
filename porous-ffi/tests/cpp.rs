//! Programs of C++ that use the library through `porous.hpp`, compiled as engines do: without exceptions and RTTI.

mod tools;

use std::fs;
use std::process::Command;

use tools::{Build, has, root, run};

/// What every program is compiled with.
const STRICT: [&str; 8] = [
    "-fno-exceptions",
    "-fno-rtti",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-pedantic",
    "-Wconversion",
    "-Wshadow",
];

/// What each program prints.
const PROGRAMS: [(&str, &str); 5] = [
    ("cpp/echo.cpp", "hello\n"),
    ("cpp/api.cpp", ""),
    ("cpp/core.cpp", ""),
    ("cpp/sealed.cpp", ""),
    ("cpp/thread.cpp", ""),
];

/// Compiles and runs all programs. A static program has no library to look for, a shared one is linked sooner.
#[track_caller]
fn all_run(compiler: &str, options: &[&str], is_shared: bool) {
    let options = [options, &STRICT].concat();
    let build = Build {
        compiler,
        options: &options,
        is_shared,
    };
    for (source, printed) in PROGRAMS {
        assert_eq!(run(&mut Command::new(build.program(source))), printed);
    }
}

#[test]
fn the_programs_run() {
    if has("g++", true) {
        all_run("g++", &["-std=c++17"], false);
    }
}

#[test]
#[ignore = "long: .ci/run runs it"]
fn the_programs_run_by_another_compiler_and_the_next_standard() {
    if has("clang++", false) {
        all_run("clang++", &["-std=c++20"], true);
    }
}

#[test]
#[ignore = "long: .ci/run runs it"]
fn the_sanitizers_find_nothing() {
    if has("g++", true) {
        let sanitizers = [
            "-std=c++17",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
        ];
        all_run("g++", &sanitizers, false);
    }
}

#[test]
fn the_header_does_without_parts_of_the_library() {
    if !has("g++", true) {
        return;
    }
    let header = root().join("include/porous.hpp");
    for parts in [
        &["-DPOROUS_WITHOUT_UDP"][..],
        &["-DPOROUS_WITHOUT_SEAL"],
        &["-DPOROUS_WITHOUT_UDP", "-DPOROUS_WITHOUT_SEAL"],
        &["-DPOROUS_WITH_HOOKS"],
    ] {
        let mut command = Command::new("g++");
        command.args(STRICT).args(parts);
        command.args(["-std=c++17", "-fsyntax-only", "-x", "c++"]);
        run(command.arg(&header));
    }
}

/// All names in a text that begin with one of these, without those that only begin other names.
fn names<'a>(text: &'a str, begins: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(move |word| {
        let begins_so = begins.iter().any(|begin| word.starts_with(begin));
        begins_so && !word.ends_with('_')
    })
}

/// What the preprocessor alone needs, and what a program of C++ says in another way.
const NOT_IN_CPP: [&str; 12] = [
    "POROUS_H",
    "POROUS_BLESS",
    "POROUS_API",
    "POROUS_SHARED",
    "POROUS_VERSION_MAJOR",
    "POROUS_VERSION_MINOR",
    "POROUS_VERSION_PATCH",
    "POROUS_HOOKS",
    "POROUS_WITHOUT_UDP",
    "POROUS_WITHOUT_SEAL",
    // SendOptions does it by itself.
    "porous_send_options_init",
    "POROUS_PATH_MTU_OFF",
];

/// Errors are numbers in C++ as well, and so are values of fields that have no type of their own.
const NUMBERS: [&str; 3] = ["POROUS_ERR_", "POROUS_NO_", "POROUS_WITH"];

#[test]
fn whatever_c_has_cpp_has_too() {
    let header = |name: &str| fs::read_to_string(root().join("include").join(name)).unwrap();
    let (c, cpp) = (header("porous.h"), header("porous.hpp"));
    let here: Vec<&str> = names(&cpp, &["porous_", "POROUS_"]).collect();
    let mut missing: Vec<&str> = names(&c, &["porous_", "POROUS_"])
        .filter(|name| !NUMBERS.iter().any(|begin| name.starts_with(begin)))
        .filter(|name| !NOT_IN_CPP.contains(name) && !here.contains(name))
        .collect();
    missing.dedup();
    assert!(c.len() > 10_000 && missing.is_empty(), "{missing:?}");
}

/// Each compiler and each standard has been seen, but for these pairs of them.
mod rarely {
    use super::*;

    #[test]
    #[ignore = "rare: before a release"]
    fn the_programs_run_by_the_next_standard() {
        if has("g++", true) {
            all_run("g++", &["-std=c++20"], true);
        }
    }

    #[test]
    #[ignore = "rare: before a release"]
    fn the_programs_run_by_another_compiler() {
        if has("clang++", false) {
            all_run("clang++", &["-std=c++17"], false);
        }
    }
}
