//! Packets that come back unsent, and the order in which all arrive.

use porous_std::{
    ChannelId, Config, Disconnect, Event, HostThread, Mode, Output, SendError, UnsentError,
};

use super::{Pair, Sender, by_hand, hasty, number_of, soon, wait_disconnected, wait_for};

const HOST_FULL: UnsentError = UnsentError::Host(SendError::Full);

#[test]
fn packets_keep_their_order_however_often_they_come_back() {
    const COUNT: u32 = 5000;
    for (budget, burst) in [(2000, 50), (300, 3), (20_000, 1000)] {
        let mut pair = Pair::new(Config::new(), Config::client().send_budget(budget).unwrap());
        let mut sender = Sender::new(COUNT, 10);
        let mut next = 0;
        soon("the last packet", || {
            sender.send(&mut pair.client, pair.to_server, burst);
            sender.poll(&mut pair.client);
            while let Some(output) = pair.server.poll() {
                let Output::Packet { packet, .. } = output else {
                    panic!("{output:?}");
                };
                assert_eq!(number_of(&packet.payload), next, "budget {budget}");
                next += 1;
            }
            (next == COUNT).then_some(())
        });
        assert!(sender.returned > 0, "budget {budget}: nothing came back");
    }
}

/// The client has room for one packet, and the game sends more before it can know.
#[test]
fn a_choked_peers_packets_all_come_back_before_it_is_writable() {
    let (client, turns) = super::spawn_counted(hasty().send_budget(1).unwrap());
    let (mut client, peer, mut server) = super::by_hand_of(client);
    for (mode, payload) in [
        (Mode::Reliable, vec![0]),
        (Mode::Reliable, vec![1]),
        (Mode::Passive, vec![2]),
        (Mode::Unreliable, vec![3]),
    ] {
        client.send(peer, ChannelId(0), payload, mode).unwrap();
    }
    let mut back = Vec::new();
    let mut blocked = None;
    let mut told = false;
    soon("room", || {
        if back.len() == 3 && !told {
            // The host has no room yet, whatever the game knows.
            turns.pass(&mut client);
            turns.pass(&mut client);
            told = true;
            assert!(client.poll().is_none());
        }
        if told {
            // The server acknowledges the first packet, so that there is room.
            server.step().unwrap();
        }
        match client.poll()? {
            Output::Unsent(unsent) => {
                assert_eq!(unsent.error, HOST_FULL);
                back.push((unsent.packet.options.mode(), unsent.packet.payload[0]));
                // The game knows now that there was no room, whether the thread has room again or not.
                let early = client.send(peer, ChannelId(0), "x", Mode::Reliable);
                blocked = Some(early.unwrap_err().error);
            }
            Output::Event(Event::Writable { .. }) => return Some(()),
            other => panic!("{other:?}"),
        }
        None
    });
    let all = [
        (Mode::Reliable, 1),
        (Mode::Passive, 2),
        (Mode::Unreliable, 3),
    ];
    assert_eq!(back, all);
    assert_eq!(blocked, Some(HOST_FULL));
    client
        .send(peer, ChannelId(0), "x", Mode::Reliable)
        .unwrap();
}

/// The game does not poll until the host has room again.
#[test]
fn room_is_told_when_the_game_knows_that_there_was_none() {
    let (client, turns) = super::spawn_counted(hasty().send_budget(1).unwrap());
    let (mut client, peer, mut server) = super::by_hand_of(client);
    for payload in ["0", "1"] {
        client
            .send(peer, ChannelId(0), payload, Mode::Reliable)
            .unwrap();
    }
    turns.pass(&mut client);
    let to_client = super::only_peer(&server);
    soon("the first packet", || {
        server.step().unwrap();
        server.receive(to_client)
    });
    // The acknowledgement of the server has come by now.
    server.step().unwrap();
    turns.pass(&mut client);
    // The thread knows that there is room, but the game does not know that there was none.
    client
        .send(peer, ChannelId(0), "2", Mode::Reliable)
        .unwrap();
    turns.pass(&mut client);
    let mut came = Vec::new();
    soon("room", || {
        server.step().unwrap();
        match client.poll()? {
            Output::Unsent(unsent) => came.push(unsent.packet.payload),
            Output::Event(Event::Writable { .. }) => return Some(()),
            other => panic!("{other:?}"),
        }
        None
    });
    assert_eq!(came, ["1", "2"]);
}

