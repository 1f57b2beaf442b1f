//! Explicit congestion notification (D9): routers mark instead of dropping, paths remove marks, and
//! peers lie about them.

use core::time::Duration;

use porous_proto::congestion::Congestion;
use porous_proto::{ChannelId, Config, Ecn, Host, Instant, Listen, Mode, PeerStats, Policy};
use porous_sim::{ChaCha8Rng, EcnPath, LinkConfig, Pair, Queue, Seed};
use porous_tests::config;
use porous_tests::encoder::{Ack, Message, Offer, Packet};
use porous_tests::remote::Remote;

const MS: Duration = Duration::from_millis(1);

/// A configuration with a controller that fills any queue.
fn config(ecn: bool) -> Config {
    let config = config::new().policy(Policy::Modern);
    config.congestion(Congestion::Paper).ecn(ecn)
}

/// 4 Mbit/s with a modern queue, 40 ms there and back.
fn line() -> LinkConfig {
    let line = LinkConfig::new().delay(20 * MS).rate(4_000_000);
    line.queue(Queue::CODEL).marks(true)
}

/// Carries 5 MB of reliable packets from A to B, which all arrive, and returns what became of them.
fn carry(line: LinkConfig, config: &Config) -> (PeerStats, u64) {
    let mut pair = Pair::new(Seed::new(1), line, config.clone(), config.clone());
    pair.connect_to_listener();
    let sent = (0..5000).map(|_| (0, Mode::Reliable, vec![7; 1000]));
    let got = pair.exchange(Pair::A, sent, Duration::from_secs(300));
    assert_eq!(got.len(), 5000);
    let peer = pair.world.host(Pair::A).peer(pair.peer(Pair::A));
    let network = pair.world.network();
    let dropped = network.link_stats(Pair::A, Pair::B).queue_dropped;
    (peer.expect("it is connected").stats(), dropped)
}

/// D9.
#[test]
fn marks_make_the_window_smaller_and_nothing_is_lost() {
    let (with, dropped) = carry(line(), &config(true));
    assert!(with.ecn && with.frames_marked > 3, "{with:?}");
    assert_eq!((dropped, with.frames_lost), (0, 0), "{with:?}");
    let (without, dropped) = carry(line(), &config(false));
    assert_eq!((without.ecn, without.frames_marked), (false, 0));
    assert!(dropped > 3 && without.frames_lost >= dropped, "{without:?}");
    // The window is about as large as with drops: one mark counts as one drop.
    let round = with.window.max(without.window) / with.window.min(without.window);
    assert!(round <= 4, "{} {}", with.window, without.window);
}

/// D9.
#[test]
fn by_default_a_router_that_marks_drops_nothing() {
    let modern = |config: Config| config.policy(Policy::Modern);
    for bits in [4_000_000, 20_000_000] {
        let line = line().rate(bits);
        let (with, dropped) = carry(line, &modern(config::new()));
        assert!(with.ecn, "{with:?}");
        assert_eq!((dropped, with.frames_lost), (0, 0), "{with:?}");
        let (without, _) = carry(line, &modern(config::new()).ecn(false));
        assert_eq!((without.ecn, without.frames_marked), (false, 0));
    }
}

/// D9.
#[test]
fn a_path_that_removes_marks_ends_them() {
    let bleached = line().ecn_path(EcnPath::Bleached);
    let (stats, dropped) = carry(bleached, &config(true));
    assert!(!stats.ecn, "{stats:?}");
    // The queue marked a few datagrams before the first acknowledgements came.
    assert!(dropped > 3 && stats.frames_lost > 0, "{stats:?}");
}

/// D9.
#[test]
fn a_path_that_drops_what_is_marked_costs_ten_frames() {
    let blocked = LinkConfig::new().delay(20 * MS).ecn_path(EcnPath::Blocked);
    let (stats, _) = carry(blocked, &config(true));
    assert!(!stats.ecn, "{stats:?}");
    assert!((10..30).contains(&stats.frames_lost), "{stats:?}");
}

