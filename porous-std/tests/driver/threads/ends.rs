//! The ends of threads: as the game wants, by a panic, by a broken socket.

use core::net::SocketAddr;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::io::ErrorKind;

use porous_std::{
    ChannelId, Clock, Conditioner, Config, Disconnect, DisconnectReason, Ecn, Event, Instant,
    Listen, Mode, Output, Refusal, SendError, ThreadError, UdpHost, UnsentError,
};

use super::{
    Pair, Sender, listening, number_of, soon, spawn, wait_connected, wait_disconnected, wait_for,
    wait_packet, wait_request,
};
use crate::hosts::elapsed;

const FLUSH: Disconnect = Disconnect::Flush {
    reason: 5,
    deadline: Duration::from_secs(15),
};

const LARGE: usize = 50_000;

/// Polls the server to the end. Returns how many packets came, in their order, and why the connection
/// ended.
fn rest(pair: &mut Pair) -> (u32, DisconnectReason) {
    let mut next = 0;
    let reason = soon("the end", || {
        match pair.server.poll()? {
            Output::Packet { packet, .. } => {
                assert_eq!(
                    (number_of(&packet.payload), packet.payload.len()),
                    (next, LARGE)
                );
                next += 1;
            }
            Output::Event(Event::Disconnected { reason, .. }) => return Some(reason),
            other => panic!("{other:?}"),
        }
        None
    });
    (next, reason)
}

fn sending(count: u32) -> Pair {
    let mut pair = Pair::new(Config::new(), Config::client());
    let mut sender = Sender::new(count, LARGE);
    sender.send(&mut pair.client, pair.to_server, usize::MAX);
    assert_eq!(sender.taken, count as usize);
    pair
}

/// Takes the client out of a pair.
fn take_client(pair: &mut Pair) -> porous_std::HostThread {
    core::mem::replace(&mut pair.client, spawn(Config::client()))
}

#[test]
fn closing_with_a_flush_delivers_what_was_sent() {
    let mut pair = sending(20);
    take_client(&mut pair).close(FLUSH).unwrap();
    assert_eq!(rest(&mut pair), (20, DisconnectReason::ByPeer(5)));
}

#[test]
fn dropping_keeps_the_promises_of_disconnections_before() {
    let mut pair = sending(20);
    pair.client.disconnect(pair.to_server, FLUSH).unwrap();
    drop(take_client(&mut pair));
    assert_eq!(rest(&mut pair), (20, DisconnectReason::ByPeer(5)));
}

#[test]
fn draining_delivers_what_was_sent_and_takes_what_comes() {
    let mut server = spawn(Config::new());
    server.listen(Listen::Ask).unwrap();
    let to = server.local_addr();
    // It answers only when the test steps it, so that the drain lasts as long as the test wants.
    let mut client = crate::hosts::client("127.0.0.1:0");
    let there = client.connect(to).unwrap();
    let guest = soon("a request", || {
        client.step().unwrap();
        match server.poll()? {
            Output::Event(Event::Request { peer, .. }) => Some(peer),
            _ => None,
        }
    });
    server.accept(guest).unwrap();
    soon("a connection", || {
        client.step().unwrap();
        match server.poll()? {
            Output::Event(Event::Connected { .. }) => Some(()),
            _ => None,
        }
    });
    let mut asks = spawn(Config::client());
    asks.connect(to).unwrap();
    wait_request(&mut server);
    let payload = vec![7; 500_000];
    server
        .send(guest, ChannelId(0), payload.clone(), Mode::Reliable)
        .unwrap();
    server.drain(6, Duration::from_secs(15)).unwrap();
    let late = server.send(guest, ChannelId(0), "late", Mode::Reliable);
    let late = late.unwrap_err().error;
    assert_eq!(late, UnsentError::Host(SendError::Disconnecting));

    let full = DisconnectReason::Refused(Refusal::Full);
    assert_eq!(wait_disconnected(&mut asks).1, full);
    // The last word of the client leaves with its first step, when most of the packet is still to come.
    client
        .send(there, ChannelId(0), "my score", Mode::Reliable)
        .unwrap();
    let mut got = None;
    let reason = soon("the end", || {
        client.step().unwrap();
        got = got.take().or_else(|| client.receive(there));
        match client.poll_event()? {
            Event::Disconnected { reason, .. } => Some(reason),
            _ => None,
        }
    });
    assert_eq!(reason, DisconnectReason::ByPeer(6));
    assert!(got.expect("what was sent before").payload == payload);
    assert_eq!(wait_packet(&mut server).1.payload, "my score");
    // The peer that asked has ended, too.
    let ended = wait_for(&mut server, "the end", |output| match output {
        Output::Event(Event::Disconnected { peer, reason, .. }) if *peer == guest => Some(*reason),
        _ => None,
    });
    assert_eq!(ended, DisconnectReason::ByUs(6));
    // The host is still there, and says that it takes nobody.
    let mut late = spawn(Config::client());
    late.connect(to).unwrap();
    assert_eq!(wait_disconnected(&mut late).1, full);
}

