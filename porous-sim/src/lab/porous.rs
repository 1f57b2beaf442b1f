//! A flow of porous: a host that connects and sends, and one that listens.

use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::congestion::Congestion;
use porous_proto::{Config, Instant, PeerId, PeerStats, Priority};

use super::ends::{Ends, Seen, Told};
use super::host::{FlowHost, Happened};
use super::recording::Recording;
use super::work::{SMALL, Work, Working};
use crate::{ChaCha8Rng, Seed};

const MINUTE: Duration = Duration::from_secs(60);

/// The greatest window of a host in bytes, as that of a controller that is told its rate: no limit.
const NO_LIMIT: u32 = u32::MAX / 2;

#[derive(Debug)]
pub(super) struct Porous {
    hosts: [FlowHost; 2],
    /// What the hosts are made of.
    congestion: Option<Congestion>,
    seed: Seed,
    peers: [Option<PeerId>; 2],
    work: Work,
    working: Option<Working>,
    delivered: u64,
    is_ended: bool,
    /// The sender's statistics when it had sent last: a host forgets those of a connection that has ended.
    stats: PeerStats,
    /// The times when each small packet was sent and when it came, in microseconds.
    small: Vec<(u64, u64)>,
    buffer: Vec<u8>,
}

/// The configuration of an end.
fn config(end: usize, congestion: Option<Congestion>) -> Config {
    let config = if end == 0 {
        Config::client()
    } else {
        Config::new()
    };
    let channels = config.channels(&[Priority::High, Priority::Low]);
    let config = channels
        // Longer than the longest outage of a row, and than a handshake takes beside flows that have five of six
        // datagrams dropped, so that no connection ends.
        .and_then(|config| config.timeout(MINUTE)?.connect_timeout(MINUTE))
        .unwrap_or_else(|error| panic!("two channels and a minute: {error}"));
    match congestion {
        Some(congestion) => config.congestion(congestion),
        None => config,
    }
}

/// The random source of an end.
fn host_rng(seed: Seed, end: usize) -> ChaCha8Rng {
    seed.stream("host", end as u64)
}

impl Porous {
    pub(super) fn new(congestion: Option<Congestion>, work: Work, seed: Seed) -> Self {
        let host = |index| FlowHost::plain(config(index, congestion), host_rng(seed, index));
        let hosts = [host(0), host(1)];
        Self {
            buffer: vec![0; hosts[0].max_datagram_size()],
            hosts,
            congestion,
            seed,
            peers: [None, None],
            work,
            working: None,
            delivered: 0,
            is_ended: false,
            stats: PeerStats::default(),
            small: Vec::new(),
        }
    }

    fn receive(&mut self, end: usize, now: Instant) {
        let Some(peer) = self.peers[end] else { return };
        while let Some(received) = self.hosts[end].receive(peer) {
            self.delivered += received.payload.len() as u64;
            let sent = received.payload.first_chunk();
            if let Some(sent) = sent.filter(|_| received.channel == SMALL) {
                self.small
                    .push((u64::from_le_bytes(*sent), now.as_micros()));
            }
        }
    }
}

impl Ends for Porous {
    fn record(&mut self, recording: Recording) -> Option<Recording> {
        let Recording { end, recorder } = recording;
        let mut recorder = Some(recorder);
        self.hosts = [0, 1].map(|index| {
            let recorder = recorder.take_if(|_| end as usize == index);
            let config = config(index, self.congestion);
            FlowHost::traced(config, || host_rng(self.seed, index), index, recorder)
        });
        None
    }

    fn begin(&mut self, now: Instant) {
        let [client, server] = &mut self.hosts;
        let listens = server.listen();
        self.peers[0] = client.connect(now);
        assert!(listens && self.peers[0].is_some(), "two new hosts");
    }

    fn take(&mut self, end: usize, now: Instant, datagram: &[u8]) {
        // The datagram came from the other end.
        self.hosts[end].take(now, 1 - end, datagram);
    }

    fn serve(&mut self, end: usize, now: Instant) {
        self.hosts[end].handle_timeout(now);
        while let Some(event) = self.hosts[end].poll_event() {
            match event {
                Happened::Connected(peer) => {
                    self.peers[end] = Some(peer);
                    if end == 0 {
                        self.working = Some(Working::new(self.work, now));
                    }
                }
                Happened::Disconnected => self.is_ended = true,
                Happened::Else => {}
            }
        }
        self.receive(end, now);
        if end == 1 || self.is_ended {
            return;
        }
        if let (Some(working), Some(peer)) = (&mut self.working, self.peers[0]) {
            working.act(now, &mut self.hosts[0], peer);
        }
    }

    fn next(&mut self, end: usize, now: Instant) -> Option<Vec<u8>> {
        if let Some(datagram) = self.hosts[end].next(now, &mut self.buffer) {
            return Some(datagram);
        }
        let stats = self.peers[0].and_then(|peer| self.hosts[0].stats(peer));
        self.stats = stats.unwrap_or(self.stats);
        None
    }

    fn deadline(&self, end: usize) -> Option<Instant> {
        let works = end == 0 && !self.is_ended;
        let work = self.working.as_ref().filter(|_| works);
        let work = work.and_then(Working::next);
        [self.hosts[end].poll_timeout(), work]
            .into_iter()
            .flatten()
            .min()
    }

    fn seen(&self) -> Seen {
        let stats = &self.stats;
        let is_connected = self.working.is_some() && !self.is_ended;
        Seen {
            delivered: self.delivered,
            offered: self.working.as_ref().map_or(0, |working| working.offered),
            window: if stats.window >= NO_LIMIT {
                f64::INFINITY
            } else {
                stats.window.into()
            },
            rtt: stats.rtt,
            lost: stats.frames_lost,
            spurious: stats.frames_spurious,
            told: is_connected.then_some(Told {
                loss: stats.loss_sent,
                quality: stats.quality,
            }),
        }
    }

    fn is_ended(&self) -> bool {
        self.is_ended
    }

    fn small(&self) -> &[(u64, u64)] {
        &self.small
    }
}
