//! The datagrams of sealed connections that no other connection has: the messages of the handshake, and
//! goodbyes that are signed (`docs/wire.md`, "Sealed connections").

use alloc::boxed::Box;
use alloc::vec;

use arrayvec::ArrayVec;
use rand_core::CryptoRng;

use super::Host;
use super::answers::cookie_request;
use super::door::Bearer;
use super::input::{Input, Taken};
use super::member::Member;
use super::strangers::Sender;
use super::table::Found;
use crate::event::{Ecn, Ignored};
use crate::frame::{
    Connect, ConnectionId, Disconnect, DisconnectAck, FirstAuth, GREETING_MAX, KEY_MAX, Proof,
    Refusal, Request, SEAL_TAG, Sealed, SecondAuth, Terms, WithMac, cookie_input, prologue,
};
use crate::ids::{Address, PeerId, Slot};
use crate::peer::{self, Met, Peer, SealedAttempt, Settings, Side, encoded};
use crate::seal::noise::{Identity, Responder, Setup};
use crate::seal::phases::Limits;
use crate::seal::{Crypto, Proved, Psk, SecretKey, Secured, Security, TokenRefusal};

/// The most bytes of message 2 of Noise, without a greeting.
const REPLY_MAX: usize = KEY_MAX + 1 + ConnectionId::MAX + SEAL_TAG;

/// The most bytes of the acknowledgement with message 2.
const FORM_MAX: usize = 64 + REPLY_MAX;

/// What message 1 asks for, of what this host has. Nothing costly was done for it.
struct Asked<'a> {
    crypto: Crypto,
    /// The key pair that the sender expects, if it expects one.
    identity: Option<&'a Identity>,
    /// The number of the psk, if the psk is one of the host's.
    number: Option<u32>,
    psk: Option<&'a Psk>,
}

impl<'a> Asked<'a> {
    /// `None` if this host lacks something of it, or demands more. `bearer`: of the token that the message names.
    fn look_up(
        security: &'a Security,
        crypto: Crypto,
        terms: &Terms<'_>,
        bearer: Option<&'a Bearer>,
    ) -> Option<Self> {
        if terms.suite != crypto.suite().number() {
            return None;
        }
        let identity = security.named_identity(crypto, terms)?;
        let (number, psk) = match terms.proof {
            Proof::None if security.is_open() => (None, None),
            Proof::None => return None,
            Proof::Psk(number) => (Some(number), Some(security.numbered_psk(number)?)),
            Proof::Token(_) => (None, Some(bearer?.psk())),
        };
        Some(Self {
            crypto,
            identity,
            number,
            psk,
        })
    }

    /// The same of an attempt, whose host has to have what the sender shows.
    fn of_attempt(attempt: &'a SealedAttempt, crypto: Crypto, terms: &Terms<'_>) -> Option<Self> {
        if terms.suite != crypto.suite().number() {
            return None;
        }
        let (security, shared) = attempt.answers(&terms.proof)?;
        Some(Self {
            crypto,
            identity: security.named_identity(crypto, terms)?,
            number: shared.map(|(number, _)| number),
            psk: shared.map(|(_, psk)| psk),
        })
    }

    /// Opens the message, which came with this request; `None` if it does not open. An agreement on keys is
    /// computed for it if it names a key of a server. `ours`: the form in which this host speaks of itself.
    fn open(
        &self,
        ours: &[u8],
        request: &Request<'_>,
        first: &FirstAuth<'_>,
        local: &Settings,
    ) -> Option<Box<Opened>> {
        let prologue = prologue(&first.terms, request.cookie_input(), cookie_input(ours));
        let setup = Setup {
            crypto: self.crypto,
            prologue: &prologue,
            psk: self.psk,
        };
        let mut said = [0; GREETING_MAX];
        let opened = Responder::open(&setup, self.identity, first.message, &mut said);
        let (responder, length) = opened.ok()?;
        Some(Box::new(Opened {
            crypto: self.crypto,
            limits: local.security.as_ref()?.limits(),
            proved: Proved {
                server_key: self.identity.map(|identity| identity.public().clone()),
                psk: self.number,
                claims: None,
            },
            responder,
            greeting: said.into_iter().take(length).collect(),
        }))
    }
}

