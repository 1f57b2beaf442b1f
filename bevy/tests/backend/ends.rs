//! How connections begin and end.

use core::time::Duration;

use bevy::prelude::*;
use bevy_replicon::prelude::*;
use bevy_replicon_porous::{
    PorousChannelsExt, PorousClient, PorousClientDisconnected, PorousPeer, PorousRequest,
    PorousServer, PorousServerDisconnected, reason,
};
use porous_std::{DisconnectReason, Listen, Refusal, UdpHost};

use crate::clock::Deadline;
use crate::game::{Game, LOSS, Number, channels, client_state, drain, server_state};

fn clients(world: &mut World) -> usize {
    world.query::<&ConnectedClient>().iter(world).len()
}

/// Why the client has ended.
fn end(world: &mut World) -> DisconnectReason {
    let ends = drain::<PorousServerDisconnected>(world);
    assert_eq!(ends.len(), 1, "{ends:?}");
    ends[0].reason
}

#[test]
fn a_client_connects_and_leaves() {
    let mut game = Game::connected(LOSS, |_| {});
    assert_eq!(server_state(game.server.world()), ServerState::Running);
    let client = game.client.world().resource::<PorousClient>();
    assert!(client.is_connected());

    let mut client = game.client.world_mut().resource_mut::<PorousClient>();
    client.disconnect();
    let (mut here, mut there) = (Vec::new(), Vec::new());
    game.until("both know", |server, client| {
        here.extend(drain::<PorousClientDisconnected>(server));
        there.extend(drain::<PorousServerDisconnected>(client));
        clients(server) == 0 && client_state(client) == ClientState::Disconnected
    });
    assert_eq!((here.len(), there.len()), (1, 1));
    let requested = reason::REQUESTED;
    assert_eq!(here[0].reason, DisconnectReason::ByPeer(requested));
    assert_eq!(there[0].reason, DisconnectReason::ByUs(requested));
}

/// A client that is only removed tells the server once, so this needs a network that loses nothing.
#[test]
fn a_client_that_is_removed_leaves() {
    let mut game = Game::connected(0.0, |_| {});
    game.client.world_mut().remove_resource::<PorousClient>();
    game.until("both know", |server, client| {
        clients(server) == 0 && client_state(client) == ClientState::Disconnected
    });
}

#[test]
fn a_client_that_connects_again_is_another_one() {
    let mut game = Game::connected(LOSS, |_| {});
    let before = game.client_entity();
    // The old connection is replaced, and the server has not heard of its end yet.
    let config = channels(&game.client).client_config().expect("few");
    let client = PorousClient::connect(game.address(), config).expect("a socket");
    game.client.insert_resource(client);
    game.until("the new one is served", |server, client| {
        let mut served = server.query_filtered::<Entity, With<AuthorizedClient>>();
        let is_new = served.iter(server).any(|entity| entity != before);
        is_new && client_state(client) == ClientState::Connected
    });
}

#[test]
fn a_request_to_disconnect_comes_after_the_last_message_and_the_last_replication() {
    let mut game = Game::connected(LOSS, |app| {
        app.add_server_message::<Number>(Channel::Ordered);
    });
    game.server.world_mut().spawn(Replicated);
    // Dozens of datagrams, of which some get lost.
    for n in 0..5000 {
        game.tell(Number(n));
    }
    let client = game.client_entity();
    game.server
        .world_mut()
        .write_message(DisconnectRequest { client });
    game.server.update();
    assert_eq!(clients(game.server.world_mut()), 0, "it is gone at once");

    let mut got = Vec::new();
    game.until("the client knows", |_, client| {
        got.extend(drain::<Number>(client));
        client_state(client) == ClientState::Disconnected
    });
    assert_eq!(got, (0..5000).map(Number).collect::<Vec<_>>());
    let world = game.client.world_mut();
    assert_eq!(world.query::<&Remote>().iter(world).len(), 1);
    assert_eq!(end(world), DisconnectReason::ByPeer(reason::REQUESTED));
}

