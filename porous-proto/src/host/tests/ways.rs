//! Peers with several addresses, whose remote hosts keep to no rules.

use alloc::vec::Vec;

use super::*;
use crate::Integrity;
use crate::frame::{Check, Connect, ConnectionId, Ids, TAG};

/// The nonce of the remote host.
const THEIRS: u64 = 77;

fn request(nonce_self: u64, nonce_peer: u64, connection_id: u32) -> Connect {
    Connect {
        cookie: false,
        nonce_self,
        nonce_peer,
        connection_id: ConnectionId::new(&connection_id.to_le_bytes()).unwrap(),
        offer: Config::new().offer(),
    }
}

fn ask(host: &mut Host<ExampleRng, u32>, from: u32, request: &Connect) -> Disposition {
    let mut buf = [0; 1200];
    request.encode_request(&[], &mut buf).unwrap();
    host.handle_datagram(Instant::ZERO, from, Ecn::NotEct, &buf)
}

fn acknowledge(host: &mut Host<ExampleRng, u32>, from: u32, ack: &Connect) -> Disposition {
    let mut buf = [0; 1200];
    let len = ack.encode_acknowledge(&mut buf).unwrap();
    host.handle_datagram(Instant::ZERO, from, Ecn::NotEct, &buf[..len])
}

/// All that a host has to send: the address, the first byte, and the nonce of the sender.
fn sent(host: &mut Host<ExampleRng, u32>) -> Vec<(u32, u8, u64)> {
    let mut sent = Vec::new();
    let mut buf = [0; 1200];
    while let Some(transmit) = host.poll_transmit(Instant::ZERO, &mut buf) {
        let nonce = transmit
            .datagram
            .get(7..15)
            .map(|bytes| bytes.try_into().unwrap());
        let nonce = nonce.map_or(0, u64::from_le_bytes);
        sent.push((transmit.to, transmit.datagram[0], nonce));
    }
    sent
}

/// Asks from an address and brings the cookie back.
fn prove(host: &mut Host<ExampleRng, u32>, from: u32, connection_id: u32) -> Disposition {
    ask(host, from, &request(THEIRS, 0, connection_id));
    let [(to, 0xC1, cookie)] = sent(host)[..] else {
        panic!("no cookie")
    };
    assert_eq!(to, from);
    ask(host, from, &request(THEIRS, cookie, connection_id))
}

/// The peer that this makes.
fn let_in(host: &mut Host<ExampleRng, u32>, from: u32, connection_id: u32) -> PeerId {
    match prove(host, from, connection_id) {
        Disposition::Accepted(peer) => peer,
        Disposition::Handled(_) | Disposition::Ignored(_) => panic!("not let in"),
    }
}

fn server() -> Host<ExampleRng, u32> {
    let mut host = Host::<_, u32>::new(Config::new(), example_rng());
    host.listen(Listen::Open).unwrap();
    host
}

/// `docs/limits.md`, "Peers".
#[test]
fn a_peer_has_at_most_eight_addresses() {
    let mut host = server();
    let peer = let_in(&mut host, 10, 5);
    let [(10, 0xD0, first_cookie)] = sent(&mut host)[..] else {
        panic!("no acknowledgement")
    };
    for from in 11..=17 {
        assert_eq!(prove(&mut host, from, 5), Disposition::Handled(peer));
        // The request is acknowledged at this address, by the nonce of the one peer.
        assert_eq!(sent(&mut host), [(from, 0xD0, first_cookie)]);
        assert_eq!(host.address(peer), Some(from));
    }
    let full = Disposition::Ignored(Ignored::WrongState);
    assert_eq!(prove(&mut host, 18, 5), full);
    let again = ask(&mut host, 12, &request(THEIRS, 0, 5));
    assert_eq!(again, Disposition::Handled(peer));
    assert_eq!(sent(&mut host), [(12, 0xD0, first_cookie)]);
    assert_eq!(host.table.iter().count(), 1);
    let _ = host.audit();
}

#[test]
fn the_same_nonce_with_another_connection_id_is_another_hosts() {
    let mut host = server();
    assert!(matches!(prove(&mut host, 10, 5), Disposition::Accepted(_)));
    sent(&mut host);
    assert!(matches!(prove(&mut host, 11, 6), Disposition::Accepted(_)));
    assert_eq!(host.table.iter().count(), 2);
}

#[test]
fn a_late_request_from_another_address_revives_nothing() {
    let mut host = server();
    let peer = let_in(&mut host, 10, 5);
    sent(&mut host);
    let ended = &mut host.table.get_mut(peer).unwrap().peer;
    ended.replace(Instant::ZERO);
    host.settle(peer.slot);
    let late = Disposition::Ignored(Ignored::WrongState);
    assert_eq!(prove(&mut host, 11, 5), late);
    assert_eq!(host.table.iter().count(), 1);
}

