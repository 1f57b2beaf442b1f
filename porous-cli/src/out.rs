//! What a command prints while it runs and at its end.

use std::io;

use serde::Serialize;

use crate::json::{Json, print};

/// Standard output, and the file of `--json`. An error is kept until the end, so that the run goes on and what
/// can still be written is.
#[derive(Debug)]
pub(crate) struct Out {
    json: Option<Json>,
    failed: Option<io::Error>,
}

impl Out {
    pub(crate) const fn new(json: Option<Json>) -> Self {
        Self { json, failed: None }
    }

    /// Whether standard output is for JSON, and for nothing else.
    pub(crate) fn is_silent(&self) -> bool {
        self.json.as_ref().is_some_and(Json::is_stdout)
    }

    /// Prints lines, each with its end, unless standard output is for JSON.
    pub(crate) fn print(&mut self, lines: &str) {
        if !self.is_silent() && self.failed.is_none() {
            self.failed = print(lines.as_bytes()).err();
        }
    }

    /// Prints what a program has to read that has started this one: to standard error if standard output is for
    /// JSON.
    pub(crate) fn announce(&mut self, line: &str) {
        if self.is_silent() {
            eprintln!("{line}");
        } else {
            self.print(&format!("{line}\n"));
        }
    }

    /// Ends a run that has no results beside what was printed.
    pub(crate) fn end(self) -> Result<(), String> {
        match self.failed {
            Some(error) => Err(format!("cannot write to standard output: {error}")),
            None => Ok(()),
        }
    }

    /// Prints the results, and writes them as JSON if that was asked for.
    pub(crate) fn finish(mut self, text: &str, results: &impl Serialize) -> Result<(), String> {
        self.print(text);
        let written = match self.json.take() {
            Some(json) => {
                let written = json.write(results);
                written.map_err(|error| format!("cannot write the results of --json: {error}"))
            }
            None => Ok(()),
        };
        self.end()?;
        written
    }
}
