//! Messages over a connection of porous.

use bytes::Bytes;
use porous_proto::{Instant, Mode, Outcome, SendOptions};

use crate::endpoint::{Endpoint, MessageConfig};
use crate::error::Error;
use crate::serialize::Serialize;

/// An [`Endpoint`] whose packets are unreliable packets of porous, and whose acknowledgements are
/// its receipts.
///
/// It works beside whatever drives the host, and needs one channel of it for its packets, which
/// should be [unordered](porous_proto::Channel::unordered): a packet that was overtaken is of as
/// much use as any other. Each end sends [packets](Self::packet) at its steady rate, hands in the
/// [packets](Self::receive_packet) of that channel and all [receipts](Self::receipt), and exchanges
/// messages with [`endpoint`](Self::endpoint).
///
/// ```
/// use porous_message::{MessageChannel, MessageConfig, Session};
/// use porous_proto::{Channel, ChannelId, Config, Event, Host, Instant, PeerId, Priority};
/// # use porous_proto::doc::{ExampleRng, example_pair};
///
/// const MESSAGES: ChannelId = ChannelId(0);
///
/// // Both hosts have such a channel.
/// let _config = Config::new().channel(MESSAGES, Channel::new(Priority::High).unordered())?;
/// // And for each peer:
/// let config = MessageConfig::new(&[MessageChannel::reliable()])?;
/// let mut session = Session::<u32>::new(config);
///
/// /// Called once a tick.
/// fn tick(
///     host: &mut Host<ExampleRng, u32>,
///     peer: PeerId,
///     session: &mut Session<u32>,
///     now: Instant,
/// ) -> Result<(), Box<dyn core::error::Error>> {
///     while let Some(received) = host.receive(peer) {
///         // One that is refused is counted, and no reason to stop.
///         let _ = session.receive_packet(&received.payload);
///     }
///     while let Some(event) = host.poll_event() {
///         if let Event::Receipt { token, outcome, .. } = event {
///             session.receipt(token, outcome);
///         }
///     }
///     while let Some(arrival) = session.endpoint().receive() {
///         println!("{}", arrival.message);
///     }
///     if let Some((packet, options)) = session.packet(now)? {
///         host.send(peer, MESSAGES, packet, options)?;
///     }
///     Ok(())
/// }
///
/// session.endpoint().send(0, 7)?;
/// # let (mut host, peer) = example_pair();
/// # tick(&mut host, peer, &mut session, Instant::ZERO)?;
/// # assert_eq!(session.endpoint().stats().packets_written, 1);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Session<M> {
    endpoint: Endpoint<M>,
    /// The token of the next packet.
    token: u64,
}

impl<M: Serialize> Session<M> {
    /// With nothing sent yet. Its tokens count from 0.
    ///
    /// ```
    /// use porous_message::{MessageChannel, MessageConfig, Session};
    ///
    /// let session = Session::<u32>::new(MessageConfig::new(&[MessageChannel::reliable()])?);
    /// # drop(session);
    /// # Ok::<(), porous_message::MessageConfigError>(())
    /// ```
    #[must_use]
    pub fn new(config: MessageConfig) -> Self {
        Self::with_tokens(config, 0)
    }

    /// With tokens that count from `first`: for who sends other packets with receipts to the same
    /// peer.
    ///
    /// ```
    /// use porous_message::{MessageChannel, MessageConfig, Session};
    /// use porous_proto::{Instant, Mode, SendOptions};
    ///
    /// let config = MessageConfig::new(&[MessageChannel::reliable()])?;
    /// let mut session = Session::with_tokens(config, 1 << 63);
    /// session.endpoint().send(0, 7_u32)?;
    /// let (_, options) = session.packet(Instant::ZERO)?.unwrap();
    /// assert_eq!(options, SendOptions::new(Mode::Unreliable).receipt(1 << 63));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_tokens(config: MessageConfig, first: u64) -> Self {
        Self {
            endpoint: Endpoint::new(config),
            token: first,
        }
    }

    /// Where messages are sent and received.
    ///
    /// ```
    /// # use porous_message::{MessageChannel, MessageConfig, Session};
    /// # let mut session = Session::new(MessageConfig::new(&[MessageChannel::reliable()])?);
    /// session.endpoint().send(0, 7_u32)?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub const fn endpoint(&mut self) -> &mut Endpoint<M> {
        &mut self.endpoint
    }

    /// The next packet, and how to send it: see
    /// [`Endpoint::write_packet`](Endpoint::write_packet).
    ///
    /// If the host does not take it, it counts as lost.
    ///
    /// # Errors
    ///
    /// Those of `write_packet`.
    ///
    /// See [`Session`] for an example.
    ///
    /// ```
    /// # use porous_message::{MessageChannel, MessageConfig, Session};
    /// # use porous_proto::Instant;
    /// # let config = MessageConfig::new(&[MessageChannel::reliable()])?;
    /// # let mut session = Session::<u32>::new(config);
    /// assert!(session.packet(Instant::ZERO)?.is_none(), "nothing to say");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn packet(&mut self, now: Instant) -> Result<Option<(Bytes, SendOptions)>, Error> {
        let mut buffer = alloc::vec![0; self.endpoint.packet_size()];
        let sequence = sequence(self.token);
        let Some(packet) = self.endpoint.write_packet(now, sequence, &mut buffer)? else {
            return Ok(None);
        };
        let len = packet.len();
        buffer.truncate(len);
        let options = SendOptions::new(Mode::Unreliable).receipt(self.token);
        self.token = self.token.wrapping_add(1);
        Ok(Some((buffer.into(), options)))
    }

    /// A packet of the channel has come.
    ///
    /// # Errors
    ///
    /// It is refused, and counted. The remote host takes it for arrived; what was in it comes again
    /// nevertheless, a little later.
    ///
    /// ```
    /// # use porous_message::{MessageChannel, MessageConfig, Session};
    /// # let config = MessageConfig::new(&[MessageChannel::reliable()])?;
    /// # let mut session = Session::<u32>::new(config);
    /// assert!(session.receive_packet(b"no packet").is_err());
    /// # Ok::<(), porous_message::MessageConfigError>(())
    /// ```
    pub fn receive_packet(&mut self, packet: &[u8]) -> Result<(), Error> {
        self.endpoint.read_packet(packet)
    }

    /// A receipt has come. Those of other packets do no harm.
    ///
    /// ```
    /// # use porous_message::{MessageChannel, MessageConfig, Session};
    /// # use porous_proto::{Instant, Outcome};
    /// # let mut session = Session::new(MessageConfig::new(&[MessageChannel::reliable()])?);
    /// session.endpoint().send(0, 7_u32)?;
    /// let packet = session.packet(Instant::ZERO)?;
    /// # drop(packet);
    /// session.receipt(0, Outcome::Delivered);
    /// assert_eq!(session.endpoint().stats().packets_acked, 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn receipt(&mut self, token: u64, outcome: Outcome) {
        // Those that are not ours, or too old.
        if !(1..=1 << 15).contains(&self.token.wrapping_sub(token)) {
            return;
        }
        if outcome == Outcome::Delivered {
            self.endpoint.packet_acked(sequence(token));
        } else {
            self.endpoint.packet_lost(sequence(token));
        }
    }
}

/// The number of a packet for its endpoint.
const fn sequence(token: u64) -> u16 {
    let [low, high, ..] = token.to_le_bytes();
    u16::from_le_bytes([low, high])
}
