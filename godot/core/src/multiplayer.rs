//! One end of a multiplayer game, as Godot's `MultiplayerPeer` has it.

use alloc::collections::VecDeque;
use core::fmt;
use core::time::Duration;

use porous_std::{
    Bytes, Disconnect, Event, Listen, Mode, Outcome, Peer, PeerId, Received, SendError, SendOptions,
};

use crate::channels::{CONTROL, TransferMode, to_connection, to_godot};
use crate::net::Net;
use crate::roster::Roster;

/// The id of the server.
pub const SERVER: i32 = 1;

/// The length of the packet that tells a client its id: its kind, and the id.
const GREETING_LEN: usize = 5;

/// The kind of the packet that tells a client its id, the only kind there is.
const GREETING: u8 = 1;

/// The token of its receipt.
const TOKEN: u64 = 1;

/// Packets that may wait for the game. The rest waits at the host, whose budgets hold the other side back.
const MOST_WAITING: usize = 4096;

/// The longest time that packets may take that were sent before a disconnection.
const FLUSH_DEADLINE: Duration = Duration::from_secs(3);

/// The numbers by which a side tells the other why it disconnects.
pub mod reason {
    /// The game has asked for it.
    pub const REQUESTED: u32 = 0;
    /// The connection does not carry the reliable packets: see
    /// [`Config::send_budget`](porous_std::Config::send_budget).
    pub const TOO_SLOW: u32 = 1;
    /// The other side is no game of this kind.
    pub const PROTOCOL: u32 = 2;
}

/// A signal of Godot's `MultiplayerPeer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// `peer_connected`: a peer has come. Of a client, that is the server alone.
    PeerConnected(i32),
    /// `peer_disconnected`: a peer has left.
    PeerDisconnected(i32),
}

/// Whether there is a connection, with the numbers of Godot's `ConnectionStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// There is none.
    Disconnected = 0,
    /// A client that has no id yet.
    Connecting = 1,
    /// A server, and a client that has its id.
    Connected = 2,
}

/// Why a call did nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// There is no connection, or the peer is closed.
    Unconfigured,
    /// There is no peer with this id.
    UnknownPeer,
    /// The connection has fewer channels: see [`with_channels`](crate::with_channels).
    UnknownChannel,
    /// The packet is larger than [`Multiplayer::max_packet_size`].
    TooLarge,
    /// The packet has no bytes.
    Empty,
    /// A reliable packet found no room, so at least one peer has missed it. Each of these is disconnected with
    /// [`reason::TOO_SLOW`].
    TooSlow,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unconfigured => {
                "there is no connection: create a server or a client, and wait for it"
            }
            Self::UnknownPeer => "no peer has this id: wait for peer_connected",
            Self::UnknownChannel => {
                "there are fewer channels: give both sides more when you create them"
            }
            Self::Empty => "Godot takes no packet without bytes: send one at least",
            Self::TooLarge => "the packet is too large: see get_max_packet_size",
            Self::TooSlow => "a peer is too slow for what is sent, and is disconnected: send less",
        })
    }
}

impl core::error::Error for Error {}

/// A packet that has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The sender.
    pub peer: i32,
    /// Godot's channel.
    pub channel: i32,
    /// How it was sent.
    pub mode: TransferMode,
    /// Its bytes.
    pub payload: Bytes,
}

/// What this end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Closed,
    Server,
    Client {
        server: PeerId,
        /// 0 until the server has told it.
        id: i32,
    },
}

/// A peer that has left, of which Godot is told when its last packet was taken.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    id: i32,
    peer: PeerId,
}

/// One end of a multiplayer game: the server, or a client. It has no host; each call that needs one gets it.
#[derive(Debug)]
pub struct Multiplayer {
    role: Role,
    roster: Roster,
    leaving: Vec<Leaving>,
    /// Peers whose packets wait at the host.
    readable: VecDeque<PeerId>,
    waiting: VecDeque<Packet>,
    target: i32,
    mode: TransferMode,
    channel: i32,
    refuses: bool,
    dropped: u64,
}

impl Multiplayer {
    const fn new(role: Role) -> Self {
        Self {
            role,
            roster: Roster::new(),
            leaving: Vec::new(),
            readable: VecDeque::new(),
            waiting: VecDeque::new(),
            target: 0,
            mode: TransferMode::Reliable,
            channel: 0,
            refuses: false,
            dropped: 0,
        }
    }

