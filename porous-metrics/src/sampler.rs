//! What a host counts and measures, told to the recorder.

use alloc::sync::Arc;
use core::time::Duration;

use metrics::{Counter, SharedString, counter, gauge, histogram};
use porous_proto::{Address, FrameStats, Host, HostStats, Instant, Peer, PeerState};
#[cfg(feature = "udp")]
use porous_udp::SocketStats;
use rand_core::CryptoRng;

use crate::names::{
    BYTES, DATAGRAMS, FRAMES, HANDSHAKES, IGNORED, LOSS, PEERS, QUALITY, QUEUED, RTT,
};

/// The time between two samples.
const INTERVAL: Duration = Duration::from_secs(1);

/// How much earlier a sample may be taken: timers of a second are not exact.
const EARLY: Duration = Duration::from_millis(100);

/// Connected peers that one sample looks at closely: at most a millisecond of work, whatever the host has.
const PEERS_PER_SAMPLE: usize = 1000;

/// The share of a hundredth of a percent.
const PER_MYRIAD: f64 = 1e-4;

/// Tells the recorder of the program what a host has counted and measured, once a second.
///
/// Each metric has the label `host`, and none names a peer, an address or anything else of which there are
/// many. The counters hold for all peers since the host was made, also for those that have ended. The
/// histograms get one value of each connected peer a second; where there are more than 1000, of 1000, which
/// take turns.
///
/// Without a recorder nothing is kept, and a sample costs next to nothing; a recorder may also be installed
/// later.
#[derive(Clone, Debug)]
pub struct Sampler {
    /// The value of the label `host`.
    host: SharedString,
    /// When the next sample is due; `None` before the first.
    due: Option<Instant>,
    /// The number of connected peers that have had their turn.
    turn: usize,
}

