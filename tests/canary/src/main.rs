//! Switches one deliberate bug after the other on, and counts the inputs until it is found.

use std::io::{self, Write as _};
use std::panic;
use std::process::ExitCode;

use porous_fuzz::target::Target;
use porous_fuzz::{drawn, forms, ops, pair::Pair};
use porous_proto::Policy;
use porous_proto::hooks::canary::{Bug, release, release_each};
use porous_sim::Seed;
use porous_sim::explore::{Bound, Choices, Scene, explore};

/// Inputs of each kind within which a bug has to be found. The last one is found by the 269th pair.
const INPUTS: u64 = 500;
/// Inputs of each kind with which nothing may be found where there is no bug.
const CLEAN: u64 = 200;

/// The datagrams of an exploration of which something is chosen.
const DATAGRAMS: usize = 2;
/// The opportunities for one strike in an exploration: a schedule has few.
const EVERY: u64 = 2;

/// Runs random operations on two hosts, against the model.
fn pair(n: u64) {
    let (setup, ops) = drawn(Seed::new(n), &ops::run());
    let setup = if n % 2 == 0 {
        setup.with_small_windows()
    } else {
        setup
    };
    let mut pair = Pair::new(setup).expect("all values are valid");
    for op in ops {
        pair.apply(op);
    }
    pair.heal();
}

/// Runs frames with arbitrary fields against one host.
fn frames(n: u64) {
    let policy = [Policy::Modern, Policy::Paper][usize::from(n % 2 == 1)];
    let mut target = Target::new(policy).expect("all values are valid");
    for step in &drawn(Seed::new(n), &forms::run()) {
        target.apply(step);
    }
    target.assert_unharmed();
}

/// Runs a world of the swarm.
fn world(n: u64) {
    let outcome = porous_sim::swarm::run(n + 1, None, false);
    assert_eq!(outcome.failure, None);
}

/// Where an exploration notices a bug.
struct Found {
    scene: Scene,
    choices: Choices,
    /// The number of the schedule in its scene.
    number: u64,
}

/// Explores the scenes until the bug is noticed.
fn exploration(bug: Option<Bug>, compares: bool) -> Option<Found> {
    let bound = Bound {
        compares,
        ..Bound::new(DATAGRAMS)
    };
    Scene::all().find_map(|scene| {
        // From the beginning of each schedule, so that its choices alone decide where the bug strikes.
        let report = explore(scene, bound, || {
            release_each(EVERY, bug);
            true
        });
        release(None);
        let number = report.schedules() - 1;
        let (choices, _) = report.failure?;
        Some(Found {
            scene,
            choices,
            number,
        })
    })
}

/// The same, with states compared and without, which must not make a difference.
fn explored(bug: Bug) -> Result<Found, &'static str> {
    let found = exploration(Some(bug), true).ok_or("not")?;
    let again = exploration(Some(bug), false).ok_or("only where states are compared")?;
    let place = |found: &Found| (found.scene.to_string(), found.choices.clone());
    match place(&found) == place(&again) {
        true => Ok(found),
        false => Err("elsewhere where states are compared"),
    }
}

/// The first input by which the bug is noticed.
fn hunt(bug: Option<Bug>, run: fn(u64), inputs: u64) -> Option<u64> {
    (0..inputs).find(|&n| {
        release(bug);
        let noticed = panic::catch_unwind(|| run(n)).is_err();
        release(None);
        noticed
    })
}

fn main() -> io::Result<ExitCode> {
    panic::set_hook(Box::new(|_| {}));
    let mut out = io::stdout().lock();
    let mut missed = 0;
    for run in [pair, frames, world] {
        if let Some(n) = hunt(None, run, CLEAN) {
            writeln!(out, "input {n} fails without any bug of ours")?;
            missed += 1;
        }
    }
    if let Some(found) = exploration(None, true) {
        let Found { scene, choices, .. } = found;
        writeln!(out, "{scene}, {choices} fails without any bug of ours")?;
        missed += 1;
    }
    for bug in Bug::ALL {
        let by_pair = hunt(Some(bug), pair, INPUTS);
        let by_frames = hunt(Some(bug), frames, INPUTS);
        let by_swarm = hunt(Some(bug), world, INPUTS);
        let explored = explored(bug);
        let fuzzed = by_pair.or(by_frames);
        missed += u32::from(fuzzed.is_none() || by_swarm.is_none() || explored.is_err());
        let told = |by: Option<u64>| by.map_or("not".into(), |n| format!("input {n}"));
        let [pair, frames, swarm] = [by_pair, by_frames, by_swarm].map(told);
        writeln!(
            out,
            "{bug:?}: found by pairs: {pair}, by frames: {frames}, by the swarm: {swarm}"
        )?;
        match explored {
            Ok(Found {
                scene,
                choices,
                number,
            }) => writeln!(
                out,
                "  by exploration: {scene}, schedule {number}, {choices}"
            )?,
            Err(how) => writeln!(out, "  by exploration: {how}")?,
        }
    }
    Ok(if missed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
