//! When and how often the thread wakes.

use core::time::Duration;

use porous_std::{ChannelId, Config, Mode, Output, UdpHost};

use super::{Pair, listening, soon, spawn, spawn_counted, wait_for};
use crate::hosts::LIMIT;

#[test]
fn a_game_that_waits_is_woken_by_what_the_thread_tells_and_by_other_threads() {
    let mut host = spawn(Config::new());
    let waker = host.waker();
    for _ in 0..1000 {
        host.ask_stats().unwrap();
        let told = host.wait(LIMIT);
        assert!(matches!(told, Some(Output::Stats { .. })), "{told:?}");
        waker.wake_by_ref();
        assert!(host.wait(Duration::MAX).is_none());
    }
    assert!(host.wait(Duration::ZERO).is_none());
    let asked = std::thread::spawn(move || waker.wake());
    assert!(host.wait(Duration::MAX).is_none());
    asked.join().unwrap();
}

#[test]
fn a_host_that_waits_is_woken_by_another_thread() {
    let mut host = UdpHost::bind("127.0.0.1:0", Config::new()).unwrap();
    let waker = host.waker().unwrap();
    for _ in 0..100 {
        let waker = host.waker().unwrap();
        let asked = std::thread::spawn(move || waker.wake());
        host.wait(Duration::MAX).unwrap();
        asked.join().unwrap();
        // The datagram of a ring may come after its flag was heard: then this sleep is short.
        host.wait(Duration::from_millis(1)).unwrap();
    }
    drop(host);
    waker.wake();
}

/// A thread without a peer has no deadline, and sleeps for ever.
#[test]
fn a_sleeping_thread_wakes_at_once_when_it_is_told_something() {
    let mut host = spawn(Config::new());
    for _ in 0..1000 {
        host.ask_stats().unwrap();
        soon("an answer", || host.poll());
    }
}

#[test]
fn a_thread_with_nothing_to_do_sleeps() {
    let (mut host, turns) = spawn_counted(Config::new());
    for _ in 0..100 {
        let before = turns.count();
        host.ask_stats().unwrap();
        soon("an answer", || host.poll());
        // One turn to answer, one before it, and one for a late ring.
        assert!(turns.count() <= before + 3);
    }
    assert!(turns.count() <= 202, "{}", turns.count());
}

/// Without a ring, each packet would wait for the next ping, half a second or so.
#[test]
fn a_packet_leaves_when_it_is_sent() {
    let mut pair = Pair::new(Config::new(), Config::client());
    for round in 0_u32..200 {
        let payload = round.to_le_bytes().to_vec();
        let channel = ChannelId(0);
        pair.client
            .send(pair.to_server, channel, payload.clone(), Mode::Unreliable)
            .unwrap();
        let (peer, packet) = super::wait_packet(&mut pair.server);
        pair.server
            .send(peer, channel, packet.payload, Mode::Unreliable)
            .unwrap();
        assert_eq!(super::wait_packet(&mut pair.client).1.payload, payload);
    }
}

#[test]
fn many_packets_of_a_tick_wake_the_thread_seldom() {
    const COUNT: usize = 1000;
    let (client, turns) = spawn_counted(Config::client());
    let mut pair = Pair::of(listening(Config::new()), client);
    let (client, peer) = (&mut pair.client, pair.to_server);
    let before = turns.count();
    for _ in 0..COUNT {
        client
            .send(peer, ChannelId(0), "x", Mode::Reliable)
            .unwrap();
    }
    client.ask_peer_stats(peer).unwrap();
    let stats = wait_for(client, "statistics", |output| match output {
        Output::PeerStats { stats, .. } => stats.clone(),
        _ => None,
    });
    assert_eq!(stats.packets_sent.total(), COUNT as u64);
    let turns = turns.count() - before;
    assert!(turns < COUNT / 4, "{turns} turns");
    assert!(stats.datagrams_sent < COUNT as u64 / 4, "{stats:?}");
}
