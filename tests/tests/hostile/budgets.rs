//! The receive budget: exactly full, a byte over, far over, by packets of all sizes.

use core::time::Duration;

use porous_proto::{Disposition, Malformed};
use porous_tests::encoder::{Message, Packet};
use porous_tests::remote::Remote;

use crate::peers::{
    PASSIVE, RELIABLE, UNRELIABLE, any, assert_taken, fits, malformed, noop, packet,
};
use crate::scene::{ENEMY, FRAGMENT, Scene, case, case_with, config};

/// The budget of most cases, and what a packet counts beside its bytes.
const BUDGET: u64 = 262_144;
const CHARGE: u64 = 64;

fn kept(scene: &Scene) -> u64 {
    scene.host.host.audit().kept
}

/// True if the datagram was taken; otherwise the budget is full.
fn is_taken(scene: &mut Scene, enemy: &mut Remote<u32>, messages: Vec<Message>) -> bool {
    fits(scene.send(enemy, None, messages))
}

/// A packet that waits for one that never comes.
fn waiting(mode: u8, channel: u8, id: u32, len: usize) -> Message {
    Packet {
        dependency: id,
        ..packet(mode, channel, id, len)
    }
    .into()
}

/// Fills the budget but for `rest` bytes, by packets that wait.
fn fill_but(scene: &mut Scene, enemy: &mut Remote<u32>, rest: u64) {
    let mut id = 0;
    loop {
        id += 1;
        let room = BUDGET - rest - kept(scene);
        if room == 0 {
            return;
        }
        let len = if room >= 2 * (1000 + CHARGE) {
            1000
        } else {
            room - CHARGE
        };
        let len = usize::try_from(len).unwrap().min(1100);
        assert!(is_taken(scene, enemy, vec![waiting(RELIABLE, 3, id, len)]));
    }
}

/// `[R11 X4]` The budget is full to the byte: one byte is too many, and a packet without bytes is as
/// well.
#[test]
fn the_budget_is_full_to_the_byte() {
    case(|scene| {
        let mut enemy = scene.enemy();
        fill_but(scene, &mut enemy, CHARGE + 10);
        let tries = [
            (11, false),
            (1000, false),
            (10, true),
            (0, false),
            (1, false),
        ];
        for (id, (len, fits)) in (1..).zip(tries) {
            let message = waiting(RELIABLE, 0, id, len);
            assert_eq!(is_taken(scene, &mut enemy, vec![message]), fits, "{len}");
        }
        assert_eq!(kept(scene), BUDGET);
        // What takes nothing is taken still.
        assert_taken(scene.send(&mut enemy, None, vec![noop()]));
        assert_eq!(scene.read(ENEMY), 0);
    });
}

/// `[R11 X17]` As many packets without bytes as there are ids, in all channels.
#[test]
fn empty_packets_fill_the_windows_and_not_more() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for id in 1..256 {
            let all = (0..4).map(|channel| waiting(UNRELIABLE, channel, id, 0));
            assert_taken(scene.send(&mut enemy, None, all.collect()));
        }
        assert_eq!(kept(scene), 4 * 255 * CHARGE);
        assert_eq!(scene.read(ENEMY), 0);
    });
}

/// `[R11 X17]` The same with a budget for a tenth of them: the reliable ones stay, to the last.
#[test]
fn empty_packets_fill_a_small_budget() {
    let small = config().receive_budget(1000, 64 * 100).unwrap();
    case_with(small, |scene| {
        let mut enemy = scene.enemy();
        let mut taken = 0;
        for id in 1..256 {
            let all = (0..4).map(|channel| waiting(RELIABLE, channel, id, 0));
            taken += u64::from(is_taken(scene, &mut enemy, all.collect())) * 4;
        }
        assert_eq!((taken, kept(scene)), (100, 6400));
    });
}

/// `[R11 X25]` A peer that ignores the budget sends ten times as much: what does not fit is refused and
/// not acknowledged, whatever is unreliable makes room, and the connection goes on.
#[test]
fn ten_times_the_budget_is_kept_once() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let mut refused = 0;
        for n in 0..2600_u32 {
            let (mode, channel) = [(UNRELIABLE, 0), (RELIABLE, 1), (PASSIVE, 2)][(n % 3) as usize];
            let message = waiting(mode, channel, 1 + n / 3 % 255, 1000);
            refused += u32::from(!is_taken(scene, &mut enemy, vec![message]));
            assert!(kept(scene) <= BUDGET);
            if n % 100 == 0 {
                scene.pass(Duration::from_millis(100));
            }
            scene.said.clear();
        }
        assert!(refused > 100, "{refused}");
        assert!(scene.state(ENEMY).is_some());
    });
}

/// `[X25 R11]` The reader stops while everything that arrives is ready to be read: nothing is lost of
/// what was taken, and when it reads again everything goes on.
#[test]
fn a_reader_that_stops_is_told_once_and_loses_nothing() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let (mut sent, mut told) = (0, 0);
        for round in 0..20 {
            let before = sent;
            for _ in 0..400 {
                let message = packet(RELIABLE, 0, sent & 0xFFFF, 2000 - FRAGMENT).into();
                if is_taken(scene, &mut enemy, vec![message]) && sent - before < 256 {
                    sent += 1;
                }
                scene.said.clear();
            }
            let events = core::mem::take(&mut scene.events);
            told += events.len();
            scene.pass(Duration::from_secs(5));
            assert_taken(scene.send(&mut enemy, None, vec![noop()]));
            assert_eq!(scene.read(ENEMY), (sent - before) as usize, "{round}");
        }
        assert!(told <= 2 * 20, "{told}");
    });
}

