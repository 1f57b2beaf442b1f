//! Sockets with little room, and the times at which the driver wants to be called.

use porous_smoltcp::{Config, Mode};
use smoltcp::time::{Duration, Instant};

use crate::net::{CLIENT, Net, PATHS, SERVER};

fn configs() -> [Config; 2] {
    [Config::client(), Config::new()]
}

/// A packet that nearly fills a datagram.
fn packet(number: u8) -> Vec<u8> {
    vec![number; 1000]
}

#[test]
fn sockets_with_room_for_one_or_two_datagrams_carry_everything() {
    for path in PATHS {
        for room in [1, 2] {
            let mut net = Net::new(path, configs(), room);
            net.device.set_drop_chance(5);
            net.connect();
            for number in 0..100 {
                net.send(CLIENT, 0, Mode::Reliable, packet(number));
                net.send(SERVER, 0, Mode::Reliable, packet(number));
            }
            let all: Vec<_> = (0..100).map(packet).collect();
            let done = |net: &Net| net.ends.iter().all(|end| end.received.len() == 100);
            net.run_until("all packets", 60, done);
            for end in &net.ends {
                assert_eq!(end.received(Mode::Reliable), all, "{net}");
                assert_eq!(end.host.socket_stats().send_lost, 0, "{net}");
            }
            assert!(
                net.ends[CLIENT].host.socket_stats().send_delayed > 0,
                "{net}"
            );
            net.disconnect();
        }
    }
}

/// A client with more packets than fit: one datagram is in the socket, the next is held.
fn overfull() -> Net {
    let mut net = Net::connected(PATHS[0], configs(), 1);
    // Unreliable packets, which are not sent again if they get lost.
    for number in 0..5 {
        net.send(CLIENT, 0, Mode::Unreliable, packet(number));
    }
    step(&mut net);
    net
}

/// Steps only the client.
fn step(net: &mut Net) {
    let end = &mut net.ends[CLIENT];
    end.host
        .step(net.now, net.sockets.get_mut(end.socket))
        .unwrap();
}

#[test]
fn a_datagram_without_room_is_kept_and_not_overtaken() {
    let mut net = overfull();
    let sent = net.ends[CLIENT].host.host().stats().datagrams_sent;
    let delayed = net.ends[CLIENT].host.socket_stats().send_delayed;
    // A datagram that arrives meanwhile must not overwrite the held one.
    net.send(SERVER, 0, Mode::Reliable, packet(77));
    let end = &mut net.ends[SERVER];
    end.host
        .step(net.now, net.sockets.get_mut(end.socket))
        .unwrap();
    net.interface
        .poll_egress(net.now, &mut net.device, &mut net.sockets);
    for more in 1..4 {
        net.send(CLIENT, 0, Mode::Unreliable, packet(4 + more));
        step(&mut net);
        let host = &net.ends[CLIENT].host;
        let now_delayed = host.socket_stats().send_delayed;
        assert_eq!(now_delayed, delayed + u64::from(more), "one attempt a step");
        assert_eq!(host.host().stats().datagrams_sent, sent, "no other is made");
    }
    net.run_for(500);
    let all: Vec<_> = (0..8).map(packet).collect();
    assert_eq!(net.ends[SERVER].received(Mode::Unreliable), all, "{net}");
    assert_eq!(
        net.ends[CLIENT].received(Mode::Reliable),
        [packet(77)],
        "{net}"
    );
    assert_eq!(net.ends[CLIENT].host.socket_stats().send_lost, 0);
}

fn due(net: &Net, end: usize) -> Option<Instant> {
    let end = &net.ends[end];
    end.host.poll_at(net.now, net.sockets.get(end.socket))
}

#[test]
fn a_datagram_without_room_is_due_when_there_is_room_and_else_soon() {
    let mut net = overfull();
    let retry = net.now + Duration::from_millis(5);
    assert_eq!(
        due(&net, CLIENT),
        Some(retry),
        "or a loop that asks would spin"
    );
    net.interface
        .poll(net.now, &mut net.device, &mut net.sockets);
    assert_eq!(due(&net, CLIENT), Some(net.now));
    step(&mut net);
    assert_eq!(due(&net, CLIENT), Some(retry), "the next one is kept");
}

#[test]
fn a_datagram_in_the_socket_makes_the_host_due_at_once() {
    let mut net = Net::new(PATHS[0], configs(), 4);
    assert_eq!(due(&net, SERVER), None);
    net.ask(net.endpoint(SERVER));
    assert!(
        due(&net, CLIENT).unwrap() <= net.now,
        "there is something to send"
    );
    step(&mut net);
    assert!(due(&net, CLIENT).unwrap() > net.now, "it was sent");
    for _ in 0..2 {
        net.interface
            .poll(net.now, &mut net.device, &mut net.sockets);
    }
    assert_eq!(due(&net, SERVER), Some(net.now));
}

#[test]
fn a_loop_that_sleeps_until_it_is_due_misses_nothing_and_does_not_spin() {
    for path in PATHS {
        let mut net = Net::connected(path, configs(), 2);
        for number in 0..100 {
            net.send(CLIENT, 0, Mode::Reliable, packet(number));
        }
        let end = net.now + Duration::from_secs(60);
        let mut turns = 0;
        while net.now < end {
            turns += 1;
            let soon = net.now + Duration::from_millis(1);
            // If a packet moved, others may still be in the device, which arrive soon.
            let arrival = net.turn().then_some(soon);
            let interface = net.interface.poll_at(net.now, &net.sockets);
            let wake_at = [arrival, interface, due(&net, CLIENT), due(&net, SERVER)];
            let wake_at = wake_at.into_iter().flatten().min().unwrap();
            net.now = wake_at.max(soon);
        }
        assert_eq!(net.ends[SERVER].received.len(), 100, "{net}");
        assert!(net.ends.iter().all(|end| end.ended.is_none()), "{net}");
        // Both ping ten times a second, and the packets take a few turns each.
        assert!(turns < 10_000, "{turns} turns, {net}");
    }
}
