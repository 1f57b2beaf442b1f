//! Peers that are no hosts: they speak through `wire` alone.

use porous_proto::{Disposition, Ecn, Host, Instant};
use porous_sim::ChaCha8Rng;

use crate::forms::Place;
use crate::target::address;
use crate::wire;

/// A peer as it knows itself and the host.
#[derive(Clone, Debug)]
pub struct Remote {
    /// Of the peer, and of the host for it.
    pub nonces: [u64; 2],
    /// What leads datagrams to the host.
    pub connection_id: Vec<u8>,
    /// The id of the next frame.
    pub next: u64,
    /// The newest frame that the host has sent, and the width of its id.
    pub newest: (u32, u8),
    /// What shapes datagrams.
    pub shape: wire::Shape,
}

/// `nonce_self` of a long form.
pub(crate) fn nonce(datagram: &[u8]) -> u64 {
    u64::from_le_bytes(datagram[7..15].try_into().expect("8 bytes"))
}

/// Connects as the document says, and knows what a peer knows then.
pub(crate) fn handshake(
    host: &mut Host<ChaCha8Rng, u8>,
    place: Place,
    offer: &wire::Offer,
) -> Remote {
    let (now, from, ours) = (Instant::ZERO, address(place), 1000 + u64::from(place as u8));
    let mut buf = [0; 1200];
    let body = offer.body(&[place as u8; 4]);
    let mut request = wire::long(0xC0, 1, [ours, 0], &body);
    request.resize(wire::PADDED, 0);
    host.handle_datagram(now, from, Ecn::NotEct, &request);
    let cookie = host.poll_transmit(now, &mut buf).expect("a cookie");
    assert_eq!((cookie.to, cookie.datagram[0]), (from, 0xC1));
    let theirs = nonce(cookie.datagram);
    let mut again = wire::long(0xD0, 1, [ours, theirs], &body);
    again.extend(wire::long(0xC0, 1, [ours, theirs], &body));
    again.resize(wire::PADDED, 0);
    let taken = host.handle_datagram(now, from, Ecn::NotEct, &again);
    assert!(matches!(taken, Disposition::Accepted(_)), "{taken:?}");
    let answer = host
        .poll_transmit(now, &mut buf)
        .expect("an acknowledgement")
        .datagram;
    assert_eq!((answer[0], answer[23]), (0xD0, 4));
    let nonces = [ours, theirs];
    Remote {
        nonces,
        connection_id: answer[24..28].to_vec(),
        next: 0,
        newest: (0, 1),
        shape: wire::Shape {
            id_bytes: 2,
            window: 64,
            sealed: (offer.integrity == 1).then_some(nonces),
        },
    }
}

/// The host tries to connect; nobody has answered yet.
pub(crate) fn attempt(host: &mut Host<ChaCha8Rng, u8>) -> Remote {
    let mut buf = [0; 1200];
    let connects = host.connect(Instant::ZERO, address(Place::Attempt));
    assert!(connects.is_ok(), "{connects:?}");
    let mut remote = None;
    while let Some(transmit) = host.poll_transmit(Instant::ZERO, &mut buf) {
        if transmit.datagram[0] == 0xC0 {
            remote = Some((nonce(transmit.datagram), transmit.datagram[24..28].to_vec()));
        }
    }
    let (nonce, connection_id) = remote.expect("a request");
    Remote {
        nonces: [1000 + Place::Attempt as u64, nonce],
        connection_id,
        next: 0,
        newest: (0, 1),
        shape: wire::Shape {
            id_bytes: 2,
            window: 64,
            sealed: None,
        },
    }
}
