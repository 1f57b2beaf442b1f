//! How a packet is sent: with the paper's mode, and with options that go beyond it (§3.2).

use core::time::Duration;

use crate::frame::Mode;

/// The most copies of a packet. With three, a network that loses a fifth of all datagrams loses all four
/// of one packet in 600.
const REDUNDANCY_MAX: u8 = 3;

/// How a packet is delivered. A [`Mode`] alone stands for options that have nothing but the mode.
///
/// ```
/// use porous_proto::{ChannelId, Mode, SendOptions};
/// # use porous_proto::hooks::doc::example_pair;
///
/// # let (mut host, peer) = example_pair();
/// let shot = SendOptions::new(Mode::Reliable).redundancy(1);
/// host.send(peer, ChannelId(0), &b"bang"[..], shot)?;
/// # Ok::<(), porous_proto::SendError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendOptions {
    pub(crate) mode: Mode,
    pub(crate) redundancy: CopyCount,
    pub(crate) ttl: Option<Duration>,
    pub(crate) receipt: Option<u64>,
    pub(crate) key: Option<u64>,
}

impl SendOptions {
    /// Options that have nothing but the mode.
    ///
    /// ```
    /// use porous_proto::{Mode, SendOptions};
    ///
    /// assert_eq!(SendOptions::new(Mode::Reliable), Mode::Reliable.into());
    /// ```
    #[must_use]
    pub const fn new(mode: Mode) -> Self {
        Self {
            mode,
            redundancy: CopyCount::BY_HOST,
            ttl: None,
            receipt: None,
            key: None,
        }
    }

    /// The delivery mode.
    ///
    /// ```
    /// use porous_proto::{Mode, SendOptions};
    ///
    /// assert_eq!(SendOptions::new(Mode::Passive).mode(), Mode::Passive);
    /// ```
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// The number of copies of the packet that ride in the next datagrams, where these have bytes to
    /// spare, until one of them is acknowledged. A lost packet then arrives a datagram later, and not a
    /// round trip. 0 to 3; more count as 3.
    ///
    /// By default the host decides. While more than half a percent of the last few hundred datagrams with
    /// data to this peer were lost, reliable packets of up to 64 bytes get a copy, above 10 % two, and
    /// above 20 % three. These copies are a sixteenth of the bytes that are sent at most, so that events
    /// among other packets are copied, and few packets of a flow that has no others. None are made under
    /// [`Policy::Paper`](crate::Policy::Paper). 0 asks for no copies, whatever is lost.
    ///
    /// Copies are for small packets. They take a quarter of a datagram at most: a packet that is longer
    /// than that (270 bytes, with datagrams of 1200) is not copied, and of a packet in fragments only the
    /// last one is, if it is as short. Copies never displace new data, and never make a datagram of
    /// their own.
    ///
    /// ```
    /// use porous_proto::{Mode, SendOptions};
    ///
    /// let _shot = SendOptions::new(Mode::Reliable).redundancy(1);
    /// ```
    #[must_use]
    pub const fn redundancy(mut self, copies: u8) -> Self {
        // `Ord::min` is no `const fn`.
        self.redundancy = CopyCount::fixed(if copies < REDUNDANCY_MAX {
            copies
        } else {
            REDUNDANCY_MAX
        });
        self
    }

    /// The age at which the packet is of no more use. From then on nothing of it is sent, neither for the
    /// first time nor again. A packet that has arrived by then is delivered. Later packets do not wait
    /// for one that has expired, even if it is reliable.
    ///
    /// [`send`](crate::Host::send) is told no time: the age counts from when the host is
    /// [polled](crate::Host::poll_transmit) for the first time afterwards. Default: it lives for
    /// ever, or for [`Config::unreliable_age`](crate::Config::unreliable_age), which always bounds the
    /// age of unreliable packets.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::{Mode, SendOptions};
    ///
    /// let _hint = SendOptions::new(Mode::Reliable).ttl(Duration::from_millis(500));
    /// ```
    #[must_use]
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Has an [`Event::Receipt`](crate::Event::Receipt) with this token tell what became of the packet.
    /// Several packets may have one token. By default there is no receipt.
    ///
    /// Until that event is [polled](crate::Host::poll_event), the packet takes 64 bytes more of the
    /// [send budget](crate::Config::send_budget). Once the remote host has passed the packet, it takes
    /// 192 bytes until its last word is known.
    ///
    /// ```
    /// use porous_proto::{Mode, SendOptions};
    ///
    /// let snapshot = 4711;
    /// let _state = SendOptions::new(Mode::Unreliable).receipt(snapshot);
    /// ```
    #[must_use]
    pub const fn receipt(mut self, token: u64) -> Self {
        self.receipt = Some(token);
        self
    }

    /// Says that only the newest packet with this key is of use, as where each tells the whole state of one
    /// thing. A new packet replaces an older one of the same channel with the same key, if nothing of
    /// that one has been sent yet; its receipt is [`Cancelled`](crate::Outcome::Cancelled). By default
    /// a packet has no key.
    ///
    /// As soon as the new packet has left, nothing of older ones with its key is sent again, in whatever
    /// mode. One that is lost is given up, with the same receipt, and no packet waits for it any more. The new one
    /// never waits for it if it directly follows it on its channel; with packets in between, all wait until the loss is
    /// known. One that was sent and not lost is received as any other.
    ///
    /// The new packet takes the place of the one that it replaces: a state that changes more often than
    /// it can be sent would otherwise be put off for ever. So it may overtake packets of its channel that
    /// were sent in between.
    ///
    /// ```
    /// use porous_proto::{Mode, SendOptions};
    ///
    /// let tank = 17;
    /// let _state = SendOptions::new(Mode::Reliable).key(tank);
    /// ```
    #[must_use]
    pub const fn key(mut self, key: u64) -> Self {
        self.key = Some(key);
        self
    }
}

/// The number of copies of a packet or a message. One byte, where an option of a number has two: these travel
/// with each message, and would take 20 instructions of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CopyCount(u8);

impl CopyCount {
    /// The host decides, by the loss that it measures.
    pub(crate) const BY_HOST: Self = Self(u8::MAX);
    pub(crate) const NONE: Self = Self(0);

    /// `copies` is less than 255.
    pub(crate) const fn fixed(copies: u8) -> Self {
        Self(copies)
    }

    /// The number that was asked for; `None` if the host decides.
    #[inline]
    pub(crate) fn get(self) -> Option<u8> {
        (self != Self::BY_HOST).then_some(self.0)
    }
}

impl From<Mode> for SendOptions {
    fn from(mode: Mode) -> Self {
        Self::new(mode)
    }
}
