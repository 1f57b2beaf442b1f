//! Packets of many fragments on paths that turn out to carry more, or less, while they are sent
//! (`docs/wire.md`, "Messages"; D8).

use core::time::Duration;

use porous_proto::{ChannelId, Config, Listen, Mode, PeerId, PeerStats};
use porous_sim::{LinkConfig, Pair, Seed, World};
use porous_tests::config::{self, by_policy};
use porous_tests::{connected, events};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// The datagram length of a path whose limit is not known, and that of Ethernet.
const LEAST: u16 = 1200;
const WIDE: u16 = 1452;

fn searching() -> Config {
    config::new()
        .path_mtu_discovery(WIDE)
        .expect("in its range")
}

/// A packet in which each byte follows from its place.
fn packet(len: u32) -> Vec<u8> {
    (0..len).map(|place| (place / 3).to_le_bytes()[0]).collect()
}

fn pair(seed: u64, line: LinkConfig, sender: Config) -> Pair {
    let mut pair = Pair::new(Seed::new(seed), line, sender, searching());
    pair.connect_to_listener();
    pair
}

fn stats(pair: &Pair) -> PeerStats {
    let peer = pair.world.host(Pair::A).peer(pair.peer(Pair::A));
    peer.expect("it is connected").stats()
}

fn send(pair: &mut Pair, packet: &[u8]) {
    let peer = pair.peer(Pair::A);
    let host = pair.world.host_mut(Pair::A);
    let sent = host.send(peer, ChannelId(0), packet.to_vec(), Mode::Reliable);
    assert_eq!(sent, Ok(()));
}

/// Waits for one packet. Returns whether it comes in this time.
fn arrives(pair: &mut Pair, packet: &[u8], within: Duration) -> bool {
    let end = pair.world.now() + within;
    while pair.world.now() < end {
        pair.world.run_for(10 * MS);
        if let Some(received) = pair.receive_all(Pair::B).pop() {
            assert!(received.payload == packet, "{}", pair.world.seed());
            return true;
        }
    }
    false
}

/// The average bytes of a datagram between two looks.
fn mean(before: &PeerStats, after: &PeerStats) -> u64 {
    (after.bytes_sent - before.bytes_sent) / (after.frames_sent - before.frames_sent)
}

/// Q3.
#[test]
fn a_packet_in_the_middle_of_which_the_path_is_found_to_be_wider_uses_it_for_the_rest() {
    let line = LinkConfig::new().delay(30 * MS);
    // The rate is so low that the packet takes ten seconds; in the first five no longer datagram is
    // tried.
    let slow = searching().bandwidth(100_000, u32::MAX).expect("a rate");
    let mut pair = pair(1, line, slow);
    let packet = packet(1_000_000);
    let before = stats(&pair);
    send(&mut pair, &packet);
    pair.world.run_for(4 * SECOND);
    let narrow = stats(&pair);
    assert_eq!(narrow.path_mtu, LEAST);
    assert!(mean(&before, &narrow) <= LEAST.into());
    pair.world.run_for(2 * SECOND);
    let found = stats(&pair);
    assert_eq!(found.path_mtu, WIDE);
    assert_eq!(found.packets_sent.reliable, 1);
    assert!(arrives(&mut pair, &packet, 6 * SECOND));
    let wide = mean(&found, &stats(&pair));
    assert!(wide > 1400, "{wide}");
    assert_eq!(stats(&pair).frames_lost, 0);
}

/// What the datagrams of one host came to.
#[derive(Clone, Copy, Debug)]
struct Cost {
    datagrams: u64,
    /// Bytes of the datagrams, with their headers of UDP and IPv4.
    bytes: u64,
}

/// What A sends while a packet of 1 MB gets through.
fn cost(pair: &mut Pair) -> Cost {
    let (large, before) = (packet(1_000_000), stats(pair));
    send(pair, &large);
    assert!(arrives(pair, &large, 20 * SECOND));
    // The last acknowledgements, so that nothing of this packet is sent during the next.
    pair.world.run_for(SECOND);
    let after = stats(pair);
    let datagrams = after.frames_sent - before.frames_sent;
    Cost {
        datagrams,
        bytes: after.bytes_sent - before.bytes_sent + 28 * datagrams,
    }
}

