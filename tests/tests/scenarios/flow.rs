//! Flow control (`docs/wire.md`, "Budgets"): what a full buffer and a reader that stops may hold
//! up, and what they may not.
#![expect(clippy::unwrap_used, reason = "a test")]

use core::time::Duration;

use porous_proto::{Config, Event, Ignored, Mode, SendError};
use porous_sim::{LinkConfig, Pair};
use porous_tests::{config, events, seed};

const MS: Duration = Duration::from_millis(1);

/// The agreed length of a fragment, with the default `max_datagram`.
const FRAGMENT: u32 = 1152;

fn pair(delay: u32, a: Config, b: Config) -> Pair {
    let mut pair = Pair::new(seed(), LinkConfig::new().delay(delay * MS), a, b);
    pair.connect_to_listener();
    pair.world.run_for(2000 * MS);
    pair
}

/// The send buffer of a host is full: how many packets of this length that took.
fn fill(pair: &mut Pair, from: u32, mode: Mode, len: usize) -> usize {
    for sent in 0.. {
        match pair.send(from, 0, mode, vec![7; len]) {
            Ok(()) => assert!(sent < 1_000_000, "{}", pair.world.seed()),
            error => {
                assert_eq!(error, Err(SendError::Full), "{}", pair.world.seed());
                return sent;
            }
        }
    }
    unreachable!()
}

fn over_budget(pair: &Pair, at: u32) -> u64 {
    let stats = pair.world.host(at).stats();
    stats.ignored(Ignored::OverBudget)
}

#[test]
fn room_that_sending_itself_makes_is_told_at_once() {
    let mut pair = pair(300, config::new().send_budget(10_000), config::new());
    let context = pair.world.seed();
    assert_eq!(fill(&mut pair, Pair::A, Mode::Unreliable, 936), 10);
    assert_eq!(events(&mut pair.world, Pair::A), [], "{context}");
    pair.world.flush(Pair::A);
    let writable = Event::Writable {
        peer: pair.peer(Pair::A),
    };
    assert_eq!(events(&mut pair.world, Pair::A), [writable], "{context}");
    pair.world.run_for(2000 * MS);
    assert_eq!(events(&mut pair.world, Pair::A), [], "{context}");
    assert_eq!(pair.receive_all(Pair::B).len(), 10, "{context}");
}

/// Packets as large as the budget of their receiver allows, one after the other.
fn largest_packets(max: u32, mode: Mode) {
    let reader = config::new().receive_budget(max, max + 64).unwrap();
    let mut pair = pair(10, config::new(), reader);
    let context = format!("{max} {mode:?}; {}", pair.world.seed());
    let sent = (0..20).map(|n| (0, mode, vec![n; max as usize]));
    let got = pair.exchange(Pair::A, sent, Duration::from_secs(60));
    let numbers: Vec<_> = got.iter().map(|packet| packet.payload[0]).collect();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>(), "{context}");
    assert_eq!(over_budget(&pair, Pair::B), 0, "{context}");
}

#[test]
fn a_packet_may_take_the_whole_budget() {
    for max in [
        1,
        FRAGMENT - 1,
        FRAGMENT,
        FRAGMENT + 1,
        FRAGMENT + 5,
        2 * FRAGMENT,
        20_000,
    ] {
        for mode in [Mode::Unreliable, Mode::Reliable, Mode::Passive] {
            largest_packets(max, mode);
        }
    }
}

#[test]
fn a_lost_unreliable_packet_takes_nothing_of_the_budget() {
    const MAX: u32 = 20_000;
    let small = config::new().windows(16, 16).unwrap();
    let reader = small.clone().receive_budget(MAX, MAX + 64).unwrap();
    let mut pair = pair(10, small, reader);
    let context = pair.world.seed();
    for round in 0..20_u8 {
        pair.world.run_for(1000 * MS);
        // What was read last has been reported. These packets are gone; of every second, the sentinel gets through when it is repeated.
        pair.world.network_mut().partition(&[Pair::A], &[Pair::B]);
        for _ in 0..2 {
            let sent = pair.send(Pair::A, 0, Mode::Unreliable, vec![0; 100]);
            assert_eq!(sent, Ok(()), "{context}");
        }
        pair.world.run_for(100 * MS);
        pair.world.network_mut().mend();
        let large = (0, Mode::Reliable, vec![round; MAX as usize]);
        let got = pair.exchange(Pair::A, [large], Duration::from_secs(20));
        assert_eq!(got.len(), 1, "round {round}; {context}");
    }
    assert_eq!(over_budget(&pair, Pair::B), 0, "{context}");
}
