//! Paths that carry less than a connection begins with, or that begin to carry less (D8): what is too
//! long for them is cut again, and the application is told.
#![expect(clippy::unwrap_used, reason = "a test")]

use core::time::Duration;

use porous_proto::{Config, DisconnectReason, Event, Mode, Policy};
use porous_sim::{LinkConfig, Pair, Seed};
use porous_tests::{config, events};

const A: u32 = Pair::A;
const B: u32 = Pair::B;
const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

fn line() -> LinkConfig {
    LinkConfig::new().delay(30 * MS)
}

fn pair(seed: u64, config: &Config) -> Pair {
    let mut pair = Pair::new(Seed::new(seed), line(), config.clone(), config.clone());
    pair.connect_to_listener();
    pair.world.run_for(2 * SECOND);
    for host in [A, B] {
        events(&mut pair.world, host);
    }
    pair
}

fn set_line(pair: &mut Pair, line: LinkConfig) {
    pair.world.network_mut().set_both(A, B, line);
}

/// The events at A of the path and of the connection's end.
fn told(pair: &mut Pair) -> Vec<Result<u16, DisconnectReason>> {
    let about = |event| {
        if let Event::PathNarrowed { bytes, .. } = event {
            return Some(Ok(bytes));
        }
        if let Event::Disconnected { reason, .. } = event {
            return Some(Err(reason));
        }
        None
    };
    let told = events(&mut pair.world, A);
    told.into_iter().filter_map(about).collect()
}

fn path_mtu(pair: &Pair) -> u16 {
    let peer = pair.world.host(A).peer(pair.peer(A)).unwrap();
    peer.stats().path_mtu
}

/// The packets that A sends to B.
#[derive(Clone, Copy, Debug)]
enum Load {
    /// The interval between packets in milliseconds, their length in bytes, and their mode.
    Every(u64, usize, Mode),
    /// One reliable packet of this length in bytes.
    Once(usize),
}

/// Sends for `time`. Returns the number of packets sent, and of packets that arrived.
fn send(pair: &mut Pair, load: Load, time: Duration) -> (u32, u32) {
    let (mut sent, mut got) = (0, 0);
    let end = pair.world.now() + time;
    let mut next = pair.world.now();
    while pair.world.now() < end {
        let (every, len, mode) = match load {
            Load::Every(every, len, mode) => (Duration::from_millis(every), len, mode),
            Load::Once(len) => (time, len, Mode::Reliable),
        };
        if pair.world.now() >= next && pair.send(A, 0, mode, vec![7; len]).is_ok() {
            sent += 1;
            next = next + every;
        }
        pair.world.run_for(5 * MS);
        got += u32::try_from(pair.receive_all(B).len()).unwrap();
    }
    (sent, got)
}

const POLICIES: [Policy; 2] = [Policy::Modern, Policy::Paper];

/// From one moment to the next the path carries only datagrams shorter than those in use; a minute later
/// longer datagrams are tried again. D16.
#[test]
fn a_connection_goes_on_over_a_path_that_becomes_narrower() {
    for policy in POLICIES {
        for load in [
            Load::Once(1100),
            Load::Once(100_000),
            Load::Every(16, 1000, Mode::Unreliable),
            Load::Every(50, 1100, Mode::Reliable),
            Load::Every(50, 3000, Mode::Passive),
        ] {
            let mut pair = pair(1, &config::new().policy(policy));
            set_line(&mut pair, line().mtu(900));
            let before = pair.world.now();
            while path_mtu(&pair) > 512 {
                send(&mut pair, load, SECOND);
                assert!(
                    pair.world.now() < before + 20 * SECOND,
                    "{load:?} {policy:?}"
                );
            }
            let context = format!("{load:?} {policy:?}, {:?}", pair.world.now());
            assert_eq!(told(&mut pair), [Ok(512)], "{context}");
            let (sent, got) = send(&mut pair, load, 10 * SECOND);
            assert!(got + 10 >= sent && got > 0, "{got} of {sent}; {context}");
            send(
                &mut pair,
                Load::Every(20, 5000, Mode::Reliable),
                75 * SECOND,
            );
            assert!(
                (860..=900).contains(&path_mtu(&pair)),
                "{}; {context}",
                path_mtu(&pair)
            );
            assert_eq!(told(&mut pair), [], "{context}");
        }
    }
}

