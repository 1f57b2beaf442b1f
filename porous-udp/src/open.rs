//! New sockets, for both families of addresses, with buffers that hold a game's bursts.

use core::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::io::{self, ErrorKind};
use std::net::{ToSocketAddrs, UdpSocket};

use socket2::{Domain, SockRef, Socket, Type};

use crate::address::normalise;
use crate::buffers::{self, SocketBuffers};

/// A new socket, bound to the first of these addresses to which the system can bind one; with port 0 the
/// system chooses the port. A socket bound to `[::]` serves IPv4 too. The socket gets larger buffers than
/// the system's usual ones, as far as the system allows: see [`SocketBuffers`].
///
/// # Errors
///
/// The system's error, with the address, if it cannot bind the socket. The usual causes: another program
/// has the port, no interface has the address, or there is no IPv6.
///
/// ```
/// let socket = porous_udp::bind("127.0.0.1:0")?;
/// assert_ne!(socket.local_addr()?.port(), 0);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn bind(addresses: impl ToSocketAddrs) -> io::Result<UdpSocket> {
    first_that_works(addresses, |address| {
        let socket = unbound(address)?;
        socket.bind(&address.into())?;
        Ok(socket.into())
    })
}

/// What `open` makes of the first of these addresses of which it makes something.
pub(crate) fn first_that_works<T>(
    addresses: impl ToSocketAddrs,
    open: impl Fn(SocketAddr) -> io::Result<T>,
) -> io::Result<T> {
    let mut failed = io::Error::new(
        ErrorKind::InvalidInput,
        "cannot bind a UDP socket: the name stands for no address",
    );
    // A name may stand for several addresses, of which this machine may have only some.
    for address in addresses.to_socket_addrs()? {
        match open(normalise(address)) {
            Ok(opened) => return Ok(opened),
            Err(error) => {
                let text = format!("cannot bind a UDP socket to {address}: {error}");
                failed = io::Error::new(error.kind(), text);
            }
        }
    }
    Err(failed)
}

/// A socket that is to be bound to this address.
pub(crate) fn unbound(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, None)?;
    if address.ip() == IpAddr::from(Ipv6Addr::UNSPECIFIED) {
        serve_both(&socket)?;
    }
    // Small buffers are no error: a game can run with them, and `socket_buffers` tells their sizes.
    let _ = buffers::ask(SockRef::from(&socket), SocketBuffers::default());
    Ok(socket)
}

/// Lets an IPv6 socket serve IPv4 too. The default differs: on Linux it does, unless the machine is
/// configured otherwise, on Windows and some BSDs it does not. On OpenBSD it never can.
fn serve_both(socket: &Socket) -> io::Result<()> {
    socket.set_only_v6(false).map_err(|error| {
        let text = format!(
            "an IPv6 socket cannot serve IPv4 here, so bind one host to 0.0.0.0 and take a socket \
             over for IPv6: {error}"
        );
        io::Error::new(error.kind(), text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_socket_is_told_to_serve_ipv4() {
        let Ok(socket) = Socket::new(Domain::IPV6, Type::DGRAM, None) else {
            eprintln!("skipped: this machine has no IPv6");
            return;
        };
        socket.set_only_v6(true).unwrap();
        serve_both(&socket).unwrap();
        assert!(!socket.only_v6().unwrap());
    }

    #[test]
    fn a_mapped_address_is_bound_as_what_it_stands_for() {
        let socket = bind("[::ffff:127.0.0.1]:0").unwrap();
        assert!(socket.local_addr().unwrap().is_ipv4());
    }

    #[test]
    fn the_first_address_that_works_is_bound() {
        // An address that no machine has (RFC 5737), then one that each has.
        let addresses: [SocketAddr; 2] = [([192, 0, 2, 1], 0).into(), ([127, 0, 0, 1], 0).into()];
        let socket = bind(&addresses[..]).unwrap();
        assert!(socket.local_addr().unwrap().ip().is_loopback());
    }

    #[test]
    fn errors_tell_what_was_to_be_bound() {
        let error = bind("192.0.2.1:0").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrNotAvailable);
        let text = error.to_string();
        assert!(
            text.starts_with("cannot bind a UDP socket to 192.0.2.1:0: "),
            "{text}"
        );

        let error = bind(&[][..] as &[SocketAddr]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
}