#[test]
fn a_client_whose_entity_is_despawned_is_disconnected() {
    let mut game = Game::connected(LOSS, |_| {});
    let client = game.client_entity();
    game.server.world_mut().despawn(client);
    game.until("the client knows", |_, client| {
        client_state(client) == ClientState::Disconnected
    });
    // The server has ended it, and needs no message for that.
    let ends = drain::<PorousClientDisconnected>(game.server.world_mut());
    assert_eq!(ends, []);
}

#[test]
fn the_last_message_of_a_client_comes_before_its_end() {
    let mut game = Game::connected(LOSS, |app| {
        app.add_client_message::<Number>(Channel::Ordered);
    });
    let entity = game.client_entity();
    game.client.world_mut().write_message(Number(7));
    game.client.update();
    let mut client = game.client.world_mut().resource_mut::<PorousClient>();
    client.disconnect();
    // The app of the server sees nothing of this: a frame that takes long, after which both are there at once.
    let deadline = Deadline::new();
    while client_state(game.client.world()) != ClientState::Disconnected {
        game.client.update();
        let mut server = game.server.world_mut().resource_mut::<PorousServer>();
        server.host_mut().step().expect("a socket");
        assert!(!deadline.is_over(), "not in time");
        Deadline::wait_for_frame();
    }
    game.server.update();
    let world = game.server.world_mut();
    assert_eq!(drain::<PorousClientDisconnected>(world).len(), 1);
    let said = drain::<FromClient<Number>>(world);
    let got: Vec<_> = said.iter().map(|it| (it.client_id, it.message)).collect();
    // The game may look the client up that has said it.
    assert!(world.get::<PorousPeer>(entity).is_some());
    assert_eq!(got, [(ClientId::Client(entity), Number(7))]);
    game.server.update();
    assert_eq!(clients(game.server.world_mut()), 0);
}

#[test]
fn a_server_that_stops_delivers_what_it_has_sent() {
    let mut game = Game::connected(LOSS, |app| {
        app.add_server_message::<Number>(Channel::Ordered);
    });
    for n in 0..50 {
        game.tell(Number(n));
    }
    game.server.update();
    let mut server = game.server.world_mut().resource_mut::<PorousServer>();
    server.stop(Duration::from_secs(10));
    let (mut got, mut ends) = (Vec::new(), Vec::new());
    game.until("both have stopped", |server, client| {
        got.extend(drain::<Number>(client));
        ends.extend(drain::<PorousServerDisconnected>(client));
        let is_gone = server.get_resource::<PorousServer>().is_none();
        is_gone && client_state(client) == ClientState::Disconnected
    });
    assert_eq!(got.len(), 50);
    let stopped = DisconnectReason::ByPeer(reason::STOPPED);
    assert_eq!(ends, [PorousServerDisconnected { reason: stopped }]);
    game.server.update();
    assert_eq!(server_state(game.server.world()), ServerState::Stopped);
    assert_eq!(clients(game.server.world_mut()), 0);
}

/// Each client is told once, so this needs a network that loses nothing.
#[test]
fn a_server_that_is_removed_stops_and_sends_nothing_more() {
    let mut game = Game::connected(0.0, |app| {
        app.add_server_message::<Number>(Channel::Ordered);
    });
    game.server.world_mut().remove_resource::<PorousServer>();
    game.server.world_mut().spawn(Replicated);
    game.tell(Number(1));
    game.until("the client knows", |_, client| {
        client_state(client) == ClientState::Disconnected
    });
    assert_eq!(server_state(game.server.world()), ServerState::Stopped);
    assert_eq!(clients(game.server.world_mut()), 0);
    let world = game.client.world_mut();
    assert_eq!(drain::<Number>(world), []);
    assert_eq!(world.query::<&Remote>().iter(world).len(), 0);
}

