//! Path MTU discovery (D8): the lengths that it finds, its cost, and paths that change.

use core::time::Duration;

use porous_proto::{ChannelId, Config, Host, Instant, Listen, Mode, PeerStats, Policy, SendError};
use porous_sim::{ChaCha8Rng, LinkConfig, Pair, Seed};
use porous_tests::config::{self, by_policy};
use porous_tests::encoder::{Ack, Message, Offer};
use porous_tests::remote::Remote;
use porous_tests::{sent_at, stamped};

const MS: Duration = Duration::from_millis(1);
const TICK: Duration = Duration::from_millis(10);

/// A steady flow of small reliable packets from A to B, 1500 bytes each tick.
struct Flow {
    pair: Pair,
    sent: u32,
    received: u32,
    /// The longest latency of the packets that arrived since this was last read.
    longest: Duration,
}

impl Flow {
    fn new(seed: u64, line: LinkConfig, a: Config, b: Config) -> Self {
        Self::connect(Pair::new(Seed::new(seed), line, a, b))
    }

    fn connect(mut pair: Pair) -> Self {
        pair.connect_to_listener();
        Self {
            pair,
            sent: 0,
            received: 0,
            longest: Duration::ZERO,
        }
    }

    /// A pair of hosts that both search for datagrams up to 1452 bytes.
    fn searching(seed: u64, line: LinkConfig) -> Self {
        Self::new(seed, line, wants(1452), wants(1452))
    }

    /// The same pair under the modern policy: the paper's takes late frames for lost.
    fn modern(seed: u64, line: LinkConfig) -> Self {
        let config = wants(1452).policy(Policy::Modern);
        Self::new(seed, line, config.clone(), config)
    }

    fn run(&mut self, time: Duration) {
        let end = self.pair.world.now() + time;
        while self.pair.world.now() < end {
            let now = self.pair.world.now();
            let (from, to) = (self.pair.peer(Pair::A), self.pair.peer(Pair::B));
            for _ in 0..15 {
                let mut packet = stamped(now, 8);
                packet.extend(self.sent.to_le_bytes());
                packet.resize(100, 7);
                let host = self.pair.world.host_mut(Pair::A);
                let taken = host.send(from, ChannelId(0), packet, Mode::Reliable);
                match taken {
                    Ok(()) => self.sent += 1,
                    Err(error) => assert_eq!(error, SendError::Full),
                }
            }
            self.pair.world.run_for(TICK);
            let now = self.pair.world.now();
            while let Some(packet) = self.pair.world.host_mut(Pair::B).receive(to) {
                let number = &packet.payload[8..12];
                let number = u32::from_le_bytes(number.try_into().expect("4 bytes"));
                assert_eq!(number, self.received, "{}", self.pair.world.seed());
                self.received += 1;
                let took = now.saturating_duration_since(sent_at(&packet));
                self.longest = self.longest.max(took);
            }
        }
    }

    fn stats(&self) -> PeerStats {
        let peer = self.pair.peer(Pair::A);
        let peer = self.pair.world.host(Pair::A).peer(peer);
        peer.expect("it is connected").stats()
    }

    /// The number of datagrams from A to B that were too large for the path.
    fn too_large(&self) -> u64 {
        let network = self.pair.world.network();
        network.link_stats(Pair::A, Pair::B).too_large
    }

    fn set_line(&mut self, line: LinkConfig) {
        let network = self.pair.world.network_mut();
        network.set_both(Pair::A, Pair::B, line);
    }
}

fn wants(max: u16) -> Config {
    config::new().path_mtu_discovery(max).expect("in its range")
}

fn line() -> LinkConfig {
    LinkConfig::new().delay(30 * MS)
}

/// D8.
#[test]
fn larger_datagrams_are_found_and_used_where_the_path_carries_them() {
    let mut flow = Flow::searching(1, line());
    flow.run(4900 * MS);
    assert_eq!(flow.stats().path_mtu, 1200, "not in the first seconds");
    flow.run(1100 * MS);
    let found = flow.stats();
    assert_eq!(found.path_mtu, 1452);
    flow.run(5000 * MS);
    let after = flow.stats();
    let bytes = after.bytes_sent - found.bytes_sent;
    let mean = bytes / (after.frames_sent - found.frames_sent);
    assert!(mean > 700, "{mean}");
    assert_eq!((flow.too_large(), after.frames_lost), (0, 0));
}

