//! The game, the same with and without a window: it knows nothing of how its messages travel.

use bevy::prelude::*;
use bevy_replicon::prelude::*;
use serde::{Deserialize, Serialize};

/// Boxes in the world.
pub(crate) const BOXES: i32 = 20;

/// Half of the world's width, in the units of [`Place`].
const EDGE: i32 = 300;

/// Where a box is.
#[derive(Component, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) x: i32,
    pub(crate) y: i32,
}

/// How far a box moves in each tick. Only the server knows.
#[derive(Component)]
struct Speed(i32);

/// A player pushes all boxes to the other side. Each push counts, so it is reliable.
#[derive(Event, Serialize, Deserialize, Clone, Copy, Debug)]
pub(crate) struct Push;

/// Pushes that the server has felt.
#[derive(Resource, Default)]
pub(crate) struct Pushes(pub(crate) u32);

/// Adds the game to the app of a server or a client, which is to have the plugins of replicon already.
pub(crate) fn add(app: &mut App) {
    app.init_resource::<Pushes>()
        .replicate::<Place>()
        .add_client_event::<Push>(Channel::Ordered)
        .add_observer(turn_around)
        .add_systems(OnEnter(ServerState::Running), place_boxes)
        .add_systems(
            FixedUpdate,
            move_boxes.run_if(in_state(ServerState::Running)),
        );
}

fn place_boxes(mut commands: Commands) {
    for n in 0..BOXES {
        let place = Place {
            x: 25 * n - EDGE,
            y: 12 * n - 120,
        };
        commands.spawn((Replicated, place, Speed(n % 3 + 1)));
    }
}

fn move_boxes(mut boxes: Query<(&mut Place, &mut Speed)>) {
    for (mut place, mut speed) in &mut boxes {
        if (place.x + speed.0).abs() > EDGE {
            speed.0 = -speed.0;
        }
        place.x += speed.0;
    }
}

fn turn_around(_: On<FromClient<Push>>, mut pushes: ResMut<Pushes>, mut boxes: Query<&mut Speed>) {
    pushes.0 += 1;
    for mut speed in &mut boxes {
        speed.0 = -speed.0;
    }
}
