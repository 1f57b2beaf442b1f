//! Peers whose remote hosts move (`docs/wire.md`, "Roaming"; `docs/deviations.md` D10): a datagram of
//! a connection from elsewhere is answered by a challenge, and the peer moves when that has been
//! echoed from there.

use core::time::Duration;

use arrayvec::ArrayVec;
use rand_core::CryptoRng;

use super::limits::Answered;
use super::replies::Reply;
use super::{Address, Host};
use crate::event::{Event, Ignored};
use crate::frame::{Control, Disconnect};
use crate::peer::{Peer, Tick};
use crate::time::Instant;
use crate::transfer::{PathWords, Written};

/// A peer is challenged at so many addresses at once.
const CANDIDATES_MAX: usize = 3;

/// It moves no more often than that. A challenge is outstanding for at least as long.
const INTERVAL: Duration = Duration::from_secs(1);

/// Where a remote host has not proved to be is sent so many times what has come from there
/// (RFC 9000 §8.1).
const AMPLIFICATION: u64 = 3;

/// Where it has been proved to be a moment ago may be asked without that.
const PROVED: u64 = 1200;

/// An address that a remote host may be at.
#[derive(Debug)]
struct Candidate<A> {
    address: A,
    /// What is to be echoed from there.
    challenge: u64,
    since: Instant,
    /// Bytes that came from there, and that went there.
    received: u64,
    sent: u64,
    /// The challenge was last sent then.
    challenged: Option<Instant>,
    /// It is to be sent (again).
    challenge_due: bool,
    /// A challenge that came from there, to be echoed.
    response: Option<u64>,
}

impl<A> Candidate<A> {
    const fn new(address: A, challenge: u64, now: Instant) -> Self {
        Self {
            address,
            challenge,
            since: now,
            received: 0,
            sent: 0,
            challenged: None,
            challenge_due: false,
            response: None,
        }
    }

    /// What is to be said there now, and in how many bytes at most.
    fn take_words(&mut self) -> (ArrayVec<Control, 2>, usize) {
        let challenge = core::mem::take(&mut self.challenge_due);
        let challenge = challenge.then_some(Control::PathChallenge(self.challenge));
        let response = self.response.take().map(Control::PathResponse);
        let room = (AMPLIFICATION * self.received).saturating_sub(self.sent);
        (
            challenge.into_iter().chain(response).collect(),
            usize::try_from(room).unwrap_or(usize::MAX),
        )
    }
}

/// Where the remote host of one peer may be, and was.
#[derive(Debug)]
pub(super) struct Roaming<A> {
    candidates: ArrayVec<Candidate<A>, CANDIDATES_MAX>,
    /// The newest frame that came from where the peer is.
    newest_here: u64,
    /// When the last one came.
    heard_here: Instant,
    moved: Option<Instant>,
    /// Where it was before.
    previous: Option<A>,
    /// The event waits for the application, which has not taken it.
    told: bool,
}

