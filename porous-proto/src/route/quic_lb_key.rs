//! QUIC-LB's encryption of connection ids, by AES-128: draft-ietf-quic-load-balancers-21, §5.3 to §5.5.

use core::fmt;

use aes::Aes128;
use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

use super::quic_lb::{ServerId, sealed_part};

/// The bytes of an id but the first, if one pass of the cipher encrypts them.
const BLOCK: usize = 16;

/// The most bytes of half an id but its first byte: of 19.
const HALF: usize = 10;

/// The key by which a balancer reads encrypted connection ids. Made once: that takes as long as reading
/// several ids.
///
/// ```
/// use porous_proto::route::QuicLbKey;
///
/// // The first encrypted id of the draft's appendix B.
/// let key = QuicLbKey::new(&[
///     0x8F, 0x95, 0xF0, 0x92, 0x45, 0x76, 0x5F, 0x80, 0x25, 0x69, 0x34, 0xE5, 0x0C, 0x66, 0x20, 0x7F,
/// ]);
/// let id = [0x07, 0x20, 0xB1, 0xD0, 0x7B, 0x35, 0x9D, 0x3C];
/// assert_eq!(key.server(&id, 3).unwrap().as_bytes(), [0xED, 0x79, 0x3A]);
/// ```
#[derive(Clone)]
pub struct QuicLbKey(Aes128);

impl QuicLbKey {
    /// The key of these bytes, which the servers give to
    /// [`QuicLb::encrypted`](crate::route::QuicLb::encrypted).
    ///
    /// ```
    /// use porous_proto::route::QuicLbKey;
    ///
    /// let key = QuicLbKey::new(&[7; 16]);
    /// # let _ = key;
    /// ```
    #[must_use]
    pub fn new(key: &[u8; 16]) -> Self {
        Self(Aes128::new(&Array::from(*key)))
    }

    /// The server that an encrypted connection id names. `server_id_len` is the length of the servers' ids
    /// in the id's [configuration](crate::route::quic_lb_rotation), 1 to 15 bytes. `None` as for
    /// [`quic_lb_server`](crate::route::quic_lb_server). An id that was made with another key, or at random,
    /// gives an id of a server that most likely does not exist.
    ///
    /// ```
    /// use porous_proto::route::QuicLbKey;
    ///
    /// let key = QuicLbKey::new(&[7; 16]);
    /// assert!(key.server(&[0x07; 8], 3).is_some());
    /// assert!(key.server(&[0x07; 7], 3).is_none());
    /// ```
    #[must_use]
    pub fn server(&self, id: &[u8], server_id_len: usize) -> Option<ServerId> {
        let mut bytes = [0; 2 * HALF];
        let encrypted = sealed_part(id, server_id_len)?;
        let part = bytes.get_mut(..encrypted.len())?;
        part.copy_from_slice(encrypted);
        self.decrypt(part);
        ServerId::new(part.get(..server_id_len)?)
    }

    /// Encrypts an id but its first byte: 5 to 19 bytes.
    fn encrypt(&self, part: &mut [u8]) {
        if let Ok(block) = <&mut [u8; BLOCK]>::try_from(&mut *part) {
            self.0.encrypt_block(block.into());
            return;
        }
        let mut halves = Halves::split(part);
        for pass in 1..=4 {
            halves.pass(pass, &self.0);
        }
        halves.join(part);
    }

    /// The inverse of [`encrypt`](Self::encrypt).
    fn decrypt(&self, part: &mut [u8]) {
        if let Ok(block) = <&mut [u8; BLOCK]>::try_from(&mut *part) {
            self.0.decrypt_block(block.into());
            return;
        }
        let mut halves = Halves::split(part);
        for pass in (1..=4).rev() {
            halves.pass(pass, &self.0);
        }
        halves.join(part);
    }
}

/// Never shows the key.
impl fmt::Debug for QuicLbKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QuicLbKey").finish_non_exhaustive()
    }
}

