//! Datagrams that arrive: which peer they are for, and what becomes of those that are for none
//! (`docs/wire.md`, "Handshake").

use rand_core::CryptoRng;

use super::Host;
use super::answers::Answered;
use super::member::Member;
use super::roaming::Heard;
#[cfg(feature = "seal")]
use super::sealed;
use super::strangers::Sender;
use super::table::Found;
use crate::event::{Ecn, Event, Ignored};
use crate::frame::{
    Connect, ConnectionId, Datagram, Disconnect, DisconnectAck, Refusal, Request, Rest, Short,
    decode,
};
#[cfg(feature = "seal")]
use crate::frame::{decode_phased, decode_sealed};
use crate::ids::{Address, Slot};
use crate::peer::{Agreement, Peer, PeerState, Tick};

/// The peer that took a datagram.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) slot: Slot,
    /// True if this datagram has made the peer.
    pub(super) is_new: bool,
}

impl Taken {
    pub(super) const fn by(slot: Slot) -> Self {
        let is_new = false;
        Self { slot, is_new }
    }
}

/// A datagram that has come to a host.
#[derive(Debug)]
pub(super) struct Input<'h, R, A> {
    pub(super) host: &'h mut Host<R, A>,
    pub(super) tick: Tick,
    pub(super) from: A,
}

