//! Exact numbers: redundancy, round trip, loss.

use core::time::Duration;

use super::*;

const MS: Duration = Duration::from_millis(1);

/// True if `b` has an ack of its packet after `losses` packets of `a` were lost and one came.
fn acked_after_losses(losses: usize, size: usize) -> bool {
    let (mut a, mut b) = (AckSystem::new(size), AckSystem::new(size));
    let now = Instant::ZERO;
    let wanted = b.packet_sent(now);
    assert_eq!(a.packet_received(now, &wanted, |_| {}), Freshness::New);
    // Before each packet that `a` sends, it receives another one of `b`.
    let mut last = a.packet_sent(now);
    for _ in 0..losses {
        let another = b.packet_sent(now);
        assert_eq!(a.packet_received(now, &another, |_| {}), Freshness::New);
        last = a.packet_sent(now);
    }
    let mut is_acked = false;
    let on_acked = |sequence| is_acked |= sequence == wanted.sequence;
    assert_eq!(b.packet_received(now, &last, on_acked), Freshness::New);
    is_acked
}

#[test]
fn an_ack_survives_the_loss_of_31_packets_in_a_row_but_not_of_32() {
    // Even the fewest packets that are remembered suffice for all acks of a header.
    for size in [0, 1024] {
        assert!((0..=31).all(|losses| acked_after_losses(losses, size)));
        assert!(!acked_after_losses(32, size));
    }
}

#[test]
fn nothing_is_acknowledged_before_anything_has_come() {
    let (mut a, mut b) = (AckSystem::new(32), AckSystem::new(32));
    let first = b.packet_sent(Instant::ZERO);
    assert_eq!((first.ack, first.ack_bits), (0, 0));
    let _ = a.packet_sent(Instant::ZERO);
    let mut acked = 0;
    assert_eq!(
        a.packet_received(Instant::ZERO, &first, |_| acked += 1),
        Freshness::New
    );
    assert_eq!((acked, a.stats().unknown_acks), (0, 0));
    // Now packet 0 of the other side has come, and its ack is told from none.
    let header = a.packet_sent(Instant::ZERO);
    assert_eq!((header.ack, header.ack_bits), (0, 1));
}

#[test]
fn each_packet_gives_one_round_trip_however_often_it_is_acknowledged() {
    let (mut a, mut b) = (AckSystem::new(32), AckSystem::new(32));
    let mut now = Instant::ZERO;
    let mut seen = Vec::new();
    // There and back in 100 ms, later in 200 ms; and each time the packet before is acknowledged again.
    for round_trip in [100, 100, 200, 200, 200] {
        let packet = a.packet_sent(now);
        assert_eq!(b.packet_received(now, &packet, |_| {}), Freshness::New);
        let answer = b.packet_sent(now);
        now = now + round_trip * MS;
        assert_eq!(a.packet_received(now, &answer, |_| {}), Freshness::New);
        seen.push(a.rtt().unwrap().as_micros());
    }
    assert_eq!(seen, [100_000, 100_000, 110_000, 119_000, 127_100]);
}

#[test]
fn packets_that_may_still_be_acknowledged_are_not_lost() {
    let mut acks = AckSystem::new(32);
    let _ = acks.packet_sent(Instant::ZERO);
    assert_eq!(acks.loss(Instant::ZERO + 1000 * MS), None);
    assert_eq!(acks.loss(Instant::ZERO + 1001 * MS), Some(10_000));
    let header = AckHeader {
        sequence: 0,
        ack: 0,
        ack_bits: 1,
    };
    // The packet came after all: a round trip of 400 ms, so packets are given twice that time.
    let later = Instant::ZERO + 400 * MS;
    assert_eq!(acks.packet_received(later, &header, |_| {}), Freshness::New);
    let _ = acks.packet_sent(later);
    assert_eq!(acks.loss(later), None);
    assert_eq!(acks.loss(Instant::ZERO + 801 * MS), Some(0));
    assert_eq!(acks.loss(later + 800 * MS), Some(0));
    assert_eq!(acks.loss(later + 801 * MS), Some(5000));
}

#[test]
fn without_round_trips_to_speak_of_a_packet_has_250_ms() {
    let mut acks = AckSystem::new(32);
    let _ = acks.packet_sent(Instant::ZERO);
    let header = AckHeader {
        ack_bits: 1,
        ..AckHeader::default()
    };
    let _ = acks.packet_received(Instant::ZERO + 10 * MS, &header, |_| {});
    assert_eq!(acks.loss(Instant::ZERO + 250 * MS), None);
    assert_eq!(acks.loss(Instant::ZERO + 251 * MS), Some(0));
}

#[test]
fn loss_is_that_of_the_last_256_packets() {
    let mut acks = AckSystem::new(1024);
    let later = Instant::ZERO + 2000 * MS;
    let mut number = 0;
    let mut send = |is_acked: bool| {
        let ack = acks.packet_sent(Instant::ZERO).sequence;
        let header = AckHeader {
            sequence: number,
            ack,
            ack_bits: is_acked.into(),
        };
        number += 1;
        let _ = acks.packet_received(Instant::ZERO, &header, |_| {});
        acks.loss(later).unwrap()
    };
    for _ in 0..300 {
        assert_eq!(send(false), 10_000);
    }
    for acked in 1..=256 {
        assert_eq!(u32::from(send(true)), (256 - acked) * 10_000 / 256);
    }
    for lost in 1..=256 {
        assert_eq!(u32::from(send(false)), lost * 10_000 / 256);
    }
}

