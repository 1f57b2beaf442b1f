//! The side of the server: one host, and an entity for each client.

use alloc::collections::BTreeMap;
use core::net::SocketAddr;
use core::time::Duration;
use std::io;
use std::net::ToSocketAddrs;

use bevy::prelude::*;
use bevy_replicon::prelude::*;
use bevy_replicon::shared::backend::connected_client::{NetworkId, NetworkIdMap};
use bevy_replicon::shared::backend::{ConnectedClientStats, DisconnectRequest};
use log::{debug, error, warn};
use porous_std::{
    Conditioner, Config, Disconnect, DisconnectReason, Event, Listen, Peer, PeerId, UdpHost,
};

use crate::channels::{mode, numbered};
use crate::line::{Fate, Host, Line};
use crate::stats::{self, PorousUnsent};
use crate::{FLUSH_DEADLINE, reason};

/// Lets replicon's server speak through a [`PorousServer`].
#[derive(Debug)]
pub struct RepliconPorousServerPlugin;

impl Plugin for RepliconPorousServerPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<PorousUnsent>()
            .add_message::<PorousRequest>()
            .add_message::<PorousClientDisconnected>()
            .add_observer(disconnect_despawned)
            .add_systems(
                PreUpdate,
                (
                    set_running.run_if(resource_exists::<PorousServer>),
                    receive_packets.run_if(resource_exists::<PorousServer>),
                    update_clients.run_if(resource_exists::<PorousServer>),
                    // After what may have removed the resource.
                    set_stopped.run_if(resource_removed::<PorousServer>),
                )
                    .chain()
                    .in_set(ServerSystems::ReceivePackets),
            )
            .add_systems(
                PostUpdate,
                send_packets
                    .run_if(resource_exists::<PorousServer>)
                    .in_set(ServerSystems::SendPackets),
            );
    }
}

/// The host of a server. While the resource exists, the server runs; when it is removed, the server stops, and each
/// client is told once. [`stop`](Self::stop) ends it with patience.
///
/// ```
/// use bevy_replicon::prelude::*;
/// use bevy_replicon_porous::{PorousChannelsExt, PorousServer};
///
/// let config = RepliconChannels::default().server_config()?;
/// let server = PorousServer::bind("127.0.0.1:0", config)?; // commands.insert_resource(server)
/// assert_ne!(server.host().local_addr()?.port(), 0);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Resource, Debug)]
pub struct PorousServer {
    host: Host,
    /// The entities of the connected clients.
    clients: BTreeMap<PeerId, Entity>,
    /// Entities whose connections have ended in this frame. They stay for it: replicon forgets the messages of a
    /// client whose entity is gone, and the last ones may have come with the end.
    ended: Vec<Entity>,
    /// True until replicon knows that the server runs.
    is_new: bool,
    /// True if the resource is to be removed as soon as all clients have left.
    stops: bool,
}

impl PorousServer {
    /// A server at this address that lets everybody in, up to [`Config::max_peers`].
    ///
    /// # Errors
    ///
    /// Those of [`UdpHost::bind`]; [`InvalidInput`](io::ErrorKind::InvalidInput) with the configuration of a client.
    ///
    /// ```
    /// use bevy_replicon_porous::PorousServer;
    /// use porous_std::Config;
    ///
    /// assert!(PorousServer::bind("127.0.0.1:0", Config::new()).is_ok());
    /// assert!(PorousServer::bind("127.0.0.1:0", Config::client()).is_err());
    /// ```
    pub fn bind(address: impl ToSocketAddrs, config: Config) -> io::Result<Self> {
        let mut host = UdpHost::bind(address, config)?;
        let listens = host.listen(Listen::Open);
        listens.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        Ok(Self::new(host))
    }

