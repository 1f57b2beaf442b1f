//! Datagrams of the protocol with arbitrary fields, some with the address and the ids of a peer: a host
//! stays whole, and its other peers do not notice.

use bolero::check;

use porous_fuzz::drawn;
use porous_fuzz::forms::{self, Step};
use porous_fuzz::target::Target;
use porous_proto::{HostStats, Ignored, Malformed, Policy};
use porous_sim::Seed;

const RUNS: u64 = 1500;

const POLICIES: [Policy; 2] = [Policy::Modern, Policy::Paper];

fn narrow(policy: Policy) -> Target {
    Target::new(policy).expect("all values are valid")
}

fn roaming(policy: Policy) -> Target {
    Target::roaming(policy).expect("all values are valid")
}

/// Returns how many datagrams came, how many of them belonged to a peer, and the host's stats.
fn run(mut target: Target, steps: &[Step]) -> (u64, u64, HostStats) {
    let (mut came, mut handled) = (0, 0);
    for step in steps {
        let fate = target.apply(step);
        came += u64::from(fate.is_some());
        handled += u64::from(fate == Some(true));
    }
    let stats = target.host.stats();
    target.assert_unharmed();
    (came, handled, stats)
}

#[test]
fn a_host_stands_any_frames() {
    check!()
        .with_generator(forms::run())
        .with_iterations(2000)
        .for_each(|steps| {
            for policy in POLICIES {
                let (came, handled, _) = run(narrow(policy), steps);
                assert!(handled <= came);
            }
            let (came, handled, _) = run(roaming(Policy::Modern), steps);
            assert!(handled <= came);
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
                let (came, handled, _) = run(target, steps);
                assert!(handled <= came);
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
    let mut counts = [0; 15];
    let (mut came, mut handled) = (0, 0);
    for n in 0..RUNS {
        let steps = drawn(Seed::new(n), &forms::run());
        let policy = POLICIES[usize::from(n % 2 == 1)];
        let (all, taken, stats) = run(narrow(policy), &steps);
        came += all;
        handled += taken;
        for (count, cause) in counts.iter_mut().zip(causes) {
            *count += stats.ignored(cause);
        }
    }
    let context = format!("{came} came, {handled} handled, {counts:?} of {causes:?}");
    assert!(2 * counts[0] < came, "too many are malformed: {context}");
    assert!(16 * handled > came, "too few belong to a peer: {context}");
    assert!(counts.iter().all(|&count| count > 0), "{context}");
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
