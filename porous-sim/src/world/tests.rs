//! Hosts in virtual time: when each is called, and that a seed decides everything.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::ops::ControlFlow;
use core::time::Duration;

use porous_proto::{ChannelId, Disconnect, Event, Instant, Listen, Mode, PeerId};

use super::*;
use crate::Intercept;

mod bulk;
mod surroundings;

const SERVER: u32 = 1;
const PLAYER: u32 = 2;

fn at(millis: u64) -> Instant {
    Instant::from_micros(millis * 1000)
}

fn line() -> LinkConfig {
    LinkConfig::new().delay(Duration::from_millis(20))
}

/// A server that listens and `players` that have just called connect, at the addresses after it.
fn world(seed: u64, links: LinkConfig, players: u32) -> World {
    let mut world = World::new(Seed::new(seed), links).with_text();
    world.add_host(SERVER, Config::new());
    assert_eq!(world.host_mut(SERVER).listen(Listen::Open), Ok(()));
    for player in PLAYER..PLAYER + players {
        world.add_host(player, Config::client());
        assert!(world.connect(player, SERVER).is_ok());
    }
    world
}

/// Runs until this host is connected, and returns its peer.
fn connected(world: &mut World, address: u32) -> PeerId {
    let seed = world.seed();
    let peer = world.drive(world.now() + Duration::from_secs(30), |world| {
        while let Some(event) = world.poll_event(address) {
            if let Event::Connected { peer, .. } = event {
                return ControlFlow::Break(peer);
            }
        }
        ControlFlow::Continue(())
    });
    peer.unwrap_or_else(|| panic!("{address} is not connected; {seed}"))
}

/// All players connect, chat with the server for a while and leave.
fn session(seed: u64, players: u32) -> World {
    let mut world = world(
        seed,
        line().loss(10.0).jitter(Duration::from_millis(10)),
        players,
    );
    for player in PLAYER..PLAYER + players {
        let peer = connected(&mut world, player);
        let packet = vec![0; 2000];
        let host = world.host_mut(player);
        assert_eq!(
            host.send(peer, ChannelId(0), packet, Mode::Reliable),
            Ok(())
        );
    }
    world.run_for(Duration::from_secs(2));
    let now = world.now();
    let host = world.host_mut(SERVER);
    let peers: Vec<_> = host.peers().map(|(peer, _)| peer).collect();
    assert_eq!(peers.len(), usize::try_from(players).unwrap());
    for peer in peers {
        assert_eq!(
            host.receive(peer).map(|packet| packet.payload.len()),
            Some(2000)
        );
        let bye = Disconnect::Now { reason: 7 };
        assert_eq!(host.disconnect(now, peer, bye), Ok(()));
    }
    world
}

#[test]
fn one_seed_one_run() {
    let run = |seed| {
        let mut world = session(seed, 5);
        world.run_for(Duration::from_secs(20));
        world
    };
    let (a, b, other) = (run(1), run(1), run(2));
    assert_eq!(a.trace().first_difference(b.trace()), None);
    assert_eq!(a.trace().digest(), b.trace().digest());
    assert_ne!(a.trace().digest(), other.trace().digest());
}

#[test]
fn a_world_whose_peers_have_left_comes_to_rest() {
    let mut world = session(3, 3);
    let limit = world.now() + Duration::from_secs(120);
    assert!(world.run_until_idle(limit), "{:?}", world.next_happening());
    assert!(world.now() < limit);
    assert_eq!(world.step(), None);
    world.run_until(limit);
    assert_eq!(world.now(), limit);
}

#[test]
fn events_are_in_the_trace_and_stay_for_the_application() {
    let mut world = world(1, line(), 1);
    world.run_until(at(1000));
    let text = String::from(world.trace().text().unwrap());
    for address in [SERVER, PLAYER] {
        let Some(event @ Event::Connected { .. }) = world.poll_event(address) else {
            panic!("{address} is not connected");
        };
        assert!(
            text.contains(&alloc::format!("s {address} {event:?}\n")),
            "{text}"
        );
    }
}

/// The times when this host has sent, in microseconds.
fn sending_times(world: &mut World, address: u32) -> Rc<RefCell<Vec<u64>>> {
    let times = Rc::new(RefCell::new(Vec::new()));
    let hand = Rc::clone(&times);
    world.intercept(move |passing| {
        if passing.from == address {
            hand.borrow_mut().push(passing.now.as_micros());
        }
        Intercept::Pass
    });
    times
}

#[test]
fn a_ticked_host_speaks_at_its_ticks_only() {
    let mut world = world(5, line().loss(5.0), 1);
    let every = Duration::from_micros(16_700);
    let offset = Duration::from_micros(900);
    world.set_service(SERVER, Service::Tick { every, offset });
    world.set_service(PLAYER, Service::tick(every));
    let times = sending_times(&mut world, SERVER);
    let peer = connected(&mut world, SERVER);
    for _ in 0..50 {
        let packet = vec![1; 10];
        let host = world.host_mut(SERVER);
        assert_eq!(
            host.send(peer, ChannelId(0), packet, Mode::Unreliable),
            Ok(())
        );
        world.run_for(Duration::from_millis(7));
    }
    let times = times.borrow();
    assert!(times.len() > 15, "{times:?}");
    assert!(times.iter().all(|t| t % 16_700 == 900), "{times:?}");
}