/// The driver of A adds 16 bytes to each datagram, and B does not know.
#[test]
fn datagrams_leave_room_for_the_envelope_of_the_host_that_connects() {
    let mut pair = Pair::new(Seed::new(1), line(), wants(1452), wants(1452));
    pair.world.host_mut(Pair::A).set_envelope(16);
    let mut flow = Flow::connect(pair);
    let sizes = |flow: &Flow| {
        [Pair::A, Pair::B].map(|at| {
            let peer = flow.pair.world.host(at).peer(flow.pair.peer(at));
            peer.expect("it is connected").max_unfragmented()
        })
    };
    let at_first = sizes(&flow);
    assert_eq!(at_first[0], at_first[1]);
    assert_eq!(flow.stats().path_mtu, 1184);
    flow.run(6000 * MS);
    assert_eq!(flow.stats().path_mtu, 1436);
    // From now on: a connection that is there keeps its terms.
    flow.pair.world.host_mut(Pair::A).set_envelope(32);
    flow.run(6000 * MS);
    assert_eq!(flow.stats().path_mtu, 1436);
}

/// D8.
#[test]
fn a_path_that_carries_no_more_is_tried_twelve_times_and_nothing_else_is_lost() {
    for (limit, found, most) in [(1200, 1200, 12), (1300, 1294, 12), (1400, 1389, 9)] {
        let mut flow = Flow::searching(1, line().mtu(limit));
        flow.run(40_000 * MS);
        let stats = flow.stats();
        assert_eq!(stats.path_mtu, found, "{limit}");
        let lost = flow.too_large();
        assert!((3..=most).contains(&lost), "{limit}: {lost}");
        assert_eq!(stats.frames_lost, 0, "a probe is no loss: {limit}");
        assert!(flow.longest < 100 * MS, "{limit}: {:?}", flow.longest);
    }
}

/// D8.
#[test]
fn both_hosts_must_want_it_and_the_smaller_count_is_the_limit() {
    for (a, b, expected) in [
        (wants(1452), config::new(), 1200),
        (config::new(), wants(1452), 1200),
        (wants(1452), wants(1300), 1300),
        (wants(1300), wants(9000), 1300),
        (wants(1100), wants(9000), 1200),
        (wants(0), wants(9000), 1200),
    ] {
        let mut flow = Flow::new(1, line(), a, b);
        flow.run(8000 * MS);
        assert_eq!(flow.stats().path_mtu, expected);
    }
}

/// D8: within a second the flow is as before, and no packet is missing.
#[test]
fn a_path_that_carries_less_than_before_is_noticed_within_a_second() {
    for (seed, delay, loss) in [(1, 30, 0.0), (2, 5, 0.0), (3, 80, 0.0), (4, 30, 2.0)] {
        let line = LinkConfig::new().delay(delay * MS).loss(loss);
        let mut flow = match loss {
            0.0 => Flow::searching(seed, line),
            _ => Flow::modern(seed, line),
        };
        flow.run(12_000 * MS);
        assert_eq!(flow.stats().path_mtu, 1452, "{seed}");
        let before = flow.longest;
        flow.longest = Duration::ZERO;
        flow.set_line(line.mtu(1250));
        flow.run(1000 * MS);
        assert_eq!(flow.stats().path_mtu, 1200, "{seed}");
        let most = by_policy(1000 * MS, 1500 * MS);
        assert!(flow.longest < most, "{seed}: {:?}", flow.longest);
        flow.run(4000 * MS);
        flow.longest = Duration::ZERO;
        flow.run(10_000 * MS);
        let usual = before.max(6 * delay * MS);
        assert!(loss > 0.0 || flow.longest <= usual, "{seed}");
        let lost = flow.too_large();
        flow.run(40_000 * MS);
        assert_eq!(flow.too_large(), lost, "no search for a minute, {seed}");
        flow.set_line(line);
        flow.run(20_000 * MS);
        assert_eq!(flow.stats().path_mtu, 1452, "{seed}");
    }
}

