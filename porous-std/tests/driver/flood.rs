//! Strangers whose datagrams come before those of a client, on real sockets.

use core::time::Duration;
use std::net::UdpSocket;

use porous_std::congestion::Congestion;
use porous_std::{ChannelId, Clock, Config, Ignored, Mode, UdpHost};

use crate::hosts::{LIMIT, client, connected, elapsed, server, until};

/// Linux charges 768 bytes for a tiny datagram, others less.
const CHARGE: usize = 1024;

/// A step is bounded by time, not by a number of datagrams: an earlier bound of 1024 delayed the client.
#[test]
fn a_datagram_behind_thousands_of_strangers_is_heard_in_the_same_step() {
    let mut server = server("127.0.0.1:0");
    // Enough time for a slow machine.
    server.set_time_limit(Duration::from_secs(10));
    let mut client = client("127.0.0.1:0");
    let to = server.local_addr().unwrap();
    let to_server = client.connect(to).unwrap();
    until(&mut client, &mut server, connected);
    let (to_client, _) = until(&mut server, &mut client, connected);

    let room = server.endpoint().socket_buffers().unwrap().receive / CHARGE;
    if room < 2000 {
        eprintln!("shows little: the system gives a buffer for {room} datagrams");
    }
    let strangers: Vec<_> = (0..8)
        .map(|_| UdpSocket::bind("127.0.0.1:0").unwrap())
        .collect();
    for stranger in strangers.iter().cycle().take(room) {
        stranger.send_to(&[0xa5; 8], to).unwrap();
    }
    client
        .send(to_server, ChannelId(0), &b"here"[..], Mode::Unreliable)
        .unwrap();
    client.step().unwrap();
    let before = server.stats().datagrams_received;
    server.step().unwrap();
    let taken = server.stats().datagrams_received - before;
    assert!(taken > room.try_into().unwrap(), "{taken} of {room}");
    assert_eq!(server.receive(to_client).unwrap().payload, "here");
}

/// 128 empty packets in each datagram, as fast as the machine can: most datagrams are refused, and another
/// client is answered at once.
#[test]
fn a_peer_whose_datagrams_are_mostly_work_is_held_back() {
    let mut server = server("127.0.0.1:0");
    let to = server.local_addr().unwrap();
    let fast = Congestion::Fixed { rate: u32::MAX };
    let mut enemy = UdpHost::bind("127.0.0.1:0", Config::client().congestion(fast)).unwrap();
    let from_enemy = enemy.connect(to).unwrap();
    until(&mut enemy, &mut server, connected);
    let mut client = client("127.0.0.1:0");
    let from_client = client.connect(to).unwrap();
    until(&mut client, &mut server, connected);

    let (clock, mut answers) = (Clock::start(), 0_u32);
    let refused = |server: &UdpHost| server.stats().ignored(Ignored::TooMuchWork);
    while refused(&server) < 100 || answers < 20 {
        assert!(elapsed(&clock) < LIMIT, "{answers}, {}", refused(&server));
        for _ in 0..10_000 {
            let _ = enemy.send(from_enemy, ChannelId(0), &b""[..], Mode::Unreliable);
        }
        enemy.step().unwrap();
        client
            .send(from_client, ChannelId(0), &b"here"[..], Mode::Unreliable)
            .unwrap();
        client.step().unwrap();
        server.step().unwrap();
        let readable: Vec<_> = server.readable().collect();
        for peer in readable {
            while let Some(packet) = server.receive(peer) {
                answers += u32::from(packet.payload == "here");
            }
        }
    }
}