/// How a server encrypts its ids.
#[derive(Clone, Copy)]
pub(super) struct Encryption {
    /// Not expanded: a server makes an id for each connection, not for each datagram.
    key: [u8; 16],
    /// Behind a pointer, so that a program that never calls [`QuicLb::encrypted`](super::QuicLb::encrypted)
    /// does not contain AES, although each host could draw such ids.
    encrypt: fn(&[u8; 16], &mut [u8]),
}

impl Encryption {
    #[cfg(feature = "record")]
    pub(super) const fn key(&self) -> [u8; 16] {
        self.key
    }

    pub(super) const fn new(key: [u8; 16]) -> Self {
        Self {
            key,
            encrypt: |key, part| QuicLbKey::new(key).encrypt(part),
        }
    }

    /// Encrypts an id but its first byte.
    pub(super) fn encrypt(&self, part: &mut [u8]) {
        (self.encrypt)(&self.key, part);
    }
}

/// The two halves of an id but its first byte. A middle byte, if the number is odd, lies in both: its upper
/// half in the left one, its lower half in the right one, with zeros for the other half.
struct Halves {
    left: [u8; HALF],
    right: [u8; HALF],
    /// Bytes of both together, 5 to 19.
    length: u8,
}

impl Halves {
    fn split(part: &[u8]) -> Self {
        let mut halves = Self {
            left: [0; HALF],
            right: [0; HALF],
            length: u8::try_from(part.len()).unwrap_or_default(),
        };
        let half = halves.half();
        for (to, from) in halves.left.iter_mut().zip(part.iter().take(half)) {
            *to = *from;
        }
        let right = part.iter().skip(halves.start_of_right());
        halves
            .right
            .iter_mut()
            .zip(right)
            .for_each(|(to, from)| *to = *from);
        halves.clear_other_halves();
        halves
    }

    /// The bytes of each half.
    fn half(&self) -> usize {
        usize::from(self.length.div_ceil(2))
    }

    /// Where the right half begins.
    fn start_of_right(&self) -> usize {
        usize::from(self.length / 2)
    }

    /// Clears in each half of an odd number of bytes what belongs to the other.
    fn clear_other_halves(&mut self) {
        if self.length % 2 == 1 {
            // The middle byte is the last of the left half.
            let middle = self.start_of_right();
            if let Some(byte) = self.left.get_mut(middle) {
                *byte &= 0xF0;
            }
            self.right[0] &= 0x0F;
        }
    }

    /// One pass: odd ones change the right half by the left one, even ones the left half by the right one.
    /// Each is its own inverse.
    fn pass(&mut self, number: u8, cipher: &Aes128) {
        let half = self.half();
        let (from, to) = if number % 2 == 1 {
            (&self.left, &mut self.right)
        } else {
            (&self.right, &mut self.left)
        };
        // The half, zeros, the length, and the number of the pass.
        let mut block = [0; BLOCK];
        for (to, from) in block.iter_mut().zip(from) {
            *to = *from;
        }
        block[14] = self.length;
        block[15] = number;
        cipher.encrypt_block((&mut block).into());
        for (byte, pad) in to.iter_mut().zip(block).take(half) {
            *byte ^= pad;
        }
        self.clear_other_halves();
    }