    /// A server with a host of your own: one that seals, that asks before it lets anybody in
    /// ([`Listen::Ask`], [`PorousRequest`]), or that does not listen yet.
    ///
    /// ```
    /// use bevy_replicon_porous::PorousServer;
    /// use porous_std::{Config, UdpHost};
    ///
    /// let host = UdpHost::bind("127.0.0.1:0", Config::new())?;
    /// let server = PorousServer::new(host);
    /// # let _ = server;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn new(host: UdpHost) -> Self {
        Self {
            host: host.with_conditioner(Line::default()),
            clients: BTreeMap::new(),
            ended: Vec::new(),
            is_new: true,
            stops: false,
        }
    }

    /// Puts something between the host and its socket, for example the bad network of
    /// `porous_std::LinkConditioner`, with the feature `sim` of `porous-std`.
    ///
    /// ```
    /// use bevy_replicon_porous::PorousServer;
    /// use porous_std::Config;
    ///
    /// let server = PorousServer::bind("127.0.0.1:0", Config::new())?.with_conditioner(());
    /// # let _ = server;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn with_conditioner(
        mut self,
        conditioner: impl Conditioner + Send + Sync + 'static,
    ) -> Self {
        self.host.conditioner_mut().0 = Some(Box::new(conditioner));
        self
    }

    /// The host, for questions.
    ///
    /// ```
    /// use bevy_replicon_porous::PorousServer;
    /// use porous_std::Config;
    ///
    /// let server = PorousServer::bind("127.0.0.1:0", Config::new())?;
    /// assert_eq!(server.host().stats().connected, 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// The host, for commands: to answer a [`PorousRequest`], to close the door by [`Listen::Full`]. Do not poll its
    /// events nor receive from it: the backend does.
    ///
    /// ```
    /// use bevy_replicon_porous::PorousServer;
    /// use porous_std::{Config, Listen};
    ///
    /// let mut server = PorousServer::bind("127.0.0.1:0", Config::new())?;
    /// server.host_mut().listen(Listen::Full).expect("a server");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub const fn host_mut(&mut self) -> &mut Host {
        &mut self.host
    }

    /// The entity of a connected client.
    ///
    /// ```
    /// # use bevy_replicon_porous::PorousServer;
    /// # use porous_std::{Config, PeerId};
    /// let server = PorousServer::bind("127.0.0.1:0", Config::new())?;
    /// assert_eq!(PeerId::from_u64(1 << 32).and_then(|peer| server.client(peer)), None);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn client(&self, peer: PeerId) -> Option<Entity> {
        self.clients.get(&peer).copied()
    }

    /// Stops the server: nobody is let in any more, each client gets what was sent to it and is then disconnected
    /// with [`reason::STOPPED`]. The resource is removed when all of them know, at the latest
    /// [`Config::disconnect_timeout`] after this deadline.
    ///
    /// ```
    /// use core::time::Duration;
    /// use bevy_replicon_porous::PorousServer;
    /// use porous_std::Config;
    ///
    /// let mut server = PorousServer::bind("127.0.0.1:0", Config::new())?;
    /// server.stop(Duration::from_secs(3));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn stop(&mut self, deadline: Duration) {
        self.host.drain(reason::STOPPED, deadline);
        self.stops = true;
    }
}

/// The connection of a client, beside its [`ConnectedClient`]. Despawn the entity to disconnect the client, or write
/// a [`DisconnectRequest`]: in both cases the messages that were sent before arrive.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[component(immutable)]
pub struct PorousPeer(pub PeerId);

/// Somebody wants to connect to a server whose host [asks](Listen::Ask). Answer by
/// [`accept`](UdpHost::accept) or [`refuse`](UdpHost::refuse) of [`PorousServer::host_mut`].
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct PorousRequest {
    /// The peer to be.
    pub peer: PeerId,
    /// Its address.
    pub address: SocketAddr,
}

/// A client has left, or was disconnected by its network. Clients that this server has disconnected have no such
/// message.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct PorousClientDisconnected {
    /// The entity of the client, which is despawned in the next frame.
    pub client: Entity,
    /// Why.
    pub reason: DisconnectReason,
    /// Reliable messages to the client that it may not have got.
    pub undelivered: u32,
}

