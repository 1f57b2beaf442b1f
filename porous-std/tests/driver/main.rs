//! The driver on real sockets of the loopback interface, with ports that the system chooses. Each
//! test has a limit of time.
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

extern crate alloc;

mod addresses;
mod buffers;
#[cfg(feature = "seal")]
mod clock;
mod dual_stack;
mod flood;
mod goodbye;
mod hosts;
mod loopback;
mod quilkin;
#[cfg(feature = "seal")]
mod sealed;
#[cfg(target_os = "linux")]
mod shards;
mod suffix;
mod threads;
