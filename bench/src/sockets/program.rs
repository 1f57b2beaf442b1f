//! The programs that are measured, and a measurement of one: two processes.

use core::time::Duration;
use std::env::current_exe;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use clap::ValueEnum as _;

use super::load::Load;
use super::meter::Part;
use super::{c, play, porous, rusty_enet};

pub(super) enum Program {
    Porous,
    RustyEnet,
    C(c::Program),
}

/// What both processes of a measurement did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) server: Part,
    pub(super) clients: Part,
}

/// A process that does not outlive its measurement.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Has no effect on a process that has ended.
        let _ended = self.0.kill();
        let _ended = self.0.wait();
    }
}

impl Process {
    fn start(mut command: Command) -> io::Result<Self> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map(Self)
    }

    fn output(&mut self) -> BufReader<impl io::Read + use<>> {
        BufReader::new(self.0.stdout.take().expect("it is piped"))
    }
}

impl Program {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Porous => "porous",
            Self::RustyEnet => "rusty_enet",
            Self::C(program) => program.library.name,
        }
    }

    /// Measures a load once.
    pub(super) fn measure(&self, load: Load, milliseconds: u64) -> io::Result<Pair> {
        let mut server = Process::start(self.command(load, milliseconds, None)?)?;
        let mut output = server.output();
        let mut line = String::new();
        output.read_line(&mut line)?;
        let port = line.trim().parse().map_err(|_| self.failed(load))?;
        let mut clients = Process::start(self.command(load, milliseconds, Some(port))?)?;
        let mut said = String::new();
        clients.output().read_to_string(&mut said)?;
        let clients = said.parse().map_err(|_| self.failed(load))?;
        let mut said = String::new();
        output.read_to_string(&mut said)?;
        let server = said.parse().map_err(|_| self.failed(load))?;
        Ok(Pair { server, clients })
    }

    fn failed(&self, load: Load) -> io::Error {
        io::Error::other(format!("{} does not end {:?}", self.name(), load.title()))
    }

    /// One of the two processes: the clients if there is a port to connect to.
    fn command(&self, load: Load, milliseconds: u64, port: Option<u16>) -> io::Result<Command> {
        if let Self::C(program) = self {
            return Ok(program.command(&load.shape(), milliseconds, port));
        }
        let name = load.to_possible_value().expect("a name");
        let mut command = Command::new(current_exe()?);
        command
            .args(["sockets", "--load", name.get_name(), "--peer", self.name()])
            .args(["--milliseconds", &milliseconds.to_string()]);
        match port {
            Some(port) => command.args(["--drive", &port.to_string()]),
            None => command.arg("--serve"),
        };
        Ok(command)
    }

    /// Is one of the two processes of a program of this bench.
    pub(super) fn play(
        &self,
        load: Load,
        measured: Duration,
        port: Option<u16>,
    ) -> io::Result<Part> {
        let shape = load.shape();
        match (self, port) {
            (Self::Porous, None) => play::serve::<porous::Porous>(&shape, measured),
            (Self::Porous, Some(port)) => play::drive::<porous::Porous>(&shape, port, measured),
            (Self::RustyEnet, None) => play::serve::<rusty_enet::Enet>(&shape, measured),
            (Self::RustyEnet, Some(port)) => {
                play::drive::<rusty_enet::Enet>(&shape, port, measured)
            }
            (Self::C(_), _) => Err(io::Error::other("a program of its own")),
        }
    }
}
