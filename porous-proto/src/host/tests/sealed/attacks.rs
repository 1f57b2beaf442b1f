//! What an attacker on the path does to sealed connections: it sees all datagrams, changes them, repeats them, and
//! writes some of its own.

use super::proofs::{proofs, server_keys};
use super::*;

/// Whatever an attacker does to one datagram of the handshake: the connection comes up a round of requests
/// later, and is the one that was meant.
///
/// D17.
#[test]
fn a_handshake_with_a_changed_byte_comes_up_all_the_same() {
    for (server, credentials) in proofs() {
        let begun = || {
            let mut world = World::secure();
            world.host(SERVER).set_security(server.clone());
            world.connect_by(&credentials);
            world
        };
        let mut clean = begun();
        clean.run(500 * MS);
        let proved = clean.proved().unwrap();
        let sent = clean.sent.iter().take(4);
        let lengths: Vec<usize> = sent.map(|(_, datagram)| datagram.len()).collect();
        for (number, length) in lengths.into_iter().enumerate() {
            // Padding is zeros: one of its bytes is as good as another.
            for place in (0..length).filter(|&place| place < 300 || place % 97 == 0) {
                let mut world = begun();
                let bit = 1 << (place % 8);
                world.run_with(3000 * MS, &mut |n, _, datagram| {
                    let mut changed = datagram.to_vec();
                    if n == number {
                        changed[place] ^= bit;
                    }
                    vec![changed]
                });
                let context = alloc::format!("{credentials:?}: datagram {number}, byte {place}");
                assert_eq!(world.proved().as_ref(), Some(&proved), "{context}");
                let peer = world.peer(SERVER);
                let greeting = world.hosts[&SERVER].peer(peer).unwrap().greeting();
                assert_eq!(greeting, b"hello", "{context}");
                world.check();
            }
        }
    }
}

#[test]
fn a_handshake_with_a_datagram_cut_short_comes_up_all_the_same() {
    for number in 0..4 {
        for keep in [
            0, 1, 2, 3, 22, 23, 24, 25, 56, 57, 72, 78, 79, 90, 150, 511, 1199,
        ] {
            let mut world = World::secure();
            world.connect();
            world.run_with(3000 * MS, &mut |n, _, datagram| {
                let keep = if n == number { keep } else { datagram.len() };
                vec![datagram[..keep.min(datagram.len())].to_vec()]
            });
            assert_eq!(world.connected_at(), [CLIENT, SERVER], "{number} {keep}");
            world.check();
        }
    }
}

/// The initiator has message 2 by then, and a host that repeats its request is another one.
#[test]
fn a_responder_that_was_heard_answers_no_request_any_more() {
    let mut world = World::connected();
    world.check();
    let proof = world
        .sent
        .iter()
        .find(|(at, datagram)| *at == CLIENT && kind(datagram) == 0xD2);
    let (_, proof) = proof.unwrap().clone();
    let before = world.sent.len();
    world.deliver(SERVER, &proof);
    world.run(2000 * MS);
    let answers = world.sent[before..]
        .iter()
        .filter(|(_, datagram)| kind(datagram) >= 0xC0);
    assert_eq!(answers.count(), 0);
}

#[test]
fn what_was_recorded_is_of_no_use() {
    let mut world = World::connected();
    world.check();
    let (recorded, connected) = (world.sent.clone(), world.connected_at());
    for (from, datagram) in &recorded {
        for to in [CLIENT, SERVER] {
            let taken = world.deliver(to, datagram);
            // A request is answered, as it may be a repetition; nothing else is taken, from wherever it seems
            // to come.
            let is_request = kind(datagram) & 0xF0 == 0xC0 || kind(datagram) == 0xD2;
            let is_ignored = matches!(taken, Disposition::Ignored(_));
            assert!(is_ignored || is_request, "{from} to {to}: {taken:?}");
        }
    }
    world.run(1000 * MS);
    assert_eq!(world.connected_at(), connected);
    assert!(world.received(SERVER).is_empty() && world.received(CLIENT).is_empty());
    world.check();
}

