//! Rates that users set: to a peer, from a peer, and of a host to all of its peers
//! (`docs/deviations.md` C14, P11).
#![expect(clippy::unwrap_used, reason = "a test")]

use core::time::Duration;

use porous_proto::{ChannelId, Config, Disconnect, Event, Listen, Mode, PeerId, Policy};
use porous_sim::{LinkConfig, Pair, Service, World};
use porous_tests::{Kind, config, line, record, seed};

const MS: Duration = Duration::from_millis(1);
const DATAGRAM: u64 = 1200;
const TICK: Duration = Duration::from_micros(16_667);

/// Two hosts of the modern policy that are connected; the first is stepped in this way.
fn pair(links: LinkConfig, service: Option<Duration>, config: Config) -> Pair {
    let config = config.policy(Policy::Modern);
    let mut pair = Pair::new(seed(), links, config.clone(), config);
    pair.connect_to_listener();
    if let Some(tick) = service {
        pair.world.set_service(Pair::A, Service::tick(tick));
    }
    pair.world.run_for(1000 * MS);
    pair
}

/// The bytes that A has sent, after each millisecond in which it always has data for B.
fn sent_by_ms(pair: &mut Pair, ms: usize) -> Vec<u64> {
    let mut sent = Vec::new();
    for _ in 0..ms {
        while pair
            .world
            .host(Pair::A)
            .peer(pair.peer(Pair::A))
            .unwrap()
            .queued_bytes()
            < 200_000
        {
            assert_eq!(pair.send(Pair::A, 0, Mode::Reliable, vec![7; 1000]), Ok(()));
        }
        pair.world.run_for(MS);
        pair.receive_all(Pair::B);
        sent.push(pair.world.host(Pair::A).stats().bytes_sent);
    }
    sent
}

/// The most bytes in any second, and the average of all seconds.
fn seconds(sent: &[u64]) -> (u64, u64) {
    let most = sent.windows(1001).map(|second| second[1000] - second[0]);
    let all = sent.last().unwrap() - sent[0];
    (most.max().unwrap(), all * 1000 / (sent.len() as u64 - 1))
}

#[track_caller]
fn assert_kept(sent: &[u64], cap: u32, context: &str) {
    let ((most, average), cap) = (seconds(sent), u64::from(cap));
    assert!(
        most <= cap + cap / 50 + DATAGRAM,
        "{most} of {cap}; {context}"
    );
    assert!(100 * average >= 94 * cap, "{average} of {cap}; {context}");
}

#[test]
fn no_second_has_more_than_the_cap_of_a_peer_and_it_is_used() {
    for service in [None, Some(TICK)] {
        for cap in [50_000, 300_000] {
            let mut pair = pair(line(), service, config::new());
            let (peer, context) = (pair.peer(Pair::A), format!("{service:?} {}", seed()));
            let host = pair.world.host_mut(Pair::A);
            assert_eq!(host.set_send_rate(peer, cap), Ok(()));
            let sent = sent_by_ms(&mut pair, 6000);
            assert_kept(&sent, cap, &context);
        }
    }
}

/// P11.
#[test]
fn no_second_has_more_than_the_cap_of_a_host_and_it_is_used() {
    for policy in [Policy::Paper, Policy::Modern] {
        for service in [None, Some(TICK)] {
            for cap in [50_000, 300_000] {
                let context = format!("{policy:?} {service:?} {}", seed());
                let config = config::new().policy(policy).host_send_rate(cap);
                let mut pair = pair(line(), service, config);
                let sent = sent_by_ms(&mut pair, 6000);
                assert_kept(&sent, cap, &context);
            }
        }
    }
}

/// The first request of a client, which anybody may send in the name of any address.
fn request() -> Vec<u8> {
    let mut world = World::new(seed(), line());
    world.add_host(Pair::A, config::client());
    let tape = record(&mut world);
    assert!(world.connect(Pair::A, Pair::B).is_ok());
    world.run_for(MS);
    tape.of(Pair::A, Kind::Request)[0].datagram.clone()
}

/// Answers to strangers take a tenth of the cap at most, and no second has more than the cap.
#[test]
fn forged_requests_leave_nine_tenths_of_the_cap_to_peers() {
    let request = request();
    for cap in [20_000, 200_000, 2_000_000] {
        let mut pair = pair(line(), None, config::new().host_send_rate(cap));
        assert_eq!(pair.world.host_mut(Pair::A).listen(Listen::Open), Ok(()));
        let (mut sent, mut to_peer, from) = (Vec::new(), Vec::new(), 10_000);
        let peer = pair.peer(Pair::A);
        for ms in 0..5000 {
            for forged in 5 * ms..5 * ms + 5 {
                pair.world.inject(from + forged, Pair::A, request.clone());
            }
            sent.extend(sent_by_ms(&mut pair, 1));
            let stats = pair.world.host(Pair::A).peer(peer).unwrap().stats();
            to_peer.push(stats.bytes_sent);
        }
        let context = format!("{cap}; {}", seed());
        assert_kept(&sent, cap, &context);
        let strangers: Vec<u64> = sent
            .iter()
            .zip(&to_peer)
            .map(|(all, to)| all - to)
            .collect();
        let (most, _) = seconds(&strangers);
        let tenth = u64::from(cap / 10);
        assert!(
            (tenth / 4..=tenth + tenth / 50 + 100).contains(&most),
            "{most}; {context}"
        );
    }
}

