//! A peer of a sealed connection that has its keys, and seals what no host would: the host stays whole, and its
//! other peers do not notice.

use allocation_counter::measure;
use bolero::check;
use bolero::generator::produce;
use porous_fuzz::drawn;
use porous_fuzz::insider::{self, Act, offer};
use porous_fuzz::runs::{Outcome, assert_they_reach, play};
use porous_fuzz::target::Target;
use porous_proto::hooks::doc::example_provider;
use porous_proto::seal::{Security, Suite};
use porous_proto::{Config, Host, Ignored, Malformed, Policy};
use porous_sim::{ChaCha8Rng, Seed};

const RUNS: u64 = 1500;

const POLICIES: [Policy; 2] = [Policy::Modern, Policy::Paper];

/// The most bytes of memory that a run may take, whatever is in its frames.
const MEMORY: u64 = 2 << 20;

fn run(policy: Policy, acts: &[Act]) -> Outcome {
    let target = Target::sealing(policy).expect("all values are valid");
    play(target, acts, Target::act)
}

#[test]
fn a_host_stands_a_peer_that_has_keys() {
    check!()
        .with_generator(insider::run())
        .with_iterations(2000)
        .for_each(|acts| {
            for policy in POLICIES {
                let memory = measure(|| {
                    run(policy, acts);
                });
                assert!(memory.bytes_max < MEMORY, "{policy:?}: {memory:?}");
            }
        });
}

/// What message 2 says by `docs/wire.md`: a connection id, and the greeting.
fn greeting(said: &[u8]) -> Option<&[u8]> {
    let (length, rest) = said.split_first()?;
    let (_, greeting) = rest.split_at_checked((*length).into())?;
    (*length <= 20 && greeting.len() <= 255).then_some(greeting)
}

fn client() -> Host<ChaCha8Rng, u8> {
    let sealed = Config::new().sealed(&[Suite::CHACHA_POLY]);
    let mut host = Host::new(sealed.expect("one suite"), Seed::new(1).stream("host", 0));
    host.set_security(Security::new(example_provider()));
    host
}

/// The first byte is below 32: else most are the length of no connection id.
#[test]
fn a_host_is_connected_by_any_message_2_that_says_what_it_should() {
    check!()
        .with_generator(produce::<Vec<u8>>().with().len(1..277_usize))
        .with_iterations(2000)
        .for_each(|said| {
            let mut said = said.clone();
            if let Some(first) = said.first_mut() {
                *first %= 32;
            }
            let heard = insider::answer(&mut client(), 1, &offer(), &said);
            assert_eq!(heard.as_deref(), greeting(&said));
        });
}

/// Frames that do not open, or that the decoder refuses, test little: enough of them have to come further, and a
/// run of some length has to reach every cause for which a host ignores what was sealed.
#[test]
fn what_a_peer_with_keys_seals_reaches_every_cause_to_ignore_it() {
    let causes = [
        Ignored::Malformed(Malformed::Truncated),
        Ignored::Unauthenticated,
        Ignored::UnknownConnection,
        Ignored::WrongAddress,
        Ignored::UnknownNonce,
        Ignored::Duplicate,
        Ignored::TooOld,
        Ignored::BadAck,
        Ignored::BadMessage,
        Ignored::OverBudget,
        Ignored::TooFarAhead,
    ];
    let runs = (0..RUNS).map(|n| {
        let acts = drawn(Seed::new(n), &insider::run());
        run(POLICIES[usize::from(n % 2 == 1)], &acts)
    });
    assert_they_reach(causes, runs);
}
