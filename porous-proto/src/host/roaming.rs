//! Peers whose remote hosts move (`docs/wire.md`, "Roaming"; `docs/deviations.md` D10): a datagram of
//! a connection from elsewhere is answered by a challenge, and the peer moves when that has been
//! echoed from there.

use core::time::Duration;

use arrayvec::ArrayVec;

use crate::frame::Control;
use crate::ids::Address;
use crate::peer::Peer;
use crate::time::Instant;
use crate::transfer::{PathWords, Written};

/// The most paths that are validated at once for a peer.
const VALIDATIONS_MAX: usize = 3;

/// It moves no more often than that. A challenge is outstanding for at least as long.
const INTERVAL: Duration = Duration::from_secs(1);

/// An address at which a remote host has not proved to be is sent this many times what has come from
/// there, in bytes (RFC 9000 §8.1).
const AMPLIFICATION: u64 = 3;

/// What counts as come from where it was proved to be a moment ago, in bytes: it may be asked there
/// although nothing comes.
const PROVED: u64 = 1200;

/// A datagram that its peer has taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard<A> {
    pub(super) from: A,
    /// What it says of the path that it came on.
    pub(super) words: PathWords,
    pub(super) bytes: usize,
}

/// The validation of the path to an address that a remote host may be at (RFC 9000 §8.2).
#[derive(Debug)]
struct Validation<A> {
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
    validations: ArrayVec<Validation<A>, VALIDATIONS_MAX>,
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
            validations: ArrayVec::new_const(),
            newest_here: 0,
            heard_here: now,
            moved: None,
            previous: None,
            told: false,
        }
    }

    /// A datagram came from where the peer is.
    pub(super) fn on_heard_here(&mut self, id: u64, now: Instant) {
        self.newest_here = self.newest_here.max(id);
        self.heard_here = now;
    }

    /// A datagram came from elsewhere: whether the remote host has proved to be there. `patience`:
    /// T_rto (7).
    pub(super) fn on_heard_elsewhere(
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
        if !is_tried && words.is_newest && !self.validations.is_full() {
            self.validations.push(Validation::new(from, draw(), now));
        }
        let mut validations = self.validations.iter_mut();
        let Some(validation) = validations.find(|validation| validation.address == from) else {
            return false;
        };
        validation.received += bytes as u64;
        validation.response = words.challenge.or(validation.response);
        // What was overtaken by a datagram from where the peer is comes from where it was.
        if words.id <= self.newest_here {
            return false;
        }
        if words.response == Some(validation.challenge) {
            let moved = |at: Instant| now.saturating_duration_since(at) < INTERVAL;
            return !self.moved.is_some_and(moved);
        }
        let lost = |at: Instant| now.saturating_duration_since(at) >= patience;
        validation.challenge_due |= words.is_newest && validation.challenged.is_none_or(lost);
        false
    }

    /// A validation is given up when nothing was echoed for three T_rto (RFC 9000 §8.2.4).
    fn forget_expired(&mut self, patience: Duration, now: Instant) {
        let ends = (3 * patience).max(INTERVAL);
        self.validations
            .retain(|validation| now.saturating_duration_since(validation.since) < ends);
    }

    /// The peer has moved, as the frame with this id says. Whether that is news to the application:
    /// no event of it waits.
    pub(super) fn on_moved(&mut self, from: A, id: u64, now: Instant) -> bool {
        self.validations.clear();
        (self.newest_here, self.heard_here) = (id, now);
        (self.moved, self.previous) = (Some(now), Some(from));
        !core::mem::replace(&mut self.told, true)
    }

    /// The application has taken the event.
    pub(super) const fn moved_taken(&mut self) {
        self.told = false;
    }

    /// Where the remote host is now is silent: it may be back where it was. `timeout`: how long that
    /// is remembered.
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

    /// Writes the next datagram that goes elsewhere, if there is one.
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
            let written = peer.write_path_words(&words, now, &mut buf[..room])?;
            validation.sent += written.len as u64;
            validation.challenged = challenges.then_some(now).or(validation.challenged);
            Some((validation.address, written))
        })
    }
}

#[cfg(test)]
mod tests;
