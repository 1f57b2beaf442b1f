//! The buffer against a model whose numbers never wrap, and under a loss that deceives a buffer which
//! does not clear.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use porous_sim::rand_core::Rng;
use porous_sim::{Seed, below};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Sequence numbers in a turn.
const TURN: u64 = 1 << 16;

#[expect(clippy::cast_possible_truncation, reason = "a remainder of a turn")]
const fn wrapped(number: u64) -> u16 {
    (number % TURN) as u16
}

/// The buffer in numbers that do not wrap.
struct Model {
    size: u64,
    newest: Option<u64>,
    values: BTreeMap<u64, u64>,
}

impl Model {
    fn insert(&mut self, number: u64, value: u64) -> bool {
        let newest = self.newest.map_or(number, |newest| newest.max(number));
        self.newest = Some(newest);
        self.values.retain(|old, _| old + self.size > newest);
        let reached = number + self.size > newest;
        if reached {
            self.values.insert(number, value);
        }
        reached
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// A value at this distance from the newest number.
    Insert(i64),
    Remove(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let near = -40_i64..40;
    let far = -32_767_i64..=32_767;
    let distance = prop_oneof![8 => near, 1 => far, 1 => Just(32_767)];
    let step = prop_oneof![
        4 => distance.clone().prop_map(Step::Insert),
        1 => distance.prop_map(Step::Remove),
    ];
    vec(step, 0..200)
}

proptest! {
    #[test]
    fn a_sequence_buffer_holds_what_a_map_of_unwrapped_numbers_would(
        size in prop_oneof![1_usize..70, 1_usize..=32_768],
        first in 0..TURN,
        steps in steps(),
    ) {
        let mut buffer = SequenceBuffer::new(size);
        let size = buffer.size() as u64;
        let mut model = Model { size, newest: None, values: BTreeMap::new() };
        let start = 4 * TURN + first;
        for (value, step) in (0..).zip(steps) {
            let newest = model.newest.unwrap_or(start);
            match step {
                Step::Insert(distance) => {
                    let number = newest.saturating_add_signed(distance);
                    let kept = model.insert(number, value);
                    prop_assert_eq!(buffer.accepts(wrapped(number)), kept);
                    prop_assert_eq!(buffer.insert(wrapped(number), value), kept);
                }
                Step::Remove(distance) => {
                    let number = newest.saturating_add_signed(distance);
                    prop_assert_eq!(buffer.remove(wrapped(number)), model.values.remove(&number));
                }
            }
            prop_assert_eq!(buffer.newest(), model.newest.map(wrapped));
            let newest = model.newest.unwrap_or(start);
            for number in newest - 80..newest + 80 {
                let expected = model.values.get(&number);
                prop_assert_eq!(buffer.get(wrapped(number)), expected);
                prop_assert_eq!(buffer.contains(wrapped(number)), expected.is_some());
            }
        }
        // Every value that is left, and nothing else.
        let held = (0..=u16::MAX).filter_map(|sequence| buffer.get_mut(sequence).copied());
        let mut held: Vec<u64> = held.collect();
        let mut expected: Vec<u64> = model.values.into_values().collect();
        held.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(held, expected);
    }
}

/// A buffer that believes what it finds in a place if the number next to it is the right one, and
/// never clears.
struct Naive(Vec<Option<(u16, u64)>>);

impl Naive {
    fn insert(&mut self, sequence: u16, value: u64) {
        let place = usize::from(sequence) % self.0.len();
        self.0[place] = Some((sequence, value));
    }

    fn get(&self, sequence: u16) -> Option<u64> {
        let found = self.0[usize::from(sequence) % self.0.len()];
        found
            .filter(|(of, _)| *of == sequence)
            .map(|(_, value)| value)
    }
}

/// The number of values of an earlier turn that our buffer and the naive one find, if 99 of 100 numbers
/// are lost for five turns.
fn stale_under_heavy_loss(size: usize, seed: Seed) -> [usize; 2] {
    let mut rng = seed.stream("loss", 0);
    let mut ours = SequenceBuffer::new(size);
    let mut naive = Naive(alloc::vec![None; ours.size()]);
    let mut stale = [0; 2];
    for number in 0..5 * TURN {
        if below(rng.next_u64(), 100) > 0 {
            continue;
        }
        assert!(ours.insert(wrapped(number), number));
        naive.insert(wrapped(number), number);
        for asked in number.saturating_sub(ours.size() as u64 - 1)..=number {
            let found = [ours.get(wrapped(asked)).copied(), naive.get(wrapped(asked))];
            for (count, found) in stale.iter_mut().zip(found) {
                *count += usize::from(found.is_some_and(|number| number != asked));
            }
        }
    }
    stale
}

#[test]
fn nothing_of_an_earlier_turn_is_found_under_heavy_loss() {
    for size in [256, 1024, 4096] {
        let seed = Seed::from_env(Seed::new(1));
        let [ours, naive] = stale_under_heavy_loss(size, seed);
        assert_eq!(ours, 0, "size {size}, replay with {seed}");
        // The test can fail: a buffer that does not clear is fooled.
        assert!(naive > 0, "size {size}, replay with {seed}");
    }
}

#[test]
fn a_jump_clears_everything_and_no_more_than_there_is() {
    let mut buffer = SequenceBuffer::new(8);
    for sequence in 0..8 {
        assert!(buffer.insert(sequence, sequence));
    }
    assert!(buffer.insert(30_000, 30_000));
    let held: Vec<u16> = (0..=u16::MAX).filter(|s| buffer.contains(*s)).collect();
    assert_eq!(held, [30_000]);
}

#[test]
fn half_a_turn_away_only_the_smaller_number_is_newer() {
    let mut buffer = SequenceBuffer::new(32_768);
    assert!(buffer.insert(40_000, 'a'));
    assert!(buffer.insert(7232, 'b'));
    assert!(!buffer.contains(40_000));
    assert!(!buffer.insert(40_000, 'c'));
    assert_eq!(buffer.newest(), Some(7232));
}
