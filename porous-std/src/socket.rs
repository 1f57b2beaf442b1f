//! A non-blocking UDP socket that only fails when it is of no more use.

use core::fmt::Debug;
use core::net::SocketAddr;
use core::time::Duration;
use std::io;
use std::net::UdpSocket;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::SockRef;

use crate::address::{for_socket, normalise};
use crate::fault::Fault;

/// What the socket did beside carrying datagrams.
///
/// ```
/// use porous_std::SocketStats;
///
/// assert_eq!(SocketStats::default().send_lost, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SocketStats {
    /// Datagrams that the system refused to send: no route, a firewall, no buffers. The protocol
    /// treats them as any lost datagram.
    pub send_lost: u64,
    /// Attempts to send that found no room. The datagram is kept and leaves later.
    pub send_delayed: u64,
    /// Errors reported in place of a datagram, most of them an ICMP message about one sent before.
    /// The protocol does nothing about them: they may be forged.
    pub receive_errors: u64,
}

/// What came out of an attempt to receive.
#[derive(Debug)]
pub(crate) enum Arrival {
    Datagram {
        len: usize,
        from: SocketAddr,
    },
    /// An error in place of a datagram: there may be more behind it.
    Nothing,
    /// No more for now.
    Empty,
}

/// The calls in which the network shows. A test puts errors here.
pub(crate) trait Datagrams: Debug + Send + Sync {
    fn udp(&self) -> &UdpSocket;

    fn send_to(&self, datagram: &[u8], to: SocketAddr) -> io::Result<usize> {
        self.udp().send_to(datagram, to)
    }

    fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.udp().recv_from(buffer)
    }
}

impl Datagrams for UdpSocket {
    fn udp(&self) -> &UdpSocket {
        self
    }
}

#[derive(Debug)]
pub(crate) struct Socket {
    socket: Box<dyn Datagrams>,
    is_ipv6: bool,
    stats: SocketStats,
}

impl Socket {
    pub(crate) fn new(socket: impl Datagrams + 'static) -> io::Result<Self> {
        socket.udp().set_nonblocking(true)?;
        let is_ipv6 = socket.udp().local_addr()?.is_ipv6();
        Ok(Self {
            socket: Box::new(socket),
            is_ipv6,
            stats: SocketStats::default(),
        })
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.udp().local_addr().map(normalise)
    }

    /// For its options.
    pub(crate) fn options(&self) -> SockRef<'_> {
        SockRef::from(self.socket.udp())
    }

    pub(crate) const fn stats(&self) -> SocketStats {
        self.stats
    }

    /// Whether the datagram is off our hands, be it lost; if not, send it again later.
    pub(crate) fn send(&mut self, to: SocketAddr, datagram: &[u8]) -> io::Result<bool> {
        let to = for_socket(to, self.is_ipv6);
        let Err(error) = self.socket.send_to(datagram, to) else {
            return Ok(true);
        };
        match Fault::of(&error) {
            Fault::Later => {
                self.stats.send_delayed += 1;
                Ok(false)
            }
            Fault::Lost => {
                self.stats.send_lost += 1;
                Ok(true)
            }
            Fault::Fatal => Err(broken("send", &error)),
        }
    }

    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Arrival> {
        let error = match self.socket.recv_from(buffer) {
            Ok((len, from)) => {
                let from = normalise(from);
                return Ok(Arrival::Datagram { len, from });
            }
            Err(error) => error,
        };
        match Fault::of(&error) {
            Fault::Later => Ok(Arrival::Empty),
            Fault::Lost => {
                self.stats.receive_errors += 1;
                Ok(Arrival::Nothing)
            }
            Fault::Fatal => Err(broken("receive", &error)),
        }
    }

    /// Sleeps until a datagram can be received or, if `to_send`, sent; at most for `longest`.
    ///
    /// A read timeout of the socket would need no library, but it counts in ticks of the kernel,
    /// which are 4 ms on many systems: too coarse for a protocol with deadlines.
    pub(crate) fn sleep(&self, longest: Duration, to_send: bool) -> io::Result<()> {
        let mut flags = PollFlags::IN;
        if to_send {
            flags |= PollFlags::OUT;
        }
        let timeout = Timespec::try_from(longest).ok();
        let mut fds = [PollFd::new(self.socket.udp(), flags)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(broken("wait", &error.into())),
        }
    }
}

/// An error that ends the driver. The kind stays the system's.
fn broken(verb: &str, error: &io::Error) -> io::Error {
    let text =
        format!("the UDP socket of this host cannot {verb} any more, make a new host: {error}");
    io::Error::new(error.kind(), text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Clock;
    use porous_proto::Instant;

    fn socket(address: &str) -> Socket {
        Socket::new(UdpSocket::bind(address).unwrap()).unwrap()
    }

    fn elapsed(clock: &Clock) -> Duration {
        clock.now().saturating_duration_since(Instant::ZERO)
    }

    #[test]
    fn carries_and_wakes() {
        let (mut a, mut b) = (socket("127.0.0.1:0"), socket("127.0.0.1:0"));
        let mut buffer = [0; 16];
        assert!(matches!(b.receive(&mut buffer).unwrap(), Arrival::Empty));
        assert!(a.send(b.local_addr().unwrap(), b"hi").unwrap());
        let clock = Clock::start();
        b.sleep(Duration::from_secs(60), false).unwrap();
        assert!(elapsed(&clock) < Duration::from_secs(30));
        let Arrival::Datagram { len, from } = b.receive(&mut buffer).unwrap() else {
            panic!("no datagram");
        };
        assert_eq!(
            (&buffer[..len], from),
            (&b"hi"[..], a.local_addr().unwrap())
        );
    }

    #[test]
    fn sleeps_no_longer_than_asked() {
        let socket = socket("127.0.0.1:0");
        let clock = Clock::start();
        socket.sleep(Duration::ZERO, false).unwrap();
        socket.sleep(Duration::from_millis(2), false).unwrap();
        assert!(elapsed(&clock) >= Duration::from_millis(2));
        socket.sleep(Duration::from_secs(60), true).unwrap();
        assert!(elapsed(&clock) < Duration::from_secs(30), "it is writable");
    }

    #[test]
    fn nobody_there_is_no_failure() {
        let gone = UdpSocket::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let mut socket = socket("127.0.0.1:0");
        for _ in 0..3 {
            socket.send(gone, b"anyone?").unwrap();
            socket.receive(&mut [0; 16]).unwrap();
        }
    }

    #[test]
    fn addresses_that_cannot_be_reached_cost_one_datagram() {
        let mut socket = socket("127.0.0.1:0");
        for to in ["[::1]:9", "127.0.0.1:0"] {
            assert!(socket.send(to.parse().unwrap(), b"x").unwrap(), "{to}");
        }
        assert!(
            socket
                .send("127.0.0.1:9".parse().unwrap(), &[0; 65_535])
                .unwrap()
        );
        assert_eq!(socket.stats().send_lost, 3);
    }
}
