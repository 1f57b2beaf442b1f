//! When frames are lost, and when they are asked after.

use alloc::vec::Vec;

use super::*;
use crate::config::Policy;

const MS: Micros = Micros::from_millis(1);

fn at(ms: u64) -> Instant {
    Instant::ZERO + Micros::from_millis(ms)
}

/// Round trips of 100 ms that vary by no more than a millisecond.
fn settled() -> (Modern, Rtt) {
    let mut rtt = Rtt::new(Policy::Modern);
    for n in 0..100 {
        rtt.on_ack(100 * MS, Micros::ZERO, at(100 * n));
    }
    (Modern::default(), rtt)
}

/// The newest acknowledged id.
fn acks(newest: Option<u64>) -> LaterAcks {
    let mut acks = LaterAcks::new(0);
    newest
        .into_iter()
        .for_each(|id| acks.on_acknowledged(id, false));
    acks
}

/// The frame `id` is lost, which was sent at this time.
fn lost(id: u64, sent: Instant, next: u64) -> Lost {
    Lost {
        id,
        sent,
        next,
        is_alone: false,
    }
}

fn flight(sent: u64) -> Flight {
    Flight {
        oldest: Some((7, at(sent))),
        unprobed: Some((at(sent), false)),
    }
}

/// P5. T18.
#[test]
fn three_ids_or_an_eighth_of_a_round_trip_make_a_loss() {
    let (modern, rtt) = settled();
    let lost = |id, newest, after| modern.is_lost((id, at(0)), &acks(newest), &rtt, at(after));
    assert!(lost(5, Some(8), 0) && !lost(5, Some(7), 0));
    assert!(lost(5, Some(6), 113) && !lost(5, Some(6), 112));
    assert!(!lost(5, Some(5), 1000) && !lost(5, None, 1000));
    let mut slow = rtt;
    slow.set_step(200 * MS);
    assert!(!modern.is_lost((5, at(0)), &acks(Some(6)), &slow, at(199)));
}

/// P5.
#[test]
fn a_wrong_verdict_is_taken_back() {
    let (mut modern, rtt) = settled();
    let signal = modern.on_lost(&lost(10, at(0), 20), &rtt, at(0));
    assert_eq!(signal, Signal::Loss);
    let signal = modern.on_lost(&lost(11, at(1), 21), &rtt, at(0));
    assert_eq!(signal, Signal::FurtherLoss);
    assert!(!modern.on_spurious(10));
    assert!(modern.on_spurious(11));
}

/// P5.
#[test]
fn where_frames_overtake_each_other_time_alone_makes_a_loss() {
    let (mut modern, rtt) = settled();
    modern.on_overtaken(130 * MS, &rtt, at(10_000));
    let lost = |modern: &Modern, newest, after| {
        modern.is_lost((0, at(0)), &acks(Some(newest)), &rtt, at(after))
    };
    // 9/8 of a round trip, and the 30 ms by which the frame was late.
    assert!(!lost(&modern, 100_000, 142) && lost(&modern, 1, 143));
    modern.on_overtaken(120 * MS, &rtt, at(10_001));
    assert!(!lost(&modern, 100_000, 142), "the longest counts");
    // At least a millisecond, which the round trips of frames that overtake others may hide.
    let mut early = Modern::default();
    early.on_overtaken(90 * MS, &rtt, at(10_000));
    assert!(!lost(&early, 100_000, 113) && lost(&early, 1, 114));
}

/// P5.
#[test]
fn lateness_on_purpose_is_waited_for_up_to_a_fifth_of_a_second() {
    let (mut modern, rtt) = settled();
    modern.on_overtaken(Micros::from_secs(10), &rtt, at(10_000));
    let lost = |after| modern.is_lost((0, at(0)), &acks(Some(9)), &rtt, at(after));
    assert!(!lost(312) && lost(313));
}

/// P5.
#[test]
fn ids_count_again_five_to_ten_seconds_after_the_last_frame_was_overtaken() {
    let (mut modern, rtt) = settled();
    modern.on_overtaken(130 * MS, &rtt, at(10_000));
    for ms in (10_000..20_000).step_by(500) {
        modern.on_acknowledged(ms, true, false, at(ms));
        let is_lost = modern.is_lost((0, at(0)), &acks(Some(3)), &rtt, at(0));
        assert!(!is_lost, "{ms}");
    }
    modern.on_acknowledged(99, true, false, at(20_000));
    assert!(modern.is_lost((0, at(0)), &acks(Some(3)), &rtt, at(0)));
    assert!(modern.is_lost((0, at(0)), &acks(Some(1)), &rtt, at(113)));
}

