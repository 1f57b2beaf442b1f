//! Acknowledgements, datagram by datagram. Often the test writes the remote end's datagrams, after
//! `docs/wire.md`. The acknowledgements show in the flight size and the losses: an application is told
//! of packets, by their receipts, and not of frames.

use core::time::Duration;

use porous_proto::{
    ChannelId, Disposition, Ecn, Host, Ignored, Instant, Listen, Mode, PeerId, PeerStats,
};
use porous_sim::{ChaCha8Rng, LinkConfig, Pair, Seed};
use porous_tests::config::{self, by_policy};
use porous_tests::encoder::{Ack, Offer};
use porous_tests::remote::Remote;

use crate::{A, B, MODES, MS, stats};

const SEED: Seed = Seed::new(1);
const NOW: Instant = Instant::from_micros(1000);
/// The bytes by which the window grows for each frame in slow start (9).
const MTU: u32 = 1200;

/// A host, and a peer whose datagrams the test writes.
struct Hand {
    host: Host<ChaCha8Rng, u8>,
    peer: PeerId,
    remote: Remote,
}

impl Hand {
    fn new() -> Self {
        // The remote end counts its ids from 0.
        let mut host = Host::new(config::new(), SEED.stream("host", 0));
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
        let remote = Remote::connect(&mut host, NOW, 9, &offer);
        let (peer, _) = host.peers().next().expect("it is connected");
        let mut hand = Self { host, peer, remote };
        // The ping that came with the handshake; the host has nothing else to send.
        hand.hear();
        let first = hand.remote.newest.0;
        let map = hand.heard_before(first);
        assert_eq!(hand.acknowledge(first, map, &[]), hand.remote_took());
        hand
    }

    fn remote_took(&self) -> Disposition {
        Disposition::Handled(self.peer)
    }

    /// The remote hears everything that the host has to send. Returns the number of datagrams, and the
    /// bytes of the last one.
    fn hear(&mut self) -> (usize, usize) {
        let (mut buf, mut count, mut last) = ([0; 1200], 0, 0);
        while let Some(transmit) = self.host.poll_transmit(NOW, &mut buf) {
            self.remote.hear(transmit.datagram);
            (count, last) = (count + 1, transmit.datagram.len());
        }
        (count, last)
    }

    /// Sends one packet in a datagram of its own. Returns the frame id, and the bytes by which the flight
    /// grows.
    fn send(&mut self, mode: Mode, len: usize) -> (u32, u32) {
        let before = self.stats().flight;
        let sent = self.host.send(self.peer, ChannelId(0), vec![7; len], mode);
        assert_eq!(sent, Ok(()));
        let (count, _) = self.hear();
        assert_eq!(count, 1, "one packet, one datagram");
        (self.remote.newest.0, self.stats().flight - before)
    }

    /// The remote acknowledges `largest`, those of the 32 before it that are in the map, and these
    /// ranges.
    fn acknowledge(&mut self, largest: u32, map: u32, ranges: &[(u32, u32)]) -> Disposition {
        let ack = Ack {
            largest,
            width: self.remote.newest.1,
            map,
            delay: None,
            ranges: ranges.to_vec(),
            marks: (false, 0),
            nonces: false,
        };
        let short = self.remote.short(Some(ack), Vec::new());
        let datagram = short.encode(&self.remote.shape);
        let (host, from) = (&mut self.host, self.remote.address);
        host.handle_datagram(NOW, from, Ecn::NotEct, &datagram)
    }

    /// The map of the frames before this one: one is left out now and then.
    fn heard_before(&self, largest: u32) -> u32 {
        let came = |bit: u32| self.remote.heard.contains_key(&(largest - 1 - bit));
        let bits = (0..largest.min(32)).filter(|&bit| came(bit));
        bits.fold(below_zero(largest), |map, bit| map | 1 << bit)
    }

    fn stats(&self) -> PeerStats {
        let peer = self.host.peer(self.peer);
        peer.expect("it is there").stats()
    }
}

/// Bits of the map below which there is no id: they count as received.
const fn below_zero(largest: u32) -> u32 {
    if largest >= 32 {
        0
    } else {
        u32::MAX << largest
    }
}

