//! The answer to a request that leads nowhere.

use core::fmt;

use crate::wire::{NoRoom, Reader};

use super::Malformed;
use super::long::{self, Long, REFUSE, VERSION};
use crate::event::Refusal;

/// What an application says with a refusal: at most 64 bytes, which mean what the two applications
/// agreed that they mean (`docs/wire.md`, "REJ").
///
/// ```
/// use porous_proto::RefusalData;
///
/// assert_eq!(RefusalData::new(b"too late").unwrap().as_bytes(), b"too late");
/// assert_eq!(RefusalData::new(&[0; 65]), None);
/// assert_eq!(RefusalData::default().as_bytes(), b"");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RefusalData {
    length: u8,
    /// Zeros beyond the length.
    bytes: [u8; Self::MAX],
}

impl RefusalData {
    /// The most that can be said, in bytes.
    pub const MAX: usize = 64;

    /// These bytes; `None` if there are more than [`MAX`](Self::MAX).
    ///
    /// ```
    /// assert!(porous_proto::RefusalData::new(&[7; 64]).is_some());
    /// ```
    #[must_use]
    pub fn new(data: &[u8]) -> Option<Self> {
        let mut bytes = [0; Self::MAX];
        bytes.get_mut(..data.len())?.copy_from_slice(data);
        let length = u8::try_from(data.len()).ok()?;
        Some(Self { length, bytes })
    }

    /// The bytes.
    ///
    /// ```
    /// # use porous_proto::RefusalData;
    /// assert_eq!(RefusalData::default().as_bytes(), b"");
    /// ```
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes
            .get(..usize::from(self.length))
            .unwrap_or_default()
    }
}

impl Default for RefusalData {
    fn default() -> Self {
        Self {
            length: 0,
            bytes: [0; Self::MAX],
        }
    }
}

impl fmt::Debug for RefusalData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().fmt(f)
    }
}

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
    pub(crate) data: RefusalData,
}

impl Refuse {
    /// Refuses whoever has this nonce.
    pub(crate) fn new(nonce_peer: u64, refusal: Refusal) -> Self {
        let (mut oldest_version, mut newest_version) = (VERSION, VERSION);
        let mut data = RefusalData::default();
        let reason = match refusal {
            Refusal::Version { oldest, newest } => {
                (oldest_version, newest_version) = (oldest, newest);
                RefuseReason::Version
            }
            Refusal::Incompatible => RefuseReason::Incompatible,
            Refusal::Full => RefuseReason::Full,
            Refusal::Application(said) => {
                data = said;
                RefuseReason::Application
            }
        };
        Self {
            nonce_peer,
            reason,
            newest_version,
            oldest_version,
            data,
        }
    }

    /// What it tells the application.
    pub(crate) const fn refusal(&self) -> Refusal {
        match self.reason {
            RefuseReason::Version => Refusal::Version {
                oldest: self.oldest_version,
                newest: self.newest_version,
            },
            RefuseReason::Incompatible => Refusal::Incompatible,
            RefuseReason::Full => Refusal::Full,
            RefuseReason::Application => Refusal::Application(self.data),
        }
    }

    pub(crate) fn encode(&self, buffer: &mut [u8]) -> Result<usize, NoRoom> {
        let data = self.data.as_bytes();
        debug_assert!(data.is_empty() || self.reason == RefuseReason::Application);
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
                writer.u8(self.data.length)?;
                writer.bytes(data)
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
        let data = RefusalData::new(reader.bytes(length)?).ok_or(Malformed::BadValue)?;
        if reader.remaining() != 0 {
            return Err(Malformed::TrailingBytes);
        }
        if length > 0 && reason != RefuseReason::Application {
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
