//! The modern policy: which frames are lost, which are asked after, and what that does to the windows.

use super::*;
use crate::config::Policy;

const MS: Micros = Micros::from_millis(1);

/// A line of 100 ms whose round trips are known.
fn settled() -> Side {
    let mut side = Side::with(Policy::Modern);
    for name in 0..30 {
        side.send(name, 100, Mode::Unreliable);
        side.now = side.now + 100 * MS;
        side.acknowledge(&[u64::from(name)]);
        side.now = side.now + 100 * MS;
    }
    side.script.acknowledged.clear();
    side
}

/// Acknowledges the frame `largest`, and those of the 32 before it that `map` says.
fn block(largest: u8, map: u32) -> AckBlock {
    AckBlock {
        largest_low: largest.into(),
        largest_width: 4,
        delay: None,
        map,
        nonce: false,
        marks: crate::frame::Marks::default(),
        ranges: arrayvec::ArrayVec::new(),
    }
}

impl Side {
    /// Sends a message in a frame of its own.
    fn send(&mut self, name: u8, len: usize, mode: Mode) {
        self.script.low.push_back(message(name, len, mode));
        assert_eq!(self.frame(), Some(vec![name]));
    }

    /// Acknowledges the frame `largest`, and those of the 32 before it that `map` says.
    fn acknowledge_block(&mut self, largest: u8, map: u32) {
        let acked = block(largest, map);
        let acked = self.transfer.check_ack(&acked).unwrap();
        let Self {
            transfer,
            script,
            now,
        } = self;
        transfer.on_ack(&acked, script, *now);
    }

    /// Lets time pass until something is due, and does it.
    fn wait(&mut self) -> Micros {
        let before = self.now;
        self.now = self.transfer.recovery_deadline_for_test();
        self.transfer.handle_timeout(&mut self.script, self.now);
        self.now.since(before)
    }
}

/// P6.
#[test]
fn a_lone_reliable_message_is_repeated_before_it_counts_as_lost() {
    let mut side = settled();
    side.send(30, 100, Mode::Reliable);
    let (window, flight) = (
        side.transfer.window(),
        side.transfer.outbound.queue.flight(),
    );
    let waited = side.wait();
    assert!(waited > 100 * MS && waited < 115 * MS, "{waited:?}");
    assert_eq!(side.frame(), Some(vec![30]));
    // The repetition counts in flight, and nothing was lost.
    assert_eq!(side.transfer.outbound.queue.flight(), 2 * flight);
    assert_eq!(
        (side.transfer.window(), side.transfer.outbound.figures.lost),
        (window, 0)
    );
    side.now = side.now + 100 * MS;
    side.acknowledge(&[31]);
    assert_eq!(side.script.acknowledged, [30]);
    // The first frame turns out to be lost, but nothing of it has to be sent again.
    assert_eq!(
        (side.transfer.outbound.figures.lost, side.frame()),
        (1, None)
    );
    assert_eq!(side.transfer.outbound.queue.flight(), 0);
}

/// P8: a receiver that waits for the message has waited for long.
#[test]
fn what_is_probed_or_sent_again_is_copied_once() {
    let mut side = settled();
    side.send(30, 100, Mode::Reliable);
    side.wait();
    assert_eq!(side.frame(), Some(vec![30]));
    for (name, expected) in [(31, vec![31, 30]), (32, vec![32])] {
        side.now = side.now + 2 * MS;
        side.script
            .low
            .push_back(message(name, 100, Mode::Unreliable));
        assert_eq!(side.frame(), Some(expected));
    }
}

/// P6: a probe is outside the windows.
#[test]
fn a_full_window_does_not_hold_up_a_probe() {
    let mut side = settled();
    side.transfer.congestion_for_test(400);
    side.send(30, 300, Mode::Reliable);
    side.script.low.push_back(message(31, 300, Mode::Reliable));
    assert_eq!(side.frame(), None);
    side.wait();
    assert_eq!(side.frame(), Some(vec![30]));
    assert_eq!(side.frame(), None);
}

