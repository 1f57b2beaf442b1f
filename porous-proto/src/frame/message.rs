//! The messages inside a data frame (§3.1, §3.2): packets, fragments of packets, and control.

use core::num::NonZeroU32;

/// The largest number of messages in one frame. It bounds the work that a datagram can cause, and
/// keeps packet ids unambiguous (`docs/wire.md`, "Packet ids").
pub(crate) const MAX_MESSAGES: usize = 128;

/// The three ways a packet can be delivered (§2.4). Packets of one channel are delivered in the
/// order they were sent, whatever their mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Sent once: it may arrive, or not.
    Unreliable,
    /// Sent until it arrives: the channel waits for it.
    Reliable,
    /// Sent until it arrives, but the channel does not wait: if a later packet was delivered
    /// first, it is skipped, and not sent again. So it is sure to arrive only while nothing is sent
    /// after it on its channel: a large one beside small packets is skipped most of the time. It is not
    /// where it has a channel of its own, or where the receiver's channel is
    /// [unordered](crate::Channel::unordered) and little else is sent on it.
    Passive,
}

/// A message: what channel objects and the transfer layer exchange (§3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message<P> {
    /// A whole packet, or a fragment of one.
    Packet(Packet<P>),
    /// Signalling.
    Control(Control),
}

impl<P> Message<P> {
    /// It is sent until it arrives. Other packets are sent once, and signalling that is lost is said anew,
    /// as it is then.
    pub(crate) const fn is_reliable(&self) -> bool {
        match self {
            Self::Packet(packet) => !matches!(packet.mode, Mode::Unreliable),
            Self::Control(control) => {
                matches!(control, Control::Sentinel(_) | Control::Tombstone(_))
            }
        }
    }
}

/// A packet or a fragment of one. `P` is the payload: borrowed when decoded, shared when sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet<P> {
    pub(crate) mode: Mode,
    pub(crate) channel: u8,
    /// The low 16 or 24 bits of the packet's sequence id (Y of (16) and (17)).
    pub(crate) id: u32,
    /// Distance to the reliable packet that must be delivered before, 0 for none (§3.2.3).
    pub(crate) dependency: u16,
    /// `None`: the packet is whole.
    pub(crate) fragment: Option<Fragment>,
    /// Its sender wants to be told what becomes of it, and has not seen [`Control::Fates`] yet.
    pub(crate) receipt: bool,
    pub(crate) payload: P,
}

/// No fragment is shorter, but for the end of a packet (`docs/wire.md`, "Messages").
pub(crate) const LEAST_FRAGMENT: usize = 256;

/// Which part of a packet a fragment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    /// Where its first byte stands in the packet.
    pub(crate) offset: u32,
    len: NonZeroU32,
}

impl Fragment {
    /// None of a packet of no bytes.
    pub(crate) const fn new(offset: u32, len: u32) -> Option<Self> {
        match NonZeroU32::new(len) {
            Some(len) => Some(Self { offset, len }),
            None => None,
        }
    }

    /// The length of the whole packet.
    pub(crate) const fn len(self) -> u32 {
        self.len.get()
    }
}

impl<P: AsRef<[u8]>> Packet<P> {
    /// Where the first of these bytes stands in the packet, and how long that is.
    pub(crate) fn part(&self) -> (u32, u32) {
        match self.fragment {
            Some(fragment) => (fragment.offset, fragment.len()),
            // Packets are at most 2^32 - 1 bytes long by `Config`.
            None => (
                0,
                u32::try_from(self.payload.as_ref().len()).unwrap_or(u32::MAX),
            ),
        }
    }
}

/// What became of packets in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fates {
    /// How many packets there are: 1 to 64.
    pub(crate) count: u8,
    /// No packet before them that its sender wants a receipt of was given to the application.
    pub(crate) first: bool,
    /// The bit of a packet that was not given to the application is 1, the lowest is that of the oldest;
    /// those beyond the count are 0.
    pub(crate) skipped: u64,
}

impl Fates {
    /// The most packets in a message.
    pub(crate) const MAX: u8 = 64;

    /// The bytes of a message that the bits take.
    pub(super) const fn bytes(count: u8) -> u8 {
        count.div_ceil(8)
    }

    /// The bits that a packet has.
    pub(crate) const fn mask(count: u8) -> u64 {
        match count {
            0 => 0,
            count => u64::MAX >> Self::MAX.saturating_sub(count),
        }
    }
}

/// What stands in the order of a channel in the place of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    pub(crate) channel: u8,
    /// Low 16 or 24 bits, as in [`Packet::id`].
    pub(crate) id: u32,
    pub(crate) dependency: u32,
}

/// Signalling messages. Packet ids are low 16 or 24 bits as in [`Packet::id`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// Nothing: a sentinel frame (4).
    Noop,
    /// Asks for a pong with the same id (§3.1.3).
    Ping(u16),
    /// The answer to a ping.
    Pong(u16),
    /// Window acknowledgement (§3.2.1): the receive window has passed the packet whose id has
    /// these low 32 bits.
    Window { channel: u8, id: u32 },
    /// Sentinel packet (§3.2.2).
    Sentinel(Marker),
    /// Stands for a cancelled reliable packet: consumed as empty.
    Tombstone(Marker),
    /// The sender's new limit for what it wants to receive, in bytes a second; the newest serial
    /// counts.
    Limits { serial: u16, receive_rate: u32 },
    /// Asks for the same eight bytes back.
    PathChallenge(u64),
    /// The answer to a path challenge.
    PathResponse(u64),
    /// Asks how far the receiver of this message has come on a channel.
    Ask { channel: u8, number: u16 },
    /// The answer to a question with this number: the low 32 bits of the id that its sender's next packet
    /// gets.
    Told { channel: u8, number: u16, next: u32 },
    /// A window acknowledgement that tells what became of the last packets that it passes.
    Fates { channel: u8, id: u32, fates: Fates },
}
