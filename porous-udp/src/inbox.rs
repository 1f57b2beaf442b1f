//! The memory where datagrams arrive: a few slots, each of one datagram or a train of them.

use core::array::from_fn;
use core::net::{IpAddr, SocketAddr};
use std::io::IoSliceMut;

use porous_proto::Ecn;
use quinn_udp::{EcnCodepoint, RecvMeta};

use crate::address::normalise;

/// Bytes of a slot: at least the largest UDP payload, so that no datagram is cut off. The system may also
/// put up to 64 datagrams of one sender into a slot, together at most this long (GRO).
const SLOT: usize = 65_536;

/// Slots that one call may fill, where the system can fill more than one. A slot that is never filled is
/// never touched, and so takes no memory: a client does not pay for the slots of a server.
pub(crate) const SLOTS: usize = 8;

/// What the system tells of a datagram beside its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) from: SocketAddr,
    /// The address of this host that the datagram was sent to, if the system tells.
    pub(crate) ours: Option<IpAddr>,
    pub(crate) ecn: Ecn,
}

pub(crate) struct Inbox {
    slots: Box<[u8]>,
    filled: [RecvMeta; SLOTS],
}

impl Inbox {
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            slots: vec![0; slots * SLOT].into_boxed_slice(),
            filled: [RecvMeta::default(); SLOTS],
        }
    }

    /// Room for one datagram.
    pub(crate) fn slot(&mut self) -> &mut [u8] {
        &mut self.slots[..SLOT]
    }

    /// Notes that the first slot holds one datagram of `len` bytes.
    pub(crate) fn fill_one(&mut self, len: usize, from: SocketAddr) {
        let mut meta = RecvMeta::default();
        (meta.len, meta.stride, meta.addr) = (len, len, from);
        self.filled[0] = meta;
    }

    /// Room for many datagrams, and for what the system tells of them.
    pub(crate) fn slots(&mut self) -> ([IoSliceMut<'_>; SLOTS], &mut [RecvMeta; SLOTS]) {
        let mut slots = self.slots.chunks_exact_mut(SLOT);
        // The array has a fixed length; where there are fewer slots, the others have no room.
        let slots = from_fn(|_| IoSliceMut::new(slots.next().unwrap_or_default()));
        (slots, &mut self.filled)
    }

    /// The datagrams in the first `filled` slots.
    pub(crate) fn datagrams(&self, filled: usize) -> impl Iterator<Item = (Origin, &[u8])> {
        let slots = self.filled[..filled].iter().zip(self.slots.chunks(SLOT));
        slots.flat_map(|(meta, slot)| {
            let origin = Origin {
                from: normalise(meta.addr),
                ours: meta.dst_ip,
                ecn: ecn(meta.ecn),
            };
            train(&slot[..meta.len], meta.stride).map(move |datagram| (origin, datagram))
        })
    }
}

/// Without the half megabyte of the slots.
impl core::fmt::Debug for Inbox {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { slots, filled: _ } = self;
        f.debug_struct("Inbox")
            .field("bytes", &slots.len())
            .finish_non_exhaustive()
    }
}

/// The datagrams of a slot, each `stride` bytes long except the last, which may be shorter. No bytes at
/// all are one empty datagram.
fn train(bytes: &[u8], stride: usize) -> impl Iterator<Item = &[u8]> {
    // An empty datagram has a stride of 0, by which its length cannot be divided.
    let stride = stride.max(1);
    let count = bytes.len().div_ceil(stride).max(1);
    (0..count).map(move |index| {
        let start = index * stride;
        &bytes[start..bytes.len().min(start + stride)]
    })
}

pub(crate) const fn ecn(codepoint: Option<EcnCodepoint>) -> Ecn {
    match codepoint {
        None => Ecn::NotEct,
        Some(EcnCodepoint::Ect0) => Ecn::Ect0,
        Some(EcnCodepoint::Ect1) => Ecn::Ect1,
        Some(EcnCodepoint::Ce) => Ecn::Ce,
    }
}

/// The mark of a datagram that is to be sent, as the system takes it.
pub(crate) const fn codepoint(ecn: Ecn) -> Option<EcnCodepoint> {
    match ecn {
        Ecn::NotEct => None,
        Ecn::Ect0 => Some(EcnCodepoint::Ect0),
        Ecn::Ect1 => Some(EcnCodepoint::Ect1),
        Ecn::Ce => Some(EcnCodepoint::Ce),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(len: usize, stride: usize) -> Vec<usize> {
        train(&vec![0; len], stride).map(<[u8]>::len).collect()
    }

    #[test]
    fn a_slot_holds_a_train_whose_last_may_be_shorter() {
        assert_eq!(lengths(5, 2), [2, 2, 1]);
        assert_eq!(lengths(4, 2), [2, 2]);
        assert_eq!(lengths(4, 4), [4]);
    }

    #[test]
    fn an_empty_datagram_is_a_datagram() {
        assert_eq!(lengths(0, 0), [0]);
    }

    #[test]
    fn all_that_was_filled_comes_out_in_order() {
        let mut inbox = Inbox::new(2);
        let address = |text: &str| -> SocketAddr { text.parse().unwrap() };
        let (mut slots, filled) = inbox.slots();
        slots[0][..3].copy_from_slice(&[1, 1, 2]);
        (filled[0].len, filled[0].stride) = (3, 2);
        filled[0].addr = address("[::ffff:10.0.0.1]:1");
        slots[1][0] = 3;
        (filled[1].len, filled[1].stride) = (1, 1);
        filled[1].addr = address("10.0.0.2:2");
        filled[1].ecn = Some(EcnCodepoint::Ce);
        let filled_at = Some(IpAddr::from([10, 0, 0, 3]));
        filled[1].dst_ip = filled_at;
        assert!(slots[2].is_empty(), "there are only two");

        let (a, b) = (address("10.0.0.1:1"), address("10.0.0.2:2"));
        let found: Vec<_> = inbox.datagrams(2).collect();
        let origin = |from, ours, ecn| Origin { from, ours, ecn };
        let a = origin(a, None, Ecn::NotEct);
        let b = origin(b, filled_at, Ecn::Ce);
        let wanted: [(_, &[u8]); 3] = [(a, &[1, 1]), (a, &[2]), (b, &[3])];
        assert_eq!(found, wanted);
        assert_eq!(inbox.datagrams(1).count(), 2);
    }
}
