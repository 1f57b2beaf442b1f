//! Window acknowledgements of what was never sent, and of what is being sent.

use core::time::Duration;

use porous_proto::Mode;
use porous_proto::congestion::{Ack, Congestion, Controller, Trouble};
use porous_tests::config::has_window;
use porous_tests::encoder::Message;

use crate::peers::{BAD, ack_of, all_up_to, assert_taken, window};
use crate::scene::{ENEMY, case, case_with, config, offer};

/// Packets that were never sent and that one forged frame can make a host pass: 32 and 128.
const FORGED: u32 = 160;

/// `[R14 X10]` The window passes later packets than what may have been forged: refused, up to half of
/// the numbers there are; what is behind is old and has no effect.
#[test]
fn windows_cannot_pass_what_was_not_sent() {
    case(|scene| {
        let mut enemy = scene.enemy();
        scene.chatter(&mut enemy, 3);
        let before = scene.judged();
        for far in [3 + FORGED, 255, 256, 65_535, 65_536, 1 << 24, (1 << 31) - 1] {
            let taken = scene.send(&mut enemy, None, vec![window(0, far)]);
            assert_eq!((taken, scene.judged()), (BAD, before), "{far}");
        }
        for old in [1 << 31, (1 << 31) + 1, u32::MAX - 1, u32::MAX] {
            assert_taken(scene.send(&mut enemy, None, vec![window(0, old)]));
            assert_eq!(scene.judged(), before, "{old}");
        }
    });
}

/// `[R14 R13]` Window acknowledgements of channels on which nothing was sent, and of channels that do
/// not exist.
#[test]
fn windows_of_other_channels_are_refused() {
    case(|scene| {
        let mut enemy = scene.enemy();
        scene.chatter(&mut enemy, 3);
        for channel in 1..=255 {
            for id in [FORGED, 2 * FORGED, u32::MAX >> 1] {
                let taken = scene.send(&mut enemy, None, vec![window(channel, id)]);
                assert_eq!(taken, BAD, "{channel} {id}");
            }
        }
        for channel in 4..=255 {
            let old = window(channel, u32::MAX);
            assert_eq!(scene.send(&mut enemy, None, vec![old]), BAD, "{channel}");
        }
    });
}

/// `[R14 R24]` A window that goes on and then back, a thousand times: it stays where it was furthest.
#[test]
fn windows_that_go_back_stay_where_they_are() {
    case(|scene| {
        let mut enemy = scene.enemy();
        scene.chatter(&mut enemy, 10);
        assert_taken(scene.agree(&mut enemy));
        let before = scene.judged();
        for n in 0..1000 {
            assert_taken(scene.send(&mut enemy, None, vec![window(0, n % 10)]));
            assert_eq!(scene.judged(), before);
            scene.said.clear();
        }
    });
}

/// `[R14 R17 R25]` 128 window acknowledgements in a datagram, while all channels wait for room.
#[test]
fn floods_of_window_acknowledgements_cost_their_bytes() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for channel in 0..4 {
            for _ in 0..300 {
                assert_eq!(scene.queue(channel, Mode::Unreliable, 10), Ok(()));
            }
        }
        scene.flush();
        while !scene.overhear(&mut enemy).is_empty() {
            let ack = all_up_to(&enemy, enemy.newest.0);
            assert_taken(scene.send(&mut enemy, Some(ack), vec![]));
        }
        scene.begin();
        for _ in 0..100 {
            let all: Vec<Message> = (0..128).map(|n| window(n % 4, u32::MAX)).collect();
            assert_taken(scene.send(&mut enemy, None, all));
            scene.said.clear();
        }
    });
}

/// `[B2 R14]` The window passes a packet of which fragments wait to be sent, reliable or not, and the
/// ones behind it are sent.
#[test]
fn a_window_that_passes_a_packet_in_the_middle_of_its_fragments() {
    if !has_window() {
        return;
    }
    case(|scene| {
        let mut enemy = scene.enemy();
        for (n, mode) in (0..30).zip(
            [Mode::Reliable, Mode::Unreliable, Mode::Passive]
                .into_iter()
                .cycle(),
        ) {
            assert_eq!(scene.queue(0, mode, 50_000), Ok(()));
            scene.flush();
            assert!(scene.stats().queued_bytes > 0, "{mode:?}");
            assert_taken(scene.send(&mut enemy, None, vec![window(0, n)]));
            assert_eq!(scene.stats().queued_bytes, 0, "{mode:?}");
            let ack = scene.acknowledgement(&enemy);
            assert_taken(scene.send(&mut enemy, Some(ack), vec![]));
            assert_eq!(scene.stats().flight, 0);
            scene.overhear(&mut enemy);
        }
        assert_eq!(scene.queue(0, Mode::Reliable, 10), Ok(()));
        scene.flush();
        assert!(
            scene
                .overhear(&mut enemy)
                .iter()
                .any(|frame| frame.data > 0)
        );
    });
}

/// `[B2 X8]` Fragments are acknowledged while others of the same packet wait, then the window passes
/// it, then the rest is acknowledged, and all of it once more.
#[test]
fn fragments_that_are_acknowledged_while_others_wait() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for n in 0..20 {
            assert_eq!(scene.queue(0, Mode::Reliable, 60_000), Ok(()));
            scene.flush();
            scene.overhear(&mut enemy);
            let ack = scene.acknowledgement(&enemy);
            for messages in [vec![], vec![window(0, n)], vec![], vec![window(0, n)]] {
                let sent = scene.send(&mut enemy, Some(ack.clone()), messages);
                assert_taken(sent);
            }
            scene.overhear(&mut enemy);
            let rest = scene.acknowledgement(&enemy);
            assert_taken(scene.send(&mut enemy, Some(rest), vec![]));
            assert_eq!((scene.stats().queued_bytes, scene.stats().flight), (0, 0));
        }
    });
}