impl<A: Address> Roaming<A> {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            candidates: ArrayVec::new_const(),
            newest_here: 0,
            heard_here: now,
            moved: None,
            previous: None,
            told: false,
        }
    }

    fn on_datagram_here(&mut self, id: u64, now: Instant) {
        self.newest_here = self.newest_here.max(id);
        self.heard_here = now;
    }

    /// A datagram of so many bytes came from elsewhere: whether the remote host has proved to be
    /// there. `patience`: T_rto (7).
    fn on_datagram_elsewhere(
        &mut self,
        (from, words, bytes): (A, PathWords, usize),
        patience: Duration,
        draw: impl FnOnce() -> u64,
        now: Instant,
    ) -> bool {
        self.forget_candidates(patience, now);
        let known = |candidate: &&mut Candidate<A>| candidate.address == from;
        if !self
            .candidates
            .iter_mut()
            .any(|candidate| known(&candidate))
        {
            if !words.is_newest || self.candidates.is_full() {
                return false;
            }
            self.candidates.push(Candidate::new(from, draw(), now));
        }
        let Some(candidate) = self.candidates.iter_mut().find(known) else {
            return false;
        };
        candidate.received += bytes as u64;
        candidate.response = words.challenge.or(candidate.response);
        // What was overtaken by a datagram from where the peer is comes from where it was.
        if words.id <= self.newest_here {
            return false;
        }
        if words.response == Some(candidate.challenge) {
            let moved = |at: Instant| now.saturating_duration_since(at) < INTERVAL;
            return !self.moved.is_some_and(moved);
        }
        let lost = |at: Instant| now.saturating_duration_since(at) >= patience;
        candidate.challenge_due |= words.is_newest && candidate.challenged.is_none_or(lost);
        false
    }

    /// A challenge is given up when it was not echoed for three T_rto (RFC 9000 §8.2.4).
    fn forget_candidates(&mut self, patience: Duration, now: Instant) {
        let ends = (3 * patience).max(INTERVAL);
        self.candidates
            .retain(|candidate| now.saturating_duration_since(candidate.since) < ends);
    }

    fn on_moved(&mut self, from: A, id: u64, now: Instant) {
        self.candidates.clear();
        (self.newest_here, self.heard_here) = (id, now);
        (self.moved, self.previous) = (Some(now), Some(from));
    }

    /// Where the remote host is now is silent: it may be back where it was. `timeout`: how long that
    /// is remembered.
    fn try_previous(
        &mut self,
        patience: Duration,
        timeout: Duration,
        draw: impl FnOnce() -> u64,
        now: Instant,
    ) {
        let (Some(moved), Some(previous)) = (self.moved, self.previous) else {
            return;
        };
        self.forget_candidates(patience, now);
        if now.saturating_duration_since(moved) >= timeout {
            self.previous = None;
            return;
        }
        let silence = now.saturating_duration_since(self.heard_here);
        let is_tried = |candidate: &Candidate<A>| candidate.address == previous;
        let tried = self.candidates.iter().any(is_tried);
        if silence < INTERVAL.max(3 * patience) || tried || self.candidates.is_full() {
            return;
        }
        let mut candidate = Candidate::new(previous, draw(), now);
        (candidate.received, candidate.challenge_due) = (PROVED, true);
        self.candidates.push(candidate);
    }

    /// Writes the next datagram that goes elsewhere, if there is one.
    pub(super) fn poll_transmit(
        &mut self,
        peer: &mut Peer,
        now: Instant,
        buf: &mut [u8],
    ) -> Option<(A, Written)> {
        self.candidates.iter_mut().find_map(|candidate| {
            let challenges = candidate.challenge_due;
            let (words, room) = candidate.take_words();
            let room = room.min(buf.len());
            if words.is_empty() {
                return None;
            }
            let written = peer.write_path_words(&words, now, &mut buf[..room])?;
            candidate.sent += written.len as u64;
            candidate.challenged = challenges.then_some(now).or(candidate.challenged);
            Some((candidate.address, written))
        })
    }
}

impl<R: CryptoRng, A: Address> Host<R, A> {
    /// Tells the host which addresses differ by no more than the port, for
    /// [`Config::roaming`](crate::Config::roaming): if a remote host only has another port, a router
    /// has most likely given it that, and what is known of the path stays. Otherwise its round-trip
    /// time and what it carries are learnt anew. At first no two addresses are taken to be of one
    /// host. The drivers of this project do this by themselves.
    ///
    /// ```
    /// use core::net::SocketAddr;
    /// use porous_proto::{Config, Host};
    /// # use porous_proto::doc::example_rng;
    ///
    /// let mut host = Host::<_, SocketAddr>::new(Config::new().roaming(true), example_rng());
    /// host.set_same_host(|a, b| a.ip() == b.ip());
    /// ```
    pub const fn set_same_host(&mut self, same_host: fn(&A, &A) -> bool) {
        self.same_host = same_host;
    }

