//! The class `PorousMultiplayerPeer`.

use core::fmt::Display;
use core::net::SocketAddr;
use std::io;
use std::net::ToSocketAddrs;

use godot::classes::multiplayer_peer::{ConnectionStatus, TransferMode as GodotMode};
use godot::classes::{IMultiplayerPeerExtension, MultiplayerPeerExtension};
use godot::global::Error as GodotError;
use godot::prelude::*;
use porous_godot_core::{Error, Multiplayer, Packet, Signal, Status, TransferMode, with_channels};
use porous_std::{Bytes, Config, Listen, Peer, PeerId, UdpHost};

/// The most addresses of one name that are tried at once.
const MOST_ADDRESSES: usize = 8;

/// A `MultiplayerPeer` over POROUS: `create_server` or `create_client`, and then `multiplayer.multiplayer_peer = peer`.
#[derive(GodotClass, Debug)]
#[class(tool, init, base = MultiplayerPeerExtension)]
pub(crate) struct PorousMultiplayerPeer {
    host: Option<UdpHost>,
    #[init(val = Multiplayer::closed())]
    multiplayer: Multiplayer,
    /// True if `flush` is called at the end of this frame.
    flushes: bool,
    base: Base<MultiplayerPeerExtension>,
}

#[godot_api]
impl PorousMultiplayerPeer {
    /// Becomes a server at this port, over IPv6 and IPv4, of this many clients at most. Each of the channels has all three
    /// transfer modes; clients need as many.
    #[func]
    fn create_server(
        &mut self,
        port: i32,
        #[opt(default = 32)] max_clients: i32,
        #[opt(default = 8)] channels: i32,
    ) -> GodotError {
        let (Ok(port), Ok(most)) = (u16::try_from(port), u32::try_from(max_clients)) else {
            return refused("a port has 16 bits, and max_clients is not negative");
        };
        let config = Config::new().max_peers(most);
        self.create(config, channels, port, |host| {
            host.listen(Listen::Open).map_err(io::Error::other)?;
            Ok(Multiplayer::server())
        })
    }

    /// Becomes a client, and begins to connect to the server at this address, an IP or a name, and port. A name is
    /// looked up before this returns.
    #[func]
    fn create_client(
        &mut self,
        address: GString,
        port: i32,
        #[opt(default = 8)] channels: i32,
    ) -> GodotError {
        let Ok(port) = u16::try_from(port) else {
            return refused("a port has 16 bits");
        };
        let addresses = match (address.to_string().as_str(), port).to_socket_addrs() {
            Ok(addresses) => addresses.take(MOST_ADDRESSES).collect::<Vec<SocketAddr>>(),
            Err(error) => {
                godot_error!("PorousMultiplayerPeer: {address}: {error}");
                return GodotError::ERR_CANT_RESOLVE;
            }
        };
        self.create(Config::client(), channels, 0, |host| {
            let server = host.connect_any(&addresses).map_err(io::Error::other)?;
            Ok(Multiplayer::client(server))
        })
    }

    /// The round trip to a peer in seconds; 0 if it is not there.
    #[func]
    fn get_peer_rtt(&self, id: i32) -> f64 {
        self.connection(id)
            .map_or(0.0, |peer| peer.rtt().as_secs_f64())
    }

    /// The share of datagrams to a peer that was lost recently, in percent; 0 if it is not there.
    #[func]
    fn get_peer_loss(&self, id: i32) -> f64 {
        let loss = self.connection(id).map(|peer| peer.stats().loss_sent);
        loss.map_or(0.0, |hundredths| f64::from(hundredths) / 100.0)
    }

    /// The address and port of a peer; empty if it is not there.
    #[func]
    fn get_peer_address(&self, id: i32) -> GString {
        let address = self.named(id).and_then(|(host, peer)| host.address(peer));
        address.map_or_else(GString::new, |address| GString::from(&address.to_string()))
    }

    /// The port of this end; 0 if it is closed.
    #[func]
    fn get_local_port(&self) -> i32 {
        let address = self.host.as_ref().and_then(|host| host.local_addr().ok());
        address.map_or(0, |address| i32::from(address.port()))
    }

