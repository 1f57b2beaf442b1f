//! POROUS as a mio event source: one [`MioHost`] is one UDP socket and all the peers behind it.
//!
//! mio sleeps until a socket of its event loop can be read or written, or until a time has passed, and
//! reports which sockets those are. A host says how long mio may sleep, and notes what mio reports. There
//! is no runtime, no thread and no callback, and any number of hosts and other sources share one loop.
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
//! 4. [`poll_event`](MioHost::poll_event) of each host that stepped, until it returns `None`, pulling
//!    packets with [`receive`](MioHost::receive).
//!
//! A packet that was [sent](MioHost::send) leaves with the next `step`; until then `timeout` is zero, so
//! that the loop does not sleep in between.
//!
//! A program with very many hosts should not ask each of them for its `timeout` in each turn. Keep
//! the hosts in a set ordered by time, by a [`Clock`] of the program's own, and ask a host again only
//! after an event, a step or a command. The example `thousand` does so.
//!
//! # What to register for
//!
//! `READABLE | WRITABLE`. mio reports a change once: the host remembers that its socket is readable until
//! it has read the socket empty, also over many steps. Writability matters when the socket had no room
//! for a datagram: the host then goes on as soon as there is room. `READABLE` alone works too: the host
//! then tries again after 5 ms. That saves an event for each datagram that is sent, by which Linux reports
//! that it has left the socket.
//!
//! After `deregister` a host is told no more of its socket; its deadlines go on.
//!
//! # Addresses
//!
//! A host that is bound to `[::]` serves both IPv6 and IPv4. Addresses at which no host can be are
//! refused, and an attempt to connect to one that cannot be reached ends at once: see
//! [`porous_udp`](porous_udp#unreachable-addresses).
//!
//! # When the network fails
//!
//! An error of the socket about one datagram, a route, a firewall or a peer that is gone is no error
//! of the host: the datagram is lost, as any may be, and counted in [`SocketStats`]. An `Err` of
//! [`step`](MioHost::step) means that the socket itself is of no more use. The table in
//! [`porous_udp`](porous_udp#when-the-network-fails) lists the errors of each kind.
//!
//! # One dependency
//!
//! This crate also has the names of the core: [`prelude`] has the usual names, [`proto`] all of them, and
//! [`congestion`] and [`Bytes`] are here, too.
#![doc(test(attr(deny(warnings))))]

mod host;
mod socket;

pub use host::MioHost;
pub use socket::MioSocket;

/// The mio that these hosts are sources for.
pub use mio;

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
    SocketStats, SuffixError, SystemSocket,
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
