//! Any program of calls, in all three streams.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::draw::Source;
use crate::examine;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn what_is_written_is_measured_read_and_refused_where_it_is_cut(
        bytes in vec(any::<u8>(), 0..300),
    ) {
        let mut source = Source(&bytes);
        let shape = source.shape(0);
        let value = source.value(&shape);
        examine::value(&shape, &value);
    }

    #[test]
    fn what_is_read_from_any_bytes_is_written_as_the_same_bits(
        choice in vec(any::<u8>(), 0..60),
        bytes in vec(any::<u8>(), 0..300),
    ) {
        examine::bytes(&Source(&choice).shape(0), &bytes);
    }

    #[test]
    fn what_was_written_and_damaged_is_refused_or_another_value(
        bytes in vec(any::<u8>(), 0..200),
        place in any::<prop::sample::Index>(),
        bit in 0..8,
    ) {
        let mut source = Source(&bytes);
        let shape = source.shape(0);
        let mut value = source.value(&shape);
        if let Ok((mut written, _)) = shape.written(&mut value, 1 << 16) {
            if !written.is_empty() {
                let place = place.index(written.len());
                written[place] ^= 1_u8 << bit;
                examine::bytes(&shape, &written);
            }
        }
    }
}

/// Most drawn programs have to write something, or nothing would be tested.
#[test]
fn most_of_what_is_drawn_is_written_and_some_is_read() {
    let mut runner = TestRunner::deterministic();
    let strategy = (vec(any::<u8>(), 300), vec(any::<u8>(), 100));
    let (mut written, mut read) = (0, 0);
    for _ in 0..1000 {
        let (choice, bytes) = strategy.new_tree(&mut runner).unwrap().current();
        let mut source = Source(&choice);
        let shape = source.shape(0);
        let value = source.value(&shape);
        written += u32::from(examine::value(&shape, &value));
        read += u32::from(examine::bytes(&shape, &bytes));
    }
    assert!(
        written > 700 && read > 500,
        "{written} written, {read} read"
    );
}
