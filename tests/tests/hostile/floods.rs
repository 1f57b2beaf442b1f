//! Signalling in floods: what is asked is answered now and then, and never more than it was asked.

use core::time::Duration;

use porous_proto::Mode;
use porous_tests::encoder::Message;

use crate::peers::{
    assert_taken, challenge, limits, noop, ping, pong, sentinel, tombstone, window,
};
use crate::scene::{Scene, case};

/// How often the host has sent each kind of signalling to the enemy.
fn said(scene: &mut Scene, enemy: &mut porous_tests::remote::Remote<u32>) -> [usize; 12] {
    let mut count = [0; 12];
    for frame in scene.overhear(enemy) {
        for (subtype, _) in frame.controls {
            count[usize::from(subtype)] += 1;
        }
    }
    count
}

/// `[R15]` A hundred and more pings in one datagram: one pong, of the newest.
#[test]
fn pings_by_the_hundred_in_a_datagram_get_one_pong() {
    case(|scene| {
        let mut enemy = scene.enemy();
        scene.pass(Duration::from_millis(20));
        scene.overhear(&mut enemy);
        assert_taken(scene.send(&mut enemy, None, (0..128).map(ping).collect()));
        let heard = scene.overhear(&mut enemy);
        let pongs: Vec<_> = heard.iter().flat_map(|frame| &frame.controls).collect();
        assert_eq!(pongs, [&(2, vec![127, 0])]);
        assert_eq!(scene.stats().answers_withheld, 0);
    });
}

/// `[R15 X16]` 10,000 pings in a second, each alone: at most a pong in 10 ms.
#[test]
fn ten_thousand_pings_in_a_second_get_a_hundred_pongs() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let mut pongs = 0;
        for n in 0..10_000 {
            assert_taken(scene.send(&mut enemy, None, vec![ping(n)]));
            scene.now = scene.now + Duration::from_micros(100);
            pongs += said(scene, &mut enemy)[2];
        }
        assert!((95..=101).contains(&pongs), "{pongs}");
        assert!(scene.stats().answers_withheld >= 9899);
    });
}

/// `[R15]` 10,000 path challenges in a second, each alone: at most a response in 10 ms.
#[test]
fn ten_thousand_path_challenges_in_a_second_get_a_hundred_responses() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let mut responses = 0;
        for n in 0..10_000 {
            assert_taken(scene.send(&mut enemy, None, vec![challenge(n)]));
            scene.now = scene.now + Duration::from_micros(100);
            responses += said(scene, &mut enemy)[8];
        }
        assert!((95..=101).contains(&responses), "{responses}");
    });
}

/// `[R15 R17 R25]` As many questions of all kinds as a datagram holds, in a thousand datagrams at once: one
/// answer to each kind, and an acknowledgement for each datagram.
#[test]
fn everything_at_once_is_answered_once() {
    case(|scene| {
        let mut enemy = scene.enemy();
        scene.pass(Duration::from_millis(20));
        scene.overhear(&mut enemy);
        let all: Vec<Message> = (0..100)
            .map(|n| match n % 8 {
                0 => ping(n),
                1 => challenge(n.into()),
                2 => noop(),
                3 => pong(1000 + n),
                4 => window(0, u32::MAX),
                5 => sentinel((n % 4) as u8, 31, 0),
                6 => tombstone((n % 4) as u8, n, 0),
                _ => limits(n, 1_000_000),
            })
            .collect();
        let mut datagrams = 0;
        let mut count = [0; 12];
        for _ in 0..1000 {
            assert_taken(scene.send(&mut enemy, None, all.clone()));
            datagrams += scene.said.len();
            for (sum, more) in count.iter_mut().zip(said(scene, &mut enemy)) {
                *sum += more;
            }
        }
        assert_eq!((count[2], count[8]), (1, 1), "{count:?}");
        assert!(datagrams <= 1000, "{datagrams}");
        scene.read(crate::scene::ENEMY);
    });
}

/// `[R15 B8 X16]` Signalling by the thousand does not keep data from being sent, nor its acknowledgements
/// from being heard.
#[test]
fn data_and_acknowledgements_pass_a_flood_of_signalling() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for n in 0..100 {
            // Rarely enough that nothing is refused as too much work.
            scene.now = scene.now + Duration::from_millis(25);
            assert_eq!(scene.queue(0, Mode::Reliable, 1000), Ok(()));
            for question in 0..20 {
                let flood = (0..100).map(|m| ping(m + question)).collect();
                assert_taken(scene.send(&mut enemy, None, flood));
            }
            assert!(
                scene
                    .overhear(&mut enemy)
                    .iter()
                    .any(|frame| frame.data > 0),
                "{n}"
            );
            assert_taken(scene.agree(&mut enemy));
            assert_eq!(scene.stats().queued_bytes, 0);
        }
        assert_eq!(scene.stats().frames_lost, 0);
    });
}

/// `[B8 R7 R22]` Frames come in the worst order, newest first and with holes: all that were taken are
/// acknowledged in the end, and none that was not.
#[test]
fn frames_out_of_order_do_not_starve_acknowledgements() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for block in 0..50_u64 {
            let first = enemy.next;
            for n in (0..120).rev().filter(|n| n % 3 != 1) {
                let mut frame = enemy.short(None, vec![noop()]);
                frame.id = first + n;
                assert_taken(scene.send_frame(&mut enemy, &frame));
                assert_eq!(scene.said.len(), 1, "{block} {n}");
                scene.said.clear();
            }
            enemy.next = first + 120;
        }
    });
}

/// `[X16 R7 R22]` One old frame again and again: each copy gets an acknowledgement, no longer than any.
#[test]
fn copies_of_an_old_frame_get_short_acknowledgements() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let mut kept = Vec::new();
        for n in 0..250_u64 {
            let frame = enemy.short(None, vec![noop()]);
            // Holes, so that there is much to tell.
            enemy.next += n % 2;
            assert_taken(scene.send_frame(&mut enemy, &frame));
            kept.push(frame);
        }
        scene.said.clear();
        for round in 0..5000 {
            let old = &kept[kept.len() - 1 - round % 100];
            scene.send_frame(&mut enemy, old);
            assert!(scene.said.len() <= 1);
            assert!(scene.said.iter().all(|(_, datagram)| datagram.len() <= 64));
            scene.said.clear();
        }
    });
}
