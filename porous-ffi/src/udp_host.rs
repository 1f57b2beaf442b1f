//! A host on a UDP socket of its own.

use core::ffi::{c_char, c_void};
use core::net::SocketAddr;
use core::time::Duration;
use std::io;

use alloc::boxed::Box;
use alloc::vec::Vec;

use bytes::Bytes;
#[cfg(feature = "seal")]
use porous_proto::seal::{Credentials, Security};
use porous_proto::{
    ChannelId, ConnectionIds, ConnectionIdsError, Disconnect, HostStats, Listen, Peer, PeerId,
    Received, SendOptions,
};
use porous_std::{SocketStats, UdpHost};

use crate::address::porous_address;
use crate::config::porous_config;
use crate::event::porous_event;
use crate::host::{Level, Rate, enter, farewell, porous_host};
use crate::io_error;
use crate::panic::guard;
use crate::pointers::{bytes, read, text, wanted, write};
use crate::status::{
    Numbered, POROUS_ERR_ADDRESS, POROUS_ERR_UNSUPPORTED, POROUS_ERR_VALUE, POROUS_OK, check,
    number, porous_status,
};
use crate::time::{duration, micros};

/// A host on a socket.
pub(crate) struct BoundHost(UdpHost);

impl BoundHost {
    pub(crate) const fn socket_stats(&self) -> SocketStats {
        self.0.socket_stats()
    }

    /// What a call answers that works with the socket.
    fn answer(result: io::Result<()>) -> Result<porous_status, porous_status> {
        result.map_err(|error| io_error::remember(&error))?;
        Ok(POROUS_OK)
    }
}

/// The addresses of IP.
pub(crate) fn sockets(addresses: &[porous_address]) -> Result<Vec<SocketAddr>, porous_status> {
    addresses.iter().map(|address| address.socket()).collect()
}

impl Level for BoundHost {
    fn udp(&mut self) -> Option<&mut BoundHost> {
        Some(self)
    }

    fn listen(&mut self, policy: Listen) -> Result<(), porous_status> {
        number(self.0.listen(policy))
    }

    fn connect(&mut self, to: &[porous_address], greeting: &[u8]) -> Result<PeerId, porous_status> {
        number(self.0.connect_with(&sockets(to)?, greeting))
    }

    #[cfg(feature = "seal")]
    fn connect_sealed(
        &mut self,
        to: &[porous_address],
        with: &Credentials,
    ) -> Result<PeerId, porous_status> {
        number(self.0.connect_sealed(&sockets(to)?, with))
    }

    #[cfg(feature = "seal")]
    fn set_security(&mut self, security: Security) {
        self.0.set_security(security);
    }

    fn set_connection_ids(&mut self, ids: ConnectionIds) -> Result<(), porous_status> {
        number(self.0.set_connection_ids(ids))
    }

    fn accept(&mut self, peer: PeerId) -> Result<(), porous_status> {
        number(self.0.accept(peer))
    }

    fn refuse(&mut self, peer: PeerId, data: &[u8]) -> Result<(), porous_status> {
        number(self.0.refuse(peer, data))
    }

    fn disconnect(&mut self, peer: PeerId, how: Disconnect) -> Result<(), porous_status> {
        number(self.0.disconnect(peer, how))
    }

    fn disconnect_all(&mut self, how: Disconnect) {
        self.0.disconnect_all(how);
    }

    fn drain(&mut self, reason: u32, deadline: Duration) {
        self.0.drain(reason, deadline);
    }

    fn send(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        packet: &[u8],
        options: SendOptions,
    ) -> Result<(), porous_status> {
        number(self.0.send(peer, channel, packet, options))
    }

    fn send_shared(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        packet: Bytes,
        options: SendOptions,
    ) -> Result<(), porous_status> {
        number(self.0.send(peer, channel, packet, options))
    }

    fn cancel(&mut self, peer: PeerId, channel: ChannelId, token: u64) -> bool {
        self.0.cancel(peer, channel, token)
    }

    fn receive(&mut self, peer: PeerId) -> Option<Received> {
        self.0.receive(peer)
    }

