//! The runtimes in which tests run, and what the tests need.

use core::future::Future;
use core::net::SocketAddr;
use core::time::Duration;

use porous_tests::drivers::LIMIT;
use porous_tokio::{Client, Config, Connection, Server};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

/// tokio's runtimes: of one thread, and of two.
pub(crate) fn both() -> [Runtime; 2] {
    let [mut one, mut two] = [Builder::new_current_thread(), Builder::new_multi_thread()];
    two.worker_threads(2);
    [&mut one, &mut two].map(|builder| builder.enable_all().build().unwrap())
}

/// Runs a test in each of them, within the limit of time.
pub(crate) fn in_both<F: Future<Output = ()> + Send + 'static>(test: impl Fn() -> F) {
    for runtime in both() {
        // In a task, as most code of a server is: `block_on` polls its future on a thread of its own.
        let test = test();
        let task = runtime.spawn(async { timeout(LIMIT, test).await });
        let done = runtime.block_on(task).unwrap();
        assert!(done.is_ok(), "it takes too long");
    }
}

pub(crate) async fn server() -> Server {
    Server::bind("127.0.0.1:0", Config::new()).await.unwrap()
}

pub(crate) async fn client() -> Client {
    Client::bind("127.0.0.1:0", Config::client()).await.unwrap()
}

pub(crate) fn address(server: &Server) -> SocketAddr {
    server.local_addr().unwrap()
}

/// A new connection to a server: the client's end, and the server's.
pub(crate) async fn pair(server: &Server) -> (Connection, Connection) {
    let to = [address(server)];
    let connected = porous_tokio::connect(&to, Config::client());
    let (there, here) = tokio::join!(connected, server.accept());
    (there.unwrap(), here.unwrap())
}

/// Waits until this holds.
pub(crate) async fn until(holds: impl Fn() -> bool) {
    while !holds() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