/// P6: a window of data that is on its way when acknowledgements stop is not sent a second time as probes.
#[test]
fn a_silent_path_gets_no_second_window_of_probes() {
    let mut side = settled();
    side.transfer.congestion_for_test(2400);
    for name in 30..36 {
        side.send(name, 380, Mode::Reliable);
        side.now = side.now + 5 * MS;
    }
    let (begun, mut probes) = (side.now, Vec::new());
    while side.now < begun + 300 * MS {
        side.wait();
        probes.extend(core::iter::from_fn(|| side.frame()).flatten());
    }
    // One early probe; two frames for each of two timeouts, and a ping before the second pair.
    assert!(probes.len() <= 6, "{probes:?}");
    assert!(probes.starts_with(&[30]), "{probes:?}");
}

/// T3, T10.
#[test]
fn a_flight_without_reliable_content_is_asked_after_by_ever_rarer_pings() {
    let mut side = settled();
    side.send(30, 100, Mode::Unreliable);
    let mut waits = Vec::new();
    for _ in 0..5 {
        waits.push(side.wait());
        assert_eq!(side.frame(), Some(vec![u8::MAX]));
    }
    for pair in waits.windows(2).take(3) {
        let twice = 2 * pair[0];
        assert!(
            pair[1] > twice - 20 * MS && pair[1] < twice + 20 * MS,
            "{waits:?}"
        );
    }
    assert_eq!(side.transfer.outbound.figures.lost, 0);
    side.now = side.now + 100 * MS;
    side.acknowledge(&[35]);
    assert_eq!(
        (side.transfer.outbound.figures.lost, side.script.lost.len()),
        (1, 1)
    );
}

/// A timeout repeats more than one frame holds in two, the oldest first.
#[test]
fn a_timeout_repeats_two_frames() {
    let mut side = settled();
    for name in 30..35 {
        side.send(name, 400, Mode::Reliable);
    }
    side.wait(); // early
    let early = side.frame();
    assert_eq!(early, Some(vec![30]));
    assert_eq!(side.frame(), None);
    side.wait();
    assert_eq!(side.frame(), Some(vec![30]));
    assert_eq!(side.frame(), Some(vec![31]));
    assert_eq!(side.frame(), None);
}

/// T3, P6: both are due at once, and each is sent, whichever is looked at first.
#[test]
fn an_early_probe_that_is_due_with_a_ping_is_sent_behind_it() {
    for is_early_first in [true, false] {
        early_and_ping(is_early_first);
    }
}

fn early_and_ping(is_early_first: bool) {
    let mut side = settled();
    side.send(30, 100, Mode::Reliable);
    // Data that goes on leaving puts the timeout off until a ping asks beside it.
    let begun = side.now;
    let Outbound {
        queue,
        path,
        probes,
        ..
    } = &mut side.transfer.outbound;
    let wait = path.rtt.timeout();
    path.recovery.on_sent(begun + 3 * wait);
    for is_early in [is_early_first, !is_early_first] {
        if is_early {
            probes.probe_early(queue, path, begun + 3 * wait);
        } else {
            probes.probe_late(queue, path, begun + 3 * wait);
        }
    }
    side.now = begun + 3 * wait;
    assert_eq!(side.frame(), Some(vec![u8::MAX]));
    assert_eq!(side.frame(), Some(vec![30]));
    assert_eq!(side.frame(), None);
}

/// P5.
#[test]
fn what_was_not_lost_gives_the_window_back() {
    let mut side = settled();
    for name in 30..40 {
        side.send(name, 400, Mode::Reliable);
    }
    let window = side.transfer.outbound.path.control.own_window();
    side.now = side.now + 100 * MS;
    side.acknowledge(&[33]); // 30 is three behind
    assert_eq!(
        (side.transfer.outbound.figures.lost, side.script.lost.len()),
        (1, 0)
    );
    assert!(side.transfer.outbound.path.control.own_window() < window);
    // Frame 30 was only late.
    side.acknowledge(&[30]);
    assert!(side.transfer.outbound.path.control.own_window() >= window);
    side.acknowledge(&[39]); // 31, eight behind, is waited for now
    assert_eq!(side.transfer.outbound.figures.lost, 1);
}

