//! The driver on real sockets of smoltcp: over a loopback device in virtual time, and over a device
//! of Linux against a host of `porous-std`.
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

mod errors;
mod flood;
mod loopback;
mod net;
mod room;
#[cfg(feature = "seal")]
mod sealed;
mod stuck;
#[cfg(target_os = "linux")]
mod tun;
