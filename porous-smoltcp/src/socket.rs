//! The attempts to send by a socket of smoltcp, the meaning of its errors, and a watch for stuck ones.

use core::fmt;
use core::time::Duration;

use porous_proto::{BadAddress, Instant};
use smoltcp::socket::udp::{SendError, Socket};
use smoltcp::wire::IpEndpoint;

/// A socket that nothing has left for this time is emptied. smoltcp sends an ARP or neighbour request once
/// a second, so two of its requests were not answered.
pub(crate) const STUCK: Duration = Duration::from_secs(2);

/// Counts of what the socket did beside carrying datagrams, since the host was made.
///
/// ```
/// use porous_smoltcp::SocketStats;
///
/// assert_eq!(SocketStats::default().send_lost, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SocketStats {
    /// Datagrams that the socket can never send, because their address is invalid or they are longer than
    /// the whole buffer. The protocol treats them as any lost datagram.
    pub send_lost: u64,
    /// Attempts to send that found no room. The datagram is kept and leaves later.
    pub send_delayed: u64,
    /// Times that the socket was emptied because it was stuck: see [the crate](crate#ethernet).
    pub send_stuck: u64,
}

/// The socket is not bound, or was closed: nothing can be sent or received. Bind it again, and the next
/// step goes on.
///
/// ```
/// use porous_smoltcp::SocketClosed;
///
/// let text = SocketClosed.to_string();
/// assert_eq!(text, "the UDP socket of this host is not bound to a port: bind it");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketClosed;

impl fmt::Display for SocketClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the UDP socket of this host is not bound to a port: bind it")
    }
}

impl core::error::Error for SocketClosed {}

/// Why no host can answer at this address, for this socket, if that is known.
pub(crate) fn bad_address(socket: &Socket<'_>, to: IpEndpoint) -> Option<BadAddress> {
    let (ip, bound) = (to.addr, socket.endpoint());
    if ip.is_unspecified() {
        Some(BadAddress::Unspecified)
    } else if to.port == 0 {
        Some(BadAddress::PortZero)
    } else if ip.is_multicast() || ip.is_broadcast() {
        Some(BadAddress::Broadcast)
    } else if bound
        .addr
        .is_some_and(|ours| ours.version() != ip.version())
    {
        Some(BadAddress::Family)
    } else if (bound.addr, bound.port) == (Some(ip), to.port) {
        Some(BadAddress::Itself)
    } else {
        None
    }
}

/// The result of an attempt to put a datagram into the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The datagram is in the socket.
    Queued,
    /// The datagram can never be sent.
    Lost,
    /// Neither this datagram nor any other to this address can ever be sent.
    Unreachable,
    /// There is no room now.
    NoRoom,
}

/// Puts a datagram into an open socket.
pub(crate) fn send(socket: &mut Socket<'_>, to: IpEndpoint, datagram: &[u8]) -> Sent {
    // smoltcp would take it, and panic when it leaves.
    let bound = socket.endpoint().addr;
    if bound.is_some_and(|addr| addr.version() != to.addr.version()) {
        return Sent::Unreachable;
    }
    match socket.send_slice(datagram, to) {
        Ok(()) => Sent::Queued,
        Err(SendError::Unaddressable) => Sent::Unreachable,
        Err(SendError::BufferFull) if !fits_when_empty(socket, datagram) => Sent::Lost,
        Err(SendError::BufferFull) => Sent::NoRoom,
    }
}

fn fits_when_empty(socket: &Socket<'_>, datagram: &[u8]) -> bool {
    socket.packet_send_capacity() > 0 && datagram.len() <= socket.payload_send_capacity()
}

/// Notices that nothing leaves the socket any more.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Bytes in the socket when the host had sent what it could.
    queued: usize,
    /// When it was first seen that none of these bytes has left; `None` if some has.
    stuck_since: Option<Instant>,
}

impl Watch {
    /// Notes how much waits in the socket. To be called when the host has put datagrams into it.
    pub(crate) fn sent(&mut self, socket: &Socket<'_>) {
        self.queued = socket.send_queue();
    }

