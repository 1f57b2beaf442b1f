//! The connecting peer of a host that called `connect` (§2.3): it asks until it is acknowledged,
//! and remembers whose requests it has seen.

use core::time::Duration;

use arrayvec::ArrayVec;

use crate::frame::Connect;
use crate::time::Instant;

/// The first interval between requests; each is half as long again as the one before
/// (`deviations.md` C17).
const INTERVAL_MIN: Duration = Duration::from_millis(100);
const INTERVAL_MAX: Duration = Duration::from_secs(1);

/// While both hosts connect to each other they ask more often, so that a hole in a NAT is hit
/// from both sides.
const PUNCH_INTERVAL: Duration = Duration::from_millis(50);
const PUNCH_TIME: Duration = Duration::from_secs(1);

/// Remote hosts that may be remembered at a time.
const CANDIDATES_MAX: usize = 4;

/// A request that came from the remote address.
#[derive(Debug)]
struct Candidate {
    request: Connect,
    /// It echoes our own nonce: whoever sent it has seen our request.
    echoed: bool,
}

/// A handshake under way.
#[derive(Debug)]
pub(crate) struct Handshake {
    started: Instant,
    interval: Duration,
    candidates: ArrayVec<Candidate, CANDIDATES_MAX>,
    /// The newest cookie that a listener gave us.
    pub(crate) cookie: Option<u64>,
    /// The newest acknowledgement of our own nonce (`deviations.md` C4).
    locked: Option<Connect>,
    /// Somebody else asked since then: the remote host may have given up the attempt that
    /// acknowledged us, and begun another.
    contested: bool,
    /// The remote host connects to us, as we to it.
    punching: bool,
    pub(crate) request_due: bool,
    /// Nonces of requests to be acknowledged, one acknowledgement each.
    acks: ArrayVec<u64, CANDIDATES_MAX>,
}

impl Handshake {
    pub(crate) const fn new(now: Instant) -> Self {
        Self {
            started: now,
            interval: INTERVAL_MIN,
            candidates: ArrayVec::new_const(),
            cookie: None,
            locked: None,
            contested: false,
            punching: false,
            request_due: true,
            acks: ArrayVec::new_const(),
        }
    }

    /// The time of the request after the one that is sent now.
    pub(crate) fn next_retry(&mut self, now: Instant) -> Instant {
        if self.punching && now.saturating_duration_since(self.started) < PUNCH_TIME {
            return now + PUNCH_INTERVAL;
        }
        let interval = self.interval;
        self.interval = (interval * 3 / 2).min(INTERVAL_MAX);
        now + interval
    }

    /// A request came from the address that we connect to. One with a cookie echoes our nonce.
    pub(crate) fn on_request(&mut self, request: &Connect, own_nonce: u64) {
        let echoed = request.nonce_peer == own_nonce;
        if request.cookie {
            self.cookie = Some(request.nonce_self);
            self.request_due = true;
        } else {
            self.punching = true;
            self.acknowledge(request.nonce_self);
        }
        self.remember(request, echoed);
    }

    fn acknowledge(&mut self, nonce: u64) {
        if !self.acks.contains(&nonce) && !self.acks.is_full() {
            self.acks.push(nonce);
        }
    }

    /// The nonce of the next acknowledgement to be sent.
    pub(crate) fn next_ack(&mut self) -> Option<u64> {
        self.acks.pop_at(0)
    }

    /// What echoes our nonce is never evicted by what does not.
    fn remember(&mut self, request: &Connect, echoed: bool) {
        if self.has_seen(request.nonce_self) {
            return;
        }
        if self.candidates.is_full() {
            let victim = self.candidates.iter().position(|other| !other.echoed);
            let Some(victim) = victim.or_else(|| echoed.then_some(0)) else {
                return;
            };
            self.candidates.remove(victim);
        }
        let nonce = request.nonce_self;
        self.contested |= self
            .locked
            .as_ref()
            .is_some_and(|ack| ack.nonce_self != nonce);
        self.candidates.push(Candidate {
            request: request.clone(),
            echoed,
        });
    }

