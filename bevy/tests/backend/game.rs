//! A server and a client in one process, on real sockets, with a bad network between them.

use core::net::SocketAddr;
use core::time::Duration;

use bevy::prelude::*;
use bevy::state::app::StatesPlugin;
use bevy_replicon::prelude::*;
use bevy_replicon_porous::{PorousChannelsExt, PorousClient, PorousServer, RepliconPorousPlugins};
use porous_std::sim::{LinkConfig, Seed};
use porous_std::{Config, LinkConditioner};
use serde::{Deserialize, Serialize};

use crate::clock::Deadline;

/// Percent of all datagrams that get lost in a bad network, each way.
pub(crate) const LOSS: f64 = 20.0;

/// A message with a number.
#[derive(Message, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) u32);

/// An app with replicon, this backend, and what `register` adds.
pub(crate) fn app(register: impl FnOnce(&mut App)) -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        StatesPlugin,
        RepliconPlugins.set(ServerPlugin::new(PostUpdate)),
        RepliconPorousPlugins,
    ));
    register(&mut app);
    app.finish();
    app
}

/// A network that loses this many percent, with 5 ms each way. What it loses follows from the seed and from when the
/// system runs the test.
pub(crate) fn network(loss: f64, seed: u64) -> LinkConditioner {
    let line = LinkConfig::new().delay(Duration::from_millis(5)).loss(loss);
    LinkConditioner::new(line, Seed::new(seed))
}

/// The two sides.
pub(crate) struct Game {
    pub(crate) server: App,
    pub(crate) client: App,
}

impl Game {
    /// Two apps with the same messages, of which the server runs.
    pub(crate) fn new(loss: f64, register: impl Fn(&mut App)) -> Self {
        Self::configured(loss, register, |config| config)
    }

    /// The same, with a change of the server's configuration.
    pub(crate) fn configured(
        loss: f64,
        register: impl Fn(&mut App),
        configure: impl Fn(Config) -> Config,
    ) -> Self {
        let (mut server, client) = (app(&register), app(&register));
        let config = channels(&server).server_config().expect("few channels");
        let host = PorousServer::bind("127.0.0.1:0", configure(config)).expect("a socket");
        server.insert_resource(host.with_conditioner(network(loss, 1)));
        Self { server, client }
    }

    /// The same, and the client has come.
    pub(crate) fn connected(loss: f64, register: impl Fn(&mut App)) -> Self {
        let mut game = Self::new(loss, register);
        game.connect(loss);
        game
    }

    /// Where the server is.
    pub(crate) fn address(&self) -> SocketAddr {
        let server = self.server.world().resource::<PorousServer>();
        server.host().local_addr().expect("a socket")
    }

    /// Lets the client connect, and waits until replicon serves it.
    pub(crate) fn connect(&mut self, loss: f64) {
        let config = channels(&self.client)
            .client_config()
            .expect("few channels");
        let client = PorousClient::connect(self.address(), config).expect("a socket");
        self.client
            .insert_resource(client.with_conditioner(network(loss, 2)));
        self.until("the client is served", |server, client| {
            let mut served = server.query::<(&ConnectedClient, &AuthorizedClient)>();
            served.iter(server).len() == 1 && client_state(client) == ClientState::Connected
        });
    }

    /// Runs both sides until this is true of their worlds.
    pub(crate) fn until(
        &mut self,
        what: &str,
        mut is_so: impl FnMut(&mut World, &mut World) -> bool,
    ) {
        let deadline = Deadline::new();
        loop {
            self.server.update();
            self.client.update();
            if is_so(self.server.world_mut(), self.client.world_mut()) {
                return;
            }
            assert!(!deadline.is_over(), "not in time: {what}");
            Deadline::wait_for_frame();
        }
    }

    /// Sends this number to the client.
    pub(crate) fn tell(&mut self, message: impl Message) {
        let targets = SendTargets::All;
        self.server
            .world_mut()
            .write_message(ToClients { targets, message });
    }

    /// The entity of the client.
    pub(crate) fn client_entity(&mut self) -> Entity {
        let world = self.server.world_mut();
        let mut clients = world.query_filtered::<Entity, With<ConnectedClient>>();
        clients.single(world).expect("one client")
    }
}

pub(crate) fn channels(app: &App) -> &RepliconChannels {
    app.world().resource::<RepliconChannels>()
}

pub(crate) fn client_state(world: &World) -> ClientState {
    *world.resource::<State<ClientState>>().get()
}

pub(crate) fn server_state(world: &World) -> ServerState {
    *world.resource::<State<ServerState>>().get()
}

/// All messages of this kind that came since the last call.
pub(crate) fn drain<M: Message>(world: &mut World) -> Vec<M> {
    world.resource_mut::<Messages<M>>().drain().collect()
}
