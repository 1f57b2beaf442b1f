//! Copies in spare bytes: in which frames they leave, and what ends them.

use super::*;
use crate::config::Policy;

const MS: Micros = Micros::from_millis(1);

fn sides() -> [Side; 2] {
    [Policy::Paper, Policy::Modern].map(Side::with)
}

impl Side {
    fn queue(&mut self, name: u8, len: usize, mode: Mode, copies: u8) {
        let message = NextMessage {
            copies: CopyCount::fixed(copies),
            ..message(name, len, mode)
        };
        self.script.low.push_back(message);
    }

    /// An event of which the host decides how many copies leave, and a state.
    fn queue_event(&mut self, event: u8, state: u8) {
        let by_host = NextMessage {
            copies: CopyCount::BY_HOST,
            ..message(event, 20, Mode::Reliable)
        };
        self.script.low.push_back(by_host);
        self.queue(state, 100, Mode::Unreliable, 0);
    }

    /// Sends states, of which one in `every` is lost.
    fn lose(&mut self, frames: u64, every: u64) {
        for n in 0..frames {
            self.queue(200, 100, Mode::Unreliable, 0);
            let id = self.transfer.outbound.queue.next();
            assert!(self.later().is_some());
            if n % every > 0 {
                self.acknowledge(&[id]);
            }
        }
    }

    /// No message is in the store.
    fn assert_empty(&mut self) {
        assert_eq!(self.later(), None);
        assert_eq!(self.transfer.outbound.messages.copies.count(), 0);
        assert_eq!(self.transfer.outbound.messages.store.used(), 0);
    }

    /// The next frame, a tick later.
    fn later(&mut self) -> Option<Vec<u8>> {
        self.now = self.now + 16 * MS;
        self.frame()
    }
}

/// P8.
#[test]
fn copies_ride_in_the_next_frames_behind_what_is_new() {
    for mut side in sides() {
        for (name, mode) in [(0, Mode::Reliable), (1, Mode::Unreliable)] {
            side.queue(name, 40, mode, 2);
        }
        assert_eq!(side.frame(), Some(vec![0, 1]));
        assert_eq!(side.later(), None, "no frame for a copy alone");
        side.queue(2, 40, Mode::Reliable, 0);
        assert_eq!(side.later(), Some(vec![2, 0, 1]));
        side.queue(3, 40, Mode::Reliable, 0);
        assert_eq!(side.later(), Some(vec![3, 0, 1]));
        side.queue(4, 40, Mode::Reliable, 0);
        assert_eq!(side.later(), Some(vec![4]));
    }
}

/// P8: a frame that follows at once may be lost together with the first.
#[test]
fn no_copy_rides_in_the_same_instant() {
    for mut side in sides() {
        side.queue(0, 50, Mode::Unreliable, 1);
        side.queue(1, 480, Mode::Unreliable, 0);
        side.queue(2, 50, Mode::Unreliable, 0);
        assert_eq!(side.frame(), Some(vec![0]));
        assert_eq!(side.frame(), Some(vec![1]));
        assert_eq!(side.frame(), Some(vec![2]));
        side.queue(3, 50, Mode::Unreliable, 0);
        assert_eq!(side.later(), Some(vec![3, 0]));
    }
}

/// P8.
#[test]
fn an_acknowledgement_of_any_frame_cancels_copies() {
    for mut side in sides() {
        for mode in [Mode::Reliable, Mode::Unreliable] {
            side.queue(0, 40, mode, 3);
            side.queue(1, 40, mode, 3);
            let first = side.transfer.outbound.queue.next();
            assert_eq!(side.frame(), Some(vec![0, 1]));
            side.queue(2, 40, mode, 0);
            assert_eq!(side.later(), Some(vec![2, 0, 1]));
            side.acknowledge(&[first + 1]);
            side.queue(3, 40, mode, 0);
            assert_eq!(side.later(), Some(vec![3]));
            // The first frame, without copies, is not acknowledged: its messages have arrived in the next
            // one.
            side.acknowledge(&[first + 2]);
            side.script.lost.clear();
            assert_eq!(side.script.acknowledged, [2, 0, 1, 3]);
            side.script.acknowledged.clear();
            side.acknowledge(&[first]);
            side.assert_empty();
        }
    }
}

