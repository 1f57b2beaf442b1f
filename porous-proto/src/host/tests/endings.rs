//! Peers that have ended, and requests that nobody answers.

use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::hooks::doc::{carry, example_request};
use crate::{DisconnectReason, Refusal};

/// The fixed limit that `Config` tells.
#[test]
fn two_ended_peers_are_kept_for_each_that_is_allowed() {
    let config = Config::new().max_peers(2);
    let mut host = Host::<_, u32>::new(config, example_rng());
    let peers: [PeerId; 9] = core::array::from_fn(|n| {
        let address = u32::try_from(n).unwrap();
        let peer = host.connect(Instant::ZERO, address).unwrap();
        let refused = &mut host.table.get_mut(peer).unwrap().peer;
        refused.on_refused(0, Refusal::Full, Instant::ZERO);
        host.settle(peer.slot);
        peer
    });
    let kept = peers.map(|peer| state(&host, peer).is_some());
    assert_eq!(
        kept,
        [false, false, false, false, false, true, true, true, true]
    );
    assert_eq!(host.table.iter().count(), 4);
    run(&mut host, Instant::ZERO + Duration::from_secs(31));
    assert_eq!(host.table.iter().count(), 0);
}

/// What has come is still there, and the goodbye is acknowledged.
#[test]
fn a_host_that_lets_nobody_in_keeps_what_it_was_connected_to() {
    let (mut client, mut server, peer) = pair(Config::client().max_peers(0));
    let there = server.peers().next().map(|(id, _)| id).unwrap();
    let last = server.send(there, ChannelId(0), &b"last"[..], Mode::Unreliable);
    last.unwrap();
    let how = Disconnect::Flush {
        reason: 0,
        deadline: Duration::from_secs(1),
    };
    server.disconnect(Instant::ZERO, there, how).unwrap();
    let mut buf = [0; 1200];
    while let Some(transmit) = server.poll_transmit(Instant::ZERO, &mut buf) {
        let taken = client.handle_datagram(Instant::ZERO, 2, Ecn::NotEct, transmit.datagram);
        assert_eq!(taken, Disposition::Handled(peer));
    }
    assert_eq!(state(&client, peer), Some(PeerState::Disconnected));
    assert_eq!(client.receive(peer).unwrap().payload, b"last"[..]);
    talk(&mut client, &mut server);
    assert_eq!(state(&server, there), Some(PeerState::Disconnected));
}

#[test]
fn peers_are_those_that_have_not_ended() {
    let (mut client, mut server, peer) = pair(Config::client());
    let live =
        |host: &Host<ExampleRng, u32>| -> Vec<_> { host.peers().map(|(id, _)| id).collect() };
    let other = client.connect(Instant::ZERO, 3).unwrap();
    assert_eq!(live(&client), [peer, other]);
    let there = live(&server);
    let hello = client.send(peer, ChannelId(0), &b"hello"[..], Mode::Reliable);
    hello.unwrap();
    talk(&mut client, &mut server);
    let how = Disconnect::Now { reason: 0 };
    client.disconnect(Instant::ZERO, peer, how).unwrap();
    assert_eq!(live(&client), [peer, other], "it is being disconnected");
    talk(&mut client, &mut server);
    // Both still answer for the connection.
    assert_eq!(state(&client, peer), Some(PeerState::Disconnected));
    assert_eq!(state(&server, there[0]), Some(PeerState::Disconnected));
    assert_eq!((live(&client), live(&server)), (vec![other], vec![]));
    // What had arrived can still be received.
    assert_eq!(server.readable().collect::<Vec<_>>(), there);
    assert!(server.receive(there[0]).is_some());
    assert_eq!(server.readable().next(), None);
}

