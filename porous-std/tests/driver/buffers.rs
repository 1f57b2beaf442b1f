//! Socket buffers on a real socket.

use crate::hosts::{client, server};
use porous_std::{Config, SocketBuffers, UdpHost};

/// The datagrams that the host finds, of `datagrams` that came at once.
fn burst(host: &mut UdpHost, datagrams: u64) -> u64 {
    let stranger = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = host.local_addr().unwrap();
    let before = host.stats().datagrams_received;
    for _ in 0..datagrams {
        stranger.send_to(&[0xa5; 1200], to).unwrap();
    }
    for _ in 0..10 {
        host.step().unwrap();
    }
    host.stats().datagrams_received - before
}

#[test]
fn a_burst_of_what_the_buffers_report_survives() {
    let mut host = server("127.0.0.1:0");
    let large = host.endpoint().socket_buffers().unwrap().receive;
    // Linux charges 2304 bytes for one of these, others less.
    let datagrams = u64::try_from(large).unwrap() / 4096;
    assert_eq!(burst(&mut host, datagrams), datagrams, "of {large} bytes");

    let small = host
        .endpoint()
        .set_socket_buffers(SocketBuffers {
            receive: 8192,
            send: 8192,
        })
        .unwrap();
    assert!(small.receive < large / 4, "{small:?} of {large}");
    assert!(burst(&mut host, datagrams) < datagrams, "{small:?}");
}

#[test]
fn more_than_the_system_allows_is_no_error() {
    let host = client("127.0.0.1:0");
    let usual = host.endpoint().socket_buffers().unwrap();
    let all = SocketBuffers {
        receive: usize::MAX,
        send: usize::MAX,
    };
    let given = host.endpoint().set_socket_buffers(all).unwrap();
    assert_eq!(given, host.endpoint().socket_buffers().unwrap());
    assert!(
        given.receive >= usual.receive && given.send >= usual.send,
        "{given:?}"
    );
}

#[test]
fn a_socket_taken_over_keeps_its_buffers() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let taken_over = UdpHost::from_socket(socket, Config::new()).unwrap();
    let bound = client("127.0.0.1:0");
    let (system, ours) = (
        taken_over.endpoint().socket_buffers().unwrap(),
        bound.endpoint().socket_buffers().unwrap(),
    );
    assert!(system.receive <= ours.receive && system.send <= ours.send);
    #[cfg(target_os = "linux")]
    {
        let limit = |name| -> usize {
            let text = std::fs::read_to_string(format!("/proc/sys/net/core/{name}")).unwrap();
            text.trim().parse().unwrap()
        };
        let wanted = SocketBuffers::default();
        assert_eq!(system.receive, limit("rmem_default"));
        assert_eq!(ours.receive, 2 * wanted.receive.min(limit("rmem_max")));
        assert_eq!(ours.send, 2 * wanted.send.min(limit("wmem_max")));
    }
}
