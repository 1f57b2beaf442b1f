//! What a sample of 10,000 peers costs. Without arguments it prints the time of a sample, and the share of a
//! core that one sample a second takes. Under callgrind, instructions (docs/scale.md has the command).
#![expect(clippy::print_stdout, reason = "it prints what it measures")]
#![expect(clippy::unwrap_used, reason = "nothing here can fail")]

#[path = "../tests/common/mod.rs"]
mod common;

use core::hint::black_box;
use core::time::Duration;

use common::Crowd;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use porous_metrics::Sampler;
use porous_std::{Clock, Instant};

const SAMPLES: u32 = 20;

/// A name for callgrind, which counts in this function alone.
#[inline(never)]
fn take_samples(sampler: &mut Sampler, crowd: &mut Crowd) {
    for _ in 0..SAMPLES {
        crowd.now = crowd.now + Duration::from_secs(1);
        black_box(sampler.sample(&crowd.server, crowd.now));
    }
}

fn main() {
    let mut builder = PrometheusBuilder::new();
    for (name, bounds) in porous_metrics::BUCKETS {
        let matcher = Matcher::Full(name.into());
        builder = builder
            .set_buckets_for_metric(matcher, bounds)
            .expect("bounds");
    }
    let recorder = builder.build_recorder();
    let peers = std::env::args()
        .nth(1)
        .map_or(Ok(10_000), |peers| peers.parse());
    let peers = peers.expect("the number of peers");
    let mut crowd = Crowd::new(peers);
    let mut sampler = Sampler::new("lobby");
    metrics::with_local_recorder(&recorder, || {
        let clock = Clock::start();
        take_samples(&mut sampler, &mut crowd);
        let took = clock.now().saturating_duration_since(Instant::ZERO) / SAMPLES;
        let share = took.as_secs_f64() * 100.0;
        println!("{peers} peers: {took:?} a sample, {share:.3} % of a core at one a second");
    });
}