impl Sampler {
    /// A sampler of one host. `name` is the value of the label `host`, by which a dashboard tells the hosts of a
    /// program apart: "lobby", "match-3".
    ///
    /// ```
    /// use porous_metrics::Sampler;
    ///
    /// let sampler = Sampler::new("lobby");
    /// # let _ = sampler;
    /// ```
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            host: Arc::<str>::from(name).into(),
            due: None,
            turn: 0,
        }
    }

    /// Takes a sample, if the last one is a second ago; true if it did. So a loop may call this in each turn.
    ///
    /// `now` is the time of the host. A driver's host tells it, and has the host that is asked within.
    ///
    /// ```
    /// use porous_metrics::Sampler;
    /// use porous_std::{Config, UdpHost};
    ///
    /// let host = UdpHost::bind("127.0.0.1:0", Config::new())?;
    /// let mut sampler = Sampler::new("lobby");
    /// assert!(sampler.sample(host.host(), host.now()));
    /// assert!(!sampler.sample(host.host(), host.now())); // not again in the same second
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn sample<R: CryptoRng, A: Address>(&mut self, host: &Host<R, A>, now: Instant) -> bool {
        let due = self.due.unwrap_or(now);
        if now + EARLY < due {
            return false;
        }
        // Not from now on: of a loop that asks in each turn every sample would be early.
        self.due = Some((due + INTERVAL).max(now + (INTERVAL - EARLY)));
        self.count(&host.stats());
        self.count_frames(host.frames());
        self.measure(host);
        true
    }

    /// Tells the recorder what the socket of a driver over `porous-udp` has counted. Called after
    /// [`sample`](Self::sample), whenever that is true.
    ///
    /// ```
    /// use porous_metrics::Sampler;
    /// use porous_std::{Config, UdpHost};
    ///
    /// let host = UdpHost::bind("127.0.0.1:0", Config::new())?;
    /// let mut sampler = Sampler::new("lobby");
    /// if sampler.sample(host.host(), host.now()) {
    ///     sampler.sample_socket(&host.socket_stats());
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(feature = "udp")]
    pub fn sample_socket(&self, socket: &SocketStats) {
        let name = crate::names::SOCKET;
        self.counter(name, "what", "send_lost")
            .absolute(socket.send_lost);
        self.counter(name, "what", "send_delayed")
            .absolute(socket.send_delayed);
        self.counter(name, "what", "receive_errors")
            .absolute(socket.receive_errors);
        self.counter(name, "what", "answers_withheld")
            .absolute(socket.answers_withheld);
    }

    /// A counter of this host. Asked for in each sample: a recorder that is installed later has to get the
    /// counts, too.
    fn counter(&self, name: &'static str, label: &'static str, value: &'static str) -> Counter {
        counter!(name, "host" => self.host.clone(), label => value)
    }

    fn count(&self, stats: &HostStats) {
        for (direction, datagrams, bytes) in [
            ("received", stats.datagrams_received, stats.bytes_received),
            ("sent", stats.datagrams_sent, stats.bytes_sent),
        ] {
            self.counter(DATAGRAMS, "direction", direction)
                .absolute(datagrams);
            self.counter(BYTES, "direction", direction).absolute(bytes);
        }
        for (cause, count) in stats.ignored_by_name() {
            self.counter(IGNORED, "cause", cause).absolute(count);
        }
        self.counter(HANDSHAKES, "step", "accepted")
            .absolute(stats.accepted);
        self.counter(HANDSHAKES, "step", "connected")
            .absolute(stats.connected);
        self.counter(HANDSHAKES, "step", "source_full")
            .absolute(stats.source_full);
        self.counter(HANDSHAKES, "step", "overloaded")
            .absolute(stats.overloaded);
        #[cfg(feature = "seal")]
        for (cause, count) in stats.tokens_refused_by_name() {
            self.counter(crate::names::TOKENS, "cause", cause)
                .absolute(count);
        }
    }

    fn count_frames(&self, frames: FrameStats) {
        self.counter(FRAMES, "what", "sent").absolute(frames.sent);
        self.counter(FRAMES, "what", "lost").absolute(frames.lost);
        self.counter(FRAMES, "what", "spurious")
            .absolute(frames.spurious);
        self.counter(FRAMES, "what", "marked")
            .absolute(frames.marked);
    }

    /// Counts all peers, and looks at those whose turn it is.
    fn measure<R: CryptoRng, A: Address>(&mut self, host: &Host<R, A>) {
        let (mut connecting, mut connected, mut disconnecting) = (0_u32, 0_u32, 0_u32);
        for (_, peer) in host.peers() {
            match peer.state() {
                PeerState::Connecting => connecting += 1,
                PeerState::Connected => connected += 1,
                PeerState::Disconnecting => disconnecting += 1,
                PeerState::Disconnected | PeerState::Zombie => {}
            }
        }
        for (state, count) in [
            ("connecting", connecting),
            ("connected", connected),
            ("disconnecting", disconnecting),
        ] {
            gauge!(PEERS, "host" => self.host.clone(), "state" => state).set(count);
        }
        if self.turn >= connected as usize {
            self.turn = 0;
        }
        let is_connected = |peer: &&Peer| peer.state() == PeerState::Connected;
        let peers = host.peers().map(|(_, peer)| peer).filter(is_connected);
        let peers = peers.skip(self.turn).take(PEERS_PER_SAMPLE);
        self.record(peers);
        self.turn += PEERS_PER_SAMPLE;
    }

    fn record<'p>(&self, peers: impl Iterator<Item = &'p Peer>) {
        let host = || self.host.clone();
        let rtt = histogram!(RTT, "host" => host());
        let loss_sent = histogram!(LOSS, "host" => host(), "direction" => "sent");
        let loss_received = histogram!(LOSS, "host" => host(), "direction" => "received");
        let queued = histogram!(QUEUED, "host" => host());
        let quality = histogram!(QUALITY, "host" => host());
        for peer in peers {
            let stats = peer.stats();
            rtt.record(stats.rtt);
            loss_sent.record(f64::from(stats.loss_sent) * PER_MYRIAD);
            loss_received.record(f64::from(stats.loss_received) * PER_MYRIAD);
            queued.record(stats.queued_bytes);
            quality.record(stats.quality);
        }
    }
}