/// An acknowledgement tells the low bytes of an id. In a frame that was overtaken they may mean another id by now.
#[test]
fn what_an_overtaken_frame_acknowledges_counts_for_nothing() {
    let mut world = World::connected();
    world.check();
    // Slow traffic, of which each answer of the server is held back: ids have one byte.
    let mut held = Vec::new();
    for _ in 0..40 {
        world.send(CLIENT, b"slow");
        world.run_with(90 * MS, &mut |_, from, datagram| {
            if from == SERVER {
                held.push(datagram.to_vec());
                return vec![];
            }
            vec![datagram.to_vec()]
        });
    }
    // So much that the low byte of an id comes round.
    let (peer, mut buf) = (world.peer(CLIENT), [0; 1200]);
    let sent = |world: &World| world.hosts[&CLIENT].peer(peer).unwrap().stats().frames_sent;
    let before = sent(&world);
    while sent(&world) < before + 250 {
        world.send(CLIENT, b"fast");
        let now = world.now;
        while let Some(transmit) = world.host(CLIENT).poll_transmit(now, &mut buf) {
            let datagram = transmit.datagram.to_vec();
            world.deliver(SERVER, &datagram);
        }
        if sent(&world) % 50 == 0 {
            world.run(100 * MS);
        }
    }
    world.run(100 * MS);
    world.ignored.clear();
    for datagram in held {
        world.deliver(CLIENT, &datagram);
    }
    assert!(
        world
            .ignored
            .iter()
            .all(|&(_, cause)| cause != Ignored::BadAck)
    );
}

/// D17.
#[test]
fn every_changed_byte_of_a_sealed_datagram_is_seen() {
    let mut world = World::connected();
    world.send(CLIENT, b"one packet");
    let mut caught = Vec::new();
    world.run_with(DELAY, &mut |_, from, datagram| {
        if from == CLIENT && caught.is_empty() {
            caught = datagram.to_vec();
            return vec![];
        }
        vec![datagram.to_vec()]
    });
    for place in 0..caught.len() {
        for bit in 0..8 {
            let mut changed = caught.clone();
            changed[place] ^= 1 << bit;
            let taken = world.deliver(SERVER, &changed);
            assert!(
                matches!(taken, Disposition::Ignored(_)),
                "{place} {bit}: {taken:?}"
            );
        }
    }
    for keep in 0..caught.len() {
        let taken = world.deliver(SERVER, &caught[..keep]);
        assert!(
            matches!(taken, Disposition::Ignored(_)),
            "{keep}: {taken:?}"
        );
    }
    assert!(world.received(SERVER).is_empty());
    assert!(matches!(
        world.deliver(SERVER, &caught),
        Disposition::Handled(_)
    ));
    assert_eq!(world.received(SERVER), [b"one packet"]);
}

/// The forms that a forger who has seen the handshake can write for a connection.
fn forgeries(world: &World) -> Vec<Vec<u8>> {
    let [client, server] = [CLIENT, SERVER].map(|at| {
        let (_, datagram) = world
            .sent
            .iter()
            .find(|(from, datagram)| *from == at && kind(datagram) == 0xD2)
            .unwrap();
        u64::from_le_bytes(*datagram[7..].first_chunk().unwrap())
    });
    let mut forged = Vec::new();
    for (own, other) in [(client, server), (server, client)] {
        let head = |byte0: u8, length: u16| {
            let mut form = vec![byte0];
            form.extend(length.to_le_bytes());
            form.extend(crate::frame::VERSION.to_le_bytes());
            form.extend(own.to_le_bytes());
            form.extend(other.to_le_bytes());
            form
        };
        let with = |byte0, length, body: &[u8]| [head(byte0, length), body.to_vec()].concat();
        forged.push(with(0xF0, 24, &[7, 0, 0, 0]));
        forged.push(with(0xF1, 20, &[]));
        forged.push(with(0xF8, 40, &[7; 20]));
        forged.push(with(0xF9, 36, &[7; 16]));
        forged.push(refusal_to(&other.to_le_bytes()));
    }
    forged
}

/// D17.
#[test]
fn nobody_else_ends_a_sealed_connection() {
    let mut world = World::connected();
    world.check();
    for forged in forgeries(&world) {
        for to in [CLIENT, SERVER] {
            world.deliver(to, &forged);
        }
    }
    world.run(1000 * MS);
    assert_eq!((world.ended(CLIENT), world.ended(SERVER)), (None, None));
    assert!(world.ignored.contains(&(CLIENT, Ignored::Unauthenticated)));
    assert!(world.ignored.contains(&(SERVER, Ignored::Unauthenticated)));
    world.check();
}

/// REJ, reason 2, to the host with this nonce.
fn refusal_to(nonce: &[u8]) -> Vec<u8> {
    let version = crate::frame::VERSION.to_le_bytes();
    [
        &[0xE0, 26, 0][..],
        &version,
        &[0; 8],
        nonce,
        &[2],
        &version,
        &[0],
    ]
    .concat()
}