/// A choke ends with its peer: no event reports room that will never be.
#[test]
fn a_choked_peer_that_ends_has_ended_for_what_is_sent_later() {
    let (client, turns) = super::spawn_counted(hasty().send_budget(1).unwrap());
    let (mut client, peer, mut server) = super::by_hand_of(client);
    let send = |client: &mut HostThread, payload: &'static str| {
        let sent = client.send(peer, ChannelId(0), payload, Mode::Reliable);
        sent.unwrap();
        turns.pass(client);
    };
    send(&mut client, "0");
    send(&mut client, "1");
    let to_client = super::only_peer(&server);
    let now = Disconnect::Now { reason: 0 };
    server.disconnect(to_client, now).unwrap();
    server.step().unwrap();
    turns.pass(&mut client);
    send(&mut client, "2");
    let came: Vec<Output> = core::iter::from_fn(|| client.poll()).collect();
    let [
        Output::Unsent(first),
        Output::Event(Event::Disconnected { .. }),
        Output::Unsent(second),
    ] = &came[..]
    else {
        panic!("{came:?}");
    };
    assert_eq!(
        (&first.packet.payload[..], first.error),
        (&b"1"[..], HOST_FULL)
    );
    let ended = UnsentError::Host(SendError::UnknownPeer);
    assert_eq!(
        (&second.packet.payload[..], second.error),
        (&b"2"[..], ended)
    );
}

#[test]
fn returned_packets_do_not_undo_a_disconnection() {
    let (client, turns) = super::spawn_counted(hasty().send_budget(1).unwrap());
    let (mut client, peer, _server) = super::by_hand_of(client);
    for payload in ["0", "1"] {
        client
            .send(peer, ChannelId(0), payload, Mode::Reliable)
            .unwrap();
    }
    turns.pass(&mut client);
    client
        .disconnect(peer, Disconnect::Now { reason: 0 })
        .unwrap();
    let output = soon("the packet", || client.poll());
    assert!(matches!(output, Output::Unsent(_)), "{output:?}");
    let late = client.send(peer, ChannelId(0), "2", Mode::Reliable);
    let error = UnsentError::Host(SendError::Disconnecting);
    assert_eq!(late.unwrap_err().error, error);
}

#[test]
fn one_choked_peer_holds_up_no_other() {
    let (mut client, choked, _server) = by_hand(hasty().send_budget(1).unwrap());
    let mut other = super::listening(Config::new());
    client.connect(other.local_addr()).unwrap();
    let (to_other, _) = super::wait_connected(&mut client);
    super::wait_connected(&mut other);
    for payload in ["0", "1"] {
        client
            .send(choked, ChannelId(0), payload, Mode::Reliable)
            .unwrap();
    }
    wait_for(&mut client, "the second packet", |output| match output {
        Output::Unsent(unsent) => (unsent.packet.peer == choked).then_some(()),
        _ => None,
    });
    client
        .send(to_other, ChannelId(0), "free", Mode::Reliable)
        .unwrap();
    assert_eq!(super::wait_packet(&mut other).1.payload, "free");
}

/// The game has not polled the end when it sends.
#[test]
fn packets_to_a_peer_that_has_just_ended_come_back() {
    let mut pair = Pair::new(Config::new(), Config::client());
    let now = Disconnect::Now { reason: 3 };
    pair.server.disconnect(pair.to_client, now).unwrap();
    wait_disconnected(&mut pair.server);
    let (client, peer) = (&mut pair.client, pair.to_server);
    for payload in ["a", "b"] {
        client
            .send(peer, ChannelId(0), payload, Mode::Reliable)
            .unwrap();
    }
    wait_disconnected(client);
    for payload in ["a", "b"] {
        let unsent = wait_for(client, "what was sent too late", |output| match output {
            Output::Unsent(unsent) => Some(unsent.clone()),
            _ => None,
        });
        assert_eq!(unsent.packet.payload, payload);
        assert_eq!(unsent.error, UnsentError::Host(SendError::UnknownPeer));
    }
    let late = client.send(peer, ChannelId(0), "c", Mode::Reliable);
    let error = UnsentError::Host(SendError::UnknownPeer);
    assert_eq!(late.unwrap_err().error, error);
}
