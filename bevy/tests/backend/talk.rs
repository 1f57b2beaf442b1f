//! Replication, messages and events.

use core::time::Duration;

use bevy::prelude::*;
use bevy_replicon::prelude::*;
use bevy_replicon::shared::backend::connected_client::{NetworkId, NetworkIdMap};
use bevy_replicon_porous::{PorousChannelsExt, PorousClient, PorousPeer};
use serde::{Deserialize, Serialize};

use crate::game::{Game, LOSS, Number, client_state, drain};

#[derive(Component, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
struct Place(i32);

#[derive(Message, Serialize, Deserialize, Clone, Copy, Debug)]
struct Loose(u32);

#[derive(Message, Serialize, Deserialize, Clone, Copy, Debug)]
struct Lossy(u32);

#[derive(Event, Serialize, Deserialize, Clone, Copy, Debug)]
struct Shot(u32);

/// What an observer has seen.
#[derive(Resource, Default)]
struct Seen(Vec<u32>);

const COUNT: u32 = 200;

#[test]
fn entities_are_spawned_changed_and_despawned_alike() {
    let mut game = Game::connected(LOSS, |app| {
        app.replicate::<Place>();
    });
    let spawn = |n| (Replicated, Place(n));
    let world = game.server.world_mut();
    let all: Vec<Entity> = (0..100).map(|n| world.spawn(spawn(n)).id()).collect();
    for turn in 0..20 {
        for entity in &all {
            let mut place = game.server.world_mut().get_mut::<Place>(*entity);
            place.as_mut().expect("it is there").0 += turn;
        }
        game.server.update();
        game.client.update();
    }
    for entity in &all[50..] {
        game.server.world_mut().despawn(*entity);
    }
    let places = |world: &mut World| {
        let mut all: Vec<i32> = world.query::<&Place>().iter(world).map(|it| it.0).collect();
        all.sort_unstable();
        all
    };
    game.until("both worlds are the same", |server, client| {
        let (here, there) = (places(server), places(client));
        here.len() == 50 && here == there
    });
}

/// The numbers in the order in which they came, and whether each came once.
fn sorted(numbers: &[u32]) -> Vec<u32> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted
}

/// The numbers that came on each kind of channel.
#[derive(Debug, Default)]
struct Heard {
    ordered: Vec<u32>,
    unordered: Vec<u32>,
    unreliable: Vec<u32>,
}

impl Heard {
    fn take_of_server(&mut self, client: &mut World) {
        let numbers = drain::<Number>(client);
        self.ordered.extend(numbers.iter().map(|it| it.0));
        let numbers = drain::<Loose>(client);
        self.unordered.extend(numbers.iter().map(|it| it.0));
        let numbers = drain::<Lossy>(client);
        self.unreliable.extend(numbers.iter().map(|it| it.0));
    }

    fn take_of_client(&mut self, server: &mut World) {
        let numbers = drain::<FromClient<Number>>(server);
        self.ordered.extend(numbers.iter().map(|it| it.message.0));
        let numbers = drain::<FromClient<Loose>>(server);
        self.unordered.extend(numbers.iter().map(|it| it.message.0));
        let numbers = drain::<FromClient<Lossy>>(server);
        self.unreliable
            .extend(numbers.iter().map(|it| it.message.0));
    }

    fn has_all(&self) -> bool {
        let [ordered, unordered] = [&self.ordered, &self.unordered].map(Vec::len);
        ordered.min(unordered) >= COUNT as usize
    }

    /// Of what may get lost some has to come, nothing twice, and nothing else.
    #[track_caller]
    fn check(&self) {
        let all: Vec<u32> = (0..COUNT).collect();
        assert_eq!(self.ordered, all);
        assert_eq!(sorted(&self.unordered), all);
        let unreliable = &self.unreliable;
        let mut came = sorted(unreliable);
        came.dedup();
        assert_eq!(came.len(), unreliable.len(), "twice: {unreliable:?}");
        assert!(unreliable.len() > 20, "{unreliable:?}");
        assert!(came.iter().all(|n| *n < COUNT));
    }
}

#[test]
fn messages_of_the_server_are_as_reliable_as_their_channels() {
    let mut game = Game::connected(LOSS, |app| {
        app.add_server_message::<Number>(Channel::Ordered)
            .add_server_message::<Loose>(Channel::Unordered)
            .add_server_message::<Lossy>(Channel::Unreliable);
    });
    let mut heard = Heard::default();
    let mut next = 0;
    let deadline = (COUNT * 2) as usize;
    let mut frames = 0;
    while !heard.has_all() || frames < deadline {
        if next < COUNT {
            game.tell(Number(next));
            game.tell(Loose(next));
            game.tell(Lossy(next));
            next += 1;
        }
        game.until("a frame is over", |_, client| {
            heard.take_of_server(client);
            true
        });
        frames += 1;
        crate::clock::Deadline::wait_for_frame();
        assert!(frames < 30_000, "{heard:?}");
    }
    heard.check();
}