#[test]
fn closing_waits_for_a_drain() {
    let mut pair = sending(20);
    pair.client.drain(6, Duration::from_secs(15)).unwrap();
    let now = Disconnect::Now { reason: 7 };
    take_client(&mut pair).close(now).unwrap();
    assert_eq!(rest(&mut pair), (20, DisconnectReason::ByPeer(6)));
}

#[test]
fn dropping_disconnects_everybody() {
    let mut pair = Pair::new(Config::new(), Config::client());
    drop(take_client(&mut pair));
    assert_eq!(rest(&mut pair), (0, DisconnectReason::ByPeer(0)));
}

#[test]
fn closing_waits_no_longer_than_it_may() {
    let (client, _, _server) = super::by_hand(super::hasty());
    // The server is stepped no more.
    let clock = Clock::start();
    client.close(Disconnect::Now { reason: 0 }).unwrap();
    let waited = elapsed(&clock);
    assert!(waited >= Duration::from_millis(100), "{waited:?}");
    assert!(waited < Duration::from_secs(10), "{waited:?}");
}

#[test]
fn closing_without_peers_waits_for_nobody() {
    let mut pair = Pair::new(Config::new(), Config::client());
    let now = Disconnect::Now { reason: 1 };
    pair.client.disconnect(pair.to_server, now).unwrap();
    let ended = wait_disconnected(&mut pair.client);
    assert_eq!(ended, (pair.to_server, DisconnectReason::ByUs(1)));
    let clock = Clock::start();
    take_client(&mut pair).close(now).unwrap();
    assert!(elapsed(&clock) < Duration::from_secs(4), "no timeout");
    assert_eq!(rest(&mut pair), (0, DisconnectReason::ByPeer(1)));
}

/// A conditioner that panics when a datagram is sent.
#[derive(Debug)]
struct Panics;

impl Conditioner for Panics {
    fn take(&mut self, _: Instant, _: SocketAddr, _: Ecn, _: &[u8]) -> bool {
        panic!("a conditioner of {}", "tests");
    }
}

/// Checks that a thread that has ended takes nothing more, and says why.
fn is_told(mut host: porous_std::HostThread, kind: ErrorKind, text: &str) {
    let told = soon("the end", || match host.poll()? {
        Output::Ended(error) => Some(error),
        _ => None,
    });
    assert_eq!(told.kind(), kind);
    assert!(told.to_string().starts_with(text), "{told}");
    assert!(host.poll().is_none());
    assert_eq!(host.ask_stats(), Err(ThreadError::Ended));
    let nobody = porous_std::PeerId::from_u64(u64::MAX).unwrap();
    let late = host.send(nobody, ChannelId(0), "late", Mode::Reliable);
    let late = late.unwrap_err();
    assert_eq!(late.error, UnsentError::Thread(ThreadError::Ended));
    assert_eq!(late.packet.payload, "late");
    let again = host.close(FLUSH).unwrap_err();
    assert_eq!((again.kind(), again.to_string()), (kind, told.to_string()));
}

#[test]
fn a_panic_of_the_thread_is_told() {
    let host = UdpHost::bind("127.0.0.1:0", Config::client()).unwrap();
    let mut host = host.with_conditioner(Panics).spawn().unwrap();
    host.connect(([127, 0, 0, 1], 9).into()).unwrap();
    let text = "the network thread panicked: a conditioner of tests";
    is_told(host, ErrorKind::Other, text);
}