/// P8.
#[test]
fn a_message_with_copies_is_lost_when_all_frames_are_that_carried_it() {
    for mut side in sides() {
        side.queue(0, 40, Mode::Unreliable, 1);
        side.queue(1, 40, Mode::Reliable, 1);
        assert_eq!(side.frame(), Some(vec![0, 1]));
        side.queue(2, 40, Mode::Unreliable, 0);
        assert_eq!(side.later(), Some(vec![2, 0, 1]));
        for name in 3..7 {
            side.queue(name, 40, Mode::Unreliable, 0);
            assert_eq!(side.later(), Some(vec![name]));
        }
        side.acknowledge(&[2, 3]);
        side.acknowledge(&[4]);
        // Frames 0 and 1 are three behind.
        assert_eq!(side.transfer.outbound.figures.lost, 2);
        assert_eq!(side.script.lost, [2, 0]);
        assert_eq!(side.later(), Some(vec![1]));
    }
}

/// P8: a message is not told as lost while a copy is on its way.
#[test]
fn a_message_is_not_lost_while_its_copy_is_under_way() {
    for mut side in sides() {
        side.queue(0, 40, Mode::Reliable, 1);
        for name in 1..4 {
            assert!(side.frame().is_some_and(|names| names.len() == 1));
            side.queue(name, 450, Mode::Unreliable, 0);
        }
        assert_eq!(side.frame(), Some(vec![3]));
        side.queue(4, 40, Mode::Unreliable, 0);
        assert_eq!(side.later(), Some(vec![4, 0]));
        side.acknowledge(&[1, 2, 3]);
        assert_eq!(
            (side.transfer.outbound.figures.lost, side.later()),
            (1, None)
        );
        side.acknowledge(&[4]);
        assert_eq!(side.script.acknowledged, [1, 2, 3, 4, 0]);
        side.assert_empty();
    }
}

/// P8: a message that was lost before its copy found room leaves as a lost message, and its copies after it.
#[test]
fn what_was_lost_before_it_found_room_is_copied_after_it_was_sent_again() {
    for mut side in sides() {
        side.queue(0, 40, Mode::Reliable, 1);
        assert_eq!(side.frame(), Some(vec![0]));
        for name in 1..4 {
            side.queue(name, 490, Mode::Unreliable, 0);
            assert_eq!(side.later(), Some(vec![name]));
        }
        side.acknowledge(&[1, 2]);
        side.acknowledge(&[3]);
        assert_eq!(side.transfer.outbound.figures.lost, 1);
        side.queue(4, 40, Mode::Unreliable, 0);
        assert_eq!(side.later(), Some(vec![0, 4]));
        side.queue(5, 40, Mode::Unreliable, 0);
        assert_eq!(side.later(), Some(vec![5, 0]));
    }
}

/// P8: a quarter of a datagram at most, in the order of sending.
#[test]
fn copies_take_a_quarter_of_a_datagram_and_those_without_room_wait_for_50_ms() {
    for mut side in sides() {
        for name in 0..8 {
            side.queue(name, 40, Mode::Reliable, 1);
        }
        side.queue(8, 110, Mode::Reliable, 1);
        assert_eq!(side.frame(), Some((0..9).collect()));
        side.queue(20, 40, Mode::Unreliable, 0);
        assert_eq!(side.later(), Some(vec![20, 0, 1, 2]));
        assert_eq!(side.transfer.outbound.messages.copies.count(), 5);
        side.now = side.now + Micros::from_millis(50);
        side.queue(21, 40, Mode::Unreliable, 0);
        assert_eq!(side.later(), Some(vec![21, 3, 4, 5]));
        assert_eq!(side.transfer.outbound.messages.copies.count(), 0);
    }
}

/// P8: otherwise older messages would have third copies before newer ones have their first.
#[test]
fn first_copies_come_before_second_ones() {
    for mut side in sides() {
        side.queue(0, 40, Mode::Reliable, 3);
        side.queue(1, 40, Mode::Reliable, 3);
        assert_eq!(side.frame(), Some(vec![0, 1]));
        side.queue(2, 40, Mode::Reliable, 3);
        side.queue(3, 40, Mode::Reliable, 3);
        assert_eq!(side.later(), Some(vec![2, 3, 0, 1]));
        side.queue(4, 40, Mode::Reliable, 0);
        assert_eq!(side.later(), Some(vec![4, 2, 3, 0]));
        side.queue(5, 40, Mode::Reliable, 0);
        // The second copy of 1 found no room before, and is the first now.
        assert_eq!(side.later(), Some(vec![5, 1, 2, 3]));
    }
}

