//! Some worlds of the swarm (`docs/testing.md`), and all seeds that ever showed a bug.

use porous_proto::Policy;
use porous_sim::swarm::{Outcome, Report, run, sweep};

/// The outcomes of the worlds that every run of the tests simulates.
const WORLDS: u64 = 200;

fn outcomes(first: u64, count: u64, threads: usize) -> Vec<Outcome> {
    let mut all = Vec::new();
    let seeds = first..first + count;
    sweep(seeds, None, threads, || false, |outcome| all.push(outcome));
    all
}

#[test]
fn worlds_that_are_worse_than_real_ones_keep_every_promise() {
    let mut sum = Report::default();
    for outcome in outcomes(1, WORLDS, 2) {
        let seed = outcome.seed;
        assert_eq!(
            outcome.failure, None,
            "porous sim swarm --first {seed} --seeds 1"
        );
        sum.add(&outcome.report);
    }
    // The worlds test enough: hours of connections, and every kind of fault.
    assert!(sum.connected > WORLDS * 300_000_000, "{sum:#?}");
    // Most connections are held to their promises, and many ends need a cause.
    assert!(
        sum.judged > WORLDS * 15 && sum.ends > WORLDS * 12 && sum.sealed > WORLDS * 3,
        "{sum:#?}"
    );
    assert!(
        sum.packets
            .iter()
            .flatten()
            .all(|&packets| packets > 50_000),
        "{sum:#?}"
    );
    assert!(
        sum.faults.len() == 39 && sum.faults.values().all(|&count| count > 0),
        "{sum:#?}"
    );
}

#[test]
fn a_seed_is_a_world_whatever_the_number_of_threads() {
    let worlds = |threads| {
        let all = outcomes(300, 6, threads);
        let part = |outcome: Outcome| (outcome.seed, outcome.digest, outcome.report);
        all.into_iter().map(part).collect::<Vec<_>>()
    };
    let alone = worlds(1);
    assert_eq!(alone, worlds(3));
    assert_ne!(alone[0].1, alone[1].1);
}

#[test]
fn a_world_can_be_read() {
    let outcome = run(7, None, true);
    assert_eq!(outcome.digest, run(7, None, false).digest);
    let text = outcome.text.unwrap_or_default();
    assert!(text.contains("Connected { peer"), "{text}");
}

/// Seeds that failed once, each a test. A seed is of use only as long as it draws the same world: a
/// change to the draws may drop seeds, because each bug has a scenario of its own as well.
macro_rules! seeds {
    ($($(#[$what:meta])* $name:ident: $seed:literal;)*) => {
        $($(#[$what])*
        #[test]
        fn $name() {
            // Most were found when the paper's policy was the only one.
            for policy in [Some(Policy::Paper), None] {
                let failure = run($seed, policy, false).failure;
                assert_eq!(failure, None, "sim swarm --first {} --seeds 1, {policy:?}", $seed);
            }
        })*
    };
}

mod bugs_of_the_core {
    use super::{Policy, run};

    seeds! {
        /// Repeated datagrams kept a connection alive although its host was gone.
        seed_65: 65;
        /// The same.
        seed_111: 111;
        /// The same.
        seed_234: 234;
        /// Pings that were under way while clocks jumped made the next ones later than the timeout.
        seed_1723: 1723;
        /// A fragment that joined the packet which had made room for it took more than the receive budget
        /// allowed.
        seed_31787: 31787;
        /// A channel without order had skipped a packet and could go on, but was not looked at again.
        seed_2658: 2658;
        /// The same.
        seed_3984: 3984;
    }
}

mod errors_of_the_swarm {
    use super::{Policy, run};

    seeds! {
        /// One acknowledgement settled at once all frames that had been sent since the last one.
        seed_485: 485;
        /// The same.
        seed_2374: 2374;
        /// The same.
        seed_2436: 2436;
        /// Strangers answered from an address that nobody had.
        seed_10481: 10481;
        /// The same.
        seed_11710: 11710;
        /// The same.
        seed_13162: 13162;
        /// A host sent before it heard its events, and so heard `Writable` twice.
        seed_21960: 21960;
        /// A repeated datagram was new to a host that was being cut off.
        seed_23486: 23486;
        /// A connection that may have begun with changed bytes was held to its content.
        seed_100736: 100736;
        /// The same.
        seed_220917: 220917;
    }
}
