//! Connections that come and go without end, resets, and what is left of them.

use core::time::Duration;

use porous_proto::{DisconnectReason, Disposition, PeerState};
use porous_tests::encoder::Offer;

use crate::forge::{disconnection, farewell, first, id_of, reset, second};
use crate::guest::{GUEST, Guest};
use crate::scene::{Cost, ENEMY, STRANGER, case, case_with, config, offer};

const SECOND: Duration = Duration::from_secs(1);
/// How often an address gets a cookie.
const PACE: Duration = Duration::from_millis(50);

/// `[X7]` A reset with the right id makes the host less patient, and ends nothing that lives.
#[test]
fn a_reset_ends_no_connection_that_lives() {
    let cost = Cost {
        bytes: 16_000,
        steps: 110,
    };
    case(cost, |scene| {
        let mut enemy = scene.settle(ENEMY, 9, &offer());
        for _ in 0..100 {
            scene.pass(SECOND / 2);
            for _ in 0..10 {
                scene.deliver(ENEMY, &reset(&id_of(9)));
            }
            let frame = enemy.short(None, Vec::new());
            scene.deliver(ENEMY, &frame.encode(&enemy.shape));
        }
        assert_eq!(scene.state(ENEMY), Some(PeerState::Connected));
    });
}

/// `[X7 X16]` Resets put nothing off: a silent connection ends as soon as after one.
#[test]
fn resets_that_do_not_stop_do_not_keep_a_silent_connection() {
    let cost = Cost {
        bytes: 7900,
        steps: 110,
    };
    case(cost, |scene| {
        scene.settle(ENEMY, 9, &offer());
        for _ in 0..50 {
            scene.pass(SECOND / 10);
            scene.deliver(ENEMY, &reset(&id_of(9)));
        }
        assert_eq!(scene.ends(), [DisconnectReason::LostByPeer]);
    });
}

/// `[X7 R21]` No reset is ever answered, of whatever length and from wherever it comes.
#[test]
fn no_reset_is_answered() {
    let cost = Cost {
        bytes: 4600,
        steps: 50,
    };
    case(cost, |scene| {
        scene.settle(ENEMY, 9, &offer());
        let count = scene.said.len();
        for len in 0..=20 {
            for from in [ENEMY, STRANGER] {
                scene.deliver(from, &reset(&vec![9; len]));
                scene.deliver(from, &reset(&vec![0; len]));
            }
        }
        scene.deliver(STRANGER, &reset(&id_of(9)));
        scene.deliver(ENEMY, &reset(&id_of(9)));
        assert_eq!(scene.said.len(), count);
    });
}

/// `[R4 R3]` One who connects and leaves without end is forgotten at the same pace.
#[test]
fn connections_that_come_and_go_leave_two_for_each_place() {
    let cost = Cost {
        bytes: 39_000,
        steps: 150,
    };
    case(cost, |scene| {
        for n in 1..=200 {
            scene.now = scene.now + PACE;
            let enemy = scene.settle(ENEMY, n, &offer());
            scene.deliver(ENEMY, &disconnection(enemy.nonces));
            assert!(scene.others() <= 16, "{}", scene.others());
        }
        assert_eq!(scene.ends().len(), 200);
    });
}

/// `[R4 R3 R25]` A host with a thousand places looks at what one address has left behind, 600 peers.
#[test]
fn what_an_address_has_left_behind_is_little_work() {
    let cost = Cost {
        bytes: 1_210_000,
        steps: 5400,
    };
    case_with(config().max_peers(1024), cost, |scene| {
        for n in 1..=700 {
            scene.pass(PACE);
            let enemy = scene.settle(ENEMY, n, &offer());
            scene.deliver(ENEMY, &disconnection(enemy.nonces));
        }
        assert!((500..=601).contains(&scene.others()), "{}", scene.others());
        scene.deliver(ENEMY, &disconnection([1, 1]));
        scene.deliver(ENEMY, &farewell([1, 1]));
        scene.deliver(ENEMY, &reset(&[1; 4]));
    });
}

/// `[R3 R4 X18]` One who comes back without end, and never leaves, has one connection.
#[test]
fn a_host_that_comes_back_without_end_has_one_connection() {
    let cost = Cost {
        bytes: 43_000,
        steps: 160,
    };
    case(cost, |scene| {
        for n in 1..=200 {
            scene.now = scene.now + PACE;
            scene.settle(ENEMY, n, &offer());
            let live = |state: &&PeerState| **state == PeerState::Connected;
            assert_eq!(scene.states(ENEMY).iter().filter(live).count(), 1);
            assert!(scene.others() <= 17, "{}", scene.others());
        }
        let restarted = |reason: &&DisconnectReason| **reason == DisconnectReason::Restarted;
        assert_eq!(scene.ends().iter().filter(restarted).count(), 199);
    });
}

