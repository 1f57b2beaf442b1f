//! A server and its clients in one simulated world.

use core::time::Duration;

use porous_godot_core::{Multiplayer, Net, with_channels};
use porous_sim::rand_core::Rng;
use porous_sim::{ChaCha8Rng, LinkConfig, Seed, World};
use porous_std::{
    Bytes, ChannelId, Config, Disconnect, Event, Instant, Listen, Peer, PeerId, Received,
    SendError, SendOptions,
};

use crate::scene::Scene;

/// The address of the server. The clients have those that follow.
pub(crate) const SERVER: u32 = 1;

/// Godot's channels.
pub(crate) const CHANNELS: u8 = 2;

/// How often the games are called.
const FRAME: Duration = Duration::from_millis(16);

/// The host of one end, in the world.
pub(crate) struct At<'w> {
    pub(crate) world: &'w mut World,
    pub(crate) address: u32,
    pub(crate) chance: &'w mut ChaCha8Rng,
}

impl Net for At<'_> {
    type Address = u32;

    fn poll_event(&mut self) -> Option<Event<u32>> {
        self.world.poll_event(self.address)
    }

    fn receive(&mut self, peer: PeerId) -> Option<Received> {
        self.world.host_mut(self.address).receive(peer)
    }

    fn send(
        &mut self,
        peer: PeerId,
        channel: ChannelId,
        packet: Bytes,
        options: SendOptions,
    ) -> Result<(), SendError> {
        let host = self.world.host_mut(self.address);
        host.send(peer, channel, packet, options)
    }

    fn disconnect(&mut self, peer: PeerId, how: Disconnect) {
        let _ = self.world.disconnect(self.address, peer, how);
    }

    fn listen(&mut self, policy: Listen) {
        let host = self.world.host_mut(self.address);
        host.listen(policy).expect("a server");
    }

    fn peer(&self, peer: PeerId) -> Option<&Peer> {
        self.world.host(self.address).peer(peer)
    }

    fn random(&mut self) -> u32 {
        self.chance.next_u32()
    }
}

/// All ends, by their addresses less one: the server is the first.
pub(crate) struct Game {
    pub(crate) world: World,
    pub(crate) scenes: Vec<Scene>,
    chance: ChaCha8Rng,
    pub(crate) seed: Seed,
}

impl Game {
    /// A server, and no client yet.
    pub(crate) fn new(seed: u64, line: LinkConfig) -> Self {
        Self::configured(seed, line, |config| config)
    }

    /// The same, with a change of the server's configuration.
    pub(crate) fn configured(
        seed: u64,
        line: LinkConfig,
        configure: impl Fn(Config) -> Config,
    ) -> Self {
        let seed = Seed::from_env(Seed::new(seed));
        let mut world = World::new(seed, line);
        let config = with_channels(Config::new(), CHANNELS).expect("a few");
        world.add_host(SERVER, configure(config));
        world
            .host_mut(SERVER)
            .listen(Listen::Open)
            .expect("a server");
        Self {
            world,
            scenes: vec![Scene::new(Multiplayer::server())],
            chance: seed.stream("ids", 0),
            seed,
        }
    }

    /// Adds a client, which begins to connect. Returns its place among the scenes.
    pub(crate) fn join(&mut self) -> usize {
        let place = self.scenes.len();
        let address = u32::try_from(place).expect("a few") + SERVER;
        let config = with_channels(Config::client(), CHANNELS).expect("a few");
        self.world.add_host(address, config);
        let server = self.world.connect(address, SERVER).expect("the first");
        self.scenes.push(Scene::new(Multiplayer::client(server)));
        place
    }

    /// Does something at one end.
    pub(crate) fn at<T>(
        &mut self,
        place: usize,
        act: impl FnOnce(&mut Scene, &mut At<'_>) -> T,
    ) -> T {
        let mut net = At {
            world: &mut self.world,
            address: u32::try_from(place).expect("a few") + SERVER,
            chance: &mut self.chance,
        };
        act(&mut self.scenes[place], &mut net)
    }

    /// A frame of all games.
    pub(crate) fn frame(&mut self) {
        for place in 0..self.scenes.len() {
            self.at(place, |scene, net| scene.poll(net));
        }
        self.world.run_for(FRAME);
    }

    /// Runs until this is true, a minute at most.
    pub(crate) fn until(&mut self, what: &str, is_so: impl Fn(&[Scene]) -> bool) {
        let end = self.world.now() + Duration::from_secs(60);
        while !is_so(&self.scenes) {
            assert!(
                self.world.now() < end,
                "{what}, {}: {:#?}",
                self.seed,
                self.scenes
            );
            self.frame();
        }
    }

    /// Runs for a time.
    pub(crate) fn run_for(&mut self, time: Duration) {
        let end: Instant = self.world.now() + time;
        while self.world.now() < end {
            self.frame();
        }
    }

    /// The id of an end.
    pub(crate) fn id(&self, place: usize) -> i32 {
        self.scenes[place].peer.unique_id()
    }

    /// This many clients, and all of them know each other.
    pub(crate) fn with_clients(seed: u64, line: LinkConfig, count: usize) -> Self {
        let mut game = Self::new(seed, line);
        for _ in 0..count {
            game.join();
        }
        game.until("all know all", |scenes| {
            scenes.iter().all(|scene| scene.connected.len() == count)
        });
        game
    }
}