/// 19: each of 256 packets both ways over a clean link is acknowledged, once.
#[test]
fn each_packet_is_acknowledged_exactly_once() {
    // given: two hosts and a clean link
    let mut pair = Pair::new(SEED, LinkConfig::new(), config::client(), config::new());
    pair.connect_to_listener();

    // when: 256 packets go each way
    for n in 0..=255_u8 {
        for from in [A, B] {
            let mode = MODES[usize::from(n) % 3];
            assert_eq!(pair.send(from, 0, mode, vec![n; 100]), Ok(()));
        }
        pair.world.run_for(10 * MS);
    }
    pair.world.run_for(Duration::from_secs(1));

    // then: nothing is open and nothing was taken for lost
    for address in [A, B] {
        let stats = stats(&pair, address);
        assert_eq!((stats.packets_sent.total(), stats.frames_lost), (256, 0));
        assert_eq!((stats.flight, stats.queued_bytes), (0, 0), "{stats:?}");
        assert!(stats.frames_sent >= 256, "{stats:?}");
    }
}

/// 19, 20: repeated acknowledgements settle a frame once.
#[test]
fn acknowledgements_that_are_repeated_settle_nothing_twice() {
    // given: a frame in flight that is behind all acknowledged ones
    let mut hand = Hand::new();
    let (mut open, mut window) = (Vec::new(), hand.stats().window);
    for n in 0..256_usize {
        open.push(hand.send(MODES[n % 3], 10 + n));
        if n % 2 == 1 {
            // when: the older frame is acknowledged five times
            let (id, bytes) = open.remove(0);
            let before = hand.stats().flight;
            let map = hand.heard_before(id);
            for _ in 0..5 {
                let taken = hand.acknowledge(id, map, &[]);
                assert_eq!(taken, hand.remote_took(), "frame {id}");
            }

            // then: it leaves the flight once, and the window grows once
            let stats = hand.stats();
            assert_eq!(stats.flight, before - bytes, "frame {id}");
            assert!(stats.window - window <= MTU, "frame {id}; {stats:?}");
            window = stats.window;
            let (id, _) = open.remove(0);
            hand.acknowledge(id, hand.heard_before(id), &[]);
            window = window.max(hand.stats().window);
        }
    }
    assert_eq!((hand.stats().flight, hand.stats().frames_lost), (0, 0));
}

/// 20: at half loss the frames that came are acknowledged, and all others are lost.
#[test]
fn at_half_loss_exactly_what_came_is_acknowledged() {
    // given: a host of whose datagrams the remote end gets a random half
    let mut hand = Hand::new();
    let mut pattern = 0x9E37_79B9_u32;
    // The frames of the handshake came.
    let mut came: Vec<u32> = (0..=hand.remote.newest.0).collect();
    let mut lost = 0;
    for n in 0..256_usize {
        let (id, _) = hand.send(Mode::Unreliable, n % 32);
        pattern ^= pattern << 13;
        pattern ^= pattern >> 17;
        pattern ^= pattern << 5;
        if pattern % 2 == 0 && n < 253 {
            lost += 1;
            continue;
        }
        came.push(id);

        // when: each frame that comes is acknowledged, with the 32 before it
        let map = (0..32).filter(|bit| came.contains(&id.wrapping_sub(1 + bit)));
        let map = map.fold(below_zero(id), |map, bit| map | 1 << bit);
        assert_eq!(hand.acknowledge(id, map, &[]), hand.remote_took());
    }

    // then: the lost frames are those that did not come, and nothing is open
    let stats = hand.stats();
    assert!(lost > 100, "{lost}");
    assert_eq!((stats.frames_lost, stats.flight), (lost, 0), "{stats:?}");
}

/// 21: bit n of the map stands for the frame n + 1 before the newest, as this project's document says; in
/// other protocols bit 0 is the newest itself.
#[test]
fn a_bit_of_the_map_stands_for_the_frame_that_the_document_says() {
    // given: 40 frames, no two of one size
    let mut hand = Hand::new();
    let frames: Vec<_> = (0..40)
        .map(|n| hand.send(Mode::Unreliable, 10 + n))
        .collect();
    let before = hand.stats().flight;
    let (newest, of_newest) = frames[39];
    let bytes = |back: usize| frames[39 - back].1;

    // when: the newest is acknowledged, with bits 5 and 31
    let taken = hand.acknowledge(newest, 1 << 5 | 1 << 31, &[]);

    // then: the frames 6 and 32 before it are acknowledged, too; those older than three acknowledged ones
    // are lost, and under the modern policy those that are three older than the newest
    assert_eq!(taken, hand.remote_took());
    let is_lost = |back: &usize| by_policy(*back >= 3 && ![6, 32].contains(back), *back >= 33);
    let overtaken: u32 = (0..40).filter(is_lost).map(bytes).sum();
    let left = before - of_newest - bytes(6) - bytes(32) - overtaken;
    let stats = hand.stats();
    let lost = by_policy(35, 7);
    assert_eq!((stats.flight, stats.frames_lost), (left, lost), "{stats:?}");

    // ... and a frame that was never sent cannot be acknowledged
    let never = hand.acknowledge(newest + 1, u32::MAX, &[]);
    assert_eq!(never, Disposition::Ignored(Ignored::BadAck));
    assert_eq!(hand.stats().flight, left);
}

