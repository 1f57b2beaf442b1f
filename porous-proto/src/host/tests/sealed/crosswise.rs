//! Two hosts that connect to each other: neither listens, and the one with the smaller random id begins.

use super::*;

/// Two hosts that can seal, and do not listen. `seed`: their random ids follow from it.
fn strangers(seed: u64) -> World {
    let mut world = World::secure();
    for (at, seed) in [(CLIENT, 2 * seed), (SERVER, 2 * seed + 1)] {
        let mut host = Host::<_, u32>::new(sealed(), ExampleRng(seed));
        host.set_security(security());
        world.hosts.insert(at, host);
    }
    world
}

/// Lets the first host connect to the second one, and the second one to the first a while later.
fn connect(world: &mut World, with: [&Credentials; 2], later: Duration) {
    for (at, to, with) in [(CLIENT, SERVER, with[0]), (SERVER, CLIENT, with[1])] {
        let now = world.now;
        let begun = world.host(at).connect_sealed(now, &[to], with);
        // A host that listens may have been connected to meanwhile.
        assert!(begun.is_ok() || begun == Err(ConnectError::AlreadyConnected));
        if at == CLIENT {
            world.run(later);
        }
    }
}

fn psk(number: u32, byte: u8) -> Credentials {
    let greeting = [b'a', byte];
    let credentials = Credentials::new().psk(number, Psk::from_bytes([byte; 32]));
    credentials.greeting(&greeting).unwrap()
}

/// The random id of a host's peer.
fn nonce(world: &World, at: u32) -> u64 {
    let request = world.sent.iter().find(|(from, _)| *from == at).unwrap();
    u64::from_le_bytes(request.1[7..15].try_into().unwrap())
}

/// D17.
#[test]
fn two_hosts_that_connect_to_each_other_seal() {
    let mut firsts = [0, 0];
    for seed in 0..40 {
        for with in [psk(7, 1), Credentials::new()] {
            for later in [0, 15, 30, 70, 150, 400] {
                let mut world = strangers(seed);
                connect(&mut world, [&with, &with], later * MS);
                world.run(1500 * MS);
                let context = alloc::format!("{seed}, {later} ms, {with:?}");
                assert_eq!(world.connected_at(), [CLIENT, SERVER], "{context}");
                let proved = world.proved().unwrap();
                assert!(
                    proved == (None, Some(7)) || proved == (None, None),
                    "{context}"
                );
                world.check();
                let begins = world
                    .sent
                    .iter()
                    .find(|(_, it)| kind(it) == 0xD2)
                    .unwrap()
                    .0;
                assert!(nonce(&world, begins) < nonce(&world, CLIENT + SERVER - begins));
                firsts[usize::from(begins == SERVER)] += 1;
            }
        }
    }
    assert!(firsts.iter().all(|&first| first > 20), "{firsts:?}");
}

#[test]
fn each_reads_what_the_other_has_said() {
    for seed in 0..8 {
        let mut world = strangers(seed);
        let greet = |text: &[u8]| psk(7, 1).greeting(text).unwrap();
        connect(
            &mut world,
            [&greet(b"first"), &greet(&[b'x'; 255])],
            10 * MS,
        );
        world.run(1000 * MS);
        for (at, said) in [(SERVER, &b"first"[..]), (CLIENT, &[b'x'; 255])] {
            let peer = world.peer(at);
            assert_eq!(world.hosts[&at].peer(peer).unwrap().greeting(), said);
        }
        world.check();
    }
}

/// Neither of the two is connected, and both are told so.
#[test]
fn hosts_of_which_each_wants_something_else_do_not_connect() {
    let key = PublicKey::from_bytes(&[9; 32]).unwrap();
    for (one, other) in [
        (psk(7, 1), psk(7, 2)),
        (psk(7, 1), psk(8, 1)),
        (psk(7, 1), Credentials::new()),
        (
            Credentials::new().server_key(key.clone()),
            Credentials::new(),
        ),
        (psk(7, 1).server_key(key), psk(7, 1)),
    ] {
        for seed in 0..12 {
            let mut world = strangers(seed);
            connect(&mut world, [&one, &other], 10 * MS);
            world.run(20_000 * MS);
            let context = alloc::format!("{seed}, {one:?}, {other:?}");
            assert!(world.connected_at().is_empty(), "{context}");
            let refused = DisconnectReason::Refused(Refusal::Security);
            for at in [CLIENT, SERVER] {
                assert_eq!(world.ended(at), Some(refused), "{context}: {at}");
            }
        }
    }
}

