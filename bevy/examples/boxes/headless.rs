//! A server and a player in one process, over real sockets and a network that loses a tenth of all datagrams. The
//! boxes move for two seconds, and have to be at the same places on both sides in the end.

use core::error::Error;
use core::time::Duration;
use std::io::Write;

use bevy::prelude::*;
use bevy::state::app::StatesPlugin;
use bevy::time::TimeUpdateStrategy;
use bevy_replicon::prelude::*;
use bevy_replicon_porous::{PorousChannelsExt, PorousClient, PorousServer, RepliconPorousPlugins};
use porous_std::LinkConditioner;
use porous_std::sim::{LinkConfig, Seed};

use crate::game::{self, BOXES, Place, Push, Pushes};

/// How long a frame is, for the game and for the program.
const FRAME: Duration = Duration::from_millis(16);

/// Frames in which the boxes move, and in which the player may push.
const FRAMES: u32 = 120;

/// Frames after which the program gives up: a minute.
const MOST_FRAMES: u32 = 3600;

const PUSHES: u32 = 5;

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        StatesPlugin,
        RepliconPlugins,
        RepliconPorousPlugins,
    ))
    .insert_resource(TimeUpdateStrategy::ManualDuration(FRAME));
    game::add(&mut app);
    app.finish();
    app
}

fn network(seed: u64) -> LinkConditioner {
    let line = LinkConfig::new()
        .delay(Duration::from_millis(20))
        .loss(10.0);
    LinkConditioner::new(line, Seed::new(seed))
}

/// Where the boxes are, in the order of their places.
fn places(app: &mut App) -> Vec<Place> {
    let world = app.world_mut();
    let mut all: Vec<Place> = world.query::<&Place>().iter(world).copied().collect();
    all.sort_unstable();
    all
}

pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let (mut server, mut client) = (app(), app());
    let channels = server.world().resource::<RepliconChannels>();
    let host = PorousServer::bind("127.0.0.1:0", channels.server_config()?)?;
    let address = host.host().local_addr()?;
    server.insert_resource(host.with_conditioner(network(1)));
    let channels = client.world().resource::<RepliconChannels>();
    let host = PorousClient::connect(address, channels.client_config()?)?;
    client.insert_resource(host.with_conditioner(network(2)));

    let (mut played, mut pushed) = (0, 0);
    for _ in 0..MOST_FRAMES {
        server.update();
        client.update();
        std::thread::park_timeout(FRAME);
        let state = *client.world().resource::<State<ClientState>>().get();
        if state != ClientState::Connected {
            continue;
        }
        played += 1;
        if played % (FRAMES / PUSHES) == 0 && pushed < PUSHES {
            pushed += 1;
            client.world_mut().commands().client_trigger(Push);
        }
        let felt = server.world().resource::<Pushes>().0;
        if played < FRAMES || felt < PUSHES {
            continue;
        }
        // From here on the boxes stand still, and what is under way arrives.
        let stopped = TimeUpdateStrategy::ManualDuration(Duration::ZERO);
        server.insert_resource(stopped);
        let mut ticks = server
            .world_mut()
            .resource_mut::<bevy_replicon::server::server_tick::ServerTick>();
        ticks.increment();
        let (here, there) = (places(&mut server), places(&mut client));
        if usize::try_from(BOXES) == Ok(here.len()) && here == there {
            let stats = client.world().resource::<ClientStats>();
            let rtt = stats.rtt * 1000.0;
            writeln!(
                std::io::stdout(),
                "{BOXES} boxes are the same on both sides; {felt} of {pushed} pushes; {rtt:.0} ms"
            )?;
            return Ok(());
        }
    }
    Err("the two sides have not become the same".into())
}
