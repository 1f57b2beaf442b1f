//! The side of the client: one host with one peer, the server.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::io;

use bevy::prelude::*;
use bevy_replicon::prelude::*;
use log::{debug, error, warn};
use porous_std::{
    Conditioner, Config, Disconnect, DisconnectReason, Event, Mode, Peer, PeerId, UdpHost,
};

use crate::channels::{mode, numbered};
use crate::line::{Fate, Host, Line};
use crate::stats::{self, PorousUnsent};
use crate::{FLUSH_DEADLINE, reason};

/// Lets replicon's client speak through a [`PorousClient`].
#[derive(Debug)]
pub struct RepliconPorousClientPlugin;

impl Plugin for RepliconPorousClientPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<PorousUnsent>()
            .add_message::<PorousServerDisconnected>()
            .add_systems(
                PreUpdate,
                (
                    receive_packets.run_if(resource_exists::<PorousClient>),
                    // After what may have removed the resource.
                    set_disconnected.run_if(resource_removed::<PorousClient>),
                )
                    .chain()
                    .in_set(ClientSystems::ReceivePackets),
            )
            .add_systems(
                PostUpdate,
                send_packets
                    .run_if(resource_exists::<PorousClient>)
                    .in_set(ClientSystems::SendPackets),
            );
    }
}

/// How far the attempt or the connection of a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Replicon does not know of it yet.
    New,
    Connecting,
    Connected,
    /// It has ended in the frame in which it was connected. Replicon first has to see that it was.
    Ended(DisconnectReason),
}

/// The host of a client and its connection to a server. When the connection ends, the resource is removed, and
/// [`PorousServerDisconnected`] tells why. Remove it yourself to leave at once; the server is told once.
/// [`disconnect`](Self::disconnect) leaves with patience.
///
/// ```
/// use bevy_replicon::prelude::*;
/// use bevy_replicon_porous::{PorousChannelsExt, PorousClient};
///
/// let config = RepliconChannels::default().client_config()?;
/// let client = PorousClient::connect("127.0.0.1:5000".parse()?, config)?; // commands.insert_resource(client)
/// assert!(!client.is_connected());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Resource, Debug)]
pub struct PorousClient {
    host: Host,
    server: PeerId,
    stage: Stage,
}

impl PorousClient {
    /// Begins to connect to the server at this address.
    ///
    /// # Errors
    ///
    /// Those of [`UdpHost::bind`]; [`InvalidInput`](io::ErrorKind::InvalidInput) if no host can be at the address.
    ///
    /// ```
    /// use bevy_replicon_porous::PorousClient;
    /// use porous_std::Config;
    ///
    /// let client = PorousClient::connect(([127, 0, 0, 1], 5000).into(), Config::client());
    /// assert!(client.is_ok());
    /// ```
    pub fn connect(server: SocketAddr, config: Config) -> io::Result<Self> {
        let any = match server.ip() {
            IpAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
        };
        let mut host = UdpHost::bind((any, 0), config)?;
        let server = host.connect(server);
        let server = server.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        Ok(Self::new(host, server))
    }

    /// A client with a host of your own that connects to this peer already: sealed, with a greeting, or to one of
    /// several addresses.
    ///
    /// ```
    /// use bevy_replicon_porous::PorousClient;
    /// use porous_std::{Config, UdpHost};
    ///
    /// let mut host = UdpHost::bind("127.0.0.1:0", Config::client())?;
    /// let server = host.connect_with(&["127.0.0.1:5000".parse()?], b"Ada")?;
    /// let client = PorousClient::new(host, server);
    /// # let _ = client;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(host: UdpHost, server: PeerId) -> Self {
        Self {
            host: host.with_conditioner(Line::default()),
            server,
            stage: Stage::New,
        }
    }

    /// As [`PorousServer::with_conditioner`](crate::PorousServer::with_conditioner).
    ///
    /// ```
    /// use bevy_replicon_porous::PorousClient;
    /// use porous_std::Config;
    ///
    /// let client = PorousClient::connect(([127, 0, 0, 1], 5000).into(), Config::client())?;
    /// let client = client.with_conditioner(());
    /// # let _ = client;
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
    /// use bevy_replicon_porous::PorousClient;
    /// use porous_std::Config;
    ///
    /// let client = PorousClient::connect(([127, 0, 0, 1], 5000).into(), Config::client())?;
    /// assert!(client.host().peer(client.server()).is_some());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// The host, for commands, say a cap on what the server may send. Do not poll its events nor receive from it: the
    /// backend does.
    ///
    /// ```
    /// use bevy_replicon_porous::PorousClient;
    /// use porous_std::Config;
    ///
    /// let mut client = PorousClient::connect(([127, 0, 0, 1], 5000).into(), Config::client())?;
    /// client.host_mut().set_host_send_rate(100_000);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub const fn host_mut(&mut self) -> &mut Host {
        &mut self.host
    }

    /// The server, as the host names it.
    ///
    /// ```
    /// use bevy_replicon_porous::PorousClient;
    /// use porous_std::Config;
    ///
    /// let client = PorousClient::connect(([127, 0, 0, 1], 5000).into(), Config::client())?;
    /// assert_eq!(client.server().to_u64() >> 32, 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub const fn server(&self) -> PeerId {
        self.server
    }

    /// Whether the connection is established.
    ///
    /// ```
    /// use bevy_replicon_porous::PorousClient;
    /// use porous_std::Config;
    ///
    /// let client = PorousClient::connect(([127, 0, 0, 1], 5000).into(), Config::client())?;
    /// assert!(!client.is_connected());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.stage == Stage::Connected
    }

    /// Leaves the server once it has all messages that were sent, at the latest after
    /// [`FLUSH_DEADLINE`]. The resource is removed when the server knows.
    ///
    /// ```
    /// use bevy_replicon_porous::PorousClient;
    /// use porous_std::Config;
    ///
    /// let mut client = PorousClient::connect(([127, 0, 0, 1], 5000).into(), Config::client())?;
    /// client.disconnect();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn disconnect(&mut self) {
        let flush = Disconnect::Flush {
            reason: reason::REQUESTED,
            deadline: FLUSH_DEADLINE,
        };
        // A server that is gone needs no goodbye.
        let _ = self.host.disconnect(self.server, flush);
    }

    /// Hands all packets to replicon.
    fn receive(&mut self, channels: usize, messages: &mut ClientMessages) {
        while let Some(packet) = self.host.receive(self.server) {
            let channel = usize::from(packet.channel.0);
            // A channel on which only clients send is not one of replicon's for this direction.
            if channel < channels {
                messages.insert_received(channel, packet.payload);
            }
        }
    }
}

