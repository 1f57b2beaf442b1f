//! The C interface of porous: one library, `libporous`, and one header, `include/porous.h`, which a test writes from
//! this crate. What a program of C has to know stands there; this is for those who change the library.
//!
//! A function that is exported takes pointers and numbers, of which it believes none, and runs in `enter` or
//! in `guard`: these catch panics, which must not unwind into C, and `enter` also lets one call at a time into a
//! host. What is behind a pointer is touched by the functions of `pointers` and `sized` alone. So the header may
//! promise that only a pointer that points nowhere, and memory that is shorter than it says, do harm.
//!
//! This is the only crate of the workspace with `unsafe`.
#![no_std]
#![expect(
    non_camel_case_types,
    reason = "the types have the names that they have in C"
)]
#![expect(
    clippy::missing_safety_doc,
    reason = "the head of the header says it for all functions"
)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

// In the order in which the header has them, which is why they are not in one block.
pub mod status;

pub mod address;
pub mod config;
pub mod host;

pub mod core_host;
#[cfg(feature = "udp")]
pub mod udp_host;

pub mod connect;
pub mod connection_ids;
pub mod event;
pub mod send;

pub mod receive;

pub mod packet;

pub mod blob;

pub mod stats;

#[cfg(feature = "seal")]
pub mod security;

#[cfg(feature = "seal")]
pub mod credentials;

#[cfg(all(feature = "seal", feature = "std"))]
pub mod claims;

#[cfg(feature = "seal")]
pub mod ticket;

#[cfg(all(feature = "std", any(feature = "udp", feature = "seal")))]
pub mod io_error;
pub mod panic;

#[cfg(feature = "hooks")]
pub mod allocator;

#[cfg(feature = "udp")]
pub mod output;
#[cfg(feature = "udp")]
pub mod thread;

#[cfg(feature = "udp")]
pub mod thread_commands;

#[cfg(not(feature = "std"))]
mod bare;

mod door;
mod pointers;
mod sized;
#[cfg(feature = "udp")]
mod socket;
mod time;
