//! Tests of how many system calls a host makes, and of calls that carry datagrams to different addresses.

use core::iter;
use core::net::SocketAddr;
use std::io;
use std::net::UdpSocket;

use porous_proto::{Config, Ecn, Instant, Listen};
use rustix::io::Errno;

use crate::Endpoint;
use crate::faulty::{Failure, Faulty};
use crate::inbox::{Inbox, SLOTS};
use crate::many::{self, MANY};
use crate::outbox::Made;
use crate::socket::{Path, Socket};

type Open = fn(Faulty, Config) -> io::Result<Endpoint<Faulty>>;

fn host(open: Open) -> Endpoint<Faulty> {
    open(Faulty::bind("127.0.0.1:0"), Config::client()).unwrap()
}

/// Sends the host this number of datagrams, none of which the system joins to another. Returns the calls by
/// which the host takes them in.
fn receives(host: &mut Endpoint<Faulty>, datagrams: usize) -> usize {
    let to = host.local_addr().unwrap();
    for _ in 0..datagrams {
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        stranger.send_to(b"hello", to).unwrap();
    }
    let received = host.stats().datagrams_received;
    let calls = host.socket().faults.receive().calls;
    while host.receive_datagrams().unwrap() {}
    let received = host.stats().datagrams_received - received;
    assert_eq!(received, datagrams as u64, "loopback delivers at once");
    assert!(host.socket().faults.receive().would_block);
    host.socket().faults.receive().calls - calls
}

#[test]
fn a_call_that_finds_the_socket_empty_is_the_last() {
    let mut batched = host(Endpoint::new);
    let mut plain = host(Endpoint::plain);
    for datagrams in [0, 1, SLOTS - 1, SLOTS, SLOTS + 1] {
        assert_eq!(receives(&mut plain, datagrams), datagrams + 1);
        let calls = receives(&mut batched, datagrams);
        if cfg!(any(target_os = "linux", target_os = "android")) {
            assert_eq!(calls, datagrams / SLOTS + 1);
        } else {
            assert!(calls <= datagrams + 1);
        }
    }
}

/// An ICMP error behind a datagram shortens the call, too.
#[test]
fn a_host_that_asks_for_errors_receives_until_nothing_comes() {
    let mut host = host(Endpoint::new);
    host.connect(([127, 0, 0, 1], 9).into()).unwrap();
    if host.bound.socket.asks_for_closed_ports() {
        assert_eq!(receives(&mut host, 1), 2);
    }
}

/// Hosts that are not ours, each with a socket.
pub(crate) struct Remote {
    socket: Socket<UdpSocket>,
    inbox: Inbox,
}

impl Remote {
    fn new() -> Self {
        Self::at("127.0.0.1:0")
    }