    /// Unreliable packets that found no room, because a peer is too slow for them.
    #[func]
    fn get_dropped_packet_count(&self) -> i64 {
        i64::try_from(self.multiplayer.dropped()).unwrap_or(i64::MAX)
    }

    /// Sends what waits. The peer calls this itself at the end of each frame in which something was sent.
    #[func]
    fn flush(&mut self) {
        self.flushes = false;
        if let Some(host) = &mut self.host {
            let sent = host.transmit();
            self.check_socket(sent);
        }
    }
}

impl PorousMultiplayerPeer {
    /// Makes the host, and what it is for.
    fn create(
        &mut self,
        config: Config,
        channels: i32,
        port: u16,
        become_what: impl FnOnce(&mut UdpHost) -> io::Result<Multiplayer>,
    ) -> GodotError {
        if self.host.is_some() {
            godot_error!("PorousMultiplayerPeer: it is in use: close() it first");
            return GodotError::ERR_ALREADY_IN_USE;
        }
        let channels = u8::try_from(channels).unwrap_or(0);
        let Ok(config) = with_channels(config, channels) else {
            return refused("1 to 84 channels");
        };
        let host = bind(port, config).and_then(|mut host| {
            let multiplayer = become_what(&mut host)?;
            Ok((host, multiplayer))
        });
        match host {
            Ok((host, multiplayer)) => {
                (self.host, self.multiplayer) = (Some(host), multiplayer);
                GodotError::OK
            }
            Err(error) => {
                godot_error!("PorousMultiplayerPeer: {error}");
                GodotError::ERR_CANT_CREATE
            }
        }
    }

    fn next_signal(&mut self) -> Option<Signal> {
        self.multiplayer.poll(self.host.as_mut()?)
    }

    /// Closes this end if its socket is of no more use.
    fn check_socket(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            godot_error!("PorousMultiplayerPeer: the socket has failed: {error}");
            self.close_now();
        }
    }

    /// A host that is dropped tells each peer once.
    fn close_now(&mut self) {
        self.multiplayer.close();
        self.host = None;
    }

    fn named(&self, id: i32) -> Option<(&UdpHost, PeerId)> {
        self.host.as_ref().zip(self.multiplayer.connection(id))
    }

    fn connection(&self, id: i32) -> Option<&Peer> {
        let (host, peer) = self.named(id)?;
        host.peer(peer)
    }

    fn front<T>(&self, of: impl FnOnce(&Packet) -> T) -> Option<T> {
        self.multiplayer.next_packet().map(of)
    }

    /// Lets what was sent leave in this frame, all of it together. Godot would not poll before the next one.
    fn flush_later(&mut self) {
        if !core::mem::replace(&mut self.flushes, true) {
            self.base_mut().call_deferred("flush", vslice![]);
        }
    }
}

#[godot_api]
impl IMultiplayerPeerExtension for PorousMultiplayerPeer {
    fn poll(&mut self) {
        let Some(host) = &mut self.host else {
            return;
        };
        let stepped = host.step();
        self.check_socket(stepped);
        while let Some(signal) = self.next_signal() {
            let (name, id) = match signal {
                Signal::PeerConnected(id) => ("peer_connected", id),
                Signal::PeerDisconnected(id) => ("peer_disconnected", id),
            };
            // The code that hears it may call this peer again, and even close it.
            self.base_mut().emit_signal(name, vslice![id]);
        }
        if self.multiplayer.status() == Status::Disconnected {
            self.close_now();
        }
    }

    fn close(&mut self) {
        self.close_now();
    }

    fn disconnect_peer(&mut self, p_peer: i32, p_force: bool) {
        let Some(host) = &mut self.host else {
            return;
        };
        if let Err(error) = self.multiplayer.disconnect_peer(host, p_peer, p_force) {
            godot_error!("PorousMultiplayerPeer: {p_peer}: {error}");
        }
        self.flush_later();
    }

    fn put_packet_script(&mut self, p_buffer: PackedByteArray) -> GodotError {
        let Some(host) = &mut self.host else {
            return told(Error::Unconfigured);
        };
        let packet = Bytes::from(p_buffer.to_vec());
        let sent = self.multiplayer.put_packet(host, packet);
        self.flush_later();
        sent.map_or_else(told, |()| GodotError::OK)
    }