/// The connection to the server has ended, or never came to be.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct PorousServerDisconnected {
    /// Why. Of a server that has stopped, [`ByPeer`](DisconnectReason::ByPeer) with
    /// [`reason::STOPPED`].
    pub reason: DisconnectReason,
}

fn set_disconnected(mut state: ResMut<NextState<ClientState>>) {
    state.set(ClientState::Disconnected);
}

fn receive_packets(
    mut commands: Commands,
    mut client: ResMut<PorousClient>,
    mut messages: ResMut<ClientMessages>,
    mut told: ResMut<ClientStats>,
    mut state: ResMut<NextState<ClientState>>,
    mut disconnected: MessageWriter<PorousServerDisconnected>,
    channels: Res<RepliconChannels>,
) {
    let client = &mut *client;
    let mut end = |reason| {
        debug!("the connection to the server has ended: {reason}");
        disconnected.write(PorousServerDisconnected { reason });
        commands.remove_resource::<PorousClient>();
    };
    match client.stage {
        // Also if the resource has replaced one that was connected: replicon begins anew.
        Stage::New => {
            client.stage = Stage::Connecting;
            state.set(ClientState::Connecting);
        }
        Stage::Ended(reason) => return end(reason),
        Stage::Connecting | Stage::Connected => {}
    }
    if let Err(error) = client.host.step() {
        error!("the client leaves, as its socket is of no more use: {error}");
        return end(DisconnectReason::Unreachable);
    }
    let count = channels.server_channels().len();
    let before = client.stage;
    while let Some(event) = client.host.poll_event() {
        match event {
            Event::Connected { peer, .. } if peer == client.server => {
                client.stage = Stage::Connected;
                state.set(ClientState::Connected);
            }
            Event::Readable { .. } => client.receive(count, &mut messages),
            Event::Disconnected { peer, reason, .. } if peer == client.server => {
                // What has come before the end is still there.
                client.receive(count, &mut messages);
                if before == client.stage {
                    end(reason);
                } else {
                    client.stage = Stage::Ended(reason);
                }
            }
            // Replicon has no use for these, nor for other peers of a host of the application's own.
            Event::Connected { .. }
            | Event::Disconnected { .. }
            | Event::Request { .. }
            | Event::Writable { .. }
            | Event::Receipt { .. }
            | Event::PeerMoved { .. }
            | Event::PathNarrowed { .. }
            | Event::PortClosed { .. }
            | _ => {}
        }
    }
    let stats = client.host.peer(client.server).map(Peer::stats);
    *told = stats.map_or_else(ClientStats::default, |stats| stats::of(&stats));
}

fn send_packets(
    mut client: ResMut<PorousClient>,
    mut messages: ResMut<ClientMessages>,
    mut unsent: ResMut<PorousUnsent>,
    channels: Res<RepliconChannels>,
) {
    let server = client.server;
    for (channel, message) in messages.drain_sent() {
        let kind = channels.client_channels().get(channel);
        let Some((number, kind)) = numbered(channel).zip(kind) else {
            continue;
        };
        let mode = mode(*kind);
        let Err(error) = client.host.send(server, number, message, mode) else {
            continue;
        };
        match Fate::of(error, mode == Mode::Reliable) {
            Fate::Gone => {}
            Fate::Lost => unsent.dropped += 1,
            Fate::Fatal(reason) => {
                unsent.ended += 1;
                warn!("the client leaves ({reason}): a reliable message cannot be sent: {error}");
                let now = Disconnect::Now { reason };
                let _ = client.host.disconnect(server, now);
            }
        }
    }
    // An error comes again from the next step, which handles it.
    if let Err(error) = client.host.transmit() {
        debug!("the socket fails: {error}");
    }
}
