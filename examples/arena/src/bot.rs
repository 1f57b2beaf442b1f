//! Players without players: each sees what its client shows, and chases the nearest other one.

use porous_sim::rand_core::Rng;
use porous_sim::{ChaCha8Rng, Seed, below};

use crate::heading::{dot, heading_of};
use crate::world::{Bodies, Input, RANGE, way_to_hit};

/// Ticks for which a bot goes on as it has decided: from this, and up to four times as long.
const SPELL: u64 = 12;

/// A bot. The same seed and the same views make the same inputs.
///
/// ```
/// use porous_arena::{Bot, Input, World};
/// use porous_sim::Seed;
///
/// let mut bot = Bot::new(Seed::new(1), 0);
/// let world = World::new(Seed::new(1));
/// assert_eq!(bot.think(None, &world.bodies()), Input::IDLE);
/// ```
#[derive(Debug)]
pub struct Bot {
    chance: ChaCha8Rng,
    walk: u8,
    /// Ticks until it decides again.
    left: u64,
}

impl Bot {
    /// The bot with this number among those of a seed.
    #[must_use]
    pub fn new(seed: Seed, number: u64) -> Self {
        Self {
            chance: seed.stream("bot", number),
            walk: 0,
            left: 0,
        }
    }

    /// What the bot wants in this tick, if it is player `you` and sees this.
    pub fn think(&mut self, you: Option<u8>, seen: &Bodies) -> Input {
        let me = you.map(usize::from);
        let Some(body) = me.and_then(|me| *seen.get(me)?) else {
            return Input::IDLE;
        };
        let way = |(number, other): (usize, &Option<_>)| {
            let other: crate::Body = (*other)?;
            let way = [other.at[0] - body.at[0], other.at[1] - body.at[1]];
            let is_target = Some(number) != me && other.health > 0;
            is_target.then_some((dot(way, way), way, other.at))
        };
        let nearest = seen.iter().enumerate().filter_map(way).min();
        let (far, aim, fire) = match nearest {
            Some((square, way, at)) => {
                let aim = heading_of(way);
                let fire = way_to_hit(body.at, aim, at).is_some();
                (square > RANGE * RANGE / 2, aim, fire)
            }
            None => (true, body.aim, false),
        };
        if self.left == 0 {
            self.left = SPELL + below(self.chance.next_u64(), 3 * SPELL);
            // Near by it goes round the other one, far away it comes closer.
            let turn = if far { 5 } else { 16 };
            let turn = u8::try_from(below(self.chance.next_u64(), turn)).unwrap_or(0);
            self.walk = (aim + 14 + turn) % 16;
        }
        self.left -= 1;
        Input {
            walk: self.walk,
            aim,
            fire,
        }
    }
}
