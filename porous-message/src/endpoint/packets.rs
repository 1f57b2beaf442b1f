//! The packets of an endpoint: written, read, acknowledged, lost.

use alloc::vec::Vec;
use core::cmp::Reverse;

use porous_proto::Instant;

use super::Endpoint;
use super::channel::{Arrived, Channel};
use super::record::Turn;
use super::space::Space;
use crate::error::Error;
use crate::serialize::Serialize;
use crate::stream::{ReadStream, WriteStream};

impl<M: Serialize> Endpoint<M> {
    /// Makes the next packet at the front of a buffer, of which it takes at most the length of a
    /// packet. `None` if there is nothing to say.
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
        self.order.sort_by_key(|&position| {
            let is_starving = channels[position].is_starving(now);
            (Reverse(declared[position].priority), !is_starving, position)
        });
        for &position in &self.order {
            self.channels[position].choose(&turn, &mut space, &mut self.stats);
        }
        let mut channels = self.channels.iter();
        if space.items == all.items && !channels.any(|channel| channel.is_pressing(&turn)) {
            return Ok(None);
        }
        let mut stream = WriteStream::new(&mut buffer[..len]);
        for channel in &mut self.channels {
            channel.write(&mut stream)?;
        }
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
    /// The packet is refused, and [counted](super::MessageStats::packets_refused). A carrier must not
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
    /// again without waiting for their time. Optional: without this call they are sent again later.
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
        for item in self.packets.lost(sequence) {
            self.channels[item.channel()].lost(*item, sequence);
        }
    }
}
