//! Connecting to a host that may be at any of several addresses: servers with two, strangers,
//! mirrors, refusals, and what the attempt costs.

use core::time::Duration;

use porous_proto::{
    ChannelId, Config, ConnectError, Disconnect, DisconnectReason, Event, Ignored, Instant,
    Integrity, Listen, Malformed, Mode, PeerId, PeerState, Refusal,
};
use porous_sim::{Intercept, LinkConfig, Router, World};
use porous_tests::players::{assert_talk_between, one_between};
use porous_tests::{Kind, config, connected, ended, events, kind, line, record, seed, state};

const CLIENT: u32 = 1;
const SERVER: u32 = 2;
/// The addresses at which the client is seen outside its own network, and the server is reached.
const OUTSIDE: [u32; 2] = [100, 200];
const STRANGER: u32 = 3;
/// An address without a host.
const NOWHERE: u32 = 77;
const BOTH: [u32; 2] = [CLIENT, SERVER];
const SECOND: Duration = Duration::from_secs(1);

/// A server that listens at two addresses, which sees the client at two addresses as well, as if
/// both had IPv4 and IPv6.
fn two_ways(links: LinkConfig) -> World {
    let mut world = World::new(seed(), links);
    for (host, outside) in BOTH.into_iter().zip(OUTSIDE) {
        world.add_host(host, config::new());
        world.add_router(host, Router::new(&[outside]).forwards().hairpins());
    }
    world.join(&BOTH);
    assert_eq!(world.host_mut(SERVER).listen(Listen::Open), Ok(()));
    world
}

/// The client and a stranger; there is no server.
fn strangers(links: LinkConfig) -> World {
    let mut world = World::new(seed(), links);
    world.add_host(CLIENT, config::new());
    world.add_host(STRANGER, config::new());
    world
}

fn connect(world: &mut World, to: &[u32]) -> PeerId {
    world.connect_any(CLIENT, to).expect("free addresses")
}

const ORDERS: [[u32; 2]; 2] = [[SERVER, OUTSIDE[1]], [OUTSIDE[1], SERVER]];

#[test]
fn a_server_with_two_addresses_sees_one_connection() {
    for order in ORDERS {
        let mut world = two_ways(line());
        let peer = connect(&mut world, &order);
        world.run_for(SECOND);
        let ends = one_between(&mut world, BOTH, &format!("{order:?}")).expect("one connection");
        assert_eq!((ends[0], world.host(SERVER).all_peers().count()), (peer, 1));
    }
}

/// The rule of the first cookie alone is not enough: the first address falls silent in the middle.
/// D11.
#[test]
fn a_server_sees_one_connection_whatever_is_lost() {
    for number in 0..200 {
        let seed = seed().child("addresses", number);
        let order = ORDERS[usize::from(number % 2 == 0)];
        let loss = if number < 100 { 30.0 } else { 10.0 }; // per cent; a quarter of it below
        let jittery = line().jitter(Duration::from_millis(30));
        let mut world = two_ways(jittery.loss(loss));
        world
            .network_mut()
            .set_both(CLIENT, SERVER, jittery.loss(loss));
        // Each number draws another run.
        let mut count = seed.get();
        world.intercept(move |_| {
            count = count
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            match count >> 62 {
                0 => Intercept::Drop,
                1 => Intercept::Duplicate,
                _ => Intercept::Pass,
            }
        });
        connect(&mut world, &order);
        world.run_for(10 * SECOND);
        let context = format!("{number}");
        let ends = one_between(&mut world, BOTH, &context);
        let ends = ends.unwrap_or_else(|| panic!("none: {context}"));
        world.run_for(40 * SECOND);
        let told = BOTH.map(|host| {
            (
                connected(&events(&mut world, host)),
                world.host(host).all_peers().count(),
            )
        });
        assert_eq!(told, [(vec![], 1), (vec![], 1)], "{context}");
        let states = [0, 1].map(|n| state(&world, BOTH[n], ends[n]));
        assert_eq!(states, [Some(PeerState::Connected); 2], "{context}");
    }
}

#[test]
fn a_server_that_asks_asks_once() {
    for order in ORDERS {
        let mut world = two_ways(line());
        assert_eq!(world.host_mut(SERVER).listen(Listen::Ask), Ok(()));
        connect(&mut world, &order);
        world.run_for(3 * SECOND);
        let told = events(&mut world, SERVER);
        let [Event::Request { peer, .. }] = told[..] else {
            panic!("{told:?}")
        };
        assert_eq!(world.accept(SERVER, peer), Ok(()));
        world.run_for(2 * SECOND);
        assert!(one_between(&mut world, BOTH, "asked").is_some());
    }
}

