//! The driver on real sockets of smoltcp: over a loopback device in virtual time, and over a device
//! of Linux against a host of `porous-std`.
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

mod loopback;
mod net;
