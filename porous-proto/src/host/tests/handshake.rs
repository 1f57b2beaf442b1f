//! Handshakes of remote hosts that do not keep to the rules.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::super::member::Member;
use super::*;
use crate::frame::{Connect, ConnectionId};
use crate::hooks::doc::carry;
use crate::peer::{Handshake, Peer};
use crate::{
    AnswerError, ConnectError, ConnectionIds, ConnectionIdsError, DisconnectReason, Refusal,
};

/// The remote host at address 2, with a nonce of its own.
const THEIRS: u64 = 77;

/// A host that connects to address 2, and its nonce.
fn attempt() -> (Host<ExampleRng, u32>, PeerId, u64) {
    let mut host = Host::<_, u32>::new(Config::client(), example_rng());
    let peer = host.connect(Instant::ZERO, 2).unwrap();
    let nonce = host.peer(peer).unwrap().nonce();
    (host, peer, nonce)
}

fn theirs(nonce_peer: u64, application: u64) -> Connect {
    Connect {
        cookie: false,
        nonce_self: THEIRS,
        nonce_peer,
        connection_id: ConnectionId::new(&[5; 4]).unwrap(),
        offer: Config::new().application_id(application).offer(),
    }
}

fn acknowledge(connect: &Connect) -> Vec<u8> {
    let mut buf = [0; 1200];
    let len = connect.encode_acknowledge(&mut buf).unwrap();
    buf[..len].to_vec()
}

fn request(connect: &Connect) -> Vec<u8> {
    let mut buf = [0; 1200];
    connect.encode_request(&[], &mut buf).unwrap();
    buf.to_vec()
}

fn handle(host: &mut Host<ExampleRng, u32>, datagram: &[u8]) -> Disposition {
    host.handle_datagram(Instant::ZERO, 2, Ecn::NotEct, datagram)
}

fn reason(host: &mut Host<ExampleRng, u32>) -> Option<DisconnectReason> {
    match last_event(host) {
        Some(Event::Disconnected { reason, .. }) => Some(reason),
        _ => None,
    }
}

#[test]
fn an_acknowledgement_of_another_application_ends_the_attempt() {
    let (mut host, peer, nonce) = attempt();
    handle(&mut host, &request(&theirs(0, 0)));
    handle(&mut host, &acknowledge(&theirs(nonce, 9)));
    assert_eq!(state(&host, peer), Some(PeerState::Disconnected));
    let refused = DisconnectReason::Refused(Refusal::Incompatible { application_id: 9 });
    assert_eq!(reason(&mut host), Some(refused));
}

#[test]
fn a_goodbye_to_an_attempt_that_met_no_host_is_ignored() {
    let (mut host, peer, nonce) = attempt();
    let bye = |nonce_self| {
        let mut buf = [0; 100];
        let bye = crate::frame::Disconnect {
            nonce_self,
            nonce_peer: nonce,
            reason: 3,
        };
        let len = bye.encode(&mut buf).unwrap();
        buf[..len].to_vec()
    };
    let nobodys = Disposition::Ignored(Ignored::UnknownNonce);
    assert_eq!(handle(&mut host, &bye(THEIRS)), nobodys);
    assert_eq!(state(&host, peer), Some(PeerState::Connecting));
    let refused = &mut host.table.get_mut(peer).unwrap().peer;
    refused.on_refused(0, Refusal::Full, Instant::ZERO);
    host.settle(peer.slot);
    assert_eq!(handle(&mut host, &bye(THEIRS)), nobodys);
    assert!(host.poll_transmit(Instant::ZERO, &mut [0; 1200]).is_none());
}

#[test]
fn a_cookie_that_echoes_no_request_is_ignored() {
    let (mut host, peer, nonce) = attempt();
    while host.poll_transmit(Instant::ZERO, &mut [0; 1200]).is_some() {}
    for (nonce_peer, taken) in [(nonce ^ 1, false), (0, false), (nonce, true)] {
        let mut cookie = theirs(nonce_peer, 0);
        cookie.cookie = true;
        cookie.connection_id = ConnectionId::EMPTY;
        let disposition = handle(&mut host, &request(&cookie));
        assert_eq!(disposition == Disposition::Handled(peer), taken);
        let mut buf = [0; 1200];
        let answer = host.poll_transmit(Instant::ZERO, &mut buf);
        assert_eq!(answer.is_some(), taken, "the cookie is brought back");
    }
}

