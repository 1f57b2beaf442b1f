//! §2.3: how a peer gets connected.

use super::deadlines::Deadline;
use super::session::Session;
use super::{Agreement, Cause, Peer, PeerState, Remote};
use crate::event::{DisconnectReason, Refusal};
use crate::frame::{Connect, Offer};
use crate::time::Instant;

impl Peer {
    /// A request came from the address of this peer, which is connecting.
    pub(crate) fn on_request(&mut self, request: &Connect, ours: &Offer, now: Instant) {
        if let Some(handshake) = &mut self.handshake {
            handshake.on_request(request, self.nonce);
            self.try_establish(ours, now);
        }
    }

    /// The remote host repeats the request of this connection: our acknowledgement was lost, or we
    /// are on the way out, or have refused it (§2.3).
    pub(crate) const fn on_repeated_request(&mut self) {
        match self.state {
            PeerState::Connecting if self.asked => {} // the application is deciding
            PeerState::Connecting | PeerState::Connected => self.ack_due = true,
            PeerState::Disconnecting | PeerState::Disconnected | PeerState::Zombie => {
                self.disconnect_due = true;
            }
        }
    }

    /// An acknowledgement of our nonce came. A mismatch of the other one is ignored
    /// (`deviations.md` C3).
    pub(crate) fn on_acknowledge(&mut self, ack: &Connect, ours: &Offer, now: Instant) {
        if let Some(handshake) = &mut self.handshake {
            handshake.on_acknowledge(ack);
            self.try_establish(ours, now);
        }
    }

    fn try_establish(&mut self, ours: &Offer, now: Instant) {
        let established = self
            .handshake
            .as_ref()
            .and_then(|handshake| handshake.established());
        if let Some(remote) = established.cloned() {
            self.accept_remote(&remote, ours, now);
        }
    }

    pub(super) fn accept_remote(&mut self, remote: &Connect, ours: &Offer, now: Instant) {
        match Agreement::new(ours, &remote.offer) {
            Some(agreement) => {
                self.adopt(remote, agreement);
                self.establish(now);
            }
            None => self.on_refused(Refusal::Incompatible, now),
        }
    }

    /// Fixes who the remote host is.
    pub(super) fn adopt(&mut self, remote: &Connect, agreement: Agreement) {
        let nonces = [self.nonce, remote.nonce_self];
        self.remote = Some(Remote {
            nonce: remote.nonce_self,
        });
        let id = remote.connection_id;
        self.session = Some(Session::new(agreement, nonces, id, &self.limits));
    }

    pub(super) fn establish(&mut self, now: Instant) {
        if !self.enter(Cause::Established) {
            return;
        }
        // Requests that were seen and not yet acknowledged: one acknowledgement serves.
        let owed = self
            .handshake
            .take()
            .is_some_and(|mut handshake| handshake.next_ack().is_some());
        self.ack_due |= owed;
        self.last_heard = now;
        self.deadlines.clear();
        self.deadlines
            .set(Deadline::Silence, now + self.limits.timeout);
        self.outbox.connected = true;
        self.refresh_session_deadline();
    }

    /// The remote host refused, and named our nonce.
    pub(crate) fn on_refused(&mut self, refusal: Refusal, now: Instant) {
        if self.state == PeerState::Connecting && self.handshake.is_some() {
            self.end(Cause::Refused, DisconnectReason::Refused(refusal), now);
        }
    }
}
