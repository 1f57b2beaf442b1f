//! Requests that are shorter than 1200 bytes, for carriers with shorter datagrams.

use core::time::Duration;

use porous_proto::{Config, Event, Ignored, Listen, Mode, Priority};
use porous_sim::{LinkConfig, Pair, World};
use porous_tests::{Kind, config, events, record, seed};

const A: u32 = Pair::A;
const B: u32 = Pair::B;

const SECOND: Duration = Duration::from_secs(1);

fn line() -> LinkConfig {
    LinkConfig::new().delay(Duration::from_millis(20))
}

fn sized(config: Config, bytes: u16) -> Config {
    match config.request_size(bytes) {
        Ok(config) => config,
        Err(error) => panic!("{error}"),
    }
}

/// Sends enough both ways, for `time`, that a larger datagram would be of use.
fn talk(pair: &mut Pair, time: Duration) {
    let end = pair.world.now() + time;
    while pair.world.now() < end {
        for from in [A, B] {
            let packets = (0..20).map(|_| (0, Mode::Reliable, vec![7; 100]));
            let got = pair.exchange(from, packets, 10 * SECOND);
            assert_eq!(got.len(), 20, "{}", pair.world.seed());
        }
    }
}

/// The longest datagrams of A and of B, in bytes.
fn path_mtu(pair: &Pair) -> [u16; 2] {
    [A, B].map(|address| {
        let peer = pair.world.host(address).peer(pair.peer(address));
        peer.map_or(0, |peer| peer.stats().path_mtu)
    })
}

#[test]
fn two_hosts_connect_over_a_path_that_carries_512_bytes() {
    let small = |config| sized(config, 512);
    let line = line().mtu(512);
    let mut pair = Pair::new(seed(), line, small(config::client()), small(config::new()));
    let tape = record(&mut pair.world);
    pair.connect_to_listener();
    let requests = tape.of(A, Kind::Request);
    assert!(requests.iter().all(|taped| taped.datagram.len() == 512));
    for from in [A, B] {
        let packets = (1..=9).map(|n| (0, Mode::Reliable, vec![7; n * n * 100]));
        assert_eq!(pair.exchange(from, packets, 10 * SECOND).len(), 9);
    }
    assert_eq!(path_mtu(&pair), [512; 2]);
    // A search finds no more, and only its probes are lost.
    talk(&mut pair, 20 * SECOND);
    assert_eq!(path_mtu(&pair), [512; 2]);
    let network = pair.world.network();
    for (from, to) in [(A, B), (B, A)] {
        let lost = network.link_stats(from, to).too_large;
        assert!((1..40).contains(&lost), "{lost}");
    }
}

#[test]
fn two_hosts_that_connect_to_each_other_do_so_with_requests_of_512_bytes() {
    let small = |config| sized(config, 512);
    let line = line().mtu(512);
    let mut pair = Pair::new(
        seed(),
        line,
        small(config::client()),
        small(config::client()),
    );
    pair.connect_both();
    let got = pair.exchange(A, [(0, Mode::Reliable, vec![7; 5000])], 10 * SECOND);
    assert_eq!(got.len(), 1);
}

#[test]
fn a_path_that_carries_more_than_a_request_is_found() {
    for (a, b, first, most) in [
        (
            sized(config::client(), 512),
            sized(config::new(), 512),
            512,
            1200,
        ),
        // A server for players on all kinds of paths uses on each path what it carries.
        (config::client(), sized(config::new(), 512), 512, 1200),
        (config::client(), config::new(), 1200, 1200),
    ] {
        let mut pair = Pair::new(seed(), line(), a, b);
        pair.connect_to_listener();
        talk(&mut pair, 3 * SECOND);
        assert_eq!(path_mtu(&pair), [first; 2]);
        talk(&mut pair, 12 * SECOND);
        assert_eq!(path_mtu(&pair), [most; 2]);
    }
}

#[test]
fn without_any_such_setting_no_path_is_searched() {
    let line = line().mtu(1200);
    let mut pair = Pair::new(seed(), line, config::client(), config::new());
    pair.connect_to_listener();
    talk(&mut pair, 20 * SECOND);
    let network = pair.world.network();
    let too_large = |from, to| network.link_stats(from, to).too_large;
    assert_eq!((too_large(A, B), too_large(B, A)), (0, 0));
    assert_eq!(path_mtu(&pair), [1200; 2]);
}

#[test]
fn datagrams_longer_than_a_request_wait_until_the_path_is_known_to_carry_them() {
    let large = |config: Config| match config.max_datagram(4000) {
        Ok(config) => config,
        Err(error) => panic!("{error}"),
    };
    for (mtu, found) in [(4000, 4000), (1200, 1200)] {
        let line = line().mtu(mtu);
        let mut pair = Pair::new(seed(), line, large(config::client()), large(config::new()));
        pair.connect_to_listener();
        assert_eq!(path_mtu(&pair), [1200; 2]);
        talk(&mut pair, 20 * SECOND);
        assert_eq!(path_mtu(&pair), [found; 2]);
    }
}

#[test]
fn a_listener_does_not_answer_requests_that_are_shorter_than_it_demands() {
    for (theirs, ours, is_answered) in [
        (512, 1200, false),
        (1023, 1024, false),
        (1024, 1024, true),
        (1200, 512, true),
    ] {
        let client = sized(config::client(), theirs);
        let client = client.connect_timeout(3 * SECOND).expect("three seconds");
        let mut world = Pair::new(seed(), line(), client, sized(config::new(), ours)).world;
        assert_eq!(world.host_mut(B).listen(Listen::Open), Ok(()));
        let tape = record(&mut world);
        assert!(world.connect(A, B).is_ok());
        world.run_for(4 * SECOND);
        let told = events(&mut world, A);
        let unpadded = world.host(B).stats().ignored(Ignored::Unpadded);
        if is_answered {
            assert!(matches!(told[..], [Event::Connected { .. }]), "{told:?}");
            assert_eq!(unpadded, 0);
        } else {
            assert!(matches!(told[..], [Event::Disconnected { .. }]), "{told:?}");
            let said = tape
                .all()
                .into_iter()
                .filter(|taped| taped.from == B)
                .count();
            assert!(unpadded > 3 && said == 0, "{unpadded} {said}");
        }
    }
}

/// A forged request makes a host send no more than a third of the request to its victim, even if the
/// request is as short and the host's answer as long as possible.
#[test]
fn no_answer_to_a_stranger_is_longer_than_a_third_of_its_request() {
    let all = |config: Config| match config.channels(&[Priority::High; 255]) {
        Ok(config) => sized(config, 512),
        Err(error) => panic!("{error}"),
    };
    let server = all(config::new().application_id(7));
    let mut world: World<u32> = Pair::new(seed(), line(), all(config::client()), server).world;
    assert_eq!(world.host_mut(B).listen(Listen::Open), Ok(()));
    let tape = record(&mut world);
    let clients = [
        all(config::client().application_id(7)),
        all(config::client().application_id(8)),
        sized(config::client().application_id(7), 512),
    ];
    for (address, client) in (100..).zip(clients) {
        world.add_host(address, client);
        assert!(world.connect(address, B).is_ok());
        world.run_for(SECOND);
        let asked = tape.of(address, Kind::Request);
        let answered = tape.all().into_iter().find(|taped| taped.to == address);
        let (asked, answered) = (&asked[0].datagram, answered.map(|taped| taped.datagram));
        let answered = answered.map_or(0, |datagram| datagram.len());
        assert!(answered > 0 && 3 * answered <= asked.len(), "{answered}");
    }
}
