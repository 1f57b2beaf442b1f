//! The cap of a host on what it sends to all of its peers, as one of them sees it
//! (`docs/deviations.md` T28).

/// What the host says to the peer, and the peer to the host.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gate {
    /// No data may leave.
    is_shut: bool,
    /// Data waits for nothing but that.
    pub(crate) waits: bool,
    /// There was data in the last datagram.
    pub(crate) data: bool,
}

impl Gate {
    /// The peer is asked for a datagram.
    pub(crate) const fn ask(&mut self, is_shut: bool) {
        *self = Self {
            is_shut,
            waits: false,
            data: false,
        };
    }

    /// How long the next datagram with data may be, if it was this otherwise.
    pub(super) const fn limit(&self, otherwise: usize) -> usize {
        if self.is_shut { 0 } else { otherwise }
    }
}
