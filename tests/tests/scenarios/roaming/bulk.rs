//! Large packets both ways while the client moves, and how soon data flows again.
#![expect(clippy::unwrap_used, reason = "a test")]

use porous_proto::Integrity;
use porous_sim::{LinkConfig, Pair, Seed};
use porous_tests::{Traffic, config, ended, events};

use super::{A, B, ELSEWHERE, MS, ROUTER, SECOND, receive, send, simple};

/// Everything that both hosts send arrives once and in order, although the client moves to these
/// addresses.
fn transfer(seed: u64, loss: f64, places: &[u32], integrity: Integrity) {
    let line = LinkConfig::new().delay(30 * MS).loss(loss).rate(8_000_000);
    let large = |config: porous_proto::Config| {
        let config = config.receive_budget(100_000, 1_000_000).unwrap();
        config.integrity(integrity)
    };
    let server = large(config::new().roaming(true));
    let mut pair = Pair::new(Seed::new(seed), line, large(config::client()), server);
    pair.world.add_nat(Pair::A, ROUTER, 60 * SECOND);
    pair.connect_to_listener();
    pair.world
        .host_mut(B)
        .set_same_host(|a, b| a / 100 == b / 100);
    let ends = [A, B].map(|from| (from, pair.peer(from)));
    let mut traffic = ends.map(|(from, _)| Traffic::new(&pair, from, 50_000, seed));
    let world = &mut pair.world;
    for step in 0..400 {
        if step % 60 == 30 {
            world.rebind(A, places[step / 60 % places.len()]);
        }
        for one in &mut traffic {
            one.send(world);
        }
        world.run_for(50 * MS);
        traffic[0].receive(world, ends[1].1);
        traffic[1].receive(world, ends[0].1);
    }
    for _ in 0..120 {
        world.run_for(SECOND);
        traffic[0].receive(world, ends[1].1);
        traffic[1].receive(world, ends[0].1);
        if traffic.iter().all(|one| one.model.is_complete()) {
            let told = events(world, A);
            assert!(ended(&told).is_empty(), "{told:?}; {}", world.seed());
            return;
        }
    }
    let counts = traffic.map(|one| one.model);
    panic!("{counts:?}; {}", world.seed());
}

#[test]
fn large_packets_arrive_once_and_in_order_while_a_client_moves() {
    for seed in 0..6 {
        let loss = if seed % 2 == 0 { 10.0 } else { 0.0 };
        transfer(
            seed,
            loss,
            &[ROUTER + 1, ROUTER + 2, ROUTER],
            Integrity::Header,
        );
        transfer(seed, loss, &[ELSEWHERE, ROUTER], Integrity::Crc32c);
    }
}

/// Data flows two round trips after the client's first datagram from the new address: that datagram, the
/// challenge, the echo, data. D10.
#[test]
fn data_flows_again_two_round_trips_after_the_clients_next_datagram() {
    for to in [ROUTER + 1, ELSEWHERE] {
        for wait in [0, 10, 100, 500] {
            let (mut world, client, server) = simple(wait);
            world.run_for(SECOND);
            world.rebind(A, to);
            send(&mut world, B, server, [1; 3000]);
            world.run_for(u32::try_from(wait).unwrap_or(0) * MS);
            if !receive(&mut world, A, client).is_empty() {
                continue; // the server heard of the move in the meantime
            }
            send(&mut world, A, client, [1]);
            let start = world.now();
            let mut heard = Vec::new();
            while heard.is_empty() && world.now() < start + 5 * SECOND {
                world.run_for(MS);
                heard = receive(&mut world, A, client);
            }
            let took = world.now().saturating_duration_since(start);
            assert!(took <= 121 * MS, "{to}, {wait} ms later: {took:?}");
        }
    }
}
