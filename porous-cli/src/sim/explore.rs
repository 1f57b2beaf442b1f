//! `porous sim explore`: tries all that may become of the first datagrams of each scene, and reports what failed.

use core::fmt::Write as _;
use core::time::Duration;
use std::process::ExitCode;

use porous_sim::explore::{self, Bound, Choices, Report, Scene};
use serde::Serialize;

use super::limit::Limit;
use super::{create, progress, threads};
use crate::args::ExploreArgs;
use crate::exit;
use crate::json::Json;
use crate::later::Later;
use crate::out::Out;

/// Explores.
pub(crate) fn main(args: &ExploreArgs) -> ExitCode {
    exit::run(open(args), |opened| run(args, opened))
}

/// What the arguments name.
struct Opened {
    scenes: Vec<Scene>,
    trace: Option<Later>,
    out: Out,
}

fn open(args: &ExploreArgs) -> Result<Opened, String> {
    let scenes = match &args.scene {
        Some(name) => vec![Scene::named(name).ok_or_else(|| no_scene(name))?],
        None => Scene::all().collect(),
    };
    let trace = create(args.trace.as_deref())?;
    let json = args.json.as_deref().map(Json::open).transpose()?;
    Ok(Opened {
        scenes,
        trace,
        out: Out::new(json),
    })
}

fn no_scene(name: &str) -> String {
    let names = Scene::all().map(|scene| scene.to_string());
    let plain = names.filter(|name| !name.ends_with("-paper") && !name.ends_with("-sealed"));
    let plain: Vec<String> = plain.collect();
    let plain = plain.join(", ");
    format!("there is no scene {name}, only {plain}, and each with -paper or -sealed behind it")
}

/// Returns true if all promises were held.
fn run(args: &ExploreArgs, opened: Opened) -> Result<bool, String> {
    match (&args.schedule, &opened.scenes[..]) {
        (Some(choices), &[scene]) => replay(scene, choices, opened),
        _ => sweep(args, opened),
    }
}

/// Runs one schedule.
fn replay(scene: Scene, choices: &Choices, opened: Opened) -> Result<bool, String> {
    let Opened { trace, mut out, .. } = opened;
    let (failure, text) = explore::replay(scene, choices, trace.is_some());
    if let (Some(trace), Some(text)) = (trace, text) {
        let written = trace.write(text.as_bytes());
        written.map_err(|error| error.to_string())?;
    }
    out.print(&match &failure {
        Some(failure) => format!("{scene}, schedule {choices}: {failure}\n"),
        None => {
            let what = scene.what();
            format!("{scene}, schedule {choices}: all promises held\n({what})\n")
        }
    });
    out.end()?;
    Ok(failure.is_none())
}

/// Runs the schedules of all scenes until all have ended, or the user stops them.
fn sweep(args: &ExploreArgs, opened: Opened) -> Result<bool, String> {
    let Opened {
        scenes, mut out, ..
    } = opened;
    let limit = Limit::new(args.minutes)?;
    let stop = || limit.is_over();
    let datagrams = args.datagrams.into();
    let bound = Bound {
        datagrams,
        faults: args.faults.map_or(datagrams, usize::from),
        compares: !args.every,
    };
    let bar = progress("scenes", scenes.len() as u64);
    let mut all = Vec::new();
    explore::sweep(
        &scenes,
        bound,
        threads(args.threads),
        stop,
        |scene, report| {
            if let Some((choices, failure)) = &report.failure {
                // Or the bar and the lines would overwrite each other.
                bar.suspend(|| out.print(&told(scene, choices, failure)));
            }
            all.push(Explored::new(scene, report));
            bar.inc(1);
        },
    );
    bar.finish_and_clear();
    let summary = Summary::new(bound, scenes.len(), all, limit.elapsed());
    out.finish(&summary.text(), &summary)?;
    Ok(summary.failed == 0)
}

/// What failed, and the command that shows it again.
fn told(scene: Scene, choices: &Choices, failure: &str) -> String {
    format!(
        "{scene}, schedule {choices}: {failure}\n  again: porous sim explore --scene {scene} --schedule {choices} --trace {scene}.txt\n"
    )
}

