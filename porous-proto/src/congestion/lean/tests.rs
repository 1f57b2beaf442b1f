//! The rules of the controller, over a line whose queue is the sum of what was sent and not served yet.

use alloc::vec::Vec;
use core::time::Duration;

use super::*;

const MTU: u32 = 1000;
const MS: Duration = Duration::from_millis(1);

/// A bottleneck, and a connection that always has something to send over it.
struct Line {
    lean: Lean,
    now: Instant,
    /// In bytes a second.
    rate: u32,
    base: Duration,
    /// Bytes of other connections in flight.
    others: u32,
    /// One frame in this many is lost.
    loss: Option<u32>,
    /// Frames of a round that pass; further ones are lost, without a queue.
    passes: Option<u32>,
    is_limited: bool,
    /// How much later than its round trip says a frame is acknowledged, as where samples are of frames that
    /// overtake others.
    late: Duration,
    frames: u32,
}

impl Line {
    fn new(rate: u32, base: Duration) -> Self {
        Self {
            lean: Lean::new(MTU),
            now: Instant::ZERO,
            rate,
            base,
            others: 0,
            loss: None,
            passes: None,
            is_limited: true,
            late: Duration::ZERO,
            frames: 0,
        }
    }

    /// Bytes in flight if the path is full and the queue empty.
    fn fits(&self) -> u32 {
        bytes_in(self.rate, self.base.into())
    }

    fn trouble(&mut self, signal: Signal, sent: Instant) {
        self.lean.on_trouble(&Trouble {
            now: self.now,
            signal,
            bytes: if signal == Signal::Mark { 0 } else { MTU },
            sent,
            in_flight: self.lean.window(),
        });
    }

    /// A window is sent and acknowledged, frame by frame. Returns the round trip of the last frame.
    fn round(&mut self) -> Duration {
        let (sent, window) = (self.now, self.lean.window());
        let frame = Duration::from_micros(u64::from(MTU) * 1_000_000 / u64::from(self.rate));
        let count = window / MTU;
        // The first frames leave at once, and find no queue but their own.
        let is_first = sent == Instant::ZERO;
        let first = frame * (1 + self.others / MTU);
        let served = frame * (count + self.others / MTU);
        let rtt = self.base.max(served.saturating_sub(self.late));
        let time = rtt + self.late;
        let gap = time / count;
        for n in 1..=count {
            self.now = sent + (time - gap * count + gap * n);
            self.frames += 1;
            let is_lost = self.loss.is_some_and(|loss| self.frames % loss == 0);
            if is_lost || self.passes.is_some_and(|passes| n > passes) {
                self.trouble(Signal::Loss, sent);
                continue;
            }
            self.lean.on_ack(&Ack {
                now: self.now,
                bytes: MTU,
                frames: 1,
                sent,
                rtt: Some(if is_first {
                    first.max(self.base + frame * n)
                } else {
                    rtt
                }),
                smoothed_rtt: rtt,
                in_flight: window,
                is_limited: self.is_limited,
                bandwidth: u32::MAX,
                step: Duration::ZERO,
            });
        }
        self.now = sent + time;
        rtt
    }

    fn rounds(&mut self, count: u32) -> Duration {
        (0..count).map(|_| self.round()).last().unwrap_or_default()
    }

    fn run(&mut self, seconds: u64) {
        let end = self.now + Duration::from_secs(seconds);
        while self.now < end {
            self.round();
        }
    }

    /// A line on which the controller has settled.
    fn settled(rate: u32, base: Duration) -> Self {
        let mut line = Self::new(rate, base);
        line.rounds(60);
        line
    }
}

/// P12.
#[test]
fn the_path_is_full_and_the_queue_short_at_any_rate() {
    for (rate, most) in [
        (100_000, 30 * MS),
        (1_000_000, 10 * MS),
        (10_000_000, 4 * MS),
    ] {
        let mut line = Line::settled(rate, 50 * MS);
        for _ in 0..200 {
            let rtt = line.round();
            assert!(rtt <= 50 * MS + most, "{rate}: {rtt:?}");
            let window = line.lean.window + MTU;
            assert!(window > line.fits(), "{rate}: {window}");
        }
        assert_eq!(line.lean.phase, Phase::Steady);
    }
}

