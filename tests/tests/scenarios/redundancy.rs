//! Copies of packets in the spare bytes of later datagrams: what they win, and what they cost.

use core::time::Duration;

use porous_proto::{ChannelId, Config, Mode, Policy, SendOptions};
use porous_sim::{LinkConfig, Pair, Seed, Service};
use porous_tests::config;

const MS: Duration = Duration::from_millis(1);
const TICK: Duration = Duration::from_micros(16_667);

/// Both hosts step 60 times a second.
fn ticking(seed: u64, line: LinkConfig, config: &Config) -> Pair {
    let mut pair = Pair::new(Seed::new(seed), line, config.clone(), config.clone());
    for host in [Pair::A, Pair::B] {
        pair.world.set_service(host, Service::tick(TICK));
    }
    pair.connect_to_listener();
    pair.world.run_for(1000 * MS);
    pair
}

/// Each tick A sends packets of 64 bytes, `per_tick` of them, for a minute. How long each took that came, in milliseconds,
/// ascending, and how many were sent.
fn play(pair: &mut Pair, per_tick: usize, options: SendOptions) -> (Vec<u32>, usize) {
    let (a, b) = (pair.peer(Pair::A), pair.peer(Pair::B));
    let mut latencies = Vec::new();
    let mut sent = 0;
    for tick in 0..3700 {
        let now = pair.world.now().as_micros();
        for _ in 0..per_tick {
            if tick < 3600 {
                let mut packet = now.to_le_bytes().to_vec();
                packet.resize(64, 0);
                let host = pair.world.host_mut(Pair::A);
                assert_eq!(host.send(a, ChannelId(0), packet, options), Ok(()));
                sent += 1;
            }
        }
        pair.world.run_for(TICK);
        while let Some(packet) = pair.world.host_mut(Pair::B).receive(b) {
            let at = u64::from_le_bytes(packet.payload[..8].try_into().expect("8 bytes"));
            let took = pair.world.now().as_micros() - at;
            latencies.push(u32::try_from(took / 1000).expect("less than a month"));
        }
    }
    latencies.sort_unstable();
    (latencies, sent)
}

#[test]
fn zz_explore() {
    let line = LinkConfig::new().delay(30 * MS);
    for (name, line) in [
        ("5%", line.loss(5.0)),
        ("ge", line.burst_loss(1.0, 20.0, 66.0)),
    ] {
        for policy in [Policy::Paper, Policy::Modern] {
            for mode in [Mode::Reliable, Mode::Unreliable] {
                for per_tick in [1, 3, 5] {
                    for r in 0..=3 {
                        let mut pair = ticking(1, line, &config::new().policy(policy));
                        let (l, sent) =
                            play(&mut pair, per_tick, SendOptions::new(mode).redundancy(r));
                        let p = |n: usize| l[(l.len() - 1) * n / 1000];
                        let mean = l.iter().sum::<u32>() / l.len() as u32;
                        let bytes = pair.world.host(Pair::A).stats().bytes_sent;
                        eprintln!(
                            "{name} {policy:?} {mode:?} x{per_tick} r{r}: got {:.2}% mean {mean} p50 {} p95 {} p99 {} p99.9 {} max {} bytes {}",
                            100.0 * l.len() as f64 / sent as f64,
                            p(500),
                            p(950),
                            p(990),
                            p(999),
                            l[l.len() - 1],
                            bytes / sent as u64
                        );
                    }
                }
            }
        }
    }
}

/// Goodput in bytes.
fn goodput(
    seed: u64,
    policy: Policy,
    len: usize,
    per_tick: usize,
    mode: Mode,
    r: u8,
) -> (u64, u64) {
    let line = LinkConfig::new().delay(30 * MS).rate(1_000_000).loss(5.0);
    let mut pair = ticking(seed, line, &config::new().policy(policy));
    let (a, b) = (pair.peer(Pair::A), pair.peer(Pair::B));
    let mut got = 0;
    for _ in 0..3600 {
        for _ in 0..per_tick {
            let host = pair.world.host_mut(Pair::A);
            let _ = host.send(
                a,
                ChannelId(0),
                vec![1; len],
                SendOptions::new(mode).redundancy(r),
            );
        }
        pair.world.run_for(TICK);
        while let Some(packet) = pair.world.host_mut(Pair::B).receive(b) {
            got += packet.payload.len() as u64;
        }
    }
    (got, pair.world.host(Pair::A).stats().bytes_sent)
}

#[test]
fn zz_apart() {
    let line = LinkConfig::new().delay(30 * MS);
    for (name, line) in [
        ("5%", line.loss(5.0)),
        ("ge 5", line.burst_loss(1.0, 20.0, 66.0)),
        ("ge 10", line.burst_loss(0.5, 10.0, 66.0)),
        ("ge 3", line.burst_loss(1.0, 33.0, 100.0)),
    ] {
        let mut lost = [0, 0];
        let mut n = 0;
        for seed in 1..=4 {
            let mut pair = ticking(seed, line, &config::new().policy(Policy::Modern));
            let (a, b) = (pair.peer(Pair::A), pair.peer(Pair::B));
            let mut got = 0;
            for tick in 0..7200 {
                let host = pair.world.host_mut(Pair::A);
                assert_eq!(
                    host.send(
                        a,
                        ChannelId(0),
                        vec![1; 40],
                        SendOptions::new(Mode::Unreliable).redundancy(1)
                    ),
                    Ok(())
                );
                for _ in 0..3 {
                    let _ = host.send(a, ChannelId(1), vec![1; 700], Mode::Unreliable);
                }
                n += 1;
                pair.world.run_for(TICK);
                while let Some(packet) = pair.world.host_mut(Pair::B).receive(b) {
                    if packet.payload.len() == 40 {
                        got += 1;
                    }
                }
            }
            lost[0] += got;
        }
        eprintln!(
            "{name}: lost {:.3} %",
            100.0 - 100.0 * lost[0] as f64 / n as f64
        );
    }
}

#[test]
fn zz_goodput() {
    for policy in [Policy::Paper, Policy::Modern] {
        for (len, per_tick) in [
            (64, 100),
            (64, 30),
            (64, 20),
            (64, 10),
            (200, 20),
            (200, 8),
            (200, 6),
            (1100, 5),
            (1100, 2),
        ] {
            for mode in [Mode::Reliable, Mode::Unreliable] {
                let mut sum = [[0; 2]; 4];
                for r in 0..4 {
                    for seed in 1..=3 {
                        let (got, bytes) = goodput(seed, policy, len, per_tick, mode, r);
                        sum[r as usize][0] += got;
                        sum[r as usize][1] += bytes;
                    }
                }
                let rel = |n: usize| sum[n][0] as f64 / sum[0][0] as f64;
                eprintln!(
                    "{policy:?} {mode:?} {len} x {per_tick}: {} kB/s wire {} kB/s; r1 {:.3} r2 {:.3} r3 {:.3} wire {}",
                    sum[0][0] / 180_000,
                    sum[0][1] / 180_000,
                    rel(1),
                    rel(2),
                    rel(3),
                    sum[3][1] / 180_000
                );
            }
        }
    }
}
