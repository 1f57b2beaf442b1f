//! The commands that are one end of a connection, as users run them: on real sockets of the loopback interface.
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

mod measure;
mod program;
#[cfg(target_os = "linux")]
mod terminal;
mod trace;
mod transfer;
