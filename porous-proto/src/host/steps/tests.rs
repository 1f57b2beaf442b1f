//! Steps and pauses (§2.1; `docs/deviations.md` T23).

use core::time::Duration;

use crate::hooks::doc::{carry, example_pair, example_rng};
use crate::{Config, Host, Instant, Listen};

const MS: Duration = Duration::from_millis(1);

/// T_step,avg in microseconds of a host without peers that is stepped at these times.
fn stepped(at: &[u32]) -> u64 {
    let mut host = Host::<_, u32>::new(Config::new(), example_rng());
    for &ms in at {
        host.handle_timeout(Instant::ZERO + ms * MS);
    }
    host.steps.step.get()
}

#[test]
fn equation_07_the_average_step_moves_by_an_eighth() {
    assert_eq!(stepped(&[80]), 10_000);
    assert_eq!(stepped(&[80, 160]), (7 * 10_000 + 80_000) / 8);
    let steady: alloc::vec::Vec<u32> = (1..=100).map(|n| 16 * n).collect();
    assert!(stepped(&steady).abs_diff(16_000) < 10);
}

#[test]
fn a_pause_and_a_second_step_at_the_same_time_do_not_count() {
    assert_eq!(stepped(&[80, 80, 70]), 10_000);
    assert_eq!(stepped(&[80, 331]), 10_000);
    assert_eq!(stepped(&[80, 330]), (7 * 10_000 + 250_000) / 8);
}

/// Whether a pause ends, and whether a long one does, when a host with a peer is stepped this much after
/// something was due.
fn late_by(late: Duration) -> [bool; 2] {
    let (mut host, _) = example_pair();
    let due = host.poll_timeout().unwrap();
    host.handle_timeout(due + late);
    [host.steps.awake_since, host.steps.back_since].map(|since| since == due + late)
}

#[test]
fn only_a_step_that_something_waited_for_ends_a_pause() {
    let tiny = Duration::from_micros(1);
    assert_eq!(late_by(250 * MS), [false, false]);
    assert_eq!(late_by(250 * MS + tiny), [true, false]);
    // A quarter of the timeout.
    assert_eq!(late_by(2500 * MS), [true, false]);
    assert_eq!(late_by(2500 * MS + tiny), [true, true]);
    // Nothing was due.
    let mut host = Host::<_, u32>::new(Config::new(), example_rng());
    host.handle_timeout(Instant::ZERO + 9000 * MS);
    assert_eq!(
        [host.steps.awake_since, host.steps.back_since],
        [Instant::ZERO; 2]
    );
}

#[test]
fn time_stands_still_when_the_clock_runs_backwards() {
    let mut host = Host::<_, u32>::new(Config::new(), example_rng());
    let late = Instant::ZERO + 5000 * MS;
    host.handle_timeout(late);
    host.handle_timeout(Instant::ZERO);
    assert_eq!((host.steps.now, host.steps.last_step), (late, late));
    // And never gets to the time that never comes.
    host.handle_timeout(Instant::from_micros(u64::MAX));
    assert_eq!(host.steps.now, Instant::LAST);
}

#[test]
fn an_answer_that_waits_to_be_sent_is_due_at_once() {
    let mut client = Host::<_, u32>::new(Config::client(), example_rng());
    client.connect(Instant::ZERO, 2).unwrap();
    let mut host = Host::<_, u32>::new(Config::new(), example_rng());
    host.listen(Listen::Open).unwrap();
    assert_eq!(host.poll_timeout(), None);
    carry(&mut client, 1, &mut host);
    assert_eq!(host.poll_timeout(), Some(Instant::ZERO));
    assert!(host.poll_transmit(host.steps.now, &mut [0; 1200]).is_some());
    assert_eq!(host.poll_timeout(), None);
}
