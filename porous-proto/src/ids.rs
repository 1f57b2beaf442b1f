//! The names of hosts, peers and channels.

use core::fmt::{self, Debug};
use core::hash::Hash;
use core::num::NonZeroU32;

/// How a driver names a remote host: by a `SocketAddr`, smoltcp's `IpEndpoint`, a number, a lobby handle.
///
/// An address should hash the same on every machine, as integers do: a host then makes the same cookies
/// everywhere.
pub trait Address: Copy + Ord + Hash + Debug {}

impl<T: Copy + Ord + Hash + Debug> Address for T {}

/// Names a peer of a host. The name of a peer that has ended is not given to another one before 2³² - 1
/// peers have had the same slot.
///
/// ```
/// use porous_proto::PeerId;
///
/// assert_eq!(size_of::<Option<PeerId>>(), size_of::<u64>());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId {
    /// The turn of the slot. Never 0, so that no name is 0 as a number.
    pub(crate) generation: NonZeroU32,
    pub(crate) slot: Slot,
}

impl PeerId {
    /// The name as a number, for a foreign interface: never 0, which can stand for no peer there.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// let (_host, peer) = example_pair();
    /// assert_ne!(peer.to_u64(), 0);
    /// ```
    #[must_use]
    pub const fn to_u64(self) -> u64 {
        (self.generation.get() as u64) << 32 | self.slot.0 as u64
    }

    /// The name from a number that [`to_u64`](Self::to_u64) has made. `None` for numbers below 2³², which
    /// name no peer. Any other number is a name, though there may be no such peer.
    ///
    /// ```
    /// use porous_proto::PeerId;
    ///
    /// assert_eq!(PeerId::from_u64(7 << 32 | 3).map(PeerId::to_u64), Some(7 << 32 | 3));
    /// assert_eq!(PeerId::from_u64(0), None);
    /// ```
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    pub const fn from_u64(n: u64) -> Option<Self> {
        // A `const fn` has no `?`.
        match NonZeroU32::new((n >> 32) as u32) {
            Some(generation) => Some(Self {
                generation,
                slot: Slot(n as u32),
            }),
            None => None,
        }
    }
}

/// The number of the peer's slot, and the turn of this slot, for logs: the first peer of slot 3 is `3#1`.
///
/// ```
/// use porous_proto::PeerId;
///
/// let peer = PeerId::from_u64(1 << 32 | 3).unwrap();
/// assert_eq!(peer.to_string(), "3#1");
/// ```
impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.slot.0, self.generation)
    }
}

/// The number of a row in a host's table of peers. A row has one peer after the other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Slot(u32);

/// Shows the number alone, as in names of peers.
impl Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Slot {
    pub(crate) const fn new(number: u32) -> Self {
        Self(number)
    }

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A channel of a connection: 0 to one less than [`Peer::channels`](crate::Peer::channels) (§3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelId(
    /// The number of the channel.
    pub u8,
);

impl From<u8> for ChannelId {
    fn from(number: u8) -> Self {
        Self(number)
    }
}

/// The number of the channel.
impl fmt::Display for ChannelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