#[test]
fn a_forged_refusal_keeps_nobody_out() {
    let mut world = World::secure();
    world.connect();
    // As soon as the client has asked, a refusal comes, before the true answer.
    world.run_with(1000 * MS, &mut |n, from, datagram| {
        let mut arrive = vec![datagram.to_vec()];
        if n < 4 && from == SERVER {
            arrive.insert(0, refusal_to(&datagram[15..23]));
        }
        arrive
    });
    assert_eq!(world.connected_at(), [CLIENT, SERVER]);
    world.check();
}

/// An attacker that sees the cookie of the server can send others, which arrive together with it.
#[test]
fn forged_cookies_behind_the_true_one_keep_nobody_out() {
    let mut world = World::secure();
    world.connect();
    world.run_with(500 * MS, &mut |_, _, datagram| {
        let mut arrive = vec![datagram.to_vec()];
        if kind(datagram) == 0xC1 {
            for n in 7..15 {
                let mut forged = datagram.to_vec();
                forged[n] ^= 0x55;
                arrive.push(forged);
            }
        }
        arrive
    });
    assert_eq!(world.connected_at(), [CLIENT, SERVER]);
    world.check();
}

/// Behind each request of the client one follows in its name, from an address of the attacker's, with the cookie that
/// the attacker got there.
#[test]
fn a_request_repeated_from_elsewhere_takes_no_answer_away() {
    const ELSEWHERE: u32 = 9;
    let mut world = World::secure();
    world.connect();
    let mut buf = [0; 1200];
    let mut cookies = BTreeMap::<u32, [u8; 8]>::new();
    let mut answered = Vec::new();
    for _ in 0..100 {
        let now = world.now;
        while let Some(request) = world.host(CLIENT).poll_transmit(now, &mut buf) {
            let mut datagram = request.datagram.to_vec();
            world.deliver(SERVER, &datagram);
            if let (Some(theirs), Some(own)) = (cookies.get(&CLIENT), cookies.get(&ELSEWHERE)) {
                for place in 0..datagram.len() - 8 {
                    if datagram[place..place + 8] == theirs[..] {
                        datagram[place..place + 8].copy_from_slice(own);
                    }
                }
            }
            let server = world.host(SERVER);
            server.handle_datagram(now, ELSEWHERE, Ecn::NotEct, &datagram);
        }
        while let Some(answer) = world.host(SERVER).poll_transmit(now, &mut buf) {
            let (to, datagram) = (answer.to, answer.datagram.to_vec());
            match kind(&datagram) {
                0xC1 => drop(cookies.insert(to, *datagram[7..].first_chunk().unwrap())),
                0xD2 => answered.push(to),
                _ => {}
            }
            if to == CLIENT {
                world.deliver(CLIENT, &datagram);
            }
        }
        world.now = now + 50 * MS;
        for host in world.hosts.values_mut() {
            host.handle_timeout(world.now);
        }
    }
    world.run(Duration::ZERO);
    assert_eq!(world.connected_at(), [CLIENT, SERVER]);
    let peer = world.peer(SERVER);
    assert_eq!(world.hosts[&SERVER].address(peer), Some(CLIENT));
    // Each was answered once, where it had asked.
    assert_eq!(answered, [CLIENT, ELSEWHERE]);
    world.check();
}

/// A host at this address and the server take turns in saying what they have to say.
fn talk(world: &mut World, from: u32, other: &mut Host<ExampleRng, u32>, turns: u32) {
    let (now, mut buf) = (world.now, [0; 1200]);
    for _ in 0..turns {
        while let Some(transmit) = other.poll_transmit(now, &mut buf) {
            let server = world.host(SERVER);
            server.handle_datagram(now, from, Ecn::NotEct, transmit.datagram);
        }
        while let Some(transmit) = world.host(SERVER).poll_transmit(now, &mut buf) {
            if transmit.to == from {
                other.handle_datagram(now, SERVER, Ecn::NotEct, transmit.datagram);
            }
        }
    }
}

/// A host that seals, and connects to the server.
fn attempt(now: Instant, seed: u64) -> (Host<ExampleRng, u32>, PeerId) {
    let mut host = Host::<_, u32>::new(sealed(), ExampleRng(seed));
    host.set_security(security());
    let peer = host.connect_sealed(now, &[SERVER], &Credentials::new());
    (host, peer.unwrap())
}

