//! A deterministic network in virtual time, to test a realtime protocol, or a game, under loss,
//! delay, reordering and congestion.
//!
//! Nothing here reads a clock, sleeps, or opens a socket. Time is an argument, and everything
//! that chance decides follows from one [`Seed`]: a run can be repeated byte by byte, on any
//! machine, as fast as the processor goes.
//!
//! - [`Link`] carries datagrams one way under the conditions of a [`LinkConfig`].
//! - [`Network`] joins any number of addresses by such links and delivers in one global order.
//! - [`World`] puts hosts of the protocol on a network and moves them all; [`Pair`] is one of two.
//! - [`Model`] is the contract of a channel: hold what was delivered against what was sent.
//! - [`Trace`] is the digest, or the text, of all that happened: compare two runs by it.
//!
//! What can go wrong:
//!
//! | where | what | how |
//! |---|---|---|
//! | on a line | loss, by chance or in bursts; copies; reordering; changed bits and missing ends, which UDP's checksum notices or not; delay and jitter; a limited rate with a queue that drops or controls its delay; a size limit | [`LinkConfig`] |
//! | | the networks of players, in numbers | [`Preset`] |
//! | between lines | partitions, either way alone; routers of all kinds that hide a host, and forget; local networks | [`Network::partition`], [`World::add_nat`], [`World::add_router`], [`World::rebind`], [`World::join`] |
//! | at a host | ticks; hitches; clocks that drift and jump; a small socket buffer; a program that is killed | [`Service`], [`World::hitch`], [`World::set_clock_drift`], [`World::jump_clock`], [`World::set_socket_buffer`], [`World::remove_host`] |
//! | to one datagram | whatever a test wants | [`World::intercept`], [`World::inject`] |
//!
//! To test a game: put its server and its clients on a [`World`], let each tick of the game be a
//! [`run_for`](World::run_for), and run it once with each [`Preset`] and many seeds. One core carries
//! about half a million datagrams a second, with the work of the hosts (`cargo bench -p porous-sim`),
//! so minutes of play are seconds. When a run fails, its seed replays it, and [`World::with_text`]
//! shows it as lines. `docs/simulate.md` has a whole game that is tested so.
//!
//! For hosts of the protocol, start at [`World`]. Any other protocol can be tested on a bare network.
//! The loop that drives one is always the same: take out what has arrived, let the hosts act, send
//! their datagrams, and jump to the next time at which anything happens.
//!
//! ```
//! use core::time::Duration;
//! use porous_proto::Instant;
//! use porous_sim::{LinkConfig, Network, Seed};
//!
//! // Two players throw a ball to each other. Now and then it gets lost, then the game is over.
//! let seed = Seed::from_env(Seed::new(42));
//! let config = LinkConfig::new().delay(Duration::from_millis(30)).loss(5.0);
//! let mut network = Network::new(seed, config);
//!
//! network.send(Instant::ZERO, 1, 2, b"ball");
//! let mut throws = 1;
//! while let Some(now) = network.next_delivery() {
//!     while let Some((from, to, ball)) = network.receive(now) {
//!         network.send(now, to, from, ball);
//!         throws += 1;
//!     }
//! }
//! assert_eq!(network.stats().sent, throws, "replay with {seed}");
//! assert_eq!(network.stats().lost, 1, "replay with {seed}");
//! ```
#![doc(test(attr(deny(warnings))))]

extern crate alloc;

mod agenda;
mod chance;
mod codel;
mod config;
mod damage;
mod delay;
mod dice;
#[cfg(feature = "swarm")]
pub mod explore;
mod hash;
mod intercept;
#[cfg(feature = "lab")]
pub mod lab;
mod link;
mod local;
mod model;
mod nat;
mod network;
mod pair;
mod presets;
mod rate;
mod router;
mod seed;
mod service;
mod station;
mod stats;
#[cfg(feature = "swarm")]
pub mod swarm;
#[cfg(feature = "swarm")]
mod threads;
mod trace;
#[cfg(feature = "swarm")]
mod watch;
mod world;

pub use chacha20::{ChaCha8Rng, rand_core};

pub use chance::{Chance, below};
pub use config::{EcnPath, LinkConfig, Queue};
pub use intercept::{Intercept, Passing};
pub use link::{Fate, Link};
pub use model::Model;
pub use network::{Network, SimAddress};
pub use pair::Pair;
pub use presets::Preset;
pub use router::{NatRule, Router};
pub use seed::{ParseSeedError, Seed};
pub use service::Service;
pub use stats::LinkStats;
pub use trace::{Difference, Trace};
pub use world::World;
