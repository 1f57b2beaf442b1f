//! The world of the game, which only the server has: it moves by ticks, from what the players want.

use core::fmt;

use porous_message::Message;
use porous_sim::rand_core::Rng;
use porous_sim::{ChaCha8Rng, Seed, below};

use crate::heading::{dot, vector};

/// Ticks in a second.
pub const TICKS: u32 = 60;

/// The number of the last player: they count from 0.
pub(crate) const LAST: u8 = 63;

/// The most players at once.
pub const PLAYERS: usize = LAST as usize + 1;

/// The size of the arena in steps, across and down.
pub const SIZE: [i16; 2] = [3199, 1599];

/// Steps that a player walks in a tick.
pub(crate) const SPEED: i16 = 8;

/// How far a shot goes, and how far beside its way it still hits, in steps.
pub(crate) const RANGE: i32 = 700;
const WIDE: i32 = 40;

pub(crate) const HEALTH: u8 = 100;
const DAMAGE: u8 = 20;

/// Ticks between two shots of a player, and from a fall to the next life.
const RELOAD: u8 = 30;
const FALLEN: u8 = 120;

/// The direction of a player that stands.
pub const STAND: u8 = 16;

/// What a player wants in one tick.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// The direction in which it walks, from 0 to 15, or [`STAND`].
    #[message(range = 0..=STAND)]
    pub walk: u8,
    /// The direction in which it aims, from 0 to 15.
    #[message(range = 0..=15)]
    pub aim: u8,
    /// Whether it fires.
    pub fire: bool,
}

impl Input {
    /// Stands, and does not fire.
    pub const IDLE: Self = Self {
        walk: STAND,
        aim: 0,
        fire: false,
    };
}

/// What everybody sees of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    /// Steps from the corner, across and down.
    pub at: [i16; 2],
    /// As in [`Input`].
    pub walk: u8,
    /// As in [`Input`].
    pub aim: u8,
    /// From 0, which has fallen, to 100.
    pub health: u8,
    /// Counts the lives of this player, modulo 256: a new life begins elsewhere.
    pub life: u8,
}

impl Body {
    /// Where the body is after some ticks if it walks on.
    pub(crate) fn later(mut self, ticks: u8) -> Self {
        if self.walk < STAND && self.health > 0 {
            let along = vector(self.walk);
            for axis in [0, 1] {
                // Tick by tick, as the world rounds each.
                for _ in 0..ticks {
                    let way = along[axis] * SPEED / 256;
                    self.at[axis] = (self.at[axis] + way).clamp(0, SIZE[axis]);
                }
            }
        }
        self
    }
}

/// The players that everybody sees, each at its number.
pub type Bodies = [Option<Body>; PLAYERS];

/// What has happened in a tick, for all to know.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A player hit another one, and left it this health.
    Hit {
        /// The number of the player that fired.
        #[message(range = 0..=LAST)]
        by: u8,
        /// The number of the player that was hit.
        #[message(range = 0..=LAST)]
        whom: u8,
        /// The health that is left; at 0 it has fallen.
        #[message(range = 0..=HEALTH)]
        health: u8,
    },
    /// A player begins a new life.
    Rises(#[message(range = 0..=LAST)] u8),
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hit {
                by,
                whom,
                health: 0,
            } => write!(f, "{by} has felled {whom}"),
            Self::Hit { by, whom, health } => write!(f, "{by} hits {whom}: {health} left"),
            Self::Rises(player) => write!(f, "{player} is back"),
        }
    }
}

/// The score of a player.
#[derive(Message, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// The number of the player.
    #[message(range = 0..=LAST)]
    pub player: u8,
    /// How many it has felled.
    #[message(varint)]
    pub felled: u32,
    /// How often it has fallen.
    #[message(varint)]
    pub fallen: u32,
}

#[derive(Clone, Debug)]
struct Player {
    body: Body,
    score: Score,
    /// Ticks until it can fire again, or until its next life.
    wait: u8,
}

