//! The other side is no game.

use core::time::Duration;

use porous_godot_core::{Multiplayer, Status, with_channels};
use porous_sim::LinkConfig;
use porous_std::{ChannelId, Config, Event, Listen, Mode};

use crate::game::{CHANNELS, Game, SERVER};
use crate::scene::Scene;

/// The address of a host that no `Multiplayer` uses.
const STRANGER: u32 = 66;

#[test]
fn a_server_that_tells_no_id_is_left() {
    for first in [
        &[][..],
        &[1, 0, 0, 0, 1],
        &[2, 0, 0, 0, 9],
        &[0xff; 5],
        &[7; 3000],
    ] {
        for channel in [0, 1, 3] {
            let mut game = Game::new(1, LinkConfig::new());
            let config = with_channels(Config::new(), CHANNELS).expect("a few");
            game.world.add_host(STRANGER, config);
            let stranger = game.world.host_mut(STRANGER);
            stranger.listen(Listen::Open).expect("a server");
            let config = with_channels(Config::client(), CHANNELS).expect("a few");
            game.world.add_host(SERVER + 1, config);
            let server = game.world.connect(SERVER + 1, STRANGER).expect("one");
            game.scenes.push(Scene::new(Multiplayer::client(server)));
            let end = game.world.now() + Duration::from_secs(5);
            while game.world.now() < end {
                game.frame();
                while let Some(event) = game.world.poll_event(STRANGER) {
                    if let Event::Connected { peer, .. } = event {
                        let stranger = game.world.host_mut(STRANGER);
                        let sent = stranger.send(peer, ChannelId(channel), first, Mode::Reliable);
                        sent.expect("there is room");
                    }
                }
            }
            let status = game.scenes[1].peer.status();
            assert_eq!(status, Status::Disconnected, "{first:?} on {channel}");
            assert!(game.scenes[1].connected.is_empty());
        }
    }
}

#[test]
fn packets_on_the_channel_of_the_ids_and_empty_ones_are_not_heard() {
    let mut game = Game::with_clients(1, LinkConfig::new(), 1);
    let config = with_channels(Config::client(), CHANNELS).expect("a few");
    game.world.add_host(STRANGER, config);
    let server = game.world.connect(STRANGER, SERVER).expect("one");
    game.until("it has come", |scenes| scenes[0].connected.len() == 2);
    for n in 0..100 {
        let stranger = game.world.host_mut(STRANGER);
        let sent = stranger.send(server, ChannelId(0), vec![n; 5], Mode::Reliable);
        sent.expect("there is room");
        // Nor is a packet without bytes a packet for Godot.
        let sent = stranger.send(server, ChannelId(3), &[][..], Mode::Reliable);
        sent.expect("there is room");
    }
    game.run_for(Duration::from_secs(1));
    assert_eq!(game.scenes[0].heard, []);
    assert_eq!(game.scenes[0].connected.len(), 2);
}

/// What waits is bounded, however long the game takes nothing. All of it comes when the game does.
#[test]
fn packets_wait_at_the_host_for_a_game_that_takes_none() {
    let mut game = Game::with_clients(1, LinkConfig::new(), 1);
    let config = with_channels(Config::client(), CHANNELS).expect("a few");
    game.world.add_host(STRANGER, config);
    let server = game.world.connect(STRANGER, SERVER).expect("one");
    game.until("it has come", |scenes| scenes[0].connected.len() == 2);
    let reliable = ChannelId(3);
    let (mut sent, mut most) = (0, 0);
    for _ in 0..500 {
        for _ in 0..20 {
            let stranger = game.world.host_mut(STRANGER);
            sent += u32::from(
                stranger
                    .send(server, reliable, vec![0; 5], Mode::Reliable)
                    .is_ok(),
            );
        }
        game.at(0, |scene, net| while scene.peer.poll(net).is_some() {});
        game.world.run_for(Duration::from_millis(16));
        most = most.max(game.scenes[0].peer.available_packet_count());
    }
    assert!(
        sent > 5000 && (4000..=4096).contains(&most),
        "{sent}, {most}"
    );
    let mut taken = 0;
    for _ in 0..500 {
        game.at(0, |scene, net| {
            while scene.peer.poll(net).is_some() {}
            while scene.peer.get_packet().is_some() {
                taken += 1;
            }
        });
        game.world.run_for(Duration::from_millis(16));
    }
    assert_eq!(taken, sent);
}
