//! Checks what became of a stream of numbered packets.

use core::ops::AddAssign;

/// Counts of received packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Packets that came intact, each number counted once.
    pub(crate) delivered: u64,
    /// Intact packets whose number had come before.
    pub(crate) duplicated: u64,
    /// Packets delivered after a later one.
    pub(crate) out_of_order: u64,
    /// Packets that differ from the packets that were sent.
    pub(crate) corrupt: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.delivered += other.delivered;
        self.duplicated += other.duplicated;
        self.out_of_order += other.out_of_order;
        self.corrupt += other.corrupt;
    }
}

/// The numbers that have come, and counts of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checker {
    /// One bit a number.
    seen: Vec<u64>,
    /// One more than the highest number that has come.
    next: u32,
    counts: Counts,
}

impl Checker {
    /// Notes an intact packet. Returns true if it is the first with its number.
    pub(crate) fn arrived(&mut self, number: u32) -> bool {
        let (word, bit) = ((number / 64) as usize, 1 << (number % 64));
        if word >= self.seen.len() {
            self.seen.resize(word + 1, 0);
        }
        if self.seen[word] & bit != 0 {
            self.counts.duplicated += 1;
            return false;
        }
        self.seen[word] |= bit;
        self.counts.delivered += 1;
        // Only a new number can be out of order: a copy is counted as such above.
        if number < self.next {
            self.counts.out_of_order += 1;
        }
        self.next = self.next.max(number + 1);
        true
    }

    pub(crate) const fn corrupt(&mut self) {
        self.counts.corrupt += 1;
    }

    pub(crate) const fn counts(&self) -> Counts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(numbers: &[u32]) -> (u64, u64, u64) {
        let mut checker = Checker::default();
        for &number in numbers {
            checker.arrived(number);
        }
        let counts = checker.counts();
        (counts.delivered, counts.duplicated, counts.out_of_order)
    }

    #[test]
    fn each_thing_is_counted_once() {
        assert_eq!(counts(&[]), (0, 0, 0));
        assert_eq!(counts(&[0, 1, 2]), (3, 0, 0));
        assert_eq!(counts(&[0, 5, 9]), (3, 0, 0), "gaps are losses");
        assert_eq!(counts(&[0, 2, 1]), (3, 0, 1));
        assert_eq!(counts(&[0, 1, 1, 0]), (2, 2, 0), "not out of order as well");
        assert_eq!(counts(&[64, 63, 128, 64]), (3, 1, 1));
    }
}
