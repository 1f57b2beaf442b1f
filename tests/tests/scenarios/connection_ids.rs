//! Connection ids of every length, and what they keep out.

use core::time::Duration;

use porous_proto::{Config, Event};
use porous_sim::{Intercept, LinkConfig, Pair, World};
use porous_tests::{assert_talk, config, events, one_connection, seed};

const A: u32 = Pair::A;
const B: u32 = Pair::B;

/// A host whose peers put this many bytes into their datagrams to it.
fn config(len: u8) -> Config {
    match config::new().connection_id_len(len) {
        Ok(config) => config,
        Err(error) => panic!("{error}"),
    }
}

/// Both hosts have connected to each other, and the world looks on for two seconds.
fn connected(a: u8, b: u8) -> World {
    let line = LinkConfig::new().delay(Duration::from_millis(20));
    let mut world = Pair::new(seed(), line, config(a), config(b)).world;
    assert!(world.connect(A, B).is_ok() && world.connect(B, A).is_ok());
    world.run_for(Duration::from_secs(2));
    world
}

#[test]
fn every_length_works_with_every_other() {
    for (a, b) in [(0, 0), (0, 8), (1, 2), (2, 4), (4, 4), (8, 0), (8, 8)] {
        let mut world = connected(a, b);
        let context = format!("{a} and {b} bytes");
        let ends = one_connection(&mut world, &context);
        assert_talk(&mut world, ends, &context);
    }
}

#[test]
fn a_datagram_with_another_connection_id_is_ignored() {
    let mut world = connected(4, 4);
    events(&mut world, A);
    let before = world.host(A).stats().ignored_total();
    // Byte 0 of a short form begins with 01; the id follows.
    world.intercept(|passing| match passing.datagram {
        [head, rest @ ..] if head >> 6 == 1 && passing.to == A => {
            let flipped = rest
                .iter()
                .enumerate()
                .map(|(n, byte)| byte ^ u8::from(n == 0));
            Intercept::Replace(core::iter::once(*head).chain(flipped).collect())
        }
        _ => Intercept::Pass,
    });
    world.run_for(Duration::from_secs(12));
    let told = events(&mut world, A);
    assert!(matches!(told[..], [Event::Disconnected { .. }]), "{told:?}");
    assert!(world.host(A).stats().ignored_total() > before + 10);
}
