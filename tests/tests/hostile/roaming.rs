//! A host that follows its peers, and datagrams of a connection from where its peer is not.

use alloc::collections::BTreeSet;
use core::time::Duration;

use porous_proto::{ChannelId, Event, Mode, PeerState};
use porous_sim::rand_core::Rng;
use porous_tests::remote::Remote;

use crate::costs::test_of;
use crate::forge::{chance, disconnection};
use crate::guest::{GUEST, Guest};
use crate::peers::{assert_taken, challenge, noop, ping, read_frame, response};
use crate::scene::{ENEMY, FRIEND, STRANGER, Scene, case_named, config};

/// A second address of the enemy.
const OTHER: u32 = 900;
const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const PATH_CHALLENGE: u8 = 7;

/// Attacks a host that follows its peers. Three bytes go to anybody for each one that came.
#[track_caller]
fn case(attack: impl FnOnce(&mut Scene)) {
    case_named(test_of(&attack), |scenes| {
        scenes.attack(config().roaming(true), |scene| {
            scene.times = 3;
            attack(scene);
        });
    });
}

/// The newest challenge that went there since `said` was emptied.
fn challenge_to(scene: &Scene, to: u32) -> Option<u64> {
    let frames = scene.said_to(to).into_iter().rev().filter_map(read_frame);
    let mut controls = frames.flat_map(|frame| frame.controls);
    let (_, data) = controls.find(|(subtype, _)| *subtype == PATH_CHALLENGE)?;
    Some(u64::from_le_bytes(data.try_into().unwrap()))
}

/// The enemy's next frame comes from there, and is taken: the challenge that this is answered by.
fn challenge_from(scene: &mut Scene, enemy: &mut Remote<u32>, from: u32) -> Option<u64> {
    scene.said.clear();
    let frame = enemy.short(None, vec![noop()]).encode(&enemy.shape);
    assert_taken(scene.deliver(from, &frame));
    challenge_to(scene, from)
}

/// Where peers have moved to, since `events` was emptied.
fn moves(scene: &Scene) -> Vec<u32> {
    let to = |event: &Event<u32>| {
        if let Event::PeerMoved { to, .. } = *event {
            Some(to)
        } else {
            None
        }
    };
    scene.events.iter().filter_map(to).collect()
}

/// The enemy is connected, and where it was.
#[track_caller]
fn assert_stays(scene: &Scene) {
    assert!(moves(scene).is_empty());
    assert_eq!(scene.state(ENEMY), Some(PeerState::Connected));
}

/// All addresses that were sent something, but those.
fn others(scene: &Scene, but: &[u32]) -> BTreeSet<u32> {
    let to = scene.said.iter().map(|&(to, _)| to);
    to.filter(|to| !but.contains(to)).collect()
}

/// The attacker behind all this goes to another address and says so: the host follows.
fn assert_follows(scene: &mut Scene, enemy: &mut Remote<u32>) {
    scene.pass(2 * SECOND);
    scene.events.clear();
    let data = challenge_from(scene, enemy, OTHER).unwrap();
    scene.trust(OTHER);
    enemy.address = OTHER;
    assert_taken(scene.send(enemy, None, vec![response(data)]));
    assert_eq!(moves(scene), [OTHER]);
    assert_eq!(scene.state(OTHER), Some(PeerState::Connected));
}

/// A guest and the host talk for ten seconds, while copies come from these before the originals do.
/// Returns how many of these were sent something, and how many datagrams.
fn copies(scene: &mut Scene, from: &[u32]) -> [usize; 2] {
    let mut guest = Guest::arrive(scene, 5);
    guest.stay(scene, SECOND);
    guest.copied_from = from.to_vec();
    let peer = scene.host.host.peers().last().unwrap().0;
    for n in 0..200 {
        guest.send(vec![n]);
        let answer = scene
            .host
            .call(|host| host.send(peer, ChannelId(0), vec![n], Mode::Reliable));
        assert_eq!(answer, Ok(()));
        guest.stay(scene, 50 * MS);
    }
    assert!(moves(scene).is_empty());
    assert_eq!(scene.state(GUEST), Some(PeerState::Connected));
    assert_eq!(scene.read(GUEST), 200);
    let next = || guest.host.receive(guest.peer.unwrap());
    let read = core::iter::from_fn(next).map(|packet| packet.payload[0]);
    assert!(read.eq(0..200), "what the host has said");
    let asked = others(scene, &[GUEST]);
    let said = scene.said.iter().filter(|(to, _)| asked.contains(to));
    [asked.len(), said.count()]
}