    /// A server, whose host listens.
    ///
    /// ```
    /// use porous_godot_core::{Multiplayer, SERVER, Status};
    ///
    /// let here = Multiplayer::server();
    /// assert_eq!((here.status(), here.unique_id()), (Status::Connected, SERVER));
    /// ```
    #[must_use]
    pub const fn server() -> Self {
        Self::new(Role::Server)
    }

    /// A client, whose host connects to this peer.
    ///
    /// ```
    /// use porous_godot_core::{Multiplayer, Status};
    /// use porous_std::{Config, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::client())?;
    /// let server = host.connect("127.0.0.1:4000".parse()?)?;
    /// assert_eq!(Multiplayer::client(server).status(), Status::Connecting);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn client(server: PeerId) -> Self {
        Self::new(Role::Client { server, id: 0 })
    }

    /// An end without a host: nothing happens to it.
    ///
    /// ```
    /// use porous_godot_core::{Multiplayer, Status};
    ///
    /// assert_eq!(Multiplayer::closed().status(), Status::Disconnected);
    /// ```
    #[must_use]
    pub const fn closed() -> Self {
        Self::new(Role::Closed)
    }

    /// Takes in what has happened at the host, until there is a signal. Emit it, with whatever a game does then, and
    /// call this again until it returns `None`. Then take the packets.
    ///
    /// ```
    /// use porous_godot_core::{Multiplayer, with_channels};
    /// use porous_std::{Config, Listen, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", with_channels(Config::new(), 8)?)?;
    /// host.listen(Listen::Open)?;
    /// let mut here = Multiplayer::server();
    /// host.step()?; // once a frame
    /// while let Some(signal) = here.poll(&mut host) {
    ///     println!("{signal:?}"); // emitted
    /// }
    /// while let Some(packet) = here.get_packet() {
    ///     println!("{} says {:?}", packet.peer, packet.payload);
    /// }
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn poll<N: Net>(&mut self, net: &mut N) -> Option<Signal> {
        loop {
            if self.role == Role::Closed {
                return None;
            }
            if let Some(signal) = self.next_end() {
                return Some(signal);
            }
            let Some(event) = net.poll_event() else {
                self.fill(net);
                return None;
            };
            if let Some(signal) = self.on_event(net, event) {
                return Some(signal);
            }
        }
    }

    /// The end of a peer of which everything was taken.
    fn next_end(&mut self) -> Option<Signal> {
        let is_over = |end: &Leaving| {
            let waits = self.waiting.iter().any(|packet| packet.peer == end.id);
            !waits && !self.readable.contains(&end.peer)
        };
        let end = self.leaving.iter().position(is_over)?;
        let end = self.leaving.remove(end);
        if let Role::Client { .. } = self.role {
            self.close();
        }
        Some(Signal::PeerDisconnected(end.id))
    }

    fn on_event<N: Net>(&mut self, net: &mut N, event: Event<N::Address>) -> Option<Signal> {
        match event {
            Event::Connected { peer, .. } => {
                self.on_connected(net, peer);
                None
            }
            Event::Readable { peer } => self.on_readable(net, peer),
            Event::Receipt {
                peer,
                token: TOKEN,
                outcome: Outcome::Delivered,
            } => self.announced(self.roster.id(peer)?),
            Event::Disconnected { peer, .. } => {
                self.on_disconnected(peer);
                None
            }
            Event::Request { .. }
            | Event::Writable { .. }
            | Event::Receipt { .. }
            | Event::PeerMoved { .. }
            | Event::PathNarrowed { .. }
            | Event::PortClosed { .. }
            | _ => None,
        }
    }

    /// The signal of a peer that is there, the first time.
    fn announced(&mut self, id: i32) -> Option<Signal> {
        let is_new = self.roster.announce(id);
        is_new.then_some(Signal::PeerConnected(id))
    }

    /// Tells a client its id. A server that sends nothing else before knows by the receipt, or by the first packet of
    /// the client, that the client has it.
    fn on_connected<N: Net>(&mut self, net: &mut N, peer: PeerId) {
        let Role::Server = self.role else {
            return;
        };
        let id = self.roster.free_id(net.random());
        let mut greeting = [GREETING; GREETING_LEN];
        greeting[1..].copy_from_slice(&id.to_be_bytes());
        let options = SendOptions::new(Mode::Reliable).receipt(TOKEN);
        let greeting = Bytes::copy_from_slice(&greeting);
        match net.send(peer, CONTROL, greeting, options) {
            Ok(()) => self.roster.add(id, peer),
            // The connection is new and its budget empty, so it has ended already.
            Err(_) => net.disconnect(peer, now(reason::REQUESTED)),
        }
    }

    fn on_readable<N: Net>(&mut self, net: &mut N, peer: PeerId) -> Option<Signal> {
        if let Role::Client { server, id: 0 } = self.role {
            return (peer == server).then(|| self.learn_id(net, peer)).flatten();
        }
        let Some(id) = self.roster.id(peer) else {
            // Of a peer that was disconnected: nobody hears it any more.
            while net.receive(peer).is_some() {}
            return None;
        };
        self.readable.push_back(peer);
        // Who says something has its id, also if the receipt got lost.
        self.announced(id)
    }

    /// Takes the first packets of the server. The one with the id has come, as the server has sent nothing else before
    /// it knew that; but the channels take turns, so others may be given before it.
    fn learn_id<N: Net>(&mut self, net: &mut N, server: PeerId) -> Option<Signal> {
        let mut early = Vec::new();
        let mut told = None;
        while let Some(packet) = net.receive(server) {
            if packet.channel == CONTROL {
                told = told.or_else(|| read_id(&packet.payload));
            } else {
                early.push(packet);
            }
            if told.is_some() || early.len() > MOST_WAITING {
                break;
            }
        }
        let Some(id) = told else {
            // No server of a game begins like this.
            net.disconnect(server, now(reason::PROTOCOL));
            self.close();
            return None;
        };
        self.role = Role::Client { server, id };
        self.roster.add(SERVER, server);
        self.waiting
            .extend(early.into_iter().filter_map(|packet| read(SERVER, packet)));
        self.readable.push_back(server);
        self.announced(SERVER)
    }

    fn on_disconnected(&mut self, peer: PeerId) {
        let Some(id) = self.roster.id(peer) else {
            if let Role::Client { id: 0, .. } = self.role {
                self.close(); // the attempt has failed
            }
            return;
        };
        if self.roster.remove(id).is_some_and(|it| it.is_announced) {
            self.leaving.push(Leaving { id, peer });
        }
    }

    /// Takes packets from the host, in turn from all that have some, as long as there is room.
    fn fill<N: Net>(&mut self, net: &mut N) {
        while self.waiting.len() < MOST_WAITING {
            let Some(peer) = self.readable.pop_front() else {
                return;
            };
            let leaving = self.leaving.iter().find(|end| end.peer == peer);
            let id = self.roster.id(peer).or_else(|| leaving.map(|end| end.id));
            let Some(packet) = net.receive(peer) else {
                continue;
            };
            self.readable.push_back(peer);
            self.waiting.extend(id.and_then(|id| read(id, packet)));
        }
    }

    /// Sends a packet to the [target](Self::set_target_peer), with the [mode](Self::set_transfer_mode) and on the
    /// [channel](Self::set_transfer_channel) that were set. A peer that has just left gets nothing, which is no error.
    /// An unreliable packet that finds no room is dropped, and [`dropped`](Self::dropped) counts.
    ///
    /// # Errors
    ///
    /// See [`Error`]. After [`Error::TooSlow`] the other peers have the packet, after any other error nobody has.
    ///
    /// ```
    /// use porous_godot_core::{Error, Multiplayer, with_channels};
    /// use porous_std::{Config, Listen, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", with_channels(Config::new(), 8)?)?;
    /// host.listen(Listen::Open)?;
    /// let mut here = Multiplayer::server();
    /// assert!(here.put_packet(&mut host, "to all that are there".into()).is_ok());
    /// here.set_target_peer(7);
    /// assert_eq!(here.put_packet(&mut host, "to one".into()), Err(Error::UnknownPeer));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn put_packet<N: Net>(&mut self, net: &mut N, packet: Bytes) -> Result<(), Error> {
        if self.status() != Status::Connected {
            return Err(Error::Unconfigured);
        }
        if packet.is_empty() {
            return Err(Error::Empty);
        }
        let targets = self.targets()?;
        // All of them are asked before anything is sent to one.
        for (_, peer) in &targets {
            self.check(net, *peer, packet.len())?;
        }
        let mut too_slow = Vec::new();
        for (id, peer) in targets {
            if !self.send(net, peer, packet.clone()) {
                too_slow.push(id);
            }
        }
        for id in &too_slow {
            self.end(net, *id, now(reason::TOO_SLOW), true);
        }
        if too_slow.is_empty() {
            Ok(())
        } else {
            Err(Error::TooSlow)
        }
    }

    /// Who gets the packet: all, one, or all but one.
    fn targets(&self) -> Result<Vec<(i32, PeerId)>, Error> {
        let named = self.target.saturating_abs();
        let is_leaving = self.leaving.iter().any(|end| end.id == named);
        if named != 0 && self.roster.get(named).is_none_or(|it| !it.is_announced) && !is_leaving {
            return Err(Error::UnknownPeer);
        }
        let wanted = |id: i32| match self.target {
            0 => true,
            1.. => id == named,
            ..0 => id != named,
        };
        Ok(self
            .roster
            .announced()
            .filter(|(id, _)| wanted(*id))
            .collect())
    }

    /// Whether the connection has such a channel and carries packets of this length.
    fn check<N: Net>(&self, net: &N, peer: PeerId, len: usize) -> Result<(), Error> {
        // One that has just ended has no channels, and the next poll tells.
        let connected = net.peer(peer).filter(|peer| peer.channels() > 0);
        let count = connected.map_or(u8::MAX, Peer::channels);
        if to_connection(self.channel, self.mode, count).is_none() {
            return Err(Error::UnknownChannel);
        }
        if connected.is_some_and(|peer| len > peer.max_packet()) {
            return Err(Error::TooLarge);
        }
        Ok(())
    }

    /// Sends a packet that was checked. Returns false if it has to arrive and cannot.
    fn send<N: Net>(&mut self, net: &mut N, peer: PeerId, packet: Bytes) -> bool {
        let Some(channel) = to_connection(self.channel, self.mode, u8::MAX) else {
            return true;
        };
        let sent = net.send(peer, channel, packet, self.mode.options());
        if sent != Err(SendError::Full) {
            return true; // or it has left, and the next poll tells
        }
        let is_reliable = self.mode == TransferMode::Reliable;
        self.dropped += u64::from(!is_reliable);
        !is_reliable
    }

    /// Ends the connection to a peer. What was sent to it before arrives, unless it is by `force`. A server does not hear
    /// it any more. By force there is no signal either, and a client is closed.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownPeer`] if it is not there.
    ///
    /// ```
    /// use porous_godot_core::{Error, Multiplayer, with_channels};
    /// use porous_std::{Config, Listen, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", with_channels(Config::new(), 8)?)?;
    /// host.listen(Listen::Open)?;
    /// let mut here = Multiplayer::server();
    /// assert_eq!(here.disconnect_peer(&mut host, 7, false), Err(Error::UnknownPeer));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn disconnect_peer<N: Net>(
        &mut self,
        net: &mut N,
        id: i32,
        force: bool,
    ) -> Result<(), Error> {
        let is_there = self.roster.get(id).is_some_and(|it| it.is_announced);
        if !is_there {
            return Err(Error::UnknownPeer);
        }
        if force {
            self.end(net, id, now(reason::REQUESTED), false);
            if let Role::Client { .. } = self.role {
                self.close();
            }
            return Ok(());
        }
        let flush = Disconnect::Flush {
            reason: reason::REQUESTED,
            deadline: FLUSH_DEADLINE,
        };
        if let Role::Client { server, .. } = self.role {
            // Godot polls a client as long as it is connected: so long it delivers.
            net.disconnect(server, flush);
        } else {
            self.end(net, id, flush, true);
        }
        Ok(())
    }

    /// Ends a connection here and now, and forgets what waits of it.
    fn end<N: Net>(&mut self, net: &mut N, id: i32, how: Disconnect, tells: bool) {
        let Some(member) = self.roster.remove(id) else {
            return;
        };
        net.disconnect(member.peer, how);
        self.waiting.retain(|packet| packet.peer != id);
        self.readable.retain(|peer| *peer != member.peer);
        while net.receive(member.peer).is_some() {}
        if tells {
            let peer = member.peer;
            self.leaving.push(Leaving { id, peer });
        }
    }

    /// Forgets everything, without signals. The host, which the caller drops, tells each peer once.
    ///
    /// ```
    /// use porous_godot_core::{Multiplayer, Status};
    ///
    /// let mut here = Multiplayer::server();
    /// here.close();
    /// assert_eq!(here.status(), Status::Disconnected);
    /// ```
    pub fn close(&mut self) {
        self.role = Role::Closed;
        self.roster.clear();
        self.leaving.clear();
        self.readable.clear();
        self.waiting.clear();
    }

    /// Takes the next packet.
    ///
    /// ```
    /// use porous_godot_core::Multiplayer;
    ///
    /// let mut here = Multiplayer::server();
    /// assert_eq!(here.get_packet(), None); // nobody is there
    /// ```
    pub fn get_packet(&mut self) -> Option<Packet> {
        self.waiting.pop_front()
    }

    /// The next packet, which stays.
    ///
    /// ```
    /// use porous_godot_core::Multiplayer;
    ///
    /// assert!(Multiplayer::server().next_packet().is_none());
    /// ```
    #[must_use]
    pub fn next_packet(&self) -> Option<&Packet> {
        self.waiting.front()
    }

    /// Packets that can be taken.
    ///
    /// ```
    /// use porous_godot_core::Multiplayer;
    ///
    /// assert_eq!(Multiplayer::server().available_packet_count(), 0);
    /// ```
    #[must_use]
    pub fn available_packet_count(&self) -> usize {
        self.waiting.len()
    }

    /// Unreliable packets that found no room in the send budget of a peer.
    ///
    /// ```
    /// use porous_godot_core::Multiplayer;
    ///
    /// assert_eq!(Multiplayer::server().dropped(), 0);
    /// ```
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Whom packets go to: 0 all, an id that peer, a negative id all but that peer.
    ///
    /// ```
    /// use porous_godot_core::Multiplayer;
    ///
    /// let mut here = Multiplayer::server();
    /// here.set_target_peer(-7); // all but the peer 7
    /// ```
    pub const fn set_target_peer(&mut self, target: i32) {
        self.target = target;
    }

    /// How packets are sent. Reliable at first.
    ///
    /// ```
    /// use porous_godot_core::{Multiplayer, TransferMode};
    ///
    /// let mut here = Multiplayer::server();
    /// here.set_transfer_mode(TransferMode::UnreliableOrdered);
    /// assert_eq!(here.transfer_mode(), TransferMode::UnreliableOrdered);
    /// ```
    pub const fn set_transfer_mode(&mut self, mode: TransferMode) {
        self.mode = mode;
    }

    /// How packets are sent.
    ///
    /// ```
    /// use porous_godot_core::{Multiplayer, TransferMode};
    ///
    /// assert_eq!(Multiplayer::server().transfer_mode(), TransferMode::Reliable);
    /// ```
    #[must_use]
    pub const fn transfer_mode(&self) -> TransferMode {
        self.mode
    }

    /// The channel of Godot on which packets are sent. 0 at first.
    ///
    /// ```
    /// use porous_godot_core::Multiplayer;
    ///
    /// let mut here = Multiplayer::server();
    /// here.set_transfer_channel(3);
    /// assert_eq!(here.transfer_channel(), 3);
    /// ```
    pub const fn set_transfer_channel(&mut self, channel: i32) {
        self.channel = channel;
    }

    /// The channel of Godot on which packets are sent.
    ///
    /// ```
    /// use porous_godot_core::Multiplayer;
    ///
    /// assert_eq!(Multiplayer::server().transfer_channel(), 0);
    /// ```
    #[must_use]
    pub const fn transfer_channel(&self) -> i32 {
        self.channel
    }

    /// Whether a server refuses newcomers, who then know at once that it is full. Peers stay.
    ///
    /// ```
    /// use porous_godot_core::{Multiplayer, with_channels};
    /// use porous_std::{Config, Listen, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", with_channels(Config::new(), 8)?)?;
    /// host.listen(Listen::Open)?;
    /// let mut here = Multiplayer::server();
    /// here.set_refuse_new_connections(&mut host, true); // the match has begun
    /// assert!(here.is_refusing_new_connections());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn set_refuse_new_connections<N: Net>(&mut self, net: &mut N, yes: bool) {
        self.refuses = yes;
        if self.role == Role::Server {
            net.listen(if yes { Listen::Full } else { Listen::Open });
        }
    }

    /// Whether newcomers are refused.
    ///
    /// ```
    /// use porous_godot_core::Multiplayer;
    ///
    /// assert!(!Multiplayer::server().is_refusing_new_connections());
    /// ```
    #[must_use]
    pub const fn is_refusing_new_connections(&self) -> bool {
        self.refuses
    }

    /// Whether there is a connection.
    ///
    /// ```
    /// use porous_godot_core::{Multiplayer, Status};
    ///
    /// assert_eq!(Multiplayer::server().status(), Status::Connected);
    /// ```
    #[must_use]
    pub const fn status(&self) -> Status {
        match self.role {
            Role::Closed => Status::Disconnected,
            Role::Client { id: 0, .. } => Status::Connecting,
            Role::Server | Role::Client { .. } => Status::Connected,
        }
    }

    /// The id of this end; 0 while it has none.
    ///
    /// ```
    /// use porous_godot_core::Multiplayer;
    ///
    /// assert_eq!(Multiplayer::closed().unique_id(), 0);
    /// ```
    #[must_use]
    pub const fn unique_id(&self) -> i32 {
        match self.role {
            Role::Closed => 0,
            Role::Server => SERVER,
            Role::Client { id, .. } => id,
        }
    }

    /// The connection to the peer with this id, for questions to the host.
    ///
    /// ```
    /// use porous_godot_core::Multiplayer;
    ///
    /// assert!(Multiplayer::server().connection(7).is_none());
    /// ```
    #[must_use]
    pub fn connection(&self, id: i32) -> Option<PeerId> {
        self.roster.get(id).map(|member| member.peer)
    }

    /// True of a server.
    ///
    /// ```
    /// use porous_godot_core::Multiplayer;
    ///
    /// assert!(Multiplayer::server().is_server());
    /// ```
    #[must_use]
    pub const fn is_server(&self) -> bool {
        matches!(self.role, Role::Server)
    }

    /// Whether packets between clients can go through the server: unless this end is closed.
    ///
    /// ```
    /// use porous_godot_core::Multiplayer;
    ///
    /// assert!(!Multiplayer::closed().is_server_relay_supported());
    /// ```
    #[must_use]
    pub const fn is_server_relay_supported(&self) -> bool {
        !matches!(self.role, Role::Closed)
    }

    /// The bytes of the largest packet to every peer that is there; without any, those of the default configuration.
    ///
    /// ```
    /// use porous_godot_core::{Multiplayer, with_channels};
    /// use porous_std::{Config, Listen, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", with_channels(Config::new(), 8)?)?;
    /// host.listen(Listen::Open)?;
    /// let here = Multiplayer::server();
    /// assert_eq!(here.max_packet_size(&host), 1 << 20);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn max_packet_size<N: Net>(&self, net: &N) -> usize {
        const DEFAULT: usize = 1 << 20;
        let largest = |(_, peer)| net.peer(peer).map(Peer::max_packet);
        let smallest = self.roster.announced().filter_map(largest).min();
        smallest.unwrap_or(DEFAULT)
    }
}

