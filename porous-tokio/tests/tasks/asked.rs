//! Servers that ask, and servers that drain.

use core::time::Duration;
use std::sync::mpsc;

use porous_tokio::{
    AnswerError, Closed, Config, ConnectFailed, Connection, DisconnectReason, Incoming, Listen,
    Mode, Refusal, SendError, Server,
};
use tokio::task::JoinHandle;

use crate::runtimes::{address, client, in_both, server};

async fn asking(config: Config) -> Server {
    let builder = Server::builder(config).listen(Listen::Ask);
    builder.bind("127.0.0.1:0").await.unwrap()
}

type Attempt = JoinHandle<Result<Connection, ConnectFailed>>;

/// A client that connects with a greeting, and the request that the server sees.
async fn request(server: &Server) -> (Attempt, Incoming) {
    let to = address(server);
    let attempt =
        tokio::spawn(async move { client().await.connect_with(&[to], b"name=Ada").await });
    (attempt, server.incoming().await.unwrap())
}

/// The data with which an attempt was refused.
async fn refusal(attempt: Attempt) -> Vec<u8> {
    let failed = attempt.await.unwrap().unwrap_err();
    let ConnectFailed::Ended { closed, .. } = failed else {
        panic!("{failed}");
    };
    let Some(DisconnectReason::Refused(Refusal::Application(data))) = closed.reason() else {
        panic!("{closed}");
    };
    data.as_bytes().to_vec()
}

#[test]
fn a_request_that_is_accepted_becomes_a_connection() {
    in_both(|| async {
        let server = asking(Config::new()).await;
        let (attempt, incoming) = request(&server).await;
        assert_eq!(incoming.greeting(), b"name=Ada");
        let here = incoming.accept().await.unwrap();
        let there = attempt.await.unwrap().unwrap();
        there.send(0, "hello", Mode::Reliable).unwrap();
        assert_eq!(here.recv().await.unwrap().payload, "hello");
    });
}

#[test]
fn a_request_is_refused_with_data() {
    in_both(|| async {
        let server = asking(Config::new()).await;
        let (attempt, incoming) = request(&server).await;
        incoming.refuse(b"the match has begun").unwrap();
        assert_eq!(refusal(attempt).await, b"the match has begun");
    });
}

#[test]
fn a_request_without_an_answer_is_refused_without_data() {
    in_both(|| async {
        let server = asking(Config::new()).await;
        let (attempt, incoming) = request(&server).await;
        drop(incoming);
        assert_eq!(refusal(attempt).await, b"");
        let (attempt, incoming) = request(&server).await;
        assert_eq!(incoming.refuse(&[1; 65]), Err(AnswerError::TooLong));
        assert_eq!(refusal(attempt).await, b"");
    });
}

#[test]
fn an_answer_that_comes_too_late_is_an_error() {
    in_both(|| async {
        let config = Config::new();
        let config = config.connect_timeout(Duration::from_millis(100)).unwrap();
        let server = asking(config).await;
        let (attempt, incoming) = request(&server).await;
        let there = server.host(|host| host.peer(incoming.id()).is_some());
        assert!(there);
        tokio::time::sleep(Duration::from_millis(150)).await;
        let closed = incoming.accept().await.unwrap_err();
        let late = DisconnectReason::Unfinished;
        assert_eq!(closed.reason(), Some(late));
        attempt.abort();
    });
}

#[test]
fn a_server_that_is_dropped_refuses_those_that_ask() {
    in_both(|| async {
        let server = asking(Config::new()).await;
        let to = address(&server);
        let attempt = tokio::spawn(async move { client().await.connect(&[to]).await });
        while server.host(|host| host.peers().count()) == 0 {
            tokio::task::yield_now().await;
        }
        // The request, as an event, may need a turn more.
        tokio::time::sleep(Duration::from_millis(20)).await;
        drop(server);
        assert_eq!(refusal(attempt).await, b"");
    });
}

#[test]
fn a_drain_delivers_what_was_sent_and_refuses_newcomers_as_full() {
    in_both(|| async {
        let server = server().await;
        let to = address(&server);
        let other = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let (connected, is_connected) = mpsc::channel();
        let (go_on, goes_on) = mpsc::channel();
        // Its runtime does not run until a newcomer was refused: so long the server drains.
        let slow = std::thread::spawn(move || {
            let there = other.block_on(async { client().await.connect(&[to]).await.unwrap() });
            connected.send(()).unwrap();
            goes_on.recv().unwrap();
            other.block_on(async {
                let packet = there.recv().await.unwrap();
                (packet.payload, there.closed().await)
            })
        });
        let here = server.accept().await.unwrap();
        while is_connected.try_recv().is_err() {
            tokio::task::yield_now().await;
        }
        let large = vec![7; 300_000];
        here.send(0, large.clone(), Mode::Reliable).unwrap();
        // A connection that nobody has accepted is ended, too.
        let waiting = client().await.connect(&[to]).await.unwrap();
        let newcomer = async {
            let late = client().await.connect(&[to]).await.unwrap_err();
            go_on.send(()).unwrap();
            late
        };
        // In this order: the drain begins first.
        let ((), late) = tokio::join!(server.drain(4, Duration::from_secs(10)), newcomer);
        while !slow.is_finished() {
            tokio::task::yield_now().await;
        }
        let (packet, closed) = slow.join().unwrap();
        assert_eq!(packet, large);
        let by_peer = Some(DisconnectReason::ByPeer(4));
        assert_eq!(closed.reason(), by_peer);
        assert_eq!(waiting.closed().await.reason(), by_peer);
        let ConnectFailed::Ended { closed, .. } = late else {
            panic!("{late}");
        };
        let full = DisconnectReason::Refused(Refusal::Full);
        assert_eq!(closed.reason(), Some(full));
        assert_eq!(
            here.send(0, "x", Mode::Reliable),
            Err(SendError::UnknownPeer)
        );
        assert_eq!(
            here.recv().await,
            Err(Closed::Ended {
                reason: DisconnectReason::ByUs(4),
                undelivered: 0
            })
        );
    });
}

#[test]
fn a_drain_takes_no_longer_than_it_may() {
    in_both(|| async {
        let config = Config::new();
        let config = config
            .disconnect_timeout(Duration::from_millis(100))
            .unwrap();
        let server = Server::bind("127.0.0.1:0", config).await.unwrap();
        let to = address(&server);
        // A runtime that does not run: its host answers nothing.
        let other = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let stuck = std::thread::spawn(move || {
            let there = other.block_on(async { client().await.connect(&[to]).await.unwrap() });
            (other, there)
        });
        let here = server.accept().await.unwrap();
        while !stuck.is_finished() {
            tokio::task::yield_now().await;
        }
        here.send(0, "never read", Mode::Reliable).unwrap();
        server.drain(0, Duration::from_millis(100)).await;
        let unanswered = DisconnectReason::GoodbyeUnanswered;
        assert_eq!(here.closed().await.reason(), Some(unanswered));
        let (other, there) = stuck.join().unwrap();
        drop(there);
        other.shutdown_background();
    });
}
