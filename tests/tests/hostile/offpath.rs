//! Attackers that know which hosts talk to each other and see nothing of it.
//!
//! How often a guess is taken, and what it does then. Each number of hits is held against what
//! `docs/wire.md` lets one compute.

use porous_proto::{
    ChannelId, Config, Disposition, Ignored, Integrity, Malformed, Mode, PeerState,
};
use porous_sim::rand_core::Rng;
use porous_tests::config::is_sealed;
use porous_tests::encoder::{Check, Offer, Packet, Shape, Short};

use crate::forge::{
    NOBODY, acknowledgement, chance, cookie, disconnection, farewell, first, id_of, refusal, reset,
    second,
};
use crate::peers::malformed;
use crate::scene::{ENEMY, FRIEND, STRANGER, Scene, case, case_with, config, offer};

/// Frames that an attacker has sent, by what became of them.
#[derive(Debug, Default)]
struct Tally {
    /// Taken as frames of the connection.
    taken: u32,
    /// Those that reached the connection and were refused there.
    judged: u32,
    /// Those that reached no connection.
    lost: u32,
}

/// Sends `count` frames with random ids in the name of [`ENEMY`], which is the victim here.
fn guess(scene: &mut Scene, count: u32, id_len: usize, width: u8, messages: &[Packet]) -> Tally {
    let (mut chance, mut tally) = (chance("guesses"), Tally::default());
    if scene.state(ENEMY).is_none() {
        scene.settle(ENEMY, 9, &offer());
    }
    for n in 0..count {
        let mut connection_id = vec![0; id_len];
        chance.fill_bytes(&mut connection_id);
        let frame = Short {
            connection_id,
            id: chance.next_u64(),
            width,
            nonce: false,
            ack_now: false,
            ack: None,
            messages: messages.iter().cloned().map(Into::into).collect(),
        };
        let shape = Shape {
            id_bytes: 2,
            window: 256,
            check: Some(Check {
                is_crc: false,
                nonces: [0; 2].map(|_| chance.next_u64()),
            }),
        };
        scene.now = scene.now + core::time::Duration::from_micros(u64::from(n % 2));
        match scene.deliver(ENEMY, &frame.encode(&shape)) {
            Disposition::Handled(_) => tally.taken += 1,
            Disposition::Ignored(
                Ignored::UnknownConnection | Ignored::TooManyReplies | Ignored::WrongAddress,
            ) => tally.lost += 1,
            Disposition::Ignored(_) => tally.judged += 1,
            Disposition::Accepted(peer) => panic!("{peer:?}"),
        }
    }
    tally
}

/// Of 25,600 guesses at an id of one byte, those that reach a connection. One that is sealed takes them from any
/// address, as the friend's is then.
fn hits() -> u32 {
    if is_sealed() { 200 } else { 100 }
}

fn with_ids(config: Config, len: u8) -> Config {
    config.connection_id_len(len).unwrap()
}

/// Within five standard deviations of what is expected.
fn is_about(count: u32, expected: u32) -> bool {
    let off = count.abs_diff(expected);
    off * off <= 25 * expected
}

/// `[X7 X13]` Of 100,000 guesses at an id of four bytes none hits: 2^-32 each.
#[test]
fn connection_ids_of_four_bytes_are_not_guessed() {
    case(|scene| {
        let tally = guess(scene, 100_000, 4, 1, &[]);
        assert_eq!(tally.lost, 100_000, "{tally:?}");
    });
}

/// `[X7 X13]` Of 256,000 guesses at an id of two bytes about four reach the connection.
#[test]
fn connection_ids_of_two_bytes_are_guessed_once_in_65536() {
    case_with(with_ids(config(), 2), |scene| {
        let tally = guess(scene, 262_144, 2, 4, &[]);
        assert!(tally.taken + tally.judged <= 4 + 10, "{tally:?}");
        assert!(tally.taken + tally.judged >= 1, "{tally:?}");
    });
}

/// `[X7 X13 X19]` Of guesses at an id of one byte one in 256 reaches the connection, where it has to
/// guess another 32 bits.
#[test]
fn connection_ids_of_one_byte_are_guessed_once_in_256() {
    case_with(with_ids(config(), 1), |scene| {
        let tally = guess(scene, 25_600, 1, 4, &[]);
        assert!(is_about(tally.taken + tally.judged, hits()), "{tally:?}");
        assert_eq!(tally.taken, 0);
    });
}

