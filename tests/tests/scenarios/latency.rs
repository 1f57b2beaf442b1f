//! The latency of reliable packets when frames are lost: 60 packets a second, 64 bytes each, one way,
//! hosts stepped every millisecond, 50 to 60 ms under way.

use core::time::Duration;

use porous_proto::{Config, Mode, Policy};
use porous_sim::{LinkConfig, Pair, Seed, Service};
use porous_tests::{config, percentile, receive_for, sent_at, stamped};

const MS: Duration = Duration::from_millis(1);
const SECONDS: u32 = 120;
const PACKETS: u32 = 60 * SECONDS;
const SEEDS: u64 = 3;

/// The figures of a flow of reliable packets.
#[derive(Debug)]
struct Flow {
    /// The time from sending to delivery of each packet, in milliseconds, ascending.
    latencies: Vec<u128>,
    /// UDP payload of both hosts, in bytes, from the first packet on.
    wire_bytes: u64,
}

impl Flow {
    fn bytes_a_packet(&self) -> u64 {
        self.wire_bytes / self.latencies.len() as u64
    }
}

fn flow(seed: u64, loss: f64, config: &Config) -> Flow {
    let line = LinkConfig::new().delay(50 * MS).jitter(10 * MS).loss(loss);
    let mut pair = Pair::new(Seed::new(seed), line, config.clone(), config.clone());
    for host in [Pair::A, Pair::B] {
        pair.world.set_service(host, Service::tick(MS));
    }
    pair.connect_to_listener();
    pair.world.run_for(1000 * MS);
    let bytes = |pair: &Pair| {
        [Pair::A, Pair::B]
            .map(|host| pair.world.host(host).stats().bytes_sent)
            .iter()
            .sum::<u64>()
    };
    let (before, start) = (bytes(&pair), pair.world.now());
    let mut latencies = Vec::new();
    let (mut sent, mut due) = (0_u32, start);
    while latencies.len() < PACKETS as usize {
        if sent < PACKETS && pair.world.now() >= due {
            let packet = stamped(pair.world.now(), 64);
            let taken = pair.send(Pair::A, 0, Mode::Reliable, packet);
            assert_eq!(taken, Ok(()), "{}", pair.world.seed());
            sent += 1;
            due = start + Duration::from_micros(u64::from(sent) * 1_000_000 / 60);
        }
        for (now, packet) in receive_for(&mut pair, &[Pair::B], MS) {
            let took = now.saturating_duration_since(sent_at(&packet));
            latencies.push(took.as_millis());
        }
        let late = start + Duration::from_secs(u64::from(SECONDS) + 20);
        assert!(
            pair.world.now() < late,
            "it does not arrive; {}",
            pair.world.seed()
        );
    }
    latencies.sort_unstable();
    Flow {
        latencies,
        wire_bytes: bytes(&pair) - before,
    }
}

/// The flows of three seeds, as one.
fn flows(loss: f64, config: &Config) -> Flow {
    let mut all = Flow {
        latencies: Vec::new(),
        wire_bytes: 0,
    };
    for seed in 1..=SEEDS {
        let flow = flow(seed, loss, config);
        all.latencies.extend(flow.latencies);
        all.wire_bytes += flow.wire_bytes;
    }
    all.latencies.sort_unstable();
    all
}

/// P6.
#[test]
fn losses_are_repaired_soon() {
    for (loss, p99) in [(1.0, 176), (5.0, 250), (10.0, 303), (20.0, 440)] {
        let flow = flows(loss, &config::new().policy(Policy::Modern));
        let got = percentile(&flow.latencies, 99);
        assert!(got <= p99, "{got} ms of {p99} at {loss} %");
        if loss <= 10.0 {
            let bytes = flow.bytes_a_packet();
            assert!(bytes <= 130, "{bytes} bytes a packet at {loss} %");
        }
        let paper = flows(loss, &config::new().policy(Policy::Paper));
        assert!(
            got < percentile(&paper.latencies, 99),
            "{got} ms is no better than the paper at {loss} %"
        );
    }
}
