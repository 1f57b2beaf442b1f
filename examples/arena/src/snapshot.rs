//! The bodies at a tick, as differences from an earlier tick that the client is known to have: `docs/message.md`,
//! "Snapshots". All bodies fit a datagram, so a snapshot is one packet.

use porous_message::{Error, ReadStream, Stream, WriteStream};

use crate::world::{Bodies, Body, HEALTH, PLAYERS, SIZE, STAND};

/// Ticks that the tick which a snapshot refers to may be older, at most.
pub(crate) const LONGEST_AGE: u8 = 127;

/// The longest snapshot in bytes: with the bytes that porous adds, it fits a datagram of 1200 bytes.
const BYTES: usize = 1100;

/// The beginning of a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) tick: u32,
    /// Ticks that the base is older. If 0, there is none, and everything is in the snapshot.
    age: u8,
}

impl Head {
    /// The head of a snapshot that refers to this earlier tick, if it is not too old.
    pub(crate) fn new(tick: u32, base: Option<u32>) -> Self {
        let age = base.and_then(|base| u8::try_from(tick.checked_sub(base)?).ok());
        let age = age.filter(|age| *age <= LONGEST_AGE).unwrap_or(0);
        Self { tick, age }
    }

    /// The tick that it refers to.
    pub(crate) fn base(self) -> Option<u32> {
        (self.age > 0).then(|| self.tick.checked_sub(self.age.into()))?
    }

    fn serialize(&mut self, stream: &mut impl Stream) -> Result<(), Error> {
        stream.ranged(&mut self.tick, 0..=u32::MAX)?;
        stream.ranged(&mut self.age, 0..=LONGEST_AGE)
    }
}

/// A snapshot as bytes. `base` are the bodies at the tick that the head refers to.
pub(crate) fn write(mut head: Head, bodies: &Bodies, base: &Bodies) -> Result<Vec<u8>, Error> {
    let mut buffer = [0; BYTES];
    let mut stream = WriteStream::new(&mut buffer);
    head.serialize(&mut stream)?;
    let mut bodies = *bodies;
    differences(&mut stream, &mut bodies, base, head.age)?;
    Ok(stream.finish().to_vec())
}

/// Why a snapshot cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// It refers to a tick that this side does not have.
    NoBase(u32),
    /// No server writes it so.
    Malformed,
}

/// Reads a snapshot; `base_at` are the bodies at an earlier tick.
pub(crate) fn read<'b>(
    bytes: &[u8],
    base_at: impl FnOnce(u32) -> Option<&'b Bodies>,
) -> Result<(u32, Bodies), Unusable> {
    let mut stream = ReadStream::new(bytes);
    let mut head = Head::default();
    head.serialize(&mut stream)
        .map_err(|_| Unusable::Malformed)?;
    let base = match head.base() {
        Some(tick) => base_at(tick).ok_or(Unusable::NoBase(head.tick))?,
        None if head.age > 0 => return Err(Unusable::Malformed),
        None => &NOBODY,
    };
    let mut bodies = NOBODY;
    differences(&mut stream, &mut bodies, base, head.age)
        .and_then(|()| stream.finish())
        .map_err(|_| Unusable::Malformed)?;
    Ok((head.tick, bodies))
}

/// An empty arena.
pub(crate) const NOBODY: Bodies = [None; PLAYERS];

/// All bodies, each as its difference from where it is expected: one bit for a body that is there.
fn differences(
    stream: &mut impl Stream,
    bodies: &mut Bodies,
    base: &Bodies,
    age: u8,
) -> Result<(), Error> {
    for (body, base) in bodies.iter_mut().zip(base) {
        let expected = base.map(|base| base.later(age));
        unless(stream, body, expected, |body, stream| {
            let mut is_there = body.is_some();
            stream.bool(&mut is_there)?;
            if !is_there {
                *body = None;
                return Ok(());
            }
            let near = expected.unwrap_or(UNKNOWN);
            let mut there = body.unwrap_or(near);
            difference(stream, &mut there, &near)?;
            *body = Some(there);
            Ok(())
        })?;
    }
    Ok(())
}

/// What a body of which nothing is known differs from.
const UNKNOWN: Body = Body {
    at: [SIZE[0] / 2, SIZE[1] / 2],
    walk: STAND,
    aim: 0,
    health: HEALTH,
    life: 0,
};

