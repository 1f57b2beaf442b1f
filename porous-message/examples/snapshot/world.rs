//! A thousand boxes that lie about, and are thrown up by blasts: about a third of them move.
#![expect(
    clippy::cast_possible_truncation,
    reason = "small numbers, drawn or counted"
)]

use porous_sim::rand_core::Rng;
use porous_sim::{ChaCha8Rng, Seed, below};

use crate::body::{Body, GRAVITY, Rotation, TICKS};
use crate::history::{GROUP, GROUPS, Group};

pub(crate) const OBJECTS: usize = GROUP * GROUPS;

/// One metre, in steps; and one metre a second.
const METRE: i32 = 512;
/// Half the width of the place, in steps.
const WALL: i32 = 60 * METRE;
/// The radius of a blast, in steps.
const REACH: i32 = 6 * METRE;
/// One in this many ticks has a blast.
const BLASTS: u64 = 7;

/// A box. Vectors have two components along the sides of the place, and one up.
#[derive(Clone, Copy, Debug)]
struct Thing {
    /// Coordinates in sixtieths of a step, so that a tick at any speed is a whole number.
    position: [i32; 3],
    velocity: [i32; 3],
    rotation: [f64; 4],
    /// Half of its rotation in a tick, in radians.
    spin: [f64; 3],
    is_at_rest: bool,
    health: u8,
}

/// All boxes, and the random numbers that throw them.
#[derive(Debug)]
pub(crate) struct World {
    things: Vec<Thing>,
    rng: ChaCha8Rng,
}

impl World {
    /// The boxes lie in rows; neighbours are in the same group.
    pub(crate) fn new(seed: Seed) -> Self {
        let things = (0..OBJECTS as i32).map(|n| {
            let (group, n) = (n / GROUP as i32, n % GROUP as i32);
            let (x, y) = (group % 12 * 4 + n % 4, group / 12 * 2 + n / 4);
            Thing {
                position: [
                    (2 * x - 48) * METRE * TICKS,
                    (2 * y - 22) * METRE * TICKS,
                    0,
                ],
                velocity: [0; 3],
                rotation: [1.0, 0.0, 0.0, 0.0],
                spin: [0.0; 3],
                is_at_rest: true,
                health: 100,
            }
        });
        Self {
            things: things.collect(),
            rng: seed.stream("world", 0),
        }
    }

    /// Moves the boxes for a tick, a sixtieth of a second.
    pub(crate) fn step(&mut self) {
        if below(self.rng.next_u64(), BLASTS) == 0 {
            self.blast();
        }
        for thing in &mut self.things {
            thing.step();
        }
    }

    /// The state that both sides are to know.
    pub(crate) fn quantised(&self) -> [Group; GROUPS] {
        core::array::from_fn(|group| {
            core::array::from_fn(|n| self.things[group * GROUP + n].quantised())
        })
    }

    /// Throws up the boxes near one of them.
    fn blast(&mut self) {
        let middle = below(self.rng.next_u64(), OBJECTS as u64) as usize;
        let middle = self.things[middle].position;
        for thing in &mut self.things {
            let far = |axis: usize| (thing.position[axis] - middle[axis]).abs() / TICKS;
            if far(0).max(far(1)) > REACH {
                continue;
            }
            let rng = &mut self.rng;
            let mut around = |most: i32| below(rng.next_u64(), 2 * most as u64 + 1) as i32 - most;
            thing.velocity = [around(4 * METRE), around(4 * METRE), 5 * METRE];
            thing.velocity[2] += around(2 * METRE);
            thing.spin = core::array::from_fn(|_| f64::from(around(100)) / 6000.0);
            thing.is_at_rest = false;
            thing.health = match thing.health {
                0 => 100,
                health => health.saturating_sub(around(10).unsigned_abs() as u8),
            };
        }
    }
}

impl Thing {
    fn step(&mut self) {
        if self.is_at_rest {
            return;
        }
        let is_falling = self.position[2] > 0 || self.velocity[2] != 0;
        if is_falling {
            self.velocity[2] -= GRAVITY;
        }
        for axis in 0..3 {
            self.position[axis] += self.velocity[axis];
        }
        for axis in 0..2 {
            if self.position[axis].abs() > WALL * TICKS {
                self.position[axis] = self.position[axis].signum() * WALL * TICKS;
                self.velocity[axis] = -self.velocity[axis];
            }
        }
        if self.position[2] < 0 {
            self.bounce();
        } else if !is_falling {
            self.slide();
        }
        self.turn();
    }

    fn bounce(&mut self) {
        self.position[2] = 0;
        self.velocity[2] = match -self.velocity[2] * 2 / 5 {
            slow if slow < METRE => 0,
            fast => fast,
        };
        for axis in 0..2 {
            self.velocity[axis] = self.velocity[axis] * 3 / 4;
        }
        self.spin = self.spin.map(|spin| spin / 2.0);
    }

    fn slide(&mut self) {
        for axis in 0..2 {
            self.velocity[axis] -= self.velocity[axis] / 8;
        }
        self.spin = self.spin.map(|spin| spin * 0.75);
        self.is_at_rest = self.velocity.iter().all(|speed| speed.abs() < METRE / 16);
        if self.is_at_rest {
            self.velocity = [0; 3];
            self.spin = [0.0; 3];
        }
    }

    /// Turns the box, by operations that IEEE 754 defines to the last bit: all machines turn it in the same
    /// way.
    fn turn(&mut self) {
        let ([x, y, z], [a, b, c, d]) = (self.spin, self.rotation);
        let turned = [
            a - x * b - y * c - z * d,
            b + x * a + y * d - z * c,
            c + y * a + z * b - x * d,
            d + z * a + x * c - y * b,
        ];
        let length = turned.iter().map(|part| part * part).sum::<f64>().sqrt();
        self.rotation = turned.map(|part| part / length);
    }

    fn quantised(&self) -> Body {
        let [x, y, z] = self.position.map(|axis| axis / TICKS);
        Body::new(
            [x, y, z],
            self.velocity,
            Rotation::new(self.rotation),
            self.health,
        )
    }
}
