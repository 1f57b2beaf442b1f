//! Each effect alone, and that effects do not disturb each other.

use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use super::*;
use crate::Queue;

mod noise;

const SEED: Seed = Seed::new(20_250_101);

fn at(micros: u64) -> Instant {
    Instant::from_micros(micros)
}

fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Sends `count` numbered datagrams, one every `gap` microseconds.
fn send(link: &mut Link, count: u32, gap: u64) -> Vec<Fate> {
    (0..count)
        .map(|n| link.send(at(u64::from(n) * gap), n.to_le_bytes().to_vec()))
        .collect()
}

/// Takes out all datagrams, each at its time: (microseconds, number).
fn drain(link: &mut Link) -> Vec<(u64, u32)> {
    let mut got = Vec::new();
    while let Some(due) = link.next_delivery() {
        let datagram = link.receive(due).expect("something is due");
        got.push((
            due.as_micros(),
            u32::from_le_bytes(datagram.try_into().unwrap()),
        ));
    }
    got
}

fn run(config: LinkConfig, count: u32, gap: u64) -> Vec<(u64, u32)> {
    let mut link = Link::new(config, SEED);
    send(&mut link, count, gap);
    drain(&mut link)
}

/// A link with all effects at once.
fn rough() -> LinkConfig {
    LinkConfig::new()
        .delay(millis(30))
        .jitter(millis(10))
        .loss(5.0)
        .duplicate(3.0)
        .reorder(4.0)
        .rate(200_000)
        .queue(Queue::Time(millis(20)))
}

#[test]
fn a_perfect_link_delivers_at_once_in_order() {
    let got = run(LinkConfig::new(), 100, 0);
    assert_eq!(got, (0..100).map(|n| (0, n)).collect::<Vec<_>>());
}

#[test]
fn loses_as_many_as_it_says() {
    for (percent, expected, sigma) in [(1.0, 1000, 32), (20.0, 20_000, 127), (50.0, 50_000, 159)] {
        let mut link = Link::new(LinkConfig::new().loss(percent), SEED);
        send(&mut link, 100_000, 1);
        let lost = link.stats().lost;
        assert!(lost.abs_diff(expected) < 4 * sigma, "{percent} %: {lost}");
        assert_eq!(link.stats().in_flight, 100_000 - lost);
    }
}

#[test]
fn losses_are_independent() {
    let mut link = Link::new(LinkConfig::new().loss(20.0), SEED);
    let fates = send(&mut link, 100_000, 1);
    let pairs = fates
        .windows(2)
        .filter(|w| *w == [Fate::Lost, Fate::Lost])
        .count();
    // 4 % of 100,000; sigma is a little above the 62 of a binomial.
    assert!(pairs.abs_diff(4000) < 4 * 75, "{pairs}");
}

#[test]
fn more_loss_loses_the_same_and_more() {
    let fates = |percent| {
        send(
            &mut Link::new(LinkConfig::new().loss(percent), SEED),
            10_000,
            1,
        )
    };
    let (few, many) = (fates(2.0), fates(4.0));
    assert!(
        few.iter()
            .zip(&many)
            .all(|(few, many)| *few != Fate::Lost || *many == Fate::Lost)
    );
    assert_ne!(few, many);
}

#[test]
fn duplicates_as_many_as_it_says() {
    let mut link = Link::new(LinkConfig::new().duplicate(10.0).delay(millis(5)), SEED);
    send(&mut link, 50_000, 1);
    let copies = link.stats().duplicated;
    assert!(copies.abs_diff(5000) < 4 * 67, "{copies}");
    let mut got: Vec<u32> = drain(&mut link).into_iter().map(|(_, n)| n).collect();
    assert_eq!(got.len() as u64, 50_000 + copies);
    got.sort_unstable();
    got.dedup();
    assert_eq!(got.len(), 50_000, "each arrives at least once");
}

#[test]
fn a_copy_has_its_own_delay_and_comes_after_the_original() {
    let config = LinkConfig::new()
        .delay(millis(50))
        .jitter(millis(20))
        .duplicate(100.0);
    let fates = send(&mut Link::new(config, SEED), 1000, 100_000);
    let mut apart = 0;
    for fate in fates {
        let Fate::Carried {
            due,
            copy: Some(copy),
            ..
        } = fate
        else {
            panic!("{fate:?}")
        };
        assert!(copy >= due);
        apart += u32::from(copy > due);
    }
    assert!(apart.abs_diff(500) < 64, "{apart}");
}

#[test]
fn jitter_keeps_the_order() {
    let got = run(
        LinkConfig::new().delay(millis(50)).jitter(millis(40)),
        5000,
        1000,
    );
    assert!(got.iter().map(|&(_, n)| n).eq(0..5000));
    assert!(
        got.iter()
            .all(|&(t, n)| (10_000..=90_000).contains(&(t - u64::from(n) * 1000)))
    );
    let delays = got.iter().map(|&(t, n)| t - u64::from(n) * 1000);
    assert!(delays.clone().max() > Some(80_000) && delays.min() < Some(60_000));
}

