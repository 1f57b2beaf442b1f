//! Two threads that talk to each other.

use core::time::Duration;

use porous_std::{ChannelId, Config, HostThread, Listen, Mode, Priority, UdpHost};

use super::{Pair, listening, soon, spawn, wait_connected, wait_packet};
use crate::hosts::{client, connected, until};

const MODES: [Mode; 3] = [Mode::Unreliable, Mode::Reliable, Mode::Passive];

#[test]
fn packets_of_all_modes_pass_both_ways_in_one_piece() {
    let channels = &[Priority::Low, Priority::High, Priority::Low];
    let (server, client) = (Config::new(), Config::client());
    let mut pair = Pair::new(
        server.channels(channels).unwrap(),
        client.channels(channels).unwrap(),
    );
    for (channel, mode) in (0..).map(ChannelId).zip(MODES) {
        for length in [0, 1, 1200, 20_000] {
            let payload = vec![channel.0; length];
            for _ in 0..2 {
                let (from, to) = (&mut pair.client, &mut pair.server);
                from.send(pair.to_server, channel, payload.clone(), mode)
                    .unwrap();
                let (peer, packet) = wait_packet(to);
                assert_eq!(
                    (peer, packet.channel, packet.mode),
                    (pair.to_client, channel, mode)
                );
                assert_eq!(packet.payload, payload);
                // And the other way.
                pair = pair.turned();
            }
        }
    }
}

#[test]
fn a_server_tells_its_clients_apart() {
    let mut server = listening(Config::new());
    let mut clients: Vec<HostThread> = (0..4).map(|_| spawn(Config::client())).collect();
    for (number, client) in (0_u8..).zip(&mut clients) {
        client.connect(server.local_addr()).unwrap();
        let (peer, _) = wait_connected(client);
        client
            .send(peer, ChannelId(0), vec![number], Mode::Reliable)
            .unwrap();
    }
    for _ in &clients {
        let (peer, packet) = wait_packet(&mut server);
        server
            .send(peer, ChannelId(0), packet.payload, Mode::Reliable)
            .unwrap();
    }
    for (number, client) in (0_u8..).zip(&mut clients) {
        assert_eq!(wait_packet(client).1.payload, vec![number]);
    }
}

#[test]
fn a_host_that_was_used_before_goes_on_in_its_thread() {
    // The server is stepped no more, so that no one answers the end.
    let config = Config::new()
        .disconnect_timeout(Duration::from_millis(100))
        .unwrap();
    let mut server = UdpHost::bind("127.0.0.1:0", config).unwrap();
    server.listen(Listen::Open).unwrap();
    let mut client = client("127.0.0.1:0");
    let to_server = client.connect(server.local_addr().unwrap()).unwrap();
    until(&mut client, &mut server, connected);
    let (to_client, _) = until(&mut server, &mut client, connected);
    for payload in ["a", "b"] {
        let channel = ChannelId(0);
        client
            .send(to_server, channel, payload, Mode::Reliable)
            .unwrap();
    }
    // The one event that says that there is something to read.
    until(&mut server, &mut client, crate::hosts::readable);
    assert_eq!(server.receive(to_client).unwrap().payload, "a");

    let mut server = server.spawn().unwrap();
    let step = |client: &mut UdpHost| client.step().unwrap();
    let second = soon("the second packet", || {
        step(&mut client);
        match server.poll()? {
            porous_std::Output::Packet { packet, .. } => Some(packet),
            other => panic!("{other:?}"),
        }
    });
    assert_eq!(second.payload, "b");
    server
        .send(to_client, ChannelId(0), "c", Mode::Reliable)
        .unwrap();
    let third = soon("the answer", || {
        step(&mut client);
        client.receive(to_server)
    });
    assert_eq!(third.payload, "c");
}

/// Engines move a host between threads, and keep it where all threads can see it.
#[test]
fn a_host_thread_can_be_moved_and_shared_between_threads() {
    const fn anywhere<T: Send + Sync + 'static>() {}
    anywhere::<HostThread>();
    anywhere::<porous_std::Output>();
    let pair = Pair::new(Config::new(), Config::client());
    std::thread::spawn(move || {
        let Pair {
            mut server,
            mut client,
            to_server,
            ..
        } = pair;
        client
            .send(to_server, ChannelId(0), "moved", Mode::Reliable)
            .unwrap();
        assert_eq!(wait_packet(&mut server).1.payload, "moved");
    })
    .join()
    .unwrap();
}
