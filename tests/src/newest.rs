//! What a peer that is no host knows of the ids of frames, in full (`docs/wire.md`, "Frame ids").

use porous_proto::Address;

use crate::remote::Remote;

/// How far behind `id` the newest id is that has these low bytes.
#[must_use]
pub const fn behind(id: u32, low: u32, width: u8) -> u32 {
    id.wrapping_sub(low) & u32::MAX >> (32 - 8 * width as u32)
}

impl<A: Address + Into<u64>> Remote<A> {
    /// Learns from a datagram of the host which frame is its newest, in full: it is no older than
    /// what was acknowledged, which was heard.
    pub fn hear_in_full(&mut self, datagram: &[u8]) {
        let (before, _) = self.newest;
        self.hear(datagram);
        let (low, width) = self.newest;
        let edge = before.wrapping_add(1 << (8 * u32::from(width) - 2));
        self.newest = (edge.wrapping_sub(behind(edge, low, width)), width);
    }
}