#[test]
fn a_host_without_free_connection_ids_refuses_as_full() {
    let config = Config::new().connection_id_len(1).unwrap();
    let mut host = Host::<_, u32>::new(config, ExampleRng(2));
    host.listen(Listen::Open).unwrap();
    let error = (1000..)
        .find_map(|address| host.connect(Instant::ZERO, address).err())
        .unwrap();
    assert_eq!(error, ConnectError::OutOfConnectionIds);
    // Free ids are left that no draw hit: they are taken here.
    for n in 0..=u8::MAX {
        let id = ConnectionId::new(&[n]).unwrap();
        if !host.table.has_connection_id(id) {
            let config = Config::new().connection_id_len(1).unwrap();
            let peer = Peer::outgoing(
                Instant::ZERO,
                host.strangers.identity(1, id),
                config.timeouts,
                Handshake::new(1, &[], 1),
            );
            let member = Member::new(peer, 2000 + u32::from(n), &[]);
            host.table.insert(member);
        }
    }
    let mut client = Host::<_, u32>::new(Config::client(), example_rng());
    client.connect(Instant::ZERO, 2).unwrap();
    while host.poll_transmit(Instant::ZERO, &mut [0; 1200]).is_some() {}
    for _ in 0..3 {
        carry(&mut client, 1, &mut host);
        carry(&mut host, 2, &mut client);
    }
    let refused = DisconnectReason::Refused(Refusal::Full);
    assert_eq!(reason(&mut client), Some(refused));
    assert_eq!(host.stats().accepted, 0);
}

#[test]
fn ids_of_an_application_are_drawn_sixteen_times() {
    static DRAWN: AtomicUsize = AtomicUsize::new(0);
    let same = |id: &mut [u8]| {
        DRAWN.fetch_add(1, Ordering::Relaxed);
        id.fill(7);
    };
    let config = Config::new().connection_id_len(20).unwrap();
    let mut host = Host::<_, u32>::new(config, ExampleRng(2));
    host.listen(Listen::Open).unwrap();
    host.set_connection_ids(ConnectionIds::Custom(same))
        .unwrap();
    let first = host.connect(Instant::ZERO, 1000).unwrap();
    let id = host.peer(first).unwrap().connection_id();
    assert_eq!(id.as_bytes(), [7; 20]);
    assert_eq!(DRAWN.load(Ordering::Relaxed), 1);
    let error = host.connect(Instant::ZERO, 1001);
    assert_eq!(error, Err(ConnectError::OutOfConnectionIds));
    assert_eq!(DRAWN.load(Ordering::Relaxed), 17);
    // A remote host that connects is told that there is no place, and no peer is made.
    let mut client = Host::<_, u32>::new(Config::client(), example_rng());
    client.connect(Instant::ZERO, 2).unwrap();
    while host.poll_transmit(Instant::ZERO, &mut [0; 1200]).is_some() {}
    for _ in 0..3 {
        carry(&mut client, 1, &mut host);
        carry(&mut host, 2, &mut client);
    }
    let refused = DisconnectReason::Refused(Refusal::Full);
    assert_eq!(reason(&mut client), Some(refused));
    // New ids are random again; the peer that is there keeps its id.
    host.set_connection_ids(ConnectionIds::Random).unwrap();
    let second = host.connect(Instant::ZERO, 1001).unwrap();
    let [first, second] = [first, second].map(|peer| host.peer(peer).unwrap().connection_id());
    assert_eq!((first, second.len()), (id, 20));
    assert_ne!(first, second);
}

#[test]
fn an_application_cannot_make_ids_without_bytes() {
    let config = Config::new().connection_id_len(0).unwrap();
    let mut host = Host::<_, u32>::new(config, example_rng());
    let custom = ConnectionIds::Custom(|_| unreachable!());
    assert_eq!(
        host.set_connection_ids(custom),
        Err(ConnectionIdsError::NoBytes)
    );
    assert_eq!(host.set_connection_ids(ConnectionIds::Random), Ok(()));
    assert!(host.connect(Instant::ZERO, 1).is_ok() && host.connect(Instant::ZERO, 2).is_ok());
}

#[test]
fn only_a_peer_that_asks_can_be_accepted_or_refused() {
    let (mut host, peer) = crate::hooks::doc::example_request();
    let nobody = PeerId::from_u64(u64::MAX).unwrap();
    let unknown = Err(AnswerError::UnknownPeer);
    assert_eq!(host.accept(Instant::ZERO, nobody), unknown);
    assert_eq!(host.refuse(Instant::ZERO, nobody, b""), unknown);
    let long = host.refuse(Instant::ZERO, peer, &[0; 65]);
    assert_eq!(long, Err(AnswerError::TooLong));
    // No other peer has its address: it is connected at once.
    assert_eq!(host.accept(Instant::ZERO, peer), Ok(()));
    assert_eq!(state(&host, peer), Some(PeerState::Connected));
    assert!(matches!(
        last_event(&mut host),
        Some(Event::Connected { .. })
    ));
    let not_asked = Err(AnswerError::NotAsked);
    assert_eq!(host.accept(Instant::ZERO, peer), not_asked);
    assert_eq!(host.refuse(Instant::ZERO, peer, b""), not_asked);
    // A peer that has ended no longer asks.
    let ended = &mut host.table.get_mut(peer).unwrap().peer;
    ended.replace(Instant::ZERO);
    host.settle(peer.slot);
    assert_eq!(state(&host, peer), Some(PeerState::Disconnected));
    assert_eq!(host.accept(Instant::ZERO, peer), unknown);
}

/// Two hosts at the addresses 1 and 2 exchange datagrams for a while.
fn talk(a: &mut Host<ExampleRng, u32>, b: &mut Host<ExampleRng, u32>) {
    for _ in 0..4 {
        carry(a, 1, b);
        carry(b, 2, a);
    }
}