/// Message 1 of a host that may become a peer. It has opened. In a box wherever it goes, as each move of it would
/// take the stack of a small device once more.
struct Opened {
    crypto: Crypto,
    limits: Limits,
    proved: Proved,
    responder: Responder,
    /// What it says.
    greeting: ArrayVec<u8, GREETING_MAX>,
}

impl Opened {
    /// Agrees on keys, and writes message 2, in which the remote host is told the connection id that it has
    /// to send. `None` if the remote host's key is none. `connect` is the remote host's request.
    fn agree(
        self: Box<Self>,
        connect: &Connect,
        (connection_id, greeting): (ConnectionId, &[u8]),
        rng: &mut impl CryptoRng,
    ) -> Option<peer::Sealed> {
        let id = connection_id.as_bytes();
        let said = [&[u8::try_from(id.len()).ok()?], id, greeting].concat();
        let ephemeral = SecretKey::generate(rng);
        let mut message = vec![0; REPLY_MAX + greeting.len()];
        let reply = self.responder.reply(&ephemeral, &said, &mut message);
        let (keys, length) = reply.ok()?;
        let second = SecondAuth {
            nonce_self: connect.nonce_peer,
            nonce_peer: connect.nonce_self,
            suite: self.crypto.suite().number(),
            message: message.get(..length)?,
        };
        let mut form = vec![0; FORM_MAX + greeting.len()];
        let length = second.encode(&mut form).ok()?;
        form.truncate(length);
        Some(peer::Sealed {
            crypto: self.crypto,
            keys,
            proved: self.proved,
            side: Side::Responder,
            limits: self.limits,
            reply: form.into(),
        })
    }
}

/// Why a host is not let in.
enum Unfit {
    /// It is told so: a client whose keys are old has to hear of it.
    Refused,
    /// Its token, which it is told as well.
    Token(TokenRefusal),
    /// It is not answered.
    Ignored(Ignored),
}

impl From<TokenRefusal> for Unfit {
    fn from(cause: TokenRefusal) -> Self {
        Self::Token(cause)
    }
}

impl From<Ignored> for Unfit {
    fn from(cause: Ignored) -> Self {
        Self::Ignored(cause)
    }
}

/// What a host that is let in has come to, and its greeting.
type Agreed = (peer::Sealed, ArrayVec<u8, GREETING_MAX>);

/// The keys of a host that is let in, and its greeting; `None` if the connection is plain. The datagram is
/// ignored if the host did not show that it can seal, or is refused. In a function of its own, so that the stack
/// that it needs is free again when the peer is made, which needs as much.
#[inline(never)]
pub(super) fn agree<R: CryptoRng, A: Address>(
    input: &mut Input<'_, R, A>,
    request: &Request<'_>,
    connection_id: ConnectionId,
) -> Result<Option<Agreed>, Ignored> {
    if !request.asks_to_seal() {
        // A sender of message 1 asks to seal: a forger has removed that from its request.
        let is_plain = request.auth.is_none();
        return is_plain.then_some(None).ok_or(Ignored::Unauthenticated);
    }
    let sender = input.sender();
    let host = &mut *input.host;
    let first = request.auth.as_ref().ok_or(Ignored::Unauthenticated)?;
    let refused = match check(host, sender, request, first) {
        Ok(opened) => {
            let greeting = opened.greeting.clone();
            let said = (connection_id, &[][..]);
            let sealed = opened.agree(&request.connect, said, &mut host.rng);
            return Ok(Some((sealed.ok_or(Ignored::Unauthenticated)?, greeting)));
        }
        Err(Unfit::Ignored(cause)) => return Err(cause),
        Err(Unfit::Token(cause)) => {
            host.stats.tokens_refused[cause.index()] += 1;
            Refusal::Security
        }
        Err(Unfit::Refused) => Refusal::Security,
    };
    let nonce = request.connect.nonce_self;
    Err(host.strangers.turn_away(sender, nonce, refused))
}

