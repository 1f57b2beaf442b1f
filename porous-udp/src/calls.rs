//! Tests of how many system calls a host makes.

use core::cell::Cell;
use core::net::SocketAddr;
use std::io;
use std::net::UdpSocket;

use porous_proto::Config;
use socket2::SockRef;

use crate::inbox::SLOTS;
use crate::{Endpoint, SystemSocket, bind};

/// A socket that counts its calls.
#[derive(Debug)]
struct Counted {
    socket: UdpSocket,
    receives: Cell<usize>,
}

impl SystemSocket for Counted {
    fn options(&self) -> SockRef<'_> {
        self.socket.options()
    }

    fn send_to(&self, datagram: &[u8], to: SocketAddr) -> io::Result<usize> {
        self.socket.send_to(datagram, to)
    }

    fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.try_receive(|| self.socket.recv_from(buffer))
    }

    fn try_receive<T>(&self, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.receives.set(self.receives.get() + 1);
        call()
    }
}

type Open = fn(Counted, Config) -> io::Result<Endpoint<Counted>>;

fn host(open: Open) -> Endpoint<Counted> {
    let socket = Counted {
        socket: bind("127.0.0.1:0").unwrap(),
        receives: Cell::new(0),
    };
    open(socket, Config::client()).unwrap()
}

/// Sends the host this number of datagrams, none of which the system joins to another. Returns the calls by
/// which the host takes them in.
fn receives(host: &mut Endpoint<Counted>, datagrams: usize) -> usize {
    let to = host.local_addr().unwrap();
    for _ in 0..datagrams {
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        stranger.send_to(b"hello", to).unwrap();
    }
    let received = host.stats().datagrams_received;
    let calls = host.socket().receives.get();
    while host.receive_datagrams().unwrap() {}
    let received = host.stats().datagrams_received - received;
    assert_eq!(received, datagrams as u64, "loopback delivers at once");
    host.socket().receives.get() - calls
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