/// P6.
#[test]
fn no_probe_overtakes_what_it_repeats() {
    let (mut modern, rtt) = settled();
    modern.on_overtaken(130 * MS, &rtt, at(10_000));
    assert_eq!(modern.early_probe(true, &rtt), 130 * MS);
}

/// An arrival shows that the path carries frames, however late it is.
#[test]
fn a_late_acknowledgement_ends_timeouts_and_persistent_congestion() {
    let (mut modern, rtt) = settled();
    modern.on_lost(&lost(10, at(0), 20), &rtt, at(0));
    for n in 0..20 {
        assert!(modern.on_timeout(&rtt, at(2000 * n)).is_some());
    }
    modern.on_spurious(10);
    let question = modern.on_timeout(&rtt, at(40_000)).unwrap();
    assert!(!question.is_again);
    let later = at(0) + 3 * rtt.timeout();
    let signal = modern.on_lost(&lost(11, later, 20), &rtt, later);
    assert_ne!(signal, Signal::Persistent);
}

#[test]
fn losses_of_three_timeouts_with_nothing_between_them_are_persistent() {
    let (mut modern, rtt) = settled();
    let timeout = rtt.timeout();
    modern.on_lost(&lost(10, at(0), 20), &rtt, at(0));
    let later = at(0) + 3 * timeout;
    let signal = modern.on_lost(&lost(11, later, 20), &rtt, at(0));
    assert_eq!(signal, Signal::Persistent);
    let latest = later + 3 * timeout;
    let alone = Lost {
        is_alone: true,
        ..lost(13, latest, 20)
    };
    assert_eq!(modern.on_lost(&alone, &rtt, at(0)), Signal::FurtherLoss);
    modern.on_acknowledged(15, true, false, Instant::ZERO);
    let sent = latest + 3 * timeout;
    let signal = modern.on_lost(&lost(16, sent, 20), &rtt, at(0));
    assert_eq!(signal, Signal::FurtherLoss);
}

/// T3, P6.
#[test]
fn probes_come_early_then_late_and_then_twice_as_late() {
    let (mut modern, rtt) = settled();
    modern.on_sent(at(0));
    assert_eq!(
        modern.deadline(&flight(0), &acks(None), &rtt),
        (at(101), Due::Probe)
    );
    let probed = Flight {
        unprobed: None,
        ..flight(0)
    };
    assert_eq!(
        modern.deadline(&probed, &acks(None), &rtt),
        (at(101), Due::Timeout)
    );
    modern.on_timeout(&rtt, at(101));
    assert_eq!(
        modern.deadline(&probed, &acks(None), &rtt),
        (at(303), Due::Timeout)
    );
    for n in 0..20 {
        modern.on_timeout(&rtt, at(303 + 1000 * n));
    }
    assert_eq!(
        modern.deadline(&probed, &acks(None), &rtt),
        (at(20_303), Due::Timeout)
    );
    modern.on_acknowledged(3, true, false, Instant::ZERO);
    assert_eq!(
        modern.deadline(&probed, &acks(None), &rtt),
        (at(19_404), Due::Timeout)
    );
}

/// T3. D16.
#[test]
fn a_host_that_goes_on_sending_asks_as_well() {
    for is_reliable in [false, true] {
        asks_as_well(is_reliable);
    }
}

