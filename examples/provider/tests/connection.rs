//! Sealed connections between two hosts, of which each has another provider.
#![expect(clippy::unwrap_used, reason = "a test")]

use core::cell::Cell;
use core::ops::ControlFlow;
use core::time::Duration;
use std::rc::Rc;

use porous_crypto::RustCrypto;
use porous_proto::seal::{Credentials, Provider, Psk, PublicKey, SecretKey, Security, Suite};
use porous_proto::{ChannelId, Config, Event, Listen, Mode, PeerId};
use porous_sim::{Intercept, LinkConfig, Seed, World};
use provider::AwsLc;

const CLIENT: u32 = 1;
const SERVER: u32 = 2;

/// Packets that each host sends, and bytes of each.
const PACKETS: u32 = 500;
const LENGTH: usize = 400;

const SECOND: Duration = Duration::from_secs(1);

/// The host that connects, and the one that listens.
const ENDS: [[&'static dyn Provider; 2]; 2] = [[&RustCrypto, &AwsLc], [&AwsLc, &RustCrypto]];

/// Frames after which a host goes on to its next key: several times in a session.
const REKEY: u64 = 16;

fn psk() -> Psk {
    Psk::from_bytes([7; 32])
}

fn identity() -> SecretKey {
    SecretKey::from_bytes([9; 32])
}

/// Both hosts over a bad path, of which the client has begun to connect to the server whose key this is.
fn world(seed: Seed, suite: Suite, [client, server]: [&'static dyn Provider; 2]) -> World {
    let link = LinkConfig::new().delay(Duration::from_millis(20));
    let mut world = World::new(seed, link.loss(10.0).reorder(5.0));
    let config = Config::new().sealed(&[suite]).unwrap();
    let security = |provider| Security::new(provider).rekey_after(REKEY, SECOND);
    world.add_host(CLIENT, config.clone());
    world.add_host(SERVER, config);
    world.host_mut(CLIENT).set_security(security(client));
    let own = security(server).identity(&identity()).unwrap();
    let own = own.psk(1, psk()).unwrap().require_proof();
    let host = world.host_mut(SERVER);
    host.set_security(own);
    host.listen(Listen::Open).unwrap();
    world
}

/// What a host has heard, in order.
#[derive(Debug, Default)]
struct End {
    peer: Option<PeerId>,
    heard: Vec<u32>,
}

impl End {
    fn turn(&mut self, world: &mut World, at: u32) {
        while let Some(event) = world.poll_event(at) {
            if let Event::Connected { peer, .. } = event {
                self.connected(world, at, peer);
            } else {
                assert!(matches!(event, Event::Readable { .. }), "{at}: {event:?}");
            }
            self.hear(world, at);
        }
    }

    fn connected(&mut self, world: &mut World, at: u32, peer: PeerId) {
        self.peer = Some(peer);
        let host = world.host_mut(at);
        for number in 0..PACKETS {
            let mut packet = [0; LENGTH];
            packet[..4].copy_from_slice(&number.to_le_bytes());
            let sent = host.send(peer, ChannelId(0), &packet, Mode::Reliable);
            sent.unwrap();
        }
    }

    fn hear(&mut self, world: &mut World, at: u32) {
        let Some(peer) = self.peer else { return };
        while let Some(packet) = world.host_mut(at).receive(peer) {
            let bytes = *packet.payload.first_chunk().unwrap();
            self.heard.push(u32::from_le_bytes(bytes));
        }
    }
}

/// Lets both hosts talk until each has heard all of the other. A minute may pass.
fn talk(world: &mut World) -> [End; 2] {
    let mut ends = [End::default(), End::default()];
    let limit = world.now() + 60 * SECOND;
    let done = world.drive(limit, |world| {
        for (end, at) in ends.iter_mut().zip([CLIENT, SERVER]) {
            end.turn(world, at);
        }
        let is_done = ends.iter().all(|end| end.heard.len() == PACKETS as usize);
        if is_done {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert!(done.is_some(), "not all was heard: {ends:?}");
    ends
}

/// Tells how many of the hosts' frames were sealed with the key of an odd phase: K, bit 3 of a short form.
fn count_odd_phases(world: &mut World) -> Rc<Cell<u32>> {
    let count = Rc::new(Cell::new(0));
    let seen = Rc::clone(&count);
    world.intercept(move |passing| {
        let is_odd = passing.datagram[0] & 0b1100_1000 == 0b0100_1000;
        seen.set(seen.get() + u32::from(is_odd));
        Intercept::Pass
    });
    count
}

#[test]
fn hosts_with_different_providers_talk_over_a_bad_path() {
    for suite in [Suite::CHACHA_POLY, Suite::AES_GCM] {
        for (number, providers) in (1..).zip(ENDS) {
            let seed = Seed::new(number);
            let mut world = world(seed, suite, providers);
            let [client, server] = providers;
            let key = client.public_key(suite, &identity()).unwrap();
            let with = Credentials::new().server_key(key.clone()).psk(1, psk());
            world.connect_sealed(CLIENT, &[SERVER], &with).unwrap();
            let odd = count_odd_phases(&mut world);
            let ends = talk(&mut world);
            let all: Vec<u32> = (0..PACKETS).collect();
            let what = format!("{suite:?}, {client:?} to {server:?}, {seed}");
            assert!(ends.iter().all(|end| end.heard == all), "{what}");
            assert!(odd.get() > 0, "no other key was used: {what}");
            let [a, b] = [(CLIENT, &ends[0]), (SERVER, &ends[1])].map(|(at, end)| {
                let peer = world.host(at).peer(end.peer.unwrap()).unwrap();
                let secured = peer.secured().unwrap();
                assert_eq!((secured.suite(), secured.psk()), (suite, Some(1)), "{what}");
                (*secured.binding(), secured.export(b"test"))
            });
            assert_eq!(a, b, "{what}");
        }
    }
}

#[test]
fn a_server_with_another_key_is_refused_by_each_provider() {
    for providers in ENDS {
        let mut world = world(Seed::new(3), Suite::CHACHA_POLY, providers);
        let [client, _] = providers;
        let other = SecretKey::from_bytes([10; 32]);
        let key: PublicKey = client.public_key(Suite::CHACHA_POLY, &other).unwrap();
        let with = Credentials::new().server_key(key).psk(1, psk());
        world.connect_sealed(CLIENT, &[SERVER], &with).unwrap();
        world.run_for(60 * SECOND);
        let events = [CLIENT, SERVER].map(|at| world.poll_event(at));
        assert!(
            matches!(events, [Some(Event::Disconnected { .. }), None]),
            "{events:?}"
        );
    }
}
