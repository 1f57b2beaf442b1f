//! Scenarios that every driver on a system's socket has to pass.

use alloc::collections::BTreeMap;
use core::net::SocketAddr;
use core::time::Duration;
use std::net::UdpSocket;

use porous_proto::{ChannelId, Config, Disconnect, DisconnectReason, Mode, Priority};

use crate::drivers::{Drivers, End, Happened, LIMIT};
use crate::flow::{CHANNELS, Flow};

const CLIENTS: usize = 50;
const TRAFFIC: Duration = Duration::from_secs(3);
const TICK: Duration = Duration::from_millis(2);

/// Hosts with what has happened at them: first the servers, then the clients, client `n` connected to server
/// `n % servers`.
struct Crowd<D> {
    hosts: D,
    servers: usize,
    /// The number of the host at each address.
    addresses: BTreeMap<SocketAddr, usize>,
    /// The peer at each end, by the numbers of its host and of the host that it is connected to.
    ends: BTreeMap<(usize, usize), End>,
    flows: Vec<Flow>,
    /// The flow that arrives at an end.
    arriving: BTreeMap<End, usize>,
    ended: Vec<(End, DisconnectReason, u32)>,
}

impl<D: Drivers> Crowd<D> {
    fn new(mut hosts: D, servers: usize) -> Self {
        let three = |config: Config| {
            let priorities = [Priority::High, Priority::Low, Priority::Low];
            assert_eq!(priorities.len(), usize::from(CHANNELS));
            config.channels(&priorities).expect("three channels")
        };
        for _ in 0..servers {
            hosts.server(three(Config::new()));
        }
        for client in 0..CLIENTS {
            let to = hosts.address(client % servers);
            hosts.client(three(Config::client()), to);
        }
        let address = |host| (hosts.address(host), host);
        Self {
            addresses: (0..servers + CLIENTS).map(address).collect(),
            hosts,
            servers,
            ends: BTreeMap::new(),
            flows: Vec::new(),
            arriving: BTreeMap::new(),
            ended: Vec::new(),
        }
    }

    /// Serves the hosts until this holds.
    fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let begun = self.hosts.elapsed();
        while !holds(self) {
            let waited = self.hosts.elapsed() - begun;
            assert!(waited < LIMIT, "{what} did not come");
            for (end, happened) in self.hosts.turn(TICK) {
                self.handle(end, happened);
            }
        }
    }

    fn handle(&mut self, end: End, happened: Happened) {
        match happened {
            Happened::Connected(from) => {
                self.ends.insert((end.0, self.addresses[&from]), end);
            }
            Happened::Received(packet) => self.flows[self.arriving[&end]].received(&packet),
            Happened::Ended(reason, undelivered) => self.ended.push((end, reason, undelivered)),
        }
    }

    /// Makes the two flows of each connection.
    fn open_flows(&mut self) {
        for client in self.servers..self.servers + CLIENTS {
            let server = (client - self.servers) % self.servers;
            let [there, here] = [(client, server), (server, client)].map(|hosts| self.ends[&hosts]);
            for (from, to) in [(there, here), (here, there)] {
                let number = self.flows.len();
                let rate = 20 + u32::try_from(number % 41).expect("a small number");
                self.arriving.insert(to, number);
                self.flows.push(Flow::new(from, to, rate));
            }
        }
    }

    fn talk(&mut self) {
        let begun = self.hosts.elapsed();
        self.until("the end of the traffic", |crowd| {
            let now = crowd.hosts.elapsed() - begun;
            for flow in &mut crowd.flows {
                flow.send(&mut crowd.hosts, now);
            }
            now > TRAFFIC
        });
        self.until("a reliable packet", |crowd| {
            crowd.flows.iter().all(|flow| flow.model().is_complete())
        });
    }

    fn assert_talked(&self) {
        for mode in [Mode::Unreliable, Mode::Reliable, Mode::Passive] {
            let counts = self.flows.iter().map(|flow| flow.model().counts(mode));
            for (sent, delivered) in counts {
                assert!(sent > 5 && delivered > 0, "{mode:?}: {delivered} of {sent}");
            }
        }
        for host in 0..self.servers + CLIENTS {
            assert_eq!(self.hosts.counts(host).1, 0, "the system refuses nothing");
        }
    }

    fn part(&mut self) {
        let how = Disconnect::Flush {
            reason: 7,
            deadline: LIMIT,
        };
        for (&(host, _), &end) in &self.ends {
            if host >= self.servers {
                self.hosts.disconnect(end, how);
            }
        }
        self.until("a goodbye", |crowd| crowd.ended.len() == 2 * CLIENTS);
        for (end, reason, undelivered) in &self.ended {
            let (wanted, most) = if end.0 < self.servers {
                (DisconnectReason::ByPeer(7), self.passive_lost(*end))
            } else {
                (DisconnectReason::ByUs(7), 0)
            };
            assert_eq!(*reason, wanted, "{end:?}");
            assert!(u64::from(*undelivered) <= most, "{end:?}: {undelivered}");
        }
    }

    /// The number of passive packets that this end sent and the other did not receive: a client may part before
    /// the last ones come, as only reliable packets are waited for, and it flushes its own.
    fn passive_lost(&self, end: End) -> u64 {
        let of_end = self.flows.iter().filter(|flow| flow.from() == end);
        let lost = of_end.map(|flow| {
            let (sent, delivered) = flow.model().counts(Mode::Passive);
            sent - delivered
        });
        lost.sum()
    }
}

