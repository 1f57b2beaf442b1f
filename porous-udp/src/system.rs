//! What a driver needs of a system's socket, whichever library the socket comes from.

use core::fmt::Debug;
use core::net::SocketAddr;
use std::io;
use std::net::UdpSocket;

use socket2::SockRef;

/// A UDP socket of the operating system. `std::net`'s is one; `porous-mio` wraps mio's, and `porous-tokio` tokio's.
///
/// # Libraries that keep account of readiness
///
/// tokio's sockets, and those of other libraries, remember whether they are readable and writable, and
/// learn from a call that would block that they are not any more. So pass each call on to the library:
/// with tokio, [`try_send`](Self::try_send) is `socket.try_io(Interest::WRITABLE, call)`,
/// [`try_receive`](Self::try_receive) is `socket.try_io(Interest::READABLE, call)`, and
/// [`send_to`](Self::send_to) and [`recv_from`](Self::recv_from) are `try_send_to` and `try_recv_from`.
///
/// | library | readiness is | so calls |
/// |---|---|---|
/// | tokio, mio | reported once, and again after a call that would block | go through the library, as above |
/// | async-io, and whatever asks `poll` or `epoll` each time, level by level | asked for each time that someone waits | may go to the socket: the methods that this trait has are enough |
/// | io_uring and others that complete calls instead of reporting readiness | not known | do not fit: an endpoint makes its calls itself |
///
/// A call that [`try_receive`](Self::try_receive) is to make returns such an error also when it has received
/// something and found that nothing more has come.
///
/// A library may say that a call would block without making it: an error of the
/// [kind](io::Error::kind) `WouldBlock` or `Interrupted` means "later", with a number of the system
/// or without. Any other error without a number ends the driver, so return errors of the system
/// unchanged.
///
/// A driver then waits until the socket is readable, or also writable while [`Endpoint::is_blocked`],
/// but not longer than until [`Endpoint::deadline`]. On Linux an ICMP error makes a socket ready
/// although it is not readable. A driver that waits for readability alone hears of it at its next deadline.
///
/// `examples/async_io` is a driver for async-io in a hundred lines.
///
/// [`Endpoint::is_blocked`]: crate::Endpoint::is_blocked
/// [`Endpoint::deadline`]: crate::Endpoint::deadline
pub trait SystemSocket: Debug {
    /// The socket itself: for its options, for calls that take many datagrams at once, and to ask
    /// whether there is room to send.
    fn options(&self) -> SockRef<'_>;

    /// Sends one datagram, without waiting for room.
    ///
    /// # Errors
    ///
    /// The system's error.
    fn send_to(&self, datagram: &[u8], to: SocketAddr) -> io::Result<usize>;

    /// Receives one datagram, without waiting for it.
    ///
    /// # Errors
    ///
    /// The system's error.
    fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)>;

    /// Makes a call that sends on [`options`](Self::options). A library that keeps account of
    /// readiness learns of its result here.
    ///
    /// # Errors
    ///
    /// The error of the call.
    fn try_send<T>(&self, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        call()
    }

    /// Makes a call that receives on [`options`](Self::options).
    ///
    /// # Errors
    ///
    /// The error of the call.
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
