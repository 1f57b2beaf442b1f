//! Connecting to a host that may be at any of several addresses (`docs/wire.md`, "Several
//! addresses"; `docs/deviations.md` D11): one attempt, one random id, one connection.

use arrayvec::ArrayVec;
use rand_core::CryptoRng;

use super::others::ADDRESSES_MAX;
use super::replies::Reply;
use super::{Address, Host, PeerId};
use crate::error::ConnectError;
use crate::event::{Event, Ignored};
use crate::frame::{Connect, ConnectionId, GREETING_MAX};
use crate::peer::{Handshake, Peer};
use crate::time::Instant;

impl<R: CryptoRng, A: Address> Host<R, A> {
    /// Connects to a host that may be at any of up to 8 addresses: a server with IPv4 and IPv6, or
    /// another player behind a NAT, who has a public and a private address and connects to ours at
    /// the same time (`docs/nat.md`). All are tried at once, and one connection comes of it, at the
    /// address that is first proved to be that of somebody who answers:
    /// [`Event::Connected`] and [`address`](Self::address) tell which.
    ///
    /// Whoever answers first is taken for the host that is meant. A private address may belong to a
    /// stranger in another network; that it is the right host is for the application to check, by an
    /// [application id](crate::Config::application_id) for each match, or in the first packet.
    ///
    /// An address that counts twice is tried once; one that another attempt tries is left to that. A
    /// peer that is being disconnected leaves its address to a new attempt, unless it still
    /// [flushes](crate::Disconnect::Flush).
    /// The attempt is refused when all addresses have refused. If it times out although one has
    /// refused, the reason tells so.
    ///
    /// # Errors
    ///
    /// [`ConnectError::NoAddress`] and [`ConnectError::TooManyAddresses`],
    /// [`ConnectError::AlreadyConnected`] if a peer is connected at one of them, or another attempt
    /// tries all, [`ConnectError::OutOfConnectionIds`] if no free connection id was found.
    ///
    /// ```
    /// use porous_proto::{Config, Host, Instant};
    /// # use porous_proto::doc::example_rng;
    ///
    /// let mut host = Host::<_, u32>::new(Config::client(), example_rng());
    /// let (private, public) = (7, 8);
    /// let peer = host.connect_any(Instant::ZERO, &[private, public])?;
    /// assert_eq!(host.address(peer), Some(private)); // until it is known
    /// # Ok::<(), porous_proto::ConnectError>(())
    /// ```
    pub fn connect_any(&mut self, now: Instant, to: &[A]) -> Result<PeerId, ConnectError> {
        self.connect_with(now, to, &[])
    }

    /// As [`connect_any`](Self::connect_any), with a greeting for the application of the remote host:
    /// a name, a token, the map that is wanted. It comes with the request itself, so that a host that
    /// [asks](crate::Listen::Ask) reads it by [`Peer::greeting`] before it accepts or refuses. 255 bytes
    /// at most; an empty one is none.
    ///
    /// A greeting carries no promise. It is not encrypted: a host on the way reads it, can change it
    /// before the remote host sees it, and can send it again from elsewhere. So it is no place for
    /// passwords, nor for a token that is good for more than one time. And a stranger may be who reads
    /// it, if one is at the address.
    ///
    /// # Errors
    ///
    /// [`ConnectError::TooLong`] if the greeting has more than 255 bytes, or if a request with it does
    /// not fit [`Config::request_size`](crate::Config::request_size): the request is sent twice over
    /// where its cookie is brought back, so that with 512 bytes, 4 channels and an id of 4 bytes there
    /// is room for all of 255; with 255 channels and 20 bytes for 166. Otherwise those of
    /// [`connect_any`](Self::connect_any).
    ///
    /// ```
    /// use porous_proto::{Config, ConnectError, Host, Instant};
    /// # use porous_proto::doc::example_rng;
    ///
    /// let mut host = Host::<_, u32>::new(Config::client(), example_rng());
    /// let too_long = host.connect_with(Instant::ZERO, &[7], &[0; 256]);
    /// assert_eq!(too_long, Err(ConnectError::TooLong));
    /// host.connect_with(Instant::ZERO, &[7], b"name=Ada")?;
    /// # Ok::<(), porous_proto::ConnectError>(())
    /// ```
    pub fn connect_with(
        &mut self,
        now: Instant,
        to: &[A],
        greeting: &[u8],
    ) -> Result<PeerId, ConnectError> {
        let mut addresses = ArrayVec::<A, ADDRESSES_MAX>::new();
        for &address in to {
            if !addresses.contains(&address) {
                let room = addresses.try_push(address);
                room.map_err(|_| ConnectError::TooManyAddresses)?;
            }
        }
        if addresses.is_empty() {
            return Err(ConnectError::NoAddress);
        }
        self.check_greeting(greeting)?;
        let tick = self.advance(now);
        self.leave_out_taken(&mut addresses)?;
        let Some((&first, others)) = addresses.split_first() else {
            return Err(ConnectError::AlreadyConnected);
        };
        let connection_id = self
            .draw_connection_id()
            .ok_or(ConnectError::OutOfConnectionIds)?;
        let nonce = self.rng.next_u64().max(1);
        let identity = self.identity(nonce, connection_id);
        let handshake = Handshake::new(addresses.len(), greeting, nonce);
        let peer = Peer::outgoing(tick.now, identity, &self.config, handshake);
        let id = self.peers.insert(first, peer);
        self.peers.add_others(id.slot, others);
        self.settle(id.slot);
        Ok(id)
    }

