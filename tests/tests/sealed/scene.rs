//! Two hosts that seal, or the same two that do not, and what they say to each other.

use alloc::rc::Rc;
use core::cell::RefCell;
use core::ops::ControlFlow;
use core::time::Duration;

use porous_crypto::RustCrypto;
use porous_proto::seal::{Credentials, Security, Suite};
use porous_proto::{
    ChannelId, Config, DisconnectReason, Event, Ignored, Listen, Mode, PeerId, SendError,
};
use porous_sim::{Intercept, LinkConfig, Model, Passing, Seed, World};
use porous_tests::recorder::Recorder;

/// The host that connects, and the one that listens.
pub(crate) const CLIENT: u32 = 1;
pub(crate) const SERVER: u32 = 2;

pub(crate) const MS: Duration = Duration::from_millis(1);
pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// The time that a datagram takes.
pub(crate) const DELAY: Duration = Duration::from_millis(20);

pub(crate) const SUITES: [Suite; 2] = [Suite::CHACHA_POLY, Suite::AES_GCM];

/// What happens where.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: Seed,
    /// `None` if the connection is plain.
    pub(crate) suites: Option<Vec<Suite>>,
    pub(crate) link: LinkConfig,
    pub(crate) client: Config,
    pub(crate) server: Config,
    /// Frames after which a host goes on to its next key.
    pub(crate) rekey_after: u64,
    /// True if the server lets plain hosts in as well.
    pub(crate) allows_plain: bool,
}

impl Plan {
    pub(crate) fn new(seed: u64, suite: Suite) -> Self {
        Self {
            seed: Seed::new(seed),
            suites: Some(vec![suite]),
            link: LinkConfig::new().delay(DELAY),
            client: Config::new(),
            server: Config::new(),
            rekey_after: u64::MAX,
            allows_plain: false,
        }
    }

    /// The same for each suite and each of these seeds.
    pub(crate) fn all(seeds: u64) -> impl Iterator<Item = Self> {
        let pairs = SUITES.into_iter().flat_map(move |suite| {
            let seeds = 1..=seeds;
            seeds.map(move |seed| (seed, suite))
        });
        pairs.map(|(seed, suite)| Self::new(seed, suite))
    }

    pub(crate) fn link(self, link: LinkConfig) -> Self {
        Self { link, ..self }
    }

    /// Both hosts have this configuration.
    pub(crate) fn config(self, config: &Config) -> Self {
        let [client, server] = [config, config].map(Clone::clone);
        Self {
            client,
            server,
            ..self
        }
    }

    /// The same without a seal.
    pub(crate) fn plain(self) -> Self {
        Self {
            suites: None,
            ..self
        }
    }

    fn security(&self, recorder: &'static Recorder) -> Security {
        Security::new(recorder).rekey_after(self.rekey_after, Duration::from_secs(3600))
    }

    fn sealed(&self, config: &Config) -> Config {
        match &self.suites {
            Some(suites) => config.clone().sealed(suites).unwrap(),
            None => config.clone(),
        }
    }

    /// The hosts, of which one listens.
    pub(crate) fn build(self) -> Scene {
        let mut scene = Scene {
            world: World::new(self.seed, self.link),
            recorder: Recorder::leaked(&RustCrypto),
            ends: None,
            injections: Rc::default(),
            plan: self,
        };
        scene.add_client(CLIENT);
        let config = scene.plan.sealed(&scene.plan.server);
        scene.world.add_host(SERVER, config);
        let mut security = scene.plan.security(scene.recorder);
        if scene.plan.allows_plain {
            security = security.allow_plain();
        }
        let server = scene.world.host_mut(SERVER);
        if scene.plan.suites.is_some() {
            server.set_security(security);
        }
        server.listen(Listen::Open).unwrap();
        scene
    }

    /// The hosts, connected.
    pub(crate) fn connected(self) -> Scene {
        let mut scene = self.build();
        scene.connect();
        scene
    }
}

/// A world with two hosts.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) recorder: &'static Recorder,
    /// The server as the client knows it, and the client as the server knows it, once they are connected.
    pub(crate) ends: Option<[PeerId; 2]>,
    /// What the attacker is about to send.
    injections: Rc<RefCell<Vec<Injection>>>,
    pub(crate) plan: Plan,
}

