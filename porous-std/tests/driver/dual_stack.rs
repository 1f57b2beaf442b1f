//! One socket for IPv6 and IPv4. On a machine without IPv6, these tests say so and pass.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use crate::hosts::{TICK, client, connected, converse, server, until};
use porous_std::{ConnectError, Ignored, UdpHost};

const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

fn has_ipv6() -> bool {
    let bound = std::net::UdpSocket::bind("[::1]:0");
    if let Err(error) = &bound {
        eprintln!("skipped: this machine has no IPv6 ({error})");
    }
    bound.is_ok()
}

/// False on OpenBSD, which has no socket for both families, and where the error says so.
fn has_dual_stack() -> bool {
    if cfg!(target_os = "openbsd") {
        eprintln!("skipped: this system has no sockets for both families");
        return false;
    }
    has_ipv6()
}

#[test]
fn ipv6_alone() {
    if has_ipv6() {
        converse(server("[::1]:0"), client("[::1]:0"), V6);
    }
}

#[test]
fn a_socket_for_both_serves_clients_of_each() {
    if has_dual_stack() {
        converse(server("[::]:0"), client("127.0.0.1:0"), V4);
        converse(server("[::]:0"), client("0.0.0.0:0"), V4);
        converse(server("[::]:0"), client("[::1]:0"), V6);
        converse(server("[::]:0"), client("[::]:0"), V6);
    }
}

#[test]
fn a_socket_for_both_reaches_servers_of_each() {
    if has_dual_stack() {
        converse(server("127.0.0.1:0"), client("[::]:0"), V4);
        converse(server("[::1]:0"), client("[::]:0"), V6);
        converse(server("[::]:0"), client("[::]:0"), V4);
    }
}

#[test]
fn one_socket_serves_both_at_once() {
    if !has_dual_stack() {
        return;
    }
    let mut server = server("[::]:0");
    let port = server.local_addr().unwrap().port();
    let mut clients = [(client("0.0.0.0:0"), V4), (client("[::]:0"), V6)];
    let mut peers = Vec::new();
    for (client, ip) in &mut clients {
        client.connect((*ip, port).into()).unwrap();
        until(client, &mut server, connected);
        let (peer, address) = until(&mut server, client, connected);
        assert_eq!(address.ip(), *ip);
        peers.push(peer);
    }
    assert_ne!(peers[0], peers[1]);
    assert_eq!(server.peers().count(), 2);
}

/// Connects to the first spelling, and checks that both spellings stand for this one peer.
fn one_peer(mut server: UdpHost, mut client: UdpHost, spellings: [SocketAddr; 2], plain: IpAddr) {
    let plain = SocketAddr::new(plain, server.local_addr().unwrap().port());
    let peer = client.connect(spellings[0]).unwrap();
    assert_eq!(client.address(peer), Some(plain));
    for address in spellings {
        let again = client.connect(address);
        assert_eq!(again, Err(ConnectError::AlreadyConnected), "{address}");
    }
    // The server's cookie is valid only if the client's address is spelled the same both times.
    assert_eq!(until(&mut client, &mut server, connected), (peer, plain));
    let (peer, address) = until(&mut server, &mut client, connected);
    assert_eq!(address.ip(), plain.ip());
    assert_eq!(server.address(peer), Some(address));
    for stats in [client.stats(), server.stats()] {
        assert_eq!(stats.ignored(Ignored::WrongAddress), 0);
        assert_eq!(stats.ignored(Ignored::UnknownNonce), 0);
    }
}

#[test]
fn two_spellings_of_an_ipv4_address_are_one_peer() {
    if has_dual_stack() {
        let mapped = Ipv4Addr::LOCALHOST.to_ipv6_mapped();
        let server = server("127.0.0.1:0");
        let port = server.local_addr().unwrap().port();
        let spellings = [(mapped, port).into(), (V4, port).into()];
        one_peer(server, client("[::]:0"), spellings, V4);
    }
}

#[test]
fn two_flow_labels_are_one_peer() {
    if has_ipv6() {
        let server = server("[::1]:0");
        let port = server.local_addr().unwrap().port();
        let labelled = SocketAddrV6::new(Ipv6Addr::LOCALHOST, port, 5, 0).into();
        one_peer(server, client("[::1]:0"), [labelled, (V6, port).into()], V6);
    }
}

#[test]
fn a_server_with_addresses_of_both_families_gets_one_connection() {
    if !has_dual_stack() {
        return;
    }
    for bind in ["[::]:0", "127.0.0.1:0"] {
        let (mut server, mut client) = (server("[::]:0"), client(bind));
        let port = server.local_addr().unwrap().port();
        let mapped = IpAddr::V6(Ipv4Addr::LOCALHOST.to_ipv6_mapped());
        let at = [V6, V4, mapped].map(|ip| SocketAddr::new(ip, port));
        let peer = client.connect_any(&at).unwrap();
        let (connected_peer, address) = until(&mut client, &mut server, connected);
        assert_eq!(connected_peer, peer);
        assert!(at[..2].contains(&address), "{address}");
        until(&mut server, &mut client, connected);
        for _ in 0..50 {
            server.step().unwrap();
            client.wait(TICK).unwrap();
        }
        assert_eq!(server.stats().connected, 1, "{bind}");
        assert_eq!(server.peers().count(), 1, "{bind}");
    }
}
