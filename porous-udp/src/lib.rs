//! The shared part of the drivers of POROUS over a system's UDP socket: [`Endpoint`], one socket and the
//! host that lives on it. A driver adds a way to wait: `porous-std` sleeps on the socket,
//! `porous-mio` lets an event loop do it, `porous-tokio` a task. A game uses one of these drivers; this crate is for
//! authors of other drivers. `examples/async_io` is a driver for async-io in a hundred lines.
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
//! A host that is bound to `[::]` serves both IPv6 and IPv4, on every system but OpenBSD, where binding
//! to it is an error. A host that is bound to `0.0.0.0` serves IPv4 only. A peer has one address, however
//! the system writes it: an IPv4 address that an IPv6 socket reports as IPv4-mapped is unmapped, and the
//! flow label is set to 0. The scope id of a link-local address is kept.
//!
//! On a machine with many addresses, a host that listens and is bound to `[::]` or `0.0.0.0` answers from
//! the address that a request was sent to. On systems that do not tell which one that was, and on a
//! [plain](Endpoint::plain) path, the system chooses the address.
//!
//! # Unreachable addresses
//!
//! [`connect`](Endpoint::connect) refuses an address at which no host can be, and says what to do
//! instead: see [`BadAddress`]. [`connect_any`](Endpoint::connect_any) leaves such addresses out.
//!
//! Of other addresses only the system knows that they cannot be reached, when a datagram is sent: it has
//! no route, no device or no address to send from, or does not allow it. An attempt to connect then ends
//! at once, with [`DisconnectReason::Unreachable`], or goes on with its other addresses. An established
//! connection goes on, since a route may come back.
//!
//! If no socket is bound to a port, the machine that has the address says so by ICMP. Such a message may
//! be forged, or be wrong a moment later, and ends nothing: [`Event::PortClosed`] tells it once, to
//! applications that show "is the server running?". Linux and Android report it with the address, and
//! are asked to while this host connects to a peer (`IP_RECVERR`), but not on a
//! [plain](Endpoint::plain) path, which changes no option. Windows reports it without the address, so
//! that the event comes only while this host has one peer, at one address. Other systems do not report
//! it to a socket that is not connected.
//!
//! # When the network fails
//!
//! An error of the socket about one datagram, a route, a firewall or a peer that is gone is no
//! error of the host. Errors are sorted by the system's own number. Those of the first row are also
//! known by their kind, as a library may say so without asking the system ([`SystemSocket`]):
//!
//! | the system says | it means | what is done |
//! |---|---|---|
//! | would block, again, interrupted | nothing has come, or there is no room, perhaps for one address only | later: the datagram is kept, nothing to the same address overtakes it, other addresses are tried, and [`SocketStats::send_delayed`] counts. After a signal, receiving goes on |
//! | connection refused, reset or aborted, and whatever else ICMP reports | a datagram sent before did not arrive | nothing: the report may be forged. [`SocketStats::receive_errors`] counts if it came in place of a datagram, and [an attempt to connect](#unreachable-addresses) has an event |
//! | no route, network or host down, no such device; invalid, address not available, family not supported; access denied, not permitted | no way at this moment, no way at all, or a firewall | the datagram is lost, as any may be, and [`SocketStats::send_lost`] counts; [an attempt to connect](#unreachable-addresses) tries the address no more |
//! | message too long | this datagram cannot be sent from here | the datagram is lost; `send_lost` |
//! | no buffers, no memory | a queue is full for a moment | the datagram is lost; `send_lost` |
//! | anything else | the socket is of no more use | `Err`: the driver ends. Say goodbye to the player and make a new host |
//!
//! An address that refuses a datagram does not stop the others. The datagram is tried again with each
//! call, and after 5 ms. While others get theirs, refused datagrams are kept for at most 100 ms and up to
//! 32 KiB of them in all; then they are lost. If four addresses in a row refuse, or all that have
//! datagrams, the socket is taken to have no room, and [`Endpoint::is_blocked`] returns true.
//!
//! # Strangers
//!
//! A kernel keeps a datagram to an address of its own network until a machine answers for the address;
//! Linux keeps it for three seconds, in the send buffer of the socket. Requests forged in the name of
//! unused addresses could fill that buffer with answers. So an answer to a stranger leaves only while the
//! system calls the socket writable, which Linux does as long as more than half of the buffer is free;
//! the other half is for peers. Once half of the buffer is in use, Linux is asked whether a stranger is
//! outside of its own networks. Such strangers are answered within a quarter of the buffer, by IPv4 only.
//! Other answers are lost, and [`SocketStats::answers_withheld`] counts: an honest newcomer asks again.
//!
//! # Work of a call
//!
//! One call takes in, or sends, as many datagrams as it can in 8 ms, half a turn of a loop of 60 Hz. The
//! others wait for the next call. See [`Endpoint::set_time_limit`].
//!
//! # Batches
//!
//! Where the system can, one call sends up to 64 datagrams to one peer (generic segmentation
//! offload of Linux and Windows) and receives up to 8 trains of up to 64 (recvmmsg, generic
//! receive offload); on other systems one call carries one datagram. On Linux one call also sends up to 32
//! datagrams to different peers (sendmmsg), if the host does not listen at all addresses: then each has to
//! leave from the address that its peer asked. Before such a call the host puts the mark of congestion into the
//! socket's `IP_TOS` or `IPV6_TCLASS`, and leaves the other bits as they are. Nothing else differs: a batch that
//! fails is sent one by one. See [`Endpoint::plain`] for the other way.
//!
//! # Memory
//!
//! An endpoint has 64 KiB to send from and 512 KiB to receive into, of which a system with virtual
//! memory provides the part that is used; a [plain](Endpoint::plain) one has 64 KiB of each. A host that
//! listens at all addresses remembers which of them each remote address asked: for up to twice as many
//! remote addresses as it has peers, or 1024 if that is more. [`Config`] bounds what the host itself takes.
#![doc(test(attr(deny(warnings))))]

