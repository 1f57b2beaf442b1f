//! §2.5: every way to end a connection, each reported exactly once. Between A and B a datagram takes 20
//! ms.

use core::time::Duration;

use porous_proto::{
    ConnectError, Disconnect, DisconnectReason, Event, Ignored, Listen, Mode, PeerState, SendError,
};
use porous_sim::{Intercept, Pair, Seed, Service};
use porous_tests::{
    Kind, assert_all, assert_talk, assert_told, config, connected, disconnect, ended, events,
    flush, kind, line, nonce_peer, nonce_self, queue, quiet_pair, record, record_while, seed,
    state,
};

const A: u32 = Pair::A;
const B: u32 = Pair::B;

#[test]
fn at_once_or_after_a_flush_from_either_side() {
    for from in [A, B] {
        let to = Pair::other(from);
        for how in [Disconnect::Now { reason: 7 }, flush(7)] {
            let context = format!("{from}, {how:?}");
            let mut pair = quiet_pair(seed(), line());
            let start = pair.world.now();
            disconnect(&mut pair, from, how);
            let peer = pair.peer(from);
            let refused = pair.send(from, 0, Mode::Reliable, vec![1]);
            assert_eq!(refused, Err(SendError::Disconnecting), "{context}");
            pair.world.run_until(start + Duration::from_millis(20));
            assert_told(&mut pair, to, (DisconnectReason::ByPeer(7), 0), &context);
            assert_eq!(events(&mut pair.world, from), [], "{context}");
            pair.world.run_until(start + Duration::from_millis(40));
            assert_told(&mut pair, from, (DisconnectReason::ByUs(7), 0), &context);
            // Both peers linger and are forgotten, and nothing more is told or sent.
            let sent = pair.world.network().stats().sent;
            pair.world.run_for(Duration::from_secs(120));
            assert_eq!(pair.world.network().stats().sent, sent, "{context}");
            for address in [A, B] {
                assert_eq!(events(&mut pair.world, address), [], "{context}");
                assert_eq!(pair.world.host(address).all_peers().count(), 0, "{context}");
            }
            assert!(pair.world.disconnect(from, peer, how).is_err(), "{context}");
        }
    }
}

/// What is sent unreliably is not waited for, but it leaves before the goodbye: also what finds no room in the next
/// datagram, and what the pace holds back.
#[test]
fn unreliable_packets_leave_before_the_goodbye() {
    for lengths in [&[600, 500, 300][..], &[1000; 20], &[5000]] {
        let mut pair = quiet_pair(seed(), line());
        for &length in lengths {
            let packet = vec![7; length];
            pair.send(A, 0, Mode::Unreliable, packet).expect("room");
        }
        disconnect(&mut pair, A, flush(7));
        pair.world.run_for(Duration::from_secs(2));
        let got = pair.receive_all(B);
        let came: Vec<_> = got.iter().map(|packet| packet.payload.len()).collect();
        assert_eq!(came, lengths);
    }
}

/// The host has a connected peer, a peer that asks, and an attempt of its own.
#[test]
fn a_host_that_disconnects_from_all_has_nobody_left_and_lets_nobody_in() {
    const ASKS: u32 = 30;
    const NOBODY: u32 = 31;
    for how in [Disconnect::Now { reason: 7 }, flush(7)] {
        let mut pair = quiet_pair(seed(), line());
        let world = &mut pair.world;
        world.add_host(ASKS, config::client());
        assert_eq!(world.host_mut(B).listen(Listen::Ask), Ok(()));
        let asks = world.connect(ASKS, B).expect("free");
        let tries = world.connect(B, NOBODY).expect("free");
        world.run_for(Duration::from_secs(1));
        let told = events(world, B);
        assert!(matches!(told[..], [Event::Request { .. }]), "{told:?}");
        let now = world.now();
        world.host_mut(B).disconnect_all(now, how);
        world.run_for(Duration::from_secs(1));
        let ends = ended(&events(world, B));
        assert_eq!(ends.len(), 3, "{how:?}");
        let by_us = DisconnectReason::ByUs(7);
        assert!(
            ends.iter().all(|&(_, reason, _)| reason == by_us),
            "{ends:?}"
        );
        assert!(ends.iter().any(|&(peer, ..)| peer == tries));
        let said = ended(&events(world, A));
        assert!(
            matches!(said[..], [(_, DisconnectReason::ByPeer(7), 0)]),
            "{said:?}"
        );
        let refused = ended(&events(world, ASKS));
        assert!(matches!(refused[..], [(peer, DisconnectReason::Refused(_), 0)] if peer == asks));
        // A host that connects now gets no answer.
        world.connect(ASKS, B).expect("free");
        world.run_for(Duration::from_secs(5));
        assert_eq!(world.host(B).stats().connected, 1);
        assert_eq!(events(world, B), []);
    }
}

