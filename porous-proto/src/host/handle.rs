//! Datagrams that arrive: whose they are, and what becomes of those that are nobody's
//! (`docs/wire.md`, "Handshake").

use rand_core::CryptoRng;

use super::limits::Answered;
use super::replies::Reply;
use super::{Address, Host};
use crate::event::{Disposition, Ecn, Ignored, Listen, Refusal};
use crate::frame::{Connect, Datagram, Disconnect, Refuse, Request, Rest, VERSION, decode};
use crate::peer::{Agreement, Peer, PeerState, Tick};
use crate::time::Instant;

/// While so many events wait for the application, nobody is let in (told in `Config`).
pub(super) const EVENTS_MAX: usize = 4096;

/// The slot of the peer that took a datagram.
type Taken = Result<u32, Ignored>;

impl<R: CryptoRng, A: Address> Host<R, A> {
    /// Takes a datagram in. Whatever it contains, the work is bounded by its length and by the
    /// configuration, and nothing grows past a limit of the configuration.
    ///
    /// `ecn` is what the IP header said, or `NotEct` if that is not known.
    ///
    /// ```
    /// use porous_proto::{Config, Disposition, Ecn, Host, Instant};
    /// # use porous_proto::doc::example_rng;
    ///
    /// let mut host = Host::<_, u32>::new(Config::new(), example_rng());
    /// let disposition = host.handle_datagram(Instant::ZERO, 7, Ecn::NotEct, b"garbage");
    /// assert!(matches!(disposition, Disposition::Ignored(_)));
    /// ```
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        from: A,
        ecn: Ecn,
        datagram: &[u8],
    ) -> Disposition {
        let tick = self.advance(now);
        self.stats.datagrams_received += 1;
        self.stats.bytes_received += datagram.len() as u64;
        let known = self.stats.accepted;
        let taken = self.route(tick, from, ecn, datagram);
        match taken {
            Ok(slot) => {
                if let Some((_, peer)) = self.peers.at_mut(slot) {
                    peer.count_received(datagram.len(), tick.now);
                }
                self.settle(slot);
                let peer = self.peers.id(slot);
                if self.stats.accepted > known {
                    Disposition::Accepted(peer)
                } else {
                    Disposition::Handled(peer)
                }
            }
            Err(cause) => {
                self.stats.ignored[cause.index()] += 1;
                Disposition::Ignored(cause)
            }
        }
    }

    fn route(&mut self, tick: Tick, from: A, ecn: Ecn, datagram: &[u8]) -> Taken {
        let len = usize::from(self.config.connection_id_len);
        let Datagram { acknowledge, rest } = decode(datagram, len).map_err(Ignored::Malformed)?;
        // A request comes first: it may make the peer that the acknowledgement in front is for.
        let rest = match rest {
            Rest::Nothing => None,
            Rest::Request(request) => Some(self.on_request(tick, from, &request)),
            Rest::OtherVersion { nonce_self, .. } => {
                Some(self.on_other_version(from, nonce_self, datagram))
            }
            Rest::Refuse(refuse) => Some(self.on_refuse(tick, from, &refuse)),
            Rest::Disconnect(bye) => Some(self.on_disconnect(tick, from, &bye)),
            Rest::DisconnectAck(bye) => Some(self.with_nonces(from, bye.nonce_peer, |peer, _| {
                peer.on_disconnect_ack(bye.nonce_self, tick.now)
            })),
            Rest::Reset(reset) => Some(self.on_reset(tick, from, reset.connection_id)),
            Rest::Short(short) => {
                let acknowledged = acknowledge
                    .as_ref()
                    .map(|ack| self.on_acknowledge(tick, from, ack));
                let taken = self.on_short(tick, from, ecn, &short);
                return taken.or_else(|cause| acknowledged.unwrap_or(Err(cause)));
            }
        };
        match (rest, acknowledge) {
            (Some(rest), None) => rest,
            (Some(rest), Some(ack)) => {
                let acknowledged = self.on_acknowledge(tick, from, &ack);
                rest.or_else(|cause| acknowledged.map_err(|_| cause))
            }
            (None, Some(ack)) => self.on_acknowledge(tick, from, &ack),
            (None, None) => Err(Ignored::UnknownNonce),
        }
    }

    /// Requests, in the order of checks that `docs/wire.md` gives.
    fn on_request(&mut self, tick: Tick, from: A, request: &Request<'_>) -> Taken {
        let connect = &request.connect;
        let nonce = connect.nonce_self;
        if !connect.cookie {
            if let Some(slot) = self
                .peers
                .find(from, |peer| peer.remote_nonce() == Some(nonce))
            {
                if !self.is_padded(request.datagram_length) {
                    return Err(Ignored::Unpadded); // what it is answered may be longer
                }
                self.may_answer_for(slot, from)?;
                self.asked_from(slot, from);
                return self.with(slot, |peer| {
                    peer.on_repeated_request();
                    Ok(())
                });
            }
        }
        if let Some(slot) = self.peers.find(from, Peer::is_attempt) {
            return self.on_request_to_attempt(slot, tick, from, request);
        }
        if connect.cookie {
            return Err(Ignored::UnknownNonce);
        }
        self.on_stranger(tick, from, request)
    }

    /// Whether a request of this length may be answered: no answer is as long.
    fn is_padded(&self, datagram_length: usize) -> bool {
        datagram_length >= usize::from(self.config.request_size)
    }

    /// We connect to the address that the request comes from: we answer with our own nonce
    /// (`deviations.md` C16).
    fn on_request_to_attempt(
        &mut self,
        slot: u32,
        tick: Tick,
        from: A,
        request: &Request<'_>,
    ) -> Taken {
        let connect = &request.connect;
        if !connect.cookie {
            if !self.is_padded(request.datagram_length) {
                return Err(Ignored::Unpadded);
            }
            if let Err(refusal) = self.agree(connect) {
                // It proves nothing yet, so that it must not end our own attempt (C8).
                return self.turn_away(from, connect.nonce_self, refusal);
            }
        }
        let way = self.peers.way(slot, from);
        let (Some(way), Some((_, peer))) = (way, self.peers.at_mut(slot)) else {
            return Err(Ignored::UnknownNonce);
        };
        let echoes = connect.nonce_peer == peer.nonce();
        // Our own nonce is a mirror's: what comes from there is what we have sent.
        if connect.nonce_self == peer.nonce() || (connect.cookie && !echoes) {
            return Err(Ignored::UnknownNonce);
        }
        if connect.offer.application == self.offer.application {
            peer.on_request(way, request, &self.offer, tick.now);
        } else {
            let application_id = connect.offer.application;
            peer.on_refused(way, Refusal::Incompatible { application_id }, tick.now);
        }
        Ok(slot)
    }

    /// What comes of a request without COOKIE, if anything can: with what the other host is told.
    fn agree(&self, connect: &Connect) -> Result<Agreement, Refusal> {
        let application_id = self.offer.application;
        let agreement = Agreement::new(&self.offer, &connect.offer)
            .ok_or(Refusal::Incompatible { application_id })?;
        // A host that asks for sealing never goes on without it, and this one does not seal.
        if connect.offer.sealed.is_empty() {
            Ok(agreement)
        } else {
            Err(Refusal::Security)
        }
    }

    fn on_stranger(&mut self, tick: Tick, from: A, request: &Request<'_>) -> Taken {
        if self.listen == Listen::Closed {
            return Err(Ignored::NotListening);
        }
        if !self.is_padded(request.datagram_length) {
            return Err(Ignored::Unpadded);
        }
        let connect = &request.connect;
        let agreement = match self.agree(connect) {
            Ok(agreement) => agreement,
            Err(refusal) => return self.turn_away(from, connect.nonce_self, refusal),
        };
        let room = self.inbound.count() < self.config.max_peers && !self.events_wait();
        if self.listen == Listen::Full || !room {
            return self.turn_away(from, connect.nonce_self, Refusal::Full);
        }
        self.cookies.rotate(tick.now, &mut self.rng);
        let covered = request.cookie_input();
        if self.cookies.accepts(connect.nonce_peer, &from, covered) {
            return self.on_proved(tick, from, request, agreement);
        }
        let cookie = self.cookies.bake(&from, covered);
        self.reply(
            from,
            Reply::Cookie {
                cookie,
                nonce_peer: connect.nonce_self,
            },
        )
    }

    /// Whether the application has not looked for long. Receipts have bounds of their own.
    fn events_wait(&self) -> bool {
        self.events.len() - self.receipts >= EVENTS_MAX
    }

    /// The request has brought its cookie back: whoever sent it receives at this address.
    fn on_proved(
        &mut self,
        tick: Tick,
        from: A,
        request: &Request<'_>,
        agreement: Agreement,
    ) -> Taken {
        let connect = &request.connect;
        let same = self.peers.by_remote_nonce(connect.nonce_self);
        if let Some(taken) = same.and_then(|slot| self.on_proved_again(slot, from, connect)) {
            return taken;
        }
        let taken = |peer: &Peer| peer.sends_as(connect.connection_id);
        if self.peers.find(from, taken).is_some() {
            // What we sent to the old peer would be taken for the newcomer's: not before that ends.
            return Err(Ignored::WrongState);
        }
        let full = Refusal::Full;
        if !self.inbound.has_place(&from, &self.config) {
            self.stats.source_full += 1;
            return self.turn_away(from, connect.nonce_self, full);
        }
        let Some(connection_id) = self.draw_connection_id() else {
            return self.turn_away(from, connect.nonce_self, full);
        };
        self.replace_older_newcomer(tick, from);
        let pending = self.must_prove(from);
        let identity = self.identity(connect.nonce_peer, connection_id);
        let mut peer = Peer::incoming(tick.now, identity, request, agreement, &self.config);
        if self.listen == Listen::Ask {
            peer.ask();
        } else {
            peer.admit(pending, tick.now);
        }
        let id = self.peers.insert(from, peer);
        self.inbound.insert(id.slot, &from);
        self.stats.accepted += 1;
        Ok(id.slot)
    }

    /// An address has one newcomer at a time, undecided or unproved: the newest. Or a single one could
    /// take all places.
    fn replace_older_newcomer(&mut self, tick: Tick, address: A) {
        let older = |peer: &Peer| peer.is_inbound() && peer.state() == PeerState::Connecting;
        if let Some(slot) = self.peers.find(address, older) {
            if let Some((_, peer)) = self.peers.at_mut(slot) {
                peer.replace(tick.now);
            }
            self.settle(slot);
        }
    }

    fn on_other_version(&mut self, from: A, nonce: u64, datagram: &[u8]) -> Taken {
        if self.listen == Listen::Closed {
            return Err(Ignored::NotListening);
        }
        if !self.is_padded(datagram.len()) {
            return Err(Ignored::Unpadded);
        }
        self.turn_away(
            from,
            nonce,
            Refusal::Version {
                oldest: VERSION,
                newest: VERSION,
            },
        )
    }

    fn turn_away(&mut self, to: A, nonce_peer: u64, refusal: Refusal) -> Taken {
        self.reply(
            to,
            Reply::Refuse {
                nonce_peer,
                refusal,
            },
        )
    }

    fn reply(&mut self, to: A, reply: Reply) -> Taken {
        let room = self.may_answer(to, Answered::Handshake) && self.replies.push(to, reply);
        Err(if room {
            Ignored::Stateless
        } else {
            Ignored::TooManyReplies
        })
    }

    fn on_acknowledge(&mut self, tick: Tick, from: A, ack: &Connect) -> Taken {
        let mine = |peer: &Peer| peer.nonce() == ack.nonce_peer && peer.state().is_live();
        let slot = self.peers.find(from, mine).ok_or(Ignored::UnknownNonce)?;
        let way = self.peers.way(slot, from).ok_or(Ignored::UnknownNonce)?;
        let offer = self.offer.clone();
        self.with(slot, |peer| {
            peer.on_acknowledge(way, ack, &offer, tick.now);
            Ok(())
        })?;
        let remote = self
            .peers
            .at(slot)
            .and_then(|(_, peer)| peer.remote_nonce());
        if remote == Some(ack.nonce_self) {
            self.peers.confirm(slot, from);
        }
        self.choose_way(slot);
        Ok(slot)
    }

    fn on_refuse(&mut self, tick: Tick, from: A, refuse: &Refuse) -> Taken {
        self.with_nonces(from, refuse.nonce_peer, |peer, way| {
            peer.on_refused(way, refuse.refusal(), tick.now);
            true
        })
    }

    fn on_disconnect(&mut self, tick: Tick, from: A, bye: &Disconnect) -> Taken {
        match self.peers.find(from, |p| p.nonce() == bye.nonce_peer) {
            Some(slot) => self.may_answer_for(slot, from)?,
            None => {
                if let Some(taken) = self.on_goodbye_elsewhere(from, bye, tick) {
                    return taken;
                }
            }
        }
        let slot = self.with_nonces(from, bye.nonce_peer, |peer, way| {
            peer.on_disconnect(way, bye.nonce_self, bye.reason, tick.now)
        })?;
        self.after_goodbye(slot, from, bye.nonce_self);
        Ok(slot)
    }

    /// Does something with the peer at this address that has this nonce.
    fn with_nonces(
        &mut self,
        from: A,
        ours: u64,
        act: impl FnOnce(&mut Peer, usize) -> bool,
    ) -> Taken {
        let slot = self
            .peers
            .find(from, |peer| peer.nonce() == ours)
            .ok_or(Ignored::UnknownNonce)?;
        let way = self.peers.way(slot, from).ok_or(Ignored::UnknownNonce)?;
        self.with(slot, |peer| {
            if act(peer, way) {
                Ok(())
            } else {
                Err(Ignored::UnknownNonce)
            }
        })
    }

    fn with(&mut self, slot: u32, act: impl FnOnce(&mut Peer) -> Result<(), Ignored>) -> Taken {
        let (_, peer) = self.peers.at_mut(slot).ok_or(Ignored::UnknownNonce)?;
        act(peer)?;
        Ok(slot)
    }
}
