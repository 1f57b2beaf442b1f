//! §2.4: packets in and out, and what the application is told.

use super::session::{Session, send_cost};
use super::{News, Peer, PeerState};
use crate::ChannelId;
use crate::error::SendError;
use crate::event::Received;
use crate::frame::Mode;
use crate::time::Instant;

impl Peer {
    /// Queues a packet (§2.4), if the send budget has room (`deviations.md` T8).
    pub(crate) fn send(
        &mut self,
        channel: ChannelId,
        packet: bytes::Bytes,
        mode: Mode,
    ) -> Result<(), SendError> {
        match self.state {
            PeerState::Connecting => return Err(SendError::NotConnected),
            PeerState::Connected if self.closing.is_none() => {}
            PeerState::Connected | PeerState::Disconnecting => {
                return Err(SendError::Disconnecting);
            }
            PeerState::Disconnected | PeerState::Zombie => return Err(SendError::UnknownPeer),
        }
        let session = self.session.as_mut().ok_or(SendError::NotConnected)?;
        if channel.0 >= session.agreement().channels {
            return Err(SendError::UnknownChannel);
        }
        if packet.len() as u64 > u64::from(session.agreement().max_packet) {
            return Err(SendError::TooLarge);
        }
        let queued = session.queued();
        if queued > 0 && queued + send_cost(packet.len()) > self.limits.send_budget {
            self.outbox.writable_owed = true;
            return Err(SendError::Full);
        }
        session.send(channel.0, packet, mode);
        Ok(())
    }

    /// Whether the peer came to its end while a datagram was written.
    pub(crate) const fn has_ended(&self) -> bool {
        self.outbox.ended.is_some()
    }

    /// Consumes the next packet that can be delivered (§3.2.3).
    pub(crate) fn receive(&mut self, now: Instant) -> Option<Received> {
        let received = self.session.as_mut()?.receive(now);
        self.refresh_session_deadline();
        let Some((channel, mode, payload)) = received else {
            self.outbox.readable_told = false;
            self.forget_if_read();
            return None;
        };
        Some(Received {
            channel: ChannelId(channel),
            mode,
            payload,
        })
    }

    /// The next thing to tell the application.
    pub(crate) fn next_news(&mut self) -> Option<News> {
        if core::mem::take(&mut self.outbox.asked) {
            self.outbox.told = true;
            return Some(News::Request);
        }
        if core::mem::take(&mut self.outbox.connected) {
            self.outbox.told = true;
            return Some(News::Connected);
        }
        let readable = |session: &Session| session.is_readable();
        if !self.outbox.readable_told && self.session.as_deref().is_some_and(readable) {
            self.outbox.readable_told = true;
            return Some(News::Readable);
        }
        let room = |session: &Session| session.queued() <= self.limits.send_budget / 2;
        if self.outbox.writable_owed && self.session.as_deref().is_some_and(room) {
            self.outbox.writable_owed = false;
            if self.state == PeerState::Connected {
                return Some(News::Writable);
            }
        }
        let (reason, undelivered) = self.outbox.ended.take()?;
        Some(News::Ended {
            reason,
            undelivered,
            told: self.outbox.told,
        })
    }
}
