//! What two ends agree on, and what each end chooses for itself.

use alloc::vec::Vec;
use core::hash::Hasher as _;
use core::time::Duration;

use siphasher::sip::SipHasher13;

use super::check::{self, MessageConfigError};

/// The most messages of a queue or a window: few enough to tell old ids from new ones.
const IDS_MAX: u16 = 1 << 14;

/// The length of a packet in bytes that fits into one datagram of porous, whatever else the datagram
/// carries.
const PACKET: usize = 1100;

/// The longest packet in bytes, less than UDP carries.
const PACKET_MAX: usize = 65_000;

/// When a message goes into another packet, if no packet with it is known to have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resend {
    /// After this time. The articles use 100 ms.
    After(Duration),
    /// After five quarters of the round trip that was [set](super::Endpoint::set_rtt), at least 20 ms and
    /// at most a second; 100 ms until one is set. A [`Session`](crate::Session) sets the time by itself: a
    /// tick after the time at which its host would ask for an acknowledgement.
    ByRoundTrip,
}

/// One of the channels of an [`Endpoint`](super::Endpoint).
///
/// Its kind, window and blocks must be the same at both ends; each end chooses the rest on its own.
///
/// ```
/// use porous_message::MessageChannel;
///
/// let _events = MessageChannel::reliable().priority(2);
/// let _sounds = MessageChannel::unreliable().budget(200);
/// let _levels = MessageChannel::reliable().blocks(1 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageChannel {
    pub(super) is_reliable: bool,
    pub(super) priority: u8,
    pub(super) budget: usize,
    pub(super) queue: u16,
    pub(super) window: u16,
    pub(super) age: Duration,
    pub(super) max_block: u32,
    pub(super) fragment: u16,
    pub(super) block_window: u16,
}

impl MessageChannel {
    const fn new(is_reliable: bool) -> Self {
        Self {
            is_reliable,
            priority: 0,
            budget: usize::MAX,
            queue: 1024,
            window: 1024,
            age: Duration::from_millis(100),
            max_block: 0,
            fragment: 256,
            block_window: 4,
        }
    }

    /// Each message arrives once, and messages are received in the order in which they were sent.
    ///
    /// ```
    /// use porous_message::MessageChannel;
    ///
    /// let _chat = MessageChannel::reliable();
    /// ```
    #[must_use]
    pub const fn reliable() -> Self {
        Self::new(true)
    }

    /// Each message is in one packet, and arrives if the packet does.
    ///
    /// ```
    /// use porous_message::MessageChannel;
    ///
    /// let _sounds = MessageChannel::unreliable();
    /// ```
    #[must_use]
    pub const fn unreliable() -> Self {
        Self::new(false)
    }

    /// Channels of higher priority choose their part of a packet first; among equals, those that are
    /// declared first. A message that has found no room for 250 ms moves its channel before its equals.
    /// Default 0.
    ///
    /// ```
    /// use porous_message::MessageChannel;
    ///
    /// let _inputs = MessageChannel::unreliable().priority(9);
    /// ```
    #[must_use]
    pub const fn priority(mut self, priority: u8) -> Self {
        self.priority = priority;
        self
    }

    /// The most bytes of a packet that the channel takes, so that there is room for channels of lower
    /// priority. A longer message cannot be sent. Default: all that there is.
    ///
    /// ```
    /// use porous_message::MessageChannel;
    ///
    /// let _chat = MessageChannel::reliable().budget(300);
    /// ```
    #[must_use]
    pub const fn budget(mut self, bytes: usize) -> Self {
        self.budget = bytes;
        self
    }

    /// The most messages that wait to be sent or to be confirmed, and on an unreliable channel also the
    /// most that wait to be received. 1 to 16,384; other numbers become the nearest of these. Default 1024.
    ///
    /// ```
    /// use porous_message::MessageChannel;
    ///
    /// let _chat = MessageChannel::reliable().queue(64);
    /// ```
    #[must_use]
    pub const fn queue(mut self, messages: u16) -> Self {
        self.queue = clamp(messages);
        self
    }