/// P5: a frame outside the windows that was not lost does not excuse a loss.
#[test]
fn what_adds_nothing_to_the_flight_excuses_no_loss() {
    let mut side = settled();
    side.send(30, 400, Mode::Reliable);
    let window = side.transfer.outbound.path.control.own_window();
    side.script
        .windows
        .push_back(Control::Window { channel: 0, id: 1 });
    assert_eq!(side.frame(), Some(vec![u8::MAX]));
    for name in 32..35 {
        side.send(name, 400, Mode::Reliable);
    }
    side.now = side.now + 100 * MS;
    side.acknowledge(&[34]); // 30 and 31 are lost
    side.acknowledge(&[31]);
    assert!(side.transfer.outbound.path.control.own_window() < window);
    side.acknowledge(&[30]);
    assert!(side.transfer.outbound.path.control.own_window() >= window);
}

/// P5: two losses far apart are a change of the path only if nothing between them arrived.
#[test]
fn losses_with_arrivals_between_them_do_not_empty_the_window() {
    for arrived in [true, false] {
        let mut side = settled();
        for name in 30..54 {
            side.send(name, 10, Mode::Unreliable);
            side.now = side.now + 40 * MS;
        }
        // Of 53 back to 21, bit n stands for the frame n + 1 before the newest.
        let lost = |id: u32| id == 30 || id == 50 || (id > 30 && id < 50 && !arrived);
        let map = (21..53).filter(|&id| !lost(id));
        side.acknowledge_block(53, map.fold(0, |map, id| map | 1 << (52 - id)));
        let lost = if arrived { 2 } else { 21 };
        assert_eq!(side.transfer.outbound.figures.lost, lost);
        let window = side.transfer.outbound.path.control.own_window();
        assert_eq!(window as usize > MTU, arrived, "{window}");
    }
}

/// P5: an id that was left out has not arrived.
#[test]
fn an_id_that_was_left_out_is_no_arrival() {
    let mut side = settled();
    while !side
        .transfer
        .nonces
        .skips(side.transfer.outbound.queue.next() + 5)
    {
        let id = side.transfer.outbound.queue.next();
        side.send(1, 10, Mode::Unreliable);
        side.now = side.now + 100 * MS;
        side.acknowledge(&[id]);
    }
    let first = side.transfer.outbound.queue.next();
    for _ in 0..10 {
        side.send(2, 10, Mode::Unreliable);
        side.now = side.now + 60 * MS;
    }
    let newest = side.transfer.outbound.queue.next() - 1;
    assert_eq!(newest, first + 10, "one was left out");
    let before = side.transfer.outbound.figures.lost;
    side.acknowledge(&[newest]);
    assert!(side.transfer.outbound.figures.lost >= before + 8);
    let window = side.transfer.outbound.path.control.own_window() as usize;
    assert_eq!(window, MTU, "the path has changed");
}

/// T3: a remote host that acknowledges nothing is not sent the same for ever.
#[test]
fn the_same_message_is_repeated_a_bounded_number_of_times() {
    let mut side = settled();
    side.send(30, 100, Mode::Reliable);
    let mut asked = Vec::new();
    for _ in 0..30 {
        side.wait();
        let sent = core::iter::from_fn(|| side.frame());
        asked.push(sent.flatten().collect::<Vec<_>>());
    }
    // One early probe, and those of sixteen timeouts, behind a ping from the second one on.
    let (repeated, pinged) = asked.split_at(17);
    assert!(repeated.iter().all(|sent| sent.contains(&30)));
    assert!(pinged.iter().all(|sent| *sent == [u8::MAX]), "{pinged:?}");
}

