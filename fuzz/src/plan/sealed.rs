//! Datagrams that only hosts that seal understand, as they are drawn.

use bolero::TypeGenerator;
use bolero::generator::produce;
use porous_proto::hooks::codec::{Agreement, Form};
use porous_proto::hooks::sealing::{self, SealedShort, Terms};
use porous_tests::encoder;

use super::Connect;

/// A datagram of the handshake of a sealed connection, or of its end. What is sealed in it is any bytes.
#[derive(Clone, Debug, TypeGenerator)]
pub enum Sealed {
    /// ACK with AUTH, message 1, and a REQ with this many bytes of padding.
    First(First, Connect, u8),
    /// ACK with AUTH, message 2, and a sealed short form.
    Second(
        #[generator(1..=255_u8)] u8,
        #[generator([1..=u64::MAX, 1..=u64::MAX])] [u64; 2],
        Vec<u8>,
        Option<Short>,
    ),
    /// DISC with a MAC, or `DISC_ACK` with one if there is no reason.
    Goodbye(
        #[generator([1..=u64::MAX, 1..=u64::MAX])] [u64; 2],
        Option<u32>,
        [u8; 16],
    ),
}

/// Message 1.
#[derive(Clone, Debug, TypeGenerator)]
pub struct First {
    #[generator(1..=255_u8)]
    suite: u8,
    key_tag: Option<[u8; 4]>,
    proof: Proof,
    /// The message of Noise, which is shortened or filled up.
    message: Vec<u8>,
}

#[derive(Clone, Debug, TypeGenerator)]
enum Proof {
    None,
    Psk(u32),
    Token(#[generator(produce::<Vec<u8>>().with().len(1..373_usize))] Vec<u8>),
}

/// A sealed short form.
#[derive(Clone, Debug, TypeGenerator)]
pub struct Short {
    connection_id: [u8; 20],
    id: u32,
    #[generator(1..5_u8)]
    width: u8,
    /// K, A, N and R.
    flags: [bool; 4],
    #[generator(produce::<Vec<u8>>().with().len(0..100_usize))]
    sealed: Vec<u8>,
}

/// A message of Noise of a length that every suite allows.
fn message(drawn: &[u8], least: usize, most: usize) -> Vec<u8> {
    let mut message = drawn.to_vec();
    message.resize(drawn.len().clamp(least, most), 0xEE);
    message
}

impl Sealed {
    /// The intended forms, and the bytes.
    #[must_use]
    pub fn encode(&self, agreement: &Agreement) -> (Vec<Form>, Vec<u8>) {
        match self {
            Self::First(first, connect, padding) => first.encode(connect, *padding),
            Self::Second(suite, nonces, drawn, short) => {
                // A key, the length of an id, and a tag; at most an id of 20 bytes and a greeting of 255.
                let message = message(drawn, 32 + 1 + 16, 32 + 1 + 20 + 255 + 16);
                let body = [&[*suite, 1][..], &message].concat();
                let mut bytes = encoder::long(0xD2, encoder::VERSION, *nonces, &body);
                let mut forms = vec![Form::Sealed(sealing::Form::Second {
                    nonces: *nonces,
                    suite: *suite,
                    message,
                })];
                if let Some(short) = short {
                    let (form, rest) = short.encode(agreement.connection_id_len);
                    forms.push(Form::SealedShort(form));
                    bytes.extend(rest);
                }
                (forms, bytes)
            }
            Self::Goodbye(nonces, reason, mac) => {
                let byte0 = if reason.is_some() { 0xF8 } else { 0xF9 };
                let mut body: Vec<u8> = reason.iter().flat_map(|it| it.to_le_bytes()).collect();
                body.extend(mac);
                let form = sealing::Form::Goodbye {
                    nonces: *nonces,
                    reason: *reason,
                    mac: *mac,
                };
                let bytes = encoder::long(byte0, encoder::VERSION, *nonces, &body);
                (vec![Form::Sealed(form)], bytes)
            }
        }
    }
}

impl First {
    fn encode(&self, connect: &Connect, padding: u8) -> (Vec<Form>, Vec<u8>) {
        let (request, rest) = connect.encode(0xC0, false);
        let message = message(&self.message, 32 + 16, 32 + 255 + 16);
        let mut terms = Terms {
            suite: self.suite,
            key_tag: self.key_tag,
            psk: None,
            token: None,
        };
        let key = if self.key_tag.is_some() { 2 } else { 0 };
        let mut body = vec![self.suite, key];
        body.extend(self.key_tag.into_iter().flatten());
        match &self.proof {
            Proof::None => {}
            Proof::Psk(number) => {
                body[1] |= 4;
                body.extend(number.to_le_bytes());
                terms.psk = Some(*number);
            }
            Proof::Token(token) => {
                body[1] |= 8;
                let length = u16::try_from(token.len()).expect("372 at most");
                body.extend(length.to_le_bytes());
                body.extend(token);
                terms.token = Some(token.clone());
            }
        }
        body.extend(&message);
        let nonces = request.nonces;
        let mut bytes = encoder::long(0xD2, encoder::VERSION, nonces, &body);
        bytes.extend(rest);
        bytes.resize(bytes.len() + usize::from(padding), 0);
        let first = sealing::Form::First {
            nonces,
            terms,
            message,
        };
        (vec![Form::Sealed(first), Form::Request(request)], bytes)
    }
}

impl Short {
    fn encode(&self, connection_id_len: usize) -> (SealedShort, Vec<u8>) {
        let connection_id = &self.connection_id[..connection_id_len];
        let id = &self.id.to_le_bytes()[..usize::from(self.width)];
        let [phase, has_ack, nonce, ack_now] = self.flags;
        let mut byte0 = 0x40 | (self.width - 1) << 4;
        for (bit, set) in [(8, phase), (4, has_ack), (2, nonce), (1, ack_now)] {
            byte0 |= if set { bit } else { 0 };
        }
        let sealed = [&self.sealed[..], &[0x7A; 16]].concat();
        let bytes = [&[byte0], connection_id, id, &sealed].concat();
        let low = self.id & u32::MAX >> (32 - 8 * u32::from(self.width));
        let form = SealedShort {
            connection_id: connection_id.to_vec(),
            id: (low, self.width),
            phase,
            nonce,
            ack_now,
            has_ack,
            sealed,
        };
        (form, bytes)
    }
}