/// 24: each of 16 packets, whole or in fragments, is delivered once although all datagrams come
/// twice.
#[test]
fn what_comes_twice_is_delivered_once() {
    for (mode, len) in MODES.into_iter().flat_map(|m| [(m, 50), (m, 5000)]) {
        for copies in [1, 3] {
            // given: a link that duplicates every datagram; copies may come late
            let link = LinkConfig::new().delay(20 * MS).duplicate(100.0);
            let link = if copies > 1 { link.reorder(30.0) } else { link };
            let mut pair = Pair::new(SEED, link, config::client(), config::new());
            pair.connect_to_listener();

            // when
            let mut got = Vec::new();
            for n in 0..16_u8 {
                assert_eq!(pair.send(A, 0, mode, vec![n; len]), Ok(()));
                pair.world.run_for(100 * MS);
                got.extend(pair.receive_all(B));
            }
            pair.world.run_for(Duration::from_secs(2));
            got.extend(pair.receive_all(B));

            // then: the copies came, and caused no event
            let order: Vec<u8> = got.iter().map(|packet| packet.payload[0]).collect();
            assert_eq!(order, (0..16).collect::<Vec<u8>>(), "{mode:?}, {len}");
            assert!(got.iter().all(|packet| packet.payload.len() == len));
            let twice = pair.world.host(B).stats().ignored(Ignored::Duplicate);
            assert!(twice >= 16, "{mode:?}, {len}: {twice}");
        }
    }
}

/// 26: of 32 frames that could be reported behind the map, 16 have room in the block: the newest
/// are acknowledged, the others count as lost, and nothing goes wrong.
#[test]
fn what_has_no_room_in_an_acknowledgement_counts_as_lost() {
    const FRAMES: usize = 33 + 2 * 32;
    // given: every second one of these frames has come, and nothing was acknowledged yet
    let mut a = Host::new(config::client(), SEED.stream("host", 0));
    let mut b = Host::new(config::new(), SEED.stream("host", 1));
    assert_eq!(b.listen(Listen::Open), Ok(()));
    let peer = a.connect(NOW, 2_u8).expect("a free address");
    for _ in 0..10 {
        carry(&mut a, &mut b, 1, NOW, |_| true);
        carry(&mut b, &mut a, 2, NOW, |_| true);
    }
    let stats = |host: &Host<ChaCha8Rng, u8>, peer| host.peer(peer).expect("it is there").stats();
    let before = stats(&a, peer);
    assert_eq!((before.flight, before.frames_lost), (0, 0));
    let send = |a: &mut _, b: &mut _, now, n: usize| {
        let packet = vec![0; 20];
        let sent = Host::send(a, peer, ChannelId(0), packet, Mode::Unreliable);
        assert_eq!(sent, Ok(()));
        assert_eq!(carry(a, b, 1, now, |_| n % 2 == 0), 1);
    };
    for n in 0..FRAMES {
        send(&mut a, &mut b, NOW, n);
    }

    // when: one acknowledgement comes, and three more frames overtake those that are still open
    assert_eq!(carry(&mut b, &mut a, 2, NOW, |_| true), 1);
    let later = NOW + 30 * MS;
    for _ in 0..3 {
        send(&mut a, &mut b, later, 0);
    }
    assert_eq!(carry(&mut b, &mut a, 2, later + 30 * MS, |_| true), 1);

    // then: 17 of the newest 33 and 16 behind them were acknowledged; the 16 that found no room and
    // the 48 that never came are lost
    let after = stats(&a, peer);
    assert_eq!((after.flight, after.frames_lost), (0, 16 + 48), "{after:?}");
    let (back, _) = b.peers().next().expect("it is connected");
    let got = core::iter::from_fn(|| b.receive(back)).count();
    assert_eq!(got, FRAMES.div_ceil(2) + 3);
}

/// Carries the datagrams of one host to the other, except the lost ones. Returns the number of datagrams.
fn carry(
    from: &mut Host<ChaCha8Rng, u8>,
    to: &mut Host<ChaCha8Rng, u8>,
    address: u8,
    now: Instant,
    arrives: impl Fn(&[u8]) -> bool,
) -> usize {
    let (mut buf, mut count) = ([0; 1200], 0);
    from.handle_timeout(now);
    while let Some(transmit) = from.poll_transmit(now, &mut buf) {
        count += 1;
        if arrives(transmit.datagram) {
            to.handle_datagram(now, address, Ecn::NotEct, transmit.datagram);
        }
    }
    count
}
