//! §2.3: how a peer gets connected.

use alloc::boxed::Box;

use super::deadlines::Deadline;
use super::session::Session;
use super::{Agreement, Cause, Handshake, Peer, PeerState, Remote};
use crate::event::{DisconnectReason, Refusal};
use crate::frame::{Connect, Offer, Request};
use crate::time::Instant;

impl Peer {
    /// A request came from an address of this peer, which is connecting.
    pub(crate) fn on_request(
        &mut self,
        way: usize,
        request: &Request<'_>,
        ours: &Offer,
        now: Instant,
    ) {
        let own = self.nonce;
        if let Some(handshake) = self.attempt() {
            handshake.on_request(way, request, own, now);
            let soon = (!request.connect.cookie).then(|| handshake.punch(now));
            if let Some(soon) = soon.flatten() {
                let retry = self.deadlines.get(Deadline::Retry);
                self.deadlines.set(Deadline::Retry, retry.min(soon));
            }
            self.try_establish(ours, now);
        }
    }

    /// The handshake, as long as nothing has come of it.
    fn attempt(&mut self) -> Option<&mut Handshake> {
        let connecting = self.state == PeerState::Connecting;
        self.handshake.as_deref_mut().filter(|_| connecting)
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
    pub(crate) fn on_acknowledge(&mut self, way: usize, ack: &Connect, ours: &Offer, now: Instant) {
        if let Some(handshake) = self.attempt() {
            handshake.on_acknowledge(way, ack);
            self.try_establish(ours, now);
        }
    }

    fn try_establish(&mut self, ours: &Offer, now: Instant) {
        let established = self
            .handshake
            .as_ref()
            .and_then(|handshake| handshake.established());
        if let Some((way, remote)) = established {
            let remote = remote.clone();
            self.accept_remote(way, &remote, ours, now);
        }
    }

    pub(super) fn accept_remote(
        &mut self,
        way: usize,
        remote: &Connect,
        ours: &Offer,
        now: Instant,
    ) {
        let Some(agreement) = Agreement::new(ours, &remote.offer) else {
            let application_id = remote.offer.application;
            return self.on_refused(way, Refusal::Incompatible { application_id }, now);
        };
        self.adopt(remote, agreement);
        if let Some(handshake) = &mut self.handshake {
            handshake.winner = way;
            // Of a listener and who connects to it, the listener follows.
            let nonce = remote.nonce_self;
            self.follows = self.nonce < nonce && !handshake.is_cookie(nonce);
            self.greeting = handshake.take_greeting(nonce);
        }
        self.establish(now);
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
        let handshake = self.handshake.take();
        self.ack_due |= handshake.as_ref().is_some_and(|it| it.owes_ack());
        self.handshake = handshake.filter(|it| it.len() > 1); // until the host has looked
        self.last_heard = now;
        self.deadlines.clear();
        self.deadlines
            .set(Deadline::Silence, now + self.limits.timeout);
        self.outbox.connected = true;
    }

    /// Which of several addresses the connection has come to, and who else was met: once, when it
    /// is established.
    pub(crate) fn take_ways(&mut self) -> Option<Box<Handshake>> {
        let connecting = self.state == PeerState::Connecting;
        self.handshake.take_if(|_| !connecting)
    }

    /// Whoever is at this address refused, and named our nonce. The attempt ends when all have.
    pub(crate) fn on_refused(&mut self, way: usize, refusal: Refusal, now: Instant) {
        let Some(handshake) = self.attempt() else {
            return;
        };
        handshake.refusal = Some(refusal);
        if handshake.strike(way, None) {
            self.end(Cause::Refused, DisconnectReason::Refused(refusal), now);
        }
    }

    /// The system cannot send to this address. The attempt ends when that holds for all that have not
    /// refused.
    pub(crate) fn on_unreachable(&mut self, way: usize, now: Instant) {
        let Some(handshake) = self.attempt() else {
            return;
        };
        if handshake.strike(way, None) {
            let refused = handshake.refusal.map(DisconnectReason::Refused);
            let reason = refused.unwrap_or(DisconnectReason::Unreachable);
            self.end(Cause::Cancelled, reason, now);
        }
    }

    /// Nobody is bound to the port of this address, says its machine. Whether the application has to
    /// be told: once an address.
    pub(crate) fn on_port_closed(&mut self, way: usize) -> bool {
        self.attempt()
            .is_some_and(|handshake| handshake.note_closed(way))
    }

    /// Who has been met while connecting and should know if nothing comes of it: at which address,
    /// and the nonce.
    pub(crate) fn remotes(&self) -> impl Iterator<Item = (usize, u64)> {
        let connecting = self.state == PeerState::Connecting && !self.asked;
        let handshake = self.handshake.as_deref().filter(|_| connecting);
        let pending = self.remote.filter(|_| connecting && handshake.is_none());
        let met = handshake.into_iter().flat_map(Handshake::remotes);
        met.chain(pending.map(|remote| (0, remote.nonce)))
    }
}