#[test]
fn an_event_driven_host_speaks_at_once() {
    let mut world = world(5, line(), 1);
    let peer = connected(&mut world, PLAYER);
    world.run_until(at(777));
    let times = sending_times(&mut world, PLAYER);
    let host = world.host_mut(PLAYER);
    let jump = vec![1];
    assert_eq!(
        host.send(peer, ChannelId(0), jump, Mode::Unreliable),
        Ok(())
    );
    world.step();
    assert_eq!(times.borrow().first(), Some(&777_000));
}

#[test]
fn flush_is_for_hosts_served_by_events() {
    let mut world = world(5, line(), 2);
    world.set_service(PLAYER + 1, Service::tick(Duration::from_millis(10)));
    world.run_until(at(0));
    let fresh = |world: &World, from| world.network().link_stats(from, 99).sent;
    for player in [PLAYER, PLAYER + 1] {
        assert!(world.connect(player, 99).is_ok());
        world.flush(player);
    }
    assert_eq!((fresh(&world, PLAYER), fresh(&world, PLAYER + 1)), (1, 0));
    world.run_until(at(10));
    assert_eq!(fresh(&world, PLAYER + 1), 1);
}

#[test]
fn a_socket_has_an_end() {
    let mut world = world(1, LinkConfig::new(), 0);
    world.set_service(SERVER, Service::tick(Duration::from_millis(50)));
    world.set_socket_buffer(SERVER, 100);
    world.run_until(at(1));
    for _ in 0..5 {
        world.inject(9, SERVER, vec![0xff; 40]);
    }
    world.run_until(at(49));
    assert_eq!(world.overflowed(SERVER), 3);
    assert_eq!(world.host(SERVER).stats().datagrams_received, 0);
    world.run_until(at(50));
    assert_eq!(world.host(SERVER).stats().datagrams_received, 2);
    // The socket buffer was emptied: there is room again.
    world.inject(9, SERVER, vec![0xff; 100]);
    world.run_until(at(100));
    assert_eq!(world.host(SERVER).stats().datagrams_received, 3);
    let text = world.trace().text().unwrap();
    assert_eq!(text.matches("9 -> 1 socket buffer full 40 B").count(), 3);
}

#[test]
fn a_hook_drops_exactly_the_chosen_datagram() {
    let run = |chosen: u64| {
        let mut world = world(1, line(), 1);
        world.intercept(move |passing| match (passing.from, passing.nth) {
            (PLAYER, nth) if nth == chosen => Intercept::Drop,
            _ => Intercept::Pass,
        });
        connected(&mut world, PLAYER);
        world
    };
    let undisturbed = run(u64::MAX);
    for chosen in [0, 1] {
        let world = run(chosen);
        let text = world.trace().text().unwrap();
        assert_eq!(text.matches("2 -> 1 dropped by hand").count(), 1, "{text}");
        assert!(world.now() > undisturbed.now(), "{chosen}");
    }
}

#[test]
fn what_is_delayed_goes_on_although_all_else_rests() {
    let mut world = world(1, line(), 0);
    world.add_host(
        PLAYER,
        Config::client()
            .connect_timeout(Duration::from_millis(1))
            .unwrap(),
    );
    world.intercept(|_| Intercept::Delay(Duration::from_secs(3)));
    assert!(world.connect(PLAYER, 99).is_ok());
    assert!(world.run_until_idle(at(10_000)));
    assert_eq!(world.now(), at(3020));
    assert_eq!(world.network().stats().delivered, 1);
}

#[test]
fn a_killed_host_is_silent_and_may_come_back() {
    let mut world = world(1, line(), 1);
    let first = connected(&mut world, PLAYER);
    assert!(world.remove_host(SERVER));
    world.run_for(Duration::from_secs(30));
    let ended = world.poll_event(PLAYER);
    assert!(matches!(ended, Some(Event::Disconnected { peer, .. }) if peer == first));
    world.add_host(SERVER, Config::new());
    assert_eq!(world.host_mut(SERVER).listen(Listen::Open), Ok(()));
    assert!(world.connect(PLAYER, SERVER).is_ok());
    assert_ne!(connected(&mut world, PLAYER), first);
}

#[test]
fn an_application_that_always_acts_does_not_stop_time() {
    let mut world = world(1, line(), 1);
    let mut calls = 0;
    let end: Option<()> = world.drive(at(2000), |world| {
        calls += 1;
        let _ = world.host_mut(SERVER).peers().count();
        let _ = world.host_mut(PLAYER).peers().count();
        ControlFlow::Continue(())
    });
    assert_eq!((end, world.now()), (None, at(2000)));
    assert!(calls > 3, "{calls}");
}

#[test]
#[should_panic(expected = "replay with POROUS_SEED=6")]
fn what_never_ends_names_its_seed() {
    let mut world = world(6, LinkConfig::new(), 0);
    let _: Option<()> = world.drive(at(1), |world| {
        world.inject(8, 9, vec![0]);
        ControlFlow::Continue(())
    });
}

#[test]
#[should_panic(expected = "there is no host at 5")]
fn nobody_home() {
    let _ = world(1, LinkConfig::new(), 0).host(5);
}
