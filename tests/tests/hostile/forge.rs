//! What strangers send: datagrams as an honest host would write them, and the ways to forge them.

use alloc::collections::BTreeMap;

use porous_proto::{DisconnectReason, Disposition, Event, Ignored, PeerState};
use porous_sim::{ChaCha8Rng, Seed};
use porous_tests::encoder::{self, Check, Offer, Shape};
use porous_tests::remote::{Remote, nonce, request};

use crate::scene::Scene;

/// The host answered and kept nothing.
pub(crate) const STATELESS: Disposition = Disposition::Ignored(Ignored::Stateless);
/// No peer or attempt has its nonces.
pub(crate) const NOBODY: Disposition = Disposition::Ignored(Ignored::UnknownNonce);
/// Beyond the rate of answers: it may have been right.
pub(crate) const TOO_MUCH: Disposition = Disposition::Ignored(Ignored::TooManyReplies);
/// It is not padded.
pub(crate) const UNPADDED: Disposition = Disposition::Ignored(Ignored::Unpadded);

/// A byte at its extremes.
pub(crate) const BYTES: [u8; 8] = [0, 1, 2, 0x7F, 0x80, 0x81, 0xFE, 0xFF];
/// A number of 32 bits at its extremes, and at those of shorter ones.
pub(crate) const NUMBERS: [u32; 12] = [
    0,
    1,
    0xFF,
    0x100,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x1_0000,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFE,
    0xFFFF_FFFF,
];

/// Whatever a random attacker does, it does again in the next run.
pub(crate) fn chance(name: &str) -> ChaCha8Rng {
    Seed::new(2).stream(name, 0)
}

pub(crate) const fn is_malformed(taken: Disposition) -> bool {
    matches!(taken, Disposition::Ignored(Ignored::Malformed(_)))
}

/// The connection id under which the host with this nonce wants to be sent to.
pub(crate) fn id_of(nonce: u64) -> [u8; 4] {
    let bytes = nonce.to_le_bytes();
    [bytes[0], bytes[1], bytes[2], bytes[3]]
}

/// A first request.
pub(crate) fn first(nonce: u64, offer: &Offer) -> Vec<u8> {
    request([nonce, 0], &offer.body(&id_of(nonce)))
}

/// A second request, with the acknowledgement of the cookie in front of it.
pub(crate) fn second(nonces: [u64; 2], offer: &Offer) -> Vec<u8> {
    let body = offer.body(&id_of(nonces[0]));
    let mut datagram = acknowledgement(nonces, offer);
    datagram.extend(encoder::long(0xC0, encoder::VERSION, nonces, &body));
    datagram.resize(encoder::PADDED, 0);
    datagram
}

/// An ACK alone.
pub(crate) fn acknowledgement(nonces: [u64; 2], offer: &Offer) -> Vec<u8> {
    encoder::long(
        0xD0,
        encoder::VERSION,
        nonces,
        &offer.body(&id_of(nonces[0])),
    )
}

/// A REQ with a cookie, as listeners send it.
pub(crate) fn cookie(nonces: [u64; 2], offer: &Offer) -> Vec<u8> {
    encoder::long(0xC1, encoder::VERSION, nonces, &offer.body(&[]))
}

/// A refusal because the host is full.
pub(crate) fn refusal(nonce_peer: u64) -> Vec<u8> {
    encoder::long(0xE0, encoder::VERSION, [0, nonce_peer], &[2, 1, 0, 0, 0, 0])
}

/// A DISC with reason 7.
pub(crate) fn disconnection(nonces: [u64; 2]) -> Vec<u8> {
    encoder::long(0xF0, encoder::VERSION, nonces, &[7, 0, 0, 0])
}

/// A `DISC_ACK`.
pub(crate) fn farewell(nonces: [u64; 2]) -> Vec<u8> {
    encoder::long(0xF1, encoder::VERSION, nonces, &[])
}

/// A RESET.
pub(crate) fn reset(connection_id: &[u8]) -> Vec<u8> {
    [&[0xF2], connection_id].concat()
}