/// An eavesdropper makes a connection by the client's nonce before the client is let in, and ends it.
#[test]
fn a_connection_by_the_nonce_of_another_host_that_is_over_keeps_nobody_out() {
    const ELSEWHERE: u32 = 9;
    for asks_between in [false, true] {
        let mut world = World::secure();
        let client = world.connect();
        let nonce = world.hosts[&CLIENT].peer(client).unwrap().nonce();
        // It draws what the client draws, and so has its nonce.
        let (mut thief, stolen) = attempt(world.now, 11);
        assert_eq!(thief.peer(stolen).unwrap().nonce(), nonce);
        // Up to message 2, or to the first sealed datagram.
        talk(
            &mut world,
            ELSEWHERE,
            &mut thief,
            if asks_between { 2 } else { 3 },
        );
        if asks_between {
            // The server takes the client for the host of the connection that is there.
            world.run(200 * MS);
        }
        let bye = Disconnect::Now { reason: 0 };
        thief.disconnect(world.now, stolen, bye).unwrap();
        talk(&mut world, ELSEWHERE, &mut thief, 2);
        let table = &world.hosts[&SERVER].table;
        let known: Vec<_> = table.iter().map(|(_, member)| &member.peer).collect();
        assert_eq!((known.len(), known[0].remote_nonce()), (1, Some(nonce)));
        assert!(!known[0].state().is_live());
        world.run(2000 * MS);
        assert!(world.connected_at().contains(&CLIENT), "{asks_between}");
        let states = world.hosts[&SERVER].peers().map(|(_, peer)| peer.state());
        let connected = states.filter(|&state| state == PeerState::Connected);
        assert_eq!(connected.count(), 1);
    }
}

/// An eavesdropper asks in the name of a newcomer from its own address, and then in its own name.
#[test]
fn a_request_in_the_name_of_a_newcomer_does_not_end_it() {
    const ELSEWHERE: u32 = 9;
    let mut world = World::secure();
    world.host(SERVER).listen(Listen::Ask).unwrap();
    world.connect();
    let (now, mut buf, mut cookies) = (world.now, [0; 1200], [[0; 8]; 2]);
    for step in 0..2 {
        let request = world.host(CLIENT).poll_transmit(now, &mut buf).unwrap();
        let mut datagram = request.datagram.to_vec();
        world.deliver(SERVER, &datagram);
        for place in 0..datagram.len() - 8 {
            if step > 0 && datagram[place..place + 8] == cookies[0] {
                datagram[place..place + 8].copy_from_slice(&cookies[1]);
            }
        }
        let server = world.host(SERVER);
        server.handle_datagram(now, ELSEWHERE, Ecn::NotEct, &datagram);
        while let Some(answer) = world.host(SERVER).poll_transmit(now, &mut buf) {
            let (to, datagram) = (answer.to, answer.datagram.to_vec());
            cookies[usize::from(to != CLIENT)] = *datagram[7..].first_chunk().unwrap();
            if to == CLIENT {
                world.deliver(CLIENT, &datagram);
            }
        }
    }
    let addresses = |world: &World| {
        world.hosts[&SERVER]
            .table
            .iter()
            .next()
            .unwrap()
            .1
            .addresses()
            .count()
    };
    assert_eq!(addresses(&world), 2, "both have asked");
    let (mut stranger, _) = attempt(now, 77);
    talk(&mut world, ELSEWHERE, &mut stranger, 3);
    let live = world.hosts[&SERVER].table.iter();
    let live = live.filter(|(_, member)| member.peer.state().is_live());
    assert_eq!(live.count(), 2);
}

/// Proofs of this many clients, all from the client's address, and the server that they are for. The cookies of an
/// address are limited as well: they take a while to collect.
fn collect_proofs(count: u64, credentials: impl Fn(u64) -> Credentials) -> (World, Vec<Vec<u8>>) {
    let mut server = World::secure();
    let mut buf = [0; 1200];
    let mut proofs = Vec::new();
    for number in 0..count {
        let mut client = Host::<_, u32>::new(sealed(), ExampleRng(100 + number));
        client.set_security(security());
        let now = server.now;
        client
            .connect_sealed(now, &[SERVER], &credentials(number))
            .unwrap();
        let request = client.poll_transmit(now, &mut buf).unwrap();
        server.deliver(SERVER, request.datagram);
        let cookie = server.host(SERVER).poll_transmit(now, &mut buf).unwrap();
        client.handle_datagram(now, SERVER, Ecn::NotEct, cookie.datagram);
        let proof = client.poll_transmit(now, &mut buf).unwrap();
        proofs.push(proof.datagram.to_vec());
        server.now = now + 250 * MS;
    }
    (server, proofs)
}

