//! Controllers that an application may choose, each on a path that it is made for.
#![expect(clippy::unwrap_used, reason = "a test")]

use core::time::Duration;

use porous_proto::congestion::Congestion;
use porous_proto::{Mode, Policy};
use porous_sim::{LinkConfig, Pair};
use porous_tests::{config, seed};

const MS: Duration = Duration::from_millis(1);

/// Two hosts with this controller, connected over a line of `delay` milliseconds one way.
fn pair(congestion: Congestion, delay: u32) -> Pair {
    let config = config::new().policy(Policy::Modern).congestion(congestion);
    let line = LinkConfig::new().delay(delay * MS);
    let mut pair = Pair::new(seed(), line, config.clone(), config);
    pair.connect_to_listener();
    pair
}

/// The bytes that A sends in `seconds` if it always has something to send.
fn sent_in(pair: &mut Pair, seconds: u32) -> u64 {
    let sent = |pair: &Pair| pair.world.network().link_stats(Pair::A, Pair::B).bytes_sent;
    let before = sent(pair);
    for _ in 0..seconds * 100 {
        while pair.send(Pair::A, 0, Mode::Reliable, vec![7; 1000]).is_ok() {}
        pair.world.run_for(10 * MS);
        pair.receive_all(Pair::B);
    }
    sent(pair) - before
}

fn assert_near(bytes: u64, expected: u64) {
    let about = expected / 20;
    assert!(bytes.abs_diff(expected) <= about, "{bytes}, not {expected}");
}

#[test]
fn a_fixed_rate_is_kept_whatever_is_lost() {
    let mut pair = pair(Congestion::Fixed { rate: 100_000 }, 20);
    sent_in(&mut pair, 1);
    assert_near(sent_in(&mut pair, 10), 1_000_000);
    let lossy = LinkConfig::new().delay(20 * MS).loss(10.0);
    pair.world.network_mut().set_both(Pair::A, Pair::B, lossy);
    assert_near(sent_in(&mut pair, 10), 1_000_000);
}

#[test]
fn two_rates_follow_the_round_trip() {
    let rates = Congestion::Binary {
        good: 100_000,
        bad: 20_000,
    };
    let mut pair = pair(rates, 20);
    sent_in(&mut pair, 11);
    assert_near(sent_in(&mut pair, 10), 1_000_000);
    let line = |delay: u32| LinkConfig::new().delay(delay * MS);
    pair.world
        .network_mut()
        .set_both(Pair::A, Pair::B, line(200));
    sent_in(&mut pair, 5);
    assert_near(sent_in(&mut pair, 10), 200_000);
    pair.world
        .network_mut()
        .set_both(Pair::A, Pair::B, line(20));
    sent_in(&mut pair, 10);
    assert_near(sent_in(&mut pair, 10), 1_000_000);
}

#[test]
fn reno_and_cubic_fill_a_clean_path_with_a_bottleneck() {
    for congestion in [Congestion::Reno, Congestion::Cubic] {
        let mut pair = pair(congestion, 20);
        // A queue of 64 KB.
        let line = LinkConfig::new()
            .delay(20 * MS)
            .rate(4_000_000)
            .queue(porous_sim::Queue::Time(128 * MS));
        pair.world.network_mut().set_both(Pair::A, Pair::B, line);
        sent_in(&mut pair, 5);
        let before = delivered(&pair);
        sent_in(&mut pair, 20);
        let share = (delivered(&pair) - before) * 100 / (20 * 500_000);
        assert!(share >= 90, "{}: {share} %", congestion.name());
    }
}

fn delivered(pair: &Pair) -> u64 {
    let peer = pair.world.host(Pair::B).peer(pair.peer(Pair::B)).unwrap();
    peer.stats().packet_bytes_received.total()
}
