//! What a `MultiplayerPeer` of Godot over POROUS does, without Godot: a [`Multiplayer`] turns the events and packets of
//! a host into signals, ids and packets as Godot's `MultiplayerPeer` has them. The extension beside this crate gives
//! it the engine's types; the tests of this crate drive it in simulated networks.
//!
//! ```
//! use porous_godot_core::{Multiplayer, Signal, Status, with_channels};
//! use porous_std::{Config, Listen, UdpHost};
//!
//! # fn main() -> Result<(), Box<dyn core::error::Error>> {
//! let mut server = UdpHost::bind("127.0.0.1:0", with_channels(Config::new(), 8)?)?;
//! server.listen(Listen::Open)?;
//! let mut client = UdpHost::bind("127.0.0.1:0", with_channels(Config::client(), 8)?)?;
//! let peer = client.connect(server.local_addr()?)?;
//! let (mut here, mut there) = (Multiplayer::server(), Multiplayer::client(peer));
//!
//! let id = loop {
//!     server.step()?;
//!     client.step()?;
//!     while let Some(signal) = there.poll(&mut client) {
//!         assert_eq!(signal, Signal::PeerConnected(1)); // emitted
//!         there.put_packet(&mut client, "hello".into())?;
//!     }
//!     while let Some(signal) = here.poll(&mut server) {
//!         println!("{signal:?}"); // emitted
//!     }
//!     if let Some(packet) = here.get_packet() {
//!         break packet.peer;
//!     }
//! };
//! assert_eq!(there.status(), Status::Connected);
//! assert_eq!(there.unique_id(), id);
//! # Ok(())
//! # }
//! ```
//!
//! # The contract
//!
//! - The server is peer 1. The server draws the id of a client, 2 to 2³¹ - 1, and sends it as the first reliable packet,
//!   on a channel of its own. A client is [`Connected`](Status::Connected) when it has its id.
//! - [`PeerConnected`](Signal::PeerConnected) comes once for each peer, before its first packet. The server tells it when
//!   the client has its id, so that whatever a game sends then finds a client that knows who it is.
//! - [`PeerDisconnected`](Signal::PeerDisconnected) comes once for each of these, after its last packet was taken: what a
//!   peer says last is heard. It does not come for a peer that was [disconnected](Multiplayer::disconnect_peer) by force,
//!   nor after [`close`](Multiplayer::close).
//! - A client whose server is gone has that signal for peer 1, and is [`Disconnected`](Status::Disconnected) with it. An
//!   attempt that fails ends without a signal.
//! - Packets go between the server and its clients. From client to client they go through the server, which Godot's
//!   `SceneMultiplayer` relays by itself where a peer says that it can.

extern crate alloc;

mod channels;
mod multiplayer;
mod net;
mod roster;

pub use channels::{MOST_CHANNELS, TransferMode, with_channels};
pub use multiplayer::{Error, Multiplayer, Packet, SERVER, Signal, Status, reason};
pub use net::Net;
