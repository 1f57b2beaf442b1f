//! What a socket of smoltcp does with a datagram, and what each of its errors means.

use core::fmt;
use core::time::Duration;

use porous_proto::Instant;
use smoltcp::socket::udp::{SendError, Socket};
use smoltcp::wire::IpEndpoint;

/// A socket of which nothing has left for so long is emptied. smoltcp asks once a second who has
/// an address, so two of its questions were not answered.
pub(crate) const STUCK: Duration = Duration::from_secs(2);

/// What the socket did beside carrying datagrams.
///
/// ```
/// use porous_smoltcp::SocketStats;
///
/// assert_eq!(SocketStats::default().send_lost, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SocketStats {
    /// Datagrams that the socket can never send: their address is none, or they are longer than
    /// its whole buffer. The protocol treats them as any lost datagram.
    pub send_lost: u64,
    /// Attempts to send that found no room. The datagram is kept and leaves later.
    pub send_delayed: u64,
    /// How often the socket was emptied because it was stuck: see [the crate](crate#ethernet).
    pub send_stuck: u64,
}

/// The socket is not bound, or was closed: nothing can be sent or received. The driver goes on
/// where it was once the socket is bound again.
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

/// What became of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// It is in the socket.
    Queued,
    /// It will never be sent.
    Lost,
    /// There is no room now.
    NoRoom,
}

/// Puts a datagram into an open socket.
pub(crate) fn send(socket: &mut Socket<'_>, to: IpEndpoint, datagram: &[u8]) -> Sent {
    // smoltcp finds out when the datagram leaves, and panics.
    let bound = socket.endpoint().addr;
    if bound.is_some_and(|addr| addr.version() != to.addr.version()) {
        return Sent::Lost;
    }
    match socket.send_slice(datagram, to) {
        Ok(()) => Sent::Queued,
        Err(SendError::Unaddressable) => Sent::Lost,
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
    /// What was queued when the host had sent what it could.
    queued: usize,
    /// When it was first seen that none of it has left.
    stuck_since: Option<Instant>,
}

impl Watch {
    /// To be called whenever something may have been put into the socket.
    pub(crate) fn sent(&mut self, socket: &Socket<'_>) {
        self.queued = socket.send_queue();
    }

    /// Empties a socket that is stuck, and says whether it was. It must be open.
    pub(crate) fn unstick(
        &mut self,
        now: Instant,
        socket: &mut Socket<'_>,
    ) -> Result<bool, SocketClosed> {
        let queued = socket.send_queue();
        if queued == 0 || queued != self.queued {
            self.stuck_since = None;
            return Ok(false);
        }
        let since = *self.stuck_since.get_or_insert(now);
        if now.saturating_duration_since(since) < STUCK {
            return Ok(false);
        }
        self.stuck_since = None;
        // The only way to empty it.
        let endpoint = socket.endpoint();
        socket.close();
        socket.bind(endpoint).map_err(|_| SocketClosed)?;
        Ok(true)
    }
}
