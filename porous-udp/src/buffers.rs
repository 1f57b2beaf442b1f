//! The sizes of a socket's buffers in the system, on the way in and on the way out.

use std::io;

use socket2::SockRef;

use crate::{Endpoint, SystemSocket};

/// The smallest size that is asked for, in bytes, when the system refuses larger ones.
const SMALLEST: usize = 16 * 1024;

/// The largest size that is asked for, in bytes: the options are C integers.
const LARGEST: usize = 1 << 30;

/// The sizes of a socket's buffers in bytes, as the system counts them.
///
/// A datagram that does not fit is lost, as any may be: on the way in when the game does not step
/// for a while, on the way out when it sends much at once.
///
/// [`Default`] is what [`bind`](crate::bind) asks for: 2 MiB to receive and 1 MiB to send. A server of
/// 64 peers that each send 60 datagrams of 200 bytes a second can then stand still for nearly half
/// a second. With the usual buffer of Linux it could for 43 ms (Linux charges 1280 bytes for each
/// datagram). The send buffer holds one tick's datagrams to some hundred peers.
///
/// ```
/// use porous_udp::SocketBuffers;
///
/// let buffers = SocketBuffers::default();
/// assert_eq!((buffers.receive, buffers.send), (2 << 20, 1 << 20));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketBuffers {
    /// For datagrams that have arrived and that the host has not taken in yet.
    pub receive: usize,
    /// For datagrams that the host has handed out and that have not left the machine yet.
    pub send: usize,
}

impl Default for SocketBuffers {
    fn default() -> Self {
        Self {
            receive: 2 << 20,
            send: 1 << 20,
        }
    }
}

/// Asks for these sizes, or for as much of them as the system gives.
pub(crate) fn ask(socket: SockRef<'_>, wanted: SocketBuffers) -> io::Result<()> {
    most_of(wanted.receive, |size| socket.set_recv_buffer_size(size))?;
    most_of(wanted.send, |size| socket.set_send_buffer_size(size))
}

impl<S: SystemSocket, C> Endpoint<S, C> {
    /// The sizes of the socket's buffers in bytes, as the system counts them. Linux reports twice the size
    /// that it was asked for, because it charges its own bookkeeping too, and gives at most
    /// `net.core.rmem_max` and `net.core.wmem_max`.
    ///
    /// # Errors
    ///
    /// The system's error.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, bind};
    ///
    /// let host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// if host.socket_buffers()?.receive < 1 << 20 {
    ///     eprintln!("small socket buffers: packets will be lost when the server is busy");
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn socket_buffers(&self) -> io::Result<SocketBuffers> {
        let socket = self.bound.socket.options();
        Ok(SocketBuffers {
            receive: socket.recv_buffer_size()?,
            send: socket.send_buffer_size()?,
        })
    }

    /// Asks for buffers of these sizes, and returns the sizes that the socket then has: the system may give
    /// less, or more, see [`socket_buffers`](Self::socket_buffers).
    ///
    /// # Errors
    ///
    /// The system's error, if it refuses even 16 KiB.
    ///
    /// ```
    /// use porous_udp::{Config, Endpoint, SocketBuffers, bind};
    ///
    /// let host = Endpoint::new(bind("127.0.0.1:0")?, Config::new())?;
    /// let given = host.set_socket_buffers(SocketBuffers {
    ///     receive: 4 << 20,
    ///     ..SocketBuffers::default()
    /// })?;
    /// assert_eq!(given, host.socket_buffers()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn set_socket_buffers(&self, wanted: SocketBuffers) -> io::Result<SocketBuffers> {
        ask(self.bound.socket.options(), wanted)?;
        self.socket_buffers()
    }
}

/// Sets the largest size that the system accepts.
fn most_of(size: usize, mut set: impl FnMut(usize) -> io::Result<()>) -> io::Result<()> {
    let mut size = size.min(LARGEST);
    loop {
        match set(size) {
            // Linux and Windows cut the size down to what they give; the BSDs and Apple's systems refuse it
            // whole.
            Err(_) if size / 2 >= SMALLEST => size /= 2,
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    /// The sizes that are asked for, in order, of a system that gives at most `most`.
    fn asked(size: usize, most: usize) -> (Vec<usize>, io::Result<()>) {
        let mut asked = Vec::new();
        let result = most_of(size, |size| {
            asked.push(size);
            if size <= most {
                Ok(())
            } else {
                Err(ErrorKind::OutOfMemory.into())
            }
        });
        (asked, result)
    }

    #[test]
    fn what_is_given_is_asked_for_once() {
        assert_eq!(asked(2 << 20, 8 << 20).0, [2 << 20]);
        assert_eq!(asked(0, 8 << 20).0, [0]);
    }

    #[test]
    fn a_system_that_refuses_is_asked_for_less() {
        let (asked, result) = asked(2 << 20, 600_000);
        assert_eq!(asked, [2 << 20, 1 << 20, 512 << 10]);
        assert!(result.is_ok());
    }

    #[test]
    fn a_system_that_refuses_all_is_an_error() {
        let (asked, result) = asked(40_000, 0);
        assert_eq!(asked, [40_000, 20_000]);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::OutOfMemory);
    }

    #[test]
    fn no_size_is_too_large_to_ask_for() {
        assert_eq!(asked(usize::MAX, usize::MAX).0, [LARGEST]);
    }
}
