//! What a packet is sent with, beside its bytes: the paper's mode (§3.2), and what goes beyond it.

use crate::frame::Mode;

/// More copies of a packet than these are not sent: three more transmissions of a packet that is
/// lost with a chance of 20 % leave one in 600.
const REDUNDANCY_MAX: u8 = 3;

/// How a packet is to be delivered. A [`Mode`] alone is one, too.
///
/// ```
/// use porous_proto::{ChannelId, Mode, SendOptions};
/// # use porous_proto::doc::example_pair;
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

    /// So many copies ride in the next datagrams, where these have bytes to spare, until one of
    /// them is acknowledged: a lost packet is there a datagram later, and not a round trip. 0 to 3,
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
}

impl From<Mode> for SendOptions {
    fn from(mode: Mode) -> Self {
        Self::new(mode)
    }
}