    /// A datagram of so many bytes was taken.
    pub(super) fn on_path_words(
        &mut self,
        slot: u32,
        (from, words, bytes): (A, PathWords, usize),
        tick: Tick,
    ) {
        // Two hosts that know several addresses of each other may send by one and receive by
        // another. But a challenge is answered where it came from.
        let is_answered_here = words.challenge.is_none() || !self.config.roaming;
        let is_here = match self.peers.way_in(slot, from) {
            Some(0) => true,
            Some(_) => is_answered_here,
            None => false,
        };
        if is_here {
            self.on_words_here(slot, words, tick);
        } else {
            self.on_words_elsewhere(slot, (from, words, bytes), tick);
        }
    }

    /// One that came from where its peer is.
    fn on_words_here(&mut self, slot: u32, words: PathWords, tick: Tick) {
        let Some((_, peer, roaming)) = self.peers.place_mut(slot) else {
            return;
        };
        if let Some(data) = words.challenge {
            peer.answer_challenge(data, tick.now);
        }
        if let Some(roaming) = roaming {
            roaming.on_datagram_here(words.id, tick.now);
        }
    }

    /// One that came from elsewhere: the peer may have moved.
    fn on_words_elsewhere(
        &mut self,
        slot: u32,
        (from, words, bytes): (A, PathWords, usize),
        tick: Tick,
    ) {
        let Some((address, peer, roaming)) = self.peers.place_mut(slot) else {
            return;
        };
        let roaming = roaming.get_or_insert_with(|| Roaming::new(tick.now).into());
        let draw = || self.rng.next_u64();
        let patience = peer.resend_timeout();
        if !roaming.on_datagram_elsewhere((from, words, bytes), patience, draw, tick.now) {
            return;
        }
        let old = *address;
        roaming.on_moved(old, words.id, tick.now);
        peer.on_moved((self.same_host)(&old, &from), tick.now);
        let tell = !core::mem::replace(&mut roaming.told, true);
        self.peers.relocate(slot, from);
        if tell {
            self.events.push_back(Event::PeerMoved {
                peer: self.peers.id(slot),
                from: old,
                to: from,
            });
        }
    }

    /// Something is due for a peer: also to look for it where it was, if it is silent where it is.
    pub(super) fn look_for(&mut self, slot: u32, tick: Tick) {
        if let Some((_, peer, Some(roaming))) = self.peers.place_mut(slot) {
            let (patience, timeout) = (peer.resend_timeout(), self.config.timeout);
            roaming.try_previous(patience, timeout, || self.rng.next_u64(), tick.now);
        }
    }

    /// A peer says goodbye from elsewhere. Both nonces prove that it is the peer, and as it is sent
    /// nothing more, it matters no more where that is. None if it is not so.
    pub(super) fn on_goodbye_elsewhere(
        &mut self,
        from: A,
        bye: &Disconnect,
        tick: Tick,
    ) -> Option<Result<u32, Ignored>> {
        let slot = self.peers.by_remote_nonce(bye.nonce_self)?;
        let (address, peer) = self.peers.at(slot)?;
        if !self.config.roaming || *address == from || peer.nonce() != bye.nonce_peer {
            return None;
        }
        if !self.may_answer(from, Answered::Handshake) {
            return Some(Err(Ignored::TooManyReplies));
        }
        let (_, peer) = self.peers.at_mut(slot)?;
        peer.on_disconnect(0, bye.nonce_self, bye.reason, tick.now);
        let answer = Reply::DisconnectAck {
            nonce_self: bye.nonce_peer,
            nonce_peer: bye.nonce_self,
        };
        self.replies.push(from, answer);
        Some(Ok(slot))
    }

    /// The application takes the event: where the peer is by now.
    pub(super) fn moved_taken(&mut self, peer: crate::PeerId) -> Option<A> {
        self.peers.get(peer)?;
        let (address, _, roaming) = self.peers.place_mut(peer.slot)?;
        if let Some(roaming) = roaming {
            roaming.told = false;
        }
        Some(*address)
    }
}

#[cfg(test)]
mod tests;
