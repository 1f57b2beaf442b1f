//! Peers whose remote hosts move (`docs/wire.md`, "Roaming"; `docs/deviations.md` D10): a datagram of a
//! connection that comes from another address is answered by a challenge, and the peer moves when the
//! challenge has been echoed from that address.

use core::time::Duration;

use arrayvec::ArrayVec;

use crate::frame::Control;
use crate::ids::Address;
use crate::peer::Peer;
use crate::time::Instant;
use crate::transfer::{PathWords, Written};

/// The most addresses of a peer that are validated at once.
const VALIDATIONS_MAX: usize = 3;

/// The least time between two moves of a peer, and the least for which a challenge may be echoed.
const INTERVAL: Duration = Duration::from_secs(1);

/// The most bytes that an address that is not proved is sent for each byte that came from it (RFC 9000
/// §8.1).
const AMPLIFICATION: u64 = 3;

/// The bytes that count as received from the address where the remote host was before, as that one was
/// proved: it may be sent a challenge although nothing comes from it.
const PROVED: u64 = 1200;

/// A datagram that its peer has taken, of this number of bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard<A> {
    pub(super) from: A,
    /// What the datagram says of the path that it came on.
    pub(super) words: PathWords,
    pub(super) bytes: usize,
}

/// The validation of the path to an address that a remote host may be at (RFC 9000 §8.2).
#[derive(Debug)]
struct Validation<A> {
    address: A,
    /// The number that has to be echoed from this address.
    challenge: u64,
    since: Instant,
    /// Bytes that came from this address.
    received: u64,
    /// Bytes that were sent to this address.
    sent: u64,
    /// When the challenge was last sent.
    challenged: Option<Instant>,
    /// True if the challenge is to be sent (again).
    challenge_due: bool,
    /// A challenge that came from this address and has not been echoed.
    response: Option<u64>,
}

impl<A> Validation<A> {
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

    /// What is to be said to this address now, and in how many bytes at most.
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

/// The addresses where the remote host of one peer may be, and was.
#[derive(Debug)]
pub(super) struct Roaming<A> {
    validations: ArrayVec<Validation<A>, VALIDATIONS_MAX>,
    /// The id of the newest frame that came from the peer's address.
    newest_here: u64,
    /// When the last frame came from the peer's address.
    heard_here: Instant,
    /// When the peer last moved.
    moved: Option<Instant>,
    /// The peer's address before it last moved.
    previous: Option<A>,
    /// True while the event of a move waits for the application.
    told: bool,
}

impl<A: Address> Roaming<A> {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            validations: ArrayVec::new_const(),
            newest_here: 0,
            heard_here: now,
            moved: None,
            previous: None,
            told: false,
        }
    }

    /// Notes a datagram from the peer's address.
    pub(super) fn on_heard_here(&mut self, id: u64, now: Instant) {
        self.newest_here = self.newest_here.max(id);
        self.heard_here = now;
    }

    /// Notes a datagram from another address than the peer's, and says whether it proves that the remote
    /// host is there. `patience`: T_rto (7).
    pub(super) fn on_heard_at_other_address(
        &mut self,
        &Heard { from, words, bytes }: &Heard<A>,
        patience: Duration,
        draw: impl FnOnce() -> u64,
        now: Instant,
    ) -> bool {
        self.forget_expired(patience, now);
        let is_tried = self
            .validations
            .iter()
            .any(|validation| validation.address == from);
        // A copy of an old frame makes no candidate, whatever address it comes from.
        if !is_tried && words.is_newest && !self.validations.is_full() {
            self.validations.push(Validation::new(from, draw(), now));
        }
        let mut validations = self.validations.iter_mut();
        let Some(validation) = validations.find(|validation| validation.address == from) else {
            return false;
        };
        validation.received += bytes as u64;
        validation.response = words.challenge.or(validation.response);
        // Overtaken by a datagram from the peer's address, so the remote host is no longer where this
        // one was sent.
        if words.id <= self.newest_here {
            return false;
        }
        if words.response == Some(validation.challenge) {
            // One move a second at most, however often the remote host proves to be at another address.
            let moved = |at: Instant| now.saturating_duration_since(at) < INTERVAL;
            return !self.moved.is_some_and(moved);
        }
        // Without a timer of its own: the challenge goes again because another frame came from there.
        let lost = |at: Instant| now.saturating_duration_since(at) >= patience;
        validation.challenge_due |= words.is_newest && validation.challenged.is_none_or(lost);
        false
    }

    /// Gives up validations in which nothing was echoed for three T_rto (RFC 9000 §8.2.4).
    fn forget_expired(&mut self, patience: Duration, now: Instant) {
        let ends = (3 * patience).max(INTERVAL);
        self.validations
            .retain(|validation| now.saturating_duration_since(validation.since) < ends);
    }

    /// Notes that the peer has moved from this address, as the frame with this id says. Whether that is
    /// news to the application: no event of an earlier move waits.
    pub(super) fn on_moved(&mut self, from: A, id: u64, now: Instant) -> bool {
        self.validations.clear();
        (self.newest_here, self.heard_here) = (id, now);
        (self.moved, self.previous) = (Some(now), Some(from));
        !core::mem::replace(&mut self.told, true)
    }

    /// Notes that the application has taken the event.
    pub(super) const fn moved_taken(&mut self) {
        self.told = false;
    }

    /// Sends a challenge to the peer's previous address, if its present one is silent: the remote host
    /// may be back. `timeout`: how long after a move the previous address is remembered.
    pub(super) fn try_previous(
        &mut self,
        patience: Duration,
        timeout: Duration,
        draw: impl FnOnce() -> u64,
        now: Instant,
    ) {
        let (Some(moved), Some(previous)) = (self.moved, self.previous) else {
            return;
        };
        self.forget_expired(patience, now);
        if now.saturating_duration_since(moved) >= timeout {
            // By now a connection that was silent since then has ended.
            self.previous = None;
            return;
        }
        let silence = now.saturating_duration_since(self.heard_here);
        let is_tried = |validation: &Validation<A>| validation.address == previous;
        let tried = self.validations.iter().any(is_tried);
        if silence < INTERVAL.max(3 * patience) || tried || self.validations.is_full() {
            return;
        }
        let mut validation = Validation::new(previous, draw(), now);
        (validation.received, validation.challenge_due) = (PROVED, true);
        self.validations.push(validation);
    }

    /// Writes the next datagram to an address that is being validated, if there is one.
    pub(super) fn poll_transmit(
        &mut self,
        peer: &mut Peer,
        now: Instant,
        buf: &mut [u8],
    ) -> Option<(A, Written)> {
        self.validations.iter_mut().find_map(|validation| {
            let challenges = validation.challenge_due;
            let (words, room) = validation.take_words();
            let room = room.min(buf.len());
            if words.is_empty() {
                return None;
            }
            // With too little room nothing leaves: the next frame from there makes the challenge due
            // again.
            let written = peer.write_path_words(&words, now, &mut buf[..room])?;
            validation.sent += written.len as u64;
            validation.challenged = challenges.then_some(now).or(validation.challenged);
            Some((validation.address, written))
        })
    }
}

#[cfg(test)]
mod tests;
