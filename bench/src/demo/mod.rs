//! The game of `porous demo` over porous and over ENet, side by side, in virtual time.

mod game;
mod report;

use core::time::Duration;
use std::io::{self, Write as _};

use porous_sim::Seed;

use self::game::{Game, Plan};
use self::report::{Column, Report};
use crate::args::{Demo, Rules};
use crate::peer::Variant;
use crate::peers::{porous, rusty_enet};
use crate::run::{Seen, run};
use crate::wire::Path;

/// The time between two steps: `porous demo` sleeps no longer.
const STEP: Duration = Duration::from_millis(1);

/// The time after the traffic in which messages that are not reliable may still be repeated, beside round
/// trips.
const LAST_REPEATS: Duration = Duration::from_secs(2);

/// The queue before a slow link, that of `porous demo`.
const QUEUE: Duration = Duration::from_millis(100);

/// Plays, prints the table, and writes the results as JSON if that is asked for.
pub(crate) fn main(args: &Demo) -> io::Result<()> {
    let report = play(args);
    let json = serde_json::to_string_pretty(&report)? + "\n";
    let mut out = io::stdout();
    match &args.json {
        Some(path) if path.as_os_str() == "-" => return out.write_all(json.as_bytes()),
        Some(path) => std::fs::write(path, json)?,
        None => {}
    }
    out.write_all(report.markdown().as_bytes())
}

fn play(args: &Demo) -> Report<'_> {
    let (name, open) = match args.policy {
        Rules::Modern => ("porous-modern", porous::modern_game as _),
        Rules::Paper => ("porous-paper", porous::paper_game as _),
    };
    let enet = Variant {
        name: "rusty_enet",
        open: rusty_enet::open,
    };
    let variants = [Variant { name, open }, enet];
    Report::new(args, variants.map(|variant| column(args, variant)))
}

/// All clients of one protocol. Each has a link and a pair of hosts of its own: in virtual time the
/// clients of one server would have nothing in common.
fn column(args: &Demo, variant: Variant) -> Column {
    let runs = (0..args.clients).map(|client| {
        let seed = Seed::new(args.seed).child("client", client.into()).get();
        let share = f64::from(client) / f64::from(args.clients);
        let mut game = Game::new(plan(args), share);
        let seen = run((variant.open)(seed), path(args), STEP, &mut game, seed);
        (seen, game)
    });
    let runs: Vec<(Seen, Game)> = runs.collect();
    Column::of(variant.name, &runs)
}

fn plan(args: &Demo) -> Plan {
    let round_trips = Duration::from_millis((args.rtt + 2 * args.jitter).into()) * 4;
    Plan {
        duration: Duration::from_secs(args.seconds.into()),
        grace: LAST_REPEATS + round_trips,
        file: args.file_bytes,
        window: args.file_window,
    }
}

/// The conditions of each client's link.
fn path(args: &Demo) -> Path {
    Path {
        delay: args.delay(),
        jitter: args.delay_jitter(),
        loss: args.loss,
        duplicate: args.duplicate,
        reorder: args.reorder,
        rate: u64::from(args.rate) * 1000,
        queue: QUEUE,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};

    fn parse(words: &str) -> Result<Demo, clap::Error> {
        let words = ["porous-bench", "demo"]
            .into_iter()
            .chain(words.split_whitespace());
        match Cli::try_parse_from(words)?.command {
            Some(Command::Demo(args)) => Ok(args),
            _ => panic!("not the demo"),
        }
    }

    fn played(words: &str) -> [Column; 2] {
        play(&parse(words).unwrap()).protocols
    }

    #[test]
    fn the_same_seed_writes_the_same_bytes() {
        let text = |seed| {
            let args = parse(&format!("--clients 2 --seconds 2 --loss 5 --seed {seed}")).unwrap();
            let report = play(&args);
            report.markdown() + &serde_json::to_string(&report).unwrap()
        };
        assert_eq!(text(7), text(7));
        assert_ne!(text(7), text(8));
    }

    #[test]
    fn the_table_names_the_conditions_and_the_best() {
        let args = parse("--clients 1 --seconds 1 --rtt 50 --jitter 0 --file-bytes 0").unwrap();
        let text = play(&args).markdown();
        let expected = "\
## 1 client, 1 s: one way 25 ms, 2 % lost, no file

The best that the conditions allow: 25 ms, and 75 ms for what was lost once and is sent again when that is \
known. Seed 1.

| | best | porous-modern | rusty_enet |
| --- | --: | --: | --: |
| events, delivered | all | 24 of 24 | 24 of 24 |
| events, p50 ms | 25.0 |";
        assert!(text.starts_with(expected), "{text}");
        assert!(!text.contains("files"), "{text}");
        // 24 events, 120 states and 4 updates.
        assert!(text.contains("| wire, kB | 37 |"), "{text}");
    }

    #[test]
    fn all_that_is_reliable_arrives_under_loss_of_5_percent() {
        for policy in ["modern", "paper"] {
            let words = format!("--clients 3 --seconds 4 --loss 5 --policy {policy}");
            for column in &played(&words) {
                let name = column.protocol;
                assert_eq!(column.lost_connections, 0, "{name}");
                // Twelve a second, both ways, of each client.
                let events = &column.events;
                assert_eq!((events.sent, events.delivered), (288, 288), "{name}");
                assert!(column.file_s.is_some(), "{name}: the file is there");
                let states = &column.states;
                let percent = states.delivered * 100 / states.sent;
                assert_eq!(states.sent, 1440, "{name}");
                assert!(percent < 100, "{name}: {percent} % of the states");
                assert_eq!(column.updates.sent, 48, "{name}");
            }
        }
    }

    #[test]
    fn nothing_is_faster_than_the_way() {
        let words = "--clients 2 --seconds 2 --rtt 80 --jitter 0 --loss 0 --file-bytes 0";
        for column in &played(words) {
            for kind in [&column.events, &column.states, &column.updates] {
                assert_eq!(kind.delivered, kind.sent, "{}", column.protocol);
                let p50 = kind.latency_ms.expect("they arrived").p50;
                assert!((40.0..=43.0).contains(&p50), "{}: {p50}", column.protocol);
            }
        }
    }

    #[test]
    fn doubled_and_overtaken_datagrams_change_nothing_that_is_reliable() {
        // The last piece of the file has three bytes.
        let words =
            "--clients 1 --seconds 3 --duplicate 20 --reorder 20 --rate 5000 --file-bytes 400003";
        for column in &played(words) {
            assert_eq!(column.events.delivered, 72, "{}", column.protocol);
            assert!(column.file_s.is_some(), "{}", column.protocol);
        }
    }

    #[test]
    fn a_network_that_loses_everything_is_a_lost_connection() {
        for column in &played("--clients 2 --seconds 1 --loss 100") {
            assert_eq!(column.lost_connections, 2, "{}", column.protocol);
            assert_eq!(column.events.sent, 0, "{}", column.protocol);
            assert_eq!(column.events.latency_ms, None, "{}", column.protocol);
        }
    }

    #[test]
    fn the_defaults_are_those_of_porous_demo() {
        let args = parse("").unwrap();
        let numbers = (args.clients, args.seconds, args.rtt, args.jitter, args.rate);
        assert_eq!(numbers, (8, 10, 60, 5, 0));
        let percents = [args.loss, args.duplicate, args.reorder];
        assert_eq!(percents, [2.0, 0.0, 0.0]);
        for wrong in ["--loss 101", "--clients 0", "--rtt 1001", "--file-window 0"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
