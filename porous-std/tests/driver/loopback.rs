//! The driver on real sockets.

use core::net::SocketAddr;
use core::time::Duration;

use crate::hosts::{LIMIT, client, connected, converse, elapsed, readable, server, until};
use porous_std::sim::{LinkConfig, Seed};
use porous_std::{
    ChannelId, Clock, Conditioner, Config, ConnectError, DisconnectReason, Ecn, Endpoint, Event,
    Instant, LinkConditioner, Listen, Mode, UdpHost,
};

#[test]
fn ipv4() {
    converse(
        server("127.0.0.1:0"),
        client("127.0.0.1:0"),
        [127, 0, 0, 1].into(),
    );
}

#[test]
fn a_greeting_comes_with_the_request() {
    let mut server = UdpHost::bind("127.0.0.1:0", Config::new()).unwrap();
    server.listen(Listen::Ask).unwrap();
    let mut client = client("127.0.0.1:0");
    let to = [server.local_addr().unwrap()];
    let too_long = client.connect_with(&to, &[7; 256]);
    assert_eq!(too_long, Err(ConnectError::TooLong));
    client.connect_with(&to, &[7; 255]).unwrap();
    let asks = |event| match event {
        Event::Request { peer, .. } => Some(peer),
        Event::Readable { .. } | _ => None,
    };
    let peer = until(&mut server, &mut client, asks);
    assert_eq!(server.peer(peer).unwrap().greeting(), [7; 255]);
    server.accept(peer).unwrap();
    until(&mut client, &mut server, connected);
}

#[test]
fn a_host_sends_at_the_end_of_a_tick_and_takes_nothing_in() {
    let (mut server, mut client) = (server("127.0.0.1:0"), client("127.0.0.1:0"));
    let to_server = client.connect(server.local_addr().unwrap()).unwrap();
    until(&mut client, &mut server, connected);
    let (to_client, _) = until(&mut server, &mut client, connected);
    let say = |host: &mut UdpHost, peer| {
        host.send(peer, ChannelId(0), &b"here"[..], Mode::Unreliable)
            .unwrap();
        host.transmit().unwrap();
    };
    say(&mut server, to_client);
    say(&mut client, to_server);
    assert_eq!(client.receive(to_server), None);
    // Loopback delivers at once.
    client.step().unwrap();
    server.step().unwrap();
    for (host, peer) in [(&mut client, to_server), (&mut server, to_client)] {
        assert_eq!(host.receive(peer).unwrap().payload, "here");
    }
}

/// The standard library parses addresses; text that is no address is an error.
#[test]
fn text_that_is_no_address_is_an_error() {
    for text in ["", "1.2.3.4:65536", "1.2.3.4"] {
        // when / then
        assert!(UdpHost::bind(text, Config::client()).is_err(), "{text}");
    }
    for (text, ip) in [("127.0.0.1:0", "127.0.0.1"), ("[::1]:80", "::1")] {
        let address: SocketAddr = text.parse().unwrap();
        assert_eq!(address.ip().to_string(), ip);
    }
}

/// Loses the first three datagrams and delays each of the others for a while.
#[derive(Default)]
struct Bad {
    taken: usize,
    held: Vec<(Instant, SocketAddr, Vec<u8>)>,
}

impl Conditioner for Bad {
    fn take(&mut self, now: Instant, to: SocketAddr, _: Ecn, datagram: &[u8]) -> bool {
        self.taken += 1;
        if self.taken > 3 {
            let due = now + Duration::from_millis(10);
            self.held.push((due, to, datagram.to_vec()));
        }
        true
    }

    fn release(&mut self, now: Instant) -> Option<(SocketAddr, Ecn, Vec<u8>)> {
        if self.next_release()? > now {
            return None;
        }
        let (_, to, datagram) = self.held.remove(0);
        Some((to, Ecn::NotEct, datagram))
    }

    fn next_release(&self) -> Option<Instant> {
        self.held.first().map(|(due, ..)| *due)
    }
}

#[test]
fn a_conditioner_stands_in_between() {
    let client = client("127.0.0.1:0").with_conditioner(Bad::default());
    converse(server("127.0.0.1:0"), client, [127, 0, 0, 1].into());
}