/// Opens message 1, with all that it shows, the cheap checks first.
fn check<R: CryptoRng, A: Address>(
    host: &mut Host<R, A>,
    from: Sender<A>,
    request: &Request<'_>,
    first: &FirstAuth<'_>,
) -> Result<Box<Opened>, Unfit> {
    let security = host.local.security.as_ref().ok_or(Unfit::Refused)?;
    let application = host.local.offer.application;
    let bearer = match first.terms.proof {
        Proof::Token(token) => {
            let at = (&from.address, from.now);
            Some(host.door.look(token, at, security, application)?)
        }
        Proof::None | Proof::Psk(_) => None,
    };
    let crypto = host.local.crypto(&request.connect).ok_or(Unfit::Refused)?;
    let asked = Asked::look_up(security, crypto, &first.terms, bearer.as_ref());
    let asked = asked.ok_or(Unfit::Refused)?;
    // One for both agreements of a handshake, before the first of them. With a named key that is before it shows
    // whether the message is true.
    let is_costly = asked.identity.is_some();
    if is_costly {
        host.strangers.check_agreement(from)?;
    }
    // The cookie was not kept: it is made again, as it came back and is ours.
    let connect = &request.connect;
    let cookie = cookie_request(connect.nonce_peer, connect.nonce_self, &host.local.offer);
    let ours = encoded(&cookie).map_err(|_| Ignored::Unauthenticated)?;
    let opened = asked.open(&ours, request, first, &host.local);
    let mut opened = opened.ok_or(Unfit::Refused)?;
    if !is_costly {
        host.strangers.check_agreement(from)?;
    }
    if let Some(bearer) = bearer {
        // Two may have come with one token, and both have its secret: the first is let in.
        opened.proved.claims = Some(Box::new(host.door.admit(bearer)?));
    }
    Ok(opened)
}

/// Takes message 1 of a host to which this one connects as well, at this way of a peer. Of the two the one with the
/// smaller random id begins, and the other one answers, also if it has begun itself: it may have been made to by a
/// forged cookie.
pub(super) fn answer<R: CryptoRng, A: Address>(
    input: &mut Input<'_, R, A>,
    (slot, way): (Slot, usize),
    request: &Request<'_>,
    first: &FirstAuth<'_>,
) -> Result<Taken, Ignored> {
    let (sender, now) = (input.sender(), input.tick.now);
    let host = &mut *input.host;
    let connect = &request.connect;
    let member = host.table.at_mut(slot).ok_or(Ignored::UnknownNonce)?;
    if connect.nonce_peer != member.peer.nonce() {
        return Err(Ignored::UnknownNonce);
    }
    let (attempt, ours) = member
        .peer
        .sealed_attempt(&host.local)
        .filter(|_| connect.nonce_self < connect.nonce_peer)
        .ok_or(Ignored::WrongState)?;
    let crypto = host.local.crypto(connect);
    let asked = crypto.and_then(|crypto| Asked::of_attempt(attempt, crypto, &first.terms));
    // Before anything costly, as of a stranger.
    host.strangers.check_agreement(sender)?;
    let opened = asked.and_then(|asked| asked.open(&ours, request, first, &host.local));
    let Some(opened) = opened else {
        member.peer.note_failure();
        let nonce = connect.nonce_self;
        return Err((host.strangers).turn_away(sender, nonce, Refusal::Security));
    };
    let said = opened.greeting.clone();
    let ours = (member.peer.connection_id(), attempt.greeting());
    let sealed = opened.agree(connect, ours, &mut host.rng);
    let sealed = sealed.ok_or(Ignored::Unauthenticated)?;
    let met = Met {
        way,
        remote: connect,
        sealed,
        said: &said,
    };
    member.peer.on_first(met, &host.local, now)?;
    member.confirm(way);
    host.strangers.turn_down_others(member);
    host.settle(slot);
    Ok(Taken::by(slot))
}

/// Ends the other connections of the client whose first sealed datagram has come.
pub(super) fn retire_same_client<R: CryptoRng, A: Address>(
    input: &mut Input<'_, R, A>,
    newcomer: Slot,
) {
    let (now, host) = (input.tick.now, &mut *input.host);
    let security = host.local.security.as_deref();
    let client = host
        .table
        .at_mut(newcomer)
        .and_then(|new| new.peer.client_id());
    if client.is_none() || !security.is_some_and(Security::is_one_per_client) {
        return;
    }
    let is_other = |(id, member): &(PeerId, &Member<A>)| {
        let is_live = id.slot != newcomer && member.peer.state().is_live();
        is_live && member.peer.client_id() == client
    };
    loop {
        let other = host.table.iter().find(is_other).map(|(id, _)| id.slot);
        let Some((slot, member)) = other.and_then(|slot| Some((slot, host.table.at_mut(slot)?)))
        else {
            return;
        };
        member.peer.replace(now);
        host.settle(slot);
    }
}