#[test]
fn slow_start_doubles_until_there_is_a_queue() {
    // Far apart, the first frames say nothing of the path.
    let mut line = Line::new(10_000_000, 100 * MS);
    for expected in [10, 20, 40, 80, 160, 320, 640] {
        assert_eq!(line.lean.window(), expected * MTU);
        line.round();
    }
    line.rounds(4);
    assert_eq!(line.lean.phase, Phase::Steady);
    assert!(line.lean.window() < 1100 * MTU, "{}", line.lean.window());
}

#[test]
fn what_the_first_frames_tell_is_used_up_to_three_quarters_and_eight_times() {
    let ack = |micros, frames| Ack {
        now: Instant::ZERO + 50 * MS + Duration::from_micros(micros),
        bytes: frames * MTU,
        frames,
        sent: Instant::ZERO,
        rtt: Some(50 * MS),
        smoothed_rtt: 50 * MS,
        in_flight: 10 * MTU,
        is_limited: true,
        bandwidth: u32::MAX,
        step: Duration::ZERO,
    };
    // A frame in 400 µs is 2.5 MB/s, with a millisecond for what is seen too late 1.9 MB/s.
    let mut lean = Lean::new(MTU);
    for n in 0..10 {
        lean.on_ack(&ack(400 * n, 1));
    }
    let fits = 1_956_521 / 20;
    assert!(lean.window() <= fits / 4 * 3 + MTU, "{}", lean.window());
    assert!(lean.window() > 60 * MTU, "{}", lean.window());
    // All at once could be any rate.
    let mut lean = Lean::new(MTU);
    lean.on_ack(&ack(0, 10));
    assert!(lean.window() <= 80 * MTU, "{}", lean.window());
}

/// P12.
#[test]
fn losses_by_chance_do_no_harm() {
    for loss in [100, 33, 20] {
        let mut line = Line::new(1_000_000, 50 * MS);
        line.loss = Some(loss);
        let mut windows = 0;
        for _ in 0..1000 {
            line.round();
            windows += line.lean.window() / 1000;
        }
        assert!(windows > line.fits() / 100 * 93, "1 in {loss}: {windows}");
    }
}

#[test]
fn the_window_follows_the_rate_down_and_up() {
    let mut line = Line::settled(2_000_000, 50 * MS);
    line.rate = 400_000;
    let rtt = line.rounds(16);
    assert!(rtt < 90 * MS, "{rtt:?}");
    line.rounds(20);
    line.rate = 4_000_000;
    line.rounds(40);
    let window = line.lean.window();
    assert!(window > line.fits() / 10 * 9, "{window}");
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut line = Line::new(1_000_000, 50 * MS);
    line.is_limited = false;
    line.rounds(50);
    assert_eq!(line.lean.window(), 10 * MTU);
    line.is_limited = true;
    line.rounds(60);
    line.is_limited = false;
    line.rounds(2);
    let before = line.lean.window;
    line.rate = 10_000_000;
    line.rounds(50);
    assert!(line.lean.window <= before, "{}", line.lean.window);
}

#[test]
fn now_and_then_the_queue_is_emptied() {
    let mut line = Line::settled(1_000_000, 50 * MS);
    let mut seen = 0;
    let end = line.now + Duration::from_secs(20);
    while line.now < end {
        let rtt = line.round();
        seen += u32::from(rtt <= 50 * MS);
    }
    assert!((4..12).contains(&seen), "{seen}");
}

/// P12.
#[test]
fn beside_rivals_the_window_follows_losses_until_they_are_gone() {
    let mut line = Line::settled(1_000_000, 50 * MS);
    let before = line.lean.window;
    line.others = 60_000;
    line.rounds(6);
    assert!(line.lean.window < before, "it gives way at first");
    line.rounds(8); // a drain, which shows that the queue is not its own
    assert_eq!(line.lean.phase, Phase::Competing);
    let window = line.lean.window;
    assert!(window >= before, "{window} of {before}");
    line.rounds(10);
    assert_eq!(line.lean.window, window + 10 * MTU);
    line.trouble(Signal::Loss, line.now);
    line.trouble(Signal::FurtherLoss, line.now);
    assert_eq!(line.lean.window, (window + 10 * MTU) / 2);
    assert!(
        line.lean.window() < line.lean.window,
        "a loss begins a drain"
    );

    line.others = 0;
    line.rounds(5);
    assert_eq!(line.lean.phase, Phase::Steady);
}

