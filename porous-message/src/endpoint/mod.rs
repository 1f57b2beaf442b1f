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
mod packets;
mod record;
mod reliable;
mod space;
mod stats;
mod unreliable;
mod unsent;

use alloc::vec::Vec;
use core::time::Duration;

use bytes::Bytes;

use self::channel::Channel;
pub use self::check::MessageConfigError;
pub use self::config::{MessageChannel, MessageConfig, Resend};
use self::flight::Flight;
pub use self::stats::MessageStats;
pub use self::unsent::{Reason, Unsent};
use crate::serialize::{Serialize, measure};

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
    /// The positions of the channels, in the order in which they choose.
    order: Vec<usize>,
    config: MessageConfig,
    /// The content of the packets on their way.
    packets: Flight,
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
