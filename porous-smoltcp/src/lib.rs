//! POROUS over smoltcp: a host on a UDP socket of a network stack without an operating system.
//!
//! [`SmolHost`] holds the protocol and one buffer. The socket stays in smoltcp's `SocketSet`, where the
//! interface needs it, and is lent to the host for each [`step`](SmolHost::step).
//!
//! ```
//! use getrandom::SysRng;
//! use porous_smoltcp::{ChannelId, Config, Event, Listen, Mode, SmolHost};
//! use rand_core::UnwrapErr;
//! use smoltcp::iface::{Config as InterfaceConfig, Interface, SocketSet};
//! use smoltcp::phy::{Loopback, Medium};
//! use smoltcp::socket::udp;
//! use smoltcp::time::{Duration, Instant};
//! use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
//!
//! // A device, and an interface with an address on it.
//! let mut now = Instant::ZERO; // a program reads its clock here
//! let mut device = Loopback::new(Medium::Ip);
//! let config = InterfaceConfig::new(HardwareAddress::Ip);
//! let mut interface = Interface::new(config, &mut device, now);
//! let here = IpAddress::v4(127, 0, 0, 1);
//! interface.update_ip_addrs(|addresses| {
//!     addresses.push(IpCidr::new(here, 8)).expect("smoltcp has room for two");
//! });
//!
//! // Two hosts, and a socket for each.
//! let mut server = SmolHost::new(Config::new(), UnwrapErr(SysRng));
//! let mut client = SmolHost::new(Config::client(), UnwrapErr(SysRng));
//! let mut sockets = SocketSet::new(Vec::new());
//! let mut server_socket = udp::Socket::new(server.packet_buffer(16), server.packet_buffer(16));
//! server_socket.bind(7777)?;
//! let server_socket = sockets.add(server_socket);
//! let mut client_socket = udp::Socket::new(client.packet_buffer(8), client.packet_buffer(8));
//! client_socket.bind(50_000)?;
//! let client_socket = sockets.add(client_socket);
//!
//! server.host_mut().listen(Listen::Open)?;
//! client.connect(now, sockets.get(client_socket), (here, 7777).into())?;
//!
//! let mut greeting = None;
//! while greeting.is_none() {
//!     interface.poll(now, &mut device, &mut sockets);
//!     server.step(now, sockets.get_mut(server_socket))?;
//!     client.step(now, sockets.get_mut(client_socket))?;
//!
//!     while let Some(event) = client.host_mut().poll_event() {
//!         match event {
//!             Event::Connected { peer, .. } => {
//!                 let hello = &b"hello"[..];
//!                 client.host_mut().send(peer, ChannelId(0), hello, Mode::Reliable)?;
//!             }
//!             Event::Disconnected { reason, .. } => panic!("{reason:?}"),
//!             _ => {}
//!         }
//!     }
//!     while let Some(event) = server.host_mut().poll_event() {
//!         if let Event::Readable { peer } = event {
//!             while let Some(packet) = server.host_mut().receive(peer) {
//!                 greeting = Some(packet.payload);
//!             }
//!         }
//!     }
//!
//!     // Sleep until a host or the interface has something to do, or the device has a packet.
//!     let wake_at = [
//!         interface.poll_at(now, &sockets),
//!         server.poll_at(now, sockets.get(server_socket)),
//!         client.poll_at(now, sockets.get(client_socket)),
//!     ];
//!     let wake_at = wake_at.into_iter().flatten().min();
//!     # assert!(wake_at.is_some());
//!     # let _ = wake_at;
//!     now += Duration::from_millis(1); // the loopback device cannot end a sleep
//! }
//! assert_eq!(greeting.as_deref(), Some(&b"hello"[..]));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # The order of a turn
//!
//! 1. `Interface::poll`: packets of the device into sockets, and of sockets into the device;
//! 2. [`step`](SmolHost::step): datagrams of the socket into the host, and of the host into the
//!    socket;
//! 3. [`poll_event`](porous_proto::Host::poll_event) of [`host_mut`](SmolHost::host_mut) until it
//!    returns `None`, pulling packets with [`receive`](porous_proto::Host::receive); then the
//!    program itself, which [`send`](porous_proto::Host::send)s.
//!
//! A packet that the program sends leaves with the next `step`, and a datagram that `step` sends leaves
//! with the next `poll`. `Interface::poll` works until the device has no more packets, which may take long
//! in a flood: `poll_ingress_single` takes one packet at a time.
//!
//! # Time
//!
//! `step` and `poll_at` take smoltcp's `Instant`, the same that the interface is given, and [`time`]
//! converts it to the core's and back. The clock should begin at zero or later.
//!
//! # Addresses
//!
//! A peer is an `IpEndpoint`, of IPv4 or of IPv6. A socket that is bound to a port serves both, as
//! far as its interface has addresses of both; IPv4 always shows as `IpAddress::Ipv4`, so no peer
//! has two names, and there are no IPv4-mapped addresses to be unmapped. Do not connect to one
//! (`::ffff:10.0.0.1`): smoltcp would look for it among the IPv6 hosts.
//!
//! [`connect`](SmolHost::connect) refuses addresses at which no host can be
//! ([`ConnectError::BadAddress`]): the unspecified address, port 0, a broadcast or multicast address, and,
//! if the socket is bound to an address, one of the other family and that address itself. smoltcp does not
//! report that no socket is bound to a port.
//!
//! smoltcp chooses the address that a datagram leaves from. If the interface has several of one
//! family, bind the socket to the one that peers know: they ignore a datagram from another.
//!
//! # Sealed connections
//!
//! The feature `seal` has `SmolHost::connect_sealed`. The program gives the host its
//! cryptography and keys by `set_security` of [`host_mut`](SmolHost::host_mut), be it that of the crate
//! `porous-crypto` or a microcontroller's own. A server that admits clients by tokens needs the time of day,
//! by `set_unix_time`, once it is known and again whenever it is set.
//!
//! # The end
//!
//! A host that is dropped tells its peers nothing, because it does not own the socket. Call
//! [`disconnect_all`](porous_proto::Host::disconnect_all) of [`host_mut`](SmolHost::host_mut) before, and
//! go on until the [`Event::Disconnected`] of each peer has come; or call
//! [`drain`](porous_proto::Host::drain), which delivers first what was sent, and go on until the host
//! [is empty](porous_proto::Host::is_empty).
//!
//! # Memory
//!
//! The driver itself takes one buffer of
//! [`max_datagram_size`](porous_proto::Host::max_datagram_size), 1200 bytes by default, when it is
//! made, and nothing afterwards; datagrams are read where the socket has them. The memory of the host is
//! bounded by its [`Config`]; for a small machine these matter most: `max_peers`, `receive_budget`,
//! `send_budget`, `windows` and `channels`.
//!
//! The socket's buffers are the caller's; [`packet_buffer`](SmolHost::packet_buffer) makes one. One
//! datagram each way is enough to work. A datagram that arrives between two steps and does not fit is lost
//! without a report, and the sender takes the loss for congestion: for a client a buffer of 8 datagrams is
//! good, for a server one of 2 to 4 for each peer. The buffer to send should hold what one step makes, a
//! few datagrams for each peer; a datagram without room only waits for the next step. A buffer of fewer
//! than 1200 bytes can never hold a request, on the way in or on the way out.
//!
//! The packets of the device have to be able to carry a datagram: its IP MTU must be 1248 bytes or
//! more, and 48 bytes more than `max_datagram` if that is greater. smoltcp drops a longer packet, or
//! splits it if it was built to. So there is no search for longer datagrams unless
//! [`Config::path_mtu_discovery`] asks for one: keep that below what the device carries. smoltcp neither sends
//! nor reports marks of congestion (ECN), so that [`Config::ecn`] is switched off.
//!
//! A device whose `ChecksumCapabilities` leave out UDP's checksum has to check it itself: nothing else
//! guards handshakes and disconnections. [`Integrity`] guards the datagrams of a connection.
//!
//! # Errors
//!
//! An error of the socket about one datagram is no error of the host: the datagram is lost, as any may be.
//!
//! | what happens | what the driver does |
//! |---|---|
//! | the socket is not bound, or was closed | [`SocketClosed`]: the driver can do nothing until it is bound |
//! | `SendError::BufferFull` | later: the datagram is kept and nothing overtakes it; `send_delayed` |
//! | the same, but the datagram is longer than the whole buffer | lost; `send_lost` |
//! | `SendError::Unaddressable`: port 0, or no address | lost; `send_lost`; an attempt to connect there ends with [`DisconnectReason::Unreachable`] |
//! | the socket is bound to an address of IPv4, and the datagram is for IPv6, or the other way round | the same (smoltcp would panic) |
//! | nothing leaves the socket for 2 s | all datagrams in the socket are lost; `send_stuck` |
//! | `RecvError::Exhausted` | nothing more |
//! | `RecvError::Truncated` | cannot happen: datagrams are read where they are |
//! | no room to receive, no route, no source address, longer than the MTU | lost in smoltcp, which does not tell |
//!
//! # Ethernet
//!
//! On Ethernet smoltcp keeps a datagram in the socket while no machine answers for its address, or while
//! there is no route to it, and all later datagrams wait behind it: one player that pulls a cable, or one
//! wrong address to connect to, would silence the host for ever. So the driver empties a socket that
//! nothing has left for two seconds. An attacker that forges requests from an unused address of the link
//! can still make a server wait for two seconds, again and again: put a router that filters in front, and
//! let no such attacker onto the link.
//!
//! smoltcp remembers 8 neighbours, unless it is built with another number, and forgets one for each
//! further one. Set its `iface-neighbor-cache-count` to more than the peers on the link.
#![no_std]
#![doc(test(attr(deny(warnings))))]

extern crate alloc;

mod host;
mod socket;
pub mod time;

pub use host::SmolHost;
pub use socket::{SocketClosed, SocketStats};

#[doc(no_inline)]
pub use porous_proto as proto;
#[doc(no_inline)]
pub use porous_proto::*;

/// The names that most programs use, to be brought in by one line.
///
/// ```
/// # use porous_proto::hooks::doc::example_rng;
/// use porous_smoltcp::prelude::*;
///
/// let host = SmolHost::new(Config::new(), example_rng());
/// # let _ = host;
/// ```
pub mod prelude {
    #[doc(no_inline)]
    pub use crate::SmolHost;
    #[doc(no_inline)]
    pub use porous_proto::prelude::*;
}