    /// Whether the longest request with this greeting fits: the acknowledgement of a cookie goes before
    /// it.
    fn check_greeting(&self, greeting: &[u8]) -> Result<(), ConnectError> {
        let id = [0; ConnectionId::MAX];
        let connection_id = id.get(..self.config.connection_id_len.into());
        let connect = Connect {
            cookie: false,
            nonce_self: 1,
            nonce_peer: 1,
            connection_id: connection_id
                .and_then(ConnectionId::new)
                .unwrap_or_default(),
            offer: self.offer.clone(),
        };
        let longest = connect.encoded_length(&[]) + connect.encoded_length(greeting);
        let fits = longest <= usize::from(self.config.request_size);
        if greeting.is_empty() || (fits && greeting.len() <= GREETING_MAX) {
            Ok(())
        } else {
            Err(ConnectError::TooLong)
        }
    }

    /// The system cannot send to this address: no route to it, or not allowed. To be called by a
    /// driver when the system says so of a datagram for the address. An attempt to connect tries it
    /// no more, and ends when none of its addresses is left, with
    /// [`DisconnectReason::Unreachable`](crate::DisconnectReason::Unreachable), or with the refusal
    /// if one of them has refused. Nothing else changes: a connection gets over it if it does not
    /// last, as over any loss.
    ///
    /// ```
    /// use porous_proto::{Config, DisconnectReason, Event, Host, Instant};
    /// # use porous_proto::doc::example_rng;
    ///
    /// let mut host = Host::<_, u32>::new(Config::client(), example_rng());
    /// let peer = host.connect(Instant::ZERO, 7)?;
    /// host.handle_unreachable(Instant::ZERO, 7);
    /// let (reason, undelivered) = (DisconnectReason::Unreachable, 0);
    /// let ended = Event::Disconnected { peer, reason, undelivered };
    /// assert_eq!(host.poll_event(), Some(ended));
    /// # Ok::<(), porous_proto::ConnectError>(())
    /// ```
    pub fn handle_unreachable(&mut self, now: Instant, to: A) {
        let tick = self.advance(now);
        if let Some((slot, way)) = self.attempt_at(to) {
            if let Some((_, peer)) = self.peers.at_mut(slot) {
                peer.on_unreachable(way, tick.now);
            }
            self.settle(slot);
        }
    }

    /// The machine that has this address says that nobody is bound to the port: ICMP's "port
    /// unreachable". To be called by a driver whose system tells; `None` if it does not tell which
    /// address it is: then it is known if there is one peer, which connects to one address. If an
    /// attempt to connect tries the address, [`Event::PortClosed`] tells of it, once; nothing else
    /// happens, for such a message may be forged.
    ///
    /// ```
    /// use porous_proto::{Config, Event, Host, Instant};
    /// # use porous_proto::doc::example_rng;
    ///
    /// let mut host = Host::<_, u32>::new(Config::client(), example_rng());
    /// let peer = host.connect(Instant::ZERO, 7)?;
    /// host.handle_port_closed(Some(7));
    /// assert_eq!(host.poll_event(), Some(Event::PortClosed { peer, address: 7 }));
    /// # Ok::<(), porous_proto::ConnectError>(())
    /// ```
    pub fn handle_port_closed(&mut self, at: Option<A>) {
        let Some(at) = at.or_else(|| self.only_address()) else {
            return;
        };
        let Some((slot, way)) = self.attempt_at(at) else {
            return;
        };
        let peer = self.peers.id(slot);
        let is_news = |target: &mut Peer| target.on_port_closed(way);
        if self.peers.get_mut(peer).is_some_and(is_news) {
            self.events
                .push_back(Event::PortClosed { peer, address: at });
        }
    }

    /// The address of all that has been sent, if there is only one.
    fn only_address(&self) -> Option<A> {
        let mut peers = self.peers.iter();
        let (id, _) = peers.next().filter(|_| peers.next().is_none())?;
        let is_only = self.peers.address_at(id.slot, 1).is_none();
        self.address(id).filter(|_| is_only)
    }

    /// The attempt that tries this address, and its number there.
    fn attempt_at(&self, address: A) -> Option<(u32, usize)> {
        let slot = self.peers.find(address, Peer::is_attempt)?;
        Some((slot, self.peers.way(slot, address)?))
    }

