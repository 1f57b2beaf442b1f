//! Datagrams that find no room in the socket.

use alloc::sync::Arc;
use core::time::Duration;
use std::net::UdpSocket;

use porous_mio::MioHost;
use rustix::io::Errno;

use crate::event_loop::{EventLoop, LIMIT, READABLE, WRITABLE, sleeps, stranger};
use crate::faulty::{Directions, Faulty, faulty};

/// The time that the driver waits if no event reports room.
const RETRY: Duration = Duration::from_millis(5);

/// A host whose first datagram, to the stranger, found no room.
fn blocked() -> (MioHost<(), Faulty>, Arc<Directions>, UdpSocket) {
    let (mut host, faults) = faulty();
    let stranger = stranger();
    faults.send(|send| send.always = Some(Errno::AGAIN));
    host.connect(stranger.local_addr().unwrap()).unwrap();
    host.step().unwrap();
    assert!(host.endpoint().is_blocked());
    assert!(host.timeout().unwrap() <= RETRY);
    (host, faults, stranger)
}

fn assert_arrives(stranger: &UdpSocket) {
    let (len, _) = stranger.recv_from(&mut [0; 1500]).unwrap();
    assert!(len > 0);
}

#[test]
fn a_datagram_without_room_leaves_when_the_socket_is_writable() {
    let (host, faults, stranger) = blocked();
    let mut turns = EventLoop::new();
    turns.add(host, READABLE | WRITABLE);
    assert_eq!(turns.wait(LIMIT), [0]);
    let host = &mut turns.hosts[0];
    assert_eq!(host.timeout(), Some(Duration::ZERO), "at once");

    // The report of room was wrong: another program was faster.
    assert!(sleeps(host), "or it would spin");
    assert!(host.endpoint().is_blocked());

    faults.send(|send| send.always = None);
    turns
        .poll
        .registry()
        .reregister(&mut turns.hosts[0], mio::Token(0), WRITABLE)
        .unwrap();
    assert_eq!(turns.turn(LIMIT), 1);
    assert!(!turns.hosts[0].endpoint().is_blocked());
    assert_arrives(&stranger);
}

#[test]
fn a_datagram_without_room_is_tried_again_without_an_event() {
    let (host, faults, stranger) = blocked();
    let mut turns = EventLoop::new();
    turns.add(host, READABLE);
    let tries = faults.send(|send| send.calls);
    for tried in 1..4 {
        assert_eq!(turns.turn(LIMIT), 1, "one sleep was long enough");
        assert_eq!(faults.send(|send| send.calls), tries + tried);
    }
    faults.send(|send| send.always = None);
    turns.turn(LIMIT);
    assert!(!turns.hosts[0].endpoint().is_blocked());
    assert_arrives(&stranger);
}

#[test]
fn writability_that_nobody_waits_for_makes_nothing_due() {
    let (host, _) = faulty();
    let mut turns = EventLoop::new();
    turns.add(host, READABLE | WRITABLE);
    assert_eq!(turns.wait(LIMIT), [0]);
    assert_eq!(turns.hosts[0].timeout(), None);
}
