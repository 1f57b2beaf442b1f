//! Parts as bytes: a part is read as it was written, in one way only, and other bytes do no harm.

use porous_message::{Error, ReadStream, Stream, WriteStream, measure, read, write};
use proptest::prelude::*;

use crate::body::{Body, Rotation};
use crate::history::{GROUPS, Group, History};
use crate::part::{Entry, Header, LONGEST_AGE, PART_BYTES, Part, Unusable};

const TICK: u32 = 1000;

fn rotation() -> impl Strategy<Value = Rotation> {
    let parts = (0_u8..4, prop::array::uniform3(-255_i16..=255));
    parts.prop_map(|(largest, others)| Rotation { largest, others })
}

fn body() -> impl Strategy<Value = Body> {
    let across = prop::array::uniform2(any::<i16>());
    let velocity = prop_oneof![
        Just([0; 3]),
        prop::array::uniform3(-8192_i16..=8191),
        prop::array::uniform3(-100_i16..=100),
    ];
    let parts = (across, 0_i16..=8191, rotation(), velocity, 0_u8..=100);
    parts.prop_map(|([x, y], z, rotation, velocity, health)| Body {
        position: [x, y, z],
        rotation,
        velocity,
        health,
    })
}

fn group() -> impl Strategy<Value = Group> {
    prop::array::uniform8(body())
}

/// A state that may follow: the expected one, one near it, or any other.
fn successor(before: Body, age: u8, other: Body, kind: u8, by: i16) -> Body {
    let mut body = before.later(age);
    match kind {
        0 => {}
        1 => body.position[0] = body.position[0].wrapping_add(by),
        2 => body.rotation.others[1] = by.clamp(-255, 255),
        3 => body.velocity = [0; 3],
        4 => body.health = other.health,
        _ => body = other,
    }
    body
}

