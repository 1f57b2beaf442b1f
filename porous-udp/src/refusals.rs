//! Tests of addresses that take no datagram while others do: one that refuses stops no other.

use core::net::SocketAddr;
use core::time::Duration;
use std::net::UdpSocket;

use porous_proto::{ChannelId, Config, Event, Listen, Mode, PeerId};
use rustix::io::Errno;

use crate::clock::simulated;
use crate::endpoint::RETRY_SEND;
use crate::faulty::Faulty;
use crate::{Endpoint, bind};

const MS: Duration = Duration::from_millis(1);

struct Client {
    host: Endpoint<UdpSocket>,
    to_server: PeerId,
    to_client: PeerId,
}

impl Client {
    fn address(&self) -> SocketAddr {
        self.host.local_addr().unwrap()
    }

    /// The first bytes of the packets that have come.
    fn heard(&mut self) -> Vec<u8> {
        self.host.receive_datagrams().unwrap();
        self.host.transmit().unwrap();
        let packets = core::iter::from_fn(|| self.host.receive(self.to_server));
        packets.map(|packet| packet.payload[0]).collect()
    }
}

/// A server on a faulty socket, and clients that are connected to it.
struct Crowd {
    server: Endpoint<Faulty>,
    clients: Vec<Client>,
    _simulated: simulated::Simulated,
}

fn client(to: SocketAddr) -> (Endpoint<UdpSocket>, PeerId) {
    let mut host = Endpoint::new(bind("127.0.0.1:0").unwrap(), Config::client()).unwrap();
    let peer = host.connect(to).unwrap();
    host.transmit().unwrap();
    (host, peer)
}

impl Crowd {
    fn new(clients: usize) -> Self {
        let simulated = simulated::start();
        let socket = Faulty::bind("127.0.0.1:0");
        let mut server = Endpoint::plain(socket, Config::new()).unwrap();
        server.listen(Listen::Open).unwrap();
        let mut crowd = Self {
            server,
            clients: Vec::new(),
            _simulated: simulated,
        };
        for _ in 0..clients {
            let (mut host, to_server) = client(crowd.server.local_addr().unwrap());
            let to_client = (0..10).find_map(|_| {
                crowd.step();
                host.receive_datagrams().unwrap();
                host.transmit().unwrap();
                let event = crowd.server.poll_event()?;
                if let Event::Connected { peer, .. } = event {
                    return Some(peer);
                }
                None
            });
            crowd.clients.push(Client {
                host,
                to_server,
                to_client: to_client.unwrap(),
            });
        }
        for _ in 0..3 {
            crowd.step();
            crowd.hear();
        }
        crowd
    }

    fn step(&mut self) {
        self.server.receive_datagrams().unwrap();
        self.server.transmit().unwrap();
    }

    /// The first bytes of the packets that each client has received.
    fn hear(&mut self) -> Vec<Vec<u8>> {
        self.clients.iter_mut().map(Client::heard).collect()
    }

    /// From now on, no datagram reaches these clients, but all others.
    fn refuse(&self, clients: core::ops::Range<usize>) {
        let addresses = self.clients[clients].iter().map(Client::address);
        *self.server.socket().faults.refused() = addresses.collect();
    }

    /// Queues a packet for each client.
    fn say(&mut self, mode: Mode, word: u8) {
        for client in &self.clients {
            let channel = ChannelId(0);
            self.server
                .send(client.to_client, channel, vec![word; 1000], mode)
                .unwrap();
        }
    }
}

#[test]
fn an_address_that_refuses_delays_nobody_else() {
    let mut crowd = Crowd::new(4);
    crowd.refuse(0..1);
    for word in 0..50 {
        crowd.say(Mode::Reliable, word);
        crowd.step();
        let heard = crowd.hear();
        assert_eq!(heard[0], [0; 0]);
        for heard in &heard[1..] {
            assert_eq!(heard, &[word], "in the same step");
        }
        assert!(!crowd.server.is_blocked());
        simulated::pass(10 * MS);
    }
    crowd.refuse(0..0);
    let mut heard = Vec::new();
    for _ in 0..300 {
        crowd.step();
        heard.extend(crowd.hear().swap_remove(0));
        simulated::pass(10 * MS);
    }
    assert_eq!(heard, (0..50).collect::<Vec<u8>>(), "all, and in order");
}

#[test]
fn many_addresses_that_refuse_delay_nobody_else_for_long() {
    let mut crowd = Crowd::new(30);
    crowd.refuse(0..28);
    for word in 0..20 {
        crowd.say(Mode::Unreliable, word);
        // Steps as often as the driver wants them.
        let heard = (0..10).map(|_| {
            crowd.step();
            simulated::pass(RETRY_SEND);
            crowd.hear()
        });
        let heard: Vec<_> = heard.collect();
        for client in 28..30 {
            let words: Vec<_> = heard.iter().flat_map(|heard| &heard[client]).collect();
            assert_eq!(words, [&word], "within 50 ms");
        }
    }
}