#[test]
fn jitter_reorders_when_told_to() {
    let config = LinkConfig::new()
        .delay(millis(50))
        .jitter(millis(40))
        .jitter_reorders(true);
    let got = run(config, 5000, 1000);
    assert!(!got.is_sorted_by_key(|&(_, n)| n));
    assert_eq!(got.len(), 5000);
}

#[test]
fn reordering_holds_some_back_and_the_rest_in_order() {
    let config = LinkConfig::new()
        .delay(millis(20))
        .reorder(10.0)
        .reorder_by(millis(30));
    let mut link = Link::new(config, SEED);
    let fates = send(&mut link, 10_000, 1000);
    let held = |n: u32| {
        matches!(
            fates[n as usize],
            Fate::Carried {
                held_back: true,
                ..
            }
        )
    };
    let stats = link.stats();
    assert!(
        stats.held_back.abs_diff(1000) < 4 * 30,
        "{}",
        stats.held_back
    );
    let got = drain(&mut link);
    assert!(
        got.iter()
            .filter(|&&(_, n)| !held(n))
            .all(|&(t, n)| t == u64::from(n) * 1000 + 20_000)
    );
    let late = got.windows(2).filter(|w| w[0].1 > w[1].1).count();
    // Held back by up to 30 ms while one is sent each millisecond: nearly all are overtaken.
    assert!(late > 800, "{late}");
    assert_eq!(got.len(), 10_000);
}

#[test]
fn a_megabit_is_a_megabit() {
    // 1222 + 28 bytes take 10 ms. Offered: twice the rate, for ten seconds.
    let mut link = Link::new(LinkConfig::new().rate(1_000_000), SEED);
    for n in 0..2000 {
        link.send(at(n * 5000), vec![0; 1222]);
    }
    let (mut second, mut last) = ([0; 11], 0);
    while let Some(due) = link.next_delivery() {
        link.receive(due).expect("something is due");
        second[usize::try_from(due.as_micros() / 1_000_000).unwrap()] += 1;
        last = due.as_micros();
    }
    assert_eq!(
        second[..10],
        [99, 100, 100, 100, 100, 100, 100, 100, 100, 100]
    );
    // A queue of 100 ms is drained after the last was sent at 9.995 s.
    assert!((10_090_000..=10_110_000).contains(&last), "{last}");
    let stats = link.stats();
    assert_eq!(stats.queue_dropped, 2000 - stats.delivered);
    assert_eq!(stats.delivered, last / 10_000);
}

#[test]
fn overhead_counts_against_the_rate() {
    let due = |c: LinkConfig| {
        let mut link = Link::new(c.rate(8_000_000), SEED);
        link.send(at(0), vec![0; 100]);
        link.next_delivery().map(Instant::as_micros)
    };
    assert_eq!(due(LinkConfig::new()), Some(128));
    assert_eq!(due(LinkConfig::new().overhead(0)), Some(100));
    assert_eq!(due(LinkConfig::new().overhead(48)), Some(148));
}

#[test]
fn mtu_lets_exactly_that_pass() {
    let mut link = Link::new(LinkConfig::new().mtu(1200), SEED);
    assert!(matches!(
        link.send(at(0), vec![0; 1200]),
        Fate::Carried { .. }
    ));
    assert_eq!(link.send(at(0), vec![0; 1201]), Fate::TooLarge);
    assert_eq!((link.stats().too_large, link.stats().in_flight), (1, 1));
}

#[test]
fn a_partition_swallows_and_heals() {
    let mut link = Link::new(LinkConfig::new().delay(millis(10)), SEED);
    link.send(at(0), vec![1]);
    link.set_config(link.config().down(true));
    assert_eq!(link.send(at(1000), vec![2]), Fate::Cut);
    assert_eq!(link.receive(at(20_000)), Some(vec![1]), "it was under way");
    link.set_config(link.config().down(false));
    link.send(at(30_000), vec![3]);
    assert_eq!(link.receive(at(40_000)), Some(vec![3]));
    assert_eq!(link.stats().cut, 1);
}

#[test]
fn a_shorter_delay_does_not_overtake() {
    let mut link = Link::new(LinkConfig::new().delay(millis(100)), SEED);
    link.send(at(0), vec![1]);
    link.set_config(LinkConfig::new());
    link.send(at(10), vec![2]);
    assert_eq!(link.receive(at(99_999)), None);
    assert_eq!(link.receive(at(100_000)), Some(vec![1]));
    assert_eq!(link.receive(at(100_000)), Some(vec![2]));
}