/// `[X26 X16 R19 R21]` All that a peer sends comes from another address first, which is challenged now
/// and then, and answers nothing. The peer stays where it is, and everything is delivered.
#[test]
fn copies_from_one_other_address_move_nobody() {
    case(|scene| {
        let [asked, said] = copies(scene, &[STRANGER]);
        assert!(asked == 1 && said < 400, "{asked} were asked, {said} times");
    });
}

/// `[X26 X16 R19 R21]` All that a peer sends comes from 100 addresses first: three at once are
/// challenged, for a second or so.
#[test]
fn copies_from_a_hundred_addresses_move_nobody() {
    case(|scene| {
        let from: Vec<u32> = (STRANGER..STRANGER + 100).collect();
        let [asked, said] = copies(scene, &from);
        assert!((3..=33).contains(&asked), "{asked} were asked");
        assert!(said < 66, "{said} times");
    });
}

/// `[X26 X13 R19 R21]` The newest frame of a connection comes from 10,000 addresses, one after the
/// other: three of them a second are challenged, and a peer that moves afterwards is followed.
#[test]
fn newest_frames_from_ever_new_addresses_are_asked_three_at_once() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for n in 0..10_000_u16 {
            let frame = enemy.short(None, vec![ping(n)]).encode(&enemy.shape);
            assert_taken(scene.deliver(STRANGER + u32::from(n), &frame));
            scene.pass(MS);
        }
        let asked = others(scene, &[ENEMY]).len();
        assert!((3..=33).contains(&asked), "{asked} were asked");
        assert_stays(scene);
        assert_follows(scene, &mut enemy);
    });
}

/// `[X26 R15 R17 R21]` 10,000 datagrams with 100 challenges each come from four addresses in turn:
/// three of these get one response for each at most.
#[test]
fn challenges_from_other_addresses_are_answered_once_a_datagram() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let (mut answers, mut answered) = ([0; 4], BTreeSet::new());
        for n in 0..10_000 {
            let (which, data) = (n % 4, n as u64);
            let challenges = (0..100).map(|k| challenge(data << 8 | k)).collect();
            let frame = enemy.short(None, challenges).encode(&enemy.shape);
            let from = STRANGER + u32::try_from(which).unwrap();
            scene.said.clear();
            assert_taken(scene.deliver(from, &frame));
            answers[which] += scene.said_to(from).len();
            answered.extend(others(scene, &[ENEMY]));
            scene.pass(MS);
        }
        assert_eq!(answers, [2500, 2500, 2500, 0]);
        assert_eq!(answered.len(), 3);
        assert_stays(scene);
    });
}

/// `[X26 R15 R19]` Responses without a challenge, nearly right ones, right ones from the wrong address,
/// and late ones: none moves the peer.
#[test]
fn responses_that_nobody_asked_for_move_nobody() {
    case(|scene| {
        let (mut enemy, mut chance) = (scene.enemy(), chance("responses"));
        let mut late = 0;
        for _ in 0..100 {
            let asked = [OTHER, STRANGER].map(|at| challenge_from(scene, &mut enemy, at).unwrap());
            let [right, of_another] = asked;
            let near = [right ^ 1, right ^ 1 << 63, !right, right.swap_bytes()];
            let far = [0, 1, u64::MAX, late, of_another, chance.next_u64()];
            let wrong = near.into_iter().chain(far).map(|data| (OTHER, data));
            let elsewhere = [ENEMY, FRIEND, STRANGER, STRANGER + 1].map(|at| (at, right));
            for (from, data) in wrong.chain(elsewhere) {
                // What comes from where the peer is makes all before it old, but not what follows.
                let frame = enemy.short(None, vec![response(data)]);
                assert_taken(scene.deliver(from, &frame.encode(&enemy.shape)));
            }
            late = right;
            scene.pass(2 * SECOND);
        }
        assert_stays(scene);
        assert_follows(scene, &mut enemy);
    });
}