#[test]
fn an_address_that_dies_in_the_handshake_is_left_for_another() {
    for order in ORDERS {
        let mut world = two_ways(line());
        connect(&mut world, &order);
        // Both cookies have come, and one has been brought back; from now on the first address is dead.
        world.run_for(Duration::from_millis(50));
        let [first, _] = order;
        let (near, far) = ((CLIENT, SERVER), (OUTSIDE[0], OUTSIDE[1]));
        let dead = if first == SERVER { near } else { far };
        world.network_mut().partition(&[dead.0], &[dead.1]);
        world.run_for(3 * SECOND);
        assert!(one_between(&mut world, BOTH, &format!("{order:?}")).is_some());
    }
}

#[test]
fn a_listener_at_a_second_address_makes_no_peer_while_the_first_answers() {
    let mut world = two_ways(line());
    world.add_host(STRANGER, config::new());
    assert_eq!(world.host_mut(STRANGER).listen(Listen::Open), Ok(()));
    world
        .network_mut()
        .set_both(CLIENT, STRANGER, line().delay(Duration::from_millis(21)));
    connect(&mut world, &[STRANGER, SERVER]);
    world.run_for(SECOND);
    assert!(one_between(&mut world, BOTH, "beside a stranger").is_some());
    assert_eq!(events(&mut world, STRANGER), []);
}

#[test]
fn a_stranger_that_was_met_as_well_is_told() {
    // The stranger and the client connect to each other, but the stranger's acknowledgements are lost.
    let mut world = two_ways(line());
    world.add_host(STRANGER, config::new());
    world.intercept(|passing| {
        let lost = passing.from == STRANGER && kind(passing.datagram) != Kind::Request;
        if lost {
            Intercept::Drop
        } else {
            Intercept::Pass
        }
    });
    let strangers_peer = world.connect(STRANGER, OUTSIDE[0]);
    connect(&mut world, &[STRANGER, OUTSIDE[1]]);
    world.run_for(2 * SECOND);
    assert!(one_between(&mut world, BOTH, "and a stranger").is_some());
    let told = ended(&events(&mut world, STRANGER));
    let peer = strangers_peer.expect("a free address");
    assert_eq!(told, [(peer, DisconnectReason::ByPeer(0), 0)]);
}

/// The stranger takes itself for the peer, and sends under the connection id that the server uses as
/// well.
#[test]
fn a_stranger_that_was_met_as_well_is_not_taken_for_the_peer() {
    let crc = || config::new().integrity(Integrity::Crc32c);
    for (settings, name) in [
        (config::new as fn() -> Config, "header"),
        (crc as fn() -> Config, "CRC-32C"),
    ] {
        let mut world = World::new(seed(), line());
        for host in [CLIENT, SERVER, STRANGER] {
            world.add_host(host, settings().roaming(true));
        }
        assert_eq!(world.host_mut(SERVER).listen(Listen::Open), Ok(()));
        world.intercept(|passing| {
            let of_stranger = passing.from == STRANGER;
            match (passing.to, kind(passing.datagram)) {
                (STRANGER, Kind::Disconnect) => Intercept::Drop,
                (_, Kind::Acknowledge) if of_stranger => Intercept::Drop,
                (_, Kind::Short) if of_stranger && passing.now.as_micros() < 1_000_000 => {
                    Intercept::Drop
                }
                _ => Intercept::Pass,
            }
        });
        let strangers_peer = world.connect(STRANGER, CLIENT).expect("a free address");
        let peer = connect(&mut world, &[STRANGER, SERVER]);
        world.run_for(SECOND);
        assert_eq!(
            state(&world, STRANGER, strangers_peer),
            Some(PeerState::Connected)
        );
        let stranger = world.host_mut(STRANGER);
        let sent = stranger.send(
            strangers_peer,
            ChannelId(0),
            &b"not the peer"[..],
            Mode::Reliable,
        );
        assert_eq!(sent, Ok(()));
        world.flush(STRANGER);
        world.run_for(2 * SECOND);
        let host = world.host_mut(CLIENT);
        let refused = host
            .stats()
            .ignored(Ignored::Malformed(Malformed::Integrity));
        assert_eq!(
            (host.address(peer), refused > 0),
            (Some(SERVER), true),
            "{name}"
        );
        let ends = one_between(&mut world, BOTH, name).expect("one connection");
        assert_talk_between(&mut world, [(CLIENT, ends[0]), (SERVER, ends[1])], name);
    }
}

