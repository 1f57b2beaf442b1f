//! Commands of the game, and their results.

use core::time::Duration;
use std::net::UdpSocket;

use porous_std::{
    AnswerError, ChannelId, Config, ConnectError, ConnectionIds, ConnectionIdsError, Disconnect,
    DisconnectReason, Event, HostThread, Listen, ListenError, Mode, Output, PeerId, Refusal,
    RefusalData, SendError, SuffixError, UnsentError,
};

use super::{
    Pair, listening, soon, spawn, wait_connected, wait_disconnected, wait_for, wait_request,
};

fn next(host: &mut HostThread) -> Output {
    soon("an output", || host.poll())
}

fn refused(host: &mut HostThread, peer: PeerId, channel: u8, length: usize) -> SendError {
    let payload = vec![7; length];
    let result = host.send(peer, ChannelId(channel), payload.clone(), Mode::Passive);
    let unsent = result.unwrap_err();
    let packet = unsent.packet;
    assert_eq!((packet.peer, packet.channel), (peer, ChannelId(channel)));
    assert_eq!(
        (packet.payload, packet.options.mode()),
        (payload.into(), Mode::Passive)
    );
    let UnsentError::Host(error) = unsent.error else {
        panic!("{:?}", unsent.error);
    };
    error
}

#[test]
fn a_packet_that_cannot_be_sent_is_handed_back_at_once() {
    let client = Config::client().receive_budget(1000, 2000).unwrap();
    let mut pair = Pair::new(Config::new(), client);
    let (client, peer) = (&mut pair.client, pair.to_server);
    assert_eq!(refused(client, peer, 1, 1), SendError::UnknownChannel);
    assert_eq!(refused(client, peer, 0, 1001), SendError::TooLarge);
    let nobody = PeerId::from_u64(u64::MAX).unwrap();
    assert_eq!(refused(client, nobody, 0, 1), SendError::UnknownPeer);
    client
        .disconnect(peer, Disconnect::Now { reason: 0 })
        .unwrap();
    assert_eq!(refused(client, peer, 0, 1), SendError::Disconnecting);
    wait_disconnected(client);
    assert_eq!(refused(client, peer, 0, 1), SendError::UnknownPeer);
}

#[test]
fn connecting_names_the_peer_before_anything_else() {
    let mut client = spawn(Config::client());
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = silent.local_addr().unwrap();
    client.connect(to).unwrap();
    client.connect(to).unwrap();
    let Output::Connecting { peer, address } = next(&mut client) else {
        panic!("it does not connect");
    };
    assert_eq!(address, to);
    assert_eq!(refused(&mut client, peer, 0, 1), SendError::NotConnected);
    let again = next(&mut client);
    let Output::NotConnecting { address, error } = again else {
        panic!("{again:?}");
    };
    assert_eq!((address, error), (to, ConnectError::AlreadyConnected));
    client
        .disconnect(peer, Disconnect::Now { reason: 4 })
        .unwrap();
    let ended = wait_disconnected(&mut client);
    assert_eq!(ended, (peer, DisconnectReason::ByUs(4)));
}

/// After the end of a connection, nothing that is due could wake the thread for a long time.
#[test]
fn an_end_is_told_when_it_comes() {
    let config = Config::client()
        .connect_timeout(Duration::from_millis(100))
        .unwrap();
    let mut client = spawn(config);
    // A socket that does not answer.
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    client.connect(silent.local_addr().unwrap()).unwrap();
    let (_, reason) = wait_disconnected(&mut client);
    assert_eq!(reason, DisconnectReason::NeverAnswered);
}

#[test]
fn a_client_is_told_that_it_may_not_listen() {
    let mut client = spawn(Config::client());
    client.listen(Listen::Open).unwrap();
    let told = next(&mut client);
    let Output::NotListening(error) = told else {
        panic!("{told:?}");
    };
    assert_eq!(error, ListenError::NotAllowed);
}

#[test]
fn a_suffix_that_comes_too_late_is_told() {
    let mut client = spawn(Config::client());
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let at = silent.local_addr().unwrap();
    client.set_suffix(at, &[7; 33]).unwrap();
    client.connect(at).unwrap();
    client.set_suffix(at, &[7; 32]).unwrap();
    let told = |client: &mut HostThread| {
        wait_for(client, "an error", |output| match output {
            Output::NotSuffixed { to, error } => Some((*to, *error)),
            _ => None,
        })
    };
    assert_eq!(told(&mut client), (at, SuffixError::TooLong));
    assert_eq!(told(&mut client), (at, SuffixError::Connected));
}

#[test]
fn ids_that_cannot_be_made_are_told() {
    let mut server = spawn(Config::new().connection_id_len(4).unwrap());
    for (shard, bits) in [(1, 1), (2, 1)] {
        let ids = ConnectionIds::Sharded { shard, bits };
        server.set_connection_ids(ids).unwrap();
    }
    let told = next(&mut server);
    let Output::IdsUnchanged(error) = told else {
        panic!("{told:?}");
    };
    assert_eq!(error, ConnectionIdsError::Shard);
}

