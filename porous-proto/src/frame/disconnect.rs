//! What ends a connection: the disconnection request and its acknowledgement, which name both hosts' random
//! ids (§2.5; `deviations.md` C6), and the reset, which answers a short form of a connection that its
//! receiver knows nothing of (`docs/wire.md`, "RESET").

use super::long::{self, CONTROL, Long, VERSION};
use super::{ConnectionId, Malformed};
use crate::wire::{NoRoom, Reader, Writer};

pub(super) const DISCONNECT: u8 = 0;
pub(super) const DISCONNECT_ACK: u8 = 1;

/// A disconnection request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Disconnect {
    pub(crate) nonce_self: u64,
    pub(crate) nonce_peer: u64,
    /// The reason that the application gave, 0 if it gave none.
    pub(crate) reason: u32,
}

/// The acknowledgement of a disconnection request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DisconnectAck {
    pub(crate) nonce_self: u64,
    pub(crate) nonce_peer: u64,
}

/// A control form of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LongControl {
    Disconnect(Disconnect),
    DisconnectAck(DisconnectAck),
}

impl Disconnect {
    pub(crate) fn encode(&self, buffer: &mut [u8]) -> Result<usize, NoRoom> {
        let nonces = [self.nonce_self, self.nonce_peer];
        long::encode(buffer, CONTROL | DISCONNECT, VERSION, nonces, |w| {
            w.u32(self.reason)
        })
    }
}

impl DisconnectAck {
    pub(crate) fn encode(&self, buffer: &mut [u8]) -> Result<usize, NoRoom> {
        let nonces = [self.nonce_self, self.nonce_peer];
        long::encode(
            buffer,
            CONTROL | DISCONNECT_ACK,
            VERSION,
            nonces,
            |_| Ok(()),
        )
    }
}

impl LongControl {
    pub(super) fn decode(long: &Long<'_>) -> Result<Self, Malformed> {
        if long.version != VERSION {
            return Err(Malformed::Version);
        }
        let (nonce_self, nonce_peer) = (long.nonce_self, long.nonce_peer);
        let mut reader = Reader::new(long.body);
        let control = match long.flags {
            // Both random ids are named, or a late or forged disconnection would end another connection (C6).
            DISCONNECT => {
                long.expect_nonces()?;
                Self::Disconnect(Disconnect {
                    nonce_self,
                    nonce_peer,
                    reason: reader.u32()?,
                })
            }
            DISCONNECT_ACK => {
                long.expect_nonces()?;
                Self::DisconnectAck(DisconnectAck {
                    nonce_self,
                    nonce_peer,
                })
            }
            _ => return Err(Malformed::UnknownType),
        };
        if reader.remaining() == 0 {
            Ok(control)
        } else {
            Err(Malformed::TrailingBytes)
        }
    }
}

/// Byte 0 of a reset; the connection id follows, and nothing else. It is no long form, as it must not be
/// longer than the shortest datagram that it can answer.
pub(super) const RESET: u8 = 0xF2;

/// A reset: echoes the connection id of the datagram that it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reset {
    /// 1 to 20 bytes.
    pub(crate) connection_id: ConnectionId,
}

impl Reset {
    pub(crate) fn encode(&self, buffer: &mut [u8]) -> Result<usize, NoRoom> {
        debug_assert!(!self.connection_id.is_empty());
        let mut writer = Writer::new(buffer);
        writer.u8(RESET)?;
        writer.bytes(self.connection_id.as_bytes())?;
        Ok(writer.position())
    }

    /// Reads what follows byte 0.
    pub(super) fn decode(rest: &[u8]) -> Result<Self, Malformed> {
        let connection_id = ConnectionId::new(rest).ok_or(Malformed::TrailingBytes)?;
        // A datagram without a connection id is not answered by a reset: it would name nothing.
        if connection_id.is_empty() {
            return Err(Malformed::Truncated);
        }
        Ok(Self { connection_id })
    }
}