/// What a peer knows of its connection when the host has acknowledged it.
pub(crate) fn remote(address: u32, nonces: [u64; 2], offer: &Offer, answer: &[u8]) -> Remote<u32> {
    let len = usize::from(answer[23]);
    Remote {
        address,
        nonces,
        connection_id: answer[24..24 + len].to_vec(),
        next: 0,
        newest: (0, 0), // nothing yet
        heard: BTreeMap::new(),
        shape: Shape {
            id_bytes: 2,
            window: 1 << offer.windows[1],
            check: Some(Check {
                is_crc: offer.integrity == 1,
                nonces,
            }),
        },
    }
}

impl Scene {
    /// Asks for a cookie from there: what it is.
    pub(crate) fn ask(&mut self, from: u32, nonce_self: u64, offer: &Offer) -> u64 {
        assert_eq!(self.deliver(from, &first(nonce_self, offer)), STATELESS);
        let (to, answer) = self.said.last().unwrap();
        assert_eq!((*to, answer[0]), (from, 0xC1), "no cookie");
        nonce(answer)
    }

    /// Asks for a cookie from there: the second request.
    pub(crate) fn prove(&mut self, from: u32, nonce_self: u64, offer: &Offer) -> Vec<u8> {
        let cookie = self.ask(from, nonce_self, offer);
        second([nonce_self, cookie], offer)
    }

    /// Connects from there, step by step.
    pub(crate) fn join(&mut self, from: u32, nonce_self: u64, offer: &Offer) -> Remote<u32> {
        let cookie = self.ask(from, nonce_self, offer);
        let nonces = [nonce_self, cookie];
        let taken = self.deliver(from, &second(nonces, offer));
        assert!(matches!(taken, Disposition::Accepted(_)), "{taken:?}");
        self.trust(from);
        let (_, answer) = self.said.iter().rfind(|(to, _)| *to == from).unwrap();
        assert_eq!(answer[0], 0xD0, "no acknowledgement");
        let mut remote = remote(from, nonces, offer, answer);
        let end = 3 + usize::from(u16::from_le_bytes([answer[1], answer[2]]));
        remote.hear(&answer[end..]);
        remote
    }

    /// Connects from there, and proves the connection by a first frame.
    pub(crate) fn settle(&mut self, from: u32, nonce_self: u64, offer: &Offer) -> Remote<u32> {
        let mut remote = self.join(from, nonce_self, offer);
        let has_heard = remote.newest.1 > 0;
        let ack = has_heard.then(|| self.acknowledgement(&remote));
        let taken = self.send(&mut remote, ack, Vec::new());
        assert!(matches!(taken, Disposition::Handled(_)), "{taken:?}");
        remote
    }

    /// What was said to this address.
    pub(crate) fn said_to(&self, address: u32) -> Vec<&[u8]> {
        let to = self.said.iter().filter(|(to, _)| *to == address);
        to.map(|(_, datagram)| datagram.as_slice()).collect()
    }

    /// The states of all peers at this address, those included that have ended.
    pub(crate) fn states(&self, address: u32) -> Vec<PeerState> {
        let host = &self.host.host;
        let there = host
            .all_peers()
            .filter(|(id, _)| host.address(*id) == Some(address));
        there.map(|(_, peer)| peer.state()).collect()
    }

    /// How peers have ended, as the application was told.
    pub(crate) fn ends(&self) -> Vec<DisconnectReason> {
        let end = |event: &Event<u32>| {
            if let Event::Disconnected { reason, .. } = *event {
                Some(reason)
            } else {
                None
            }
        };
        self.events.iter().filter_map(end).collect()
    }

    /// The number of peers beside the friend, those included that have ended.
    pub(crate) fn others(&self) -> usize {
        self.host.host.all_peers().count() - 1
    }

    /// These bytes change nothing, wherever in the connection they come, and are not answered.
    pub(crate) fn shrugs(&mut self, from: u32, datagram: &[u8]) {
        let before = (self.others(), self.said.len(), self.events.len());
        let state = self.state(from);
        let taken = self.deliver(from, datagram);
        assert!(matches!(taken, Disposition::Ignored(_)), "{taken:?}");
        assert_eq!(self.state(from), state, "{taken:?}");
        let after = (self.others(), self.said.len(), self.events.len());
        assert_eq!(after, before, "{taken:?} of {datagram:02x?}");
    }
}
