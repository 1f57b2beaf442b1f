//! The seed, a number that decides everything that happens, and the streams derived from it.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use crate::hash::fnv;

/// The environment variable that replays a run.
const VARIABLE: &str = "POROUS_SEED";

/// The number from which a whole run follows.
///
/// Each part of a simulation takes its own stream, by a name and an index. Streams are independent:
/// drawing more from one, or adding another, changes nothing in the others.
///
/// A seed prints as the setting that replays it: put it into the message of every assertion.
///
/// ```
/// use porous_sim::Seed;
///
/// assert_eq!(Seed::new(123).to_string(), "POROUS_SEED=123");
/// ```
///
/// # Derivation
///
/// A stream is ChaCha with 8 rounds, stream number 0, from block 0, whose key is four integers of
/// 64 bits in little-endian order: the seed, the FNV-1a hash of the name, the index, and the
/// bytes `porous-1`. This will not change: a seed noted down replays for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seed(u64);

impl Seed {
    /// The seed with this number.
    ///
    /// ```
    /// let seed = porous_sim::Seed::new(123);
    /// assert_eq!(seed.get(), 123);
    /// ```
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The seed in the environment variable `POROUS_SEED`, if it is set, or else `default`.
    ///
    /// With this a test has a seed of its own, and a failure on another machine can be replayed without
    /// touching the code.
    ///
    /// # Panics
    ///
    /// If the variable is set and is no seed: a replay that silently used another seed would be worse.
    ///
    /// ```
    /// use porous_sim::Seed;
    ///
    /// let seed = Seed::from_env(Seed::new(7));
    /// assert!(1 + 1 == 2, "arithmetic is broken; replay with {seed}");
    /// ```
    #[must_use]
    pub fn from_env(default: Self) -> Self {
        match std::env::var(VARIABLE) {
            Ok(text) => match text.parse() {
                Ok(seed) => seed,
                Err(error) => panic!("{VARIABLE}={text}: {error}"),
            },
            Err(std::env::VarError::NotPresent) => default,
            Err(error) => panic!("{VARIABLE}: {error}"),
        }
    }

    /// The number of this seed.
    ///
    /// ```
    /// assert_eq!(porous_sim::Seed::new(9).get(), 9);
    /// ```
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The random stream `name`, number `index`: for example one `"host"` for each host.
    ///
    /// ```
    /// use porous_sim::Seed;
    /// use porous_sim::rand_core::Rng;
    ///
    /// let seed = Seed::new(1);
    /// let (mut a, mut b) = (seed.stream("host", 0), seed.stream("host", 1));
    /// assert_ne!(a.next_u64(), b.next_u64());
    /// ```
    #[must_use]
    pub fn stream(self, name: &str, index: u64) -> ChaCha8Rng {
        let words = [
            self.0,
            fnv(name.as_bytes()),
            index,
            u64::from_le_bytes(*b"porous-1"),
        ];
        let mut key = [0; 32];
        for (bytes, word) in key.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        ChaCha8Rng::from_seed(key)
    }

    /// A seed for a part that has streams of its own: the first 64 bits of the stream of that
    /// name and index.
    ///
    /// ```
    /// use porous_sim::Seed;
    ///
    /// let run = Seed::new(1);
    /// assert_ne!(run.child("link", 0), run.child("link", 1));
    /// assert_eq!(run.child("link", 0), Seed::new(1).child("link", 0));
    /// ```
    #[must_use]
    pub fn child(self, name: &str, index: u64) -> Self {
        // By the same derivation as a stream, so that parts of parts are as independent.
        Self(self.stream(name, index).next_u64())
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{VARIABLE}={}", self.0)
    }
}

/// A decimal number, or a hexadecimal one after `0x`, with or without `POROUS_SEED=` before it.
impl FromStr for Seed {
    type Err = ParseSeedError;

    fn from_str(text: &str) -> Result<Self, ParseSeedError> {
        let text = text.trim();
        let digits = text
            .strip_prefix(VARIABLE)
            .and_then(|t| t.strip_prefix('='))
            .unwrap_or(text);
        let number = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        number
            .map(Self)
            .map_err(|_| ParseSeedError { text: text.into() })
    }
}

/// The text is not a seed.
///
/// ```
/// assert!("seven".parse::<porous_sim::Seed>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseSeedError {
    text: String,
}

impl fmt::Display for ParseSeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a seed: a number of 64 bits is expected",
            self.text
        )
    }
}

impl core::error::Error for ParseSeedError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn the_derivation_stays() {
        let seed = Seed::new(123);
        let mut stream = seed.stream("golden", 7);
        assert_eq!(stream.next_u64(), GOLDEN[0]);
        assert_eq!(stream.next_u64(), GOLDEN[1]);
        assert_eq!(seed.child("golden", 7).get(), GOLDEN[0]);
    }

    /// Computed from the documented derivation by another implementation of ChaCha.
    const GOLDEN: [u64; 2] = [427_670_887_939_166_227, 15_574_642_426_472_981_595];

    #[test]
    fn seed_name_and_index_all_count() {
        let base = Seed::new(1).child("a", 0);
        assert_ne!(base, Seed::new(2).child("a", 0));
        assert_ne!(base, Seed::new(1).child("b", 0));
        assert_ne!(base, Seed::new(1).child("a", 1));
    }

    #[test]
    fn what_is_printed_can_be_read() {
        let seed = Seed::new(u64::MAX);
        assert_eq!(seed.to_string().parse(), Ok(seed));
        assert_eq!(" 42\n".parse(), Ok(Seed::new(42)));
        assert_eq!("0xff".parse(), Ok(Seed::new(255)));
        for bad in ["", "-1", "POROUS_SEED", "0x", "18446744073709551616"] {
            assert!(bad.parse::<Seed>().is_err(), "{bad}");
        }
    }
}
