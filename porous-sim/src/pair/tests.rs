//! Two hosts connect over lines of many kinds, under each kind of service.

use alloc::vec;
use core::time::Duration;

use porous_proto::PeerState;

use super::*;
use crate::Service;

const TICK: Service = Service::Tick {
    every: Duration::from_micros(16_700),
    offset: Duration::from_micros(4000),
};

fn pair(seed: u64, links: LinkConfig) -> Pair {
    Pair::new(Seed::new(seed), links, Config::new(), Config::new())
}

fn line() -> LinkConfig {
    LinkConfig::new().delay(Duration::from_millis(20))
}

fn bad_line() -> LinkConfig {
    line()
        .loss(20.0)
        .jitter(Duration::from_millis(10))
        .duplicate(5.0)
        .reorder(5.0)
}

fn assert_connected(pair: &Pair) {
    for address in [Pair::A, Pair::B] {
        let host = pair.world.host(address);
        let peer = pair.peer(address);
        assert_eq!(host.address(peer), Some(Pair::other(address)));
        let state = host.peer(peer).map(porous_proto::Peer::state);
        assert_eq!(state, Some(PeerState::Connected), "{}", pair.world.seed());
    }
}

#[test]
fn over_a_perfect_link() {
    let mut pair = pair(1, LinkConfig::new());
    pair.connect_to_listener();
    assert_connected(&pair);
    assert_eq!(pair.world.now(), Instant::ZERO);
}

#[test]
fn over_bad_links() {
    for seed in 0..50 {
        let mut pair = pair(seed, bad_line());
        pair.connect_to_listener();
        assert_connected(&pair);
    }
}

#[test]
fn both_at_once() {
    for seed in 0..50 {
        let mut pair = pair(seed, bad_line());
        pair.connect_both();
        assert_connected(&pair);
    }
}

#[test]
fn with_ticks() {
    for seed in 0..20 {
        let mut pair = pair(seed, bad_line());
        pair.world.set_service(Pair::A, TICK);
        pair.world
            .set_service(Pair::B, Service::tick(Duration::from_micros(16_700)));
        pair.connect_to_listener();
        assert_connected(&pair);
    }
}

#[test]
fn exchange_brings_everything_and_in_order() {
    for service in [Service::Event, TICK] {
        let mut pair = pair(3, bad_line());
        pair.world.set_service(Pair::B, service);
        pair.connect_to_listener();
        let sent = (0..100_u8).map(|n| (0, Mode::Reliable, vec![n; 100 * usize::from(n)]));
        let got = pair.exchange(Pair::A, sent, Duration::from_secs(60));
        assert_eq!(got.len(), 100);
        for (n, packet) in (0..100_u8).zip(&got) {
            assert_eq!(packet.payload, vec![n; 100 * usize::from(n)]);
        }
    }
}

#[test]
fn exchange_waits_for_room() {
    let small = Config::new().send_budget(5000).unwrap();
    let mut pair = Pair::new(Seed::new(1), line(), small, Config::new());
    pair.connect_to_listener();
    let sent = (0..100).map(|n| (0, Mode::Reliable, vec![n; 1000]));
    let got = pair.exchange(Pair::A, sent, Duration::from_secs(60));
    assert_eq!(got.len(), 100);
}

#[test]
fn exchange_gives_up_at_its_time() {
    let mut pair = pair(1, line());
    pair.connect_to_listener();
    pair.world.network_mut().partition(&[Pair::A], &[Pair::B]);
    let until = pair.world.now() + Duration::from_secs(2);
    let got = pair.exchange(
        Pair::A,
        [(0, Mode::Reliable, vec![1])],
        Duration::from_secs(2),
    );
    assert!(got.is_empty());
    assert_eq!(pair.world.now(), until);
}

#[test]
#[should_panic(expected = "POROUS_SEED=4")]
fn a_pair_that_cannot_connect_names_its_seed() {
    pair(4, line().down(true)).connect_to_listener();
}
