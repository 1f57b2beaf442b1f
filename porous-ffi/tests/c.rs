//! Programs of C that use the library, compiled by every compiler that is here, and run: bare, with the compiler's
//! sanitizers, and under valgrind.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test, which says what it leaves out"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// What every program is compiled with. `-Wpadded`: padding would be laid out anew by each language that calls C.
const STRICT: [&str; 6] = [
    "-Wall",
    "-Wextra",
    "-Werror",
    "-pedantic",
    "-Wpadded",
    "-Wconversion",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of the test program, into which cargo puts what it builds for it: also the libraries for C.
fn folder() -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// A library for C of this build. Cargo names it without a hash, and may put a second name beside the folder; a
/// build of another version may have left an older one.
fn library(name: &str) -> PathBuf {
    let here = folder();
    let beside = here.parent().unwrap().join(name);
    let found = [here.join(name), beside];
    let newest = found
        .into_iter()
        .filter(|path| path.exists())
        .max_by_key(|path| fs::metadata(path).and_then(|data| data.modified()).ok());
    newest.unwrap_or_else(|| panic!("cargo has not built {name}"))
}

/// True if a tool is here. Where all tools have to be, it is an error if it is not.
fn has(tool: &str, is_wanted: bool) -> bool {
    let found = Command::new(tool).arg("--version").output();
    let has = found.is_ok_and(|output| output.status.success());
    if !has {
        println!("skipped: {tool} is not installed");
        assert!(
            !is_wanted || env::var_os("CI").is_none(),
            "{tool} is missing"
        );
    }
    has
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Runs a command, and returns what it printed.
#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = said(&output);
    assert!(
        output.status.success(),
        "{command:?}\n{}\n{said}",
        output.status
    );
    said
}

/// How a program is built.
struct Build<'a> {
    compiler: &'a str,
    options: &'a [&'a str],
    /// True if the program loads the library when it starts.
    is_shared: bool,
}

impl Build<'_> {
    const GCC: Self = Self {
        compiler: "gcc",
        options: &["-std=c11"],
        is_shared: false,
    };

    /// Compiles a program of `tests/c`, and returns its path.
    #[track_caller]
    fn program(&self, name: &str) -> PathBuf {
        let kind = if self.is_shared { "shared" } else { "static" };
        let standard = self.options.first().unwrap_or(&"");
        let checks = self.options.len();
        let file = format!("c-{name}-{}{standard}-{checks}-{kind}", self.compiler);
        let program = folder().join(file);
        let mut command = Command::new(self.compiler);
        command
            .args(self.options)
            .arg("-g")
            .arg("-I")
            .arg(root().join("include"));
        command.arg(root().join("tests/c").join(format!("{name}.c")));
        if self.is_shared {
            let library = library("libporous.so");
            let folder = library.parent().unwrap().display().to_string();
            command.arg(&library).arg(format!("-Wl,-rpath,{folder}"));
        } else {
            command.arg(library("libporous.a"));
        }
        run(command
            .args(["-lpthread", "-ldl", "-lm", "-o"])
            .arg(&program));
        program
    }
}

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
                assert_eq!(run(&mut Command::new(build.program("hello"))), "hello\n");
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
    assert_eq!(run(&mut Command::new(build.program("hello"))), "hello\n");
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
    ("api_values", &[]),
    ("api_core", &[]),
    ("api_udp", &[]),
    ("api_seal", &[]),
    ("api_thread", &[]),
    ("soak", &["40"]),
];

#[test]
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
            ..Build::GCC
        };
        let program = build.program(name);
        run(Command::new(program).args(arguments));
    }
}

#[test]
fn nothing_is_leaked_or_read_before_it_is_written() {
    if !has("gcc", true) || !has("valgrind", true) {
        return;
    }
    for (name, arguments) in PROGRAMS {
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--leak-check=full", "--error-exitcode=9"]);
        command.arg(Build::GCC.program(name));
        // Valgrind takes its time.
        run(command.args(arguments.iter().map(|_| "3")));
    }
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--leak-check=full", "--error-exitcode=9"]);
    assert_eq!(run(command.arg(Build::GCC.program("hello"))), "hello\n");
}
