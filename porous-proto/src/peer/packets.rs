//! §2.4: packets in and out, and what the application is told.

use super::session::{Session, send_cost};
use super::{News, Outbox, Peer, PeerState};
use crate::ChannelId;
use crate::error::SendError;
use crate::event::Received;
use crate::options::SendOptions;
use crate::sequencing::Receipt;
use crate::stats::ChannelStats;
use crate::time::Instant;
use crate::transfer::Gate;

impl Peer {
    /// Queues a packet (§2.4), if the send budget has room (`deviations.md` T8). `now` is the latest
    /// time that the host was told.
    pub(crate) fn send(
        &mut self,
        now: Instant,
        channel: ChannelId,
        packet: bytes::Bytes,
        options: SendOptions,
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
        session.drop_expired(now);
        let receipts = self.outbox.receipts_cost();
        if !session.has_room(channel.0, options.mode, packet.len(), receipts) {
            return Err(SendError::Full);
        }
        self.outbox.open_receipts += u32::from(options.receipt.is_some());
        session.send(channel.0, packet, options);
        Ok(())
    }

    /// Changes the cap of a channel.
    pub(crate) fn set_channel_rate(
        &mut self,
        now: Instant,
        channel: ChannelId,
        rate: u32,
    ) -> Result<(), SendError> {
        let session = self.session_or_error()?;
        if channel.0 >= session.agreement().channels {
            return Err(SendError::UnknownChannel);
        }
        session.set_channel_rate(channel.0, rate.max(1), now);
        Ok(())
    }

    fn session_or_error(&mut self) -> Result<&mut Session, SendError> {
        let error = match self.state {
            PeerState::Connecting => SendError::NotConnected,
            PeerState::Connected
            | PeerState::Disconnecting
            | PeerState::Disconnected
            | PeerState::Zombie => SendError::UnknownPeer,
        };
        self.session.as_deref_mut().ok_or(error)
    }

    /// Changes the most that we send, in bytes a second.
    pub(crate) fn set_send_rate(&mut self, rate: u32) -> Result<(), SendError> {
        self.session_or_error()?.set_send_rate(rate.max(1));
        Ok(())
    }

    /// Changes the most that we want to receive.
    pub(crate) fn set_receive_rate(&mut self, rate: u32) -> Result<(), SendError> {
        self.session_or_error()?.set_receive_rate(rate.max(1));
        Ok(())
    }

    /// What the cap of the host meant for the last datagram.
    pub(crate) fn gate(&self) -> Gate {
        // One that is parting has nothing more to send, whatever waited.
        let connected = self.state == PeerState::Connected;
        let session = self.session.as_ref().filter(|_| connected);
        session.map_or_else(Gate::default, |session| session.transfer().gate)
    }

    /// What is measured of a channel; nothing while connecting, and of a peer that has ended.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::ChannelId;
    /// # use porous_proto::doc::example_pair;
    ///
    /// let (host, peer) = example_pair();
    /// let channel = host.peer(peer).map(|peer| peer.channel_stats(ChannelId(0)));
    /// assert!(channel.is_some_and(|channel| channel.queue_time < Duration::from_millis(100)));
    /// ```
    #[must_use]
    pub fn channel_stats(&self, channel: ChannelId) -> ChannelStats {
        let session = self.session.as_ref();
        session.map_or_else(ChannelStats::default, |session| {
            session.channel_stats(channel.0)
        })
    }

    /// Cancels the packets with this receipt: whether there were any.
    pub(crate) fn cancel(&mut self, channel: ChannelId, token: u64) -> bool {
        let session = self.session.as_mut().filter(|_| self.state.is_live());
        session.is_some_and(|session| session.cancel(channel.0, token))
    }

    /// Whether there is something to tell that can come of sending: the end, room to send, or what
    /// became of a packet.
    pub(crate) fn has_news(&self) -> bool {
        let ended = self.outbox.ended.is_some();
        ended || self.owes_writable() || self.has_receipts() || self.owes_narrowed().is_some()
    }

    /// What the path carries, if that is to be told.
    fn owes_narrowed(&self) -> Option<u16> {
        self.outbox.narrowed.filter(|_| !self.outbox.narrowed_waits)
    }

    /// As [`readable_taken`](Self::readable_taken): what the path carries by now.
    pub(crate) const fn narrowed_taken(&mut self) -> Option<u16> {
        self.outbox.narrowed_waits = false;
        self.outbox.narrowed.take()
    }

    /// Whether there is something to tell of packets.
    pub(crate) fn has_receipts(&self) -> bool {
        let has = |session: &Session| session.has_receipts();
        self.session.as_deref().is_some_and(has)
    }

    /// Whether a `send` failed for want of room that is there now.
    fn owes_writable(&self) -> bool {
        let room = |session: &Session| session.has_new_room(self.outbox.receipts_cost());
        !self.outbox.writable_waits && self.session.as_deref().is_some_and(room)
    }

    /// The application has taken the event. Whoever reads and sends without looking at events has one
    /// of each at most that waits.
    pub(crate) fn readable_taken(&mut self) {
        self.outbox.readable_waits = false;
        self.outbox.readable_told |= self.is_readable();
    }

    /// As [`readable_taken`](Self::readable_taken).
    pub(crate) const fn writable_taken(&mut self) {
        self.outbox.writable_waits = false;
    }

    /// As [`readable_taken`](Self::readable_taken). Whether there is something new to tell.
    pub(crate) fn receipt_taken(&mut self) -> bool {
        self.outbox.open_receipts = self.outbox.open_receipts.saturating_sub(1);
        self.owes_writable()
    }

    pub(crate) fn is_readable(&self) -> bool {
        let readable = |session: &Session| session.is_readable();
        self.session.as_deref().is_some_and(readable)
    }

    /// Consumes the next packet that can be delivered (§3.2.3).
    pub(crate) fn receive(&mut self, now: Instant) -> Option<Received> {
        let received = self.session.as_mut()?.receive(now);
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
        if !self.outbox.readable_told && !self.outbox.readable_waits && self.is_readable() {
            self.outbox.readable_told = true;
            self.outbox.readable_waits = true;
            return Some(News::Readable);
        }
        if self.owes_writable() {
            if let Some(session) = &mut self.session {
                session.forget_refusals();
            }
            if self.state == PeerState::Connected {
                self.outbox.writable_waits = true;
                return Some(News::Writable);
            }
        }
        if let Some(bytes) = self.owes_narrowed() {
            self.outbox.narrowed_waits = true;
            return Some(News::PathNarrowed(bytes));
        }
        if let Some(receipt) = self.next_receipt() {
            self.outbox.open_receipts += u32::from(receipt.again);
            return Some(News::Receipt(receipt));
        }
        let (reason, undelivered) = self.outbox.ended.take()?;
        Some(News::Ended {
            reason,
            undelivered,
            told: self.outbox.told,
        })
    }

    fn next_receipt(&mut self) -> Option<Receipt> {
        let open = |session: &mut Session| session.next_receipt();
        let next = self.session.as_deref_mut().and_then(open);
        next.or_else(|| self.outbox.last_receipts.pop())
    }
}

impl Outbox {
    /// What receipts take of the send budget. They count until they are taken: whoever sends and never
    /// looks at events has so many of them at most.
    fn receipts_cost(&self) -> u64 {
        u64::from(self.open_receipts) * send_cost(0)
    }
}
