//! The game with a window. The space bar pushes.

use core::error::Error;
use core::net::SocketAddr;

use bevy::prelude::*;
use bevy_replicon::prelude::*;
use bevy_replicon_porous::{PorousChannelsExt, PorousClient, PorousServer, RepliconPorousPlugins};

use crate::game::{self, Place, Push};

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((DefaultPlugins, RepliconPlugins, RepliconPorousPlugins))
        .add_systems(Startup, |mut commands: Commands| {
            commands.spawn(Camera2d);
        })
        .add_systems(Update, (draw, push))
        .add_observer(dress);
    game::add(&mut app);
    app
}

/// Serves at this address, and shows the world.
pub(crate) fn run_server(address: &str) -> Result<(), Box<dyn Error>> {
    let mut app = app();
    let config = app.world().resource::<RepliconChannels>().server_config()?;
    app.insert_resource(PorousServer::bind(address, config)?);
    app.run();
    Ok(())
}

/// Plays at the server with this address.
pub(crate) fn run_client(server: SocketAddr) -> Result<(), Box<dyn Error>> {
    let mut app = app();
    let config = app.world().resource::<RepliconChannels>().client_config()?;
    app.insert_resource(PorousClient::connect(server, config)?);
    app.run();
    Ok(())
}

/// Gives a box that has come a color.
fn dress(added: On<Add, Place>, mut commands: Commands) {
    let sprite = Sprite::from_color(Color::srgb(0.9, 0.5, 0.2), Vec2::splat(20.0));
    commands
        .entity(added.entity)
        .insert((sprite, Transform::default()));
}

#[expect(clippy::cast_precision_loss, reason = "places are small")]
fn draw(mut boxes: Query<(&Place, &mut Transform), Changed<Place>>) {
    for (place, mut transform) in &mut boxes {
        transform.translation = Vec3::new(place.x as f32, place.y as f32, 0.0);
    }
}

fn push(mut commands: Commands, keys: Res<ButtonInput<KeyCode>>) {
    if keys.just_pressed(KeyCode::Space) {
        commands.client_trigger(Push);
    }
}
