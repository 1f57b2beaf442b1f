//! The state of one object as both sides know it: whole numbers. The world rounds once, and all that
//! follows is exact: the server encodes against the same numbers that the client adds to.

use core::ops::RangeInclusive;

use porous_message::{Error, Serialize, Stream};

/// Steps of 1/512 m to either side of the middle, and above the ground.
const ACROSS: RangeInclusive<i16> = -32_768..=32_767;
const ABOVE: RangeInclusive<i16> = 0..=8191;
/// Steps of 1/512 m/s.
const SPEED: RangeInclusive<i16> = -8192..=8191;
/// What the components of a rotation are rounded to, and how much of a turn is a small one.
const TURN: RangeInclusive<i16> = -255..=255;
const SMALL_TURN: RangeInclusive<i16> = -64..=63;
const HEALTH: RangeInclusive<u8> = 0..=100;

/// Ticks in a second.
pub(crate) const TICKS: i32 = 60;
/// By how much a fall gets faster in a tick: 9.84 m/s a second.
pub(crate) const GRAVITY: i32 = 84;

/// Where an object is, how it is turned, where it is going, and how it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Body {
    /// The last one is the height.
    pub(crate) position: [i16; 3],
    pub(crate) rotation: Rotation,
    /// Nought while it is at rest, and not sent then.
    pub(crate) velocity: [i16; 3],
    pub(crate) is_at_rest: bool,
    pub(crate) health: u8,
}

/// A rotation without its largest component, which is positive and follows from the other three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rotation {
    pub(crate) largest: u8,
    pub(crate) others: [i16; 3],
}

/// All of it, for whoever knows nothing yet.
impl Serialize for Body {
    fn blank() -> Self {
        Self::default()
    }

    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        for (axis, range) in self.position.iter_mut().zip([ACROSS, ACROSS, ABOVE]) {
            stream.ranged(axis, range)?;
        }
        self.rotation.serialize(stream)?;
        stream.bool(&mut self.is_at_rest)?;
        if !self.is_at_rest {
            for axis in &mut self.velocity {
                stream.ranged(axis, SPEED)?;
            }
        }
        stream.ranged(&mut self.health, HEALTH)
    }
}

impl Serialize for Rotation {
    fn blank() -> Self {
        Self::default()
    }

    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        stream.ranged(&mut self.largest, 0..=3)?;
        for component in &mut self.others {
            stream.ranged(component, TURN)?;
        }
        Ok(())
    }
}

impl Body {
    /// What is beyond what can be told is told as the most.
    #[must_use]
    pub(crate) fn new(
        position: [i32; 3],
        velocity: [i32; 3],
        rotation: Rotation,
        health: u8,
    ) -> Self {
        let [x, y, z] = position;
        Self {
            position: [clamp(x, &ACROSS), clamp(y, &ACROSS), clamp(z, &ABOVE)],
            rotation,
            velocity: velocity.map(|speed| clamp(speed, &SPEED)),
            is_at_rest: velocity == [0; 3],
            health: health.min(*HEALTH.end()),
        }
    }

    /// Where it probably is so many ticks later: it falls and flies on. Both sides compute the same,
    /// and only how wrong it is has to be sent.
    #[must_use]
    pub(crate) fn later(mut self, ticks: u8) -> Self {
        if self.is_at_rest {
            return self;
        }
        let ticks = i32::from(ticks);
        let is_falling = self.position[2] > 0 || self.velocity[2] != 0;
        let fall = if is_falling { GRAVITY } else { 0 };
        let falls = [0, 0, fall];
        for axis in 0..3 {
            let speed = i32::from(self.velocity[axis]);
            let way = (speed * ticks - falls[axis] * ticks * (ticks + 1) / 2) / TICKS;
            self.position[axis] = clamp(i32::from(self.position[axis]) + way, &ACROSS);
            self.velocity[axis] = clamp(speed - falls[axis] * ticks, &SPEED);
        }
        self.position[2] = self.position[2].max(0);
        self
    }

