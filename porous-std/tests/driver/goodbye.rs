//! The ends of hosts: a host that is closed waits until its peers know, a host that is dropped tells them
//! once.

use core::net::SocketAddr;
use core::time::Duration;

use crate::hosts::{client, connected, elapsed, server, until};
use crate::threads::{spawn, wait_connected, wait_for, wait_packet};
use porous_std::{
    ChannelId, Clock, Config, Disconnect, DisconnectReason, Event, HostThread, Listen, Mode,
    Output, PeerId, Refusal, UdpHost,
};

/// Less than any timeout of a connection.
const SOON: Duration = Duration::from_secs(3);

/// Clients in threads of their own, connected to this server.
fn clients<const N: usize>(server: &mut UdpHost) -> [HostThread; N] {
    let to = server.local_addr().unwrap();
    [(); N].map(|()| {
        let mut client = spawn(Config::client());
        client.connect(to).unwrap();
        until(server, &mut crate::hosts::client("127.0.0.1:0"), connected);
        wait_connected(&mut client);
        client
    })
}

fn reason(output: &Output) -> Option<DisconnectReason> {
    let Output::Event(Event::Disconnected { reason, .. }) = output else {
        return None;
    };
    Some(*reason)
}

fn ended(event: Event<SocketAddr>) -> Option<DisconnectReason> {
    let Event::Disconnected { reason, .. } = event else {
        return None;
    };
    Some(reason)
}

#[test]
fn closing_waits_until_all_peers_know() {
    let mut server = server("127.0.0.1:0");
    let mut clients = clients::<3>(&mut server);
    let clock = Clock::start();
    server.close(Disconnect::Now { reason: 5 }).unwrap();
    assert!(elapsed(&clock) < SOON);
    for client in &mut clients {
        let said = wait_for(client, "the end", reason);
        assert_eq!(said, DisconnectReason::ByPeer(5));
    }
}

#[test]
fn closing_with_a_flush_delivers_what_was_sent() {
    let mut server = server("127.0.0.1:0");
    let to = server.local_addr().unwrap();
    let mut reader = spawn(Config::client());
    reader.connect(to).unwrap();
    let (peer, _) = until(&mut server, &mut client("127.0.0.1:0"), connected);
    let payload = vec![7; 500_000];
    server
        .send(peer, ChannelId(0), payload.clone(), Mode::Reliable)
        .unwrap();
    let (reason, deadline) = (1, SOON);
    server
        .close(Disconnect::Flush { reason, deadline })
        .unwrap();
    let (_, got) = wait_packet(&mut reader);
    assert!(got.payload == payload);
}

#[test]
fn draining_delivers_what_was_sent_and_takes_what_comes() {
    let mut server = server("127.0.0.1:0");
    let to = server.local_addr().unwrap();
    let mut reader = spawn(Config::client());
    reader.connect(to).unwrap();
    let (peer, _) = until(&mut server, &mut client("127.0.0.1:0"), connected);
    let (there, _) = wait_connected(&mut reader);
    let payload = vec![7; 500_000];
    server
        .send(peer, ChannelId(0), payload.clone(), Mode::Reliable)
        .unwrap();
    // The packet takes longer than a round trip, in which the last word of the client comes.
    reader
        .send(there, ChannelId(0), &b"my score"[..], Mode::Reliable)
        .unwrap();
    let (mut said, mut ends) = (Vec::new(), Vec::new());
    let clock = Clock::start();
    server
        .drain_until_empty(6, SOON, |server, event| {
            if let Event::Readable { peer } = event {
                said.extend(server.receive(peer));
            } else {
                ends.extend(ended(event));
            }
        })
        .unwrap();
    assert!(elapsed(&clock) < SOON);
    assert!(server.is_empty());
    assert_eq!(ends, [DisconnectReason::ByUs(6)]);
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].payload, "my score");
    let (_, got) = wait_packet(&mut reader);
    assert!(got.payload == payload);
    let end = wait_for(&mut reader, "the end", reason);
    assert_eq!(end, DisconnectReason::ByPeer(6));
    // The host is still there, and says that it takes nobody.
    let mut late = client("127.0.0.1:0");
    late.connect(to).unwrap();
    let end = until(&mut late, &mut server, ended);
    assert_eq!(end, DisconnectReason::Refused(Refusal::Full));
}

