//! What a proxy on the way to an address wants behind the end of each datagram, and removes: the token by
//! which Quilkin knows the server that a datagram is for.

use alloc::collections::BTreeMap;
use core::fmt;
use core::net::SocketAddr;

/// The most bytes of a suffix. A request of 1200 bytes with it is as long as the smallest packet that every path of
/// IPv6 carries: 1280 bytes less the headers of IPv6 and UDP (RFC 8200 §5).
const SUFFIX_MAX: usize = 32;

/// Why [`set_suffix`](crate::Endpoint::set_suffix) refused. Nothing has changed.
///
/// ```
/// use porous_udp::SuffixError;
///
/// assert!(SuffixError::TooLong.to_string().contains("32 bytes"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SuffixError {
    /// The suffix has more than 32 bytes.
    TooLong,
    /// A peer is connected at the address, or connects to it: the lengths of its datagrams are agreed on.
    Connected,
}

impl fmt::Display for SuffixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "the suffix is too long: shorten it to 32 bytes",
            Self::Connected => {
                "there is a peer at this address: set the suffix before connecting, or disconnect first"
            }
        })
    }
}

impl core::error::Error for SuffixError {}

/// The suffixes of datagrams, by the address that these go to. Without any, nothing is looked up.
#[derive(Debug, Default)]
pub(crate) struct Suffixes {
    /// None of them is empty.
    by_address: BTreeMap<SocketAddr, Box<[u8]>>,
    /// The length of the longest one that there was, in bytes.
    longest: u8,
}

impl Suffixes {
    /// Gives the datagrams to this address a suffix, or none if it is empty.
    pub(crate) fn set(&mut self, to: SocketAddr, suffix: &[u8]) -> Result<(), SuffixError> {
        let len = u8::try_from(suffix.len()).ok();
        let len = len.filter(|len| usize::from(*len) <= SUFFIX_MAX);
        let len = len.ok_or(SuffixError::TooLong)?;
        if len == 0 {
            self.by_address.remove(&to);
        } else {
            self.by_address.insert(to, suffix.into());
        }
        self.longest = self.longest.max(len);
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_address.is_empty()
    }

    /// Bytes that a datagram of this host may get, at most.
    pub(crate) fn longest(&self) -> usize {
        self.longest.into()
    }

    /// The most bytes that the datagrams to any of these addresses get.
    pub(crate) fn longest_of(&self, to: &[SocketAddr]) -> u8 {
        let lengths = to.iter().filter_map(|to| self.by_address.get(to));
        let longest = lengths.map(|suffix| suffix.len()).max().unwrap_or(0);
        u8::try_from(longest).unwrap_or(u8::MAX)
    }

    /// Appends what the address wants to the datagram of `len` bytes at the beginning of `room`. Returns its new
    /// length; `None` if it is too long for UDP then.
    pub(crate) fn append(&self, to: SocketAddr, room: &mut [u8], len: usize) -> Option<usize> {
        let Some(suffix) = self.by_address.get(&to) else {
            return Some(len);
        };
        let end = len + suffix.len();
        room.get_mut(len..end)?.copy_from_slice(suffix);
        Some(end)
    }
}