#[test]
fn an_address_agrees_on_keys_five_times_at_once() {
    let (mut server, proofs) = collect_proofs(20, |_| Credentials::new());
    let mut accepted = 0;
    for proof in &proofs {
        let taken = server.deliver(SERVER, proof);
        if matches!(taken, Disposition::Accepted(_)) {
            accepted += 1;
        } else {
            assert_eq!(taken, Disposition::Ignored(Ignored::TooManyReplies));
        }
    }
    assert_eq!(accepted, 5);
    // A repetition of what was accepted takes no agreement.
    let repeated = server.deliver(SERVER, &proofs[4]);
    assert!(matches!(repeated, Disposition::Handled(_)), "{repeated:?}");
    server.now = server.now + 50 * MS;
    assert!(matches!(
        server.deliver(SERVER, &proofs[5]),
        Disposition::Accepted(_)
    ));
}

/// The sixth is accepted in the same moment: what needs no agreement takes none.
#[test]
fn a_key_that_the_server_does_not_have_costs_it_no_agreement() {
    let (_, public) = server_keys(5);
    let (mut server, proofs) = collect_proofs(6, |number| match number {
        5 => Credentials::new(),
        _ => Credentials::new().server_key(public.clone()),
    });
    for proof in &proofs[..5] {
        let refused = server.deliver(SERVER, proof);
        assert_eq!(refused, Disposition::Ignored(Ignored::Stateless));
    }
    let accepted = server.deliver(SERVER, &proofs[5]);
    assert!(matches!(accepted, Disposition::Accepted(_)), "{accepted:?}");
}

#[test]
fn too_many_forgeries_end_a_sealed_connection_and_it_says_so() {
    let mut world = World::connected();
    world.check();
    let (_, newest) = world.sent.iter().rfind(|(at, _)| *at == CLIENT).unwrap();
    let mut forged = newest.clone();
    // Another id: the frame itself would be a copy.
    forged[5] = forged[5].wrapping_add(9);
    let peer = world.peer(SERVER);
    let ends = |world: &mut World| {
        let taken = world.deliver(SERVER, &forged);
        assert_eq!(taken, Disposition::Ignored(Ignored::Unauthenticated));
        world.run(Duration::ZERO);
        world.ended(SERVER)
    };
    assert_eq!(ends(&mut world), None);
    let server = &mut world.host(SERVER).table;
    server.get_mut(peer).unwrap().peer.wear_out_for_test();
    assert_eq!(ends(&mut world), Some(DisconnectReason::TooManyForgeries));
}

/// A remote host that acknowledges nothing keeps this one from another key, and can bring the last id near.
#[test]
fn a_key_that_may_seal_no_more_ends_the_connection() {
    let mut world = World::connected();
    world.check();
    let peer = world.peer(SERVER);
    let server = &mut world.host(SERVER).table;
    server.get_mut(peer).unwrap().peer.wear_out_key_for_test();
    world.send(SERVER, b"never sent");
    world.run(Duration::ZERO);
    assert_eq!(world.ended(SERVER), Some(DisconnectReason::Silent));
}

/// An attacker on the path can write in plain from the client's address, where the server lets plain hosts in.
#[test]
fn a_plain_newcomer_takes_no_sealed_connection_away() {
    let mut world = World::secure();
    world.host(SERVER).set_security(security().allow_plain());
    world.connect();
    world.run(500 * MS);
    let mut plain = Host::<_, u32>::new(Config::new(), ExampleRng(99));
    let attempt = plain.connect(world.now, SERVER).unwrap();
    let mut buf = [0; 1200];
    for _ in 0..4 {
        let now = world.now;
        while let Some(transmit) = plain.poll_transmit(now, &mut buf) {
            let datagram = transmit.datagram.to_vec();
            world.deliver(SERVER, &datagram);
        }
        while let Some(transmit) = world.host(SERVER).poll_transmit(now, &mut buf) {
            plain.handle_datagram(now, SERVER, Ecn::NotEct, transmit.datagram);
        }
    }
    assert_eq!(state(&plain, attempt), Some(PeerState::Connected));
    assert_eq!(world.host(SERVER).peers().count(), 2);
    world.run(100 * MS);
    assert_eq!(world.ended(SERVER), None);
    // A plain connection would have given way.
    assert!(
        world
            .host(SERVER)
            .peers()
            .any(|(_, peer)| peer.secured().is_some())
    );
}
