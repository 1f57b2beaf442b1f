//! Ids, signals and ends.

use alloc::collections::BTreeSet;
use core::time::Duration;

use porous_godot_core::{Error, Multiplayer, Status, TransferMode};
use porous_sim::LinkConfig;

use crate::game::{Game, SERVER};

const RELIABLE: (i32, TransferMode) = (0, TransferMode::Reliable);

/// A fifth of all datagrams is lost each way.
fn bad() -> LinkConfig {
    LinkConfig::new()
        .delay(Duration::from_millis(30))
        .loss(20.0)
        .duplicate(5.0)
}

#[test]
fn everybody_gets_an_id_and_knows_everybody() {
    for seed in 0..20 {
        let game = Game::with_clients(seed, bad(), 5);
        let ids: BTreeSet<i32> = (0..6).map(|place| game.id(place)).collect();
        assert_eq!((ids.len(), ids.first()), (6, Some(&1)), "{}", game.seed);
        for scene in &game.scenes {
            let mut others = ids.clone();
            others.remove(&scene.peer.unique_id());
            assert_eq!(scene.connected, others, "{}", game.seed);
        }
        let expected = [Status::Connecting, Status::Connected];
        assert_eq!(game.scenes[1].history, expected);
        assert!(game.scenes[0].peer.is_server() && !game.scenes[1].peer.is_server());
    }
}

#[test]
fn what_is_said_while_a_peer_is_announced_arrives() {
    for seed in 0..20 {
        let mut game = Game::new(seed, bad());
        game.scenes[0].greets = true;
        for place in 1..4 {
            game.join();
            game.scenes[place].greets = true;
        }
        game.until("all have greeted", |scenes| {
            let greeted = |heard: usize| move |count| heard == count;
            greeted(scenes[0].heard.len())(3) && scenes[1..].iter().all(|it| it.heard.len() == 1)
        });
    }
}

#[test]
fn a_client_that_closes_is_gone_for_all() {
    let mut game = Game::with_clients(1, LinkConfig::new(), 3);
    let id = game.id(2);
    game.at(2, |scene, _| scene.peer.close());
    let address = SERVER + 2;
    assert!(
        game.world.remove_host(address),
        "as a socket that is dropped"
    );
    game.scenes.truncate(3);
    let gone = game.scenes.remove(2);
    assert_eq!(gone.peer.status(), Status::Disconnected);
    assert_eq!(
        (gone.peer.unique_id(), gone.left.len()),
        (0, 0),
        "no signals"
    );
    game.until("the server knows", |scenes| scenes[0].left == [id]);
}

#[test]
fn a_server_that_disconnects_a_peer_delivers_first() {
    for seed in 0..20 {
        let mut game = Game::with_clients(seed, bad(), 2);
        let id = game.id(1);
        game.at(0, |scene, net| {
            for n in 0..50 {
                scene.call(net, id, RELIABLE, &[n]).expect("it is there");
            }
            scene
                .peer
                .disconnect_peer(net, id, false)
                .expect("it is there");
            // It is not there any more, though the signal comes with the next frame.
            let again = scene.peer.disconnect_peer(net, id, false);
            assert_eq!(again, Err(Error::UnknownPeer));
        });
        game.until("the client knows", |scenes| {
            scenes[1].peer.status() == Status::Disconnected && scenes[2].left == [id]
        });
        let heard = game.scenes[1].heard_by(0, TransferMode::Reliable);
        let expected: Vec<Vec<u8>> = (0..50).map(|n| vec![n]).collect();
        assert_eq!(heard.get(&1), Some(&expected), "{}", game.seed);
        assert_eq!(game.scenes[0].left, [id]);
        let expected = [Status::Connecting, Status::Connected, Status::Disconnected];
        assert_eq!(game.scenes[1].history, expected);
    }
}

#[test]
fn by_force_there_is_no_signal() {
    let mut game = Game::with_clients(1, LinkConfig::new(), 2);
    let id = game.id(1);
    game.at(0, |scene, net| {
        scene
            .peer
            .disconnect_peer(net, id, true)
            .expect("it is there");
        scene.connected.remove(&id);
    });
    game.until("the client knows", |scenes| {
        scenes[1].peer.status() == Status::Disconnected
    });
    assert_eq!(game.scenes[0].left, []);
}

#[test]
fn a_client_that_disconnects_delivers_first_and_has_its_signal() {
    for seed in 0..20 {
        let mut game = Game::with_clients(seed, bad(), 2);
        let id = game.id(1);
        game.at(1, |scene, net| {
            for n in 0..50 {
                scene.call(net, 1, RELIABLE, &[n]).expect("it is there");
            }
            scene
                .peer
                .disconnect_peer(net, 1, false)
                .expect("it is there");
        });
        game.until("both know", |scenes| {
            scenes[1].left == [1] && scenes[0].left == [id]
        });
        let heard = game.scenes[0].heard_by(0, TransferMode::Reliable);
        assert_eq!(heard.get(&id).map(Vec::len), Some(50), "{}", game.seed);
        assert_eq!(game.scenes[1].peer.status(), Status::Disconnected);
    }
}

#[test]
fn a_server_that_is_gone_disconnects_its_clients() {
    let mut game = Game::with_clients(1, LinkConfig::new(), 2);
    let config = LinkConfig::new().down(true);
    game.world.network_mut().set_all(config);
    game.until("all know", |scenes| {
        scenes[1..]
            .iter()
            .all(|it| it.peer.status() == Status::Disconnected)
    });
    assert_eq!(
        (&game.scenes[1].left[..], game.scenes[0].left.len()),
        (&[1][..], 2)
    );
}

#[test]
fn an_attempt_that_fails_ends_without_a_signal() {
    let mut game = Game::new(1, LinkConfig::new());
    game.at(0, |scene, net| {
        scene.peer.set_refuse_new_connections(net, true)
    });
    assert!(game.scenes[0].peer.is_refusing_new_connections());
    game.join();
    game.until("it has failed", |scenes| {
        scenes[1].peer.status() == Status::Disconnected
    });
    let expected = [Status::Connecting, Status::Disconnected];
    game.frame();
    assert_eq!(game.scenes[1].history, expected);
    assert_eq!(game.scenes[1].left, []);

    game.at(0, |scene, net| {
        scene.peer.set_refuse_new_connections(net, false)
    });
    let place = game.join();
    game.until("another comes", |scenes| {
        scenes[place].peer.status() == Status::Connected
    });
}

#[test]
fn nothing_happens_to_a_peer_that_is_closed() {
    let mut game = Game::with_clients(1, LinkConfig::new(), 1);
    game.at(0, |scene, net| {
        let mut closed = Multiplayer::closed();
        assert_eq!(closed.poll(net), None);
        assert_eq!(
            closed.put_packet(net, "hello".into()),
            Err(Error::Unconfigured)
        );
        assert!(!closed.is_server_relay_supported());
        scene.peer.close();
        assert_eq!(scene.peer.poll(net), None);
    });
}
