//! Tests of the marks of congestion with which datagrams leave, on real sockets: what is received counts.
#![cfg(target_os = "linux")]

use core::net::SocketAddr;
use std::net::UdpSocket;

use porous_proto::Ecn::{self, Ce, Ect0, Ect1, NotEct};
use porous_proto::{Config, Listen};
use rustix::net::sockopt::{ip_tos, ipv6_tclass, set_ip_tos, set_ipv6_tclass};

use crate::Endpoint;
use crate::calls::{Remote, flush, put};
use crate::faulty::Faulty;

/// An address that a host is bound to, and those of its remote hosts.
type Place = (&'static str, &'static [&'static str]);

const V4: Place = ("127.0.0.1:0", &["127.0.0.1:0"]);
const V6: Place = ("[::1]:0", &["[::1]:0"]);
/// The host reaches its remote hosts of IPv4 by mapped addresses.
const MAPPED: Place = ("[::]:0", &["127.0.0.1:0"]);
const BOTH: Place = ("[::]:0", &["127.0.0.1:0", "[::1]:0"]);

/// The class of traffic of an application (DSCP), in the byte that marks are in: "expedited forwarding" of
/// RFC 3246.
const CLASS: u8 = 46 << 2;

/// The places that this machine has.
fn places() -> impl Iterator<Item = Place> {
    let places = [V4, V6, MAPPED, BOTH];
    places.into_iter().filter(|(host, _)| {
        let exists = UdpSocket::bind(host).is_ok();
        if !exists {
            eprintln!("skipped: this machine has no {host}");
        }
        exists
    })
}

fn host(at: &str) -> Endpoint<Faulty> {
    Endpoint::new(Faulty::bind(at), Config::new()).unwrap()
}

/// Sends a datagram with each of these marks, each to a remote host of its own, and checks what arrives.
/// Returns the calls that this took.
fn sends(host: &mut Endpoint<Faulty>, remotes: &[&str], marks: &[Ecn]) -> usize {
    let remotes = remotes.iter().cycle();
    let mut remotes: Vec<_> = marks
        .iter()
        .zip(remotes)
        .map(|(_, at)| Remote::at(at))
        .collect();
    for ((byte, mark), remote) in (0..).zip(marks).zip(&remotes) {
        put(host, remote.address(), byte, *mark);
    }
    let calls = flush(host);
    for ((byte, mark), remote) in (0..).zip(marks).zip(&mut remotes) {
        assert_eq!(remote.heard(), [(byte, *mark)], "{marks:?}");
    }
    calls
}

/// D9.
#[test]
fn each_datagram_leaves_with_its_own_mark_or_none() {
    let rows: [&[Ecn]; 6] = [
        // One alone, as nearly all clients send.
        &[Ect0],
        &[NotEct],
        &[NotEct, Ect0, NotEct, Ect0],
        // Runs that leave in one call, and one alone among them.
        &[Ect0, Ect0, NotEct, Ect0, Ect0, NotEct],
        &[NotEct, NotEct, Ect0, Ect0, Ect0, NotEct, NotEct],
        &[Ect0, Ect0, Ce, Ce, Ect1, Ect1, NotEct, Ce],
    ];
    for (at, remotes) in places() {
        let mut fresh = rows.map(|_| host(at));
        let mut one = host(at);
        for (row, fresh) in rows.into_iter().zip(&mut fresh) {
            sends(fresh, remotes, row);
            sends(&mut one, remotes, row);
        }
    }
}

#[test]
fn datagrams_with_one_mark_leave_in_one_call_for_both_families() {
    for (at, remotes) in places() {
        let mut host = host(at);
        assert_eq!(sends(&mut host, remotes, &[Ect0; 9]), 1);
        assert_eq!(sends(&mut host, remotes, &[NotEct; 9]), 1);
        let two = [[Ect0; 4], [NotEct; 4]].concat();
        assert_eq!(sends(&mut host, remotes, &two), 2);
    }
}

/// D9.
#[test]
fn trains_and_answers_from_an_address_leave_with_their_own_mark_or_none() {
    for (at, remotes) in places() {
        let mut host = host(at);
        for mark in [Ect0, NotEct, Ect0] {
            // The socket has the other mark.
            let other = if mark == Ect0 { NotEct } else { Ect0 };
            sends(&mut host, remotes, &[other; 2]);
            let mut remote = Remote::at(remotes[0]);
            for byte in 0..3 {
                put(&mut host, remote.address(), byte, mark);
            }
            flush(&mut host);
            assert_eq!(remote.heard(), [0, 1, 2].map(|byte| (byte, mark)));
        }
        host.listen(Listen::Open).unwrap();
        for mark in [NotEct, Ect0, NotEct] {
            let mut remote = Remote::at(remotes[0]);
            let (to, ours) = (remote.address(), remote.address().ip());
            let sources = &mut host.bound.socket.sources;
            sources.learn(to, Some(ours), None, |_| true);
            put(&mut host, to, 7, mark);
            flush(&mut host);
            assert_eq!(remote.heard(), [(7, mark)]);
        }
    }
}

/// After such an error quinn-udp takes the system for one that knows no marks in control messages of IPv4.
#[test]
fn a_refused_datagram_puts_no_mark_on_those_without() {
    for (at, remotes) in places() {
        let mut host = host(at);
        sends(&mut host, remotes, &[Ect0; 2]);
        let nobody = SocketAddr::new(Remote::at(remotes[0]).address().ip(), 0);
        put(&mut host, nobody, 7, Ce);
        flush(&mut host);
        assert_eq!(host.socket_stats().send_lost, 1);
        sends(&mut host, remotes, &[NotEct]);
        sends(&mut host, remotes, &[Ect0; 2]);
        let mut remote = Remote::at(remotes[0]);
        for byte in 0..2 {
            put(&mut host, remote.address(), byte, NotEct);
        }
        flush(&mut host);
        assert_eq!(remote.heard(), [(0, NotEct), (1, NotEct)]);
    }
}

#[test]
fn the_applications_class_of_traffic_stays() {
    for class in [CLASS, 0] {
        let mut host = host(V4.0);
        // Also one that is set while the host runs.
        sends(&mut host, V4.1, &[Ect0; 2]);
        set_ip_tos(host.socket().socket(), class | 2).unwrap();
        for (mark, bits) in [(NotEct, 0), (Ect0, 2), (NotEct, 0)] {
            sends(&mut host, V4.1, &[mark; 2]);
            assert_eq!(ip_tos(host.socket().socket()).unwrap(), class | bits);
        }
    }
    for (at, remotes) in places().filter(|(at, _)| at.starts_with('[')) {
        let socket = Faulty::bind(at);
        set_ipv6_tclass(socket.socket(), CLASS.into()).unwrap();
        let mut host = Endpoint::new(socket, Config::client()).unwrap();
        for mark in [Ect0, NotEct, Ect0] {
            sends(&mut host, remotes, &[mark; 4]);
            let class = ipv6_tclass(host.socket().socket()).unwrap() & !3;
            assert_eq!(class, u32::from(CLASS));
        }
    }
}

#[test]
fn a_mark_that_the_socket_came_with_is_on_no_datagram_without() {
    for (at, remotes) in places() {
        for marks in [[NotEct; 1].as_slice(), &[NotEct; 2], &[Ect0], &[Ect0; 2]] {
            let socket = Faulty::bind(at);
            set_ip_tos(socket.socket(), 3).unwrap();
            let _only_ipv6 = set_ipv6_tclass(socket.socket(), 3);
            let mut host = Endpoint::new(socket, Config::client()).unwrap();
            sends(&mut host, remotes, marks);
        }
    }
}
