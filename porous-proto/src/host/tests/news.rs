//! What the application is told of a connection, and when.

use alloc::vec::Vec;

use super::*;
use crate::frame::{ConnectionId, Reset};
use crate::hooks::doc::carry;

/// Two hosts, the first of which has connected to the second, and the names of both peers.
fn pair(config: Config) -> [(Host<ExampleRng, u32>, PeerId); 2] {
    pair_of(config, Config::new())
}

fn pair_of(client: Config, server: Config) -> [(Host<ExampleRng, u32>, PeerId); 2] {
    let mut client = Host::<_, u32>::new(client, example_rng());
    let mut server = Host::<_, u32>::new(server, ExampleRng(2));
    server.listen(Listen::Open).unwrap();
    let peer = client.connect(Instant::ZERO, 2).unwrap();
    for _ in 0..4 {
        carry(&mut client, 1, &mut server);
        carry(&mut server, 2, &mut client);
    }
    while client.poll_event().is_some() || server.poll_event().is_some() {}
    let (other, _) = server.peers().next().unwrap();
    [(client, peer), (server, other)]
}

/// A packet is sent, and what leaves because of it arrives.
fn deliver(from: &mut (Host<ExampleRng, u32>, PeerId), to: &mut Host<ExampleRng, u32>) {
    let (host, peer) = from;
    host.send(*peer, ChannelId(0), &b"hello"[..], Mode::Reliable)
        .unwrap();
    carry(host, 1, to);
}

#[test]
fn readable_is_told_once_until_the_peer_was_read_empty() {
    let [mut client, (mut server, peer)] = pair(Config::client());
    for round in 0..3 {
        deliver(&mut client, &mut server);
        assert_eq!(server.poll_event(), Some(Event::Readable { peer }));
        deliver(&mut client, &mut server);
        assert_eq!(server.poll_event(), None, "{round}");
        // One of two packets is read: the peer is still readable, and that is no news.
        assert!(server.receive(peer).is_some());
        assert_eq!(server.poll_event(), None);
        assert!(server.receive(peer).is_some() && server.receive(peer).is_none());
        carry(&mut server, 2, &mut client.0);
    }
}

/// An unreliable packet has to make room for a reliable one before the application looks.
#[test]
fn readable_is_not_told_again_for_a_packet_that_evicts_another() {
    let small = |config: Config| {
        let config = config.max_datagram(512).unwrap();
        config.receive_budget(900, 964).unwrap()
    };
    let [(mut client, there), (mut server, peer)] =
        pair_of(small(Config::client()), small(Config::new()));
    for (len, mode) in [(400, Mode::Unreliable), (800, Mode::Reliable)] {
        let packet = alloc::vec![7; len];
        client.send(there, ChannelId(0), packet, mode).unwrap();
        let mut buf = [0; 1200];
        let transmit = client.poll_transmit(Instant::ZERO, &mut buf).unwrap();
        server.handle_datagram(Instant::ZERO, 1, Ecn::NotEct, transmit.datagram);
        carry(&mut server, 2, &mut client);
    }
    assert_eq!(server.peer(peer).unwrap().stats().packets_evicted, 1);
    assert_eq!(server.poll_event(), Some(Event::Readable { peer }));
    carry(&mut client, 1, &mut server);
    assert_eq!(server.poll_event(), None);
    assert_eq!(
        server.receive(peer).map(|packet| packet.payload.len()),
        Some(800)
    );
}

/// Each packet counts 64 bytes more than its length.
#[test]
fn writable_is_told_when_half_of_the_send_budget_is_free_again() {
    const COST: usize = 900 + 64;
    let [(mut client, peer), (mut server, _)] = pair(Config::client().send_budget(4572).unwrap()); // 4001 of it
    let send = |client: &mut Host<ExampleRng, u32>| {
        client.send(peer, ChannelId(0), alloc::vec![7; 900], Mode::Reliable)
    };
    for _ in 0..4 {
        assert_eq!(send(&mut client), Ok(()));
    }
    assert_eq!(send(&mut client), Err(crate::SendError::Full));
    for left in [3, 2, 1] {
        let mut buf = [0; 1200];
        let transmit = client.poll_transmit(Instant::ZERO, &mut buf).unwrap();
        server.handle_datagram(Instant::ZERO, 1, Ecn::NotEct, transmit.datagram);
        carry(&mut server, 2, &mut client);
        let queued = client.peer(peer).unwrap().queued_bytes();
        assert_eq!(queued, left * COST);
        let told = client.poll_event() == Some(Event::Writable { peer });
        assert_eq!(told, left == 2, "{left}");
    }
}

#[test]
fn what_was_never_sent_because_it_was_too_old_is_counted() {
    let config = Config::client()
        .unreliable_age(Duration::from_micros(1))
        .unwrap();
    let [(mut client, peer), _] = pair(config);
    for _ in 0..30 {
        let packet = alloc::vec![7; 1000];
        client
            .send(peer, ChannelId(0), packet, Mode::Unreliable)
            .unwrap();
    }
    let (mut buf, mut sent) = ([0; 1200], 0);
    while client.poll_transmit(Instant::ZERO, &mut buf).is_some() {
        sent += 1;
    }
    // The first window of slow start: ten frames of 1200 bytes.
    assert!((8..=12).contains(&sent), "{sent}");
    let later = Instant::from_micros(2);
    client.handle_timeout(later);
    while client.poll_transmit(later, &mut buf).is_some() {}
    let stats = client.peer(peer).unwrap().stats();
    // So has the packet that was next in turn, although it has an id.
    assert_eq!(stats.packets_expired, 30 - sent);
    assert_eq!((stats.packets_incomplete, stats.packets_evicted), (0, 0));
    assert_eq!((stats.packets_sent.unreliable, stats.queued_bytes), (30, 0));
}

