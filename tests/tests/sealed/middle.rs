//! Attackers that decide about every datagram: they drop, change, hold and repeat, but make no handshake of their
//! own. They can keep two hosts apart, and nothing else.

use alloc::rc::Rc;
use core::cell::RefCell;

use porous_proto::seal::Suite;
use porous_proto::{ChannelId, Mode, PeerId, PeerState};
use porous_sim::{Intercept, Passing};
use porous_tests::forge::{has_message, is_request, long, nonces, reoffer, split};

use crate::scene::{CLIENT, Injection, MS, Packet, Plan, SECOND, SERVER, SUITES, Scene};

/// Another client.
const OTHER: u32 = 3;

/// All that this client believes to be connected to is sealed, and the server has the same connection.
fn assert_sound(scene: &Scene, client: u32) {
    let host = scene.world.host(client);
    for (_, peer) in host.peers() {
        assert!(
            peer.state() != PeerState::Connected || peer.secured().is_some(),
            "{client} is connected in plain"
        );
    }
    let server = scene.bindings(SERVER);
    for binding in scene.bindings(client) {
        assert!(server.contains(&binding), "{client} has another connection");
    }
}

#[test]
fn offers_without_a_seal_bring_no_plain_connection() {
    for mut plan in Plan::all(1) {
        for allows_plain in [false, true] {
            for victims in [&[CLIENT][..], &[SERVER], &[CLIENT, SERVER]] {
                plan.allows_plain = allows_plain;
                let mut scene = plan.clone().build();
                scene.attempt(CLIENT);
                scene.attack(move |passing, _| {
                    if victims.contains(&passing.from) {
                        return Intercept::Replace(reoffer(passing.datagram, None));
                    }
                    Intercept::Pass
                });
                scene.run_for(15 * SECOND);
                assert_sound(&scene, CLIENT);
                assert_eq!(scene.bindings(CLIENT).len(), 0, "{victims:?}");
                assert_eq!(scene.ended(CLIENT).len(), 1, "{victims:?}");
                // Nor is there a plain one at the server, whose message 1 nobody has read.
                assert_eq!(scene.world.host(SERVER).stats().connected, 0);
            }
        }
    }
}

/// The suite of the client's connection.
fn suite(scene: &Scene) -> Option<Suite> {
    let mut peers = scene.world.host(CLIENT).peers();
    peers.find_map(|(_, peer)| Some(peer.secured()?.suite()))
}

#[test]
fn nobody_else_chooses_the_suite() {
    for suites in [SUITES, [SUITES[1], SUITES[0]]] {
        let numbers = suites.map(Suite::number);
        let [first, second] = numbers;
        for offered in [vec![second, first], vec![second], vec![first], vec![77]] {
            for victim in [CLIENT, SERVER] {
                for first_only in [false, true] {
                    let mut plan = Plan::new(1, suites[0]);
                    plan.suites = Some(suites.into());
                    let mut scene = plan.build();
                    scene.attempt(CLIENT);
                    let forged = offered.clone();
                    scene.attack(move |passing, _| {
                        if passing.from == victim && (passing.nth == 0 || !first_only) {
                            return Intercept::Replace(reoffer(passing.datagram, Some(&forged)));
                        }
                        Intercept::Pass
                    });
                    scene.run_for(8 * SECOND);
                    assert_sound(&scene, CLIENT);
                    let chosen = suite(&scene);
                    assert!(
                        chosen.is_none_or(|suite| suite == suites[0]),
                        "{offered:?} of {victim}: {chosen:?}"
                    );
                    assert!(first_only || chosen.is_none(), "{offered:?} of {victim}");
                }
            }
        }
    }
}

/// Two clients that begin to connect, and who each of them connects to.
fn two_clients(plan: Plan) -> (Scene, [PeerId; 2]) {
    let mut scene = plan.build();
    scene.add_client(OTHER);
    let peers = [CLIENT, OTHER].map(|at| scene.attempt(at));
    (scene, peers)
}

#[test]
fn the_message_of_another_handshake_is_of_no_use() {
    for plan in Plan::all(2) {
        for renamed in [false, true] {
            let (mut scene, _) = two_clients(plan.clone());
            let mut theirs = Vec::new();
            scene.attack(move |passing, _| splice(passing, &mut theirs, renamed));
            scene.run_for(3 * SECOND);
            assert_sound(&scene, CLIENT);
            assert_sound(&scene, OTHER);
            assert_eq!(scene.bindings(CLIENT).len(), 0);
            assert_eq!(scene.bindings(OTHER).len(), 1);
            scene.world.stop_intercepting();
            // The same attempt goes on, or it was refused.
            scene.run_for(12 * SECOND);
            if scene.bindings(CLIENT).is_empty() {
                scene.attempt(CLIENT);
                scene.run_for(3 * SECOND);
            }
            assert_eq!(scene.bindings(CLIENT).len(), 1);
            assert_sound(&scene, CLIENT);
        }
    }
}

/// Puts message 1 of the other client before the request of the client, and if it is `renamed` with the nonces of
/// that request.
fn splice(passing: &Passing<'_, u32>, theirs: &mut Vec<u8>, renamed: bool) -> Intercept {
    if passing.to != SERVER || !has_message(passing.datagram) {
        return Intercept::Pass;
    }
    let (forms, _) = split(passing.datagram);
    if passing.from == OTHER {
        *theirs = forms[0].to_vec();
        return Intercept::Pass;
    }
    if theirs.is_empty() {
        return Intercept::Drop;
    }
    let message = match renamed {
        true => long(0xD2, nonces(forms[1]), &theirs[23..]),
        false => theirs.clone(),
    };
    let mut datagram = [&message, forms[1]].concat();
    datagram.resize(passing.datagram.len(), 0);
    Intercept::Replace(datagram)
}