/// P8: copies take no room from new messages.
#[test]
fn copies_wait_for_a_frame_with_room() {
    for mut side in sides() {
        side.queue(0, 40, Mode::Reliable, 1);
        assert_eq!(side.frame(), Some(vec![0]));
        for name in 1..5 {
            side.queue(name, 480, Mode::Unreliable, 0);
            assert_eq!(side.later(), Some(vec![name]));
        }
        side.queue(5, 440, Mode::Unreliable, 0);
        assert_eq!(side.later(), Some(vec![5, 0]));
    }
}

/// P8: while new messages wait, copies take a 64th of their bytes.
#[test]
fn copies_are_few_while_new_messages_wait() {
    for mut side in sides() {
        side.transfer.congestion_for_test(u32::MAX / 2);
        let mut copies = 0;
        // Large and small messages in turn: frames with one of each have room for four small ones.
        for _ in 0..100 {
            while side.script.low.len() < 4 {
                side.queue(1, 320, Mode::Unreliable, 0);
                side.queue(2, 20, Mode::Reliable, 3);
            }
            let names = side.later().expect("there is more");
            copies += names.iter().filter(|&&name| name == 2).count() - 1;
        }
        // New data of 34,000 bytes and its headers.
        assert!((18..=26).contains(&copies), "{copies}");
    }
}

/// P8: the windows bound copies as they bound new data.
#[test]
fn copies_stay_within_the_windows() {
    for mut side in sides() {
        side.queue(0, 40, Mode::Reliable, 3);
        assert_eq!(side.frame(), Some(vec![0]));
        let flight = side.transfer.outbound.queue.flight();
        side.transfer.congestion_for_test(flight + 90);
        side.queue(1, 60, Mode::Reliable, 0);
        assert_eq!(side.later(), Some(vec![1]));
        assert!(side.transfer.outbound.queue.flight() <= flight + 90);
        side.transfer.congestion_for_test(2 * flight + 150);
        side.queue(2, 20, Mode::Reliable, 0);
        assert_eq!(side.later(), Some(vec![2, 0]));
    }
}

/// P8: a copy may leave with a bare acknowledgement.
#[test]
fn copies_ride_with_acknowledgements() {
    for mut side in sides() {
        side.queue(0, 40, Mode::Reliable, 1);
        assert_eq!(side.frame(), Some(vec![0]));
        let flight = side.transfer.outbound.queue.flight();
        side.transfer.inbound.ack_timer.pending = true;
        assert_eq!(side.later(), Some(vec![0]));
        assert!(side.transfer.outbound.queue.flight() > flight + 40);
        assert_eq!(side.later(), None);
    }
}

/// P8: no more than 64 messages wait for a frame with room.
#[test]
fn few_messages_wait_for_copies() {
    for mut side in sides() {
        side.transfer.congestion_for_test(u32::MAX / 2);
        for n in 0..2000 {
            side.queue(7, 100, Mode::Unreliable, 3);
            if n % 4 == 3 {
                assert!(side.frame().is_some());
            }
        }
        assert_eq!(side.transfer.outbound.messages.copies.count(), 64);
        let payloads = side.transfer.outbound.queue.outstanding();
        let payloads = payloads
            .flat_map(|(_, contents)| side.transfer.outbound.messages.store.iter(&contents.open()));
        let kept = payloads.filter(|outgoing| match &outgoing.message {
            Message::Packet(packet) => !own(&packet.payload).is_empty(),
            Message::Control(_) => false,
        });
        assert_eq!(kept.count(), 64, "other payloads are forgotten");
        let before = crate::hooks::work::done();
        side.queue(7, 1, Mode::Unreliable, 3);
        assert!(side.later().is_some());
        assert!(crate::hooks::work::done() - before < 200);
    }
}

