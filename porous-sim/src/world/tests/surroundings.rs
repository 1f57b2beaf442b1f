//! Hosts with clocks that are wrong, hitches and routers.

use super::*;
use porous_proto::{ChannelId, DisconnectReason, Mode};

const CLIENT: u32 = 1;
const SERVER: u32 = 2;
const TIMEOUT: Duration = Duration::from_secs(30);

/// Two hosts 10 ms apart, of which one listens.
fn world() -> World {
    let line = LinkConfig::new().delay(Duration::from_millis(10));
    let mut world = World::new(Seed::new(5), line);
    world.add_host(CLIENT, Config::client());
    world.add_host(SERVER, Config::new());
    world.host_mut(SERVER).listen(Listen::Open).unwrap();
    world
}

fn events(world: &mut World, address: u32) -> Vec<Event<u32>> {
    core::iter::from_fn(|| world.poll_event(address)).collect()
}

/// Connects, sends a hundred packets to the server in a minute, and returns how many came.
fn talk(world: &mut World) -> usize {
    let peer = world.connect(CLIENT, SERVER).unwrap();
    world.run_for(SECOND);
    let mut came = 0;
    for n in 0..100_u8 {
        let sent = world
            .host_mut(CLIENT)
            .send(peer, ChannelId(0), vec![n; 50], Mode::Reliable);
        sent.unwrap();
        world.run_for(Duration::from_millis(600));
        let (to_client, _) = world.host(SERVER).peers().next().unwrap();
        while let Some(packet) = world.host_mut(SERVER).receive(to_client) {
            assert_eq!(packet.payload, vec![u8::try_from(came).unwrap(); 50]);
            came += 1;
        }
    }
    came
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn wrong_clocks_do_not_matter() {
    for drift in [-500_000, -200, 200, 1_000_000] {
        let mut world = world();
        world.set_clock_drift(CLIENT, drift);
        world.jump_clock(SERVER, 86_400_000_000);
        assert_eq!(talk(&mut world), 100, "{drift}; {}", world.seed());
    }
}

#[test]
fn a_hitch_delays_and_loses_nothing() {
    let mut world = world();
    world.hitch(SERVER, SECOND);
    world.connect(CLIENT, SERVER).unwrap();
    world.run_for(SECOND - Duration::from_micros(1));
    assert_eq!(events(&mut world, CLIENT), []);
    world.run_for(Duration::from_millis(100));
    assert_eq!(events(&mut world, CLIENT).len(), 1);
}

#[test]
fn an_idle_connection_keeps_its_way_through_a_router() {
    let mut world = world();
    world.add_nat(CLIENT, 100, TIMEOUT);
    assert_eq!(talk(&mut world), 100);
    world.run_for(10 * TIMEOUT);
    let told = [CLIENT, SERVER].map(|at| events(&mut world, at));
    let ended = |event: &Event<u32>| matches!(event, Event::Disconnected { .. });
    assert!(!told.iter().flatten().any(ended), "{told:?}");
}

#[test]
fn a_router_that_forgets_ends_the_connection_and_lets_a_new_one_through() {
    let mut world = world();
    world.add_nat(CLIENT, 100, TIMEOUT);
    assert_eq!(talk(&mut world), 100);
    world.network_mut().set_both(100, SERVER, LinkConfig::new());
    world.rebind(CLIENT, 101);
    assert_eq!(world.network().config(101, SERVER), LinkConfig::new());
    world.run_for(10 * TIMEOUT);
    let told = events(&mut world, SERVER);
    let lost = |event: &Event<u32>| {
        matches!(
            event,
            Event::Disconnected {
                reason: DisconnectReason::Silent,
                ..
            }
        )
    };
    assert!(told.iter().any(lost), "{told:?}");
    assert_eq!(talk(&mut world), 100);
}

#[test]
fn nobody_reaches_a_host_behind_a_router_uninvited() {
    let mut world = world();
    world.add_nat(SERVER, 100, TIMEOUT);
    for address in [SERVER, 100] {
        world.connect(CLIENT, address).unwrap();
    }
    world.run_for(SECOND);
    assert_eq!(world.host(SERVER).stats().datagrams_received, 0);
}
