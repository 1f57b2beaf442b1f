//! renet's message layer in the sealed datagrams of renetcode, called as renet's own transport calls the two.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use porous_loads::node::{Mail, Node, Setup};
use porous_proto::Instant;
use renet::{RenetClient, RenetServer};
use renetcode::{
    ClientAuthentication, ConnectToken, NetcodeClient, NetcodeServer, ServerAuthentication,
    ServerConfig, ServerResult,
};

use crate::peers::renet::config;

const PROTOCOL_ID: u64 = 7;

/// With this the backend seals tokens, which the server opens.
const PRIVATE_KEY: [u8; 32] = [9; 32];

/// How long tokens are good, and hosts wait for each other, in seconds.
const EXPIRE_S: u64 = 300;
const TIMEOUT_S: i32 = 15;

pub(crate) fn open(setup: Setup) -> Box<dyn Node> {
    Box::new(Renetcode {
        role: Role::Server(Box::new(Server::new(setup))),
        setup,
        now: Instant::ZERO,
        leaving: Mail::default(),
        buf: Vec::new(),
    })
}

/// The address of the server, and of the client with this number.
fn address(number: Option<usize>) -> SocketAddr {
    let port = number.map_or(1, |number| 2 + number);
    (Ipv4Addr::LOCALHOST, port as u16).into()
}

fn number(address: SocketAddr) -> usize {
    usize::from(address.port()) - 2
}

struct Client {
    renet: RenetClient,
    netcode: NetcodeClient,
}

struct Server {
    renet: RenetServer,
    netcode: NetcodeServer,
    /// The ids of the clients, by their numbers.
    ids: Vec<Option<u64>>,
}

/// The roles are different types of renet.
enum Role {
    Client(Box<Client>),
    Server(Box<Server>),
}

struct Renetcode {
    role: Role,
    setup: Setup,
    now: Instant,
    /// Datagrams of renetcode's own.
    leaving: Mail,
    /// renetcode opens a datagram in the buffer in which it came.
    buf: Vec<u8>,
}

impl Client {
    /// `id` is the client's name at the server.
    fn new(id: u64, channels: u8) -> Self {
        let token = ConnectToken::generate(
            Duration::ZERO,
            PROTOCOL_ID,
            EXPIRE_S,
            id,
            TIMEOUT_S,
            vec![address(None)],
            None,
            &PRIVATE_KEY,
        );
        let connect_token = token.expect("a server");
        let secure = ClientAuthentication::Secure { connect_token };
        Self {
            renet: RenetClient::new(config(channels)),
            netcode: NetcodeClient::new(Duration::ZERO, secure).expect("a token"),
        }
    }
}

impl Server {
    fn new(setup: Setup) -> Self {
        let config_of_netcode = ServerConfig {
            current_time: Duration::ZERO,
            max_clients: setup.remotes,
            protocol_id: PROTOCOL_ID,
            public_addresses: vec![address(None)],
            authentication: ServerAuthentication::Secure {
                private_key: PRIVATE_KEY,
            },
        };
        Self {
            renet: RenetServer::new(config(setup.channels)),
            netcode: NetcodeServer::new(config_of_netcode),
            ids: vec![None; setup.remotes],
        }
    }
}

/// What renetcode made of a datagram or of the time that passed.
fn handle(
    result: ServerResult<'_, '_>,
    renet: &mut RenetServer,
    ids: &mut [Option<u64>],
    leaving: &mut Mail,
) {
    match result {
        ServerResult::None => {}
        ServerResult::PacketToSend { addr, payload } => leaving.put(number(addr), payload),
        ServerResult::Payload { client_id, payload } => {
            let known = renet.process_packet_from(payload, client_id);
            known.expect("a client");
        }
        ServerResult::ClientConnected {
            client_id,
            addr,
            payload,
            ..
        } => {
            renet.add_connection(client_id);
            ids[number(addr)] = Some(client_id);
            leaving.put(number(addr), payload);
        }
        ServerResult::ClientDisconnected { client_id, .. } => renet.remove_connection(client_id),
    }
}

