//! Handshakes of remote hosts that do not keep to the rules.

use alloc::vec::Vec;

use super::*;
use crate::doc::carry;
use crate::frame::{Connect, ConnectionId};
use crate::{AnswerError, ConnectError, DisconnectReason, Refusal};

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
        connection_id: ConnectionId::from_u64(5, 4).unwrap(),
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
    connect.encode_request(&mut buf).unwrap();
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
    let refused = DisconnectReason::Refused(Refusal::Incompatible);
    assert_eq!(reason(&mut host), Some(refused));
}

#[test]
fn a_goodbye_to_an_attempt_that_met_nobody_is_nobodys() {
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
    let (_, refused) = host.peers.at_mut(peer.slot).unwrap();
    refused.on_refused(Refusal::Full, Instant::ZERO);
    host.settle(peer.slot);
    assert_eq!(handle(&mut host, &bye(THEIRS)), nobodys);
    assert!(host.poll_transmit(Instant::ZERO, &mut [0; 1200]).is_none());
}

#[test]
fn a_cookie_of_somebody_who_did_not_see_our_request_is_nobodys() {
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
fn who_cannot_be_given_a_connection_id_is_refused_as_by_a_full_host() {
    let config = Config::new().connection_id_len(1).unwrap();
    let mut host = Host::<_, u32>::new(config, ExampleRng(2));
    host.listen(Listen::Open).unwrap();
    let error = (1000..)
        .find_map(|address| host.connect(Instant::ZERO, address).err())
        .unwrap();
    assert_eq!(error, ConnectError::OutOfConnectionIds);
    // Those that are free were not found by chance.
    for n in 0..=u8::MAX {
        let id = ConnectionId::new(&[n]).unwrap();
        if host.peers.by_connection_id(id).is_none() {
            let config = Config::new().connection_id_len(1).unwrap();
            let peer = crate::peer::Peer::outgoing(Instant::ZERO, 1, id, &config);
            host.peers.insert(2000 + u32::from(n), peer);
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
fn only_who_asks_and_is_there_can_be_let_in() {
    let (mut host, peer) = crate::doc::example_request();
    let nobody = PeerId::from_u64(99);
    let unknown = Err(AnswerError::UnknownPeer);
    assert_eq!(host.accept(Instant::ZERO, nobody), unknown);
    assert_eq!(host.refuse(Instant::ZERO, nobody, b""), unknown);
    let long = host.refuse(Instant::ZERO, peer, &[0; 65]);
    assert_eq!(long, Err(AnswerError::TooLong));
    // Nobody else has its address: it is connected at once.
    assert_eq!(host.accept(Instant::ZERO, peer), Ok(()));
    assert_eq!(state(&host, peer), Some(PeerState::Connected));
    assert!(matches!(
        last_event(&mut host),
        Some(Event::Connected { .. })
    ));
    let not_asked = Err(AnswerError::NotAsked);
    assert_eq!(host.accept(Instant::ZERO, peer), not_asked);
    assert_eq!(host.refuse(Instant::ZERO, peer, b""), not_asked);
    // One that has ended does not ask any more.
    let (_, ended) = host.peers.at_mut(peer.slot).unwrap();
    ended.replace(Instant::ZERO);
    host.settle(peer.slot);
    assert_eq!(state(&host, peer), Some(PeerState::Disconnected));
    assert_eq!(host.accept(Instant::ZERO, peer), unknown);
}
