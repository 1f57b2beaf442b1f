//! Datagrams that come twice.

use core::time::Duration;

use porous_proto::{Ignored, Mode};
use porous_sim::{LinkConfig, Pair, Seed};
use porous_tests::config;

#[test]
fn a_datagram_that_comes_twice_counts_once() {
    let line = LinkConfig::new()
        .delay(Duration::from_millis(20))
        .duplicate(100.0);
    let mut pair = Pair::new(Seed::new(1), line, config::new(), config::new());
    pair.connect_to_listener();
    let modes = [Mode::Unreliable, Mode::Reliable, Mode::Passive];
    let sent = (0..30_u8).map(|n| (0, modes[usize::from(n % 3)], vec![n; 20]));
    let got = pair.exchange(Pair::A, sent, Duration::from_secs(5));
    let order: Vec<u8> = got.iter().map(|packet| packet.payload[0]).collect();
    assert_eq!(order, (0..30).collect::<Vec<u8>>());

    let stats = pair.world.host(Pair::B).stats();
    let twice = stats.ignored(Ignored::Duplicate);
    let peer = pair.peer(Pair::B);
    let taken = pair
        .world
        .host(Pair::B)
        .peer(peer)
        .map(|peer| peer.stats().datagrams_received);
    assert!(
        twice > 0 && taken >= Some(2 * twice),
        "{twice} of {taken:?}; {}",
        pair.world.seed()
    );
}
