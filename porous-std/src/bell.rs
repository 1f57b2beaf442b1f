//! How another thread wakes the one that sleeps on the socket of a host: by a datagram to a second socket. That
//! works wherever UDP does, without `unsafe`.

use alloc::sync::Arc;
use alloc::task::Wake;
use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use core::sync::atomic::{AtomicBool, Ordering};
use std::io;
use std::net::UdpSocket;

/// The end of a thread that wakes.
#[derive(Debug)]
pub(crate) struct Ringer(Shared);

/// The end of the thread that sleeps.
#[derive(Debug)]
pub(crate) struct Bell(Shared);

/// What both ends have: one socket, and whether it was rung since it was last heard.
///
/// The flag saves system calls: of all rings between two hearings, the first sends a datagram. No
/// ring is lost by it, because the thread first takes the flag down and then looks at what was
/// done:
///
/// - A ring that finds the flag up was preceded by a ring that put the flag up, and is followed by the
///   hearing that takes the flag down. The hearing reads what the ring wrote, so that the look after the
///   hearing sees all that was done before the ring.
/// - A ring that finds the flag down sends a datagram. The thread receives no more datagrams than it
///   has found when it woke, and takes the flag down each time. So as long as the flag is up, the
///   datagram of the ring that put it up is there, or on its way, and no sleep is long.
///
/// The thread may wake once too often, by a datagram that comes late, and finds nothing then.
#[derive(Debug)]
struct Shared {
    socket: UdpSocket,
    rung: Arc<AtomicBool>,
}

/// Both ends of a bell. The socket is connected to itself, so that nobody else can ring.
pub(crate) fn bell() -> io::Result<(Ringer, Bell)> {
    let addresses: [SocketAddr; 2] = [
        (Ipv4Addr::LOCALHOST, 0).into(),
        (Ipv6Addr::LOCALHOST, 0).into(),
    ];
    open(&addresses).map_err(|error| {
        let text =
            format!("to be woken, a thread needs a socket of the loopback interface: {error}");
        io::Error::new(error.kind(), text)
    })
}

fn open(addresses: &[SocketAddr]) -> io::Result<(Ringer, Bell)> {
    let socket = UdpSocket::bind(addresses)?;
    socket.connect(socket.local_addr()?)?;
    socket.set_nonblocking(true)?;
    let rung = Arc::new(AtomicBool::new(false));
    let ringer = Ringer(Shared {
        socket: socket.try_clone()?,
        rung: Arc::clone(&rung),
    });
    Ok((ringer, Bell(Shared { socket, rung })))
}

impl Ringer {
    /// Wakes the thread that sleeps, if it was not woken since it last looked.
    pub(crate) fn ring(&self) {
        let shared = &self.0;
        if !shared.rung.swap(true, Ordering::AcqRel) && shared.socket.send(&[]).is_err() {
            // Nobody was woken, so that the next ring has to send.
            shared.rung.store(false, Ordering::Release);
        }
    }
}

impl Wake for Ringer {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

impl Bell {
    /// The socket to sleep on, which receives a datagram when the bell is rung.
    pub(crate) const fn socket(&self) -> &UdpSocket {
        &self.0.socket
    }

    /// Takes note of all rings so far; to be called before looking for commands. `received` is true if the
    /// socket has a datagram.
    pub(crate) fn hear(&self, received: bool) {
        if received {
            // One datagram at each hearing: a second one only makes the next sleep short.
            let _ = self.0.socket.recv(&mut [0]);
        }
        self.0.rung.swap(false, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::AtomicU32;
    use core::time::Duration;
    use std::thread;

    use super::*;
    use crate::sleep::sleep;

    const LIMIT: Duration = Duration::from_secs(20);

    fn waiting(bell: &Bell) -> usize {
        let mut count = 0;
        while bell.socket().recv(&mut [0]).is_ok() {
            count += 1;
        }
        count
    }

    #[test]
    fn a_thousand_rings_are_one_datagram() {
        let (ringer, bell) = bell().unwrap();
        for _ in 0..2 {
            for _ in 0..1000 {
                ringer.ring();
            }
            bell.hear(false);
            assert_eq!(waiting(&bell), 1);
        }
    }

    #[test]
    fn a_ring_after_a_hearing_is_heard() {
        let (ringer, bell) = bell().unwrap();
        ringer.ring();
        bell.hear(true);
        assert_eq!(waiting(&bell), 0);
        ringer.ring();
        assert_eq!(waiting(&bell), 1);
    }

    #[test]
    fn nobody_else_can_ring() {
        let (_ringer, bell) = bell().unwrap();
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = bell.socket().local_addr().unwrap();
        // Some systems tell the sender that nobody listens to it.
        let _ = stranger.send_to(&[], to);
        assert_eq!(waiting(&bell), 0);
    }

    /// Linux refuses to send on a socket that was shut down.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_ring_that_could_not_be_sent_does_not_stop_the_next() {
        let (ringer, bell) = bell().unwrap();
        let socket = socket2::SockRef::from(bell.socket());
        socket.shutdown(std::net::Shutdown::Write).unwrap();
        ringer.ring();
        assert!(!ringer.0.rung.load(Ordering::Relaxed));
    }

    #[test]
    fn without_a_loopback_interface_there_is_an_error() {
        // An address that no machine has (RFC 5737).
        assert!(open(&[([192, 0, 2, 1], 0).into()]).is_err());
    }

    /// Rings come at all moments of a hearing: each one is waited for by the ringing thread.
    #[test]
    fn no_ring_is_lost() {
        const ROUNDS: u32 = 20_000;
        let (ringer, bell) = bell().unwrap();
        let (asked, seen) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let thread = {
            let (asked, seen) = (Arc::clone(&asked), Arc::clone(&seen));
            thread::spawn(move || {
                let mut rung = false;
                while seen.load(Ordering::Relaxed) < ROUNDS {
                    bell.hear(rung);
                    seen.store(asked.load(Ordering::Relaxed), Ordering::Release);
                    // A lost ring makes this long, and then the test fails.
                    let idle = seen.load(Ordering::Relaxed) < ROUNDS;
                    rung = idle && sleep([bell.socket()], false, LIMIT).unwrap()[0];
                    assert!(rung || !idle, "after {seen:?}");
                }
            })
        };
        for round in 1..=ROUNDS {
            asked.store(round, Ordering::Relaxed);
            ringer.ring();
            // Every other round rings while the one before is being heard.
            while round % 2 == 0 && seen.load(Ordering::Acquire) < round {
                assert!(!thread.is_finished() || seen.load(Ordering::Acquire) == ROUNDS);
                thread::yield_now();
            }
        }
        thread.join().unwrap();
    }
}
