//! Addresses that cannot be reached: some are refused beforehand, of others only the system knows.

use core::net::SocketAddr;
use core::time::Duration;
use std::net::UdpSocket;

use crate::hosts::{client, connected, elapsed, server, until};
use crate::threads::soon;
use porous_std::{
    BadAddress, Clock, ConnectError, DisconnectReason, Event, Output, PeerId, UdpHost,
};

/// Much less than the ten seconds of an attempt that no host answers.
const SOON: Duration = Duration::from_secs(3);

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

/// An address to which no socket is bound any more.
fn closed() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.local_addr().unwrap()
}

fn assert_refused(client: &mut UdpHost, to: SocketAddr, why: BadAddress) {
    let refused = Err(ConnectError::BadAddress(why));
    assert_eq!(client.connect(to), refused, "{to}");
    assert_eq!(client.connect_any(&[to, to]), refused, "{to}");
    assert_eq!(client.peers().count(), 0, "{to}");
}

#[test]
fn an_address_that_cannot_work_is_an_error() {
    let mut client = client("127.0.0.1:0");
    for (to, why) in [
        ("[::1]:4000", BadAddress::Family),
        ("127.0.0.1:0", BadAddress::PortZero),
        ("0.0.0.0:4000", BadAddress::Unspecified),
        ("[::]:4000", BadAddress::Unspecified),
        ("[::ffff:0.0.0.0]:4000", BadAddress::Unspecified),
        ("255.255.255.255:4000", BadAddress::Broadcast),
        ("224.0.0.1:4000", BadAddress::Broadcast),
        ("[ff02::1]:4000", BadAddress::Broadcast),
    ] {
        assert_refused(&mut client, address(to), why);
    }
    let own = client.local_addr().unwrap();
    assert_refused(&mut client, own, BadAddress::Itself);
}

#[test]
fn a_socket_of_ipv6_alone_does_not_speak_ipv4() {
    if UdpSocket::bind("[::1]:0").is_err() {
        eprintln!("skipped: this machine has no IPv6");
        return;
    }
    let mut client = client("[::1]:0");
    for to in ["127.0.0.1:4000", "[::ffff:127.0.0.1]:4000"] {
        assert_refused(&mut client, address(to), BadAddress::Family);
    }
}

/// A host that is bound to all addresses of its machine refuses each of them.
#[test]
fn a_host_is_itself_at_each_address_of_its_machine() {
    let mut client = client("0.0.0.0:0");
    let port = client.local_addr().unwrap().port();
    assert_refused(
        &mut client,
        ([127, 0, 0, 1], port).into(),
        BadAddress::Itself,
    );
    assert_refused(
        &mut client,
        ([127, 0, 0, 7], port).into(),
        BadAddress::Itself,
    );
    // An address that other machines have, and the same port: many players use one port.
    assert!(client.connect(([192, 0, 2, 1], port).into()).is_ok());
}

#[test]
fn the_error_for_a_listeners_own_address_names_the_loopback_address() {
    let server = server("0.0.0.0:0");
    let mut client = client("0.0.0.0:0");
    let error = client.connect(server.local_addr().unwrap()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("loopback address") && text.contains("127.0.0.1"),
        "{text}"
    );
}

#[test]
fn of_several_addresses_those_that_cannot_work_are_left_out() {
    let (mut server, mut client) = (server("127.0.0.1:0"), client("127.0.0.1:0"));
    let to = server.local_addr().unwrap();
    let mut all: Vec<_> = (1..=8).map(|n| address(&format!("[::1]:{n}"))).collect();
    all.extend([address("0.0.0.0:7"), to]);
    let peer = client.connect_any(&all).unwrap();
    assert_eq!(client.address(peer), Some(to));
    assert_eq!(until(&mut client, &mut server, connected), (peer, to));
    assert_eq!(client.connect_any(&[]), Err(ConnectError::NoAddress));
}

fn end(event: Event<SocketAddr>) -> Option<(PeerId, DisconnectReason)> {
    let Event::Disconnected { peer, reason, .. } = event else {
        return None;
    };
    Some((peer, reason))
}

/// The loopback address has no route to another machine.
#[test]
fn an_attempt_at_an_address_without_a_way_ends_at_once() {
    let mut client = client("127.0.0.1:0");
    let mut other = server("127.0.0.1:0");
    for to in ["192.0.2.1:4000", "127.255.255.255:4000"] {
        let clock = Clock::start();
        let peer = client.connect(address(to)).unwrap();
        let ended = until(&mut client, &mut other, end);
        assert_eq!(ended, (peer, DisconnectReason::Unreachable), "{to}");
        assert!(elapsed(&clock) < SOON, "{to}");
    }
}

#[test]
fn an_address_without_a_way_keeps_nobody_from_another() {
    let (mut server, mut client) = (server("127.0.0.1:0"), client("127.0.0.1:0"));
    let to = server.local_addr().unwrap();
    let peer = client
        .connect_any(&[address("192.0.2.1:4000"), to])
        .unwrap();
    assert_eq!(until(&mut client, &mut server, connected), (peer, to));
}

/// Only Linux reports it.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_port_is_told_and_ends_nothing() {
    let port_closed = |event| {
        let Event::PortClosed { peer, address } = event else {
            return None;
        };
        Some((peer, address))
    };
    let mut everywhere = vec!["127.0.0.1:0"];
    if UdpSocket::bind("[::]:0").is_ok() {
        everywhere.push("[::]:0");
    }
    for bind in everywhere {
        let (mut client, mut other) = (client(bind), server("127.0.0.1:0"));
        let to = closed();
        let clock = Clock::start();
        let peer = client.connect_any(&[to, closed()]).unwrap();
        let told = [(); 2].map(|()| until(&mut client, &mut other, port_closed));
        assert!(elapsed(&clock) < SOON);
        assert!(told.contains(&(peer, to)), "{told:?}");
        assert_eq!(client.address(peer), Some(to));
        // The server begins at last.
        let mut late = server(&to.to_string());
        assert_eq!(until(&mut client, &mut late, connected), (peer, to));
        // And the errors that the system reported do not keep the driver awake.
        let sleeps = |_| {
            let clock = Clock::start();
            late.step().unwrap();
            client.wait(Duration::from_millis(50)).unwrap();
            elapsed(&clock) > Duration::from_millis(10)
        };
        assert!((0..100).any(sleeps));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_port_costs_the_other_addresses_nothing() {
    let (mut server, mut client) = (server("127.0.0.1:0"), client("127.0.0.1:0"));
    let to = server.local_addr().unwrap();
    let clock = Clock::start();
    // After each datagram to a closed port the system has an error for the next call.
    let peer = client.connect_any(&[closed(), to, closed()]).unwrap();
    assert_eq!(until(&mut client, &mut server, connected), (peer, to));
    assert!(elapsed(&clock) < SOON);
    assert_eq!(client.socket_stats().send_lost, 0);
}

#[test]
fn a_thread_tells_that_an_address_cannot_work() {
    let mut client = client("127.0.0.1:0").spawn().unwrap();
    client.connect(address("127.0.0.1:0")).unwrap();
    let told = soon("an output", || client.poll());
    let why = ConnectError::BadAddress(BadAddress::PortZero);
    assert!(
        matches!(told, Output::NotConnecting { error, .. } if error == why),
        "{told:?}"
    );
}
