//! Sequences of choices, each of which is run once.

use alloc::vec::Vec;

use super::choice::{Choice, Choices};

/// A sequence of choices: how many there are at a point shows when it is reached. The first choice at each point is
/// to do nothing.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The choice at each point, and the number of choices there.
    points: Vec<(usize, usize)>,
    /// The point that is reached next.
    next: usize,
    /// Choices other than the first that a schedule may have.
    interventions: usize,
}

impl Schedule {
    /// The schedule that does nothing. At most this number of choices are others than the first.
    ///
    /// ```
    /// let mut schedule = porous_sim::explore::Schedule::new(0);
    /// assert_eq!(schedule.choose(3), 0);
    /// assert!(!schedule.advance());
    /// ```
    #[must_use]
    pub const fn new(interventions: usize) -> Self {
        Self {
            points: Vec::new(),
            next: 0,
            interventions,
        }
    }

    /// The schedule of these choices.
    pub(super) fn of(choices: &Choices) -> Self {
        let number = |choice: &Choice| Choice::ALL.iter().position(|other| other == choice);
        let numbers = choices.0.iter().filter_map(number);
        Self {
            points: numbers.map(|choice| (choice, Choice::ALL.len())).collect(),
            ..Self::new(usize::MAX)
        }
    }

    /// Choices other than the first that may still be made.
    pub(super) fn left(&self) -> usize {
        let made = &self.points[..self.next.min(self.points.len())];
        let interventions = made.iter().filter(|&&(choice, _)| choice > 0).count();
        self.interventions.saturating_sub(interventions)
    }

    /// The choice at the next point, at which there are `count`.
    ///
    /// # Panics
    ///
    /// If there were other choices at this point before: a run follows from its choices alone.
    ///
    /// ```
    /// let mut schedule = porous_sim::explore::Schedule::new(1);
    /// assert_eq!([schedule.choose(2), schedule.choose(3)], [0, 0]);
    /// ```
    pub fn choose(&mut self, count: usize) -> usize {
        let count = if self.left() > 0 { count } else { 1 };
        if self.next == self.points.len() {
            self.points.push((0, count));
        }
        let (choice, before) = self.points[self.next];
        assert_eq!(
            count, before,
            "the run is another one than before: {self:?}"
        );
        self.next += 1;
        choice
    }

    /// Whether no schedule before has come to the next point: it may be left out, with all schedules that begin
    /// like this, by [`advance`](Self::advance) now.
    #[must_use]
    pub(super) fn is_new(&self) -> bool {
        self.next == self.points.len()
    }

    /// The choices made since the last advance.
    pub(super) fn made(&self) -> impl Iterator<Item = usize> {
        self.points[..self.next].iter().map(|&(choice, _)| choice)
    }

    /// Goes on to the next schedule, depth first. False if there is none.
    ///
    /// # Panics
    ///
    /// If the run has ended before it came to a point to which it came before.
    ///
    /// ```
    /// use porous_sim::explore::Schedule;
    ///
    /// let mut schedule = Schedule::new(1);
    /// let mut all = Vec::new();
    /// loop {
    ///     all.push([schedule.choose(2), schedule.choose(3)]);
    ///     if !schedule.advance() {
    ///         break;
    ///     }
    /// }
    /// assert_eq!(all, [[0, 0], [0, 1], [0, 2], [1, 0]]);
    /// ```
    pub fn advance(&mut self) -> bool {
        assert_eq!(
            self.next,
            self.points.len(),
            "the run has ended early: {self:?}"
        );
        self.next = 0;
        while let Some((choice, count)) = self.points.pop() {
            if choice + 1 < count {
                self.points.push((choice + 1, count));
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    /// All schedules with these numbers of choices.
    fn all(counts: &[usize], interventions: usize) -> Vec<Vec<usize>> {
        let mut schedule = Schedule::new(interventions);
        let mut all = Vec::new();
        loop {
            all.push(counts.iter().map(|&count| schedule.choose(count)).collect());
            if !schedule.advance() {
                return all;
            }
        }
    }

    #[test]
    fn each_schedule_comes_once() {
        let two = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]];
        assert_eq!(all(&[2, 3], 2), two);
        assert_eq!(all(&[2, 3], 1), two[..4]);
        assert_eq!(all(&[2, 3], 0), two[..1]);
        // One with three interventions, of five choices each; three with two; three with one; and the one with none.
        let count = |interventions| all(&[6; 3], interventions).len();
        assert_eq!(
            [3, 2, 1].map(count),
            [125 + 75 + 15 + 1, 75 + 15 + 1, 15 + 1]
        );
    }

    #[test]
    fn what_is_left_out_is_all_that_begins_like_this() {
        let mut schedule = Schedule::new(9);
        let mut all = Vec::new();
        loop {
            // Nothing new comes of the second choice at the first point.
            let first = schedule.choose(3);
            if first == 1 {
                assert!(schedule.is_new());
                assert_eq!(schedule.made().collect::<Vec<_>>(), [1]);
            } else {
                all.push(vec![first, schedule.choose(2)]);
            }
            if !schedule.advance() {
                break;
            }
        }
        assert_eq!(all, [[0, 0], [0, 1], [2, 0], [2, 1]]);
    }
}
