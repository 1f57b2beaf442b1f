//! Thousands of worlds that are worse than real ones, and what has to hold in each of them. Behind
//! the feature `swarm`; `porous sim swarm` runs it.
//!
//! A seed draws the hosts, their traffic, and the faults (`plan`, `work`, `weather`, `mischief`,
//! `spoof`). Then the network heals, and every promise has to be kept (`heal`). The checks meanwhile
//! are in `checks` and in the [`Contract`]. `docs/testing.md` tells more.

mod actor;
mod checks;
mod contract;
mod draw;
mod heal;
mod journal;
mod mischief;
mod plan;
mod report;
mod sealing;
mod spoof;
mod stage;
mod sweep;
mod weather;
mod work;

use alloc::string::{String, ToString};
use core::any::Any;
use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

pub use contract::{Contract, Life, Wishes};
pub use report::{Outcome, Report};
pub(crate) use sealing::Bindings;
pub use sweep::sweep;

use porous_proto::Policy;

use crate::Seed;
use stage::Stage;

/// Runs the world of one seed, and returns its outcome. All hosts follow `policy`; if it is `None`,
/// each follows the one that the seed draws for it. If `text` is true, all that happened is kept as
/// lines.
///
/// A failure is a panic inside, which is caught: the hook of the process is called as always.
///
/// ```
/// let outcome = porous_sim::swarm::run(1, None, false);
/// assert_eq!(outcome.failure, None, "replay with porous sim swarm --first 1 --seeds 1");
/// assert!(outcome.report.datagrams > 100);
/// ```
#[must_use]
pub fn run(seed: u64, policy: Option<Policy>, text: bool) -> Outcome {
    let mut stage = match Stage::new(Seed::new(seed), policy, text) {
        Ok(stage) => stage,
        Err(error) => panic!("seed {seed} draws a bad configuration: {error}"),
    };
    let played = catch_unwind(AssertUnwindSafe(|| stage.play()));
    stage.sum_up();
    Outcome {
        seed,
        failure: played.err().map(|payload| message(&*payload)),
        digest: stage.world.trace().digest(),
        text: stage.world.trace().text().map(ToString::to_string),
        report: stage.report,
    }
}

/// The message of a panic.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().cloned();
    let text = text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string));
    text.unwrap_or_else(|| "a panic without words".to_string())
}
