//! Datagrams of the protocol with arbitrary fields, some with the address and the ids of a peer: a host
//! stays whole, and its other peers do not notice.

use bolero::check;

use porous_fuzz::drawn;
use porous_fuzz::forms::{self, Step};
use porous_fuzz::runs::{Outcome, assert_they_reach, play};
use porous_fuzz::target::Target;
use porous_proto::{Ignored, Malformed, Policy};
use porous_sim::Seed;

const RUNS: u64 = 1500;

const POLICIES: [Policy; 2] = [Policy::Modern, Policy::Paper];

fn narrow(policy: Policy) -> Target {
    Target::new(policy).expect("all values are valid")
}

fn roaming(policy: Policy) -> Target {
    Target::roaming(policy).expect("all values are valid")
}

fn run(target: Target, steps: &[Step]) -> Outcome {
    play(target, steps, Target::apply)
}

#[test]
fn a_host_stands_any_frames() {
    check!()
        .with_generator(forms::run())
        .with_iterations(2000)
        .for_each(|steps| {
            for policy in POLICIES {
                run(narrow(policy), steps);
            }
            run(roaming(Policy::Modern), steps);
        });
}

#[test]
fn a_host_with_wide_windows_stands_any_frames() {
    check!()
        .with_generator(forms::run())
        .with_iterations(100)
        .for_each(|steps| {
            for policy in POLICIES {
                let target = Target::wide(policy).expect("all values are valid");
                run(target, steps);
            }
        });
}

/// Frames that the decoder refuses test the decoder only: enough of them have to come further, and a
/// run of some length has to reach every cause for which a host ignores a datagram.
#[test]
fn the_frames_reach_every_cause_to_ignore_them() {
    let causes = [
        Ignored::Malformed(Malformed::Truncated),
        Ignored::UnknownConnection,
        Ignored::WrongAddress,
        Ignored::UnknownNonce,
        Ignored::NotListening,
        Ignored::Unpadded,
        Ignored::Stateless,
        Ignored::TooManyReplies,
        Ignored::Duplicate,
        Ignored::TooOld,
        Ignored::BadAck,
        Ignored::BadMessage,
        Ignored::OverBudget,
        Ignored::WrongState,
        Ignored::TooFarAhead,
    ];
    let runs = (0..RUNS).map(|n| {
        let steps = drawn(Seed::new(n), &forms::run());
        run(narrow(POLICIES[usize::from(n % 2 == 1)]), &steps)
    });
    assert_they_reach(causes, runs);
}

/// Now and then a challenge is echoed from the address that it was sent to.
#[test]
fn the_frames_move_peers() {
    let mut moves = 0;
    for n in 0..RUNS {
        let mut target = roaming(POLICIES[usize::from(n % 2 == 1)]);
        for step in &drawn(Seed::new(n), &forms::run()) {
            target.apply(step);
        }
        target.assert_unharmed();
        moves += target.roaming.moves;
    }
    assert!(moves >= 5, "{moves} moves in {RUNS} runs");
}