/// The arena and all in it. The same seed and the same inputs make the same world.
///
/// ```
/// use porous_arena::{Input, World};
/// use porous_sim::Seed;
///
/// let mut world = World::new(Seed::new(1));
/// world.enter(0);
/// let before = world.bodies();
/// world.step(|_| Input { walk: 0, ..Input::IDLE });
/// assert_ne!(world.bodies(), before);
/// ```
#[derive(Debug)]
pub struct World {
    players: [Option<Player>; PLAYERS],
    chance: ChaCha8Rng,
}

impl World {
    /// An empty arena, whose chance follows from `seed`.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self {
            players: [const { None }; PLAYERS],
            chance: seed.stream("world", 0),
        }
    }

    /// A player comes, under a number below [`PLAYERS`] that nobody has.
    pub fn enter(&mut self, number: u8) {
        let body = Body {
            at: self.somewhere(),
            walk: STAND,
            aim: 0,
            health: HEALTH,
            life: 0,
        };
        if let Some(place) = self.players.get_mut(usize::from(number)) {
            let score = Score {
                player: number,
                ..Score::default()
            };
            *place = Some(Player {
                body,
                score,
                wait: RELOAD,
            });
        }
    }

    /// A player goes.
    pub fn leave(&mut self, number: u8) {
        if let Some(place) = self.players.get_mut(usize::from(number)) {
            *place = None;
        }
    }

    /// What everybody sees.
    #[must_use]
    pub fn bodies(&self) -> Bodies {
        self.players
            .each_ref()
            .map(|it| it.as_ref().map(|it| it.body))
    }

    /// The scores of all players, by number.
    #[must_use]
    pub fn scores(&self) -> Vec<Score> {
        self.players.iter().flatten().map(|it| it.score).collect()
    }

    /// One tick: all players walk, then all fire, then all whose time has come rise. Returns what has happened, in
    /// that order, by number.
    pub fn step(&mut self, input: impl Fn(u8) -> Input) -> Vec<Happening> {
        let inputs: Vec<Input> = (0..).take(PLAYERS).map(input).collect();
        for (player, input) in self.players.iter_mut().zip(&inputs) {
            let Some(player) = player else { continue };
            player.wait = player.wait.saturating_sub(1);
            if player.body.health > 0 {
                (player.body.walk, player.body.aim) = (input.walk.min(STAND), input.aim % 16);
                player.body = player.body.later(1);
            }
        }
        let mut happened = Vec::new();
        for (by, input) in inputs.iter().enumerate().filter(|(_, input)| input.fire) {
            happened.extend(self.fire(by, input.aim));
        }
        for number in 0..PLAYERS {
            happened.extend(self.rise(number));
        }
        happened
    }

    /// A player fires: the nearest one in the way is hit.
    fn fire(&mut self, by: usize, aim: u8) -> Option<Happening> {
        let shooter = self.players[by].as_mut()?;
        if shooter.body.health == 0 || shooter.wait > 0 {
            return None;
        }
        shooter.wait = RELOAD;
        let from = shooter.body.at;
        let target = |(number, it): (usize, &Option<Player>)| {
            let body = it.as_ref()?.body;
            let is_target = number != by && body.health > 0;
            Some((
                way_to_hit(from, aim, body.at).filter(|_| is_target)?,
                number,
            ))
        };
        let hits = self.players.iter().enumerate().filter_map(target);
        let (_, whom) = hits.min()?;
        let hit = self.players[whom].as_mut()?;
        hit.body.health = hit.body.health.saturating_sub(DAMAGE);
        let health = hit.body.health;
        let whom = hit.score.player;
        if health == 0 {
            (hit.wait, hit.body.walk) = (FALLEN, STAND);
            hit.score.fallen += 1;
        }
        let score = &mut self.players[by].as_mut()?.score;
        score.felled += u32::from(health == 0);
        let by = score.player;
        Some(Happening::Hit { by, whom, health })
    }

    /// A player that has fallen and has waited begins a new life elsewhere.
    fn rise(&mut self, number: usize) -> Option<Happening> {
        let is_due = |it: &&mut Player| it.body.health == 0 && it.wait == 0;
        self.players[number].as_mut().filter(is_due)?;
        let at = self.somewhere();
        let player = self.players[number].as_mut()?;
        player.body.at = at;
        player.body.health = HEALTH;
        player.body.life = player.body.life.wrapping_add(1);
        Some(Happening::Rises(player.score.player))
    }

    fn somewhere(&mut self) -> [i16; 2] {
        SIZE.map(|size| {
            let size = u64::from(size.unsigned_abs()) + 1;
            i16::try_from(below(self.chance.next_u64(), size)).unwrap_or(0)
        })
    }
}

