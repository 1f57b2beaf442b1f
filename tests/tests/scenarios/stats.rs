//! Counters count what happened.

use core::time::Duration;

use porous_proto::{HostStats, Mode, PeerStats};
use porous_sim::{LinkConfig, Pair, Seed};
use porous_tests::{config, line, seed};

const A: u32 = Pair::A;
const B: u32 = Pair::B;
const MODES: [Mode; 3] = [Mode::Unreliable, Mode::Reliable, Mode::Passive];

/// The statistics that a host has of itself and of its peer.
fn stats(pair: &Pair, address: u32) -> (HostStats, PeerStats) {
    let host = pair.world.host(address);
    let peer = host.peer(pair.peer(address)).map(|peer| peer.stats());
    (host.stats(), peer.unwrap_or_default())
}

fn connected(seed: Seed, links: LinkConfig) -> Pair {
    // Every packet that is sent leaves, however long it has to wait.
    let client = config::client()
        .unreliable_age(Duration::MAX)
        .expect("not zero");
    let mut pair = Pair::new(seed, links, client, config::new());
    pair.connect_to_listener();
    pair
}

#[test]
fn datagrams_and_bytes_are_those_of_the_network() {
    for seed in 1..=5 {
        let lossy = line().loss(5.0).duplicate(5.0);
        let mut pair = connected(Seed::new(seed), lossy);
        for (from, count) in [(A, 200_u16), (B, 50)] {
            let sent = (0..count).map(|n| (0, MODES[usize::from(n) % 3], vec![7; usize::from(n)]));
            pair.exchange(from, sent, Duration::from_secs(20));
        }
        for (from, to) in [(A, B), (B, A)] {
            let out = pair.world.network().link_stats(from, to);
            let back = pair.world.network().link_stats(to, from);
            let (host, peer) = stats(&pair, from);
            let context = format!("{from}; seed {seed}; {host:?}; {peer:?}");
            assert_eq!(
                (host.datagrams_sent, host.bytes_sent),
                (out.sent, out.bytes_sent)
            );
            let received = (host.datagrams_received, host.bytes_received);
            assert_eq!(
                received,
                (back.delivered, back.bytes_delivered),
                "{context}"
            );
            // Each datagram was a peer's or was ignored; a datagram that was sent to no peer is a cookie.
            let taken = peer.datagrams_received + host.ignored_total();
            assert_eq!(taken, host.datagrams_received, "{context}");
            assert!(peer.bytes_received <= host.bytes_received, "{context}");
            let stateless = host.datagrams_sent - peer.datagrams_sent;
            assert_eq!(stateless > 0, from == B, "{context}");
            assert_eq!((host.connected, host.accepted), (1, u64::from(from == B)));
        }
    }
}

#[test]
fn packets_and_their_bytes_are_counted_by_mode_at_both_ends() {
    let mut pair = connected(seed(), line());
    let sent = [
        (Mode::Unreliable, 3),
        (Mode::Reliable, 4),
        (Mode::Passive, 5),
    ];
    let packets = sent
        .into_iter()
        .flat_map(|(mode, count)| (0..count).map(move |n| (0, mode, vec![7; 1000 * n])));
    let got = pair.exchange(A, packets, Duration::from_secs(20));
    assert_eq!(got.len(), 12);
    let (there, here) = (stats(&pair, A).1, stats(&pair, B).1);
    let counts = [
        (there.packets_sent, there.packet_bytes_sent),
        (here.packets_received, here.packet_bytes_received),
    ];
    for (packets, bytes) in counts {
        assert_eq!((packets.unreliable, bytes.unreliable), (3, 3000));
        assert_eq!((packets.reliable, bytes.reliable), (4, 6000));
        assert_eq!((packets.passive, bytes.passive), (5, 10_000));
        assert_eq!((packets.total(), bytes.total()), (12, 19_000));
    }
    assert_eq!(
        (here.packets_sent.total(), there.packets_received.total()),
        (0, 0)
    );
}

