//! POROUS for servers of browsers: one host on sessions of WebTransport and on a UDP socket.
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