    /// Leaves those to other attempts that they try, and takes those from connected peers of which
    /// nothing came: several players may have the same private address, each at home.
    fn leave_out_taken(
        &mut self,
        addresses: &mut ArrayVec<A, ADDRESSES_MAX>,
    ) -> Result<(), ConnectError> {
        let mut tried = ArrayVec::<A, ADDRESSES_MAX>::new();
        for &address in addresses.iter() {
            // Who has said goodbye goes on to say it beside the next attempt.
            let open = |peer: &Peer| peer.state().is_open();
            while let Some(slot) = self.peers.find(address, open) {
                if self.peers.find(address, Peer::is_attempt).is_some() {
                    tried.push(address);
                    break;
                }
                if !self.peers.release(slot, address) {
                    return Err(ConnectError::AlreadyConnected);
                }
            }
        }
        addresses.retain(|address| !tried.contains(address));
        Ok(())
    }

    /// Who has been met in a handshake and should know if nothing comes of it.
    pub(super) fn remotes(&self, slot: u32) -> ArrayVec<(A, u64), ADDRESSES_MAX> {
        let peer = self.peers.at(slot).map(|(_, peer)| peer);
        let remotes = peer.into_iter().flat_map(Peer::remotes);
        let at = |(way, nonce)| Some((self.peers.address_at(slot, way)?, nonce));
        remotes.filter_map(at).take(ADDRESSES_MAX).collect()
    }

    /// If an attempt at several addresses has come to one of them: from now on that is where the peer
    /// is. Whoever else was met at the others is told, once, that nothing comes of it.
    pub(super) fn choose_way(&mut self, slot: u32) {
        let Some((_, peer)) = self.peers.at_mut(slot) else {
            return;
        };
        let Some(handshake) = peer.take_ways() else {
            return;
        };
        let (nonce_self, theirs) = (peer.nonce(), peer.remote_nonce());
        let is_same = |way| theirs.is_some_and(|nonce| handshake.has_heard(way, nonce));
        for (way, nonce_peer) in handshake.remotes().filter(|&(way, _)| !is_same(way)) {
            if let Some(address) = self.peers.address_at(slot, way) {
                let bye = Reply::Disconnect {
                    nonce_self,
                    nonce_peer,
                    reason: 0,
                };
                self.replies.push(address, bye);
            }
        }
        self.peers.choose(slot, handshake.winner, is_same);
    }

    /// The host of this peer asks from one of its addresses. As long as it has said nothing else,
    /// that is where it is answered.
    pub(super) fn asked_from(&mut self, slot: u32, from: A) {
        self.peers.confirm(slot, from);
        self.follow(slot, from);
    }

    /// A peer that connected to us is sent to where it last wrote from, until the first datagram of
    /// the connection has told by which of our addresses it came to us. All have been proved.
    pub(super) fn follow(&mut self, slot: u32, from: A) {
        let newcomer = |peer: &Peer| peer.is_inbound() && peer.is_silent();
        let follows = self.peers.at(slot).is_some_and(|(_, peer)| newcomer(peer));
        if let (true, Some(way)) = (follows, self.peers.way(slot, from)) {
            self.peers.make_main(slot, way);
        }
    }

    /// A request has brought its cookie back, from a host that has done so from another address: it
    /// tries several of ours. That makes no second peer. Once the host has said anything else it has
    /// come to one of them: then whoever knows its nonce must not get what is sent to it.
    pub(super) fn on_proved_again(
        &mut self,
        slot: u32,
        from: A,
        request: &Connect,
    ) -> Option<Result<u32, Ignored>> {
        let (_, peer) = self.peers.at_mut(slot)?;
        if !peer.state().is_live() {
            return Some(Err(Ignored::WrongState));
        }
        if !peer.sends_as(request.connection_id) {
            return None; // somebody else, by chance or by malice
        }
        if !peer.is_silent() {
            return Some(Err(Ignored::WrongState));
        }
        peer.on_repeated_request();
        if !self.peers.add_same(slot, from) {
            return Some(Err(Ignored::WrongState));
        }
        self.asked_from(slot, from);
        Some(Ok(slot))
    }

    /// Somebody at one of the addresses of a peer has said goodbye. If the attempt goes on elsewhere
    /// the answer is given here, else it is the peer's, to where the goodbye came from.
    pub(super) fn after_goodbye(&mut self, slot: u32, from: A, nonce_peer: u64) {
        let Some((_, peer)) = self.peers.at(slot) else {
            return;
        };
        if peer.is_attempt() {
            let nonce_self = peer.nonce();
            let answer = Reply::DisconnectAck {
                nonce_self,
                nonce_peer,
            };
            self.replies.push(from, answer);
        } else if let (false, Some(way)) = (peer.state().is_live(), self.peers.way(slot, from)) {
            self.peers.make_main(slot, way);
        }
    }
}
