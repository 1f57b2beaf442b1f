//! Futures that are dropped before they are done.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;

use porous_tokio::{Config, Connection, Listen, Mode, PeerState, Server};
use tokio::task::yield_now;

use crate::runtimes::{address, client, in_both, pair, server, until};

/// A source of numbers that are the same in each run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Polls a future this number of times, with a turn for other tasks in between, and drops it. `None` if it was not
/// done by then.
async fn cancelled<T>(future: impl Future<Output = T>, polls: u64) -> Option<T> {
    let mut future = pin!(future);
    for _ in 0..polls {
        let once = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
        if let Poll::Ready(done) = once {
            return Some(done);
        }
        yield_now().await;
    }
    None
}

const CANCELS: u32 = 10_000;

/// A numbered packet, of one to several fragments.
fn packet(number: u32, draw: &mut Draw) -> Vec<u8> {
    let len = [4, 40, 400, 4000][usize::try_from(draw.below(4)).unwrap()];
    let mut packet = number.to_le_bytes().to_vec();
    packet.resize(len, 7);
    packet
}

/// Sends until 0 is sent back, and cancels each call up to three times.
async fn send_numbers(connection: Connection) -> u32 {
    let mut draw = Draw(77);
    let mut cancels = 0;
    for number in 0.. {
        let packet = packet(number, &mut draw);
        loop {
            let sent = connection.send_when_room(0, packet.clone(), Mode::Reliable);
            match cancelled(sent, draw.below(3)).await {
                Some(sent) => {
                    sent.unwrap();
                    break;
                }
                None => cancels += 1,
            }
        }
        if connection.try_recv().is_some() {
            return cancels;
        }
    }
    cancels
}

#[test]
fn packets_survive_ten_thousand_cancelled_calls() {
    in_both(|| async {
        let server = server().await;
        let to = [address(&server)];
        // Room for a few packets, so that senders wait, too.
        let config = Config::client().send_budget(20_000).unwrap();
        let (there, here) = tokio::join!(porous_tokio::connect(&to, config), server.accept());
        let (there, here) = (there.unwrap(), here.unwrap());
        let sending = tokio::spawn(send_numbers(there));

        let mut draw = Draw(99);
        let (mut next, mut cancels) = (0_u32, 0);
        while cancels < CANCELS {
            match cancelled(here.recv(), draw.below(4)).await {
                Some(packet) => {
                    let payload = packet.unwrap().payload;
                    assert_eq!(payload[..4], next.to_le_bytes(), "in order, each once");
                    next += 1;
                }
                None => cancels += 1,
            }
        }
        assert!(next > 100, "{next} packets");
        here.send(0, "enough", Mode::Reliable).unwrap();
        // What was sent until then comes all the same.
        while let Ok(packet) = here.recv().await {
            assert_eq!(packet.payload[..4], next.to_le_bytes());
            next += 1;
        }
        assert!(sending.await.unwrap() > 100);
    });
}

#[test]
fn newcomers_survive_cancelled_calls() {
    in_both(|| async {
        let server = server().await;
        let to = address(&server);
        let clients = tokio::spawn(async move {
            let mut connections = Vec::new();
            for _ in 0..50 {
                connections.push(client().await.connect(&[to]).await.unwrap());
            }
            connections
        });
        let mut draw = Draw(5);
        let mut accepted = Vec::new();
        while accepted.len() < 50 {
            if let Some(connection) = cancelled(server.accept(), draw.below(4)).await {
                accepted.push(connection.unwrap());
            }
        }
        let connections = clients.await.unwrap();
        for connection in &connections {
            connection.send(0, "here", Mode::Reliable).unwrap();
        }
        for connection in &accepted {
            assert_eq!(connection.recv().await.unwrap().payload, "here");
        }
    });
}

#[test]
fn requests_survive_cancelled_calls() {
    in_both(|| async {
        let asking = Server::builder(Config::new()).listen(Listen::Ask);
        let server = asking.bind("127.0.0.1:0").await.unwrap();
        let to = address(&server);
        let clients = tokio::spawn(async move {
            for _ in 0..20 {
                client().await.connect(&[to]).await.unwrap();
            }
        });
        let mut draw = Draw(6);
        let mut accepted = Vec::new();
        while accepted.len() < 20 {
            if let Some(incoming) = cancelled(server.incoming(), draw.below(4)).await {
                accepted.push(incoming.unwrap().accept().await.unwrap());
            }
        }
        clients.await.unwrap();
    });
}

#[test]
fn an_attempt_that_is_cancelled_ends() {
    in_both(|| async {
        let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = silent.local_addr().unwrap();
        let client = server().await;
        let connects = |server: &Server| server.host(|host| host.peers().count());
        for _ in 0..20 {
            assert!(cancelled(client.client().connect(&[to]), 3).await.is_none());
            until(|| connects(&client) == 0).await;
        }
    });
}

/// The future waits, and nobody else holds the connection.
#[test]
fn a_request_whose_accept_is_cancelled_ends() {
    in_both(|| async {
        let asking = Server::builder(Config::new()).listen(Listen::Ask);
        let server = asking.bind("127.0.0.1:0").await.unwrap();
        let to = address(&server);
        let client = tokio::spawn(async move { client().await.connect(&[to]).await });
        let incoming = server.incoming().await.unwrap();
        let id = incoming.id();
        drop(incoming.accept());
        assert!(client.await.unwrap().is_err());
        let is_there = || {
            let state = server.host(|host| host.peer(id).map(|peer| peer.state()));
            matches!(state, Some(PeerState::Connecting | PeerState::Connected))
        };
        until(|| !is_there()).await;
    });
}

#[test]
fn a_drain_that_is_cancelled_goes_on() {
    in_both(|| async {
        let server = server().await;
        let (there, _here) = pair(&server).await;
        let draining = server.drain(9, Duration::from_secs(5));
        assert!(cancelled(draining, 1).await.is_none());
        let ended = porous_tokio::DisconnectReason::ByPeer(9);
        assert_eq!(there.closed().await.reason(), Some(ended));
    });
}
