//! The two messages, serialized by hand.

use porous_message::{Error, Stream};

use super::state::{
    CENTIMETRE, EDGE, ENTITIES, Floats, HEALTH, Integers, PITCHES, POSITIONS, ROUNDS, SPEED, TENTH,
    Weapon, YAWS,
};

/// `Serialize` of porous-message as one writes it by hand, to compare with the derived one.
pub(crate) trait ByHand: Default {
    fn by_hand<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error>;
}

impl ByHand for Floats {
    #[inline]
    fn by_hand<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        stream.ranged(&mut self.tick, 0..=u16::MAX)?;
        stream.ranged(&mut self.entity, 0..=ENTITIES - 1)?;
        for axis in &mut self.position {
            stream.quantized(axis, -EDGE..=EDGE, CENTIMETRE)?;
        }
        stream.quantized(&mut self.yaw, 0.0..=360.0, TENTH)?;
        stream.quantized(&mut self.pitch, -90.0..=90.0, TENTH)?;
        for axis in &mut self.velocity {
            stream.ranged(axis, -SPEED..=SPEED)?;
        }
        stream.ranged(&mut self.health, 0..=HEALTH)?;
        stream.ranged(&mut self.rounds, 0..=ROUNDS)?;
        weapon(&mut self.weapon, stream)?;
        stream.bool(&mut self.is_crouched)?;
        stream.bool(&mut self.is_firing)?;
        stream.option(&mut self.target, |target, stream| {
            stream.ranged(target, 0..=ENTITIES - 1)
        })
    }
}

impl ByHand for Integers {
    #[inline]
    fn by_hand<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        stream.ranged(&mut self.tick, 0..=u16::MAX)?;
        stream.ranged(&mut self.entity, 0..=ENTITIES - 1)?;
        for axis in &mut self.position {
            stream.ranged(axis, 0..=POSITIONS)?;
        }
        stream.ranged(&mut self.yaw, 0..=YAWS)?;
        stream.ranged(&mut self.pitch, 0..=PITCHES)?;
        for axis in &mut self.velocity {
            stream.ranged(axis, -SPEED..=SPEED)?;
        }
        stream.ranged(&mut self.health, 0..=HEALTH)?;
        stream.ranged(&mut self.rounds, 0..=ROUNDS)?;
        weapon(&mut self.weapon, stream)?;
        stream.bool(&mut self.is_crouched)?;
        stream.bool(&mut self.is_firing)?;
        stream.option(&mut self.target, |target, stream| {
            stream.ranged(target, 0..=ENTITIES - 1)
        })
    }
}

#[inline]
fn weapon<S: Stream>(weapon: &mut Weapon, stream: &mut S) -> Result<(), Error> {
    let mut kind = *weapon as u32;
    stream.kind(&mut kind, Weapon::ALL.len() as u32)?;
    if S::READS {
        *weapon = Weapon::ALL[kind as usize];
    }
    Ok(())
}
