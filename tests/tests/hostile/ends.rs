//! The end of a connection, forged in every state of it by an attacker that lacks a part of the truth.

use core::time::Duration;

use bytes::Bytes;
use porous_proto::{
    ChannelId, Disconnect, DisconnectReason, Disposition, Listen, Mode, PeerId, PeerState,
};
use porous_tests::encoder;
use porous_tests::remote::Remote;

use crate::forge::{disconnection, farewell, first, is_malformed, refusal, reset, second};
use crate::scene::{ENEMY, STRANGER, Scene, case, offer};

const SECOND: Duration = Duration::from_secs(1);

/// Nonces that are wrong in one way or another.
fn wrong(nonces: [u64; 2]) -> Vec<[u64; 2]> {
    let [theirs, ours] = nonces;
    vec![
        [ours, theirs],
        [theirs, theirs],
        [ours, ours],
        [theirs, ours ^ 1],
        [theirs ^ 1, ours],
        [theirs, ours ^ 1 << 63],
        [theirs ^ 1 << 63, ours],
        [theirs, !ours],
        [1, ours],
        [theirs, 1],
        [u64::MAX, u64::MAX],
    ]
}

/// Every end that lacks a part of the truth: it is ignored, and nothing is said.
fn forge(scene: &mut Scene, nonces: [u64; 2]) {
    for nonces in wrong(nonces) {
        scene.shrugs(ENEMY, &disconnection(nonces));
        scene.shrugs(ENEMY, &farewell(nonces));
        scene.shrugs(ENEMY, &refusal(nonces[1].swap_bytes()));
    }
    let bodies: [&[u8]; 5] = [&[], &[7], &[7, 0, 0], &[7, 0, 0, 0, 0], &[7; 300]];
    for body in bodies {
        scene.shrugs(ENEMY, &encoder::long(0xF0, encoder::VERSION, nonces, body));
    }
    for body in [&[0][..], &[7, 0, 0, 0], &[0; 300]] {
        scene.shrugs(ENEMY, &encoder::long(0xF1, encoder::VERSION, nonces, body));
    }
    for version in [0, 2, u32::MAX] {
        scene.shrugs(ENEMY, &encoder::long(0xF0, version, nonces, &[7, 0, 0, 0]));
        scene.shrugs(ENEMY, &encoder::long(0xF1, version, nonces, &[]));
    }
    for elsewhere in [STRANGER, ENEMY ^ 1 << 31, 0, u32::MAX] {
        scene.shrugs(elsewhere, &disconnection(nonces));
        scene.shrugs(elsewhere, &farewell(nonces));
        scene.shrugs(elsewhere, &refusal(nonces[1]));
    }
    for id in [&[0; 4][..], &[0xFF; 4], &[0; 1], &[0; 8]] {
        scene.shrugs(ENEMY, &reset(id));
    }
    for whole in [disconnection(nonces), farewell(nonces)] {
        for len in 0..whole.len() {
            scene.shrugs(ENEMY, &whole[..len]);
        }
        let mut longer = whole.clone();
        longer.push(0);
        scene.shrugs(ENEMY, &longer);
    }
}

fn disconnect(scene: &mut Scene, peer: PeerId, how: Disconnect) {
    let now = scene.now;
    let done = scene.host.call(|host| host.disconnect(now, peer, how));
    assert_eq!(done, Ok(()));
    scene.flush();
}

/// The enemy is connected: its own side, and its peer here.
fn connected(scene: &mut Scene) -> (Remote<u32>, PeerId) {
    let enemy = scene.settle(ENEMY, 9, &offer());
    let (peer, _) = scene.host.host.peers().last().unwrap();
    (enemy, peer)
}

const NOW: Disconnect = Disconnect::Now { reason: 5 };

/// `[X6 X7 B7]` An attempt ends by nothing that lacks a part.
#[test]
fn forged_ends_do_nothing_to_an_attempt() {
    case(|scene| {
        let enemy = scene.attempt();
        scene.deliver(ENEMY, &first(enemy.nonces[0], &offer()));
        forge(scene, enemy.nonces);
        assert_eq!(scene.state(ENEMY), Some(PeerState::Connecting));
    });
}

