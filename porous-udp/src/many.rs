//! Datagrams to different addresses in one call, on systems that have such a call.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::io;

use socket2::SockRef;

/// The most datagrams of a call. Twice as many save nothing that could be measured.
pub(crate) const MANY: usize = 32;

/// True if the system has such a call.
pub(crate) const EXISTS: bool = cfg!(target_os = "linux");

/// Datagrams for one call, each with its address. They leave with the mark that the socket has for their
/// family of addresses, and from the address that the system chooses.
#[derive(Debug)]
pub(crate) struct Many<'a> {
    /// In an array, so that no call allocates. The rest of it is empty.
    datagrams: [(SocketAddr, &'a [u8]); MANY],
    len: usize,
}

impl<'a> Many<'a> {
    /// The first of these datagrams.
    pub(crate) fn of(datagrams: impl Iterator<Item = (SocketAddr, &'a [u8])>) -> Self {
        let nowhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
        let mut many = Self {
            datagrams: [(nowhere, &[]); MANY],
            len: 0,
        };
        for (to, datagram) in many.datagrams.iter_mut().zip(datagrams) {
            *to = datagram;
            many.len += 1;
        }
        many
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Returns how many datagrams the system has taken, from the first on. If it has not taken one, nothing
    /// says why, unless that is the first.
    #[cfg(target_os = "linux")]
    pub(crate) fn send(&self, socket: &SockRef<'_>) -> io::Result<usize> {
        use std::io::IoSlice;

        use rustix::net::addr::SocketAddrArg as _;
        use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, sendmmsg};

        let mut parts = self.datagrams.map(|(to, datagram)| {
            let contents = [IoSlice::new(datagram)];
            (to.as_any(), contents, SendAncillaryBuffer::default())
        });
        let mut messages = parts
            .each_mut()
            .map(|(to, contents, control)| MMsgHdr::new_with_addr(to, contents, control));
        let messages = &mut messages[..self.len];
        Ok(sendmmsg(&**socket, messages, SendFlags::empty())?)
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) const fn send(&self, _: &SockRef<'_>) -> io::Result<usize> {
        Ok(0)
    }
}
