//! The loss that is measured, the number of copies that follows, and which packets get them.

use alloc::vec;

use super::*;
use crate::frame::{Control, Fragment, Marker};

/// The fates of `frames`, of which one in `every` is lost, the first after half as many. Returns how often
/// the number of copies changed.
fn run(redundancy: &mut Redundancy, frames: u32, every: u32) -> u32 {
    let mut changes = 0;
    for n in 1..=frames {
        let before = redundancy.copies;
        if n % every == every / 2 {
            redundancy.on_lost();
        } else {
            redundancy.on_acknowledged();
        }
        changes += u32::from(redundancy.copies != before);
    }
    changes
}

fn modern() -> Redundancy {
    Redundancy::new(Policy::Modern)
}

fn packet(mode: Mode, len: usize) -> Packet<MessageBytes> {
    Packet {
        mode,
        channel: 0,
        id: 0,
        dependency: 0,
        fragment: None,
        receipt: false,
        payload: MessageBytes::Own(vec![0; len].into()),
    }
}

fn event(len: usize) -> Message<MessageBytes> {
    Message::Packet(packet(Mode::Reliable, len))
}

/// P8.
#[test]
fn one_lost_frame_starts_no_copies_and_two_in_three_hundred_do() {
    let mut redundancy = modern();
    redundancy.on_lost();
    assert_eq!(redundancy.copies(&event(8)), 0);
    run(&mut redundancy, 1000, u32::MAX);
    for (between, copies) in [(300, 1), (400, 0)] {
        let mut redundancy = modern();
        redundancy.on_lost();
        run(&mut redundancy, between, u32::MAX);
        redundancy.on_lost();
        assert_eq!(redundancy.copies(&event(8)), copies, "{between}");
    }
}

/// P8.
#[test]
fn copies_end_when_frames_arrive_again() {
    let mut redundancy = modern();
    run(&mut redundancy, 2000, 50);
    assert_eq!(redundancy.copies, 1);
    run(&mut redundancy, 700, u32::MAX);
    assert_eq!(redundancy.copies, 0);
    // What a long silence of losses leaves is nothing, and costs nothing.
    run(&mut redundancy, 100_000, u32::MAX);
    assert_eq!(redundancy.loss, 0);
}

/// P8: also with losses near the thresholds, and never back and forth between two numbers.
#[test]
fn the_number_of_copies_follows_the_loss() {
    let losses = [
        (1000, 0),
        (100, 1),
        (50, 1),
        (20, 1),
        (8, 2),
        (4, 3),
        (2, 3),
    ];
    for (every, copies) in losses {
        let mut redundancy = modern();
        run(&mut redundancy, 3000, every);
        assert_eq!(redundancy.copies, copies, "one in {every}");
    }
    for every in 2..=200 {
        let mut redundancy = modern();
        run(&mut redundancy, 5000 / every * every, every);
        let changes = run(&mut redundancy, 10_000, every);
        assert_eq!(changes, 0, "one in {every}");
    }
}

/// P8.
#[test]
fn frames_that_were_only_late_leave_no_copies() {
    let mut redundancy = modern();
    for _ in 0..1000 {
        // A tenth of all frames counts as lost for a while.
        run(&mut redundancy, 9, u32::MAX);
        redundancy.on_lost();
        run(&mut redundancy, 5, u32::MAX);
        redundancy.on_late();
        assert_eq!(redundancy.copies, 0);
    }
}

/// P8.
#[test]
fn only_small_reliable_packets_that_are_whole_are_copied() {
    let mut redundancy = modern();
    run(&mut redundancy, 1000, 20);
    let mut copies = |message: &Message<MessageBytes>| {
        redundancy.on_sent(1200);
        redundancy.copies(message)
    };
    assert_eq!(
        [0, 1, SMALL, SMALL + 1].map(|len| copies(&event(len))),
        [1, 1, 1, 0]
    );
    for mode in [Mode::Unreliable, Mode::Passive] {
        assert_eq!(copies(&Message::Packet(packet(mode, 8))), 0, "{mode:?}");
    }
    let end = Packet {
        fragment: Fragment::new(1000, 1008),
        ..packet(Mode::Reliable, 8)
    };
    assert_eq!(copies(&Message::Packet(end)), 0);
    let tombstone = Control::Tombstone(Marker {
        channel: 0,
        id: 0,
        dependency: 0,
    });
    assert_eq!(copies(&Message::Control(tombstone)), 0);
}

/// P8: those of a packet alone, and those of all packets where many share a datagram.
#[test]
fn copies_by_the_host_take_a_sixteenth_of_the_bytes_at_most() {
    for every in [20, 4] {
        let mut redundancy = modern();
        run(&mut redundancy, 1000, every);
        let mut copies = 0;
        for _ in 0..1000 {
            for _ in 0..16 {
                copies += u32::from(redundancy.copies(&event(SMALL)));
            }
            redundancy.on_sent(1200);
        }
        let bytes = 72 * copies;
        assert!((74_000..=75_000 + 4 * 72).contains(&bytes), "{bytes}");
    }
    // Four at once after a while without any, and no more after a long one.
    let mut redundancy = modern();
    run(&mut redundancy, 1000, 20);
    for quiet in [60, 1000] {
        (0..quiet).for_each(|_| redundancy.on_sent(100));
        let burst = [0; 6].map(|_| redundancy.copies(&event(SMALL)));
        assert_eq!(burst, [1, 1, 1, 1, 0, 0], "{quiet}");
    }
}

/// P8: the paper has no copies of which nobody has asked for.
#[test]
fn the_papers_policy_copies_nothing_by_itself() {
    let mut redundancy = Redundancy::new(Policy::Paper);
    run(&mut redundancy, 1000, 3);
    redundancy.on_late();
    assert_eq!(redundancy.copies(&event(8)), 0);
}
