//! What copies of which nobody has asked for save, and what they cost: a game over lines that lose in several
//! ways, with default options and with `redundancy(0)`. Prints its table with
//!
//! ```sh
//! cargo test -p porous-tests --test scenarios copy_costs -- --nocapture
//! ```

use core::time::Duration;

use porous_proto::{ChannelId, Mode, PeerStats, Policy, Priority, SendOptions};
use porous_sim::rand_core::Rng as _;
use porous_sim::{Chance, LinkConfig, Pair, Seed, Service};
use porous_tests::{config, percentile, sent_at, stamped};

const MS: Duration = Duration::from_millis(1);
const TICK: Duration = Duration::from_micros(16_667);
/// A minute.
const TICKS: u32 = 3600;
const SEEDS: u64 = 3;

/// What both hosts send, and over what.
#[derive(Clone, Copy, Debug)]
struct Game {
    name: &'static str,
    line: LinkConfig,
    /// Ticks from one turn of the game to the next.
    every: u32,
    /// Bytes of the state that leaves at each turn, unreliably; 0 for none.
    state: usize,
    /// Bytes of an event, which is reliable.
    event: usize,
    /// Turns with an event, in percent.
    events: f64,
    /// The most bytes with copies, in percent of those without.
    most: u64,
}

fn game(name: &'static str, line: LinkConfig, most: u64) -> Game {
    Game {
        name,
        line: line.delay(30 * MS),
        every: 1,
        state: 200,
        event: 24,
        events: 20.0,
        most,
    }
}

/// Lines without loss, on which not a byte may be different.
fn lossless() -> [Game; 3] {
    [
        game("no loss", LinkConfig::new(), 100),
        game(
            "5 % are overtaken",
            LinkConfig::new().reorder(5.0).reorder_by(40 * MS),
            100,
        ),
        game(
            "jitter reorders",
            LinkConfig::new().jitter(20 * MS).jitter_reorders(true),
            100,
        ),
    ]
}

fn lossy() -> Vec<Game> {
    let line = LinkConfig::new();
    let late = line.jitter(20 * MS).jitter_reorders(true);
    let slow = |game| Game { every: 3, ..game };
    let events_alone = |game| Game {
        state: 0,
        event: 64,
        events: 100.0,
        ..game
    };
    vec![
        game("0.2 %", line.loss(0.2), 102),
        game("1 %", line.loss(1.0), 104),
        game("2 %", line.loss(2.0), 104),
        game("5 %", line.loss(5.0), 104),
        game("10 %", line.loss(10.0), 106),
        game("20 %", line.loss(20.0), 106),
        game("2 % in bursts of 3", line.burst_loss(0.7, 33.0, 100.0), 104),
        game(
            "5 % in bursts of 3",
            line.burst_loss(1.75, 33.0, 100.0),
            104,
        ),
        game("2 %, jitter reorders", late.loss(2.0), 104),
        slow(game("2 %, 20 a second", line.loss(2.0), 104)),
        slow(game("5 %, 20 a second", line.loss(5.0), 104)),
        game("a queue that overflows", line.rate(100_000), 107),
        events_alone(game("2 %, events of 64 bytes alone", line.loss(2.0), 107)),
    ]
}

/// The results of all runs of a game.
#[derive(Debug, PartialEq)]
struct Minutes {
    /// Times from sending to delivery of the events, in milliseconds, ascending.
    latencies: Vec<u128>,
    bytes: u64,
    datagrams: u64,
}

impl Minutes {
    fn mean(&self) -> f64 {
        self.latencies.iter().sum::<u128>() as f64 / self.latencies.len() as f64
    }
}

fn play(game: &Game, options: SendOptions) -> Minutes {
    let mut sum = Minutes {
        latencies: Vec::new(),
        bytes: 0,
        datagrams: 0,
    };
    for seed in 1..=SEEDS {
        play_one(game, options, Seed::new(seed), &mut sum);
    }
    sum.latencies.sort_unstable();
    sum
}

fn play_one(game: &Game, options: SendOptions, seed: Seed, sum: &mut Minutes) {
    let channels = [Priority::High, Priority::Low];
    let config = config::new().policy(Policy::Modern).channels(&channels);
    let config = config.expect("two are allowed");
    let mut pair = Pair::new(seed, game.line, config.clone(), config);
    for host in [Pair::A, Pair::B] {
        pair.world.set_service(host, Service::tick(TICK));
    }
    pair.connect_to_listener();
    let ends = [Pair::A, Pair::B].map(|host| (host, pair.peer(host)));
    let mut dice = seed.stream("events", 0);
    for tick in 0..TICKS {
        for (host, peer) in ends.into_iter().filter(|_| tick % game.every == 0) {
            let now = pair.world.now();
            let host = pair.world.host_mut(host);
            if game.state > 0 {
                let state = vec![0; game.state];
                let sent = host.send(peer, ChannelId(1), state, Mode::Unreliable);
                assert_eq!(sent, Ok(()));
            }
            if Chance::percent(game.events).happens(dice.next_u64()) {
                let sent = host.send(peer, ChannelId(0), stamped(now, game.event), options);
                assert_eq!(sent, Ok(()));
            }
        }
        pair.world.run_for(TICK);
        let now = pair.world.now();
        for (host, peer) in ends {
            while let Some(packet) = pair.world.host_mut(host).receive(peer) {
                if packet.channel == ChannelId(0) {
                    let took = now.saturating_duration_since(sent_at(&packet));
                    sum.latencies.push(took.as_millis());
                }
            }
        }
    }
    let stats = ends.map(|(host, peer)| {
        let peer = pair.world.host(host).peer(peer);
        peer.expect("connected").stats()
    });
    let all = |of: fn(&PeerStats) -> u64| stats.iter().map(of).sum::<u64>();
    sum.bytes += all(|stats| stats.bytes_sent);
    sum.datagrams += all(|stats| stats.datagrams_sent);
}

/// P8: in no more datagrams, and for a few percent of the bytes where events are rare.
#[test]
#[expect(clippy::print_stdout, reason = "the table of docs/design.md")]
fn copies_by_the_host_bring_what_is_lost_sooner() {
    let by_host = SendOptions::new(Mode::Reliable);
    println!("| game | p99 ms without | with | mean ms without | with | bytes | datagrams |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for game in lossy() {
        let [without, with] = [by_host.redundancy(0), by_host].map(|event| play(&game, event));
        let slow = |minutes: &Minutes| percentile(&minutes.latencies, 99);
        let more = |of: fn(&Minutes) -> u64| 100.0 * (of(&with) as f64 / of(&without) as f64 - 1.0);
        println!(
            "| {} | {} | {} | {:.1} | {:.1} | {:+.1} % | {:+.1} % |",
            game.name,
            slow(&without),
            slow(&with),
            without.mean(),
            with.mean(),
            more(|minutes| minutes.bytes),
            more(|minutes| minutes.datagrams),
        );
        assert!(with.mean() <= without.mean(), "{}", game.name);
        assert!(
            100 * with.bytes <= game.most * without.bytes,
            "{}",
            game.name
        );
    }
}

/// P8: not a byte more, also where every frame may overtake others.
#[test]
fn a_line_that_loses_nothing_carries_no_copies() {
    let by_host = SendOptions::new(Mode::Reliable);
    for game in lossless() {
        let same = play(&game, by_host) == play(&game, by_host.redundancy(0));
        assert!(same, "{}", game.name);
    }
}
