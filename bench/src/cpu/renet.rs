//! renet: its message layer, without a transport and so without a handshake.

use porous_loads::node::{Node, Setup};
use porous_proto::Instant;
use renet::{RenetClient, RenetServer};

use crate::peers::renet::config;

pub(crate) fn open(setup: Setup) -> Box<dyn Node> {
    Box::new(Renet::new(setup))
}

/// The roles are different types of renet.
enum Role {
    Client(Box<RenetClient>),
    Server(RenetServer),
}

struct Renet {
    role: Role,
    remotes: usize,
    channels: u8,
    now: Instant,
}

impl Renet {
    fn new(setup: Setup) -> Self {
        Self {
            role: Role::Server(RenetServer::new(config(setup.channels))),
            remotes: setup.remotes,
            channels: setup.channels,
            now: Instant::ZERO,
        }
    }
}

impl Node for Renet {
    fn connect(&mut self, _: Instant) {
        let mut client = RenetClient::new(config(self.channels));
        client.set_connected();
        self.role = Role::Client(Box::new(client));
    }

    fn datagram_in(&mut self, _: Instant, from: usize, datagram: &[u8]) {
        match &mut self.role {
            Role::Client(client) => client.process_packet(datagram),
            Role::Server(server) => {
                let from = from as u64;
                if server.process_packet_from(datagram, from).is_err() {
                    server.add_connection(from);
                    let again = server.process_packet_from(datagram, from);
                    again.expect("a client");
                }
            }
        }
    }

    fn service(&mut self, now: Instant, read: &mut dyn FnMut(usize, &[u8])) {
        let passed = now.saturating_duration_since(self.now);
        self.now = now;
        match &mut self.role {
            Role::Client(client) => {
                client.update(passed);
                for channel in 0..=self.channels {
                    while let Some(message) = client.receive_message(channel) {
                        read(0, &message);
                    }
                }
            }
            Role::Server(server) => {
                server.update(passed);
                while server.get_event().is_some() {}
                for from in 0..self.remotes {
                    for channel in 0..=self.channels {
                        while let Some(message) = server.receive_message(from as u64, channel) {
                            read(from, &message);
                        }
                    }
                }
            }
        }
    }

    fn send(&mut self, to: usize, channel: u8, message: &[u8], reliable: bool) -> bool {
        let channel = if reliable { channel } else { self.channels };
        let to = to as u64;
        let has_room = match &self.role {
            Role::Client(client) => client.can_send_message(channel, message.len()),
            Role::Server(server) => server.can_send_message(to, channel, message.len()),
        };
        if has_room {
            match &mut self.role {
                Role::Client(client) => client.send_message(channel, message.to_vec()),
                Role::Server(server) => server.send_message(to, channel, message.to_vec()),
            }
        }
        has_room
    }

    fn datagrams_out(&mut self, _: Instant, put: &mut dyn FnMut(usize, &[u8])) {
        match &mut self.role {
            Role::Client(client) => {
                for datagram in client.get_packets_to_send() {
                    put(0, &datagram);
                }
            }
            Role::Server(server) => {
                for to in 0..self.remotes {
                    let datagrams = server.get_packets_to_send(to as u64);
                    for datagram in datagrams.into_iter().flatten() {
                        put(to, &datagram);
                    }
                }
            }
        }
    }

    fn own_heap(&self) -> usize {
        0
    }
}
