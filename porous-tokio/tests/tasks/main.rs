//! Connections of tasks, on real sockets of the loopback interface, with ports that the system chooses. Each test has
//! a limit of time, and most run in both of tokio's runtimes.
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

extern crate alloc;

mod asked;
mod cancel;
mod crowd;
mod ends;
mod failed;
mod runtimes;
#[cfg(feature = "seal")]
mod sealed;
