//! What an error of the socket means. Most errors of a datagram socket concern one datagram, one peer,
//! or a datagram sent long ago. None of these may end the driver, or a stranger could end it.

use std::io::{self, ErrorKind};

use rustix::io::Errno;

/// What to do about an error of `send_to` or `recv_from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing to receive, or no room to send: try again later.
    Later,
    /// This datagram is lost, as any datagram may be.
    Lost,
    /// This datagram is lost, and so is any other that is sent to this address now. If the error comes in
    /// place of a received datagram, it says nothing: it may be about any datagram sent before.
    Unreachable,
    /// The socket is of no more use.
    Fatal,
}

/// No room, or a signal interrupted the call. Sending is not tried again at once: signals could come for
/// ever. Receiving is, within the bound of a step: an event loop may tell only once that data has arrived.
const LATER: &[Errno] = &[Errno::WOULDBLOCK, Errno::AGAIN, Errno::INTR];

/// The errors that cost one datagram. The names are the system's own numbers on each system.
pub(crate) const LOST: &[Errno] = &[
    // What ICMP said about a datagram sent before, reported by whichever call comes next. Linux reports
    // all kinds of ICMP errors if the socket has IP_RECVERR or is connected.
    Errno::CONNREFUSED,
    Errno::CONNRESET,
    Errno::CONNABORTED,
    Errno::NOPROTOOPT,
    Errno::OPNOTSUPP,
    #[cfg(not(windows))]
    Errno::PROTO,
    #[cfg(any(target_os = "linux", target_os = "android"))]
    Errno::NONET,
    // Windows says so of a datagram whose hop limit (TTL) was used up.
    Errno::NETRESET,
    Errno::TIMEDOUT,
    // The datagram is longer than the path or the system takes.
    Errno::MSGSIZE,
    // Out of memory for a moment. Not "later": the BSDs say so when a queue is full, and call the
    // socket writable all the same, so there is no event to wait for.
    Errno::NOBUFS,
    #[cfg(not(windows))]
    Errno::NOMEM,
];

/// The errors that cost each datagram to an address, as long as their cause lasts.
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
    // The destination cannot be reached from the socket's address: the other family, another
    // interface, port 0.
    Errno::AFNOSUPPORT,
    Errno::ADDRNOTAVAIL,
    Errno::INVAL,
    // A firewall, or a broadcast address.
    Errno::ACCESS,
    #[cfg(not(windows))]
    Errno::PERM,
    // A tunnel (WireGuard) that knows no key for the destination, or not where its other end is.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    Errno::NOKEY,
    Errno::DESTADDRREQ,
];

impl Fault {
    /// Sorts an error.
    pub(crate) fn of(error: &io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(errno) if LATER.contains(&errno) => Self::Later,
            Some(errno) if LOST.contains(&errno) => Self::Lost,
            Some(errno) if UNREACHABLE.contains(&errno) => Self::Unreachable,
            // Only "later" may come without the system's number: a library that keeps account of readiness
            // says so without asking the system.
            None if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Self::Later
            }
            // To go on after an unknown error would hide a broken socket.
            Some(_) | None => Self::Fatal,
        }
    }
}

/// Whether a UDP socket is still of use after an error of sending or receiving: all but those of the last row of
/// [the table](crate#when-the-network-fails). For programs with a socket of their own: an error that passes concerns
/// one datagram, or nothing has come, or there is no room; a stranger can bring most of them about.
///
/// ```
/// use std::io::{self, ErrorKind};
///
/// assert!(porous_udp::is_passing(&ErrorKind::WouldBlock.into()));
/// assert!(!porous_udp::is_passing(&io::Error::other("no error of the system")));
/// ```
#[must_use]
pub fn is_passing(error: &io::Error) -> bool {
    Fault::of(error) != Fault::Fatal
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

    /// By the numbers of Linux on most machines, so that the table is not its own test.
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
        let unreachable = [1, 6, 13, 19, 22, 89, 97, 99, 100, 101, 112, 113, 126];
        assert_eq!(sorted(Fault::Unreachable), unreachable);
        assert!(sorted(Fault::Fatal).contains(&9), "EBADF");
        let passes = |code: &i32| is_passing(&io::Error::from_raw_os_error(*code));
        let passing = (1..=200).filter(passes).count();
        assert_eq!(passing, 2 + lost.len() + unreachable.len());
        assert!(sorted(Fault::Fatal).contains(&88), "ENOTSOCK");
    }

    /// By the numbers of Winsock.
    #[cfg(windows)]
    #[test]
    fn numbers() {
        let sorted = |fault| {
            let of = |code: &i32| Fault::of(&io::Error::from_raw_os_error(*code)) == fault;
            (10_000..=10_112).filter(of).collect::<Vec<i32>>()
        };
        let later = [10_004, 10_035];
        assert_eq!(sorted(Fault::Later), later, "WSAEINTR, WSAEWOULDBLOCK");
        let lost = [
            10_040, 10_042, 10_045, 10_052, 10_053, 10_054, 10_055, 10_060, 10_061,
        ];
        assert_eq!(sorted(Fault::Lost), lost);
        let unreachable = [
            10_013, 10_022, 10_039, 10_047, 10_049, 10_050, 10_051, 10_064, 10_065,
        ];
        assert_eq!(sorted(Fault::Unreachable), unreachable);
        assert!(sorted(Fault::Fatal).contains(&10_009), "WSAEBADF");
        assert!(sorted(Fault::Fatal).contains(&10_038), "WSAENOTSOCK");
    }
}
