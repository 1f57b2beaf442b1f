//! How connections live and end. Between the hosts a datagram takes 20 ms.

use core::time::Duration;

use porous_proto::{Config, Disconnect, DisconnectReason, Event, Mode};
use porous_sim::{Intercept, Pair, Seed, Service};
use porous_tests::{
    assert_told, config, connected, disconnect, ended, events, line, quiet_pair, seed,
};

use crate::{A, B, MS, numbers};

const C: u32 = 3;

/// The times in microseconds, from now on, at which each host of a pair hears that the connection is
/// over.
fn ends(pair: &mut Pair, limit: Duration) -> [Vec<(Duration, DisconnectReason)>; 2] {
    let (start, limit) = (pair.world.now(), pair.world.now() + limit);
    let mut ends = [Vec::new(), Vec::new()];
    let _: Option<()> = pair.world.drive(limit, |world| {
        for (ends, address) in ends.iter_mut().zip([A, B]) {
            while let Some(event) = world.poll_event(address) {
                if let Event::Disconnected { reason, .. } = event {
                    let after = world.now().saturating_duration_since(start);
                    ends.push((after, reason));
                }
            }
        }
        core::ops::ControlFlow::Continue(())
    });
    ends
}

/// 6: on a dark link each side hears of the timeout once, when it has passed and at most a tick later,
/// and the place is free.
#[test]
fn a_dark_link_ends_both_sides_within_a_tick_and_frees_the_place() {
    let tick = Duration::from_micros(16_667);
    for (service, late) in [
        (Service::Event, Duration::ZERO),
        (Service::tick(tick), tick),
    ] {
        // given: two hosts whose stream keeps them talking, with a timeout of 5 s
        let timeout = Duration::from_secs(5);
        let server = config::new().timeout(timeout).unwrap().max_peers(1);
        let client = config::client().timeout(timeout).unwrap();
        let mut pair = Pair::new(seed(), line(), client, server);
        pair.connect_to_listener();
        for address in [A, B] {
            pair.world.set_service(address, service);
        }
        for _ in 0..60 {
            for from in [A, B] {
                assert_eq!(pair.send(from, 0, Mode::Unreliable, vec![1]), Ok(()));
            }
            pair.world.run_for(tick);
            for address in [A, B] {
                pair.receive_all(address);
            }
        }

        // when: the link goes dark; datagrams under way arrive for another 20 ms
        pair.world.network_mut().partition(&[A], &[B]);
        let ends = ends(&mut pair, Duration::from_secs(60));

        // then: at most a tick to take the last datagram, and one to notice that the timeout has passed
        for told in ends {
            let [(after, DisconnectReason::Silent)] = told[..] else {
                panic!("{told:?}; {}", seed());
            };
            let earliest = timeout - tick;
            let latest = timeout + 20 * MS + late + late;
            assert!(
                (earliest..=latest).contains(&after),
                "{after:?}; {}",
                seed()
            );
        }
        pair.world.network_mut().mend();
        pair.world.add_host(C, config::client());
        let newcomer = pair.world.connect(C, B);
        pair.world.run_for(Duration::from_secs(1));
        let told = events(&mut pair.world, C);
        assert_eq!(connected(&told), Vec::from_iter(newcomer), "{}", seed());
    }
}

/// 9: if the first disconnection is lost, the server hears the second 100 ms later.
#[test]
fn a_lost_goodbye_is_said_again() {
    // given
    let mut pair = quiet_pair(seed(), line());
    pair.world.intercept(|passing| match passing.number {
        0 => Intercept::Drop,
        _ => Intercept::Pass,
    });

    // when
    disconnect(&mut pair, A, Disconnect::Now { reason: 3 });
    pair.world.run_for(120 * MS);

    // then
    assert_told(&mut pair, B, (DisconnectReason::ByPeer(3), 0), "the second");
}

/// 9: if every second datagram is lost, ten DISC within a second are enough, but for one time in a
/// thousand.
#[test]
fn a_goodbye_is_heard_within_a_second_at_half_loss() {
    let mut deaf = 0;
    for number in 0..300 {
        // given: half of all datagrams are lost
        let mut pair = quiet_pair(Seed::from_env(Seed::new(number)), line());
        pair.world.network_mut().set_all(line().loss(50.0));

        // when
        disconnect(&mut pair, A, Disconnect::Now { reason: 3 });
        pair.world.run_for(Duration::from_secs(1));

        // then
        let told = ended(&events(&mut pair.world, B));
        let heard = [(pair.peer(B), DisconnectReason::ByPeer(3), 0)];
        assert!(told.is_empty() || told == heard, "{told:?}; seed {number}");
        deaf += u32::from(told.is_empty());
    }
    assert!(deaf <= 1, "{deaf} of 300");
}

/// 11: after a disconnection at once only its end is told, whatever still arrives; the other side hears
/// of it, or times out.
#[test]
fn after_a_disconnection_at_once_only_its_end_is_told() {
    for dark in [false, true] {
        // given: a stream from the other side, part of which is under way
        let mut pair = quiet_pair(seed(), line());
        for n in 0..10_u8 {
            assert_eq!(pair.send(B, 0, Mode::Reliable, vec![n; 5000]), Ok(()));
        }
        pair.world.run_for(10 * MS);
        if dark {
            pair.world.network_mut().set_link(A, B, line().down(true));
        }

        // when
        disconnect(&mut pair, A, Disconnect::Now { reason: 4 });
        pair.world.run_for(Duration::from_secs(60));

        // then: no packet and a single event
        let told = events(&mut pair.world, A);
        let reason = if dark {
            DisconnectReason::GoodbyeUnanswered
        } else {
            DisconnectReason::ByUs(4)
        };
        let end = (pair.peer(A), reason, 0);
        assert_eq!((ended(&told), told.len()), (vec![end], 1), "{told:?}");
        assert_eq!(pair.receive_all(A), [], "{}", seed());
        let told = events(&mut pair.world, B);
        let [(_, reason, 10)] = ended(&told)[..] else {
            panic!("{told:?}; {}", seed());
        };
        let expected = if dark {
            DisconnectReason::Silent
        } else {
            DisconnectReason::ByPeer(4)
        };
        assert_eq!(reason, expected, "{}", seed());
    }
}

