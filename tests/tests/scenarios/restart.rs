//! Hosts that come back at the same address.
#![expect(clippy::unwrap_used, reason = "a test")]

use core::time::Duration;

use porous_proto::{ChannelId, Disconnect, DisconnectReason, Event, Listen, Mode, PeerId};
use porous_sim::{LinkConfig, Pair, Seed, World};
use porous_tests::{config, ended, events};

const SECOND: Duration = Duration::from_secs(1);

fn pair(seed: u64) -> Pair {
    let line = LinkConfig::new().delay(Duration::from_millis(30));
    let mut pair = Pair::new(Seed::new(seed), line, config::new(), config::new());
    pair.connect_to_listener();
    pair
}

fn connect_again(world: &mut World) -> PeerId {
    world.connect(Pair::A, Pair::B).unwrap()
}

#[test]
fn a_client_that_was_killed_comes_back_and_replaces_itself() {
    let mut pair = pair(1);
    let old = pair.peer(Pair::B);
    let world = &mut pair.world;
    events(world, Pair::B);
    assert!(world.remove_host(Pair::A));
    world.add_host(Pair::A, config::new());
    connect_again(world);
    world.run_for(SECOND);
    let told = events(world, Pair::B);
    let [
        Event::Disconnected { peer, reason, .. },
        Event::Connected { peer: new, .. },
    ] = told[..]
    else {
        panic!("{told:?}; {}", world.seed());
    };
    assert_eq!((peer, reason), (old, DisconnectReason::Restarted));
    world
        .host_mut(Pair::B)
        .send(new, ChannelId(0), "hello", Mode::Reliable)
        .unwrap();
    world.run_for(SECOND);
    let told = events(world, Pair::A);
    assert!(
        matches!(told[..], [Event::Connected { .. }, Event::Readable { .. }]),
        "{told:?}"
    );
}

#[test]
fn a_client_that_left_may_come_back_at_once() {
    let mut pair = pair(2);
    let peer = pair.peer(Pair::A);
    let world = &mut pair.world;
    world
        .disconnect(Pair::A, peer, Disconnect::Now { reason: 5 })
        .unwrap();
    world.run_for(SECOND);
    events(world, Pair::A);
    events(world, Pair::B);
    connect_again(world);
    world.run_for(SECOND);
    for address in [Pair::A, Pair::B] {
        let told = events(world, address);
        assert!(
            matches!(told[..], [Event::Connected { .. }]),
            "{told:?}; {}",
            world.seed()
        );
    }
}

#[test]
fn a_server_that_was_killed_is_found_again() {
    let mut pair = pair(3);
    let world = &mut pair.world;
    assert!(world.remove_host(Pair::B));
    world.add_host(Pair::B, config::new());
    world.host_mut(Pair::B).listen(Listen::Open).unwrap();
    world.run_for(12 * SECOND);
    let told = events(world, Pair::A);
    let ends = ended(&told);
    let [(_, reason, _)] = ends[..] else {
        panic!("{told:?}; {}", world.seed())
    };
    assert_eq!(reason, DisconnectReason::TimedOut, "{}", world.seed());
    connect_again(world);
    world.run_for(SECOND);
    let told = events(world, Pair::A);
    assert!(
        matches!(told[..], [Event::Connected { .. }]),
        "{told:?}; {}",
        world.seed()
    );
}
