//! The same seed gives the same bytes at the same times.

use core::time::Duration;

use porous_proto::{Config, Integrity, Policy};
use porous_sim::{LinkConfig, Pair, Seed, Service, Trace};
use porous_tests::Traffic;

const MS: Duration = Duration::from_millis(1);

/// Everything that happened in ten seconds of a lossy session.
fn trace(seed: u64, service: Option<Service>, config: &Config) -> Trace {
    let line = LinkConfig::new()
        .delay(30 * MS)
        .jitter(5 * MS)
        .loss(5.0)
        .reorder(5.0);
    let mut pair = Pair::new(Seed::new(seed), line, config.clone(), config.clone());
    pair.world = pair.world.with_text();
    if let Some(service) = service {
        for host in [Pair::A, Pair::B] {
            pair.world.set_service(host, service);
        }
    }
    pair.connect_to_listener();
    let (a, b) = (pair.peer(Pair::A), pair.peer(Pair::B));
    let mut there = Traffic::new(&pair, Pair::A, 3000, 1);
    let mut back = Traffic::new(&pair, Pair::B, 3000, 2);
    for _ in 0..500 {
        there.send(&mut pair.world);
        back.send(&mut pair.world);
        pair.world.run_for(20 * MS);
        there.receive(&mut pair.world, b);
        back.receive(&mut pair.world, a);
    }
    pair.world.trace().clone()
}

fn run(seed: u64, service: Option<Service>, config: &Config) -> u64 {
    trace(seed, service, config).digest()
}

#[test]
fn two_runs_with_one_seed_are_the_same_byte_for_byte() {
    let plain = Config::new();
    let sealed = Config::new().integrity(Integrity::Crc32c);
    for service in [None, Some(Service::tick(16 * MS))] {
        assert_eq!(run(1, service, &plain), run(1, service, &plain));
        assert_ne!(run(1, service, &plain), run(2, service, &plain));
        assert_ne!(run(1, service, &plain), run(1, service, &sealed));
    }
}

#[test]
fn the_traces_of_two_runs_tell_the_same_story_line_by_line() {
    for service in [None, Some(Service::tick(16 * MS))] {
        let [one, again] = [1, 1].map(|seed| trace(seed, service, &Config::new()));
        assert!(one.text().is_some_and(|text| text.lines().count() > 2000));
        assert_eq!(one.first_difference(&again), None, "{}", Seed::new(1));
        let other = trace(2, service, &Config::new());
        assert!(one.first_difference(&other).is_some());
    }
}

#[test]
fn a_session_is_the_same_on_every_machine() {
    // A change of these numbers is a change of behaviour, and belongs into the message of its
    // commit. That of the paper's policy changes only where the paper leaves it open (T27).
    for (policy, golden) in [
        (Policy::Paper, 11_936_239_873_091_547_986),
        (Policy::Modern, 600_741_889_357_641_677),
    ] {
        let config = Config::new().policy(policy);
        assert_eq!(run(1, None, &config), golden, "{policy:?}");
    }
}
