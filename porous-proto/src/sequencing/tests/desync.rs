//! Two hosts whose windows have come different ways: with windows of 16, in every state that the two can be
//! in to each other, each host understands all that the other may say.

use super::*;
use crate::buffers::Buffers;
use crate::sequencing::trust::forgeable;
use crate::serial;

const WINDOW: u64 = 16;

/// First ids: 0, and some from which the low bits of packets and of window acknowledgements soon wrap.
const STARTS: [u64; 4] = [0, (1 << 16) - 20, (1 << 32) - 20, (1 << 48) - 20];

/// The sender was told that `told` packets were passed, and has sent a window more; the receiver has passed
/// `passed` packets.
fn state(first: u64, told: u64, passed: u64) -> Wire {
    let mut wire = Wire::starting_at(params(WINDOW, 2), first);
    for n in 0..told + WINDOW {
        wire.send(&alloc::format!("u{n}"));
        if n < passed {
            wire.arrive(&alloc::format!("u{n}"));
            assert_eq!(wire.delivered().len(), 1);
        }
        if n < told {
            wire.sender.on_window(0, serial::truncate(first + n, 32));
        }
    }
    // Refused by the window: nothing of it leaves.
    wire.send("u-beyond");
    wire
}

/// Every packet that was ever sent, with its number.
fn packets(wire: &Wire) -> Vec<(u64, Packet<MessageBytes>)> {
    let packets = wire.messages.iter().filter_map(|message| match message {
        Message::Packet(packet) => Some(packet.clone()),
        Message::Control(_) => None,
    });
    (0..).zip(packets).collect()
}

fn each_state(check: impl Fn(u64, u64, u64, Wire)) {
    for first in STARTS {
        for told in 0..=2 * WINDOW {
            for passed in told..=told + WINDOW {
                check(first, told, passed, state(first, told, passed));
            }
        }
    }
}

#[test]
fn whatever_a_sender_may_send_is_taken_in_every_state_of_the_receiver() {
    each_state(|first, told, passed, mut wire| {
        let all = packets(&wire);
        assert_eq!(all.len() as u64, told + WINDOW, "the window is full");
        // The newest first: then each older one comes to a receiver that knows what lies ahead.
        for (n, packet) in all.iter().rev() {
            let verdict = wire.receiver.check_packet(&borrow(packet));
            let expected = if *n < passed {
                Verdict::Stale
            } else {
                Verdict::Begin
            };
            assert_eq!(verdict, expected, "{n} of {first} {told} {passed}");
            wire.receiver
                .next_frame()
                .on_packet(&borrow(packet), NOW, &mut Buffers::new(0));
        }
        let queue = wire
            .receiver
            .table
            .get(0)
            .map(|made| &made.receiver.delivery.queue);
        let kept: Vec<u64> = queue.unwrap().iter().map(|(id, _)| id).collect();
        assert!(kept.into_iter().eq(first + passed..first + told + WINDOW));
    });
}

#[test]
fn whatever_a_receiver_may_report_is_taken_in_every_state_of_the_sender() {
    each_state(|first, told, passed, mut wire| {
        for n in 0..told + WINDOW {
            let id = serial::truncate(first + n, 32);
            assert!(wire.sender.check_window(0, id), "{n} of {first} {told}");
        }
        let end = first + told + WINDOW + forgeable(WINDOW);
        for (n, possible) in [(end - 1, true), (end, false)] {
            let n = serial::truncate(n, 32);
            let taken = wire.sender.check_window(0, n);
            assert_eq!(taken, possible, "{first} {told}");
        }
        for n in (0..passed).rev() {
            wire.sender.on_window(0, serial::truncate(first + n, 32));
            assert_eq!(wire.n_b(), first + passed, "{first} {told} {passed}");
        }
    });
}