/// Fifty clients talk with their servers on all channels and by all modes for three seconds, and part in order.
///
/// # Panics
///
/// If a packet is lost that must not be, or comes twice, or out of order, or something takes too long.
pub fn a_crowd_talks(hosts: impl Drivers, servers: usize) {
    let mut crowd = Crowd::new(hosts, servers);
    crowd.until("a connection", |crowd| crowd.ends.len() == 2 * CLIENTS);
    crowd.open_flows();
    crowd.talk();
    crowd.part();
    crowd.assert_talked();
}

/// While one host is flooded with datagrams of a stranger, others connect and talk.
///
/// # Panics
///
/// If that takes too long.
pub fn a_flood_on_one_host_holds_up_no_other(mut hosts: impl Drivers) {
    let [flooded, listener] = [0, 1].map(|_| hosts.server(Config::new()));
    let (victim, to) = (hosts.address(flooded), hosts.address(listener));
    let flooder = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    flooder.set_nonblocking(true).expect("no blocking");
    let client = hosts.client(Config::client(), to);
    let (mut waves, mut got) = (0, 0);
    while waves < 30 || got < 3 {
        waves += 1;
        assert!(waves < 3000, "{got} of 3 things");
        for _ in 0..2000 {
            // A datagram without room is the flooder's loss.
            let _lost = flooder.send_to(&[0xa5; 30], victim);
        }
        for (end, happened) in hosts.turn(Duration::from_millis(5)) {
            got += 1;
            match happened {
                Happened::Connected(_) if end.0 == client => {
                    let sent = hosts.send(end, ChannelId(0), b"help".to_vec(), Mode::Reliable);
                    assert_eq!(sent, Ok(()));
                }
                Happened::Connected(_) => {}
                Happened::Received(packet) => assert_eq!(packet.payload, "help"),
                Happened::Ended(..) => panic!("{happened:?}"),
            }
        }
    }
    assert!(hosts.counts(flooded).0 > 0, "the flood was taken in");
}

/// A client connects, each end sends a packet, and the client says goodbye.
///
/// # Panics
///
/// If that takes too long, or something else happens.
pub fn two_converse(mut hosts: impl Drivers) {
    let server = hosts.server(Config::new());
    let to = hosts.address(server);
    let client = hosts.client(Config::client(), to);
    let large = vec![7; 5000];
    let mut ended = 0;
    while ended < 2 {
        assert!(hosts.elapsed() < LIMIT, "it takes too long");
        for (end, happened) in hosts.turn(LIMIT) {
            let is_client = end.0 == client;
            match happened {
                Happened::Connected(_) if is_client => {
                    let sent = hosts.send(end, ChannelId(0), b"there".to_vec(), Mode::Reliable);
                    assert_eq!(sent, Ok(()));
                }
                Happened::Connected(_) => {}
                Happened::Received(packet) if is_client => {
                    assert_eq!(packet.payload, large);
                    hosts.disconnect(end, Disconnect::Now { reason: 3 });
                }
                Happened::Received(packet) => {
                    assert_eq!(packet.payload, "there");
                    let sent = hosts.send(end, ChannelId(0), large.clone(), Mode::Passive);
                    assert_eq!(sent, Ok(()));
                }
                Happened::Ended(reason, _) => {
                    let wanted = match is_client {
                        true => DisconnectReason::ByUs(3),
                        false => DisconnectReason::ByPeer(3),
                    };
                    assert_eq!(reason, wanted);
                    ended += 1;
                }
            }
        }
    }
}
