//! Each rule of RFC 9438, by its section.

use super::*;
use crate::congestion::tests::script::{Script, ms};

fn cubic() -> Script<Cubic> {
    Script::new(Cubic::new(1000))
}

/// A controller with a window of 100 frames, right after a loss.
fn lost_at_100_000() -> Script<Cubic> {
    let mut cubic = cubic();
    cubic.acknowledge(90_000);
    assert_eq!(cubic.window(), 100_000);
    cubic.trouble(Signal::Loss);
    cubic
}

/// A window is acknowledged each round trip, in steps of a frame, from one millisecond to
/// another.
fn run(cubic: &mut Script<Cubic>, (from, to): (u64, u64)) {
    let rtt = u64::try_from(cubic.rtt.as_millis()).unwrap_or(0);
    for start in (from..to).step_by(usize::try_from(rtt).unwrap_or(1)) {
        let frames = cubic.window() / 1000;
        for frame in 0..frames {
            cubic.at(ms(start + rtt * u64::from(frame) / u64::from(frames)));
            cubic.acknowledge(1000);
        }
    }
}

fn is_near(window: u32, frames: u32) -> bool {
    window.abs_diff(1000 * frames) <= 1000
}

#[test]
fn section_4_10_slow_start_adds_what_is_acknowledged() {
    let mut cubic = cubic();
    cubic.acknowledge(300);
    cubic.acknowledge(700);
    assert_eq!(cubic.window(), 11_000);
}

#[test]
fn section_4_6_a_loss_takes_three_tenths_once_an_episode() {
    let mut cubic = lost_at_100_000();
    cubic.trouble(Signal::FurtherLoss);
    assert_eq!((cubic.window(), cubic.state.threshold), (70_000, 70_000));
    cubic.acknowledge_sent(ms(0), 10_000); // from before the loss
    assert_eq!(cubic.window(), 70_000);
    for _ in 0..20 {
        cubic.trouble(Signal::Mark);
    }
    assert_eq!((cubic.window(), cubic.state.threshold), (2000, 2000));
}

#[test]
fn section_4_2_the_window_follows_the_curve() {
    let mut cubic = lost_at_100_000();
    run(&mut cubic, (1, 1001));
    assert!(is_near(cubic.window(), 87), "{}", cubic.window());
    run(&mut cubic, (1001, 4201));
    assert!(is_near(cubic.window(), 100), "{}", cubic.window());
    // 0.4 * 5³ frames more five seconds after the top.
    run(&mut cubic, (4201, 9201));
    assert!(is_near(cubic.window(), 150), "{}", cubic.window());
}

#[test]
fn section_4_2_nothing_grows_by_more_than_half_in_a_round_trip() {
    let mut cubic = lost_at_100_000();
    run(&mut cubic, (1, 101));
    cubic.at(ms(1_000_000));
    let before = cubic.window();
    cubic.acknowledge(u32::MAX);
    assert_eq!(cubic.window(), before / 2 * 3);
}

#[test]
fn section_4_3_where_reno_is_faster_it_is_as_fast() {
    let mut cubic = lost_at_100_000();
    cubic.rtt = Duration::from_millis(5);
    // 9/17 of a frame in a round trip until the window is where it was, then a frame.
    run(&mut cubic, (1, 51));
    assert!(is_near(cubic.window(), 75), "{}", cubic.window());
    run(&mut cubic, (51, 286));
    assert!(is_near(cubic.window(), 100), "{}", cubic.window());
    run(&mut cubic, (286, 336));
    assert!(is_near(cubic.window(), 110), "{}", cubic.window());
}

#[test]
fn section_4_7_a_smaller_maximum_than_before_makes_room_for_others() {
    let mut cubic = lost_at_100_000();
    cubic.rtt = Duration::from_millis(500); // too long for Reno
    cubic.at(ms(1));
    cubic.trouble(Signal::Loss);
    assert_eq!(cubic.window(), 49_000);
    assert_eq!(cubic.state.maximum, 59_500); // 85 % of 70,000
    // K is 2.97 s: from there the curve is above it.
    run(&mut cubic, (2, 3002));
    assert!(is_near(cubic.window(), 60), "{}", cubic.window());
}

/// D6.
#[test]
fn section_4_8_after_persistent_congestion_the_curve_begins_flat() {
    let mut cubic = lost_at_100_000();
    cubic.trouble(Signal::Persistent);
    cubic.trouble(Signal::Persistent);
    assert_eq!((cubic.window(), cubic.state.threshold), (2000, 70_000));
    cubic.acknowledge_sent(ms(0), 68_000);
    assert_eq!(cubic.window(), 70_000);
    run(&mut cubic, (1, 5001)); // 0.4 * 5³
    assert!(is_near(cubic.window(), 120), "{}", cubic.window());
}