extern crate alloc;

mod address;
mod bound;
mod buffers;
#[cfg(test)]
mod busy;
#[cfg(test)]
mod calls;
mod clock;
mod command;
mod conditioner;
mod endpoint;
#[cfg(test)]
mod errors;
mod fault;
#[cfg(test)]
mod faulty;
mod gateways;
mod icmp;
mod inbox;
#[cfg(feature = "sim")]
mod link_conditioner;
#[cfg(feature = "log")]
mod log;
#[cfg(test)]
#[cfg(feature = "log")]
mod logged;
mod machine;
mod many;
#[cfg(test)]
mod marked;
mod marks;
mod open;
mod outbox;
#[cfg(test)]
mod refusals;
#[cfg(feature = "seal")]
mod sealing;
mod shards;
mod socket;
mod sources;
#[cfg(test)]
mod suffixed;
mod suffixes;
mod system;
mod verbs;

pub use buffers::SocketBuffers;
pub use clock::Clock;
pub use command::{Command, CommandError, Executed, Outgoing};
pub use conditioner::Conditioner;
pub use endpoint::Endpoint;
pub use fault::is_passing;
#[cfg(feature = "sim")]
pub use link_conditioner::LinkConditioner;
pub use machine::OsRng;
pub use open::bind;
#[cfg(feature = "seal")]
#[doc(no_inline)]
pub use porous_crypto::RustCrypto;
#[cfg(feature = "trace")]
#[doc(no_inline)]
pub use porous_trace as trace;
pub use shards::bind_shards;
pub use socket::SocketStats;
pub use suffixes::SuffixError;
pub use system::SystemSocket;

#[cfg(feature = "sim")]
#[doc(no_inline)]
pub use porous_sim as sim;

#[doc(no_inline)]
pub use porous_proto as proto;
#[doc(no_inline)]
pub use porous_proto::*;

/// The names that most programs use, to be brought in by one line.
pub mod prelude {
    #[doc(no_inline)]
    pub use crate::Command;
    #[cfg(feature = "seal")]
    #[doc(no_inline)]
    pub use porous_crypto::RustCrypto;
    #[doc(no_inline)]
    pub use porous_proto::prelude::*;
    #[cfg(feature = "trace")]
    #[doc(no_inline)]
    pub use porous_trace as trace;
}
