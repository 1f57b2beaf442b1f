//! The check at the end of short datagrams (`docs/wire.md`, "Integrity").

use core::hash::Hasher;

use crc::{CRC_32_ISCSI, Crc, Table};
use siphasher::sip::SipHasher13;

use crate::wire::{NoRoom, Writer};

use super::Malformed;

/// What the check of a connection covers: the four bytes at the end of each of its short datagrams.
///
/// Either kind shows that the sender knows the random ids of both hosts and the whole 64-bit frame ids that
/// it means, of which a datagram has the low bytes. It refuses, but for one in 2^32, datagrams of another
/// connection, datagrams that come too late for their ids to be told, recorded ones that are repeated, and
/// the guesses of an attacker that does not see the connection's datagrams, which has to guess the connection
/// id as well.
///
/// Neither kind stops an attacker that sees them: that takes encryption. From one datagram it can make
/// others: with [`Crc32c`](Self::Crc32c), which is linear, any of the same length; with
/// [`Header`](Self::Header) the same one with another content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Integrity {
    /// The first byte, the frame id and the newest acknowledged id, by a keyed hash. UDP's own checksum
    /// guards the rest against damage. The default.
    #[default]
    Header,
    /// All of these and every other byte, by CRC-32C: for networks whose UDP checksums cannot be relied on. A
    /// connection uses it if either host asks for it.
    Crc32c,
}

impl Integrity {
    pub(super) const fn decode(byte: u8) -> Result<Self, Malformed> {
        match byte {
            0 => Ok(Self::Header),
            1 => Ok(Self::Crc32c),
            _ => Err(Malformed::BadValue),
        }
    }

    pub(super) const fn encode(self) -> u8 {
        match self {
            Self::Header => 0,
            Self::Crc32c => 1,
        }
    }
}

/// The length of the check in bytes (`deviations.md` P15).
pub(crate) const TAG: usize = 4;

/// Bytes that the CRC takes at a step: many, as it reads everything that is sent. Each takes 1 KiB of
/// constants, which machines without an operating system lack.
const STEP: usize = if cfg!(target_os = "none") { 1 } else { 16 };

static CRC32C: Crc<u32, Table<STEP>> = Crc::<u32, Table<STEP>>::new(&CRC_32_ISCSI);

/// What the checks of a connection are made with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Check {
    pub(crate) integrity: Integrity,
    /// The random id of this host (§2.3).
    pub(crate) ours: u64,
    /// The random id of the remote host.
    pub(crate) theirs: u64,
}

/// The whole ids of which a datagram has the low bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ids {
    pub(crate) frame: u64,
    /// The newest acknowledged id, if there is an acknowledgement.
    pub(crate) acked: Option<u64>,
}

impl Check {
    /// Appends the check to the short form in the first `length` bytes of `buffer`. Returns the new length.
    pub(crate) fn append(
        &self,
        buffer: &mut [u8],
        length: usize,
        ids: Ids,
    ) -> Result<usize, NoRoom> {
        let (short, room) = buffer.split_at_mut_checked(length).ok_or(NoRoom)?;
        // The sender's id goes first, so that a datagram that comes back to its sender does not match.
        let check = compute(self.integrity, [self.ours, self.theirs], short, ids);
        Writer::new(room).bytes(&check)?;
        length.checked_add(TAG).ok_or(NoRoom)
    }

    /// Checks the end of a short form of the remote host.
    pub(crate) fn verify(&self, short: &[u8], ids: Ids) -> Result<(), Malformed> {
        let (short, check) = short
            .split_last_chunk::<TAG>()
            .ok_or(Malformed::Truncated)?;
        // The remote host is the sender here.
        if *check == compute(self.integrity, [self.theirs, self.ours], short, ids) {
            Ok(())
        } else {
            Err(Malformed::Integrity)
        }
    }
}

