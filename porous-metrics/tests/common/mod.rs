//! A server and many clients, which are one host: each address stands for a client.

use core::time::Duration;

use porous_proto::{Config, Ecn, Event, Host, Instant, Listen};
use porous_sim::{ChaCha8Rng, Seed};

pub(crate) type SimHost = Host<ChaCha8Rng, u32>;

/// The time that a datagram takes.
const DELAY: Duration = Duration::from_millis(10);

pub(crate) struct Crowd {
    pub(crate) server: SimHost,
    pub(crate) clients: SimHost,
    pub(crate) now: Instant,
}

/// All datagrams that wait in one host, and the addresses of the clients.
fn take(host: &mut SimHost, now: Instant) -> Vec<(u32, Vec<u8>)> {
    let mut buf = [0; 1500];
    let mut all = Vec::new();
    while let Some(transmit) = host.poll_transmit(now, &mut buf) {
        all.push((transmit.to, transmit.datagram.to_vec()));
    }
    all
}

impl Crowd {
    /// Clients at the addresses from 0 on, connected to a server.
    pub(crate) fn new(clients: u32) -> Self {
        let host = |config, number| Host::new(config, Seed::new(1).stream("host", number));
        let config = Config::new().max_peers(clients + 1).connection_id_len(8);
        let config = config.unwrap().reply_limits(1_000_000, 1_000_000).unwrap();
        let mut crowd = Self {
            server: host(config.clone(), 0),
            clients: host(config, 1),
            now: Instant::ZERO,
        };
        crowd.server.listen(Listen::Open).unwrap();
        // In groups, as a host sends a bounded number of answers at once.
        for group in (0..clients).collect::<Vec<_>>().chunks(500) {
            for &address in group {
                crowd.clients.connect(crowd.now, address).unwrap();
            }
            crowd.run(Duration::from_millis(200), |_| true);
        }
        assert_eq!(crowd.server.stats().connected, u64::from(clients));
        crowd
    }

    /// Lets time pass. A datagram to or from the client at an address is lost unless `arrives`.
    pub(crate) fn run(&mut self, time: Duration, mut arrives: impl FnMut(u32) -> bool) {
        let until = self.now + time;
        while self.now < until {
            let sent = [
                take(&mut self.clients, self.now),
                take(&mut self.server, self.now),
            ];
            self.now = self.now + DELAY;
            for (host, datagrams) in [&mut self.server, &mut self.clients].into_iter().zip(sent) {
                for (address, datagram) in datagrams {
                    if arrives(address) {
                        host.handle_datagram(self.now, address, Ecn::NotEct, &datagram);
                    }
                }
                host.handle_timeout(self.now);
                while let Some(event) = host.poll_event() {
                    if let Event::Readable { peer } = event {
                        while host.receive(peer).is_some() {}
                    }
                }
            }
        }
    }
}