/// `docs/wire.md`, "RESET".
#[test]
fn a_reset_counts_only_if_it_names_the_connection() {
    let [(mut client, peer), _] = pair(Config::client());
    let own = client.peer(peer).unwrap().connection_id();
    let handle = |client: &mut Host<ExampleRng, u32>, connection_id| {
        let mut buf = [0; 20];
        let len = Reset { connection_id }.encode(&mut buf).unwrap();
        client.handle_datagram(Instant::ZERO, 2, Ecn::NotEct, &buf[..len])
    };
    let unknown = Disposition::Ignored(Ignored::UnknownConnection);
    // Our own id stands in all datagrams of the remote host: to know it proves nothing.
    for id in [own, ConnectionId::new(&[99; 4]).unwrap()] {
        assert_eq!(handle(&mut client, id), unknown);
    }
    let mut buf = [0; 1200];
    client
        .send(peer, ChannelId(0), &b"hello"[..], Mode::Reliable)
        .unwrap();
    let transmit = client.poll_transmit(Instant::ZERO, &mut buf).unwrap();
    let theirs = ConnectionId::new(&transmit.datagram[1..5]).unwrap();
    assert_eq!(handle(&mut client, theirs), Disposition::Handled(peer));
}

/// `docs/wire.md`, "Budgets".
#[test]
fn reading_lets_the_remote_host_send_more() {
    let config = Config::client().receive_budget(1000, 1064).unwrap();
    let [(mut reader, peer), (mut sender, other)] = pair(config);
    for n in 0..3 {
        let packet = alloc::vec![n; 1000];
        sender
            .send(other, ChannelId(0), packet, Mode::Reliable)
            .unwrap();
    }
    for n in 0..3 {
        carry(&mut sender, 2, &mut reader);
        carry(&mut reader, 1, &mut sender);
        carry(&mut sender, 2, &mut reader);
        let packet = reader.receive(peer).unwrap();
        assert_eq!(&packet.payload[..], alloc::vec![n; 1000]);
        assert!(reader.receive(peer).is_none());
        carry(&mut reader, 1, &mut sender);
    }
    assert_eq!(sender.peer(other).unwrap().queued_bytes(), 0);
}

#[test]
fn what_comes_from_a_peer_is_counted() {
    let [mut client, (mut server, peer)] = pair(Config::client());
    let before = server.peer(peer).unwrap().stats();
    let sent = client.0.stats().bytes_sent;
    deliver(&mut client, &mut server);
    let bytes = client.0.stats().bytes_sent - sent;
    assert!(server.receive(peer).is_some());
    let after = server.peer(peer).unwrap().stats();
    assert_eq!(after.datagrams_received, before.datagrams_received + 1);
    assert_eq!(after.bytes_received, before.bytes_received + bytes);
    assert_eq!(after.packets_received.total(), 1);
    assert_eq!(after.packet_bytes_received.reliable, 5);
}

/// An application that never looks at its events has a bounded number of them. D2.
#[test]
fn receipts_that_are_not_taken_use_up_the_send_budget() {
    let config = Config::client().send_budget(100 * 64).unwrap();
    let [(mut client, peer), (mut server, _)] = pair(config);
    let options = SendOptions::new(Mode::Unreliable).receipt(1);
    let mut sent = 0;
    for _ in 0..50 {
        while client.send(peer, ChannelId(0), &b""[..], options).is_ok() {
            sent += 1;
        }
        carry(&mut client, 1, &mut server);
        carry(&mut server, 2, &mut client);
    }
    assert_eq!(sent, 100);
    assert_eq!(client.peer(peer).unwrap().queued_bytes(), 0);
    let (token, outcome) = (1, Outcome::Delivered);
    let receipt = Event::Receipt {
        peer,
        token,
        outcome,
    };
    let events: Vec<_> = core::iter::from_fn(|| client.poll_event()).collect();
    let receipts = events.iter().filter(|&event| *event == receipt).count();
    // `Writable` comes after the first half of the packets, and again when half of the receipts are taken.
    let writable = Event::Writable { peer };
    assert_eq!((receipts, events.len()), (100, 102));
    assert_eq!(events.last(), Some(&writable));
    assert_eq!(client.send(peer, ChannelId(0), &b""[..], options), Ok(()));
}

#[test]
fn receipts_do_not_keep_newcomers_out() {
    let [(mut client, there), (mut server, peer)] = pair(Config::client());
    let options = SendOptions::new(Mode::Unreliable).receipt(1);
    for _ in 0..5000 {
        let sent = server.send(peer, ChannelId(0), &b""[..], options);
        assert_eq!(sent, Ok(()));
        assert!(server.cancel(peer, ChannelId(0), 1));
    }
    assert!(client.receive(there).is_none());
    let mut other = Host::<_, u32>::new(Config::client(), ExampleRng(9));
    other.connect(Instant::ZERO, 2).unwrap();
    let mut buf = [0; 1200];
    while let Some(transmit) = other.poll_transmit(Instant::ZERO, &mut buf) {
        server.handle_datagram(Instant::ZERO, 3, Ecn::NotEct, transmit.datagram);
    }
    let answer = server.poll_transmit(Instant::ZERO, &mut buf).unwrap();
    other.handle_datagram(Instant::ZERO, 2, Ecn::NotEct, answer.datagram);
    assert_eq!(other.poll_event(), None, "it was not refused");
    let events = core::iter::from_fn(|| server.poll_event());
    assert!(events.count() >= 5000);
}