    /// The most messages of a reliable channel that the receiver buffers: the sender sends none that is
    /// further ahead of the first one not received. 1 to 16,384, the same at both ends.
    /// Default 1024.
    ///
    /// ```
    /// use porous_message::MessageChannel;
    ///
    /// let _chat = MessageChannel::reliable().window(256);
    /// ```
    #[must_use]
    pub const fn window(mut self, messages: u16) -> Self {
        self.window = clamp(messages);
        self
    }

    /// The time that an unreliable message may wait for room in a packet, from the first packet after
    /// [`send`](super::Endpoint::send) on; then the message is not sent. With zero, the message goes into a
    /// packet of that instant or into none. Default 100 ms.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_message::MessageChannel;
    ///
    /// let _inputs = MessageChannel::unreliable().age(Duration::from_millis(30));
    /// ```
    #[must_use]
    pub const fn age(mut self, age: Duration) -> Self {
        self.age = age;
        self
    }

    /// A reliable channel also carries [blocks](super::Endpoint::send_block) of at most `max_bytes`
    /// bytes each, up to 16 MiB. An unreliable channel carries none. The same at both ends.
    /// Default 0: no blocks.
    ///
    /// A remote host can make this end keep `max_bytes` bytes for each block of the
    /// [window](Self::block_window).
    ///
    /// ```
    /// use porous_message::MessageChannel;
    ///
    /// let _levels = MessageChannel::reliable().blocks(256 * 1024);
    /// ```
    #[must_use]
    pub const fn blocks(mut self, max_bytes: u32) -> Self {
        self.max_block = if max_bytes < 1 << 24 {
            max_bytes
        } else {
            1 << 24
        };
        self
    }

    /// The length of the pieces in which blocks are sent, in bytes, at least 64: small pieces fit into
    /// the rest of a packet, large ones have fewer heads. A piece has to fit into a packet, and into
    /// the channel's [budget](Self::budget) of one. The same at both ends. Default 256.
    ///
    /// ```
    /// use porous_message::MessageChannel;
    ///
    /// let _levels = MessageChannel::reliable().blocks(1 << 20).fragment(1000);
    /// ```
    #[must_use]
    pub const fn fragment(mut self, bytes: u16) -> Self {
        self.fragment = if bytes > 64 { bytes } else { 64 };
        self
    }

    /// The most blocks on their way at once, 1 to 256. The same at both ends. Default 4.
    ///
    /// ```
    /// use porous_message::MessageChannel;
    ///
    /// let _levels = MessageChannel::reliable().blocks(1 << 20).block_window(1);
    /// ```
    #[must_use]
    pub const fn block_window(mut self, blocks: u16) -> Self {
        self.block_window = if blocks < 256 { blocks } else { 256 };
        if blocks == 0 {
            self.block_window = 1;
        }
        self
    }
}

const fn clamp(ids: u16) -> u16 {
    match ids {
        0 => 1,
        1..=IDS_MAX => ids,
        _ => IDS_MAX,
    }
}

/// How an [`Endpoint`](super::Endpoint) works.
///
/// ```
/// use porous_message::{MessageChannel, MessageConfig};
///
/// let channels = [MessageChannel::reliable(), MessageChannel::unreliable()];
/// let _config = MessageConfig::new(&channels)?.messages_per_packet(100);
/// # Ok::<(), porous_message::MessageConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageConfig {
    pub(super) channels: Vec<MessageChannel>,
    pub(super) packet: usize,
    pub(super) per_packet: u32,
    pub(super) resend: Resend,
}

