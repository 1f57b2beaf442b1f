//! C ENet, in a program of its own that is compiled when it is needed.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, id};
use std::{env, fs};

use super::load::{Pace, Shape};

/// The program. Its file lives as long as this value.
pub(super) struct Enet {
    program: PathBuf,
    pub(super) version: String,
}

impl Enet {
    /// Compiles the program with the machine's C compiler and its libenet.
    pub(super) fn compile() -> io::Result<Self> {
        let program = env::temp_dir().join(format!("porous-bench-enet-{}", id()));
        compile(include_str!("../../enet/sockets.c"), &program)?;
        let mut enet = Self {
            program,
            version: String::new(),
        };
        let said = Command::new(&enet.program).arg("version").output()?;
        enet.version = String::from_utf8_lossy(&said.stdout).trim().to_owned();
        Ok(enet)
    }

    /// The server of a measurement, or its clients if there is a port.
    pub(super) fn command(&self, shape: &Shape, milliseconds: u64, port: Option<u16>) -> Command {
        let (under_way, burst, period) = match shape.pace {
            Pace::Saturated { under_way } => (under_way, 0, 0),
            Pace::Ticks { period, burst } => (0, burst, period.as_nanos()),
        };
        let mut command = Command::new(&self.program);
        command
            .arg(if port.is_some() { "drive" } else { "serve" })
            .args([shape.clients, shape.up, shape.down].map(|figure| figure.to_string()))
            .args([u64::from(shape.is_reliable), under_way, burst].map(|figure| figure.to_string()))
            .args([period.to_string(), milliseconds.to_string()])
            .args(port.map(|port| port.to_string()));
        command
    }
}

impl Drop for Enet {
    fn drop(&mut self) {
        // A file that stays in the folder of temporary files does no harm.
        let _stays = fs::remove_file(&self.program);
    }
}

fn compile(source: &str, program: &Path) -> io::Result<()> {
    // Where no pkg-config knows the library, the compiler may.
    let flags = Command::new("pkg-config")
        .args(["--cflags", "--libs", "libenet"])
        .output()
        .ok()
        .filter(|done| done.status.success())
        .map_or("-lenet".to_owned(), |done| {
            String::from_utf8_lossy(&done.stdout).into_owned()
        });
    let mut compiler = Command::new("cc")
        .args(["-std=c11", "-O2", "-x", "c", "-", "-x", "none", "-o"])
        .arg(program)
        .args(flags.split_whitespace())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| io::Error::new(error.kind(), format!("cc: {error}")))?;
    let mut stdin = compiler.stdin.take().expect("it is piped");
    // A compiler that ends early says why on its other output.
    let written = stdin.write_all(source.as_bytes());
    drop(stdin);
    let done = compiler.wait_with_output()?;
    if done.status.success() {
        return written;
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let first = said.lines().find(|line| line.contains("error"));
    Err(io::Error::other(
        first.unwrap_or("cc fails").trim().to_owned(),
    ))
}
