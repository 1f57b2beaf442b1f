//! Two hosts and anything that applications and networks do: while it lasts, nothing is delivered
//! that should not be; once the network heals, all that was promised is kept.

use bolero::check;
use bolero::generator::produce;
use porous_fuzz::ops::{Op, Setup};
use porous_fuzz::pair::Pair;

type Run = (Setup, Vec<Op>);

fn run(setup: Setup, ops: &[Op]) -> Pair {
    let mut pair = Pair::new(setup).expect("all values are valid");
    for op in ops {
        pair.apply(*op);
    }
    pair.heal();
    pair
}

#[test]
fn a_pair_keeps_its_promises() {
    check!()
        .with_generator(produce::<Run>())
        .with_iterations(400)
        .for_each(|(setup, ops)| drop(run(*setup, ops)));
}

#[test]
fn small_windows_and_ids_that_wrap_keep_their_promises() {
    check!()
        .with_generator(produce::<Run>())
        .with_iterations(400)
        .for_each(|(setup, ops)| drop(run(setup.with_small_windows(), ops)));
}