/// How far away a point is in the way of a shot; `None` if the shot does not hit it.
pub(crate) fn way_to_hit(from: [i16; 2], aim: u8, to: [i16; 2]) -> Option<i32> {
    let way = [to[0] - from[0], to[1] - from[1]];
    let [x, y] = vector(aim);
    let (along, beside) = (dot(way, [x, y]) / 256, dot(way, [-y, x]) / 256);
    ((0..=RANGE).contains(&along) && beside.abs() <= WIDE).then_some(along)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten seconds of 32 players whose inputs are drawn.
    fn played(seed: u64) -> (Vec<Bodies>, Vec<Happening>, Vec<Score>) {
        let mut world = World::new(Seed::new(seed));
        (0..32).for_each(|number| world.enter(number));
        let mut chance = Seed::new(seed).stream("inputs", 0);
        let (mut seen, mut happened) = (Vec::new(), Vec::new());
        for _ in 0..10 * TICKS {
            let drawn: Vec<u64> = (0..PLAYERS).map(|_| chance.next_u64()).collect();
            let [walk, aim] = [17, 16].map(|n| {
                let of = |bits: &u64| u8::try_from(below(bits.rotate_left(n), n.into())).unwrap();
                drawn.iter().map(of).collect::<Vec<u8>>()
            });
            happened.extend(world.step(|number| Input {
                walk: walk[usize::from(number)],
                aim: aim[usize::from(number)],
                fire: true,
            }));
            seen.push(world.bodies());
        }
        (seen, happened, world.scores())
    }

    #[test]
    fn the_same_seed_makes_the_same_world() {
        let first = played(1);
        assert_eq!(first, played(1));
        assert_ne!(first.0, played(2).0);
        let (_, happened, scores) = first;
        let falls = |it: &&Happening| matches!(it, Happening::Hit { health: 0, .. });
        let falls = happened.iter().filter(falls).count();
        assert!(falls > 3, "{falls}");
        let sum = |of: fn(&Score) -> u32| scores.iter().map(of).sum::<u32>();
        let [felled, fallen] = [sum(|it| it.felled), sum(|it| it.fallen)];
        assert_eq!((felled, fallen), (fallen, u32::try_from(falls).unwrap()));
        assert!(happened.iter().any(|it| matches!(it, Happening::Rises(_))));
    }

    #[test]
    fn nobody_leaves_the_arena_or_fires_too_often() {
        let mut world = World::new(Seed::new(1));
        world.enter(0);
        for walk in [0, 4, 8, 12, 2, 10] {
            for _ in 0..500 {
                world.step(|_| Input {
                    walk,
                    ..Input::IDLE
                });
            }
            let [x, y] = world.bodies()[0].unwrap().at;
            assert!((0..=SIZE[0]).contains(&x) && (0..=SIZE[1]).contains(&y));
        }
        world.enter(1);
        for (player, at) in world.players.iter_mut().flatten().zip([100, 300]) {
            player.body.at = [at, 100];
            player.wait = 0;
        }
        let fire = |number| Input {
            fire: number == 0,
            ..Input::IDLE
        };
        let hits = (0..61).map(|_| world.step(fire).len()).sum::<usize>();
        assert_eq!(hits, 3, "at once, and each half second");
        assert_eq!(world.bodies()[1].unwrap().health, 40);
    }

    #[test]
    fn a_shot_hits_what_is_in_its_way_and_near_enough() {
        let from = [1000, 1000];
        assert_eq!(way_to_hit(from, 0, [1500, 1030]), Some(500));
        assert_eq!(way_to_hit(from, 0, [1500, 1050]), None);
        assert_eq!(way_to_hit(from, 0, [1800, 1000]), None);
        assert_eq!(way_to_hit(from, 8, [1500, 1000]), None);
        assert_eq!(way_to_hit(from, 4, [1000, 1300]), Some(300));
    }
}
