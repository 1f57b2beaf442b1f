//! What is left when one part of a program ends before another.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::io::ErrorKind;
use std::net::UdpSocket;

use porous_tokio::{
    Client, Closed, Config, Connection, Disconnect, DisconnectReason, Listen, Mode, SendError,
    Server,
};
use tokio::runtime::Builder;

use crate::runtimes::{address, both, client, in_both, pair, server, until};

const BY_PEER: Option<DisconnectReason> = Some(DisconnectReason::ByPeer(0));

#[test]
fn the_end_of_the_last_handle_ends_the_connection() {
    in_both(|| async {
        let server = server().await;
        let (there, here) = pair(&server).await;
        let clone = there.clone();
        drop(there);
        clone.send(0, "still here", Mode::Reliable).unwrap();
        assert_eq!(here.recv().await.unwrap().payload, "still here");
        drop(clone);
        assert_eq!(here.closed().await.reason(), BY_PEER);
    });
}

#[test]
fn a_connection_that_is_flushed_goes_on_without_handles() {
    in_both(|| async {
        let server = server().await;
        let (there, here) = pair(&server).await;
        let large = vec![7; 300_000];
        there.send(0, large.clone(), Mode::Reliable).unwrap();
        let deadline = Duration::from_secs(10);
        there.disconnect(Disconnect::Flush {
            reason: 5,
            deadline,
        });
        let late = there.send(0, "late", Mode::Reliable);
        assert_eq!(late, Err(SendError::Disconnecting));
        drop(there);
        assert_eq!(here.recv().await.unwrap().payload, large);
        let reason = Some(DisconnectReason::ByPeer(5));
        assert_eq!(here.recv().await.unwrap_err().reason(), reason);
    });
}

#[test]
fn the_socket_is_closed_when_all_handles_are_gone() {
    in_both(|| async {
        let server = server().await;
        let at = address(&server);
        let (there, here) = pair(&server).await;
        drop((server, here));
        until(|| UdpSocket::bind(at).is_ok()).await;
        assert_eq!(there.closed().await.reason(), BY_PEER);
    });
}

#[test]
fn without_its_server_an_accepted_connection_goes_on_and_others_end() {
    in_both(|| async {
        let server = server().await;
        let to = [address(&server)];
        let (there, here) = pair(&server).await;
        let waiting = client().await.connect(&to).await.unwrap();
        // Its server has to know it.
        until(|| server.host(|host| host.peers().count()) == 2).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        drop(server);
        assert_eq!(waiting.closed().await.reason(), BY_PEER);
        there.send(0, "hello", Mode::Reliable).unwrap();
        assert_eq!(here.recv().await.unwrap().payload, "hello");

        let config = Config::client();
        let config = config.connect_timeout(Duration::from_millis(200)).unwrap();
        assert!(porous_tokio::connect(&to, config).await.is_err());
    });
}

#[test]
fn a_connection_that_ended_before_it_was_accepted_leaves_its_packets() {
    in_both(|| async {
        let server = server().await;
        let there = client().await.connect(&[address(&server)]).await.unwrap();
        there.send(0, "I was here", Mode::Reliable).unwrap();
        let deadline = Duration::from_secs(10);
        there.disconnect(Disconnect::Flush {
            reason: 1,
            deadline,
        });
        let by_us = Some(DisconnectReason::ByUs(1));
        assert_eq!(there.closed().await.reason(), by_us);
        let here = server.accept().await.unwrap();
        assert_eq!(here.recv().await.unwrap().payload, "I was here");
        let by_peer = Some(DisconnectReason::ByPeer(1));
        assert_eq!(here.recv().await.unwrap_err().reason(), by_peer);
    });
}

