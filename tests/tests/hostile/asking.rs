//! Hosts that have proved an address and are not let in yet.
//!
//! Undecided ones, newcomers beside a peer, and how many places there are.

use core::time::Duration;

use porous_proto::{
    AnswerError, Config, DisconnectReason, Disposition, Event, Ignored, Listen, PeerId, PeerState,
};
use porous_tests::encoder::Packet;

use crate::forge::{STATELESS, disconnection, farewell, first, refusal, reset, second};
use crate::scene::{ENEMY, STRANGER, Scene, case, case_with, config, offer};

const SECOND: Duration = Duration::from_secs(1);

/// Places beside the friend's.
const PLACES: u32 = 7;

/// From now on the application is asked.
fn ask(scene: &mut Scene) {
    let asks = scene.host.call(|host| host.listen(Listen::Ask));
    assert_eq!(asks, Ok(()));
}

/// Brings a cookie back from there, which makes a peer.
fn knock(scene: &mut Scene, from: u32, nonce: u64) -> ([u64; 2], PeerId) {
    let nonces = [nonce, scene.ask(from, nonce, &offer())];
    let taken = scene.deliver(from, &second(nonces, &offer()));
    let Disposition::Accepted(peer) = taken else {
        panic!("{taken:?}");
    };
    (nonces, peer)
}

/// The newcomers that the application was asked about.
fn asked(scene: &Scene) -> usize {
    let is_request = |event: &&Event<u32>| matches!(event, Event::Request { .. });
    scene.events.iter().filter(is_request).count()
}

/// `[R1 R3 X2]` Undecided ones take the places that there are, and the next one is refused.
#[test]
fn there_are_no_more_undecided_ones_than_places() {
    case(|scene| {
        ask(scene);
        for n in 0..PLACES {
            knock(scene, STRANGER + n, u64::from(STRANGER + n));
        }
        assert_eq!(asked(scene), 7);
        for n in PLACES..100 {
            let taken = scene.deliver(STRANGER + n, &first(9, &offer()));
            assert_eq!(taken, STATELESS);
            assert_eq!(scene.said.last().unwrap().1[0], 0xE0);
        }
        assert_eq!((asked(scene), scene.others()), (7, 7));
    });
}

/// `[B3 R3]` Cookies are not places: of a hundred that come back together as many are let in as fit.
#[test]
fn a_hundred_cookies_that_come_back_at_once_fill_the_places() {
    case(|scene| {
        let cookies: Vec<_> = (STRANGER..STRANGER + 100)
            .map(|from| (from, scene.prove(from, u64::from(from), &offer())))
            .collect();
        let mut accepted = 0;
        for (from, request) in &cookies {
            let taken = scene.deliver(*from, request);
            accepted += u32::from(matches!(taken, Disposition::Accepted(_)));
        }
        assert_eq!(accepted, PLACES);
        assert!(
            cookies
                .iter()
                .all(|&(from, _)| scene.said_to(from).len() == 2)
        );
        for n in 0..PLACES {
            scene.trust(STRANGER + n);
        }
    });
}

/// `[B3 R3]` The last place is given once, a place that is free again is given again.
#[test]
fn the_last_place_is_given_once() {
    case(|scene| {
        for n in 0..PLACES - 1 {
            scene.settle(STRANGER + n, u64::from(STRANGER + n), &offer());
        }
        let late: [_; 2] =
            [50, 51].map(|n| scene.prove(STRANGER + n, u64::from(STRANGER + n), &offer()));
        let last = scene.settle(STRANGER + 40, u64::from(STRANGER + 40), &offer());
        for (n, request) in [50, 51].into_iter().zip(&late) {
            assert_eq!(scene.deliver(STRANGER + n, request), STATELESS);
        }
        scene.deliver(last.address, &disconnection(last.nonces));
        let taken = [50, 51].map(|n| scene.deliver(STRANGER + n, &late[n as usize - 50]));
        assert!(matches!(taken[0], Disposition::Accepted(_)), "{taken:?}");
        assert_eq!(taken[1], STATELESS);
        scene.trust(STRANGER + 50);
    });
}

