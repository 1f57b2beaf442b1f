//! REQ and ACK from lists of parameters, in any order and with any values.

use porous_tests::encoder::{VERSION, long, parameter};

/// The random ids of the host that connects and of the other.
pub(crate) const ASKS: u64 = 0xA7A6_A5A4_A3A2_A1A0;
pub(crate) const ANSWERS: u64 = 0xB7B6_B5B4_B3B2_B1B0;

/// What the version field said last before version 1.
pub(crate) const BEFORE_RELEASE: u32 = 0xFFFF_0002;

pub(crate) const REQ: u8 = 0xC0;
pub(crate) const REQ_WITH_COOKIE: u8 = 0xC1;
pub(crate) const ACK: u8 = 0xD0;

/// Parameters: types and values, in the order in which they are written.
#[derive(Clone, Debug)]
pub(crate) struct Parameters(Vec<(u8, Vec<u8>)>);

impl Parameters {
    /// The ten that are always there.
    pub(crate) fn least() -> Self {
        let mib = 1_u32 << 20;
        Self(vec![
            (1, 0x0123_4567_89AB_CDEF_u64.to_le_bytes().into()),
            (2, vec![5, 4, 1]),
            (3, 1200_u16.to_le_bytes().into()),
            (4, mib.to_le_bytes().into()),
            (5, (4 * mib).to_le_bytes().into()),
            (6, vec![12, 12]),
            (7, vec![0xFF; 4]),
            (8, mib.to_le_bytes().into()),
            (9, vec![0]),
            (10, vec![0; 4]),
        ])
    }

    /// With another value of this type, or with this one more, behind all others.
    pub(crate) fn with(mut self, kind: u8, value: impl Into<Vec<u8>>) -> Self {
        match self.0.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, old)) => *old = value.into(),
            None => self.0.push((kind, value.into())),
        }
        self
    }

    pub(crate) fn without(mut self, kind: u8) -> Self {
        self.0.retain(|(known, _)| *known != kind);
        self
    }

    /// The same parameter once more, behind all others.
    pub(crate) fn twice(mut self, kind: u8) -> Self {
        let again = self.0.iter().find(|(known, _)| *known == kind).cloned();
        self.0.extend(again);
        self
    }

    pub(crate) fn swapped(mut self, one: usize, other: usize) -> Self {
        self.0.swap(one, other);
        self
    }

    /// The body of a REQ or an ACK.
    pub(crate) fn body(&self, connection_id: &[u8]) -> Vec<u8> {
        let mut body = vec![u8::try_from(connection_id.len()).unwrap()];
        body.extend(connection_id);
        body.extend(
            self.0
                .iter()
                .flat_map(|(kind, value)| parameter(*kind, value)),
        );
        body
    }

    /// A first request.
    pub(crate) fn req(&self) -> Vec<u8> {
        long(REQ, VERSION, [ASKS, 0], &self.body(&ID))
    }

    /// A request that brings a cookie back.
    pub(crate) fn second_req(&self) -> Vec<u8> {
        long(REQ, VERSION, [ASKS, ANSWERS], &self.body(&ID))
    }

    pub(crate) fn cookie(&self) -> Vec<u8> {
        long(REQ_WITH_COOKIE, VERSION, [ANSWERS, ASKS], &self.body(&[]))
    }

    /// The acknowledgement of the host that connects.
    pub(crate) fn ack(&self) -> Vec<u8> {
        long(ACK, VERSION, [ASKS, ANSWERS], &self.body(&ID))
    }
}

/// The connection id of the host that connects.
pub(crate) const ID: [u8; 4] = [0xC1, 0xC2, 0xC3, 0xC4];

/// This number of different bytes.
pub(crate) fn bytes(count: usize) -> Vec<u8> {
    (0..count)
        .map(|i| (i % 251).to_le_bytes()[0] ^ 0x5A)
        .collect()
}

/// The datagram with zeros behind it, up to this length.
pub(crate) fn padded(mut datagram: Vec<u8>, length: usize) -> Vec<u8> {
    datagram.resize(length.max(datagram.len()), 0);
    datagram
}