/// `[B2 R14]` Fragments were considered dropped and wait to be sent again when the window passes their
/// packet: they are not sent.
#[test]
fn what_waits_to_be_sent_again_is_forgotten_when_it_was_passed() {
    case(|scene| {
        let mut enemy = scene.enemy();
        assert_eq!(scene.queue(0, Mode::Reliable, 60_000), Ok(()));
        for _ in 0..5 {
            scene.pass(Duration::from_secs(1));
            scene.overhear(&mut enemy);
            let newest = ack_of(enemy.newest.0);
            assert_taken(scene.send(&mut enemy, Some(newest), vec![]));
            assert!(scene.stats().frames_lost > 0);
        }
        assert_taken(scene.send(&mut enemy, None, vec![window(0, 0)]));
        scene.pass(Duration::from_secs(1));
        scene.overhear(&mut enemy);
        scene.pass(Duration::from_secs(1));
        let heard = scene.overhear(&mut enemy);
        assert!(heard.iter().all(|frame| frame.data == 0), "{heard:?}");
        assert_eq!(scene.stats().queued_bytes, 0);
    });
}

/// `[R14 X8 X23]` Packets were passed before any of them was acknowledged, and their frames are when
/// others with the same low bits are on their way: the books are right.
#[test]
fn what_was_passed_a_round_of_ids_ago_is_acknowledged_late() {
    let wide = config().windows(4096, 16_384).unwrap();
    let wide = wide.congestion(Congestion::Fixed { rate: u32::MAX });
    case_with(wide, |scene| {
        let mut offer = offer();
        (offer.windows, offer.budget) = ([12, 14], 1 << 24);
        let mut enemy = scene.enemy_at(ENEMY, &offer);
        for _ in 0..40 {
            scene.chatter(&mut enemy, 40);
            while scene.stats().queued_bytes > 0 {
                assert_taken(scene.agree(&mut enemy));
            }
        }
        let first = enemy.newest.0 + 1;
        for newest in (0..70_000).step_by(1000).map(|n| n + 999) {
            for _ in 0..1000 {
                assert_eq!(scene.queue(1, Mode::Reliable, 1), Ok(()));
            }
            scene.flush();
            scene.overhear(&mut enemy);
            if newest < 60_000 {
                assert_taken(scene.send(&mut enemy, None, vec![window(1, newest)]));
            }
        }
        assert_eq!(scene.stats().queued_bytes, 10_000 * 65);
        let heard: Vec<u32> = enemy.heard.range(first..).map(|(&id, _)| id).collect();
        for frame in heard {
            assert_taken(scene.send(&mut enemy, Some(ack_of(frame)), vec![]));
        }
        assert_eq!((scene.stats().flight, scene.stats().queued_bytes), (0, 0));
    });
}

const WIDE: u32 = 1_500_000;

/// A controller with a wide window.
#[derive(Debug)]
struct Wide;

impl Controller for Wide {
    fn on_ack(&mut self, _: &Ack) {}

    fn on_trouble(&mut self, _: &Trouble) {}

    fn on_mtu(&mut self, _: u32) {}

    fn window(&self) -> u32 {
        WIDE
    }
}

/// `[B2 R10 R14]` The window passes each packet as soon as one fragment of it was sent, and frames are
/// acknowledged one at a time, the oldest first: what is on its way holds no whole packets.
#[test]
fn one_fragment_on_its_way_does_not_hold_its_whole_packet() {
    let wide = config().windows(4096, 4096).unwrap();
    let wide = wide.congestion(Congestion::Custom(|_| Box::new(Wide)));
    case_with(wide, |scene| {
        let mut offer = offer();
        (offer.windows, offer.budget) = ([12, 12], 1 << 24);
        let mut enemy = scene.enemy_at(ENEMY, &offer);
        for _ in 0..20 {
            scene.chatter(&mut enemy, 50);
            while scene.stats().queued_bytes > 0 {
                assert_taken(scene.agree(&mut enemy));
            }
        }
        let mut oldest = enemy.newest.0 + 1;
        let mut packets = 0;
        // The window is what has been used, until all of it has.
        loop {
            while scene.stats().flight + 60_000 < scene.stats().window {
                assert_eq!(scene.queue(1, Mode::Reliable, 60_000), Ok(()));
                scene.flush();
                packets += 1;
            }
            if scene.stats().window == WIDE {
                break;
            }
            scene.overhear(&mut enemy);
            while !enemy.heard.contains_key(&oldest) {
                oldest += 1;
            }
            assert_taken(scene.send(&mut enemy, Some(ack_of(oldest)), vec![]));
            oldest += 1;
        }
        scene.overhear(&mut enemy);
        let end = oldest + 800;
        while oldest < end {
            if !enemy.heard.contains_key(&oldest) {
                oldest += 1; // now and then an id is left out
                continue;
            }
            assert_eq!(scene.queue(1, Mode::Reliable, 60_000), Ok(()));
            assert_taken(scene.send(&mut enemy, Some(ack_of(oldest)), vec![]));
            packets += 1;
            assert_taken(scene.send(&mut enemy, None, vec![window(1, packets - 1)]));
            oldest += 1;
            scene.overhear(&mut enemy);
        }
        assert_eq!(scene.stats().frames_lost, 0);
    });
}