/// `[X2 R1]` However many requests of one address are undecided, it takes one place.
#[test]
fn an_address_takes_one_place_while_it_is_undecided() {
    case(|scene| {
        ask(scene);
        for n in 1..=100 {
            scene.pass(SECOND / 10);
            knock(scene, STRANGER, n);
        }
        let waits = |state: &&PeerState| **state == PeerState::Connecting;
        assert_eq!(scene.states(STRANGER).iter().filter(waits).count(), 1);
        knock(scene, STRANGER + 1, u64::from(STRANGER + 1));
    });
}

/// `[X2 R3 B3]` A connected peer that asks again and again takes one more place, and no other's.
#[test]
fn an_address_takes_one_more_place_while_it_comes_again() {
    case(|scene| {
        scene.settle(STRANGER, 1, &offer());
        for n in 2..=100 {
            scene.pass(SECOND / 10);
            knock(scene, STRANGER, n);
        }
        let waits = |state: &&PeerState| **state == PeerState::Connecting;
        assert_eq!(scene.states(STRANGER).iter().filter(waits).count(), 1);
        for n in 1..PLACES - 1 {
            scene.settle(STRANGER + n, u64::from(STRANGER + n), &offer());
        }
    });
}

/// `[R1 X3]` The newest newcomer at an address is the one that may come in.
#[test]
fn the_newest_newcomer_of_an_address_is_the_one() {
    case(|scene| {
        scene.settle(STRANGER, 1, &offer());
        let (old, _) = knock(scene, STRANGER, 2);
        let taken = scene.deliver(STRANGER, &second(old, &offer()));
        assert!(matches!(taken, Disposition::Handled(_)), "{taken:?}");
        scene.events.clear();
        scene.settle(STRANGER, 3, &offer());
        scene.pass(SECOND);
        let end = |event: &Event<u32>| matches!(event, Event::Disconnected { .. });
        assert_eq!(scene.events.iter().filter(|event| end(event)).count(), 1);
        let taken = scene.deliver(STRANGER, &second(old, &offer()));
        assert!(matches!(taken, Disposition::Handled(_)), "{taken:?}");
        assert_eq!(
            scene.said_to(STRANGER).last().unwrap()[0],
            0xF0,
            "it is over"
        );
        let connected = |state: &&PeerState| **state == PeerState::Connected;
        assert_eq!(scene.states(STRANGER).iter().filter(connected).count(), 1);
    });
}

/// `[R1]` The undecided that vanish are refused after 10 s, and their places are free.
#[test]
fn undecided_ones_that_vanish_leave_their_places() {
    case(|scene| {
        ask(scene);
        for n in 0..PLACES {
            knock(scene, STRANGER + n, u64::from(STRANGER + n));
        }
        scene.pass(9 * SECOND);
        assert_eq!(scene.deliver(ENEMY, &first(9, &offer())), STATELESS);
        scene.pass(2 * SECOND);
        let timed_out = scene.events.iter().filter(|event| {
            let reason = DisconnectReason::Unfinished;
            matches!(event, Event::Disconnected { reason: why, .. } if *why == reason)
        });
        assert_eq!(timed_out.count(), 7);
        knock(scene, ENEMY, 9);
    });
}

/// `[R1]` An answer of the application that comes too late, or twice, has no effect.
#[test]
fn an_answer_that_comes_too_late_changes_nothing() {
    case(|scene| {
        ask(scene);
        let (_, gone) = knock(scene, STRANGER, 9);
        let (nonces, left) = knock(scene, STRANGER + 1, u64::from(STRANGER + 1));
        scene.deliver(STRANGER + 1, &disconnection(nonces));
        scene.pass(11 * SECOND);
        for peer in [gone, left] {
            let now = scene.now;
            let late = scene.host.call(|host| host.accept(now, peer));
            assert_eq!(late, Err(AnswerError::UnknownPeer));
            let late = scene.host.call(|host| host.refuse(now, peer, b"no"));
            assert_eq!(late, Err(AnswerError::UnknownPeer));
        }
        scene.pass(SECOND);
        assert_eq!(scene.states(STRANGER), [PeerState::Disconnected]);
    });
}

