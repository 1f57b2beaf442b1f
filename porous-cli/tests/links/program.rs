//! The program while it runs.

use core::time::Duration;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};
use std::sync::mpsc;

/// Longer than any test needs, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(100);

/// A token key, a psk and the key of another game: all are 64 digits.
pub(crate) const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
pub(crate) const OTHER_KEY: &str =
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e20";

/// A run, which is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    out: Option<BufReader<ChildStdout>>,
    err: Option<BufReader<ChildStderr>>,
}

impl Program {
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_porous"));
        command.args(args);
        Self::spawn(&mut command)
    }

    pub(crate) fn spawn(command: &mut Command) -> Self {
        let command = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            out: child.stdout.take().map(BufReader::new),
            err: child.stderr.take().map(BufReader::new),
            child,
        }
    }

    /// Starts a command that listens. Returns the address that it prints as well.
    pub(crate) fn listen(args: &[&str]) -> (Self, String) {
        let mut program = Self::start(args);
        let address = program.address();
        (program, address)
    }

    /// The address at which it listens, from its first line.
    pub(crate) fn address(&mut self) -> String {
        let line = self.line();
        let address = line.strip_prefix("listening on ");
        match address {
            Some(address) => address.to_owned(),
            None => panic!("{line:?}: {self:?}"),
        }
    }

    /// The next line of its standard output, without its end.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.as_mut().unwrap().read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The next line of its standard error, without its end.
    pub(crate) fn error_line(&mut self) -> String {
        let mut line = String::new();
        self.err.as_mut().unwrap().read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Presses Ctrl-C.
    #[cfg(unix)]
    pub(crate) fn interrupt(&self) {
        let pid = self.child.id().to_string();
        let kill = Command::new("kill").args(["-INT", &pid]).status();
        assert!(kill.unwrap().success());
    }

    /// Sends two signals at once that ask to stop, as `timeout` does.
    #[cfg(unix)]
    pub(crate) fn interrupt_twice(&self) {
        let pid = self.child.id();
        let script = format!("kill -INT {pid}; kill -TERM {pid}");
        let kill = Command::new("sh").args(["-c", &script]).status();
        assert!(kill.unwrap().success());
    }

    /// The most memory that it has had, in kB.
    #[cfg(target_os = "linux")]
    pub(crate) fn memory(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.unwrap().trim().strip_suffix(" kB");
        number.unwrap().parse().unwrap()
    }

    /// Ends the program without a chance to say goodbye.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes the reader of its standard output.
    pub(crate) fn close_pipe(&mut self) {
        self.out = None;
    }

    /// Waits for the end. Standard output begins after the lines that were read.
    pub(crate) fn end(mut self) -> Output {
        let (out, err) = (self.out.take(), self.err.take());
        let (done, is_done) = mpsc::channel();
        std::thread::spawn(move || {
            let err = std::thread::spawn(|| all(err));
            let out = all(out);
            let _ = done.send((out, err.join().unwrap()));
        });
        let read = is_done.recv_timeout(LIMIT);
        let Ok((stdout, stderr)) = read else {
            panic!("it does not end: {self:?}");
        };
        Output {
            status: self.child.wait().unwrap(),
            stdout,
            stderr,
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn all(reader: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut reader) = reader {
        reader.read_to_end(&mut bytes).unwrap();
    }
    bytes
}

/// Runs a command to its end.
pub(crate) fn porous(args: &[&str]) -> Output {
    Program::start(args).end()
}

/// The text of standard output of a run that went well.
pub(crate) fn good(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The one line in which a run that failed says why.
pub(crate) fn bad(output: &Output, status: i32) -> String {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("error: "), "{said}");
    said
}

/// An empty folder of a test's own.
pub(crate) fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("links")
        .join(test);
    // There is none in the first run.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A file with this in it.
pub(crate) fn file(test: &str, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("links-{test}-{name}"));
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}
