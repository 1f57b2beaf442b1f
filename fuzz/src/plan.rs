//! Frames that the library can build, as they are drawn: the intended forms, and the bytes that an
//! encoder writes for them that shares no code with the library.

use bolero::TypeGenerator;
use bolero::generator::produce;
use porous_proto::Integrity;
use porous_proto::hooks::codec::{self, Agreement, Form};
use porous_tests::encoder;

pub mod sealed;
mod short;

pub use short::Short;

/// A datagram.
#[derive(Clone, Debug, TypeGenerator)]
pub enum Plan {
    /// A short form.
    Short(Short),
    /// A short form: drawn more often.
    Short2(Short),
    /// ACK, and a short form.
    AcknowledgeShort(Connect, Short),
    /// ACK, and a REQ with this many bytes of padding.
    AcknowledgeRequest(Connect, u8),
    /// ACK alone.
    Acknowledge(Connect),
    /// REQ, with COOKIE if true, and the bytes of its padding.
    Request(Connect, bool, u8),
    /// A refusal: the nonce, the reason, both versions, the application's data.
    Refuse(
        #[generator(1..=u64::MAX)] u64,
        #[generator(0..5_u8)] u8,
        [u32; 2],
        #[generator(produce::<Vec<u8>>().with().len(0..65_usize))] Vec<u8>,
    ),
    /// The nonces, and the reason of DISC. Without it, `DISC_ACK`.
    Disconnect(
        #[generator([1..=u64::MAX, 1..=u64::MAX])] [u64; 2],
        Option<u32>,
    ),
    /// The id of a RESET.
    Reset(#[generator(produce::<Vec<u8>>().with().len(1..21_usize))] Vec<u8>),
}

/// The fields that REQ and ACK share.
#[derive(Clone, Debug, TypeGenerator)]
pub struct Connect {
    #[generator([1..=u64::MAX, 1..=u64::MAX])]
    nonces: [u64; 2],
    #[generator(produce::<Vec<u8>>().with().len(0..21_usize))]
    connection_id: Vec<u8>,
    application: u64,
    #[generator(1..=255_u8)]
    channels: u8,
    /// Priorities of the channels, a bit for each; from the 64th on the bits repeat.
    high: u64,
    #[generator(512..=u16::MAX)]
    datagram: u16,
    #[generator(1..=u32::MAX - 64)]
    packet: u32,
    more: u32,
    #[generator([4..=16_u8, 4..=16_u8])]
    windows: [u8; 2],
    #[generator([1..=u32::MAX, 1..=u32::MAX])]
    rates: [u32; 2],
    checksum: bool,
    extensions: u32,
    /// Bytes that a datagram may be longer than `datagram` if the path carries it.
    path_mtu: Option<u16>,
    /// The index of a list of suites.
    #[generator(0..8_u8)]
    sealed: u8,
    /// The timeout in milliseconds; 0 counts as 1.
    timeout: Option<u32>,
    /// The greeting of requests without a cookie.
    #[generator(produce::<Vec<u8>>().with().len(0..256_usize))]
    greeting: Vec<u8>,
    /// A parameter that is not known yet, behind all others.
    unknown: Option<Unknown>,
}

/// A parameter that is not known yet.
#[derive(Clone, Debug, TypeGenerator)]
pub struct Unknown {
    #[generator(15..=255_u8)]
    kind: u8,
    #[generator(produce::<Vec<u8>>().with().len(0..256_usize))]
    value: Vec<u8>,
}

/// Suites: most offers have none.
const SUITES: [&[u8]; 8] = [
    &[],
    &[],
    &[],
    &[],
    &[1],
    &[2, 1],
    &[255, 1, 254],
    &[1, 2, 3, 4],
];

impl Plan {
    /// The intended forms, and the bytes.
    #[must_use]
    pub fn encode(&self, agreement: &Agreement) -> (Vec<Form>, Vec<u8>) {
        match self {
            Self::Short(short) | Self::Short2(short) => {
                let (form, bytes) = short.encode(agreement);
                (vec![form], bytes)
            }
            Self::AcknowledgeShort(connect, short) => {
                let (connect, mut bytes) = connect.encode(0xD0, false);
                let (form, rest) = short.encode(agreement);
                bytes.extend(rest);
                (vec![Form::Acknowledge(connect), form], bytes)
            }
            Self::AcknowledgeRequest(connect, padding) => {
                let (first, mut bytes) = connect.encode(0xD0, false);
                let (second, rest) = connect.encode(0xC0, false);
                bytes.extend(rest);
                bytes.resize(bytes.len() + usize::from(*padding), 0);
                (vec![Form::Acknowledge(first), Form::Request(second)], bytes)
            }
            Self::Acknowledge(connect) => {
                let (connect, bytes) = connect.encode(0xD0, false);
                (vec![Form::Acknowledge(connect)], bytes)
            }
            Self::Request(connect, cookie, padding) => {
                let (connect, mut bytes) = connect.encode(0xC0 | u8::from(*cookie), *cookie);
                bytes.resize(bytes.len() + usize::from(*padding), 0);
                (vec![Form::Request(connect)], bytes)
            }
            Self::Refuse(nonce_peer, reason, versions, data) => {
                let data = match reason {
                    1 => &nonce_peer.to_le_bytes(), // as good an application id as any
                    3 => &data[..],
                    _ => &[],
                };
                let length = u8::try_from(data.len()).expect("64 at most");
                let body = [&[*reason][..], &versions[1].to_le_bytes(), &[length], data];
                let bytes = encoder::long(0xE0, versions[0], [0, *nonce_peer], &body.concat());
                let form = Form::Refuse {
                    nonce_peer: *nonce_peer,
                    reason: *reason,
                    versions: *versions,
                    data: data.to_vec(),
                };
                (vec![form], bytes)
            }
            Self::Disconnect(nonces, Some(reason)) => {
                let bytes = encoder::long(0xF0, encoder::VERSION, *nonces, &reason.to_le_bytes());
                (vec![Form::Disconnect(*nonces, *reason)], bytes)
            }
            Self::Disconnect(nonces, None) => {
                let bytes = encoder::long(0xF1, encoder::VERSION, *nonces, &[]);
                (vec![Form::DisconnectAck(*nonces)], bytes)
            }
            Self::Reset(id) => (vec![Form::Reset(id.clone())], [&[0xF2], &id[..]].concat()),
        }
    }
}

impl Connect {
    fn path_mtu(&self) -> Option<u16> {
        self.datagram.checked_add(self.path_mtu?.max(1))
    }

