//! The checksum of short datagrams.

use crc::{CRC_32_ISCSI, Crc, Table};

use crate::wire::{NoRoom, Writer};

use super::Malformed;

/// How a connection detects datagrams that were damaged on the way, or that belong to another
/// connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Integrity {
    /// By UDP's own checksum alone. A datagram that is more than two seconds late may then be
    /// taken for a newer one.
    #[default]
    None,
    /// A CRC-32C in every short datagram, which also covers the connection and the full frame id.
    /// It protects against accidents, not against attackers.
    Crc32c,
}

impl Integrity {
    /// The number of bytes at the end of a short datagram.
    pub(crate) const fn tag_length(self) -> usize {
        match self {
            Self::None => 0,
            Self::Crc32c => TAG,
        }
    }

    pub(super) const fn decode(byte: u8) -> Result<Self, Malformed> {
        match byte {
            0 => Ok(Self::None),
            1 => Ok(Self::Crc32c),
            _ => Err(Malformed::BadValue),
        }
    }

    pub(super) const fn encode(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Crc32c => 1,
        }
    }
}

const TAG: usize = 4;

/// So many bytes at a step: the checksum reads everything that is sent. Each takes 1 KiB of
/// constants, which machines without an operating system lack.
const STEP: usize = if cfg!(target_os = "none") { 1 } else { 16 };

static CRC32C: Crc<u32, Table<STEP>> = Crc::<u32, Table<STEP>>::new(&CRC_32_ISCSI);

/// The checksum of a short form without its tag. Both ends know the nonces, each as the other's
/// counterpart, so the smaller one goes first.
fn checksum(short: &[u8], nonces: [u64; 2], frame_id: u64) -> [u8; TAG] {
    let [a, b] = nonces;
    let mut digest = CRC32C.digest();
    digest.update(&a.min(b).to_le_bytes());
    digest.update(&a.max(b).to_le_bytes());
    digest.update(&frame_id.to_le_bytes());
    digest.update(short);
    digest.finalize().to_le_bytes()
}

/// Appends the tag to the short form in the first `length` bytes of `buffer`; the new length.
pub(crate) fn seal(
    buffer: &mut [u8],
    length: usize,
    nonces: [u64; 2],
    frame_id: u64,
) -> Result<usize, NoRoom> {
    let (short, room) = buffer.split_at_mut_checked(length).ok_or(NoRoom)?;
    Writer::new(room).bytes(&checksum(short, nonces, frame_id))?;
    length.checked_add(TAG).ok_or(NoRoom)
}

/// Checks the tag at the end of a short form.
pub(crate) fn verify(short: &[u8], nonces: [u64; 2], frame_id: u64) -> Result<(), Malformed> {
    let (short, tag) = short
        .split_last_chunk::<TAG>()
        .ok_or(Malformed::Truncated)?;
    if *tag == checksum(short, nonces, frame_id) {
        Ok(())
    } else {
        Err(Malformed::Integrity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_side_seals_the_other_verifies() {
        let mut buffer = *b"porous....";
        assert_eq!(seal(&mut buffer, 6, [3, 9], 1 << 40), Ok(10));
        assert_eq!(verify(&buffer, [9, 3], 1 << 40), Ok(()));
    }

    #[test]
    fn any_damage_another_connection_or_another_frame_is_noticed() {
        let mut buffer = [0x55; 40];
        let length = seal(&mut buffer, 36, [3, 9], 1 << 40).unwrap();
        for bit in 0..length * 8 {
            let mut damaged = buffer;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(verify(&damaged, [3, 9], 1 << 40), Err(Malformed::Integrity));
        }
        assert_eq!(verify(&buffer, [3, 8], 1 << 40), Err(Malformed::Integrity));
        // The wire would carry the same low bytes for these.
        assert_eq!(
            verify(&buffer, [3, 9], (1 << 40) + (1 << 32)),
            Err(Malformed::Integrity)
        );
        assert_eq!(
            verify(&buffer[..3], [3, 9], 1 << 40),
            Err(Malformed::Truncated)
        );
    }

    #[test]
    fn a_tag_needs_room() {
        assert_eq!(seal(&mut [0; 9], 6, [3, 9], 1), Err(NoRoom));
        assert_eq!(seal(&mut [0; 9], 10, [3, 9], 1), Err(NoRoom));
    }

    #[test]
    fn the_checksum_is_the_castagnoli_one() {
        assert_eq!(CRC32C.checksum(b"123456789"), 0xE306_9283);
    }
}
