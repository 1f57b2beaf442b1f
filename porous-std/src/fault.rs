//! What an error of the socket means. A datagram socket reports much that concerns one datagram,
//! or one peer, or a datagram sent long ago: none of it may end the driver, or a stranger could.

use std::io::{self, ErrorKind};

/// What to do about an error of `send_to` or `recv_from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Call again: a signal came in between.
    Retry,
    /// Nothing to receive, or no room to send: later.
    Later,
    /// This datagram is lost, as any datagram may be.
    Lost,
    /// The socket is of no more use.
    Fatal,
}

/// Error numbers without an [`ErrorKind`] in stable Rust that cost one datagram: message too
/// long, address family not supported (the peer's, by our socket), no buffer space.
#[cfg(any(target_os = "linux", target_os = "android"))]
const LOST: [i32; 3] = [90, 97, 105];
#[cfg(windows)]
const LOST: [i32; 3] = [10_040, 10_047, 10_055];
/// The BSDs and Apple's systems.
#[cfg(not(any(target_os = "linux", target_os = "android", windows)))]
const LOST: [i32; 3] = [40, 47, 55];

impl Fault {
    /// Sorts an error.
    pub(crate) fn of(error: &io::Error) -> Self {
        if error
            .raw_os_error()
            .is_some_and(|code| LOST.contains(&code))
        {
            return Self::Lost;
        }
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "what we do not know is not safe"
        )]
        match error.kind() {
            ErrorKind::Interrupted => Self::Retry,
            ErrorKind::WouldBlock => Self::Later,
            // ICMP's answer to a datagram sent before, on whatever call comes next.
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionAborted
            // No route at this moment: cables are put back, and a phone changes networks.
            | ErrorKind::NetworkUnreachable
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkDown
            // A firewall, or a broadcast address.
            | ErrorKind::PermissionDenied
            // This address cannot be reached from ours; port 0; out of memory for a moment.
            | ErrorKind::AddrNotAvailable
            | ErrorKind::InvalidInput
            | ErrorKind::OutOfMemory
            | ErrorKind::TimedOut => Self::Lost,
            _ => Self::Fatal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: ErrorKind) -> Fault {
        Fault::of(&kind.into())
    }

    #[test]
    fn later_and_again() {
        assert_eq!(of(ErrorKind::Interrupted), Fault::Retry);
        assert_eq!(of(ErrorKind::WouldBlock), Fault::Later);
    }

    #[test]
    fn what_the_network_says_costs_one_datagram() {
        for kind in [
            ErrorKind::ConnectionReset,
            ErrorKind::ConnectionRefused,
            ErrorKind::NetworkUnreachable,
            ErrorKind::HostUnreachable,
            ErrorKind::NetworkDown,
            ErrorKind::PermissionDenied,
            ErrorKind::AddrNotAvailable,
            ErrorKind::InvalidInput,
        ] {
            assert_eq!(of(kind), Fault::Lost, "{kind}");
        }
    }

    #[test]
    fn a_broken_socket_ends_the_driver() {
        for kind in [
            ErrorKind::NotConnected,
            ErrorKind::BrokenPipe,
            ErrorKind::Other,
        ] {
            assert_eq!(of(kind), Fault::Fatal, "{kind}");
        }
    }

    /// The numbers as Linux has them; the kinds that std gives them are std's own matter.
    #[cfg(target_os = "linux")]
    #[test]
    fn numbers() {
        let of = |code| Fault::of(&io::Error::from_raw_os_error(code));
        assert_eq!(of(4), Fault::Retry, "EINTR");
        assert_eq!(of(11), Fault::Later, "EAGAIN");
        let lost = [1, 12, 13, 22, 90, 97, 99, 100, 101, 104, 105, 111, 113];
        for code in lost {
            assert_eq!(
                of(code),
                Fault::Lost,
                "{}",
                io::Error::from_raw_os_error(code)
            );
        }
        assert_eq!(of(9), Fault::Fatal, "EBADF");
        assert_eq!(of(88), Fault::Fatal, "ENOTSOCK");
    }
}
