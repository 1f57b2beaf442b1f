//! The two functions of the platform. They could be those of a console's kit, a relay service or an FPGA.
//! Here they use `std::net`, whose types no other file sees.

use core::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::io;
use std::net::UdpSocket;

/// The platform's name for a remote host. Any type will do that can be copied, compared, hashed and
/// shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Address {
    pub(crate) ip: [u8; 4],
    pub(crate) port: u16,
}

pub(crate) struct Socket(UdpSocket);

impl Socket {
    /// A socket on this machine, and its address.
    pub(crate) fn open() -> io::Result<(Self, Address)> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.set_nonblocking(true)?;
        let port = socket.local_addr()?.port();
        let ip = Ipv4Addr::LOCALHOST.octets();
        Ok((Self(socket), Address { ip, port }))
    }

    /// Sends a datagram, or loses it: the protocol needs no more from a network.
    pub(crate) fn send_to(&self, to: Address, datagram: &[u8]) {
        let to = SocketAddrV4::new(to.ip.into(), to.port);
        drop(self.0.send_to(datagram, to));
    }

    /// The next datagram that has arrived, its length and its sender. Does not wait.
    pub(crate) fn receive_from(&self, buffer: &mut [u8]) -> Option<(usize, Address)> {
        match self.0.recv_from(buffer).ok()? {
            (len, SocketAddr::V4(from)) => {
                let (ip, port) = (from.ip().octets(), from.port());
                Some((len, Address { ip, port }))
            }
            (_, SocketAddr::V6(_)) => None,
        }
    }
}