#[test]
fn changes_of_rates_take_effect_at_once() {
    let mut pair = pair(line(), None, config::new());
    let peers = [pair.peer(Pair::A), pair.peer(Pair::B)];
    for (cap, side) in [
        (50_000, 0),
        (300_000, 0),
        (20_000, 1),
        (200_000, 1),
        (100_000, 0),
    ] {
        let world = &mut pair.world;
        let changed = if side == 0 {
            world.host_mut(Pair::A).set_send_rate(peers[0], cap)
        } else {
            world.host_mut(Pair::B).set_receive_rate(peers[1], cap)
        };
        assert_eq!(changed, Ok(()));
        // B's message takes as long as the line's delay.
        sent_by_ms(&mut pair, 60 * side);
        let sent = sent_by_ms(&mut pair, 2000);
        assert_kept(&sent, cap, &format!("{side} {}", seed()));
    }
    let host = pair.world.host_mut(Pair::A);
    assert_eq!(host.set_send_rate(peers[0], u32::MAX), Ok(()));
    for cap in [30_000, 150_000] {
        pair.world.host_mut(Pair::A).set_host_send_rate(cap);
        let sent = sent_by_ms(&mut pair, 2000);
        assert_kept(&sent, cap, &format!("host {}", seed()));
    }
    pair.world.host_mut(Pair::A).set_host_send_rate(u32::MAX);
    let sent = sent_by_ms(&mut pair, 2000);
    assert_kept(&sent, 200_000, "what B wants to receive is left");
}

/// LIMITS is repeated until it is acknowledged, and the newest counts. C14.
#[test]
fn what_a_host_wants_to_receive_is_heard_through_losses() {
    let mut pair = pair(line(), None, config::new());
    pair.world.network_mut().set_all(line().loss(50.0));
    let peer = pair.peer(Pair::B);
    for cap in [1, 500_000, 7000, 20_000] {
        let host = pair.world.host_mut(Pair::B);
        assert_eq!(host.set_receive_rate(peer, cap), Ok(()));
        pair.world.run_for(3 * MS);
    }
    pair.world.run_for(5000 * MS);
    pair.world.network_mut().set_all(line());
    pair.world.run_for(5000 * MS);
    let sent = sent_by_ms(&mut pair, 4000);
    assert_kept(&sent, 20_000, &seed().to_string());
}

#[test]
fn nothing_is_said_of_a_rate_that_is_known() {
    let mut pair = pair(line(), None, config::new());
    let peer = pair.peer(Pair::B);
    let sent = |pair: &Pair| pair.world.host(Pair::B).stats().datagrams_sent;
    let change = |pair: &mut Pair| {
        let host = pair.world.host_mut(Pair::B);
        assert_eq!(host.set_receive_rate(peer, 20_000), Ok(()));
        pair.world.run_for(200 * MS);
    };
    let before = sent(&pair);
    change(&mut pair);
    let once = sent(&pair);
    assert!(once > before, "{}", seed());
    change(&mut pair);
    assert_eq!(sent(&pair), once, "{}", seed());
}

/// P11.
#[test]
fn acknowledgements_flow_while_a_cap_is_used_up() {
    for is_host in [false, true] {
        let mut pair = pair(line(), None, config::new());
        let peer = pair.peer(Pair::A);
        let host = pair.world.host_mut(Pair::A);
        if is_host {
            host.set_host_send_rate(10_000);
        } else {
            assert_eq!(host.set_send_rate(peer, 10_000), Ok(()));
        }
        let mut got = 0;
        for _ in 0..2000 {
            if pair.world.host(Pair::A).peer(peer).unwrap().queued_bytes() < 50_000 {
                assert_eq!(pair.send(Pair::A, 0, Mode::Reliable, vec![7; 1000]), Ok(()));
            }
            assert_eq!(pair.send(Pair::B, 0, Mode::Reliable, vec![7; 200]), Ok(()));
            pair.world.run_for(5 * MS);
            got += pair.receive_all(Pair::A).len();
        }
        let stats = pair
            .world
            .host(Pair::B)
            .peer(pair.peer(Pair::B))
            .unwrap()
            .stats();
        let context = format!("{is_host} {stats:?} {}", seed());
        assert!(got > 1900 && stats.frames_lost == 0, "{got} {context}");
        let got = pair.receive_all(Pair::B).len();
        assert!(
            got >= 10,
            "{got}: no data has an eighth of the cap; {context}"
        );
    }
}

