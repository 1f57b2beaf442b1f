//! Messages in packets: which messages go into which packet, and what becomes of them
//! (`docs/message.md`, "Packets").

mod block_inbox;
mod block_outbox;
mod channel;
mod check;
mod config;
mod echo;
mod flight;
mod fragment;
mod hunger;
mod id;
mod inbox;
mod outbox;
mod record;
mod reliable;
mod space;
mod stats;
mod unreliable;
mod unsent;

use alloc::vec::Vec;
use core::cmp::Reverse;
use core::time::Duration;

use bytes::Bytes;
use porous_proto::Instant;

use self::channel::{Arrived, Channel};
pub use self::check::MessageConfigError;
pub use self::config::{MessageChannel, MessageConfig, Resend};
use self::flight::Flight;
use self::record::Turn;
use self::space::Space;
pub use self::stats::MessageStats;
pub use self::unsent::{Reason, Unsent};
use crate::error::Error;
use crate::serialize::{Serialize, measure};
use crate::stream::{ReadStream, WriteStream};

/// A message that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival<M> {
    /// The position of the message's channel in the configuration.
    pub channel: usize,
    /// The message.
    pub message: M,
    /// The block that came with the message.
    pub block: Option<Bytes>,
}

/// One end of a connection that exchanges messages of type `M`, usually an enum of all messages.
///
/// The endpoint makes packets and reads them; a carrier transports them, may lose them, and tells which
/// packets have arrived. Over porous the carrier is a [`Session`](crate::Session); for packets of your
/// own, use an [`AckSystem`](crate::AckSystem).
///
/// A reliable message goes into packet after packet until one of them has arrived. No packet is sent
/// again.
#[derive(Debug)]
pub struct Endpoint<M> {
    channels: Vec<Channel<M>>,
    /// The positions of the channels, in the order in which they chose their room in the last packet.
    order: Vec<usize>,
    config: MessageConfig,
    /// The content of the packets on their way.
    packets: Flight,
    /// The time after which a reliable message without an acknowledgement goes into another packet.
    resend: Duration,
    stats: MessageStats,
}

impl<M: Serialize> Endpoint<M> {
    /// An endpoint with nothing sent yet.
    ///
    /// ```
    /// use porous_message::{Endpoint, MessageChannel, MessageConfig};
    ///
    /// let config = MessageConfig::new(&[MessageChannel::reliable()])?;
    /// let endpoint = Endpoint::<u32>::new(config);
    /// assert_eq!(endpoint.stats().sent, 0);
    /// # Ok::<(), porous_message::MessageConfigError>(())
    /// ```
    #[must_use]
    pub fn new(config: MessageConfig) -> Self {
        let mut endpoint = Self {
            channels: config.channels.iter().map(Channel::new).collect(),
            order: (0..config.channels.len()).collect(),
            packets: Flight::default(),
            resend: Duration::ZERO,
            stats: MessageStats::default(),
            config,
        };
        endpoint.resend = match endpoint.config.resend {
            Resend::After(time) => time,
            Resend::ByRoundTrip => Duration::from_millis(100),
        };
        endpoint
    }

