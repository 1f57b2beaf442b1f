//! The driver on real sockets. Each test ends by itself, also if nothing works.
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use porous_std::{
    ChannelId, Clock, Conditioner, Config, DisconnectReason, Event, Instant, Listen, Mode, PeerId,
    UdpHost,
};

/// Far more than anything here takes.
const LIMIT: Duration = Duration::from_secs(20);

const TICK: Duration = Duration::from_millis(1);

fn elapsed(clock: &Clock) -> Duration {
    clock.now().saturating_duration_since(Instant::ZERO)
}

/// The events of this host until `wanted` is one of them; `other` is driven meanwhile.
fn until<T, C: Conditioner, D: Conditioner>(
    host: &mut UdpHost<C>,
    other: &mut UdpHost<D>,
    wanted: impl Fn(Event<SocketAddr>) -> Option<T>,
) -> T {
    let clock = Clock::start();
    while elapsed(&clock) < LIMIT {
        other.step().unwrap();
        host.wait(TICK).unwrap();
        while let Some(event) = host.poll_event() {
            if let Some(found) = wanted(event) {
                return found;
            }
        }
    }
    panic!("the event did not come");
}

fn connected(event: Event<SocketAddr>) -> Option<(PeerId, SocketAddr)> {
    let Event::Connected { peer, address } = event else {
        return None;
    };
    Some((peer, address))
}

fn readable(event: Event<SocketAddr>) -> Option<PeerId> {
    let Event::Readable { peer } = event else {
        return None;
    };
    Some(peer)
}

fn server(address: &str) -> UdpHost {
    let mut server = UdpHost::bind(address, Config::new()).unwrap();
    server.listen(Listen::Open).unwrap();
    server
}

/// Connects, and sends a packet each way.
fn converse<C: Conditioner>(mut server: UdpHost, mut client: UdpHost<C>, to: IpAddr) {
    let to = SocketAddr::new(to, server.local_addr().unwrap().port());
    let peer = client.connect(to).unwrap();
    assert_eq!(until(&mut client, &mut server, connected), (peer, to));
    client
        .send(peer, ChannelId(0), &b"there"[..], Mode::Reliable)
        .unwrap();

    let (peer, address) = until(&mut server, &mut client, connected);
    assert_eq!(address.ip(), to.ip(), "as the client has it");
    assert_eq!(address.port(), client.local_addr().unwrap().port());
    assert_eq!(server.address(peer), Some(address));
    let readable_peer = until(&mut server, &mut client, readable);
    assert_eq!(readable_peer, peer);
    assert_eq!(server.receive(peer).unwrap().payload, "there");

    server
        .send(peer, ChannelId(0), vec![7; 5000], Mode::Passive)
        .unwrap();
    let peer = until(&mut client, &mut server, readable);
    assert_eq!(client.receive(peer).unwrap().payload, vec![7; 5000]);
}

fn client(address: &str) -> UdpHost {
    UdpHost::bind(address, Config::client()).unwrap()
}

#[test]
fn ipv4() {
    converse(
        server("127.0.0.1:0"),
        client("127.0.0.1:0"),
        [127, 0, 0, 1].into(),
    );
}

/// Not every machine has IPv6; there this shows nothing.
fn has_ipv6() -> bool {
    std::net::UdpSocket::bind("[::1]:0").is_ok()
}

#[test]
fn ipv6() {
    if has_ipv6() {
        let ip = IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1_u16]);
        converse(server("[::1]:0"), client("[::1]:0"), ip);
    }
}

#[test]
fn an_ipv4_client_of_an_ipv6_socket_has_an_ipv4_address() {
    if has_ipv6() && cfg!(target_os = "linux") {
        converse(
            server("[::]:0"),
            client("127.0.0.1:0"),
            [127, 0, 0, 1].into(),
        );
        converse(
            server("127.0.0.1:0"),
            client("[::]:0"),
            [127, 0, 0, 1].into(),
        );
    }
}

/// Loses the first ten datagrams and delays each of the others for a while.
#[derive(Default)]
struct Bad {
    taken: usize,
    held: Vec<(Instant, SocketAddr, Vec<u8>)>,
}

impl Conditioner for Bad {
    fn take(&mut self, now: Instant, to: SocketAddr, datagram: &[u8]) -> bool {
        self.taken += 1;
        if self.taken > 10 {
            let due = now + Duration::from_millis(10);
            self.held.push((due, to, datagram.to_vec()));
        }
        true
    }

    fn release(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        if self.next_release()? > now {
            return None;
        }
        let (_, to, datagram) = self.held.remove(0);
        Some((to, datagram))
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

#[test]
fn nobody_there_is_a_timeout_and_no_error() {
    // Where nobody listens, the system answers each datagram with an ICMP message.
    let gone = std::net::UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let config = Config::client().connect_timeout(Duration::from_millis(300));
    let mut client = UdpHost::bind("127.0.0.1:0", config).unwrap();
    let peer = client.connect(gone).unwrap();
    let ended = |event| {
        let Event::Disconnected { peer, reason, .. } = event else {
            return None;
        };
        Some((peer, reason))
    };
    let ended = until(&mut client, &mut server("127.0.0.1:0"), ended);
    assert_eq!(ended, (peer, DisconnectReason::TimedOut));
}

#[test]
fn an_idle_host_sleeps_as_long_as_it_may() {
    let mut host = client("127.0.0.1:0");
    let clock = Clock::start();
    host.wait(Duration::from_millis(30)).unwrap();
    assert!(elapsed(&clock) >= Duration::from_millis(30));
    assert_eq!(host.deadline(), None);
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