#[test]
fn an_ended_connection_refuses_packets_and_wakes_all_that_wait() {
    in_both(|| async {
        let server = server().await;
        let to = [address(&server)];
        let config = Config::client().send_budget(1000).unwrap();
        let (there, here) = tokio::join!(porous_tokio::connect(&to, config), server.accept());
        let (there, here) = (there.unwrap(), here.unwrap());
        // Nobody reads: the budgets of both ends fill up.
        let filler = there.clone();
        let sending = tokio::spawn(async move {
            let mut sent = Ok(());
            while sent.is_ok() {
                let packet = vec![0; 60_000];
                sent = filler.send_when_room(0, packet, Mode::Reliable).await;
            }
            sent
        });
        let mut tasks = Vec::new();
        for _ in 0..3 {
            let connection = there.clone();
            tasks.push(tokio::spawn(async move { connection.recv().await }));
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
        here.disconnect(Disconnect::Now { reason: 0 });
        assert_eq!(sending.await.unwrap(), Err(SendError::UnknownPeer));
        for task in tasks {
            assert_eq!(task.await.unwrap().unwrap_err().reason(), BY_PEER);
        }
        let late = there.send(0, "late", Mode::Reliable);
        assert_eq!(late, Err(SendError::UnknownPeer));
        there.disconnect(Disconnect::Now { reason: 8 });
        assert_eq!(there.closed().await.reason(), BY_PEER);
    });
}

/// A server with two connections, one of which was not accepted; what the other has sent has arrived.
fn with_a_packet(runtime: &tokio::runtime::Runtime) -> (Server, Connection, [Connection; 2]) {
    let other = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let server = runtime.block_on(server());
    let to = [address(&server)];
    let connect = || async move { client().await.connect(&to).await.unwrap() };
    let attempts = [other.spawn(connect()), other.spawn(connect())];
    // The runtime of the clients lives as long as its thread.
    std::thread::spawn(move || other.block_on(core::future::pending::<()>()));
    let (here, there) = runtime.block_on(async {
        let [first, second] = attempts;
        let there = [first.await.unwrap(), second.await.unwrap()];
        (server.accept().await.unwrap(), there)
    });
    for client in &there {
        client.send(0, "before the end", Mode::Reliable).unwrap();
    }
    let taken = || server.host(|host| host.readable().count());
    runtime.block_on(until(|| taken() == 2));
    (server, here, there)
}

#[test]
fn when_the_runtime_is_gone_what_has_arrived_is_received_and_nothing_hangs() {
    for runtime in both() {
        let (server, here, there) = with_a_packet(&runtime);
        let waiting = here.clone();
        let waits = std::thread::spawn(move || now(async { waiting.closed().await }));
        drop(runtime);
        assert_eq!(waits.join().unwrap(), Closed::Stopped);

        assert_eq!(now(here.recv()).unwrap().payload, "before the end");
        assert_eq!(now(here.recv()), Err(Closed::Stopped));
        let late = here.send(0, "late", Mode::Reliable);
        assert_eq!(late, Err(SendError::UnknownPeer));
        assert_eq!(
            now(here.send_when_room(0, "late", Mode::Reliable)),
            Err(SendError::UnknownPeer)
        );

        let other = now(server.accept()).unwrap();
        assert_eq!(now(other.recv()).unwrap().payload, "before the end");
        assert_eq!(now(other.recv()), Err(Closed::Stopped));
        assert_eq!(now(server.accept()).unwrap_err(), Closed::Stopped);
        assert_eq!(now(server.incoming()).unwrap_err(), Closed::Stopped);
        let to = ["127.0.0.1:9".parse().unwrap()];
        assert!(now(server.client().connect(&to)).is_err());
        now(server.drain(0, Duration::from_secs(3600)));
        // The clients were told.
        for client in there {
            assert_eq!(now(client.closed()).reason(), BY_PEER);
        }
    }
}

#[test]
fn a_runtime_that_ends_before_the_driver_had_a_turn_ends_it() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let server = {
        let _entered = runtime.enter();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        Server::builder(Config::new()).from_socket(socket).unwrap()
    };
    drop(runtime);
    assert_eq!(now(server.accept()).unwrap_err(), Closed::Stopped);
}

/// Waits without any runtime.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..20_000 {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return done;
        }
        std::thread::park_timeout(Duration::from_millis(1));
    }
    panic!("it takes too long");
}

#[test]
fn outside_of_a_runtime_there_is_an_error() {
    let bound = now(Server::bind("127.0.0.1:0", Config::new()));
    let text = bound.unwrap_err().to_string();
    assert!(text.contains("a task of tokio"), "{text}");
    // A name would be looked up by a thread of the runtime.
    assert!(now(Server::bind("localhost:0", Config::new())).is_err());
    assert!(now(Client::bind("127.0.0.1:0", Config::client())).is_err());
    let to = ["127.0.0.1:9".parse().unwrap()];
    assert!(now(porous_tokio::connect(&to, Config::client())).is_err());
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    assert!(Server::builder(Config::new()).from_socket(socket).is_err());
}

#[test]
#[should_panic(expected = "timer")]
fn a_runtime_without_a_timer_panics_at_its_caller() {
    let runtime = Builder::new_current_thread().enable_io().build().unwrap();
    let _bound = runtime.block_on(Server::bind("127.0.0.1:0", Config::new()));
}

#[test]
fn a_client_cannot_listen() {
    in_both(|| async {
        let bound = Server::bind("127.0.0.1:0", Config::client()).await;
        assert_eq!(bound.unwrap_err().kind(), ErrorKind::InvalidInput);
        let closed = Server::builder(Config::client()).listen(Listen::Closed);
        let closed = closed.bind("127.0.0.1:0").await.unwrap();
        assert!(closed.listen(Listen::Open).is_err());
    });
}
