//! The order of a peer's output: handshake, disconnection, then the connection's own datagrams.

use super::Cause;
use super::handshake::DueRequest;
use super::{Deadline, Peer, PeerState, Tick};
use crate::event::{DisconnectReason, Refusal};
use crate::frame::{Connect, ConnectionId, Disconnect, DisconnectAck, Offer, Refuse, grease};
use crate::time::Instant;
use crate::transfer::Written;
use crate::wire::NoRoom;

impl Peer {
    /// Writes the next datagram: to which address, and its length.
    pub(crate) fn poll_transmit(
        &mut self,
        ours: &Offer,
        tick: Tick,
        buf: &mut [u8],
    ) -> Option<(usize, Written)> {
        let written = self.write_next(ours, tick, buf);
        debug_assert!(
            written.is_ok(),
            "every datagram fits into max_datagram_size"
        );
        let written = written.unwrap_or_else(|NoRoom| {
            self.end(
                Cause::InternalError,
                DisconnectReason::InternalError,
                tick.now,
            );
            None
        });
        if let Some((_, Written { len, .. })) = written {
            self.count_sent(len, tick.now);
        }
        written
    }

    pub(super) fn count_sent(&mut self, bytes: usize, now: Instant) {
        (self.traffic.send_rate).note(self.traffic.bytes_sent, now);
        self.traffic.datagrams_sent += 1;
        self.traffic.bytes_sent += bytes as u64;
    }

    /// A datagram of so many bytes was taken.
    pub(crate) fn count_received(&mut self, bytes: usize, now: Instant) {
        (self.traffic.receive_rate).note(self.traffic.bytes_received, now);
        self.traffic.datagrams_received += 1;
        self.traffic.bytes_received += bytes as u64;
    }

    fn write_next(
        &mut self,
        ours: &Offer,
        tick: Tick,
        buf: &mut [u8],
    ) -> Result<Option<(usize, Written)>, NoRoom> {
        let written = match self.state {
            PeerState::Connecting => {
                let request = self.write_connecting(ours, tick, buf)?;
                return Ok(request.map(|(way, len)| (way, Written::plain(len))));
            }
            PeerState::Connected => self.write_connected(ours, tick, buf)?,
            PeerState::Disconnecting | PeerState::Disconnected | PeerState::Zombie => {
                self.write_goodbye(tick, buf)?.map(Written::plain)
            }
        };
        Ok(written.map(|written| (0, written)))
    }

    fn connect(&self, nonce_peer: u64, ours: &Offer) -> Connect {
        let mut offer = ours.clone();
        if !self.inbound {
            // Bits without a meaning are random, an attempt's throughout, so that nobody learns to
            // demand that they be 0 (RFC 8701). A listener's offer is always the same.
            offer.features |= grease(self.nonce);
        }
        Connect {
            cookie: false,
            nonce_self: self.nonce,
            nonce_peer,
            connection_id: self.connection_id,
            offer,
        }
    }

    fn write_connecting(
        &mut self,
        ours: &Offer,
        tick: Tick,
        buf: &mut [u8],
    ) -> Result<Option<(usize, usize)>, NoRoom> {
        if let (true, Some(remote)) = (self.ack_due, self.remote) {
            self.ack_due = false; // a newcomer that waits to prove itself
            let len = self.connect(remote.nonce, ours).encode_acknowledge(buf)?;
            return Ok(Some((0, len)));
        }
        let Some(handshake) = &mut self.handshake else {
            return Ok(None);
        };
        if let Some((way, nonce)) = handshake.next_ack() {
            let len = self.connect(nonce, ours).encode_acknowledge(buf)?;
            return Ok(Some((way, len)));
        }
        let Some(DueRequest { way, cookie, retry }) = handshake.next_request(tick.now) else {
            return Ok(None);
        };
        if let Some(retry) = retry {
            self.deadlines.set(Deadline::Retry, retry);
        }
        let connect = self.connect(cookie.unwrap_or(0), ours);
        // An echoed cookie is acknowledged and repeated in one datagram (§2.3).
        let start = match cookie {
            Some(_) => connect.encode_acknowledge(buf)?,
            None => 0,
        };
        let rest = buf.get_mut(start..).ok_or(NoRoom)?;
        let handshake = self.handshake.as_deref();
        let greeting = handshake.map_or(&[][..], |handshake| &handshake.greeting);
        let len = connect.encode_request(greeting, rest)? + start;
        let padded = len.max(self.limits.request_size);
        buf.get_mut(len..padded).ok_or(NoRoom)?.fill(0);
        Ok(Some((way, padded)))
    }

    fn write_connected(
        &mut self,
        ours: &Offer,
        tick: Tick,
        buf: &mut [u8],
    ) -> Result<Option<Written>, NoRoom> {
        let start = match (core::mem::take(&mut self.ack_due), self.remote) {
            (true, Some(remote)) => self.connect(remote.nonce, ours).encode_acknowledge(buf)?,
            _ => 0,
        };
        let Some(session) = &mut self.session else {
            return Ok(None);
        };
        // A datagram with an acknowledgement in front is no longer than what every path carries.
        let end = match start {
            0 => buf.len(),
            _ => usize::from(session.agreement().max_datagram).min(buf.len()),
        };
        let rest = buf.get_mut(start..end).ok_or(NoRoom)?;
        let written = session.poll_transmit(tick, rest)?;
        if let Some(narrowed) = session.take_narrowed() {
            self.on_narrowed(narrowed, tick.now);
        }
        self.check_flushed(tick.now);
        match (start, written) {
            // The flush has just come to its end.
            (0, None) if self.state == PeerState::Disconnecting => {
                Ok(self.write_goodbye(tick, buf)?.map(Written::plain))
            }
            (0, written) => Ok(written),
            (start, None) => Ok(Some(Written::plain(start))),
            (start, Some(written)) => Ok(Some(Written {
                len: start + written.len,
                ..written
            })),
        }
    }

    fn write_goodbye(&mut self, tick: Tick, buf: &mut [u8]) -> Result<Option<usize>, NoRoom> {
        let Some(remote) = self.remote else {
            return Ok(None);
        };
        let (nonce_self, nonce_peer) = (self.nonce, remote.nonce);
        if core::mem::take(&mut self.disconnect_ack_due) {
            return DisconnectAck {
                nonce_self,
                nonce_peer,
            }
            .encode(buf)
            .map(Some);
        }
        if !core::mem::take(&mut self.disconnect_due) {
            return Ok(None);
        }
        if let Some(said) = self.refusal.as_deref() {
            let refusal = Refusal::Application(*said);
            return Refuse::new(nonce_peer, refusal).encode(buf).map(Some);
        }
        if self.state == PeerState::Disconnecting {
            let retry = self.next_disconnect_retry(tick.now);
            self.deadlines.set(Deadline::Retry, retry);
        }
        let reason = self.closing.map_or(0, |closing| closing.reason);
        Disconnect {
            nonce_self,
            nonce_peer,
            reason,
        }
        .encode(buf)
        .map(Some)
    }

    /// What the remote host puts into its datagrams to us.
    pub(crate) const fn connection_id(&self) -> ConnectionId {
        self.connection_id
    }
}
