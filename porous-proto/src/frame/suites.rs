//! Parameter 12 of an offer: the cipher suites with which its sender can seal a connection
//! (`docs/wire.md`, "Sealing").

use super::Malformed;

/// The numbers of up to four suites, the best first, each once and none 0. Empty: the sender does not
/// seal, and the parameter is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Suites {
    /// Zeros beyond the last.
    numbers: [u8; Self::MAX],
}

impl Suites {
    pub(crate) const MAX: usize = 4;

    /// Those of a value as it was received: at least one.
    pub(super) fn decode(value: &[u8]) -> Result<Self, Malformed> {
        let mut suites = Self::default();
        for (place, &number) in value.iter().enumerate() {
            let seen = suites.numbers.contains(&number); // 0 is, while there is room
            let free = suites.numbers.get_mut(place).filter(|_| !seen);
            *free.ok_or(Malformed::BadValue)? = number;
        }
        if suites.is_empty() {
            return Err(Malformed::BadValue);
        }
        Ok(suites)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        let end = self.numbers.iter().position(|&number| number == 0);
        let end = end.unwrap_or(Self::MAX);
        self.numbers.get(..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_are_one_to_four_each_once_and_none_0() {
        for good in [&[1][..], &[255], &[2, 1], &[4, 3, 2, 1]] {
            assert_eq!(Suites::decode(good).unwrap().as_bytes(), good);
        }
        for bad in [
            &[][..],
            &[0],
            &[0, 1],
            &[1, 0],
            &[1, 2, 3, 0],
            &[1, 1],
            &[1, 2, 1],
            &[1, 2, 3, 4, 5],
            &[1, 2, 3, 4, 0],
            &[1, 2, 3, 4, 1],
        ] {
            assert_eq!(Suites::decode(bad), Err(Malformed::BadValue), "{bad:?}");
        }
        assert!(Suites::default().is_empty());
        assert_eq!(Suites::default().as_bytes(), b"");
    }
}
