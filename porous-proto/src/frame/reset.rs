//! The answer to a short form of a connection that the receiver knows nothing of. It is no long
//! form: it must not be longer than the least that it can answer (`docs/wire.md`, "RESET").

use crate::wire::{NoRoom, Writer};

use super::{ConnectionId, Malformed};

/// Byte 0; nothing but the connection id follows.
pub(super) const RESET: u8 = 0xF2;

/// Echoes the connection id of what it answers.
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
        if connection_id.is_empty() {
            return Err(Malformed::Truncated);
        }
        Ok(Self { connection_id })
    }
}
