//! The message that the codecs write and read: the state of a player, twelve fields. In two forms: with
//! the floats that a game has, and with integers in place of these.

use porous_sim::rand_core::Rng as _;
use porous_sim::{ChaCha8Rng, Seed};

/// The largest distance of a position from the middle, on each axis, in metres.
pub(crate) const EDGE: f32 = 512.0;
/// The resolution of positions, in metres.
pub(crate) const CENTIMETRE: f32 = 0.01;
/// The resolution of angles, in degrees.
pub(crate) const TENTH: f32 = 0.1;

/// Steps of a position, a yaw and a pitch.
pub(crate) const POSITIONS: u32 = 102_400;
pub(crate) const YAWS: u16 = 3_600;
pub(crate) const PITCHES: u16 = 1_800;

pub(crate) const ENTITIES: u16 = 1024;
pub(crate) const SPEED: i16 = 500;
pub(crate) const HEALTH: u8 = 100;
pub(crate) const ROUNDS: u8 = 100;

#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    serde::Serialize,
    serde::Deserialize,
    bincode::Encode,
    bincode::Decode,
    bitcode::Encode,
    bitcode::Decode,
    porous_message::Message,
)]
pub(crate) enum Weapon {
    #[default]
    Knife,
    Pistol,
    Shotgun,
    Rifle,
    Sniper,
    Launcher,
    Grenade,
    Medkit,
}

impl Weapon {
    pub(crate) const ALL: [Self; 8] = [
        Self::Knife,
        Self::Pistol,
        Self::Shotgun,
        Self::Rifle,
        Self::Sniper,
        Self::Launcher,
        Self::Grenade,
        Self::Medkit,
    ];
}

/// The state as a game has it.
#[derive(
    Clone,
    Debug,
    Default,
    PartialEq,
    serde::Serialize,
    serde::Deserialize,
    bincode::Encode,
    bincode::Decode,
    bitcode::Encode,
    bitcode::Decode,
    porous_message::Message,
)]
pub(crate) struct Floats {
    pub(crate) tick: u16,
    #[message(range = 0..=ENTITIES - 1)]
    pub(crate) entity: u16,
    /// Metres.
    #[message(range = -EDGE..=EDGE, resolution = CENTIMETRE)]
    pub(crate) position: [f32; 3],
    /// Degrees, 0 to 360.
    #[message(range = 0.0..=360.0, resolution = TENTH)]
    pub(crate) yaw: f32,
    /// Degrees, -90 to 90.
    #[message(range = -90.0..=90.0, resolution = TENTH)]
    pub(crate) pitch: f32,
    /// Centimetres a second.
    #[message(range = -SPEED..=SPEED)]
    pub(crate) velocity: [i16; 3],
    #[message(range = 0..=HEALTH)]
    pub(crate) health: u8,
    #[message(range = 0..=ROUNDS)]
    pub(crate) rounds: u8,
    pub(crate) weapon: Weapon,
    pub(crate) is_crouched: bool,
    pub(crate) is_firing: bool,
    #[message(range = 0..=ENTITIES - 1)]
    pub(crate) target: Option<u16>,
}

/// The state as a team has it that quantizes by hand: the smallest integers that hold the steps.
#[derive(
    Clone,
    Debug,
    Default,
    PartialEq,
    serde::Serialize,
    serde::Deserialize,
    bincode::Encode,
    bincode::Decode,
    bitcode::Encode,
    bitcode::Decode,
    porous_message::Message,
)]
pub(crate) struct Integers {
    pub(crate) tick: u16,
    #[message(range = 0..=ENTITIES - 1)]
    pub(crate) entity: u16,
    /// Centimetres from the edge.
    #[message(range = 0..=POSITIONS)]
    pub(crate) position: [u32; 3],
    /// Tenths of a degree.
    #[message(range = 0..=YAWS)]
    pub(crate) yaw: u16,
    /// Tenths of a degree from straight down.
    #[message(range = 0..=PITCHES)]
    pub(crate) pitch: u16,
    #[message(range = -SPEED..=SPEED)]
    pub(crate) velocity: [i16; 3],
    #[message(range = 0..=HEALTH)]
    pub(crate) health: u8,
    #[message(range = 0..=ROUNDS)]
    pub(crate) rounds: u8,
    pub(crate) weapon: Weapon,
    pub(crate) is_crouched: bool,
    pub(crate) is_firing: bool,
    #[message(range = 0..=ENTITIES - 1)]
    pub(crate) target: Option<u16>,
}

impl From<Integers> for Floats {
    fn from(from: Integers) -> Self {
        Self {
            tick: from.tick,
            entity: from.entity,
            position: from.position.map(|step| step as f32 * CENTIMETRE - EDGE),
            yaw: f32::from(from.yaw) * TENTH,
            pitch: f32::from(from.pitch) * TENTH - 90.0,
            velocity: from.velocity,
            health: from.health,
            rounds: from.rounds,
            weapon: from.weapon,
            is_crouched: from.is_crouched,
            is_firing: from.is_firing,
            target: from.target,
        }
    }
}

/// `count` messages, each value of each field as likely as any other; half of them have a target.
pub(crate) fn messages<M: From<Integers>>(count: usize) -> Vec<M> {
    let mut dice = Seed::new(1).stream("codecs", 0);
    (0..count).map(|_| random(&mut dice).into()).collect()
}

fn random(dice: &mut ChaCha8Rng) -> Integers {
    // A remainder favours small numbers a little, which makes no difference to a codec.
    let mut below = |end: u32| dice.next_u32() % end;
    let mut small = |end: u16| below(end.into()) as u16;
    let speed = |step: u16| step as i16 - SPEED;
    Integers {
        tick: small(u16::MAX),
        entity: small(ENTITIES),
        velocity: [(); 3].map(|()| speed(small(2 * SPEED as u16 + 1))),
        yaw: small(YAWS + 1),
        pitch: small(PITCHES + 1),
        health: small(u16::from(HEALTH) + 1) as u8,
        rounds: small(u16::from(ROUNDS) + 1) as u8,
        weapon: Weapon::ALL[usize::from(small(8))],
        is_crouched: small(2) == 1,
        is_firing: small(2) == 1,
        target: (small(2) == 1).then(|| small(ENTITIES)),
        position: [(); 3].map(|()| below(POSITIONS + 1)),
    }
}
