//! Once a server and its clients have settled, the server allocates nothing: buffers and lists are used again,
//! those of the driver and those of the core.
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

use core::time::Duration;

use allocation_counter::measure;
use porous_std::{Bytes, ChannelId, Config, Event, Listen, Mode, PeerId, UdpHost};

const CLIENTS: usize = 40;
/// Ticks that let every list reach its size.
const WARM_UP: usize = 300;
const TICKS: usize = 100;

/// A server, and its clients in the same thread.
struct Game {
    server: UdpHost,
    clients: Vec<(UdpHost, PeerId)>,
    /// The server's peers.
    peers: Vec<PeerId>,
    /// Packets that the server has read.
    received: u64,
}

impl Game {
    fn new(address: &str) -> Self {
        let mut server = UdpHost::bind(address, Config::new()).unwrap();
        server.listen(Listen::Open).unwrap();
        let to = ([127, 0, 0, 1], server.local_addr().unwrap().port()).into();
        let connect = |_| {
            let mut client = UdpHost::bind("127.0.0.1:0", Config::client()).unwrap();
            let peer = client.connect(to).unwrap();
            (client, peer)
        };
        let mut game = Self {
            server,
            clients: (0..CLIENTS).map(connect).collect(),
            peers: Vec::new(),
            received: 0,
        };
        // The limit of time is the attempts' own: a client that does not get in ends.
        while game.peers.len() < CLIENTS {
            game.server.step().unwrap();
            game.read_server();
            for (client, _) in &mut game.clients {
                client.step().unwrap();
                while let Some(event) = client.poll_event() {
                    assert!(!matches!(event, Event::Disconnected { .. }), "{event:?}");
                }
            }
        }
        game
    }

    fn read_server(&mut self) {
        while let Some(event) = self.server.poll_event() {
            if let Event::Connected { peer, .. } = event {
                self.peers.push(peer);
            } else if let Event::Readable { peer } = event {
                while self.server.receive(peer).is_some() {
                    self.received += 1;
                }
            }
        }
    }

    /// Each client sends a packet, and the server sends one to each. Returns the allocations of the server.
    fn tick(&mut self) -> u64 {
        let packet = Bytes::from_static(&[7; 100]);
        for (client, peer) in &mut self.clients {
            client.step().unwrap();
            while client.poll_event().is_some() {}
            while client.receive(*peer).is_some() {}
            // A client that is not connected yet sends in a later tick.
            let _sent = client.send(*peer, ChannelId(0), packet.clone(), Mode::Unreliable);
            client.transmit().unwrap();
        }
        let counts = measure(|| {
            self.server.wait(Duration::ZERO).unwrap();
            self.read_server();
            for &peer in &self.peers {
                let sent = (self.server).send(peer, ChannelId(0), packet.clone(), Mode::Unreliable);
                assert_eq!(sent, Ok(()));
            }
            self.server.transmit().unwrap();
        });
        counts.count_total
    }
}

#[test]
fn a_settled_server_allocates_nothing() {
    // To many peers in one call, and to each from the address that it asked.
    for address in ["127.0.0.1:0", "0.0.0.0:0"] {
        let mut game = Game::new(address);
        for _ in 0..WARM_UP {
            game.tick();
        }
        let received = game.received;
        let ticks: Vec<u64> = (0..TICKS).map(|_| game.tick()).collect();
        assert!(game.received - received >= (TICKS * CLIENTS / 2) as u64);
        // A machine that is busy elsewhere lets timers run out, which may need more room.
        let idle = ticks.iter().filter(|&&count| count == 0).count();
        assert!(idle >= TICKS * 9 / 10, "{address}: {ticks:?}");
    }
}
