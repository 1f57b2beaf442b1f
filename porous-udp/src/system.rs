//! What a driver needs of a system's socket, whichever library it comes from.

use core::fmt::Debug;
use core::net::SocketAddr;
use std::io;
use std::net::UdpSocket;

use socket2::SockRef;

/// A UDP socket of the system. `std::net`'s is one; `porous-mio` wraps mio's.
pub trait SystemSocket: Debug {
    /// The socket itself: for its options, and for calls that take many datagrams at once.
    fn options(&self) -> SockRef<'_>;

    /// Sends one datagram, without waiting for room.
    ///
    /// # Errors
    ///
    /// The system's.
    fn send_to(&self, datagram: &[u8], to: SocketAddr) -> io::Result<usize>;

    /// Receives one datagram, without waiting for it.
    ///
    /// # Errors
    ///
    /// The system's.
    fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)>;

    /// Makes a call that sends on [`options`](Self::options). A library that keeps account of
    /// readiness learns of its result here.
    ///
    /// # Errors
    ///
    /// The call's.
    fn try_send<T>(&self, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        call()
    }

    /// Makes a call that receives on [`options`](Self::options).
    ///
    /// # Errors
    ///
    /// The call's.
    fn try_receive<T>(&self, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        call()
    }
}

impl SystemSocket for UdpSocket {
    fn options(&self) -> SockRef<'_> {
        SockRef::from(self)
    }

    fn send_to(&self, datagram: &[u8], to: SocketAddr) -> io::Result<usize> {
        Self::send_to(self, datagram, to)
    }

    fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        Self::recv_from(self, buffer)
    }
}
