//! One machine of a test: a network namespace, in which programs are run.

use std::process::Command;

use crate::actor::Actor;

#[derive(Clone, Debug)]
pub(crate) struct Space {
    name: String,
    full: String,
}

/// Runs a program to its end.
///
/// # Errors
///
/// If there is no such program, or it fails: what it wrote about that.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}", text.trim()))
}

impl Space {
    pub(crate) fn new(name: &str, full: String) -> Self {
        Self {
            name: name.into(),
            full,
        }
    }

    /// The name that the test gave it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The name that it has on this machine.
    pub(crate) fn full(&self) -> &str {
        &self.full
    }

    /// Runs a program in it, whose words have no spaces.
    pub(crate) fn run(&self, words: &str) -> String {
        run(self.command().args(words.split(' '))).unwrap()
    }

    /// Adds to its firewall, as `nft` reads it. What is there stays.
    pub(crate) fn firewall(&self, rules: &str) {
        run(self.command().args(["nft", rules])).unwrap();
    }

    /// Changes a setting of its kernel.
    pub(crate) fn set(&self, setting: &str, value: &str) {
        let text = format!("echo {value} > /proc/sys/{setting}");
        run(self.command().args(["sh", "-c", &text])).unwrap();
    }

    /// A host of porous in it: see `src/options.rs`.
    pub(crate) fn host(&self, arguments: &str) -> Actor {
        let mut command = self.command();
        command.arg(env!("CARGO_BIN_EXE_porous-net"));
        command.args(arguments.split(' '));
        Actor::start(&self.name, &mut command)
    }

    fn command(&self) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.full]);
        command
    }
}