#[test]
fn a_server_that_is_replaced_has_no_clients_of_the_old_one() {
    let mut game = Game::connected(0.0, |_| {});
    let before = game.client_entity();
    let config = channels(&game.server).server_config().expect("few");
    let server = PorousServer::bind("127.0.0.1:0", config).expect("a socket");
    game.server.insert_resource(server);
    game.server.update();
    assert!(game.server.world().get_entity(before).is_err());
    game.until("the client knows", |_, client| {
        client_state(client) == ClientState::Disconnected
    });
    game.connect(0.0);
    assert_ne!(game.client_entity(), before);
}

#[test]
fn a_server_that_asks_may_refuse() {
    let mut game = Game::new(0.0, |_| {});
    let config = channels(&game.server).server_config().expect("few");
    let mut host = UdpHost::bind("127.0.0.1:0", config).expect("a socket");
    host.listen(Listen::Ask).expect("a server");
    game.server.insert_resource(PorousServer::new(host));
    let config = channels(&game.client).client_config().expect("few");
    let client = PorousClient::connect(game.address(), config).expect("a socket");
    game.client.insert_resource(client);

    let mut asked = false;
    game.until("the client has its answer", |server, client| {
        for request in drain::<PorousRequest>(server) {
            let mut server = server.resource_mut::<PorousServer>();
            let refused = server.host_mut().refuse(request.peer, b"no room");
            refused.expect("it waits for an answer");
            asked = true;
        }
        asked && client.get_resource::<PorousClient>().is_none()
    });
    let reason = end(game.client.world_mut());
    assert!(
        matches!(
            reason,
            DisconnectReason::Refused(Refusal::Application { .. })
        ),
        "{reason}"
    );
}

#[test]
fn an_attempt_that_nobody_answers_ends() {
    let mut game = Game::new(0.0, |_| {});
    let mut server = game.server.world_mut().resource_mut::<PorousServer>();
    server.host_mut().listen(Listen::Closed).expect("a server");
    let config = channels(&game.client).client_config().expect("few");
    let config = config.connect_timeout(Duration::from_secs(1));
    let client = PorousClient::connect(game.address(), config.expect("long enough"));
    game.client.insert_resource(client.expect("a socket"));
    game.client.update();
    assert_eq!(client_state(game.client.world()), ClientState::Connecting);
    game.until("the client gives up", |_, client| {
        client_state(client) == ClientState::Disconnected
    });
    assert_eq!(
        end(game.client.world_mut()),
        DisconnectReason::NeverAnswered
    );
}

/// Times that the client was connected.
#[derive(Resource, Default)]
struct Entered(u32);

#[test]
fn a_connection_that_ends_in_the_frame_that_saw_it_begin_was_there() {
    let mut game = Game::new(0.0, |app| {
        app.init_resource::<Entered>().add_systems(
            OnEnter(ClientState::Connected),
            |mut it: ResMut<Entered>| it.0 += 1,
        );
    });
    let config = channels(&game.client).client_config().expect("few");
    let client = PorousClient::connect(game.address(), config).expect("a socket");
    game.client.insert_resource(client);
    let deadline = Deadline::new();
    // The app of the client sees nothing of this: a frame that takes long.
    let is_over = |client: &mut App, server: &mut App| {
        let mut client = client.world_mut().resource_mut::<PorousClient>();
        client.host_mut().step().expect("a socket");
        server.update();
        let world = server.world_mut();
        let mut clients = world.query_filtered::<Entity, With<PorousPeer>>();
        if let Ok(client) = clients.single(world) {
            world.despawn(client);
        }
        let server = world.resource::<PorousServer>().host();
        server.stats().connected == 1 && server.is_empty()
    };
    while !is_over(&mut game.client, &mut game.server) {
        assert!(!deadline.is_over(), "not in time");
        Deadline::wait_for_frame();
    }
    let mut ends = Vec::new();
    for _ in 0..3 {
        game.client.update();
        ends.extend(drain::<PorousServerDisconnected>(game.client.world_mut()));
    }
    let requested = DisconnectReason::ByPeer(reason::REQUESTED);
    assert_eq!(ends, [PorousServerDisconnected { reason: requested }]);
    assert_eq!(game.client.world().resource::<Entered>().0, 1);
    assert_eq!(client_state(game.client.world()), ClientState::Disconnected);
}
