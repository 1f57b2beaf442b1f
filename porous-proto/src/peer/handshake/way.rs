//! What a connection attempt knows of one of the addresses that it tries.

use alloc::boxed::Box;

use arrayvec::ArrayVec;

use crate::frame::{Connect, Request};

/// Remote hosts that may be remembered at a time.
pub(super) const CANDIDATES_MAX: usize = 4;

/// A request that came from the remote address.
#[derive(Debug)]
struct Candidate {
    request: Connect,
    greeting: Box<[u8]>,
    /// It echoes our own nonce: whoever sent it has seen our request.
    echoed: bool,
}

/// One address, and what has come from it.
#[derive(Debug)]
pub(super) struct Way {
    candidates: ArrayVec<Candidate, CANDIDATES_MAX>,
    /// The newest cookie that a listener gave us.
    pub(super) cookie: Option<u64>,
    /// The newest acknowledgement of our own nonce (`deviations.md` C4).
    pub(super) locked: Option<Connect>,
    /// Somebody else asked since then: the remote host may have given up the attempt that
    /// acknowledged us, and begun another.
    contested: bool,
    pub(super) request_due: bool,
    /// Who is there has refused, or given up.
    pub(super) is_struck: bool,
    /// Nonces of requests to be acknowledged, one acknowledgement each.
    acks: ArrayVec<u64, CANDIDATES_MAX>,
}

impl Way {
    pub(super) const fn new() -> Self {
        Self {
            candidates: ArrayVec::new_const(),
            cookie: None,
            locked: None,
            contested: false,
            request_due: true,
            is_struck: false,
            acks: ArrayVec::new_const(),
        }
    }

    pub(super) fn acknowledge(&mut self, nonce: u64) {
        if !self.acks.contains(&nonce) && !self.acks.is_full() {
            self.acks.push(nonce);
        }
    }

    /// The nonce of the next acknowledgement to be sent.
    pub(super) fn next_ack(&mut self) -> Option<u64> {
        self.acks.pop_at(0)
    }

    pub(super) fn owes_ack(&self) -> bool {
        !self.acks.is_empty()
    }

    /// What echoes our nonce is never evicted by what does not.
    pub(super) fn remember(&mut self, request: &Request<'_>, echoed: bool) {
        let nonce = request.connect.nonce_self;
        if self.has_seen(nonce) {
            return;
        }
        if self.candidates.is_full() {
            let victim = self.candidates.iter().position(|other| !other.echoed);
            let Some(victim) = victim.or_else(|| echoed.then_some(0)) else {
                return;
            };
            self.candidates.remove(victim);
        }
        self.contested |= self
            .locked
            .as_ref()
            .is_some_and(|ack| ack.nonce_self != nonce);
        self.candidates.push(Candidate {
            request: request.connect.clone(),
            greeting: request.greeting.into(),
            echoed,
        });
    }

    /// Whether a request with this nonce has come.
    pub(super) fn has_seen(&self, nonce: u64) -> bool {
        self.candidates
            .iter()
            .any(|candidate| candidate.request.nonce_self == nonce)
    }

    /// The greeting of the request with this nonce, if there is such a request.
    pub(super) fn take_greeting(&mut self, nonce: u64) -> Option<Box<[u8]>> {
        let mut candidates = self.candidates.iter_mut();
        let candidate = candidates.find(|it| it.request.nonce_self == nonce)?;
        Some(core::mem::take(&mut candidate.greeting))
    }

    /// Whether a request has come in which this was a cookie.
    pub(super) fn is_cookie(&self, nonce: u64) -> bool {
        let is = |request: &Connect| request.cookie && request.nonce_self == nonce;
        self.candidates.iter().any(|it| is(&it.request))
    }

    /// An acknowledgement of our own nonce came: the newest one decides who the remote host is.
    pub(super) fn on_acknowledge(&mut self, ack: &Connect) {
        self.locked = Some(ack.clone());
        self.contested = false;
    }

    /// The remote host that a short datagram can only have come from: the one that has acknowledged
    /// us, or else the only one whose request was seen. Such a datagram stands for what is missing,
    /// the request or the acknowledgement (`docs/deviations.md` C9). None if it is not clear who that
    /// is: our next request is acknowledged again.
    pub(super) fn sole_candidate(&self) -> Option<&Connect> {
        match (self.candidates.as_slice(), &self.locked) {
            (_, Some(locked)) => Some(locked).filter(|_| !self.contested),
            ([only], None) if !only.request.cookie => Some(&only.request),
            _ => None,
        }
    }

    /// A nonce of the remote host, for telling it that we give up.
    pub(super) fn any_remote(&self) -> Option<u64> {
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
    fn what_echoes_us_is_not_forgotten_for_what_does_not() {
        let request = |nonce_self| {
            Request::unpadded(Connect {
                cookie: false,
                nonce_self,
                nonce_peer: 0,
                connection_id: ConnectionId::EMPTY,
                offer: Config::new().offer(),
            })
        };
        let mut way = Way::new();
        way.remember(&request(1), false);
        way.remember(&request(2), true);
        for stranger in 100..200 {
            way.remember(&request(stranger), false);
            assert!(way.candidates.len() <= CANDIDATES_MAX);
        }
        assert!(!way.has_seen(1) && way.has_seen(2));
        // Of those that echo us, the newest stay.
        for friend in 3..=6 {
            way.remember(&request(friend), true);
        }
        assert!(!way.has_seen(2) && (3..=6).all(|friend| way.has_seen(friend)));
        way.remember(&request(7), false);
        assert!(!way.has_seen(7) && (3..=6).all(|friend| way.has_seen(friend)));
    }
}
