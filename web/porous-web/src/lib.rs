//! POROUS for servers of browsers: one host on sessions of WebTransport and on a UDP socket.
//!
//! [`WebHost`] is a host as those of the other drivers, owned by one task. Its peers are at a [`WebAddress`]: browsers in
//! [sessions](Session), programs behind sockets. What strangers can take is bounded by a [`WebConfig`], and by
//! [`Config`] as always. `docs/web.md` is the guide for both ends.
//!
//! | task | does |
//! |---|---|
//! | that of the application | owns the host: takes in and sends in [`wait`](WebHost::wait) |
//! | one for the door | lets sessions in, within their limits |
//! | one for each session | waits with the session's next datagram until the host takes it |
#![doc(test(attr(deny(warnings))))]

extern crate alloc;

mod address;
mod carriers;
mod certificate;
mod door;
mod host;
mod places;
mod sessions;
mod settings;
mod verbs;

pub use address::{Session, WebAddress};
pub use certificate::Certificate;
pub use host::{OsRng, REQUEST_SIZE, WebHost, WebStats};
pub use settings::WebConfig;

pub use porous_proto as proto;
#[doc(no_inline)]
pub use porous_proto::*;
pub use porous_udp::{Clock, Conditioner};
/// The library of WebTransport, whose `Identity` a [`Certificate`] may be made from.
pub use wtransport;

/// Compiles and runs the examples of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/web.md")]
struct Guide;
