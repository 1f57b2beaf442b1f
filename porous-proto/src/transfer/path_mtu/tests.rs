//! The search for the size of datagrams, step by step.

use alloc::vec::Vec;

use super::*;

const MS: Micros = Micros::from_millis(1);

fn at(ms: u64) -> Instant {
    Instant::ZERO + Micros::from_millis(ms)
}

/// The sizes that are tried within `seconds` from `from` on, at most one each 10 ms, on a path that carries
/// `limit` bytes; and the size that is found.
fn search(path: &mut PathMtu, from: u64, seconds: u64, limit: u16) -> (Vec<u16>, u16) {
    let mut tried = Vec::new();
    for ms in (1000 * from..1000 * (from + seconds)).step_by(10) {
        path.is_wanted = true;
        let Some(size) = path.probe_now(100 * MS, 0, at(ms)) else {
            continue;
        };
        tried.push(size);
        let (id, sent) = (ms, at(ms));
        path.probe = Some(SizeProbe { id, size, sent });
        if size <= limit {
            assert!(path.on_passed(id, false));
        } else {
            path.on_passed(id + 1, false); // a shorter frame
        }
    }
    (tried, path.current())
}

/// D8.
#[test]
fn all_is_tried_first_and_then_the_middle() {
    let found = |limit| search(&mut PathMtu::new(1200, 1452, 0), 0, 60, limit);
    assert_eq!(found(1452), ([1452].into(), 1452));
    let (tried, size) = found(1400);
    assert_eq!(size, 1389);
    assert_eq!(tried, [1452, 1452, 1452, 1326, 1389, 1420, 1420, 1420]);
    let (tried, size) = found(1200);
    assert_eq!((tried.len(), size), (12, 1200), "{tried:?}");
}

/// D8.
#[test]
fn whatever_the_path_carries_is_found_to_within_forty_bytes_by_few_probes() {
    for max in [1201, 1250, 1452, 9000, 65_507] {
        for limit in (1200..=max).step_by(7) {
            let (tried, size) = search(&mut PathMtu::new(1200, max, 0), 0, 120, limit);
            assert!(
                size <= limit && limit - size < 40,
                "{limit} of {max}: {size}"
            );
            assert!(tried.len() <= 36, "{limit} of {max}: {tried:?}");
            let most = |size| tried.iter().filter(|tried| **tried == size).count() <= 3;
            assert!(tried.iter().all(|size| most(*size)), "{tried:?}");
        }
    }
}

#[test]
fn no_size_is_tried_in_the_first_seconds_or_without_need() {
    let mut path = PathMtu::new(1200, 1452, 0);
    assert_eq!(search(&mut path, 0, 5, 1452).0, []);
    path.is_wanted = false;
    assert_eq!(path.probe_now(MS, 0, at(9000)), None);
    path.is_wanted = true;
    assert_eq!(path.probe_now(MS, 0, at(9000)), Some(1452));
}

#[test]
fn a_path_is_searched_again_after_ten_minutes() {
    let mut path = PathMtu::new(1200, 1452, 0);
    assert_eq!(search(&mut path, 0, 600, 1300).1, 1294);
    let (tried, size) = search(&mut path, 600, 600, 1452);
    assert_eq!((&tried[..], size), (&[1452][..], 1452));
    assert_eq!(search(&mut path, 1200, 1300, 1452).0, []);
}

#[test]
fn four_large_losses_with_none_that_came_and_three_probes_end_it_for_a_minute() {
    let mut path = PathMtu::new(1200, 1452, 0);
    search(&mut path, 0, 10, 1452);
    for id in [20_001, 20_002, 20_004, 20_006] {
        assert!(!path.on_vanished(id, 0, at(20_000)));
        path.on_passed(id + 1, true);
        assert!(
            !path.on_vanished(id - 1, 0, at(20_000)),
            "others came later"
        );
    }
    // A small frame that arrives says nothing of large ones.
    assert!(!path.on_vanished(20_010, 0, at(20_000)));
    assert!(!path.on_passed(20_011, false));
    assert!(!path.on_vanished(20_012, 0, at(20_000)));
    assert!(!path.on_vanished(20_013, 0, at(20_000)));
    assert!(path.on_vanished(20_014, 0, at(20_000)));
    assert_eq!(path.current(), 1200);
    let (tried, size) = search(&mut path, 20, 60, 1400);
    assert_eq!((&tried[..], size), (&[1452; 3][..], 1200));
    assert_eq!(search(&mut path, 83, 10, 1452), ([1452].into(), 1452));
}

