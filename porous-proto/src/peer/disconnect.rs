//! §2.5: disconnection, by us or by the remote host, at once or after a flush.

use alloc::boxed::Box;
use core::time::Duration;

use super::session::Session;
use super::state::{Cause, PeerState};
use super::{Deadline, LINGER, Peer};
use crate::event::{Disconnect, DisconnectReason};
use crate::frame::RefusalData;
use crate::time::Instant;

/// The interval between the first so many disconnection requests, and between later ones: who
/// leaves may be gone in a second, and be heard by then although every second datagram is lost.
const INTERVAL: Duration = Duration::from_millis(100);
const LATER_INTERVAL: Duration = Duration::from_secs(1);
const OFTEN: u8 = 10;

/// A disconnection that we want.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closing {
    pub(crate) reason: u32,
    /// Requests sent, as far as that is of interest.
    requests: u8,
}

impl Peer {
    /// Begins to disconnect. A peer that is still connecting is given up: its
    /// [remotes](Self::remotes) ought to be told.
    pub(crate) fn disconnect(&mut self, how: Disconnect, now: Instant) {
        let (reason, flush) = match how {
            Disconnect::Flush { reason, deadline } => (reason, Some(deadline)),
            Disconnect::Now { reason } => (reason, None),
        };
        match self.state {
            PeerState::Connecting if self.asked => {
                let reason = DisconnectReason::ByUs(reason);
                self.turn_away(RefusalData::default(), reason, now);
            }
            PeerState::Connecting => {
                self.end(Cause::Cancelled, DisconnectReason::ByUs(reason), now);
            }
            PeerState::Connected => {
                self.closing = Some(Closing {
                    reason,
                    requests: 0,
                });
                match flush {
                    Some(deadline) => self.deadlines.set(Deadline::Attempt, now + deadline),
                    None => self.close(now),
                }
                self.check_flushed(now);
            }
            PeerState::Disconnecting | PeerState::Disconnected | PeerState::Zombie => {}
        }
    }

    /// Goes on to disconnect once everything is flushed (`deviations.md` C13).
    pub(super) fn check_flushed(&mut self, now: Instant) {
        if self.closing.is_none() || self.state != PeerState::Connected {
            return;
        }
        let flushed = |session: &mut Box<Session>| session.flush();
        if self.session.as_mut().is_none_or(flushed) {
            self.close(now);
        }
    }

    /// Asks the remote host to disconnect, now and until it acknowledges.
    pub(super) fn close(&mut self, now: Instant) {
        if self.enter(Cause::Close) {
            self.deadlines.clear();
            self.deadlines
                .set(Deadline::Attempt, now + self.limits.disconnect_timeout);
            self.disconnect_due = true;
        }
    }

    /// The time of the next disconnection request, when one is sent now.
    pub(super) fn next_disconnect_retry(&mut self, now: Instant) -> Instant {
        let Some(closing) = &mut self.closing else {
            return Instant::NEVER;
        };
        if closing.requests == OFTEN {
            return now + LATER_INTERVAL;
        }
        closing.requests += 1;
        now + INTERVAL
    }

    /// A disconnection request that carries our nonce came. False if it is not from the remote
    /// host of this peer. While several addresses are tried it strikes off those of its sender,
    /// who may be somebody else than the one that is sought.
    pub(crate) fn on_disconnect(
        &mut self,
        way: usize,
        remote_nonce: u64,
        reason: u32,
        now: Instant,
    ) -> bool {
        let known = match (&self.remote, &mut self.handshake) {
            (Some(remote), _) => remote.nonce == remote_nonce,
            (None, Some(handshake)) => {
                let known = handshake.has_seen(remote_nonce);
                if known && !handshake.strike(way, Some(remote_nonce)) {
                    return true;
                }
                known
            }
            (None, None) => false,
        };
        if known && self.state.is_live() {
            // Both want to disconnect: each gets what it asked for.
            let reason = match (self.state, self.closing) {
                (PeerState::Disconnecting, Some(closing)) => DisconnectReason::ByUs(closing.reason),
                _ => DisconnectReason::ByPeer(reason),
            };
            self.remote = Some(super::Remote {
                nonce: remote_nonce,
            });
            self.end(Cause::ClosedByPeer, reason, now);
        }
        self.disconnect_ack_due |= known;
        known
    }

    /// Our disconnection request was acknowledged.
    pub(crate) fn on_disconnect_ack(&mut self, remote_nonce: u64, now: Instant) -> bool {
        let known = self
            .remote
            .is_some_and(|remote| remote.nonce == remote_nonce);
        if let (true, PeerState::Disconnecting, Some(closing)) = (known, self.state, self.closing) {
            self.end(
                Cause::CloseAcknowledged,
                DisconnectReason::ByUs(closing.reason),
                now,
            );
        }
        known
    }

    /// A new connection of the same remote host took the place of this one.
    pub(crate) fn replace(&mut self, now: Instant) {
        let waiting = self.state == PeerState::Connecting;
        let cause = if waiting {
            Cause::Cancelled
        } else {
            Cause::Replaced
        };
        self.end(cause, DisconnectReason::Restarted, now);
    }

    /// Ends the peer: exactly one terminal event (`deviations.md` C10, C11).
    pub(super) fn end(&mut self, cause: Cause, reason: DisconnectReason, now: Instant) {
        if !self.enter(cause) {
            return;
        }
        self.last_stats = Some(Box::new(self.stats()));
        let undelivered = self
            .session
            .as_ref()
            .map_or(0, |session| session.undelivered());
        if let Some(session) = &mut self.session {
            self.outbox.last_receipts = session.close();
        }
        self.outbox.ended = Some((reason, undelivered));
        self.handshake = None;
        self.ack_due = false;
        self.disconnect_due = false;
        self.deadlines.clear();
        self.deadlines.set(Deadline::Linger, now + LINGER);
        self.forget_if_read();
    }

    /// What had arrived can be received after the end; then the connection is forgotten.
    pub(super) fn forget_if_read(&mut self) {
        let unread = self
            .session
            .as_ref()
            .is_some_and(|session| session.is_readable());
        if !self.state.is_live() && !unread {
            self.session = None;
        }
    }

    /// Whether nothing is left to do for the peer: it can be deleted. One that connected to us is
    /// kept until its cookie is void: a delayed request would make a second connection with the
    /// same nonces, which cannot be told from the first (`deviations.md` P3).
    pub(crate) fn is_over(&self) -> bool {
        let kept = self.inbound && self.deadlines.is_set(Deadline::Linger);
        self.state == PeerState::Zombie && self.session.is_none() && !kept
    }
}