/// A scene, and what came of it.
#[derive(Debug, Serialize)]
struct Explored {
    scene: String,
    schedules: u64,
    whole: u64,
    joined: u64,
    cut: u64,
    states: u64,
    datagrams: u64,
    audits: u64,
    is_complete: bool,
    failure: Option<Failure>,
}

/// A schedule in which a promise was broken.
#[derive(Debug, Serialize)]
struct Failure {
    schedule: String,
    what: String,
}

impl Explored {
    fn new(scene: Scene, report: Report) -> Self {
        let failure = report.failure.clone();
        Self {
            scene: scene.to_string(),
            schedules: report.schedules(),
            whole: report.whole,
            joined: report.joined,
            cut: report.cut,
            states: report.states,
            datagrams: report.datagrams,
            audits: report.audits,
            is_complete: report.is_complete,
            failure: failure.map(|(choices, what)| Failure {
                schedule: choices.to_string(),
                what,
            }),
        }
    }
}

/// What an exploration came to.
#[derive(Debug, Serialize)]
struct Summary {
    datagrams: usize,
    faults: usize,
    scenes: usize,
    failed: usize,
    incomplete: usize,
    schedules: u64,
    seconds: f64,
    explored: Vec<Explored>,
}

impl Summary {
    fn new(bound: Bound, scenes: usize, explored: Vec<Explored>, elapsed: Duration) -> Self {
        let complete = explored.iter().filter(|one| one.is_complete);
        Self {
            datagrams: bound.datagrams,
            faults: bound.faults.min(bound.datagrams),
            scenes,
            failed: explored.iter().filter(|one| one.failure.is_some()).count(),
            incomplete: scenes - complete.count(),
            schedules: explored.iter().map(|one| one.schedules).sum(),
            seconds: elapsed.as_secs_f64(),
            explored,
        }
    }

    fn sum(&self, of: impl Fn(&Explored) -> u64) -> u64 {
        self.explored.iter().map(of).sum()
    }

    /// What a user wants to know first, and what was done.
    fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> core::fmt::Result {
        let (scenes, failed) = (self.scenes, self.failed);
        match failed {
            0 => writeln!(text, "{scenes} scenes, all promises held")?,
            _ => writeln!(
                text,
                "{failed} of {scenes} scenes broke a promise: see above"
            )?,
        }
        if self.incomplete > 0 {
            writeln!(
                text,
                "{} of them were stopped before their end, or never begun",
                self.incomplete
            )?;
        }
        writeln!(
            text,
            "\n\
             In each scene hosts do something, and each of their first {} datagrams arrives,\n\
             gets lost, arrives twice, behind others, late, or now and late again; at most\n\
             {} of them do not simply arrive. Each combination is a schedule. After it the\n\
             network is good, and every promise has to be kept.\n",
            self.datagrams, self.faults
        )?;
        writeln!(
            text,
            "{:<22}{:>12}{:>12}{:>12}{:>10}{:>12}",
            "scene", "schedules", "whole", "joined", "cut", "states"
        )?;
        for one in &self.explored {
            writeln!(
                text,
                "{:<22}{:>12}{:>12}{:>12}{:>10}{:>12}",
                one.scene, one.schedules, one.whole, one.joined, one.cut, one.states
            )?;
        }
        writeln!(
            text,
            "{:<22}{:>12}{:>12}{:>12}{:>10}{:>12}",
            "all",
            self.schedules,
            self.sum(|one| one.whole),
            self.sum(|one| one.joined),
            self.sum(|one| one.cut),
            self.sum(|one| one.states)
        )?;
        writeln!(
            text,
            "\n\
             whole: run to the end. joined: all was chosen, and a known state was reached,\n\
             of which it is known what follows. cut: the same, with choices left; each\n\
             stands for all schedules that begin like it.\n\n\
             {} datagrams arrived, and {} audits were made, in {:.0} s",
            self.sum(|one| one.datagrams),
            self.sum(|one| one.audits),
            self.seconds,
        )
    }
}
