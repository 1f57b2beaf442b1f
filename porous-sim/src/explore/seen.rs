//! The states that schedules have come to.

use alloc::string::String;
use core::hash::Hasher;
use std::collections::HashMap;

use siphasher::sip128::{Hasher128, SipHasher13};

/// The states that schedules of one scene have come to, where there was something to choose.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The most choices that were left in each state, by the state's digest: 128 bits, so that no two states of any
    /// exploration are likely to have the same.
    left: HashMap<u128, u8>,
    /// What was written of the last state.
    text: String,
}

impl Seen {
    /// Whether this state was met before with as many choices left, or with more: then all that begins here was, or
    /// will be, run. `view` writes the state.
    pub(super) fn meet(&mut self, left: usize, view: impl FnOnce(&mut String)) -> bool {
        self.text.clear();
        view(&mut self.text);
        let mut hasher = SipHasher13::new();
        hasher.write(self.text.as_bytes());
        let digest = hasher.finish128().as_u128();
        let left = u8::try_from(left).unwrap_or(u8::MAX);
        let before = self.left.get(&digest).copied();
        if before.is_some_and(|before| before >= left) {
            return true;
        }
        self.left.insert(digest, left);
        false
    }

    /// What was written of the last state.
    #[cfg(test)]
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The number of states.
    pub(super) fn len(&self) -> usize {
        self.left.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_met_again_with_as_many_choices_left_or_fewer() {
        let mut seen = Seen::default();
        let mut meet = |left, state: &str| seen.meet(left, |text| text.push_str(state));
        assert!(!meet(3, "one"));
        assert!(!meet(3, "another"));
        assert!(meet(3, "one") && meet(2, "one"));
        assert!(!meet(4, "one"));
        assert!(meet(4, "one"));
        assert_eq!(seen.len(), 2);
    }
}
