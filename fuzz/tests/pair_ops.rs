//! Two hosts under any operations of applications and networks. Meanwhile no packet is delivered that
//! must not be, and once the network heals, every promise is kept.

use bolero::check;
use porous_fuzz::drawn;
use porous_fuzz::ops::{self, Op, Packets, Setup, Side, Size};
use porous_fuzz::pair::Pair;
use porous_proto::Mode;
use porous_sim::Seed;

const MODES: [Mode; 3] = [Mode::Unreliable, Mode::Reliable, Mode::Passive];

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
        .with_generator(ops::run())
        .with_iterations(400)
        .for_each(|(setup, ops)| drop(run(*setup, ops)));
}

#[test]
fn small_windows_and_ids_that_wrap_keep_their_promises() {
    check!()
        .with_generator(ops::run())
        .with_iterations(400)
        .for_each(|(setup, ops)| drop(run(setup.with_small_windows(), ops)));
}

/// The drawn operations have to send and deliver, or nothing would be tested.
#[test]
fn much_is_sent_and_received() {
    let (mut sent, mut delivered, mut connections) = (0, 0, 0);
    for n in 0..100 {
        let (setup, ops) = drawn(Seed::new(n), &ops::run());
        let pair = run(setup, &ops);
        for life in pair.contract.peers.iter().flat_map(|peers| peers.values()) {
            let counts = MODES.map(|mode| life.sent.counts(mode));
            sent += counts.iter().map(|count| count.0).sum::<u64>();
            delivered += counts.iter().map(|count| count.1).sum::<u64>();
            connections += u64::from(life.connected);
        }
    }
    let context = format!("{sent} sent, {delivered} delivered, {connections} connections");
    assert!(
        sent > 2500 && 2 * delivered > sent && connections > 150,
        "{context}"
    );
}

/// Canaries: faults that the model has to find.
mod canaries {
    use super::*;

    fn with(loses: Option<u32>) {
        let (mut setup, _) = drawn(Seed::new(1), &ops::run());
        (setup.links, setup.asks) = (false, false);
        let mut pair = Pair::new(setup).expect("all values are valid");
        pair.loses = loses;
        let packets = Packets {
            channel: 0,
            mode: 1,
            size: Size::Short(100),
            count: 20,
        };
        for op in [Op::Run(255), Op::Send(Side::A, packets), Op::Run(255)] {
            pair.apply(op);
        }
        pair.heal();
        assert!(
            pair.contract.peers[0]
                .values()
                .any(|life| life.sent.counts(Mode::Reliable).1 > 7)
        );
    }

    #[test]
    fn nothing_is_found_where_nothing_is_wrong() {
        with(None);
    }

    #[test]
    #[should_panic(expected = "a reliable packet")]
    fn a_delivery_that_loses_every_seventh_packet_is_found() {
        with(Some(7));
    }
}
