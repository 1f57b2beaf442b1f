//! The cap of a host on what it sends to all of its peers, as one of them sees it
//! (`docs/deviations.md` P11).

/// What the host says to the peer, and the peer to the host.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gate {
    /// No data may leave.
    pub(super) is_shut: bool,
    /// Data waits for nothing but that.
    pub(crate) waits: bool,
    /// There was data in the last datagram that could have waited: not only repeated in a probe, or
    /// copied where there was room.
    pub(crate) data: bool,
}

impl Gate {
    /// The peer is about to be asked for a datagram.
    pub(crate) const fn set_shut(&mut self, is_shut: bool) {
        self.is_shut = is_shut;
    }

    /// It is asked.
    pub(super) const fn ask(&mut self) {
        (self.waits, self.data) = (false, false);
    }

    /// How long the next datagram with data may be, if it was this otherwise.
    pub(super) const fn limit(&self, otherwise: usize) -> usize {
        if self.is_shut { 0 } else { otherwise }
    }
}