/// P6: where no message is of use any more, a ping asks.
#[test]
fn a_probe_repeats_only_what_is_of_use() {
    let mut side = settled();
    side.send(30, 100, Mode::Reliable);
    side.send(31, 100, Mode::Reliable);
    side.script.stale.push(30);
    side.wait();
    assert_eq!(side.frame(), Some(vec![31]));
    side.script.stale.push(31);
    side.wait();
    assert_eq!(side.frame(), Some(vec![u8::MAX]));
}

fn reliable(name: u8) -> NextMessage {
    message(name, 400, Mode::Reliable)
}

/// Fills the window with frames of low priority.
fn filled() -> Side {
    let mut side = settled();
    side.script.low.extend((100..=250).map(reliable));
    side.drain();
    side
}

impl Side {
    /// Sends what the window lets go. Returns the number of frames.
    fn drain(&mut self) -> usize {
        let mut frames = 0;
        while self.frame().is_some() {
            frames += 1;
            // Time for the pace, which is not what holds data back here.
            self.now = self.now + 4 * MS;
        }
        frames
    }

    /// A round trip later, all has arrived.
    fn acknowledge_all(&mut self) {
        self.now = self.now + 100 * MS;
        let next = self.transfer.outbound.queue.next();
        let on_its_way = |&id: &u64| self.transfer.outbound.queue.get(id).is_some();
        let ids: Vec<u64> = (0..next).filter(on_its_way).collect();
        self.acknowledge(&ids);
    }

    /// Bytes in flight beyond the window.
    fn ahead(&self) -> u32 {
        let flight = self.transfer.outbound.queue.flight();
        flight.saturating_sub(self.transfer.window())
    }

    /// The most bytes that urgent data may be ahead.
    fn loan(&self) -> u32 {
        (2 * u32::try_from(MTU).unwrap()).min(self.transfer.window() / 4)
    }
}

/// P12.
#[test]
fn urgent_data_is_a_little_ahead_of_the_window_and_bulk_pays_for_it() {
    let mut side = filled();
    assert_eq!(side.ahead(), 0);
    side.script.high.extend((0..9).map(reliable));
    assert!(side.drain() > 0);
    assert!(side.ahead() > 0 && side.ahead() <= side.loan());
    // Time alone lends no more, and bulk waits until the path has taken what is ahead.
    side.now = side.now + 100 * MS;
    assert_eq!(side.drain(), 0);
    side.script.high.clear();
    assert_eq!(side.drain(), 0);
    // Urgent data that takes all that the window lets go is lent nothing, however often it is acknowledged.
    for _ in 0..3 {
        side.script.high.extend((0..90).map(reliable));
        side.acknowledge_all();
        assert!(side.drain() > 0);
        assert_eq!(side.ahead(), 0);
    }
    side.script.high.clear();
    // Bulk that leaves has paid back everything.
    side.acknowledge_all();
    side.script.low.extend((100..=250).map(reliable));
    assert!(side.drain() > 0);
    side.script.high.extend((0..9).map(reliable));
    assert!(side.drain() > 0);
    assert!(side.ahead() > 0 && side.ahead() <= side.loan());
}

/// P12.
#[test]
fn urgent_data_without_bulk_is_lent_nothing() {
    let mut side = Side::with(Policy::Modern);
    for _ in 0..5 {
        side.script.high.extend((0..90).map(reliable));
        assert!(side.drain() > 0);
        assert_eq!(side.ahead(), 0);
        side.acknowledge_all();
    }
}

/// P12, T26.
#[test]
fn a_host_that_lied_is_lent_nothing() {
    let mut side = filled();
    // One of the two values is wrong.
    for nonce in [false, true] {
        let block = AckBlock {
            nonce,
            ..block(40, 0)
        };
        let acked = side.transfer.check_ack(&block).unwrap();
        side.transfer.nonces.check(&acked);
    }
    side.script.high.push_back(reliable(0));
    assert_eq!(side.drain(), 0);
}