/// C13.
#[test]
fn a_flush_delivers_everything_before_the_end_is_told() {
    for number in 0..40 {
        let seed = Seed::from_env(Seed::new(number));
        for (loss, service) in [
            (0.0, Service::Event),
            (20.0, Service::Event),
            (20.0, Service::tick(Duration::from_micros(16_700))),
        ] {
            for from in [A, B] {
                let to = Pair::other(from);
                let mut pair = quiet_pair(seed, line());
                pair.world.network_mut().set_all(line().loss(loss));
                for address in [A, B] {
                    pair.world.set_service(address, service);
                }
                let context = format!("{from}, {loss} %, {service:?}");
                queue(&mut pair, from, 100);
                disconnect(&mut pair, from, flush(9));
                pair.world.run_for(Duration::from_secs(20));
                assert_told(&mut pair, to, (DisconnectReason::ByPeer(9), 0), &context);
                assert_all(&pair.receive_all(to), 100, &format!("{context}; {seed}"));
                let told = events(&mut pair.world, from);
                let [(_, reason, undelivered)] = ended(&told)[..] else {
                    panic!("{told:?}; {context}; replay with {seed}");
                };
                assert_eq!(undelivered, 0, "{context}; {seed}");
                // All acknowledgements of the disconnection may get lost.
                let reasons = [
                    DisconnectReason::ByUs(9),
                    DisconnectReason::GoodbyeUnanswered,
                ];
                let usual = usize::from(loss > 0.0);
                assert!(
                    reasons[..=usual].contains(&reason),
                    "{reason:?}; {context}; {seed}"
                );
            }
        }
    }
}

#[test]
fn what_is_queued_in_both_directions_is_flushed_by_its_sender_only() {
    let mut pair = quiet_pair(seed(), line());
    queue(&mut pair, A, 50);
    for _ in 0..10 {
        queue(&mut pair, B, 200);
    }
    disconnect(&mut pair, A, flush(1));
    pair.world.run_for(Duration::from_secs(20));
    let seed = pair.world.seed();
    assert_all(&pair.receive_all(B), 50, &format!("{seed}"));
    let told = events(&mut pair.world, B);
    let [(_, DisconnectReason::ByPeer(1), undelivered)] = ended(&told)[..] else {
        panic!("{told:?}; replay with {seed}");
    };
    // B learns how many of its own packets were not known to have arrived.
    let arrived = u32::try_from(pair.receive_all(A).len()).expect("at most 2000");
    assert!(
        undelivered > 0 && undelivered + arrived >= 2000,
        "{undelivered}, {arrived}; {seed}"
    );
    assert_told(&mut pair, A, (DisconnectReason::ByUs(1), 0), "the flush");
}

/// A host that sends often lets acknowledgements wait for its own frames (T19), but a host that leaves
/// has no more frames.
#[test]
fn a_host_that_disconnects_first_acknowledges_what_came() {
    const MS: Duration = Duration::from_millis(1);
    for after in 4..16 {
        let mut pair = quiet_pair(seed(), line());
        for n in 0..60 {
            assert_eq!(pair.send(A, 0, Mode::Reliable, vec![n]), Ok(()));
            assert_eq!(pair.send(B, 0, Mode::Unreliable, vec![n]), Ok(()));
            pair.world.run_for(16 * MS);
        }
        // The last packet from A comes 4 ms later.
        pair.world.run_for(after * MS);
        disconnect(&mut pair, B, flush(3));
        pair.world.run_for(Duration::from_secs(1));
        let told = (DisconnectReason::ByPeer(3), 0);
        assert_told(&mut pair, A, told, &format!("{after} ms later"));
        assert_eq!(pair.receive_all(B).len(), 60);
    }
}

