//! The marks of congestion that the socket itself gives to datagrams which come without a control message:
//! the lowest two bits of `IP_TOS`, and of `IPV6_TCLASS` (RFC 3168 §5).

use porous_proto::Ecn;
use quinn_udp::EcnCodepoint;
use socket2::SockRef;

use crate::inbox;

/// The bits of a mark in the byte that has it.
const BITS: u8 = 0b11;

/// The mark for each family of addresses. A socket for both has two: an IPv4-mapped address takes that of
/// IPv4.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    v4: Ecn,
    v6: Ecn,
}

impl Marks {
    /// What the socket has now: the application may have set the byte.
    pub(crate) fn of(socket: &SockRef<'_>) -> Self {
        // A system that has no such option for this socket, or does not tell, is taken to give none.
        let mark = |is_ipv6| inbox::ecn(byte(socket, is_ipv6).and_then(EcnCodepoint::from_bits));
        Self {
            v4: mark(false),
            v6: mark(true),
        }
    }

    pub(crate) const fn get(&self, is_ipv6: bool) -> Ecn {
        if is_ipv6 { self.v6 } else { self.v4 }
    }

    /// Lets datagrams to addresses of this family leave with `mark` from now on. False if the system cannot.
    pub(crate) fn set(&mut self, socket: &SockRef<'_>, is_ipv6: bool, mark: Ecn) -> bool {
        let known = if is_ipv6 { &mut self.v6 } else { &mut self.v4 };
        if *known == mark {
            return true;
        }
        // The other bits belong to the application (DSCP). They are read each time, as it may set them while
        // the host runs.
        let bits = inbox::codepoint(mark).map_or(0, |mark| mark as u8);
        let is_set = byte(socket, is_ipv6)
            .is_some_and(|byte| set_byte(socket, is_ipv6, byte & !BITS | bits));
        if is_set {
            *known = mark;
        }
        is_set
    }
}

#[cfg(target_os = "linux")]
fn byte(socket: &SockRef<'_>, is_ipv6: bool) -> Option<u8> {
    use rustix::net::sockopt::{ip_tos, ipv6_tclass};

    if is_ipv6 {
        u8::try_from(ipv6_tclass(&**socket).ok()?).ok()
    } else {
        ip_tos(&**socket).ok()
    }
}

#[cfg(target_os = "linux")]
fn set_byte(socket: &SockRef<'_>, is_ipv6: bool, byte: u8) -> bool {
    use rustix::net::sockopt::{set_ip_tos, set_ipv6_tclass};

    let set = if is_ipv6 {
        set_ipv6_tclass(&**socket, byte.into())
    } else {
        set_ip_tos(&**socket, byte)
    };
    set.is_ok()
}

#[cfg(not(target_os = "linux"))]
const fn byte(_: &SockRef<'_>, _: bool) -> Option<u8> {
    None
}

#[cfg(not(target_os = "linux"))]
const fn set_byte(_: &SockRef<'_>, _: bool, _: u8) -> bool {
    false
}
