//! The interface of a program's hosts: what an application calls, and no more.

use core::time::Duration;
use std::io;
use std::net::UdpSocket;

/// A host on a socket of its own.
pub(super) trait Node: Sized {
    type Peer: Copy;

    /// Binds a host that lets in this number of clients. Returns its port.
    fn server(clients: usize) -> io::Result<(Self, u16)>;

    /// Binds a host, and begins to connect to this port of this machine.
    fn client(port: u16) -> io::Result<(Self, Self::Peer)>;

    /// Sends what waits, sleeps for at most `longest` until the network has something, takes in what has
    /// arrived, and tells all that happened.
    fn turn(
        &mut self,
        longest: Duration,
        tell: &mut impl FnMut(Self::Peer, Seen<'_>),
    ) -> io::Result<()>;

    /// Sends a message; `false` if there is no room for it now.
    fn send(&mut self, peer: Self::Peer, message: &[u8], is_reliable: bool) -> bool;

    /// Puts what waits on its way now.
    fn flush(&mut self) -> io::Result<()>;

    /// Ends a connection when all that was sent has arrived.
    fn leave(&mut self, peer: Self::Peer);
}

/// What happened to a connection.
pub(super) enum Seen<'a> {
    Connected,
    Message(&'a [u8]),
    Ended,
}

/// The address of a server's socket before it is bound.
pub(super) const ANY_PORT: ([u8; 4], u16) = ([127, 0, 0, 1], 0);

/// A socket for protocols that leave its buffers alone, with those that ENet asks for.
pub(super) fn socket() -> io::Result<UdpSocket> {
    const BUFFER: usize = 256 << 10;
    let socket = UdpSocket::bind(std::net::SocketAddr::from(ANY_PORT))?;
    rustix::net::sockopt::set_socket_recv_buffer_size(&socket, BUFFER)?;
    rustix::net::sockopt::set_socket_send_buffer_size(&socket, BUFFER)?;
    Ok(socket)
}