    pub(crate) fn at(address: &str) -> Self {
        let socket = UdpSocket::bind(address).unwrap();
        let path = Path::batched(&socket);
        Self {
            socket: Socket::new(socket, path).unwrap(),
            inbox: Inbox::new(SLOTS),
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.socket.local_addr().unwrap()
    }

    /// The first bytes and the marks of the datagrams that have come.
    pub(crate) fn heard(&mut self) -> Vec<(u8, Ecn)> {
        let mut heard = Vec::new();
        while let Some(taken) = self.socket.receive(&mut self.inbox).unwrap() {
            let datagrams = self.inbox.datagrams(taken.slots);
            heard.extend(datagrams.map(|(origin, datagram)| (datagram[0], origin.ecn)));
        }
        heard
    }
}

fn remotes(count: usize) -> Vec<Remote> {
    (0..count).map(|_| Remote::new()).collect()
}

/// Puts a datagram of this one byte into the outbox of the host.
pub(crate) fn put(host: &mut Endpoint<Faulty>, to: SocketAddr, byte: u8, ecn: Ecn) {
    host.bound.outbox.room(1).unwrap()[0] = byte;
    let made = Made {
        to,
        ecn,
        to_stranger: false,
        len: 1,
    };
    assert!(host.bound.outbox.push(made, MANY, Instant::ZERO));
}

/// Sends what is in the outbox. Returns the calls that this took.
pub(crate) fn flush(host: &mut Endpoint<Faulty>) -> usize {
    let calls = host.socket().faults.send().calls;
    host.bound.outbox.begin();
    host.bound.flush(Instant::ZERO).unwrap();
    host.socket().faults.send().calls - calls
}

/// The marks of datagrams, where the system reports them.
fn is_mark(found: Ecn, sent: Ecn) -> bool {
    found == sent || !cfg!(target_os = "linux")
}

#[test]
fn one_call_sends_to_many_addresses_and_each_gets_its_own() {
    for mark in [Ecn::NotEct, Ecn::Ect0] {
        let mut host = host(Endpoint::new);
        let mut remotes = remotes(MANY + 3);
        for (byte, remote) in (0..).zip(&remotes) {
            put(&mut host, remote.address(), byte, mark);
        }
        let expected = if many::EXISTS { 2 } else { remotes.len() };
        assert_eq!(flush(&mut host), expected, "{mark:?}");
        for (byte, remote) in (0..).zip(&mut remotes) {
            let heard = remote.heard();
            assert!(heard.len() == 1 && heard[0].0 == byte && is_mark(heard[0].1, mark));
        }
        assert_eq!(host.socket_stats().send_lost, 0);
    }
}

#[test]
fn a_plain_host_sends_to_one_address_at_a_time() {
    let mut host = host(Endpoint::plain);
    let mut remotes = remotes(3);
    for (byte, remote) in (0..).zip(&remotes) {
        put(&mut host, remote.address(), byte, Ecn::NotEct);
    }
    assert_eq!(flush(&mut host), 3);
    for (byte, remote) in (0..).zip(&mut remotes) {
        assert_eq!(remote.heard(), [(byte, Ecn::NotEct)]);
    }
}

#[test]
fn addresses_that_cannot_be_reached_cost_the_others_nothing() {
    for mark in [Ecn::NotEct, Ecn::Ect0] {
        bad_addresses_cost_nothing(mark);
    }
}

fn bad_addresses_cost_nothing(mark: Ecn) {
    let mut host = host(Endpoint::new);
    let mut remotes = remotes(10);
    let bad = ["[::1]:9", "127.0.0.1:0", "[::1]:9", "127.0.0.1:0"];
    let mut bad = bad.iter().map(|to| to.parse().unwrap());
    // First, in the middle, two in a row, and last.
    for (byte, remote) in (0..).zip(&remotes) {
        if [0, 3, 4].contains(&byte) {
            put(&mut host, bad.next().unwrap(), 99, mark);
        }
        put(&mut host, remote.address(), byte, mark);
    }
    put(&mut host, bad.next().unwrap(), 99, mark);
    flush(&mut host);
    for (byte, remote) in (0..).zip(&mut remotes) {
        let heard = remote.heard();
        assert!(heard.len() == 1 && heard[0].0 == byte, "{heard:?}");
    }
    let stats = host.socket_stats();
    assert_eq!((stats.send_lost, stats.send_delayed), (4, 0));
}

#[test]
fn datagrams_for_which_there_is_no_room_leave_later_and_in_order() {
    for blocked in 1..12 {
        let mut host = host(Endpoint::new);
        let mut remotes = remotes(8);
        for byte in 0..3 {
            for remote in &remotes {
                put(&mut host, remote.address(), byte, Ecn::NotEct);
            }
        }
        let failures = iter::repeat_n(Failure::Number(Errno::AGAIN), blocked);
        host.socket().faults.send().next.extend(failures);
        let calls = flush(&mut host);
        assert!(calls <= 8 * 3 + 2, "{calls}");
        host.socket().faults.send().next.clear();
        while !host.bound.outbox.is_empty() {
            flush(&mut host);
        }
        for remote in &mut remotes {
            let bytes: Vec<_> = remote.heard().iter().map(|(byte, _)| *byte).collect();
            assert_eq!(bytes, [0, 1, 2]);
        }
        assert_eq!(host.socket_stats().send_lost, 0);
    }
}

#[test]
fn a_socket_without_room_is_asked_once_for_many_and_then_for_four_addresses() {
    let mut host = host(Endpoint::new);
    let remotes = remotes(8);
    for remote in &remotes {
        put(&mut host, remote.address(), 7, Ecn::NotEct);
    }
    host.socket().faults.send().always = Some(Errno::AGAIN.into());
    assert_eq!(flush(&mut host), usize::from(many::EXISTS) + 4);
    assert!(host.is_blocked());
}

/// Its answers have to come from the address that was asked, which only a call for one address can say.
#[test]
fn a_host_that_listens_at_all_addresses_sends_to_one_at_a_time() {
    let mut host = Endpoint::new(Faulty::bind("0.0.0.0:0"), Config::new()).unwrap();
    host.listen(Listen::Open).unwrap();
    let mut remotes = remotes(5);
    for remote in &remotes {
        put(&mut host, remote.address(), 7, Ecn::Ect0);
    }
    assert_eq!(flush(&mut host), 5);
    for remote in &mut remotes {
        assert_eq!(remote.heard().len(), 1);
    }
}