/// D8.
#[test]
fn what_was_lost_by_chance_is_made_good_by_a_probe_but_not_again_and_again() {
    let mut path = PathMtu::new(1200, 1452, 0);
    search(&mut path, 0, 10, 1452);
    let vanish = |path: &mut PathMtu, seconds: u64| {
        let ids = 1_000_000 * seconds..1_000_000 * seconds + 4;
        ids.filter(|id| path.on_vanished(*id, 0, at(1000 * seconds)))
            .count()
    };
    assert_eq!((vanish(&mut path, 20), path.current()), (1, 1200));
    assert_eq!(search(&mut path, 20, 1, 1452), ([1452].into(), 1452));
    // Frames of the old size that were lost say nothing any more.
    assert!((0..9).all(|id| !path.on_vanished(id, 0, at(21_000))));
    assert_eq!((vanish(&mut path, 79), path.current()), (1, 1200));
    assert_eq!(search(&mut path, 79, 60, 1452), (Vec::new(), 1200));
    assert_eq!(search(&mut path, 139, 1, 1452), ([1452].into(), 1452));
}

#[test]
fn a_probe_that_comes_late_is_none() {
    let mut path = PathMtu::new(1200, 1452, 0);
    path.is_wanted = true;
    let mut now = at(0);
    path.probe_now(MS, 0, now);
    for id in 0..4 {
        now = now + BEGIN;
        let size = path.probe_now(MS, 0, now).unwrap();
        path.probe = Some(SizeProbe {
            id,
            size,
            sent: now,
        });
        assert_eq!(path.probe_now(MS, 0, now + (PATIENCE - MS)), None);
    }
    assert!(!path.on_passed(0, false) && !path.on_passed(2, false));
    assert!(path.on_passed(3, false));
    assert_eq!(path.current(), 1326);
}

/// D16.
#[test]
fn a_size_that_was_found_is_given_up_in_silence_and_asked_about() {
    let mut path = PathMtu::new(1200, 1452, 0);
    assert!(!path.on_silence(0, at(0)));
    assert_eq!(search(&mut path, 0, 6, 1452).1, 1452);
    assert!(path.on_silence(5, at(7000)));
    assert_eq!((path.current(), path.largest_small()), (1200, FLOOR));
    assert!(!path.on_silence(5, at(7000)));
    // In an outage no probe counts, and the size is in use again as soon as one passes.
    for id in 7..30 {
        assert_eq!(path.probe_now(MS, id, at(1000 * id)), Some(1452));
        path.on_probe(id, 1452, at(1000 * id));
        path.on_passed(id - 1, true);
    }
    assert!(path.on_passed(29, true));
    assert_eq!((path.current(), path.take_narrowed()), (1452, None));
    // Not so if shorter frames arrive.
    assert!(path.on_silence(45, at(50_000)));
    for id in [50, 60, 70] {
        assert_eq!(path.probe_now(MS, id, at(1000 * id)), Some(1452));
        path.on_probe(id, 1452, at(1000 * id));
        path.on_passed(id + 1, false);
    }
    assert_eq!(path.probe_now(MS, 80, at(80_000)), None);
    assert_eq!(
        (path.current(), path.take_narrowed()),
        (1200, Some(Narrowed::To(1200)))
    );
}

/// D16.
#[test]
fn in_doubt_a_shorter_datagram_than_that_in_use_is_sure() {
    let mut path = PathMtu::new(1200, 1452, 0);
    assert_eq!(
        [false, true].map(|in_doubt| path.sure(in_doubt)),
        [1200, FLOOR]
    );
    path.narrow(9000, at(9000));
    assert_eq!(
        [false, true].map(|in_doubt| path.sure(in_doubt)),
        [FLOOR, SMALL]
    );
}

/// D16: otherwise the ping takes room on slow lines for nothing.
#[test]
fn a_probe_has_a_ping_behind_it_where_nothing_else_tells_that_the_path_is_there() {
    let mut path = PathMtu::new(1200, 1200, 0);
    assert!(!path.needs_ping(true), "no probe is due");
    for id in 1..=4 {
        path.on_vanished(id, 10, at(0));
    }
    let mut pings = Vec::new();
    // A short frame behind the second probe is acknowledged, and none behind the others.
    for (id, is_answered) in [(10, false), (20, true), (30, false), (40, false)] {
        let now = at(1000 * id);
        assert_eq!(path.probe_now(MS, id, now), Some(1200));
        assert!(path.needs_ping(true));
        pings.push(path.needs_ping(false));
        path.on_probe(id, 1200, now);
        if is_answered {
            path.on_passed(id + 1, false);
        }
    }
    assert_eq!(pings, [false, true, false, true]);
}