/// P12.
#[test]
fn a_longer_path_is_no_rival() {
    for longer in [60, 65, 75, 100] {
        let mut line = Line::settled(1_000_000, 50 * MS);
        let before = line.lean.window;
        line.base = longer * MS;
        let end = line.now + Duration::from_secs(5);
        while line.now < end {
            line.round();
            assert!(
                !line.lean.phase.follows_losses(),
                "{longer} ms: {:?}",
                line.lean.phase
            );
        }
        assert!(line.lean.path.floor() + Micros::from_millis(1) > line.base.into());
        assert!(
            line.lean.window > line.fits(),
            "{longer} ms: {before} {}",
            line.lean.window
        );
    }
}

/// P12.
#[test]
fn a_longer_path_that_loses_more_is_a_queue_of_others() {
    let mut line = Line::settled(1_000_000, 50 * MS);
    line.base = 100 * MS;
    line.loss = Some(8);
    line.rounds(10);
    assert!(line.lean.phase.follows_losses(), "{:?}", line.lean.phase);
}

#[test]
fn a_shorter_path_is_seen_soon() {
    let mut line = Line::settled(1_000_000, 50 * MS);
    line.base = 30 * MS;
    line.run(20); // each drain shows a part of it
    assert!(line.lean.window() < 45 * MTU, "{}", line.lean.window());
}

/// P12.
#[test]
fn jitter_of_rounds_does_not_empty_the_line() {
    let mut line = Line::settled(1_000_000, 50 * MS);
    let (mut windows, mut longest, mut drawn) = (0, Duration::ZERO, 1_u32);
    for n in 0..2000 {
        drawn = drawn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        line.base = 50 * MS + (drawn >> 16) % 20 * MS;
        let rtt = line.round();
        windows += line.lean.window() / 1000;
        if n > 100 {
            longest = longest.max(rtt);
        }
    }
    assert!(windows / 2 > line.fits() / 10 * 9, "{windows}");
    assert!(longest < 130 * MS, "{longest:?}");
}

/// P12.
#[test]
fn losses_of_a_window_that_is_too_large_are_its_own() {
    let mut line = Line::settled(1_000_000, 50 * MS);
    line.passes = Some(40); // a policer, say: no queue tells of it
    line.run(10);
    assert!(line.lean.phase == Phase::Yielding);
    let (mut sent, mut lost) = (0, 0);
    let end = line.now + Duration::from_secs(20);
    while line.now < end {
        let count = line.lean.window() / MTU;
        (sent, lost) = (sent + count, lost + count.saturating_sub(40));
        line.round();
    }
    assert!(lost * 50 < sent, "{lost} of {sent}");
    assert!(sent > 10_000, "{sent}"); // of 16,000 that pass
}

/// P12.
#[test]
fn losses_by_chance_are_found_to_be_chance() {
    for loss in [4, 10, 20] {
        let mut line = Line::settled(1_000_000, 50 * MS);
        line.loss = Some(loss);
        line.run(10);
        assert_eq!(line.lean.phase, Phase::Steady, "1 in {loss}");
        let chance = line.lean.trials.chance;
        assert!(
            chance.abs_diff(ALL / loss) < ALL / 50,
            "1 in {loss}: {chance}"
        );
        // What is lost does not arrive, so that more has to be in flight.
        let window = line.lean.window;
        assert!(window > line.fits() / 20 * 19, "1 in {loss}: {window}");
    }
}

/// P12.
#[test]
fn most_losses_are_no_chance() {
    let mut line = Line::settled(1_000_000, 50 * MS);
    line.loss = Some(2);
    line.run(5);
    assert!(line.lean.window < line.fits() / 2, "{}", line.lean.window);
}

/// One of many connections cannot tell by its own window whether losses are chance. P12.
#[test]
fn a_small_window_follows_losses_at_once() {
    let mut line = Line::settled(200_000, 50 * MS);
    assert!(line.lean.window < FEW * MTU);
    line.loss = Some(20);
    line.rounds(20);
    assert!(line.lean.phase == Phase::Yielding);
}

/// A line that loses frames while the window is not used loses them by chance. P12.
#[test]
fn what_an_application_loses_at_its_own_rate_is_not_its_own() {
    let mut line = Line::new(200_000, 50 * MS);
    line.loss = Some(20);
    line.is_limited = false;
    line.rounds(100);
    line.is_limited = true;
    line.rounds(60);
    assert_eq!(line.lean.phase, Phase::Steady);
}