/// `[X7 X19]` The same where the check covers all bytes, with ids of each width.
#[test]
fn a_check_of_all_bytes_is_not_guessed() {
    let config = with_ids(config(), 1).integrity(Integrity::Crc32c);
    case_with(config, |scene| {
        scene.settle(
            ENEMY,
            9,
            &Offer {
                integrity: 1,
                ..offer()
            },
        );
        let word = Packet::whole(0, 0, 0, 0, vec![7; 40]);
        for width in 1..=4 {
            let tally = guess(scene, 25_600, 1, width, core::slice::from_ref(&word));
            assert!(is_about(tally.judged, hits()), "{tally:?}");
            assert_eq!(tally.taken, 0);
        }
        assert_eq!(scene.read(ENEMY), 0);
    });
}

/// `[X7 X13 X19]` What it takes to forge a frame: 2^32 checks for each of the ids that a client has,
/// 2^48 datagrams in all. Here the id is known, and a million checks hit nothing. P15.
#[test]
fn a_million_guesses_at_the_check_bring_nothing() {
    case_with(with_ids(config(), 1), |scene| {
        let mut enemy = scene.settle(ENEMY, 9, &offer());
        let word = Packet::whole(0, 3, 100, 0, vec![7; 40]);
        let frame = enemy.short(None, vec![word.into()]);
        enemy.shape.check = None;
        let bare = frame.encode(&enemy.shape);
        let mut chance = chance("checks");
        for _ in 0..1_000_000 {
            let guessed = [&bare[..], &chance.next_u32().to_le_bytes()].concat();
            let taken = scene.deliver(ENEMY, &guessed);
            assert_eq!(taken, malformed(Malformed::Integrity));
        }
        assert_eq!(scene.read(ENEMY), 0);
    });
}

/// `[X6 X7]` Nonces of 64 bits are not guessed, neither for an end nor for an answer.
#[test]
fn nonces_are_not_guessed() {
    case(|scene| {
        scene.attempt();
        let mut chance = chance("nonces");
        for _ in 0..20_000 {
            let nonces = [chance.next_u64() | 1, chance.next_u64() | 1];
            for from in [FRIEND, ENEMY] {
                assert_eq!(scene.deliver(from, &disconnection(nonces)), NOBODY);
                assert_eq!(scene.deliver(from, &farewell(nonces)), NOBODY);
                assert_eq!(scene.deliver(from, &refusal(nonces[1])), NOBODY);
                assert_eq!(
                    scene.deliver(from, &acknowledgement(nonces, &offer())),
                    NOBODY
                );
                assert_eq!(scene.deliver(from, &cookie(nonces, &offer())), NOBODY);
            }
        }
        assert_eq!(
            (scene.state(ENEMY), scene.events.len()),
            (Some(PeerState::Connecting), 0)
        );
    });
}

/// `[X3]` Cookies of 64 bits are not guessed: 2^-62 each.
#[test]
fn cookies_are_not_guessed() {
    case(|scene| {
        let mut chance = chance("cookies");
        for _ in 0..100_000 {
            let request = second([9, chance.next_u64()], &offer());
            let taken = scene.deliver(STRANGER, &request);
            assert!(matches!(taken, Disposition::Ignored(_)), "{taken:?}");
        }
        assert_eq!(scene.others(), 0);
    });
}

/// `[X7]` Resets that guess the id of one connection in 256 make the host impatient, and end nothing.
#[test]
fn resets_that_are_guessed_end_nothing() {
    case_with(with_ids(config(), 1), |scene| {
        let mut hits = 0;
        for round in 0..20 {
            for id in 0..=255 {
                let taken = scene.deliver(FRIEND, &reset(&[id]));
                hits += u32::from(matches!(taken, Disposition::Handled(_)));
            }
            assert_eq!(hits, round + 1);
            scene.pass(core::time::Duration::from_secs(1));
        }
    });
}

/// `[X7 X2]` Requests in the friend's name get cookies that only the friend sees: it stays.
#[test]
fn requests_in_the_name_of_a_friend_replace_nobody() {
    case(|scene| {
        for n in 1..10_000 {
            let taken = scene.deliver(FRIEND, &first(n, &offer()));
            assert!(matches!(taken, Disposition::Ignored(_)), "{taken:?}");
        }
        assert_eq!(scene.states(FRIEND), [PeerState::Connected]);
    });
}

