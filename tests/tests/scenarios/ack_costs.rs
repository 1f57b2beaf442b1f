//! What acknowledgements cost: the bytes of a flow at 60 Hz, with the headers of IP and UDP, beside those of
//! the same datagrams with data and one bare acknowledgement each 25 ms. Prints its table with
//!
//! ```sh
//! cargo test -p porous-tests --test scenarios ack_costs -- --nocapture
//! ```

use core::time::Duration;

use porous_proto::{Instant, Mode, Policy, Received};
use porous_sim::{LinkConfig, Pair};
use porous_tests::{Taped, config, percentile, receive_for, record, seed, sent_at, stamped};

const MS: Duration = Duration::from_millis(1);
const SECONDS: u32 = 60;
const TICKS: u32 = 60 * SECONDS;
/// Bytes of each packet.
const LEN: usize = 64;
/// Bytes of the headers of IPv4 and UDP.
const HEADERS: usize = 28;
/// Bytes of a bare acknowledgement with a delay, of an id of one byte, in a datagram with a connection id of
/// four bytes (`docs/wire.md`).
const BARE: usize = HEADERS + 13;

/// A flow on one of the lines, and the most that it may cost beside the ideal, in hundredths.
#[derive(Clone, Copy, Debug)]
struct Flow {
    mode: Mode,
    is_two_way: bool,
    most: [usize; 4],
}

const FLOWS: [Flow; 4] = [
    Flow {
        mode: Mode::Unreliable,
        is_two_way: false,
        most: [96, 100, 97, 98],
    },
    Flow {
        mode: Mode::Reliable,
        is_two_way: false,
        most: [110, 111, 111, 112],
    },
    Flow {
        mode: Mode::Unreliable,
        is_two_way: true,
        most: [102, 102, 102, 103],
    },
    Flow {
        mode: Mode::Reliable,
        is_two_way: true,
        most: [102, 103, 105, 138],
    },
];

/// The lines, in the order of [`Flow::most`].
fn lines() -> [(&'static str, LinkConfig); 4] {
    let clean = LinkConfig::new().delay(30 * MS);
    [
        ("clean", clean),
        (
            "jitter reorders",
            clean.jitter(20 * MS).jitter_reorders(true),
        ),
        ("5 % are overtaken", clean.reorder(5.0).reorder_by(40 * MS)),
        ("5 % are lost", clean.loss(5.0)),
    ]
}

/// What a flow cost in [`SECONDS`].
#[derive(Debug)]
struct Cost {
    bytes: usize,
    /// Bytes of the datagrams with data.
    data_bytes: usize,
    datagrams: usize,
    /// Datagrams without data.
    bare: usize,
    /// The time from sending to delivery of each packet, in milliseconds, ascending.
    latencies: Vec<u128>,
}

impl Cost {
    /// The bytes to those with one bare acknowledgement each 25 ms, in hundredths. Where data goes both ways
    /// the ideal acknowledgements are in the datagrams with data.
    fn ratio(&self, flow: Flow) -> usize {
        let bare = if flow.is_two_way { 0 } else { 40 * BARE };
        100 * self.bytes / (self.data_bytes + bare * SECONDS as usize)
    }
}

fn cost(flow: Flow, line: LinkConfig) -> Cost {
    let [client, server] =
        [config::client(), config::new()].map(|config| config.policy(Policy::Modern));
    let mut pair = Pair::new(seed(), line, client, server);
    pair.connect_to_listener();
    let hosts = [Pair::A, Pair::B];
    let senders = &hosts[..1 + usize::from(flow.is_two_way)];
    // The first two seconds are not yet those of a steady flow.
    ticks(&mut pair, flow.mode, senders, 120);
    let (tape, from) = (record(&mut pair.world), pair.world.now());
    let got = ticks(&mut pair, flow.mode, senders, TICKS);
    let steady = got.iter().map(|(at, packet)| (at, sent_at(packet)));
    let mut latencies: Vec<_> = steady
        .filter(|&(_, sent)| sent >= from)
        .map(|(at, sent)| at.saturating_duration_since(sent).as_millis())
        .collect();
    latencies.sort_unstable();
    let all = tape.all();
    let bytes = |taped: &Taped| taped.datagram.len() + HEADERS;
    let has_data = |taped: &&Taped| taped.datagram.len() >= LEN;
    Cost {
        bytes: all.iter().map(bytes).sum(),
        data_bytes: all.iter().filter(has_data).map(bytes).sum(),
        datagrams: all.len(),
        bare: all.iter().filter(|taped| !has_data(taped)).count(),
        latencies,
    }
}

/// Each sender sends a packet at each tick. Returns what both hosts received, and when.
fn ticks(pair: &mut Pair, mode: Mode, senders: &[u32], ticks: u32) -> Vec<(Instant, Received)> {
    let (start, mut got) = (pair.world.now(), Vec::new());
    for tick in 1..=ticks {
        for &host in senders {
            let sent = pair.send(host, 0, mode, stamped(pair.world.now(), LEN));
            assert_eq!(sent, Ok(()), "{}", pair.world.seed());
        }
        let due = start + tick * Duration::from_secs(1) / 60;
        let left = due.saturating_duration_since(pair.world.now());
        got.extend(receive_for(pair, &[Pair::A, Pair::B], left));
    }
    got
}

/// T19.
#[test]
#[expect(clippy::print_stdout, reason = "the table of docs/design.md")]
fn acknowledgements_cost_little_whatever_the_line_does() {
    println!("| flow | IP bytes/s | datagrams/s | bare/s | to the ideal | p50, p99 in ms |");
    for flow in FLOWS {
        for ((line, link), most) in lines().into_iter().zip(flow.most) {
            let cost = cost(flow, link);
            let ways = if flow.is_two_way {
                "both ways"
            } else {
                "one way"
            };
            let a_second = |all: usize| all / SECONDS as usize;
            let ratio = cost.ratio(flow);
            println!(
                "| {:?}, {ways}, {line} | {} | {} | {} | {}.{:02} | {}, {} |",
                flow.mode,
                a_second(cost.bytes),
                a_second(cost.datagrams),
                a_second(cost.bare),
                ratio / 100,
                ratio % 100,
                percentile(&cost.latencies, 50),
                percentile(&cost.latencies, 99),
            );
            assert!(ratio <= most, "{flow:?}, {line}: {ratio} of {most}");
        }
    }
}
