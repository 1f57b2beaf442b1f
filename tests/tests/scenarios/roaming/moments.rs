//! A client that moves at each moment, and every fate of each datagram of a move.

use core::time::Duration;

use porous_proto::{ChannelId, Event, Listen, Mode, PeerId, PeerState};
use porous_sim::{Intercept, LinkConfig, Seed, World};
use porous_tests::{config, connected, events, state};

use super::{A, B, MS, ROUTER, SECOND, deliver, moves, receive, send, simple};

/// Both hosts send a packet every 20 ms, twenty times. Returns the events of B.
fn converse(world: &mut World, client: PeerId, moves_at: Duration) -> Vec<Event<u32>> {
    let (mut told, mut own) = (Vec::new(), Vec::new());
    let started = world.now();
    for n in 0..20_u8 {
        let next = started + 20 * MS * u32::from(n);
        if (world.now()..next).contains(&(started + moves_at)) {
            world.run_until(started + moves_at);
            world.rebind(A, ROUTER + 1);
        }
        world.run_until(next);
        // A packet that a client sends before it is connected is refused.
        let _ = world
            .host_mut(A)
            .send(client, ChannelId(0), vec![n], Mode::Reliable);
        told.extend(events(world, B));
        for peer in connected(&told) {
            let _ = world
                .host_mut(B)
                .send(peer, ChannelId(0), vec![n], Mode::Reliable);
        }
        own.extend(events(world, A));
    }
    told
}

/// D10.
#[test]
fn a_client_may_move_at_any_moment_of_its_connection() {
    for millis in (0..400).step_by(7) {
        let link = LinkConfig::new().delay(30 * MS);
        let mut world = World::new(Seed::new(millis), link);
        world.add_host(A, config::client());
        world.add_host(B, config::new().roaming(true));
        world.add_nat(A, ROUTER, 30 * SECOND);
        world.host_mut(B).listen(Listen::Open).unwrap();
        let client = world.connect(A, B).unwrap();
        let mut told = converse(&mut world, client, Duration::from_millis(millis));
        world.run_for(30 * SECOND);
        told.extend(events(&mut world, B));
        // The peer at the old address, from which no datagram came again, has ended.
        let all = connected(&told);
        let live = |peer: &&PeerId| state(&world, B, **peer) == Some(PeerState::Connected);
        let live: Vec<PeerId> = all.iter().filter(live).copied().collect();
        assert_eq!(live.len(), 1, "moved at {millis} ms: {told:?}");
        let heard = receive(&mut world, B, live[0]);
        let first = heard.first().copied().unwrap_or(20);
        assert!(heard.iter().copied().eq(first..20), "{millis}: {heard:?}");
        let heard = receive(&mut world, A, client);
        let first = heard.first().copied().unwrap_or(20);
        assert!(heard.iter().copied().eq(first..20), "{millis}: {heard:?}");
        deliver(&mut world, A, client, (B, live[0]), SECOND);
        deliver(&mut world, B, live[0], (A, client), SECOND);
    }
}

/// What happens to a datagram of the move.
#[derive(Clone, Copy, Debug)]
enum Blow {
    Lost,
    Doubled,
    Late,
    Overtaken,
}

/// The client moves and both send, while this happens to these datagrams after the move.
fn move_under(blow: Blow, hit: [u64; 2]) {
    let (mut world, client, server) = simple(hit[0] * 100 + hit[1]);
    world.run_for(2 * SECOND);
    world.rebind(A, ROUTER + 1);
    world.intercept(move |passing| match blow {
        _ if !hit.contains(&passing.number) => Intercept::Pass,
        Blow::Lost => Intercept::Drop,
        Blow::Doubled => Intercept::Duplicate,
        Blow::Late => Intercept::Delay(150 * MS),
        Blow::Overtaken => Intercept::Hold,
    });
    for n in 0..6 {
        send(&mut world, A, client, [n]);
        send(&mut world, B, server, [n]);
        world.run_for(30 * MS);
    }
    // Both are silent for longer than any repetition takes: a second later everything is sent.
    world.run_for(2 * SECOND);
    let what = format!("{blow:?} {hit:?}");
    assert_eq!(receive(&mut world, B, server), [0, 1, 2, 3, 4, 5], "{what}");
    assert_eq!(receive(&mut world, A, client), [0, 1, 2, 3, 4, 5], "{what}");
    let told = moves(&mut world);
    assert_eq!(told, [(ROUTER, ROUTER + 1)], "{what}");
}

#[test]
fn each_datagram_of_a_move_may_be_lost_and_each_two() {
    for one in 0..16 {
        for other in one..16 {
            move_under(Blow::Lost, [one, other]);
        }
    }
}

#[test]
fn each_datagram_of_a_move_may_be_doubled_or_late_or_overtaken() {
    for one in 0..20 {
        for blow in [Blow::Doubled, Blow::Late, Blow::Overtaken] {
            move_under(blow, [one, one]);
            move_under(blow, [one, one + 1]);
        }
    }
}
