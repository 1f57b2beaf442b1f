//! Hosts that are no peers: what they are answered, and what of that they have to prove
//! (`docs/wire.md`, "Handshake", "RESET"; `docs/deviations.md` C1, C2, C7). Nothing is kept of them
//! but the answers that wait to be sent.

use rand_core::Rng;

use super::answers::{AnswerLimits, Answered, Replies, Reply};
use super::cookie::Cookies;
use super::member::{Member, Remotes};
use crate::config::Config;
use crate::event::{Ignored, Listen};
use crate::frame::{
    ConnectionId, Disconnect, DisconnectAck, Offer, Refusal, Request, Reset, VERSION,
};
use crate::ids::Address;
use crate::peer::{Agreement, Identity, Peer, Settings};
use crate::time::Instant;

/// The sender of a datagram that has just come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sender<A> {
    pub(super) address: A,
    pub(super) now: Instant,
}

/// What a host has to do with strangers.
#[derive(Debug)]
pub(super) struct Strangers<A> {
    listen: Listen,
    cookies: Cookies,
    limits: AnswerLimits,
    replies: Replies<A>,
}

impl<A: Address> Strangers<A> {
    pub(super) fn new(config: &Config, rng: &mut impl Rng) -> Self {
        Self {
            listen: Listen::Closed,
            cookies: Cookies::new(rng),
            limits: AnswerLimits::new(config),
            replies: Replies::new(config.budgets.replies),
        }
    }

    pub(super) const fn listen(&mut self, policy: Listen) {
        self.listen = policy;
    }

    /// Whether the application decides about each request.
    pub(super) const fn are_asked_about(&self) -> bool {
        matches!(self.listen, Listen::Ask)
    }

    /// `rate`: the bytes a second that the host may send to all.
    pub(super) fn set_host_rate(&mut self, rate: u32, now: Instant) {
        self.limits.set_host_rate(rate, now);
    }

    /// A new peer with this nonce.
    pub(super) fn identity(&self, nonce: u64, connection_id: ConnectionId) -> Identity {
        Identity {
            nonce,
            connection_id,
            secret: self.cookies.hash(&nonce),
        }
    }

    /// A request without COOKIE that is no known peer's, in the order of checks that `docs/wire.md`
    /// gives: what comes of it once it has brought its cookie back, so that its sender receives at
    /// this address. `has_room`: for one more peer.
    pub(super) fn on_request(
        &mut self,
        from: Sender<A>,
        request: &Request<'_>,
        local: &Settings,
        has_room: bool,
        rng: &mut impl Rng,
    ) -> Result<Agreement, Ignored> {
        self.check_request(request.datagram_length, local)?;
        let connect = &request.connect;
        let nonce_peer = connect.nonce_self;
        let agreement = local.agree(connect);
        let agreement = agreement.map_err(|refusal| self.turn_away(from, nonce_peer, refusal))?;
        if self.listen == Listen::Full || !has_room {
            return Err(self.turn_away(from, nonce_peer, Refusal::Full));
        }
        self.cookies.rotate(from.now, rng);
        let covered = request.cookie_input();
        let address = &from.address;
        if (self.cookies).accepts(connect.nonce_peer, address, covered) {
            return Ok(agreement);
        }
        let cookie = self.cookies.bake(address, covered);
        let reply = Reply::Cookie { cookie, nonce_peer };
        self.answer(from, Answered::Handshake, reply)?;
        Err(Ignored::Stateless)
    }

    /// A request of another version of the protocol.
    pub(super) fn on_other_version(
        &mut self,
        from: Sender<A>,
        nonce: u64,
        datagram_length: usize,
        local: &Settings,
    ) -> Ignored {
        if let Err(cause) = self.check_request(datagram_length, local) {
            return cause;
        }
        let (oldest, newest) = (VERSION, VERSION);
        self.turn_away(from, nonce, Refusal::Version { oldest, newest })
    }

