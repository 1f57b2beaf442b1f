//! A remote host that is elsewhere, or says so: what its peer has to do with it. Where it is, only
//! the host knows (`docs/wire.md`, "Roaming").

use core::time::Duration;

use super::{Cause, Peer, PeerState};
use crate::event::DisconnectReason;
use crate::frame::Control;
use crate::time::Instant;
use crate::transfer::{Narrowed, Written};

impl Peer {
    /// The remote host asks whether we are where it sends to.
    pub(crate) fn answer_challenge(&mut self, data: u64, now: Instant) {
        if let Some(session) = &mut self.session {
            session.answer_challenge(data, now);
        }
    }

    /// T_rto (7), or the time after which the modern rules probe.
    pub(crate) fn resend_timeout(&self) -> Duration {
        let session = self.session.as_ref();
        session.map_or(Duration::ZERO, |session| {
            session.transfer().resend_timeout()
        })
    }

    /// The path carries less than it did, or too little.
    pub(super) fn on_narrowed(&mut self, narrowed: Narrowed, now: Instant) {
        match narrowed {
            Narrowed::To(bytes) => self.outbox.narrowed = Some(bytes),
            Narrowed::TooFar => self.end(Cause::TimedOut, DisconnectReason::PathTooNarrow, now),
        }
    }

    /// Writes a datagram with these words and nothing else, for another address than the peer's.
    /// `None` if the buffer has no room for it, or if there is no connection.
    pub(crate) fn write_path_words(
        &mut self,
        words: &[Control],
        now: Instant,
        buf: &mut [u8],
    ) -> Option<Written> {
        let session = self.session.as_mut();
        let session = session.filter(|_| self.state == PeerState::Connected)?;
        let written = session.write_path_words(words, now, buf).ok().flatten()?;
        self.count_sent(written.len, now);
        Some(written)
    }

    /// The remote host has moved, and has proved it. `same_host`: only its port is another.
    pub(crate) fn on_moved(&mut self, same_host: bool, now: Instant) {
        if let Some(session) = &mut self.session {
            session.on_moved(same_host, now);
        }
    }
}