/// Takes a datagram that only a host that seals can read.
pub(super) fn take<R: CryptoRng, A: Address>(
    input: &mut Input<'_, R, A>,
    ecn: Ecn,
    sealed: Sealed<'_>,
) -> Result<Taken, Ignored> {
    match sealed {
        Sealed::First(first, request) => input.on_request(&request.with_auth(first)),
        Sealed::Second(second, short) => {
            let finished = on_second(input, &second);
            let Some(short) = short else {
                return finished;
            };
            // The message may be what makes the rest the connection's, or a repetition that is of no use.
            let taken = input.on_other_short(ecn, &short);
            taken.or_else(|cause| finished.map_err(|_| cause))
        }
        Sealed::Disconnect(bye) => on_disconnect(input, &bye),
        Sealed::DisconnectAck(bye) => on_disconnect_ack(input, &bye),
    }
}

/// Takes message 2: the answer to an attempt.
fn on_second<R: CryptoRng, A: Address>(
    input: &mut Input<'_, R, A>,
    second: &SecondAuth<'_>,
) -> Result<Taken, Ignored> {
    let (from, now) = (input.from, input.tick.now);
    let host = &mut *input.host;
    let is_mine = |peer: &Peer| peer.nonce() == second.nonce_peer && peer.state().is_live();
    let found = host.table.find_mut(from, is_mine);
    let Found { slot, way, member } = found.ok_or(Ignored::UnknownNonce)?;
    member.peer.on_second(way, second, &host.local, now)?;
    member.confirm(way);
    host.strangers.turn_down_others(member);
    host.settle(slot);
    Ok(Taken::by(slot))
}

/// Takes a signed goodbye.
fn on_disconnect<R: CryptoRng, A: Address>(
    input: &mut Input<'_, R, A>,
    bye: &WithMac<'_, Disconnect>,
) -> Result<Taken, Ignored> {
    let nonces = [bye.form.nonce_peer, bye.form.nonce_self];
    let secured = secured_mut(input, nonces)?;
    if !secured.is_signed(bye.covered, bye.mac) {
        return Err(Ignored::Unauthenticated);
    }
    secured.was_signed = true;
    input.on_disconnect(&bye.form)
}

/// Takes the acknowledgement of a signed goodbye.
fn on_disconnect_ack<R: CryptoRng, A: Address>(
    input: &mut Input<'_, R, A>,
    bye: &WithMac<'_, DisconnectAck>,
) -> Result<Taken, Ignored> {
    let nonces = [bye.form.nonce_peer, bye.form.nonce_self];
    if !secured_mut(input, nonces)?.is_signed(bye.covered, bye.mac) {
        return Err(Ignored::Unauthenticated);
    }
    input.on_disconnect_ack(&bye.form)
}

/// Refuses a goodbye in plain, or its acknowledgement, for a sealed connection whose hosts both have the keys: anybody
/// may have written it. `nonces`: ours, and the remote host's.
pub(super) fn check_unsigned<R: CryptoRng, A: Address>(
    input: &mut Input<'_, R, A>,
    nonces: [u64; 2],
) -> Result<(), Ignored> {
    let is_sealed = secured_mut(input, nonces).is_ok_and(|secured| secured.is_heard);
    (!is_sealed).then_some(()).ok_or(Ignored::Unauthenticated)
}

/// What the sealed connection with these nonces, ours and the remote host's, is known by.
fn secured_mut<'i, R: CryptoRng, A: Address>(
    input: &'i mut Input<'_, R, A>,
    [ours, theirs]: [u64; 2],
) -> Result<&'i mut Secured, Ignored> {
    let is_it = |peer: &Peer| peer.nonce() == ours && peer.remote_nonce() == Some(theirs);
    let table = &mut input.host.table;
    // A peer that connected to us may say goodbye from elsewhere.
    let slot = table
        .find(input.from, is_it)
        .or_else(|| table.by_remote_nonce_mut(theirs).map(|(slot, _)| slot));
    let member = slot.and_then(|slot| table.at_mut(slot));
    let peer = member
        .map(|member| &mut member.peer)
        .filter(|peer| is_it(peer));
    let secured = peer.and_then(Peer::secured_mut);
    secured.ok_or(Ignored::UnknownNonce)
}
