//! Long forms that end a connection: the disconnection request and its acknowledgement (§2.5), and
//! the reset of a host that knows nothing of the connection. All name both hosts' ids
//! (`deviations.md` C6).

use crate::wire::{NoRoom, Reader};

use super::long::{self, CONTROL, Long, VERSION};
use super::{ConnectionId, Malformed};

const DISCONNECT: u8 = 0;
const DISCONNECT_ACK: u8 = 1;
const RESET: u8 = 2;

/// A disconnection request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Disconnect {
    pub(crate) nonce_self: u64,
    pub(crate) nonce_peer: u64,
    /// The application's, 0 if it gave none.
    pub(crate) reason: u32,
}

/// The acknowledgement of a disconnection request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DisconnectAck {
    pub(crate) nonce_self: u64,
    pub(crate) nonce_peer: u64,
}

/// The answer to a short datagram with an unknown connection id, which it echoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reset {
    pub(crate) connection_id: ConnectionId,
}

/// A control form of any kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LongControl {
    Disconnect(Disconnect),
    DisconnectAck(DisconnectAck),
    Reset(Reset),
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

#[cfg(test)]
impl Reset {
    pub(crate) fn encode(&self, buffer: &mut [u8]) -> Result<usize, NoRoom> {
        debug_assert!(!self.connection_id.is_empty());
        long::encode(buffer, CONTROL | RESET, VERSION, [0, 0], |w| {
            self.connection_id.encode(w)
        })
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
            RESET if nonce_self != 0 || nonce_peer != 0 => return Err(Malformed::Reserved),
            RESET => {
                let connection_id = ConnectionId::decode(&mut reader)?;
                if connection_id.is_empty() {
                    return Err(Malformed::BadValue);
                }
                Self::Reset(Reset { connection_id })
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
