//! A bug report that is a file: records all that happens to a host of POROUS, and replays it byte for byte.
//!
//! A [`Host`](porous_proto::Host) does the same thing whenever it is told the same. So a trace of what it was
//! told, at which times, and of what it drew from its random source, is all that it takes to see what it did.
//! [`TracedHost`] is a host that can be recorded, [`Recorder`] writes the trace, [`Trace`] reads it, and
//! [`replay()`] makes the host anew, tells it the same, and compares each datagram, each event and each
//! deadline. The drivers of this project record by their feature `trace`, and the program `porous` reads and
//! replays traces. `docs/trace.md` has the format.
//!
//! # What a trace gives away
//!
//! A trace holds addresses, times, greetings, and the sizes of all packets. The payloads of packets are in it
//! only by [`Keep::payloads`], else zeros of the same lengths stand for them. Keys are in it only by
//! [`Keep::keys`]: those that a host that seals was given, and those that it has drawn, by which anybody can
//! read all of its connections. Without them a trace of a host that seals can be read, and not replayed.
#![doc(test(attr(deny(warnings))))]

extern crate alloc;

mod field;
#[cfg(feature = "json")]
pub mod fields;
mod noted;
mod reader;
mod record;
mod recorder;
mod replay;
mod talk;
mod traced;

pub use field::Value;
pub use noted::Noted;
pub use reader::{Entry, Trace, TraceError};
pub use record::{Got, Ids, Record, Wire};
pub use recorder::{Keep, Recorder, Sink};
pub use replay::{Difference, ReplayError, Replayed, replay};
pub use talk::{Anchors, Read, Talk, Unread};
pub use traced::{About, RecordError, TracedHost};