/// P11.
#[test]
fn data_arrives_at_a_byte_a_second() {
    for is_host in [false, true] {
        let mut pair = pair(line(), None, config::new());
        let peer = pair.peer(Pair::A);
        let host = pair.world.host_mut(Pair::A);
        if is_host {
            host.set_host_send_rate(0);
        } else {
            assert_eq!(host.set_send_rate(peer, 0), Ok(()));
        }
        for n in 0..3 {
            assert_eq!(pair.send(Pair::A, 0, Mode::Reliable, vec![n; 12]), Ok(()));
            pair.world.run_for(1000 * MS);
        }
        assert_eq!(pair.receive_all(Pair::B).len(), 1, "{}", seed());
        // At the latest, each datagram is paid for in the time that eight times its length takes.
        pair.world.run_for(600_000 * MS);
        assert_eq!(pair.receive_all(Pair::B).len(), 2, "{}", seed());
    }
}

/// A peer that disconnects while data waits for the rate does not wait any more, and holds up no other
/// peer.
#[test]
fn a_host_that_disconnects_while_a_cap_is_used_up_does_not_wait() {
    let deadline = 500 * MS;
    for how in [
        Disconnect::Now { reason: 1 },
        Disconnect::Flush {
            reason: 1,
            deadline,
        },
    ] {
        let mut pair = pair(line(), None, config::new());
        let peer = pair.peer(Pair::A);
        pair.world.host_mut(Pair::A).set_host_send_rate(5000);
        for _ in 0..20 {
            assert_eq!(pair.send(Pair::A, 0, Mode::Reliable, vec![7; 1000]), Ok(()));
        }
        pair.world.run_for(300 * MS);
        assert_eq!(pair.world.disconnect(Pair::A, peer, how), Ok(()));
        pair.world.run_for(5000 * MS);
        let ended = |event: &Event<u32>| matches!(event, Event::Disconnected { .. });
        let mut events = core::iter::from_fn(|| pair.world.poll_event(Pair::A));
        assert!(events.any(|event| ended(&event)), "{how:?} {}", seed());
    }
}

/// The bytes that each of `players` clients gets from a server that always has data for each.
fn shares(policy: Policy, service: Option<Duration>, cap: u32, players: u32) -> Vec<u64> {
    let mut world = World::new(seed(), line());
    let config = config::new().policy(policy);
    world.add_host(0, config.clone().host_send_rate(cap));
    assert_eq!(world.host_mut(0).listen(Listen::Open), Ok(()));
    if let Some(tick) = service {
        world.set_service(0, Service::tick(tick));
    }
    for player in 1..=players {
        world.add_host(player, config.clone());
        assert!(world.connect(player, 0).is_ok());
    }
    world.run_for(1000 * MS);
    let events = core::iter::from_fn(|| world.poll_event(0));
    let connected = |event| {
        if let Event::Connected { peer, .. } = event {
            Some(peer)
        } else {
            None
        }
    };
    let peers: Vec<PeerId> = events.filter_map(connected).collect();
    assert_eq!(peers.len(), players as usize);
    let sent = |world: &World| -> Vec<u64> {
        let host = world.host(0);
        let bytes = |&peer| host.peer(peer).unwrap().stats().bytes_sent;
        peers.iter().map(bytes).collect()
    };
    let mut before = Vec::new();
    for round in 0..400 {
        if round == 100 {
            before = sent(&world);
        }
        for (n, &peer) in peers.iter().enumerate() {
            while world.host(0).peer(peer).unwrap().queued_bytes() < 20_000 {
                // Some of the players get small packets.
                let payload = vec![7; if n % 2 == 0 { 1000 } else { 1100 }];
                let sent = (world.host_mut(0)).send(peer, ChannelId(0), payload, Mode::Unreliable);
                assert_eq!(sent, Ok(()));
            }
        }
        world.run_for(50 * MS);
        for player in 1..=players {
            let (server, _) = world.host(player).peers().next().unwrap();
            // The players send as well, so that acknowledgements give some of them more turns than
            // others.
            if player % 3 == 0 {
                let sent = &b"input"[..];
                let sent =
                    (world.host_mut(player)).send(server, ChannelId(0), sent, Mode::Reliable);
                assert_eq!(sent, Ok(()));
            }
            while world.host_mut(player).receive(server).is_some() {}
        }
        for &peer in &peers {
            while world.host_mut(0).receive(peer).is_some() {}
        }
    }
    let after = sent(&world);
    after
        .iter()
        .zip(before)
        .map(|(after, before)| after - before)
        .collect()
}

/// P11.
#[test]
fn thirty_two_peers_share_the_cap_of_a_host() {
    for (policy, service) in [
        (Policy::Modern, None),
        (Policy::Modern, Some(TICK)),
        (Policy::Paper, None),
    ] {
        let cap = 1_000_000;
        let shares = shares(policy, service, cap, 32);
        let all: u64 = shares.iter().sum();
        let context = format!("{policy:?} {service:?} {shares:?}; {}", seed());
        assert!(
            (94..=102).contains(&(100 * all / (15 * u64::from(cap)))),
            "{all} {context}"
        );
        let fair = all / 32;
        let is_fair = |share: &u64| (fair * 90 / 100..=fair * 110 / 100).contains(share);
        assert!(shares.iter().all(is_fair), "{context}");
    }
}