    /// Whether a request with this nonce has come.
    pub(crate) fn has_seen(&self, nonce: u64) -> bool {
        self.candidates
            .iter()
            .any(|candidate| candidate.request.nonce_self == nonce)
    }

    /// An acknowledgement of our own nonce came: the newest one decides who the remote host is.
    pub(crate) fn on_acknowledge(&mut self, ack: &Connect) {
        self.locked = Some(ack.clone());
        self.contested = false;
    }

    /// The remote host, once both a request and an acknowledgement have come, in either order
    /// (Figure 2).
    pub(crate) fn established(&self) -> Option<&Connect> {
        self.locked
            .as_ref()
            .filter(|ack| self.has_seen(ack.nonce_self))
    }

    /// The remote host that a short datagram can only have come from: the one that has acknowledged
    /// us, or else the only one whose request was seen. Such a datagram stands for what is missing,
    /// the request or the acknowledgement (`docs/deviations.md` C9). None if it is not clear who that
    /// is: our next request is acknowledged again.
    pub(crate) fn sole_candidate(&self) -> Option<&Connect> {
        match (self.candidates.as_slice(), &self.locked) {
            (_, Some(locked)) => Some(locked).filter(|_| !self.contested),
            ([only], None) if !only.request.cookie => Some(&only.request),
            _ => None,
        }
    }

    /// A nonce of the remote host, for telling it that we give up.
    pub(crate) fn any_remote(&self) -> Option<u64> {
        let locked = self.locked.as_ref().map(|ack| ack.nonce_self);
        locked
            .or(self.cookie)
            .or_else(|| self.candidates.first().map(|c| c.request.nonce_self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::frame::ConnectionId;

    #[test]
    fn requests_are_repeated_ever_less_often() {
        let mut handshake = Handshake::new(Instant::ZERO);
        let intervals: [u64; 8] =
            core::array::from_fn(|_| handshake.next_retry(Instant::ZERO).as_micros() / 1000);
        assert_eq!(intervals, [100, 150, 225, 337, 506, 759, 1000, 1000]); // C17
    }

    #[test]
    fn for_a_second_requests_that_meet_are_repeated_often() {
        let mut handshake = Handshake::new(Instant::ZERO);
        handshake.punching = true;
        let mut now = Instant::ZERO;
        for n in 1..=20 {
            now = handshake.next_retry(now);
            assert_eq!(now, Instant::ZERO + n * PUNCH_INTERVAL);
        }
        assert_eq!(handshake.next_retry(now), now + INTERVAL_MIN); // C17
    }

    #[test]
    fn what_echoes_us_is_not_forgotten_for_what_does_not() {
        const OURS: u64 = 7;
        let request = |nonce_self, nonce_peer| Connect {
            cookie: false,
            nonce_self,
            nonce_peer,
            connection_id: ConnectionId::EMPTY,
            offer: Config::new().offer(),
        };
        let mut handshake = Handshake::new(Instant::ZERO);
        handshake.on_request(&request(1, 0), OURS);
        handshake.on_request(&request(2, OURS), OURS);
        for stranger in 100..200 {
            handshake.on_request(&request(stranger, 0), OURS);
            assert!(handshake.candidates.len() <= CANDIDATES_MAX);
        }
        assert!(!handshake.has_seen(1) && handshake.has_seen(2));
        // Of those that echo us, the newest stay.
        for friend in 3..=6 {
            handshake.on_request(&request(friend, OURS), OURS);
        }
        assert!(!handshake.has_seen(2) && (3..=6).all(|friend| handshake.has_seen(friend)));
        handshake.on_request(&request(7, 0), OURS);
        assert!(!handshake.has_seen(7) && (3..=6).all(|friend| handshake.has_seen(friend)));
    }
}
