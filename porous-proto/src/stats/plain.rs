//! Statistics as text has them (feature `serde`): times in microseconds, and counts of causes by their names.

use core::time::Duration;

use serde::Serializer;

use crate::event::Ignored;
#[cfg(feature = "seal")]
use crate::seal::TokenRefusal;

pub(super) fn us<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}

pub(super) fn ignored<S: Serializer>(
    counts: &[u64; Ignored::COUNT],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(Ignored::NAMES.iter().zip(counts))
}

#[cfg(feature = "seal")]
pub(super) fn tokens_refused<S: Serializer>(
    counts: &[u64; TokenRefusal::COUNT],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(TokenRefusal::NAMES.iter().zip(counts))
}

#[cfg(all(test, feature = "seal"))]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_of_a_token_has_its_name() {
        for (cause, name) in TokenRefusal::ALL.iter().zip(TokenRefusal::NAMES) {
            assert_eq!(name, alloc::format!("{cause:?}").to_lowercase());
            assert_eq!(TokenRefusal::NAMES[cause.index()], name);
        }
    }
}