/// D9.
#[test]
fn a_host_that_hears_nothing_marks_ten_frames_and_no_more() {
    let blocked = LinkConfig::new().delay(20 * MS).ecn_path(EcnPath::Blocked);
    let modern = config::new().policy(Policy::Modern).ecn(true);
    let mut pair = Pair::new(Seed::new(1), blocked, modern.clone(), modern);
    pair.connect_to_listener();
    let mut arrived = 0;
    for _ in 0..300 {
        pair.send(Pair::A, 0, Mode::Unreliable, vec![7; 200])
            .unwrap();
        pair.world.run_for(10 * MS);
        arrived += pair.receive_all(Pair::B).len();
    }
    pair.world.run_for(1000 * MS);
    arrived += pair.receive_all(Pair::B).len();
    assert_eq!(arrived, 290);
    let peer = pair.world.host(Pair::A).peer(pair.peer(Pair::A));
    assert!(!peer.expect("it is connected").stats().ecn);
}

/// A clean path, which `then` changes in the middle. Returns whether frames are marked at the end.
fn begin(then: impl FnOnce(&mut Pair, LinkConfig)) -> bool {
    let clean = LinkConfig::new().delay(20 * MS);
    let mut pair = Pair::new(Seed::new(1), clean, config(true), config(false));
    pair.connect_to_listener();
    assert!(exchange(&mut pair));
    then(&mut pair, clean);
    exchange(&mut pair)
}

/// Packets are carried, and no frame comes with CE. Returns whether frames are marked then.
fn exchange(pair: &mut Pair) -> bool {
    let sent = (0..50).map(|_| (0, Mode::Reliable, vec![7; 1000]));
    assert_eq!(pair.exchange(Pair::A, sent, 20_000 * MS).len(), 50);
    pair.world.run_for(1000 * MS);
    let peer = pair.world.host(Pair::A).peer(pair.peer(Pair::A));
    let stats = peer.expect("it is connected").stats();
    assert_eq!(stats.frames_marked, 0);
    stats.ecn
}

/// D9.
#[test]
fn a_path_that_begins_to_remove_marks_is_noticed() {
    assert!(!begin(|pair, clean| {
        let bleached = clean.ecn_path(EcnPath::Bleached);
        pair.world
            .network_mut()
            .set_link(Pair::A, Pair::B, bleached);
    }));
}

/// D9.
#[test]
fn a_path_that_begins_to_drop_what_is_marked_is_noticed() {
    assert!(!begin(|pair, clean| {
        let blocked = clean.ecn_path(EcnPath::Blocked);
        pair.world.network_mut().set_link(Pair::A, Pair::B, blocked);
        // Each round of losses takes a new packet.
        for _ in 0..20 {
            let packet = (0, Mode::Reliable, vec![7; 1000]);
            assert_eq!(pair.exchange(Pair::A, [packet], 20_000 * MS).len(), 1);
        }
    }));
}

/// D9.
#[test]
fn an_outage_does_not_end_marks() {
    assert!(begin(|pair, clean| {
        let mut arrived = 0;
        for is_down in [true, false] {
            pair.world.network_mut().set_all(clean.down(is_down));
            for _ in 0..50 {
                pair.send(Pair::A, 0, Mode::Reliable, vec![7; 1000])
                    .unwrap();
            }
            pair.world.run_for(2000 * MS);
            arrived += pair.receive_all(Pair::B).len();
        }
        assert_eq!(arrived, 100);
    }));
}

/// D9.
#[test]
fn the_papers_policy_marks_nothing() {
    let config = config(true).policy(Policy::Paper);
    let (stats, _) = carry(line(), &config);
    assert_eq!((stats.ecn, stats.frames_marked), (false, 0));
}

/// A peer whose datagrams the test writes, and a host that sends it a packet each 5 ms.
struct Hand {
    host: Host<ChaCha8Rng, u8>,
    remote: Remote,
    now: Instant,
    /// The number of frames with ECT(0).
    marked: u32,
}

impl Hand {
    fn new(ecn: bool) -> Self {
        let mut host = Host::new(config(ecn).first_id(0), Seed::new(1).stream("host", 0));
        assert_eq!(host.listen(Listen::Open), Ok(()));
        let offer = Offer {
            application: 0,
            channels: 1,
            datagram: 1200,
            packet: 1 << 20,
            budget: 4 << 20,
            windows: [12, 12],
            rates: [u32::MAX; 2],
            integrity: 0,
            extensions: 0,
            path_mtu: None,
            sealed: &[],
            timeout: None,
        };
        let now = Instant::from_micros(1000);
        let remote = Remote::connect(&mut host, now, 9, &offer);
        Self {
            host,
            remote,
            now,
            marked: 0,
        }
    }

    fn stats(&self) -> PeerStats {
        let (_, peer) = self.host.peers().next().expect("it is connected");
        peer.stats()
    }