/// D6.
#[test]
fn section_4_9_a_spurious_episode_is_taken_back() {
    let mut cubic = lost_at_100_000();
    run(&mut cubic, (1, 2001));
    let before = (cubic.window(), cubic.state.maximum);
    cubic.trouble(Signal::Loss);
    assert!(cubic.window() < before.0);
    cubic.on_spurious();
    assert_eq!((cubic.window(), cubic.state.maximum), before);
    // The window goes on along the curve of before the episode.
    run(&mut cubic, (2001, 4201));
    assert!(is_near(cubic.window(), 100), "{}", cubic.window());
    // An episode is taken back only once.
    cubic.on_spurious();
    assert!(is_near(cubic.window(), 100), "{}", cubic.window());
}

#[test]
fn section_4_9_a_window_that_is_larger_already_stays() {
    let mut cubic = lost_at_100_000();
    run(&mut cubic, (1, 9201));
    let window = cubic.window();
    assert!(is_near(window, 150), "{window}");
    cubic.on_spurious();
    assert_eq!(cubic.window(), window);
}

#[test]
fn section_4_9_a_mark_is_not_taken_back() {
    let mut cubic = lost_at_100_000();
    cubic.at(ms(1));
    cubic.trouble(Signal::Mark);
    cubic.on_spurious();
    assert_eq!(cubic.window(), 49_000);
}

/// T16.
#[test]
fn section_5_8_time_in_which_the_window_is_not_used_does_not_count() {
    for is_idle in [false, true] {
        let mut cubic = lost_at_100_000();
        run(&mut cubic, (1, 1001));
        let before = cubic.window();
        // A minute in which little is sent, or nothing.
        if is_idle {
            cubic.on_sent(ms(61_000), 1000, 1000);
        } else {
            cubic.at(ms(61_000));
            cubic.acknowledge_idly(100);
        }
        assert_eq!(cubic.window(), before);
        run(&mut cubic, (61_000, 64_200));
        assert!(is_near(cubic.window(), 100), "{}", cubic.window());
    }
}

#[test]
fn two_frames_always_fit() {
    let mut cubic = cubic();
    cubic.on_mtu(6000);
    assert_eq!(cubic.window(), 12_000);
    cubic.on_mtu(1000);
    assert_eq!(cubic.window(), 12_000);
}

mod curve {
    use super::super::*;
    use proptest::prelude::*;

    #[test]
    fn the_largest_cube_within_is_found() {
        for (number, root) in [(0, 0), (1, 1), (7, 1), (8, 2), (26, 2), (27, 3)] {
            assert_eq!(cube_root(number), root, "{number}");
        }
        assert_eq!(cube_root(u128::MAX), u32::MAX);
        let most = u128::from(u32::MAX).pow(3);
        assert_eq!(cube_root(most), u32::MAX);
        assert_eq!(cube_root(most - 1), u32::MAX - 1);
    }

    #[test]
    fn section_4_2_the_curve_begins_at_the_window_and_turns_at_the_maximum() {
        // 30 frames are missing: K³ = 30 / 0.4.
        let curve = Curve::new(70_000, 100_000, 1000);
        assert_eq!(curve.top, 4_217_163);
        let at = |millis| curve.at(Duration::from_millis(millis)) / ONE;
        assert_eq!(at(0), 70_000);
        assert_eq!(at(1000), 86_680); // 100,000 - 400 * 3.217163³
        assert_eq!(at(4217), 100_000);
        assert_eq!(at(4300), 100_000);
        assert_eq!(at(5217), 100_399);
        assert_eq!(at(14_217), 499_980);
    }

    proptest! {
        #[test]
        fn a_root_is_next_to_its_cube(number: u128) {
            let root = u128::from(cube_root(number));
            prop_assert!(root.pow(3) <= number);
            prop_assert!(root == u128::from(u32::MAX) || (root + 1).pow(3) > number);
        }

        #[test]
        fn no_curve_overflows_and_none_falls(window: u32, maximum: u32, mtu: u32, time: u64, later: u64) {
            let curve = Curve::new(window, maximum, mtu);
            let time = Duration::from_micros(time);
            let later = time.saturating_add(Duration::from_micros(later));
            prop_assert!(curve.at(time) <= curve.at(later));
            prop_assert!(curve.at(Duration::MAX) >= u64::from(maximum) * ONE);
        }

        #[test]
        fn a_fraction_is_no_more_than_all(amount in 0..=u64::from(u32::MAX) * ONE, bytes: u32, window: u64) {
            let part = fraction(amount, bytes, window);
            prop_assert!(part <= amount);
            if u64::from(bytes) * ONE >= window && window > 0 {
                prop_assert_eq!(part, amount);
            }
        }
    }
}
