//! Many clients and some servers in one event loop.

use alloc::collections::BTreeMap;
use core::net::SocketAddr;
use core::time::Duration;

use porous_mio::{
    Clock, Config, Disconnect, DisconnectReason, Event, Listen, MioHost, Mode, PeerId, Priority,
};

use crate::event_loop::{EventLoop, LIMIT, READABLE, WRITABLE, elapsed};
use crate::traffic::{CHANNELS, End, Flow};

const CLIENTS: usize = 50;
const TRAFFIC: Duration = Duration::from_secs(3);
const TICK: Duration = Duration::from_millis(2);

/// All hosts in one loop: first the servers, then the clients, client `n` connected to server
/// `n % servers`.
struct Crowd {
    turns: EventLoop,
    clock: Clock,
    /// The number of the host at each address.
    addresses: BTreeMap<SocketAddr, usize>,
    connected: usize,
    flows: Vec<Flow>,
    /// The flow that arrives from a peer of a host.
    arriving: BTreeMap<(usize, u64), usize>,
    ended: Vec<(End, DisconnectReason, u32)>,
}

impl Crowd {
    fn new(servers: usize) -> Self {
        let three = |config: Config| {
            let priorities = [Priority::High, Priority::Low, Priority::Low];
            assert_eq!(priorities.len(), usize::from(CHANNELS));
            config.channels(&priorities).unwrap()
        };
        let mut turns = EventLoop::new();
        for _ in 0..servers {
            let mut server = MioHost::bind("127.0.0.1:0", three(Config::new())).unwrap();
            server.listen(Listen::Open).unwrap();
            turns.add(server, READABLE | WRITABLE);
        }
        for client in 0..CLIENTS {
            let mut host = MioHost::bind("127.0.0.1:0", three(Config::client())).unwrap();
            let server = &turns.hosts[client % servers];
            host.connect(server.local_addr().unwrap()).unwrap();
            turns.add(host, READABLE | WRITABLE);
        }
        let address = |(index, host): (usize, &MioHost)| (host.local_addr().unwrap(), index);
        Self {
            addresses: turns.hosts.iter().enumerate().map(address).collect(),
            turns,
            clock: Clock::start(),
            connected: 0,
            flows: Vec::new(),
            arriving: BTreeMap::new(),
            ended: Vec::new(),
        }
    }

    /// Turns the loop until this holds.
    fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let begun = elapsed(&self.clock);
        while !holds(self) {
            assert!(elapsed(&self.clock) - begun < LIMIT, "{what} did not come");
            self.turns.turn(TICK);
            for host in 0..self.turns.hosts.len() {
                while let Some(event) = self.turns.hosts[host].poll_event() {
                    self.handle(host, event);
                }
            }
        }
    }

    fn handle(&mut self, host: usize, event: Event<SocketAddr>) {
        match event {
            Event::Connected { peer, address } => self.connected((host, peer), address),
            Event::Readable { peer } => {
                let flow = &mut self.flows[self.arriving[&(host, peer.to_u64())]];
                while let Some(packet) = self.turns.hosts[host].receive(peer) {
                    flow.received(&packet);
                }
            }
            Event::Disconnected {
                peer,
                reason,
                undelivered,
            } => self.ended.push(((host, peer), reason, undelivered)),
            Event::Request { .. } | Event::Writable { .. } | _ => panic!("{event:?}"),
        }
    }

    /// Notes the two flows of a connection, when the server reports it.
    fn connected(&mut self, at: End, from: SocketAddr) {
        self.connected += 1;
        let remote = self.addresses[&from];
        let Some((peer, _)) = self.turns.hosts[remote].peers().next() else {
            panic!("{from} is connected to nobody");
        };
        if remote < at.0 {
            return;
        }
        let client: End = (remote, peer);
        for (from, to) in [(client, at), (at, client)] {
            let rate = 20 + u32::try_from(self.flows.len() % 41).unwrap();
            self.arriving
                .insert((to.0, to.1.to_u64()), self.flows.len());
            self.flows.push(Flow::new(from, to, rate));
        }
    }
}

fn assert_ended(crowd: &Crowd, servers: usize) {
    for ((host, peer), reason, undelivered) in &crowd.ended {
        let wanted = if *host < servers {
            DisconnectReason::ByPeer(7)
        } else {
            DisconnectReason::ByUs(7)
        };
        assert_eq!(
            (*reason, *undelivered),
            (wanted, 0),
            "{peer:?} of host {host}"
        );
    }
}

fn a_crowd_talks(servers: usize) {
    let mut crowd = Crowd::new(servers);
    crowd.until("a connection", |crowd| crowd.connected == 2 * CLIENTS);

    let begun = elapsed(&crowd.clock);
    crowd.until("the end of the traffic", |crowd| {
        let now = elapsed(&crowd.clock) - begun;
        for flow in &mut crowd.flows {
            flow.send(&mut crowd.turns.hosts, now);
        }
        now > TRAFFIC
    });
    crowd.until("a reliable packet", |crowd| {
        crowd.flows.iter().all(|flow| flow.model.is_complete())
    });

    let how = Disconnect::Flush {
        reason: 7,
        deadline: LIMIT,
    };
    for client in &mut crowd.turns.hosts[servers..] {
        let peers: Vec<PeerId> = client.peers().map(|(peer, _)| peer).collect();
        assert_eq!(peers.len(), 1);
        client.disconnect(peers[0], how).unwrap();
    }
    crowd.until("a goodbye", |crowd| crowd.ended.len() == 2 * CLIENTS);
    assert_ended(&crowd, servers);

    for mode in [Mode::Unreliable, Mode::Reliable, Mode::Passive] {
        let counts = crowd.flows.iter().map(|flow| flow.model.counts(mode));
        for (sent, delivered) in counts {
            assert!(sent > 5 && delivered > 0, "{mode:?}: {delivered} of {sent}");
        }
    }
    for host in &crowd.turns.hosts {
        assert_eq!(host.socket_stats().send_lost, 0);
    }
}

#[test]
fn fifty_clients_and_their_server_share_a_loop() {
    a_crowd_talks(1);
}

#[test]
fn several_servers_share_a_loop_with_their_clients() {
    a_crowd_talks(3);
}
