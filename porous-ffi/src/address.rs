//! Addresses: bytes of our own layout, so that the header needs none of a system.

use core::ffi::c_char;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use alloc::string::ToString;

use crate::panic::guard;
use crate::pointers::{fill_text, text, write};
use crate::status::{POROUS_ERR_ADDRESS, POROUS_OK, check, count, porous_status};

/// No address: what zeroed memory is.
pub const POROUS_ADDRESS_NONE: u8 = 0;
/// An address of IPv4: 4 bytes, a port, and scope 0.
pub const POROUS_ADDRESS_IPV4: u8 = 4;
/// An address of IPv6: 16 bytes and a port; a scope where the address is link-local.
pub const POROUS_ADDRESS_IPV6: u8 = 6;
/// An address of the program's own, for hosts without a socket: 0 to 24 bytes that say where the other host is.
pub const POROUS_ADDRESS_OWN: u8 = 255;

/// Where a host is. Two addresses are the same if all of their 32 bytes are.
///
/// An IPv4-mapped address of IPv6 means the IPv4 address, and comes back as such. Of addresses of the program's
/// own, `port` and `scope` have the meaning that they have for those of IP: a peer that moves to another port
/// alone keeps what was measured of its path, and addresses of one scope belong to one owner, for
/// max_peers_per_source, unless it is 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct porous_address {
    /// One of POROUS_ADDRESS_.
    pub kind: u8,
    /// How many of `bytes` count: 4, 16, or up to 24 of an address of the program's own.
    pub len: u8,
    /// The port, in the order of bytes of the processor.
    pub port: u16,
    /// The scope id of an address of IPv6; the owner of an address of the program's own.
    pub scope: u32,
    /// The address, in the order of bytes of the network; 0 behind `len`.
    pub bytes: [u8; 24],
}

const _: () = assert!(size_of::<porous_address>() == 32);

impl porous_address {
    fn new(kind: u8, ip: &[u8], port: u16, scope: u32) -> Self {
        let mut bytes = [0; 24];
        for (to, from) in bytes.iter_mut().zip(ip) {
            *to = *from;
        }
        Self {
            kind,
            len: u8::try_from(ip.len()).unwrap_or(u8::MAX),
            port,
            scope,
            bytes,
        }
    }

    /// The address, checked, in the one spelling that each address has.
    pub(crate) fn known(self) -> Result<Self, porous_status> {
        if self.kind != POROUS_ADDRESS_OWN {
            return self.socket().map(Self::from);
        }
        check(self.has_zeros(), POROUS_ERR_ADDRESS)?;
        Ok(self)
    }

    /// The address of IP; an error if it is of another kind, or does not look as the header says.
    pub(crate) fn socket(self) -> Result<SocketAddr, porous_status> {
        check(self.has_zeros(), POROUS_ERR_ADDRESS)?;
        match (self.kind, self.len, self.scope) {
            (POROUS_ADDRESS_IPV4, 4, 0) => Ok((self.ipv4(), self.port).into()),
            (POROUS_ADDRESS_IPV6, 16, scope) => {
                let ip = self.ipv6();
                Ok(match ip.to_ipv4_mapped() {
                    Some(v4) => (v4, self.port).into(),
                    None => SocketAddrV6::new(ip, self.port, 0, scope).into(),
                })
            }
            _ => Err(POROUS_ERR_ADDRESS),
        }
    }

    /// Whether the address ends where it says, so that it has only one spelling.
    fn has_zeros(&self) -> bool {
        let behind = self.bytes.get(usize::from(self.len)..);
        behind.is_some_and(|rest| rest.iter().all(|&byte| byte == 0))
    }

    fn ipv4(&self) -> Ipv4Addr {
        let [a, b, c, d, ..] = self.bytes;
        Ipv4Addr::new(a, b, c, d)
    }

    fn ipv6(&self) -> Ipv6Addr {
        let ip = self.bytes.first_chunk::<16>();
        ip.copied().unwrap_or_default().into()
    }

    /// Whether two addresses differ by no more than the port.
    pub(crate) fn is_same_host(&self, other: &Self) -> bool {
        let port = self.port;
        *self == Self { port, ..*other }
    }

    /// Where the address is, by IP; an address that no host has, if it is of the program's own.
    pub(crate) fn ip(&self) -> IpAddr {
        match self.kind {
            POROUS_ADDRESS_IPV4 => self.ipv4().into(),
            POROUS_ADDRESS_IPV6 => self.ipv6().into(),
            _ => Ipv6Addr::UNSPECIFIED.into(),
        }
    }

    /// Who has the address, for the limit of peers of one source.
    pub(crate) fn source(&self) -> [u8; 16] {
        if self.kind == POROUS_ADDRESS_OWN {
            return u128::from(self.scope).to_be_bytes();
        }
        porous_proto::ip_source(self.ip())
    }
}

impl From<SocketAddr> for porous_address {
    fn from(address: SocketAddr) -> Self {
        let port = address.port();
        match address {
            SocketAddr::V4(v4) => Self::new(POROUS_ADDRESS_IPV4, &v4.ip().octets(), port, 0),
            SocketAddr::V6(v6) => {
                Self::new(POROUS_ADDRESS_IPV6, &v6.ip().octets(), port, v6.scope_id())
            }
        }
    }
}

/// Reads an address with its port, as "192.0.2.1:4000" or "[2001:db8::1]:4000", with a scope as
/// "[fe80::1%3]:4000". It asks nobody: names are for porous_resolve.
///
/// Errors: POROUS_ERR_ADDRESS, POROUS_ERR_UTF8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_address_parse(
    address: *const c_char,
    out: *mut porous_address,
) -> porous_status {
    guard(|| {
        // SAFETY: a text and an address, as the header demands.
        unsafe {
            let parsed = text(address)?.parse::<SocketAddr>();
            let parsed = porous_address::from(parsed.map_err(|_| POROUS_ERR_ADDRESS)?);
            write(out, parsed.known()?)?;
        }
        Ok(POROUS_OK)
    })
}

/// Writes an address of IP as text, with a 0 at its end, as porous_address_parse reads it. 64 bytes are always
/// enough. Returns the length of the text.
///
/// Errors: POROUS_ERR_SMALL; POROUS_ERR_ADDRESS for an address of another kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_address_format(
    address: *const porous_address,
    text: *mut c_char,
    cap: usize,
) -> porous_status {
    guard(|| {
        // SAFETY: an address and a buffer, as the header demands.
        unsafe {
            let address = crate::pointers::read(address)?.socket()?;
            fill_text(text, cap, &address.to_string()).map(count)
        }
    })
}

/// Asks the system for the addresses of a name with a port, as "example.org:4000". Blocks until there is an
/// answer, which can take many seconds. Writes at most `cap` addresses, and returns how many there are.
///
/// Errors: POROUS_ERR_ADDRESS if the name has no address, or there is no port; POROUS_ERR_UTF8.
#[cfg(feature = "udp")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn porous_resolve(
    name: *const c_char,
    out: *mut porous_address,
    cap: usize,
) -> porous_status {
    use std::net::ToSocketAddrs;

    guard(|| {
        // SAFETY: a text and an array, as the header demands.
        unsafe {
            let found = text(name)?.to_socket_addrs();
            let found = found.map_err(|_| POROUS_ERR_ADDRESS)?;
            crate::pointers::fill_array(out, cap, found.map(porous_address::from))
        }
    })
}