fn difference(stream: &mut impl Stream, body: &mut Body, near: &Body) -> Result<(), Error> {
    for axis in [0, 1] {
        stream.delta(&mut body.at[axis], near.at[axis])?;
        if !(0..=SIZE[axis]).contains(&body.at[axis]) {
            return Err(Error::OutOfRange);
        }
    }
    unless(stream, &mut body.walk, near.walk, |walk, stream| {
        stream.ranged(walk, 0..=STAND)
    })?;
    unless(stream, &mut body.aim, near.aim, |aim, stream| {
        stream.ranged(aim, 0..=15)
    })?;
    unless(stream, &mut body.health, near.health, |health, stream| {
        stream.ranged(health, 0..=HEALTH)
    })?;
    unless(stream, &mut body.life, near.life, |life, stream| {
        stream.ranged(life, 0..=u8::MAX)
    })
}

/// One bit for a value that is as expected; else a bit, and the value as `write` has it.
fn unless<S: Stream, T: Copy + PartialEq>(
    stream: &mut S,
    value: &mut T,
    expected: T,
    write: impl FnOnce(&mut T, &mut S) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut is_expected = *value == expected;
    stream.bool(&mut is_expected)?;
    if is_expected {
        *value = expected;
        return Ok(());
    }
    write(value, stream)?;
    // Each snapshot has one form, so what was changed on the way is more often noticed.
    match *value == expected {
        true => Err(Error::NotCanonical),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Input, World};
    use porous_sim::Seed;

    fn worlds() -> Vec<Bodies> {
        let mut world = World::new(Seed::new(1));
        let mut all = Vec::new();
        for tick in 0..150_u8 {
            match tick {
                0..32 => world.enter(tick),
                60..64 => world.leave(tick - 50),
                _ => {}
            }
            world.step(|number| Input {
                walk: (number + tick / 40) % 17,
                aim: number % 16,
                fire: true,
            });
            all.push(world.bodies());
        }
        all
    }

    #[test]
    fn what_is_written_is_read_from_any_base() {
        let all = worlds();
        let full = write(Head::new(149, None), &all[149], &NOBODY).unwrap();
        for base in [22, 100, 140, 148] {
            let head = Head::new(149, u32::try_from(base).ok());
            let bytes = write(head, &all[149], &all[base]).unwrap();
            // What is long ago helps little.
            let most = full.len() / if base < 140 { 1 } else { 2 };
            assert!(bytes.len() < most, "{base}: {}", bytes.len());
            let found = read(&bytes, |tick| all.get(usize::try_from(tick).unwrap()));
            assert_eq!(found, Ok((149, all[149])));
            assert_eq!(read(&bytes, |_| None), Err(Unusable::NoBase(149)));
        }
        assert_eq!(read(&full, |_| None), Ok((149, all[149])));
        // Too old: everything.
        assert_eq!(Head::new(149, Some(21)), Head::new(149, None));
        assert_eq!(Head::new(3, Some(3)).base(), None);
    }

    #[test]
    fn a_full_arena_fits_a_datagram() {
        let mut bodies = NOBODY;
        for (body, number) in bodies.iter_mut().zip(0..) {
            *body = Some(Body {
                at: [number * 48, 1599 - number * 24],
                walk: 3,
                aim: 9,
                health: 7,
                life: 200,
            });
        }
        let bytes = write(Head::new(1, None), &bodies, &NOBODY).unwrap();
        assert_eq!(read(&bytes, |_| None), Ok((1, bodies)));
    }

    #[test]
    fn any_bytes_are_read_or_refused() {
        let all = worlds();
        let bytes = write(Head::new(149, Some(140)), &all[149], &all[140]).unwrap();
        let mut read_changed = 0;
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let found = read(&changed, |tick| all.get(usize::try_from(tick).ok()?));
            if let Ok((_, bodies)) = found {
                read_changed += 1;
                let fits = |body: &Body| body.walk <= STAND && body.health <= HEALTH;
                assert!(bodies.iter().flatten().all(fits));
            }
        }
        assert!(read_changed > 0, "some changes make another snapshot");
        for len in 0..bytes.len() {
            let cut = read(&bytes[..len], |_| Some(&all[140]));
            assert_eq!(cut, Err(Unusable::Malformed), "{len}");
        }
    }
}