    fn get_packet_script(&mut self) -> PackedByteArray {
        let packet = self.multiplayer.get_packet();
        packet.map_or_else(PackedByteArray::new, |packet| {
            PackedByteArray::from(&packet.payload[..])
        })
    }

    fn get_available_packet_count(&self) -> i32 {
        bounded(self.multiplayer.available_packet_count())
    }

    fn get_max_packet_size(&self) -> i32 {
        let size = |host| self.multiplayer.max_packet_size(host);
        bounded(self.host.as_ref().map_or(0, size))
    }

    fn get_packet_channel(&self) -> i32 {
        self.front(|packet| packet.channel).unwrap_or(0)
    }

    fn get_packet_mode(&self) -> GodotMode {
        let mode = self.front(|packet| packet.mode);
        to_godot(mode.unwrap_or_default())
    }

    fn get_packet_peer(&self) -> i32 {
        self.front(|packet| packet.peer).unwrap_or(0)
    }

    fn set_transfer_channel(&mut self, p_channel: i32) {
        self.multiplayer.set_transfer_channel(p_channel);
    }

    fn get_transfer_channel(&self) -> i32 {
        self.multiplayer.transfer_channel()
    }

    fn set_transfer_mode(&mut self, p_mode: GodotMode) {
        let mode = TransferMode::ALL
            .into_iter()
            .find(|mode| to_godot(*mode) == p_mode);
        self.multiplayer.set_transfer_mode(mode.unwrap_or_default());
    }

    fn get_transfer_mode(&self) -> GodotMode {
        to_godot(self.multiplayer.transfer_mode())
    }

    fn set_target_peer(&mut self, p_peer: i32) {
        self.multiplayer.set_target_peer(p_peer);
    }

    fn is_server(&self) -> bool {
        self.multiplayer.is_server()
    }

    fn get_unique_id(&self) -> i32 {
        self.multiplayer.unique_id()
    }

    fn set_refuse_new_connections(&mut self, p_enable: bool) {
        if let Some(host) = &mut self.host {
            self.multiplayer.set_refuse_new_connections(host, p_enable);
        }
    }

    fn is_refusing_new_connections(&self) -> bool {
        self.multiplayer.is_refusing_new_connections()
    }

    fn is_server_relay_supported(&self) -> bool {
        self.multiplayer.is_server_relay_supported()
    }

    fn get_connection_status(&self) -> ConnectionStatus {
        match self.multiplayer.status() {
            Status::Disconnected => ConnectionStatus::DISCONNECTED,
            Status::Connecting => ConnectionStatus::CONNECTING,
            Status::Connected => ConnectionStatus::CONNECTED,
        }
    }
}

/// A host at this port of all addresses, or of all IPv4 addresses where there is no IPv6.
fn bind(port: u16, config: Config) -> io::Result<UdpHost> {
    let both = UdpHost::bind(("::", port), config.clone());
    both.or_else(|_| UdpHost::bind(("0.0.0.0", port), config))
}

const fn to_godot(mode: TransferMode) -> GodotMode {
    match mode {
        TransferMode::Unreliable => GodotMode::UNRELIABLE,
        TransferMode::UnreliableOrdered => GodotMode::UNRELIABLE_ORDERED,
        TransferMode::Reliable => GodotMode::RELIABLE,
    }
}

fn bounded(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn refused(what: impl Display) -> GodotError {
    godot_error!("PorousMultiplayerPeer: {what}");
    GodotError::ERR_INVALID_PARAMETER
}

/// Says what is wrong in Godot's log, and by one of its numbers.
fn told(error: Error) -> GodotError {
    godot_error!("PorousMultiplayerPeer: {error}");
    match error {
        Error::Unconfigured => GodotError::ERR_UNCONFIGURED,
        Error::TooSlow => GodotError::ERR_OUT_OF_MEMORY,
        Error::UnknownPeer | Error::UnknownChannel | Error::TooLarge | Error::Empty | _ => {
            GodotError::ERR_INVALID_PARAMETER
        }
    }
}