/// `[X7 X26 R21]` Goodbyes with one of two nonces right come from another address, and end nothing.
/// With both right it is the peer that leaves.
#[test]
fn goodbyes_from_other_addresses_need_both_nonces() {
    case(|scene| {
        let enemy = scene.enemy();
        let [theirs, ours] = enemy.nonces;
        let wrong = [
            [theirs, ours ^ 1],
            [theirs ^ 1, ours],
            [ours, theirs],
            [theirs, 0],
            [0, ours],
            [theirs, theirs],
            [ours, ours],
        ];
        for n in 0..1000 {
            for nonces in wrong {
                scene.deliver(OTHER, &disconnection(nonces));
                scene.deliver(STRANGER + n, &disconnection(nonces));
            }
            scene.pass(MS);
        }
        assert_eq!(scene.state(ENEMY), Some(PeerState::Connected));
        assert_eq!(scene.ends(), []);
        assert!(others(scene, &[ENEMY]).is_empty());
        scene.said.clear();
        assert_taken(scene.deliver(OTHER + 1, &disconnection(enemy.nonces)));
        assert_eq!(scene.ends().len(), 1);
        assert_eq!(scene.said_to(OTHER + 1).len(), 1);
    });
}

/// `[X26 R15 R17]` Challenges and responses come from where the peer is, 100 in a datagram: they are
/// answered there, and no other address is sent anything.
#[test]
fn challenges_and_responses_from_where_the_peer_is_go_nowhere_else() {
    case(|scene| {
        let mut enemy = scene.enemy();
        let mut answers = 0;
        for n in 0..5000_u64 {
            let words = |k| [challenge(n << 8 | k), response(n << 8 | k)];
            let words = (0..50).flat_map(words).collect();
            let ack = scene.acknowledgement(&enemy);
            scene.said.clear();
            assert_taken(scene.send(&mut enemy, Some(ack), words));
            answers += scene.said.len();
            assert!(others(scene, &[ENEMY]).is_empty());
            scene.pass(MS);
        }
        assert!((1..=5000).contains(&answers), "{answers} datagrams");
        assert!(moves(scene).is_empty());
        assert_follows(scene, &mut enemy);
    });
}

/// `[X26 R16 R19]` A peer is at two addresses in turn, a thousand times, and proves each: it is
/// followed once a second, and goes on.
#[test]
fn two_addresses_that_take_turns_are_followed_once_a_second() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for n in 0..1000_u16 {
            enemy.address = if n % 2 == 0 { OTHER } else { ENEMY };
            scene.said.clear();
            let ack = scene.acknowledgement(&enemy);
            assert_taken(scene.send(&mut enemy, Some(ack), vec![ping(n)]));
            if let Some(data) = challenge_to(scene, enemy.address) {
                scene.trust(OTHER);
                assert_taken(scene.send(&mut enemy, None, vec![response(data)]));
            }
            scene.pass(100 * MS);
        }
        let count = moves(scene).len();
        assert!((50..=101).contains(&count), "{count} moves");
        assert_eq!(scene.ends(), []);
    });
}

/// `[X26 X7 R19]` What a peer sends comes from the address of another one, which does not know it and
/// says so: both stay where they are.
#[test]
fn copies_from_where_another_peer_is_harm_neither() {
    case(|scene| {
        let mut enemy = scene.enemy();
        for n in 0..1000_u16 {
            let frame = enemy.short(None, vec![ping(n)]).encode(&enemy.shape);
            assert_taken(scene.deliver(FRIEND, &frame));
            scene.pass(10 * MS);
        }
        assert_stays(scene);
        assert_follows(scene, &mut enemy);
    });
}
