//! Situations of the congestion laboratory: frames that overtake each other, and states that are too many for
//! the link.

use porous_sim::lab::{Latency, Report, Scenario};

fn run(text: &str) -> Report {
    let scenario: Scenario = text.parse().unwrap_or_else(|error| panic!("{error}"));
    scenario.run()
}

/// A number that the run has.
fn told(number: Option<f64>) -> f64 {
    number.expect("something was counted")
}

/// P5, T5, T12: at 5, 10, 20 and 40 frames a millisecond up to 50, 100, 200 and 400 frames overtake another
/// one.
#[test]
fn frames_that_others_overtake_are_not_lost_at_any_speed() {
    for (rate, end) in [(50_000, 4), (100_000, 3), (200_000, 3), (400_000, 3)] {
        let text = format!("rate={rate} jit=5 jre=1 flow=cubic from=1.5 end={end}");
        let report = run(&text);
        let falsely = told(report.flows[0].falsely_lost_percent);
        assert!(falsely < 0.1, "{falsely} %: porous sim road \"{text}\"");
        let goodput = told(report.goodput_percent);
        assert!(goodput > 60.0, "{goodput} %: porous sim road \"{text}\"");
    }
}

/// P5, P6: on a short path round trips vary between nothing and twice their mean.
#[test]
fn a_path_with_more_jitter_than_delay_gets_little_twice() {
    let text = "rate=20000 rtt=60 jit=30 jre=1 flow=cubic from=5 end=10";
    let report = run(text);
    let falsely = told(report.flows[0].falsely_lost_percent);
    assert!(falsely < 0.1, "{falsely} %: porous sim road \"{text}\"");
    let (used, goodput) = (told(report.used_percent), told(report.goodput_percent));
    assert!(
        goodput > 0.9 * used,
        "{goodput} % of {used} %: porous sim road \"{text}\""
    );
}

/// P5: what is lost where frames overtake each other is told from what is late.
#[test]
fn losses_among_frames_that_overtake_each_other_are_found() {
    let text = "rate=20000 jit=5 jre=1 loss=1 aloss=2 from=2 end=12";
    let flow = &run(text).flows[0];
    let (lost, falsely) = (told(flow.lost_percent), told(flow.falsely_lost_percent));
    assert!(falsely < 0.1, "{falsely} %: porous sim road \"{text}\"");
    assert!(
        (0.7..1.3).contains(&lost),
        "{lost} %: porous sim road \"{text}\""
    );
}

/// T8: of unreliable packets, offered at 1.2 times what the link takes, those leave that are of use.
#[test]
fn what_leaves_is_fresh_where_more_is_offered_than_the_link_takes() {
    for controller in ["default", "cubic"] {
        let text = format!("rate=10000 rtt=50 flow={controller}+st1500x1000 from=5 end=15");
        let report = run(&text);
        let latency = report.flows[0].latency.as_ref();
        let p50 = latency.map_or(f64::MAX, |latency| latency.p50);
        assert!(p50 < 150.0, "{p50} ms: porous sim road \"{text}\"");
        // What is dropped is not missing on the link.
        let used = told(report.used_percent);
        assert!(used > 99.0, "{used} %: porous sim road \"{text}\"");
    }
}

/// P12: losses by chance stay chance where round trips are unsteady, by jitter or by hosts that are called in
/// steps. The median of five seeds, as one of them may follow losses for some seconds.
#[test]
fn losses_by_chance_beside_jitter_and_steps_do_no_harm() {
    for more in [
        "loss=1 jit=5",
        "loss=2 jit=5",
        "loss=2 ticks=60",
        "loss=5 jit=5 ticks=60",
    ] {
        let mut goodputs = [1, 2, 3, 4, 5].map(|seed| {
            let text = format!("rtt=60 q=time:100 {more} end=30 seed={seed}");
            told(run(&text).goodput_percent)
        });
        goodputs.sort_by(f64::total_cmp);
        assert!(goodputs[2] > 85.0, "{more}: {goodputs:?}");
    }
}

/// P12: of 32 players who play and download none waits much longer than one who plays alone.
#[test]
fn players_who_download_leave_each_other_their_states() {
    let text = "rate=20000 flow=default*32+game from=10 end=25";
    let report = run(text);
    let p99 = |latency: &Latency| latency.p99;
    let longest = report
        .flows
        .iter()
        .filter_map(|flow| flow.latency.as_ref().map(p99));
    let longest = longest.fold(0.0, f64::max);
    assert!(longest < 100.0, "{longest} ms: porous sim road \"{text}\"");
}

/// P12: a queue that is left from a rate that has fallen to a fifth is gone after two seconds.
#[test]
fn a_rate_that_falls_leaves_no_queue() {
    let text = "q=400 at=20:rate:2000 from=22 end=30";
    let queue = run(text).queue.mean_ms;
    assert!(queue < 30.0, "{queue} ms: porous sim road \"{text}\"");
}
