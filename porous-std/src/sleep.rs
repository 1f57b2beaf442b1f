//! Sleeping on a socket.

use core::time::Duration;
use std::io;
use std::net::UdpSocket;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Sleeps until a datagram can be received or, if `to_send`, sent; at most for `longest`.
///
/// A read timeout of the socket would need no library, but it counts in ticks of the kernel,
/// which are 4 ms on many systems: too coarse for a protocol with deadlines.
pub(crate) fn sleep(socket: &UdpSocket, longest: Duration, to_send: bool) -> io::Result<()> {
    let mut flags = PollFlags::IN;
    if to_send {
        flags |= PollFlags::OUT;
    }
    let timeout = Timespec::try_from(longest).ok();
    let mut fds = [PollFd::new(socket, flags)];
    match poll(&mut fds, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => {
            let text = format!(
                "the UDP socket of this host cannot wait any more, make a new host: {error}"
            );
            Err(io::Error::new(io::Error::from(error).kind(), text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use porous_udp::{Clock, Instant};

    fn socket() -> UdpSocket {
        UdpSocket::bind("127.0.0.1:0").unwrap()
    }

    fn elapsed(clock: &Clock) -> Duration {
        clock.now().saturating_duration_since(Instant::ZERO)
    }

    #[test]
    fn a_datagram_wakes() {
        let (a, b) = (socket(), socket());
        a.send_to(b"hi", b.local_addr().unwrap()).unwrap();
        let clock = Clock::start();
        sleep(&b, Duration::from_secs(60), false).unwrap();
        assert!(elapsed(&clock) < Duration::from_secs(30));
    }

    #[test]
    fn sleeps_no_longer_than_asked() {
        let socket = socket();
        let clock = Clock::start();
        sleep(&socket, Duration::ZERO, false).unwrap();
        sleep(&socket, Duration::from_millis(2), false).unwrap();
        assert!(elapsed(&clock) >= Duration::from_millis(2));
        sleep(&socket, Duration::from_secs(60), true).unwrap();
        assert!(elapsed(&clock) < Duration::from_secs(30), "it is writable");
    }
}