/// `[X7 X18]` Who asks to be sent to under the id of another connection at its address has to wait.
#[test]
fn two_connections_of_an_address_never_share_an_id() {
    let cost = Cost {
        bytes: 15_000,
        steps: 110,
    };
    case(cost, |scene| {
        scene.settle(ENEMY, 9, &offer());
        let twin = 9 | 1 << 32; // the same four low bytes
        let nonces = [twin, scene.ask(ENEMY, twin, &offer())];
        let taken = scene.deliver(ENEMY, &second(nonces, &offer()));
        assert!(matches!(taken, Disposition::Ignored(_)), "{taken:?}");
        assert_eq!(scene.others(), 1);
        scene.pass(11 * SECOND);
        scene.settle(ENEMY, twin, &offer());
    });
}

/// `[R4 R18]` Silent ones in every state are gone after their time, and nothing is due any more.
#[test]
fn every_state_has_a_deadline() {
    let cost = Cost {
        bytes: 20_000,
        steps: 110,
    };
    case(cost, |scene| {
        scene.attempt();
        let left = scene.settle(STRANGER, 9, &offer());
        scene.deliver(STRANGER, &disconnection(left.nonces));
        scene.settle(STRANGER + 1, u64::from(STRANGER + 1), &offer());
        scene.join(STRANGER + 1, 10, &offer());
        scene.settle(
            STRANGER + 2,
            u64::from(STRANGER + 2),
            &Offer {
                rates: [1, 1],
                ..offer()
            },
        );
        let (ours, _) = scene.host.host.peers().last().unwrap();
        let (now, how) = (scene.now, porous_proto::Disconnect::Now { reason: 1 });
        let done = scene.host.call(|host| host.disconnect(now, ours, how));
        assert_eq!(done, Ok(()));
        assert_eq!(scene.others(), 5);
        for _ in 0..41 {
            scene.pass(SECOND);
            let now = scene.now;
            scene.host.call(|host| host.handle_timeout(now));
            scene.flush();
            let due = scene.host.host.poll_timeout();
            assert!(due.is_some_and(|due| due > now), "due in the past: {due:?}");
        }
        assert_eq!(scene.others(), 0);
    });
}

/// `[R23 R4 X3]` What was forgotten early to make room is not let in again by its own old request.
/// P3.
#[test]
fn a_connection_that_was_forgotten_early_is_not_made_again() {
    let cost = Cost {
        bytes: 39_000,
        steps: 150,
    };
    case(cost, |scene| {
        let victim = scene.settle(STRANGER, 900, &offer());
        scene.deliver(STRANGER, &disconnection(victim.nonces));
        for n in 1..=40 {
            scene.now = scene.now + PACE;
            let enemy = scene.settle(ENEMY, n, &offer());
            scene.deliver(ENEMY, &disconnection(enemy.nonces));
        }
        assert_eq!(scene.states(STRANGER), [], "it is forgotten");
        scene.events.clear();
        scene.deliver(STRANGER, &second(victim.nonces, &offer()));
        scene.pass(SECOND);
        assert_eq!(scene.events, [], "somebody repeats what it has said once");
        assert!(!scene.states(STRANGER).contains(&PeerState::Connected));
        let mut honest = Guest::arrive(scene, 3);
        honest.stay(scene, SECOND);
        assert!(honest.is_connected());
        assert_eq!(scene.states(GUEST), [PeerState::Connected]);
        honest.leave(scene);
    });
}

/// `[R4 R2]` After thirty seconds a cookie is void, and so is what was remembered for its sake.
#[test]
fn what_has_ended_is_remembered_for_as_long_as_its_cookie_lives() {
    let cost = Cost {
        bytes: 24_000,
        steps: 110,
    };
    case(cost, |scene| {
        for life in 0..40_u32 {
            // At every moment in the life of a key.
            scene.pass(Duration::from_millis(1123));
            let from = STRANGER + life;
            let enemy = scene.settle(from, u64::from(from), &offer());
            scene.deliver(from, &disconnection(enemy.nonces));
            if life >= 14 {
                break;
            }
        }
        for _ in 0..62 {
            scene.pass(SECOND / 2);
            for from in STRANGER..STRANGER + 15 {
                let taken = scene.deliver(from, &first(10, &offer()));
                assert!(!matches!(taken, Disposition::Accepted(_)), "{taken:?}");
            }
        }
        scene.pass(SECOND);
        assert_eq!(scene.others(), 0);
    });
}