#[test]
fn draining_without_peers_waits_for_nobody() {
    let clock = Clock::start();
    let mut server = server("127.0.0.1:0");
    let drained = server.drain_until_empty(0, Duration::MAX, |_, _| {});
    drained.unwrap();
    assert!(elapsed(&clock) < SOON);
}

/// A process that is killed says nothing, and the next one has its port.
#[test]
fn the_peers_of_a_server_that_was_killed_learn_that_from_the_next_one() {
    let (server, mut client, _) = silent(Config::new());
    let peer = client.peers().map(|(peer, _)| peer).next().unwrap();
    let at = server.local_addr().unwrap();
    let killed = std::thread::spawn(move || {
        let _server = server;
        // A host that is dropped says goodbye, except in a panic.
        std::panic::resume_unwind(Box::new("killed"));
    });
    assert!(killed.join().is_err());
    let mut next = UdpHost::bind(at, Config::new()).unwrap();
    next.listen(Listen::Open).unwrap();
    let clock = Clock::start();
    client
        .send(peer, ChannelId(0), &b"are you there"[..], Mode::Reliable)
        .unwrap();
    let end = until(&mut client, &mut next, ended);
    assert_eq!(end, DisconnectReason::LostByPeer);
    // 1 s, as three timeouts of a few milliseconds are shorter; the rest is for a machine that is busy.
    assert!(elapsed(&clock) < SOON, "{:?}", elapsed(&clock));
    client.connect(at).unwrap();
    until(&mut client, &mut next, connected);
}

/// A pair of which one end is never stepped again.
fn silent(config: Config) -> (UdpHost, UdpHost, PeerId) {
    let mut server = UdpHost::bind("127.0.0.1:0", config).unwrap();
    server.listen(Listen::Open).unwrap();
    let mut client = client("127.0.0.1:0");
    client.connect(server.local_addr().unwrap()).unwrap();
    until(&mut client, &mut server, connected);
    let (peer, _) = until(&mut server, &mut client, connected);
    (server, client, peer)
}

#[test]
fn closing_does_not_wait_for_ever() {
    let config = Config::new();
    let config = config
        .disconnect_timeout(Duration::from_millis(200))
        .unwrap();
    let (server, _client, _) = silent(config);
    let clock = Clock::start();
    server.close(Disconnect::Now { reason: 0 }).unwrap();
    assert!((Duration::from_millis(200)..SOON).contains(&elapsed(&clock)));
}

#[test]
fn closing_without_peers_waits_for_nobody() {
    let clock = Clock::start();
    server("127.0.0.1:0")
        .close(Disconnect::Now { reason: 0 })
        .unwrap();
    assert!(elapsed(&clock) < SOON);
}

#[test]
fn a_host_that_is_dropped_says_goodbye_to_each_peer() {
    let mut server = server("127.0.0.1:0");
    let mut clients = clients::<3>(&mut server);
    let clock = Clock::start();
    drop(server);
    for client in &mut clients {
        let said = wait_for(client, "the end", reason);
        assert_eq!(said, DisconnectReason::ByPeer(0));
    }
    assert!(elapsed(&clock) < SOON);
}

#[test]
fn a_client_that_is_dropped_leaves_no_ghost() {
    let (mut server, client, _) = silent(Config::new());
    drop(client);
    let clock = Clock::start();
    let reason = until(&mut server, &mut crate::hosts::client("127.0.0.1:0"), ended);
    assert_eq!(reason, DisconnectReason::ByPeer(0));
    assert!(elapsed(&clock) < SOON);
}