/// The host that has the key is found, if it is the one that answers.
#[test]
fn a_host_that_expects_a_key_is_never_connected_to_one_without() {
    let secret = SecretKey::from_bytes([5; 32]);
    let public = crate::seal::Provider::public_key(&Toy, Suite::CHACHA_POLY, &secret).unwrap();
    let expects = Credentials::new().server_key(public.clone());
    let mut connected = 0;
    for seed in 0..20 {
        let mut world = strangers(seed);
        let known = security().identity(&secret).unwrap();
        world.host(SERVER).set_security(known);
        connect(&mut world, [&expects, &Credentials::new()], 10 * MS);
        world.run(2000 * MS);
        if let Some(proved) = world.proved() {
            assert_eq!(proved, (Some(public.clone()), None));
            connected += 1;
            world.check();
        }
        assert_eq!(world.connected_at().len() % 2, 0);
    }
    assert!((1..20).contains(&connected), "{connected}");
}

#[test]
fn a_plain_host_and_one_that_seals_do_not_connect_to_each_other() {
    for seed in 0..8 {
        for allows_plain in [false, true] {
            let mut world = strangers(seed);
            if allows_plain {
                world.host(SERVER).set_security(security().allow_plain());
            }
            let now = world.now;
            let with = Credentials::new();
            world
                .host(CLIENT)
                .connect_sealed(now, &[SERVER], &with)
                .unwrap();
            world.host(SERVER).connect(now, CLIENT).unwrap();
            world.run(20_000 * MS);
            assert!(world.connected_at().is_empty(), "{seed} {allows_plain}");
        }
    }
}

/// A host that listens as well is asked by its own attempt.
#[test]
fn hosts_that_listen_and_connect_have_one_sealed_connection() {
    for seed in 0..12 {
        for later in [0, 10, 30, 60] {
            let mut world = strangers(seed);
            for at in [CLIENT, SERVER] {
                let open = security().psk(7, Psk::from_bytes([1; 32])).unwrap();
                world.host(at).set_security(open);
                world.host(at).listen(Listen::Open).unwrap();
            }
            connect(&mut world, [&psk(7, 1), &psk(7, 1)], later * MS);
            world.run(3000 * MS);
            let live = |at| {
                let host: &Host<_, u32> = &world.hosts[&at];
                host.peers()
                    .map(|(_, peer)| *peer.secured().unwrap().binding())
                    .collect::<Vec<_>>()
            };
            let (ours, theirs) = (live(CLIENT), live(SERVER));
            assert_eq!((ours.len(), &ours), (1, &theirs), "{seed} {later}");
        }
    }
}

/// Each byte of each datagram up to the first frame that both can read.
#[test]
fn a_handshake_of_two_with_a_changed_byte_comes_up_all_the_same() {
    for seed in [0, 1] {
        let mut clean = strangers(seed);
        connect(&mut clean, [&psk(7, 1), &psk(7, 1)], 10 * MS);
        let begun = clean.sent.len();
        clean.run(600 * MS);
        let long = clean.sent.iter().filter(|(_, it)| kind(it) >= 0xC0);
        let lengths: Vec<usize> = long.map(|(_, datagram)| datagram.len()).take(6).collect();
        for (number, length) in lengths.into_iter().enumerate() {
            for place in (0..length).filter(|&place| place < 300 || place % 97 == 0) {
                let mut world = strangers(seed);
                let with = [&psk(7, 1), &psk(7, 1)];
                for (at, to, with) in [(CLIENT, SERVER, with[0]), (SERVER, CLIENT, with[1])] {
                    let now = world.now;
                    world.host(at).connect_sealed(now, &[to], with).unwrap();
                }
                world.run_with(4000 * MS, &mut |n, _, datagram| {
                    let mut changed = datagram.to_vec();
                    if n == number && place < changed.len() {
                        changed[place] ^= 1 << (place % 8);
                    }
                    vec![changed]
                });
                let context = alloc::format!("{seed}: datagram {number}, byte {place}");
                assert_eq!(world.proved(), Some((None, Some(7))), "{context}");
                world.check();
            }
        }
        assert!(begun < 4);
    }
}

/// An attacker that does not see the attempt of a host cannot fill it with requests of hosts that are not there.
#[test]
fn requests_from_nowhere_keep_no_host_from_its_listener() {
    for seed in 0..6 {
        let mut world = strangers(seed);
        let mut listener = Host::<_, u32>::new(sealed(), ExampleRng(77));
        listener.set_security(security());
        listener.listen(Listen::Open).unwrap();
        world.hosts.insert(SERVER, listener);
        world.connect();
        let mut forged = None;
        for n in 0..200_u64 {
            world.run(2 * MS);
            let request = &world.sent[0].1;
            let mut request = forged.take().unwrap_or_else(|| request.clone());
            // Both greater and smaller than any random id of the host.
            let nonce = if n % 2 == 0 { u64::MAX - n } else { 1 + n };
            request[7..15].copy_from_slice(&nonce.to_le_bytes());
            world.deliver(CLIENT, &request);
            forged = Some(request);
        }
        assert_eq!(world.connected_at(), [CLIENT, SERVER], "{seed}");
        world.check();
    }
}
