//! Hosts that do not seal.

use core::time::Duration;

use porous_proto::{
    ChannelId, Config, ConnectionIds, Disconnect, Integrity, Listen, Mode, Policy, Priority,
};
use porous_trace::{Keep, Record, Trace};

use crate::world::{World, address, replayed};

/// A server and clients that are connected.
fn connected(seed: u64, config: Config, clients: usize, keep: Keep) -> World {
    let mut configs = vec![config.clone()];
    configs.extend(vec![config; clients]);
    let mut world = World::new(seed, &configs, keep);
    world.stations[0].host.listen(Listen::Open).unwrap();
    for station in &mut world.stations[1..] {
        let host = &mut station.host;
        host.connect_with(world.now, &[address(1)], b"hi").unwrap();
    }
    for _ in 0..1000 {
        world.turn();
        if world.stations[0].peers.len() == clients {
            return world;
        }
    }
    panic!("not connected: seed {seed}");
}

fn both() -> [Keep; 2] {
    [Keep::nothing(), Keep::nothing().payloads()]
}

#[test]
fn several_peers_that_talk_and_part_are_replayed_byte_for_byte() {
    for keep in both() {
        for seed in 0..4 {
            let config = Config::new().channels(&[Priority::High, Priority::Low]);
            let mut world = connected(seed, config.unwrap(), 3, keep);
            world.talk(200);
            let server = &mut world.stations[0];
            let peer = server.peers[0];
            let how = Disconnect::Flush {
                reason: 3,
                deadline: Duration::from_secs(1),
            };
            server.host.disconnect(world.now, peer, how).unwrap();
            world.talk(50);
            let server = &mut world.stations[0].host;
            server.drain(world.now, 9, Duration::from_secs(2));
            world.turns(600);
            assert!(world.stations[0].host.is_empty(), "seed {seed}");
            let received: u64 = world.stations.iter().map(|station| station.received).sum();
            assert!(received > 500, "{received}");
            for replayed in world.replay_all() {
                assert!(replayed.has_ended && replayed.sent > 100 && replayed.events > 10);
                assert_eq!(replayed.payloads, keep.payloads);
            }
        }
    }
}

#[test]
fn checks_of_all_bytes_and_other_rules_are_replayed_too() {
    let configs = [
        Config::new().integrity(Integrity::Crc32c),
        Config::paper(),
        Config::new()
            .policy(Policy::Paper)
            .integrity(Integrity::Crc32c),
        Config::embedded().connection_id_len(20).unwrap(),
    ];
    for keep in both() {
        for config in &configs {
            let mut world = connected(7, config.clone(), 2, keep);
            world.talk(150);
            world.replay_all();
        }
    }
}

#[test]
fn a_peer_that_moves_is_followed_in_a_replay() {
    for keep in both() {
        let mut world = connected(3, Config::new().roaming(true), 2, keep);
        world.loss = 0;
        world.talk(50);
        world.stations[1].address = address(200);
        world.talk(200);
        let moved = world.stations[0].file.bytes();
        let moved = Trace::read(&moved[..]).unwrap().any(|entry| {
            matches!(entry.unwrap().record, Record::Event { words, .. } if words.starts_with("moved"))
        });
        assert!(moved);
        world.replay_all();
    }
}

#[test]
fn all_other_calls_are_replayed() {
    for keep in both() {
        let mut world = World::new(5, &[Config::new(), Config::new(), Config::new()], keep);
        let now = world.now;
        let server = &mut world.stations[0].host;
        let ids = ConnectionIds::Sharded { shard: 1, bits: 2 };
        server.set_connection_ids(ids).unwrap();
        server.listen(Listen::Ask).unwrap();
        server.set_host_send_rate(200_000);
        server.handle_backlog(now, true);
        server.set_unix_time(now, 1_800_000_000);
        server.set_envelope(8);
        server.handle_port_closed(None);
        server.handle_datagram(now, address(99), porous_proto::Ecn::Ce, b"\x40garbage");
        let mut peers = Vec::new();
        for station in &mut world.stations[1..] {
            let host = &mut station.host;
            let to = [address(1), address(77)];
            peers.push(host.connect_with(now, &to, b"").unwrap());
            host.handle_unreachable(now, address(77));
        }
        let mut asked = Vec::new();
        for _ in 0..500 {
            world.turn();
        }
        // `turn` has taken the events: ask the peers themselves.
        let server = &mut world.stations[0].host;
        asked.extend(server.peers().map(|(id, _)| id));
        assert_eq!(asked.len(), 2);
        server.accept(world.now, asked[0]).unwrap();
        server.refuse(world.now, asked[1], b"no").unwrap();
        assert!(server.refuse(world.now, asked[1], b"no").is_err());
        world.turns(100);
        let now = world.now;
        let server = &mut world.stations[0].host;
        let channel = ChannelId(0);
        server.set_channel_rate(asked[0], channel, 9000).unwrap();
        server.set_send_rate(asked[0], 90_000).unwrap();
        server.set_receive_rate(asked[0], 80_000).unwrap();
        let options = porous_proto::SendOptions::new(Mode::Reliable).receipt(5);
        server
            .send(asked[0], channel, "cancelled", options)
            .unwrap();
        assert!(server.cancel(asked[0], channel, 5));
        assert!(!server.cancel(asked[0], channel, 5));
        assert!(server.send(asked[0], ChannelId(9), "x", options).is_err());
        assert!(server.receive(asked[0]).is_none());
        server.disconnect_all(now, Disconnect::Now { reason: 1 });
        world.turns(100);
        world.replay_all();
        // Every kind of record of a host that does not seal was there.
        let bytes = world.stations[0].file.bytes();
        let mut kinds: Vec<u8> = Vec::new();
        for file in &world.stations {
            let bytes = file.file.bytes();
            let all = Trace::read(&bytes[..]).unwrap();
            kinds.extend(all.map(|entry| entry.unwrap().record.number()));
        }
        for (number, name) in Record::KINDS {
            let elsewhere = ["connect sealed", "security", "disconnect", "drain"];
            assert!(kinds.contains(number) || elsewhere.contains(name), "{name}");
        }
        assert!(!bytes.is_empty());
    }
}