/// The baselines, and a part that refers to them.
fn part() -> impl Strategy<Value = (History, Part)> {
    let kinds = prop::array::uniform8((0_u8..6, any::<i16>()));
    let one = (0_u8..=LONGEST_AGE, group(), group(), kinds);
    let indices = prop::sample::subsequence((0_u8..).take(GROUPS).collect::<Vec<_>>(), 1..=6);
    let groups = prop::collection::vec(one, 6);
    (any::<u64>(), indices, groups).prop_map(|(id, indices, groups)| {
        let mut history = History::new(LONGEST_AGE.into());
        let (mut entries, mut after) = (Vec::new(), Vec::new());
        for (index, (age, before, other, kinds)) in indices.into_iter().zip(groups) {
            history.insert(TICK - u32::from(age), index, before);
            entries.push(Entry { index, age });
            after.push(core::array::from_fn(|n| {
                let (kind, by) = kinds[n];
                successor(before[n], age, other[n], kind, by)
            }));
        }
        let header = Header {
            id,
            tick: TICK,
            entries,
        };
        (
            history,
            Part {
                header,
                groups: after,
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_written_is_read_and_takes_no_more_than_was_measured((history, part) in part()) {
        let bytes = part.clone().write(&history).unwrap();
        prop_assert_eq!(Part::read(&bytes, &history), Ok(part.clone()));

        let mut bits = Part::EMPTY_BITS;
        let mut before = Entry::NONE;
        for (entry, mut group) in part.header.entries.into_iter().zip(part.groups) {
            let baseline = entry.baseline(TICK, &history);
            bits += entry.measure(before, &mut group, baseline).unwrap();
            before = entry;
        }
        prop_assert!(bytes.len() as u64 <= bits.div_ceil(8));
    }

    #[test]
    fn what_was_cut_off_or_changed_is_refused_or_read_as_what_it_says(
        (history, part) in part(),
        cut in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..4),
    ) {
        let mut part = part;
        let bytes = part.write(&history).unwrap();
        let cut = Part::read(&bytes[..cut.index(bytes.len())], &history);
        prop_assert!(matches!(cut, Err(Unusable::Malformed(_))), "{cut:?}");
        let mut changed = bytes;
        for (at, by) in changes {
            let at = at.index(changed.len());
            changed[at] ^= by;
        }
        if let Ok(mut part) = Part::read(&changed, &history) {
            prop_assert_eq!(part.write(&history), Ok(changed));
        }
    }

    #[test]
    fn any_bytes_do_no_harm((history, _) in part(), bytes in prop::collection::vec(any::<u8>(), 0..1200)) {
        if let Ok(mut part) = Part::read(&bytes, &history) {
            prop_assert_eq!(part.write(&history), Ok(bytes));
        }
    }

    #[test]
    fn an_object_in_full_is_read_as_it_was(mut body in body()) {
        let bytes = write(&mut body, &mut [0; 32]).unwrap().to_vec();
        prop_assert_eq!(read(&bytes), Ok(body));
    }

    /// A reader needs to know no more than the state before.
    #[test]
    fn a_flying_object_costs_one_bit(body in body(), age in 1_u8..=LONGEST_AGE) {
        let mut group = [body.later(age); 8];
        let entry = Entry { index: 0, age };
        let bits = entry.measure(Entry { index: u8::MAX, age }, &mut group, Some(&[body; 8]));
        prop_assert_eq!(bits, Ok(2 + 8));
    }
}

#[test]
fn a_group_in_full_fits_a_part() {
    let mut group = [Body {
        velocity: [1; 3],
        ..Body::default()
    }; 8];
    let bits = measure(&mut group).unwrap() + Part::EMPTY_BITS + 16;
    assert!(bits.div_ceil(8) < PART_BYTES as u64);
}

#[test]
fn a_part_without_its_baseline_is_reported_by_its_id() {
    let mut history = History::new(10);
    history.insert(TICK - 5, 7, Group::default());
    let header = Header {
        id: 3,
        tick: TICK,
        entries: vec![Entry { index: 7, age: 5 }],
    };
    let bytes = Part {
        header,
        groups: vec![Group::default()],
    }
    .write(&history)
    .unwrap();
    assert!(Part::read(&bytes, &history).is_ok());
    let unusable = Unusable::NoBaseline { id: 3 };
    assert_eq!(Part::read(&bytes, &History::new(10)), Err(unusable));
    // The baseline was there, and is forgotten.
    history.insert(TICK + 6, 7, Group::default());
    assert_eq!(Part::read(&bytes, &history), Err(unusable));
}

#[test]
fn a_small_turn_is_not_read_as_another_rotation() {
    // The position is not the expected one, but the one before; another rotation, which is 0, 0, 0.
    let fields = [
        (0, 1),
        (0b111, 3),
        (0, 1),
        (0, 2),
        (255, 9),
        (255, 9),
        (255, 9),
    ];
    let mut buffer = [0; 8];
    let mut stream = WriteStream::new(&mut buffer);
    for (mut value, bits) in fields {
        stream.bits(&mut value, bits).unwrap();
    }
    let mut stream = ReadStream::new(stream.finish());
    let read = Body::default().differences(&mut stream, &Body::default());
    assert_eq!(read, Err(Error::NotCanonical));
}

/// Unit quaternions of all kinds come back within the steps.
#[test]
fn rotations_are_rounded_and_no_more() {
    for unit in [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, -1.0, 0.0, 0.0],
        [0.5, 0.5, -0.5, 0.5],
        [-0.1, 0.7, 0.1, -0.7],
        [0.6, 0.0, -0.8, 0.0],
    ] {
        let rotation = Rotation::new(unit);
        let largest = usize::from(rotation.largest);
        let sign = unit[largest].signum();
        let mut others = rotation.others.iter();
        for (n, part) in unit.into_iter().enumerate().filter(|(n, _)| *n != largest) {
            let read = f64::from(*others.next().unwrap()) / (core::f64::consts::SQRT_2 * 255.0);
            assert!((read - part * sign).abs() < 0.002, "{n} of {unit:?}");
        }
    }
}
