//! Reliable packets arrive (§2.4), whatever the network does.
#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

use core::ops::ControlFlow;
use core::time::Duration;

use porous_proto::{ChannelId, Config, Event, Integrity, Mode, Priority, SendError};
use porous_sim::{LinkConfig, Pair, Seed, Service};
use porous_tests::{Traffic, config};

const MS: Duration = Duration::from_millis(1);

fn line() -> LinkConfig {
    LinkConfig::new().delay(30 * MS)
}

/// P9.
#[test]
fn ninety_percent_loss_still_delivers_in_order() {
    for seed in 0..10 {
        let config = config::new().timeout(Duration::from_secs(120)).unwrap();
        let mut pair = Pair::new(Seed::new(seed), line(), config.clone(), config);
        pair.connect_to_listener();
        for host in [Pair::A, Pair::B] {
            pair.world.set_service(host, Service::tick(100 * MS));
        }
        pair.world.network_mut().set_all(line().loss(90.0));
        for n in 0..64_u8 {
            pair.send(Pair::A, 0, Mode::Reliable, vec![n]).unwrap();
        }
        pair.world.run_for(1000 * 100 * MS);
        let got: Vec<u8> = pair
            .receive_all(Pair::B)
            .iter()
            .map(|packet| packet.payload[0])
            .collect();
        assert_eq!(got, (0..64).collect::<Vec<u8>>(), "{}", pair.world.seed());
    }
}

/// Ten minutes both ways over a terrible network; then it heals, every reliable packet arrives within
/// five seconds, and neither host has anything left to send.
fn ten_terrible_minutes(seed: u64, config: &Config) {
    let terrible = line()
        .jitter(20 * MS)
        .loss(20.0)
        .duplicate(25.0)
        .reorder(30.0);
    let mut pair = Pair::new(Seed::new(seed), line(), config.clone(), config.clone());
    pair.connect_to_listener();
    pair.world.network_mut().set_all(terrible);
    let (a, b) = (pair.peer(Pair::A), pair.peer(Pair::B));
    let mut there = Traffic::new(&pair, Pair::A, 5000, 2 * seed + 1);
    let mut back = Traffic::new(&pair, Pair::B, 5000, 3 * seed + 7);
    for round in 0..600 * 20 {
        for _ in 0..=round % 3 {
            there.send(&mut pair.world);
            back.send(&mut pair.world);
        }
        pair.world.run_for(50 * MS);
        there.receive(&mut pair.world, b);
        back.receive(&mut pair.world, a);
    }
    pair.world.network_mut().set_all(line());
    for _ in 0..5 * 20 {
        pair.world.run_for(50 * MS);
        there.receive(&mut pair.world, b);
        back.receive(&mut pair.world, a);
    }
    let context = pair.world.seed();
    for (traffic, host, peer) in [(&there, Pair::A, a), (&back, Pair::B, b)] {
        assert!(traffic.model.is_complete(), "{context}");
        let (sent, delivered) = traffic.model.counts(Mode::Unreliable);
        assert!(
            sent > 7000 && delivered * 10 > sent * 5,
            "{delivered} of {sent}; {context}"
        );
        let (sent, delivered) = traffic.model.counts(Mode::Passive);
        assert!(
            sent > 7000 && delivered * 10 > sent * 8,
            "{delivered} of {sent}; {context}"
        );
        let peer = pair.world.host(host).peer(peer).unwrap();
        assert_eq!(
            (peer.queued_bytes(), peer.stats().flight),
            (0, 0),
            "{context}"
        );
    }
}

fn channels() -> Config {
    let priorities = [Priority::High, Priority::Low, Priority::Low];
    config::new().channels(&priorities).unwrap()
}

#[test]
fn ten_minutes_of_loss_duplicates_and_reordering_break_no_promise() {
    ten_terrible_minutes(1, &channels());
}

#[test]
fn ten_terrible_minutes_with_a_checksum() {
    ten_terrible_minutes(2, &channels().integrity(Integrity::Crc32c));
}

#[test]
fn ten_terrible_minutes_with_the_windows_of_the_paper() {
    let paper = config::paper()
        .channels(&[Priority::High, Priority::Low])
        .unwrap();
    ten_terrible_minutes(3, &paper);
}

#[test]
fn ten_terrible_minutes_with_the_smallest_windows() {
    ten_terrible_minutes(4, &channels().windows(16, 16).unwrap());
}

/// Sends `total` bytes as 16 KiB reliable packets from A to B. Returns bits a second.
fn goodput(seed: u64, link: LinkConfig, total: usize) -> u64 {
    const PACKET: usize = 16 * 1024;
    let config = config::new().send_budget(512 * 1024).unwrap();
    let mut pair = Pair::new(Seed::new(seed), link, config, config::new());
    pair.connect_to_listener();
    let (a, b) = (pair.peer(Pair::A), pair.peer(Pair::B));
    let (start, context) = (pair.world.now(), pair.world.seed());
    let packet = |offset: usize| {
        let mut packet = vec![(offset / PACKET * 7 % 251) as u8; PACKET];
        packet[..8].copy_from_slice(&(offset as u64).to_le_bytes());
        packet
    };
    let (mut sent, mut received, mut writable) = (0, 0, true);
    let done = pair.world.drive(start + Duration::from_secs(600), |world| {
        while let Some(event) = world.poll_event(Pair::A) {
            writable |= event == Event::Writable { peer: a };
        }
        while writable && sent < total {
            let host = world.host_mut(Pair::A);
            match host.send(a, ChannelId(0), packet(sent), Mode::Reliable) {
                Ok(()) => sent += PACKET,
                Err(SendError::Full) => writable = false,
                Err(error) => panic!("{error}; {context}"),
            }
        }
        while let Some(got) = world.host_mut(Pair::B).receive(b) {
            assert_eq!(got.payload, packet(received), "{context}");
            received += PACKET;
        }
        if received == total {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert_eq!(done, Some(()), "{received} of {total}; {context}");
    let took = pair.world.now().saturating_duration_since(start);
    let millis = u64::try_from(took.as_millis()).unwrap();
    total as u64 * 8 * 1000 / millis
}

#[test]
fn sixteen_mebibytes_pass_a_bottleneck_at_its_pace() {
    for seed in 5..8 {
        let rate = goodput(seed, line().rate(5_000_000), 16 << 20);
        let seed = Seed::new(seed);
        assert!(rate > 4_000_000, "only {rate} of 5,000,000 bit/s; {seed}");
    }
}

#[test]
fn a_mebibyte_passes_a_lossy_bottleneck() {
    for seed in 10..20 {
        let rate = goodput(seed, line().rate(5_000_000).loss(1.0), 1 << 20);
        let seed = Seed::new(seed);
        // Reno would reach 1.9 Mbit/s at 1 % loss and 60 ms.
        assert!(rate > 1_000_000, "only {rate} of 5,000,000 bit/s; {seed}");
    }
}
