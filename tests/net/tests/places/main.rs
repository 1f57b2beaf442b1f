//! Hosts in Linux network namespaces: real sockets, routers and NATs, and networks that change under
//! a connection. `docs/testing.md`, "Real networks", says what each test shows.
//!
//! Needs root, `ip`, `nft`, `conntrack` and `/dev/net/tun`, and for some tests nginx. Without them the tests
//! say so and pass, unless the environment says `POROUS_REQUIRE_NETNS=1`.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test")]

extern crate alloc;

mod actor;
mod away;
mod delay;
mod ecn;
mod families;
mod fleet;
mod lab;
mod loss;
mod mtu;
mod nat;
mod nginx;
mod punch;
mod space;
mod unused;
mod wan;