    /// What differs from what is expected: one bit if nothing does.
    pub(crate) fn differences<S: Stream>(
        &mut self,
        stream: &mut S,
        expected: &Self,
    ) -> Result<(), Error> {
        let mut is_expected = self == expected;
        stream.bool(&mut is_expected)?;
        if is_expected {
            return set::<S, _>(self, *expected);
        }
        let ranges = [ACROSS, ACROSS, ABOVE];
        for (axis, range) in ranges.iter().enumerate() {
            near(
                stream,
                &mut self.position[axis],
                expected.position[axis],
                range,
            )?;
        }
        self.rotation.differences(stream, &expected.rotation)?;
        stream.bool(&mut self.is_at_rest)?;
        if self.is_at_rest {
            set::<S, _>(&mut self.velocity, [0; 3])?;
        } else {
            for (axis, speed) in self.velocity.iter_mut().enumerate() {
                near(stream, speed, expected.velocity[axis], &SPEED)?;
            }
        }
        let mut is_as_well = self.health == expected.health;
        stream.bool(&mut is_as_well)?;
        if is_as_well {
            return set::<S, _>(&mut self.health, expected.health);
        }
        stream.ranged(&mut self.health, HEALTH)
    }
}

impl Rotation {
    /// Of a unit quaternion.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "at most 255")]
    pub(crate) fn new(unit: [f64; 4]) -> Self {
        let mut largest = 0;
        for n in 1..4 {
            if unit[n].abs() > unit[largest].abs() {
                largest = n;
            }
        }
        // Its opposite is the same rotation; and no other component is above the root of 1/2.
        let scale = core::f64::consts::SQRT_2 * 255.0 * unit[largest].signum();
        let others = [0, 1, 2].map(|n| {
            let part = unit[n + usize::from(n >= largest)];
            clamp((part * scale).round() as i32, &TURN)
        });
        Self {
            largest: largest as u8,
            others,
        }
    }

    /// A small turn takes fewer bits than another rotation.
    fn differences<S: Stream>(&mut self, stream: &mut S, expected: &Self) -> Result<(), Error> {
        let turns = [0, 1, 2].map(|n| self.others[n].wrapping_sub(expected.others[n]));
        let is_small = |turn| SMALL_TURN.contains(turn);
        let mut is_near = self.largest == expected.largest && turns.iter().all(is_small);
        stream.bool(&mut is_near)?;
        if !is_near {
            return self.serialize(stream);
        }
        set::<S, _>(&mut self.largest, expected.largest)?;
        for (n, mut turn) in turns.into_iter().enumerate() {
            stream.ranged(&mut turn, SMALL_TURN)?;
            set::<S, _>(&mut self.others[n], expected.others[n].wrapping_add(turn))?;
            in_range(self.others[n], &TURN)?;
        }
        Ok(())
    }
}

/// Only a stream that reads changes anything.
fn set<S: Stream, T>(value: &mut T, to: T) -> Result<(), Error> {
    if S::READS {
        *value = to;
    }
    Ok(())
}

/// A number that is probably near another one, and in its range.
fn near<S: Stream>(
    stream: &mut S,
    value: &mut i16,
    expected: i16,
    range: &RangeInclusive<i16>,
) -> Result<(), Error> {
    stream.delta(value, expected)?;
    in_range(*value, range)
}

fn in_range(value: i16, range: &RangeInclusive<i16>) -> Result<(), Error> {
    match range.contains(&value) {
        true => Ok(()),
        false => Err(Error::OutOfRange),
    }
}

/// The nearest number in a range.
fn clamp(value: i32, range: &RangeInclusive<i16>) -> i16 {
    let value = value.clamp((*range.start()).into(), (*range.end()).into());
    i16::try_from(value).unwrap_or_default()
}