#[test]
fn a_peer_that_asks_is_accepted_or_refused() {
    let mut server = spawn(Config::new());
    server.listen(Listen::Ask).unwrap();
    let mut clients = [spawn(Config::client()), spawn(Config::client())];
    let [first, second] = &mut clients;

    first.connect(server.local_addr()).unwrap();
    let peer = wait_request(&mut server);
    assert_eq!(refused(&mut server, peer, 0, 1), SendError::NotConnected);
    server.accept(peer).unwrap();
    wait_connected(first);
    assert_eq!(wait_connected(&mut server).0, peer);
    server
        .send(peer, ChannelId(0), "welcome", Mode::Reliable)
        .unwrap();
    assert_eq!(super::wait_packet(first).1.payload, "welcome");
    server.accept(peer).unwrap();
    let error = wait_for(&mut server, "an error", |output| match output {
        Output::NotAnswered { error, .. } => Some(*error),
        _ => None,
    });
    assert_eq!(error, AnswerError::NotAsked);

    second.connect(server.local_addr()).unwrap();
    let peer = wait_request(&mut server);
    let said = RefusalData::new(b"the match has begun").unwrap();
    server.refuse(peer, said).unwrap();
    let reason = DisconnectReason::Refused(Refusal::Application(said));
    assert_eq!(wait_disconnected(second).1, reason);
    assert_eq!(wait_disconnected(&mut server), (peer, reason));
    server.refuse(peer, said).unwrap();
    let error = wait_for(&mut server, "an error", |output| match output {
        Output::NotAnswered { error, .. } => Some(*error),
        _ => None,
    });
    assert_eq!(error, AnswerError::UnknownPeer);
}

#[test]
fn a_greeting_is_read_before_the_answer_and_after() {
    let mut server = spawn(Config::new());
    server.listen(Listen::Ask).unwrap();
    let mut client = spawn(Config::client());
    let to = server.local_addr();
    client.connect_with(&[to], &[0; 256]).unwrap();
    let refused = next(&mut client);
    let Output::NotConnecting { address, error } = refused else {
        panic!("{refused:?}");
    };
    assert_eq!((address, error), (to, ConnectError::TooLong));

    client.connect_with(&[to], b"name=Ada").unwrap();
    let peer = wait_request(&mut server);
    assert_eq!(server.greeting(peer), b"name=Ada");
    server.accept(peer).unwrap();
    assert_eq!(wait_connected(&mut server).0, peer);
    assert_eq!(server.greeting(peer), b"name=Ada");
    let (there, _) = wait_connected(&mut client);
    assert_eq!(client.greeting(there), b"");
    client
        .disconnect(there, Disconnect::Now { reason: 0 })
        .unwrap();
    wait_disconnected(&mut server);
    assert_eq!(server.greeting(peer), b"");
}

#[test]
fn what_was_counted_can_be_asked_for() {
    let mut pair = Pair::new(Config::new(), Config::client());
    pair.client.ask_stats().unwrap();
    let (connected, lost) = wait_for(&mut pair.client, "statistics", |output| match output {
        Output::Stats { host, socket } => Some((host.connected, socket.send_lost)),
        _ => None,
    });
    assert_eq!((connected, lost), (1, 0));
    pair.client.ask_peer_stats(pair.to_server).unwrap();
    pair.client
        .ask_peer_stats(PeerId::from_u64(u64::MAX).unwrap())
        .unwrap();
    for known in [true, false] {
        let stats = wait_for(&mut pair.client, "statistics", |output| match output {
            Output::PeerStats { stats, .. } => Some(stats.clone()),
            _ => None,
        });
        assert_eq!(stats.is_some(), known);
    }
}

#[test]
fn an_attempt_at_several_addresses_is_told_by_the_first() {
    let mut server = listening(Config::new());
    let mut client = spawn(Config::client());
    client.connect_any(&[]).unwrap();
    let nowhere = next(&mut client);
    let Output::NotConnecting { address, error } = nowhere else {
        panic!("{nowhere:?}");
    };
    assert_eq!(address, ([0, 0, 0, 0], 0).into());
    assert_eq!(error, ConnectError::NoAddress);
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (dead, to) = (silent.local_addr().unwrap(), server.local_addr());
    client.connect_any(&[dead, to]).unwrap();
    let Output::Connecting { peer, address } = next(&mut client) else {
        panic!("it does not connect");
    };
    assert_eq!(address, dead);
    let came = next(&mut client);
    let Output::Event(Event::Connected { peer: who, address }) = came else {
        panic!("{came:?}");
    };
    assert_eq!((who, address), (peer, to));
    wait_connected(&mut server);
}
