//! Tests of datagrams with a suffix, on real sockets: what a proxy gets, and in how many calls.

use core::net::SocketAddr;
use core::time::Duration;
use std::net::UdpSocket;

use porous_proto::{ChannelId, Config, Disconnect, Event, Listen, Mode};

use crate::faulty::Faulty;
use crate::{Endpoint, SuffixError};

const SUFFIX: &[u8] = b"a token, 16 long";

/// A proxy for one client and one server, which expects a suffix behind each datagram.
struct Proxy {
    outside: UdpSocket,
    inside: UdpSocket,
    server: SocketAddr,
    suffix: &'static [u8],
    client: Option<SocketAddr>,
    /// The datagrams that came from the client.
    heard: Vec<Vec<u8>>,
}

impl Proxy {
    fn new(server: SocketAddr, suffix: &'static [u8]) -> Self {
        let open = || {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.set_nonblocking(true).unwrap();
            socket
        };
        Self {
            outside: open(),
            inside: open(),
            server,
            suffix,
            client: None,
            heard: Vec::new(),
        }
    }

    fn address(&self) -> SocketAddr {
        self.outside.local_addr().unwrap()
    }

    fn step(&mut self) {
        let mut buffer = [0; 2048];
        while let Ok((len, from)) = self.outside.recv_from(&mut buffer) {
            self.client = Some(from);
            self.heard.push(buffer[..len].into());
            if let Some(datagram) = buffer[..len].strip_suffix(self.suffix) {
                self.inside.send_to(datagram, self.server).unwrap();
            }
        }
        while let Ok((len, _)) = self.inside.recv_from(&mut buffer) {
            let client = self.client.unwrap();
            self.outside.send_to(&buffer[..len], client).unwrap();
        }
    }
}

/// A socket to which a host sends. It waits for a datagram, but not for ever.
fn remote() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let limit = Duration::from_secs(10);
    socket.set_read_timeout(Some(limit)).unwrap();
    socket
}

/// A client that is connected to the server through the proxy.
fn connected(suffix: &'static [u8]) -> (Endpoint<Faulty>, Proxy, Endpoint<Faulty>) {
    let mut server = Endpoint::new(Faulty::bind("127.0.0.1:0"), Config::new()).unwrap();
    server.listen(Listen::Open).unwrap();
    let mut proxy = Proxy::new(server.local_addr().unwrap(), suffix);
    let mut client = Endpoint::new(Faulty::bind("127.0.0.1:0"), Config::client()).unwrap();
    client.set_suffix(proxy.address(), suffix).unwrap();
    client.connect(proxy.address()).unwrap();
    for _ in 0..1_000_000 {
        for host in [&mut client, &mut server] {
            host.receive_datagrams().unwrap();
            host.transmit().unwrap();
            proxy.step();
        }
        if let Some(Event::Connected { .. }) = client.poll_event() {
            return (client, proxy, server);
        }
    }
    panic!("not connected");
}

/// Sends a packet in fragments by datagrams with this suffix. Returns what the proxy got, and the calls.
fn sends_a_packet(suffix: &'static [u8]) -> (Vec<Vec<u8>>, usize) {
    let (mut client, mut proxy, _server) = connected(suffix);
    let (peer, _) = client.peers().next().unwrap();
    client.transmit().unwrap();
    proxy.step();
    proxy.heard.clear();
    let calls = client.socket().faults.send().calls;
    let sent = client.send(peer, ChannelId(0), vec![7; 9000], Mode::Reliable);
    sent.unwrap();
    client.transmit().unwrap();
    let calls = client.socket().faults.send().calls - calls;
    proxy.step();
    (proxy.heard, calls)
}

#[test]
fn batches_stay_whole_and_each_datagram_in_them_has_its_suffix() {
    let (without, calls) = sends_a_packet(b"");
    let (with, calls_with) = sends_a_packet(SUFFIX);
    assert!(with.len() > 4, "{}", with.len());
    assert_eq!((with.len(), calls_with), (without.len(), calls));
    assert!(with.iter().all(|datagram| datagram.ends_with(SUFFIX)));
    // What the configuration says counts with the suffix. The delay of an acknowledgement takes a few bytes, or none.
    let difference = with[0].len().abs_diff(without[0].len());
    assert!(difference < SUFFIX.len(), "{difference}");
}

#[test]
fn requests_are_longer_by_the_suffix_and_a_goodbye_has_it() {
    let (client, mut proxy, mut server) = connected(SUFFIX);
    assert_eq!(proxy.heard[0].len(), 1200 + SUFFIX.len());
    proxy.heard.clear();
    drop(client);
    proxy.step();
    assert!(proxy.heard.iter().all(|it| it.ends_with(SUFFIX)));
    server.receive_datagrams().unwrap();
    let mut events = core::iter::from_fn(|| server.poll_event());
    assert!(events.any(|event| matches!(event, Event::Disconnected { .. })));
}

#[test]
fn a_suffix_is_set_between_connections_and_has_at_most_32_bytes() {
    let (mut client, proxy, _server) = connected(SUFFIX);
    let at = proxy.address();
    let mapped = SocketAddr::new("::ffff:127.0.0.1".parse().unwrap(), at.port());
    for spelling in [at, mapped] {
        let late = client.set_suffix(spelling, b"");
        assert_eq!(late, Err(SuffixError::Connected));
    }
    let other = ([127, 0, 0, 1], 9).into();
    assert_eq!(
        client.set_suffix(other, &[7; 33]),
        Err(SuffixError::TooLong)
    );
    assert_eq!(client.set_suffix(other, &[7; 32]), Ok(()));
    client.disconnect_all(Disconnect::Now { reason: 0 });
    assert_eq!(client.set_suffix(at, b"of the next match"), Ok(()));
    assert_eq!(client.set_suffix(at, b""), Ok(()));
}

#[test]
fn a_host_with_the_longest_datagrams_has_room_for_a_suffix() {
    let remote = remote();
    let to = remote.local_addr().unwrap();
    let config = Config::client().max_datagram(65_507).unwrap();
    let mut client = Endpoint::new(Faulty::bind("127.0.0.1:0"), config).unwrap();
    client.set_suffix(to, SUFFIX).unwrap();
    client.connect(to).unwrap();
    client.transmit().unwrap();
    let mut buffer = [0; 2048];
    let len = remote.recv(&mut buffer).unwrap();
    assert_eq!(len, 1200 + SUFFIX.len());
    assert!(buffer[..len].ends_with(SUFFIX));
}

/// The addresses of one attempt may be those of a proxy and of the server itself.
#[test]
fn each_address_of_an_attempt_has_its_own_suffix() {
    let remotes = [(); 3].map(|()| remote());
    let to = [0, 1, 2].map(|remote: usize| remotes[remote].local_addr().unwrap());
    let mut client = Endpoint::new(Faulty::bind("127.0.0.1:0"), Config::client()).unwrap();
    client.set_suffix(to[0], b"long").unwrap();
    client.set_suffix(to[1], b"it").unwrap();
    client.connect_any(&to).unwrap();
    client.transmit().unwrap();
    for (remote, suffix) in remotes.iter().zip([&b"long"[..], b"it", b""]) {
        let mut buffer = [0; 2048];
        let len = remote.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[1200..len], suffix);
    }
}
