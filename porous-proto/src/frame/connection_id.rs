//! Connection ids: the name that a host gives a connection, at the front of every short datagram to that
//! host.

use core::fmt;

use crate::wire::{NoRoom, Reader, Writer};

use super::Malformed;

/// 0 to 20 bytes that the receiver of short datagrams chooses. A host uses one length for all of its
/// connections, so that it can read an id before it knows the connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct ConnectionId {
    length: u8,
    /// 0 beyond `length`, so that equality can be derived.
    bytes: [u8; Self::MAX],
}

impl ConnectionId {
    /// As long as QUIC's, so that what routes datagrams by those can route them by these (RFC 9000 §17.2).
    pub(crate) const MAX: usize = 20;

    /// The id of no bytes.
    pub(crate) const EMPTY: Self = Self {
        length: 0,
        bytes: [0; Self::MAX],
    };

    /// `None` if there are more than 20 bytes.
    pub(crate) fn new(id: &[u8]) -> Option<Self> {
        let mut bytes = [0; Self::MAX];
        bytes.get_mut(..id.len())?.copy_from_slice(id);
        Some(Self {
            length: u8::try_from(id.len()).ok()?,
            bytes,
        })
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len()).unwrap_or_default()
    }

    pub(crate) fn len(&self) -> usize {
        usize::from(self.length)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Reads an id with a leading length byte, as long forms carry it.
    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let length = usize::from(reader.u8()?);
        // Before the bytes are read: a length that is out of range is no datagram that ends too early.
        if length > Self::MAX {
            return Err(Malformed::BadValue);
        }
        Self::new(reader.bytes(length)?).ok_or(Malformed::BadValue)
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) -> Result<(), NoRoom> {
        writer.u8(self.length)?;
        writer.bytes(self.as_bytes())
    }
}

/// In hexadecimal.
impl fmt::Debug for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("#")?;
        self.as_bytes()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn an_id_has_at_most_twenty_bytes() {
        assert_eq!(ConnectionId::new(&[1; 21]), None);
        assert_eq!(ConnectionId::new(&[1; 20]).unwrap().len(), 20);
        assert!(ConnectionId::new(&[]).unwrap().is_empty());
        let longest = ConnectionId::decode(&mut Reader::new(&[20; 21]));
        assert_eq!(longest.unwrap().as_bytes(), [20; 20]);
        assert_eq!(
            ConnectionId::decode(&mut Reader::new(&[21; 22])),
            Err(Malformed::BadValue)
        );
        assert_eq!(
            ConnectionId::decode(&mut Reader::new(&[4; 4])),
            Err(Malformed::Truncated)
        );
    }

    #[test]
    fn an_id_is_its_bytes_and_their_number() {
        let id = ConnectionId::new(&[0x11, 0x22, 0x33, 0x44]).unwrap();
        assert_eq!(format!("{id:?}"), "#11223344");
        let longer = ConnectionId::new(&[0x11, 0x22, 0x33, 0x44, 0]).unwrap();
        assert_ne!(id, longer, "lengths differ");
    }
}
