//! The header in front of each packet.

use crate::error::Error;
use crate::serialize::Serialize;
use crate::stream::Stream;

/// The header in front of each packet, of 64 bits: the number of the packet, and which packets of the other
/// side have come (`docs/message.md`, "Acks").
///
/// ```
/// use porous_message::{AckHeader, write};
///
/// let mut header = AckHeader { sequence: 258, ack: 65_535, ack_bits: 0b101 };
/// let mut buffer = [0; 8];
/// assert_eq!(write(&mut header, &mut buffer)?, [2, 1, 255, 255, 5, 0, 0, 0]);
/// # Ok::<(), porous_message::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AckHeader {
    /// The number of the packet: one more than that of the packet before, 0 after 65,535.
    pub sequence: u16,
    /// The number of the newest packet that has come from the other side; 0 if none has.
    pub ack: u16,
    /// Bit n, the lowest one being bit 0, is set if packet `ack` - n has come. All bits are 0 before
    /// the first packet has come.
    pub ack_bits: u32,
}

impl Serialize for AckHeader {
    fn blank() -> Self {
        Self::default()
    }

    #[inline]
    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        self.sequence.serialize(stream)?;
        self.ack.serialize(stream)?;
        self.ack_bits.serialize(stream)
    }
}