fn set_running(
    mut commands: Commands,
    mut server: ResMut<PorousServer>,
    mut state: ResMut<NextState<ServerState>>,
    clients: Query<Entity, With<PorousPeer>>,
) {
    if server.is_new {
        server.is_new = false;
        state.set(ServerState::Running);
        // Those of a server that this one has replaced: its peers may have the same names.
        for client in &clients {
            commands.entity(client).despawn();
        }
    }
}

fn set_stopped(
    mut commands: Commands,
    mut state: ResMut<NextState<ServerState>>,
    clients: Query<Entity, With<PorousPeer>>,
) {
    state.set(ServerState::Stopped);
    for client in &clients {
        commands.entity(client).despawn();
    }
}

/// Disconnects a client whose entity is gone, unless its connection has ended before.
fn disconnect_despawned(
    removed: On<Remove, PorousPeer>,
    peers: Query<&PorousPeer>,
    server: Option<ResMut<PorousServer>>,
) {
    let Some((mut server, peer)) = server.zip(peers.get(removed.entity).ok()) else {
        return;
    };
    if server.clients.remove(&peer.0).is_some() {
        let flush = Disconnect::Flush {
            reason: reason::REQUESTED,
            deadline: FLUSH_DEADLINE,
        };
        // It is in no other state: its last event would have taken it off the list.
        let _ = server.host.disconnect(peer.0, flush);
    }
}

fn receive_packets(
    mut commands: Commands,
    mut server: ResMut<PorousServer>,
    mut messages: ResMut<ServerMessages>,
    channels: Res<RepliconChannels>,
    mut requests: MessageWriter<PorousRequest>,
    mut disconnected: MessageWriter<PorousClientDisconnected>,
) {
    let server = &mut *server;
    for client in server.ended.drain(..) {
        commands.entity(client).try_despawn();
    }
    if let Err(error) = server.host.step() {
        error!("the server stops, as its socket is of no more use: {error}");
        commands.remove_resource::<PorousServer>();
        return;
    }
    let count = channels.client_channels().len();
    while let Some(event) = server.host.poll_event() {
        match event {
            Event::Request { peer, address } => {
                requests.write(PorousRequest { peer, address });
            }
            Event::Connected { peer, address } => {
                let client = spawn(&mut commands, &server.host, peer);
                debug!("client {client} is peer {peer} at {address}");
                server.clients.insert(peer, client);
            }
            Event::Readable { peer } => server.receive(peer, count, &mut messages),
            Event::Disconnected {
                peer,
                reason,
                undelivered,
            } => {
                // What has come before the end is still there.
                server.receive(peer, count, &mut messages);
                let Some(client) = server.clients.remove(&peer) else {
                    continue;
                };
                debug!("client {client} is gone: {reason}");
                server.ended.push(client);
                disconnected.write(PorousClientDisconnected {
                    client,
                    reason,
                    undelivered,
                });
            }
            // Replicon has no use for these; `update_clients` looks each frame.
            Event::Writable { .. }
            | Event::Receipt { .. }
            | Event::PeerMoved { .. }
            | Event::PathNarrowed { .. }
            | Event::PortClosed { .. }
            | _ => {}
        }
    }
    // Replicon has not read yet what those have said that have left in this frame.
    if server.stops && server.host.is_empty() && server.ended.is_empty() {
        commands.remove_resource::<PorousServer>();
    }
}

impl PorousServer {
    /// Hands all packets of a peer to replicon.
    fn receive(&mut self, peer: PeerId, channels: usize, messages: &mut ServerMessages) {
        let client = self.clients.get(&peer).copied();
        while let Some(packet) = self.host.receive(peer) {
            let channel = usize::from(packet.channel.0);
            // A client that is being disconnected has nothing to say any more. A channel on which only servers send is
            // not one of replicon's for this direction, whatever a client makes of it.
            if let Some(client) = client.filter(|_| channel < channels) {
                messages.insert_received(client, channel, packet.payload);
            }
        }
    }

