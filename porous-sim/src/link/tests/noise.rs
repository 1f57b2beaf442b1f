//! Bursts of losses, and damaged datagrams.

use super::*;

#[test]
fn bursts_are_as_many_and_as_long_as_they_say() {
    let mut link = Link::new(LinkConfig::new().burst_loss(1.0, 20.0, 100.0), SEED);
    let lost: Vec<bool> = send(&mut link, 100_000, 1)
        .into_iter()
        .map(|fate| fate == Fate::Lost)
        .collect();
    let bursts = lost.windows(2).filter(|w| *w == [false, true]).count();
    let all = lost.iter().filter(|lost| **lost).count();
    // One datagram in 105 begins a burst, and a burst is 5 long.
    assert!(bursts.abs_diff(952) < 4 * 31, "{bursts}");
    assert!(all.abs_diff(4762) < 4 * 200, "{all}");
    let mut half = Link::new(LinkConfig::new().burst_loss(1.0, 20.0, 50.0), SEED);
    send(&mut half, 100_000, 1);
    let lost = half.stats().lost;
    assert!(lost.abs_diff(all as u64 / 2) < 4 * 60, "{lost} of {all}");
}

#[test]
fn damage_is_counted_and_a_copy_is_whole() {
    let config = LinkConfig::new().corrupt(30.0).duplicate(100.0);
    let config = config.udp_checksum(false);
    let mut link = Link::new(config, SEED);
    let fates: Vec<Fate> = (0..1000).map(|_| link.send(at(0), [0; 8])).collect();
    let damaged = |fate: &&Fate| matches!(fate, Fate::Carried { damaged: true, .. });
    let damaged = fates.iter().filter(damaged).count() as u64;
    assert!(damaged.abs_diff(300) < 4 * 15, "{damaged}");
    assert_eq!(link.stats().damaged, damaged);
    let mut whole = 0;
    while let Some(datagram) = link.receive(at(0)) {
        whole += u64::from(datagram == [0; 8]);
    }
    // Now and then two of the few flipped bits are the same one.
    assert!(whole.abs_diff(2000 - damaged) < 10, "{whole}");
}

#[test]
fn damage_is_dropped_by_the_checksum_and_a_copy_arrives() {
    for config in [
        LinkConfig::new().corrupt(30.0),
        LinkConfig::new().truncate(30.0),
    ] {
        let mut link = Link::new(config.duplicate(50.0), SEED);
        let fates: Vec<Fate> = (0..1000).map(|_| link.send(at(0), [0; 8])).collect();
        let bad = |fate: &&Fate| matches!(fate, Fate::BadChecksum { .. });
        let dropped = fates.iter().filter(bad).count() as u64;
        assert!(dropped.abs_diff(300) < 4 * 15, "{dropped}");
        let mut arrived = 0;
        while let Some(datagram) = link.receive(at(0)) {
            assert_eq!(datagram, [0; 8]);
            arrived += 1;
        }
        let stats = link.stats();
        assert_eq!((stats.bad_checksum, stats.damaged), (dropped, 0));
        assert_eq!(arrived, 1000 + stats.duplicated - dropped);
        let copies = fates.iter().filter(bad);
        let copies = copies.filter(|fate| matches!(fate, Fate::BadChecksum { copy: Some(_) }));
        let copies = copies.count() as u64;
        assert!(copies.abs_diff(dropped / 2) < 4 * 9, "{copies}");
    }
}