#[test]
fn messages_of_a_client_are_as_reliable_as_their_channels() {
    let mut game = Game::connected(LOSS, |app| {
        app.add_client_message::<Lossy>(Channel::Unreliable)
            .add_client_message::<Loose>(Channel::Unordered)
            .add_client_message::<Number>(Channel::Ordered)
            // The same numbers of channels, with other kinds in the other direction.
            .add_server_message::<Number>(Channel::Ordered)
            .add_server_message::<Loose>(Channel::Unreliable);
    });
    let mut heard = Heard::default();
    for n in 0..COUNT {
        let world = game.client.world_mut();
        world.write_message(Number(n));
        world.write_message(Loose(n));
        world.write_message(Lossy(n));
        game.until("a frame is over", |server, _| {
            heard.take_of_client(server);
            true
        });
    }
    game.until("all reliable ones are there", |server, _| {
        heard.take_of_client(server);
        heard.has_all()
    });
    heard.check();
}

#[test]
fn events_come_to_observers_of_both_sides() {
    let mut game = Game::connected(LOSS, |app| {
        app.init_resource::<Seen>()
            .add_client_event::<Shot>(Channel::Unordered)
            .add_server_event::<Shot>(Channel::Unordered)
            .add_observer(|shot: On<FromClient<Shot>>, mut seen: ResMut<Seen>| {
                seen.0.push(shot.message.0);
            })
            .add_observer(
                |shot: On<Shot>, state: Res<State<ServerState>>, mut seen: ResMut<Seen>| {
                    // An event to all comes to the server itself, too.
                    if *state.get() == ServerState::Stopped {
                        seen.0.push(shot.0);
                    }
                },
            );
    });
    for n in 0..20 {
        game.client.world_mut().commands().client_trigger(Shot(n));
        let targets = SendTargets::All;
        let message = Shot(100 + n);
        let mut commands = game.server.world_mut().commands();
        commands.server_trigger(ToClients { targets, message });
        game.client.update();
        game.server.update();
    }
    game.until("each has seen all", |server, client| {
        [server, client].map(|world| world.resource::<Seen>().0.len() >= 20) == [true, true]
    });
    let seen = |world: &World| sorted(&world.resource::<Seen>().0);
    assert_eq!(seen(game.server.world()), (0..20).collect::<Vec<_>>());
    assert_eq!(seen(game.client.world()), (100..120).collect::<Vec<_>>());
}

#[test]
fn both_sides_measure_the_network() {
    let mut game = Game::connected(LOSS, |app| {
        app.replicate::<Place>();
    });
    game.server.world_mut().spawn((Replicated, Place(0)));
    game.until("both have lost something", |server, client| {
        let mut places = server.query::<&mut Place>();
        for mut place in places.iter_mut(server) {
            place.0 += 1;
        }
        let mut clients = server.query::<&ConnectedClientStats>();
        let here = **clients.single(server).expect("one client");
        let there = *client.resource::<ClientStats>();
        [here, there].iter().all(|stats| {
            let rates = stats.sent_bps > 0.0 && stats.received_bps > 0.0;
            rates && stats.packet_loss > 1.0 && stats.packet_loss < 70.0 && stats.rtt < 0.2
        })
    });
    let rtt = game.client.world().resource::<ClientStats>().rtt;
    assert!(rtt >= Duration::from_millis(10).as_secs_f64(), "{rtt}");
}

#[test]
fn a_client_is_known_by_its_connection() {
    let mut game = Game::connected(0.0, |_| {});
    let entity = game.client_entity();
    let world = game.server.world();
    let peer = world.get::<PorousPeer>(entity).expect("a peer").0;
    let id = *world.get::<NetworkId>(entity).expect("an id");
    assert_eq!(id.get(), peer.to_u64());
    assert_eq!(world.resource::<NetworkIdMap>().get(&id), Some(&entity));
    let connected = world.get::<ConnectedClient>(entity).expect("a client");
    assert_eq!(connected.max_size, 1152);
}

/// The tick that tells the client is unreliable, so this needs a network that loses nothing.
#[test]
fn a_client_of_another_game_is_told_so() {
    let mut game = Game::new(0.0, |_| {});
    game.client = crate::game::app(|app| {
        app.init_resource::<Seen>()
            .replicate::<Place>()
            .add_observer(|_: On<ProtocolMismatch>, mut seen: ResMut<Seen>| seen.0.push(1));
    });
    let address = game.address();
    let config = crate::game::channels(&game.client).client_config();
    let client = PorousClient::connect(address, config.expect("few channels"));
    game.client.insert_resource(client.expect("a socket"));
    let mut was_connected = false;
    game.until("the client is disconnected", |_, client| {
        let state = client_state(client);
        was_connected |= state == ClientState::Connected;
        was_connected && state == ClientState::Disconnected
    });
    assert_eq!(game.client.world().resource::<Seen>().0, [1]);
}
