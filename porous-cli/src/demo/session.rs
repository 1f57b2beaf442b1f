//! The run: one server, its clients, one thread, one clock.

use alloc::collections::BTreeMap;
use core::net::{Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::io;

use porous_sim::Seed;
use porous_std::trace::Recorder;
use porous_std::{Bytes, Clock, Config, Event, Instant, LinkConditioner, Listen, PeerId, UdpHost};

use super::client::{Client, KindLatencies};
use super::conditions::conditions;
use super::keys::Keys;
use super::kind::{CHANNELS, Direction};
use super::progress::Progress;
use super::samples::Samples;
use crate::args::DemoArgs;
use crate::net::keys::sealed;

/// The longest sleep: no packet that is due waits for longer.
const TICK: Duration = Duration::from_millis(1);

/// The application id, so that no other program connects by mistake: "porousde".
const APPLICATION: u64 = u64::from_be_bytes(*b"porousde");

/// How long clients try to connect on a fast link. Each millisecond of round trip adds eight.
const CONNECT: Duration = Duration::from_secs(10);

/// How long packets may still be under way when none waits at a host any more, beside round trip and
/// jitter: in the queue of a slow link, or held back to be overtaken.
const LAST_PACKETS: Duration = Duration::from_millis(200);

/// A server and its clients.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) server: UdpHost<LinkConditioner>,
    pub(crate) clients: Vec<Client>,
    pub(crate) latencies: KindLatencies,
    pub(crate) samples: Samples,
    by_address: BTreeMap<SocketAddr, usize>,
    by_peer: BTreeMap<PeerId, usize>,
    clock: Clock,
}

impl Session {
    /// Binds all sockets; the clients begin to connect.
    pub(crate) fn start(
        args: &DemoArgs,
        seed: Seed,
        file: &Bytes,
        recorder: Option<Recorder>,
    ) -> io::Result<Self> {
        let keys = args.sealed.then(Keys::draw).transpose()?;
        let mut server = UdpHost::bind((Ipv4Addr::LOCALHOST, 0), config(args, Config::new())?)?;
        if let Some(recorder) = recorder {
            server.record(recorder).map_err(io::Error::other)?;
        }
        let down = Direction::Down.seed(seed, 0).child("link", 0);
        let mut server = server.with_conditioner(LinkConditioner::new(conditions(args), down));
        if let Some(keys) = &keys {
            server.set_security(keys.security.clone());
        }
        server.listen(Listen::Open).map_err(io::Error::other)?;
        let address = server.local_addr()?;
        let mut session = Self {
            server,
            clients: Vec::new(),
            latencies: KindLatencies::default(),
            samples: Samples::new(args.seconds),
            by_address: BTreeMap::new(),
            by_peer: BTreeMap::new(),
            clock: Clock::start(),
        };
        for number in 0..args.clients.into() {
            let config = config(args, Config::client())?;
            let mut client = Client::start(args, (seed, number), address, config, file.clone())?;
            client.connect(address, keys.as_ref())?;
            session.by_address.insert(client.address, number);
            session.clients.push(client);
        }
        Ok(session)
    }

    /// Waits until every client has connected or failed to. Returns true if all have connected.
    pub(crate) fn connect(&mut self, args: &DemoArgs, progress: &Progress) -> io::Result<bool> {
        // The hosts give up by themselves; the limit ends the loop even if one does not.
        let limit = connect_timeout(args) + Duration::from_secs(2);
        let start = self.clock.now();
        let undecided = |c: &Client| !c.has_connected() && c.why_ended().is_none();
        while self.clients.iter().any(undecided) && self.since(start) < limit {
            progress.connecting(self.connected());
            self.tick()?;
        }
        Ok(self.connected() == self.clients.len())
    }

    /// Clients that have been connected.
    pub(crate) fn connected(&self) -> usize {
        self.clients.iter().filter(|c| c.has_connected()).count()
    }

    /// Runs the traffic, then waits until packets under way have arrived.
    pub(crate) fn play(&mut self, args: &DemoArgs, progress: &Progress) -> io::Result<()> {
        let seconds = Duration::from_secs(args.seconds.into());
        let under_way = Duration::from_millis((args.rtt + 2 * args.jitter).into()) + LAST_PACKETS;
        let start = self.clock.now();
        loop {
            let elapsed = self.since(start);
            if elapsed >= seconds + seconds * 10 {
                return Ok(());
            }
            // Packets on the links wait at no host, so they are given time to arrive.
            if elapsed >= seconds + under_way.min(seconds * 10) && self.is_drained() {
                return Ok(());
            }
            self.send_due(elapsed);
            self.tick()?;
            self.samples.take(elapsed, &self.server);
            progress.playing(elapsed, &self.clients);
        }
    }

    fn since(&self, start: Instant) -> Duration {
        self.clock.now().saturating_duration_since(start)
    }

    fn is_drained(&self) -> bool {
        self.clients.iter().all(|c| c.is_drained(&self.server))
    }

    fn send_due(&mut self, elapsed: Duration) {
        let now = self.clock.now();
        for client in &mut self.clients {
            client.send_due(&mut self.server, now, elapsed);
        }
    }

    /// Sleeps until the server has something to do, but at most for a tick, and serves every host.
    fn tick(&mut self) -> io::Result<()> {
        self.server.wait(TICK)?;
        self.poll_server();
        for client in &mut self.clients {
            client.host.step()?;
            client.poll(self.clock.now(), &mut self.latencies);
        }
        Ok(())
    }

    fn poll_server(&mut self) {
        while let Some(event) = self.server.poll_event() {
            match event {
                Event::Connected { peer, address } => {
                    if let Some(&number) = self.by_address.get(&address) {
                        self.by_peer.insert(peer, number);
                        self.clients[number].accepted(peer);
                    }
                }
                Event::Readable { peer } => self.read(peer),
                Event::Writable { peer } => {
                    if let Some(client) = self.client(peer) {
                        client.transfer.writable();
                    }
                }
                Event::Disconnected { peer, reason, .. } => {
                    if let Some(client) = self.client(peer) {
                        client.ended(reason);
                    }
                }
                Event::Request { .. } | Event::PeerMoved { .. } | _ => {}
            }
        }
    }

    fn read(&mut self, peer: PeerId) {
        let now = self.clock.now();
        while let Some(packet) = self.server.receive(peer) {
            if let Some(&number) = self.by_peer.get(&peer) {
                let client = &mut self.clients[number];
                client.arrived(Direction::Up, now, &packet, &mut self.latencies);
            }
        }
    }

    fn client(&mut self, peer: PeerId) -> Option<&mut Client> {
        self.clients.get_mut(*self.by_peer.get(&peer)?)
    }
}

fn connect_timeout(args: &DemoArgs) -> Duration {
    CONNECT + 8 * Duration::from_millis(args.rtt.into())
}

/// The configuration that every host of the demo shares, on top of `base`.
fn config(args: &DemoArgs, base: Config) -> io::Result<Config> {
    let config = base
        .policy(args.policy.policy())
        .application_id(APPLICATION)
        .connect_timeout(connect_timeout(args));
    let config = config.and_then(|config| config.channels(&CHANNELS));
    let config = config.map_err(io::Error::other)?;
    if args.sealed {
        sealed(config)
    } else {
        Ok(config)
    }
}
