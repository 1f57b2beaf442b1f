//! Places of one source: addresses whose first digits agree belong to one owner.

use core::time::Duration;

use porous_proto::{Config, Disconnect, DisconnectReason, Listen, PeerId, Refusal};
use porous_sim::World;
use porous_tests::{config, connected, ended, events, line, seed};

const SERVER: u32 = 1;
/// The addresses of one attacker, and an address of another owner.
const OWNED: core::ops::Range<u32> = 1000..1100;
const OTHER: u32 = 2000;
const SECOND: Duration = Duration::from_secs(1);

fn server(config: Config) -> World {
    let mut world = World::new(seed(), line());
    world.add_host(SERVER, config);
    let host = world.host_mut(SERVER);
    host.set_source_of(|from| match from / 100 {
        10 => [7; 16],
        20 => [8; 16],
        _ => [0; 16],
    });
    assert_eq!(host.listen(Listen::Open), Ok(()));
    world
}

/// Each of these clients connects. Returns those that were let in.
fn connect(world: &mut World, clients: impl IntoIterator<Item = u32>) -> Vec<(u32, PeerId)> {
    let begin = |client| {
        world.add_host(client, config::client());
        let peer = world.connect(client, SERVER);
        (client, peer.unwrap_or_else(|error| panic!("{error}")))
    };
    let attempts: Vec<_> = clients.into_iter().map(begin).collect();
    world.run_for(2 * SECOND);
    let mut inside = Vec::new();
    for (client, peer) in attempts {
        let told = events(world, client);
        if connected(&told) == [peer] {
            inside.push((client, peer));
        } else {
            let full = DisconnectReason::Refused(Refusal::Full);
            assert_eq!(ended(&told), [(peer, full, 0)], "{}", world.seed());
        }
    }
    inside
}

#[test]
fn one_source_gets_a_quarter_of_all_places_and_leaves_the_others() {
    for (settings, most) in [
        (config::new().max_peers(80), 20),
        (config::new().max_peers(40), 16),
        (config::new().max_peers(10), 10),
        (config::new().max_peers(80).max_peers_per_source(3), 3),
        (config::new().max_peers(80).max_peers_per_source(1000), 80),
    ] {
        let places = settings.clone();
        let mut world = server(settings);
        let inside = connect(&mut world, OWNED);
        assert_eq!(inside.len(), most, "{places:?}");
        let stats = world.host(SERVER).stats();
        assert_eq!(stats.source_full > 0, most < 80 && most != 10, "{places:?}");
        let others = connect(&mut world, OTHER..OTHER + 2);
        assert_eq!(others.len(), if most < 80 && most != 10 { 2 } else { 0 });
    }
}

#[test]
fn a_peer_that_leaves_makes_room_for_its_own_source() {
    let mut world = server(config::new().max_peers(80).max_peers_per_source(3));
    let inside = connect(&mut world, 1000..1003);
    assert_eq!(connect(&mut world, 1003..1004), []);
    for (client, peer) in inside {
        let left = world.disconnect(client, peer, Disconnect::Now { reason: 0 });
        assert_eq!(left, Ok(()));
        world.run_for(SECOND);
        let next = client + 10;
        assert_eq!(connect(&mut world, [next]).len(), 1);
        assert_eq!(connect(&mut world, [next + 20]), []);
    }
}

/// Addresses whose source is unknown are not limited.
#[test]
fn a_source_of_zeros_is_not_limited() {
    let mut world = server(config::new().max_peers(80).max_peers_per_source(3));
    assert_eq!(connect(&mut world, 3000..3080).len(), 80);
    assert_eq!(world.host(SERVER).stats().source_full, 0);
}
