//! The messages of a frame: packets, fragments of packets, and control (§3.1, §3.2).

use core::num::NonZeroU32;

/// The most messages of a frame. It bounds the work that a datagram can cause, and keeps packet ids
/// unambiguous (`docs/wire.md`, "Packet ids").
pub(crate) const MAX_MESSAGES: usize = 128;

/// How hard a host tries to deliver a packet. Packets of one channel are delivered in the order they were
/// sent, whatever their mode, unless the receiver's channel is [unordered](crate::Channel::unordered) (§2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Sent once: it may arrive, or not. On an ordered channel it is skipped if it arrives after a later
    /// packet was delivered.
    Unreliable,
    /// Sent until it arrives, unless the connection ends or the application gives the packet up by its
    /// [options](crate::SendOptions). On an ordered channel packets that were sent after it wait for it.
    Reliable,
    /// Sent until it arrives, but the channel does not wait: once a later packet was delivered, this one is
    /// skipped, and not sent again. So it is sure to arrive only if no later packet is sent on its channel: a
    /// large one beside small packets is skipped most of the time. Give it a channel of its own, or send
    /// little else on one that the receiver has as [unordered](crate::Channel::unordered).
    Passive,
}

/// A message: what channels and the transfer layer exchange (§3).
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
            // A passive packet is sent again like a reliable one, until its receiver has passed it.
            Self::Packet(packet) => !matches!(packet.mode, Mode::Unreliable),
            Self::Control(control) => {
                matches!(control, Control::Sentinel(_) | Control::Tombstone(_))
            }
        }
    }

    /// Whether a frame with this message asks for an acknowledgement.
    pub(crate) const fn is_eliciting(&self) -> bool {
        // A pong that is lost is missed by the host that has pinged, which pings again: its sender need not
        // know (`docs/deviations.md` T27).
        !matches!(self, Self::Control(Control::Pong(_)))
    }
}

/// A packet or a fragment of one. `P` is the payload: borrowed from the datagram when received, shared with
/// the packet when sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet<P> {
    pub(crate) mode: Mode,
    pub(crate) channel: u8,
    /// The low 16 or 24 bits of the packet's sequence id (Y of (16) and (17)).
    pub(crate) id: u32,
    /// Distance in ids to the reliable packet that must be delivered before; 0 if there is none (§3.2.3).
    pub(crate) dependency: u16,
    /// `None` if the message is the whole packet.
    pub(crate) fragment: Option<Fragment>,
    /// True if the sender wants to be told what becomes of the packet, and no [`Control::Fates`] has come
    /// yet.
    pub(crate) receipt: bool,
    /// The bytes of the packet, or of the fragment.
    pub(crate) payload: P,
}

/// The shortest fragment in bytes, except that which ends its packet (`docs/wire.md`, "Messages").
pub(crate) const LEAST_FRAGMENT: usize = 256;

/// The part of a packet that a fragment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    /// The place of its first byte in the packet.
    pub(crate) offset: u32,
    len: NonZeroU32,
}

impl Fragment {
    /// `None` if `len`, the length of the packet, is 0: an empty packet has no fragments.
    pub(crate) const fn new(offset: u32, len: u32) -> Option<Self> {
        match NonZeroU32::new(len) {
            Some(len) => Some(Self { offset, len }),
            None => None,
        }
    }

    /// The length of the whole packet, in bytes.
    pub(crate) const fn len(self) -> u32 {
        self.len.get()
    }
}

/// A payload whose length is known, also where its bytes are not at hand.
pub(crate) trait Length {
    /// In bytes.
    fn length(&self) -> usize;
}

impl<P: AsRef<[u8]>> Length for P {
    fn length(&self) -> usize {
        self.as_ref().len()
    }
}

impl<P> Packet<P> {
    /// The same with another payload.
    pub(crate) fn with<Q>(&self, payload: Q) -> Packet<Q> {
        Packet {
            mode: self.mode,
            channel: self.channel,
            id: self.id,
            dependency: self.dependency,
            fragment: self.fragment,
            receipt: self.receipt,
            payload,
        }
    }
}

impl<P: Length> Packet<P> {
    /// The place of the message's first byte in its packet, and the length of the packet.
    pub(crate) fn part(&self) -> (u32, u32) {
        match self.fragment {
            Some(fragment) => (fragment.offset, fragment.len()),
            // Packets are at most 2^32 - 1 bytes long by `Config`.
            None => (0, u32::try_from(self.payload.length()).unwrap_or(u32::MAX)),
        }
    }

    /// Whether the message is a fragment that does not end its packet.
    pub(crate) fn goes_on(&self) -> bool {
        let (offset, len) = self.part();
        (offset as usize).saturating_add(self.payload.length()) < len as usize
    }
}

/// What became of packets in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fates {
    /// The number of packets, 1 to 64.
    pub(crate) count: u8,
    /// True if no packet before them that its sender wants a receipt of was given to the application.
    pub(crate) first: bool,
    /// A bit for each packet, the lowest for the oldest: 1 if the packet was not given to the application.
    /// Bits beyond the count are 0.
    pub(crate) skipped: u64,
}

impl Fates {
    /// The most packets in a message.
    pub(crate) const MAX: u8 = 64;

    /// Bytes of a message that the bits of this number of packets take.
    pub(super) const fn bytes(count: u8) -> u8 {
        count.div_ceil(8)
    }

    /// The lowest `count` bits.
    pub(crate) const fn mask(count: u8) -> u64 {
        match count {
            // A shift by all 64 bits would overflow.
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

/// Signalling messages. Packet ids are the low 16 or 24 bits, as in [`Packet::id`], if nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// Says nothing: it only lets a frame be acknowledged, as a sentinel frame (4).
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
    /// Stands for a reliable or passive packet that was given up: consumed as empty, and not delivered.
    Tombstone(Marker),
    /// The sender's new limit for what it wants to receive, in bytes a second. Of several the newest serial
    /// counts.
    Limits { serial: u16, receive_rate: u32 },
    /// Asks for the same eight bytes back.
    PathChallenge(u64),
    /// The answer to a path challenge.
    PathResponse(u64),
    /// Asks which packet the receiver of this message begins next on a channel.
    Ask { channel: u8, number: u16 },
    /// The answer to the question with this number: the low 32 bits of the id that the next packet on the
    /// channel gets.
    Told { channel: u8, number: u16, next: u32 },
    /// A window acknowledgement of the packet with these low 32 bits that tells what became of it and of
    /// those before it.
    Fates { channel: u8, id: u32, fates: Fates },
}
