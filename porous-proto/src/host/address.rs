//! How drivers name remote hosts, and applications name channels.

use core::fmt::Debug;
use core::hash::Hash;

/// What names a remote host: `SocketAddr`, smoltcp's `IpEndpoint`, a number, a lobby handle.
///
/// It should hash the same on every machine for a cookie to be the same: integers do.
pub trait Address: Copy + Ord + Hash + Debug {}

impl<T: Copy + Ord + Hash + Debug> Address for T {}

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
