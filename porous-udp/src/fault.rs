//! What an error of the socket means. A datagram socket reports much that concerns one datagram,
//! or one peer, or a datagram sent long ago: none of it may end the driver, or a stranger could.

use std::io::{self, ErrorKind};

use rustix::io::Errno;

/// What to do about an error of `send_to` or `recv_from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing to receive, or no room to send: later.
    Later,
    /// This datagram is lost, as any datagram may be.
    Lost,
    /// So it is, and so is any other that is sent to this address now. In place of a datagram that
    /// was expected it means nothing: it may be about any that was sent before.
    Unreachable,
    /// The socket is of no more use.
    Fatal,
}

/// No room, or a signal came in between. Sending is not tried again at once: signals could come for
/// ever. Receiving is, within the bound of a step: what has arrived may be told of only once.
const LATER: &[Errno] = &[Errno::WOULDBLOCK, Errno::AGAIN, Errno::INTR];

/// What costs one datagram. The names are the system's own numbers on each system.
pub(crate) const LOST: &[Errno] = &[
    // What ICMP said about a datagram sent before, on whatever call comes next. Linux passes on
    // all kinds of it if it was asked for by IP_RECVERR, or if the socket is connected.
    Errno::CONNREFUSED,
    Errno::CONNRESET,
    Errno::CONNABORTED,
    Errno::NOPROTOOPT,
    Errno::OPNOTSUPP,
    #[cfg(not(windows))]
    Errno::PROTO,
    #[cfg(any(target_os = "linux", target_os = "android"))]
    Errno::NONET,
    // Windows says this of a datagram whose time to live is over.
    Errno::NETRESET,
    Errno::TIMEDOUT,
    // The datagram is longer than the path or the system takes.
    Errno::MSGSIZE,
    // Out of memory for a moment. The BSDs say so where a queue is full, and call the socket
    // writable all the same: there is nothing to wait for.
    Errno::NOBUFS,
    #[cfg(not(windows))]
    Errno::NOMEM,
];

/// What costs each datagram to an address, as long as it lasts.
pub(crate) const UNREACHABLE: &[Errno] = &[
    // No route at this moment: cables are put back, and a phone changes networks.
    Errno::NETUNREACH,
    Errno::HOSTUNREACH,
    Errno::NETDOWN,
    Errno::HOSTDOWN,
    #[cfg(not(windows))]
    Errno::NODEV,
    #[cfg(not(windows))]
    Errno::NXIO,
    // This address cannot be reached from ours: the other family, another interface, port 0.
    Errno::AFNOSUPPORT,
    Errno::ADDRNOTAVAIL,
    Errno::INVAL,
    // A firewall, or a broadcast address.
    Errno::ACCESS,
    #[cfg(not(windows))]
    Errno::PERM,
];

impl Fault {
    /// Sorts an error. What is in no row ends the driver: it would hide a broken socket. Only "later"
    /// may come without the system's number: a library that keeps account of readiness says so
    /// without asking the system.
    pub(crate) fn of(error: &io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(errno) if LATER.contains(&errno) => Self::Later,
            Some(errno) if LOST.contains(&errno) => Self::Lost,
            Some(errno) if UNREACHABLE.contains(&errno) => Self::Unreachable,
            None if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Self::Later
            }
            Some(_) | None => Self::Fatal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_is_not_the_systems_ends_the_driver_unless_it_means_later() {
        for (kind, fault) in [
            (ErrorKind::ConnectionReset, Fault::Fatal),
            (ErrorKind::WouldBlock, Fault::Later),
            (ErrorKind::Interrupted, Fault::Later),
        ] {
            for error in [io::Error::new(kind, "made up"), kind.into()] {
                assert_eq!(Fault::of(&error), fault, "{kind:?}");
            }
        }
    }

    /// By number, as most machines with Linux have them, so that the table is not its own test.
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    #[test]
    fn numbers() {
        let sorted = |fault| {
            let of = |code: &i32| Fault::of(&io::Error::from_raw_os_error(*code)) == fault;
            (1..=200).filter(of).collect::<Vec<i32>>()
        };
        assert_eq!(sorted(Fault::Later), [4, 11], "EINTR, EAGAIN");
        let lost = [12, 64, 71, 90, 92, 95, 102, 103, 104, 105, 110, 111];
        assert_eq!(sorted(Fault::Lost), lost);
        let unreachable = [1, 6, 13, 19, 22, 97, 99, 100, 101, 112, 113];
        assert_eq!(sorted(Fault::Unreachable), unreachable);
        assert!(sorted(Fault::Fatal).contains(&9), "EBADF");
        assert!(sorted(Fault::Fatal).contains(&88), "ENOTSOCK");
    }
}