    fn poll_event(&mut self) -> Option<porous_event> {
        self.0.poll_event().map(porous_event::from)
    }

    fn set_rate(&mut self, peer: PeerId, which: Rate, bytes: u32) -> Result<(), porous_status> {
        number(match which {
            Rate::Send => self.0.set_send_rate(peer, bytes),
            Rate::Receive => self.0.set_receive_rate(peer, bytes),
            Rate::Channel(channel) => self.0.set_channel_rate(peer, channel, bytes),
        })
    }

    fn set_host_send_rate(&mut self, bytes_a_second: u32) {
        self.0.set_host_send_rate(bytes_a_second);
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn peer(&self, peer: PeerId) -> Option<&Peer> {
        self.0.peer(peer)
    }

    fn peers(&self) -> Box<dyn Iterator<Item = PeerId> + '_> {
        Box::new(self.0.peers().map(|(id, _)| id))
    }

    fn readable(&self) -> Box<dyn Iterator<Item = PeerId> + '_> {
        Box::new(self.0.readable())
    }

    fn address(&self, peer: PeerId) -> Option<porous_address> {
        self.0.address(peer).map(porous_address::from)
    }

    fn stats(&self) -> HostStats {
        self.0.stats()
    }
}

/// The addresses that a text stands for, as porous_udp_bind takes it.
fn places(address: &str) -> Result<Vec<SocketAddr>, porous_status> {
    use std::net::ToSocketAddrs;

    let found = address.to_socket_addrs().map_err(|_| POROUS_ERR_ADDRESS)?;
    Ok(found.collect())
}

/// Binds a host to a text as porous_udp_bind takes it.
///
/// # Safety
///
/// The pointers are NULL, or as the header demands.
pub(crate) unsafe fn bind(
    config: *const porous_config,
    address: *const c_char,
) -> Result<UdpHost, porous_status> {
    // SAFETY: as the caller promises.
    let (config, address) = unsafe { (porous_config::take(config)?, text(address)?) };
    let bound = UdpHost::bind(&places(address)?[..], config);
    bound.map_err(|error| io_error::remember(&error))
}

/// Binds hosts as porous_udp_bind_shards does.
///
/// # Safety
///
/// The pointers are NULL, or as the header demands.
unsafe fn bind_shards(
    config: *const porous_config,
    address: *const c_char,
    count: u32,
) -> Result<Vec<UdpHost>, porous_status> {
    // SAFETY: as the caller promises.
    let (config, address) = unsafe { (porous_config::take(config)?, text(address)?) };
    let count = u8::try_from(count).map_err(|_| POROUS_ERR_VALUE)?;
    check(count.is_power_of_two(), POROUS_ERR_VALUE)?;
    let bound = UdpHost::bind_shards(&places(address)?[..], count, config);
    bound.map_err(|error| {
        let wrong = error.get_ref();
        if let Some(wrong) = wrong.and_then(|wrong| wrong.downcast_ref::<ConnectionIdsError>()) {
            wrong.status()
        } else if error.kind() == io::ErrorKind::Unsupported {
            POROUS_ERR_UNSUPPORTED
        } else {
            io_error::remember(&error)
        }
    })
}

/// Takes over a socket as porous_udp_adopt does.
///
/// # Safety
///
/// The pointer is NULL, or as the header demands, and nobody else owns the socket.
pub(crate) unsafe fn adopt(
    config: *const porous_config,
    socket: isize,
) -> Result<UdpHost, porous_status> {
    // SAFETY: as the caller promises.
    let (config, socket) = unsafe { (porous_config::take(config)?, crate::socket::take(socket)?) };
    UdpHost::from_socket(socket, config).map_err(|error| io_error::remember(&error))
}

