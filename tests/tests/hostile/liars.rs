//! Liars at the other end of an attempt: two nonces, two offers, two applications, or none of their
//! own.

use core::time::Duration;

use porous_proto::{DisconnectReason, Disposition, Ignored, PeerState, Refusal};
use porous_tests::encoder::{Offer, Packet};

use crate::forge::{NOBODY, STATELESS, acknowledgement, cookie, first};
use crate::scene::{Cost, ENEMY, case, offer};

const SECOND: Duration = Duration::from_secs(1);

/// `[B3]` One who asks under one nonce and acknowledges under another is two, and none of them.
#[test]
fn a_liar_with_two_nonces_is_not_connected() {
    let cost = Cost {
        bytes: 500,
        steps: 110,
    };
    case(cost, |scene| {
        let mut enemy = scene.attempt();
        let ours = enemy.nonces[1];
        scene.deliver(ENEMY, &first(8, &offer()));
        scene.deliver(ENEMY, &acknowledgement([9, ours], &offer()));
        scene.deliver(ENEMY, &first(7, &offer()));
        let packet = Packet::whole(1, 0, 0, 0, vec![7]);
        let taken = scene.send(&mut enemy, None, vec![packet.into()]);
        assert_eq!(taken, Disposition::Ignored(Ignored::WrongState));
        scene.pass(11 * SECOND);
        assert_eq!(scene.ends(), [DisconnectReason::Unfinished]);
    });
}

/// `[B3 X10]` One who asks with one offer and acknowledges with another is held to the latter.
#[test]
fn a_liar_with_two_offers_is_held_to_the_acknowledgement() {
    let cost = Cost {
        bytes: 4300,
        steps: 50,
    };
    case(cost, |scene| {
        let ours = scene.attempt().nonces[1];
        scene.deliver(ENEMY, &first(9, &offer()));
        let other = Offer {
            channels: 2,
            packet: 100,
            ..offer()
        };
        scene.deliver(ENEMY, &acknowledgement([9, ours], &other));
        assert_eq!(scene.state(ENEMY), Some(PeerState::Connected));
        let (_, peer) = scene.host.host.peers().last().unwrap();
        assert_eq!((peer.channels(), peer.max_packet()), (2, 100));
    });
}

/// `[B3]` Acknowledged for another application, the attempt ends; asked for one, it goes on.
#[test]
fn only_a_host_that_saw_a_request_can_refuse_it_as_incompatible() {
    let cost = Cost {
        bytes: 360,
        steps: 50,
    };
    case(cost, |scene| {
        let ours = scene.attempt().nonces[1];
        let strange = Offer {
            application: 1,
            ..offer()
        };
        assert_eq!(scene.deliver(ENEMY, &first(9, &strange)), STATELESS);
        assert_eq!(scene.state(ENEMY), Some(PeerState::Connecting));
        assert_eq!(
            scene.deliver(ENEMY, &cookie([9, ours ^ 1], &strange)),
            NOBODY
        );
        scene.deliver(ENEMY, &cookie([9, ours], &strange));
        let incompatible = DisconnectReason::Refused(Refusal::Incompatible { application_id: 1 });
        assert_eq!(scene.ends(), [incompatible]);
    });
}

/// `[X18 R23]` Who sends us back what we send is not connected: it is we.
#[test]
fn a_mirror_is_not_connected() {
    let cost = Cost {
        bytes: 500,
        steps: 110,
    };
    case(cost, |scene| {
        scene.attempt();
        let mut seen = 0;
        for _ in 0..100 {
            scene.pass(SECOND / 20);
            let said: Vec<_> = scene
                .said_to(ENEMY)
                .into_iter()
                .map(<[u8]>::to_vec)
                .collect();
            for datagram in &said[seen..] {
                scene.deliver(ENEMY, datagram);
            }
            seen = said.len();
            assert_eq!(scene.state(ENEMY), Some(PeerState::Connecting));
        }
        assert!(seen < 100, "{seen} datagrams");
        scene.pass(11 * SECOND);
        assert_eq!(scene.ends(), [DisconnectReason::NeverAnswered]);
    });
}
