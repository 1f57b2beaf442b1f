//! Headers that no honest side would send.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Send(u16),
    Header(AckHeader),
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let number = prop_oneof![0_u16..200, any::<u16>()];
    let header = (number.clone(), number, any::<u32>()).prop_map(|(sequence, ack, ack_bits)| {
        Step::Header(AckHeader {
            sequence,
            ack,
            ack_bits,
        })
    });
    let step = prop_oneof![(0_u16..100).prop_map(Step::Send), header];
    let time = prop_oneof![0_u64..10_000_000, any::<u64>()];
    vec((time, step), 0..60)
}

proptest! {
    #[test]
    fn whatever_a_header_says_only_what_was_sent_is_acknowledged_and_once(
        size in 0_usize..300,
        before in 0_u64..100_000,
        steps in steps(),
    ) {
        let mut acks = AckSystem::new(size);
        // Packets of the turn before with and without an ack: both are met.
        for _ in 0..before {
            let _ = acks.packet_sent(Instant::ZERO);
        }
        let mut open: Vec<u16> = (before.saturating_sub(512)..before).map(wrapped).collect();
        for (time, step) in steps {
            let now = Instant::from_micros(time);
            match step {
                Step::Send(packets) => {
                    open.extend((0..packets).map(|_| acks.packet_sent(now).sequence));
                }
                Step::Header(header) => {
                    let checked = acks.check(header.sequence);
                    let mut acked = Vec::new();
                    let freshness = acks.packet_received(now, &header, |sequence| acked.push(sequence));
                    prop_assert_eq!(freshness, checked);
                    prop_assert!(acked.len() <= 32);
                    for sequence in acked {
                        let place = open.iter().position(|sent| *sent == sequence);
                        prop_assert!(place.is_some(), "{} was not sent or was acked", sequence);
                        open.remove(place.unwrap());
                    }
                }
            }
            prop_assert!(acks.loss(now).is_none_or(|loss| loss <= 10_000));
            prop_assert!(acks.rtt().is_none_or(|rtt| rtt.as_secs() <= 1));
        }
    }
}

#[test]
fn acks_of_what_was_never_sent_are_counted_and_nothing_else() {
    let mut acks = AckSystem::new(64);
    for _ in 0..10 {
        let _ = acks.packet_sent(Instant::ZERO);
    }
    let header = AckHeader {
        sequence: 0,
        ack: 20,
        ack_bits: u32::MAX,
    };
    let mut acked = Vec::new();
    let on_acked = |sequence| acked.push(sequence);
    assert_eq!(
        acks.packet_received(Instant::ZERO, &header, on_acked),
        Freshness::New
    );
    assert_eq!(acked, (0..10).collect::<Vec<u16>>());
    assert_eq!(acks.stats().unknown_acks, 22);
}

#[test]
fn a_jump_of_the_other_side_makes_older_packets_stale() {
    let mut acks = AckSystem::new(64);
    let mut receive = |sequence| {
        let header = AckHeader {
            sequence,
            ..AckHeader::default()
        };
        acks.packet_received(Instant::ZERO, &header, |_| {})
    };
    assert_eq!(receive(10), Freshness::New);
    assert_eq!(receive(30_000), Freshness::New);
    assert_eq!(receive(11), Freshness::Stale);
    assert_eq!(receive(29_937), Freshness::New);
    assert_eq!(receive(29_936), Freshness::Stale);
    assert_eq!(receive(30_000), Freshness::Duplicate);
    let stats = acks.stats();
    assert_eq!((stats.received, stats.stale, stats.duplicates), (3, 2, 1));
    let header = acks.packet_sent(Instant::ZERO);
    assert_eq!((header.ack, header.ack_bits), (30_000, 1));
}

/// A copy that comes late may name packets of ours that were sent a turn after those that it means.
#[test]
fn of_a_packet_that_is_not_new_no_ack_is_taken() {
    let mut acks = AckSystem::new(32);
    let mut receive = |sequence| {
        let ack = acks.packet_sent(Instant::ZERO).sequence;
        let header = AckHeader {
            sequence,
            ack,
            ack_bits: 1,
        };
        let mut acked = 0;
        let freshness = acks.packet_received(Instant::ZERO, &header, |_| acked += 1);
        (freshness, acked)
    };
    assert_eq!(receive(100), (Freshness::New, 1));
    assert_eq!(receive(100), (Freshness::Duplicate, 0));
    assert_eq!(receive(68), (Freshness::Stale, 0));
    assert_eq!(receive(69), (Freshness::New, 1));
}