/// 12: both leave in the same tick, each for a reason of its own: each is told one end.
#[test]
fn both_leave_in_one_tick_and_each_is_told_once() {
    for loss in [0.0, 50.0] {
        for number in 0..20 {
            // given: two game loops in step
            let mut pair = quiet_pair(Seed::from_env(Seed::new(number)), line());
            pair.world.network_mut().set_all(line().loss(loss));
            for address in [A, B] {
                pair.world.set_service(address, Service::tick(16 * MS));
            }

            // when
            for (address, reason) in [(A, 11), (B, 22)] {
                disconnect(&mut pair, address, Disconnect::Now { reason });
            }
            let ends = ends(&mut pair, Duration::from_secs(60));

            // then: neither host takes its own reason for the other's
            for (told, own) in ends.iter().zip([11, 22]) {
                let [(_, reason)] = told[..] else {
                    panic!("{told:?}; {}", pair.world.seed());
                };
                let known = [
                    DisconnectReason::ByUs(own),
                    DisconnectReason::GoodbyeUnanswered,
                ];
                assert!(known.contains(&reason), "{reason:?}; {}", pair.world.seed());
                assert!(loss > 0.0 || reason == known[0], "{}", pair.world.seed());
            }
        }
    }
}

/// 16: without a timeout a connection outlives an hour of darkness, and goes on.
#[test]
fn without_a_timeout_an_hour_of_darkness_ends_nothing() {
    // given: hosts that wait for ever, and packets under way
    let patient = |config: Config| config.timeout(Duration::MAX).unwrap();
    let (a, b) = (patient(config::client()), patient(config::new()));
    let mut pair = Pair::new(seed(), line(), a, b);
    pair.connect_to_listener();
    pair.world.run_for(Duration::from_secs(1));

    // when: the link is dark for an hour, in which both go on sending
    pair.world.network_mut().partition(&[A], &[B]);
    for n in 0..60_u32 {
        for from in [A, B] {
            let sent = pair.send(from, 0, Mode::Reliable, n.to_le_bytes().to_vec());
            assert_eq!(sent, Ok(()), "{}", seed());
        }
        pair.world.run_for(Duration::from_secs(60));
    }
    pair.world.network_mut().mend();
    pair.world.run_for(Duration::from_secs(3));

    // then: everything arrives within seconds, and only `Readable` was told
    let all: Vec<u32> = (0..60).collect();
    for address in [A, B] {
        let told = events(&mut pair.world, address);
        assert_eq!(ended(&told), [], "{told:?}; {}", seed());
        assert_eq!(numbers(&mut pair, address), all, "{}", seed());
    }
}

/// 71: half a second without a network ends nothing, and two round-trip times later everything is as
/// before: packets that waited have arrived, and new ones arrive at once. This holds for a host that
/// sends less than the initial window in that time; a host that sends more is stopped by the window, and
/// waits for a probe.
#[test]
fn half_a_second_of_blackout_is_over_two_round_trips_later() {
    for (delay, every) in [(20, 16), (50, 16), (50, 10), (100, 33)] {
        // given: a stream of reliable and of unreliable packets both ways
        let link = line().delay(delay * MS);
        let mut pair = Pair::new(seed(), link, config::client(), config::new());
        pair.connect_to_listener();
        let mut got = [Vec::new(), Vec::new()];
        let mut sent = 0;
        let mut run = |pair: &mut Pair, ticks: u32| {
            for _ in 0..ticks {
                for from in [A, B] {
                    for mode in [Mode::Unreliable, Mode::Reliable] {
                        let mut packet = usize::to_le_bytes(sent).to_vec();
                        packet.resize(32, 0);
                        assert_eq!(pair.send(from, 0, mode, packet), Ok(()));
                    }
                }
                sent += 1;
                pair.world.run_for(every * MS);
                for (got, address) in got.iter_mut().zip([A, B]) {
                    got.extend(pair.receive_all(address));
                }
            }
            (sent, got.clone())
        };
        run(&mut pair, 5000 / every);

        // when: nothing passes for 500 ms
        pair.world.network_mut().partition(&[A], &[B]);
        let (before, _) = run(&mut pair, 500_u32.div_ceil(every));
        pair.world.network_mut().mend();
        let (after, got) = run(&mut pair, 4 * delay / every);

        // then
        let context = format!("{delay} ms, every {every} ms; {}", seed());
        for (got, address) in got.iter().zip([A, B]) {
            let told = events(&mut pair.world, address);
            assert_eq!(ended(&told), [], "{told:?}; {context}");
            let reliable = got.iter().filter(|packet| packet.mode == Mode::Reliable);
            let arrived = reliable.count();
            assert!(arrived >= before, "{arrived} of {before}; {context}");
            // The newest state has just travelled, and waits for the next tick at most.
            let mut states = got.iter().rev().filter(|p| p.mode == Mode::Unreliable);
            let newest = states.next().and_then(|p| p.payload.first_chunk().copied());
            let newest = newest.map_or(0, usize::from_le_bytes);
            let under_way = (delay / every) as usize + 2;
            assert!(
                newest + under_way >= after,
                "{newest} of {after}; {context}"
            );
        }
    }
}
