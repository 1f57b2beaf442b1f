//! Results as JSON, in a file or on standard output.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::later::Later;

/// Where results go as JSON.
#[derive(Debug)]
pub(crate) enum Json {
    Stdout,
    File(Later),
}

impl Json {
    /// Opens the file that `--json` names, so that one that cannot be written is known before anything runs;
    /// `-` is standard output.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        if path.as_os_str() == "-" {
            return Ok(Self::Stdout);
        }
        match Later::open(path) {
            Ok(file) => Ok(Self::File(file)),
            Err(error) => Err(format!("cannot write --json {}: {error}", path.display())),
        }
    }

    /// Whether nothing else may be written to standard output.
    pub(crate) const fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// Writes the results, and the end of a line.
    pub(crate) fn write(self, results: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(results)?;
        text.push(b'\n');
        match self {
            Self::Stdout => print(&text),
            Self::File(file) => file.write(&text),
        }
    }
}

/// Writes to standard output. A reader that stops early is no error: it says nothing about the run.
pub(crate) fn print(text: &[u8]) -> io::Result<()> {
    match io::stdout().lock().write_all(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
