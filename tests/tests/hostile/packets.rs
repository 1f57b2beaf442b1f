//! Packet ids at the edges of the window, and dependencies on what never was.

use porous_proto::{Disposition, Malformed};
use porous_tests::encoder::{Message, Packet};

use crate::peers::{BAD, PASSIVE, RELIABLE, UNRELIABLE, assert_taken, malformed, packet, window};
use crate::scene::{ENEMY, Scene, case, case_with, config, offer};

/// N_Q of most cases.
const WINDOW: u32 = 256;

/// The same packet, with a dependency on the one `back` ids before.
fn depends(packet: Packet, dependency: u32) -> Message {
    Packet {
        dependency,
        ..packet
    }
    .into()
}

fn audited(scene: &Scene) -> usize {
    scene.host.host.audit().entries
}

/// `[X14 R11]` Packets at the end of the window are kept; one further, half of the id space further
/// and just behind the window are nothing, and nothing is kept of them.
#[test]
fn packets_beyond_the_window_are_not_kept() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for mode in [UNRELIABLE, RELIABLE, PASSIVE] {
            for id in [WINDOW, WINDOW + 1, 1 << 15, (1 << 15) - 1, 65_534, 65_535] {
                let message = packet(mode, mode, id, 100).into();
                assert_taken(scene.send(&mut enemy, None, vec![message]));
                assert_eq!(audited(scene), usize::from(mode), "{id}");
            }
            let last = packet(mode, mode, WINDOW - 1, 100).into();
            assert_taken(scene.send(&mut enemy, None, vec![last]));
        }
        assert_eq!((audited(scene), scene.read(ENEMY)), (3, 0));
        for mode in [UNRELIABLE, RELIABLE, PASSIVE] {
            let other = packet(mode, mode, WINDOW - 2, 100).into();
            assert_taken(scene.send(&mut enemy, None, vec![other]));
        }
        assert_eq!(scene.read(ENEMY), 6);
    });
}

/// `[X14 X23]` Two packets each are the last ones that the window has room for, for three rounds of the
/// id space: they confirm each other, all are delivered, and what lies between is skipped.
#[test]
fn packets_leap_a_window_at_a_time_around_the_id_space() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let mut base = 0_u32;
        for _ in 0..3 * 256 {
            for (ahead, read) in [(WINDOW, 0), (WINDOW - 2, 0), (WINDOW - 1, 2)] {
                let id = (base + ahead) & 0xFFFF;
                let message = packet(UNRELIABLE, 0, id, 10).into();
                assert_taken(scene.send(&mut enemy, None, vec![message]));
                assert_eq!(scene.read(ENEMY), read, "{id}");
            }
            base += WINDOW;
            scene.said.clear();
        }
    });
}

/// `[X14 X23]` The same with ids of three bytes and the widest window of all.
#[test]
fn packets_leap_around_the_id_space_of_three_bytes() {
    case_with(config().windows(256, 65_536).unwrap(), |scene| {
        let mut offer = offer();
        offer.windows[1] = 16;
        let mut enemy = scene.enemy_at(ENEMY, &offer);
        enemy.shape.id_bytes = 3;
        let mut base = 0_u32;
        for _ in 0..3 * 256 {
            for (ahead, read) in [(65_536, 0), (1 << 23, 0), (65_534, 0), (65_535, 2)] {
                let id = (base + ahead) & 0xFF_FFFF;
                let message = packet(UNRELIABLE, 0, id, 10).into();
                assert_taken(scene.send(&mut enemy, None, vec![message]));
                assert_eq!(scene.read(ENEMY), read, "{id}");
            }
            base = (base + 65_536) & 0xFF_FFFF;
            scene.said.clear();
        }
    });
}

/// `[X14]` A dependency that reaches to the packet before the first, or further, is refused; one that
/// reaches to the first is not.
#[test]
fn dependencies_before_the_first_packet_are_refused() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for mode in [UNRELIABLE, RELIABLE, PASSIVE] {
            for id in [0, 1, 100, WINDOW - 2] {
                for dependency in [id + 1, WINDOW - 1] {
                    let message = depends(packet(mode, 0, id, 1), dependency);
                    assert_eq!(scene.send(&mut enemy, None, vec![message]), BAD, "{id}");
                }
            }
            let channel = 1 + mode;
            let first = depends(packet(mode, channel, 100, 1), 100);
            assert_taken(scene.send(&mut enemy, None, vec![first]));
        }
        // All three wait for a packet 0 that never comes, and hold up nothing else.
        assert_eq!((audited(scene), scene.read(ENEMY)), (3, 0));
        let message = packet(UNRELIABLE, 0, 0, 1).into();
        assert_taken(scene.send(&mut enemy, None, vec![message]));
        assert_eq!(scene.read(ENEMY), 1);
    });
}

/// `[X14 X22]` A dependency of a whole window or more is not even well-formed.
#[test]
fn dependencies_beyond_the_window_are_malformed() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let last = depends(packet(UNRELIABLE, 0, WINDOW - 1, 1), WINDOW - 1);
        assert_taken(scene.send(&mut enemy, None, vec![last]));
        for far in [
            WINDOW,
            WINDOW + 1,
            1 << 14,
            1 << 15,
            1 << 16,
            1 << 31,
            u32::MAX,
        ] {
            let message = depends(packet(UNRELIABLE, 1, 255, 1), far);
            let taken = scene.send(&mut enemy, None, vec![message]);
            assert_eq!(taken, malformed(Malformed::BadValue), "{far}");
        }
    });
}