    /// Empties an open socket that is stuck. Returns true if it was.
    pub(crate) fn unstick(
        &mut self,
        now: Instant,
        socket: &mut Socket<'_>,
    ) -> Result<bool, SocketClosed> {
        let queued = socket.send_queue();
        // Only this driver puts datagrams in, so another length means that some have left.
        if queued == 0 || queued != self.queued {
            self.stuck_since = None;
            return Ok(false);
        }
        let since = *self.stuck_since.get_or_insert(now);
        if now.saturating_duration_since(since) < STUCK {
            return Ok(false);
        }
        self.stuck_since = None;
        // smoltcp has no other way to empty a socket.
        let endpoint = socket.endpoint();
        socket.close();
        socket.bind(endpoint).map_err(|_| SocketClosed)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use smoltcp::socket::udp::{PacketBuffer, PacketMetadata};
    use smoltcp::wire::IpAddress;

    const TO: IpEndpoint = IpEndpoint::new(IpAddress::v4(10, 0, 0, 2), 9);

    /// A socket with a datagram that cannot leave.
    fn stuck() -> (Socket<'static>, Watch) {
        let buffer = || PacketBuffer::new(vec![PacketMetadata::EMPTY; 2], vec![0; 64]);
        let mut socket = Socket::new(buffer(), buffer());
        socket.bind((IpAddress::v4(10, 0, 0, 1), 7)).unwrap();
        socket.set_hop_limit(Some(5));
        let mut watch = Watch::default();
        assert_eq!(send(&mut socket, TO, b"lost"), Sent::Queued);
        watch.sent(&socket);
        (socket, watch)
    }

    const START: Instant = Instant::from_micros(7_000_000);

    #[test]
    fn a_socket_that_is_stuck_is_emptied_and_bound_as_it_was() {
        let (mut socket, mut watch) = stuck();
        let endpoint = socket.endpoint();
        let just_before = START + (STUCK - Duration::from_micros(1));
        for now in [START, just_before] {
            assert_eq!(watch.unstick(now, &mut socket), Ok(false));
        }
        assert_eq!(watch.unstick(START + STUCK, &mut socket), Ok(true));
        assert_eq!((socket.endpoint(), socket.send_queue()), (endpoint, 0));
        assert_eq!(socket.hop_limit(), Some(5));
        // The next datagram has as much time.
        assert_eq!(send(&mut socket, TO, b"lost"), Sent::Queued);
        watch.sent(&socket);
        for now in [START + STUCK, just_before + STUCK] {
            assert_eq!(watch.unstick(now, &mut socket), Ok(false));
        }
    }

    #[test]
    fn an_empty_socket_is_not_stuck() {
        let (mut socket, mut watch) = stuck();
        socket.close();
        socket.bind(7).unwrap();
        watch.sent(&socket);
        for now in [START, START + STUCK * 2] {
            assert_eq!(watch.unstick(now, &mut socket), Ok(false));
        }
    }

    #[test]
    fn a_pause_of_the_program_is_not_the_sockets_fault() {
        let (mut socket, mut watch) = stuck();
        let late = START + STUCK * 50;
        assert_eq!(watch.unstick(late, &mut socket), Ok(false));
    }

    #[test]
    fn a_socket_that_gets_on_slowly_is_left_alone() {
        let (mut socket, mut watch) = stuck();
        let mut now = START;
        for _ in 0..9 {
            assert_eq!(watch.unstick(now, &mut socket), Ok(false));
            now = now + STUCK / 2;
            assert_eq!(watch.unstick(now, &mut socket), Ok(false));
            now = now + STUCK / 2;
            // Another datagram is in the socket than before.
            socket.close();
            socket.bind(7).unwrap();
            assert_eq!(send(&mut socket, TO, b"other"), Sent::Queued);
            assert_eq!(watch.unstick(now, &mut socket), Ok(false));
            watch.sent(&socket);
            socket.close();
            socket.bind(7).unwrap();
            assert_eq!(watch.unstick(now, &mut socket), Ok(false));
            assert_eq!(send(&mut socket, TO, b"lost"), Sent::Queued);
            watch.sent(&socket);
        }
    }
}
