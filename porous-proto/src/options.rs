//! What a packet is sent with, beside its bytes: the paper's mode (§3.2), and what goes beyond it.

use core::time::Duration;

use crate::frame::Mode;

/// More copies of a packet than these are not sent: three more transmissions of a packet that is
/// lost with a chance of 20 % leave one in 600.
const REDUNDANCY_MAX: u8 = 3;

/// How a packet is to be delivered. A [`Mode`] alone is one, too.
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
    pub(crate) redundancy: u8,
    pub(crate) ttl: Option<Duration>,
    pub(crate) receipt: Option<u64>,
    pub(crate) key: Option<u64>,
}

impl SendOptions {
    /// Nothing but the mode.
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
            redundancy: 0,
            ttl: None,
            receipt: None,
            key: None,
        }
    }

    /// The mode.
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

    /// The number of copies that ride in the next datagrams, where these have bytes to spare, until one
    /// of them is acknowledged: a lost packet is there a datagram later, and not a round trip. 0 to 3,
    /// more count as 3. Default 0.
    ///
    /// They are for small packets: copies take a quarter of a datagram at most, so of a packet that
    /// is larger (270 bytes, with datagrams of 1200) none are sent, and of one in fragments only a
    /// last one as short as that is copied. They never displace what is new, and never make a
    /// datagram of their own.
    ///
    /// ```
    /// use porous_proto::{Mode, SendOptions};
    ///
    /// let _shot = SendOptions::new(Mode::Reliable).redundancy(1);
    /// ```
    #[must_use]
    pub const fn redundancy(mut self, copies: u8) -> Self {
        self.redundancy = if copies < REDUNDANCY_MAX {
            copies
        } else {
            REDUNDANCY_MAX
        };
        self
    }

    /// The packet is of no use any more when it is older than this. If it still waits then, nothing
    /// of it is sent; if it has been sent in part, nothing else is; and what of it is lost is not
    /// sent again. What has arrived by then is delivered nevertheless. The others do not wait for
    /// it: a reliable packet that has expired is passed over.
    ///
    /// [`send`](crate::Host::send) is told no time: the age counts from when the host is
    /// [polled](crate::Host::poll_transmit) for the first time afterwards. Default: it lives for
    /// ever, or for [`Config::unreliable_age`](crate::Config::unreliable_age), which bounds that of
    /// unreliable packets anyway.
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

    /// An [`Event::Receipt`](crate::Event::Receipt) with this token tells what became of the packet.
    /// Tokens need not differ.
    ///
    /// Until that event is [polled](crate::Host::poll_event), the packet takes 64 bytes more of the
    /// [send budget](crate::Config::send_budget); and once the remote host has passed it, 192
    /// bytes until the last word is known.
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

    /// Only the latest packet with this key is of use: it replaces an older one of the same channel
    /// of which nothing has been sent yet, whose receipt is
    /// [`Cancelled`](crate::Outcome::Cancelled). As soon as it has left, nothing of those that were
    /// sent before is sent again, in whatever mode: one that is lost is given up, with the same
    /// receipt, and nobody waits for it any more. It does not wait for them itself. One that was sent
    /// and not lost is received as any other.
    ///
    /// It takes the place of the older one, so that what is updated more often than it can be sent
    /// is not put off for ever. So it may overtake packets of its channel that were sent in between.
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

impl From<Mode> for SendOptions {
    fn from(mode: Mode) -> Self {
        Self::new(mode)
    }
}
