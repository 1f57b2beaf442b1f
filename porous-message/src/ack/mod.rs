//! Acks of packets, for engines that bring packets of their own (`docs/message.md`, "Acks").
//!
//! Each side has one [`AckSystem`]. Each packet begins with a header, and each header repeats the acks
//! of the last 32 packets. So each side soon knows which of its packets have come, although packets are
//! sent at the pace of the game and none is ever sent again.
//!
//! On sending: take the header of [`packet_sent`](AckSystem::packet_sent), note what the packet
//! carries under its number, and send it. On receiving:
//!
//! 1. Read the header and ask [`check`](AckSystem::check) whether the packet is new. If not, leave
//!    out the next step.
//! 2. Read the rest and see whether all of it can be used. If not, drop the packet: it counts as
//!    lost, and the other side will send its content in another packet.
//! 3. Call [`packet_received`](AckSystem::packet_received). From here on the packet is
//!    acknowledged, so the other side forgets its content. Never call this for a new packet of
//!    which something is thrown away.
//!
//! An [`Endpoint`](crate::Endpoint) does the rest for messages: its `write_packet` takes the number of
//! the header, `read_packet` is step 2, and `packet_acked` takes each number that step 3 reports.
//!
//! An example without an endpoint: two players send each other a number, until each knows that the other
//! has it.
//!
//! ```
//! use core::time::Duration;
//! use porous_message::{AckHeader, AckSystem, Error, Freshness, ReadStream, SequenceBuffer};
//! use porous_message::{Serialize, WriteStream};
//! use porous_proto::Instant;
//!
//! struct Player {
//!     acks: AckSystem,
//!     coins: u32,
//!     /// The number of coins in each packet that was sent.
//!     told: SequenceBuffer<u32>,
//!     /// The newest of these numbers that the other player is known to have.
//!     known: u32,
//!     /// The coins of the other player.
//!     seen: u32,
//! }
//!
//! impl Player {
//!     fn new(coins: u32) -> Self {
//!         let (acks, told) = (AckSystem::new(1024), SequenceBuffer::new(1024));
//!         Self { acks, coins, told, known: 0, seen: 0 }
//!     }
//!
//!     fn send<'b>(&mut self, now: Instant, buffer: &'b mut [u8]) -> Result<&'b [u8], Error> {
//!         let mut header = self.acks.packet_sent(now);
//!         self.told.insert(header.sequence, self.coins);
//!         let mut stream = WriteStream::new(buffer);
//!         header.serialize(&mut stream)?;
//!         self.coins.serialize(&mut stream)?;
//!         Ok(stream.finish())
//!     }
//!
//!     fn receive(&mut self, now: Instant, packet: &[u8]) -> Result<Freshness, Error> {
//!         let (mut header, mut coins) = (AckHeader::blank(), 0);
//!         let mut stream = ReadStream::new(packet);
//!         header.serialize(&mut stream)?;
//!         if self.acks.check(header.sequence) == Freshness::New {
//!             coins.serialize(&mut stream)?; // If this fails, the packet is not acknowledged.
//!             stream.finish()?;
//!             self.seen = coins;
//!         }
//!         let (told, known) = (&mut self.told, &mut self.known);
//!         Ok(self.acks.packet_received(now, &header, |sequence| {
//!             *known = told.remove(sequence).unwrap_or(*known);
//!         }))
//!     }
//! }
//!
//! let (mut alice, mut bob) = (Player::new(70), Player::new(5));
//! let (mut buffer, mut now) = ([0; 16], Instant::ZERO);
//!
//! // The first packet of Alice is lost, the second one comes twice.
//! alice.send(now, &mut buffer)?;
//! let packet = alice.send(now, &mut buffer)?;
//! now = now + Duration::from_millis(20);
//! assert_eq!(bob.receive(now, packet)?, Freshness::New);
//! assert_eq!(bob.receive(now, packet)?, Freshness::Duplicate);
//! assert_eq!((bob.seen, alice.known), (70, 0));
//!
//! // Bob's answer acknowledges her packet.
//! let packet = bob.send(now, &mut buffer)?;
//! now = now + Duration::from_millis(20);
//! assert_eq!(alice.receive(now, packet)?, Freshness::New);
//! assert_eq!((alice.seen, alice.known, bob.known), (5, 70, 0));
//! assert_eq!(alice.acks.rtt(), Some(Duration::from_millis(40)));
//! # Ok::<(), Error>(())
//! ```

mod header;
mod rtt;
mod system;

pub use self::header::AckHeader;
pub use self::system::{AckStats, AckSystem, Freshness};

#[cfg(test)]
mod tests;