    /// Whether requests in datagrams of this length are looked at.
    fn check_request(&self, datagram_length: usize, local: &Settings) -> Result<(), Ignored> {
        if self.listen == Listen::Closed {
            return Err(Ignored::NotListening);
        }
        local.check_padding(datagram_length)
    }

    /// A short datagram of a connection that is not here. Its sender is told, whether we listen or
    /// not: a client that has forgotten its server is what leaves half a connection behind.
    pub(super) fn on_unknown_connection(
        &mut self,
        from: Sender<A>,
        connection_id: ConnectionId,
    ) -> Ignored {
        if connection_id.is_empty() {
            return Ignored::UnknownConnection; // there is nothing to echo
        }
        let reset = Reply::Reset(Reset { connection_id });
        let answered = self.answer(from, Answered::UnknownConnection, reset);
        answered.err().unwrap_or(Ignored::UnknownConnection)
    }

    /// Refuses the host with this nonce.
    pub(super) fn turn_away(
        &mut self,
        to: Sender<A>,
        nonce_peer: u64,
        refusal: Refusal,
    ) -> Ignored {
        let refuse = Reply::Refuse {
            nonce_peer,
            refusal,
        };
        let answered = self.answer(to, Answered::Handshake, refuse);
        answered.err().unwrap_or(Ignored::Stateless)
    }

    fn answer(&mut self, to: Sender<A>, what: Answered, reply: Reply) -> Result<(), Ignored> {
        self.check_answer(to, what)?;
        let is_sent = self.replies.push(to.address, reply);
        is_sent.then_some(()).ok_or(Ignored::TooManyReplies)
    }

    /// Whether one more answer may go to this address; it counts then. An address has two buckets: a
    /// host that forges a few bytes in its name must not keep it from connecting.
    pub(super) fn check_answer(&mut self, to: Sender<A>, what: Answered) -> Result<(), Ignored> {
        let hash = self.cookies.hash(&(what, to.address));
        let may_answer = self.limits.take(to.now, hash, what);
        may_answer.then_some(()).ok_or(Ignored::TooManyReplies)
    }

    /// A peer that has ended answers what is left of its connection, but no more often than strangers
    /// are answered.
    pub(super) fn check_answer_for(&mut self, peer: &Peer, to: Sender<A>) -> Result<(), Ignored> {
        if peer.state().is_live() {
            return Ok(());
        }
        self.check_answer(to, Answered::Handshake)
    }

    /// If an attempt has come to one of several addresses: tells others that nothing comes of it.
    pub(super) fn turn_down_others(&mut self, member: &mut Member<A>) {
        let others = member.choose_way();
        self.say_goodbye(member.peer.nonce(), &others, 0);
    }

    /// Tells hosts that were met while connecting that nothing comes of it.
    pub(super) fn say_goodbye(&mut self, nonce_self: u64, remotes: &Remotes<A>, reason: u32) {
        for &(to, nonce_peer) in remotes {
            let bye = Disconnect {
                nonce_self,
                nonce_peer,
                reason,
            };
            self.replies.push(to, Reply::Disconnect(bye));
        }
    }

    /// Acknowledges a goodbye in the place of its peer.
    pub(super) fn acknowledge(&mut self, to: A, bye: &Disconnect) {
        let (nonce_self, nonce_peer) = (bye.nonce_peer, bye.nonce_self);
        let ack = DisconnectAck {
            nonce_self,
            nonce_peer,
        };
        self.replies.push(to, Reply::DisconnectAck(ack));
    }

    /// Whether an answer waits to be sent.
    pub(super) fn has_answer(&self) -> bool {
        !self.replies.is_empty()
    }

    /// Writes the next answer: where to, and its length.
    pub(super) fn poll_transmit(&mut self, offer: &Offer, buf: &mut [u8]) -> Option<(A, usize)> {
        self.replies.poll_transmit(offer, buf)
    }

    /// How many answers wait.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn waiting(&self) -> usize {
        self.replies.len()
    }
}
