//! Games over networks of all kinds.

use porous_sim::{LinkConfig, Preset, Seed};

use super::{milliseconds, play, settings};
use crate::bad;
use crate::game::{Game, Settings};
use crate::world::World;

#[test]
fn both_sides_see_the_same_world_on_every_network() {
    for seed in [1, 2] {
        play(settings(seed, bad()), 5);
        for preset in Preset::ALL {
            let links = preset.links();
            let link = LinkConfig::new();
            play(
                Settings {
                    links,
                    ..settings(seed, link)
                },
                5,
            );
        }
    }
}

/// The client never sees some of the packets that have arrived, but their receipts say that they did.
#[test]
fn receipts_that_were_wrong_are_found_out_and_nobody_sees_another_world() {
    for (seed, unseen) in [(1, 2), (2, 3), (3, 10), (4, 50)] {
        let game = play(
            Settings {
                unseen,
                ..settings(seed, bad())
            },
            5,
        );
        assert!(game.figures().refused > 0, "seed {seed}");
    }
    assert_eq!(play(settings(1, bad()), 5).figures().refused, 0);
}

/// While nothing moves nothing new is sent, so that nothing is refused either, until groups are sent
/// again.
#[test]
fn the_last_word_about_what_came_to_rest_is_said_again_if_it_was_not_heard() {
    let link = LinkConfig::new().delay(milliseconds(20));
    let mut game = Game::new(settings(1, link));
    game.play(3);
    // All parts are new, and the client sees none of them.
    game.settings.unseen = 1;
    game.play(1);
    game.settings.unseen = 0;
    assert!(game.settle());
    assert!(game.figures().refused > 0);
    assert!(game.witness.is_content());
}

/// `docs/message.md` has the figures of a minute.
#[test]
fn differences_take_less_than_a_third_of_full_snapshots() {
    for seed in [1, 2, 3] {
        let mut game = Game::new(settings(seed, bad()));
        game.play(20);
        let figures = game.figures();
        assert!(figures.percent() < 33.3, "seed {seed}: {figures}");
        // The saving does not come from sending less of the world.
        assert!(
            figures.whole * 10 > figures.snapshots * 9,
            "seed {seed}: {figures}"
        );
        let moving = figures.moving / figures.snapshots;
        assert!((300..500).contains(&moving), "seed {seed}: {figures}");
    }
}

/// Unless the object meets something: this is why differences are small.
#[test]
fn a_flying_object_goes_where_it_is_expected() {
    let mut world = World::new(Seed::new(1));
    let (mut flying, mut as_expected) = (0, 0);
    for _ in 0..60 {
        let before = world.quantised();
        for _ in 0..10 {
            world.step();
        }
        let after = world.quantised();
        for (before, after) in before.iter().flatten().zip(after.iter().flatten()) {
            let expected = before.later(10);
            // The object does not come down meanwhile.
            if expected.velocity[2] > 0 {
                flying += 1;
                let axes = after.position.iter().zip(expected.position);
                let is_there = axes.fold(true, |all, (is, was)| all && (is - was).abs() <= 1);
                as_expected += u32::from(is_there && after.velocity == expected.velocity);
            }
        }
    }
    assert!(flying > 1000, "{flying}");
    assert!(as_expected > flying / 10 * 9, "{as_expected} of {flying}");
}

#[test]
fn a_part_fits_a_datagram() {
    let mut game = Game::new(settings(1, LinkConfig::new()));
    game.play(5);
    let figures = game.figures();
    // The connection itself takes a few datagrams more.
    let others = figures.link.sent - figures.parts;
    assert!(others < figures.link.sent / 20, "{figures}");
}

#[test]
fn the_same_seed_tells_the_same() {
    let told = |seed| {
        let mut game = Game::new(settings(seed, bad()));
        game.play(2);
        game.figures().to_string()
    };
    assert_eq!(told(1), told(1));
    assert_ne!(told(1), told(2));
}