/// Fragments follow the path: a megabyte takes 869 datagrams of 1200 bytes, or 713 of 1452. Q3.
#[test]
fn a_large_packet_takes_as_many_datagrams_as_the_path_that_is_known_allows() {
    let line = LinkConfig::new().delay(30 * MS);
    // A packet takes a second, so that the path can change in the middle of it.
    let slow = searching().bandwidth(1_000_000, u32::MAX).expect("a rate");
    let mut pair = pair(1, line, slow);
    let narrow = cost(&mut pair);
    assert_eq!(stats(&pair).path_mtu, LEAST);
    for _ in 0..6 {
        cost(&mut pair);
    }
    assert_eq!(stats(&pair).path_mtu, WIDE);
    let wide = cost(&mut pair);
    assert!((869..890).contains(&narrow.datagrams), "{narrow:?}");
    assert!((713..734).contains(&wide.datagrams), "{wide:?}");
    // 959 and 966 bytes of the packet in each 1000 that routers carry.
    assert!(narrow.bytes > 1_042_000, "{narrow:?}");
    assert!(wide.bytes < 1_038_000, "{wide:?}");
    // The path becomes narrower in the middle of a packet: that one arrives, and the next is as the first.
    let large = packet(1_000_000);
    send(&mut pair, &large);
    pair.world.run_for(300 * MS);
    let network = pair.world.network_mut();
    network.set_both(Pair::A, Pair::B, line.mtu(LEAST.into()));
    assert!(arrives(
        &mut pair,
        &large,
        by_policy(8 * SECOND, 30 * SECOND)
    ));
    pair.world.run_for(SECOND);
    assert_eq!(stats(&pair).path_mtu, LEAST);
    let again = cost(&mut pair);
    assert!((869..890).contains(&again.datagrams), "{again:?}");
}

/// Lost messages are cut anew: large fragments, and packets that were sent whole. Q3.
#[test]
fn packets_in_the_middle_of_which_the_path_becomes_narrower_arrive() {
    for seed in 1..=3 {
        let line = LinkConfig::new().delay(30 * MS);
        let mut pair = pair(seed, line, searching());
        // Traffic that makes a search worth its while.
        for _ in 0..8 {
            send(&mut pair, &packet(200_000));
            assert!(arrives(&mut pair, &packet(200_000), 10 * SECOND));
            pair.world.run_for(SECOND);
        }
        assert_eq!(stats(&pair).path_mtu, WIDE, "{seed}");
        let large = packet(1_000_000);
        send(&mut pair, &large);
        let small = packet(1390);
        for _ in 0..5 {
            send(&mut pair, &small);
        }
        pair.world
            .run_for((20 + 15 * u32::try_from(seed).unwrap_or(0)) * MS);
        let network = pair.world.network_mut();
        network.set_both(Pair::A, Pair::B, line.mtu(LEAST.into()));
        let end = pair.world.now() + by_policy(8 * SECOND, 30 * SECOND);
        let mut received = Vec::new();
        while received.len() < 6 {
            pair.world.run_for(10 * MS);
            received.extend(pair.receive_all(Pair::B));
            assert!(pair.world.now() < end, "{seed}: {:?}", stats(&pair));
        }
        assert!(received.remove(0).payload == large, "{seed}");
        assert!(received.iter().all(|one| one.payload == small), "{seed}");
        pair.world.run_for(SECOND);
        let undelivered = pair.world.host(Pair::A).peer(pair.peer(Pair::A));
        assert_eq!(
            undelivered.map(|peer| peer.queued_bytes()),
            Some(0),
            "{seed}"
        );
        assert!(stats(&pair).path_mtu < WIDE, "{seed}");
    }
}

/// A client behind a router, and a server that follows it.
const CLIENT: u32 = 1;
const SERVER: u32 = 2;
const HOME: u32 = 1000;
const TRAIN: u32 = 2000;

