//! Sockets of several hosts on one port, of which each gets the datagrams of its host.

use std::io::{self, ErrorKind};
use std::net::{ToSocketAddrs, UdpSocket};

use crate::open::first_that_works;

/// The most sockets on one port: seven bits of a connection id.
const MOST: u8 = 128;

/// Binds `count` new sockets to one port, for hosts of which each runs in a thread of its own: shards of one
/// server. The system brings each datagram to the socket of the host that it is for. A short form goes to
/// the socket whose number its connection id tells, as
/// [`ConnectionIds::Sharded`](crate::ConnectionIds::Sharded) makes them; a long form goes to one that a hash
/// of both addresses chooses, always the same for one client. So a client keeps its connection when its
/// address or port changes. `count` is a power of two, 1 to 128, and the `bits` of the shards are its
/// logarithm. Otherwise this is [`bind`](crate::bind). `UdpHost::bind_shards` of `porous-std` makes the hosts
/// as well.
///
/// Linux can do this from version 4.5 on, and no other known system. No privilege is needed.
///
/// # What to know
///
/// - The number of a socket is its place in the `Vec`, in the order in which they were bound.
/// - **Close all of them or none.** When one is closed, Linux moves the last one to its place, and the
///   datagrams of both go astray.
/// - While the sockets are open, no other can be bound to the port by this function or by
///   [`bind`](crate::bind).
/// - A goodbye is a long form. That of a client whose address has changed may come to a host that does not
///   know it; the one that does ends the connection by its timeout.
///
/// # Errors
///
/// [`InvalidInput`](ErrorKind::InvalidInput) if `count` is no power of two from 1 to 128;
/// [`Unsupported`](ErrorKind::Unsupported) for more than 1, if the system cannot bring datagrams to sockets by
/// their content; else the system's error, as for [`bind`](crate::bind).
///
/// ```
/// use std::io::ErrorKind;
/// use porous_udp::bind_shards;
///
/// match bind_shards("127.0.0.1:0", 4) {
///     Ok(sockets) => assert_eq!(sockets[0].local_addr()?, sockets[3].local_addr()?),
///     Err(error) => assert_eq!(error.kind(), ErrorKind::Unsupported, "use one socket"),
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn bind_shards(addresses: impl ToSocketAddrs, count: u8) -> io::Result<Vec<UdpSocket>> {
    if !count.is_power_of_two() || count > MOST {
        let text =
            format!("{count} hosts cannot share a port: give a power of two from 1 to {MOST}");
        return Err(io::Error::new(ErrorKind::InvalidInput, text));
    }
    if count == 1 {
        return Ok(vec![crate::bind(addresses)?]);
    }
    first_that_works(addresses, |address| system::open(address, count))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use core::net::SocketAddr;
    use std::io;
    use std::net::UdpSocket;

    use nix::libc::{sock_filter, sock_fprog};
    use nix::sys::socket::{setsockopt, sockopt};

    use crate::open::unbound;

    /// An instruction that loads the byte of the datagram at the place `k`.
    const LOAD_BYTE: u16 = 0x30;
    /// One that clears all bits but those of `k`.
    const AND: u16 = 0x54;
    /// One that skips `jt` instructions if the byte is `k`, else `jf`.
    const JUMP_IF_EQUAL: u16 = 0x15;
    /// One that ends with the byte.
    const RETURN: u16 = 0x16;
    /// One that ends with `k`.
    const RETURN_K: u16 = 0x06;

    pub(super) fn open(address: SocketAddr, count: u8) -> io::Result<Vec<UdpSocket>> {
        let first = unbound(address)?;
        // Shared only from here on: a port that other sockets share is an error, and not a place among
        // sockets with other numbers.
        first.bind(&address.into())?;
        setsockopt(&first, sockopt::ReusePort, &true)?;
        let first = UdpSocket::from(first);
        let address = first.local_addr()?;
        let mut sockets = vec![first];
        for _ in 1..count {
            let socket = unbound(address)?;
            setsockopt(&socket, sockopt::ReusePort, &true)?;
            socket.bind(&address.into())?;
            sockets.push(socket.into());
        }
        steer(&sockets, count)?;
        Ok(sockets)
    }

    /// Tells the system which socket a datagram is for, by a program in the classic language of the Berkeley
    /// packet filter, which needs no privilege (`socket(7)`, `SO_ATTACH_REUSEPORT_CBPF`). The datagram begins
    /// with its first byte, not with a header.
    fn steer(sockets: &[UdpSocket], count: u8) -> io::Result<()> {
        let step = |code, k| sock_filter {
            code,
            jt: 0,
            jf: 0,
            k,
        };
        let mut program = [
            step(LOAD_BYTE, 0),
            step(AND, 0xC0),
            // Not a short form: it has no id.
            sock_filter {
                code: JUMP_IF_EQUAL,
                jt: 0,
                jf: 3,
                k: 0x40,
            },
            step(LOAD_BYTE, 1),
            step(AND, u32::from(count) - 1),
            step(RETURN, 0),
            // There is no such socket, and so the system takes its hash of the addresses.
            step(RETURN_K, u32::MAX),
        ];
        let program = sock_fprog {
            len: 7,
            filter: program.as_mut_ptr(),
        };
        // One socket stands for all of its port.
        let Some(first) = sockets.first() else {
            return Ok(());
        };
        setsockopt(first, sockopt::AttachReusePortCbpf, &program)?;
        Ok(())
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    use core::net::SocketAddr;
    use std::io::{self, ErrorKind};
    use std::net::UdpSocket;

    pub(super) fn open(_: SocketAddr, _: u8) -> io::Result<Vec<UdpSocket>> {
        let text = "this system cannot bring datagrams to one of several sockets by their content: \
                    bind one socket, and hand datagrams over by route::shard";
        Err(io::Error::new(ErrorKind::Unsupported, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(count: u8) -> ErrorKind {
        bind_shards("127.0.0.1:0", count).unwrap_err().kind()
    }

    #[test]
    fn hosts_that_cannot_share_a_port_by_bits_are_refused() {
        assert_eq!([0, 3, 129, 255].map(error), [ErrorKind::InvalidInput; 4]);
    }

    #[test]
    fn one_host_needs_no_system_that_steers() {
        let sockets = bind_shards("127.0.0.1:0", 1).unwrap();
        assert_eq!(sockets.len(), 1);
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    #[test]
    fn a_system_that_cannot_steer_says_so() {
        assert_eq!(error(2), ErrorKind::Unsupported);
    }

    #[cfg(target_os = "linux")]
    mod steered {
        use core::net::SocketAddr;
        use core::time::Duration;

        use super::*;

        /// The place of the socket that gets the next datagram.
        fn receiver(sockets: &[UdpSocket]) -> usize {
            use rustix::event::{PollFd, PollFlags, Timespec, poll};
            let poll_fd = |socket| PollFd::new(socket, PollFlags::IN);
            let mut fds: Vec<_> = sockets.iter().map(poll_fd).collect();
            let limit = Timespec::try_from(Duration::from_secs(10)).unwrap();
            poll(&mut fds, Some(&limit)).unwrap();
            let ready = |fd: &PollFd<'_>| fd.revents().contains(PollFlags::IN);
            let place = fds.iter().position(ready).expect("a datagram");
            sockets[place].recv(&mut [0; 64]).unwrap();
            place
        }

        fn short_forms_come_to_their_shards(sockets: &[UdpSocket], to: SocketAddr) {
            let count = u8::try_from(sockets.len()).unwrap();
            for id in 0..=u8::MAX {
                // Each from another port, as a hash of the port would bring it anywhere.
                let client = crate::bind(SocketAddr::new(to.ip(), 0)).unwrap();
                let first = 0x40 | id & 0x3F;
                client.send_to(&[first, id, 1, 2, 3], to).unwrap();
                assert_eq!(receiver(sockets), usize::from(id & (count - 1)));
                let mut others = Vec::new();
                for first in [0xC0, 0xD0, 0xF0, 0x80, 0] {
                    client.send_to(&[first, id, 1, 2, 3], to).unwrap();
                    others.push(receiver(sockets));
                }
                assert_eq!(others, [others[0]; 5], "one host for one address");
            }
        }

        #[test]
        fn a_short_form_comes_to_the_socket_that_its_id_tells() {
            for count in [2, 4, 128] {
                let sockets = bind_shards("127.0.0.1:0", count).unwrap();
                assert_eq!(sockets.len(), usize::from(count));
                short_forms_come_to_their_shards(&sockets, sockets[0].local_addr().unwrap());
            }
        }

        #[test]
        fn sockets_for_both_families_share_a_port() {
            let Ok(sockets) = bind_shards("[::]:0", 4) else {
                eprintln!("skipped: this machine has no IPv6");
                return;
            };
            let port = sockets[0].local_addr().unwrap().port();
            for ip in ["127.0.0.1", "::1"] {
                let to = SocketAddr::new(ip.parse().unwrap(), port);
                short_forms_come_to_their_shards(&sockets, to);
            }
        }

        #[test]
        fn a_long_form_comes_to_any_socket() {
            let sockets = bind_shards("127.0.0.1:0", 4).unwrap();
            let to = sockets[0].local_addr().unwrap();
            let mut counts = [0; 4];
            for _ in 0..256 {
                let client = crate::bind("127.0.0.1:0").unwrap();
                client.send_to(&[0xC0; 40], to).unwrap();
                counts[receiver(&sockets)] += 1;
            }
            // 64 are expected.
            assert!(counts.iter().all(|&count| count > 16), "{counts:?}");
        }

        /// The system would give it a place among them, by which the others go wrong.
        #[test]
        fn nobody_else_is_bound_to_a_shared_port() {
            let sockets = bind_shards("127.0.0.1:0", 2).unwrap();
            let taken = sockets[0].local_addr().unwrap();
            let kind = |error: io::Error| error.kind();
            let other = bind_shards(taken, 2).map_err(kind);
            assert_eq!(other.unwrap_err(), ErrorKind::AddrInUse);
            assert_eq!(
                crate::bind(taken).map_err(kind).unwrap_err(),
                ErrorKind::AddrInUse
            );
        }
    }
}
