//! Lines that are slow, and windows that are small.

use core::time::Duration;

use porous_proto::Mode;
use porous_sim::{LinkConfig, Pair, Seed};
use porous_tests::config;

/// P2.
#[test]
fn what_was_not_lost_is_not_sent_again() {
    let config = config::new().windows(16, 4096).unwrap();
    let line = LinkConfig::new().delay(Duration::from_millis(50));
    let mut pair = Pair::new(Seed::new(1), line, config.clone(), config);
    pair.connect_to_listener();
    let sent = (0..300).map(|_| (0, Mode::Reliable, vec![7; 1000]));
    pair.exchange(Pair::A, sent, Duration::from_secs(60));
    let stats = pair
        .world
        .host(Pair::A)
        .peer(pair.peer(Pair::A))
        .unwrap()
        .stats();
    assert!(
        stats.frames_sent < 320 && stats.frames_lost == 0,
        "{stats:?}"
    );
}

/// A frame takes longer to pass the line than a ping does, and so longer than T_rto. P1.
#[test]
fn a_slow_line_is_slow_but_not_dead() {
    for max_datagram in [1200, 3125] {
        let config = config::new().max_datagram(max_datagram).unwrap();
        let line = LinkConfig::new()
            .delay(Duration::from_millis(100))
            .rate(64_000);
        let mut pair = Pair::new(Seed::new(1), line, config.clone(), config);
        pair.connect_to_listener();
        pair.world.run_for(Duration::from_secs(10));
        let sent = (0..10).map(|_| (0, Mode::Reliable, vec![7; 20_000]));
        let start = pair.world.now();
        let got = pair.exchange(Pair::A, sent, Duration::from_secs(120));
        let took = pair.world.now().saturating_duration_since(start);
        let stats = pair
            .world
            .host(Pair::A)
            .peer(pair.peer(Pair::A))
            .unwrap()
            .stats();
        assert_eq!(got.len(), 10, "{max_datagram} bytes: {took:?}, {stats:?}");
    }
}