/// Sends from both hosts until both were told that the path carries no more than 512 bytes. Returns how long
/// that took.
fn both_told(pair: &mut Pair, every: Duration, len: usize, mode: Mode) -> Duration {
    let begin = pair.world.now();
    let (mut next, mut told) = (begin, [false; 2]);
    while told != [true; 2] {
        let now = pair.world.now();
        assert!(now < begin + 60 * SECOND, "{every:?} {len} {mode:?}");
        if now >= next {
            next = now + every;
            for host in [A, B] {
                pair.send(host, 0, mode, vec![7; len]).unwrap();
            }
        }
        pair.world.run_for(5 * MS);
        for (told, host) in told.iter_mut().zip([A, B]) {
            pair.receive_all(host);
            let is_news =
                |event: &Event<u32>| matches!(event, Event::PathNarrowed { bytes: 512, .. });
            *told |= events(&mut pair.world, host).iter().any(is_news);
        }
    }
    pair.world.now().saturating_duration_since(begin)
}

/// Acknowledgements do not ride in the very datagrams that vanish, and each probe has a short frame behind
/// it: otherwise each host would take the other for gone, and silence would end the connection. D16.
#[test]
fn a_narrow_path_is_noticed_soon_although_both_hosts_send_only_large_datagrams() {
    for rtt in [20, 60, 200, 400] {
        for (every, mode) in [16, 50, 250]
            .into_iter()
            .flat_map(|every| [Mode::Unreliable, Mode::Reliable].map(|mode| (every, mode)))
        {
            let mut pair = Pair::new(Seed::new(5), line(), config::new(), config::new());
            pair.connect_to_listener();
            let line = LinkConfig::new().delay(rtt * MS / 2);
            set_line(&mut pair, line);
            send(&mut pair, Load::Every(every, 1000, mode), 3 * SECOND);
            set_line(&mut pair, line.mtu(800));
            let took = both_told(&mut pair, u32::try_from(every).unwrap() * MS, 1000, mode);
            assert!(took < 10 * SECOND, "{rtt} {every} {mode:?}: {took:?}");
        }
    }
}

/// Larger datagrams were found to pass, and the path becomes too narrow for much shorter ones, which are all that
/// the hosts send by then. D16.
#[test]
fn a_narrow_path_is_noticed_although_longer_datagrams_had_passed_than_are_sent() {
    for (every, mode) in [(16, Mode::Unreliable), (250, Mode::Reliable)] {
        // The policy of the paper knows no silence, and hears of this only when the connection ends.
        let config = config::new().policy(Policy::Modern);
        let mut pair = pair(6, &config.path_mtu_discovery(1452).unwrap());
        for host in [A, B] {
            pair.send(host, 0, Mode::Reliable, vec![7; 400_000])
                .unwrap();
        }
        pair.world.run_for(20 * SECOND);
        assert_eq!((path_mtu(&pair), told(&mut pair)), (1452, vec![]));
        set_line(&mut pair, line().mtu(800));
        let took = both_told(&mut pair, u32::try_from(every).unwrap() * MS, 1000, mode);
        assert!(took < 7 * SECOND, "{every} {mode:?}: {took:?}");
    }
}

/// The same with a length that a search has found. D16, D8.
#[test]
fn after_an_outage_datagrams_are_as_long_as_before() {
    let config = config::new()
        .policy(Policy::Modern)
        .timeout(60 * SECOND)
        .unwrap();
    for outage in [1, 2, 3, 8] {
        let mut pair = pair(7, &config.clone().path_mtu_discovery(1452).unwrap());
        send(
            &mut pair,
            Load::Every(10, 4000, Mode::Reliable),
            10 * SECOND,
        );
        assert_eq!(path_mtu(&pair), 1452);
        let load = Load::Every(33, 900, Mode::Unreliable);
        send(&mut pair, load, 10 * SECOND);
        set_line(&mut pair, line().down(true));
        send(&mut pair, load, outage * SECOND);
        set_line(&mut pair, line());
        send(&mut pair, load, 2 * SECOND);
        assert_eq!(
            (path_mtu(&pair), told(&mut pair)),
            (1452, vec![]),
            "{outage} s"
        );
    }
}