/// `docs/deviations.md` C16.
#[test]
fn two_hosts_that_connect_to_each_other_have_one_connection() {
    let (mut a, peer, _) = attempt();
    let mut b = Host::<_, u32>::new(Config::client(), ExampleRng(2));
    let other = b.connect(Instant::ZERO, 1).unwrap();
    talk(&mut a, &mut b);
    assert_eq!(state(&a, peer), Some(PeerState::Connected));
    assert_eq!(state(&b, other), Some(PeerState::Connected));
    assert_eq!((a.peers().count(), b.peers().count()), (1, 1));
}

/// `docs/deviations.md` C8.
#[test]
fn a_request_of_another_application_proves_nothing_unless_it_brings_a_cookie() {
    let (mut host, peer, nonce) = attempt();
    let mut buf = [0; 1200];
    while host.poll_transmit(Instant::ZERO, &mut buf).is_some() {}
    let stateless = Disposition::Ignored(Ignored::Stateless);
    assert_eq!(handle(&mut host, &request(&theirs(0, 9))), stateless);
    let answer = host.poll_transmit(Instant::ZERO, &mut buf);
    assert_eq!(answer.unwrap().datagram[0], 0xE0); // REJ
    assert_eq!(state(&host, peer), Some(PeerState::Connecting));
    let mut cookie = theirs(nonce, 9);
    cookie.cookie = true;
    cookie.connection_id = ConnectionId::EMPTY;
    handle(&mut host, &request(&cookie));
    let refused = DisconnectReason::Refused(Refusal::Incompatible { application_id: 9 });
    assert_eq!(reason(&mut host), Some(refused));
}

/// `docs/deviations.md` C5.
#[test]
fn a_host_that_was_started_again_takes_the_place_of_its_old_connection() {
    let mut server = Host::<_, u32>::new(Config::new(), ExampleRng(3));
    server.listen(Listen::Open).unwrap();
    let (mut old, ..) = attempt();
    talk(&mut old, &mut server);
    let (before, _) = server.peers().next().unwrap();
    let mut new = Host::<_, u32>::new(Config::client(), ExampleRng(4));
    let peer = new.connect(Instant::ZERO, 2).unwrap();
    talk(&mut new, &mut server);
    assert_eq!(state(&new, peer), Some(PeerState::Connected));
    assert_eq!(state(&server, before), Some(PeerState::Disconnected));
    let live = |(_, peer): &(PeerId, &Peer)| peer.state().is_live();
    let live: Vec<_> = server.peers().filter(live).collect();
    assert_eq!(live.len(), 1);
    assert_eq!(live[0].1.state(), PeerState::Connected);
    let told = Event::Disconnected {
        peer: before,
        reason: DisconnectReason::Restarted,
        undelivered: 0,
    };
    let mut events = core::iter::from_fn(|| server.poll_event());
    assert!(events.any(|event| event == told));
}

#[test]
fn an_attempt_that_is_given_up_tells_a_remote_host_that_has_answered() {
    for answered in [false, true] {
        let (mut host, peer, nonce) = attempt();
        let mut buf = [0; 1200];
        if answered {
            let mut cookie = theirs(nonce, 0);
            cookie.cookie = true;
            cookie.connection_id = ConnectionId::EMPTY;
            handle(&mut host, &request(&cookie));
        }
        while host.poll_transmit(Instant::ZERO, &mut buf).is_some() {}
        let how = Disconnect::Now { reason: 3 };
        host.disconnect(Instant::ZERO, peer, how).unwrap();
        assert_eq!(reason(&mut host), Some(DisconnectReason::ByUs(3)));
        let told = host.poll_transmit(Instant::ZERO, &mut buf).map(|transmit| {
            let datagram = crate::frame::decode(transmit.datagram, 2).unwrap();
            datagram.rest
        });
        let expected = crate::frame::Rest::Disconnect(crate::frame::Disconnect {
            nonce_self: nonce,
            nonce_peer: THEIRS,
            reason: 3,
        });
        assert_eq!(told, answered.then_some(expected));
    }
}

/// A driver needs to know, as no host may be at the address.
#[test]
fn an_answer_to_a_stranger_is_marked_as_one() {
    let (mut client, mut server) = (attempt().0, Host::new(Config::new(), ExampleRng(2)));
    server.listen(Listen::Open).unwrap();
    let mut said = Vec::new();
    for _ in 0..3 {
        let mut buf = [0; 1200];
        while let Some(transmit) = client.poll_transmit(Instant::ZERO, &mut buf) {
            assert!(!transmit.to_stranger, "it is the server that is asked");
            server.handle_datagram(Instant::ZERO, 1, Ecn::NotEct, transmit.datagram);
        }
        while let Some(transmit) = server.poll_transmit(Instant::ZERO, &mut buf) {
            said.push(transmit.to_stranger);
            client.handle_datagram(Instant::ZERO, 2, Ecn::NotEct, transmit.datagram);
        }
    }
    assert!(said[0], "a cookie");
    assert!(said.len() > 1 && said[1..].iter().all(|to_stranger| !to_stranger));
}
