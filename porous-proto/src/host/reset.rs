//! Connections that one of the two hosts does not know (any more), and what may be answered without
//! keeping state (`docs/wire.md`, "RESET", "Limits of answers"; `docs/deviations.md` C7).

use rand_core::CryptoRng;

use super::limits::Answered;
use super::replies::Reply;
use super::{Address, Host};
use crate::event::Ignored;
use crate::frame::ConnectionId;
use crate::peer::{PeerState, Tick};

impl<R: CryptoRng, A: Address> Host<R, A> {
    /// The peer that a short datagram is for. One that timed out has forgotten its connection, even
    /// if it is still there.
    pub(super) fn find_connection(&self, from: A, id: ConnectionId) -> Option<u32> {
        if id.is_empty() {
            return self.peers.find(from, |peer| peer.state().is_open());
        }
        let slot = self.peers.by_connection_id(id)?;
        let (_, peer) = self.peers.at(slot)?;
        (peer.state() != PeerState::Zombie).then_some(slot)
    }

    /// A short datagram of a connection that is not here. Its sender is told, whether we listen or
    /// not: a client that has forgotten its server is what leaves half a connection behind.
    pub(super) fn on_unknown_connection(&mut self, from: A, id: ConnectionId) -> Ignored {
        if id.is_empty() {
            return Ignored::UnknownConnection; // there is nothing to echo
        }
        let open = self.may_answer(from, Answered::UnknownConnection);
        if open && self.replies.push(from, Reply::Reset { connection_id: id }) {
            Ignored::UnknownConnection
        } else {
            Ignored::TooManyReplies
        }
    }

    /// The remote host of one of our peers may have forgotten it.
    pub(super) fn on_reset(
        &mut self,
        tick: Tick,
        from: A,
        connection_id: ConnectionId,
    ) -> Result<u32, Ignored> {
        let slot = self.peers.find(from, |peer| peer.sends_as(connection_id));
        let slot = slot.ok_or(Ignored::UnknownConnection)?;
        if let Some((_, peer)) = self.peers.at_mut(slot) {
            peer.on_reset(tick);
        }
        Ok(slot)
    }

    /// A peer that has ended answers what is left of its connection, but no more often than
    /// strangers are answered.
    pub(super) fn may_answer_for(&mut self, slot: u32, from: A) -> Result<(), Ignored> {
        let live = self
            .peers
            .at(slot)
            .is_some_and(|(_, peer)| peer.state().is_live());
        if live || self.may_answer(from, Answered::Handshake) {
            Ok(())
        } else {
            Err(Ignored::TooManyReplies)
        }
    }

    /// Whether one more answer may go to this address; it counts then. An address has two buckets:
    /// who forges a few bytes in its name must not keep it from connecting.
    pub(super) fn may_answer(&mut self, to: A, what: Answered) -> bool {
        let hash = self.cookies.hash(&(what, to));
        self.limits.take(self.now, hash, what)
    }
}
