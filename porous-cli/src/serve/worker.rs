//! One thread of the server, and what it says of itself.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::net::SocketAddr;
use core::time::Duration;
use std::io;
use std::sync::Mutex;

use porous_std::{Disconnect, Event, Instant, Peer, PeerId, PeerStats, UdpHost};

use super::client::Client;
use crate::echo::Counts;
use crate::net::link::{NAP, why};
use crate::stop::Stop;

/// Between two snapshots.
const INTERVAL: Duration = Duration::from_millis(100);

/// The most clients of a thread that are shown, and the most news that wait to be told. All are counted.
const SHOWN: usize = 64;
const NEWS: usize = 1000;

/// What a thread says of itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    /// Some of its clients.
    pub(crate) clients: Vec<Shown>,
    pub(crate) connected: usize,
    /// Connections that there have been.
    pub(crate) accepted: u64,
    /// Probes and echoes of all clients, also of those that have left.
    pub(crate) counts: Counts,
    /// Bytes of UDP payload.
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    /// Lines about connections that began or ended.
    pub(crate) news: Vec<String>,
    /// News that were left out.
    pub(crate) untold: u64,
}

impl Snapshot {
    /// This, with the news that nobody has taken yet.
    pub(crate) fn take(&mut self) -> Self {
        let news = core::mem::take(&mut self.news);
        let untold = core::mem::take(&mut self.untold);
        Self {
            news,
            untold,
            ..self.clone()
        }
    }

    fn tell(&mut self, line: String) {
        if self.news.len() < NEWS {
            self.news.push(line);
        } else {
            self.untold += 1;
        }
    }
}

/// A client as it is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    pub(crate) address: SocketAddr,
    pub(crate) is_sealed: bool,
    pub(crate) stats: PeerStats,
}

/// A host and its clients.
#[derive(Debug)]
pub(crate) struct Worker {
    host: UdpHost,
    clients: BTreeMap<PeerId, Client>,
    /// What was counted of clients that have left.
    left: Counts,
    /// When the last snapshot was made.
    told: Instant,
    snapshot: Arc<Mutex<Snapshot>>,
    stop: Stop,
}

impl Worker {
    pub(crate) fn new(host: UdpHost, snapshot: Arc<Mutex<Snapshot>>, stop: Stop) -> Self {
        Self {
            host,
            clients: BTreeMap::new(),
            left: Counts::default(),
            told: Instant::ZERO,
            snapshot,
            stop,
        }
    }

    /// Serves until the program is to stop, and says goodbye. If this thread fails, all stop. Returns the host:
    /// its socket has to stay open until the other threads have said goodbye, or what comes for them goes astray
    /// ([`porous_std::UdpHost::bind_shards`]).
    pub(crate) fn run(mut self) -> io::Result<UdpHost> {
        let done = self.serve();
        self.stop.ask();
        done?;
        // Those that are here now are the ones that were here at the end.
        let connected = self.clients.len();
        self.host.disconnect_all(Disconnect::Now { reason: 0 });
        while !self.host.is_empty() {
            self.host.wait(NAP)?;
            self.take_all();
        }
        self.take_all();
        self.tell(connected);
        Ok(self.host)
    }

    fn serve(&mut self) -> io::Result<()> {
        while !self.stop.is_asked() {
            self.host.wait(NAP)?;
            self.take_all();
            let now = self.host.now();
            if now.saturating_duration_since(self.told) >= INTERVAL {
                self.told = now;
                self.tell(self.clients.len());
            }
        }
        Ok(())
    }

    fn take_all(&mut self) {
        while let Some(event) = self.host.poll_event() {
            self.take(event);
        }
    }

    fn take(&mut self, event: Event<SocketAddr>) {
        match event {
            Event::Connected { peer, address } => {
                let secured = self.host.peer(peer).and_then(Peer::secured);
                let client = Client::new(address, secured.is_some());
                let seal = if client.is_sealed { "sealed" } else { "plain" };
                self.news(format!("{address} has connected, {seal}"));
                self.clients.insert(peer, client);
            }
            Event::Readable { peer } | Event::Writable { peer } => {
                if let Some(client) = self.clients.get_mut(&peer) {
                    client.serve(&mut self.host, peer);
                }
            }
            Event::Disconnected { peer, reason, .. } => {
                if let Some(mut client) = self.clients.remove(&peer) {
                    // The last packets may have come together with the goodbye.
                    client.serve(&mut self.host, peer);
                    add(&mut self.left, &client.counts);
                    let probes: u64 = client.counts.iter().map(|count| count.probes).sum();
                    let (address, why) = (client.address, why(reason, false));
                    self.news(format!("{address} has left after {probes} probes: {why}"));
                }
            }
            Event::PeerMoved { peer, to, .. } => {
                if let Some(client) = self.clients.get_mut(&peer) {
                    client.address = to;
                }
            }
            Event::Request { .. } | Event::PathNarrowed { .. } | _ => {}
        }
    }

    fn news(&self, line: String) {
        if let Ok(mut snapshot) = self.snapshot.lock() {
            snapshot.tell(line);
        }
    }

    fn tell(&self, connected: usize) {
        let mut counts = self.left;
        for client in self.clients.values() {
            add(&mut counts, &client.counts);
        }
        let shown = self
            .clients
            .iter()
            .take(SHOWN)
            .filter_map(|(&peer, client)| {
                Some(Shown {
                    address: client.address,
                    is_sealed: client.is_sealed,
                    stats: self.host.peer(peer)?.stats(),
                })
            });
        let stats = self.host.stats();
        let clients = shown.collect();
        if let Ok(mut snapshot) = self.snapshot.lock() {
            snapshot.clients = clients;
            snapshot.connected = connected;
            snapshot.accepted = stats.connected;
            snapshot.counts = counts;
            snapshot.bytes_sent = stats.bytes_sent;
            snapshot.bytes_received = stats.bytes_received;
        }
    }
}

/// Adds the counts of one client to those of others.
pub(crate) fn add(sum: &mut Counts, counts: &Counts) {
    for (sum, count) in sum.iter_mut().zip(counts) {
        sum.probes += count.probes;
        sum.echoes += count.echoes;
    }
}
