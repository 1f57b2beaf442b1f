//! What acknowledgements cost: the bytes of a flow at 60 Hz, with the headers of IP and UDP, beside those of
//! the same datagrams with data and one bare acknowledgement each 25 ms. Prints its table with
//!
//! ```sh
//! cargo test -p porous-tests --test scenarios ack_costs -- --nocapture
//! ```

use core::time::Duration;

use porous_proto::{Mode, Policy};
use porous_sim::{LinkConfig, Pair};
use porous_tests::{Taped, config, record, seed};

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
    latencies: Vec<u64>,
}

impl Cost {
    /// The bytes to those with one bare acknowledgement each 25 ms, in hundredths. Where data goes both ways
    /// the ideal acknowledgements are in the datagrams with data.
    fn ratio(&self, flow: Flow) -> usize {
        let bare = if flow.is_two_way { 0 } else { 40 * BARE };
        100 * self.bytes / (self.data_bytes + bare * SECONDS as usize)
    }

    fn percentile(&self, percent: usize) -> u64 {
        self.latencies[(self.latencies.len() - 1) * percent / 100]
    }
}

fn cost(flow: Flow, line: LinkConfig) -> Cost {
    let config = || config::new().policy(Policy::Modern);
    let mut pair = Pair::new(
        seed(),
        line,
        config::client().policy(Policy::Modern),
        config(),
    );
    pair.connect_to_listener();
    let hosts = if flow.is_two_way {
        &[Pair::A, Pair::B][..]
    } else {
        &[Pair::A]
    };
    let mut latencies = Vec::new();
    let (mut tape, mut from) = (None, pair.world.now());
    let start = pair.world.now();
    // The first two seconds are not yet those of a steady flow.
    for tick in 0..TICKS + 120 {
        if tick == 120 {
            tape = Some(record(&mut pair.world));
            from = pair.world.now();
        }
        for &host in hosts {
            let mut packet = pair.world.now().as_micros().to_le_bytes().to_vec();
            packet.resize(LEN, 0);
            assert_eq!(
                pair.send(host, 0, flow.mode, packet),
                Ok(()),
                "{}",
                pair.world.seed()
            );
        }
        // Each millisecond, so that the latencies are true. One host is half a tick later than the other.
        let due = start + (tick + 1) * Duration::from_secs(1) / 60;
        while pair.world.now() < due {
            let now = pair.world.now();
            pair.world.run_until(due.min(now + MS));
            for host in [Pair::A, Pair::B] {
                for packet in pair.receive_all(host) {
                    let at = u64::from_le_bytes(packet.payload[..8].try_into().expect("8 bytes"));
                    if at >= from.as_micros() {
                        latencies.push((pair.world.now().as_micros() - at) / 1000);
                    }
                }
            }
        }
    }
    latencies.sort_unstable();
    let all = tape.expect("it began").all();
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
                cost.percentile(50),
                cost.percentile(99),
            );
            assert!(ratio <= most, "{flow:?}, {line}: {ratio} of {most}");
        }
    }
}
