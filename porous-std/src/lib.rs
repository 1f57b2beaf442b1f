//! POROUS over `std::net`: one [`UdpHost`] is one UDP socket and all the peers behind it.
//!
//! There is no runtime, no callback, and no thread unless a program asks for one. A game calls
//! [`UdpHost::step`] once a tick, which never blocks. A program that has nothing else to do calls
//! [`UdpHost::wait`], which sleeps until there is something to do. Both do the same work: take in the
//! datagrams that have arrived, do what is due by time, send what is to be sent. A game whose ticks are
//! long lets a [thread of its own](#a-thread-of-its-own) do this work. `docs/first.md` begins with an empty
//! folder, `docs/loops.md` compares the loops, and `docs/choosing.md` tells what to send how.
//!
//! ```
//! use core::time::Duration;
//! use porous_std::{ChannelId, Config, Event, Listen, Mode, UdpHost};
//!
//! # fn main() -> Result<(), Box<dyn core::error::Error>> {
//! let mut server = UdpHost::bind("127.0.0.1:0", Config::new())?;
//! server.listen(Listen::Open)?;
//! let mut client = UdpHost::bind("127.0.0.1:0", Config::client())?;
//! client.connect(server.local_addr()?)?;
//!
//! let mut greeting = None;
//! while greeting.is_none() {
//!     client.step()?;
//!     while let Some(event) = client.poll_event() {
//!         match event {
//!             Event::Connected { peer, .. } => {
//!                 client.send(peer, ChannelId(0), &b"hello"[..], Mode::Reliable)?;
//!             }
//!             Event::Disconnected { reason, .. } => panic!("{reason}"),
//!             _ => {}
//!         }
//!     }
//!     server.wait(Duration::from_millis(1))?;
//!     while let Some(event) = server.poll_event() {
//!         if let Event::Readable { peer } = event {
//!             while let Some(packet) = server.receive(peer) {
//!                 greeting = Some(packet.payload);
//!             }
//!         }
//!     }
//! }
//! assert_eq!(greeting.as_deref(), Some(&b"hello"[..]));
//! # Ok(())
//! # }
//! ```
//!
//! This crate also has the names of the core, so that a game depends on this crate alone: [`prelude`] has
//! the usual names, [`proto`] all of them, and [`congestion`] and [`Bytes`] are here, too.
//!
//! ```
//! use porous_std::congestion::Congestion;
//! use porous_std::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn core::error::Error>> {
//! let config = Config::client().congestion(Congestion::Cubic);
//! let mut client = UdpHost::bind("127.0.0.1:0", config)?;
//! let server = client.connect("127.0.0.1:4000".parse()?)?;
//! let level = Bytes::from(vec![7; 60_000]); // one allocation for all peers
//! let early = client.send(server, ChannelId(0), level.clone(), Mode::Reliable);
//! assert_eq!(early, Err(SendError::NotConnected));
//! # Ok(())
//! # }
//! ```
//!
//! # The order of a tick
//!
//! 1. `step` or `wait`;
//! 2. [`poll_event`](UdpHost::poll_event) until it returns `None`, pulling packets with
//!    [`receive`](UdpHost::receive);
//! 3. the game itself, which [`send`](UdpHost::send)s.
//!
//! A packet leaves with the next `step` or `wait`, or, at the end of the tick, with
//! [`transmit`](UdpHost::transmit).
//!
//! # A thread of its own
//!
//! [`UdpHost::spawn`] moves a host into a thread, which answers and acknowledges at once, however
//! long the game's ticks are: no connection times out while a level is loaded, and the measured round
//! trip is that of the network. The game has a [`HostThread`], whose methods queue commands and do not
//! block, but for `close` and `wait`:
//!
//! ```
//! use core::time::Duration;
//! use porous_std::{ChannelId, Config, Disconnect, Event, HostThread, Listen, Mode, Output, UdpHost};
//!
//! /// One tick of the client. Returns true while the game goes on.
//! fn client_tick(network: &mut HostThread) -> Result<bool, Box<dyn core::error::Error>> {
//!     while let Some(output) = network.poll() {
//!         match output {
//!             Output::Event(Event::Connected { peer, .. }) => {
//!                 network.send(peer, ChannelId(0), "hello", Mode::Reliable)?;
//!                 let (reason, deadline) = (0, Duration::from_secs(2));
//!                 network.disconnect(peer, Disconnect::Flush { reason, deadline })?;
//!             }
//!             Output::Event(Event::Disconnected { .. }) => return Ok(false),
//!             Output::Unsent(unsent) => panic!("a game keeps it, until Writable: {unsent}"),
//!             Output::Ended(error) => return Err(error.into()),
//!             _ => {}
//!         }
//!     }
//!     // Here the game moves and draws, and sends its packets.
//!     Ok(true)
//! }
//!
//! # fn main() -> Result<(), Box<dyn core::error::Error>> {
//! let mut server = UdpHost::bind("127.0.0.1:0", Config::new())?;
//! server.listen(Listen::Open)?;
//! let mut server = server.spawn()?;
//! let mut client = UdpHost::bind("127.0.0.1:0", Config::client())?.spawn()?;
//! client.connect(server.local_addr())?;
//!
//! let mut said = Vec::new();
//! while client_tick(&mut client)? {
//!     while let Some(output) = server.poll() {
//!         if let Output::Packet { packet, .. } = output {
//!             said.push(packet.payload);
//!         }
//!     }
//! }
//! // The client has left, so its packet has arrived; perhaps the server has not polled it yet.
//! while said.is_empty() {
//!     if let Some(Output::Packet { packet, .. }) = server.poll() {
//!         said.push(packet.payload);
//!     }
//! }
//! assert_eq!(said, ["hello"]);
//! client.close(Disconnect::Now { reason: 0 })?;
//! server.close(Disconnect::Now { reason: 0 })?;
//! # Ok(())
//! # }
//! ```
//!
//! The queues between game and thread have limits. For a game that does not poll, packets wait until the
//! queue is full, and the rest is held back at the peers: see [`HostThread::poll`]. A game that sends
//! more than the thread or the network can take gets its packets back, in their order: see
//! [`HostThread::send`].
//!
//! # The end
//!
//! [`close`](UdpHost::close) ends all connections and waits until all peers know. A [`UdpHost`] that is
//! only dropped tells each peer once, as far as the socket has room, and does not wait; while the thread
//! panics, it tells none. A peer that was not told notices by its [timeout](Config::timeout). A
//! [`HostThread`] that is dropped closes.
//!
//! # Addresses
//!
//! A host that is bound to `[::]` serves both IPv6 and IPv4, and an IPv4 peer has an IPv4 address: see
//! [`porous_udp`](porous_udp#addresses). Addresses at which no host can be are refused, and an attempt to
//! connect to one that cannot be reached ends at once: see [`porous_udp`](porous_udp#unreachable-addresses).
//!
//! # When the network fails
//!
//! An error of the socket about one datagram, a route, a firewall or a peer that is gone is no
//! error of the host: the datagram is lost, as any may be, and counted in [`SocketStats`]. A
//! datagram that finds no room in the socket is kept, and nothing overtakes it. An `Err` of
//! [`step`](UdpHost::step) or [`wait`](UdpHost::wait) means that the socket itself is of no more
//! use: say goodbye to the player and make a new host. The table in
//! [`porous_udp`](porous_udp#when-the-network-fails) lists the errors of each kind.
#![doc(test(attr(deny(warnings))))]

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/scale.md")]
mod scale {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/first.md")]
mod first {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/choosing.md")]
mod choosing {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/loops.md")]
mod loops {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/assets.md")]
mod assets {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/bad-networks.md")]
mod bad_networks {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/memory.md")]
mod memory {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/simulate.md")]
mod simulate {}

extern crate alloc;

mod bell;
mod host;
mod sleep;
mod thread;

pub use host::UdpHost;
pub use thread::{HostThread, Output, ThreadError, Unsent, UnsentError};

#[cfg(feature = "sim")]
pub use porous_udp::LinkConditioner;
#[cfg(feature = "seal")]
#[doc(no_inline)]
pub use porous_udp::RustCrypto;
#[doc(no_inline)]
pub use porous_udp::proto;
#[doc(no_inline)]
pub use porous_udp::proto::*;
#[cfg(feature = "sim")]
pub use porous_udp::sim;
#[cfg(feature = "trace")]
#[doc(no_inline)]
pub use porous_udp::trace;
pub use porous_udp::{
    Clock, Command, CommandError, Conditioner, Endpoint, Executed, OsRng, Outgoing, SocketBuffers,
    SocketStats, SuffixError,
};

/// The names that most programs use, to be brought in by one line.
///
/// ```
/// use porous_std::prelude::*;
///
/// let host = UdpHost::bind("127.0.0.1:0", Config::new())?;
/// # let _ = host;
/// # Ok::<(), std::io::Error>(())
/// ```
pub mod prelude {
    #[doc(no_inline)]
    pub use crate::{HostThread, Output, UdpHost};
    #[doc(no_inline)]
    pub use porous_udp::prelude::*;
}