    fn join(&self, part: &mut [u8]) {
        part.fill(0);
        let start = self.start_of_right();
        for (to, from) in part.iter_mut().zip(self.left).take(self.half()) {
            *to = from;
        }
        for (to, from) in part.iter_mut().skip(start).zip(self.right) {
            *to |= from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;

    use crate::route::{QuicLb, quic_lb_rotation, quic_lb_server};

    /// The key of the draft's examples.
    const KEY: [u8; 16] = [
        0x8F, 0x95, 0xF0, 0x92, 0x45, 0x76, 0x5F, 0x80, 0x25, 0x69, 0x34, 0xE5, 0x0C, 0x66, 0x20,
        0x7F,
    ];

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = hex.as_bytes().chunks(2);
        let byte = |two| u8::from_str_radix(core::str::from_utf8(two).unwrap(), 16).unwrap();
        digits.map(byte).collect()
    }

    /// The server makes the id, and the balancer finds the server.
    fn check(rotation: u8, [server, nonce, id]: [&str; 3], key: [u8; 16]) {
        let (server, nonce, id) = (bytes(server), bytes(nonce), bytes(id));
        let ids = QuicLb::new(rotation, &server).unwrap().encrypted(key);
        let mut made = [&[0x55][..], &server, &nonce].concat();
        ids.put(&mut made);
        assert_eq!(made, id);
        let key = QuicLbKey::new(&key);
        assert_eq!(key.server(&id, server.len()), Some(ids.server()));
        assert_eq!(quic_lb_rotation(&id), Some(rotation));
    }

    /// Appendix B of the draft, "Encrypted CIDs". The first byte of the fourth id is printed as 0x12, which
    /// is that of rotation 0, although the table says 3.
    #[test]
    fn encrypted_ids_are_those_of_the_draft() {
        check(0, ["ed793a", "ee080dbf", "0720b1d07b359d3c"], KEY);
        check(
            1,
            [
                "ed793a51d49b8f5fab65",
                "ee080dbf48",
                "2fcc381bc74cb4fbad2823a3d1f8fed2",
            ],
            KEY,
        );
        check(
            2,
            [
                "ed793a51d49b8f5f",
                "ee080dbf48c0d1e5",
                "504dd2d05a7b0de9b2b9907afb5ecf8cc3",
            ],
            KEY,
        );
        let fourth = ["ed793a51d49b8f5fab", "ee080dbf48c0d1e55d"];
        let printed = "125779c9cc86beb3a3a4a3ca96fce4bfe0cdbc";
        check(0, [fourth[0], fourth[1], printed], KEY);
        let routed = "725779c9cc86beb3a3a4a3ca96fce4bfe0cdbc";
        check(3, [fourth[0], fourth[1], routed], KEY);
    }

    /// The example whose four passes the draft shows one by one.
    #[test]
    fn the_example_of_four_passes_is_that_of_the_draft() {
        let key = bytes("fdf726a9893ec05c0632d3956680baf0");
        let key = <[u8; 16]>::try_from(key).unwrap();
        check(0, ["31441a", "9c69c275", "0767947d29be054a"], key);
    }

    #[test]
    fn a_balancer_reads_what_a_server_has_made_whatever_the_lengths() {
        let key = QuicLbKey::new(&KEY);
        for server_len in 1..=15 {
            for length in server_len + 5..=20 {
                let server: Vec<u8> = (1..=15).take(server_len).collect();
                let ids = QuicLb::new(4, &server).unwrap().encrypted(KEY);
                for seed in 0..=255 {
                    let mut id: Vec<u8> = (seed..=255).chain(0..=255).take(length).collect();
                    ids.put(&mut id);
                    assert_eq!(id[0], 4 << 5 | u8::try_from(length - 1).unwrap());
                    assert_eq!(key.server(&id, server_len), Some(ids.server()));
                    // A permutation has few fixed points: what it was is not to be seen.
                    let hidden = quic_lb_server(&id, server_len) != Some(ids.server());
                    assert!(hidden || server_len < 3, "{id:?}");
                }
            }
        }
    }

    #[test]
    fn nobody_is_shown_a_key() {
        let ids = QuicLb::new(0, &[1]).unwrap().encrypted([0xAB; 16]);
        let text = format!("{ids:?} {:?}", QuicLbKey::new(&[0xAB; 16]));
        assert_eq!(
            text,
            "QuicLb { rotation: 0, server: 01, .. } QuicLbKey { .. }"
        );
    }
}