/// P12.
#[test]
fn a_connection_that_was_wrong_about_losses_recovers() {
    let mut line = Line::settled(1_000_000, 50 * MS);
    let now = line.now;
    line.loss = Some(50);
    line.lean.phase = Phase::Yielding;
    line.lean.trials.follow(20, now);
    line.rounds(20);
    assert!(line.lean.window < FEW * MTU, "{}", line.lean.window);
    line.run(60);
    assert_eq!(line.lean.phase, Phase::Steady);
    assert!(
        line.lean.window > line.fits() / 10 * 9,
        "{}",
        line.lean.window
    );
}

/// A connection that comes late sees the queue of others as part of the path, until all drain it. P12.
#[test]
fn a_path_that_was_taken_for_too_long_is_corrected() {
    let mut line = Line::new(1_000_000, 50 * MS);
    line.others = 60_000;
    line.rounds(100);
    assert!(line.lean.path.floor() > (60 * MS).into());
    // All lose a frame, and drain.
    line.lean.phase = Phase::Yielding;
    line.lean.trials.follow(100, line.now);
    line.trouble(Signal::Loss, line.now);
    line.others = 10_000;
    line.rounds(6);
    assert!(
        line.lean.path.floor() < (55 * MS).into(),
        "{:?}",
        line.lean.path.floor()
    );
}

#[test]
fn a_mark_cuts_and_stays() {
    let mut line = Line::settled(1_000_000, 50 * MS);
    let before = line.lean.window;
    line.trouble(Signal::Mark, line.now);
    assert_eq!(line.lean.window, before / 10 * 7);
    line.lean.on_spurious();
    assert_eq!(line.lean.window, before / 10 * 7);
    // Grown by at most a frame a round, until the next one.
    assert_eq!(line.lean.phase, Phase::Yielding);
    line.rounds(10);
    assert!(line.lean.window <= before / 10 * 7 + 10 * MTU);
}

/// A floor that is not the base may be a queue that never became empty, of which others lose as much. P12.
#[test]
fn losses_over_a_floor_far_above_the_base_are_no_chance() {
    let mut line = Line::settled(1_000_000, 50 * MS);
    line.base = 80 * MS;
    line.run(5);
    assert_eq!(line.lean.phase, Phase::Steady);
    line.loss = Some(20);
    line.rounds(12);
    assert_eq!(line.lean.phase, Phase::Yielding);
}

#[test]
fn persistent_loss_begins_anew_unless_it_was_none() {
    let mut line = Line::settled(1_000_000, 50 * MS);
    let before = line.lean.window;
    line.trouble(Signal::Persistent, line.now);
    assert_eq!(
        (line.lean.window, line.lean.phase),
        (10 * MTU, Phase::Start)
    );
    line.lean.on_spurious();
    assert_eq!(line.lean.window, before);
}

/// What was lost in the outage and what arrived before it say nothing of the path. P12.
#[test]
fn after_an_outage_slow_start_is_as_at_first() {
    let mut line = Line::settled(2_000_000, 50 * MS);
    let fits = line.fits();
    for _ in 0..30 {
        line.trouble(Signal::Loss, line.now);
    }
    line.now = line.now + 3000 * MS;
    line.trouble(Signal::Persistent, line.now);
    assert_eq!(line.lean.window, 10 * MTU);
    line.rounds(6);
    assert!(line.lean.window > fits / 10 * 9, "{}", line.lean.window);
}

/// A window is acknowledged, and no round trip is told. Returns when.
fn blind_round(lean: &mut Lean, sent: Instant) -> Instant {
    let (now, window) = (sent + 50 * MS, lean.window());
    lean.on_ack(&Ack {
        now,
        bytes: window,
        frames: window / MTU,
        sent,
        rtt: None,
        smoothed_rtt: 50 * MS,
        in_flight: window,
        is_limited: true,
        bandwidth: u32::MAX,
        step: Duration::ZERO,
    });
    now
}

fn lose(lean: &mut Lean, now: Instant) {
    lean.on_trouble(&Trouble {
        now,
        signal: Signal::Loss,
        bytes: MTU,
        sent: now,
        in_flight: lean.window(),
    });
}

