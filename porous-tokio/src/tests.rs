//! A driver whose socket fails.

use alloc::sync::Arc;
use core::time::Duration;
use std::io::ErrorKind;
use std::net::UdpSocket;

use porous_udp::{Config, Mode, SendError};
use rustix::io::Errno;
use tokio::runtime;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::faults::Faults;
use crate::shared::{Handle, Shared};
use crate::socket::TokioSocket;
use crate::state::State;
use crate::{Builder, Closed, Connection, Server, connect, driver};

/// Far longer than any of these tests waits.
const LIMIT: Duration = Duration::from_secs(20);

fn run(test: impl Future<Output = ()>) {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let limited = async { timeout(LIMIT, test).await };
    let done = runtime.unwrap().block_on(limited);
    assert!(done.is_ok(), "it takes too long");
}

/// A server on a socket that fails when told to.
fn faulty() -> (Server, Arc<Faults>) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    let socket = Arc::new(tokio::net::UdpSocket::from_std(socket).unwrap());
    let system = TokioSocket::new(Arc::clone(&socket));
    let faults = Arc::clone(&system.faults);
    let shared = Shared::new(Builder::new(Config::new()).state(system).unwrap());
    let server = Server::new(Handle::new(Arc::clone(&shared)));
    driver::start(&runtime::Handle::current(), shared, socket);
    (server, faults)
}

/// A client's end of a connection, and the server's.
async fn pair(server: &Server) -> (Connection, Connection) {
    let to = [server.local_addr().unwrap()];
    let ends = tokio::join!(connect(&to, Config::client()), server.accept());
    (ends.0.unwrap(), ends.1.unwrap())
}

#[test]
fn a_datagram_without_room_is_tried_again_now_and_then_and_leaves() {
    run(async {
        let (server, faults) = faulty();
        let (there, here) = pair(&server).await;
        faults.sending().always = Some(Errno::AGAIN);
        here.send(0, "through", Mode::Reliable).unwrap();
        let before = faults.sending().made;
        sleep(Duration::from_millis(100)).await;
        let tries = faults.sending().made - before;
        assert!((1..60).contains(&tries), "{tries} tries in 100 ms");
        assert!(there.try_recv().is_none());
        faults.sending().always = None;
        assert_eq!(there.recv().await.unwrap().payload, "through");
    });
}

#[test]
fn an_error_or_a_signal_in_place_of_a_datagram_hides_none_behind_it() {
    run(async {
        for errno in [Errno::CONNREFUSED, Errno::NETUNREACH, Errno::INTR] {
            let (server, faults) = faulty();
            let (there, here) = pair(&server).await;
            faults.receiving().next.extend([errno; 3]);
            there.send(0, "through", Mode::Unreliable).unwrap();
            assert_eq!(here.recv().await.unwrap().payload, "through");
            let errors = server.socket_stats().receive_errors;
            assert_eq!(errors, if errno == Errno::INTR { 0 } else { 3 });
        }
    });
}

#[test]
fn a_broken_socket_ends_all_and_what_has_arrived_is_received() {
    run(async {
        let (server, faults) = faulty();
        let (there, here) = pair(&server).await;
        let (_other, waiting) = pair(&server).await;
        there.send(0, "before", Mode::Reliable).unwrap();
        while server.host(|host| host.readable().count()) == 0 {
            sleep(Duration::from_millis(1)).await;
        }
        faults.receiving().always = Some(Errno::BADF);
        there.send(0, "behind", Mode::Reliable).unwrap();

        let broken = Closed::Socket(std::io::Error::from(Errno::BADF).kind());
        assert_eq!(waiting.recv().await, Err(broken));
        assert_eq!(waiting.closed().await, broken);
        assert_eq!(server.accept().await.unwrap_err(), broken);
        assert_eq!(here.recv().await.unwrap().payload, "before");
        assert_eq!(here.recv().await, Err(broken));
        let late = here.send(0, "late", Mode::Reliable);
        assert_eq!(late, Err(SendError::UnknownPeer));
        let to = ["127.0.0.1:9".parse().unwrap()];
        let failed = server.client().connect(&to).await.unwrap_err();
        assert!(failed.to_string().contains("of no more use"), "{failed}");
        server.drain(0, LIMIT).await;
        assert_ne!(broken, Closed::Socket(ErrorKind::WouldBlock));
    });
}

/// The bell rings between the look and the wait.
#[test]
fn a_bell_that_rings_during_the_look_is_heard() {
    run(async {
        let bell = Notify::new();
        let (server, _) = faulty();
        let mut looks = 0;
        let look = |_: &mut State| {
            looks += 1;
            bell.notify_waiters();
            (looks == 2).then_some(())
        };
        server.handle.until(&bell, look).await;
    });
}

/// Nothing is due, and no task waits in a loop.
#[test]
fn an_idle_server_makes_no_call() {
    run(async {
        let (server, faults) = faulty();
        sleep(Duration::from_millis(50)).await;
        let before = (faults.sending().made, faults.receiving().made);
        sleep(Duration::from_millis(200)).await;
        let after = (faults.sending().made, faults.receiving().made);
        assert_eq!(before, after);
        drop(server);
    });
}

#[test]
fn what_several_tasks_send_leaves_in_one_call() {
    run(async {
        let (server, faults) = faulty();
        let (there, here) = pair(&server).await;
        sleep(Duration::from_millis(50)).await;
        let before = faults.sending().made;
        for _ in 0..20 {
            let here = here.clone();
            tokio::spawn(async move { here.send(0, &[7; 1000][..], Mode::Unreliable).unwrap() });
        }
        for _ in 0..20 {
            there.recv().await.unwrap();
        }
        let calls = faults.sending().made - before;
        assert!(calls <= 5, "{calls} calls for 20 datagrams");
    });
}