fn asks_as_well(is_reliable: bool) {
    let (mut modern, rtt) = settled();
    let least = rtt.timeout();
    let mut asked = Vec::new();
    for ms in 0..1500 {
        // A frame each 20 ms, and none is acknowledged.
        if ms % 20 == 0 {
            modern.on_sent(at(ms));
        }
        // Of reliable ones, the newest was not probed yet.
        let sent = Flight {
            unprobed: is_reliable.then_some((at(ms / 20 * 20), false)),
            ..flight(0)
        };
        let (due, what) = modern.deadline(&sent, &acks(None), &rtt);
        if due <= at(ms) {
            assert_eq!(what, Due::Timeout);
            let question = modern.on_timeout(&rtt, at(ms)).unwrap();
            assert!(!question.repeats && question.is_again);
            asked.push(ms);
        }
    }
    let each = 3 * least;
    let times: Vec<u64> = (1..=asked.len() as u64)
        .map(|n| n * each.get() / 1000)
        .collect();
    assert!(asked.len() > 3, "{asked:?}");
    for (asked, time) in asked.iter().zip(times) {
        assert!((time..time + 10).contains(asked), "{asked} {time}");
    }
    assert!(modern.is_silent());
    // The series of timeouts begins when no more is sent: the last frame left at 1480.
    let question = modern.on_timeout(&rtt, at(1480) + least).unwrap();
    assert!(question.repeats && !question.is_again);
    modern.on_acknowledged(7, false, false, at(1500));
    assert!(!modern.is_silent());
}

/// T3, P6.
#[test]
fn a_timeout_that_repeats_waits_for_an_early_probe_however_late() {
    let (mut modern, rtt) = settled();
    modern.on_sent(at(0));
    let late = Flight {
        unprobed: Some((at(1000), false)),
        ..flight(0)
    };
    let early = at(1000) + modern.early_probe(false, &rtt);
    assert_eq!(
        modern.deadline(&late, &acks(None), &rtt),
        (early, Due::Probe)
    );
    // While data goes on leaving, a ping asks before.
    modern.on_sent(at(1000));
    let (due, what) = modern.deadline(&late, &acks(None), &rtt);
    assert_eq!((due, what), (at(0) + 3 * rtt.timeout(), Due::Timeout));
}

/// P7.
#[test]
fn needless_probes_make_the_next_ones_later() {
    let (mut modern, rtt) = settled();
    assert_eq!(modern.early_probe(false, &rtt).get() / 1000, 101);
    for _ in 0..10 {
        modern.on_probed(true);
    }
    assert_eq!(modern.early_probe(false, &rtt).get() / 1000, 111);
    modern.on_probed(false);
    assert_eq!(modern.early_probe(false, &rtt).get() / 1000, 101);
    for _ in 0..100 {
        modern.on_probed(true);
    }
    assert_eq!(modern.early_probe(false, &rtt).get() / 1000, 126);
}

#[test]
fn what_was_overtaken_is_waited_for_and_not_probed() {
    let (modern, rtt) = settled();
    let probed = Flight {
        unprobed: None,
        ..flight(0)
    };
    let (due, what) = modern.deadline(&probed, &acks(Some(8)), &rtt);
    assert_eq!((due.as_micros() / 500, what), (225, Due::Loss));
    let nothing = Flight {
        oldest: None,
        unprobed: None,
    };
    assert!(modern.deadline(&nothing, &acks(Some(8)), &rtt).0.is_never());
}

/// T3: a remote host that says other things but acknowledges nothing is not sent the same for ever.
#[test]
fn after_sixteen_timeouts_nothing_is_repeated() {
    let (mut modern, rtt) = settled();
    for n in 0..20 {
        let question = modern.on_timeout(&rtt, at(2000 * (n + 1))).unwrap();
        assert_eq!((question.repeats, question.is_again), (n < 16, n > 0));
    }
    modern.on_acknowledged(3, true, false, Instant::ZERO);
    assert!(modern.on_timeout(&rtt, at(42_000)).unwrap().repeats);
}

/// T19.
#[test]
fn a_path_that_only_reorders_is_not_lossy() {
    let (mut modern, rtt) = settled();
    for id in [10, 11] {
        modern.on_lost(&lost(id, at(id), 20), &rtt, at(20));
    }
    assert!(modern.is_lossy(at(20)));
    modern.on_spurious(10);
    assert!(modern.is_lossy(at(20)), "one is lost");
    modern.on_spurious(11);
    assert!(!modern.is_lossy(at(20)));
    modern.on_lost(&lost(30, at(30), 40), &rtt, at(40));
    assert!(modern.is_lossy(at(10_029)) && !modern.is_lossy(at(10_030)));
    // What was lost more than 10 s ago counts no more.
    modern.on_lost(&lost(50, at(20_000), 60), &rtt, at(20_000));
    modern.on_spurious(50);
    assert!(!modern.is_lossy(at(20_000)));
}
