//! One spelling for each address, and the spelling that a socket wants.

use core::net::{IpAddr, SocketAddr, SocketAddrV6};

/// The address as the host knows it: two spellings of one address must not be two peers.
pub(crate) fn normalise(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(_) => address,
        SocketAddr::V6(v6) => match v6.ip().to_ipv4_mapped() {
            Some(v4) => SocketAddr::from((v4, v6.port())),
            None => SocketAddrV6::new(*v6.ip(), v6.port(), 0, v6.scope_id()).into(),
        },
    }
}

/// An address of ours, likewise.
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

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv6Addr;

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
}