impl<R: CryptoRng, A: Address> Input<'_, R, A> {
    /// Gives the datagram to the peer that it is for, or answers it.
    // Not inlined: what a loop of the application calls would hold the stack of each of its calls.
    #[inline(never)]
    pub(super) fn take(&mut self, ecn: Ecn, datagram: &[u8]) -> Result<Taken, Ignored> {
        let now = self.tick.now;
        let len = usize::from(self.host.local.config.connection_id_len);
        // A host without suites refuses these as it does without the feature.
        #[cfg(feature = "seal")]
        if !self.host.local.offer.sealed.is_empty() {
            if let Some(sealed) = decode_sealed(datagram, len) {
                return sealed::take(self, ecn, sealed.map_err(Ignored::Malformed)?);
            }
            if let Some(short) = decode_phased(datagram, len) {
                return self.on_other_short(ecn, &short.map_err(Ignored::Malformed)?);
            }
        }
        let Datagram { acknowledge, rest } = decode(datagram, len).map_err(Ignored::Malformed)?;
        // A request comes first: it may make the peer that the acknowledgement in front is for.
        let rest = match rest {
            Rest::Nothing => None,
            Rest::Request(request) => Some(self.on_request(&request)),
            Rest::OtherVersion { nonce_self, .. } => {
                let (from, local) = (self.sender(), &self.host.local);
                let strangers = &mut self.host.strangers;
                let length = datagram.len();
                Some(Err(
                    strangers.on_other_version(from, nonce_self, length, local)
                ))
            }
            Rest::Refuse(refuse) => Some(self.with_nonce(refuse.nonce_peer, |peer, way| {
                peer.on_refused(way, refuse.refusal, now);
                true
            })),
            Rest::Disconnect(bye) => {
                #[cfg(feature = "seal")]
                sealed::check_unsigned(self, [bye.nonce_peer, bye.nonce_self])?;
                Some(self.on_disconnect(&bye))
            }
            Rest::DisconnectAck(bye) => {
                #[cfg(feature = "seal")]
                sealed::check_unsigned(self, [bye.nonce_peer, bye.nonce_self])?;
                Some(self.on_disconnect_ack(&bye))
            }
            Rest::Reset(reset) => Some(self.on_reset(reset.connection_id)),
            Rest::Short(short) => {
                // The acknowledgement in front may be what makes the rest the connection's.
                let acknowledged = acknowledge.map(|ack| self.on_acknowledge(&ack));
                let taken = self.on_short(ecn, &short);
                return taken.or_else(|cause| acknowledged.unwrap_or(Err(cause)));
            }
        };
        let acknowledged = acknowledge.map(|ack| self.on_acknowledge(&ack));
        // A datagram with two forms is ignored only if both are, for the cause of the second.
        match (rest, acknowledged) {
            (Some(taken), Some(acknowledged)) => {
                taken.or_else(|cause| acknowledged.map_err(|_| cause))
            }
            (Some(taken), None) | (None, Some(taken)) => taken,
            (None, None) => Err(Ignored::UnknownNonce),
        }
    }

    pub(super) const fn sender(&self) -> Sender<A> {
        Sender {
            address: self.from,
            now: self.tick.now,
        }
    }

    /// Takes a request, with the checks in the order of `docs/wire.md`.
    pub(super) fn on_request(&mut self, request: &Request<'_>) -> Result<Taken, Ignored> {
        let (from, sender) = (self.from, self.sender());
        let host = &mut *self.host;
        let connect = &request.connect;
        let nonce = connect.nonce_self;
        if !connect.cookie {
            // A peer's own request once more, also of one that lingers: our answer was lost.
            let is_same = |member: &Member<A>| {
                let is_there = member.peer.state().is_live() || member.is_same_at(from);
                is_there && member.peer.remote_nonce() == Some(nonce)
            };
            if let Some((slot, member)) = host.table.member_mut(from, is_same) {
                // The answer may be longer than a request without padding: nothing is amplified.
                host.local.check_padding(request.datagram_length)?;
                host.strangers.check_answer_for(&member.peer, sender)?;
                member.asked_from(from);
                return Ok(Taken::by(slot));
            }
        }
        if let Some(Found { slot, way, member }) = host.table.find_mut(from, Peer::is_attempt) {
            if !connect.cookie {
                host.local.check_padding(request.datagram_length)?;
                // Refused as a stranger's: it proves nothing yet, and must not end our own attempt (C8).
                let agreement = host.local.agree(connect);
                agreement.map_err(|refusal| host.strangers.turn_away(sender, nonce, refusal))?;
            }
            #[cfg(feature = "seal")]
            if let Some(first) = &request.auth {
                return sealed::answer(self, (slot, way), request, first);
            }
            member.on_request(way, request, &host.local, sender.now)?;
            host.strangers.turn_down_others(member);
            return Ok(Taken::by(slot));
        }
        // A cookie is an answer to an attempt, and there is none at this address.
        if connect.cookie {
            return Err(Ignored::UnknownNonce);
        }
        // Each new peer adds events: an application that takes none out gets no more peers (C2).
        let has_place = host.inbound.count() < host.local.config.budgets.max_peers;
        // Connected peers have a claim to what the program can do, newcomers do not.
        let is_overloaded = host.backlog.is_too_much();
        let has_room = has_place && !host.events.are_too_many() && !is_overloaded;
        let (local, rng) = (&host.local, &mut host.rng);
        let answer = (host.strangers).on_request(sender, request, local, has_room, rng);
        // No cookie is given without room: every answer was a refusal.
        let is_refused = matches!(answer, Err(Ignored::Stateless));
        host.stats.overloaded += u64::from(is_overloaded && is_refused);
        let agreement = answer?;
        self.on_proved(request, agreement)
    }

    /// Takes a request that has brought its cookie back: its sender receives at this address.
    fn on_proved(&mut self, request: &Request<'_>, agreement: Agreement) -> Result<Taken, Ignored> {
        let from = self.from;
        let host = &mut *self.host;
        let connect = &request.connect;
        let mut is_known = false;
        if let Some((slot, member)) = host.table.by_remote_nonce_mut(connect.nonce_self) {
            let is_live = member.peer.state().is_live();
            // A connection that is over is not made again by a delayed request (P3). But an eavesdropper may have
            // made it by the nonce of the host that asks now: a request with another cookie, from elsewhere, that
            // brings a message 1 makes a newcomer, which has to prove itself before the application hears of it.
            let has_cookie = member.peer.nonce() == connect.nonce_peer;
            let is_its_own = has_cookie || member.is_same_at(from);
            if !is_live && (is_its_own || !request.asks_to_seal()) {
                return Err(Ignored::WrongState);
            }
            is_known = !is_live;
            // Another connection id is another host's, which has the nonce by chance or by malice.
            if is_live && member.peer.sends_as(connect.connection_id) {
                // The remote host has asked from another address before: it tries several of ours (D11).
                // Once a datagram of the connection has come, it has settled on one of them, and an
                // eavesdropper that repeats the nonce must not get what is sent to the peer.
                if !member.peer.is_silent() {
                    return Err(Ignored::WrongState);
                }
                if !host.table.asked_from(slot, from) {
                    return Err(Ignored::WrongState);
                }
                return Ok(Taken::by(slot));
            }
        }
        let is_taken = |peer: &Peer| peer.sends_as(connect.connection_id);
        if host.table.find(from, is_taken).is_some() {
            // The newcomer would take for its own what we have sent to the old peer, under the same
            // connection id: it has to wait until that peer ends (C5).
            return Err(Ignored::WrongState);
        }
        let slot = self.let_in(request, agreement, is_known)?;
        Ok(Taken { slot, is_new: true })
    }

    /// Refuses a host that has proved where it is, as there is no place for it.
    fn turn_away(&mut self, request: &Request<'_>) -> Ignored {
        let (sender, nonce) = (self.sender(), request.connect.nonce_self);
        (self.host.strangers).turn_away(sender, nonce, Refusal::Full)
    }

    /// Makes a peer, if its source has a place left. `is_known`: there was a connection with its nonce.
    fn let_in(
        &mut self,
        request: &Request<'_>,
        agreement: Agreement,
        is_known: bool,
    ) -> Result<Slot, Ignored> {
        let (from, now) = (self.from, self.tick.now);
        let host = &mut *self.host;
        if !host.inbound.has_place(&from, &host.local.config) {
            host.stats.source_full += 1;
            return Err(self.turn_away(request));
        }
        let length = host.local.config.connection_id_len;
        // Without a free id the host is as good as full.
        let connection_id = (host.connection_ids).draw(length, &host.table, &mut host.rng);
        let Some(connection_id) = connection_id else {
            return Err(self.turn_away(request));
        };
        #[cfg(feature = "seal")]
        let sealed = sealed::agree(self, request, connection_id)?;
        let host = &mut *self.host;
        // An address has one newcomer at a time, undecided or unproved: the newest. Otherwise one
        // address, with a cookie for each of its requests, could take all places.
        let is_older = |member: &Member<A>| {
            let peer = &member.peer;
            let is_newcomer = peer.is_inbound() && peer.state() == PeerState::Connecting;
            // At an address that only asked in its name anybody may be.
            let is_there = member.is_same_at(from);
            is_newcomer && is_there && peer.gives_way_to(request.asks_to_seal())
        };
        while let Some((slot, member)) = host.table.member_mut(from, is_older) {
            member.peer.replace(now);
            host.settle(slot);
        }
        let pending = is_known || host.must_prove(from);
        // The listener's random id is the cookie, which it made and did not keep (§2.3).
        let cookie = request.connect.nonce_peer;
        let identity = host.strangers.identity(cookie, connection_id);
        let mut peer = Peer::incoming(now, identity, request, agreement, &host.local.config);
        #[cfg(feature = "seal")]
        if let Some((sealed, greeting)) = sealed {
            peer.seal(sealed, &greeting, host.local.config.first_id, now);
        }
        if host.strangers.are_asked_about() {
            peer.ask();
        } else {
            peer.admit(pending, now);
        }
        let id = host.table.insert(Member::new(peer, from, &[]));
        host.inbound.insert(id.slot, &from);
        Ok(id.slot)
    }

    fn on_acknowledge(&mut self, ack: &Connect) -> Result<Taken, Ignored> {
        let host = &mut *self.host;
        let is_mine = |peer: &Peer| peer.nonce() == ack.nonce_peer && peer.state().is_live();
        let found = host.table.find_mut(self.from, is_mine);
        let Found { slot, way, member } = found.ok_or(Ignored::UnknownNonce)?;
        #[cfg(feature = "seal")]
        if member.peer.is_sealed() {
            return Err(Ignored::Unauthenticated); // nothing that is said in plain makes such a connection
        }
        let peer = &mut member.peer;
        peer.on_acknowledge(way, ack, &host.local, self.tick.now);
        // Only the remote host itself knows both nonces: it is at this address, too (D11).
        if peer.remote_nonce() == Some(ack.nonce_self) {
            member.confirm(way);
        }
        host.strangers.turn_down_others(member);
        Ok(Taken::by(slot))
    }

    /// Takes the goodbye of a peer, or of a host that an attempt of ours has met.
    pub(super) fn on_disconnect(&mut self, bye: &Disconnect) -> Result<Taken, Ignored> {
        let (from, sender) = (self.from, self.sender());
        let host = &mut *self.host;
        let is_mine = |peer: &Peer| peer.nonce() == bye.nonce_peer;
        let Some(Found { slot, way, member }) = host.table.find_mut(from, is_mine) else {
            return self.on_goodbye_at_other_address(bye);
        };
        host.strangers.check_answer_for(&member.peer, sender)?;
        if !(member.peer).on_disconnect(way, bye.nonce_self, bye.reason, sender.now) {
            return Err(Ignored::UnknownNonce);
        }
        // An attempt that goes on at other addresses has no peer to answer in its name. Otherwise the
        // peer answers, at the address that the goodbye came from.
        if member.peer.is_attempt() {
            host.strangers.acknowledge(from, bye);
        } else if !member.peer.state().is_live() {
            member.make_main(way);
        }
        Ok(Taken::by(slot))
    }

    /// Takes the acknowledgement of our goodbye.
    pub(super) fn on_disconnect_ack(&mut self, bye: &DisconnectAck) -> Result<Taken, Ignored> {
        let now = self.tick.now;
        self.with_nonce(bye.nonce_peer, |peer, _| {
            peer.on_disconnect_ack(bye.nonce_self, now)
        })
    }

    /// Takes the goodbye of a peer from an address that is not one of its own.
    fn on_goodbye_at_other_address(&mut self, bye: &Disconnect) -> Result<Taken, Ignored> {
        let (from, sender) = (self.from, self.sender());
        let host = &mut *self.host;
        let found = host.table.by_remote_nonce_mut(bye.nonce_self);
        let (slot, member) = found.ok_or(Ignored::UnknownNonce)?;
        let roams = member.roams(&host.local);
        let is_at_other_address = roams && member.address() != from;
        // Both nonces prove whose goodbye it is. The peer is sent nothing more, so that nobody gains
        // from an address that is not proved.
        if !is_at_other_address || member.peer.nonce() != bye.nonce_peer {
            return Err(Ignored::UnknownNonce);
        }
        (host.strangers).check_answer(sender, Answered::Handshake)?;
        (member.peer).on_disconnect(0, bye.nonce_self, bye.reason, sender.now);
        #[cfg(feature = "seal")]
        if let Some(secured) = member.peer.secured().filter(|secured| secured.was_signed) {
            host.strangers.acknowledge_signed(from, bye, secured);
            return Ok(Taken::by(slot));
        }
        host.strangers.acknowledge(from, bye);
        Ok(Taken::by(slot))
    }

    /// Takes a reset: the remote host of a peer may have forgotten the connection.
    fn on_reset(&mut self, id: ConnectionId) -> Result<Taken, Ignored> {
        // Found by the address and the id in our own datagrams: a forger off the path knows only the
        // first.
        let found = (self.host.table).find_mut(self.from, |peer| peer.sends_as(id));
        let Found { slot, member, .. } = found.ok_or(Ignored::UnknownConnection)?;
        member.peer.on_reset(self.tick);
        Ok(Taken::by(slot))
    }

    /// Acts on the peer at this address whose nonce on our side is this one. `act` gets the number of
    /// the address, and is false if the form is not from the remote host of the peer.
    fn with_nonce(
        &mut self,
        nonce: u64,
        act: impl FnOnce(&mut Peer, usize) -> bool,
    ) -> Result<Taken, Ignored> {
        let found = (self.host.table).find_mut(self.from, |peer| peer.nonce() == nonce);
        let Found { slot, way, member } = found.ok_or(Ignored::UnknownNonce)?;
        if act(&mut member.peer, way) {
            Ok(Taken::by(slot))
        } else {
            Err(Ignored::UnknownNonce)
        }
    }

    /// As [`on_short`](Self::on_short), for a short form that only hosts that seal take.
    #[cfg(feature = "seal")]
    #[inline(never)]
    pub(super) fn on_other_short(&mut self, ecn: Ecn, short: &Short<'_>) -> Result<Taken, Ignored> {
        self.on_short(ecn, short)
    }

    /// Takes the traffic of a connection (`docs/wire.md`, "Short forms").
    // Plain traffic pays for no call, except on a microcontroller, whose flash has no room for two copies.
    #[cfg_attr(
        not(target_os = "none"),
        expect(clippy::inline_always, reason = "said above"),
        inline(always)
    )]
    fn on_short(&mut self, ecn: Ecn, short: &Short<'_>) -> Result<Taken, Ignored> {
        let (from, now, sender) = (self.from, self.tick.now, self.sender());
        let host = &mut *self.host;
        let id = short.connection_id;
        let Some((slot, member)) = host.table.connection_mut(from, id) else {
            return Err(self.host.strangers.on_unknown_connection(sender, id));
        };
        let way = member.way_in(from);
        // Asked before the datagram is taken, which may change both.
        let (was, follows) = (member.peer.state(), member.peer.follows());
        #[cfg(feature = "seal")]
        let was_unheard = member.peer.is_unheard();
        let roams = member.roams(&host.local);
        // A connected peer may have moved (`deviations.md` D10).
        if way.is_none() && !(roams && was == PeerState::Connected) {
            return Err(Ignored::WrongAddress);
        }
        let may_keep = host.kept.limit(slot);
        let tick = Tick {
            may_keep,
            ..self.tick
        };
        let peer = &mut member.peer;
        let (local, memory) = (&host.local, &mut host.memory);
        let result = peer.handle_short(way.unwrap_or(0), short, ecn, local, tick, memory);
        let is_proved = was == PeerState::Connecting && peer.state() == PeerState::Connected;
        if is_proved {
            host.strangers.turn_down_others(member);
        }
        if let Ok(words) = result {
            // If the two hosts have come to different addresses of each other, one of them gives way,
            // or a router that one host alone writes through would forget its address (D11).
            if let (true, true, Some(way)) = (follows, words.is_newest, way) {
                member.make_main(way);
            }
            let bytes = short.bytes.len();
            let heard = Heard { from, words, bytes };
            if member.on_heard(&heard, roams, || host.rng.next_u64(), now) {
                let old = member.address();
                let is_news = member.on_moved(&heard, (host.same_host)(&old, &from), now);
                host.table.on_moved(slot, old, from);
                if is_news {
                    let peer = host.table.id(slot);
                    host.events.push(Event::PeerMoved {
                        peer,
                        from: old,
                        to: from,
                    });
                }
            }
        }
        if is_proved {
            self.retire_others(slot);
        }
        #[cfg(feature = "seal")]
        if was_unheard && result.is_ok() {
            self.host.table.retain_heard(slot);
            sealed::retire_same_client(self, slot);
        }
        if let Err(cause) = result {
            // The host's memory may be what was short: the peer may have its turn to go beyond its share.
            if cause == Ignored::OverBudget {
                self.host.kept.refuse(slot);
            }
            self.host.settle(slot); // an acknowledgement of a duplicate may be due
        }
        result.map(|_| Taken::by(slot))
    }

    /// Ends the peers that were connected at the address of a newcomer, which has proved itself
    /// (`deviations.md` C5).
    fn retire_others(&mut self, newcomer: Slot) {
        while let Some((slot, member)) = self.host.table.other_at(self.from, newcomer) {
            member.peer.replace(self.tick.now);
            self.host.settle(slot);
        }
    }
}