    fn timeout(&self) -> Option<u32> {
        Some(self.timeout?.max(1))
    }

    fn encode(&self, byte0: u8, cookie: bool) -> (codec::Connect, Vec<u8>) {
        let connection_id = if cookie { &[] } else { &self.connection_id[..] };
        let budget = (self.packet + 64).saturating_add(self.more);
        let offer = encoder::Offer {
            application: self.application,
            channels: self.channels,
            datagram: self.datagram,
            packet: self.packet,
            budget,
            windows: self.windows,
            rates: self.rates,
            integrity: u8::from(self.checksum),
            extensions: self.extensions,
            path_mtu: self.path_mtu(),
            sealed: SUITES[usize::from(self.sealed)],
            timeout: self.timeout(),
        };
        let mut body = offer.body(connection_id);
        let greets = byte0 == 0xC0 && !self.greeting.is_empty();
        let greeting = if greets { &self.greeting[..] } else { &[] };
        if greets {
            body.extend(encoder::parameter(14, greeting));
        }
        if let Some(unknown) = &self.unknown {
            body.extend(encoder::parameter(unknown.kind, &unknown.value));
        }
        let high = |i: u8| self.high >> (i % 64) & 1 == 1;
        let channels: Vec<_> = (0..self.channels).map(high).collect();
        // The priorities follow the length and bytes of the id, the first parameter, and three bytes.
        let priorities = &mut body[1 + connection_id.len() + 10 + 3..];
        for (i, high) in channels.iter().enumerate() {
            priorities[i / 4] |= u8::from(*high) << (2 * (i % 4));
        }
        let connect = codec::Connect {
            cookie,
            nonces: self.nonces,
            connection_id: connection_id.to_vec(),
            application: self.application,
            channels,
            datagram: self.datagram,
            packet: self.packet,
            budget,
            windows: self.windows,
            rates: self.rates,
            integrity: if self.checksum {
                Integrity::Crc32c
            } else {
                Integrity::Header
            },
            extensions: self.extensions,
            path_mtu: self.path_mtu(),
            sealed: offer.sealed.to_vec(),
            timeout: self.timeout(),
            greeting: greeting.to_vec(),
        };
        (
            connect,
            encoder::long(byte0, encoder::VERSION, self.nonces, &body),
        )
    }
}
