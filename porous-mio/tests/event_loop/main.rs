//! Hosts in an event loop, on real sockets of the loopback interface, with ports that the system
//! chooses. Each test has a limit of time.
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

extern crate alloc;

mod blocked;
mod crowd;
mod deadlines;
mod errors;
mod event_loop;
mod faulty;
mod flood;
mod registering;
