//! The frames of the protocol: what a datagram says, and its one encoding (`docs/wire.md`).

mod message;

pub use message::Mode;
pub(crate) use message::{Control, Fragment, Message, Packet};
