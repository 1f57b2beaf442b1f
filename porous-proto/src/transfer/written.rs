//! A datagram that was written, and what its IP header is to say.

use crate::event::Ecn;

/// A datagram at the beginning of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) len: usize,
    pub(crate) ecn: Ecn,
    /// Not every path carries so much: it must arrive whole or not at all.
    pub(crate) dont_fragment: bool,
}

impl Written {
    /// One that nothing is known of but its length.
    pub(crate) const fn plain(len: usize) -> Self {
        Self {
            len,
            ecn: Ecn::NotEct,
            dont_fragment: false,
        }
    }
}
