//! Tests of the promises of the example.

mod advisor;
mod beliefs;
mod codec;
mod play;

use core::time::Duration;

use porous_sim::{LinkConfig, Seed};

use crate::game::{Game, Settings};

fn milliseconds(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A game over this network, both ways.
fn settings(seed: u64, link: LinkConfig) -> Settings {
    Settings {
        seed: Seed::new(seed),
        links: [link; 2],
        rates: [20, 10],
        loss: 2000,
        unseen: 0,
    }
}

/// Plays for this many seconds. Both sides have to see the same world, all the time and at the end.
fn play(settings: Settings, seconds: u32) -> Game {
    let mut game = Game::new(settings);
    game.play(seconds);
    let is_same = game.settle();
    assert!(
        game.witness.is_content(),
        "{settings:?}: {:?}",
        game.figures()
    );
    assert!(is_same, "{settings:?}: {:?}", game.figures());
    game
}
