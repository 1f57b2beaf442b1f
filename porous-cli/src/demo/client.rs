//! One client, and the traffic between it and the server.

use core::net::SocketAddr;
use core::time::Duration;
use std::io;

use porous_sim::Seed;
use porous_std::{
    Bytes, Config, DisconnectReason, Event, Instant, LinkConditioner, Mode, Peer, PeerId,
    PeerStats, Received, UdpHost,
};

use super::conditions::conditions;
use super::file::Transfer;
use super::flow::Flow;
use super::keys::Keys;
use super::kind::{Direction, FILE, Kind};
use crate::args::DemoArgs;
use crate::latency::Latencies;

/// The latencies of the packets of each kind.
pub(crate) type KindLatencies = [Latencies; Kind::ALL.len()];

/// A client's host and both ends of its traffic.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) host: UdpHost<LinkConditioner>,
    pub(crate) address: SocketAddr,
    pub(crate) flows: Vec<Flow>,
    pub(crate) transfer: Transfer,
    /// Bytes of packets that were delivered intact, each counted once, in both directions.
    pub(crate) payload_bytes: u64,
    /// The id that this client has for the server; `None` before it has connected.
    server: Option<PeerId>,
    /// The id that the server has for this client; `None` before it has connected.
    at_server: Option<PeerId>,
    ended: Option<DisconnectReason>,
}

impl Client {
    /// Binds client `number`.
    pub(crate) fn start(
        args: &DemoArgs,
        (run, number): (Seed, usize),
        server: SocketAddr,
        config: Config,
        file: Bytes,
    ) -> io::Result<Self> {
        let seed = Direction::Up.seed(run, number).child("link", 0);
        let link = LinkConditioner::new(conditions(args), seed);
        let host = UdpHost::bind((server.ip(), 0), config)?.with_conditioner(link);
        let share = number as f64 / f64::from(args.clients);
        let flows = [Direction::Up, Direction::Down]
            .into_iter()
            .flat_map(|direction| {
                let seed = direction.seed(run, number);
                let flow = move |&kind| Flow::new((direction, kind), seed, args.seconds, share);
                direction.kinds().iter().map(flow)
            });
        Ok(Self {
            address: host.local_addr()?,
            host,
            flows: flows.collect(),
            transfer: Transfer::new(file),
            payload_bytes: 0,
            server: None,
            at_server: None,
            ended: None,
        })
    }

    /// Begins to connect, with keys if the connection is to be sealed.
    pub(crate) fn connect(&mut self, server: SocketAddr, keys: Option<&Keys>) -> io::Result<()> {
        let begun = match keys {
            Some(keys) => self.host.connect_sealed(&[server], &keys.credentials),
            None => self.host.connect(server),
        };
        begun.map(|_| ()).map_err(io::Error::other)
    }

    /// Whether the connection is sealed, and the server has proved to have its key.
    pub(crate) fn is_sealed(&self) -> bool {
        let secured = self.peer_here().and_then(Peer::secured);
        secured.is_some_and(|secured| secured.server_key().is_some())
    }

    /// Notes that the server has accepted this client.
    pub(crate) const fn accepted(&mut self, peer: PeerId) {
        self.at_server = Some(peer);
    }

    /// Notes that the connection has ended, at one of its ends.
    pub(crate) fn ended(&mut self, reason: DisconnectReason) {
        self.ended.get_or_insert(reason);
    }

    /// Why the connection has ended, if it has.
    pub(crate) const fn why_ended(&self) -> Option<DisconnectReason> {
        self.ended
    }

    /// True if both ends have been connected, also if the connection has ended since.
    pub(crate) const fn has_connected(&self) -> bool {
        self.server.is_some() && self.at_server.is_some()
    }

    /// Sends the packets that are due in both directions.
    pub(crate) fn send_due(
        &mut self,
        server: &mut UdpHost<LinkConditioner>,
        now: Instant,
        elapsed: Duration,
    ) {
        let (Some(up), Some(down)) = (self.server, self.at_server) else {
            return;
        };
        for flow in &mut self.flows {
            let (host, peer) = match flow.direction {
                Direction::Up => (&mut self.host, up),
                Direction::Down => (&mut *server, down),
            };
            let (channel, mode) = (flow.kind.channel(), flow.kind.mode());
            flow.send_due(now, elapsed, |packet| {
                host.send(peer, channel, packet, mode)
            });
        }
        // After the packets of the game: the file gets the room that these leave.
        let queued = server.peer(down).map_or(0, Peer::queued_bytes);
        let send = |piece| server.send(down, FILE, piece, Mode::Reliable);
        self.transfer.send(queued, send);
    }

    /// Takes the events and packets of this client's own host.
    pub(crate) fn poll(&mut self, now: Instant, latencies: &mut KindLatencies) {
        while let Some(event) = self.host.poll_event() {
            match event {
                Event::Connected { peer, .. } => self.server = Some(peer),
                Event::Readable { peer } => {
                    while let Some(packet) = self.host.receive(peer) {
                        self.arrived(Direction::Down, now, &packet, latencies);
                    }
                }
                Event::Disconnected { reason, .. } => self.ended(reason),
                // Packets that wait for room are tried again at each tick anyway.
                Event::Writable { .. } | Event::PeerMoved { .. } | _ => {}
            }
        }
    }

    /// Checks a packet that has arrived at either end.
    pub(crate) fn arrived(
        &mut self,
        direction: Direction,
        now: Instant,
        packet: &Received,
        latencies: &mut KindLatencies,
    ) {
        let is_file = packet.channel == FILE && direction == Direction::Down;
        if is_file && packet.mode == Mode::Reliable {
            self.transfer.receive(&packet.payload);
            self.payload_bytes += packet.payload.len() as u64;
            return;
        }
        // A packet on a channel where none was sent is corrupt. It counts for the flow of its mode.
        let by_mode = Kind::of_mode(packet.mode);
        let mut flows = self
            .flows
            .iter_mut()
            .filter(|flow| flow.direction == direction);
        let flow = flows.find(|flow| flow.kind.channel() == packet.channel);
        let Some(flow) = flow else {
            self.stray(by_mode);
            return;
        };
        if flow.receive(now, packet, &mut latencies[flow.kind as usize]) {
            self.payload_bytes += packet.payload.len() as u64;
        }
    }

    fn stray(&mut self, kind: Kind) {
        if let Some(flow) = self.flows.iter_mut().find(|flow| flow.kind == kind) {
            flow.corrupt();
        }
    }

    /// True if everything that has to arrive has arrived, or nothing can arrive any more.
    pub(crate) fn is_drained(&self, server: &UdpHost<LinkConditioner>) -> bool {
        let waits = |peer: Option<&Peer>| peer.is_some_and(|peer| peer.queued_bytes() > 0);
        let is_complete = self.transfer.is_complete() && self.flows.iter().all(Flow::is_complete);
        self.ended.is_some()
            || is_complete && !waits(self.peer_here()) && !waits(self.peer_at(server))
    }

    /// The statistics of both ends of the connection, the server's first.
    pub(crate) fn stats(&self, server: &UdpHost<LinkConditioner>) -> [PeerStats; 2] {
        let stats = |peer: Option<&Peer>| peer.map(Peer::stats).unwrap_or_default();
        [stats(self.peer_at(server)), stats(self.peer_here())]
    }

    fn peer_here(&self) -> Option<&Peer> {
        self.host.peer(self.server?)
    }

    fn peer_at<'a>(&self, server: &'a UdpHost<LinkConditioner>) -> Option<&'a Peer> {
        server.peer(self.at_server?)
    }
}
