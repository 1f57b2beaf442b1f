//! A flow of porous: a host that connects and sends, and one that listens.

use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use porous_proto::congestion::Congestion;
use porous_proto::{Config, Ecn, Event, Host, Instant, Listen, PeerId, PeerStats, Priority};

use super::ends::{Ends, Seen, Told};
use super::work::{SMALL, Work, Working};
use crate::{ChaCha8Rng, Seed};

const MINUTE: Duration = Duration::from_secs(60);

/// The greatest window of a host in bytes, as that of a controller that is told its rate: no limit.
const NO_LIMIT: u32 = u32::MAX / 2;

#[derive(Debug)]
pub(super) struct Porous {
    hosts: [Host<ChaCha8Rng, u8>; 2],
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

impl Porous {
    pub(super) fn new(congestion: Option<Congestion>, work: Work, seed: Seed) -> Self {
        let host = |config: Config, index| {
            let channels = config.channels(&[Priority::High, Priority::Low]);
            let config = channels
                // Longer than the longest outage of a row, and than a handshake takes beside flows that have
                // five of six datagrams dropped, so that no connection ends.
                .and_then(|config| config.timeout(MINUTE)?.connect_timeout(MINUTE))
                .unwrap_or_else(|error| panic!("two channels and a minute: {error}"));
            let config = match congestion {
                Some(congestion) => config.congestion(congestion),
                None => config,
            };
            Host::new(config, seed.stream("host", index))
        };
        let hosts = [host(Config::client(), 0), host(Config::new(), 1)];
        Self {
            buffer: vec![0; hosts[0].max_datagram_size()],
            hosts,
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
    fn begin(&mut self, now: Instant) {
        let [client, server] = &mut self.hosts;
        let listens = server.listen(Listen::Open);
        self.peers[0] = client.connect(now, 1).ok();
        assert!(listens.is_ok() && self.peers[0].is_some(), "two new hosts");
    }

    fn take(&mut self, end: usize, now: Instant, datagram: &[u8]) {
        // The datagram came from the other end; an end is its own address.
        let from = u8::from(end == 0);
        self.hosts[end].handle_datagram(now, from, Ecn::NotEct, datagram);
    }

    fn serve(&mut self, end: usize, now: Instant) {
        self.hosts[end].handle_timeout(now);
        while let Some(event) = self.hosts[end].poll_event() {
            if let Event::Connected { peer, .. } = event {
                self.peers[end] = Some(peer);
                if end == 0 {
                    self.working = Some(Working::new(self.work, now));
                }
            } else if let Event::Disconnected { .. } = event {
                self.is_ended = true;
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
        if let Some(transmit) = self.hosts[end].poll_transmit(now, &mut self.buffer) {
            return Some(transmit.datagram.to_vec());
        }
        let sender = self.peers[0].and_then(|peer| self.hosts[0].peer(peer));
        if let Some(sender) = sender {
            self.stats = sender.stats();
        }
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