const fn now(reason: u32) -> Disconnect {
    Disconnect::Now { reason }
}

/// The id that the server tells. `None` if it is none of a client.
fn read_id(packet: &[u8]) -> Option<i32> {
    let (kind, id) = packet.split_first()?;
    let id = i32::from_be_bytes(id.try_into().ok()?);
    (*kind == GREETING && id > SERVER).then_some(id)
}

/// A packet for Godot. `None` if it is on the channel of the ids, on which nobody has more to say, or if it is empty:
/// Godot takes an empty packet for a failure, and leaves those behind it.
fn read(peer: i32, packet: Received) -> Option<Packet> {
    let (channel, mode) = to_godot(packet.channel)?;
    if packet.payload.is_empty() {
        return None;
    }
    Some(Packet {
        peer,
        channel,
        mode,
        payload: packet.payload,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_of_clients_are_read() {
        assert_eq!(read_id(&[1, 0, 0, 0, 2]), Some(2));
        assert_eq!(read_id(&[1, 0x7f, 0xff, 0xff, 0xff]), Some(i32::MAX));
        for bad in [
            &[][..],
            &[1],
            &[1, 0, 0, 0, 1],
            &[1, 0, 0, 0, 0],
            &[1, 0x80, 0, 0, 2],
            &[2, 0, 0, 0, 2],
            &[1, 0, 0, 0, 2, 0],
        ] {
            assert_eq!(read_id(bad), None, "{bad:?}");
        }
    }
}