impl Node for Renetcode {
    fn connect(&mut self, _: Instant) {
        let client = Client::new(self.setup.seed, self.setup.channels);
        self.role = Role::Client(Box::new(client));
    }

    fn datagram_in(&mut self, _: Instant, from: usize, datagram: &[u8]) {
        self.buf.clear();
        self.buf.extend_from_slice(datagram);
        match &mut self.role {
            Role::Client(client) => {
                if let Some(payload) = client.netcode.process_packet(&mut self.buf) {
                    client.renet.process_packet(payload);
                }
            }
            Role::Server(server) => {
                let result = server
                    .netcode
                    .process_packet(address(Some(from)), &mut self.buf);
                handle(
                    result,
                    &mut server.renet,
                    &mut server.ids,
                    &mut self.leaving,
                );
            }
        }
    }

    fn service(&mut self, now: Instant, read: &mut dyn FnMut(usize, &[u8])) {
        let passed = now.saturating_duration_since(self.now);
        self.now = now;
        let channels = 0..=self.setup.channels;
        match &mut self.role {
            Role::Client(client) => {
                if let Some((payload, _)) = client.netcode.update(passed) {
                    self.leaving.put(0, payload);
                }
                if client.netcode.is_connected() {
                    client.renet.set_connected();
                }
                client.renet.update(passed);
                for channel in channels {
                    while let Some(message) = client.renet.receive_message(channel) {
                        read(0, &message);
                    }
                }
            }
            Role::Server(server) => {
                let Server {
                    renet,
                    netcode,
                    ids,
                } = &mut **server;
                netcode.update(passed);
                for client in netcode.clients_id() {
                    handle(netcode.update_client(client), renet, ids, &mut self.leaving);
                }
                renet.update(passed);
                while renet.get_event().is_some() {}
                for (from, id) in ids.iter().enumerate() {
                    let Some(id) = *id else { continue };
                    for channel in channels.clone() {
                        while let Some(message) = renet.receive_message(id, channel) {
                            read(from, &message);
                        }
                    }
                }
            }
        }
    }

    fn send(&mut self, to: usize, channel: u8, message: &[u8], reliable: bool) -> bool {
        let channel = if reliable {
            channel
        } else {
            self.setup.channels
        };
        match &mut self.role {
            Role::Client(client) => {
                let has_room = client.renet.is_connected()
                    && client.renet.can_send_message(channel, message.len());
                if has_room {
                    client.renet.send_message(channel, message.to_vec());
                }
                has_room
            }
            Role::Server(server) => {
                let Some(id) = server.ids[to] else {
                    return false;
                };
                let has_room = server.renet.can_send_message(id, channel, message.len());
                if has_room {
                    server.renet.send_message(id, channel, message.to_vec());
                }
                has_room
            }
        }
    }

    fn datagrams_out(&mut self, _: Instant, put: &mut dyn FnMut(usize, &[u8])) {
        for (to, datagram) in self.leaving.iter() {
            put(to, datagram);
        }
        self.leaving.clear();
        match &mut self.role {
            Role::Client(client) if client.renet.is_connected() => {
                for packet in client.renet.get_packets_to_send() {
                    let sealed = client.netcode.generate_payload_packet(&packet);
                    put(0, sealed.expect("a connection").1);
                }
            }
            Role::Client(_) => {}
            Role::Server(server) => {
                for client in server.netcode.clients_id() {
                    let packets = server.renet.get_packets_to_send(client);
                    for packet in packets.into_iter().flatten() {
                        let sealed = server.netcode.generate_payload_packet(client, &packet);
                        let (to, datagram) = sealed.expect("a connection");
                        put(number(to), datagram);
                    }
                }
            }
        }
    }

    fn own_heap(&self) -> usize {
        let ids = match &self.role {
            Role::Client(_) => 0,
            Role::Server(server) => server.ids.capacity() * size_of::<Option<u64>>(),
        };
        self.leaving.heap() + self.buf.capacity() + ids
    }
}
