//! FNV-1a, 64 bits: a digest that tells two runs apart. It is no defence against an attacker.

use core::hash::Hasher;

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// The hash of `bytes`.
pub(crate) const fn fnv(bytes: &[u8]) -> u64 {
    let mut hash = OFFSET;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(PRIME);
        i += 1;
    }
    hash
}

/// FNV-1a as a [`Hasher`] whose result is the same on every machine: the default methods of the
/// trait would write integers in the machine's own byte order, and `usize` in its own width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fnv(u64);

impl Fnv {
    pub(crate) const fn new() -> Self {
        Self(OFFSET)
    }

    /// The hash of one value.
    pub(crate) fn of(value: &impl core::hash::Hash) -> u64 {
        let mut hasher = Self::new();
        value.hash(&mut hasher);
        hasher.finish()
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    }

    fn write_u16(&mut self, n: u16) {
        self.write(&n.to_le_bytes());
    }

    fn write_u32(&mut self, n: u32) {
        self.write(&n.to_le_bytes());
    }

    fn write_u64(&mut self, n: u64) {
        self.write(&n.to_le_bytes());
    }

    fn write_u128(&mut self, n: u128) {
        self.write(&n.to_le_bytes());
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }

    fn write_i16(&mut self, n: i16) {
        self.write(&n.to_le_bytes());
    }

    fn write_i32(&mut self, n: i32) {
        self.write(&n.to_le_bytes());
    }

    fn write_i64(&mut self, n: i64) {
        self.write(&n.to_le_bytes());
    }

    fn write_i128(&mut self, n: i128) {
        self.write(&n.to_le_bytes());
    }

    fn write_isize(&mut self, n: isize) {
        self.write_i64(n as i64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values() {
        assert_eq!(fnv(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn integers_are_little_endian_and_usize_is_64_bits() {
        assert_eq!(Fnv::of(&0x0102_0304_u32), fnv(&[4, 3, 2, 1]));
        assert_eq!(Fnv::of(&7_usize), Fnv::of(&7_u64));
        assert_eq!(Fnv::of(&-2_i16), fnv(&[0xfe, 0xff]));
    }
}
