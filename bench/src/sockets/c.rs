//! Libraries of C, in programs of their own that are compiled when they are needed.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, id};
use std::{env, fs};

use super::load::{Pace, Shape};

/// The files that all programs have.
const COMMON: [(&str, &str); 2] = [
    ("node.h", include_str!("../../c/node.h")),
    ("play.c", include_str!("../../c/play.c")),
];

/// A library of C.
#[derive(Clone, Copy, Debug)]
pub(super) struct Library {
    /// The name of the program in the tables.
    pub(super) name: &'static str,
    /// What pkg-config and the linker call the library.
    package: &'static str,
    linked: &'static str,
    adapter: &'static str,
}

/// All of them.
pub(super) const LIBRARIES: [Library; 2] = [
    Library {
        name: "porous-c",
        package: "porous",
        linked: "porous",
        adapter: include_str!("../../c/porous.c"),
    },
    Library {
        name: "enet",
        package: "libenet",
        linked: "enet",
        adapter: include_str!("../../c/enet.c"),
    },
];

/// A program. Its files live as long as this value.
pub(super) struct Program {
    pub(super) library: Library,
    pub(super) version: String,
    folder: PathBuf,
}

impl Program {
    /// Compiles the program with the machine's C compiler and its library.
    pub(super) fn compile(library: Library) -> io::Result<Self> {
        let folder = env::temp_dir().join(format!("porous-bench-{}-{}", library.name, id()));
        fs::create_dir_all(&folder)?;
        let mut program = Self {
            library,
            version: String::new(),
            folder,
        };
        for (name, text) in COMMON.into_iter().chain([("adapter.c", library.adapter)]) {
            fs::write(program.folder.join(name), text)?;
        }
        compile(&program.folder, library)?;
        let said = Command::new(program.path()).arg("version").output()?;
        program.version = String::from_utf8_lossy(&said.stdout).trim().to_owned();
        Ok(program)
    }

    fn path(&self) -> PathBuf {
        self.folder.join("program")
    }

    /// The server of a measurement, or its clients if there is a port.
    pub(super) fn command(&self, shape: &Shape, milliseconds: u64, port: Option<u16>) -> Command {
        let (under_way, burst, period) = match shape.pace {
            Pace::Saturated { under_way } => (under_way, 0, 0),
            Pace::Ticks { period, burst } => (0, burst, period.as_nanos()),
        };
        let mut command = Command::new(self.path());
        command
            .arg(if port.is_some() { "drive" } else { "serve" })
            .args([shape.clients, shape.up, shape.down].map(|figure| figure.to_string()))
            .args([u64::from(shape.is_reliable), under_way, burst].map(|figure| figure.to_string()))
            .args([period.to_string(), milliseconds.to_string()])
            .args(port.map(|port| port.to_string()));
        command
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Files that stay in the folder of temporary files do no harm.
        let _stays = fs::remove_dir_all(&self.folder);
    }
}

/// What pkg-config says; `None` where it is missing or does not know the library.
fn told(library: Library, question: &[&str]) -> Option<String> {
    let mut command = Command::new("pkg-config");
    let done = command.args(question).arg(library.package).output().ok()?;
    let is_known = done.status.success();
    is_known.then(|| String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

fn compile(folder: &Path, library: Library) -> io::Result<()> {
    // Where no pkg-config knows the library, the compiler may.
    let flags = told(library, &["--cflags", "--libs"]);
    let flags = flags.unwrap_or_else(|| format!("-l{}", library.linked));
    // Libraries in folders of users are not found when a program starts.
    let place = told(library, &["--variable=libdir"]);
    let Output { status, stderr, .. } = Command::new("cc")
        .current_dir(folder)
        .args(["-std=c11", "-O2", "play.c", "adapter.c", "-o", "program"])
        .args(flags.split_whitespace())
        .args(place.map(|place| format!("-Wl,-rpath,{place}")))
        .output()
        .map_err(|error| io::Error::new(error.kind(), format!("cc: {error}")))?;
    if status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&stderr);
    let first = said.lines().find(|line| line.contains("error"));
    Err(io::Error::other(
        first.unwrap_or("cc fails").trim().to_owned(),
    ))
}
