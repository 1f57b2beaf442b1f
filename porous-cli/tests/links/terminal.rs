//! The views, on a terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::program::{Program, file, folder, good};

/// A terminal of this size, and a program on it.
struct Terminal {
    user: File,
    child: Child,
    shown: String,
    /// Bytes that were looked at.
    seen: usize,
}

impl Terminal {
    fn start(columns: u16, rows: u16, args: &[&str], env: &[(&str, &str)]) -> Self {
        let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&user).unwrap();
        unlockpt(&user).unwrap();
        let size = Winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&user, size).unwrap();
        let name = ptsname(&user, Vec::new()).unwrap();
        let path = name.to_str().unwrap();
        let end = File::options().read(true).write(true).open(path).unwrap();
        let fd = || OwnedFd::from(end.try_clone().unwrap());
        let child = Command::new(env!("CARGO_BIN_EXE_porous"))
            .args(args)
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .envs(env.iter().copied())
            .stdin(fd())
            .stdout(fd())
            .stderr(fd())
            .spawn()
            .unwrap();
        Self {
            user: user.into(),
            child,
            shown: String::new(),
            seen: 0,
        }
    }

    /// Reads until this is shown, behind what was read before.
    fn read_until(&mut self, wanted: &str) {
        let mut bytes = [0; 4096];
        loop {
            if let Some(at) = self.shown[self.seen..].find(wanted) {
                self.seen += at + wanted.len();
                return;
            }
            // An error is how a terminal tells that nobody is at its other end.
            match self.user.read(&mut bytes) {
                Ok(read) if read > 0 => {
                    self.shown
                        .push_str(&String::from_utf8_lossy(&bytes[..read]));
                }
                Ok(_) | Err(_) => {
                    let rest: String = self.shown[self.seen..].chars().take(2000).collect();
                    panic!("{wanted:?} is not shown: {rest:?}");
                }
            }
        }
    }

    fn press(&mut self, keys: &str) {
        self.user.write_all(keys.as_bytes()).unwrap();
    }

    fn status(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn ctrl_c_ends_a_view_of_40_columns_and_the_report_stays() {
    let (server, address) = Program::listen(&["serve", "127.0.0.1:0", "--duration=90"]);
    for (keys, env, has_colour) in [("\x03", &[][..], true), ("q", &[("NO_COLOR", "1")], false)] {
        let mut terminal = Terminal::start(40, 12, &["ping", &address, "--duration=80"], env);
        // Taken, drawn, and given back before the report.
        terminal.read_until("\x1b[?1049h");
        terminal.read_until("queue");
        // Of any colour but the usual one.
        let colours = ["\x1b[38;5;", "\x1b[36m"];
        let is_coloured = colours.iter().any(|colour| terminal.shown.contains(colour));
        assert_eq!(is_coloured, has_colour, "{:?}", terminal.shown);
        terminal.press(keys);
        terminal.read_until("\x1b[?1049l");
        terminal.read_until("good for");
        assert_eq!(terminal.status(), Some(0));
    }
    drop(server);
}

#[test]
fn the_server_is_shown_and_ends_by_a_key() {
    let args = ["serve", "127.0.0.1:0", "--duration=80"];
    let mut terminal = Terminal::start(80, 24, &args, &[]);
    terminal.read_until("listening on ");
    // Spaces are jumps of the cursor.
    terminal.read_until("worst");
    terminal.press("q");
    terminal.read_until("\x1b[?1049l");
    terminal.read_until("connections 0");
    assert_eq!(terminal.status(), Some(0));
}

#[test]
fn plain_lines_are_for_terminals_as_well() {
    let (server, address) = Program::listen(&["serve", "127.0.0.1:0", "--duration=90"]);
    for (args, env) in [
        (&["ping", &address, "--duration=1", "--plain"][..], &[][..]),
        (&["ping", &address, "--duration=1"], &[("TERM", "dumb")]),
    ] {
        let mut terminal = Terminal::start(40, 12, args, env);
        terminal.read_until("good for");
        assert!(!terminal.shown.contains('\x1b'), "{:?}", terminal.shown);
        assert_eq!(terminal.status(), Some(0));
    }
    drop(server);
}

#[test]
fn progress_fits_a_terminal_of_40_columns() {
    let to = folder("progress");
    let path = file("terminal", "large", vec![7; 30 << 20]);
    let out = to.to_str().unwrap();
    let (receiver, address) = Program::listen(&["recv", "127.0.0.1:0", "--out", out]);
    let mut terminal = Terminal::start(40, 12, &["send", &path, &address], &[]);
    terminal.read_until("sending ");
    terminal.read_until("MiB");
    terminal.read_until("sha256");
    assert_eq!(terminal.status(), Some(0));
    good(&receiver.end());
}

/// The lines of a terminal, without what moves its cursor or colours.
fn lines(shown: &str) -> Vec<String> {
    let mut parts = shown.split('\x1b');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // A sequence ends with its first letter.
        let end = part.find(|c: char| c.is_ascii_alphabetic());
        text.push_str(end.map_or("", |end| &part[end + 1..]));
        // It may have begun the line anew.
        text.push('\r');
    }
    text.split(['\r', '\n']).map(str::to_owned).collect()
}

#[test]
fn bars_of_simulations_fit_a_terminal_of_40_columns() {
    let swarm = ["sim", "swarm", "--seeds", "12", "--threads", "1"];
    let table = [
        "sim", "table", "--quick", "--seeds", "1-3", "--only", "push",
    ];
    for (args, bar, end) in [
        (&swarm[..], "of 12 worlds [", "all promises held"),
        (&table, " runs [", "Of "),
    ] {
        let mut terminal = Terminal::start(40, 12, args, &[("COLUMNS", "40")]);
        terminal.read_until(bar);
        terminal.read_until(end);
        let lines = lines(&terminal.shown);
        let bars: Vec<&String> = lines.iter().filter(|line| line.contains(bar)).collect();
        assert!(!bars.is_empty(), "{lines:?}");
        for line in bars {
            assert!(
                line.chars().count() <= 40 && line.ends_with("left"),
                "{line:?}"
            );
        }
        assert!(terminal.status().is_some_and(|status| status < 2));
    }
}

#[test]
fn an_error_is_one_line_on_a_terminal_of_40_columns() {
    for args in [
        &["sim", "lab", "--out", "/proc/none"][..],
        &["sim", "road", "end=11", "--trace", "/no/such/folder/file"],
    ] {
        let mut terminal = Terminal::start(40, 12, args, &[("COLUMNS", "40")]);
        terminal.read_until("error: cannot write --");
        terminal.read_until("\n");
        assert_eq!(terminal.status(), Some(2));
        let lines = lines(&terminal.shown);
        let told = lines.iter().filter(|line| !line.is_empty()).count();
        assert_eq!(told, 1, "{lines:?}");
    }
}