/// C13.
#[test]
fn at_once_loses_what_is_queued_and_says_how_much() {
    let mut pair = quiet_pair(seed(), line());
    queue(&mut pair, A, 200);
    let unreliable = pair.send(A, 0, Mode::Unreliable, vec![0; 500]);
    assert_eq!(unreliable, Ok(()));
    disconnect(&mut pair, A, Disconnect::Now { reason: 2 });
    pair.world.run_for(Duration::from_secs(1));
    assert_told(
        &mut pair,
        A,
        (DisconnectReason::ByUs(2), 200),
        "all of them",
    );
    assert_told(
        &mut pair,
        B,
        (DisconnectReason::ByPeer(2), 0),
        "B has sent nothing",
    );
}

#[test]
fn both_disconnect_in_the_same_instant() {
    for packets in [0, 40] {
        for loss in [0.0, 30.0] {
            for number in 0..30 {
                let seed = Seed::from_env(Seed::new(number));
                let mut pair = quiet_pair(seed, line());
                pair.world.network_mut().set_all(line().loss(loss));
                let how = |reason| match packets {
                    0 => Disconnect::Now { reason },
                    _ => flush(reason),
                };
                for (address, reason) in [(A, 11), (B, 22)] {
                    queue(&mut pair, address, packets);
                    disconnect(&mut pair, address, how(reason));
                }
                pair.world.run_for(Duration::from_secs(60));
                for address in [A, B] {
                    let told = events(&mut pair.world, address);
                    let context = format!("{address}, {loss} %: {told:?}; replay with {seed}");
                    assert_eq!(ended(&told).len(), 1, "{context}");
                    assert_eq!(pair.world.host(address).all_peers().count(), 0, "{context}");
                    let (own, reason) = (if address == A { 11 } else { 22 }, ended(&told)[0].1);
                    if packets == 0 && loss == 0.0 {
                        assert_eq!(reason, DisconnectReason::ByUs(own), "{context}");
                    }
                }
            }
        }
    }
}

#[test]
fn each_of_the_first_acknowledgements_is_lost() {
    for lost in 1_usize..=6 {
        let mut pair = quiet_pair(seed(), line());
        let mut left = lost;
        let tape = record_while(&mut pair.world, move |passing| {
            if kind(passing.datagram) == Kind::DisconnectAck && left > 0 {
                left -= 1;
                return Intercept::Drop;
            }
            Intercept::Pass
        });
        let context = format!("{lost} lost");
        disconnect(&mut pair, A, Disconnect::Now { reason: 1 });
        pair.world.run_for(Duration::from_secs(10));
        assert_told(&mut pair, A, (DisconnectReason::ByUs(1), 0), &context);
        assert_told(&mut pair, B, (DisconnectReason::ByPeer(1), 0), &context);
        assert_eq!(
            tape.of(A, Kind::Disconnect).len(),
            lost + 1,
            "{context}; {}",
            seed()
        );
        assert_eq!(
            tape.of(B, Kind::DisconnectAck).len(),
            lost + 1,
            "{context}; {}",
            seed()
        );
    }
}

/// C6.
#[test]
fn disconnections_with_other_nonces_are_ignored() {
    // The datagrams of a disconnection, from one pair ...
    let mut other = quiet_pair(seed(), line());
    let tape = record(&mut other.world);
    disconnect(&mut other, B, Disconnect::Now { reason: 66 });
    other.world.run_for(Duration::from_secs(1));
    let bye = tape.of(B, Kind::Disconnect)[0].datagram.clone();
    let ack = tape.of(A, Kind::DisconnectAck)[0].datagram.clone();
    // ... mean the same to another with the same random ids, but nothing once one of the two ids
    // is wrong, or they come from another address.
    let mut wrong = Vec::new();
    for range in [nonce_self(), nonce_peer()] {
        for at in range {
            for datagram in [&bye, &ack] {
                let mut datagram = datagram.clone();
                datagram[at] ^= 0x10;
                wrong.push(datagram);
            }
        }
    }
    let mut pair = quiet_pair(seed(), line());
    let peer = pair.peer(A);
    for datagram in &wrong {
        pair.world.inject(B, A, datagram.clone());
        pair.world.inject(A, B, datagram.clone());
    }
    for datagram in [&bye, &ack] {
        pair.world.inject(3, A, datagram.clone());
        pair.world.inject(3, B, datagram.clone());
    }
    pair.world.run_for(Duration::from_secs(1));
    let seed = pair.world.seed();
    for address in [A, B] {
        assert_eq!(events(&mut pair.world, address), [], "{address}; {seed}");
        let stats = pair.world.host(address).stats();
        let ignored = stats.ignored(Ignored::UnknownNonce);
        assert_eq!(ignored, wrong.len() as u64 + 2, "{address}; {seed}");
    }
    // An acknowledgement without a disconnection has no effect either.
    pair.world.inject(A, B, ack);
    pair.world.run_for(Duration::from_secs(1));
    assert_eq!(events(&mut pair.world, B), [], "{seed}");
    assert_eq!(
        state(&pair.world, A, peer),
        Some(PeerState::Connected),
        "{seed}"
    );
    pair.world.inject(B, A, bye);
    pair.world.run_for(Duration::from_secs(1));
    assert_told(
        &mut pair,
        A,
        (DisconnectReason::ByPeer(66), 0),
        "the right one",
    );
}