#[test]
fn track_is_lost_half_a_turn_after_the_newest_packet_that_was_acknowledged() {
    let mut acks = AckSystem::new(1024);
    let now = Instant::ZERO;
    for _ in 0..100 {
        let _ = acks.packet_sent(now);
    }
    // Number 50 first, then 20.
    for (sequence, ack) in [(0, 50), (1, 20)] {
        let header = AckHeader {
            sequence,
            ack,
            ack_bits: 1,
        };
        let _ = acks.packet_received(now, &header, |_| {});
    }
    assert_eq!(acks.stats().acked, 2);
    for _ in 100..=50 + 32_768 {
        assert!(!acks.has_lost_track());
        let _ = acks.packet_sent(now);
    }
    assert!(acks.has_lost_track());
    // From here on no ack of any packet is believed.
    let header = AckHeader {
        sequence: 2,
        ack: 50 + 32_768,
        ack_bits: 0b11,
    };
    let _ = acks.packet_received(now, &header, |_| {});
    let stats = acks.stats();
    assert_eq!((stats.received, stats.acked, stats.unknown_acks), (3, 2, 2));
}

/// The mean of the estimates of loss at 64 packets a second each way, with a delay of 48 ms; the true
/// share; and the largest error of one estimate. In hundredths of a percent.
fn loss_estimate(percent: u64) -> [u64; 3] {
    let way = Way {
        loss: percent,
        copies: 0,
        steps: 1,
    };
    let mut sides = [AckSystem::new(1024), AckSystem::new(1024)];
    let mut lines = [Line::new(way, "there"), Line::new(way, "back")];
    let (mut estimates, mut furthest) = (Vec::new(), 0);
    for step in 0..100_000 {
        let now = Instant::from_micros(step * 15_625);
        for side in 0..2 {
            let packet = sides[side].packet_sent(now);
            // The packet is on its way for three steps.
            lines[side].send(step + 2, &packet);
            for header in lines[1 - side].receive(step) {
                assert_eq!(
                    sides[side].packet_received(now, &header, |_| {}),
                    Freshness::New
                );
            }
        }
        if step > 1000 && step % 256 == 0 {
            let estimate = sides[0].loss(now).unwrap().into();
            furthest = furthest.max((percent * 100).abs_diff(estimate));
            estimates.push(estimate);
        }
    }
    let all = sides[0].stats().sent;
    let mean = estimates.iter().sum::<u64>() / estimates.len() as u64;
    [mean, (all - lines[0].sent) * 10_000 / all, furthest]
}

#[test]
fn the_estimate_of_loss_is_near_the_truth() {
    assert_eq!(loss_estimate(0), [0, 0, 0]);
    for percent in [5, 25] {
        let [mean, truth, furthest] = loss_estimate(percent);
        assert!(mean.abs_diff(truth) < 30, "{mean} {truth} {}", seed());
        // 256 throws of a coin: an estimate may be off by four times their spread.
        let spread = (percent * (100 - percent) * 10_000 / 256).isqrt();
        assert!(furthest < 4 * spread + 30, "{furthest} {spread} {}", seed());
    }
}

/// Each packet is acknowledged or lost, whatever the order of acks, and for three turns.
#[test]
fn every_packet_has_a_fate_and_each_once() {
    let mut acks = AckSystem::new(64);
    let mut fates = Vec::new();
    for number in 0..3 * TURN {
        let now = Instant::ZERO + 40 * MS * u32::try_from(number).unwrap();
        let ack = acks.packet_sent(now).sequence;
        fates.push(0);
        // Two in five packets are acknowledged, eight packets later.
        let header = AckHeader {
            sequence: ack,
            ack: ack.wrapping_sub(8),
            ack_bits: u32::from(number >= 8 && (number - 8) % 5 < 2),
        };
        let newest = number;
        let of = |sequence: u16| newest - u64::from(wrapped(newest).wrapping_sub(sequence));
        let mut note = |sequence| fates[usize::try_from(of(sequence)).unwrap()] += 1;
        assert_eq!(
            acks.packet_received(now, &header, &mut note),
            Freshness::New
        );
        acks.packets_lost(now, &mut note);
    }
    // A second is 25 packets.
    let known = fates.len() - 26;
    assert!(fates[..known].iter().all(|fates| *fates == 1));
    let stats = acks.stats();
    assert_eq!(
        stats.acked + stats.lost,
        3 * TURN - fates[known..].iter().filter(|fates| **fates == 0).count() as u64
    );
}

/// An ack of a packet that is no longer remembered is not told.
#[test]
fn packets_that_are_forgotten_are_lost_at_once() {
    let mut acks = AckSystem::new(32);
    for _ in 0..100 {
        let _ = acks.packet_sent(Instant::ZERO);
    }
    let mut lost = Vec::new();
    acks.packets_lost(Instant::ZERO, |sequence| lost.push(sequence));
    assert_eq!(lost, (0..68).collect::<Vec<u16>>());
}
