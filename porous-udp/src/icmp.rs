//! ICMP errors about datagrams that were sent before, with the destination of the datagram. A socket that
//! is not connected has to ask for them, and only Linux and Android answer.

use alloc::vec::Vec;
use core::net::SocketAddr;

use socket2::SockRef;

/// The most closed ports that are noted between two steps of the host. An attempt to connect has at most 8
/// addresses, and a stranger that forges more errors does not make the list grow.
const CLOSED_MAX: usize = 64;

/// The closed ports that the host has not been told of yet.
#[derive(Debug, Default)]
pub(crate) struct Icmp {
    /// True while the system reports ICMP errors. Until it is asked to stop, any call may fail with an
    /// error about a datagram sent before.
    is_on: bool,
    closed: Vec<SocketAddr>,
    /// True if a port is closed at an address that the system did not name.
    is_somewhere: bool,
}

impl Icmp {
    pub(crate) const fn is_on(&self) -> bool {
        self.is_on
    }

    /// Asks the system to report ICMP errors, on an IPv6 socket for both families, or to stop.
    pub(crate) fn ask(&mut self, socket: &SockRef<'_>, is_ipv6: bool, yes: bool) {
        if !yes {
            // An error that was left waiting would cost the next datagram, to whatever address it goes.
            self.hear(socket);
        }
        self.is_on = ask(socket, is_ipv6, yes) && yes;
    }

    /// Takes the reported errors in, so that none of them waits for the next call.
    pub(crate) fn hear(&mut self, socket: &SockRef<'_>) {
        if !self.is_on {
            return;
        }
        // Bounded: a stranger can forge errors as fast as they are read.
        for _ in 0..crate::endpoint::ERRORS_PER_CALL {
            let Some(said) = hear(socket) else {
                return;
            };
            let is_new = |at: &SocketAddr| !self.closed.contains(at);
            if let Some(at) = said.filter(is_new) {
                if self.closed.len() < CLOSED_MAX {
                    self.closed.push(at);
                }
            }
        }
    }

    /// Notes that a port is closed at an address that the system did not name.
    pub(crate) const fn note_somewhere(&mut self) {
        self.is_somewhere = true;
    }

    /// The next closed port to tell the host of. The inner value is its address, if that is known.
    pub(crate) fn next_closed(&mut self) -> Option<Option<SocketAddr>> {
        match self.closed.pop() {
            Some(at) => Some(Some(at)),
            None => core::mem::take(&mut self.is_somewhere).then_some(None),
        }
    }
}

/// Sets the option to `yes`. True if the system has it for at least one family.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn ask(socket: &SockRef<'_>, is_ipv6: bool, yes: bool) -> bool {
    use nix::sys::socket::{setsockopt, sockopt};

    let v4 = setsockopt(&**socket, sockopt::Ipv4RecvErr, &yes);
    let v6 = is_ipv6.then(|| setsockopt(&**socket, sockopt::Ipv6RecvErr, &yes));
    v4.is_ok() || v6.is_some_and(|v6| v6.is_ok())
}

/// Takes the oldest error out, or returns `None` if there is none. The inner value is the destination of
/// the datagram, if the error says that no socket is bound to its port.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn hear(socket: &SockRef<'_>) -> Option<Option<SocketAddr>> {
    use core::net::{SocketAddrV4, SocketAddrV6};
    use std::os::fd::AsRawFd;

    use nix::errno::Errno;
    use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg};

    // No room for the datagram itself, which comes back, too, and is not needed. The control message
    // is a header, 16 bytes and an address; memory of the heap is aligned as the header has to be.
    let mut control = vec![0; 128];
    let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
    let fd = socket.as_raw_fd();
    let said = recvmsg::<SockaddrStorage>(fd, &mut [], Some(&mut control), flags).ok()?;
    let refused = Ok(Errno::ECONNREFUSED as i32);
    let is_closed = said.cmsgs().ok()?.any(|message| {
        let (ControlMessageOwned::Ipv4RecvErr(error, _)
        | ControlMessageOwned::Ipv6RecvErr(error, _)) = message
        else {
            return false;
        };
        i32::try_from(error.ee_errno) == refused
    });
    let at = said.address.as_ref().and_then(|at| {
        let v4 = at.as_sockaddr_in().map(|at| SocketAddrV4::from(*at));
        let v6 = at.as_sockaddr_in6().map(|at| SocketAddrV6::from(*at));
        v4.map(SocketAddr::V4).or_else(|| v6.map(SocketAddr::V6))
    });
    Some(at.filter(|_| is_closed))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
const fn ask(_: &SockRef<'_>, _: bool, _: bool) -> bool {
    false
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
const fn hear(_: &SockRef<'_>) -> Option<Option<SocketAddr>> {
    None
}

#[cfg(test)]
#[cfg(any(target_os = "linux", target_os = "android"))]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    /// An address to which no socket is bound any more.
    fn closed(at: &str) -> SocketAddr {
        UdpSocket::bind(at).unwrap().local_addr().unwrap()
    }

    #[test]
    fn a_closed_port_is_heard_of_with_its_address_and_leaves_no_error_behind() {
        for (from, at) in [
            ("0.0.0.0:0", "127.0.0.1:0"),
            ("[::]:0", "[::1]:0"),
            ("[::]:0", "[::ffff:127.0.0.1]:0"),
        ] {
            let socket = UdpSocket::bind(from).unwrap();
            socket.set_nonblocking(true).unwrap();
            let options = SockRef::from(&socket);
            let ports = [closed(at), closed(at)];
            let mut icmp = Icmp::default();
            icmp.ask(&options, from.starts_with('['), true);
            for port in ports {
                let _pending = socket.send_to(b"?", port);
                let _sent = socket.send_to(b"?", port);
            }
            icmp.hear(&options);
            let mut heard: Vec<_> = core::iter::from_fn(|| icmp.next_closed())
                .flatten()
                .collect();
            heard.reverse();
            assert_eq!(heard, ports, "{at}");
            assert!(socket.take_error().unwrap().is_none());

            let _sent = socket.send_to(b"?", ports[0]);
            icmp.ask(&options, from.starts_with('['), false);
            socket.send_to(b"?", ports[0]).unwrap();
            assert!(socket.take_error().unwrap().is_none(), "{at}");
        }
    }
}
