//! What the tests share that compile programs against the library.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test, which says what it leaves out"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

pub(crate) fn root() -> &'static Path {
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
pub(crate) fn has(tool: &str, is_wanted: bool) -> bool {
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
pub(crate) fn run(command: &mut Command) -> String {
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
pub(crate) struct Build<'a> {
    pub(crate) compiler: &'a str,
    pub(crate) options: &'a [&'a str],
    /// True if the program loads the library when it starts.
    pub(crate) is_shared: bool,
}

impl Build<'_> {
    /// Compiles a program of `tests`, as `c/hello.c`, and returns its path.
    #[track_caller]
    pub(crate) fn program(&self, source: &str) -> PathBuf {
        let kind = if self.is_shared { "shared" } else { "static" };
        let standard = self.options.first().unwrap_or(&"");
        let checks = self.options.len();
        let name = source.replace(['/', '.'], "-");
        let file = format!("{name}-{}{standard}-{checks}-{kind}", self.compiler);
        let program = folder().join(file);
        let mut command = Command::new(self.compiler);
        command
            .args(self.options)
            .arg("-g")
            .arg("-I")
            .arg(root().join("include"));
        command.arg(root().join("tests").join(source));
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
