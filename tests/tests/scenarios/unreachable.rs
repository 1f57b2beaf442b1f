//! Reports of a driver's system about an address: that it cannot be reached, or that no program is bound
//! to the port.

use core::time::Duration;

use porous_proto::{
    Config, DisconnectReason, Event, Listen, Mode, PeerId, PeerState, Refusal, UnknownPeer,
};
use porous_sim::{LinkConfig, Pair, World};
use porous_tests::{config, connected, ended, events, line, seed, state};

const CLIENT: u32 = 1;
const SERVER: u32 = 2;
/// An address without a host.
const NOWHERE: [u32; 2] = [77, 78];
const SECOND: Duration = Duration::from_secs(1);
const UNREACHABLE: DisconnectReason = DisconnectReason::Unreachable;

/// A client, and a server that listens.
fn world(server: Config) -> World {
    let mut world = World::new(seed(), line());
    world.add_host(CLIENT, config::client());
    world.add_host(SERVER, server);
    assert_eq!(world.host_mut(SERVER).listen(Listen::Open), Ok(()));
    world
}

fn unreachable(world: &mut World, address: u32) {
    let now = world.now();
    world.host_mut(CLIENT).handle_unreachable(now, address);
}

fn connect(world: &mut World, to: &[u32]) -> PeerId {
    world.connect_any(CLIENT, to).expect("free addresses")
}

#[test]
fn an_attempt_at_an_address_that_cannot_be_reached_ends_at_once() {
    let mut world = world(config::new());
    let peer = connect(&mut world, &NOWHERE[..1]);
    unreachable(&mut world, NOWHERE[1]);
    assert_eq!(events(&mut world, CLIENT), [], "somebody else's address");
    unreachable(&mut world, NOWHERE[0]);
    let ends = ended(&events(&mut world, CLIENT));
    assert_eq!(ends, [(peer, UNREACHABLE, 0)]);
    let now = world.now();
    let gone = porous_proto::Disconnect::Now { reason: 0 };
    let disconnects = world.host_mut(CLIENT).disconnect(now, peer, gone);
    assert_eq!(disconnects, Err(UnknownPeer));
    // The address can be tried again at once.
    connect(&mut world, &NOWHERE[..1]);
}

#[test]
fn the_others_of_several_addresses_are_still_tried() {
    for order in [[NOWHERE[0], SERVER], [SERVER, NOWHERE[0]]] {
        let mut world = world(config::new());
        let peer = connect(&mut world, &order);
        unreachable(&mut world, NOWHERE[0]);
        assert_eq!(state(&world, CLIENT, peer), Some(PeerState::Connecting));
        world.run_for(SECOND);
        assert_eq!(connected(&events(&mut world, CLIENT)), [peer], "{order:?}");
        assert_eq!(world.host(CLIENT).address(peer), Some(SERVER));
    }
}

/// C12.
#[test]
fn an_attempt_ends_when_no_address_is_left() {
    let mut world = world(config::new());
    let peer = connect(&mut world, &NOWHERE);
    unreachable(&mut world, NOWHERE[1]);
    unreachable(&mut world, NOWHERE[1]);
    assert_eq!(events(&mut world, CLIENT), []);
    unreachable(&mut world, NOWHERE[0]);
    let ends = ended(&events(&mut world, CLIENT));
    assert_eq!(ends, [(peer, UNREACHABLE, 0)]);
}

#[test]
fn a_refusal_says_more_than_that_the_rest_cannot_be_reached() {
    let refused = DisconnectReason::Refused(Refusal::Incompatible { application_id: 7 });
    for first in [true, false] {
        let mut world = world(config::new().application_id(7));
        let peer = connect(&mut world, &[SERVER, NOWHERE[0]]);
        if first {
            unreachable(&mut world, NOWHERE[0]);
        }
        world.run_for(SECOND);
        if !first {
            unreachable(&mut world, NOWHERE[0]);
        }
        let ends = ended(&events(&mut world, CLIENT));
        assert_eq!(ends, [(peer, refused, 0)], "{first}");
    }
}

/// C12.
#[test]
fn an_address_that_cannot_be_reached_ends_no_connection() {
    let mut pair = Pair::new(seed(), line(), config::client(), config::new());
    pair.connect_to_listener();
    let (now, to) = (pair.world.now(), [Pair::B, Pair::A]);
    for (host, to) in [Pair::A, Pair::B].into_iter().zip(to) {
        while pair.world.poll_event(host).is_some() {}
        let host = pair.world.host_mut(host);
        host.handle_unreachable(now, to);
        host.handle_port_closed(Some(to));
        host.handle_port_closed(None);
        assert_eq!(host.poll_event(), None);
    }
    let packets = [(0, Mode::Reliable, vec![7])];
    assert_eq!(pair.exchange(Pair::A, packets, SECOND).len(), 1);
}

/// C12.
#[test]
fn a_closed_port_is_told_once_an_address_and_ends_nothing() {
    let mut world = World::new(seed(), LinkConfig::new());
    world.add_host(CLIENT, config::client());
    let peer = connect(&mut world, &[NOWHERE[0], SERVER]);
    for _ in 0..3 {
        for address in [SERVER, NOWHERE[1]] {
            world.host_mut(CLIENT).handle_port_closed(Some(address));
        }
    }
    let closed = |address| Event::PortClosed { peer, address };
    assert_eq!(events(&mut world, CLIENT), [closed(SERVER)]);
    world.host_mut(CLIENT).handle_port_closed(Some(NOWHERE[0]));
    assert_eq!(events(&mut world, CLIENT), [closed(NOWHERE[0])]);
    // The server begins to listen.
    world.add_host(SERVER, config::new());
    assert_eq!(world.host_mut(SERVER).listen(Listen::Open), Ok(()));
    world.run_for(2 * SECOND);
    assert_eq!(connected(&events(&mut world, CLIENT)), [peer]);
}

/// Not every system tells which address has the closed port.
#[test]
fn a_closed_port_without_an_address_is_told_where_only_one_can_be_meant() {
    for (to, other, told) in [
        (&NOWHERE[..1], None, true),
        (&NOWHERE[..], None, false),
        (&NOWHERE[..1], Some(SERVER), false),
    ] {
        let mut world = world(config::new());
        let peer = connect(&mut world, to);
        if let Some(other) = other {
            connect(&mut world, &[other]);
        }
        world.host_mut(CLIENT).handle_port_closed(None);
        let address = NOWHERE[0];
        let closed = told.then_some(Event::PortClosed { peer, address });
        let closed: Vec<_> = closed.into_iter().collect();
        assert_eq!(events(&mut world, CLIENT), closed, "{to:?} {other:?}");
    }
}
