//! Refusals: the answers to requests that make no connection.

use core::fmt;

use crate::wire::{NoRoom, Reader};

use super::Malformed;
use super::long::{self, Long, REFUSE, VERSION};

/// What an application says with a refusal: at most 64 bytes, whose meaning the two applications agree on
/// (`docs/wire.md`, "REJ").
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
    /// 0 beyond the length, so that equality can be derived.
    bytes: [u8; Self::MAX],
}

impl RefusalData {
    /// The most bytes that a refusal carries.
    pub const MAX: usize = 64;

    /// Refusal data of these bytes; `None` if there are more than [`MAX`](Self::MAX).
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

    /// The bytes that the application gave; empty by default.
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
    /// The remote host speaks other versions of the protocol, from `oldest` to `newest`: one of the two has
    /// to be updated.
    Version {
        /// The oldest version that the remote host speaks.
        oldest: u32,
        /// The newest version that the remote host speaks.
        newest: u32,
    },
    /// The two hosts are of different applications, or of different versions of one: their application ids
    /// differ.
    Incompatible {
        /// The application id of the remote host.
        application_id: u64,
    },
    /// The remote host has as many peers as it allows, or as many of one source; or it lets nobody in now, as it
    /// drains or is overloaded. There may be room later.
    Full,
    /// The remote application does not want the connection, and says this.
    Application(RefusalData),
    /// One of the two hosts demands a sealed connection, and the other cannot or does not seal; or the two have
    /// no suite in common; or one of them could not prove what the other wants to be proved.
    Security,
}

/// A refusal. It names only the requester's nonce: the refuser keeps no state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refuse {
    pub(crate) nonce_peer: u64,
    /// The newest version that the refuser speaks, whatever it refuses for.
    pub(crate) newest_version: u32,
    /// The oldest version that the refuser speaks.
    pub(crate) oldest_version: u32,
    pub(crate) refusal: Refusal,
}

impl Refuse {
    /// Bytes of the longest refusal.
    pub(crate) const LONGEST: usize = long::HEAD + 2 + RefusalData::MAX;

    /// A refusal of the host that has this random id.
    pub(crate) const fn new(nonce_peer: u64, refusal: Refusal) -> Self {
        let (mut newest_version, mut oldest_version) = (VERSION, VERSION);
        // The newest version stands in the head of the form, the oldest in its body.
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
        // The refuser keeps no state, and so has no random id; but it must name whom it answers.
        if long.nonce_self != 0 || long.nonce_peer == 0 {
            return Err(Malformed::BadValue);
        }
        let mut reader = Reader::new(long.body);
        let reason = reader.u8()?;
        let (newest, oldest) = (long.version, reader.u32()?);
        let length = usize::from(reader.u8()?);
        let said = reader.bytes(length)?;
        // A refusal is one form, and is read whatever its version: nothing may hide behind it.
        if reader.remaining() != 0 {
            return Err(Malformed::TrailingBytes);
        }
        let refusal = match (reason, said) {
            // Only two reasons say anything more.
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
