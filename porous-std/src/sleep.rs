//! Sleeping on a socket.

use core::time::Duration;
use std::io;
use std::net::UdpSocket;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Sleeps until a socket has a datagram to be received or, if `to_send` is true, the first has room to
/// send one, but not longer than `longest`. Returns true for each socket that has something to be received:
/// a datagram, or an error in its place.
pub(crate) fn sleep<const N: usize>(
    sockets: [&UdpSocket; N],
    to_send: bool,
    longest: Duration,
) -> io::Result<[bool; N]> {
    // Not a read timeout of the socket, although that would need no library: it counts in ticks of the
    // kernel, which are 4 ms on many systems, too coarse for a protocol with deadlines.
    let mut fds = sockets.map(|socket| PollFd::new(socket, PollFlags::IN));
    if let (true, Some(first)) = (to_send, fds.first_mut()) {
        *first = PollFd::new(sockets[0], PollFlags::IN | PollFlags::OUT);
    }
    // A time that is longer than the system can count is taken for no limit.
    let timeout = Timespec::try_from(longest).ok();
    match poll(&mut fds, timeout.as_ref()) {
        // Errors have flags of their own, which no call asks for, and stay until they are received.
        Ok(_) => Ok(fds.map(|fd| !fd.revents().difference(PollFlags::OUT).is_empty())),
        // A signal ended the sleep. Nothing is known to be ready, and `wait` may return early.
        Err(Errno::INTR) => Ok([false; N]),
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

    const LONG: Duration = Duration::from_secs(60);

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
        assert_eq!(sleep([&b], false, LONG).unwrap(), [true]);
        assert!(elapsed(&clock) < Duration::from_secs(30));
    }

    #[test]
    fn sleeps_no_longer_than_asked() {
        let socket = socket();
        let clock = Clock::start();
        assert_eq!(sleep([&socket], false, Duration::ZERO).unwrap(), [false]);
        sleep([&socket], false, Duration::from_millis(2)).unwrap();
        assert!(elapsed(&clock) >= Duration::from_millis(2));
        sleep([&socket], true, LONG).unwrap();
        assert!(elapsed(&clock) < Duration::from_secs(30), "it is writable");
    }

    #[test]
    fn each_of_two_sockets_wakes_and_is_known() {
        let (a, b, c) = (socket(), socket(), socket());
        a.send_to(b"hi", b.local_addr().unwrap()).unwrap();
        assert_eq!(sleep([&b, &c], false, LONG).unwrap(), [true, false]);
        assert_eq!(sleep([&c, &b], false, LONG).unwrap(), [false, true]);
    }

    /// Or a host that wants to hear of closed ports would wake at once, again and again.
    #[cfg(target_os = "linux")]
    #[test]
    fn an_error_in_place_of_a_datagram_is_to_be_received() {
        let a = socket();
        a.connect(socket().local_addr().unwrap()).unwrap();
        a.send(b"anyone?").unwrap();
        assert_eq!(sleep([&a], false, LONG).unwrap(), [true]);
        assert_eq!(sleep([&a], true, LONG).unwrap(), [true]);
        a.take_error().unwrap();
        assert_eq!(sleep([&a], true, LONG).unwrap(), [false], "only writable");
    }

    #[test]
    fn a_sleep_too_long_for_the_system_is_unlimited() {
        let (a, b) = (socket(), socket());
        a.send_to(b"hi", b.local_addr().unwrap()).unwrap();
        assert_eq!(sleep([&b], false, Duration::MAX).unwrap(), [true]);
    }
}