/// `[X6 X7 B7]` A connected peer ends by nothing that lacks a part.
#[test]
fn forged_ends_do_nothing_to_a_connection() {
    case(|scene| {
        let (enemy, _) = connected(scene);
        forge(scene, enemy.nonces);
        assert_eq!(scene.state(ENEMY), Some(PeerState::Connected));
    });
}

/// `[X6 X7]` A connection that lives ends by no farewell and no refusal, right as they may be.
#[test]
fn what_ends_other_states_does_nothing_to_a_connection() {
    case(|scene| {
        let (enemy, _) = connected(scene);
        let count = scene.said.len();
        for _ in 0..100 {
            scene.deliver(ENEMY, &farewell(enemy.nonces));
            scene.deliver(ENEMY, &refusal(enemy.nonces[1]));
        }
        assert_eq!(scene.state(ENEMY), Some(PeerState::Connected));
        assert_eq!(scene.said.len(), count);
    });
}

/// `[X6 X7 B7]` A newcomer beside a peer ends by nothing that lacks a part, and the peer neither.
#[test]
fn forged_ends_do_nothing_to_a_newcomer() {
    case(|scene| {
        connected(scene);
        let newcomer = scene.join(ENEMY, 10, &offer());
        forge(scene, newcomer.nonces);
        let states = [PeerState::Connected, PeerState::Connecting];
        assert_eq!(scene.states(ENEMY), states);
    });
}

/// `[X6 X7 B7]` An undecided one ends by nothing that lacks a part.
#[test]
fn forged_ends_do_nothing_to_an_undecided_one() {
    case(|scene| {
        assert_eq!(scene.host.call(|host| host.listen(Listen::Ask)), Ok(()));
        let nonces = [9, scene.ask(ENEMY, 9, &offer())];
        scene.deliver(ENEMY, &second(nonces, &offer()));
        forge(scene, nonces);
        assert_eq!(scene.state(ENEMY), Some(PeerState::Connecting));
    });
}

/// `[X6 X7 B7]` A flush goes on whatever end is forged, and ends at its deadline.
#[test]
fn forged_ends_do_nothing_to_a_flush() {
    case(|scene| {
        let (enemy, peer) = connected(scene);
        let word = Bytes::from_static(b"never acknowledged");
        let sent = scene
            .host
            .call(|host| host.send(peer, ChannelId(0), word, Mode::Reliable));
        assert_eq!(sent, Ok(()));
        let (reason, deadline) = (5, 3 * SECOND);
        disconnect(scene, peer, Disconnect::Flush { reason, deadline });
        forge(scene, enemy.nonces);
        assert_eq!(scene.state(ENEMY), Some(PeerState::Connected));
        scene.pass(4 * SECOND);
        assert_eq!(scene.state(ENEMY), Some(PeerState::Disconnecting));
        scene.pass(5 * SECOND);
        assert_eq!(scene.ends(), [DisconnectReason::GoodbyeUnanswered]);
    });
}

/// `[X6 X7 B7]` A disconnection goes on whatever end is forged, and gives up after 5 s.
#[test]
fn forged_ends_do_nothing_to_a_disconnection() {
    case(|scene| {
        let (enemy, peer) = connected(scene);
        disconnect(scene, peer, NOW);
        forge(scene, enemy.nonces);
        scene.deliver(ENEMY, &refusal(enemy.nonces[1]));
        assert_eq!(scene.state(ENEMY), Some(PeerState::Disconnecting));
        scene.pass(6 * SECOND);
        assert_eq!(scene.ends(), [DisconnectReason::GoodbyeUnanswered]);
    });
}

/// `[X6 X7 R4]` What has ended stays ended, says nothing to forgeries, and goes away.
#[test]
fn forged_ends_do_nothing_to_what_has_ended() {
    case(|scene| {
        let (enemy, _) = connected(scene);
        scene.deliver(ENEMY, &disconnection(enemy.nonces));
        assert_eq!(scene.ends(), [DisconnectReason::ByPeer(7)]);
        forge(scene, enemy.nonces);
        assert_eq!(scene.state(ENEMY), Some(PeerState::Disconnected));
        scene.pass(31 * SECOND);
        assert_eq!(scene.others(), 0);
    });
}