/// `[X14]` A dependency of nothing, on the packet itself, is the word for none: it is delivered.
#[test]
fn a_packet_cannot_depend_on_itself() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for id in [0, 1, 17, 47] {
            for mode in [RELIABLE, UNRELIABLE] {
                let message = depends(packet(mode, mode, id, 1), 0);
                assert_taken(scene.send(&mut enemy, None, vec![message]));
            }
            assert_eq!(scene.read(ENEMY), 2, "{id}");
        }
    });
}

/// `[X14 R11]` A whole window of packets depends on one that never comes: they wait within the budget,
/// and when the first comes all are delivered.
#[test]
fn a_window_that_depends_on_a_packet_that_is_held_back() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for id in (1..WINDOW).rev() {
            let message = depends(packet(UNRELIABLE, 0, id, 100), id);
            assert_taken(scene.send(&mut enemy, None, vec![message]));
        }
        assert_eq!((audited(scene), scene.read(ENEMY)), (255, 0));
        let first = packet(RELIABLE, 0, 0, 100).into();
        assert_taken(scene.send(&mut enemy, None, vec![first]));
        assert_eq!(scene.read(ENEMY), 256);
    });
}

/// `[X14 R25]` Each packet depends on the one before, and they come backwards: to read them all takes
/// as many steps as if they had come in order.
#[test]
fn chains_of_dependencies_that_come_backwards() {
    let wide = config().windows(256, 16_384).unwrap();
    let wide = wide.receive_budget(65_536, 4 << 20).unwrap();
    case_with(wide, |scene| {
        let mut offer = offer();
        offer.windows[1] = 14;
        let mut enemy = scene.enemy_at(ENEMY, &offer);
        for id in (1..16_384).rev() {
            let message = depends(packet(RELIABLE, 0, id, 1), 1);
            assert_taken(scene.send(&mut enemy, None, vec![message]));
            scene.said.clear();
        }
        let first = packet(RELIABLE, 0, 0, 1).into();
        assert_taken(scene.send(&mut enemy, None, vec![first]));
        assert_eq!(scene.read(ENEMY), 16_384);
    });
}

/// `[X16 R22]` A packet again with other content, in another frame: the first one counts.
#[test]
fn a_packet_that_comes_again_with_other_content_is_stale() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for len in [10, 0, 11, 1000] {
            let message = depends(packet(RELIABLE, 0, 1, len), 1);
            assert_taken(scene.send(&mut enemy, None, vec![message]));
        }
        let first = packet(RELIABLE, 0, 0, 1).into();
        assert_taken(scene.send(&mut enemy, None, vec![first]));
        let peer = scene.peer();
        let mut receive = || {
            scene
                .host
                .call(|host| host.receive(peer).map(|got| got.payload.len()))
        };
        assert_eq!([receive(), receive(), receive()], [Some(1), Some(10), None]);
    });
}

/// `[X5 X14]` A packet that waits comes again in another mode, or with another dependency: no honest
/// host does that.
#[test]
fn a_packet_does_not_change_its_mode_or_its_dependency() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let first = depends(packet(RELIABLE, 0, 9, 10), 4);
        assert_taken(scene.send(&mut enemy, None, vec![first.clone()]));
        for (mode, dependency) in [(UNRELIABLE, 4), (PASSIVE, 4), (RELIABLE, 5), (RELIABLE, 0)] {
            let other = depends(packet(mode, 0, 9, 10), dependency);
            // The second datagram that says so has the packet forgotten.
            for entries in [1, 0] {
                let taken = scene.send(&mut enemy, None, vec![other.clone()]);
                assert_eq!((taken, audited(scene)), (BAD, entries));
            }
            assert_taken(scene.send(&mut enemy, None, vec![first.clone()]));
        }
        assert_eq!(audited(scene), 1);
    });
}

/// `[X15 X14]` Packets that are passed for good come once more, whole and in part: they are stale.
#[test]
fn packets_that_were_passed_stay_passed() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for (id, read) in [(199, 0), (200, 2)] {
            let newest = packet(UNRELIABLE, 0, id, 1).into();
            assert_taken(scene.send(&mut enemy, None, vec![newest]));
            assert_eq!(scene.read(ENEMY), read);
        }
        for id in 0..=200 {
            for mode in [UNRELIABLE, RELIABLE, PASSIVE] {
                let whole = packet(mode, 0, id, 5).into();
                let part = packet(mode, 0, id, 5).part(256, 261).into();
                let taken = scene.send(&mut enemy, None, vec![whole, part]);
                assert!(matches!(taken, Disposition::Handled(_)), "{id} {taken:?}");
            }
            scene.said.clear();
        }
        assert_eq!((audited(scene), scene.read(ENEMY)), (0, 0));
    });
}

/// `[X12]` A window acknowledgement and packets before one that cannot be: none of them counts.
#[test]
fn good_messages_before_a_packet_that_cannot_be_have_no_effect() {
    case(|scene| {
        let mut enemy = scene.enemy();
        scene.chatter(&mut enemy, 1);
        let before = scene.judged();
        let good = |n: u32| Message::from(packet(RELIABLE, 0, n, 10));
        let bad = depends(packet(RELIABLE, 1, 3, 1), 4);
        let mut messages: Vec<_> = (0..20).map(good).collect();
        messages.push(window(0, 0));
        messages.push(bad);
        for _ in 0..messages.len() {
            let ack = scene.acknowledgement(&enemy);
            let taken = scene.send(&mut enemy, Some(ack), messages.clone());
            assert_eq!((taken, scene.judged()), (BAD, before));
            assert_eq!((audited(scene), scene.read(ENEMY)), (0, 0));
            messages.rotate_right(1);
        }
    });
}
