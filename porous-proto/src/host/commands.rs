//! The commands of the application.

#[cfg(feature = "seal")]
use alloc::boxed::Box;
use alloc::vec::Vec;
#[cfg(feature = "seal")]
use core::net::IpAddr;
use core::time::Duration;

use arrayvec::ArrayVec;
use bytes::Bytes;
use rand_core::CryptoRng;

use super::Host;
use super::connection_ids::ConnectionIds;
use super::member::{ADDRESSES_MAX, Member};
use super::table::Table;
use crate::error::{
    AnswerError, ConnectError, ConnectionIdsError, ListenError, SendError, UnknownPeer,
};
use crate::event::{Disconnect, Listen, Received};
use crate::frame::RefusalData;
use crate::ids::{Address, ChannelId, PeerId};
use crate::options::SendOptions;
use crate::payload::Payload;
#[cfg(feature = "seal")]
use crate::peer::SealedAttempt;
use crate::peer::{Handshake, Identity, Peer};
#[cfg(feature = "seal")]
use crate::seal::{Credentials, Secret, SecretKey, Security};
use crate::time::Instant;

/// The addresses that an attempt tries, each once.
struct Targets<A>(ArrayVec<A, ADDRESSES_MAX>);

impl<A: Address> Targets<A> {
    fn new(to: &[A]) -> Result<Self, ConnectError> {
        let mut addresses = ArrayVec::new();
        for &address in to {
            // An address that is given twice is no error, and counts once.
            if !addresses.contains(&address) {
                let room = addresses.try_push(address);
                room.map_err(|_| ConnectError::TooManyAddresses)?;
            }
        }
        if addresses.is_empty() {
            return Err(ConnectError::NoAddress);
        }
        Ok(Self(addresses))
    }

    /// Leaves out the addresses that another attempt tries, and takes away from connected peers those
    /// at which they have not been heard.
    fn leave_out_taken(&mut self, table: &mut Table<A>) -> Result<(), ConnectError> {
        let mut tried = ArrayVec::<A, ADDRESSES_MAX>::new();
        for &address in &self.0 {
            // A peer that has said goodbye goes on to say it beside the next attempt.
            while let Some(slot) = table.find(address, |peer| peer.state().is_open()) {
                if table.find(address, Peer::is_attempt).is_some() {
                    tried.push(address);
                    break;
                }
                // Several players may have the same private address, each at home: a peer that was
                // found at another of its addresses need not keep this one.
                if !table.release(slot, address) {
                    return Err(ConnectError::AlreadyConnected);
                }
            }
        }
        self.0.retain(|address| !tried.contains(address));
        Ok(())
    }

    /// The one that the peer is at until more is known, and the others.
    fn split(&self) -> Result<(&A, &[A]), ConnectError> {
        // None is left if other attempts try all of them.
        self.0.split_first().ok_or(ConnectError::AlreadyConnected)
    }
}

/// The peer, if it waits for an answer of the application.
fn asking<A: Address>(table: &mut Table<A>, peer: PeerId) -> Result<&mut Peer, AnswerError> {
    match table.get_mut(peer).map(|member| &mut member.peer) {
        Some(asking) if asking.is_asked() => Ok(asking),
        Some(other) if other.state().is_live() => Err(AnswerError::NotAsked),
        Some(_) | None => Err(AnswerError::UnknownPeer),
    }
}

impl<R: CryptoRng, A: Address> Host<R, A> {
    /// Says whether the requests of strangers are answered. A new host is [`Closed`](Listen::Closed).
    ///
    /// # Errors
    ///
    /// [`ListenError::NotAllowed`] if the configuration is a client's.
    ///
    /// ```
    /// use porous_proto::{Config, Host, Listen};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = Host::<_, u32>::new(Config::new(), example_rng());
    /// host.listen(Listen::Open)?;
    /// # Ok::<(), porous_proto::ListenError>(())
    /// ```
    pub const fn listen(&mut self, policy: Listen) -> Result<(), ListenError> {
        // A client may be closed, as it always is.
        if !self.local.config.may_listen() && !matches!(policy, Listen::Closed) {
            return Err(ListenError::NotAllowed);
        }
        self.strangers.listen(policy);
        Ok(())
    }

