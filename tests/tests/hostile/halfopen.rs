//! Attempts of the host to connect, and answers of hosts that should not answer.

use core::time::Duration;

use porous_proto::{DisconnectReason, Disposition, PeerState, Refusal};
use porous_tests::encoder::{self, Offer};
use porous_tests::remote::request;

use crate::forge::{
    NOBODY, NUMBERS, STATELESS, UNPADDED, acknowledgement, cookie, disconnection, farewell, first,
    is_malformed, refusal, reset,
};
use crate::scene::{Cost, ENEMY, STRANGER, Scene, case, offer};

const SECOND: Duration = Duration::from_secs(1);

/// The attempt goes on, and ends when it has taken 10 s.
fn assert_times_out(scene: &mut Scene, reason: DisconnectReason) {
    assert_eq!(scene.state(ENEMY), Some(PeerState::Connecting));
    scene.pass(11 * SECOND);
    assert_eq!(scene.ends(), [reason]);
}

/// `[R1]` Nobody answers: so many requests, ever less often, and then no more.
#[test]
fn an_attempt_that_nobody_answers_ends() {
    let cost = Cost {
        bytes: 500,
        steps: 110,
    };
    case(cost, |scene| {
        scene.attempt();
        assert_times_out(scene, DisconnectReason::NeverAnswered);
        let requests = scene.said_to(ENEMY).len();
        assert!((10..20).contains(&requests), "{requests}");
        scene.pass(60 * SECOND);
        assert_eq!(scene.said_to(ENEMY).len(), requests);
    });
}

/// `[X3]` A cookie for another nonce is none for us.
#[test]
fn an_attempt_takes_no_cookie_of_others() {
    let cost = Cost {
        bytes: 500,
        steps: 110,
    };
    case(cost, |scene| {
        let ours = scene.attempt().nonces[1];
        for wrong in [1, ours ^ 1, ours ^ 1 << 63, ours.swap_bytes(), u64::MAX] {
            assert_eq!(scene.deliver(ENEMY, &cookie([9, wrong], &offer())), NOBODY);
        }
        assert!(is_malformed(
            scene.deliver(ENEMY, &cookie([9, 0], &offer()))
        ));
        assert!(is_malformed(
            scene.deliver(ENEMY, &cookie([0, ours], &offer()))
        ));
        assert_eq!(scene.said_to(ENEMY).len(), 0);
        assert_times_out(scene, DisconnectReason::NeverAnswered);
    });
}

/// `[X3 R21]` Each of many cookies gets one request, the newest counts, and no time is won by them.
#[test]
fn many_cookies_for_an_attempt_cost_a_request_each() {
    let cost = Cost {
        bytes: 500,
        steps: 110,
    };
    case(cost, |scene| {
        let ours = scene.attempt().nonces[1];
        for n in 1..=1000_u64 {
            scene.deliver(ENEMY, &cookie([n, ours], &offer()));
            let said = scene.said_to(ENEMY);
            assert_eq!((said.len() as u64, said.last().unwrap()[0]), (n, 0xD0));
            assert_eq!(said.last().unwrap()[15..23], n.to_le_bytes());
        }
        assert_times_out(scene, DisconnectReason::Unfinished);
    });
}

/// `[X7]` A refusal ends the attempt that it names, and no other.
#[test]
fn an_attempt_is_refused_by_its_nonce_only() {
    let cost = Cost {
        bytes: 360,
        steps: 50,
    };
    case(cost, |scene| {
        let ours = scene.attempt().nonces[1];
        for wrong in [1, ours ^ 1, ours ^ 1 << 63, !ours, ours.swap_bytes()] {
            scene.shrugs(ENEMY, &refusal(wrong));
        }
        scene.shrugs(STRANGER, &refusal(ours));
        assert!(is_malformed(scene.deliver(ENEMY, &refusal(0))));
        let named = encoder::long(0xE0, encoder::VERSION, [ours, ours], &[2, 1, 0, 0, 0, 0]);
        scene.shrugs(ENEMY, &named);
        for reason in [1, 5, 0x7F, 0x80, 0xFF] {
            let body = [reason, 1, 0, 0, 0, 0];
            scene.shrugs(
                ENEMY,
                &encoder::long(0xE0, encoder::VERSION, [0, ours], &body),
            );
        }
        scene.deliver(ENEMY, &refusal(ours));
        assert_eq!(scene.ends(), [DisconnectReason::Refused(Refusal::Full)]);
    });
}