/// The program wants the end and a new connection, and the old remote host is silent. C15.
#[test]
fn a_client_that_left_a_dead_host_may_connect_again_at_once() {
    let mut pair = quiet_pair(seed(), line());
    let old = pair.peer(A);
    pair.world.remove_host(B);
    disconnect(&mut pair, A, Disconnect::Now { reason: 1 });
    let new = pair.world.connect(A, B).expect("at once");
    assert_ne!(new, old);
    assert_eq!(
        pair.world.connect(A, B),
        Err(ConnectError::AlreadyConnected)
    );
    assert_eq!(pair.world.host(A).peers().count(), 2, "the old one goes on");
    pair.world.run_for(Duration::from_secs(6));
    let told = events(&mut pair.world, A);
    assert_eq!(
        ended(&told),
        [(old, DisconnectReason::GoodbyeUnanswered, 0)]
    );
    pair.world.run_for(Duration::from_secs(60));
    let told = events(&mut pair.world, A);
    assert_eq!(ended(&told), [(new, DisconnectReason::NeverAnswered, 0)]);
}

/// Whatever becomes of the DISC, the new connection stands, and each host is told one end of the old one.
/// C15.
#[test]
fn a_client_that_left_may_connect_again_at_once_on_any_network() {
    for (len, loss, deaf) in [
        (2, 0.0, false),
        (0, 0.0, false),
        (2, 30.0, false),
        (2, 0.0, true),
    ] {
        for number in 0..20 {
            let context = format!("ids of {len} bytes, {loss} %, {deaf}; {number}");
            let client = config::client().connection_id_len(len).unwrap();
            let mut pair = Pair::new(Seed::new(number), line(), client, config::new());
            pair.connect_to_listener();
            let old = [A, B].map(|address| pair.peer(address));
            for address in [A, B] {
                events(&mut pair.world, address);
            }
            pair.world.network_mut().set_all(line().loss(loss));
            if deaf {
                // No DISC arrives, neither first nor later.
                pair.world.intercept(|passing| {
                    if kind(passing.datagram) == Kind::Disconnect {
                        return Intercept::Drop;
                    }
                    Intercept::Pass
                });
            }
            queue(&mut pair, B, 20);
            disconnect(&mut pair, A, Disconnect::Now { reason: 1 });
            let new = pair.world.connect(A, B).expect("at once");
            pair.world.run_for(Duration::from_secs(7));
            pair.world.network_mut().set_all(line());
            let [told, there] = [A, B].map(|address| events(&mut pair.world, address));
            let at_b = connected(&there);
            assert_eq!((connected(&told), at_b.len()), (vec![new], 1), "{context}");
            let ends = [ended(&told), ended(&there)];
            let [[(a, why, _)], [(b, because, _)]] = [&ends[0][..], &ends[1][..]] else {
                panic!("{ends:?}; {context}");
            };
            assert_eq!([*a, *b], old, "{context}");
            let [ours, theirs] = match deaf {
                true => [
                    DisconnectReason::GoodbyeUnanswered,
                    DisconnectReason::Restarted,
                ],
                false => [DisconnectReason::ByUs(1), DisconnectReason::ByPeer(1)],
            };
            assert!(*why == ours || loss > 0.0, "{why:?}; {context}");
            assert!(*because == theirs || loss > 0.0, "{because:?}; {context}");
            assert_talk(&mut pair.world, [new, at_b[0]], &context);
        }
    }
}
