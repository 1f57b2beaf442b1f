//! POROUS as a mio event source: one [`MioHost`] is one UDP socket and all the peers behind it.
//!
//! mio tells which sockets of an event loop can be read or written, and sleeps until one can or a
//! time has passed. A host says how long that may be, and takes note of what mio tells. There is no
//! runtime, no thread and no callback, and any number of hosts and other sources share one loop.
//!
//! ```
//! use mio::{Events, Interest, Poll, Token};
//! use porous_mio::{ChannelId, Config, Event, Listen, MioHost, Mode};
//!
//! const SERVER: Token = Token(0);
//! const CLIENT: Token = Token(1);
//!
//! # fn main() -> Result<(), Box<dyn core::error::Error>> {
//! let mut server = MioHost::bind("127.0.0.1:0", Config::new())?;
//! server.listen(Listen::Open)?;
//! let mut client = MioHost::bind("127.0.0.1:0", Config::client())?;
//! client.connect(server.local_addr()?)?;
//!
//! let mut poll = Poll::new()?;
//! let mut events = Events::with_capacity(64);
//! let both = Interest::READABLE | Interest::WRITABLE;
//! poll.registry().register(&mut server, SERVER, both)?;
//! poll.registry().register(&mut client, CLIENT, both)?;
//!
//! let mut greeting = None;
//! while greeting.is_none() {
//!     // Sleep until a socket is ready or a host is due, whichever is first.
//!     let timeout = [&server, &client].into_iter().filter_map(MioHost::timeout).min();
//!     poll.poll(&mut events, timeout)?;
//!     for event in &events {
//!         match event.token() {
//!             SERVER => server.handle_event(event),
//!             CLIENT => client.handle_event(event),
//!             _ => {}
//!         }
//!     }
//!
//!     client.step()?;
//!     while let Some(event) = client.poll_event() {
//!         match event {
//!             Event::Connected { peer, .. } => {
//!                 client.send(peer, ChannelId(0), &b"hello"[..], Mode::Reliable)?;
//!             }
//!             Event::Disconnected { reason, .. } => panic!("{reason:?}"),
//!             _ => {}
//!         }
//!     }
//!
//!     server.step()?;
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
//! # The loop
//!
//! 1. [`Poll::poll`](mio::Poll::poll) with the least [`timeout`](MioHost::timeout) of all hosts; a
//!    signal may end it with `Interrupted`, which is no reason to stop;
//! 2. [`handle_event`](MioHost::handle_event) with each event, at the host of its token;
//! 3. [`step`](MioHost::step) at each host whose `timeout` is zero now, or at all of them: a host
//!    whose socket was not reported readable does not ask the system;
//! 4. of each that stepped, [`poll_event`](MioHost::poll_event) until it returns `None`, pulling
//!    packets with [`receive`](MioHost::receive).
//!
//! What is [sent](MioHost::send) leaves with the next `step`; until then `timeout` is zero, so
//! that no sleep comes in between.
//!
//! A program with very many hosts should not ask each of them for its `timeout` in each turn: keep
//! them in an ordered set of times by a [`Clock`] of the program's own, and ask a host again only
//! after it was handed an event, stepped, or told to do something. The example `thousand` does so.
//!
//! # What to register for
//!
//! `READABLE | WRITABLE`. mio tells of a change once: the host remembers that its socket is
//! readable until it has read it empty, also over many steps. Writability matters when the socket
//! had no room for a datagram; the host then goes on as soon as there is some. `READABLE` alone
//! works too: the host then tries again after 5 ms. It saves the events by which Linux tells that a
//! datagram has left the socket, one for each that was sent, whether or not anybody waits for it.
//!
//! After `deregister` a host learns nothing of its socket any more; its deadlines go on.
//!
//! # Addresses
//!
//! A host that is bound to `[::]` serves IPv6 and IPv4 alike. Addresses of which nothing can come are
//! refused, and an attempt at one that cannot be reached ends at once:
//! [`porous_udp`](porous_udp#where-nobody-is) says which those are.
//!
//! # When the network fails
//!
//! What a socket reports about one datagram, a route, a firewall or a peer that is gone is no error
//! of the host: the datagram is lost, as any may be, and counted in [`SocketStats`]. An `Err` of
//! [`step`](MioHost::step) means that the socket itself is of no more use. Which is which stands in
//! [`porous_udp`](porous_udp#when-the-network-fails), a row an error.
//!
//! # One dependency
//!
//! The names of the core are here as well: [`prelude`] has the usual ones, [`proto`] is the whole of
//! it, with [`congestion`] and [`Bytes`].
#![doc(test(attr(deny(warnings))))]

mod host;
mod socket;

pub use host::MioHost;
pub use socket::MioSocket;

/// The mio that these hosts are sources for.
pub use mio;

#[doc(no_inline)]
pub use porous_udp::proto;
#[doc(no_inline)]
pub use porous_udp::proto::*;
pub use porous_udp::{
    Clock, Command, CommandError, Conditioner, Endpoint, Executed, OsRng, Outgoing, SocketBuffers,
    SocketStats, SystemSocket,
};

/// The names that most programs use, to be brought in by one line.
///
/// ```
/// use porous_mio::prelude::*;
///
/// let host = MioHost::bind("127.0.0.1:0", Config::new())?;
/// # let _ = host;
/// # Ok::<(), std::io::Error>(())
/// ```
pub mod prelude {
    #[doc(no_inline)]
    pub use crate::MioHost;
    #[doc(no_inline)]
    pub use porous_udp::prelude::*;
}