#[test]
fn a_panic_that_nobody_polled_is_told_by_closing() {
    let host = UdpHost::bind("127.0.0.1:0", Config::client()).unwrap();
    let mut host = host.with_conditioner(Panics).spawn().unwrap();
    host.connect(([127, 0, 0, 1], 9).into()).unwrap();
    let error = host.close(Disconnect::Now { reason: 0 });
    // A connection that is given up at once may have sent nothing.
    if let Err(error) = error {
        assert!(error.to_string().ends_with("a conditioner of tests"));
    }
}

/// Linux refuses to send on a socket that was shut down, with an error that is in no row of the table.
#[cfg(target_os = "linux")]
#[test]
fn a_broken_socket_is_told_after_all_that_had_come() {
    let config = Config::new()
        .disconnect_timeout(Duration::from_millis(100))
        .unwrap();
    let mut server = listening(config);
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(server.local_addr()).unwrap();
    let same = socket.try_clone().unwrap();
    let client = UdpHost::from_socket(socket, Config::client()).unwrap();
    let mut client = client.spawn().unwrap();
    client.connect(server.local_addr()).unwrap();
    wait_connected(&mut client);
    let (to_client, _) = wait_connected(&mut server);
    // Output that comes from now on has no room until the thread ends.
    super::fill(&mut client);
    for payload in ["a", "b"] {
        let channel = ChannelId(0);
        server
            .send(to_client, channel, payload, Mode::Reliable)
            .unwrap();
    }
    // The packets have come when they are acknowledged.
    let idle = |output: &Output| match output {
        Output::PeerStats { stats, .. } => Some(stats.as_ref()?.queued_bytes == 0),
        _ => None,
    };
    soon("an acknowledgement", || {
        server.ask_peer_stats(to_client).unwrap();
        wait_for(&mut server, "statistics", idle).then_some(())
    });
    socket2::SockRef::from(&same)
        .shutdown(std::net::Shutdown::Write)
        .unwrap();
    // The client has to take this packet in, although the game's queue has no room for it.
    server
        .send(to_client, ChannelId(0), "c", Mode::Reliable)
        .unwrap();
    soon("the end", || {
        client
            .ask_stats()
            .err()
            .filter(|&e| e == ThreadError::Ended)
    });
    for payload in ["a", "b", "c"] {
        assert_eq!(wait_packet(&mut client).1.payload, payload);
    }
    let text = "the UDP socket of this host cannot send any more";
    is_told(client, ErrorKind::BrokenPipe, text);
}

/// A conditioner that loses everything once it was shut.
#[derive(Clone, Debug, Default)]
struct Door(alloc::sync::Arc<AtomicBool>);

impl Conditioner for Door {
    fn take(&mut self, _: Instant, _: SocketAddr, _: Ecn, _: &[u8]) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

#[test]
fn nobody_comes_in_while_a_host_closes() {
    let config = Config::new()
        .disconnect_timeout(Duration::from_secs(1))
        .unwrap();
    let mut server = listening(config);
    let address = server.local_addr();
    let door = Door::default();
    let guest = UdpHost::bind("127.0.0.1:0", Config::client()).unwrap();
    let mut guest = guest.with_conditioner(door.clone()).spawn().unwrap();
    guest.connect(address).unwrap();
    wait_connected(&mut guest);
    wait_connected(&mut server);
    // The client's answers are lost, so that the server waits.
    door.0.store(true, Ordering::SeqCst);
    let closing = std::thread::spawn(move || server.close(Disconnect::Now { reason: 2 }));
    let ended = wait_disconnected(&mut guest).1;
    assert_eq!(ended, DisconnectReason::ByPeer(2));

    let config = Config::client()
        .connect_timeout(Duration::from_millis(300))
        .unwrap();
    let mut late = spawn(config);
    late.connect(address).unwrap();
    assert_eq!(
        wait_disconnected(&mut late).1,
        DisconnectReason::NeverAnswered
    );
    closing.join().unwrap().unwrap();
}