    /// Changes how the ids of new connections are made. Connections that are there keep their ids.
    ///
    /// An id that one of this host's peers has is drawn again: 64 draws, or 16 with
    /// [`ConnectionIds::Custom`]. If none of them is free, [`connect`](Self::connect) fails with
    /// [`OutOfConnectionIds`](crate::ConnectError::OutOfConnectionIds), and hosts that connect to this
    /// one are refused with [`Full`](crate::Refusal::Full).
    ///
    /// # Errors
    ///
    /// [`ConnectionIdsError::ShardBits`] or [`Shard`](ConnectionIdsError::Shard) for shards out of range;
    /// [`ConnectionIdsError::NoBytes`] if connection ids are empty here and not
    /// [`Random`](ConnectionIds::Random), [`TooShort`](ConnectionIdsError::TooShort) if they are shorter
    /// than [`ConnectionIds`] demands.
    ///
    /// ```
    /// use porous_proto::{Config, ConnectionIds, Host};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// // Host 3 of four on one port.
    /// let config = Config::new().connection_id_len(8)?;
    /// let mut host = Host::<_, u32>::new(config, example_rng());
    /// host.set_connection_ids(ConnectionIds::Sharded { shard: 3, bits: 2 })?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub const fn set_connection_ids(
        &mut self,
        ids: ConnectionIds,
    ) -> Result<(), ConnectionIdsError> {
        let checked = ids.check(self.local.config.connection_id_len);
        if checked.is_ok() {
            self.connection_ids = ids;
        }
        checked
    }

    /// Tells the host how many bytes the driver adds to each datagram of the connections that the host begins
    /// from now on, such as a token for a proxy on the way, which removes it. Such connections have datagrams
    /// that are this number of bytes shorter, in both directions, but not below 512 bytes. Requests keep
    /// [their size](crate::Config::request_size), as the remote host answers no shorter ones: a driver needs
    /// room for a request and what it adds. At first 0.
    ///
    /// ```
    /// use porous_proto::{Config, Host, Instant};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = Host::<_, u32>::new(Config::client(), example_rng());
    /// host.set_envelope(16);
    /// host.connect(Instant::ZERO, 7)?; // offers datagrams of 1184 bytes
    /// # Ok::<(), porous_proto::ConnectError>(())
    /// ```
    pub const fn set_envelope(&mut self, bytes: u8) {
        self.envelope = bytes;
    }

    /// Connects to the host at the address `to`. The outcome is an event: `Connected` or
    /// `Disconnected`. If both hosts connect to each other, they get one connection. A host cannot
    /// connect to itself: it ignores requests with its own random id, which a mirror sends back. The
    /// paper's handshake (§2.3).
    ///
    /// # Errors
    ///
    /// [`ConnectError::AlreadyConnected`] if there is a live peer at this address, unless it is
    /// [`Disconnecting`](crate::PeerState::Disconnecting): a new connection need not wait for the end of
    /// the old one. [`ConnectError::OutOfConnectionIds`] if no free connection id was found.
    ///
    /// ```
    /// use porous_proto::{Config, Host, Instant};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = Host::<_, u32>::new(Config::client(), example_rng());
    /// let peer = host.connect(Instant::ZERO, 7)?;
    /// assert_eq!(host.address(peer), Some(7));
    /// # Ok::<(), porous_proto::ConnectError>(())
    /// ```
    pub fn connect(&mut self, now: Instant, to: A) -> Result<PeerId, ConnectError> {
        self.connect_any(now, &[to])
    }

    /// Connects to a host that may be at any of up to 8 addresses: a server with IPv4 and IPv6, or
    /// another player behind a NAT, who has a public and a private address and connects to ours at
    /// the same time (`docs/nat.md`). All addresses are tried at once, and one connection comes of the
    /// attempt, at the address that first proves to have answered:
    /// [`Event::Connected`](crate::Event::Connected) and [`address`](Self::address) tell which.
    ///
    /// The host that answers first is taken for the host that is meant. A private address may belong to a
    /// stranger in another network: the application has to check who answered, by an
    /// [application id](crate::Config::application_id) for each match, or in the first packet.
    ///
    /// An address that is given twice is tried once; one that another attempt tries is left to that
    /// attempt. A peer that is being disconnected leaves its address to a new attempt, unless it still
    /// [flushes](crate::Disconnect::Flush). The attempt is refused when all addresses have refused. If
    /// it times out although one has refused, the reason is that refusal.
    ///
    /// # Errors
    ///
    /// [`ConnectError::NoAddress`] and [`ConnectError::TooManyAddresses`],
    /// [`ConnectError::AlreadyConnected`] if a peer is connected at one of the addresses, or if other
    /// attempts try all of them, [`ConnectError::OutOfConnectionIds`] if no free connection id was found.
    ///
    /// ```
    /// use porous_proto::{Config, Host, Instant};
    /// # use porous_proto::hooks::doc::example_rng;
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
    /// [asks](crate::Listen::Ask) reads it by [`Peer::greeting`] before it accepts or refuses. At most
    /// 255 bytes; with 0 bytes there is no greeting.
    ///
    /// A greeting proves nothing. It is not encrypted: a host on the way can read it, change it before
    /// the remote host sees it, and send it again from another address. So it is no place for
    /// passwords, nor for a token that is good for more than one use. A stranger that is at one of the
    /// addresses reads it as well.
    ///
    /// # Errors
    ///
    /// [`ConnectError::TooLong`] if the greeting has more than 255 bytes, or if a request with it does
    /// not fit [`Config::request_size`](crate::Config::request_size). The request that brings a cookie
    /// back has an acknowledgement of nearly its own length in front: of a request of 512 bytes, 255
    /// are left with 4 channels and an id of 4 bytes, and 166 with 255 channels and an id of 20 bytes.
    /// Otherwise those of [`connect_any`](Self::connect_any).
    ///
    /// ```
    /// use porous_proto::{Config, ConnectError, Host, Instant};
    /// # use porous_proto::hooks::doc::example_rng;
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
        let targets = Targets::new(to)?;
        self.local.check_greeting(greeting)?;
        self.attempt(now, targets, greeting, |handshake, _| handshake)
    }

    /// As [`connect_any`](Self::connect_any), for a connection that is sealed: a listener can read nothing of it, and
    /// nobody can change what is sent on it. That the other end is the server that is meant, and no attacker in
    /// between, follows from what the [`Credentials`] name: the server's key, a psk or a token. If the remote host
    /// does not seal, or has no suite of ours, the attempt ends as
    /// [`Refused(Security)`](crate::Refusal::Security): there is no way back to a plain connection.
    /// [`Peer::secured`](crate::Peer::secured) tells more once it is connected.
    ///
    /// Both hosts need [`Config::sealed`](crate::Config::sealed) and a [`Security`]. Two hosts that connect to each
    /// other bring the same psk, or nothing: none of the two is a server, whose key could be known, or which could
    /// look at a token.
    ///
    /// # Errors
    ///
    /// [`ConnectError::NotSealed`] if this host cannot seal. Otherwise those of
    /// [`connect_with`](Self::connect_with): a request with the greeting has to fit
    /// [`Config::request_size`](crate::Config::request_size), and has 114 bytes in front of it beside the
    /// greeting and the token. [`ConnectError::ServerKey`] if the key that the server is to have is none of a suite.
    ///
    /// ```
    /// use porous_proto::seal::Credentials;
    /// use porous_proto::{Config, ConnectError, Host, Instant};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = Host::<_, u32>::new(Config::client(), example_rng());
    /// let without = host.connect_sealed(Instant::ZERO, &[7], &Credentials::new());
    /// assert_eq!(without, Err(ConnectError::NotSealed));
    /// ```
    #[cfg(feature = "seal")]
    pub fn connect_sealed(
        &mut self,
        now: Instant,
        to: &[A],
        with: &Credentials,
    ) -> Result<PeerId, ConnectError> {
        let targets = Targets::new(to)?;
        let security = self.local.sealing().ok_or(ConnectError::NotSealed)?.clone();
        self.local.check_credentials(with)?;
        if let Some(key) = with.expected() {
            let any = SecretKey::generate(&mut self.rng);
            let is_key = security.is_key(&self.local.offer.sealed, key, &any);
            is_key.then_some(()).ok_or(ConnectError::ServerKey)?;
        }
        self.attempt(now, targets, &[], |handshake, rng| {
            let secret = Secret::generate(rng);
            handshake.sealed(SealedAttempt::new(security, with.clone(), secret, now))
        })
    }

    /// Says how the host seals, from now on: connections that are there keep their keys. Datagrams of hosts
    /// that ask for what it does not allow any more are refused.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::{example_provider as provider, example_rng};
    /// use porous_proto::seal::{Security, Suite};
    /// use porous_proto::{Config, Host};
    ///
    /// let config = Config::new().sealed(&[Suite::CHACHA_POLY])?;
    /// let mut host = Host::<_, u32>::new(config, example_rng());
    /// host.set_security(Security::new(provider()));
    /// # Ok::<(), porous_proto::ConfigError>(())
    /// ```
    #[cfg(feature = "seal")]
    pub fn set_security(&mut self, security: Security) {
        self.local.security = Some(Box::new(security));
    }

    /// Tells the host what time it is: `seconds` since 1970 in UTC, at `now`. A server that takes
    /// [tokens](crate::seal::Security::token_key) needs that to see whether they have expired, and refuses all
    /// before. Told again now and then, it follows a clock that is set; the last word counts.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// # use porous_proto::Instant;
    /// # let (mut host, _) = example_pair();
    /// # let now = Instant::ZERO;
    /// let seconds = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs());
    /// host.set_unix_time(now, seconds);
    /// ```
    #[cfg(feature = "seal")]
    pub const fn set_unix_time(&mut self, now: Instant, seconds: u64) {
        self.door.set_unix_time(now, seconds);
    }

    /// Tells the host how to find the IP address in an address: [tokens](crate::seal::Token) may be bound to
    /// one, and are refused where it is not known.
    ///
    /// ```
    /// use core::net::SocketAddr;
    /// use porous_proto::{Config, Host};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = Host::<_, SocketAddr>::new(Config::new(), example_rng());
    /// host.set_ip_of(SocketAddr::ip);
    /// ```
    #[cfg(feature = "seal")]
    pub const fn set_ip_of(&mut self, ip_of: fn(&A) -> IpAddr) {
        self.door.set_ip_of(ip_of);
    }

    /// Makes an attempt at these addresses. `with` adds to its handshake what it has beside.
    fn attempt(
        &mut self,
        now: Instant,
        mut targets: Targets<A>,
        greeting: &[u8],
        with: impl FnOnce(Handshake, &mut R) -> Handshake,
    ) -> Result<PeerId, ConnectError> {
        let tick = self.steps.advance(now);
        // From here on other peers may lose an address: the arguments were checked before.
        targets.leave_out_taken(&mut self.table)?;
        let (&first, others) = targets.split()?;
        let length = self.local.config.connection_id_len;
        let connection_id = (self.connection_ids)
            .draw(length, &self.table, &mut self.rng)
            .ok_or(ConnectError::OutOfConnectionIds)?;
        let nonce = self.rng.next_u64().max(1); // 0 stands for one that is not known
        let identity = Identity {
            envelope: self.envelope,
            ..self.strangers.identity(nonce, connection_id)
        };
        let handshake = Handshake::new(1 + others.len(), greeting, nonce);
        let handshake = with(handshake, &mut self.rng);
        let peer = Peer::outgoing(tick.now, identity, self.local.config.timeouts, handshake);
        let id = self.table.insert(Member::new(peer, first, others));
        self.settle(id.slot);
        Ok(id)
    }

    /// Lets in a peer that [asked](crate::Event::Request). `Connected` follows: at once, or, if the
    /// newcomer has to prove itself because another peer has its address, with the first datagram of
    /// the new connection.
    ///
    /// # Errors
    ///
    /// [`AnswerError::UnknownPeer`] if there is no such peer (any more),
    /// [`AnswerError::NotAsked`] if the peer does not wait for an answer.
    ///
    /// ```
    /// use porous_proto::{AnswerError, Instant};
    /// # use porous_proto::hooks::doc::example_request;
    ///
    /// let (mut host, peer) = example_request();
    /// host.accept(Instant::ZERO, peer)?;
    /// assert_eq!(host.accept(Instant::ZERO, peer), Err(AnswerError::NotAsked));
    /// # Ok::<(), AnswerError>(())
    /// ```
    pub fn accept(&mut self, now: Instant, peer: PeerId) -> Result<(), AnswerError> {
        let now = self.steps.advance(now).now;
        let at = self.address(peer);
        let pending = at.is_some_and(|at| self.must_prove(at));
        asking(&mut self.table, peer)?.admit(pending, now);
        self.settle(peer.slot);
        Ok(())
    }

    /// Turns away a peer that [asked](crate::Event::Request), with up to 64 bytes that its
    /// application finds in [`Refusal::Application`](crate::Refusal::Application). The peer's
    /// `Disconnected` follows. The remote host may ask again, with a new connection.
    ///
    /// # Errors
    ///
    /// [`AnswerError::TooLong`] for more than 64 bytes: the request still waits.
    /// [`AnswerError::UnknownPeer`] if there is no such peer (any more),
    /// [`AnswerError::NotAsked`] if the peer does not wait for an answer.
    ///
    /// ```
    /// use porous_proto::{AnswerError, Instant};
    /// # use porous_proto::hooks::doc::example_request;
    ///
    /// let (mut host, peer) = example_request();
    /// assert_eq!(host.refuse(Instant::ZERO, peer, &[0; 65]), Err(AnswerError::TooLong));
    /// host.refuse(Instant::ZERO, peer, b"the match has begun")?;
    /// # Ok::<(), AnswerError>(())
    /// ```
    pub fn refuse(&mut self, now: Instant, peer: PeerId, data: &[u8]) -> Result<(), AnswerError> {
        let now = self.steps.advance(now).now;
        let asking = asking(&mut self.table, peer)?;
        let said = RefusalData::new(data).ok_or(AnswerError::TooLong)?;
        asking.refuse(said, now);
        self.settle(peer.slot);
        Ok(())
    }

    /// Queues a packet on a channel. It leaves when the driver [polls](Self::poll_transmit) and the
    /// windows allow. Its [options](SendOptions), or a mode alone, say how it is delivered. The packet is a
    /// slice, which is copied, or memory that the host takes over: see [`Payload`]. The paper's traffic of a
    /// connected peer (§2.4).
    ///
    /// # Errors
    ///
    /// See [`SendError`]: the packet is not queued.
    ///
    /// ```
    /// use porous_proto::{ChannelId, Mode};
    /// # use porous_proto::hooks::doc::example_pair;
    ///
    /// # let (mut host, peer) = example_pair();
    /// host.send(peer, ChannelId(0), &b"hello"[..], Mode::Reliable)?;
    /// # Ok::<(), porous_proto::SendError>(())
    /// ```
    pub fn send<'p>(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        packet: impl Into<Payload<'p>>,
        options: impl Into<SendOptions>,
    ) -> Result<(), SendError> {
        let target = self.table.get_mut(peer).ok_or(SendError::UnknownPeer)?;
        let target = &mut target.peer;
        let (now, packet, options) = (self.steps.now(), packet.into(), options.into());
        let sent = target.send(now, channel, packet, options, &mut self.memory.buffers);
        if target.has_receipts() {
            self.settle(peer.slot); // the receipts of packets that have expired, or were replaced
        }
        if sent.is_ok() {
            self.schedule.set_ready(peer.slot);
        }
        sent
    }

    /// [Queues](Self::send) one packet for each peer that is connected. All of them share its bytes. Returns the
    /// peers for which it was not queued, each with the reason, in the order of [`peers`](Self::peers); nothing is
    /// allocated if there are none. For all peers but some, [`send`](Self::send) to each that is meant.
    ///
    /// ```
    /// use porous_proto::{ChannelId, Mode};
    /// # use porous_proto::hooks::doc::example_pair;
    ///
    /// # let (mut host, _) = example_pair();
    /// let unsent = host.broadcast(ChannelId(0), "the match begins", Mode::Reliable);
    /// for (peer, error) in unsent {
    ///     println!("{peer} does not hear of it: {error}"); // and cannot keep up, if its budget is full
    /// }
    /// ```
    pub fn broadcast(
        &mut self,
        channel: ChannelId,
        packet: impl Into<Bytes>,
        options: impl Into<SendOptions>,
    ) -> Vec<(PeerId, SendError)> {
        let (packet, options) = (packet.into(), options.into());
        let mut unsent = Vec::new();
        for slot in self.table.slots() {
            let Some(peer) = self.table.connected_at(slot) else {
                continue;
            };
            if let Err(error) = self.send(peer, channel, packet.clone(), options) {
                unsent.push((peer, error));
            }
        }
        unsent
    }

    /// Cancels the packets of a channel that were sent with the [receipt](SendOptions::receipt)
    /// `token`. Nothing more of them is sent, neither for the first time nor again. What is on its way
    /// may still arrive: the receipt tells. Later packets do not wait for a cancelled one, even if it
    /// is reliable.
    ///
    /// True if there was such a packet, of which something would have been sent, or sent again if it
    /// is lost.
    ///
    /// ```
    /// use porous_proto::{ChannelId, Event, Mode, Outcome, SendOptions};
    /// # use porous_proto::hooks::doc::example_pair;
    ///
    /// # let (mut host, peer) = example_pair();
    /// # while host.poll_event().is_some() {}
    /// let order = SendOptions::new(Mode::Reliable).receipt(7);
    /// host.send(peer, ChannelId(0), &b"build a tank"[..], order)?;
    /// assert!(host.cancel(peer, ChannelId(0), 7));
    /// let (token, outcome) = (7, Outcome::Cancelled);
    /// assert_eq!(host.poll_event(), Some(Event::Receipt { peer, token, outcome }));
    /// # Ok::<(), porous_proto::SendError>(())
    /// ```
    pub fn cancel(&mut self, peer: PeerId, channel: ChannelId, token: u64) -> bool {
        let target = self.table.get_mut(peer);
        let any = target.is_some_and(|target| target.peer.cancel(channel, token));
        if any {
            self.settle(peer.slot);
        }
        any
    }

    /// Takes the next packet that has arrived from a peer and can be delivered, of any channel;
    /// `None` if there is none now. Channels take turns. The remote host can send only so much more as
    /// is taken: unread packets fill the [receive budget](crate::Config::receive_budget). Consuming a
    /// packet is §3.2.3 of the paper.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// # let (mut host, peer) = example_pair();
    /// while let Some(received) = host.receive(peer) {
    ///     let _ = (received.channel, received.mode, received.payload);
    /// }
    /// ```
    pub fn receive(&mut self, peer: PeerId) -> Option<Received> {
        let target = &mut self.table.get_mut(peer)?.peer;
        let reports = target.reports();
        let received = target.receive(self.steps.now());
        self.kept.set(peer.slot, target.kept());
        // Window acknowledgements have become due, or a peer that has ended was read empty.
        if target.reports() != reports || target.is_over() {
            self.settle(peer.slot);
        }
        received
    }

    /// Changes the [cap](crate::Channel::rate) of a channel to one peer, in bytes a second, from 1
    /// to `u32::MAX`, which is no cap; 0 counts as 1. What the old cap held back leaves by the new one.
    ///
    /// # Errors
    ///
    /// [`SendError::UnknownPeer`], [`SendError::UnknownChannel`], or [`SendError::NotConnected`] while
    /// this host connects and does not know how many channels there are.
    ///
    /// ```
    /// use porous_proto::ChannelId;
    /// # use porous_proto::hooks::doc::example_pair;
    ///
    /// # let (mut host, peer) = example_pair();
    /// host.set_channel_rate(peer, ChannelId(0), 20_000)?;
    /// # Ok::<(), porous_proto::SendError>(())
    /// ```
    pub fn set_channel_rate(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        bytes_a_second: u32,
    ) -> Result<(), SendError> {
        let now = self.steps.now();
        self.change_peer(peer, |peer| {
            peer.set_channel_rate(now, channel, bytes_a_second)
        })
    }

    /// Changes the most that this host sends to a peer, in bytes a second, from 1 to `u32::MAX`, which
    /// is no cap; 0 counts as 1. Before, it is what [`Config::bandwidth`](crate::Config::bandwidth)
    /// says. What the remote host wants to receive holds beside it.
    ///
    /// All UDP payload counts, but only data is held back: acknowledgements, signalling and probes
    /// always leave, and so do they where they alone are more than the cap; data has an eighth of it
    /// left even then. No second has more than the cap, a fiftieth of it and one datagram; if the host
    /// is stepped less often than fifty times a second, than the cap, one step's worth and one
    /// datagram. [`Policy::Paper`](crate::Policy::Paper) keeps to it as far as (10) of the paper does.
    ///
    /// # Errors
    ///
    /// [`SendError::UnknownPeer`], or [`SendError::NotConnected`] while connecting.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// # let (mut host, peer) = example_pair();
    /// host.set_send_rate(peer, 20_000)?;
    /// # Ok::<(), porous_proto::SendError>(())
    /// ```
    pub fn set_send_rate(&mut self, peer: PeerId, bytes_a_second: u32) -> Result<(), SendError> {
        self.change_peer(peer, |peer| peer.set_send_rate(bytes_a_second))
    }

    /// Changes the most that this host wants to receive from a peer, in bytes a second, from 1 to
    /// `u32::MAX`, which is no cap; 0 counts as 1. The remote host is told at once, and again until it
    /// acknowledges; it then sends no more, if it is honest. The newest call counts. This host holds
    /// nothing back, and refuses nothing for the rate.
    ///
    /// # Errors
    ///
    /// As for [`set_send_rate`](Self::set_send_rate).
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// # let (mut host, peer) = example_pair();
    /// host.set_receive_rate(peer, 20_000)?;
    /// # Ok::<(), porous_proto::SendError>(())
    /// ```
    pub fn set_receive_rate(&mut self, peer: PeerId, bytes_a_second: u32) -> Result<(), SendError> {
        self.change_peer(peer, |peer| peer.set_receive_rate(bytes_a_second))
    }

    fn change_peer(
        &mut self,
        id: PeerId,
        change: impl FnOnce(&mut Peer) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        let member = self.table.get_mut(id).ok_or(SendError::UnknownPeer)?;
        change(&mut member.peer)?;
        self.settle(id.slot);
        Ok(())
    }

    /// Changes the most that this host sends to all peers together
    /// ([`Config::host_send_rate`](crate::Config::host_send_rate)), in bytes a second, from 1 to
    /// `u32::MAX`, which is no cap; 0 counts as 1.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// # let (mut host, _) = example_pair();
    /// host.set_host_send_rate(1_250_000);
    /// ```
    pub fn set_host_send_rate(&mut self, bytes_a_second: u32) {
        let tick = self.steps.advance(self.steps.now());
        let rate = bytes_a_second.max(1);
        self.strangers.set_host_rate(rate, tick.now);
        self.schedule.set_rate(rate, tick);
    }

    /// Disconnects from all peers, as [`disconnect`](Self::disconnect) does from one, and closes the
    /// host to new ones. Peers that are being flushed go on as `how` says; peers that wait for the
    /// acknowledgement of their disconnection go on waiting.
    ///
    /// ```
    /// use porous_proto::{Disconnect, Instant, PeerState};
    /// # use porous_proto::hooks::doc::example_pair;
    ///
    /// # let (mut host, peer) = example_pair();
    /// host.disconnect_all(Instant::ZERO, Disconnect::Now { reason: 0 });
    /// assert_eq!(host.peer(peer).unwrap().state(), PeerState::Disconnecting);
    /// ```
    pub fn disconnect_all(&mut self, now: Instant, how: Disconnect) {
        self.strangers.listen(Listen::Closed);
        let peers: Vec<_> = self.peers().map(|(id, _)| id).collect();
        for peer in peers {
            // None is unknown: `peers` are those that are live.
            let _known = self.disconnect(now, peer, how);
        }
    }

    /// Prepares the end of a server that is to be stopped or started anew: gets rid of all peers without
    /// losing what was sent to them, and lets nobody in. Go on until the host [is empty](Self::is_empty).
    ///
    /// - A host that wants to connect from now on is refused as [`Full`](crate::Refusal::Full), as under
    ///   [`Listen::Full`], and can try the next server at once; so is one of which a
    ///   [`Request`](crate::Event::Request) still waits for an answer. A host that is
    ///   [`Closed`](Listen::Closed) stays silent.
    /// - Each peer is disconnected when all that was sent to it has been delivered, or `deadline` has
    ///   passed, as by [`Disconnect::Flush`] with this `reason`. What the peer sends is still received.
    ///   [`send`](Self::send) fails from now on: the last words have to be sent before.
    /// - An attempt of this host to connect is given up.
    ///
    /// A peer is gone, at the latest, the
    /// [`disconnect_timeout`](crate::Config::disconnect_timeout) after its deadline.
    ///
    /// The application may call this again: a peer that is being flushed is told the reason that was named
    /// first, and the earliest deadline counts, whether it was named by this method or by
    /// [`disconnect`](Self::disconnect). With the deadline zero what is under way is given up at once.
    /// To let newcomers in again, [`listen`](Self::listen).
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::{ChannelId, Instant, Mode};
    /// # use porous_proto::hooks::doc::example_pair;
    ///
    /// # let (mut host, peer) = example_pair();
    /// host.send(peer, ChannelId(0), "back in a minute", Mode::Reliable)?;
    /// let restart = 3; // a number that the clients of this game know
    /// host.drain(Instant::ZERO, restart, Duration::from_secs(30));
    /// assert!(!host.is_empty()); // until the packet has arrived, and the peer knows
    /// # Ok::<(), porous_proto::SendError>(())
    /// ```
    pub fn drain(&mut self, now: Instant, reason: u32, deadline: Duration) {
        self.strangers.refuse_all();
        let peers: Vec<_> = self.peers().map(|(id, _)| id).collect();
        for peer in peers {
            // None is unknown: `peers` are those that are live.
            let _known = self.part(now, peer, reason, |peer, now| {
                peer.drain(reason, deadline, now);
            });
        }
    }

    /// Disconnects from a peer, or gives up connecting to it. The peer's `Disconnected` follows: at
    /// once if it was not connected, else when the remote host has acknowledged (§2.5).
    ///
    /// # Errors
    ///
    /// [`UnknownPeer`] if there is no such peer, or if it has ended.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::{Disconnect, Instant};
    /// # use porous_proto::hooks::doc::example_pair;
    ///
    /// # let (mut host, peer) = example_pair();
    /// let how = Disconnect::Flush { reason: 0, deadline: Duration::from_secs(2) };
    /// host.disconnect(Instant::ZERO, peer, how)?;
    /// # Ok::<(), porous_proto::UnknownPeer>(())
    /// ```
    pub fn disconnect(
        &mut self,
        now: Instant,
        peer: PeerId,
        how: Disconnect,
    ) -> Result<(), UnknownPeer> {
        let (Disconnect::Flush { reason, .. } | Disconnect::Now { reason }) = how;
        self.part(now, peer, reason, |peer, now| peer.disconnect(how, now))
    }

    /// Has a live peer begin to `leave`, with this reason.
    fn part(
        &mut self,
        now: Instant,
        peer: PeerId,
        reason: u32,
        leave: impl FnOnce(&mut Peer, Instant),
    ) -> Result<(), UnknownPeer> {
        let now = self.steps.advance(now).now;
        let member = self.table.get_mut(peer);
        let member = member.filter(|member| member.peer.state().is_live());
        let member = member.ok_or(UnknownPeer)?;
        // An attempt ends here and now, and its peer says nothing more: each host that it has met is
        // told once, by its nonce (C12).
        let remotes = member.remotes();
        leave(&mut member.peer, now);
        let nonce = member.peer.nonce();
        self.strangers.say_goodbye(nonce, &remotes, reason);
        self.settle(peer.slot);
        Ok(())
    }
}
