//! BBR on paths whose rate and round trip are known.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::mem::discriminant;

use super::super::receiver::Receiver;
use super::super::sender::Sender;
use super::super::tests::{entry, megabits, s, stage};
use super::super::{Tcp, TcpFlow};
use super::*;
use crate::lab::record::jain;
use crate::lab::stage::{Change, Stage};

const RATE: u64 = 10_000_000;

/// The product of 10 Mbit/s and 50 ms, in bytes.
const BDP: u64 = 62_500;

/// A phase, when it began, and the pace and the window with which it ended.
#[derive(Clone, Copy, Debug)]
struct Passage {
    phase: Phase,
    began: f64,
    pace: f64,
    window: f64,
    /// True if a sample was marked as held back.
    held_back: bool,
}

/// BBR, and a list of its phases.
#[derive(Debug)]
struct Watched {
    bbr: Bbr,
    passages: Rc<RefCell<Vec<Passage>>>,
}

impl Watched {
    fn note(&self, now: f64, sample: Option<&Sample>) {
        let mut passages = self.passages.borrow_mut();
        let phase = self.bbr.phase;
        let last = passages.last().copied();
        let same = last.filter(|last| discriminant(&last.phase) == discriminant(&phase));
        if same.is_some() {
            passages.pop();
        }
        passages.push(Passage {
            phase,
            began: same.map_or(now, |same| same.began),
            pace: self.bbr.pace,
            window: self.bbr.window,
            held_back: same.is_some_and(|same| same.held_back)
                || sample.is_some_and(|sample| sample.newest.held_back),
        });
    }
}

impl Control for Watched {
    fn window(&self) -> f64 {
        self.bbr.window()
    }

    fn pace(&self) -> f64 {
        self.bbr.pace()
    }

    fn is_holding_back(&self) -> bool {
        self.bbr.is_holding_back()
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.bbr.on_ack(ack);
        self.note(ack.at.now, ack.sample.as_ref());
    }

    fn on_lost(&mut self, at: &Moment, sent: &Sent) {
        self.bbr.on_lost(at, sent);
        self.note(at.now, None);
    }

    fn on_recovery(&mut self) {
        self.bbr.on_recovery();
    }

    fn on_timeout(&mut self, first: bool) {
        self.bbr.on_timeout(first);
    }

    fn on_recovered(&mut self) {
        self.bbr.on_recovered();
    }
}

/// The phases of a flow alone on 10 Mbit/s.
fn passages(seconds: u64) -> Vec<Passage> {
    let passages = Rc::new(RefCell::new(Vec::new()));
    let control = Watched {
        bbr: Bbr::new(Seed::new(6)),
        passages: Rc::clone(&passages),
    };
    let mut stage = Stage::new(megabits(10, 4 * BDP), None, Seed::new(5));
    let flow = TcpFlow {
        sender: Sender::new(Box::new(control)),
        receiver: Receiver::default(),
    };
    stage.add(entry(flow, 0.0));
    stage.run_until(s(seconds));
    let passages = passages.borrow();
    passages.clone()
}

/// The goodput of a flow to the rate of the bottleneck.
fn used(stage: &Stage, flow: usize, [from, to]: [u64; 2]) -> f64 {
    let rate = stage.record().goodput(flow, [s(from), s(to)]);
    8.0 * rate / RATE as f64
}

/// Two flows on 10 Mbit/s with a queue of one BDP.
fn pair(tcp: [Tcp; 2]) -> [f64; 2] {
    let mut stage = Stage::new(megabits(10, BDP), None, Seed::new(5));
    for (index, tcp) in (0..).zip(tcp) {
        stage.add(entry(TcpFlow::new(tcp, Seed::new(index)), 0.0));
    }
    stage.run_until(s(120));
    [0, 1].map(|flow| used(&stage, flow, [20, 120]))
}

fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Startup => "startup",
        Phase::Drain => "drain",
        Phase::Down => "down",
        Phase::Cruise => "cruise",
        Phase::Refill => "refill",
        Phase::Up => "up",
        Phase::ProbeRtt { .. } => "probe rtt",
    }
}

#[test]
fn the_phases_come_in_their_order() {
    let passages = passages(40);
    let names: Vec<&str> = passages.iter().map(|passage| name(passage.phase)).collect();
    // The queue is empty after "drain", so that "down" begins and ends with one acknowledgement.
    let first = [
        "startup", "drain", "cruise", "refill", "up", "down", "cruise",
    ];
    assert_eq!(names[..first.len()], first);
    for next in names[first.len() - 1..].windows(2) {
        let expected: &[&str] = match next[0] {
            "cruise" => &["refill", "probe rtt"],
            "refill" => &["up", "probe rtt"],
            "up" => &["down", "probe rtt"],
            "down" => &["cruise", "refill", "probe rtt"],
            "probe rtt" => &["cruise"],
            other => panic!("{other} again"),
        };
        assert!(expected.contains(&next[1]), "{next:?}");
    }
}

