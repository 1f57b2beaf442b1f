//! Connection ids of every length, and the datagrams that they keep out.

use core::time::Duration;

use porous_proto::route::{self, Kind, QuicLb};
use porous_proto::{ChannelId, Config, ConnectionIds, Event, Mode};
use porous_sim::{Intercept, LinkConfig, Pair, World};
use porous_tests::{assert_talk, config, events, one_connection, record, seed};

const A: u32 = Pair::A;
const B: u32 = Pair::B;

/// A configuration with connection ids of this many bytes in datagrams to the host.
fn config(len: u8) -> Config {
    match config::new().connection_id_len(len) {
        Ok(config) => config,
        Err(error) => panic!("{error}"),
    }
}

/// Both hosts have connected to each other, and two seconds have passed.
fn connected(a: u8, b: u8) -> World {
    let line = LinkConfig::new().delay(Duration::from_millis(20));
    let mut world = Pair::new(seed(), line, config(a), config(b)).world;
    assert!(world.connect(A, B).is_ok() && world.connect(B, A).is_ok());
    world.run_for(Duration::from_secs(2));
    world
}

#[test]
fn every_length_works_with_every_other() {
    let lengths = [
        (0, 0),
        (0, 20),
        (1, 2),
        (2, 4),
        (4, 4),
        (8, 0),
        (9, 8),
        (13, 17),
        (20, 20),
    ];
    for (a, b) in lengths {
        let mut world = connected(a, b);
        let context = format!("{a} and {b} bytes");
        let ends = one_connection(&mut world, &context);
        assert_talk(&mut world, ends, &context);
    }
}

/// C6, C21.
#[test]
fn a_datagram_with_another_connection_id_is_ignored() {
    let mut world = connected(4, 4);
    events(&mut world, A);
    let before = world.host(A).stats().ignored_total();
    // Byte 0 of a short form begins with the bits 01; the id follows.
    world.intercept(|passing| match passing.datagram {
        [head, rest @ ..] if head >> 6 == 1 && passing.to == A => {
            let flipped = rest
                .iter()
                .enumerate()
                .map(|(n, byte)| byte ^ u8::from(n == 0));
            Intercept::Replace(core::iter::once(*head).chain(flipped).collect())
        }
        _ => Intercept::Pass,
    });
    world.run_for(Duration::from_secs(12));
    let told = events(&mut world, A);
    assert!(matches!(told[..], [Event::Disconnected { .. }]), "{told:?}");
    assert!(world.host(A).stats().ignored_total() > before + 10);
}

/// A router or balancer that routes QUIC by connection ids routes these datagrams: a short form has the
/// two upper bits 01 of QUIC's short header, and the receiver's connection id from byte 1 on; a long form
/// has QUIC's long bit (RFC 9000 §17.2, §17.3).
#[test]
fn datagrams_are_laid_out_as_those_of_quic_are() {
    let line = LinkConfig::new().delay(Duration::from_millis(20));
    let mut pair = Pair::new(seed(), line, config(8), config(20));
    let custom = |marks: fn(&mut [u8])| ConnectionIds::Custom(marks);
    let ours = custom(|id| id[..2].copy_from_slice(b"to"));
    let theirs = custom(|id| id[12..].copy_from_slice(b"server B"));
    assert_eq!(pair.world.host_mut(A).set_connection_ids(ours), Ok(()));
    assert_eq!(pair.world.host_mut(B).set_connection_ids(theirs), Ok(()));
    let tape = record(&mut pair.world);
    pair.connect_to_listener();
    pair.exchange(
        Pair::A,
        [(0, Mode::Reliable, vec![7; 5000])],
        Duration::from_secs(5),
    );
    let (mut long, mut short) = (0, 0);
    for taped in tape.all() {
        let first = taped.datagram[0];
        if first & 0x80 != 0 {
            long += 1;
            continue;
        }
        short += 1;
        assert_eq!(first & 0xC0, 0x40);
        let id = &taped.datagram[1..];
        match taped.from {
            A => assert_eq!(&id[12..20], b"server B"),
            _ => assert_eq!(&id[..2], b"to"),
        }
    }
    assert!(long >= 4 && short >= 6, "{long} {short}");
}

/// A short form from a host has the id that its receiver has made at its second byte, a long form has none: a
/// router finds the receiver of every datagram.
#[test]
fn a_router_finds_the_shard_and_the_server_of_each_datagram() {
    let line = LinkConfig::new().delay(Duration::from_millis(20));
    let mut pair = Pair::new(seed(), line, config(5), config(12));
    let server = QuicLb::new(2, b"B1").expect("in range");
    let ours = ConnectionIds::Sharded { shard: 5, bits: 3 };
    assert_eq!(pair.world.host_mut(A).set_connection_ids(ours), Ok(()));
    let theirs = ConnectionIds::QuicLb(server);
    assert_eq!(pair.world.host_mut(B).set_connection_ids(theirs), Ok(()));
    let tape = record(&mut pair.world);
    pair.connect_to_listener();
    for from in [Pair::A, Pair::B] {
        let packet = [(0, Mode::Reliable, vec![7; 5000])];
        pair.exchange(from, packet, Duration::from_secs(5));
    }
    let mut counts = [0; 3];
    for taped in tape.all() {
        let id_len = if taped.to == A { 5 } else { 12 };
        match (route::classify(&taped.datagram, id_len), taped.to) {
            (Kind::Short { .. }, A) => {
                counts[0] += 1;
                assert!((0x40..=0x7F).contains(&taped.datagram[0]));
                assert_eq!(taped.datagram[1] & 7, 5);
                assert_eq!(route::shard(&taped.datagram, 3), Some(5));
            }
            (Kind::Short { id }, _) => {
                counts[1] += 1;
                assert_eq!(id, &taped.datagram[1..13]);
                assert_eq!(route::quic_lb_rotation(id), Some(2));
                assert_eq!(route::quic_lb_server(id, 2), Some(server.server()));
            }
            (kind, _) => {
                counts[2] += 1;
                assert_eq!(kind, Kind::Long, "{:?}", taped.datagram);
                assert!(taped.datagram[0] >= 0xC0);
            }
        }
    }
    assert!(counts.iter().all(|&count| count >= 3), "{counts:?}");
}

/// A full fragment leaves room for the longest head and an acknowledgement.
#[test]
fn large_packets_both_ways_need_no_datagrams_of_their_own_for_acknowledgements() {
    const LEN: usize = 100_000;
    let mut counts = Vec::new();
    for len in [8, 20] {
        let mut world = connected(len, len);
        let [a, b] = one_connection(&mut world, "");
        let before = world.host(A).stats().datagrams_sent;
        for (host, peer) in [(A, a), (B, b)] {
            let sent = world
                .host_mut(host)
                .send(peer, ChannelId(0), vec![7; LEN], Mode::Reliable);
            assert_eq!(sent, Ok(()));
        }
        world.run_for(Duration::from_secs(5));
        let got = world
            .host_mut(B)
            .receive(b)
            .map(|packet| packet.payload.len());
        assert_eq!(got, Some(LEN));
        counts.push(world.host(A).stats().datagrams_sent - before);
    }
    assert!(counts[1] <= counts[0] + counts[0] / 10, "{counts:?}");
}
