//! The memory and the connections of a game that does not poll.

use core::time::Duration;

use porous_std::{ChannelId, Clock, Config, Mode, Output, ThreadError, UnsentError};

use super::{Pair, Sender, by_hand, fill, hasty, number_of, soon, spawn, spawn_counted};
use crate::hosts::elapsed;

/// There is no peer and no deadline: only the game can wake the thread.
#[test]
fn neither_queue_grows_without_limit_and_nothing_in_them_is_lost() {
    let (mut host, turns) = spawn_counted(Config::new());
    let asked = fill(&mut host);
    let nobody = porous_std::PeerId::from_u64(u64::MAX).unwrap();
    let unsent = host.send(nobody, ChannelId(0), "kept", Mode::Reliable);
    let unsent = unsent.unwrap_err();
    assert_eq!(unsent.error, UnsentError::Thread(ThreadError::Full));
    assert_eq!(unsent.packet.payload, "kept");

    // The thread does not spin while it waits for room.
    let before = turns.count();
    let clock = Clock::start();
    while elapsed(&clock) < Duration::from_millis(50) {
        std::thread::yield_now();
    }
    assert!(turns.count() <= before + 2, "{before} {}", turns.count());

    for answer in 0..asked {
        let output = soon("an answer", || host.poll());
        assert!(matches!(output, Output::Stats { .. }), "{answer}");
    }
    assert!(host.poll().is_none());
    host.ask_stats().unwrap();
    soon("an answer", || host.poll());
}

/// The first packet uses up the budget of the host, and all others come back.
#[test]
fn large_packets_fill_the_queues_sooner_on_their_way_and_back() {
    let (mut client, peer, _server) = by_hand(hasty().send_budget(1).unwrap());
    let payload = porous_std::Bytes::from(vec![0; 300_000]);
    let mut taken = 0;
    soon("two full queues", || {
        let sent = client.send(peer, ChannelId(0), payload.clone(), Mode::Reliable);
        taken += usize::from(sent.is_ok());
        // Four fit into each queue.
        (taken >= 9 && sent.is_err()).then_some(())
    });
    assert_eq!(taken, 9);
}

/// The server's game stands still for longer than the timeout.
#[test]
fn a_game_that_does_not_poll_holds_its_peers_back_and_stays_connected() {
    const COUNT: u32 = 4000;
    const SIZE: u32 = 1000;
    const BUDGET: u32 = 128 * 1024;
    let timeout = Duration::from_millis(1500);
    let server = Config::new().receive_budget(SIZE, BUDGET).unwrap();
    let client = Config::client().send_budget(BUDGET).unwrap();
    let mut pair = Pair::new(
        server.timeout(timeout).unwrap(),
        client.timeout(timeout).unwrap(),
    );
    let mut sender = Sender::new(COUNT, SIZE as usize);
    let clock = Clock::start();
    while elapsed(&clock) < timeout * 3 / 2 {
        sender.send(&mut pair.client, pair.to_server, 100);
        // `poll` panics at a disconnection.
        sender.poll(&mut pair.client);
        std::thread::yield_now();
    }
    // Packets in the queue of the server's game, in its host, and in the client's host.
    let most = ((1 << 20) + 2 * BUDGET as usize) / (SIZE as usize + 64) + 1;
    assert!(sender.taken <= most, "{} of {most}", sender.taken);
    assert!(sender.taken > most / 2, "{} of {most}", sender.taken);

    for next in 0..COUNT {
        let payload = soon("a packet", || {
            sender.send(&mut pair.client, pair.to_server, 100);
            sender.poll(&mut pair.client);
            match pair.server.poll()? {
                Output::Packet { packet, .. } => Some(packet.payload),
                other => panic!("{other:?}"),
            }
        });
        assert_eq!(number_of(&payload), next);
    }
}

#[test]
fn a_thread_that_waits_for_room_can_be_closed() {
    let mut host = spawn(Config::new());
    fill(&mut host);
    host.close(porous_std::Disconnect::Now { reason: 0 })
        .unwrap();
}