/// Fragments of 9000 bytes are cut anew. D8.
#[test]
fn a_large_packet_gets_through_where_the_path_shrinks() {
    let mut flow = Flow::new(1, line(), wants(9000), wants(9000));
    flow.run(10_000 * MS);
    assert_eq!(flow.stats().path_mtu, 9000);
    let (from, to) = (flow.pair.peer(Pair::A), flow.pair.peer(Pair::B));
    let host = flow.pair.world.host_mut(Pair::A);
    let packet = vec![9; 300_000];
    let taken = host.send(from, ChannelId(0), packet.clone(), Mode::Reliable);
    assert_eq!(taken, Ok(()));
    flow.pair.world.run_for(40 * MS);
    flow.set_line(line().mtu(1200));
    let end = flow.pair.world.now() + by_policy(2000 * MS, 6000 * MS);
    loop {
        flow.pair.world.run_for(TICK);
        let received = flow.pair.world.host_mut(Pair::B).receive(to);
        if received.is_some_and(|received| received.payload == packet) {
            break;
        }
        assert!(flow.pair.world.now() < end, "{:?}", flow.stats());
    }
}

/// D8.
#[test]
fn losses_do_not_keep_a_path_from_being_found_or_used() {
    for seed in 1..=6 {
        let mut flow = Flow::modern(seed, line().loss(10.0));
        flow.run(30_000 * MS);
        assert!(flow.stats().path_mtu >= 1300, "{seed}");
    }
}

/// D8.
#[test]
fn a_host_that_sends_little_searches_no_path() {
    let mut pair = Pair::new(Seed::new(1), line().mtu(1200), wants(1452), wants(1452));
    pair.connect_to_listener();
    for _ in 0..60 {
        let packets = [(0, Mode::Reliable, vec![7; 1100])];
        assert_eq!(pair.exchange(Pair::A, packets, 60_000 * MS).len(), 1);
        pair.world.run_for(500 * MS);
    }
    let network = pair.world.network();
    assert_eq!(network.link_stats(Pair::A, Pair::B).too_large, 0);
}

/// A peer whose datagrams the test writes, and a host that sends it two packets each 10 ms.
struct Hand {
    host: Host<ChaCha8Rng, u8>,
    remote: Remote,
    now: Instant,
}

impl Hand {
    fn new() -> Self {
        let config = wants(9000).first_id(0); // the remote end counts ids from 0
        let config = config.windows(1 << 16, 1 << 16).expect("the greatest");
        let mut host = Host::new(config, Seed::new(1).stream("host", 0));
        assert_eq!(host.listen(Listen::Open), Ok(()));
        let offer = Offer {
            application: 0,
            channels: 1,
            datagram: 1200,
            packet: 1 << 20,
            budget: 4 << 20,
            windows: [16, 16],
            rates: [u32::MAX; 2],
            integrity: 0,
            extensions: 0,
            path_mtu: Some(u16::MAX),
            sealed: &[],
            timeout: None,
        };
        let now = Instant::from_micros(1000);
        let remote = Remote::connect(&mut host, now, 9, &offer);
        Self { host, remote, now }
    }

    fn path_mtu(&self) -> u16 {
        let (_, peer) = self.host.peers().next().expect("it is connected");
        peer.stats().path_mtu
    }

    /// The datagrams of the next 10 ms. The remote hears those that are at most this long; the lengths of
    /// the others are returned.
    fn step(&mut self, longest: usize) -> Vec<(u32, usize)> {
        self.now = self.now + TICK;
        let (peer, _) = self.host.peers().next().expect("it is connected");
        for _ in 0..2 {
            let _ = (self.host).send(peer, ChannelId(0), vec![7; 700], Mode::Unreliable);
        }
        self.host.handle_timeout(self.now);
        let mut unheard = Vec::new();
        let mut buf = vec![0; self.host.max_datagram_size()];
        while let Some(transmit) = self.host.poll_transmit(self.now, &mut buf) {
            let len = transmit.datagram.len();
            assert_eq!(transmit.dont_fragment, len > 1200);
            if len <= longest {
                self.remote.hear(transmit.datagram);
                continue;
            }
            let mut copy = self.remote.clone();
            copy.hear(transmit.datagram);
            unheard.push((copy.newest.0, len));
        }
        unheard
    }

