//! The state of one object as both sides know it: whole numbers. The world rounds once, and all
//! calculations after that are exact: the server encodes against the same numbers that the client adds
//! to.

use core::ops::RangeInclusive;

use porous_message::{Error, Message, Serialize, Stream};

/// Positions in steps of 1/512 m: to either side of the middle, and above the ground.
const ACROSS: RangeInclusive<i16> = -32_768..=32_767;
const ABOVE: RangeInclusive<i16> = 0..=8191;
const PLACE: [RangeInclusive<i16>; 3] = [ACROSS, ACROSS, ABOVE];
/// Speeds in steps of 1/512 m/s.
const SPEED: RangeInclusive<i16> = -8192..=8191;
const AT_REST: [i16; 3] = [0; 3];
/// The range of the rounded components of a rotation.
const TURN: RangeInclusive<i16> = -255..=255;
/// The differences of two components that count as small.
const SMALL_TURN: RangeInclusive<i16> = -64..=63;
const HEALTH: RangeInclusive<u8> = 0..=100;

/// Ticks in a second.
pub(crate) const TICKS: i32 = 60;
/// The speed that a falling object gains in a tick, in steps: 9.84 m/s a second.
pub(crate) const GRAVITY: i32 = 84;

/// The state of an object: position, rotation, velocity and health.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Body {
    /// Three coordinates in steps of 1/512 m; the last one is the height.
    pub(crate) position: [i16; 3],
    pub(crate) rotation: Rotation,
    /// Three components in steps of 1/512 m/s. Zero takes one bit, as most objects are at rest.
    pub(crate) velocity: [i16; 3],
    pub(crate) health: u8,
}

/// A rotation without its largest component, which is positive and follows from the other three.
#[derive(Message, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rotation {
    #[message(range = 0..=3)]
    pub(crate) largest: u8,
    #[message(range = -255..=255)]
    pub(crate) others: [i16; 3],
}

/// The whole state, for a client that knows nothing yet.
impl Serialize for Body {
    fn blank() -> Self {
        Self::default()
    }

    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        for (axis, range) in self.position.iter_mut().zip(PLACE) {
            stream.ranged(axis, range)?;
        }
        self.rotation.serialize(stream)?;
        unless(stream, &mut self.velocity, AT_REST, |velocity, stream| {
            let mut axes = velocity.iter_mut();
            axes.try_for_each(|axis| stream.ranged(axis, SPEED))
        })?;
        stream.ranged(&mut self.health, HEALTH)
    }
}

impl Body {
    /// Values beyond the ranges become the nearest end.
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
            health: health.min(*HEALTH.end()),
        }
    }

    #[must_use]
    pub(crate) fn is_at_rest(&self) -> bool {
        self.velocity == AT_REST
    }

    /// The probable state `ticks` ticks later: the object flies on, and falls. Both sides compute the same
    /// state, and only its error has to be sent.
    #[must_use]
    pub(crate) fn later(mut self, ticks: u8) -> Self {
        if self.is_at_rest() {
            return self;
        }
        let ticks = i32::from(ticks);
        let is_falling = self.position[2] > 0 || self.velocity[2] != 0;
        let falls = [0, 0, if is_falling { GRAVITY } else { 0 }];
        for (axis, range) in PLACE.iter().enumerate() {
            let speed = i32::from(self.velocity[axis]);
            let way = (speed * ticks - falls[axis] * ticks * (ticks + 1) / 2) / TICKS;
            self.position[axis] = clamp(i32::from(self.position[axis]) + way, range);
            self.velocity[axis] = clamp(speed - falls[axis] * ticks, &SPEED);
        }
        self
    }

    /// The differences from the expected state: one bit if there are none.
    pub(crate) fn differences<S: Stream>(
        &mut self,
        stream: &mut S,
        expected: &Self,
    ) -> Result<(), Error> {
        unless(stream, self, *expected, |body, stream| {
            for (axis, range) in PLACE.iter().enumerate() {
                near(
                    stream,
                    &mut body.position[axis],
                    expected.position[axis],
                    range,
                )?;
            }
            body.rotation.differences(stream, &expected.rotation)?;
            unless(stream, &mut body.velocity, AT_REST, |velocity, stream| {
                let mut axes = velocity.iter_mut().zip(expected.velocity);
                axes.try_for_each(|(axis, expected)| near(stream, axis, expected, &SPEED))
            })?;
            unless(
                stream,
                &mut body.health,
                expected.health,
                |health, stream| stream.ranged(health, HEALTH),
            )
        })
    }
}

impl Rotation {
    /// The rotation of a unit quaternion.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "at most 255")]
    pub(crate) fn new(unit: [f64; 4]) -> Self {
        let mut largest = 0;
        for n in 1..4 {
            if unit[n].abs() > unit[largest].abs() {
                largest = n;
            }
        }
        // The sign makes the largest component positive: the opposite quaternion is the same rotation.
        // No other component is above the root of 1/2.
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
        let mut is_near = self.is_near(expected);
        stream.bool(&mut is_near)?;
        if !is_near {
            self.serialize(stream)?;
            return match self.is_near(expected) {
                true => Err(Error::NotCanonical),
                false => Ok(()),
            };
        }
        let mut turned = *expected;
        for (to, (from, expected)) in turned
            .others
            .iter_mut()
            .zip(self.others.iter().zip(expected.others))
        {
            let mut turn = from.wrapping_sub(expected);
            stream.ranged(&mut turn, SMALL_TURN)?;
            *to = expected.wrapping_add(turn);
            in_range(*to, &TURN)?;
        }
        *self = turned;
        Ok(())
    }

    fn is_near(&self, expected: &Self) -> bool {
        let mut turns = self.others.iter().zip(expected.others);
        self.largest == expected.largest
            && turns.all(|(to, from)| SMALL_TURN.contains(&to.wrapping_sub(from)))
    }
}

/// One bit if a value is the usual one, and otherwise a bit and the value as `write` writes it.
fn unless<S: Stream, T: Copy + PartialEq>(
    stream: &mut S,
    value: &mut T,
    usual: T,
    write: impl FnOnce(&mut T, &mut S) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut is_usual = *value == usual;
    stream.bool(&mut is_usual)?;
    if is_usual {
        *value = usual;
        return Ok(());
    }
    write(value, stream)?;
    match *value == usual {
        true => Err(Error::NotCanonical),
        false => Ok(()),
    }
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
