//! The game on hosts of porous, whatever these run on: sockets, a simulation, or what a browser has.

use alloc::collections::BTreeMap;
use core::time::Duration;

use porous_proto::{
    Address, Channel, ChannelId, Config, ConfigError, Event, Host, Integrity, Mode, Outcome,
    PeerId, Priority, Received, SendError, SendOptions,
};
use porous_sim::rand_core::CryptoRng;

use crate::world::PLAYERS;
use crate::{Client, Input, Kind, Server};

/// States and inputs: what gets lost is made up for by the next one.
const STATES: ChannelId = ChannelId(0);
/// What has happened.
const EVENTS: ChannelId = ChannelId(1);
/// Scores, on a channel of their own: a passive packet would be skipped for a later one of any kind.
const SCORES: ChannelId = ChannelId(2);

/// The time to live of states and inputs: newer ones are behind them.
const PATIENCE: Duration = Duration::from_millis(100);

/// The configuration of a server, or of a client.
///
/// # Errors
///
/// None for the two configurations of [`Config::new`] and [`Config::client`].
pub fn configured(config: Config) -> Result<Config, ConfigError> {
    let players = u32::try_from(PLAYERS).unwrap_or(u32::MAX);
    config
        .application_id(u64::from_be_bytes(*b"\0\0\0arena"))
        .max_peers(players)
        // All bots are on one machine.
        .max_peers_per_source(players)
        // A bit that is changed on the way would spoil all snapshots that refer to this one.
        .integrity(Integrity::Crc32c)
        .channels(&[Priority::High, Priority::High, Priority::Low])?
        // A late snapshot is still good to refer to.
        .channel(STATES, Channel::new(Priority::High).unordered())
}

/// What the game asks of a host.
pub trait Net {
    /// The next packet of a peer.
    fn receive(&mut self, peer: PeerId) -> Option<Received>;

    /// Sends a packet.
    ///
    /// # Errors
    ///
    /// As those of [`Host::send`].
    fn send(
        &mut self,
        to: PeerId,
        channel: ChannelId,
        bytes: &[u8],
        options: SendOptions,
    ) -> Result<(), SendError>;
}

impl<R: CryptoRng, A: Address> Net for Host<R, A> {
    fn receive(&mut self, peer: PeerId) -> Option<Received> {
        Self::receive(self, peer)
    }

    fn send(
        &mut self,
        to: PeerId,
        channel: ChannelId,
        bytes: &[u8],
        options: SendOptions,
    ) -> Result<(), SendError> {
        Self::send(self, to, channel, bytes, options)
    }
}

#[cfg(feature = "play")]
impl<C> Net for porous_std::UdpHost<C> {
    fn receive(&mut self, peer: PeerId) -> Option<Received> {
        Self::receive(self, peer)
    }

    fn send(
        &mut self,
        to: PeerId,
        channel: ChannelId,
        bytes: &[u8],
        options: SendOptions,
    ) -> Result<(), SendError> {
        Self::send(self, to, channel, bytes, options)
    }
}

/// How a packet is sent.
const fn how(kind: Kind) -> (ChannelId, SendOptions) {
    match kind {
        Kind::Inputs => (STATES, SendOptions::new(Mode::Unreliable).ttl(PATIENCE)),
        Kind::Snapshot { token } => {
            let options = SendOptions::new(Mode::Unreliable).ttl(PATIENCE);
            (STATES, options.receipt(token))
        }
        Kind::Told => (EVENTS, SendOptions::new(Mode::Reliable)),
        // Only the latest table of those that wait is sent.
        Kind::Scores => (SCORES, SendOptions::new(Mode::Passive).key(0)),
    }
}

/// A server's game and its peers.
#[derive(Debug)]
pub struct ServerNet {
    /// The game.
    pub game: Server,
    players: BTreeMap<PeerId, u8>,
    peers: BTreeMap<u8, PeerId>,
    refused: u64,
}

impl ServerNet {
    /// A game that nobody has entered.
    #[must_use]
    pub const fn new(game: Server) -> Self {
        Self {
            game,
            players: BTreeMap::new(),
            peers: BTreeMap::new(),
            refused: 0,
        }
    }

    /// Takes in an event of the host.
    pub fn on_event<A>(&mut self, net: &mut impl Net, event: Event<A>) {
        match event {
            Event::Connected { peer, .. } => {
                // A host has no more peers than the arena has places.
                if let Some(player) = self.game.enter() {
                    self.players.insert(peer, player);
                    self.peers.insert(player, peer);
                }
            }
            Event::Readable { peer } => {
                while let Some(packet) = net.receive(peer) {
                    if let Some(player) = self.players.get(&peer) {
                        self.game.receive(*player, &packet.payload);
                    }
                }
            }
            Event::Receipt {
                peer,
                token,
                outcome: Outcome::Delivered,
            } => {
                if let Some(player) = self.players.get(&peer) {
                    self.game.delivered(*player, token);
                }
            }
            Event::Disconnected { peer, .. } => {
                if let Some(player) = self.players.remove(&peer) {
                    self.peers.remove(&player);
                    self.game.leave(player);
                }
            }
            Event::Receipt { .. } | Event::Writable { .. } | _ => {}
        }
    }

    /// A tick passes.
    pub fn step(&mut self, net: &mut impl Net) {
        for packet in self.game.step() {
            let Some(&peer) = self.peers.get(&packet.to) else {
                continue;
            };
            let (channel, options) = how(packet.kind);
            let sent = net.send(peer, channel, &packet.bytes, options);
            // A peer that has just ended is told of by its event. A game that is to be played would end a player
            // that does not take a megabyte of events.
            self.refused += u64::from(sent == Err(SendError::Full));
        }
    }

    /// Packets for which a host had no room.
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// The number of players.
    #[must_use]
    pub fn players(&self) -> usize {
        self.players.len()
    }

    /// The number of the player at a peer.
    #[must_use]
    pub fn player(&self, peer: PeerId) -> Option<u8> {
        self.players.get(&peer).copied()
    }
}

/// A client's game and its peer.
#[derive(Clone, Debug, Default)]
pub struct ClientNet {
    /// The game.
    pub game: Client,
    server: Option<PeerId>,
}

impl ClientNet {
    /// Takes in an event of the host.
    pub fn on_event<A>(&mut self, net: &mut impl Net, event: Event<A>) {
        match event {
            Event::Connected { peer, .. } => self.server = Some(peer),
            Event::Readable { peer } => {
                while let Some(packet) = net.receive(peer) {
                    match packet.channel {
                        STATES => self.game.receive_snapshot(&packet.payload),
                        EVENTS => self.game.receive_told(&packet.payload),
                        SCORES => self.game.receive_scores(&packet.payload),
                        ChannelId(_) => {}
                    }
                }
            }
            Event::Disconnected { .. } => self.server = None,
            Event::Receipt { .. } | Event::Writable { .. } | _ => {}
        }
    }

    /// A tick passes, in which the player wants this.
    pub fn step(&mut self, net: &mut impl Net, input: Input) {
        let packet = self.game.step(input);
        if let Some(server) = self.server {
            let (channel, options) = how(Kind::Inputs);
            // One that has no room is repeated by the next one.
            let _sent = net.send(server, channel, &packet, options);
        }
    }

    /// The server, while connected.
    #[must_use]
    pub const fn server(&self) -> Option<PeerId> {
        self.server
    }
}