    /// Acknowledges the frames that were heard, and this frame too, whose nonce it can only guess.
    fn acknowledge(&mut self, also: Option<u32>) {
        let newest = also.map_or(self.remote.newest.0, |id| id.max(self.remote.newest.0));
        let heard = |bit: &u32| match newest.checked_sub(bit + 1) {
            Some(id) => self.remote.heard.contains_key(&id) || also == Some(id),
            None => true,
        };
        let ack = Ack {
            largest: newest,
            width: 4,
            map: (0..32).filter(heard).fold(0, |map, bit| map | 1 << bit),
            delay: None,
            ranges: Vec::new(),
            marks: (false, 0),
            nonces: false,
        };
        let short = self.remote.short(Some(ack), Vec::new());
        let datagram = short.encode(&self.remote.shape);
        let _ = (self.host).handle_datagram(self.now, 9, porous_proto::Ecn::NotEct, &datagram);
    }
}

/// A false acknowledgement gains nothing: for a while the liar is sent datagrams that it cannot receive,
/// and few probes. D8.
#[test]
fn a_peer_that_acknowledges_probes_that_never_came_harms_only_itself() {
    if by_policy(false, true) {
        return; // frames of the paper's policy have no nonces
    }
    let mut hand = Hand::new();
    let (mut raised, mut fell, mut probes) = (0, 0, 0);
    for _ in 0..12_000 {
        let before = hand.path_mtu();
        let unheard = hand.step(1200);
        let probe = unheard.iter().find(|(_, len)| *len > before.into());
        probes += u32::from(probe.is_some());
        hand.acknowledge(probe.map(|(id, _)| *id));
        let mtu = hand.path_mtu();
        raised += u32::from(mtu > before);
        fell += u32::from(mtu < before);
    }
    assert!(raised >= 2 && fell >= 2, "{raised} {fell}");
    assert!(probes < 40, "{probes} in two minutes");
}

#[test]
fn padded_junk_is_refused_or_costs_nothing() {
    let mut hand = Hand::new();
    let padded = |zeros: usize| Message::Control([&[9][..], &vec![0; zeros]].concat());
    for zeros in [0, 1, 1000, 8900, 60_000] {
        hand.step(9000);
        let short = hand.remote.short(None, vec![padded(zeros)]);
        let mut datagram = short.encode(&hand.remote.shape);
        let now = hand.now;
        let taken = (hand.host).handle_datagram(now, 9, porous_proto::Ecn::NotEct, &datagram);
        assert!(
            matches!(taken, porous_proto::Disposition::Handled(_)),
            "{zeros}"
        );
        assert!(
            hand.host.poll_transmit(now, &mut [0; 9000]).is_none(),
            "no answer"
        );
        *datagram.last_mut().expect("not empty") = 1;
        let taken = (hand.host).handle_datagram(now, 9, porous_proto::Ecn::NotEct, &datagram);
        assert!(
            !matches!(taken, porous_proto::Disposition::Handled(_)),
            "{zeros}"
        );
    }
}

/// The books of the caps are right while larger datagrams are tried.
#[test]
fn caps_are_kept_while_larger_datagrams_are_searched_for() {
    for policy in [Policy::Modern, Policy::Paper] {
        for (cap, max) in [
            (1000, 1452),
            (5000, 9000),
            (20_000, 65_507),
            (300_000, 9000),
        ] {
            for host_only in [true, false] {
                let config = wants(max).policy(policy);
                let capped = match host_only {
                    true => config.clone().host_send_rate(cap),
                    false => config.clone().bandwidth(cap, u32::MAX).expect("in range"),
                };
                let line = line().mtu(1400 + usize::from(max) / 2);
                let mut flow = Flow::new(5, line, capped, config);
                for n in 0..300 {
                    flow.run(100 * MS);
                    if n == 200 {
                        flow.set_line(line.mtu(1300));
                    }
                    for host in [Pair::A, Pair::B] {
                        let _ = flow.pair.world.host(host).audit();
                    }
                }
            }
        }
    }
}
