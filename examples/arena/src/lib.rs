//! A small shooter, to show how a game of sixty ticks a second is made over porous: the server alone decides, clients
//! send what their players want, and are sent what they see.
//!
//! - [`World`] is the arena: it moves by ticks, from inputs and a seed.
//! - [`Server`] and [`Client`] are the two ends of the game without a network: packets go in, ticks pass, packets come
//!   out. Snapshots are differences from what the client is known to have; the client shows the world as it was a
//!   moment ago, between two snapshots.
//! - [`ServerNet`] and [`ClientNet`] are the same on hosts of porous, of any driver.
//! - [`Bot`] is a player without a player.
//!
//! Nothing here reads a clock or opens a socket, so the library runs wherever Rust does (`--no-default-features`), and
//! in the [simulation](porous_sim), where its tests play it. The program `arena` plays it on real sockets.

extern crate alloc;

mod bot;
mod client;
mod heading;
mod net;
mod packet;
mod playout;
mod server;
mod snapshot;
mod world;

pub use bot::Bot;
pub use client::{Client, Figures};
pub use heading::{heading_of, vector};
pub use net::{ClientNet, Net, ServerNet, configured};
pub use packet::{Kind, Outgoing};
pub use server::{INTERVAL, Server};
pub use world::{Bodies, Body, Happening, Input, PLAYERS, SIZE, STAND, Score, TICKS, World};