/// A cut is not for ever where no round trip shows the queue. P12.
#[test]
fn without_samples_of_the_round_trip_the_window_follows_losses() {
    let mut lean = Line::settled(1_000_000, 50 * MS).lean;
    let mut now = Instant::ZERO + Duration::from_secs(100);
    let mut windows = Vec::new();
    for n in 0..300 {
        windows.push(lean.window());
        if n % 100 == 50 {
            lose(&mut lean, now);
        }
        now = blind_round(&mut lean, now);
    }
    // A frame a round, and seven tenths at a loss.
    assert_eq!(windows[49] - windows[40], 9 * MTU);
    assert!(windows[52] < windows[49] / 10 * 8);
    assert_eq!(windows[149] - windows[60], 89 * MTU);
}

/// It would end with a round trip. P12.
#[test]
fn without_samples_of_the_round_trip_there_is_no_drain() {
    let mut lean = Line::settled(1_000_000, 50 * MS).lean;
    let mut now = Instant::ZERO + Duration::from_secs(100);
    lean.phase = Phase::Competing;
    for _ in 0..2 {
        now = blind_round(&mut lean, now);
    }
    // One round without a sample is no sign yet.
    lose(&mut lean, now);
    assert_ne!(lean.drains.held(), 0, "a drain has begun");
    now = blind_round(&mut lean, now);
    assert_eq!(lean.drains.held(), 0);
    now = now + Duration::from_secs(1);
    lose(&mut lean, now);
    assert_eq!(lean.drains.held(), 0);
}

/// Otherwise a remote host that acknowledges seldom would be sent ever more for eight rounds. P12.
#[test]
fn one_round_trip_in_a_round_is_enough_to_end_slow_start() {
    let mut lean = Lean::new(MTU);
    let mut now = Instant::ZERO;
    for n in 0..10 {
        let (sent, window) = (now, lean.window());
        let rtt = 40 * MS + if n < 3 { Duration::ZERO } else { 20 * MS };
        now = sent + 200 * MS;
        lean.on_ack(&Ack {
            now,
            bytes: window,
            frames: window / MTU,
            sent,
            rtt: Some(rtt),
            smoothed_rtt: rtt,
            in_flight: window,
            is_limited: true,
            bandwidth: u32::MAX,
            step: Duration::ZERO,
        });
    }
    assert_ne!(lean.phase, Phase::Start);
    assert!(lean.window() < 200 * MTU, "{}", lean.window());
}

/// P12.
#[test]
fn jitter_in_which_frames_overtake_each_other_does_not_empty_the_line() {
    // Samples say 20 ms, but a frame takes 60: the window has to be that of 60 ms.
    let mut line = Line::new(1_000_000, 20 * MS);
    line.late = 40 * MS;
    line.rounds(200);
    let window = line.lean.window;
    assert!((50 * MTU..=70 * MTU).contains(&window), "{window}");
}

#[test]
fn a_burst_that_is_lost_is_no_spread() {
    let mut line = Line::settled(1_000_000, 20 * MS);
    line.late = 40 * MS;
    line.loss = Some(4);
    line.rounds(9);
    assert_eq!(line.lean.path.spread.min(), Micros::ZERO);
}

#[test]
fn a_drain_goes_on_while_a_queue_that_was_never_that_short_becomes_shorter() {
    let mut path = Path::default();
    path.mtu = MTU;
    path.set_floor(Micros::from_millis(100));
    for _ in 0..8 {
        path.on_round(Micros::from_millis(100));
    }
    let mut drains = Drains::default();
    drains.begin(8 * MTU, 16 * MTU, &path, Instant::ZERO);
    let longer = |drain: Drain, ms| drain.longer(Micros::from_millis(ms), 16 * MTU, &path);
    let drain = drains.current.expect("it has begun");
    assert!(longer(drain, 98).is_none(), "it falls no further");
    // By a sixteenth and more each time, four times at most, and more is held back each time.
    let mut next = longer(drain, 90);
    for (ms, held) in [(80, 12), (70, 14), (60, 15)] {
        let drain = next.expect("it goes on").on_first_round();
        drains.current = Some(drain);
        assert_eq!(drains.held() / MTU, held, "before {ms} ms");
        next = longer(drain, ms);
    }
    assert!(longer(next.expect("a fourth time"), 50).is_none());
}
