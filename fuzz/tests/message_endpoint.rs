//! Endpoints of `porous-message`: two of them under any operations of applications and a carrier, and
//! one that is given any packets.

#[path = "message/pair.rs"]
mod pair;
#[path = "message/setup.rs"]
mod setup;

use allocation_counter::measure;
use bolero::check;
use bolero::generator::{ValueGenerator, produce};

use crate::pair::Pair;
use crate::setup::{Op, Setup};

/// The most bytes that an endpoint may hold, including a packet while it is read.
const MEMORY: u64 = 1 << 18;

fn ops() -> impl ValueGenerator<Output = (Setup, Vec<Op>)> {
    let ops = produce::<Vec<Op>>().with().len(0..100_usize);
    (produce::<Setup>(), ops)
}

fn run((setup, ops): &(Setup, Vec<Op>)) -> Pair {
    let mut pair = Pair::new(*setup);
    for op in ops {
        pair.apply(op);
    }
    pair.heal();
    pair
}

#[test]
fn endpoints_keep_their_promises() {
    check!()
        .with_generator(ops())
        .with_iterations(3000)
        .for_each(|run_of| drop(run(run_of)));
}

/// Gives an endpoint any packets, after any operations of two honest ends. A packet that is refused must
/// change nothing.
fn throw(setup: Setup, ops: &[Op], packets: &[Vec<u8>]) {
    let mut pair = Pair::new(setup);
    for op in ops {
        pair.apply(op);
    }
    let endpoint = &mut pair.ends[0].endpoint;
    for packet in packets {
        let refused = endpoint.stats().packets_refused;
        let before = format!("{endpoint:?}");
        let done = endpoint.read_packet(packet);
        if done.is_err() {
            let count = |refused| format!("packets_refused: {refused},");
            let after = format!("{endpoint:?}");
            assert!(before.replace(&count(refused), &count(refused + 1)) == after);
        }
    }
    let mut heard = 0..2 * 20 + 20 + 4;
    while endpoint.receive().is_some() {
        assert!(heard.next().is_some(), "more than it keeps");
    }
    let mut written = 0..1000;
    let setup = pair.setup;
    while pair.ends[0].write(pair.now, &setup) {
        assert!(written.next().is_some(), "packets without end");
    }
}

#[test]
fn an_endpoint_stands_any_packets() {
    let packets = produce::<Vec<Vec<u8>>>()
        .with()
        .values(produce::<Vec<u8>>().with().len(0..80_usize))
        .len(0..8_usize);
    let before = produce::<Vec<Op>>().with().len(0..20_usize);
    check!()
        .with_generator((produce::<Setup>(), before, packets))
        .with_iterations(3000)
        .for_each(|(setup, ops, packets)| {
            let memory = measure(|| throw(*setup, ops, packets));
            assert!(memory.bytes_max < MEMORY, "{memory:?}");
        });
}

/// The drawn operations have to send and deliver, or nothing would be tested.
#[test]
fn much_is_sent_and_heard() {
    let mut heard = [0; 3];
    for n in 0..200 {
        let drawn = porous_fuzz::drawn(porous_sim::Seed::new(n), &ops());
        for end in &run(&drawn).ends {
            heard[0] += end.heard[0] + end.heard[2];
            heard[1] += end.heard[1];
            heard[2] += u16::try_from(end.heard_blocks.len()).unwrap_or(0);
        }
    }
    assert!(
        heard[0] > 1000 && heard[1] > 300 && heard[2] > 300,
        "{heard:?}"
    );
}
