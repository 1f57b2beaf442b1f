//! One spelling for each address, the spelling that a socket takes, and addresses that no host can have.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::net::UdpSocket;

use porous_proto::BadAddress;

/// The address as the host knows it: two spellings of one address must not be two peers.
pub(crate) fn normalise(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(_) => address,
        SocketAddr::V6(v6) => match v6.ip().to_ipv4_mapped() {
            // The flow label belongs to a datagram, not to a host: two labels must not be two peers. The
            // scope stays, because `fe80::1` on two links is two hosts.
            Some(v4) => SocketAddr::from((v4, v6.port())),
            None => SocketAddrV6::new(*v6.ip(), v6.port(), 0, v6.scope_id()).into(),
        },
    }
}

/// One spelling for an address of this host: IPv4, where the system says IPv4-mapped.
pub(crate) fn unmapped(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
    }
}

/// The address as a socket takes it: one for IPv6 reaches IPv4 by mapped addresses.
pub(crate) fn for_socket(address: SocketAddr, socket_is_ipv6: bool) -> SocketAddr {
    match address {
        SocketAddr::V4(v4) if socket_is_ipv6 => (v4.ip().to_ipv6_mapped(), v4.port()).into(),
        SocketAddr::V4(_) | SocketAddr::V6(_) => address,
    }
}

/// Why no host can answer at `to`, if that is known, for a socket that is bound to `local`. Both addresses
/// are [normalised](normalise). `is_only_ipv6` is true if the socket does not serve IPv4-mapped addresses.
pub(crate) fn bad_address(
    to: SocketAddr,
    local: SocketAddr,
    is_only_ipv6: bool,
) -> Option<BadAddress> {
    let (ip, ours) = (to.ip(), local.ip());
    if ip.is_unspecified() {
        return Some(BadAddress::Unspecified);
    }
    if to.port() == 0 {
        return Some(BadAddress::PortZero);
    }
    if ip.is_multicast() || ip == IpAddr::V4(Ipv4Addr::BROADCAST) {
        return Some(BadAddress::Broadcast);
    }
    let speaks = match (ours, ip) {
        (IpAddr::V4(_), IpAddr::V4(_)) | (IpAddr::V6(_), IpAddr::V6(_)) => true,
        (IpAddr::V4(_), IpAddr::V6(_)) => false,
        // Bound to one IPv6 address, the socket has no IPv4 address to send from.
        (IpAddr::V6(ours), IpAddr::V4(_)) => ours.is_unspecified() && !is_only_ipv6,
    };
    if !speaks {
        return Some(BadAddress::Family);
    }
    // A host at this address with another port is another program, which may well answer.
    let is_ours = ip == ours || ours.is_unspecified() && (ip.is_loopback() || is_here(ip));
    (to.port() == local.port() && is_ours).then_some(BadAddress::Itself)
}

/// True if an address is one of this machine.
fn is_here(ip: IpAddr) -> bool {
    let any = match ip {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    // To connect a UDP socket sends nothing: the system looks its route up, and to an address of the machine
    // it sends from that same address. Any port does; 9 is that of "discard".
    let from = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect((ip, 9))?;
        socket.local_addr()
    });
    from.is_ok_and(|from| from.ip() == ip)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn mapped_addresses_are_unmapped() {
        assert_eq!(
            normalise(address("[::ffff:10.0.0.1]:7")),
            address("10.0.0.1:7")
        );
        assert_eq!(normalise(address("10.0.0.1:7")), address("10.0.0.1:7"));
        assert_eq!(normalise(address("[::1]:7")), address("[::1]:7"));
    }

    #[test]
    fn the_flow_label_goes_and_the_scope_stays() {
        let ip: Ipv6Addr = "fe80::1".parse().unwrap();
        let reported = SocketAddr::from(SocketAddrV6::new(ip, 7, 5, 3));
        assert_eq!(normalise(reported), SocketAddrV6::new(ip, 7, 0, 3).into());
    }

    #[test]
    fn an_ipv6_socket_gets_mapped_addresses_back() {
        let v4 = address("10.0.0.1:7");
        assert_eq!(for_socket(v4, false), v4);
        assert_eq!(for_socket(v4, true), address("[::ffff:10.0.0.1]:7"));
        assert_eq!(normalise(for_socket(v4, true)), v4);
        assert_eq!(for_socket(address("[::1]:7"), true), address("[::1]:7"));
    }

    #[test]
    fn addresses_that_nobody_has_are_known() {
        let bad = |to: &str, local: &str| bad_address(address(to), address(local), false);
        let local = "10.0.0.1:7";
        assert_eq!(bad("10.0.0.2:7", local), None);
        assert_eq!(bad("10.0.0.1:8", local), None);
        assert_eq!(bad("10.0.0.1:7", local), Some(BadAddress::Itself));
        assert_eq!(bad("10.0.0.2:0", local), Some(BadAddress::PortZero));
        assert_eq!(bad("0.0.0.0:7", local), Some(BadAddress::Unspecified));
        assert_eq!(bad("[::]:0", local), Some(BadAddress::Unspecified));
        for everybody in ["255.255.255.255:7", "239.1.2.3:7", "[ff05::2]:7"] {
            assert_eq!(bad(everybody, local), Some(BadAddress::Broadcast));
        }
    }

    #[test]
    fn a_socket_speaks_its_family_and_one_for_both_speaks_both() {
        let (v4, v6) = (address("10.0.0.1:7"), address("[2001:db8::1]:7"));
        let speaks = |local: &str, is_only_ipv6| {
            [v4, v6].map(|to| bad_address(to, address(local), is_only_ipv6).is_none())
        };
        assert_eq!(speaks("0.0.0.0:9", false), [true, false]);
        assert_eq!(speaks("127.0.0.1:9", false), [true, false]);
        assert_eq!(speaks("[::1]:9", false), [false, true]);
        assert_eq!(speaks("[::]:9", false), [true, true]);
        assert_eq!(speaks("[::]:9", true), [false, true]);
        assert_eq!(
            bad_address(v6, address("0.0.0.0:9"), false),
            Some(BadAddress::Family)
        );
    }

    #[test]
    fn a_host_at_all_addresses_is_itself_at_those_of_its_machine() {
        for (local, loopback, foreign) in [
            ("0.0.0.0:7", "127.0.0.1:7", "192.0.2.1:7"),
            ("[::]:7", "[::1]:7", "[2001:db8::1]:7"),
            ("[::]:7", "127.0.0.1:7", "192.0.2.1:7"),
        ] {
            let bad = |to: &str| bad_address(address(to), address(local), false);
            assert_eq!(bad(loopback), Some(BadAddress::Itself));
            assert_eq!(bad(foreign), None);
        }
        assert!(is_here(address("127.0.0.1:7").ip()));
        assert!(!is_here(address("192.0.2.1:7").ip()));
    }
}