/// D11.
#[test]
fn a_stranger_that_gives_up_does_not_end_the_attempt() {
    let mut world = two_ways(line());
    world.add_host(STRANGER, config::new());
    world.intercept(|passing| {
        let early = passing.now < Instant::from_micros(1_500_000);
        let lost = kind(passing.datagram) == Kind::Acknowledge
            || passing.to != STRANGER && passing.from != STRANGER;
        if early && lost {
            Intercept::Drop
        } else {
            Intercept::Pass
        }
    });
    let peer = world.connect(STRANGER, OUTSIDE[0]).expect("a free address");
    connect(&mut world, &[STRANGER, OUTSIDE[1]]);
    world.run_for(SECOND);
    let left = world.disconnect(STRANGER, peer, Disconnect::Now { reason: 3 });
    assert_eq!(left, Ok(()));
    world.run_for(3 * SECOND);
    assert!(one_between(&mut world, BOTH, "without the stranger").is_some());
}

/// A refusal strikes one address off the list. D11.
#[test]
fn the_attempt_is_refused_when_all_addresses_have_refused() {
    let mut world = two_ways(line());
    world.add_host(STRANGER, config::new().application_id(5));
    assert_eq!(world.host_mut(STRANGER).listen(Listen::Open), Ok(()));
    connect(&mut world, &[STRANGER, SERVER, OUTSIDE[1]]);
    world.run_for(2 * SECOND);
    assert!(one_between(&mut world, BOTH, "another application").is_some());

    let mut world = strangers(line());
    world.add_host(SERVER, config::new().application_id(6));
    for host in [SERVER, STRANGER] {
        assert_eq!(world.host_mut(host).listen(Listen::Open), Ok(()));
    }
    world.add_host(STRANGER, config::new().application_id(7));
    assert_eq!(world.host_mut(STRANGER).listen(Listen::Open), Ok(()));
    let peer = connect(&mut world, &[SERVER, STRANGER]);
    world.run_for(SECOND);
    let refused = DisconnectReason::Refused(Refusal::Incompatible { application_id: 7 });
    assert_eq!(ended(&events(&mut world, CLIENT)), [(peer, refused, 0)]);
}

#[test]
fn an_attempt_that_times_out_tells_of_the_refusal_of_one_address() {
    let mut world = strangers(line());
    world.add_host(STRANGER, config::new().application_id(7));
    assert_eq!(world.host_mut(STRANGER).listen(Listen::Open), Ok(()));
    let peer = connect(&mut world, &[NOWHERE, STRANGER]);
    world.run_for(9 * SECOND);
    assert_eq!(events(&mut world, CLIENT), []);
    world.run_for(2 * SECOND);
    let refused = DisconnectReason::Refused(Refusal::Incompatible { application_id: 7 });
    assert_eq!(ended(&events(&mut world, CLIENT)), [(peer, refused, 0)]);
    assert_eq!(world.host(CLIENT).all_peers().count(), 0);
}

#[test]
fn a_mirror_at_one_address_changes_nothing() {
    let mut world = two_ways(line());
    world.run_for(SECOND);
    let tape = record(&mut world);
    connect(&mut world, &[NOWHERE, OUTSIDE[1]]);
    world.flush(CLIENT);
    for _ in 0..20 {
        // The mirror sends back every datagram that it gets.
        let sent = tape.all();
        let at = world.now();
        for taped in sent
            .into_iter()
            .filter(|taped| taped.to == NOWHERE && taped.at == at)
        {
            world.inject(NOWHERE, OUTSIDE[0], taped.datagram);
        }
        world.run_for(Duration::from_millis(50));
    }
    assert!(one_between(&mut world, BOTH, "and a mirror").is_some());
    assert_eq!(world.host(CLIENT).all_peers().count(), 1);
}

#[test]
fn an_attempt_that_is_given_up_tells_every_host_that_it_knows() {
    let mut world = strangers(line());
    world.add_host(SERVER, config::new());
    let there = [SERVER, STRANGER].map(|host| world.connect(host, CLIENT).expect("free"));
    // No host gets an acknowledgement.
    world.intercept(|passing| {
        let lost = [Kind::Acknowledge, Kind::Short].contains(&kind(passing.datagram));
        if lost {
            Intercept::Drop
        } else {
            Intercept::Pass
        }
    });
    let peer = connect(&mut world, &[SERVER, NOWHERE, STRANGER]);
    world.run_for(SECOND);
    let given_up = world.disconnect(CLIENT, peer, Disconnect::Now { reason: 9 });
    assert_eq!(given_up, Ok(()));
    world.run_for(SECOND);
    for (host, peer) in [SERVER, STRANGER].into_iter().zip(there) {
        let told = ended(&events(&mut world, host));
        assert_eq!(told, [(peer, DisconnectReason::ByPeer(9), 0)], "{host}");
    }
}

