//! Clients that move, that start again, and that are many.

use alloc::collections::BTreeMap;

use porous_proto::{
    Config, Disconnect, DisconnectReason, Event, Listen, Mode, Refusal, RefusalData,
};
use porous_sim::LinkConfig;

use crate::scene::{CLIENT, DELAY, MS, Packet, Plan, SECOND, SERVER, SUITES, Scene};

/// Addresses of one host agree in all but the last two digits.
const ROUTER: u32 = 1000;
const ELSEWHERE: u32 = 2000;

/// A client behind a router, and a server that follows it.
fn behind_a_router(plan: Plan) -> Scene {
    let mut scene = plan.build();
    scene.world.add_nat(CLIENT, ROUTER, 30 * SECOND);
    let server = scene.world.host_mut(SERVER);
    server.set_same_host(|a, b| a / 100 == b / 100);
    scene.connect();
    scene
}

#[test]
fn a_client_that_moves_keeps_its_connection() {
    for plan in Plan::all(3) {
        for to in [ROUTER + 1, ELSEWHERE] {
            for loss in [0.0, 10.0] {
                let link = LinkConfig::new().delay(DELAY).loss(loss);
                let mut scene = behind_a_router(plan.clone().link(link));
                scene.talk(&Packet::reliable(50), 10 * MS);
                let before = scene.bindings(SERVER);
                scene.world.rebind(CLIENT, to);
                scene.talk(&Packet::reliable(100), 20 * MS);
                let server = scene.world.host(SERVER);
                assert_eq!(server.address(scene.peer(SERVER)), Some(to));
                assert_eq!(scene.bindings(SERVER), before);
                assert_eq!(scene.bindings(CLIENT), before);
            }
        }
    }
}

/// Its acknowledgement is signed as well, and goes to where it came from.
#[test]
fn a_goodbye_from_another_address_is_answered_there() {
    for plan in Plan::all(3) {
        for to in [ROUTER + 1, ELSEWHERE] {
            let mut scene = behind_a_router(plan.clone());
            scene.talk(&Packet::reliable(5), 10 * MS);
            scene.world.rebind(CLIENT, to);
            let now = Disconnect::Now { reason: 5 };
            let peer = scene.peer(CLIENT);
            scene.world.disconnect(CLIENT, peer, now).unwrap();
            scene.world.run_for(200 * MS);
            assert_eq!(scene.ended(SERVER), [DisconnectReason::ByPeer(5)]);
            assert_eq!(scene.ended(CLIENT), [DisconnectReason::ByUs(5)]);
        }
    }
}

/// A refusal in plain is believed late, as it may be forged: but not forgotten when the attempt has no time left.
#[test]
fn a_refusal_that_comes_late_is_the_reason() {
    for plan in Plan::all(1) {
        let mut scene = plan.build();
        let server = scene.world.host_mut(SERVER);
        server.listen(Listen::Ask).unwrap();
        scene.attempt(CLIENT);
        scene.world.run_for(4 * SECOND);
        let told = porous_tests::events(&mut scene.world, SERVER);
        let [Event::Request { peer, .. }] = told[..] else {
            panic!("{told:?}");
        };
        scene.world.refuse(SERVER, peer, b"no").unwrap();
        scene.world.run_for(10 * SECOND);
        let said = Refusal::Application(RefusalData::new(b"no").unwrap());
        assert_eq!(scene.ended(CLIENT), [DisconnectReason::Refused(said)]);
    }
}

/// One that seals and one that does not, as neither gives way to the other.
#[test]
fn an_address_has_one_newcomer_of_each_kind() {
    for mut plan in Plan::all(1) {
        plan.allows_plain = true;
        let mut scene = plan.build();
        let server = scene.world.host_mut(SERVER);
        server.listen(Listen::Ask).unwrap();
        for seals in [true, false, true, true, false, true, true, true, false] {
            scene.world.remove_host(CLIENT);
            if seals {
                scene.add_client(CLIENT);
                scene.attempt(CLIENT);
            } else {
                scene.world.add_host(CLIENT, Config::client());
                scene.world.connect(CLIENT, SERVER).unwrap();
            }
            scene.world.run_for(200 * MS);
            assert!(scene.world.host(SERVER).peers().count() <= 2);
        }
        assert_eq!(scene.world.host(SERVER).peers().count(), 2);
    }
}

#[test]
fn a_client_that_starts_again_gets_another_connection() {
    for plan in Plan::all(3) {
        let mut scene = plan.connected();
        scene.talk(&Packet::reliable(20), 10 * MS);
        let before = scene.bindings(SERVER);
        scene.world.remove_host(CLIENT);
        scene.add_client(CLIENT);
        scene.attempt(CLIENT);
        scene.world.run_for(SECOND);
        let events = porous_tests::events(&mut scene.world, SERVER);
        let ended = porous_tests::ended(&events);
        assert_eq!(ended.len(), 1, "{events:?}");
        assert_eq!(ended[0].1, DisconnectReason::Restarted);
        let client = porous_tests::events(&mut scene.world, CLIENT);
        let ends = [client, events].map(|events| porous_tests::connected(&events)[0]);
        scene.ends = Some(ends);
        scene.check();
        assert_ne!(scene.bindings(SERVER), before);
    }
}

#[test]
fn a_server_has_two_hundred_clients() {
    const COUNT: u32 = 200;
    for suite in SUITES {
        let link = LinkConfig::new().delay(DELAY).loss(5.0);
        let mut plan = Plan::new(1, suite).link(link);
        plan.server = Config::new().max_peers(COUNT);
        let mut scene = plan.build();
        let mut peers = BTreeMap::new();
        for client in 1000..1000 + COUNT {
            scene.add_client(client);
            peers.insert(client, scene.attempt(client));
        }
        scene.world.run_for(10 * SECOND);
        let mut clients = BTreeMap::new();
        for event in porous_tests::events(&mut scene.world, SERVER) {
            if let Event::Connected { peer, .. } = event {
                clients.insert(scene.world.host(SERVER).address(peer).unwrap(), peer);
            }
        }
        assert_eq!(clients.len(), 200);
        let all = scene.bindings(SERVER);
        for (&at, &peer) in &peers {
            let [binding] = scene.bindings(at)[..] else {
                panic!("{at} is not connected");
            };
            let there = scene.world.host(SERVER).peer(clients[&at]).unwrap();
            assert_eq!(there.secured().unwrap().binding(), &binding);
            let word = at.to_le_bytes().to_vec();
            let host = scene.world.host_mut(at);
            let sent = host.send(peer, porous_proto::ChannelId(0), word, Mode::Reliable);
            sent.unwrap();
        }
        let mut distinct = all.clone();
        distinct.dedup();
        assert_eq!((all.len(), distinct.len()), (200, 200));
        scene.world.run_for(5 * SECOND);
        for (&at, &peer) in &clients {
            let got = scene.world.host_mut(SERVER).receive(peer).unwrap();
            assert_eq!(got.payload, at.to_le_bytes()[..]);
        }
    }
}
