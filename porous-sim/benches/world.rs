//! Datagrams that the simulation carries in a second of real time. `cargo bench -p porous-sim`
//!
//! A datagram is made by a host, carried, and read by a host: the measure includes the protocol's work.

use core::time::Duration;

use divan::Bencher;
use divan::counter::ItemsCount;
use porous_proto::{ChannelId, Config, Event, Listen, Mode, PeerId};
use porous_sim::{LinkConfig, Network, Preset, Seed, World};

const SERVER: u32 = 0;
const CLIENTS: u32 = 16;

fn main() {
    divan::main();
}

/// A server and its clients, connected, on networks of this kind.
fn world(preset: Preset) -> World {
    let [up, down] = preset.links();
    let mut world = World::new(Seed::new(1), up);
    world.add_host(SERVER, Config::new());
    world
        .host_mut(SERVER)
        .listen(Listen::Open)
        .expect("it is a server");
    for client in 1..=CLIENTS {
        world.network_mut().set_link(SERVER, client, down);
        world.add_host(client, Config::client());
        world.connect(client, SERVER).expect("it is new");
    }
    world.run_for(Duration::from_secs(5));
    world
}

fn serve(world: &mut World, address: u32) {
    while let Some(event) = world.poll_event(address) {
        if let Event::Readable { peer } = event {
            while world.host_mut(address).receive(peer).is_some() {}
        }
    }
}

/// A second of a game: each client and the server send 60 packets, of which each tenth is reliable.
fn second(world: &mut World) {
    for tick in 0..60_u32 {
        let mode = if tick % 10 == 0 {
            Mode::Reliable
        } else {
            Mode::Unreliable
        };
        for address in 0..=CLIENTS {
            let peers: Vec<PeerId> = world.host(address).peers().map(|(id, _)| id).collect();
            for peer in peers {
                let sent = world
                    .host_mut(address)
                    .send(peer, ChannelId(0), vec![7; 100], mode);
                // On a slow network the send buffer fills, and `send` refuses.
                let _ = sent;
            }
        }
        world.run_for(Duration::from_micros(16_667));
        for address in 0..=CLIENTS {
            serve(world, address);
        }
    }
}

/// Datagrams of a game with 16 players, hosts and all.
#[divan::bench(args = [Preset::Lan, Preset::HomeWifi, Preset::Terrible], sample_count = 10)]
fn game(bencher: Bencher<'_, '_>, preset: Preset) {
    let mut world = world(preset);
    let before = world.network().stats().sent;
    second(&mut world);
    let datagrams = world.network().stats().sent - before;
    bencher
        .counter(ItemsCount::new(datagrams))
        .bench_local(|| second(&mut world));
}

/// Datagrams on a bare network, without hosts.
#[divan::bench(args = [Preset::Lan, Preset::Terrible], sample_count = 10)]
fn network(bencher: Bencher<'_, '_>, preset: Preset) {
    const COUNT: u32 = 10_000;
    let [up, _] = preset.links();
    let mut network: Network<u32> = Network::new(Seed::new(1), LinkConfig::new());
    network.set_all(up);
    let mut now = porous_proto::Instant::ZERO;
    bencher.counter(ItemsCount::new(COUNT)).bench_local(|| {
        for number in 0..COUNT {
            now = now + Duration::from_micros(100);
            network.send(now, number % 8, 8 + number % 8, [0; 100]);
            while network.receive(now).is_some() {}
        }
    });
}