/// The check of a short form. `nonces` are those of its sender and of its receiver.
fn compute(integrity: Integrity, nonces: [u64; 2], short: &[u8], ids: Ids) -> [u8; TAG] {
    let [sender, receiver] = nonces;
    let (frame, acked) = (ids.frame.to_le_bytes(), ids.acked.map(u64::to_le_bytes));
    let acked = acked.as_ref().map_or(&[][..], |id| &id[..]);
    match integrity {
        Integrity::Header => {
            // One round less than SipHash-2-4 has for each block, and one less at the end: an attacker that
            // is to be kept out never sees a hash, and to guess 32 bits is easier than any known attack.
            let mut hasher = SipHasher13::new_with_keys(sender, receiver);
            // Of the body nothing: UDP's checksum guards it, and a hash of all bytes would cost time.
            // In one piece, as the hasher looks at each piece singly.
            let mut bytes = [0; 17];
            let both = u128::from(ids.acked.unwrap_or_default()) << 64 | u128::from(ids.frame);
            if let Some(place) = bytes.first_chunk_mut() {
                *place = both.to_le_bytes();
            }
            let head = frame.len().saturating_add(acked.len());
            if let (Some(place), Some(&first)) = (bytes.get_mut(head), short.first()) {
                *place = first;
            }
            let len = head.saturating_add(usize::from(!short.is_empty()));
            hasher.write(bytes.get(..len).unwrap_or_default());
            let [a, b, c, d, ..] = hasher.finish().to_le_bytes();
            [a, b, c, d]
        }
        Integrity::Crc32c => {
            let mut digest = CRC32C.digest();
            digest.update(&sender.to_le_bytes());
            digest.update(&receiver.to_le_bytes());
            digest.update(&frame);
            digest.update(acked);
            digest.update(short);
            digest.finalize().to_le_bytes()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Integrity; 2] = [Integrity::Header, Integrity::Crc32c];

    const IDS: Ids = Ids {
        frame: 1 << 40,
        acked: Some(1 << 41),
    };

    fn check(integrity: Integrity, ours: u64, theirs: u64) -> Check {
        Check {
            integrity,
            ours,
            theirs,
        }
    }

    #[test]
    fn what_one_side_appends_the_other_verifies() {
        for integrity in BOTH {
            let mut buffer = *b"porous....";
            let appended = check(integrity, 3, 9).append(&mut buffer, 6, IDS);
            assert_eq!(appended, Ok(10));
            assert_eq!(check(integrity, 9, 3).verify(&buffer, IDS), Ok(()));
        }
    }

    #[test]
    fn another_connection_another_frame_and_a_mirror_are_noticed() {
        for integrity in BOTH {
            let mut buffer = [0x55; 40];
            let length = check(integrity, 3, 9).append(&mut buffer, 36, IDS);
            assert_eq!(length, Ok(40));
            let refused = |ours, theirs, ids| {
                let result = check(integrity, ours, theirs).verify(&buffer, ids);
                assert_eq!(result, Err(Malformed::Integrity), "{ours} {theirs} {ids:?}");
            };
            refused(8, 3, IDS);
            refused(9, 4, IDS);
            refused(3, 9, IDS);
            // The wire would carry the same low bytes for these.
            for other in [256, 1 << 16, 1 << 24, 1 << 32] {
                let (frame, acked) = (IDS.frame, IDS.acked.unwrap());
                for frame in [frame + other, frame - other] {
                    refused(9, 3, Ids { frame, ..IDS });
                }
                for acked in [None, Some(acked + other), Some(acked - other)] {
                    refused(9, 3, Ids { acked, ..IDS });
                }
            }
            let short = check(integrity, 9, 3).verify(&buffer[..3], IDS);
            assert_eq!(short, Err(Malformed::Truncated));
        }
    }

    #[test]
    fn damage_is_noticed_where_the_check_covers_it() {
        for (integrity, covered) in [(Integrity::Header, 1), (Integrity::Crc32c, 36)] {
            let mut buffer = [0x55; 40];
            let length = check(integrity, 3, 9).append(&mut buffer, 36, IDS);
            assert_eq!(length, Ok(40));
            for bit in 0..buffer.len() * 8 {
                let mut damaged = buffer;
                damaged[bit / 8] ^= 1 << (bit % 8);
                let is_noticed = bit / 8 < covered || bit / 8 >= 36;
                let verified = check(integrity, 9, 3).verify(&damaged, IDS);
                assert_eq!(verified.is_err(), is_noticed, "{integrity:?} {bit}");
            }
        }
    }

    /// As the documents say (`docs/limits.md`, "Who can do what"): an attacker that has seen a datagram
    /// forges others of its length with CRC-32C, and with the keyed hash no other head, but any other
    /// content.
    #[test]
    fn an_attacker_that_has_seen_a_datagram_can_forge_what_its_check_leaves_open() {
        let message = |short: &[u8; 36], ids: Ids| {
            let acked = ids.acked.unwrap().to_le_bytes();
            [&ids.frame.to_le_bytes()[..], &acked, short].concat()
        };
        for forged in 1..=50_u8 {
            let mut seen = [0x55; 40];
            let length = check(Integrity::Crc32c, 3, 9).append(&mut seen, 36, IDS);
            assert_eq!(length, Ok(40));
            let (was, theirs) = seen.split_at(36);
            let was: [u8; 36] = was.try_into().unwrap();
            let is = [forged; 36];
            let next = Ids {
                frame: IDS.frame + u64::from(forged),
                ..IDS
            };
            let sums = [message(&was, IDS), message(&is, next)].map(|it| CRC32C.checksum(&it));
            let known = u32::from_le_bytes(theirs.try_into().unwrap());
            let sum = known ^ sums[0] ^ sums[1];
            let datagram = [&is[..], &sum.to_le_bytes()].concat();
            assert_eq!(
                check(Integrity::Crc32c, 9, 3).verify(&datagram, next),
                Ok(())
            );

            let mut seen = [0x55; 40];
            let length = check(Integrity::Header, 3, 9).append(&mut seen, 36, IDS);
            assert_eq!(length, Ok(40));
            seen[1..36].fill(forged);
            let forger = check(Integrity::Header, 9, 3);
            assert_eq!(forger.verify(&seen, IDS), Ok(()), "other content");
            assert_eq!(forger.verify(&seen, next), Err(Malformed::Integrity));
        }
    }

    #[test]
    fn the_keyed_hash_is_that_of_the_ids_and_of_the_first_byte() {
        for acked in [None, Some(1 << 41)] {
            let ids = Ids { acked, ..IDS };
            let mut hasher = SipHasher13::new_with_keys(3, 9);
            hasher.write(&ids.frame.to_le_bytes());
            if let Some(acked) = acked {
                hasher.write(&acked.to_le_bytes());
            }
            hasher.write(b"p");
            let hash = hasher.finish().to_le_bytes();
            let check = compute(Integrity::Header, [3, 9], b"porous", ids);
            assert_eq!(check, hash[..TAG]);
        }
    }

    #[test]
    fn the_check_needs_room() {
        for integrity in BOTH {
            let check = check(integrity, 3, 9);
            assert_eq!(check.append(&mut [0; 9], 6, IDS), Err(NoRoom));
            assert_eq!(check.append(&mut [0; 9], 10, IDS), Err(NoRoom));
        }
    }

    #[test]
    fn the_crc_is_the_castagnoli_one() {
        assert_eq!(CRC32C.checksum(b"123456789"), 0xE306_9283);
    }
}
