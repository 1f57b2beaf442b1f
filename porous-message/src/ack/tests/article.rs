//! The algorithm of the article step by step, in sets of numbers that never wrap, beside ours.

use alloc::collections::BTreeSet;

use super::*;

/// One side of a connection, as simply as it can be written.
struct Plain {
    size: u64,
    next: u64,
    /// Packets sent that are remembered; true once they are acknowledged.
    sent: BTreeMap<u64, bool>,
    received: BTreeSet<u64>,
}

/// A header in numbers that never wrap.
#[derive(Clone)]
struct Wide {
    sequence: u64,
    newest: Option<u64>,
    acks: Vec<u64>,
}

impl Plain {
    fn send(&mut self) -> Wide {
        let sequence = self.next;
        self.next += 1;
        self.sent.insert(sequence, false);
        if self.sent.len() as u64 > self.size {
            self.sent.pop_first();
        }
        let newest = self.received.last().copied();
        let told = |number: &&u64| newest.is_some_and(|newest| **number + 32 > newest);
        let acks = self.received.iter().rev().take_while(told).copied();
        Wide {
            sequence,
            newest,
            acks: acks.collect(),
        }
    }

    fn is_stale(&self, sequence: u64) -> bool {
        let newest = self.received.last();
        newest.is_some_and(|newest| sequence + self.size <= *newest)
    }

    /// Returns the packets acknowledged by this header for the first time, the oldest first.
    fn receive(&mut self, header: &Wide) -> Vec<u64> {
        self.received.insert(header.sequence);
        let mut acked = Vec::new();
        for number in header.acks.iter().rev() {
            if let Some(is_acked) = self.sent.get_mut(number).filter(|is_acked| !**is_acked) {
                *is_acked = true;
                acked.push(*number);
            }
        }
        acked
    }
}

/// The simple algorithm and ours, on the same side of the network.
struct Both {
    ours: AckSystem,
    plain: Plain,
    counts: [u64; 3],
}

impl Both {
    fn new(size: usize) -> Self {
        Self {
            ours: AckSystem::new(size),
            plain: Plain {
                size: size as u64,
                next: 0,
                sent: BTreeMap::new(),
                received: BTreeSet::new(),
            },
            counts: [0; 3],
        }
    }

    fn send(&mut self) -> (AckHeader, Wide) {
        let (header, wide) = (self.ours.packet_sent(Instant::ZERO), self.plain.send());
        let bits = wide.acks.iter().fold(0, |bits, number| {
            bits | 1_u32 << (wide.newest.unwrap() - number)
        });
        let expected = AckHeader {
            sequence: wrapped(wide.sequence),
            ack: wide.newest.map_or(0, wrapped),
            ack_bits: bits,
        };
        assert_eq!(header, expected, "{}", seed());
        (header, wide)
    }

    fn receive(&mut self, (header, wide): &(AckHeader, Wide)) {
        let mut acked = Vec::new();
        let on_acked = |sequence| acked.push(sequence);
        let freshness = self.ours.packet_received(Instant::ZERO, header, on_acked);
        self.counts[freshness as usize] += 1;
        if self.plain.is_stale(wide.sequence) {
            assert_eq!(
                (freshness, acked.len()),
                (Freshness::Stale, 0),
                "{}",
                seed()
            );
            return;
        }
        let expected = match self.plain.received.contains(&wide.sequence) {
            true => Freshness::Duplicate,
            false => Freshness::New,
        };
        let wide_acked: Vec<u16> = self.plain.receive(wide).into_iter().map(wrapped).collect();
        assert_eq!((freshness, acked), (expected, wide_acked), "{}", seed());
    }
}

/// Returns how many packets were new, known and too old, in this order.
fn compare(size: usize, way: Way, packets: u64) -> [u64; 3] {
    let mut sides = [Both::new(size), Both::new(size)];
    let mut lines = [Line::new(way, "there"), Line::new(way, "back")];
    for step in 0..packets {
        for side in 0..2 {
            lines[side].send(step, &sides[side].send());
            for packet in lines[1 - side].receive(step) {
                sides[side].receive(&packet);
            }
        }
        // Of the packets received long ago, only the newest numbers matter.
        for side in &mut sides {
            while side.plain.received.len() > 2 * size {
                side.plain.received.pop_first();
            }
        }
    }
    let [mut counts, others] = sides.map(|side| side.counts);
    counts.iter_mut().zip(others).for_each(|(a, b)| *a += b);
    counts
}

#[test]
fn all_headers_and_acks_are_those_of_the_plain_algorithm() {
    let ways = [
        [0, 0, 1],
        [5, 1, 8],
        [30, 10, 60],
        [60, 30, 400],
        [95, 50, 30],
    ];
    for [loss, copies, steps] in ways {
        let way = Way {
            loss,
            copies,
            steps,
        };
        let [new, known, stale] = compare(1024, way, 220_000);
        assert!(new > 20_000, "{}", seed());
        assert_eq!(known > 0, copies > 0, "{}", seed());
        assert_eq!(stale, 0, "{}", seed());
    }
}

#[test]
fn packets_that_are_overtaken_by_all_that_is_remembered_are_left_out() {
    let way = Way {
        loss: 10,
        copies: 10,
        steps: 100,
    };
    let counts = compare(32, way, 220_000);
    assert!(counts.iter().all(|count| *count > 1000), "{counts:?}");
}