/// Makes a host on a new UDP socket. `address` is as "0.0.0.0:4000" or "[::]:4000", for all addresses of the
/// machine; with port 0 the system chooses one. A client binds to "[::]:0", or to "0.0.0.0:0" where there is no
/// IPv6. A name is looked up.
///
/// Errors: those of porous_config_check; POROUS_ERR_ADDRESS, POROUS_ERR_UTF8; POROUS_ERR_IN_USE,
/// POROUS_ERR_NOT_AVAILABLE, POROUS_ERR_NOT_PERMITTED, POROUS_ERR_IO.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_udp_bind(
    config: *const porous_config,
    address: *const c_char,
    out: *mut *mut porous_host,
) -> porous_status {
    guard(|| {
        // SAFETY: a configuration, a text and a pointer, as the header demands.
        unsafe { porous_host::hand_out(out, || Ok(Box::new(BoundHost(bind(config, address)?)))) }
    })
}

/// Makes `count` hosts on one port, each for a thread of its own: shards of one server, for more peers than one thread
/// can serve. `count` is a power of two from 1 to 128, and `out` has as many places. Each peer is one host's for good,
/// that to which its handshake came, and the hosts know nothing of each other. They make connection ids as
/// POROUS_IDS_SHARDED, in the order of `out`, by which the system finds the host of each datagram. The configuration is
/// that of each host, but for the answers to strangers, which they divide. Give each the same keys, if they seal.
///
/// Free all of them or none: while one is missing, the system brings datagrams to the wrong host. Only Linux can do
/// this.
///
/// Errors: those of porous_udp_bind; POROUS_ERR_UNSUPPORTED of other systems, and where this one does not allow it;
/// POROUS_ERR_VALUE for another count; POROUS_ERR_IDS_NO_BYTES and POROUS_ERR_IDS_TOO_SHORT. Then there is none of the
/// hosts, and nothing is written to `out`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_udp_bind_shards(
    config: *const porous_config,
    address: *const c_char,
    count: u32,
    out: *mut *mut porous_host,
) -> porous_status {
    guard(|| {
        // SAFETY: a configuration, a text and an array of `count` pointers, as the header demands.
        unsafe {
            // Before the hosts are made: they would be lost.
            wanted(out)?;
            for (place, host) in bind_shards(config, address, count)?.into_iter().enumerate() {
                porous_host::hand_out(out.add(place), || Ok(Box::new(BoundHost(host))))?;
            }
            Ok(POROUS_OK)
        }
    })
}

/// Makes a host on a socket of the program's: a file descriptor, or a SOCKET on Windows. It must be a UDP socket
/// that is bound and not connected. The host owns it from now on, also if this fails, unless the configuration is
/// wrong or a pointer is NULL.
///
/// Errors: those of porous_config_check; POROUS_ERR_VALUE for a negative number; POROUS_ERR_IO.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_udp_adopt(
    config: *const porous_config,
    socket: isize,
    out: *mut *mut porous_host,
) -> porous_status {
    guard(|| {
        // SAFETY: a configuration and a pointer, and a socket that nobody else closes, as the header demands.
        unsafe { porous_host::hand_out(out, || Ok(Box::new(BoundHost(adopt(config, socket)?)))) }
    })
}

/// Takes in the datagrams that have come, does what is due, and sends what is to be sent. Never blocks. A game
/// calls it once in each turn.
///
/// Errors: POROUS_ERR_IO if the socket is of no more use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_udp_step(host: *mut porous_host) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe { enter(host, |host| BoundHost::answer(host.udp()?.0.step())) }
}

/// Does what is due and sends what is to be sent, and takes nothing in: for the end of a turn that began with
/// porous_udp_step or porous_udp_wait. Never blocks.
///
/// Errors: POROUS_ERR_IO if the socket is of no more use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_udp_transmit(host: *mut porous_host) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe { enter(host, |host| BoundHost::answer(host.udp()?.0.transmit())) }
}

/// Sends what waits, and sleeps until a datagram comes, something is due, or `at_most_us` is over. Then does what
/// porous_udp_step does. It may return early, and does not look at events that wait to be polled.
///
/// Errors: POROUS_ERR_IO if the socket is of no more use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_udp_wait(host: *mut porous_host, at_most_us: u64) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            BoundHost::answer(host.udp()?.0.wait(duration(at_most_us)))
        })
    }
}

