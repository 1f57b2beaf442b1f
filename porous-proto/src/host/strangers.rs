//! Hosts that are no peers: what they are answered, and what they have to prove first
//! (`docs/wire.md`, "REQ and ACK", "RESET"; `docs/deviations.md` C1, C2, C7). Nothing is kept of them
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
#[cfg(feature = "seal")]
use crate::frame::{MAC, encode_disconnect_ack};
use crate::ids::Address;
use crate::peer::{Agreement, Identity, Peer, Settings};
#[cfg(feature = "seal")]
use crate::seal::Secured;
use crate::time::Instant;

/// The sender of a datagram that has just come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sender<A> {
    pub(super) address: A,
    pub(super) now: Instant,
}

/// What a host keeps to deal with strangers: its keys, its limits and the answers that wait.
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

    /// Writes all that decides how strangers are answered. A hash tells the keys of cookies.
    #[cfg(feature = "audit")]
    pub(super) fn view(&self, out: &mut dyn core::fmt::Write) -> core::fmt::Result {
        let Self {
            listen,
            cookies,
            limits,
            replies,
        } = self;
        let keys = cookies.view();
        write!(out, "{listen:?} {cookies:?} {keys:?} {replies:?}")?;
        limits.view(out)
    }

    /// The key under which connection ids hold slots.
    pub(super) fn key_of_ids(&self) -> [u64; 2] {
        [0, 1].map(|half: u8| self.cookies.hash(&("connection ids", half)))
    }

    pub(super) const fn listen(&mut self, policy: Listen) {
        self.listen = policy;
    }

    /// Refuses all strangers from now on, if they were answered at all.
    pub(super) fn refuse_all(&mut self) {
        if self.listen != Listen::Closed {
            self.listen = Listen::Full;
        }
    }

    /// Whether the application decides about each request.
    pub(super) const fn are_asked_about(&self) -> bool {
        matches!(self.listen, Listen::Ask)
    }

    /// `rate`: the most bytes a second that the host may send to all.
    pub(super) fn set_host_rate(&mut self, rate: u32, now: Instant) {
        self.limits.set_host_rate(rate, now);
    }

    /// What a new peer with this nonce is known by.
    pub(super) fn identity(&self, nonce: u64, connection_id: ConnectionId) -> Identity {
        Identity {
            nonce,
            connection_id,
            // The remote host knows the nonce, and learns nothing from it without the key.
            secret: self.cookies.hash(&nonce),
            envelope: 0,
        }
    }

    /// Takes a request without COOKIE that is no known peer's, with the checks in the order of
    /// `docs/wire.md`. Gives the terms of the connection if the request has brought its cookie back: its
    /// sender receives at this address. `has_room`: true if the host has room for one more peer.
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
        // What can never be is refused at once, without a round trip for a cookie.
        let agreement = local.agree(connect);
        let agreement = agreement.map_err(|refusal| self.turn_away(from, nonce_peer, refusal))?;
        // Before the cookie is looked at: a sender need not bring one back to hear that.
        if self.listen == Listen::Full || !has_room {
            return Err(self.turn_away(from, nonce_peer, Refusal::Full));
        }
        // Keys are renewed when one is needed, so that no deadline wakes the host for them.
        self.cookies.rotate(from.now, rng);
        let covered = request.cookie_input();
        let address = &from.address;
        if (self.cookies).accepts(connect.nonce_peer, address, covered) {
            return Ok(agreement);
        }
        // Also for a cookie that is too old: the next request brings the fresh one.
        let cookie = self.cookies.bake(address, covered);
        let reply = Reply::Cookie { cookie, nonce_peer };
        self.answer(from, Answered::Handshake, reply)?;
        Err(Ignored::Stateless)
    }

    /// Refuses a request of another version of the protocol.
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
        // One version is spoken; the refusal tells it, so that the other application can say so.
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

    /// Answers a short datagram of a connection that is not here by a reset.
    pub(super) fn on_unknown_connection(
        &mut self,
        from: Sender<A>,
        connection_id: ConnectionId,
    ) -> Ignored {
        // Whether this host listens or not: half a connection is most often left behind by a client that
        // was killed, and clients do not listen.
        if connection_id.is_empty() {
            return Ignored::UnknownConnection; // there is nothing to echo
        }
        let reset = Reply::Reset(Reset { connection_id });
        let answered = self.answer(from, Answered::UnknownConnection, reset);
        answered.err().unwrap_or(Ignored::UnknownConnection)
    }

    /// Refuses the host with this nonce, and says why its datagram is ignored.
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
        // A datagram that was answered is ignored as well: it has changed nothing here.
        answered.err().unwrap_or(Ignored::Stateless)
    }

    fn answer(&mut self, to: Sender<A>, what: Answered, reply: Reply) -> Result<(), Ignored> {
        self.check_answer(to, what)?;
        let is_sent = self.replies.push(to.address, reply);
        is_sent.then_some(()).ok_or(Ignored::TooManyReplies)
    }

    /// Whether one more answer may go to this address. If so, the answer counts.
    pub(super) fn check_answer(&mut self, to: Sender<A>, what: Answered) -> Result<(), Ignored> {
        // An address has a bucket for each purpose: a host that forges short datagrams in its name, which
        // take a few bytes, must not keep it from connecting.
        let hash = self.cookies.hash(&(what, to.address));
        let may_answer = self.limits.take(to.now, hash, what);
        may_answer.then_some(()).ok_or(Ignored::TooManyReplies)
    }

    /// Whether the host may agree on keys once more, for this address. If so, that counts.
    #[cfg(feature = "seal")]
    pub(super) fn check_agreement(&mut self, with: Sender<A>) -> Result<(), Ignored> {
        let hash = self.cookies.hash(&("agreement", with.address));
        let may_agree = self.limits.take_agreement(with.now, hash);
        may_agree.then_some(()).ok_or(Ignored::TooManyReplies)
    }

    /// Whether a peer may answer a handshake or a goodbye at this address.
    pub(super) fn check_answer_for(&mut self, peer: &Peer, to: Sender<A>) -> Result<(), Ignored> {
        // One that has ended is answered for no more often than strangers: both nonces of its connection
        // were in the open, and anybody may repeat its datagrams (C7).
        if peer.state().is_live() {
            return Ok(());
        }
        self.check_answer(to, Answered::Handshake)
    }

    /// If an attempt has come to one of several addresses: tells the hosts at the others that nothing
    /// comes of it for them.
    pub(super) fn turn_down_others(&mut self, member: &mut Member<A>) {
        let others = member.choose_way();
        self.say_goodbye(member.peer.nonce(), &others, 0);
    }

    /// Tells hosts that were met while connecting that nothing comes of the attempt.
    pub(super) fn say_goodbye(&mut self, nonce_self: u64, remotes: &Remotes<A>, reason: u32) {
        for &(to, nonce_peer) in remotes {
            let bye = Disconnect {
                nonce_self,
                nonce_peer,
                reason,
            };
            // Not limited as answers are: this host has asked there itself.
            self.replies.push(to, Reply::Disconnect(bye));
        }
    }

    /// Acknowledges a goodbye in the place of the peer that it was for.
    pub(super) fn acknowledge(&mut self, to: A, bye: &Disconnect) {
        self.replies.push(to, Reply::DisconnectAck(answer_to(bye)));
    }

    /// Acknowledges a signed goodbye.
    #[cfg(feature = "seal")]
    pub(super) fn acknowledge_signed(&mut self, to: A, bye: &Disconnect, secured: &Secured) {
        let ack = answer_to(bye);
        let mut mac = [0; MAC];
        let sign = |covered: &[u8]| {
            mac = secured.sign(covered);
            mac
        };
        if encode_disconnect_ack(&ack, &mut [0; 64], sign).is_ok() {
            self.replies.push(to, Reply::SignedAck(ack, mac));
        }
    }

    /// Whether the goodbye of an attempt that was given up waits to be sent.
    pub(super) fn has_goodbye(&self) -> bool {
        self.replies.has_goodbye()
    }

    /// Whether an answer waits to be sent.
    pub(super) fn has_answer(&self) -> bool {
        !self.replies.is_empty()
    }

    /// Writes the next answer, and says where to and how many bytes it has.
    pub(super) fn poll_transmit(&mut self, offer: &Offer, buf: &mut [u8]) -> Option<(A, usize)> {
        self.replies.poll_transmit(offer, buf)
    }

    /// The number of answers that wait.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn waiting(&self) -> usize {
        self.replies.len()
    }
}

/// The acknowledgement of a goodbye.
const fn answer_to(bye: &Disconnect) -> DisconnectAck {
    DisconnectAck {
        nonce_self: bye.nonce_peer,
        nonce_peer: bye.nonce_self,
    }
}
