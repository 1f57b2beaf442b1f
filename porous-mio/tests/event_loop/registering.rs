//! Hosts as sources of events.

use core::time::Duration;

use mio::Token;
use porous_mio::{Config, MioHost};

use crate::event_loop::{EventLoop, LIMIT, READABLE, WRITABLE, client, server, stranger};

const NOW: Duration = Duration::ZERO;

/// A server in a loop, and a datagram for it on its way.
fn knock(turns: &EventLoop) {
    let to = turns.hosts[0].local_addr().unwrap();
    stranger().send_to(b"knock", to).unwrap();
}

/// A loop with one host under token 0, and one host that is deregistered.
fn loop_of_two() -> EventLoop {
    let mut turns = EventLoop::new();
    turns.add(server(), READABLE);
    turns.add(server(), READABLE);
    turns.wait(NOW);
    turns
}

#[test]
fn a_host_that_is_registered_for_reading_only_does_all() {
    let mut turns = EventLoop::<()>::new();
    for host in [server(), client()] {
        turns.add(host, READABLE);
    }
    turns.converse(1, 0);
}

#[test]
fn hosts_that_are_registered_for_both_do_all() {
    let mut turns = EventLoop::<()>::new();
    for host in [server(), client()] {
        turns.add(host, READABLE | WRITABLE);
    }
    turns.converse(1, 0);
}

#[test]
fn a_plain_endpoint_does_too() {
    use porous_mio::{Endpoint, Listen, MioSocket};

    let open = |config| {
        let socket = mio::net::UdpSocket::bind(([127, 0, 0, 1], 0).into()).unwrap();
        MioHost::from(Endpoint::plain(MioSocket::from(socket), config).unwrap())
    };
    let mut turns = EventLoop::<()>::new();
    let mut server = open(Config::new());
    server.listen(Listen::Open).unwrap();
    turns.add(server, READABLE | WRITABLE);
    turns.add(open(Config::client()), READABLE | WRITABLE);
    turns.converse(1, 0);
}

#[test]
fn another_token_can_be_given() {
    let mut turns = loop_of_two();
    let registry = turns.poll.registry();
    registry.deregister(&mut turns.hosts[1]).unwrap();
    registry
        .reregister(&mut turns.hosts[0], Token(1), READABLE)
        .unwrap();
    knock(&turns);
    assert_eq!(turns.wait(LIMIT), [1]);
}

#[test]
fn a_host_that_is_no_longer_registered_is_not_told() {
    let mut turns = loop_of_two();
    turns
        .poll
        .registry()
        .deregister(&mut turns.hosts[0])
        .unwrap();
    knock(&turns);
    assert!(turns.wait(NOW).is_empty());
    assert_eq!(turns.hosts[0].timeout(), None);
    turns.hosts[0].step().unwrap();
    assert_eq!(turns.hosts[0].stats().datagrams_received, 0);

    // A datagram that came meanwhile is reported when the socket is watched again.
    turns
        .poll
        .registry()
        .register(&mut turns.hosts[0], Token(0), READABLE)
        .unwrap();
    assert_eq!(turns.wait(LIMIT), [0]);
    turns.hosts[0].step().unwrap();
    assert_eq!(turns.hosts[0].stats().datagrams_received, 1);
}

#[test]
fn a_second_registration_is_the_systems_error() {
    let mut turns = loop_of_two();
    let again = turns
        .poll
        .registry()
        .register(&mut turns.hosts[0], Token(0), READABLE);
    assert_eq!(again.unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
    // The first registration still holds.
    knock(&turns);
    assert_eq!(turns.wait(LIMIT), [0]);
}

#[test]
fn what_was_told_is_not_forgotten_when_more_is_told() {
    let mut turns = loop_of_two();
    knock(&turns);
    assert_eq!(turns.wait(LIMIT), [0]);
    turns
        .poll
        .registry()
        .reregister(&mut turns.hosts[0], Token(0), WRITABLE)
        .unwrap();
    assert_eq!(turns.wait(LIMIT), [0]);
    turns.hosts[0].step().unwrap();
    assert_eq!(turns.hosts[0].stats().datagrams_received, 1);
}

#[test]
fn what_was_told_before_a_conditioner_came_is_not_forgotten() {
    let mut turns = loop_of_two();
    knock(&turns);
    turns.wait(LIMIT);
    let host = turns.hosts.remove(0);
    let mut host = host.with_conditioner(());
    assert_eq!(host.timeout(), Some(NOW));
    host.step().unwrap();
    assert_eq!(host.stats().datagrams_received, 1);
}
