//! How a host that serves browsers names remote hosts.

use core::fmt;
use core::net::{IpAddr, SocketAddr};

/// Where a remote host is: behind a UDP socket, or behind a session of WebTransport.
///
/// ```
/// use porous_web::WebAddress;
///
/// let desktop = WebAddress::Udp(([192, 0, 2, 1], 4000).into());
/// assert_eq!(desktop.to_string(), "192.0.2.1:4000");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WebAddress {
    /// The address of a UDP socket.
    Udp(SocketAddr),
    /// A session of WebTransport.
    Session(Session),
}

impl WebAddress {
    /// The IP address of the remote host. Of a session it is the one that opened it: QUIC follows a client to other
    /// addresses, and the session stays the same.
    ///
    /// ```
    /// use porous_web::WebAddress;
    ///
    /// let desktop = WebAddress::Udp(([192, 0, 2, 1], 4000).into());
    /// assert!(desktop.ip().is_ipv4());
    /// ```
    #[must_use]
    pub const fn ip(&self) -> IpAddr {
        match self {
            Self::Udp(at) => at.ip(),
            Self::Session(session) => session.from.ip(),
        }
    }
}

impl fmt::Display for WebAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Udp(at) => at.fmt(f),
            Self::Session(session) => session.fmt(f),
        }
    }
}

/// A session of WebTransport. No other session of the same host has its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Session {
    pub(crate) number: u64,
    pub(crate) from: SocketAddr,
}

impl Session {
    /// The number of the session, in the order in which sessions were opened, from 1.
    ///
    /// ```
    /// fn key(session: porous_web::Session) -> u64 {
    ///     session.number()
    /// }
    /// # let _ = key;
    /// ```
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// The address that the session was opened from.
    ///
    /// ```
    /// fn is_here(session: porous_web::Session) -> bool {
    ///     session.from().ip().is_loopback()
    /// }
    /// # let _ = is_here;
    /// ```
    #[must_use]
    pub const fn from(&self) -> SocketAddr {
        self.from
    }
}

impl fmt::Display for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "session {} from {}", self.number, self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_shows_its_number_and_where_it_is_from() {
        let from = ([192, 0, 2, 1], 4000).into();
        let session = Session { number: 7, from };
        let address = WebAddress::Session(session);
        assert_eq!(address.to_string(), "session 7 from 192.0.2.1:4000");
        assert_eq!(address.ip(), from.ip());
        assert_ne!(address, WebAddress::Udp(from));
    }
}
