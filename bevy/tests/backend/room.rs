//! What happens when more is sent than a connection carries.

use bevy::prelude::*;
use bevy_replicon::prelude::*;
use bevy_replicon_porous::{
    PorousClientDisconnected, PorousServerDisconnected, PorousUnsent, reason,
};
use porous_std::DisconnectReason;
use serde::{Deserialize, Serialize};

use crate::game::{Game, client_state, drain};

/// The bytes that may wait for one client.
const BUDGET: u32 = 256 * 1024;

#[derive(Message, Serialize, Deserialize, Clone, Debug)]
struct Large(Vec<u8>);

fn game(channel: Channel) -> Game {
    let register = |app: &mut App| {
        app.add_server_message::<Large>(channel)
            .add_client_message::<Large>(channel);
    };
    let mut game = Game::configured(0.0, register, |config| {
        let config = config.send_budget(BUDGET).expect("enough");
        config.max_packet(64 * 1024).expect("less than the budget")
    });
    game.connect(0.0);
    game
}

/// Twice as much as there is room for, in one frame.
fn flood(game: &mut Game) {
    for _ in 0..BUDGET / 16_384 * 2 {
        game.tell(Large(vec![7; 16_384]));
    }
    game.server.update();
}

fn unsent(app: &App) -> PorousUnsent {
    *app.world().resource::<PorousUnsent>()
}

#[test]
fn a_client_that_is_too_slow_for_reliable_messages_is_disconnected() {
    let mut game = game(Channel::Ordered);
    flood(&mut game);
    let world = game.server.world_mut();
    assert_eq!(world.query::<&ConnectedClient>().iter(world).len(), 0);
    assert_eq!(
        (unsent(&game.server).ended, unsent(&game.server).dropped),
        (1, 0)
    );
    game.until("the client knows", |_, client| {
        client_state(client) == ClientState::Disconnected
    });
    let ends = drain::<PorousServerDisconnected>(game.client.world_mut());
    let too_slow = DisconnectReason::ByPeer(reason::TOO_SLOW);
    assert_eq!(ends, [PorousServerDisconnected { reason: too_slow }]);
}

#[test]
fn unreliable_messages_without_room_are_dropped_and_counted() {
    let mut game = game(Channel::Unreliable);
    flood(&mut game);
    assert!(unsent(&game.server).dropped > 0);
    assert_eq!(unsent(&game.server).ended, 0);
    let mut came = 0;
    game.until("some have come", |_, client| {
        came += drain::<Large>(client).len();
        came > 0
    });
    assert_eq!(client_state(game.client.world()), ClientState::Connected);
}

#[test]
fn a_reliable_message_that_is_too_large_ends_the_connection() {
    let mut game = game(Channel::Unordered);
    game.tell(Large(vec![7; 65 * 1024]));
    game.until("the client knows", |_, client| {
        client_state(client) == ClientState::Disconnected
    });
    let ends = drain::<PorousServerDisconnected>(game.client.world_mut());
    let unsendable = DisconnectReason::ByPeer(reason::UNSENDABLE);
    assert_eq!(ends, [PorousServerDisconnected { reason: unsendable }]);
}

#[test]
fn a_client_with_a_message_that_is_too_large_leaves() {
    let mut game = game(Channel::Ordered);
    let world = game.client.world_mut();
    world.write_message(Large(vec![7; 65 * 1024]));
    let mut ends = Vec::new();
    game.until("both know", |server, client| {
        ends.extend(drain::<PorousClientDisconnected>(server));
        let clients = server.query::<&ConnectedClient>().iter(server).len();
        clients == 0 && client_state(client) == ClientState::Disconnected
    });
    assert_eq!(unsent(&game.client).ended, 1);
    assert_eq!(ends[0].reason, DisconnectReason::ByPeer(reason::UNSENDABLE));
}