/// `[X6 X7 R4]` So does what we have ended, and what was silent.
#[test]
fn forged_ends_do_nothing_to_what_we_have_ended() {
    case(|scene| {
        let (enemy, peer) = connected(scene);
        disconnect(scene, peer, NOW);
        scene.deliver(ENEMY, &farewell(enemy.nonces));
        assert_eq!(scene.ends(), [DisconnectReason::ByUs(5)]);
        forge(scene, enemy.nonces);
        scene.events.clear();
        scene.pass(31 * SECOND);
        let silent = scene.settle(ENEMY, 10, &offer());
        scene.pass(11 * SECOND);
        assert_eq!(scene.ends(), [DisconnectReason::Silent]);
        forge(scene, silent.nonces);
        scene.pass(30 * SECOND);
        assert_eq!(scene.others(), 0);
    });
}

/// `[X6 X7 R4]` And what was refused.
#[test]
fn forged_ends_do_nothing_to_what_was_refused() {
    case(|scene| {
        let enemy = scene.attempt();
        scene.deliver(ENEMY, &refusal(enemy.nonces[1]));
        forge(scene, enemy.nonces);
        scene.shrugs(ENEMY, &disconnection(enemy.nonces));
        scene.pass(31 * SECOND);
        assert_eq!(scene.others(), 0);
    });
}

/// `[X16 R21]` The end of a connection again and again is acknowledged a few times a second.
#[test]
fn an_end_that_is_repeated_is_acknowledged_a_few_times() {
    case(|scene| {
        let (enemy, _) = connected(scene);
        scene.said.clear();
        for _ in 0..1000 {
            scene.pass(Duration::from_millis(1));
            scene.deliver(ENEMY, &disconnection(enemy.nonces));
        }
        let said = scene.said_to(ENEMY);
        assert!(
            (20..=26).contains(&said.len()),
            "{} in a second",
            said.len()
        );
        assert!(
            said.iter().all(|said| said.len() == 23),
            "no longer than theirs"
        );
        assert_eq!(scene.ends().len(), 1);
    });
}

/// `[X6]` Both ends at once: each gets what it asked for, and one farewell.
#[test]
fn two_ends_that_meet_are_one() {
    case(|scene| {
        let (enemy, peer) = connected(scene);
        disconnect(scene, peer, NOW);
        scene.deliver(ENEMY, &disconnection(enemy.nonces));
        scene.deliver(ENEMY, &farewell(enemy.nonces));
        scene.deliver(ENEMY, &disconnection(enemy.nonces));
        assert_eq!(scene.ends(), [DisconnectReason::ByUs(5)]);
        scene.pass(31 * SECOND);
        assert_eq!(scene.others(), 0);
    });
}

/// `[X6 R18]` An attacker that withholds the farewell delays the end of a connection by 5 s.
#[test]
fn a_disconnection_that_is_answered_by_everything_else_ends() {
    case(|scene| {
        let (mut enemy, peer) = connected(scene);
        disconnect(scene, peer, NOW);
        for _ in 0..60 {
            scene.pass(SECOND / 10);
            let frame = enemy.short(None, Vec::new());
            scene.deliver(ENEMY, &frame.encode(&enemy.shape));
            scene.deliver(ENEMY, &second(enemy.nonces, &offer()));
            scene.deliver(ENEMY, &reset(&[9, 0, 0, 0]));
        }
        assert_eq!(scene.ends(), [DisconnectReason::GoodbyeUnanswered]);
    });
}

/// `[X6 X7]` Every control form that there is not is refused.
#[test]
fn ends_of_other_kinds_are_refused() {
    case(|scene| {
        let (enemy, _) = connected(scene);
        for byte0 in (0xF3..=0xFF).chain(0xD1..=0xDF).chain(0xE1..=0xEF) {
            let form = encoder::long(byte0, encoder::VERSION, enemy.nonces, &[7, 0, 0, 0]);
            let taken = scene.deliver(ENEMY, &form);
            assert!(is_malformed(taken), "{byte0:x}: {taken:?}");
        }
        let end = scene.deliver(ENEMY, &disconnection(enemy.nonces));
        assert!(matches!(end, Disposition::Handled(_)), "{end:?}");
    });
}