/// A probe of a size that was given up would tell nothing where nothing arrives. D16.
#[test]
fn silence_costs_no_probes_of_a_size_that_was_given_up() {
    let config = config::new().policy(Policy::Modern);
    let config = config.timeout(60 * SECOND).unwrap();
    let mut pair = pair(8, &config.path_mtu_discovery(1452).unwrap());
    let load = Load::Every(10, 4000, Mode::Reliable);
    send(&mut pair, load, 10 * SECOND);
    pair.world.run_for(5 * SECOND);
    assert_eq!(path_mtu(&pair), 1452);
    let sent = |pair: &Pair| {
        let peer = pair.world.host(A).peer(pair.peer(A)).unwrap();
        peer.stats().bytes_sent
    };
    let before = sent(&pair);
    set_line(&mut pair, line().down(true));
    send(&mut pair, Load::Once(100), 30 * SECOND);
    let bytes = sent(&pair) - before;
    assert_eq!(path_mtu(&pair), 1200);
    assert!(bytes < 5000, "{bytes} bytes in silence");
}

/// Larger datagrams were found to pass, and the path returns to the length that nearly all paths carry.
/// D16.
#[test]
fn an_application_hears_that_large_datagrams_do_not_pass_any_more() {
    for policy in POLICIES {
        let config = config::new().policy(policy);
        let mut pair = pair(2, &config.path_mtu_discovery(1452).unwrap());
        let load = Load::Every(10, 4000, Mode::Reliable);
        send(&mut pair, load, 10 * SECOND);
        assert_eq!((path_mtu(&pair), told(&mut pair)), (1452, vec![]));
        set_line(&mut pair, line().mtu(1300));
        send(&mut pair, load, 20 * SECOND);
        assert_eq!((path_mtu(&pair), told(&mut pair)), (1200, vec![Ok(1200)]));
    }
}

/// D16.
#[test]
fn a_path_that_carries_less_than_512_bytes_ends_the_connection() {
    for policy in POLICIES {
        for load in [Load::Once(1100), Load::Every(16, 400, Mode::Unreliable)] {
            let mut pair = pair(3, &config::new().policy(policy));
            set_line(&mut pair, line().mtu(300));
            let (mut all, mut seconds) = (Vec::new(), 0);
            while seconds < 30 && all.last().is_none_or(Result::is_ok) {
                send(&mut pair, load, SECOND);
                all.extend(told(&mut pair));
                seconds += 1;
            }
            // Twelve probes, of which each is waited for a second: a queue may do the same for a while.
            assert!(seconds > 12, "{seconds}");
            let end = [Ok(512), Err(DisconnectReason::PathTooNarrow)];
            assert_eq!(all, end, "{load:?} {policy:?}");
        }
    }
}

/// Short datagrams pass on such a path, which is enough for a game that sends no others. D16.
#[test]
fn a_narrow_path_is_good_enough_for_short_datagrams() {
    let mut pair = pair(4, &config::new());
    set_line(&mut pair, line().mtu(300));
    let load = Load::Every(16, 100, Mode::Unreliable);
    let (sent, got) = send(&mut pair, load, 60 * SECOND);
    assert!(got + 10 >= sent, "{got} of {sent}");
    assert_eq!(told(&mut pair), []);
}

/// Neither losses by chance nor an outage are taken for a narrow path. D16.
#[test]
fn losses_of_everything_are_no_narrow_path() {
    for (number, loss) in [10.0, 30.0, 50.0].into_iter().enumerate() {
        let config = config::new().timeout(60 * SECOND).unwrap();
        let mut pair = pair(number as u64, &config);
        set_line(&mut pair, line().loss(loss));
        let load = Load::Every(33, 1100, Mode::Unreliable);
        send(&mut pair, load, 200 * SECOND);
        assert_eq!((path_mtu(&pair), told(&mut pair)), (1200, vec![]), "{loss}");
        set_line(&mut pair, line().down(true));
        send(&mut pair, load, 20 * SECOND);
        set_line(&mut pair, line());
        send(&mut pair, load, 20 * SECOND);
        assert_eq!((path_mtu(&pair), told(&mut pair)), (1200, vec![]), "{loss}");
    }
}
