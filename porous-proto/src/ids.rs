//! What names hosts, peers and channels.

use core::fmt::{self, Debug};
use core::hash::Hash;
use core::num::NonZeroU32;

/// What names a remote host: `SocketAddr`, smoltcp's `IpEndpoint`, a number, a lobby handle.
///
/// It should hash the same on every machine for a cookie to be the same: integers do.
pub trait Address: Copy + Ord + Hash + Debug {}

impl<T: Copy + Ord + Hash + Debug> Address for T {}

/// Names a peer of a host. The name of a peer that has ended is never given to another.
///
/// ```
/// use porous_proto::PeerId;
///
/// assert_eq!(size_of::<Option<PeerId>>(), size_of::<u64>());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId {
    /// Never 0, so that no name is 0 as a number.
    pub(crate) generation: NonZeroU32,
    pub(crate) slot: Slot,
}

impl PeerId {
    /// As a number, for a foreign interface: never 0, so that 0 can stand for nobody there.
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

    /// From a number made by [`to_u64`](Self::to_u64). `None` for 0 and whatever else is below 2³²,
    /// which no peer is ever called; any other number is a name, if not of a peer.
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
        match NonZeroU32::new((n >> 32) as u32) {
            Some(generation) => Some(Self {
                generation,
                slot: Slot(n as u32),
            }),
            None => None,
        }
    }
}

/// The number of a row of a host's table, which peers have one after the other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Slot(u32);

/// The number alone, as names of peers show it.
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

/// A channel of a connection (§3.2): 0 to one less than [`Peer::channels`](crate::Peer::channels).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelId(
    /// Its number.
    pub u8,
);

impl From<u8> for ChannelId {
    fn from(number: u8) -> Self {
        Self(number)
    }
}