/// `[X12]` A refusal with more to say than it may, less than it claims, or cut, ends nothing.
#[test]
fn a_refusal_that_is_none_ends_no_attempt() {
    let cost = Cost {
        bytes: 360,
        steps: 50,
    };
    case(cost, |scene| {
        let ours = scene.attempt().nonces[1];
        let says = |reason, claim, len| {
            let body = [&[reason, 1, 0, 0, 0, claim][..], &vec![7; len]].concat();
            encoder::long(0xE0, encoder::VERSION, [0, ours], &body)
        };
        for (reason, claim, len) in [
            (3, 65, 65),
            (3, 255, 255),
            (3, 64, 63),
            (3, 63, 64),
            (3, 0, 1),
            (0, 1, 1),
            (1, 64, 64),
            (2, 1, 0),
        ] {
            scene.shrugs(ENEMY, &says(reason, claim, len));
        }
        let good = says(3, 64, 64);
        for len in 0..good.len() {
            scene.shrugs(ENEMY, &good[..len]);
        }
        let mut longer = good.clone();
        longer.push(0);
        scene.shrugs(ENEMY, &longer);
        scene.deliver(ENEMY, &good);
        assert_eq!(scene.ends().len(), 1);
    });
}

/// `[X7]` A refusal of any version is read, and says which versions there are.
#[test]
fn a_refusal_may_be_of_any_version() {
    let cost = Cost {
        bytes: 360,
        steps: 50,
    };
    case(cost, |scene| {
        for newest in NUMBERS {
            let ours = scene.attempt().nonces[1];
            let body = [0, 0xFF, 0xFF, 0xFF, 0xFF, 0];
            scene.deliver(ENEMY, &encoder::long(0xE0, newest, [0, ours], &body));
            let oldest = u32::MAX;
            let refusal = Refusal::Version { oldest, newest };
            assert_eq!(scene.ends(), [DisconnectReason::Refused(refusal)]);
        }
    });
}

/// `[R1 X3]` Who acknowledges us and never asks is not connected, whatever is acknowledged how often.
#[test]
fn an_acknowledgement_alone_connects_nobody() {
    let cost = Cost {
        bytes: 500,
        steps: 110,
    };
    case(cost, |scene| {
        let ours = scene.attempt().nonces[1];
        for n in 1..=100 {
            scene.deliver(ENEMY, &acknowledgement([n, ours], &offer()));
        }
        for wrong in [1, ours ^ 1, u64::MAX] {
            assert_eq!(
                scene.deliver(ENEMY, &acknowledgement([1, wrong], &offer())),
                NOBODY
            );
        }
        scene.shrugs(STRANGER, &acknowledgement([1, ours], &offer()));
        assert_times_out(scene, DisconnectReason::Unfinished);
    });
}

/// `[R1 B3]` Who asks while we ask, and never acknowledges, is answered and not connected.
#[test]
fn a_request_alone_connects_nobody() {
    let cost = Cost {
        bytes: 500,
        steps: 110,
    };
    case(cost, |scene| {
        scene.attempt();
        for n in 1..=100 {
            let taken = scene.deliver(ENEMY, &first(n, &offer()));
            assert!(matches!(taken, Disposition::Handled(_)), "{taken:?}");
        }
        assert_times_out(scene, DisconnectReason::Unfinished);
    });
}

/// `[R1 R21]` Nobody gets an answer for a request without padding, not even whom we try to reach.
#[test]
fn an_attempt_answers_no_request_without_padding() {
    let cost = Cost {
        bytes: 500,
        steps: 110,
    };
    case(cost, |scene| {
        scene.attempt();
        let strange = Offer {
            application: 1,
            ..offer()
        };
        for n in 1..=100 {
            for offer in [offer(), strange] {
                let mut short = first(n, &offer);
                short.truncate(usize::try_from(100 + 10 * n).unwrap());
                assert_eq!(scene.deliver(ENEMY, &short), UNPADDED);
            }
        }
        assert_eq!(scene.said, []);
        assert_times_out(scene, DisconnectReason::NeverAnswered);
    });
}

