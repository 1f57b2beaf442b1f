//! §2.2, §2.5: the remote host is silent. A connection ends all the same, once. Between A and B a
//! datagram takes 20 ms.

use core::time::Duration;

use porous_proto::{ChannelId, Disconnect, DisconnectReason, Event, Mode, PeerState, SendError};
use porous_sim::{Intercept, Pair};
use porous_tests::{
    Kind, assert_all, assert_told, config, disconnect, ended, events, flush, kind, line, queue,
    quiet_pair, record, seed, state,
};

const A: u32 = Pair::A;
const B: u32 = Pair::B;

#[test]
fn the_deadline_of_a_flush_passes_on_a_dead_link() {
    let mut pair = quiet_pair(seed(), line());
    pair.world.network_mut().partition(&[A], &[B]);
    queue(&mut pair, A, 30);
    let start = pair.world.now();
    let deadline = Duration::from_secs(3);
    disconnect(
        &mut pair,
        A,
        Disconnect::Flush {
            reason: 5,
            deadline,
        },
    );
    let peer = pair.peer(A);
    let seed = pair.world.seed();
    pair.world
        .run_until(start + (deadline - Duration::from_micros(1)));
    assert_eq!(
        state(&pair.world, A, peer),
        Some(PeerState::Connected),
        "{seed}"
    );
    pair.world.run_until(start + deadline);
    assert_eq!(
        state(&pair.world, A, peer),
        Some(PeerState::Disconnecting),
        "{seed}"
    );
    assert_eq!(events(&mut pair.world, A), [], "{seed}");
    pair.world
        .run_until(start + deadline + Duration::from_secs(5));
    assert_told(
        &mut pair,
        A,
        (DisconnectReason::GoodbyeUnanswered, 30),
        "nobody answers",
    );
    pair.world.run_for(Duration::from_secs(60));
    assert_told(&mut pair, B, (DisconnectReason::Silent, 0), "silence");
    assert_eq!(events(&mut pair.world, A), [], "{seed}");
}

#[test]
fn all_acknowledgements_are_lost() {
    let mut pair = quiet_pair(seed(), line());
    pair.world.intercept(|passing| {
        if kind(passing.datagram) == Kind::DisconnectAck {
            return Intercept::Drop;
        }
        Intercept::Pass
    });
    disconnect(&mut pair, A, Disconnect::Now { reason: 1 });
    pair.world.run_for(Duration::from_secs(60));
    assert_told(
        &mut pair,
        A,
        (DisconnectReason::GoodbyeUnanswered, 0),
        "nobody answers",
    );
    assert_told(
        &mut pair,
        B,
        (DisconnectReason::ByPeer(1), 0),
        "it was told",
    );
}

/// C13.
#[test]
fn packets_that_have_arrived_outlive_the_connection() {
    let mut pair = quiet_pair(seed(), line());
    queue(&mut pair, A, 60);
    disconnect(&mut pair, A, flush(0));
    pair.world.run_for(Duration::from_secs(5));
    let told = events(&mut pair.world, B);
    let peer = pair.peer(B);
    let readable = Event::Readable { peer };
    assert_eq!(
        told.first(),
        Some(&readable),
        "{told:?}; {}",
        pair.world.seed()
    );
    assert_eq!(ended(&told).len(), 1, "{told:?}; {}", pair.world.seed());
    pair.world.run_for(Duration::from_secs(20));
    let again = pair
        .world
        .host_mut(B)
        .send(peer, ChannelId(0), vec![0], Mode::Reliable);
    assert_eq!(again, Err(SendError::UnknownPeer));
    assert_all(&pair.receive_all(B), 60, "25 seconds after the end");
    assert_eq!(events(&mut pair.world, B), [], "{}", pair.world.seed());
}

/// C11.
#[test]
fn silence_ends_a_connection_once() {
    let mut pair = quiet_pair(seed(), line());
    let start = pair.world.now();
    pair.world.network_mut().partition(&[A], &[B]);
    pair.world.run_until(start + Duration::from_secs(8));
    for address in [A, B] {
        assert_eq!(
            events(&mut pair.world, address),
            [],
            "{}",
            pair.world.seed()
        );
    }
    pair.world.run_until(start + Duration::from_secs(11));
    for address in [A, B] {
        assert_told(&mut pair, address, (DisconnectReason::Silent, 0), "silence");
    }
    pair.world.network_mut().mend();
    pair.world.run_for(Duration::from_secs(120));
    for address in [A, B] {
        assert_eq!(
            events(&mut pair.world, address),
            [],
            "{}",
            pair.world.seed()
        );
        assert_eq!(pair.world.host(address).all_peers().count(), 0);
    }
}