/// A DISC goes to the address of the old connection, whichever address the new one uses.
#[test]
fn a_client_that_left_may_ask_at_all_addresses_again_at_once() {
    for (first, second) in [(0, 1), (1, 0), (0, 0)] {
        let mut world = two_ways(line());
        let old = connect(&mut world, &ORDERS[first]);
        world.run_for(SECOND);
        let before = one_between(&mut world, BOTH, "the old one").expect("one connection");
        let left = world.disconnect(CLIENT, old, Disconnect::Now { reason: 3 });
        assert_eq!(left, Ok(()));
        connect(&mut world, &ORDERS[second]);
        world.run_for(10 * SECOND);
        let told = BOTH.map(|host| events(&mut world, host));
        let ends = [ended(&told[0]), ended(&told[1])];
        let expected = [DisconnectReason::ByUs(3), DisconnectReason::ByPeer(3)];
        assert_eq!(ends[0], [(before[0], expected[0], 0)], "{first} {second}");
        assert_eq!(ends[1], [(before[1], expected[1], 0)], "{first} {second}");
        let new = [connected(&told[0]), connected(&told[1])];
        assert_eq!([new[0].len(), new[1].len()], [1, 1], "{first} {second}");
        let ends = [(CLIENT, new[0][0]), (SERVER, new[1][0])];
        assert_talk_between(&mut world, ends, "the new one");
    }
}

#[test]
fn lists_that_make_no_sense_are_errors() {
    let mut world = strangers(line());
    assert_eq!(world.connect_any(CLIENT, &[]), Err(ConnectError::NoAddress));
    let nine: Vec<u32> = (50..59).collect();
    assert_eq!(
        world.connect_any(CLIENT, &nine),
        Err(ConnectError::TooManyAddresses)
    );
    assert_eq!(world.host(CLIENT).all_peers().count(), 0);
    let doubled: Vec<u32> = nine[1..].iter().chain(&nine[1..]).copied().collect();
    assert!(world.connect_any(CLIENT, &doubled).is_ok());
    let taken = Err(ConnectError::AlreadyConnected);
    assert_eq!(world.connect_any(CLIENT, &nine[1..]), taken);
    assert_eq!(world.connect(CLIENT, nine[3]), taken);
}

/// Players at home often have the same private address.
#[test]
fn attempts_may_share_an_address() {
    let mut world = World::new(seed(), line());
    let friends = [10, 11];
    for host in [CLIENT, 10, 11] {
        world.add_host(host, config::new());
    }
    let there = friends.map(|friend| world.connect_any(friend, &[CLIENT]).expect("free"));
    let here = friends.map(|friend| connect(&mut world, &[NOWHERE, friend]));
    world.run_for(SECOND);
    assert_eq!(connected(&events(&mut world, CLIENT)).len(), 2);
    for n in [0, 1] {
        let ends = [(CLIENT, here[n]), (friends[n], there[n])];
        assert_talk_between(&mut world, ends, "friends");
    }
    // No datagram came from this address, so another host may be there; but a host connects to another
    // one only once.
    let twice = world.connect_any(CLIENT, &[NOWHERE, 10]);
    assert_eq!(twice, Err(ConnectError::AlreadyConnected));
    assert!(world.connect_any(CLIENT, &[NOWHERE, 12]).is_ok());
}

/// `docs/limits.md`: the number of addresses changes only the number of requests.
#[test]
fn an_attempt_asks_each_address_as_often_as_a_single_one() {
    let requests = |addresses: &[u32]| {
        let mut world = strangers(line());
        let tape = record(&mut world);
        connect(&mut world, addresses);
        world.run_for(20 * SECOND);
        let all = tape.all();
        let to = |address| all.iter().filter(|taped| taped.to == address).count();
        addresses
            .iter()
            .map(|&address| to(address))
            .collect::<Vec<_>>()
    };
    let eight: Vec<u32> = (50..58).collect();
    let alone = requests(&[NOWHERE]);
    assert_eq!(requests(&eight), [alone[0]; 8]);
    assert!((12..=15).contains(&alone[0]), "{alone:?}");
}