#[test]
fn a_request_that_waits_too_long_for_an_answer_is_refused() {
    let (mut host, peer) = example_request();
    let (mut buf, end) = ([0; 1200], Instant::ZERO + Duration::from_secs(10));
    while host.poll_event().is_some() {}
    host.handle_timeout(Instant::from_micros(end.as_micros() - 1));
    assert_eq!(state(&host, peer), Some(PeerState::Connecting));
    assert!(host.poll_transmit(end, &mut buf).is_none());
    host.handle_timeout(end);
    assert_eq!(state(&host, peer), Some(PeerState::Disconnected));
    let told = host.poll_transmit(end, &mut buf).unwrap().datagram[0];
    assert_eq!(told, 0xE0); // REJ
    assert_eq!(reason(&mut host), Some(DisconnectReason::Unfinished));
}

/// Two hosts, the first of which has connected to the second.
fn pair(config: Config) -> (Host<ExampleRng, u32>, Host<ExampleRng, u32>, PeerId) {
    let mut client = Host::<_, u32>::new(config, example_rng());
    let mut server = Host::<_, u32>::new(Config::new(), ExampleRng(2));
    server.listen(Listen::Open).unwrap();
    let peer = client.connect(Instant::ZERO, 2).unwrap();
    talk(&mut client, &mut server);
    (client, server, peer)
}

fn talk(client: &mut Host<ExampleRng, u32>, server: &mut Host<ExampleRng, u32>) {
    for _ in 0..4 {
        carry(client, 1, server);
        carry(server, 2, client);
    }
}

fn reason(host: &mut Host<ExampleRng, u32>) -> Option<DisconnectReason> {
    match last_event(host) {
        Some(Event::Disconnected { reason, .. }) => Some(reason),
        _ => None,
    }
}

#[test]
fn a_disconnection_is_given_up_after_the_configured_time() {
    let config = Config::client()
        .disconnect_timeout(Duration::from_secs(1))
        .unwrap();
    let (mut host, _, peer) = pair(config);
    host.disconnect(Instant::ZERO, peer, Disconnect::Now { reason: 3 })
        .unwrap();
    run(&mut host, Instant::ZERO + Duration::from_millis(999));
    assert_eq!(state(&host, peer), Some(PeerState::Disconnecting));
    run(&mut host, Instant::ZERO + Duration::from_secs(1));
    assert_eq!(state(&host, peer), None);
}

/// `docs/deviations.md` C13.
#[test]
fn a_flush_disconnects_when_everything_has_arrived() {
    let (mut client, mut server, peer) = pair(Config::client());
    client
        .send(peer, ChannelId(0), &b"last"[..], Mode::Reliable)
        .unwrap();
    let how = Disconnect::Flush {
        reason: 7,
        deadline: Duration::from_secs(5),
    };
    client.disconnect(Instant::ZERO, peer, how).unwrap();
    assert_eq!(state(&client, peer), Some(PeerState::Connected));
    let more = client.send(peer, ChannelId(0), &b"more"[..], Mode::Reliable);
    assert_eq!(more, Err(crate::SendError::Disconnecting));
    talk(&mut client, &mut server);
    assert_eq!(reason(&mut client), Some(DisconnectReason::ByUs(7)));
    assert_eq!(reason(&mut server), Some(DisconnectReason::ByPeer(7)));
    let at_server = server.readable().next().unwrap();
    let last = server.receive(at_server).unwrap();
    assert_eq!(&last.payload[..], b"last");
    // Nothing was sent, so that the flush has nothing to wait for.
    let (mut client, _, peer) = pair(Config::client());
    client.disconnect(Instant::ZERO, peer, how).unwrap();
    assert_eq!(state(&client, peer), Some(PeerState::Disconnecting));
}

/// With the keys of cookies an attacker proves to be at any address.
#[test]
fn what_is_printed_of_a_host_does_not_show_its_keys() {
    let (host, _) = example_pair();
    let shown = std::format!("{host:?}");
    assert!(
        shown.contains("cookies: Cookies { life: 0, .. }"),
        "{shown}"
    );
}
