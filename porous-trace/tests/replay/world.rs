//! Hosts in virtual time, on a network that loses and delays by a seed. Each is recorded.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::net::SocketAddr;
use core::time::Duration;
use std::io::{self, Write};
use std::sync::Mutex;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use porous_proto::{ChannelId, Config, Ecn, Event, Instant, Mode, PeerId, SendOptions};
use porous_trace::{About, Keep, Recorder, ReplayError, Replayed, Trace, TracedHost, replay};

/// A file whose bytes can be looked at.
#[derive(Clone, Default)]
pub(crate) struct File(pub(crate) Arc<Mutex<Vec<u8>>>);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl File {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

pub(crate) fn replayed(trace: &[u8]) -> Result<Replayed, ReplayError> {
    replay(Trace::read(trace)?, &porous_crypto::RustCrypto)
}

/// A host, and where its trace goes.
pub(crate) struct Station {
    pub(crate) host: TracedHost<ChaCha8Rng>,
    pub(crate) file: File,
    pub(crate) address: SocketAddr,
    /// Peers that are connected.
    pub(crate) peers: Vec<PeerId>,
    pub(crate) received: u64,
}

pub(crate) fn address(number: u8) -> SocketAddr {
    ([10, 0, 0, number], 4000).into()
}

pub(crate) struct World {
    pub(crate) stations: Vec<Station>,
    rng: ChaCha8Rng,
    pub(crate) now: Instant,
    /// Datagrams under way, by the time and the order in which they arrive.
    wire: BTreeMap<(Instant, u64), (SocketAddr, SocketAddr, Vec<u8>)>,
    made: u64,
    /// Datagrams that are lost, in percent.
    pub(crate) loss: u32,
}

impl World {
    pub(crate) fn new(seed: u64, configs: &[Config], keep: Keep) -> Self {
        let stations = configs.iter().zip(1..).map(|(config, number)| {
            let rng =
                |part: u64| ChaCha8Rng::seed_from_u64(seed << 16 | part << 8 | u64::from(number));
            let mut host = TracedHost::new(config.clone(), rng(0));
            let (file, at) = (File::default(), address(number));
            let recorder = Recorder::new(file.clone(), keep);
            let begun = host.record(recorder, About::new(Some(at), 0), rng(1));
            begun.unwrap();
            Station {
                host,
                file,
                address: at,
                peers: Vec::new(),
                received: 0,
            }
        });
        Self {
            stations: stations.collect(),
            rng: ChaCha8Rng::seed_from_u64(seed),
            now: Instant::from_micros(1_000_000),
            wire: BTreeMap::new(),
            made: 0,
            loss: 5,
        }
    }

    /// One of `n` numbers.
    pub(crate) fn draw(&mut self, n: u32) -> u32 {
        self.rng.next_u32() % n
    }

    /// A turn of all hosts, and 5 ms.
    pub(crate) fn turn(&mut self) {
        self.now = self.now + Duration::from_millis(5);
        while let Some(first) = self.wire.first_entry() {
            if first.key().0 > self.now {
                break;
            }
            let (from, to, datagram) = first.remove();
            let mut all = self.stations.iter_mut();
            if let Some(station) = all.find(|station| station.address == to) {
                let host = &mut station.host;
                host.handle_datagram(self.now, from, Ecn::Ect0, &datagram);
            }
        }
        let mut sent = Vec::new();
        for station in &mut self.stations {
            station.host.handle_timeout(self.now);
            let mut buf = vec![0; station.host.max_datagram_size()];
            while let Some(transmit) = station.host.poll_transmit(self.now, &mut buf) {
                sent.push((station.address, transmit.to, transmit.datagram.to_vec()));
            }
            station.hear();
        }
        for (from, to, datagram) in sent {
            if self.draw(100) >= self.loss {
                let delay = Duration::from_millis(u64::from(10 + self.draw(20)));
                self.made += 1;
                let at = (self.now + delay, self.made);
                self.wire.insert(at, (from, to, datagram));
            }
        }
    }

    pub(crate) fn turns(&mut self, turns: u32) {
        for _ in 0..turns {
            self.turn();
        }
    }

    /// Packets of all modes on all connections.
    pub(crate) fn talk(&mut self, turns: u32) {
        for i in 0..turns {
            self.turn();
            for at in 0..self.stations.len() {
                for peer in self.stations[at].peers.clone() {
                    let length = match self.draw(10) {
                        0 => self.draw(5000),
                        1 => 0,
                        _ => self.draw(200),
                    };
                    let payload = vec![u8::try_from(i % 251).unwrap() | 1; length as usize];
                    let mode = match self.draw(3) {
                        0 => Mode::Reliable,
                        1 => Mode::Unreliable,
                        _ => Mode::Passive,
                    };
                    let mut options = SendOptions::new(mode);
                    if self.draw(4) == 0 {
                        options = options.receipt(u64::from(i)).redundancy(1);
                    }
                    if self.draw(8) == 0 {
                        options = options.ttl(Duration::from_millis(40)).key(3);
                    }
                    let host = &mut self.stations[at].host;
                    let _full = host.send(peer, ChannelId(0), payload, options);
                }
            }
        }
    }

    /// Ends all recordings, and replays each.
    pub(crate) fn replay_all(&mut self) -> Vec<Replayed> {
        let all = self.stations.iter_mut().map(|station| {
            station.host.end_recording().unwrap();
            let replayed = replayed(&station.file.bytes());
            replayed.unwrap_or_else(|error| panic!("{}: {error}", station.address))
        });
        all.collect()
    }
}

impl Station {
    fn hear(&mut self) {
        while let Some(event) = self.host.poll_event() {
            match event {
                Event::Connected { peer, .. } => self.peers.push(peer),
                Event::Disconnected { peer, .. } => self.peers.retain(|other| *other != peer),
                Event::Readable { peer } => {
                    while self.host.receive(peer).is_some() {
                        self.received += 1;
                    }
                }
                _ => {}
            }
        }
    }
}
