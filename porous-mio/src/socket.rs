//! mio's UDP socket, with the methods that an endpoint needs.

use core::net::SocketAddr;
use std::io;

use mio::event::Source;
use mio::net::UdpSocket;
use mio::{Interest, Registry, Token};
use porous_udp::SystemSocket;
use socket2::SockRef;

/// A [`mio::net::UdpSocket`] that a host can live on. Every call that sends or receives goes through
/// mio, which on Windows reports readiness again only after it has seen "would block".
///
/// ```
/// use porous_mio::MioSocket;
///
/// let socket = MioSocket::from(std::net::UdpSocket::bind("127.0.0.1:0")?);
/// assert_ne!(socket.get_ref().local_addr()?.port(), 0);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct MioSocket(UdpSocket);

impl From<UdpSocket> for MioSocket {
    fn from(socket: UdpSocket) -> Self {
        Self(socket)
    }
}

/// The socket need not be non-blocking: a host makes it so.
impl From<std::net::UdpSocket> for MioSocket {
    fn from(socket: std::net::UdpSocket) -> Self {
        Self(UdpSocket::from_std(socket))
    }
}

impl MioSocket {
    /// The socket, for its options.
    ///
    /// ```
    /// use porous_mio::MioSocket;
    ///
    /// let socket = MioSocket::from(std::net::UdpSocket::bind("127.0.0.1:0")?);
    /// socket.get_ref().set_ttl(5)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub const fn get_ref(&self) -> &UdpSocket {
        &self.0
    }
}

impl SystemSocket for MioSocket {
    fn options(&self) -> SockRef<'_> {
        SockRef::from(&self.0)
    }

    fn send_to(&self, datagram: &[u8], to: SocketAddr) -> io::Result<usize> {
        self.0.send_to(datagram, to)
    }

    fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.0.recv_from(buffer)
    }

    fn try_send<T>(&self, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        // Tells mio if the call would block, so that it reports readiness again.
        self.0.try_io(call)
    }

    fn try_receive<T>(&self, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.0.try_io(call)
    }
}

impl Source for MioSocket {
    fn register(
        &mut self,
        registry: &Registry,
        token: Token,
        interest: Interest,
    ) -> io::Result<()> {
        self.0.register(registry, token, interest)
    }

    fn reregister(
        &mut self,
        registry: &Registry,
        token: Token,
        interest: Interest,
    ) -> io::Result<()> {
        self.0.reregister(registry, token, interest)
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.0.deregister(registry)
    }
}
