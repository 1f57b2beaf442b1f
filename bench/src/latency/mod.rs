//! The time that a lost message takes: porous alone, under each of its policies, with and without jitter,
//! served at the frames of a game or at every arrival.

mod flow;
mod plot;
mod report;

use core::time::Duration;
use std::io;
use std::path::Path as Folder;

use self::flow::{Service, flow};
use crate::peers::porous::{
    Porous, modern_copied_pair, modern_pair, modern_uncopied_pair, paper_pair,
};

/// The variants that are compared, in the order of the table.
const VARIANTS: [Variant; 4] = [
    Variant {
        name: "paper",
        open: paper_pair,
    },
    Variant {
        name: "modern",
        open: modern_pair,
    },
    Variant {
        name: "redundancy 0",
        open: modern_uncopied_pair,
    },
    Variant {
        name: "redundancy 1",
        open: modern_copied_pair,
    },
];

/// The jitters in milliseconds: a datagram takes up to twice as long more, and this on average.
const JITTERS: [u64; 3] = [0, 4, 10];

const SERVICES: [Service; 2] = [Service::Tick, Service::Event];

struct Variant {
    name: &'static str,
    open: fn(u64) -> [Porous; 2],
}

/// One bar of the plot. The bars of a variant are in the order of the jitters.
#[derive(Clone, Copy, Debug)]
struct Bar {
    variant: &'static str,
    service: Service,
    /// Messages whose first transmission was lost.
    count: usize,
    mean_ms: f64,
    p95_ms: f64,
}

impl Bar {
    fn of(variant: &'static str, service: Service, mut lost: Vec<Duration>) -> Self {
        lost.sort_unstable();
        let sum: Duration = lost.iter().sum();
        let rank = (lost.len() * 95).div_ceil(100).saturating_sub(1);
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        Self {
            variant,
            service,
            count: lost.len(),
            mean_ms: ms(sum) / lost.len().max(1) as f64,
            p95_ms: ms(lost.get(rank).copied().unwrap_or_default()),
        }
    }
}

/// Measures all, and writes `latency.md` and `latency.svg` into a folder.
pub(crate) fn main(folder: &Folder, seconds: u64, seeds: u64) -> io::Result<()> {
    let mut bars = Vec::new();
    for service in SERVICES {
        for variant in &VARIANTS {
            for jitter in JITTERS {
                let mut lost = Vec::new();
                for seed in 1..=seeds {
                    let duration = Duration::from_secs(seconds);
                    lost.extend(flow((variant.open)(seed), service, jitter, duration, seed));
                }
                bars.push(Bar::of(variant.name, service, lost));
            }
        }
    }
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("latency.md"), report::markdown(&bars))?;
    std::fs::write(folder.join("latency.svg"), plot::svg(&bars)?)
}