/// A datagram of an attacker, who can send from every address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Injection {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) bytes: Vec<u8>,
}

/// So that every failure names its seed, wherever it is found.
impl Drop for Scene {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let (suites, seed) = (&self.plan.suites, self.plan.seed);
            eprintln!("suites {suites:?}; replay with {seed}");
        }
    }
}

impl Scene {
    /// A host that is to connect, in the place of the one that was there.
    pub(crate) fn add_client(&mut self, at: u32) {
        let config = self.plan.sealed(&self.plan.client);
        self.world.add_host(at, config);
        if self.plan.suites.is_some() {
            let security = self.plan.security(self.recorder);
            self.world.host_mut(at).set_security(security);
        }
    }

    /// The host at this address begins to connect.
    pub(crate) fn attempt(&mut self, at: u32) -> PeerId {
        if self.plan.suites.is_none() {
            return self.world.connect_with(at, &[SERVER], b"hello").unwrap();
        }
        let hello = Credentials::new().greeting(b"hello").unwrap();
        self.world.connect_sealed(at, &[SERVER], &hello).unwrap()
    }

    /// From now on an attacker sees all datagrams of hosts, decides about them, and sends its own, which arrive
    /// with those that it saw unless it holds these back.
    pub(crate) fn attack(
        &mut self,
        mut attack: impl FnMut(&Passing<'_, u32>, &mut Vec<Injection>) -> Intercept + 'static,
    ) {
        let injections = Rc::clone(&self.injections);
        let hook = move |passing: &Passing<'_, u32>| attack(passing, &mut injections.borrow_mut());
        self.world.intercept(hook);
    }

    /// Lets this time pass, until `application` breaks.
    fn drive<T>(
        &mut self,
        time: Duration,
        mut application: impl FnMut(&mut World) -> ControlFlow<T>,
    ) -> Option<T> {
        let (limit, injections) = (self.world.now() + time, &self.injections);
        self.world.drive(limit, |world| {
            // The hosts send first.
            world.next_happening();
            for injection in injections.take() {
                world.inject(injection.from, injection.to, injection.bytes);
            }
            application(world)
        })
    }

    pub(crate) fn run_for(&mut self, time: Duration) {
        let _: Option<()> = self.drive(time, |_| ControlFlow::Continue(()));
    }

    /// The client connects. A minute may pass.
    pub(crate) fn connect(&mut self) {
        self.attempt(CLIENT);
        let mut ends = [None; 2];
        let ends = self.drive(60 * SECOND, |world| {
            for (end, at) in ends.iter_mut().zip([CLIENT, SERVER]) {
                while let Some(event) = world.poll_event(at) {
                    if let Event::Connected { peer, .. } = event {
                        *end = Some(peer);
                    } else {
                        assert!(matches!(event, Event::Readable { .. }), "{at}: {event:?}");
                    }
                }
            }
            match ends {
                [Some(client), Some(server)] => ControlFlow::Break([client, server]),
                _ => ControlFlow::Continue(()),
            }
        });
        assert!(ends.is_some(), "not connected");
        self.ends = ends;
        if self.plan.suites.is_some() {
            assert_eq!(self.bindings(CLIENT), self.bindings(SERVER));
        }
    }

    /// The peer at the other end.
    pub(crate) fn peer(&self, at: u32) -> PeerId {
        self.ends.unwrap()[usize::from(at == SERVER)]
    }

    /// The names of the sealed connections of this host, in order.
    pub(crate) fn bindings(&self, at: u32) -> Vec<[u8; 32]> {
        let peers = self.world.host(at).peers();
        let secured = peers.filter_map(|(_, peer)| peer.secured());
        let mut bindings: Vec<_> = secured.map(|secured| *secured.binding()).collect();
        bindings.sort_unstable();
        bindings
    }

    /// Datagrams that did not open, at both hosts.
    pub(crate) fn unopened(&self) -> u64 {
        let of = |at| {
            let stats = self.world.host(at).stats();
            stats.ignored(Ignored::Unauthenticated)
        };
        of(CLIENT) + of(SERVER)
    }

    /// Why the peers of this host have ended. Takes all events.
    pub(crate) fn ended(&mut self, at: u32) -> Vec<DisconnectReason> {
        let events = porous_tests::events(&mut self.world, at);
        let ended = porous_tests::ended(&events).into_iter();
        ended.map(|(_, reason, _)| reason).collect()
    }

    /// Both hosts send `packets` each, one each `pace`, and then wait until all reliable ones are there. What is
    /// delivered was sent, and in its order.
    pub(crate) fn talk(&mut self, packets: &[Packet], pace: Duration) -> [Model; 2] {
        let hosts = [CLIENT, SERVER];
        let mut models = hosts.map(|at| {
            let peer = self.world.host(at).peer(self.peer(at)).unwrap();
            Model::new(peer.channels())
        });
        for packet in packets {
            for (at, model) in hosts.into_iter().zip(&mut models) {
                while !self.send(at, packet) {
                    self.run_for(pace);
                    self.receive(CLIENT + SERVER - at, model);
                }
                model.sent(packet.channel, packet.mode, packet.bytes.clone());
            }
            self.run_for(pace);
            self.receive_all(&mut models);
        }
        for _ in 0..600 {
            if models.iter().all(Model::is_complete) {
                break;
            }
            self.run_for(SECOND / 10);
            self.receive_all(&mut models);
        }
        assert!(models.iter().all(Model::is_complete), "a packet is missing");
        models
    }

    fn receive_all(&mut self, [client, server]: &mut [Model; 2]) {
        self.receive(SERVER, client);
        self.receive(CLIENT, server);
    }

    /// Takes what has come to this host.
    fn receive(&mut self, at: u32, model: &mut Model) {
        let (peer, context) = (self.peer(at), self.plan.seed.to_string());
        let host = self.world.host_mut(at);
        while let Some(packet) = host.receive(peer) {
            model.delivered(&packet, &context);
        }
    }

    /// False if there is no room.
    pub(crate) fn send(&mut self, at: u32, packet: &Packet) -> bool {
        let peer = self.peer(at);
        let host = self.world.host_mut(at);
        let (channel, bytes) = (ChannelId(packet.channel), packet.bytes.clone());
        match host.send(peer, channel, bytes, packet.mode) {
            Ok(()) => true,
            Err(SendError::Full) => false,
            Err(error) => panic!("{error}"),
        }
    }

    /// Says a word each way. Both hosts are connected still, by one connection.
    pub(crate) fn check(&mut self) {
        // What is late of earlier talks is of no interest.
        self.run_for(5 * SECOND);
        for at in [CLIENT, SERVER] {
            let peer = self.peer(at);
            while self.world.host_mut(at).receive(peer).is_some() {}
        }
        let word = Packet::new(0, Mode::Reliable, b"word".to_vec());
        self.talk(&[word], SECOND);
        if self.plan.suites.is_some() {
            assert_eq!(self.bindings(CLIENT), self.bindings(SERVER));
        }
    }
}

/// Something to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub(crate) channel: u8,
    pub(crate) mode: Mode,
    pub(crate) bytes: Vec<u8>,
}

impl Packet {
    pub(crate) const fn new(channel: u8, mode: Mode, bytes: Vec<u8>) -> Self {
        Self {
            channel,
            mode,
            bytes,
        }
    }

    /// Reliable packets of different lengths, each unlike all others.
    pub(crate) fn reliable(count: u32) -> Vec<Self> {
        Self::of(&[Mode::Reliable], count)
    }

    /// Packets of these modes by turns.
    pub(crate) fn of(modes: &[Mode], count: u32) -> Vec<Self> {
        let packets = (0..count).zip(modes.iter().cycle());
        let packets = packets.map(|(n, &mode)| {
            let length = usize::try_from(n * 7 % 200).unwrap();
            let bytes = [&n.to_le_bytes()[..], &vec![0xA5; length]].concat();
            Self::new(0, mode, bytes)
        });
        packets.collect()
    }
}
