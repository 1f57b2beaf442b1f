//! The answer to a request that leads nowhere.

use arrayvec::ArrayVec;

use crate::wire::{NoRoom, Reader};

use super::Malformed;
use super::long::{self, Long, REFUSE};

/// The most that an application can say with a refusal, in bytes.
pub(crate) const MAX_REFUSAL: usize = 64;

/// Why a host refuses a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefuseReason {
    /// It does not speak that version.
    Version,
    /// The two offers do not go together.
    Incompatible,
    /// It has no place left.
    Full,
    /// Its application does not want it.
    Application,
}

/// A refusal. It names only the requester's nonce: the refuser keeps no state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refuse {
    pub(crate) nonce_peer: u64,
    pub(crate) reason: RefuseReason,
    /// The newest and the oldest version that the refuser speaks.
    pub(crate) newest_version: u32,
    pub(crate) oldest_version: u32,
    /// Empty unless the reason is the application's.
    pub(crate) data: ArrayVec<u8, MAX_REFUSAL>,
}

impl Refuse {
    pub(crate) fn encode(&self, buffer: &mut [u8]) -> Result<usize, NoRoom> {
        debug_assert!(self.data.is_empty() || self.reason == RefuseReason::Application);
        long::encode(
            buffer,
            REFUSE,
            self.newest_version,
            [0, self.nonce_peer],
            |writer| {
                writer.u8(match self.reason {
                    RefuseReason::Version => 0,
                    RefuseReason::Incompatible => 1,
                    RefuseReason::Full => 2,
                    RefuseReason::Application => 3,
                })?;
                writer.u32(self.oldest_version)?;
                writer.u8(u8::try_from(self.data.len()).map_err(|_| NoRoom)?)?;
                writer.bytes(&self.data)
            },
        )
    }

    pub(super) fn decode(long: &Long<'_>) -> Result<Self, Malformed> {
        if long.flags != 0 {
            return Err(Malformed::Reserved);
        }
        if long.nonce_self != 0 || long.nonce_peer == 0 {
            return Err(Malformed::BadValue);
        }
        let mut reader = Reader::new(long.body);
        let reason = match reader.u8()? {
            0 => RefuseReason::Version,
            1 => RefuseReason::Incompatible,
            2 => RefuseReason::Full,
            3 => RefuseReason::Application,
            _ => return Err(Malformed::BadValue),
        };
        let oldest_version = reader.u32()?;
        let length = usize::from(reader.u8()?);
        let data = ArrayVec::try_from(reader.bytes(length)?).map_err(|_| Malformed::BadValue)?;
        if reader.remaining() != 0 {
            return Err(Malformed::TrailingBytes);
        }
        if !data.is_empty() && reason != RefuseReason::Application {
            return Err(Malformed::BadValue);
        }
        let newest_version = long.version;
        Ok(Self {
            nonce_peer: long.nonce_peer,
            reason,
            newest_version,
            oldest_version,
            data,
        })
    }
}
