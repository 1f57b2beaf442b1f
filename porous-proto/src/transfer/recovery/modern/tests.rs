//! When frames are lost, and when they are asked after.

use super::*;

const MS: Duration = Duration::from_millis(1);
const STEP: Duration = Duration::ZERO;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Round trips of 100 ms that vary by no more than a millisecond.
fn settled() -> Modern {
    let mut modern = Modern::new();
    for n in 0..100 {
        modern.sample(100 * MS, Duration::ZERO, at(100 * n));
    }
    modern
}

fn flight(sent: u64) -> Flight {
    Flight {
        oldest: Some((7, at(sent))),
        unprobed: Some((at(sent), false)),
    }
}

/// P5.
#[test]
fn three_ids_or_an_eighth_of_a_round_trip_make_a_loss() {
    let modern = settled();
    let lost = |id, newest, after| modern.is_lost((id, at(0)), newest, STEP, at(after));
    assert!(lost(5, Some(8), 0) && !lost(5, Some(7), 0));
    assert!(lost(5, Some(6), 113) && !lost(5, Some(6), 112));
    assert!(!lost(5, Some(5), 1000) && !lost(5, None, 1000));
    assert!(!modern.is_lost((5, at(0)), Some(6), 200 * MS, at(199)));
}

/// P5.
#[test]
fn who_was_wrong_becomes_patient_and_takes_it_back() {
    let mut modern = settled();
    assert_eq!(modern.on_lost((10, at(0)), 20, false, STEP), Signal::Loss);
    assert_eq!(
        modern.on_lost((11, at(1)), 21, false, STEP),
        Signal::FurtherLoss
    );
    assert!(!modern.on_spurious(10, 16));
    assert!(modern.on_spurious(11, 16));
    let lost = |id, after| modern.is_lost((id, at(0)), Some(30), STEP, at(after));
    assert!(lost(22, 0) && !lost(23, 0));
    // Two quarters of the shortest round trip.
    assert!(lost(29, 163) && !lost(29, 162));
}

/// P5.
#[test]
fn sixteen_episodes_without_an_error_make_impatient_again() {
    let mut modern = settled();
    modern.on_lost((10, at(0)), 20, false, STEP);
    modern.on_spurious(10, 40);
    modern.on_acknowledged(20, true, Instant::ZERO);
    for n in 0..16 {
        assert!(!modern.is_lost((97, at(0)), Some(100), STEP, at(0)), "{n}");
        modern.on_lost((200 + n, at(0)), 201 + n, false, STEP);
        modern.on_acknowledged(201 + n, true, Instant::ZERO);
    }
    assert!(modern.is_lost((97, at(0)), Some(100), STEP, at(0)));
    assert!(modern.is_lost((99, at(0)), Some(100), STEP, at(113)));
}

#[test]
fn losses_of_three_timeouts_with_nothing_between_them_are_persistent() {
    let mut modern = settled();
    let timeout = modern.probe_timeout(STEP);
    let mut lost = |id, sent, alone| modern.on_lost((id, sent), 20, alone, STEP);
    lost(10, at(0), false);
    let later = at(0) + 3 * timeout;
    assert_eq!(lost(11, later, false), Signal::Persistent);
    let latest = later + 3 * timeout;
    assert_eq!(lost(13, latest, true), Signal::FurtherLoss);
    modern.on_acknowledged(15, true, Instant::ZERO);
    let sent = latest + 3 * timeout;
    let lost = modern.on_lost((16, sent), 20, false, STEP);
    assert_eq!(lost, Signal::FurtherLoss);
}

/// T3, P6.
#[test]
fn probes_come_early_then_late_and_then_twice_as_late() {
    let mut modern = settled();
    modern.on_sent(at(0));
    assert_eq!(
        modern.deadline(&flight(0), None, STEP),
        (at(101), Due::Probe)
    );
    let probed = Flight {
        unprobed: None,
        ..flight(0)
    };
    assert_eq!(
        modern.deadline(&probed, None, STEP),
        (at(101), Due::Timeout)
    );
    modern.on_timeout(at(101));
    assert_eq!(
        modern.deadline(&probed, None, STEP),
        (at(303), Due::Timeout)
    );
    for _ in 0..20 {
        modern.on_timeout(at(303));
    }
    assert_eq!(
        modern.deadline(&probed, None, STEP),
        (at(1303), Due::Timeout)
    );
    modern.on_acknowledged(3, true, Instant::ZERO);
    assert_eq!(
        modern.deadline(&probed, None, STEP),
        (at(404), Due::Timeout)
    );
}

/// P7.
#[test]
fn probes_in_vain_come_later() {
    let mut modern = settled();
    assert_eq!(modern.early_probe(false, STEP).as_millis(), 101);
    for _ in 0..10 {
        modern.on_probed(true);
    }
    assert_eq!(modern.early_probe(false, STEP).as_millis(), 111);
    modern.on_probed(false);
    assert_eq!(modern.early_probe(false, STEP).as_millis(), 101);
    for _ in 0..100 {
        modern.on_probed(true);
    }
    assert_eq!(modern.early_probe(false, STEP).as_millis(), 126);
}

#[test]
fn what_was_overtaken_is_waited_for_and_not_probed() {
    let modern = settled();
    let probed = Flight {
        unprobed: None,
        ..flight(0)
    };
    let (due, what) = modern.deadline(&probed, Some(8), STEP);
    assert_eq!((due.as_micros() / 500, what), (225, Due::Loss));
    let nothing = Flight {
        oldest: None,
        unprobed: None,
    };
    assert!(modern.deadline(&nothing, Some(8), STEP).0.is_never());
}

/// The remote host says how long it held an acknowledgement back, and may lie.
#[test]
fn a_delay_shortens_the_path_but_not_the_timers() {
    let mut modern = settled();
    for n in 0..200 {
        modern.sample(120 * MS, 20 * MS, at(10_000 + 100 * n));
        modern.sample(120 * MS, 60 * MS, at(10_050 + 100 * n));
    }
    assert_eq!(modern.minimum.get(), Some(100 * MS));
    assert!(modern.feedback.smoothed() > 119 * MS);
    let path = modern.path().smoothed();
    assert!(path > 100 * MS && path < 115 * MS, "{path:?}");
}

/// T3: a peer that says other things but acknowledges nothing is sent nothing twice for ever.
#[test]
fn after_sixteen_timeouts_nothing_is_repeated() {
    let mut modern = settled();
    for n in 0..20 {
        assert_eq!(modern.on_timeout(at(n)), n < 16, "{n}");
    }
    modern.on_acknowledged(3, true, Instant::ZERO);
    assert!(modern.on_timeout(at(30)));
}

/// P9: a block that is repeated tells of a frame that arrived long ago.
#[test]
fn lost_acknowledgements_do_not_make_the_path_longer() {
    for mut modern in [settled(), Modern::new()] {
        let before = modern.probe_timeout(STEP);
        for n in 0..200 {
            modern.sample(5000 * MS, 496 * MS, at(10_000 + 1000 * n));
        }
        assert_eq!(modern.probe_timeout(STEP), before);
    }
    let mut modern = settled();
    for n in 0..200 {
        modern.sample(5000 * MS, 200 * MS, at(300_000 + 1000 * n));
    }
    assert!(modern.probe_timeout(STEP) > 4000 * MS);
}
