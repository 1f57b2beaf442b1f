//! Messages over a connection of porous.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use bytes::Bytes;
use porous_proto::{Instant, Mode, Outcome, SendOptions};

use crate::carrier::Carrier;
use crate::endpoint::{Endpoint, MessageConfig};
use crate::error::Error;
use crate::serialize::Serialize;
use crate::shrink::shrink;

/// The longest tick that counts: a game that pauses once is not a slower game.
const LONGEST_TICK: Duration = Duration::from_millis(100);

/// The shortest time after which a packet that waits in the host is stale. As long as the default
/// [age](crate::MessageChannel::age) of unreliable messages.
const STALE: Duration = Duration::from_millis(100);

/// An [`Endpoint`] whose packets are unreliable packets of a `porous-proto` host, and whose acks are the
/// receipts of these.
///
/// The session works beside the driver of a host, and needs one channel of the host for its packets. The
/// channel should be [unordered](porous_proto::Channel::unordered): a packet that was overtaken is of as
/// much use as any other. Each end sends the [packets](Self::packets) of its session once a tick, hands in
/// the [packets](Self::receive_packet) of that channel and all [receipts](Self::receipt), and exchanges
/// messages by [`endpoint`](Self::endpoint).
///
/// The session writes no more packets than the host can send now. Messages that the connection cannot
/// carry yet wait, and go into later packets in the order of their priorities; when too many wait,
/// [`send`](Endpoint::send) returns [`Full`](crate::Reason::Full).
///
/// ```
/// use porous_message::{Carrier, MessageChannel, MessageConfig, Session};
/// use porous_proto::{Channel, ChannelId, Config, Event, Host, Instant, PeerId, Priority};
/// # use porous_proto::hooks::doc::{ExampleRng, example_pair};
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
///         // A refused packet is counted, and no reason to stop.
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
///     if let Some(carrier) = host.peer(peer).map(|peer| Carrier::of(peer, MESSAGES)) {
///         for (packet, options) in session.packets(now, carrier)? {
///             host.send(peer, MESSAGES, packet, options)?;
///         }
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
    /// The newest packets, from the oldest one without a receipt on.
    open: VecDeque<Open>,
    /// Bytes of the packets in `open`.
    open_bytes: u64,
    /// When the session was last asked for packets.
    asked: Option<Instant>,
    /// Bytes that waited in the host after that call, without those that the host has dropped since.
    left: u64,
    /// The most bytes that have left the host in a recent tick. Falls by an eighth each tick.
    pace: u64,
}

/// A packet that was written recently.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// The length of the packet; 0 once its receipt has come.
    bytes: u64,
    /// When the packet no longer counts as on its way, with or without a receipt.
    until: Instant,
}

impl<M: Serialize> Session<M> {
    /// A session with nothing sent yet. The tokens of its receipts count from 0.
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

    /// A session whose tokens of receipts count from `first`: for an application that sends other packets
    /// with receipts to the same peer.
    ///
    /// ```
    /// use porous_message::{MessageChannel, MessageConfig, Session};
    /// use porous_proto::Outcome;
    ///
    /// let config = MessageConfig::new(&[MessageChannel::reliable()])?;
    /// let mut session = Session::<u32>::with_tokens(config, 1 << 63);
    /// session.receipt(7, Outcome::Delivered); // of another packet
    /// assert_eq!(session.endpoint().stats().packets_acked, 0);
    /// # Ok::<(), porous_message::MessageConfigError>(())
    /// ```
    #[must_use]
    pub fn with_tokens(config: MessageConfig, first: u64) -> Self {
        Self {
            endpoint: Endpoint::new(config),
            token: first,
            open: VecDeque::new(),
            open_bytes: 0,
            asked: None,
            left: 0,
            pace: 0,
        }
    }

    /// The endpoint where messages are sent and received.
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