/// Ends all connections, and waits until all peers know: mostly for a round trip, and at most for
/// disconnect_timeout_us behind `flush_at_most_us`. `code` is for the applications of the peers. With
/// `flush_at_most_us` 0 packets that wait are lost. Events and packets that come meanwhile are dropped, and nobody
/// is let in. Free the host afterwards.
///
/// Errors: POROUS_ERR_IO if the socket is of no more use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_udp_close(
    host: *mut porous_host,
    code: u32,
    flush_at_most_us: u64,
) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            let host = &mut host.udp()?.0;
            host.disconnect_all(farewell(code, duration(flush_at_most_us)));
            while !host.is_empty() {
                BoundHost::answer(host.wait(Duration::MAX))?;
                // Nobody else takes them any more.
                while host.poll_event().is_some() {}
            }
            Ok(POROUS_OK)
        })
    }
}

/// Tells the address that the socket is bound to.
///
/// Errors: POROUS_ERR_IO.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_udp_address(
    host: *const porous_host,
    out: *mut porous_address,
) -> porous_status {
    // SAFETY: a host and an address, as the header demands.
    unsafe {
        enter(host, |host| {
            let address = host
                .udp()?
                .0
                .local_addr()
                .map_err(|error| io_error::remember(&error))?;
            write(out, address.into())?;
            Ok(POROUS_OK)
        })
    }
}

/// Tells the file descriptor of the socket, or its SOCKET on Windows: to be watched by an event loop, and not to
/// be read, written or closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_udp_socket(
    host: *const porous_host,
    out: *mut isize,
) -> porous_status {
    // SAFETY: a host and a number, as the header demands.
    unsafe {
        enter(host, |host| {
            let socket = crate::socket::number_of(host.udp()?.0.endpoint().socket());
            write(out, socket)?;
            Ok(POROUS_OK)
        })
    }
}

/// Tells in how many microseconds porous_udp_step is to be called, if no datagram comes before: 0 for now,
/// UINT64_MAX for never. For programs with an event loop of their own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_udp_deadline(
    host: *const porous_host,
    from_now_us: *mut u64,
) -> porous_status {
    // SAFETY: a host and a number, as the header demands.
    unsafe {
        enter(host, |host| {
            let endpoint = host.udp()?.0.endpoint();
            write(from_now_us, micros(endpoint.sleep_at_most(Duration::MAX)))?;
            Ok(POROUS_OK)
        })
    }
}

/// Returns 1 if the socket had no room for datagrams, so that an event loop waits for it to become writable as
/// well; 0 otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_udp_is_blocked(host: *const porous_host) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            Ok(host.udp()?.0.endpoint().is_blocked().into())
        })
    }
}

/// Puts a suffix of up to 32 bytes behind the end of each datagram to an address, those of the handshake included: a
/// token by which a proxy at the address, such as Quilkin, knows the server that the datagram is for. The proxy has to
/// remove it. Without bytes there is no suffix, as at first. Set it before you connect, each time with another token.
///
/// Sizes of datagrams count what is sent, with the suffix: those of a connection through the proxy are shorter by its
/// length, in both directions, but not below 512 bytes. Requests alone get longer. Rates and statistics do not count
/// suffixes.
///
/// Errors: POROUS_ERR_TOO_LONG; POROUS_ERR_ALREADY_CONNECTED while there is a peer at the address; POROUS_ERR_ADDRESS.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_udp_set_suffix(
    host: *mut porous_host,
    to: *const porous_address,
    suffix: *const c_void,
    len: usize,
) -> porous_status {
    // SAFETY: a host, an address and bytes, as the header demands.
    unsafe {
        enter(host, |host| {
            let host = &mut host.udp()?.0;
            let (to, suffix) = (read(to)?.socket()?, bytes(suffix, len)?);
            number(host.set_suffix(to, suffix))?;
            Ok(POROUS_OK)
        })
    }
}

/// Sets how long one porous_udp_step takes datagrams in at most, and sends them: 8 ms unless this is called. The
/// rest waits for the next one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_udp_set_time_limit(
    host: *mut porous_host,
    limit_us: u64,
) -> porous_status {
    // SAFETY: a host, as the header demands.
    unsafe {
        enter(host, |host| {
            host.udp()?.0.set_time_limit(duration(limit_us));
            Ok(POROUS_OK)
        })
    }
}
