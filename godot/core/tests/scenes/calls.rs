//! Packets: their channels, modes and targets, and more of them than there is room for.

use core::time::Duration;

use porous_godot_core::{Error, Status, TransferMode};
use porous_sim::LinkConfig;

use crate::game::{CHANNELS, Game};
use crate::scene::Scene;

const WORDS: u32 = 200;

/// A line that loses, repeats and reorders.
fn bad() -> LinkConfig {
    LinkConfig::new()
        .delay(Duration::from_millis(20))
        .loss(10.0)
        .duplicate(5.0)
        .reorder(20.0)
}

fn numbers(words: &[Vec<u8>]) -> Vec<u32> {
    let number = |word: &Vec<u8>| u32::from_be_bytes(word[..].try_into().expect("a number"));
    words.iter().map(number).collect()
}

/// Whether what was heard is what the mode promises.
fn check(scene: &Scene, from: i32, channel: i32, mode: TransferMode, seed: porous_sim::Seed) {
    let heard = scene.heard_by(channel, mode);
    let heard = numbers(heard.get(&from).map_or(&[], |words| words));
    let mut sorted = heard.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), heard.len(), "{mode:?}: twice, {seed}");
    match mode {
        TransferMode::Reliable => {
            assert_eq!(heard, (0..WORDS).collect::<Vec<_>>(), "{seed}");
        }
        TransferMode::UnreliableOrdered => {
            assert_eq!(heard, sorted, "{seed}");
            assert!(heard.len() > 20, "{} came, {seed}", heard.len());
        }
        TransferMode::Unreliable => {
            assert!(heard.len() > 100, "{} came, {seed}", heard.len());
        }
    }
}

#[test]
fn each_mode_of_each_channel_keeps_its_promise_also_through_the_server() {
    for seed in 0..5 {
        let mut game = Game::with_clients(seed, bad(), 3);
        let target = game.id(2);
        for n in 0..WORDS {
            for (place, to) in [(1, 1), (1, target), (0, target)] {
                for channel in 0..i32::from(CHANNELS) {
                    for mode in TransferMode::ALL {
                        let word = n.to_be_bytes();
                        let sent = game.at(place, |scene, net| {
                            scene.call(net, to, (channel, mode), &word)
                        });
                        assert_eq!(sent, Ok(()));
                    }
                }
            }
            game.frame();
        }
        let all = WORDS as usize * usize::from(CHANNELS);
        game.until("all reliable ones are there", |scenes| {
            let reliable = |scene: &Scene| {
                let calls = scene.heard.iter();
                calls
                    .filter(|call| call.mode == TransferMode::Reliable)
                    .count()
            };
            reliable(&scenes[0]) == all && reliable(&scenes[2]) == 2 * all
        });
        let (seed, sender) = (game.seed, game.id(1));
        for channel in 0..i32::from(CHANNELS) {
            for mode in TransferMode::ALL {
                check(&game.scenes[0], sender, channel, mode, seed);
                check(&game.scenes[2], 1, channel, mode, seed);
                check(&game.scenes[2], sender, channel, mode, seed);
            }
        }
        assert_eq!(game.scenes[3].heard, [], "nobody has spoken to it");
    }
}

#[test]
fn a_packet_goes_to_all_to_one_or_to_all_but_one() {
    let mut game = Game::with_clients(1, LinkConfig::new(), 3);
    let ids: Vec<i32> = (0..4).map(|place| game.id(place)).collect();
    let how = (1, TransferMode::Reliable);
    // Who speaks, to whom, and who hears it.
    for (place, to, expected) in [
        (0, 0, &[1, 2, 3][..]),
        (0, ids[2], &[2]),
        (0, -ids[2], &[1, 3]),
        (1, 0, &[0, 2, 3]),
        (1, 1, &[0]),
        (1, ids[3], &[3]),
        (1, -ids[3], &[0, 2]),
        (1, -1, &[2, 3]),
    ] {
        game.at(place, |scene, net| scene.call(net, to, how, b"hear"))
            .expect("they are there");
        game.run_for(Duration::from_millis(200));
        for (listener, scene) in game.scenes.iter_mut().enumerate() {
            let heard = core::mem::take(&mut scene.heard);
            let from: Vec<i32> = heard.iter().map(|call| call.from).collect();
            let hears = expected.contains(&listener);
            let expected = if hears { vec![ids[place]] } else { Vec::new() };
            assert_eq!(from, expected, "{place} to {to}, at {listener}");
        }
    }
}

#[test]
fn bad_calls_say_what_to_do_and_change_nothing() {
    let mut game = Game::with_clients(1, LinkConfig::new(), 1);
    let how = (0, TransferMode::Reliable);
    let beyond = i32::from(CHANNELS);
    game.at(0, |scene, net| {
        let most = scene.peer.max_packet_size(net);
        for (to, how, len, error) in [
            (7, how, 1, Error::UnknownPeer),
            (-7, how, 1, Error::UnknownPeer),
            (i32::MIN, how, 1, Error::UnknownPeer),
            (
                0,
                (beyond, TransferMode::Unreliable),
                1,
                Error::UnknownChannel,
            ),
            (0, (-1, TransferMode::Unreliable), 1, Error::UnknownChannel),
            (0, how, most, Error::TooLarge),
        ] {
            assert_eq!(scene.call(net, to, how, &vec![0; len]), Err(error));
        }
        let empty = scene.peer.put_packet(net, "".into());
        assert_eq!(empty, Err(Error::Empty));
        // The head of the stand-in has five bytes.
        scene
            .call(net, 0, how, &vec![0; most - 5])
            .expect("it fits");
    });
    let join = game.join();
    let early = game.at(join, |scene, net| scene.call(net, 1, how, b"too early"));
    assert_eq!(early, Err(Error::Unconfigured));
    game.until("the large one is there", |scenes| {
        scenes[1].heard.len() == 1
    });
}

/// The bytes that may wait for one client.
const BUDGET: u32 = 64 * 1024;

fn narrow() -> Game {
    let mut game = Game::configured(1, LinkConfig::new(), |config| {
        config.send_budget(BUDGET).expect("enough")
    });
    game.join();
    game.join();
    game.until("all know all", |scenes| {
        scenes.iter().all(|scene| scene.connected.len() == 2)
    });
    game
}

#[test]
fn a_peer_that_is_too_slow_for_reliable_packets_is_disconnected() {
    let mut game = narrow();
    let id = game.id(1);
    let how = (0, TransferMode::Reliable);
    let sent = game.at(0, |scene, net| {
        let mut send = |_| scene.call(net, id, how, &[7; 10_000]);
        (0..20).map(&mut send).find(Result::is_err)
    });
    assert_eq!(sent, Some(Err(Error::TooSlow)));
    game.until("all know", |scenes| {
        scenes[1].peer.status() == Status::Disconnected && scenes[2].left == [id]
    });
    assert_eq!(game.scenes[0].left, [id]);
    assert_eq!(game.scenes[2].peer.status(), Status::Connected);
}

#[test]
fn unreliable_packets_without_room_are_dropped_and_counted() {
    let mut game = narrow();
    let id = game.id(1);
    let how = (0, TransferMode::Unreliable);
    game.at(0, |scene, net| {
        for _ in 0..20 {
            scene.call(net, id, how, &[7; 10_000]).expect("dropped");
        }
        assert!(scene.peer.dropped() > 5);
    });
    game.run_for(Duration::from_secs(1));
    assert_eq!(game.scenes[1].peer.status(), Status::Connected);
}
