//! POROUS for tokio: a [`Server`] accepts [`Connection`]s, [`connect()`] makes one, and packets are sent and awaited.
//!
//! ```
//! use core::time::Duration;
//! use porous_tokio::{Connection, Server, prelude::*};
//!
//! async fn echo(connection: Connection) {
//!     while let Ok(packet) = connection.recv().await {
//!         let sent = connection.send_when_room(packet.channel, packet.payload, packet.mode);
//!         if sent.await.is_err() {
//!             break;
//!         }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn core::error::Error>> {
//! let server = Server::bind("127.0.0.1:0", Config::new()).await?;
//! let address = server.local_addr()?;
//! let serving = tokio::spawn(async move {
//!     let connection = server.accept().await?;
//!     tokio::spawn(echo(connection));
//!     Ok::<Server, porous_tokio::Closed>(server)
//! });
//!
//! let connection = porous_tokio::connect(&[address], Config::client()).await?;
//! connection.send(0, "hello", Mode::Reliable)?;
//! assert_eq!(connection.recv().await?.payload, "hello");
//! serving.await??.drain(0, Duration::from_secs(1)).await;
//! # Ok(())
//! # }
//! ```
//!
//! # One task, one lock
//!
//! Each socket has one task, the driver, which is spawned where the socket is bound. The host stands behind a lock
//! that is never held over an `await`. A call acts on the host at once, with the host's own answer: a
//! [`send`](Connection::send) that returns `Ok` has queued the packet, and one that returns
//! [`SendError::Full`] has not. Then it wakes the driver, which sends. All that
//! tasks send before the driver's turn leaves together, so that the batches of `porous-udp` stay whole.
//!
//! A turn of the driver takes datagrams in and sends, each for at most a millisecond. A call from another thread
//! may have to wait for that.
//!
//! # Back-pressure
//!
//! Nothing is copied into queues between the host and the tasks. [`recv`](Connection::recv) takes the next packet
//! out of the host, and what nobody takes fills the
//! [receive budget](porous_udp::Config::receive_budget), beyond which the remote host does not send.
//! The other way [`send_when_room`](Connection::send_when_room) waits for room in the
//! [send budget](porous_udp::Config::send_budget).
//!
//! # Cancellation
//!
//! Each `async` method may be dropped at any `await`, as `select!` does: the documentation of each says what then
//! is. No packet, connection or request is lost by it.
//!
//! # Ends
//!
//! | what ends | then |
//! |---|---|
//! | the last handle of a [`Connection`] | it [ends](Connection) at once, with reason 0 |
//! | the [`Server`] | nobody new is let in; accepted connections go on |
//! | all handles of a socket | the driver ends when each peer knows, and closes the socket |
//! | the runtime | each peer is told once; all that wait get [`Closed::Stopped`] |
//! | the socket, by an error of the system | all that wait get [`Closed::Socket`] |
//!
//! What had arrived before can be received after each of these ends, but for the first.
//!
//! # Runtimes
//!
//! Both of tokio's are fine. The driver uses the runtime's timer, whose steps are 1 ms. It waits for real sockets, so
//! that `tokio::time::pause` is of no use: its time would pass while datagrams are on their way.
//!
//! # Addresses, and when the network fails
//!
//! As of all drivers on a system's socket: see [`porous_udp`](porous_udp#addresses).
#![doc(test(attr(deny(warnings))))]

extern crate alloc;

mod builder;
mod closed;
mod connect;
mod connection;
mod driver;
#[cfg(test)]
mod faults;
mod incoming;
mod link;
mod server;
mod shared;
mod socket;
mod state;
#[cfg(test)]
mod tests;

pub use builder::Builder;
pub use closed::Closed;
pub use connect::{Client, ConnectFailed, connect};
pub use connection::Connection;
pub use incoming::Incoming;
pub use server::Server;

#[cfg(feature = "sim")]
pub use porous_udp::LinkConditioner;
#[cfg(feature = "seal")]
#[doc(no_inline)]
pub use porous_udp::RustCrypto;
#[doc(no_inline)]
pub use porous_udp::proto;
#[doc(no_inline)]
pub use porous_udp::proto::*;
#[cfg(feature = "sim")]
pub use porous_udp::sim;
#[cfg(feature = "trace")]
#[doc(no_inline)]
pub use porous_udp::trace;
pub use porous_udp::{Clock, Conditioner, OsRng, SocketBuffers, SocketStats};

/// The names that most programs use, to be brought in by one line. [`Server`], [`Client`] and [`Connection`] are not
/// among them, as other crates have such names, too.
///
/// ```
/// use porous_tokio::prelude::*;
///
/// let config = Config::new();
/// # let _ = config;
/// ```
pub mod prelude {
    #[doc(no_inline)]
    pub use porous_udp::prelude::*;
}