    /// Sends a message: the message goes into one of the next packets.
    ///
    /// # Errors
    ///
    /// The message is given back with the reason.
    ///
    /// ```
    /// # use porous_message::{Endpoint, MessageChannel, MessageConfig};
    /// # let config = MessageConfig::new(&[MessageChannel::reliable()])?;
    /// let mut endpoint = Endpoint::new(config);
    /// endpoint.send(0, 7_u32)?;
    /// assert_eq!(endpoint.send(1, 8).unwrap_err().message, 8);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn send(&mut self, channel: usize, message: M) -> Result<(), Unsent<M>> {
        self.send_urgent(channel, message, 0)
    }

    /// As [`send`](Self::send). On an unreliable channel, the messages with the largest `urgency`
    /// choose their room in a packet first; a reliable channel has its order, and takes no notice.
    ///
    /// # Errors
    ///
    /// The message is given back with the reason.
    ///
    /// ```
    /// # use porous_message::{Endpoint, MessageChannel, MessageConfig};
    /// # let config = MessageConfig::new(&[MessageChannel::unreliable()])?;
    /// let mut endpoint = Endpoint::new(config);
    /// endpoint.send(0, 1_u32)?; // footsteps
    /// endpoint.send_urgent(0, 2, 10)?; // an explosion
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn send_urgent(
        &mut self,
        channel: usize,
        mut message: M,
        urgency: u8,
    ) -> Result<(), Unsent<M>> {
        let room = self.room(channel);
        let checked = measure(&mut message)
            .map_err(Reason::Invalid)
            .and_then(|bits| {
                let channel = self.channels.get(channel).ok_or(Reason::NoChannel)?;
                channel.check(bits, room).map(|()| bits)
            });
        match checked {
            Ok(bits) => {
                self.channels[channel].send(message, bits, urgency);
                self.stats.sent += 1;
                Ok(())
            }
            Err(reason) => Err(Unsent { message, reason }),
        }
    }

    /// Sends a block of data, with a message that tells what the block is. The block is cut into
    /// pieces, which fill the room that messages leave, and arrives as soon as it is whole: messages
    /// and blocks of a channel do not wait for each other, nor do blocks for other blocks.
    ///
    /// # Errors
    ///
    /// The message is given back with the reason.
    ///
    /// ```
    /// # use porous_message::{Endpoint, MessageChannel, MessageConfig};
    /// let channel = MessageChannel::reliable().blocks(1 << 20);
    /// let mut endpoint = Endpoint::new(MessageConfig::new(&[channel])?);
    /// let level = 3_u32;
    /// endpoint.send_block(0, level, vec![0; 100_000])?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn send_block(
        &mut self,
        channel: usize,
        mut message: M,
        block: impl Into<Bytes>,
    ) -> Result<(), Unsent<M>> {
        let (room, block) = (self.room(channel), block.into());
        let checked = measure(&mut message)
            .map_err(Reason::Invalid)
            .and_then(|bits| {
                let channel = self.channels.get(channel).ok_or(Reason::NoChannel)?;
                channel.check_block(bits, &block, room).map(|()| bits)
            });
        match checked {
            Ok(bits) => {
                self.channels[channel].send_block(message, bits, block);
                self.stats.sent += 1;
                Ok(())
            }
            Err(reason) => Err(Unsent { message, reason }),
        }
    }

    /// The most bits of content that a channel can have in a packet.
    fn room(&self, channel: usize) -> u64 {
        let overhead: u64 = self.channels.iter().map(Channel::overhead).sum();
        let bits = (8 * self.config.packet as u64).saturating_sub(overhead);
        let channel = self.channels.get(channel);
        channel.map_or(0, |channel| channel.room(bits))
    }

    /// The next message that has come, of the channel that is declared first. The other end may send
    /// more only as messages are received here.
    ///
    /// ```
    /// # use porous_message::{Endpoint, MessageChannel, MessageConfig};
    /// # let config = MessageConfig::new(&[MessageChannel::reliable()])?;
    /// # let mut endpoint = Endpoint::<u32>::new(config);
    /// while let Some(arrival) = endpoint.receive() {
    ///     panic!("{}: {}", arrival.channel, arrival.message);
    /// }
    /// # Ok::<(), porous_message::MessageConfigError>(())
    /// ```
    pub fn receive(&mut self) -> Option<Arrival<M>> {
        let mut channels = self.channels.iter_mut().enumerate();
        let (channel, (message, block)) =
            channels.find_map(|(position, channel)| Some((position, channel.receive()?)))?;
        self.stats.received += 1;
        Some(Arrival {
            channel,
            message,
            block,
        })
    }

    /// Writes the next packet at the front of a buffer, and returns the packet: at most as many bytes as
    /// the buffer has, and as the configuration allows a packet. `None` if there is nothing to say.
    ///
    /// `sequence` is the packet's number for its carrier, one more for each packet; it is not written.
    /// A game calls this once for each packet of its steady flow, and if it has blocks to send, as
    /// often as there is room for another packet. A carrier may also number packets without content of
    /// this endpoint, but calls this at least once in 65,536 numbers.
    ///
    /// # Errors
    ///
    /// [`Error::End`] if the buffer is too short for a packet without content. Any other error is the
    /// fault of a [`Serialize`] that writes more than it measured, or what it did not measure. After an
    /// error nothing counts as sent.
    ///
    /// ```
    /// # use porous_message::{Endpoint, MessageChannel, MessageConfig};
    /// use porous_proto::Instant;
    ///
    /// # let config = MessageConfig::new(&[MessageChannel::reliable()])?;
    /// let mut a = Endpoint::<u32>::new(config.clone());
    /// let mut b = Endpoint::<u32>::new(config);
    /// a.send(0, 7)?;
    /// let mut buffer = [0; 1100];
    /// let packet = a.write_packet(Instant::ZERO, 0, &mut buffer)?.unwrap();
    /// b.read_packet(packet)?;
    /// a.packet_acked(0);
    /// assert_eq!(b.receive().unwrap().message, 7);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn write_packet<'b>(
        &mut self,
        now: Instant,
        sequence: u16,
        buffer: &'b mut [u8],
    ) -> Result<Option<&'b mut [u8]>, Error> {
        let turn = Turn {
            now,
            resend: self.resend,
            packet: sequence,
        };
        self.packets.advance(sequence);
        let len = buffer.len().min(self.config.packet);
        let mut space = self.space(len)?;
        let all = space;
        let (channels, declared) = (&self.channels, &self.config.channels);
        // By priority. Among equals, a channel that has waited too long chooses before the others, or the
        // first of them could take all the room of every packet.
        self.order.sort_by_key(|&position| {
            let is_starving = channels[position].is_starving(now);
            (Reverse(declared[position].priority), !is_starving, position)
        });
        for &position in &self.order {
            self.channels[position].choose(&turn, &mut space, &mut self.stats);
        }
        // A packet without items may be worth sending all the same: it confirms what has come.
        let mut channels = self.channels.iter();
        if space.items == all.items && !channels.any(|channel| channel.is_pressing(&turn)) {
            return Ok(None);
        }
        let mut stream = WriteStream::new(&mut buffer[..len]);
        for channel in &mut self.channels {
            channel.write(&mut stream)?;
        }
        // Last, so that a packet that could not be written does not count as sent.
        self.note(&turn);
        Ok(Some(stream.finish()))
    }

    /// The room for content in a packet of `len` bytes that is sent now.
    fn space(&self, len: usize) -> Result<Space, Error> {
        let overhead: u64 = self.channels.iter().map(Channel::overhead_now).sum();
        let bits = (8 * len as u64).checked_sub(overhead).ok_or(Error::End)?;
        Ok(Space {
            bits,
            items: self.config.per_packet,
        })
    }

    /// Remembers what is in a packet.
    fn note(&mut self, turn: &Turn) {
        let mut items = Vec::new();
        for (position, channel) in (0..).zip(&mut self.channels) {
            self.stats.resent += channel.sent(position, turn, &mut items);
        }
        self.packets.insert(items);
        self.stats.packets_written += 1;
    }

    /// Reads a packet that the other end wrote. The packet is taken as a whole, or not at all.
    ///
    /// # Errors
    ///
    /// The packet is refused, and [counted](MessageStats::packets_refused). A carrier must not
    /// acknowledge a packet that was refused.
    ///
    /// ```
    /// # use porous_message::{Endpoint, MessageChannel, MessageConfig};
    /// # let config = MessageConfig::new(&[MessageChannel::reliable()])?;
    /// let mut endpoint = Endpoint::<u32>::new(config);
    /// assert!(endpoint.read_packet(&[0xFF; 20]).is_err());
    /// assert_eq!(endpoint.stats().packets_refused, 1);
    /// # Ok::<(), porous_message::MessageConfigError>(())
    /// ```
    pub fn read_packet(&mut self, packet: &[u8]) -> Result<(), Error> {
        // The whole packet is read before any channel changes: a bad packet has no effect.
        let parsed = self.parse(packet);
        let counter = match &parsed {
            Ok(_) => &mut self.stats.packets_read,
            Err(_) => &mut self.stats.packets_refused,
        };
        *counter += 1;
        for (channel, arrived) in self.channels.iter_mut().zip(parsed?) {
            channel.arrived(arrived, &mut self.stats);
        }
        self.rest();
        Ok(())
    }

    /// Where nothing waits for an acknowledgement, the lost packets can be forgotten.
    fn rest(&mut self) {
        if self.channels.iter().all(Channel::is_at_rest) {
            self.packets.forget_lost();
        }
    }

    /// Reads the content of each channel from a packet.
    fn parse(&self, packet: &[u8]) -> Result<Vec<Arrived<M>>, Error> {
        let mut stream = ReadStream::new(packet);
        let mut items = self.config.per_packet;
        let channels = self.channels.iter();
        let read = channels.map(|channel| channel.read(&mut stream, &mut items));
        let arrived = read.collect::<Result<_, _>>()?;
        stream.finish()?;
        Ok(arrived)
    }

    /// The packet with this number has arrived. Only the first call for each packet counts.
    ///
    /// See [`write_packet`](Self::write_packet) for an example.
    ///
    /// ```
    /// # use porous_message::{Endpoint, MessageChannel, MessageConfig};
    /// # let config = MessageConfig::new(&[MessageChannel::reliable()])?;
    /// # let mut endpoint = Endpoint::<u32>::new(config);
    /// endpoint.packet_acked(0); // there was none
    /// assert_eq!(endpoint.stats().packets_acked, 0);
    /// # Ok::<(), porous_message::MessageConfigError>(())
    /// ```
    pub fn packet_acked(&mut self, sequence: u16) {
        let Some(items) = self.packets.acked(sequence) else {
            return;
        };
        self.stats.packets_acked += 1;
        for item in items {
            self.channels[item.channel()].acked(item);
        }
        self.rest();
    }

    /// The packet with this number waits at its carrier: its content counts as sent now.
    pub(crate) fn packet_waits(&mut self, now: Instant, sequence: u16) {
        for item in self.packets.items(sequence) {
            self.channels[item.channel()].waits(*item, sequence, now);
        }
    }

    /// The packet with this number seems to be lost: messages in it, and in no later one, are sent
    /// again without waiting for their time. Optional: without this call they are sent again later. It may also follow
    /// [`packet_acked`](Self::packet_acked), if the carrier finds that the packet did not reach the other end's
    /// application after all.
    ///
    /// ```
    /// # use porous_message::{Endpoint, MessageChannel, MessageConfig};
    /// use porous_proto::Instant;
    ///
    /// # let config = MessageConfig::new(&[MessageChannel::reliable()])?;
    /// let mut endpoint = Endpoint::new(config);
    /// endpoint.send(0, 7_u32)?;
    /// let mut buffer = [0; 1100];
    /// assert!(endpoint.write_packet(Instant::ZERO, 0, &mut buffer)?.is_some());
    /// assert!(endpoint.write_packet(Instant::ZERO, 1, &mut buffer)?.is_none());
    /// endpoint.packet_lost(0);
    /// assert!(endpoint.write_packet(Instant::ZERO, 1, &mut buffer)?.is_some());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn packet_lost(&mut self, sequence: u16) {
        if let Some(items) = self.packets.lost(sequence) {
            for item in items {
                self.channels[item.channel()].lost(*item, sequence);
            }
        } else {
            let channels = self.channels.iter_mut();
            channels.for_each(|channel| channel.taken_back(sequence));
        }
    }

    /// Sets the round trip, for [`Resend::ByRoundTrip`]. A [`Session`](crate::Session) does so by
    /// itself.
    ///
    /// ```
    /// # use core::time::Duration;
    /// # use porous_message::{Endpoint, MessageChannel, MessageConfig};
    /// # let config = MessageConfig::new(&[MessageChannel::reliable()])?;
    /// # let mut endpoint = Endpoint::<u32>::new(config);
    /// endpoint.set_rtt(Duration::from_millis(40));
    /// # Ok::<(), porous_message::MessageConfigError>(())
    /// ```
    pub fn set_rtt(&mut self, rtt: Duration) {
        let most = Duration::from_secs(1);
        self.set_timeout((rtt.min(most) * 5 / 4).min(most));
    }

    /// Sets the time after which a message without an acknowledgement is sent again, for
    /// [`Resend::ByRoundTrip`].
    pub(crate) fn set_timeout(&mut self, timeout: Duration) {
        if self.config.resend == Resend::ByRoundTrip {
            self.resend = timeout.max(Duration::from_millis(20));
        }
    }

    /// The most bytes of a packet.
    pub(crate) const fn packet_size(&self) -> usize {
        self.config.packet
    }

    /// The number of messages and blocks of a channel that wait to be sent, or to be confirmed; 0 if
    /// there is no such channel.
    ///
    /// ```
    /// # use porous_message::{Endpoint, MessageChannel, MessageConfig};
    /// # let config = MessageConfig::new(&[MessageChannel::reliable()])?;
    /// # let mut endpoint = Endpoint::new(config);
    /// endpoint.send(0, 7_u32)?;
    /// assert_eq!(endpoint.queued(0), 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn queued(&self, channel: usize) -> usize {
        self.channels.get(channel).map_or(0, Channel::queued)
    }

    /// What the endpoint has counted since it was made.
    ///
    /// ```
    /// # use porous_message::{Endpoint, MessageChannel, MessageConfig};
    /// # let config = MessageConfig::new(&[MessageChannel::reliable()])?;
    /// # let mut endpoint = Endpoint::new(config);
    /// endpoint.send(0, 7_u32)?;
    /// assert_eq!(endpoint.stats().sent, 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn stats(&self) -> MessageStats {
        self.stats
    }
}
