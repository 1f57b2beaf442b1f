//! What the drivers of POROUS over a system's UDP socket share: [`Endpoint`], one socket and the
//! host that lives on it. A driver adds a way to wait: `porous-std` sleeps on the socket,
//! `porous-mio` lets an event loop do it. A game uses one of these; this crate is for authors
//! of other drivers. Its methods are also theirs.
//!
//! ```
//! use porous_udp::{Config, Endpoint, Listen, bind};
//!
//! let mut server = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
//! server.listen(Listen::Open).expect("the first call");
//! let mut client = Endpoint::new(bind("127.0.0.1:0")?, Config::client())?;
//! client.connect(server.local_addr()?).expect("the first call");
//!
//! // A driver would wait here for the sockets and for the deadlines of both.
//! while server.peers().count() == 0 {
//!     for host in [&mut client, &mut server] {
//!         host.receive_datagrams()?;
//!         host.transmit()?;
//!     }
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Addresses
//!
//! A host that is bound to `[::]` serves IPv6 and IPv4 alike, on every system but OpenBSD, where
//! binding it is an error; one that is bound to `0.0.0.0` serves IPv4 only. A peer has one address,
//! however the system writes it: an IPv4 address that an IPv6 socket reports as IPv4-mapped is
//! unmapped, and the flow label is set to 0. The scope id of a link-local address is kept.
//!
//! A host that listens and is bound to `[::]` or `0.0.0.0` answers from the address that it was asked
//! at, on a machine that has many; on systems that do not tell which one that was, and on a
//! [plain](Endpoint::plain) path, it answers from the one that the system chooses.
//!
//! # Where nobody is
//!
//! [`connect`](Endpoint::connect) refuses addresses of which nothing can come, and says what to do
//! instead: see [`BadAddress`]. [`connect_any`](Endpoint::connect_any) leaves them out.
//!
//! Others only the system knows, when a datagram is sent: it has no route, no device, no address to
//! send from, or does not allow it. An attempt to connect ends by it at once, with
//! [`DisconnectReason::Unreachable`], or goes on with its other addresses; a connection is not ended
//! by it.
//!
//! That nobody is bound to a port is told by the machine that has the address, by ICMP. It may be
//! forged, or be wrong a moment later, and ends nothing: [`Event::PortClosed`] says so, once, to
//! applications that show "is the server running?". Linux and Android tell it, with the address, and
//! are asked to while this host connects to somebody (`IP_RECVERR`), but not on a
//! [plain](Endpoint::plain) path, which changes no option. Windows tells it without the address:
//! then it is only known where this host has one peer, at one address. Other systems do not tell a
//! socket that is not connected.
//!
//! # When the network fails
//!
//! What a socket reports about one datagram, a route, a firewall or a peer that is gone is no
//! error of the host. Errors are sorted by the system's own number, and the first row of these also by
//! kind, as a library may say so without asking the system ([`SystemSocket`]):
//!
//! | the system says | it means | what is done |
//! |---|---|---|
//! | would block, again, interrupted | nothing has come, or there is no room, be it for one address | later: the datagram is kept, nothing overtakes it, others are tried, and [`SocketStats::send_delayed`] counts; what has arrived behind a signal is taken in |
//! | connection refused, reset or aborted, and whatever else ICMP reports | a datagram sent before did not arrive | nothing: it may be forged. [`SocketStats::receive_errors`] counts where a datagram was expected, and [an attempt](#where-nobody-is) has an event |
//! | no route, network or host down, no such device; invalid, address not available, family not supported; access denied, not permitted | no way at this moment, no way at all, or a firewall | the datagram is lost, as any may be, and [`SocketStats::send_lost`] counts; [an attempt](#where-nobody-is) tries the address no more |
//! | message too long | this datagram cannot be sent from here | it is lost |
//! | no buffers, no memory | a queue is full for a moment | the same |
//! | anything else | the socket is of no more use | `Err`: the driver ends. Say goodbye to the player and make a new host |
//!
//! What one address refuses does not stop the others. It is tried again with each call and after 5 ms;
//! while others get theirs it is kept for 100 ms, and 32 KiB of all that is refused, and then lost.
//! Where four addresses in a row refuse, or all that there are, the socket is taken to have no room,
//! and [`Endpoint::is_blocked`] says so.
//!
//! # Strangers
//!
//! A kernel keeps a datagram to an address of its own network until somebody answers for it; Linux for
//! three seconds, in the room that the socket has to send. Requests forged in the name of unused
//! addresses could fill that room with answers. So an answer to a stranger leaves only while the
//! system calls the socket writable, which Linux does as long as more than half of its room is free;
//! the other half is the peers'. If that is in use, Linux is asked which strangers are not of its own
//! networks, and those are answered within a quarter of the room, but only by IPv4. Other answers are
//! lost, and [`SocketStats::answers_withheld`] counts: an honest newcomer asks again.
//!
//! # Work of a call
//!
//! One call takes in, or sends, what it can in 8 ms: half a turn of a loop of 60 Hz. What is left waits
//! for the next call. See [`Endpoint::set_time_limit`].
//!
//! # Batches
//!
//! Where the system can, one call sends up to 64 datagrams to one peer (generic segmentation
//! offload of Linux and Windows) and receives up to 8 trains of up to 64 (recvmmsg, generic
//! receive offload); on other systems one call carries one datagram. Nothing else differs: a batch that
//! fails is sent one by one. See [`Endpoint::plain`] for the other way.
//!
//! # Memory
//!
//! An endpoint has 64 KiB to send from and 512 KiB to receive into, of which a system with virtual
//! memory provides what is used; [`plain`](Endpoint::plain) has 64 KiB of each. A host that listens at
//! all addresses remembers for twice its peers, and for 1024 strangers at least, at which one they
//! asked. What the host itself may take is said at [`Config`].
#![doc(test(attr(deny(warnings))))]

extern crate alloc;

mod address;
mod bound;
mod buffers;
#[cfg(test)]
mod busy;
mod clock;
mod command;
mod conditioner;
mod endpoint;
mod fault;
#[cfg(test)]
mod faulty;
mod gateways;
mod icmp;
mod inbox;
mod open;
mod outbox;
#[cfg(test)]
mod picky;
mod socket;
mod sources;
mod system;
mod verbs;

pub use buffers::SocketBuffers;
pub use clock::Clock;
pub use command::{Command, CommandError, Executed, Outgoing};
pub use conditioner::Conditioner;
pub use endpoint::{Endpoint, OsRng};
pub use open::bind;
pub use socket::SocketStats;
pub use system::SystemSocket;

#[doc(no_inline)]
pub use porous_proto as proto;
#[doc(no_inline)]
pub use porous_proto::*;

/// The names that most programs use, to be brought in by one line.
pub mod prelude {
    #[doc(no_inline)]
    pub use crate::Command;
    #[doc(no_inline)]
    pub use porous_proto::prelude::*;
}
