//! Clients that find their servers behind a proxy by the token at the end of each datagram.

use core::time::Duration;

use porous_std::{
    ChannelId, Clock, Config, DisconnectReason, Event, Listen, Mode, PeerId, SendError, UdpHost,
};

use crate::hosts::{LIMIT, TICK, elapsed};
use crate::quilkin::Quilkin;

const TOKENS: [[u8; 17]; 3] = [
    *b"the first server.",
    *b"the second server",
    *b"the third server.",
];

/// Servers behind a proxy, and one client in front of it.
struct Fleet {
    servers: Vec<UdpHost>,
    proxy: Quilkin,
    client: UdpHost,
}

impl Fleet {
    fn new(config: impl Fn(Config) -> Config) -> Self {
        let host = |base| UdpHost::bind("127.0.0.1:0", config(base)).unwrap();
        let servers: Vec<_> = TOKENS
            .iter()
            .map(|_| {
                let mut server = host(Config::new());
                server.listen(Listen::Open).unwrap();
                server
            })
            .collect();
        Self {
            proxy: Quilkin::new(&TOKENS, &servers),
            servers,
            client: host(Config::client()),
        }
    }

    fn step(&mut self) {
        self.client.wait(TICK).unwrap();
        self.proxy.step();
        for server in &mut self.servers {
            server.step().unwrap();
        }
        self.proxy.step();
    }

    /// Goes on until the function returns something.
    fn until<T>(&mut self, mut found: impl FnMut(&mut Self) -> Option<T>) -> T {
        let clock = Clock::start();
        while elapsed(&clock) < LIMIT {
            self.step();
            if let Some(found) = found(self) {
                return found;
            }
        }
        panic!("it did not come");
    }

    /// Connects to this server by `connect`. Returns the peers of the client and of the server.
    fn connect(
        &mut self,
        server: usize,
        connect: impl Fn(&mut UdpHost, &Quilkin) -> PeerId,
    ) -> (PeerId, PeerId) {
        let proxy = self.proxy.address();
        self.client.set_suffix(proxy, &TOKENS[server]).unwrap();
        let ours = connect(&mut self.client, &self.proxy);
        let theirs = self.until(|fleet| {
            let mut theirs = None;
            for (number, host) in fleet.servers.iter_mut().enumerate() {
                while let Some(event) = host.poll_event() {
                    if let Event::Connected { peer, .. } = event {
                        assert_eq!(number, server);
                        theirs = Some(peer);
                    }
                }
            }
            theirs
        });
        self.until(|fleet| match fleet.client.poll_event() {
            Some(Event::Connected { .. }) => Some(()),
            Some(_) | None => None,
        });
        (ours, theirs)
    }

    /// Sends a packet in several fragments each way.
    fn converse(&mut self, server: usize, (ours, theirs): (PeerId, PeerId)) {
        let packet = vec![7; 5000];
        let send = |host: &mut UdpHost, peer| {
            let sent = host.send(peer, ChannelId(0), packet.clone(), Mode::Reliable);
            sent.unwrap();
        };
        send(&mut self.client, ours);
        send(&mut self.servers[server], theirs);
        let there = self.until(|fleet| fleet.servers[server].receive(theirs));
        let here = self.until(|fleet| fleet.client.receive(ours));
        assert!(there.payload == packet && here.payload == packet);
    }

    /// Talks to each of these servers in turn, connected by `connect`. Nothing that the proxy saw was without a token
    /// or longer than a datagram may be with it.
    fn visit(&mut self, servers: &[usize], connect: impl Fn(&mut UdpHost, &Quilkin) -> PeerId) {
        for &server in servers {
            let peers = self.connect(server, &connect);
            self.converse(server, peers);
            let bye = porous_std::Disconnect::Now { reason: 0 };
            self.client.disconnect(peers.0, bye).unwrap();
            self.ended();
        }
        assert_eq!(self.proxy.seen.dropped, 0);
        assert!((1150..=1200).contains(&self.proxy.seen.longest));
    }

    fn ended(&mut self) -> DisconnectReason {
        self.until(|fleet| match fleet.client.poll_event() {
            Some(Event::Disconnected { reason, .. }) => Some(reason),
            Some(_) | None => None,
        })
    }
}

#[test]
fn a_client_talks_to_the_server_that_its_token_stands_for() {
    let mut fleet = Fleet::new(|config| config);
    fleet.visit(&[2, 0, 1], |client, proxy| {
        client.connect(proxy.address()).unwrap()
    });
}

#[cfg(feature = "seal")]
#[test]
fn a_sealed_client_talks_to_the_server_that_its_token_stands_for() {
    use porous_std::proto::seal::{Credentials, Suite};

    let mut fleet = Fleet::new(|config| config.sealed(&[Suite::CHACHA_POLY]).unwrap());
    fleet.visit(&[1, 2], |client, proxy| {
        let to = [proxy.address()];
        client.connect_sealed(&to, &Credentials::new()).unwrap()
    });
}

#[test]
fn a_client_without_the_token_of_a_server_comes_to_none() {
    let patience = Duration::from_millis(300);
    let mut fleet = Fleet::new(|config| config.connect_timeout(patience).unwrap());
    let proxy = fleet.proxy.address();
    for suffix in [&b"some other server"[..], b""] {
        fleet.client.set_suffix(proxy, suffix).unwrap();
        fleet.client.connect(proxy).unwrap();
        assert_eq!(fleet.ended(), DisconnectReason::NeverAnswered);
    }
    assert!(fleet.proxy.seen.dropped > 0);
    // A datagram may come from a test that had the port before: it makes no peer.
    let accepted = |server: &UdpHost| server.stats().accepted;
    assert!(fleet.servers.iter().all(|server| accepted(server) == 0));
}

/// The search begins after 5 s.
#[test]
fn a_search_finds_the_longest_datagrams_that_a_path_carries_with_the_suffix() {
    let mut fleet = Fleet::new(|config| config.path_mtu_discovery(1452).unwrap());
    let connect = |client: &mut UdpHost, proxy: &Quilkin| client.connect(proxy.address()).unwrap();
    let (ours, theirs) = fleet.connect(0, connect);
    let found = 1452 - TOKENS[0].len();
    fleet.until(|fleet| {
        let mut sizes = [0; 2];
        let hosts = [(&mut fleet.client, ours), (&mut fleet.servers[0], theirs)];
        for (size, (host, peer)) in sizes.iter_mut().zip(hosts) {
            match host.send(peer, ChannelId(0), vec![7; 3000], Mode::Reliable) {
                Ok(()) | Err(SendError::Full) => {}
                Err(error) => panic!("{error}"),
            }
            while host.receive(peer).is_some() {}
            *size = usize::from(host.peer(peer).unwrap().stats().path_mtu);
            assert!(*size <= found);
        }
        (sizes == [found; 2]).then_some(())
    });
    fleet.until(|fleet| (fleet.proxy.seen.longest == 1452).then_some(()));
}