    /// The remote end hears the datagrams of the next 5 ms.
    fn step(&mut self) -> usize {
        self.now = self.now + 5 * MS;
        let (peer, _) = self.host.peers().next().expect("it is connected");
        let _ = (self.host).send(peer, ChannelId(0), vec![7; 1000], Mode::Unreliable);
        self.host.handle_timeout(self.now);
        self.hear()
    }

    fn hear(&mut self) -> usize {
        let mut buf = [0; 1200];
        let mut heard = 0;
        while let Some(transmit) = self.host.poll_transmit(self.now, &mut buf) {
            self.marked += u32::from(transmit.ecn == Ecn::Ect0);
            self.remote.hear(transmit.datagram);
            heard += 1;
        }
        heard
    }

    /// Acknowledges all frames, and reports these marks.
    fn acknowledge(&mut self, marks: (bool, u32)) {
        let ack = Ack {
            largest: self.remote.newest.0,
            width: 4,
            map: (0..32).fold(0, |map, bit| {
                let heard = |id| self.remote.heard.contains_key(&id);
                let id = self.remote.newest.0.checked_sub(bit + 1);
                map | u32::from(id.is_none_or(heard)) << bit
            }),
            delay: None,
            ranges: Vec::new(),
            nonces: false,
            marks,
        };
        let short = self.remote.short(Some(ack), Vec::new());
        let datagram = short.encode(&self.remote.shape);
        let taken = (self.host).handle_datagram(self.now, 9, Ecn::NotEct, &datagram);
        assert!(matches!(taken, porous_proto::Disposition::Handled(_)));
    }
}

/// The statistics of a host after 100 acknowledgements that report these marks, by the number of frames
/// with ECT(0) so far.
fn window_after(says: impl Fn(u32) -> (bool, u32)) -> PeerStats {
    let mut hand = Hand::new(true);
    for _ in 0..100 {
        hand.step();
        hand.acknowledge(says(hand.marked));
    }
    hand.stats()
}

/// D9.
#[test]
fn lies_about_marks_can_only_make_the_sender_slower() {
    let honest = window_after(|_| (true, 0));
    assert_eq!((honest.ecn, honest.frames_marked), (true, 0));
    let all = window_after(|sent| (true, sent));
    assert!(all.ecn && all.frames_marked > 90, "{all:?}");
    assert!(all.window < honest.window, "{all:?}");
    for lie in [1, 2, 1000, u32::MAX / 2] {
        let more = window_after(|sent| (true, sent.saturating_add(lie)));
        assert_eq!((more.ecn, more.frames_marked), (false, 0), "{lie}");
        assert!(more.window <= honest.window, "{lie}");
    }
    let less = window_after(|sent| (true, 5_u32.saturating_sub(sent)));
    assert!(less.window <= honest.window && less.frames_marked <= 5);
    let none = window_after(|_| (false, 0));
    assert!(!none.ecn && none.window <= honest.window);
}

/// D9.
#[test]
fn marks_that_nobody_asked_for_mean_nothing() {
    let mut hand = Hand::new(false);
    for n in 1..100 {
        hand.step();
        hand.acknowledge((true, n));
    }
    let stats = hand.stats();
    assert_eq!((hand.marked, stats.frames_marked, stats.ecn), (0, 0, false));
}

/// A host that sends often lets acknowledgements wait for its next frame, but not that of a mark.
/// D9.
#[test]
fn a_frame_with_a_mark_is_acknowledged_at_once() {
    for (ecn, at_once) in [(Ecn::Ce, true), (Ecn::Ect0, false), (Ecn::NotEct, false)] {
        let mut hand = Hand::new(false);
        for _ in 0..50 {
            hand.step();
            hand.acknowledge((false, 0));
        }
        hand.now = hand.now + MS;
        let packet = Message::Packet(Packet {
            mode: 0,
            channel: 0,
            id: 0,
            dependency: 0,
            fragment: None,
            receipt: false,
            payload: vec![1; 10],
        });
        let short = hand.remote.short(None, vec![packet]);
        let datagram = short.encode(&hand.remote.shape);
        let taken = (hand.host).handle_datagram(hand.now, 9, ecn, &datagram);
        assert!(matches!(taken, porous_proto::Disposition::Handled(_)));
        assert_eq!(hand.hear() > 0, at_once, "{ecn:?}");
    }
}
