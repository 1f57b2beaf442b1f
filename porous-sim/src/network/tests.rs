//! One order for all deliveries, and one seed for every run.

use alloc::vec;
use core::time::Duration;

use super::*;
use crate::below;
use chacha20::rand_core::Rng;

const SEED: Seed = Seed::new(77);

fn at(micros: u64) -> Instant {
    Instant::from_micros(micros)
}

fn rough() -> LinkConfig {
    LinkConfig::new()
        .delay(Duration::from_millis(20))
        .jitter(Duration::from_millis(15))
        .loss(3.0)
        .duplicate(2.0)
        .reorder(2.0)
        .rate(50_000)
}

/// `count` datagrams between `hosts` hosts at random, taken out as they arrive.
fn chatter(seed: Seed, hosts: u64, count: u64) -> Network<u64> {
    let mut network = Network::new(seed, rough()).with_text();
    let mut rng = SEED.stream("chatter", 0);
    for n in 0..count {
        let now = at(n * 200);
        while let Some(due) = network.next_delivery().filter(|&due| due <= now) {
            assert!(
                network.receive(due).is_some(),
                "{seed}: announced, not there"
            );
        }
        let (from, to) = (below(rng.next_u64(), hosts), below(rng.next_u64(), hosts));
        let len = usize::try_from(below(rng.next_u64(), 300)).unwrap();
        network.send(now, from, to, vec![0x55; len]);
    }
    network
}

/// The time of the next delivery, found by asking every link.
fn naive_next(network: &Network<u64>) -> Option<Instant> {
    network.links.values().filter_map(Link::next_delivery).min()
}

#[test]
fn one_seed_one_run_byte_for_byte() {
    let (a, b) = (chatter(SEED, 20, 5000), chatter(SEED, 20, 5000));
    assert_eq!(a.trace().first_difference(b.trace()), None);
    assert_eq!(a.trace().digest(), b.trace().digest());
    let other = chatter(Seed::new(78), 20, 5000);
    assert_ne!(a.trace().digest(), other.trace().digest());
    assert!(a.trace().first_difference(other.trace()).is_some());
}

#[test]
fn a_run_stays_the_same() {
    assert_eq!(chatter(SEED, 20, 5000).trace().digest(), GOLDEN);
}

/// A digest that was noted once: it changes only if the network behaves differently.
const GOLDEN: u64 = 894_793_395_345_612_335;

#[test]
fn arrivals_are_in_order_and_the_index_agrees_with_the_links() {
    let mut network = chatter(SEED, 30, 3000);
    let (mut last, mut got) = (Instant::ZERO, 0);
    while let Some(due) = network.next_delivery() {
        assert_eq!(Some(due), naive_next(&network));
        assert!(due >= last);
        // Late on purpose: datagrams come in the order of arrival all the same.
        let (from, to, _) = network.receive(at(10_000_000)).expect("something is due");
        assert!(from < 30 && to < 30);
        (last, got) = (due, got + 1);
    }
    assert!(got > 50, "{got}");
    assert_eq!(naive_next(&network), None);
    assert_eq!(network.receive(at(u64::MAX)), None);
}

#[test]
fn a_reordered_datagram_moves_the_index_forward() {
    let mut network = Network::new(SEED, LinkConfig::new().delay(Duration::from_millis(9)));
    network.set_link(
        1,
        2,
        rough()
            .loss(0.0)
            .duplicate(0.0)
            .jitter_reorders(true)
            .rate(0),
    );
    for n in 0..2000 {
        network.send(at(n), 1, 2, vec![0]);
        network.send(at(n), 2, 1, vec![0]);
        assert_eq!(network.next_delivery(), naive_next(&network));
    }
    assert_eq!(network.stats().in_flight, 4000);
}

#[test]
fn ties_go_by_sender_then_receiver_then_as_sent() {
    let mut network = Network::new(SEED, LinkConfig::new());
    for (from, to, what) in [(2, 1, 1), (1, 3, 2), (1, 2, 3), (2, 1, 4), (1, 2, 5)] {
        network.send(at(0), from, to, vec![what]);
    }
    let got: Vec<_> = core::iter::from_fn(|| network.receive(at(0)))
        .map(|(.., d)| d[0])
        .collect();
    assert_eq!(got, [3, 5, 2, 1, 4]);
}

#[test]
fn traffic_on_other_links_does_not_disturb_a_link() {
    let fates = |busy: bool| {
        let mut network = Network::new(SEED, rough());
        let mut fates = Vec::new();
        for n in 0..2000 {
            if busy {
                network.send(at(n * 9000), n % 7, n % 5 + 10, vec![1; 100]);
            }
            fates.push(network.send(at(n * 9000), 100, 101, vec![0; 20]));
        }
        fates
    };
    assert_eq!(fates(false), fates(true));
}

#[test]
fn each_link_has_its_own_luck() {
    let mut network = Network::new(SEED, LinkConfig::new().loss(50.0));
    let mut luck = |from, to| -> Vec<bool> {
        (0..64)
            .map(|_| network.send(at(0), from, to, vec![0]) == Fate::Lost)
            .collect()
    };
    let all = [luck(1, 2), luck(2, 1), luck(1, 3), luck(3, 2)];
    for (i, one) in all.iter().enumerate() {
        assert!(all[..i].iter().all(|other| other != one));
    }
}

#[test]
fn a_partition_is_between_its_sides_only() {
    let mut network = Network::new(SEED, LinkConfig::new());
    network.partition(&[1, 2], &[3]);
    let mut cut = |from, to| network.send(at(0), from, to, vec![0]) == Fate::Cut;
    assert!(cut(1, 3) && cut(3, 1) && cut(2, 3) && cut(3, 2));
    assert!(!cut(1, 2) && !cut(2, 1) && !cut(3, 4) && !cut(4, 1));
    network.mend();
    assert_ne!(network.send(at(0), 1, 3, vec![0]), Fate::Cut);
    assert_eq!(network.stats().cut, 4);
}

#[test]
fn ten_thousand_links() {
    let mut network = Network::new(SEED, LinkConfig::new().delay(Duration::from_millis(1)));
    for n in 0..30_000_u32 {
        network.send(at(n.into()), n % 100, (n / 100) % 100, [0; 4]);
    }
    let got = core::iter::from_fn(|| network.receive(at(100_000))).count();
    assert_eq!((got, network.links.len()), (30_000, 10_000));
}

#[test]
fn the_trace_tells_what_the_checksum_dropped() {
    let config = LinkConfig::new().corrupt(100.0);
    let text = |config| {
        let mut network = Network::new(SEED, config).with_text();
        network.send(at(0), 1, 2, vec![0; 9]);
        network.receive(at(0));
        network.trace().text().unwrap().to_string()
    };
    let happened = |text: &str| -> Vec<String> {
        let words = text.lines().map(|line| line.split(' ').skip(4));
        words
            .map(|it| it.take(2).collect::<Vec<_>>().join(" "))
            .collect()
    };
    assert_eq!(happened(&text(config)), ["sent 9", "bad checksum"]);
    let through = text(config.udp_checksum(false));
    assert_eq!(happened(&through), ["sent 9", "damaged 9", "delivered 9"]);
}