/// `[X7 R1]` A frame stands for the acknowledgement of an attempt only under the id that its request
/// has named: 2^-32 of guesses.
#[test]
fn an_attempt_is_not_completed_by_a_guess() {
    case(|scene| {
        let enemy = scene.attempt();
        let mut chance = chance("ids");
        scene.deliver(ENEMY, &first(9, &offer()));
        for _ in 0..100_000 {
            let mut frame = vec![0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            chance.fill_bytes(&mut frame[1..5]);
            let taken = scene.deliver(ENEMY, &frame);
            assert!(matches!(taken, Disposition::Ignored(_)), "{taken:?}");
        }
        assert_eq!(scene.state(ENEMY), Some(PeerState::Connecting));
        // Nor by one that knows the id, and the nonce of its own request, but not the host's.
        let frame = enemy.clone().short(None, Vec::new());
        for nonces in [[9, 0], [9, 9], [0, 9], [9, chance.next_u64()]] {
            let mut shape = enemy.shape;
            shape.check = Some(Check {
                is_crc: false,
                nonces,
            });
            let taken = scene.deliver(ENEMY, &frame.encode(&shape));
            assert_eq!(taken, malformed(Malformed::Integrity));
        }
        assert_eq!(scene.state(ENEMY), Some(PeerState::Connecting));
        let mut shape = enemy.shape;
        shape.check = Some(Check {
            is_crc: false,
            nonces: [9, enemy.nonces[1]],
        });
        let taken = scene.deliver(ENEMY, &frame.encode(&shape));
        assert!(matches!(taken, Disposition::Handled(_)), "{taken:?}");
    });
}

/// `[X7 R1]` A liar that asks in the name of the sought host and tries all ids of two bytes is not taken
/// for it: a frame stands for the acknowledgement only if its check is made of both nonces, of which the
/// liar knows its own. C9.
#[test]
fn a_forged_request_and_a_guessed_id_connect_nobody() {
    case_with(with_ids(config(), 2), |scene| {
        let mut liar = scene.attempt();
        scene.deliver(ENEMY, &first(9, &offer()));
        let (right, ours) = (liar.connection_id[..2].to_vec(), liar.nonces[1]);
        let (mut frame, mut shape) = (liar.short(None, Vec::new()), liar.shape);
        let with = |ours| {
            Some(Check {
                is_crc: false,
                nonces: [9, ours],
            })
        };
        shape.check = with(ours ^ 1);
        for id in 0..=u16::MAX {
            frame.connection_id = id.to_le_bytes().to_vec();
            let taken = scene.deliver(ENEMY, &frame.encode(&shape));
            assert!(matches!(taken, Disposition::Ignored(_)), "{taken:?}");
        }
        assert_eq!(scene.state(ENEMY), Some(PeerState::Connecting));
        // With both nonces it would have been the host that is sought.
        (frame.connection_id, shape.check) = (right, with(ours));
        let taken = scene.deliver(ENEMY, &frame.encode(&shape));
        assert!(matches!(taken, Disposition::Handled(_)), "{taken:?}");
    });
}

/// `[X7 X19]` A frame of one connection is nothing from the address of another, or from nowhere.
#[test]
fn a_frame_from_another_address_is_nothing() {
    case(|scene| {
        let mut enemy = scene.settle(
            ENEMY,
            9,
            &Offer {
                integrity: 1,
                ..offer()
            },
        );
        let (peer, _) = scene.host.host.peers().last().unwrap();
        let sent = scene
            .host
            .call(|host| host.send(peer, ChannelId(0), &b"word"[..], Mode::Reliable));
        assert_eq!(sent, Ok(()));
        for n in 0..1000 {
            let packet = Packet::whole(1, 0, n, 0, vec![7]);
            let frame = enemy.short(None, vec![packet.into()]).encode(&enemy.shape);
            for from in [FRIEND, STRANGER, 0, u32::MAX] {
                let wrong = Disposition::Ignored(Ignored::WrongAddress);
                assert_eq!(scene.deliver(from, &frame), wrong);
            }
        }
        assert_eq!((scene.read(FRIEND), scene.read(ENEMY)), (0, 0));
        scene.shrugs(STRANGER, &reset(&id_of(9)));
    });
}
