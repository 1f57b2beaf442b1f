//! The answer to a request that leads nowhere.

use core::fmt;

use crate::wire::{NoRoom, Reader};

use super::Malformed;
use super::long::{self, Long, REFUSE, VERSION};

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

/// Why a remote host refused a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// It speaks other versions of the protocol: from `oldest` to `newest`.
    Version {
        /// The oldest version it speaks.
        oldest: u32,
        /// The newest version it speaks.
        newest: u32,
    },
    /// The two configurations do not fit: another application id.
    Incompatible {
        /// That of the remote host.
        application_id: u64,
    },
    /// It has as many peers as it allows.
    Full,
    /// Its application does not want the connection, and says this.
    Application(RefusalData),
    /// One of the two hosts demands a sealed connection, and the other cannot or does not seal. This
    /// version of the library never does, so that the other one demands it.
    Security,
}

/// A refusal. It names only the requester's nonce: the refuser keeps no state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refuse {
    pub(crate) nonce_peer: u64,
    /// The newest and the oldest version that the refuser speaks, whatever it refuses for.
    pub(crate) newest_version: u32,
    pub(crate) oldest_version: u32,
    pub(crate) refusal: Refusal,
}

impl Refuse {
    /// The bytes of the longest.
    pub(crate) const LONGEST: usize = long::HEAD + 2 + RefusalData::MAX;

    /// Refuses the host that has this nonce.
    pub(crate) const fn new(nonce_peer: u64, refusal: Refusal) -> Self {
        let (mut newest_version, mut oldest_version) = (VERSION, VERSION);
        if let Refusal::Version { oldest, newest } = refusal {
            (newest_version, oldest_version) = (newest, oldest);
        }
        Self {
            nonce_peer,
            newest_version,
            oldest_version,
            refusal,
        }
    }

    pub(crate) fn encode(&self, buffer: &mut [u8]) -> Result<usize, NoRoom> {
        let id;
        let (reason, said) = match &self.refusal {
            Refusal::Version { .. } => (0, &[][..]),
            Refusal::Incompatible { application_id } => {
                id = application_id.to_le_bytes();
                (1, &id[..])
            }
            Refusal::Full => (2, &[][..]),
            Refusal::Application(data) => (3, data.as_bytes()),
            Refusal::Security => (4, &[][..]),
        };
        let length = u8::try_from(said.len()).map_err(|_| NoRoom)?;
        let nonces = [0, self.nonce_peer];
        long::encode(buffer, REFUSE, self.newest_version, nonces, |writer| {
            writer.u8(reason)?;
            writer.u32(self.oldest_version)?;
            writer.u8(length)?;
            writer.bytes(said)
        })
    }

    pub(super) fn decode(long: &Long<'_>) -> Result<Self, Malformed> {
        if long.flags != 0 {
            return Err(Malformed::Reserved);
        }
        if long.nonce_self != 0 || long.nonce_peer == 0 {
            return Err(Malformed::BadValue);
        }
        let mut reader = Reader::new(long.body);
        let reason = reader.u8()?;
        let (newest, oldest) = (long.version, reader.u32()?);
        let length = usize::from(reader.u8()?);
        let said = reader.bytes(length)?;
        if reader.remaining() != 0 {
            return Err(Malformed::TrailingBytes);
        }
        let refusal = match (reason, said) {
            (0, []) => Refusal::Version { oldest, newest },
            (1, &[a, b, c, d, e, f, g, h]) => Refusal::Incompatible {
                application_id: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            },
            (2, []) => Refusal::Full,
            (3, said) => Refusal::Application(RefusalData::new(said).ok_or(Malformed::BadValue)?),
            (4, []) => Refusal::Security,
            _ => return Err(Malformed::BadValue),
        };
        Ok(Self {
            nonce_peer: long.nonce_peer,
            newest_version: newest,
            oldest_version: oldest,
            refusal,
        })
    }
}
