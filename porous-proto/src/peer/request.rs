//! A proved request that waits for the application (§2.3): until it is answered the remote host
//! hears nothing (`docs/wire.md`, "Handshake").

use alloc::boxed::Box;

use super::{Cause, Deadline, Peer, PeerState};
use crate::event::{DisconnectReason, Refusal};
use crate::frame::RefusalData;
use crate::time::Instant;

impl Peer {
    /// The application is asked whether it wants this peer.
    pub(crate) const fn ask(&mut self) {
        self.asked = true;
        self.outbox.asked = true;
    }

    /// Whether the application has been asked, and has not answered.
    pub(crate) const fn is_asked(&self) -> bool {
        self.asked && matches!(self.state, PeerState::Connecting)
    }

    /// The request is granted. A `pending` peer waits for the first datagram of the new connection,
    /// because another one has its address.
    pub(crate) fn admit(&mut self, pending: bool, now: Instant) {
        self.asked = false;
        self.ack_due = true;
        if pending {
            self.deadlines
                .set(Deadline::Attempt, now + self.limits.connect_timeout);
        } else {
            self.establish(now);
        }
    }

    /// The request is not granted. The peer lingers, so that a repeated request is refused again.
    pub(crate) fn refuse(&mut self, said: RefusalData, now: Instant) {
        let refusal = Refusal::Application(said);
        self.turn_away(said, DisconnectReason::Refused(refusal), now);
    }

    /// As [`refuse`](Self::refuse), for whatever reason our own application is told.
    pub(super) fn turn_away(&mut self, said: RefusalData, reason: DisconnectReason, now: Instant) {
        self.end(Cause::Refused, reason, now);
        self.refusal = Some(Box::new(said));
        self.disconnect_due = true;
    }
}
