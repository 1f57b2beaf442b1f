//! The models against known results on TCP.

use alloc::boxed::Box;
use core::time::Duration;

use super::*;
use crate::lab::bottleneck::{Bottleneck, Line};
use crate::lab::stage::{Change, Entry, Stage};
use crate::lab::waiting::Order;
use crate::{LinkConfig, Queue, Seed, Service};

pub(super) const RTT: Duration = Duration::from_millis(50);

pub(super) fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A flow with this loss behind the bottleneck, in percent.
pub(super) fn entry(flow: impl Ends + 'static, loss: f64) -> Entry {
    let line = LinkConfig::new().delay(RTT / 2);
    Entry {
        name: String::new(),
        ends: Box::new(flow),
        there: line.loss(loss),
        back: line,
        start: Duration::ZERO,
        stop: Duration::MAX,
        service: [Service::Event; 2],
    }
}

/// A flow behind this bottleneck.
pub(super) fn stage(tcp: Tcp, shared: Bottleneck, loss: f64) -> Stage {
    let mut stage = Stage::new(shared, None, Seed::new(5));
    stage.add(entry(TcpFlow::new(tcp, Seed::new(6)), loss));
    stage
}

pub(super) fn megabits(rate: u64, queue: u64) -> Bottleneck {
    Bottleneck::new(
        Line::Rate(rate * 1_000_000),
        Order::Arrival(Queue::Bytes(queue)),
    )
}

fn open() -> Bottleneck {
    Bottleneck::new(Line::Open, Order::Fair)
}

/// Mathis, Semke, Mahdavi and Ott, "The Macroscopic Behavior of the TCP Congestion Avoidance
/// Algorithm", 1997: (MSS / RTT) sqrt(3 / 2p).
#[test]
fn random_loss_gives_the_rate_of_the_formula() {
    for (loss, segments) in [(0.25, 24.49), (1.0, 12.25)] {
        let mut stage = stage(Tcp::Reno, open(), loss);
        stage.run_until(s(320));
        let rate = stage.record().goodput(0, [s(20), s(320)]);
        let expected = segments * SEGMENT as f64 / RTT.as_secs_f64();
        let ratio = rate / expected;
        assert!((0.85..1.15).contains(&ratio), "{loss} %: {ratio}");
    }
}

/// RFC 9438 §4.3: never less than Reno.
#[test]
fn cubic_is_as_fast_as_reno_where_windows_are_small() {
    let rate = |tcp| {
        let mut stage = stage(tcp, open(), 1.0);
        stage.run_until(s(120));
        stage.record().goodput(0, [s(20), s(120)])
    };
    let ratio = rate(Tcp::Cubic) / rate(Tcp::Reno);
    assert!((0.9..1.3).contains(&ratio), "{ratio}");
}

/// Half of two BDP is one; seven tenths of 1.5 BDP are more.
#[test]
fn a_queue_of_a_bdp_keeps_the_bottleneck_busy() {
    for (tcp, queue) in [(Tcp::Reno, 66_000), (Tcp::Cubic, 32_000)] {
        let mut stage = stage(tcp, megabits(10, queue), 0.0);
        stage.run_until(s(60));
        let used = stage.record().utilisation(10_000_000, [s(10), s(60)]);
        assert!(used > 99.0, "{tcp:?}: {used}");
    }
}

/// All segments arrive in the end, by the timer if there is no other way.
#[test]
fn a_black_hole_is_survived() {
    for tcp in [Tcp::Reno, Tcp::Cubic, Tcp::Bbr] {
        let mut stage = stage(tcp, megabits(10, 62_500), 0.0);
        stage.at(s(10), Change::Down(true));
        stage.at(s(15), Change::Down(false));
        stage.run_until(s(30));
        let record = stage.record();
        let hole = record.at(0, s(15)).1.datagrams - record.at(0, s(11)).1.datagrams;
        assert!((1..=8).contains(&hole), "{tcp:?}: {hole} in four seconds");
        let rate = record.goodput(0, [s(20), s(30)]);
        assert!(rate > 1_150_000.0, "{tcp:?}: {rate}");
    }
}

#[test]
fn acknowledgements_are_read_as_they_were_written() {
    let ack = Acknowledgement {
        before: 7,
        echo: 1 << 40,
        blocks: Vec::from([[9, 12], [20, 21]]),
    };
    assert_eq!(Acknowledgement::decode(&ack.encode()), ack);
    assert_eq!(ack.encode().len() + 28, 52 + 16);
}

/// RFC 5681 §4.2, RFC 2018: every second segment, at once for a gap, and the newest range first.
#[test]
fn the_receiver_tells_of_gaps_at_once() {
    let mut receiver = Receiver::default();
    let at = |ms: u64| Instant::from_micros(ms * 1000);
    let mut take = |number, now| {
        receiver.take(at(now), &segment(number, at(0)));
        let ack = receiver.next(at(now));
        ack.map(|ack| Acknowledgement::decode(&ack))
            .map(|ack| (ack.before, ack.blocks))
    };
    assert_eq!(take(0, 10), None);
    assert_eq!(take(1, 11), Some((2, Vec::new())));
    assert_eq!(take(3, 12), Some((2, Vec::from([[3, 4]]))));
    assert_eq!(take(5, 13), Some((2, Vec::from([[5, 6], [3, 4]]))));
    assert_eq!(take(4, 14), Some((2, Vec::from([[3, 6]]))));
    assert_eq!(take(2, 15), Some((6, Vec::new())));
    assert_eq!(take(6, 16), None);
    assert_eq!(receiver.deadline(), Some(at(56)));
}
