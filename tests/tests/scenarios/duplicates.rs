//! Datagrams that come twice.

use core::time::Duration;

use porous_proto::{Ignored, Instant, Listen, Mode};
use porous_sim::{Intercept, LinkConfig, Pair, Seed};
use porous_tests::{Kind, assert_silent, config, connected, ended, events, kind, line, seed};

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

/// B accepts, but A does not hear of it before B has given up. A still asks, and its cookie is still
/// valid: a second connection would have the nonces of the first. P3.
#[test]
fn a_connection_that_timed_out_is_not_made_again_by_its_own_request() {
    let server = config::new().timeout(Duration::from_secs(2)).unwrap();
    let mut pair = Pair::new(seed(), line(), config::client(), server);
    let deaf = Instant::from_micros(2_500_000);
    pair.world.intercept(move |passing| {
        let lost = passing.from == Pair::B && kind(passing.datagram) != Kind::Cookie;
        if lost && passing.now < deaf {
            Intercept::Drop
        } else {
            Intercept::Pass
        }
    });
    let world = &mut pair.world;
    assert_eq!(world.host_mut(Pair::B).listen(Listen::Open), Ok(()));
    assert!(world.connect(Pair::A, Pair::B).is_ok());
    world.run_for(Duration::from_secs(8));
    let (at_a, at_b) = (events(world, Pair::A), events(world, Pair::B));
    assert_eq!(connected(&at_a), [], "{}", seed());
    assert_eq!(
        ended(&at_a).len(),
        1,
        "A hears that it is over; {at_a:?}; {}",
        seed()
    );
    assert_eq!(
        (connected(&at_b).len(), ended(&at_b).len()),
        (1, 1),
        "{at_b:?}; {}",
        seed()
    );
    world.run_for(Duration::from_secs(30));
    assert_silent(world, Pair::B, "forgotten in the end");
    // A new attempt makes a new connection.
    pair.connect_to_listener();
}
