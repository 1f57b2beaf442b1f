//! What is counted.

use super::*;
use crate::{HostStats, Malformed, ModeCounts};

const CAUSES: [(u8, Ignored); 17] = [
    (1, Ignored::Malformed(Malformed::Truncated)),
    (2, Ignored::UnknownConnection),
    (3, Ignored::WrongAddress),
    (4, Ignored::UnknownNonce),
    (5, Ignored::NotListening),
    (6, Ignored::Unpadded),
    (7, Ignored::Stateless),
    (8, Ignored::TooManyReplies),
    (9, Ignored::Duplicate),
    (10, Ignored::TooOld),
    (11, Ignored::BadAck),
    (12, Ignored::BadMessage),
    (13, Ignored::OverBudget),
    (14, Ignored::WrongState),
    (15, Ignored::TooFarAhead),
    (16, Ignored::TooMuchWork),
    (17, Ignored::Unauthenticated),
];

#[test]
fn every_cause_of_ignoring_a_datagram_has_its_own_counter() {
    let mut stats = HostStats::default();
    for (number, cause) in CAUSES {
        stats.ignored[cause.index()] += u64::from(number) * 10;
    }
    for (number, cause) in CAUSES {
        let count = u64::from(number) * 10;
        assert_eq!(stats.ignored(cause), count, "{cause:?}");
        assert_eq!(stats.ignored_by_number(number), Some(count), "{cause:?}");
    }
    assert_eq!(stats.ignored_by_number(0), None);
    assert_eq!(stats.ignored_by_number(18), None);
    assert_eq!(stats.ignored_total(), 10 * 17 * 18 / 2);
}

/// The numbers are frozen: a new cause gets the next one, and no other changes.
#[test]
fn every_cause_of_ignoring_a_datagram_keeps_its_number() {
    assert_eq!(CAUSES.len(), Ignored::COUNT);
    for (number, cause) in CAUSES {
        assert_eq!(cause.number(), number, "{cause:?}");
    }
    let other = Ignored::Malformed(Malformed::Integrity);
    assert_eq!(other.number(), 1, "all malformed ones have the same");
}

#[test]
fn packets_are_counted_by_mode() {
    let mut counts = ModeCounts::default();
    for (mode, count) in [
        (Mode::Unreliable, 1),
        (Mode::Reliable, 10),
        (Mode::Passive, 100),
        (Mode::Reliable, 1000),
    ] {
        counts.add(mode, count);
    }
    let expected = ModeCounts {
        unreliable: 1,
        reliable: 1010,
        passive: 100,
    };
    assert_eq!((counts, counts.total()), (expected, 1111));
}

#[test]
fn a_host_counts_what_it_sends_and_receives() {
    let (mut host, peer) = example_pair();
    let before = (host.stats(), host.peer(peer).unwrap().stats());
    host.send(peer, ChannelId(0), &b"hello"[..], Mode::Reliable)
        .unwrap();
    let mut buf = [0; 1200];
    let mut bytes = 0;
    while let Some(transmit) = host.poll_transmit(Instant::ZERO, &mut buf) {
        bytes += transmit.datagram.len() as u64;
    }
    assert!(bytes > 5);
    let after = (host.stats(), host.peer(peer).unwrap().stats());
    assert_eq!(after.0.datagrams_sent, before.0.datagrams_sent + 1);
    assert_eq!(after.0.bytes_sent, before.0.bytes_sent + bytes);
    assert_eq!(after.1.datagrams_sent, before.1.datagrams_sent + 1);
    assert_eq!(after.1.bytes_sent, before.1.bytes_sent + bytes);
    assert_eq!(u64::from(after.1.flight), bytes);
    assert_eq!(
        (after.1.packets_sent.reliable, after.1.queued_bytes),
        (1, 69)
    );
    assert_eq!(host.peer(peer).unwrap().rtt(), after.1.rtt);
    host.handle_datagram(Instant::ZERO, 9, Ecn::NotEct, b"garbage");
    let (stats, ignored) = (host.stats(), before.0.ignored_total());
    assert_eq!(stats.datagrams_received, before.0.datagrams_received + 1);
    assert_eq!(stats.bytes_received, before.0.bytes_received + 7);
    assert_eq!(stats.ignored_total(), ignored + 1);
}

#[test]
fn names_of_peers_are_numbers_and_back_and_never_0() {
    for n in [1 << 32, 7 << 32 | 3, u64::MAX] {
        assert_eq!(PeerId::from_u64(n).map(PeerId::to_u64), Some(n));
    }
    for n in [0, 1, u64::from(u32::MAX)] {
        assert_eq!(PeerId::from_u64(n), None);
    }
    assert_eq!(size_of::<Option<PeerId>>(), size_of::<u64>());
    let (host, peer) = example_pair();
    let number = peer.to_u64();
    assert_ne!(number, 0);
    let find = |number| PeerId::from_u64(number).and_then(|id| host.peer(id));
    assert!(find(number).is_some());
    assert!(find(number + (1 << 32)).is_none() && find(number + 1).is_none());
}
