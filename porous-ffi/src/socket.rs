//! Sockets as numbers.

use std::net::UdpSocket;

use crate::status::{POROUS_ERR_VALUE, porous_status};

/// Takes over the socket with this number.
///
/// # Safety
///
/// Nobody else owns the socket.
#[cfg(unix)]
pub(crate) unsafe fn take(socket: isize) -> Result<UdpSocket, porous_status> {
    use std::os::fd::{FromRawFd, RawFd};

    let number = RawFd::try_from(socket).map_err(|_| POROUS_ERR_VALUE)?;
    // -1 is what a failed call of the system returned, and no number that Rust can hold.
    crate::status::check(number >= 0, POROUS_ERR_VALUE)?;
    // SAFETY: as the caller promises.
    Ok(unsafe { UdpSocket::from_raw_fd(number) })
}

/// The number of a socket.
#[cfg(unix)]
pub(crate) fn number_of(socket: &UdpSocket) -> isize {
    use std::os::fd::AsRawFd;

    // A file descriptor is a small number.
    isize::try_from(socket.as_raw_fd()).unwrap_or(-1)
}

/// Takes over the socket with this number.
///
/// # Safety
///
/// Nobody else owns the socket.
#[cfg(windows)]
pub(crate) unsafe fn take(socket: isize) -> Result<UdpSocket, porous_status> {
    use std::os::windows::io::{FromRawSocket, RawSocket};

    let number = RawSocket::try_from(socket).map_err(|_| POROUS_ERR_VALUE)?;
    // SAFETY: as the caller promises.
    Ok(unsafe { UdpSocket::from_raw_socket(number) })
}

/// The number of a socket.
#[cfg(windows)]
pub(crate) fn number_of(socket: &UdpSocket) -> isize {
    use std::os::windows::io::AsRawSocket;

    // Windows' handles are small numbers.
    isize::try_from(socket.as_raw_socket()).unwrap_or(-1)
}