/// Both send a large packet while the client moves to a network that carries less. Q3.
#[test]
fn packets_in_the_middle_of_which_a_peer_comes_to_a_narrower_path_arrive() {
    let line = LinkConfig::new().delay(30 * MS);
    let mut world = World::new(Seed::new(1), line);
    world.add_host(
        CLIENT,
        config::client().path_mtu_discovery(WIDE).expect("a size"),
    );
    world.add_host(SERVER, searching().roaming(true));
    world.add_nat(CLIENT, HOME, 30 * SECOND);
    let host = world.host_mut(SERVER);
    host.set_same_host(|a, b| a / 100 == b / 100);
    host.listen(Listen::Open).expect("it is free");
    let client = world.connect(CLIENT, SERVER).expect("a valid address");
    world.run_for(SECOND);
    let server = connected(&events(&mut world, SERVER))[0];
    let ends = [(CLIENT, client), (SERVER, server)];
    let large = packet(1_000_000);
    let waits = |world: &mut World, within: Duration| {
        let (mut left, end) = (2, world.now() + within);
        while left > 0 {
            assert!(world.now() < end, "{left} did not come");
            world.run_for(10 * MS);
            for (address, peer) in ends {
                if let Some(received) = world.host_mut(address).receive(peer) {
                    assert!(received.payload == large);
                    left -= 1;
                }
            }
        }
    };
    let send_both = |world: &mut World| {
        for (address, peer) in ends {
            let host = world.host_mut(address);
            let sent = host.send(peer, ChannelId(0), large.clone(), Mode::Reliable);
            assert_eq!(sent, Ok(()));
        }
    };
    for _ in 0..6 {
        send_both(&mut world);
        waits(&mut world, 10 * SECOND);
        world.run_for(SECOND);
    }
    let mtu = |world: &World, (address, peer): (u32, PeerId)| {
        let peer = world.host(address).peer(peer).expect("it is connected");
        peer.stats().path_mtu
    };
    assert_eq!(ends.map(|end| mtu(&world, end)), [WIDE; 2]);
    send_both(&mut world);
    world.run_for(40 * MS);
    world.rebind(CLIENT, TRAIN);
    world
        .network_mut()
        .set_both(TRAIN, SERVER, line.mtu(LEAST.into()));
    waits(&mut world, by_policy(8 * SECOND, 30 * SECOND));
    assert!(ends.iter().all(|&end| mtu(&world, end) < WIDE));
}

/// The number of datagrams with data that an idle host sends at once for a packet of this length.
fn datagrams(pair: &mut Pair, len: usize) -> u64 {
    let before = stats(pair);
    send(pair, &vec![7; len]);
    pair.world.run_for(20 * MS);
    let sent = stats(pair).frames_sent - before.frames_sent;
    assert!(arrives(pair, &vec![7; len], SECOND));
    sent
}

/// D15.
#[test]
fn what_leaves_in_one_datagram_is_told_to_the_byte() {
    let line = LinkConfig::new().delay(30 * MS);
    for ids in [4, 8, 20] {
        // The connection id at the front of a datagram is the remote host's.
        let server = searching().connection_id_len(ids).expect("a length");
        let mut pair = Pair::new(Seed::new(1), line, searching(), server);
        pair.connect_to_listener();
        for expected in [LEAST, WIDE] {
            let peer = pair.world.host(Pair::A).peer(pair.peer(Pair::A));
            let most = peer.expect("it is connected").max_unfragmented();
            assert_eq!(most, usize::from(expected) - 40 - usize::from(ids).max(8));
            assert_eq!(usize::from(stats(&pair).max_unfragmented), most);
            // The end of a packet that is a little longer fits into the bytes that are kept free around
            // the rest.
            for (len, count) in [
                (1, 1),
                (most - 1, 1),
                (most, 1),
                (most + 41, 2),
                (2 * most, 2),
                (2 * most + 41, 3),
            ] {
                assert_eq!(datagrams(&mut pair, len), count, "{len} of {most}");
            }
            // Traffic that makes a search worth its while.
            for _ in 0..8 {
                datagrams(&mut pair, 200_000);
                pair.world.run_for(SECOND);
            }
        }
    }
}