#[test]
fn estimates_are_those_of_the_line() {
    let mut pair = connected(seed(), line());
    pair.world.run_for(Duration::from_secs(40));
    let (_, quiet) = stats(&pair, A);
    let rtt = quiet.rtt.as_micros();
    assert!((39_900..=41_000).contains(&rtt), "{quiet:?}");
    assert!(quiet.rtt_variance < Duration::from_millis(3), "{quiet:?}");
    assert!(
        quiet.resend_timeout >= quiet.rtt + 2 * quiet.rtt_variance,
        "{quiet:?}"
    );
    assert_eq!(
        (quiet.flight, quiet.queued_bytes, quiet.frames_lost),
        (0, 0, 0)
    );

    for n in 0..40 {
        assert_eq!(pair.send(A, 0, Mode::Reliable, vec![n; 1000]), Ok(()));
    }
    pair.world.flush(A);
    let (_, busy) = stats(&pair, A);
    assert_eq!(busy.queued_bytes, 40 * 1064, "{busy:?}");
    assert!(busy.flight > 0 && busy.flight <= busy.window, "{busy:?}");
    pair.world.run_for(Duration::from_secs(5));
    let (_, after) = stats(&pair, A);
    assert_eq!(
        (after.flight, after.queued_bytes, after.frames_lost),
        (0, 0, 0),
        "{after:?}"
    );
    assert!(after.window > busy.window, "{after:?}");
}

#[test]
fn losses_are_the_frames_that_the_network_lost() {
    let mut pair = connected(seed(), line());
    // Without a rate a flight has more gaps than an acknowledgement can tell.
    let lossy = line().rate(20_000_000).loss(10.0);
    pair.world.network_mut().set_link(A, B, lossy);
    let sent = (0..2000).map(|n: u16| (0, Mode::Unreliable, vec![n.to_le_bytes()[0]; 600]));
    let got = pair.exchange(A, sent, Duration::from_secs(200));
    pair.world.run_for(Duration::from_secs(5));
    let (_, peer) = stats(&pair, A);
    let missing = 2000 - got.len() as u64;
    assert!(missing > 100, "{missing}");
    // A frame holds one or two of them.
    assert!(
        peer.frames_lost <= missing && 2 * peer.frames_lost >= missing,
        "{missing}; {peer:?}"
    );
}

#[test]
fn what_was_counted_can_be_read_after_the_end() {
    let mut pair = connected(seed(), line());
    assert_eq!(pair.send(A, 0, Mode::Reliable, vec![7; 100]), Ok(()));
    pair.world.run_for(Duration::from_secs(1));
    let (_, before) = stats(&pair, A);
    let now = porous_proto::Disconnect::Now { reason: 0 };
    assert_eq!(pair.world.disconnect(A, pair.peer(A), now), Ok(()));
    pair.world.run_for(Duration::from_millis(200));
    let (_, after) = stats(&pair, A);
    assert_eq!(after.packets_sent, before.packets_sent);
    assert_eq!(after.rtt, before.rtt);
}

/// The ids that a host leaves out on purpose do not count as lost.
#[test]
fn a_perfect_line_loses_nothing() {
    for (client, server) in [
        (config::client(), config::new()),
        (config::paper(), config::paper()),
    ] {
        let mut pair = Pair::new(seed(), line(), client, server);
        pair.connect_to_listener();
        for n in 0..3000_u32 {
            for from in [A, B] {
                let sent = pair.send(from, 0, Mode::Unreliable, n.to_le_bytes().to_vec());
                assert_eq!(sent, Ok(()));
            }
            pair.world.run_for(Duration::from_millis(10));
            for address in [A, B] {
                pair.receive_all(address);
                let (_, peer) = stats(&pair, address);
                let lost = (peer.frames_lost, peer.loss_sent);
                let missing = (peer.frames_missing, peer.loss_received);
                assert_eq!((lost, missing), ((0, 0), (0, 0)), "{n}; {peer:?}");
            }
        }
        assert!(stats(&pair, A).1.frames_received >= 3000);
    }
}

/// Lost frames are counted exactly, except for one of the newest 512.
#[test]
fn what_does_not_come_is_missing_at_the_other_end() {
    for (client, server) in [
        (config::client(), config::new()),
        (config::paper(), config::paper()),
    ] {
        let mut pair = Pair::new(seed(), line(), client, server);
        pair.connect_to_listener();
        pair.world.network_mut().set_link(A, B, line().loss(3.0));
        for n in 0..5000_u32 {
            let sent = pair.send(A, 0, Mode::Unreliable, n.to_le_bytes().to_vec());
            assert_eq!(sent, Ok(()));
            pair.world.run_for(Duration::from_millis(10));
            pair.receive_all(B);
        }
        pair.world.network_mut().set_link(A, B, line());
        assert_eq!(pair.send(A, 0, Mode::Unreliable, vec![1]), Ok(()));
        pair.world.run_for(Duration::from_secs(1));
        let lost = pair.world.network().link_stats(A, B).lost;
        let (_, there) = stats(&pair, B);
        assert!(lost > 100, "{lost}");
        assert!(
            there.frames_missing <= lost && there.frames_missing + 1 >= lost,
            "{lost}; {there:?}"
        );
    }
}