    /// Sends a message of replicon. Returns the reason if it has to end the connection.
    fn send(
        &mut self,
        peer: PeerId,
        channel: usize,
        kind: Channel,
        message: bevy_replicon::bytes::Bytes,
        unsent: &mut PorousUnsent,
    ) -> Option<u32> {
        let mode = mode(kind);
        let sent = self.host.send(peer, numbered(channel)?, message, mode);
        match Fate::of(sent.err()?, mode == porous_std::Mode::Reliable) {
            Fate::Gone => None,
            Fate::Lost => {
                unsent.dropped += 1;
                None
            }
            Fate::Fatal(reason) => Some(reason),
        }
    }
}

/// Spawns the entity of a client.
fn spawn(commands: &mut Commands, host: &Host, peer: PeerId) -> Entity {
    let connection = host.peer(peer);
    let max_size = connection.map_or(0, Peer::max_unfragmented);
    let id = NetworkId::new(connection.and_then(client_id).unwrap_or(peer.to_u64()));
    // A client that comes back with its token may have an entity still, which would take the id of the new one along
    // when it goes.
    commands.queue(move |world: &mut World| {
        let ids = world.get_resource::<NetworkIdMap>();
        let Some(old) = ids.and_then(|ids| ids.get(&id).copied()) else {
            return;
        };
        if let Ok(mut old) = world.get_entity_mut(old) {
            old.remove::<NetworkId>();
        }
    });
    let client = commands.spawn((ConnectedClient { max_size }, id, PorousPeer(peer)));
    client.id()
}

/// Who the client is, by the token that it has brought.
#[cfg(feature = "seal")]
fn client_id(peer: &Peer) -> Option<u64> {
    peer.secured()?.client_id()
}

/// Plain clients bring no token.
#[cfg(not(feature = "seal"))]
const fn client_id(_: &Peer) -> Option<u64> {
    None
}

/// Tells replicon what the connections measure, and how long a packet may be that goes in one datagram.
fn update_clients(
    mut commands: Commands,
    server: Res<PorousServer>,
    mut clients: Query<(
        Entity,
        &PorousPeer,
        &ConnectedClient,
        &mut ConnectedClientStats,
    )>,
) {
    for (client, peer, connected, mut told) in &mut clients {
        let Some(peer) = server.host.peer(peer.0) else {
            continue;
        };
        **told = stats::of(&peer.stats());
        let max_size = peer.max_unfragmented();
        if max_size != connected.max_size && max_size > 0 {
            commands.entity(client).insert(ConnectedClient { max_size });
        }
    }
}

fn send_packets(
    mut commands: Commands,
    mut server: ResMut<PorousServer>,
    mut messages: ResMut<ServerMessages>,
    mut requests: MessageReader<DisconnectRequest>,
    mut unsent: ResMut<PorousUnsent>,
    channels: Res<RepliconChannels>,
    peers: Query<&PorousPeer>,
) {
    let server = &mut *server;
    for (client, channel, message) in messages.drain_sent() {
        let kind = channels.server_channels().get(channel);
        let Some((peer, kind)) = peers.get(client).ok().zip(kind) else {
            continue;
        };
        let Some(reason) = server.send(peer.0, channel, *kind, message, &mut unsent) else {
            continue;
        };
        unsent.ended += 1;
        warn!("client {client} is disconnected ({reason}): a reliable message cannot be sent");
        server.clients.remove(&peer.0);
        let _ = server.host.disconnect(peer.0, Disconnect::Now { reason });
        commands.entity(client).try_despawn();
    }
    for request in requests.read() {
        debug!("client {} is disconnected by request", request.client);
        // The observer disconnects it, once all that was sent has arrived.
        commands.entity(request.client).try_despawn();
    }
    // An error comes again from the next step, which handles it.
    if let Err(error) = server.host.transmit() {
        debug!("the socket fails: {error}");
    }
}