#[test]
fn a_refused_datagram_is_tried_again_after_five_milliseconds() {
    let mut crowd = Crowd::new(3);
    crowd.refuse(0..1);
    crowd.say(Mode::Unreliable, 7);
    let now = crowd.server.now();
    crowd.step();
    let due = crowd.server.deadline().unwrap();
    assert!(due > now && due <= now + RETRY_SEND, "{due:?}");
    assert_eq!(crowd.server.socket_stats().send_delayed, 1);
    crowd.refuse(0..0);
    simulated::pass(RETRY_SEND);
    crowd.step();
    assert_eq!(crowd.hear(), [[7]; 3]);
}

#[test]
fn datagrams_that_an_address_refuses_for_long_are_lost() {
    let mut crowd = Crowd::new(3);
    crowd.refuse(0..1);
    for word in 0..200 {
        for _ in 0..4 {
            crowd.say(Mode::Unreliable, word);
        }
        crowd.step();
        let heard = crowd.hear();
        assert_eq!(heard[1..], [[word; 4], [word; 4]]);
        simulated::pass(10 * MS);
    }
    let lost = crowd.server.socket_stats().send_lost;
    assert!(lost > 0);
    // The others have got all.
    simulated::pass(100 * MS);
    crowd.say(Mode::Unreliable, 201);
    crowd.step();
    assert_eq!(crowd.hear()[1..], [[201], [201]]);
    crowd.refuse(0..0);
    let mut heard = Vec::new();
    for word in 202..=u8::MAX {
        simulated::pass(100 * MS);
        crowd.say(Mode::Unreliable, word);
        crowd.step();
        heard.extend(crowd.hear().swap_remove(0));
    }
    assert!(heard.is_sorted(), "{heard:?}");
    assert_eq!(heard.last(), Some(&u8::MAX));
}

/// Datagrams made for others in the same step do not take the room of refused ones.
#[test]
fn a_moments_refusal_loses_nothing() {
    let mut crowd = Crowd::new(60);
    crowd.refuse(59..60);
    crowd.say(Mode::Unreliable, 1);
    crowd.step();
    crowd.say(Mode::Unreliable, 2);
    crowd.step();
    crowd.refuse(0..0);
    simulated::pass(RETRY_SEND);
    crowd.step();
    assert_eq!(crowd.hear(), vec![[1, 2]; 60]);
    assert_eq!(crowd.server.socket_stats().send_lost, 0);
}

#[test]
fn a_socket_without_room_is_asked_few_times_a_step_and_loses_nothing() {
    let mut crowd = Crowd::new(30);
    crowd.server.socket().faults.send().always = Some(Errno::AGAIN.into());
    crowd.say(Mode::Unreliable, 7);
    for _ in 0..10 {
        let calls = crowd.server.socket().faults.send().calls;
        crowd.step();
        assert!(crowd.server.socket().faults.send().calls <= calls + 8);
        assert!(crowd.server.is_blocked());
        simulated::pass(RETRY_SEND);
    }
    crowd.server.socket().faults.send().always = None;
    crowd.step();
    assert_eq!(crowd.hear(), vec![[7]; 30]);
    assert!(!crowd.server.is_blocked());
    assert_eq!(crowd.server.socket_stats().send_lost, 0);
}

#[test]
fn answers_to_strangers_do_not_wait_for_room() {
    let mut crowd = Crowd::new(2);
    let to = crowd.server.local_addr().unwrap();
    let strangers: Vec<_> = (0..100).map(|_| client(to)).collect();
    let addresses = strangers.iter().map(|(host, _)| host.local_addr().unwrap());
    *crowd.server.socket().faults.refused() = addresses.collect();
    crowd.say(Mode::Unreliable, 7);
    crowd.step();
    assert_eq!(crowd.hear(), [[7]; 2]);
    assert!(!crowd.server.is_blocked());
    let stats = crowd.server.socket_stats();
    assert_eq!((stats.answers_withheld, stats.send_lost), (100, 0));
    assert!(crowd.server.deadline() > Some(crowd.server.now()));
}

#[test]
fn a_close_does_not_wait_for_an_address_that_refuses() {
    let mut crowd = Crowd::new(1);
    crowd.refuse(0..1);
    crowd.say(Mode::Unreliable, 7);
    crowd.step();
    crowd
        .server
        .disconnect_all(porous_proto::Disconnect::Now { reason: 0 });
    let steps = (0..1000).position(|_| {
        simulated::pass(10 * MS);
        crowd.step();
        crowd.server.is_empty()
    });
    assert!(steps.is_some(), "it waits for ever");
}