impl MessageConfig {
    /// With these channels, in the same order at both ends, and packets of at most 1100 bytes, which
    /// fit into one datagram of porous each.
    ///
    /// # Errors
    ///
    /// [`MessageConfigError`], if the configuration could not work.
    ///
    /// ```
    /// use porous_message::{MessageChannel, MessageConfig, MessageConfigError};
    ///
    /// assert_eq!(MessageConfig::new(&[]), Err(MessageConfigError::Channels));
    /// let levels = MessageChannel::reliable().blocks(1 << 20).fragment(1100);
    /// assert_eq!(MessageConfig::new(&[levels]), Err(MessageConfigError::Fragment { channel: 0 }));
    /// ```
    pub fn new(channels: &[MessageChannel]) -> Result<Self, MessageConfigError> {
        Self::with_packet(channels, PACKET)
    }

    /// With these channels, and packets of at most `bytes` bytes, of which 65,000 are used at most.
    ///
    /// # Errors
    ///
    /// [`MessageConfigError`], if the configuration could not work: packets are too short for what the
    /// channels say in each packet, or for a piece of a block.
    ///
    /// ```
    /// use porous_message::{MessageChannel, MessageConfig, MessageConfigError};
    ///
    /// let channels = [MessageChannel::reliable().blocks(1 << 20); 8];
    /// assert!(MessageConfig::with_packet(&channels, 500).is_ok());
    /// let too_short = MessageConfig::with_packet(&channels, 16);
    /// assert_eq!(too_short, Err(MessageConfigError::Packet));
    /// ```
    pub fn with_packet(
        channels: &[MessageChannel],
        bytes: usize,
    ) -> Result<Self, MessageConfigError> {
        let packet = bytes.min(PACKET_MAX);
        check::check(channels, packet)?;
        Ok(Self {
            channels: channels.to_vec(),
            packet,
            per_packet: 256,
            resend: Resend::ByRoundTrip,
        })
    }

    /// A number that differs if the two ends do not agree on their channels, windows, blocks and
    /// messages in a packet. As a part of [`application_id`](porous_proto::Config::application_id), it
    /// lets a host refuse a remote host that it could not understand. It does not cover the types of
    /// messages: add a version of these. The same on every machine.
    ///
    /// ```
    /// use porous_message::{MessageChannel, MessageConfig};
    /// use porous_proto::Config;
    ///
    /// const MESSAGES_VERSION: u64 = 3;
    ///
    /// let messages = MessageConfig::new(&[MessageChannel::reliable()])?;
    /// let id = 0x6d79_6761_6d65 + MESSAGES_VERSION;
    /// let _config = Config::new().application_id(id ^ messages.fingerprint());
    /// # Ok::<(), porous_message::MessageConfigError>(())
    /// ```
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = SipHasher13::new();
        hasher.write(&self.per_packet.to_le_bytes());
        for channel in &self.channels {
            hasher.write(&[u8::from(channel.is_reliable)]);
            hasher.write(&channel.window.to_le_bytes());
            hasher.write(&channel.max_block.to_le_bytes());
            hasher.write(&channel.fragment.to_le_bytes());
            hasher.write(&channel.block_window.to_le_bytes());
        }
        hasher.finish()
    }

    /// The most messages and pieces of blocks in a packet, at least 1. The same at both ends.
    /// Default 256.
    ///
    /// ```
    /// # use porous_message::{MessageChannel, MessageConfig};
    /// # let config = MessageConfig::new(&[MessageChannel::reliable()])?;
    /// let _config = config.messages_per_packet(32);
    /// # Ok::<(), porous_message::MessageConfigError>(())
    /// ```
    #[must_use]
    pub fn messages_per_packet(mut self, messages: u32) -> Self {
        self.per_packet = messages.max(1);
        self
    }

    /// When a message is sent again. Default: by the round trip.
    ///
    /// ```
    /// use core::time::Duration;
    /// # use porous_message::{MessageChannel, MessageConfig};
    /// use porous_message::Resend;
    ///
    /// # let config = MessageConfig::new(&[MessageChannel::reliable()])?;
    /// let after = Duration::from_millis(100);
    /// let _config = config.resend(Resend::After(after));
    /// # Ok::<(), porous_message::MessageConfigError>(())
    /// ```
    #[must_use]
    pub const fn resend(mut self, resend: Resend) -> Self {
        self.resend = resend;
        self
    }
}
