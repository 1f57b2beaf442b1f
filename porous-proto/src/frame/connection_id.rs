//! The name that a host gives a connection: it leads every short datagram sent to that host.

use core::fmt;

use crate::wire::{NoRoom, Reader, Writer};

use super::Malformed;

/// 0 to 8 bytes that the receiver of short datagrams chose. A host uses one length for all of its
/// connections, so that it can read an id without knowing the connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct ConnectionId {
    length: u8,
    /// Zero beyond `length`, so that equality can be derived.
    bytes: [u8; Self::MAX],
}

impl ConnectionId {
    pub(crate) const MAX: usize = 8;

    /// The id of no bytes.
    pub(crate) const EMPTY: Self = Self {
        length: 0,
        bytes: [0; Self::MAX],
    };

    /// `None` if there are more than eight bytes.
    pub(crate) fn new(id: &[u8]) -> Option<Self> {
        let mut bytes = [0; Self::MAX];
        bytes.get_mut(..id.len())?.copy_from_slice(id);
        Some(Self {
            length: u8::try_from(id.len()).ok()?,
            bytes,
        })
    }

    /// The `length` low bytes of `value`; `None` if `length` is above eight.
    pub(crate) fn from_u64(value: u64, length: usize) -> Option<Self> {
        value.to_le_bytes().get(..length).and_then(Self::new)
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
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let length = usize::from(reader.u8()?);
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
    fn an_id_has_at_most_eight_bytes() {
        assert_eq!(ConnectionId::new(&[1; 9]), None);
        assert_eq!(ConnectionId::from_u64(1, 9), None);
        assert_eq!(ConnectionId::new(&[1; 8]).unwrap().len(), 8);
        assert!(ConnectionId::new(&[]).unwrap().is_empty());
        assert_eq!(
            ConnectionId::decode(&mut Reader::new(&[9; 10])),
            Err(Malformed::BadValue)
        );
        assert_eq!(
            ConnectionId::decode(&mut Reader::new(&[4; 4])),
            Err(Malformed::Truncated)
        );
    }

    #[test]
    fn an_id_from_a_number_has_its_low_bytes() {
        let id = ConnectionId::from_u64(0x8877_6655_4433_2211, 4).unwrap();
        assert_eq!(id.as_bytes(), [0x11, 0x22, 0x33, 0x44]);
        assert_eq!(format!("{id:?}"), "#11223344");
        assert_ne!(
            id,
            ConnectionId::from_u64(0x4433_2211, 5).unwrap(),
            "lengths differ"
        );
    }
}