#[test]
fn a_quiet_connection_does_not_end() {
    let mut pair = quiet_pair(seed(), line());
    pair.world.run_for(Duration::from_secs(600));
    for address in [A, B] {
        assert_eq!(
            events(&mut pair.world, address),
            [],
            "{}",
            pair.world.seed()
        );
    }
}

#[test]
fn packets_that_have_arrived_outlive_a_silent_end() {
    let mut pair = quiet_pair(seed(), line());
    queue(&mut pair, A, 5);
    pair.world.run_for(Duration::from_secs(1));
    pair.world.network_mut().partition(&[A], &[B]);
    pair.world.run_for(Duration::from_secs(11));
    let reason = (DisconnectReason::Silent, 0);
    assert_told(&mut pair, B, reason, "silence");
    assert_all(&pair.receive_all(B), 5, "after the end");
}

/// An attacker on the path repeats a datagram of a host that is gone, which is no sign of life.
#[test]
fn what_is_replayed_does_not_keep_a_connection_alive() {
    let mut pair = quiet_pair(seed(), line());
    let tape = record(&mut pair.world);
    pair.world.run_for(Duration::from_secs(3));
    let last = tape.of(A, Kind::Short).pop().expect("pings");
    pair.world.remove_host(A);
    for _ in 0..30 {
        pair.world.inject(A, B, last.datagram.clone());
        pair.world.run_for(Duration::from_millis(500));
    }
    assert_told(&mut pair, B, (DisconnectReason::Silent, 0), "replays");
}

/// After an outage in which many packets were lost, a packet that comes alone is not believed before the
/// sender has confirmed it, which takes one round trip. P14.
#[test]
fn a_lone_packet_after_an_outage_comes_a_round_trip_later() {
    for mode in [Mode::Unreliable, Mode::Reliable, Mode::Passive] {
        let patient = Duration::from_secs(60);
        let (a, b) = (
            config::client().timeout(patient).expect("a minute"),
            config::new().timeout(patient).expect("a minute"),
        );
        let mut pair = Pair::new(seed(), line(), a, b);
        pair.connect_to_listener();
        pair.world.network_mut().partition(&[A], &[B]);
        for n in 0..600_u32 {
            let sent = pair.send(A, 0, Mode::Unreliable, n.to_le_bytes().to_vec());
            assert_eq!(sent, Ok(()));
            pair.world.run_for(Duration::from_micros(16_667));
        }
        pair.world.network_mut().mend();
        // Both hosts have heard each other again, and send nothing more.
        pair.world.run_for(Duration::from_secs(5));
        pair.receive_all(B);
        assert_eq!(pair.send(A, 0, mode, vec![7; 9]), Ok(()));
        pair.world.run_for(Duration::from_millis(20 + 40 + 5));
        let got = pair.receive_all(B);
        assert_eq!(got.len(), 1, "{mode:?}; {}", seed());
        // Nothing else is asked or told afterwards.
        assert_eq!(pair.send(A, 0, mode, vec![7; 9]), Ok(()));
        pair.world.run_for(Duration::from_millis(20));
        assert_eq!(pair.receive_all(B).len(), 1);
    }
}

/// T23, and "When the system suspends the program" of `docs/loops.md`: the clock of the program goes on meanwhile, or
/// stands still.
#[test]
fn a_program_that_was_suspended_for_minutes_is_told_within_two_seconds() {
    let suspended = Duration::from_secs(120);
    for stood_still in [0, 120_000_000] {
        let mut pair = quiet_pair(seed(), line());
        pair.world.hitch(A, suspended);
        pair.world.run_for(suspended - Duration::from_millis(1));
        pair.world.jump_clock(A, -stood_still);
        assert_told(
            &mut pair,
            B,
            (DisconnectReason::Silent, 0),
            "A was suspended",
        );
        pair.world.run_for(Duration::from_secs(2));
        assert_told(
            &mut pair,
            A,
            (DisconnectReason::LostByPeer, 0),
            "B has given up",
        );
    }
}
