//! Sequences of choices, each of which is run once.

/// A sequence of choices: how many there are at a point shows when it is reached. The first choice at each point is
/// to do nothing.
#[derive(Debug)]
pub(crate) struct Schedule {
    /// The choice at each point, and the number of choices there.
    points: Vec<(usize, usize)>,
    /// The point that is reached next.
    next: usize,
    /// Choices other than the first that a schedule may have.
    interventions: usize,
}

impl Schedule {
    /// The schedule that does nothing.
    pub(crate) const fn new(interventions: usize) -> Self {
        Self {
            points: Vec::new(),
            next: 0,
            interventions,
        }
    }

    /// The choice at the next point, at which there are `count`.
    pub(crate) fn choose(&mut self, count: usize) -> usize {
        let made = &self.points[..self.next.min(self.points.len())];
        let interventions = made.iter().filter(|&&(choice, _)| choice > 0).count();
        let count = if interventions < self.interventions {
            count
        } else {
            1
        };
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

    /// Goes on to the next schedule, depth first. False if there is none.
    pub(crate) fn advance(&mut self) -> bool {
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

/// All schedules with these numbers of choices.
#[cfg(test)]
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