/// Each client says who it is. What a peer of the server has received was said by the client that has the same
/// connection.
fn assert_nobody_is_mistaken(scene: &mut Scene, peers: [PeerId; 2]) {
    for (at, peer) in [CLIENT, OTHER].into_iter().zip(peers) {
        let word = at.to_le_bytes().to_vec();
        // It may have given up.
        let _ = scene
            .world
            .host_mut(at)
            .send(peer, ChannelId(0), word, Mode::Reliable);
    }
    scene.run_for(2 * SECOND);
    let there = scene.world.host(SERVER).peers();
    let there: Vec<_> = there
        .filter_map(|(id, peer)| Some((id, *peer.secured()?.binding())))
        .collect();
    for (id, binding) in there {
        while let Some(packet) = scene.world.host_mut(SERVER).receive(id) {
            let bytes = *packet.payload.first_chunk().unwrap();
            let from = u32::from_le_bytes(bytes);
            assert!(scene.bindings(from).contains(&binding), "{from}");
        }
    }
}

#[test]
fn clients_whose_addresses_are_swapped_are_not_mistaken_for_each_other() {
    for plan in Plan::all(2) {
        // From the beginning, between cookie and message 1, with message 2, and once they are connected.
        for begin in [0, 30, 70, 1000] {
            let (mut scene, peers) = two_clients(plan.clone());
            scene.run_for(begin * MS);
            scene.attack(|passing, injections| {
                let swapped = |at| match at {
                    CLIENT => OTHER,
                    OTHER => CLIENT,
                    _ => at,
                };
                injections.push(Injection {
                    from: swapped(passing.from),
                    to: swapped(passing.to),
                    bytes: passing.datagram.to_vec(),
                });
                Intercept::Drop
            });
            scene.run_for(3 * SECOND);
            if begin < 70 {
                for client in [CLIENT, OTHER] {
                    assert_sound(&scene, client);
                }
                let connections = scene.bindings(SERVER).len();
                assert_eq!(connections, 2, "as if they were where they seem to be");
            }
            assert_nobody_is_mistaken(&mut scene, peers);
        }
    }
}

#[test]
fn a_proof_from_another_address_makes_no_connection() {
    for plan in Plan::all(2) {
        for early in [false, true] {
            let mut scene = plan.clone().build();
            let proofs = Rc::new(RefCell::new(0));
            let count = Rc::clone(&proofs);
            scene.attack(move |passing, injections| {
                if !has_message(passing.datagram) || !is_request(passing.datagram) {
                    return Intercept::Pass;
                }
                *count.borrow_mut() += 1;
                injections.push(Injection {
                    from: OTHER,
                    to: passing.to,
                    bytes: passing.datagram.to_vec(),
                });
                if early {
                    Intercept::Delay(MS)
                } else {
                    Intercept::Pass
                }
            });
            scene.connect();
            scene.run_for(SECOND);
            assert_eq!(*proofs.borrow(), 1);
            let server = scene.world.host(SERVER);
            assert_eq!(server.all_peers().count(), 1);
            assert_eq!(server.address(scene.peer(SERVER)), Some(CLIENT));
            assert_eq!(scene.recorder.calls().agree, 2, "one for each host");
            scene.check();
        }
    }
}

/// Connects, by as many attempts as it takes: a message that was changed on its way is refused.
fn connect_in_the_end(scene: &mut Scene) {
    for _ in 0..20 {
        let here = scene.attempt(CLIENT);
        for _ in 0..12 {
            scene.run_for(SECOND);
            let bindings = scene.bindings(CLIENT);
            let mut there = scene.world.host(SERVER).peers();
            let there = there.find(|(_, peer)| {
                let binding = peer.secured().map(|secured| *secured.binding());
                binding.is_some_and(|binding| bindings.contains(&binding))
            });
            if let Some((there, _)) = there {
                scene.ends = Some([here, there]);
                return;
            }
        }
    }
    panic!("not connected");
}

#[test]
fn whatever_is_changed_and_dropped_nothing_false_arrives() {
    for plan in Plan::all(10) {
        let mut scene = plan.build();
        let mut state = (scene.plan.seed.get() * 0x9E37_79B9) | 1;
        scene.attack(move |passing, _| {
            let mut draw = |below: usize| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                usize::try_from(state >> 32).unwrap() % below
            };
            let mut bytes = passing.datagram.to_vec();
            match draw(10) {
                0 => Intercept::Drop,
                1 => Intercept::Hold,
                2 => Intercept::Duplicate,
                3 => {
                    let place = draw(bytes.len());
                    bytes[place] ^= 1 << draw(8);
                    Intercept::Replace(bytes)
                }
                4 => {
                    bytes.truncate(draw(bytes.len()));
                    Intercept::Replace(bytes)
                }
                _ => Intercept::Pass,
            }
        });
        connect_in_the_end(&mut scene);
        // The words are checked.
        scene.talk(&Packet::reliable(100), 10 * MS);
        scene.check();
        assert_sound(&scene, CLIENT);
    }
}