/// A line of 15 ms each way in front of real sockets, which the host is not told of, and a stranger that listens.
#[test]
fn a_datagram_on_a_simulated_link_wakes_its_host_when_it_is_due() {
    let stranger = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    stranger.set_read_timeout(Some(LIMIT)).unwrap();
    let mut client = client("127.0.0.1:0").with_conditioner(line(15));
    client.connect(stranger.local_addr().unwrap()).unwrap();
    let clock = Clock::start();
    client.wait(LIMIT).unwrap();
    stranger.recv_from(&mut [0; 1500]).unwrap();
    assert!(elapsed(&clock) >= Duration::from_millis(15));
    assert_eq!(client.stats().datagrams_sent, 1, "it did not sleep longer");
}

fn line(ms: u64) -> LinkConditioner {
    let delay = Duration::from_millis(ms);
    LinkConditioner::new(LinkConfig::new().delay(delay), Seed::new(1))
}

#[test]
fn a_connection_over_simulated_links_has_their_round_trip_and_its_marks() {
    let config = Config::new();
    let mut server = UdpHost::bind("127.0.0.1:0", config).unwrap();
    server.listen(Listen::Open).unwrap();
    let mut server = server.with_conditioner(line(15));
    let mut client = client("127.0.0.1:0").with_conditioner(line(15));
    let to_server = client.connect(server.local_addr().unwrap()).unwrap();
    until(&mut client, &mut server, connected);
    // In fragments, so that many datagrams are due at once and leave together.
    let level: Vec<u8> = (0..=250).cycle().take(20_000).collect();
    client
        .send(to_server, ChannelId(0), &level[..], Mode::Reliable)
        .unwrap();
    let to_client = until(&mut server, &mut client, readable);
    assert_eq!(server.receive(to_client).unwrap().payload, level);
    let stats = client.peer(to_server).unwrap().stats();
    assert!(stats.rtt >= Duration::from_millis(30), "{:?}", stats.rtt);
    // Where the system has marks, a link carries them, or the host would have given them up.
    assert_eq!(stats.ecn, cfg!(target_os = "linux"));
}

#[test]
fn nobody_there_is_a_timeout_and_no_error() {
    // The system answers each datagram to a closed port with an ICMP message.
    let gone = std::net::UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let config = Config::client()
        .connect_timeout(Duration::from_millis(300))
        .unwrap();
    let mut client = UdpHost::bind("127.0.0.1:0", config).unwrap();
    let peer = client.connect(gone).unwrap();
    let ended = |event| {
        let Event::Disconnected { peer, reason, .. } = event else {
            return None;
        };
        Some((peer, reason))
    };
    let ended = until(&mut client, &mut server("127.0.0.1:0"), ended);
    assert_eq!(ended, (peer, DisconnectReason::NeverAnswered));
}

/// Linux reports an ICMP error to a connected socket by the next call.
#[cfg(target_os = "linux")]
#[test]
fn an_icmp_error_is_counted_and_ends_no_connection() {
    let gone = std::net::UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(gone).unwrap();
    let mut client = UdpHost::from(Endpoint::plain(socket, Config::client()).unwrap());
    let peer = client.connect(gone).unwrap();
    client.step().unwrap();
    client.wait(LIMIT).unwrap();
    assert_eq!(client.socket_stats().receive_errors, 1);
    assert!(client.peer(peer).is_some());
    // The host has only one address that the error could be about.
    let address = gone;
    let told = Event::PortClosed { peer, address };
    assert_eq!(client.poll_event(), Some(told));
    assert_eq!(client.poll_event(), None);
}

#[test]
fn an_idle_host_sleeps_as_long_as_it_may() {
    let mut host = client("127.0.0.1:0");
    let clock = Clock::start();
    host.wait(Duration::from_millis(30)).unwrap();
    assert!(elapsed(&clock) >= Duration::from_millis(30));
    assert_eq!(host.endpoint().deadline(), None);
}

#[test]
fn strangers_are_counted_and_do_no_harm() {
    let mut host = server("127.0.0.1:0");
    let stranger = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = host.local_addr().unwrap();
    for len in [0, 1, 30, 1200, 65_507] {
        stranger.send_to(&vec![0xa5; len], to).unwrap();
    }
    host.wait(LIMIT).unwrap();
    host.step().unwrap();
    assert_eq!(host.stats().datagrams_received, 5);
    assert_eq!(host.stats().ignored_total(), 5);
    assert_eq!(host.peers().count(), 0);
}