/// `[R1 R21]` An undecided one hears nothing, however often it repeats itself.
#[test]
fn an_undecided_one_hears_nothing() {
    case(|scene| {
        ask(scene);
        let (nonces, _) = knock(scene, STRANGER, 9);
        scene.said.clear();
        for _ in 0..1000 {
            let taken = scene.deliver(STRANGER, &second(nonces, &offer()));
            assert!(matches!(taken, Disposition::Handled(_)), "{taken:?}");
        }
        assert_eq!((scene.said.len(), asked(scene)), (0, 1));
    });
}

/// `[R1 X6]` Frames, resets and farewells of an undecided one mean nothing; it can take itself back.
#[test]
fn an_undecided_one_can_only_leave() {
    case(|scene| {
        ask(scene);
        let (nonces, peer) = knock(scene, STRANGER, 9);
        let now = scene.now;
        scene.deliver(STRANGER, &reset(&[9, 0, 0, 0]));
        scene.deliver(STRANGER, &farewell(nonces));
        scene.shrugs(STRANGER, &disconnection([9, 9]));
        scene.deliver(STRANGER, &refusal(nonces[1]));
        assert_eq!(scene.state(STRANGER), Some(PeerState::Connecting));
        scene.deliver(STRANGER, &disconnection(nonces));
        assert_eq!(scene.state(STRANGER), Some(PeerState::Disconnected));
        let late = scene.host.call(|host| host.accept(now, peer));
        assert_eq!(late, Err(AnswerError::UnknownPeer));
    });
}

/// `[R1 R2]` A newcomer that was refused is refused again, a few times a second; the application is
/// asked once.
#[test]
fn a_refused_one_is_refused_again_and_again() {
    case(|scene| {
        ask(scene);
        let (nonces, peer) = knock(scene, STRANGER, 9);
        let now = scene.now;
        let refused = scene.host.call(|host| host.refuse(now, peer, &[7; 64]));
        assert_eq!(refused, Ok(()));
        scene.flush();
        for _ in 0..1000 {
            scene.pass(SECOND / 100);
            scene.deliver(STRANGER, &second(nonces, &offer()));
        }
        let said = scene.said_to(STRANGER).len();
        assert!((200..=207).contains(&said), "{said} in ten seconds");
        assert_eq!((asked(scene), scene.others()), (1, 1));
    });
}

/// `[R3]` A host without places refuses every newcomer.
#[test]
fn a_host_without_places_refuses_everybody() {
    case_with(config().max_peers(1), |scene| {
        for n in 0..1000 {
            let taken = scene.deliver(STRANGER + n, &first(9, &offer()));
            assert_eq!(taken, STATELESS);
            assert_eq!(scene.said_to(STRANGER + n)[0].len(), 29);
        }
        let guess = second([9, 9], &offer());
        assert_eq!(scene.deliver(ENEMY, &guess), STATELESS);
        assert_eq!(scene.others(), 0);
    });
}

/// `[X7 B3]` A newcomer beside a peer is not connected until a frame of its own connection has come.
#[test]
fn a_newcomer_is_proved_by_a_frame_of_its_own() {
    let config: Config = config();
    case_with(config, |scene| {
        let mut old = scene.settle(STRANGER, 1, &offer());
        let (nonces, newcomer) = knock(scene, STRANGER, 2);
        scene.trust(STRANGER);
        let state = |scene: &Scene| scene.host.host.peer(newcomer).unwrap().state();
        let packet = Packet::whole(1, 0, 0, 0, vec![7]);
        let taken = scene.send(&mut old, None, vec![packet.into()]);
        assert!(matches!(taken, Disposition::Handled(_)), "{taken:?}");
        scene.deliver(STRANGER, &reset(&[2, 0, 0, 0]));
        let wrong = Disposition::Ignored(Ignored::UnknownNonce);
        assert_eq!(
            scene.deliver(STRANGER, &disconnection([1, nonces[1]])),
            wrong
        );
        assert_eq!(state(scene), PeerState::Connecting);
        scene.pass(11 * SECOND);
        assert_ne!(state(scene), PeerState::Connected);
    });
}