    /// The packets that the host can send now, and how to send them. To be called once a tick, also if
    /// no message waits; usually it returns one packet or none.
    ///
    /// There are at most two while one [waits](Carrier::waiting) in the host, and more only if the
    /// connection sends all of them within two ticks. A packet that
    /// waits in the host for longer than an acknowledgement takes, and longer than 100 ms, is stale: that
    /// time is its [time to live](SendOptions::ttl). A packet that the host does not take counts as lost.
    ///
    /// # Errors
    ///
    /// Those of [`Endpoint::write_packet`]. Packets that were written before count as lost.
    ///
    /// See [`Session`] for an example.
    ///
    /// ```
    /// # use porous_message::{Carrier, MessageChannel, MessageConfig, Session};
    /// # use porous_proto::{ChannelId, Instant, hooks::doc::example_pair};
    /// # let config = MessageConfig::new(&[MessageChannel::reliable()])?;
    /// # let mut session = Session::<u32>::new(config);
    /// # let (host, peer) = example_pair();
    /// # let carrier = Carrier::of(host.peer(peer).unwrap(), ChannelId(0));
    /// assert!(session.packets(Instant::ZERO, carrier)?.is_empty(), "nothing to say");
    /// session.endpoint().send(0, 7)?;
    /// assert_eq!(session.packets(Instant::ZERO, carrier)?.len(), 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn packets(
        &mut self,
        now: Instant,
        carrier: Carrier,
    ) -> Result<Vec<(Bytes, SendOptions)>, Error> {
        let asked = self.asked.replace(now).unwrap_or(now);
        let tick = now.saturating_duration_since(asked).min(LONGEST_TICK);
        // A packet may wait in the host for two ticks, and its receipt is only seen at the next tick.
        let patience = carrier.resend_timeout.max(2 * tick) + tick;
        self.endpoint.set_timeout(patience);
        self.forget_open(now);
        let waiting = self.look_at_waiting(&carrier, now);
        // A peak that decays: a tick in which little waited does not show how much the host could have sent.
        self.pace = (self.pace - self.pace / 8).max(self.left.saturating_sub(waiting));
        self.left = waiting;
        let mut room = self.room(tick, &carrier);
        let mut packets = Vec::new();
        while room > 0 {
            let Some((packet, options)) = self.packet(now, patience)? else {
                break;
            };
            let bytes = packet.len() as u64;
            room = room.saturating_sub(bytes);
            self.left += bytes;
            packets.push((packet, options));
        }
        Ok(packets)
    }

    /// Bytes of the packets that wait in the host. Tells the endpoint that these have not left, so that
    /// their time for an ack has not begun.
    fn look_at_waiting(&mut self, carrier: &Carrier, now: Instant) -> u64 {
        let packets = usize::try_from(carrier.waiting).unwrap_or(usize::MAX);
        // A host sends in order, so the packets that wait are the newest.
        let newest = self.open.iter().rev().take(packets);
        let mut waiting = 0;
        for (behind, open) in (1..).zip(newest) {
            waiting += open.bytes;
            let sequence = sequence(self.token.wrapping_sub(behind));
            self.endpoint.packet_waits(now, sequence);
        }
        waiting
    }

    /// Bytes to write in this tick: as many as the host sends in two ticks, or one packet if that is more,
    /// less those that wait in the host or are on their way beyond the congestion window. The last packet may
    /// exceed them.
    fn room(&self, tick: Duration, carrier: &Carrier) -> u64 {
        let (window, rtt) = (u128::from(carrier.window), carrier.rtt.as_micros().max(1));
        let of_window = u64::try_from(window * tick.as_micros() / rtt).unwrap_or(u64::MAX);
        // Two ticks, because a host that sends a little faster would have nothing to send before the next
        // one. As much as was sent recently, but no more than the congestion window allows.
        let of_two_ticks = 2 * self.pace.min(of_window);
        let one = self.endpoint.packet_size() as u64;
        let on_their_way = self.open_bytes.saturating_sub(carrier.window.into());
        of_two_ticks
            .max(one)
            .saturating_sub(self.left.max(on_their_way))
    }

    fn packet(
        &mut self,
        now: Instant,
        patience: Duration,
    ) -> Result<Option<(Bytes, SendOptions)>, Error> {
        let mut buffer = alloc::vec![0; self.endpoint.packet_size()];
        let sequence = sequence(self.token);
        let Some(packet) = self.endpoint.write_packet(now, sequence, &mut buffer)? else {
            return Ok(None);
        };
        let bytes = packet.len();
        buffer.truncate(bytes);
        let ttl = patience.max(STALE);
        let options = SendOptions::new(Mode::Unreliable)
            .receipt(self.token)
            .ttl(ttl);
        self.token = self.token.wrapping_add(1);
        let bytes = bytes as u64;
        self.open_bytes += bytes;
        self.open.push_back(Open {
            bytes,
            until: now + ttl + 2 * patience,
        });
        Ok(Some((buffer.into(), options)))
    }

    /// Forgets packets whose receipts have come or are overdue: they are not on their way.
    fn forget_open(&mut self, now: Instant) {
        let is_over = |open: &&Open| open.bytes == 0 || open.until <= now;
        while let Some(open) = self.open.front().filter(is_over) {
            self.open_bytes -= open.bytes;
            self.open.pop_front();
        }
        shrink(&mut self.open);
    }

    /// Takes a packet of the session's channel in.
    ///
    /// # Errors
    ///
    /// The packet is refused, and counted. The remote host takes it for arrived; nevertheless its reliable
    /// content comes again, a little later.
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

    /// Takes the receipt of a packet in. Receipts of packets that are not the session's are ignored.
    ///
    /// ```
    /// # use porous_message::{Carrier, MessageChannel, MessageConfig, Session};
    /// # use porous_proto::{ChannelId, Instant, Outcome, hooks::doc::example_pair};
    /// # let mut session = Session::new(MessageConfig::new(&[MessageChannel::reliable()])?);
    /// # let (host, peer) = example_pair();
    /// # let carrier = Carrier::of(host.peer(peer).unwrap(), ChannelId(0));
    /// session.endpoint().send(0, 7_u32)?;
    /// let packets = session.packets(Instant::ZERO, carrier)?;
    /// # drop(packets);
    /// session.receipt(0, Outcome::Delivered);
    /// assert_eq!(session.endpoint().stats().packets_acked, 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn receipt(&mut self, token: u64, outcome: Outcome) {
        let behind = self.token.wrapping_sub(token);
        // Tokens of other packets of the application, or so old that their numbers are used again.
        if !(1..=1 << 15).contains(&behind) {
            return;
        }
        let open = usize::try_from(behind).ok();
        // `open` ends with the newest packet, so a packet's distance from the next token is its distance
        // from the end.
        let open = open.and_then(|behind| self.open.len().checked_sub(behind));
        if let Some(open) = open.and_then(|position| self.open.get_mut(position)) {
            let bytes = core::mem::take(&mut open.bytes);
            self.open_bytes -= bytes;
            // The host dropped it before it left: it must not count as sent in `pace`.
            if matches!(outcome, Outcome::Expired | Outcome::Cancelled) {
                self.left = self.left.saturating_sub(bytes);
            }
        }
        if outcome == Outcome::Delivered {
            self.endpoint.packet_acked(sequence(token));
        } else {
            self.endpoint.packet_lost(sequence(token));
        }
    }
}

/// The number by which the endpoint knows the packet with this token.
const fn sequence(token: u64) -> u16 {
    let [low, high, ..] = token.to_le_bytes();
    u16::from_le_bytes([low, high])
}