#[test]
fn a_trace_without_payloads_holds_none_of_them() {
    let mut world = connected(1, Config::new(), 1, Keep::nothing());
    let secret = b"the treasure lies under the old oak";
    for station in &mut world.stations {
        for peer in station.peers.clone() {
            for mode in [Mode::Reliable, Mode::Unreliable, Mode::Passive] {
                let packet = secret.repeat(60);
                station.host.send(peer, ChannelId(0), packet, mode).unwrap();
            }
        }
    }
    world.turns(200);
    // Duplicates, and datagrams of a connection that is over.
    world.replay_all();
    for station in &world.stations {
        let bytes = station.file.bytes();
        let found = bytes.windows(8).any(|window| window == &secret[..8]);
        assert!(!found, "{}", station.address);
    }
}

#[test]
fn a_recording_that_begins_late_is_refused_and_one_that_fails_is_told_once() {
    use porous_trace::{About, RecordError, Recorder, TracedHost};

    /// A disk that is full after some bytes.
    struct Full(usize);

    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if self.0 < bytes.len() {
                return Err(std::io::ErrorKind::StorageFull.into());
            }
            self.0 -= bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let rng = porous_proto::hooks::doc::example_rng;
    let mut host = TracedHost::new(Config::new(), rng());
    let recorder = Recorder::new(Full(2000), Keep::nothing());
    host.record(recorder, About::default(), rng()).unwrap();
    host.connect_with(world_now(), &[address(1)], b"").unwrap();
    let mut buf = vec![0; host.max_datagram_size()];
    for _ in 0..10 {
        while host.poll_transmit(world_now(), &mut buf).is_some() {}
    }
    let error = host.recording_error().unwrap();
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    assert!(host.recording_error().is_none());
    assert!(host.end_recording().is_ok());
    assert_eq!(host.peers().count(), 1);
    let late = Recorder::new(std::io::sink(), Keep::nothing());
    let late = host.record(late, About::default(), rng());
    assert_eq!(late, Err(RecordError::Begun));
}

fn world_now() -> porous_proto::Instant {
    porous_proto::Instant::from_micros(1_000_000)
}

#[test]
fn a_program_that_panics_leaves_a_trace_of_all_that_was_before() {
    use porous_trace::{About, Recorder, TracedHost};

    use crate::world::File;

    let file = File::default();
    let to = file.clone();
    let panics = std::thread::spawn(move || {
        let rng = porous_proto::hooks::doc::example_rng;
        let mut host = TracedHost::new(Config::new(), rng());
        let recorder = Recorder::new(to, Keep::nothing());
        host.record(recorder, About::default(), rng()).unwrap();
        host.connect_with(world_now(), &[address(1)], b"").unwrap();
        panic!("a bug of the program");
    });
    assert!(panics.join().is_err());
    let replayed = replayed(&file.bytes()).unwrap();
    assert!(!replayed.has_ended && replayed.records == 4);
}

#[test]
fn what_no_trace_can_hold_is_refused_by_a_replay() {
    let mut world = World::new(1, &[Config::new()], Keep::nothing());
    let host = &mut world.stations[0].host;
    host.set_connection_ids(ConnectionIds::Custom(|_| {}))
        .unwrap();
    host.end_recording().unwrap();
    let why = replayed(&world.stations[0].file.bytes()).unwrap_err();
    assert!(
        why.to_string().contains("a function of the application"),
        "{why}"
    );

    let custom = porous_proto::congestion::Congestion::Custom(|_| unreachable!());
    let config = Config::new().congestion(custom);
    let mut world = World::new(1, &[config], Keep::nothing());
    world.stations[0].host.end_recording().unwrap();
    let why = replayed(&world.stations[0].file.bytes()).unwrap_err();
    assert!(
        why.to_string().contains("controller of the application"),
        "{why}"
    );
}