/// `[R1 R2]` Of many who claim to be whom we try to reach four are remembered, and all are answered
/// in less than they have sent.
#[test]
fn an_attempt_remembers_four_hosts_that_ask() {
    let cost = Cost {
        bytes: 360,
        steps: 50,
    };
    case(cost, |scene| {
        let ours = scene.attempt().nonces[1];
        for n in 1..=10_000 {
            scene.deliver(ENEMY, &first(n, &offer()));
        }
        let bytes: usize = scene.said_to(ENEMY).iter().map(|said| said.len()).sum();
        assert!(bytes < 10_000 * 200, "{bytes}");
        let taken = scene.deliver(ENEMY, &disconnection([1, ours]));
        assert_eq!(taken, NOBODY, "the first is forgotten");
        scene.deliver(ENEMY, &disconnection([10_000, ours]));
        assert_eq!(scene.ends(), [DisconnectReason::ByPeer(7)]);
    });
}

/// `[X7]` Answers with the right nonces from elsewhere are nobody's.
#[test]
fn an_attempt_takes_no_answer_from_another_address() {
    let cost = Cost {
        bytes: 500,
        steps: 110,
    };
    case(cost, |scene| {
        let enemy = scene.attempt();
        let ours = enemy.nonces[1];
        for elsewhere in [STRANGER, ENEMY ^ 1 << 31, 0, u32::MAX] {
            scene.shrugs(elsewhere, &cookie([9, ours], &offer()));
            scene.shrugs(elsewhere, &acknowledgement([9, ours], &offer()));
            scene.shrugs(elsewhere, &refusal(ours));
            scene.shrugs(elsewhere, &disconnection([9, ours]));
            scene.shrugs(elsewhere, &farewell([9, ours]));
            scene.shrugs(elsewhere, &reset(&enemy.connection_id));
            let frame = enemy.clone().short(None, Vec::new());
            scene.shrugs(elsewhere, &frame.encode(&enemy.shape));
        }
        assert_times_out(scene, DisconnectReason::NeverAnswered);
    });
}

/// `[X6 X7]` A disconnection ends an attempt if its sender has asked us and knows what we asked.
#[test]
fn an_attempt_is_ended_only_by_a_host_that_it_has_heard() {
    let cost = Cost {
        bytes: 360,
        steps: 50,
    };
    case(cost, |scene| {
        let enemy = scene.attempt();
        let ours = enemy.nonces[1];
        scene.shrugs(ENEMY, &disconnection([9, ours]));
        scene.shrugs(ENEMY, &farewell([9, ours]));
        scene.shrugs(ENEMY, &reset(&enemy.connection_id));
        scene.deliver(ENEMY, &first(9, &offer()));
        scene.shrugs(ENEMY, &disconnection([9, ours ^ 1]));
        scene.shrugs(ENEMY, &disconnection([8, ours]));
        scene.shrugs(ENEMY, &disconnection([ours, 9]));
        scene.shrugs(ENEMY, &farewell([9, ours]));
        scene.deliver(ENEMY, &disconnection([9, ours]));
        assert_eq!(scene.ends(), [DisconnectReason::ByPeer(7)]);
    });
}

/// `[B6 R1]` Late in the life of a host an attempt takes as long as at its beginning.
#[test]
fn an_attempt_late_in_life_has_its_ten_seconds() {
    let cost = Cost {
        bytes: 360,
        steps: 110,
    };
    case(cost, |scene| {
        scene.pass(1000 * SECOND);
        scene.attempt();
        scene.pass(9 * SECOND);
        assert_eq!(scene.state(ENEMY), Some(PeerState::Connecting));
        let request = request([9, 0], &offer().body(&[9; 4]));
        assert_eq!(scene.deliver(STRANGER, &request), STATELESS);
        assert_times_out(scene, DisconnectReason::NeverAnswered);
    });
}
