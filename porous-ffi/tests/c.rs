//! Programs of C that use the library, compiled by every compiler that is here, and run: bare, with the compiler's
//! sanitizers, and under valgrind.
#![expect(clippy::print_stdout, reason = "a test, which says what it leaves out")]

mod tools;

use std::env;
use std::process::Command;

use tools::{Build, has, root, run};

/// What every program is compiled with. `-Wpadded`: padding would be laid out anew by each language that calls C.
const STRICT: [&str; 6] = [
    "-Wall",
    "-Wextra",
    "-Werror",
    "-pedantic",
    "-Wpadded",
    "-Wconversion",
];

const GCC: Build<'_> = Build {
    compiler: "gcc",
    options: &["-std=c11"],
    is_shared: false,
};

/// The same options, and the strict ones.
fn strict<'a>(options: &[&'a str]) -> Vec<&'a str> {
    [options, &STRICT].concat()
}

#[test]
fn the_example_says_hello_by_each_compiler_and_each_standard() {
    for compiler in ["gcc", "clang"] {
        if !has(compiler, compiler == "gcc") {
            continue;
        }
        for standard in ["-std=c99", "-std=c11", "-std=c17"] {
            for is_shared in [false, true] {
                let options = strict(&[standard]);
                let build = Build {
                    compiler,
                    options: &options,
                    is_shared,
                };
                assert_eq!(
                    run(&mut Command::new(build.program("c/hello.c"))),
                    "hello\n"
                );
            }
        }
    }
}

#[test]
fn the_smallest_compiler_takes_the_example() {
    if Command::new("tcc").arg("-v").output().is_err() {
        println!("skipped: tcc is not installed");
        return;
    }
    let build = Build {
        compiler: "tcc",
        options: &[],
        is_shared: true,
    };
    assert_eq!(
        run(&mut Command::new(build.program("c/hello.c"))),
        "hello\n"
    );
}

#[test]
fn the_header_is_a_header_of_cpp_too() {
    for compiler in ["g++", "clang++"] {
        if !has(compiler, compiler == "g++") {
            continue;
        }
        for standard in ["-std=c++17", "-std=c++20"] {
            let mut command = Command::new(compiler);
            command.args(strict(&[
                standard,
                "-fsyntax-only",
                "-x",
                "c++",
                "-Wno-pragma-once-outside-header",
            ]));
            run(command.arg(root().join("include/porous.h")));
        }
    }
}

/// The programs that call each function, and what they are given.
const PROGRAMS: [(&str, &[&str]); 6] = [
    ("c/api_values.c", &[]),
    ("c/api_core.c", &[]),
    ("c/api_udp.c", &[]),
    ("c/api_seal.c", &[]),
    ("c/api_thread.c", &[]),
    ("c/soak.c", &["40"]),
];

#[test]
fn each_function_answers_as_the_header_says() {
    if !has("gcc", true) {
        return;
    }
    for (name, arguments) in PROGRAMS {
        run(Command::new(GCC.program(name)).args(arguments));
    }
}

#[test]
#[ignore = "long: .ci/run runs it"]
fn each_function_answers_as_the_header_says_under_sanitizers() {
    if !has("gcc", true) {
        return;
    }
    let options = [
        "-std=c11",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pedantic",
        "-Wconversion",
        // Not each program needs all of check.h.
        "-Wno-unused-function",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
    ];
    for (name, arguments) in PROGRAMS {
        let build = Build {
            options: &options,
            ..GCC
        };
        let program = build.program(name);
        run(Command::new(program).args(arguments));
    }
}

fn valgrind() -> Command {
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--leak-check=full", "--error-exitcode=9"]);
    let known = root().join("tests/c/valgrind.supp");
    command.arg(format!("--suppressions={}", known.display()));
    command
}

/// The seeds of the calls that are drawn, and how many each draws. `POROUS_CALLS` in the environment is another number
/// of seeds.
const SEEDS: u32 = 6;
const CALLS: &str = "20000";

#[test]
#[ignore = "long: .ci/run runs it"]
fn calls_in_any_order_with_any_arguments_have_answers() {
    if !has("gcc", true) {
        return;
    }
    let build = Build {
        options: &[
            "-std=c11",
            "-O1",
            "-Wno-unused-function",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
        ],
        ..GCC
    };
    let program = build.program("c/calls.c");
    let seeds = env::var("POROUS_CALLS").ok();
    let seeds = seeds.and_then(|seeds| seeds.parse().ok()).unwrap_or(SEEDS);
    // What fails names the seed, as the program's argument.
    let says = |seed: u32| run(Command::new(&program).args([&seed.to_string(), CALLS]));
    let said: Vec<_> = (1..=seeds).map(says).collect();
    assert_eq!(says(1), said[0], "the same calls have other answers");
    if has("valgrind", true) {
        let mut command = valgrind();
        run(command.arg(GCC.program("c/calls.c")).args(["7", "2000"]));
    }
}

/// Valgrind takes a minute, and finds what the sanitizers do not: memory of the library that is read before it is written.
mod rarely {
    use super::*;

    #[test]
    #[ignore = "rare: before a release"]
    fn nothing_is_leaked_or_read_before_it_is_written() {
        if !has("gcc", true) || !has("valgrind", true) {
            return;
        }
        for (name, arguments) in PROGRAMS {
            let mut command = valgrind();
            command.arg(GCC.program(name));
            // Valgrind takes its time.
            run(command.args(arguments.iter().map(|_| "3")));
        }
        let mut command = valgrind();
        assert_eq!(run(command.arg(GCC.program("c/hello.c"))), "hello\n");
    }
}