/// P8, P6: a copy that is on its way answers what a probe would ask.
#[test]
fn a_probe_comes_a_round_trip_after_the_last_copy() {
    let mut side = Side::with(Policy::Modern);
    side.queue(0, 40, Mode::Reliable, 1);
    assert_eq!(side.frame(), Some(vec![0]));
    let sent = side.now;
    side.transfer.inbound.ack_timer.pending = true;
    assert_eq!(side.later(), Some(vec![0]));
    let due = side.transfer.recovery_deadline_for_test();
    assert!(due < sent + 1000 * MS);
    side.now = due;
    side.transfer.handle_timeout(&mut side.script, due);
    assert_eq!(side.frame(), None, "the copy is under way");
    side.now = due + 16 * MS;
    side.transfer.handle_timeout(&mut side.script, side.now);
    assert_eq!(side.frame(), Some(vec![0]));
    assert_eq!(side.frame(), None);
}

/// P6: a late probe repeats each message once, however many frames carry it.
#[test]
fn a_late_probe_repeats_each_message_once() {
    let mut side = Side::with(Policy::Modern);
    side.queue(0, 40, Mode::Reliable, 3);
    assert_eq!(side.frame(), Some(vec![0]));
    for name in 1..4 {
        side.queue(name, 40, Mode::Reliable, 0);
        assert_eq!(side.later(), Some(vec![name, 0]));
    }
    let mut frames = Vec::new();
    for _ in 0..8 {
        side.now = side.transfer.recovery_deadline_for_test();
        side.transfer.handle_timeout(&mut side.script, side.now);
        frames.extend(core::iter::from_fn(|| side.frame()));
    }
    let twice = |frame: &&Vec<u8>| frame.iter().filter(|&&name| name == 0).count() > 1;
    assert_eq!(frames.iter().find(twice), None);
    let all = |frame: &Vec<u8>| frame.ends_with(&[0, 1, 2, 3]);
    assert!(frames.iter().any(all), "{frames:?}");
}

/// P8: small reliable packets of which nothing is said are copied while frames get lost.
#[test]
fn a_path_that_loses_frames_gets_copies_by_itself() {
    for (policy, every, copies) in [
        (Policy::Modern, 1000, 0),
        (Policy::Modern, 20, 1),
        (Policy::Modern, 8, 2),
        (Policy::Paper, 20, 0),
    ] {
        let mut side = Side::with(policy);
        side.lose(999, every);
        side.queue_event(0, 1);
        assert_eq!(side.later(), Some(vec![0, 1]));
        for n in 0..4 {
            side.queue(2, 100, Mode::Unreliable, 0);
            let names = if n < copies { vec![2, 0] } else { vec![2] };
            assert_eq!(side.later(), Some(names), "{policy:?} {every}");
        }
        // What the application asks for stays: also none.
        side.queue(3, 20, Mode::Reliable, 0);
        assert_eq!(side.later(), Some(vec![3]));
        side.queue(4, 100, Mode::Unreliable, 0);
        assert_eq!(side.later(), Some(vec![4]));
    }
}

/// P8: what was on its way when the remote host moved is no loss of the path, and nothing is known of a new
/// path.
#[test]
fn a_remote_host_that_moves_starts_no_copies() {
    for same_host in [true, false] {
        let mut side = Side::with(Policy::Modern);
        side.lose(3, 4);
        for _ in 0..20 {
            side.queue(200, 100, Mode::Unreliable, 0);
            assert!(side.later().is_some());
        }
        side.transfer
            .on_moved(same_host, &mut side.script, side.now);
        side.queue_event(0, 1);
        assert_eq!(side.later(), Some(vec![0, 1]));
        side.queue(2, 100, Mode::Unreliable, 0);
        assert_eq!(side.later(), Some(vec![2]), "{same_host}");
    }
    for (same_host, names) in [(true, vec![2, 0]), (false, vec![2])] {
        let mut side = Side::with(Policy::Modern);
        side.lose(200, 20);
        side.transfer
            .on_moved(same_host, &mut side.script, side.now);
        side.queue_event(0, 1);
        assert_eq!(side.later(), Some(vec![0, 1]));
        side.queue(2, 100, Mode::Unreliable, 0);
        assert_eq!(side.later(), Some(names), "{same_host}");
    }
}
