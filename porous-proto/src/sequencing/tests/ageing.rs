//! Unreliable packets that wait too long to be sent (`docs/deviations.md` T8).

use super::*;
use crate::event::Outcome;

const TICK: Duration = Duration::from_micros(1);

#[test]
fn only_unreliable_packets_become_too_old() {
    let mut sender = Sequencing::new(params(16, 2), 0, AGE);
    for mode in [Mode::Unreliable, Mode::Reliable, Mode::Passive] {
        sender.send(0, Bytes::from_static(b"abc"), mode);
    }
    sender.look(NOW);
    assert_eq!(sender.scheduler.expiry, NOW + AGE + TICK);
    sender.drop_expired(NOW + AGE);
    assert_eq!((sender.totals().expired, sender.totals().unsent), (0, 3));
    sender.drop_expired(NOW + AGE + TICK);
    assert_eq!((sender.totals().expired, sender.totals().unsent), (1, 2));
    assert_eq!(
        (sender.totals().room.used(), sender.totals().undelivered),
        (134, 2)
    );
    assert!(sender.scheduler.expiry.is_never());
    sender.audit(&mut Audit::default(), LONGEST);
}

#[test]
fn the_age_of_a_packet_counts_from_the_first_look_after_it_was_sent() {
    let mut sender = Sequencing::new(params(16, 2), 0, AGE);
    let second = Duration::from_secs(1);
    for channel in [0, 1, 0] {
        let payload = Bytes::from_static(b"abc");
        sender.send(channel, payload, Mode::Unreliable);
        sender.look(NOW + u32::from(channel) * second);
    }
    // The two packets of channel 0 wait from `NOW` on, that of channel 1 from a second later.
    assert_eq!(sender.scheduler.expiry, NOW + AGE + TICK);
    sender.look(NOW + AGE + TICK);
    assert_eq!(sender.totals().expired, 2);
    assert_eq!(sender.scheduler.expiry, NOW + second + AGE + TICK);
    sender.look(NOW + second + AGE + TICK);
    assert_eq!(
        (sender.totals().expired, sender.totals().room.used()),
        (3, 0)
    );
}

#[test]
fn a_packet_that_has_begun_to_be_sent_goes_on() {
    let mut sender = Sequencing::new(params(16, 2), 0, AGE);
    for payload in [&[7; 25], &[8; 25]] {
        sender.send(0, Bytes::from_static(payload), Mode::Unreliable);
    }
    sender.look(NOW);
    assert!(sender.next_message(Priority::Low, FRAGMENT).is_some());
    sender.look(NOW + 2 * AGE);
    assert_eq!((sender.totals().expired, sender.totals().unsent), (1, 1));
    assert!(sender.next_message(Priority::Low, FRAGMENT).is_some());
    assert!(sender.next_message(Priority::Low, FRAGMENT).is_some());
    assert!(sender.next_message(Priority::Low, FRAGMENT).is_none());
    assert_eq!(
        (sender.totals().room.used(), sender.totals().unsent),
        (0, 0)
    );
}

#[test]
fn what_waited_behind_a_packet_that_became_too_old_is_sent() {
    let mut small = params(16, 2);
    small.remote_budget = 200;
    let mut sender = Sequencing::new(small, 0, AGE);
    // The first packet is too long for the remote host's budget: only its age ends it.
    sender.send(0, Bytes::from_static(&[7; 150]), Mode::Unreliable);
    sender.send(0, Bytes::from_static(&[8]), Mode::Reliable);
    sender.look(NOW);
    assert!(sender.next_message(Priority::Low, FRAGMENT).is_none());
    sender.look(NOW + AGE + TICK);
    assert_eq!(sender.totals().expired, 1);
    let next = sender.next_message(Priority::Low, FRAGMENT);
    assert!(
        matches!(next, Some(NextMessage { message: Message::Packet(packet), .. }) if own(&packet) == &[8][..])
    );
}

/// T8. A queue stands, as its packets leave late for more than 400 ms.
#[test]
fn a_packet_that_gives_way_to_newer_ones_has_expired() {
    let mut sender = Sequencing::new(params(4096, 512), 0, AGE);
    let (state, step) = (
        SendOptions::new(Mode::Unreliable),
        Duration::from_millis(100),
    );
    let mut now = NOW;
    for token in 0..10 {
        // A key is no word on the queue: the packet may stand in the place of an older one.
        for options in [state.receipt(token), state.key(token)] {
            sender.send(0, Bytes::from_static(b"abc"), options);
        }
        sender.look(now);
        sender.audit(&mut Audit::default(), LONGEST);
        let next = sender.next_message(Priority::Low, FRAGMENT).unwrap();
        sender.sent(&next.message);
        now = now + step;
    }
    // Those of 300 to 500 ms, when those of 600 ms came.
    assert_eq!(sender.totals().expired, 6);
    assert!(
        sender
            .next_receipt()
            .is_some_and(|receipt| (receipt.token, receipt.outcome) == (3, Outcome::Expired))
    );
    assert_eq!(
        sender.totals().room.used(),
        67 * u64::from(sender.totals().unsent)
    );
}