#[test]
fn each_phase_has_its_pace() {
    // In segments of 1500 bytes a second, of which a hundredth is not used.
    let bandwidth = 0.99 * RATE as f64 / 8.0 / 1500.0;
    let passages = passages(40);
    for passage in &passages[1..] {
        let gain = match name(passage.phase) {
            "drain" => 0.5,
            "down" => 0.9,
            "up" => 1.25,
            _ => 1.0,
        };
        let ratio = passage.pace / (gain * bandwidth);
        assert!((0.99..1.01).contains(&ratio), "{passage:?}");
    }
}

/// "ProbeRTT": five seconds apart, for 200 ms, with half a BDP, which is 42.7 segments.
#[test]
fn the_flight_is_small_for_a_moment_every_few_seconds() {
    let passages = passages(40);
    let probes = passages
        .windows(2)
        .filter(|pair| name(pair[0].phase) == "probe rtt");
    let mut began = Vec::new();
    for pair in probes {
        let lasted = pair[1].began - pair[0].began;
        assert!((0.2..0.35).contains(&lasted), "{pair:?}");
        assert!((20.0..23.0).contains(&pair[0].window), "{pair:?}");
        began.push(pair[0].began);
    }
    assert!(began.len() >= 5, "{began:?}");
    for pair in began.windows(2) {
        assert!((5.0..8.0).contains(&(pair[1] - pair[0])), "{began:?}");
    }
}

/// Or the bandwidth would be forgotten for a flight that was small on purpose.
#[test]
fn samples_of_the_small_flight_are_marked() {
    let passages = passages(40);
    for pair in passages.windows(2) {
        let is_small = pair.iter().any(|of| name(of.phase) == "probe rtt");
        assert_eq!(pair[1].held_back, is_small, "{pair:?}");
    }
}

#[test]
fn alone_it_uses_the_path_and_keeps_the_queue_short() {
    for queue in [BDP, 4 * BDP] {
        let mut stage = stage(Tcp::Bbr, megabits(10, queue), 0.0);
        stage.run_until(s(60));
        let used = used(&stage, 0, [10, 60]);
        assert!(used >= 0.9, "{queue}: {used}");
        let waits = stage.record().mean_queue([s(10), s(60)]);
        assert!(waits < 15.0, "{queue}: {waits} ms");
    }
}

#[test]
fn segments_are_spaced() {
    let mut stage = stage(Tcp::Bbr, megabits(10, BDP), 0.0);
    stage.run_until(s(1));
    stage.forget_bursts();
    stage.run_until(s(20));
    assert_eq!(stage.largest_burst(0), 1472);
}

/// A BDP is 42 segments here, so that one lost segment of a round trip is more than two percent: at 1 % each
/// second round trip of a probe loses too much, and the long-term bound stays near the BDP, less headroom.
/// While the flow cruises, a round trip with a loss also costs it a hundredth of its rate ("Design
/// Considerations for Choosing Constant Parameters").
#[test]
fn random_loss_costs_it_less_than_cubic() {
    for (loss, least, times) in [(0.5, 0.78, 1.7), (1.0, 0.62, 2.1)] {
        let [bbr, cubic] = [Tcp::Bbr, Tcp::Cubic].map(|tcp| {
            let all = (0..8).map(|seed| {
                let mut stage = Stage::new(megabits(10, BDP), None, Seed::new(seed));
                stage.add(entry(TcpFlow::new(tcp, Seed::new(seed)), loss));
                stage.run_until(s(60));
                used(&stage, 0, [10, 60])
            });
            all.sum::<f64>() / 8.0
        });
        assert!(bbr >= least, "{loss} %: {bbr}");
        assert!(bbr >= times * cubic, "{loss} %: {bbr} and {cubic}");
    }
}

#[test]
fn two_flows_share() {
    let shares = pair([Tcp::Bbr; 2]);
    assert!(jain(&shares) >= Some(0.8), "{shares:?}");
    assert!(shares[0] + shares[1] >= 0.9, "{shares:?}");
}

#[test]
fn beside_cubic_neither_starves() {
    let [bbr, cubic] = pair([Tcp::Bbr, Tcp::Cubic]);
    let share = bbr / (bbr + cubic);
    assert!((0.1..0.9).contains(&share), "{share}");
}

/// Losses tell of the lower rate, and after two cycles the bandwidth is forgotten. (In a queue of four BDP
/// nothing is lost at first, and the cycles, which take five times as long, are cut off by `ProbeRTT`.)
#[test]
fn a_rate_that_falls_is_noticed() {
    let mut stage = stage(Tcp::Bbr, megabits(10, BDP), 0.0);
    stage.at(s(20), Change::Rate(2_000_000));
    stage.run_until(s(60));
    let record = stage.record();
    let waits = record.mean_queue([s(30), s(60)]);
    assert!(waits < 40.0, "{waits} ms");
    let used = record.utilisation(2_000_000, [s(30), s(60)]);
    assert!(used > 90.0, "{used} %");
}