#[test]
fn what_jitter_reordered_is_not_overtaken_afterwards() {
    let config = LinkConfig::new()
        .delay(millis(50))
        .jitter(millis(50))
        .jitter_reorders(true);
    let mut link = Link::new(config, SEED);
    send(&mut link, 100, 1);
    link.set_config(LinkConfig::new());
    link.send(at(200), 100_u32.to_le_bytes().to_vec());
    assert_eq!(drain(&mut link).last().map(|&(_, n)| n), Some(100));
}

#[test]
fn time_does_not_run_backwards() {
    // The limit on order would hide the effect.
    let mut link = Link::new(
        LinkConfig::new().delay(millis(1)).jitter_reorders(true),
        SEED,
    );
    link.send(at(5000), vec![1]);
    link.send(at(0), vec![2]);
    assert_eq!(link.receive(at(5999)), None);
    assert_eq!(link.receive(at(6000)), Some(vec![1]));
    assert_eq!(link.receive(at(0)), Some(vec![2]));
}

#[test]
fn one_seed_one_run() {
    assert_eq!(run(rough(), 5000, 900), run(rough(), 5000, 900));
    let mut other = Link::new(rough(), Seed::new(SEED.get() + 1));
    send(&mut other, 5000, 900);
    assert_ne!(run(rough(), 5000, 900), drain(&mut other));
}

#[test]
fn one_effect_does_not_shift_another() {
    let slow = LinkConfig::new().delay(millis(30));
    let all = slow
        .jitter(millis(10))
        .jitter_reorders(true)
        .loss(5.0)
        .duplicate(3.0)
        .reorder(4.0);
    let fates = |c: LinkConfig| send(&mut Link::new(c, SEED), 5000, 900);
    let lost = |f: &Fate| *f == Fate::Lost;
    let copied = |f: &Fate| matches!(f, Fate::Carried { copy: Some(_), .. });
    let held = |f: &Fate| {
        matches!(
            f,
            Fate::Carried {
                held_back: true,
                ..
            }
        )
    };
    let full = fates(all);
    for (i, fate) in fates(slow.loss(5.0)).iter().enumerate() {
        assert_eq!(lost(fate), lost(&full[i]), "loss alone, {i}");
    }
    let lossless = fates(all.loss(0.0));
    for (i, fate) in full.iter().enumerate().filter(|(_, fate)| !lost(fate)) {
        assert_eq!(*fate, lossless[i], "{i}");
    }
    let (copies, holds) = (fates(slow.duplicate(3.0)), fates(slow.reorder(4.0)));
    for (i, fate) in lossless.iter().enumerate() {
        assert_eq!(copied(fate), copied(&copies[i]), "duplication alone, {i}");
        assert_eq!(held(fate), held(&holds[i]), "reordering alone, {i}");
    }
}

#[test]
fn nothing_disappears_uncounted() {
    let rough = || rough().corrupt(5.0);
    let mut link = Link::new(rough().mtu(100), SEED);
    for n in 0..20_000 {
        if n == 15_000 {
            link.set_config(rough().down(true));
        }
        link.send(at(n * 700), vec![0; usize::try_from(n % 103).unwrap()]);
        if n % 3 == 0 {
            while link.receive(at(n * 700)).is_some() {}
        }
        let s = link.stats();
        let gone = s.lost + s.queue_dropped + s.too_large + s.cut + s.bad_checksum;
        assert_eq!(
            s.sent + s.duplicated,
            s.delivered + gone + s.in_flight,
            "{SEED}"
        );
    }
    let s = link.stats();
    let each = [
        s.lost,
        s.queue_dropped,
        s.too_large,
        s.cut,
        s.bad_checksum,
        s.duplicated,
        s.held_back,
    ];
    assert!(each.iter().all(|&n| n > 50), "{s:?}");
}

#[test]
fn marks_by_chance_are_those_of_capable_datagrams_and_are_counted() {
    for (sent, path, arrive) in [
        (Ecn::Ect0, EcnPath::Clean, Ecn::Ce),
        (Ecn::Ect0, EcnPath::Bleached, Ecn::NotEct),
        (Ecn::NotEct, EcnPath::Clean, Ecn::NotEct),
    ] {
        let mut link = Link::new(LinkConfig::new().mark(20.0).ecn_path(path), SEED);
        let mut marked = 0;
        for n in 0..1000 {
            link.send_marked(at(n), sent, vec![7]);
            let (ecn, _) = link.receive_marked(at(n)).unwrap();
            marked += u64::from(ecn == arrive);
        }
        let counted = if sent == Ecn::Ect0 { 150..250 } else { 0..1 };
        assert!(counted.contains(&link.stats().marked), "{SEED}");
        if arrive == Ecn::Ce {
            assert_eq!(marked, link.stats().marked);
        } else {
            assert_eq!(marked, 1000);
        }
    }
}
