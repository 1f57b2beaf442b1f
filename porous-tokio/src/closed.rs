//! Why nothing more comes of a connection, or of a server.

use core::fmt;
use std::io;

use porous_udp::DisconnectReason;

/// Why nothing more comes of a connection or of a server.
///
/// ```
/// use porous_tokio::{Closed, DisconnectReason};
///
/// let reason = DisconnectReason::ByPeer(7);
/// let closed = Closed::Ended { reason, undelivered: 0 };
/// assert_eq!(closed.to_string(), "the connection has ended: the remote application disconnected, reason 7");
/// assert_eq!(closed.reason(), Some(reason));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Closed {
    /// The connection has ended. If `recv` says so, every packet that had arrived was received.
    Ended {
        /// Why it has ended.
        reason: DisconnectReason,
        /// The number of reliable and passive packets that were sent and not acknowledged.
        undelivered: u32,
    },
    /// The system says that the socket is of no more use, by an error of this kind. All connections of the socket
    /// end so: bind a new one.
    Socket(io::ErrorKind),
    /// The runtime in which the socket was bound has shut down, or is about to, and the task that served the
    /// socket is gone.
    Stopped,
}

impl Closed {
    /// Why the connection has ended; `None` if that is not what has happened.
    ///
    /// ```
    /// use porous_tokio::Closed;
    ///
    /// assert_eq!(Closed::Stopped.reason(), None);
    /// ```
    #[must_use]
    pub const fn reason(self) -> Option<DisconnectReason> {
        match self {
            Self::Ended { reason, .. } => Some(reason),
            Self::Socket(_) | Self::Stopped => None,
        }
    }
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended { reason, .. } => write!(f, "the connection has ended: {reason}"),
            Self::Socket(kind) => write!(f, "the UDP socket is of no more use, bind a new one: {kind}"),
            Self::Stopped => f.write_str(
                "the runtime in which the socket was bound has shut down: bind it in one that lives longer",
            ),
        }
    }
}

impl core::error::Error for Closed {}
