//! The packets of the clients, the answers of the server, and the checks of both.

use core::net::SocketAddr;
use core::time::Duration;
use std::io;

use porous_mio::{ChannelId, Event, Mode, PeerId};
use porous_tests::Model;

use crate::hosts::Hosts;

pub(crate) const CHANNELS: u8 = 2;

/// Packets a second of each client.
const RATE: u32 = 6;

/// The longest sleep while clients send.
const TICK: Duration = Duration::from_millis(5);

struct Client {
    host: usize,
    peer: PeerId,
    /// The packets that the client sent, and which of them came back.
    model: Model,
}

/// The traffic of all clients. The server, host 0, sends each packet back as it came.
pub(crate) struct Talk {
    clients: Vec<Client>,
    connected: usize,
    said: u64,
}

/// All kinds of packets, in turn: no two of one client are the same, unless they are very short.
fn packet(number: u64) -> (ChannelId, Mode, Vec<u8>) {
    let pick = |from: u64, count: usize| usize::try_from(from % count as u64).unwrap_or(0);
    let mode = [Mode::Unreliable, Mode::Reliable, Mode::Passive][pick(number, 3)];
    let channel = u8::try_from(pick(number / 3, CHANNELS.into())).unwrap_or(0);
    let len = [20, 0, 60, 200, 1, 1000, 3000][pick(number, 7)];
    let mut packet = number.to_le_bytes().to_vec();
    packet.extend((8..len).map(|at| (number + at).to_le_bytes()[0]));
    packet.truncate(usize::try_from(len).unwrap_or(0));
    (ChannelId(channel), mode, packet)
}

impl Talk {
    /// `clients` are the hosts of the clients, each with its peer.
    pub(crate) fn new(clients: impl Iterator<Item = (usize, PeerId)>) -> Self {
        let client = |(host, peer)| Client {
            host,
            peer,
            model: Model::new(CHANNELS),
        };
        Self {
            clients: clients.map(client).collect(),
            connected: 0,
            said: 0,
        }
    }

    /// True if all clients are connected, and the server with them.
    pub(crate) fn is_connected(&self) -> bool {
        self.connected == 2 * self.clients.len()
    }

    /// True if every reliable packet came back.
    pub(crate) fn is_complete(&self) -> bool {
        self.clients.iter().all(|client| client.model.is_complete())
    }

    /// Packets of this mode that all clients sent, and those that came back.
    pub(crate) fn counts(&self, mode: Mode) -> (u64, u64) {
        let counts = self.clients.iter().map(|client| client.model.counts(mode));
        counts.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// One turn of the loop, in which the server answers, and answers are checked.
    pub(crate) fn turn(&mut self, hosts: &mut Hosts, max: Duration) -> io::Result<()> {
        for (host, event) in hosts.turn(max)? {
            self.handle(hosts, host, event)?;
        }
        Ok(())
    }

    /// Turns the loop for this time, and lets the first `active` clients send, one after the other.
    pub(crate) fn run(&mut self, hosts: &mut Hosts, time: Duration, active: u64) -> io::Result<()> {
        let begun = hosts.elapsed();
        let count = active.min(self.clients.len() as u64);
        loop {
            let elapsed = hosts.elapsed() - begun;
            let micros = u64::try_from(elapsed.min(time).as_micros()).unwrap_or(u64::MAX);
            let due = micros * count * u64::from(RATE) / 1_000_000;
            while self.said < due {
                let client = usize::try_from(self.said % count).unwrap_or(0);
                self.say(hosts, client, self.said / count)?;
                self.said += 1;
            }
            if elapsed >= time {
                return Ok(());
            }
            self.turn(hosts, TICK)?;
        }
    }

    /// A client sends its packet of this number.
    fn say(&mut self, hosts: &mut Hosts, client: usize, number: u64) -> io::Result<()> {
        let (channel, mode, packet) = packet(number);
        let client = &mut self.clients[client];
        let sent = hosts.with(client.host, |host| {
            host.send(client.peer, channel, packet.clone(), mode)
        });
        client.model.sent(channel.0, mode, packet);
        sent.map_err(io::Error::other)
    }

    fn handle(
        &mut self,
        hosts: &mut Hosts,
        host: usize,
        event: Event<SocketAddr>,
    ) -> io::Result<()> {
        match event {
            Event::Connected { .. } => self.connected += 1,
            Event::Readable { peer } => {
                while let Some(packet) = hosts.with(host, |host| host.receive(peer)) {
                    if host > 0 {
                        let model = &mut self.clients[host - 1].model;
                        model.delivered(&packet, &format!("client {host}"));
                        continue;
                    }
                    hosts
                        .with(host, |host| {
                            host.send(peer, packet.channel, packet.payload, packet.mode)
                        })
                        .map_err(io::Error::other)?;
                }
            }
            Event::Request { .. } | Event::Writable { .. } | Event::Disconnected { .. } | _ => {
                return Err(io::Error::other(format!("host {host}: {event:?}")));
            }
        }
        Ok(())
    }
}