/// Nonces are no secret: an eavesdropper may ask with that of another host.
#[test]
fn a_second_host_with_a_nonce_does_not_take_the_place_of_the_first() {
    let mut host = server();
    let peer = let_in(&mut host, 10, 5);
    sent(&mut host);
    assert!(matches!(prove(&mut host, 67, 7), Disposition::Accepted(_)));
    sent(&mut host);
    assert_eq!(prove(&mut host, 11, 5), Disposition::Handled(peer));
    let _ = host.audit();
}

/// A frame with a noop, from the host whose nonce is [`THEIRS`] to the one with this nonce.
fn noop(id: ConnectionId, n: u8, nonce: u64) -> Vec<u8> {
    let mut frame = alloc::vec![0x40];
    frame.extend(id.as_bytes());
    frame.extend([n, 0xC0, 0]);
    let check = Check {
        integrity: Integrity::Header,
        ours: THEIRS,
        theirs: nonce,
    };
    let ids = Ids {
        frame: n.into(),
        acked: None,
    };
    let length = frame.len();
    frame.resize(length + TAG, 0);
    check.append(&mut frame, length, ids).unwrap();
    frame
}

/// An eavesdropper knows the nonce and the connection ids.
#[test]
fn nobody_joins_a_connection_by_asking_for_it() {
    let mut host = server();
    let peer = let_in(&mut host, 10, 5);
    sent(&mut host);
    let (known, nonce) = (host.peer(peer).unwrap(), host.peer(peer).unwrap().nonce());
    let id = known.connection_id();
    let taken = host.handle_datagram(Instant::ZERO, 10, Ecn::NotEct, &noop(id, 0, nonce));
    assert_eq!(taken, Disposition::Handled(peer));
    sent(&mut host);
    assert_eq!(
        prove(&mut host, 66, 5),
        Disposition::Ignored(Ignored::WrongState)
    );
    let taken = host.handle_datagram(Instant::ZERO, 66, Ecn::NotEct, &noop(id, 1, nonce));
    assert_eq!(taken, Disposition::Ignored(Ignored::WrongAddress));
    assert_eq!(host.address(peer), Some(10));
    assert_eq!(
        (sent(&mut host), host.table.iter().count()),
        (Vec::new(), 1)
    );
}

/// A stranger that was asked as well uses the same connection id.
#[test]
fn datagrams_are_taken_from_where_the_remote_host_was_heard_and_from_nowhere_else() {
    let mut host = Host::<_, u32>::new(Config::client(), example_rng());
    let peer = host.connect_any(Instant::ZERO, &[1, 2, 3]).unwrap();
    let nonce = host.peer(peer).unwrap().nonce();
    let id = host.peer(peer).unwrap().connection_id();
    let take = |host: &mut Host<ExampleRng, u32>, from, n| {
        host.handle_datagram(Instant::ZERO, from, Ecn::NotEct, &noop(id, n, nonce))
    };
    let stranger = THEIRS + 1;
    ask(&mut host, 3, &request(stranger, 0, 6));
    sent(&mut host);
    ask(&mut host, 2, &request(THEIRS, 0, 5));
    let ack = request(THEIRS, nonce, 5);
    acknowledge(&mut host, 2, &ack);
    assert_eq!(state(&host, peer), Some(PeerState::Connected));
    assert_eq!(host.address(peer), Some(2));
    // The stranger alone is told that nothing comes of the attempt.
    let told = sent(&mut host);
    assert!(told.contains(&(3, 0xF0, nonce)), "{told:?}");
    assert!(told.iter().all(|&(to, byte, _)| byte != 0xF0 || to == 3));
    let taken = Disposition::Handled(peer);
    let elsewhere = Disposition::Ignored(Ignored::WrongAddress);
    assert_eq!(take(&mut host, 2, 0), taken);
    for from in [1, 3, 4] {
        assert_eq!(take(&mut host, from, 1), elsewhere, "{from}");
    }
    ask(&mut host, 3, &request(stranger, 0, 6));
    acknowledge(&mut host, 3, &request(stranger, nonce, 6));
    assert_eq!(take(&mut host, 3, 1), elsewhere);
    // The remote host is heard at another address of the list.
    ask(&mut host, 1, &request(THEIRS, 0, 5));
    assert_eq!(take(&mut host, 1, 1), taken);
    acknowledge(&mut host, 3, &ack);
    assert_eq!(take(&mut host, 3, 2), taken);
    assert_eq!(host.address(peer), Some(2), "that stays");
    let _ = host.audit();
}
