//! Messages for games: packed into bits by one function, and carried by packets that are never sent
//! again.
//!
//! # Bits
//!
//! A type has one function that names its fields in order, and this function [reads, writes and
//! measures](Serialize). `#[derive(`[`Message`](macro@Message)`)]` generates it from the fields and
//! their bounds. A game has one enum of all its messages. The network can bring any bytes: reading never
//! panics, takes no memory beyond the bounds, and refuses whatever the writer would not have written.
//!
//! ```
//! use porous_message::{Message, measure, read, write};
//!
//! #[derive(Message, Debug, PartialEq)]
//! enum Game {
//!     Move {
//!         #[message(range = -512.0..=512.0, resolution = 0.01)]
//!         at: [f32; 2],
//!         running: bool,
//!     },
//!     Fire(#[message(range = 0..=9)] u8),
//!     Say(#[message(max = 100)] String),
//! }
//!
//! let mut fire = Game::Fire(7);
//! assert_eq!(measure(&mut fire)?, 2 + 4);
//! let mut buffer = [0; 200];
//! let bytes = write(&mut fire, &mut buffer)?;
//! assert_eq!(bytes.len(), 1);
//! assert_eq!(read::<Game>(bytes)?, fire);
//! # Ok::<(), porous_message::Error>(())
//! ```
//!
//! # Messages
//!
//! An [`Endpoint`] puts messages into packets, which flow steadily both ways. A reliable message goes
//! into packet after packet until one of them has arrived, and is received once and in order; an
//! unreliable message goes into one packet. Large data is a [block](Endpoint::send_block), which no other
//! message waits for. Channels have priorities, and each has a budget in a packet.
//!
//! The sender learns from acks of packets which messages have arrived. Over a host of `porous-proto` the
//! acks are receipts, and a [`Session`] does everything. An engine with packets of its own puts the header
//! of an [`AckSystem`] before them, and tells the endpoint which packets were acknowledged:
//!
//! ```
//! use porous_message::{
//!     AckHeader, AckSystem, Endpoint, Freshness, MessageChannel, MessageConfig, ReadStream,
//!     Serialize, write,
//! };
//! use porous_proto::Instant;
//!
//! struct Connection {
//!     acks: AckSystem,
//!     messages: Endpoint<u32>,
//! }
//!
//! impl Connection {
//!     fn new() -> Result<Self, porous_message::MessageConfigError> {
//!         let config = MessageConfig::new(&[MessageChannel::reliable()])?;
//!         Ok(Self { acks: AckSystem::new(1024), messages: Endpoint::new(config) })
//!     }
//!
//!     /// Called twenty times a second, also if no message waits.
//!     fn packet(&mut self, now: Instant) -> Result<Vec<u8>, porous_message::Error> {
//!         let mut header = self.acks.packet_sent(now);
//!         let mut packet = write(&mut header, &mut [0; 8])?.to_vec();
//!         let mut buffer = [0; 1100];
//!         let messages = &mut self.messages;
//!         self.acks.packets_lost(now, |sequence| messages.packet_lost(sequence));
//!         if let Some(content) = messages.write_packet(now, header.sequence, &mut buffer)? {
//!             packet.extend_from_slice(content);
//!         }
//!         Ok(packet)
//!     }
//!
//!     fn receive(&mut self, now: Instant, packet: &[u8]) -> Result<(), porous_message::Error> {
//!         let mut header = AckHeader::blank();
//!         let (head, content) = packet.split_at_checked(8).ok_or(porous_message::Error::End)?;
//!         header.serialize(&mut ReadStream::new(head))?;
//!         if self.acks.check(header.sequence) != Freshness::New {
//!             return Ok(());
//!         }
//!         if !content.is_empty() {
//!             self.messages.read_packet(content)?; // refused: not acknowledged either
//!         }
//!         let messages = &mut self.messages;
//!         let _ = self.acks.packet_received(now, &header, |sequence| messages.packet_acked(sequence));
//!         Ok(())
//!     }
//! }
//!
//! let (mut a, mut b) = (Connection::new()?, Connection::new()?);
//! a.messages.send(0, 7)?;
//! let packet = a.packet(Instant::ZERO)?;
//! b.receive(Instant::ZERO, &packet)?;
//! assert_eq!(b.messages.receive().map(|arrival| arrival.message), Some(7));
//! let packet = b.packet(Instant::ZERO)?;
//! a.receive(Instant::ZERO, &packet)?;
//! assert_eq!(a.messages.queued(0), 0);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! A state is of no use when it is late. It is better sent as its changes since the last state that
//! arrived: the example `snapshot` does so for a thousand objects.
//!
//! `docs/message.md` describes every bit.
#![no_std]
#![doc(test(attr(deny(warnings))))]

extern crate alloc;
// Derived code names this crate, also where a test of this crate derives.
extern crate self as porous_message;
#[cfg(test)]
extern crate std;

#[doc(hidden)]
#[path = "derive.rs"]
pub mod __derive;
pub mod ack;
mod carrier;
mod endpoint;
mod error;
mod sequence;
mod sequence_buffer;
mod serialize;
mod session;
mod shrink;
mod stream;

pub use ack::{AckHeader, AckStats, AckSystem, Freshness};
pub use carrier::Carrier;
pub use endpoint::{
    Arrival, Endpoint, MessageChannel, MessageConfig, MessageConfigError, MessageStats, Reason,
    Resend, Unsent,
};
pub use error::Error;
pub use porous_message_derive::Message;
pub use sequence::newer;
pub use sequence_buffer::SequenceBuffer;
pub use serialize::{Serialize, measure, read, to_vec, write};
pub use session::Session;
pub use stream::{
    Fault, Float, Integer, MAX_DEPTH, MeasureStream, ReadStream, Stream, WriteStream, explain,
    explain_read,
};
