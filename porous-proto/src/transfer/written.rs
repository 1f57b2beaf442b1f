//! A datagram that was written, and what its IP header is to say.

/// A datagram at the beginning of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) len: usize,
    /// Not every path carries so much: it must arrive whole or not at all.
    pub(crate) dont_fragment: bool,
}

impl Written {
    /// One that nothing is known of but its length.
    pub(crate) const fn plain(len: usize) -> Self {
        Self {
            len,
            dont_fragment: false,
        }
    }
}
