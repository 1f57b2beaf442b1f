//! Tests of each kind of error of a socket in an event loop. Everything that does not depend on a loop is
//! tested in porous-udp.

use alloc::sync::Arc;
use core::time::Duration;

use porous_mio::{Config, DisconnectReason, Event, MioHost};
use rustix::io::Errno;

use crate::event_loop::{EventLoop, READABLE, WRITABLE, stranger};
use crate::faulty::{Directions, Faulty, faulty};

/// One error of each row of the table that costs a datagram.
const LOST: [Errno; 5] = [
    Errno::CONNREFUSED,
    Errno::NETUNREACH,
    Errno::MSGSIZE,
    Errno::ACCESS,
    Errno::NOBUFS,
];

/// A host in a loop that has reported one datagram, which is still in the socket.
fn with_datagram() -> (EventLoop<(), Faulty>, Arc<Directions>) {
    let (host, faults) = faulty();
    let to = host.local_addr().unwrap();
    let mut turns = EventLoop::new();
    turns.add(host, READABLE | WRITABLE);
    stranger().send_to(b"hello", to).unwrap();
    turns.wait_until_due(0);
    (turns, faults)
}

fn taken(host: &MioHost<(), Faulty>) -> u64 {
    host.stats().datagrams_received
}

#[test]
fn an_error_in_place_of_a_datagram_hides_none_behind_it() {
    for errno in LOST {
        let (mut turns, faults) = with_datagram();
        faults.receive(|receive| receive.next.push_back(errno));
        let host = &mut turns.hosts[0];
        host.step().unwrap();
        let errors = host.socket_stats().receive_errors;
        assert_eq!((taken(host), errors), (1, 1), "{errno:?}");
        assert_eq!(host.timeout(), None);
    }
}

/// Attempts to send a datagram while a host connects. Where the system reports closed ports, an error may
/// be about a datagram sent before, and the datagram is tried again.
const TRIES: usize = if cfg!(target_os = "linux") { 2 } else { 1 };

#[test]
fn an_error_on_the_way_out_costs_one_datagram() {
    for errno in LOST {
        let (mut host, faults) = faulty();
        for _ in 0..TRIES {
            faults.send(|send| send.next.push_back(errno));
        }
        let stranger = stranger();
        let peer = host.connect(stranger.local_addr().unwrap()).unwrap();
        let mut turns = EventLoop::new();
        turns.add(host, READABLE | WRITABLE);
        turns.turn_until(0, |host| host.stats().datagrams_sent >= 1);
        let host = &mut turns.hosts[0];
        assert_eq!(host.socket_stats().send_lost, 1, "{errno:?}");
        if [Errno::NETUNREACH, Errno::ACCESS].contains(&errno) {
            let (reason, undelivered) = (DisconnectReason::Unreachable, 0);
            let ended = Event::Disconnected {
                peer,
                reason,
                undelivered,
            };
            assert_eq!(host.poll_event(), Some(ended), "{errno:?}");
            continue;
        }
        turns.turn_until(0, |host| host.stats().datagrams_sent == 2);
        assert_eq!(turns.hosts[0].socket_stats().send_lost, 1, "{errno:?}");
        stranger.recv_from(&mut [0; 1500]).unwrap();
    }
}

/// No event would report again what has arrived. Windows has no signals.
#[cfg(not(windows))]
#[test]
fn a_signal_is_not_taken_for_an_empty_socket() {
    let (mut turns, faults) = with_datagram();
    faults.receive(|receive| receive.next.push_back(Errno::INTR));
    turns.hosts[0].step().unwrap();
    assert_eq!(taken(&turns.hosts[0]), 1);
}

#[test]
fn a_broken_socket_ends_the_driver_and_forgets_nothing() {
    for errno in [Errno::BADF, Errno::NOTSOCK, Errno::NOTCONN] {
        let (mut turns, faults) = with_datagram();
        faults.receive(|receive| receive.next.push_back(errno));
        let host = &mut turns.hosts[0];
        let error = host.step().unwrap_err();
        assert_eq!(error.kind(), std::io::Error::from(errno).kind());
        // If the socket was not broken after all, the host goes on.
        assert_eq!(host.timeout(), Some(Duration::ZERO));
        host.step().unwrap();
        assert_eq!(taken(host), 1);
    }
}

#[test]
fn an_empty_socket_is_asked_once() {
    let (mut turns, faults) = with_datagram();
    let host = &mut turns.hosts[0];
    host.step().unwrap();
    let calls = faults.receive(|receive| receive.calls);
    for _ in 0..10 {
        host.step().unwrap();
    }
    assert_eq!(faults.receive(|receive| receive.calls), calls);
}

/// Linux reports ICMP errors: an error makes the socket ready although no datagram has come, and only that
/// makes the host due before its next request.
#[cfg(target_os = "linux")]
#[test]
fn an_icmp_error_is_reported_and_ends_no_attempt() {
    let gone = stranger().local_addr().unwrap();
    let mut host = MioHost::bind("127.0.0.1:0", Config::client()).unwrap();
    let peer = host.connect(gone).unwrap();
    let mut turns = EventLoop::<(), _>::new();
    turns.add(host, READABLE | WRITABLE);
    let address = gone;
    let told = turns.until(0, Some);
    assert_eq!(told, Event::PortClosed { peer, address });
    assert!(turns.hosts[0].peer(peer).is_some());
    assert_eq!(turns.hosts[0].stats().datagrams_sent, 1);
}