/// `[X25 R14]` A slow reader takes one packet for ten that come: the windows it reports are those of
/// what it read, and never more than one for each datagram that comes.
#[test]
fn a_slow_reader_reports_what_it_has_read() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let (mut read, mut answers) = (0_u32, 0);
        let mut next = 0_u32;
        for n in 0..3000 {
            let message = packet(RELIABLE, 0, next & 0xFFFF, 50).into();
            let behind = next - read < 256;
            if is_taken(scene, &mut enemy, vec![message]) && behind {
                next += 1;
            }
            if n % 10 == 0 {
                let peer = scene.peer();
                read += u32::from(scene.host.call(|host| host.receive(peer).is_some()));
                scene.flush();
            }
            answers += scene.overhear(&mut enemy).len();
        }
        assert_eq!(read, 300);
        assert!(answers <= 3000 + 300, "{answers}");
    });
}

/// `[R11 R25]` 128 packets without bytes in each datagram, while the budget is full of packets that can
/// make room for them, one for one.
#[test]
fn making_room_a_hundred_times_in_one_datagram() {
    let small = config().receive_budget(1000, 64 * 1000).unwrap();
    case_with(small, |scene| {
        let mut enemy = scene.enemy();
        for round in 0..200_u32 {
            let id = |n: u32| 1 + (round * 32 + n / 4) % 255;
            let message = |n: u32| waiting(UNRELIABLE, (n % 4) as u8, id(n), 0);
            assert!(is_taken(scene, &mut enemy, (0..128).map(message).collect()));
            scene.said.clear();
        }
        assert!(scene.stats().packets_evicted > 0);
    });
}

/// `[R11 X5]` A fragment joins the very packet that is thrown out to make room for it.
#[test]
fn a_fragment_whose_packet_makes_room_for_it() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let whole = u32::try_from(2 * FRAGMENT + 9).unwrap();
        let part = |offset, len| Message::from(packet(UNRELIABLE, 0, 7, len).part(offset, whole));
        assert!(is_taken(scene, &mut enemy, vec![part(whole - 9, 9)]));
        fill_but(scene, &mut enemy, 20);
        assert_eq!(kept(scene), BUDGET - 20);
        assert!(!is_taken(scene, &mut enemy, vec![part(0, FRAGMENT)]));
        assert_eq!(kept(scene), BUDGET - 20);
        assert!(is_taken(
            scene,
            &mut enemy,
            vec![waiting(RELIABLE, 1, 1, 29)]
        ));
        assert_eq!(kept(scene), BUDGET);
    });
}

/// `[R11 X16]` What does not fit is sent again and again, and is acknowledged only when it was taken.
#[test]
fn what_is_refused_is_not_acknowledged() {
    case(|scene| {
        let mut enemy = scene.enemy();
        fill_but(scene, &mut enemy, 0);
        scene.overhear(&mut enemy);
        for _ in 0..1000 {
            assert!(!is_taken(
                scene,
                &mut enemy,
                vec![waiting(RELIABLE, 0, 1, 10)]
            ));
        }
        assert!(scene.overhear(&mut enemy).is_empty());
    });
}

/// `[X4 R11]` Packets of the greatest length that there may be, and one byte longer.
#[test]
fn packets_of_the_greatest_length_and_a_byte_more() {
    case_with(config().receive_budget(500, 5000).unwrap(), |scene| {
        let mut enemy = scene.enemy();
        for (id, len, fits) in [
            (0, 499, true),
            (1, 500, true),
            (2, 501, false),
            (3, 1100, false),
        ] {
            let message = packet(RELIABLE, 0, id, len).into();
            let taken = scene.send(&mut enemy, None, vec![message]);
            assert_eq!(
                matches!(taken, Disposition::Handled(_)),
                fits,
                "{len} {taken:?}"
            );
        }
        let part = packet(RELIABLE, 1, 0, FRAGMENT).part(0, 2304).into();
        assert_eq!(scene.send(&mut enemy, None, vec![part]), crate::peers::BAD);
        assert_eq!(scene.read(ENEMY), 2);
    });
}

/// `[R11 X24]` Packets of all modes and lengths at random, read at random, with windows that hold
/// anything: for 30,000 datagrams no more is kept than the budget.
#[test]
fn random_traffic_and_random_reading_stay_within_the_budget() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let mut random = porous_sim::Seed::new(31).stream("budget", 0);
        for n in 0..30_000_u32 {
            let mut any = |end| any(&mut random, end);
            let messages = (0..1 + any(4)).map(|_| {
                let (mode, channel) = (any(3).to_le_bytes()[0], any(4).to_le_bytes()[0]);
                let id = n / 60 + any(300);
                let dependency = if any(2) == 0 { 0 } else { any(256).min(id) };
                let len = if any(2) == 0 { any(20) } else { any(280) };
                let packet = packet(mode, channel, id & 0xFFFF, len as usize);
                Packet {
                    dependency,
                    ..packet
                }
                .into()
            });
            let messages = messages.collect();
            let taken = scene.send(&mut enemy, None, messages);
            assert_ne!(taken, malformed(Malformed::BadValue));
            if n % 7 == 0 {
                let peer = scene.peer();
                scene.host.call(|host| host.receive(peer).is_some());
            }
            if n % 997 == 0 {
                scene.read(ENEMY);
                scene.pass(Duration::from_millis(300));
            }
            scene.said.clear();
        }
    });
}
