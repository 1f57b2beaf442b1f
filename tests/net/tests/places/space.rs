//! One machine of a test: a network namespace, in which programs are run.

use std::process::{Child, Command};

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
/// If there is no such program, or it fails: the text that it wrote.
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

    /// The name in the test.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The name of the namespace on this machine.
    pub(crate) fn full(&self) -> &str {
        &self.full
    }

    /// Runs a program in this namespace. Its arguments are separated by spaces.
    pub(crate) fn run(&self, words: &str) -> String {
        run(self.command().args(words.split(' '))).unwrap()
    }

    /// Adds rules to the firewall, in the syntax of `nft`. Earlier rules stay.
    pub(crate) fn firewall(&self, rules: &str) {
        run(self.command().args(["nft", rules])).unwrap();
    }

    /// Changes a setting of the kernel for this namespace.
    pub(crate) fn set(&self, setting: &str, value: &str) {
        let text = format!("echo {value} > /proc/sys/{setting}");
        run(self.command().args(["sh", "-c", &text])).unwrap();
    }

    /// Starts a program in this namespace, which ends with the thread that started it.
    pub(crate) fn start(&self, program: &Command) -> Child {
        let mut command = self.command();
        command.args(["setpriv", "--pdeathsig", "TERM"]);
        command.arg(program.get_program()).args(program.get_args());
        command.spawn().unwrap()
    }

    /// Starts a host of porous in this namespace. `src/options.rs` describes its arguments.
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
