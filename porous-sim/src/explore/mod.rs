//! Bounded exhaustive exploration of the real hosts: in each [scene](Scene) all that may become of the first
//! datagrams is tried, each combination once, and after each the promises are those of the
//! [`swarm`](crate::swarm). Behind the feature `swarm`; `porous sim explore` runs it, and `docs/testing.md` tells
//! more.
//!
//! A schedule is what becomes of the first datagrams, a [`Choice`] for each. Schedules are tried depth first. A host
//! cannot be copied, but does the same thing each time, so that each schedule is run from the beginning.
//!
//! Two schedules may come to the same state: then what can follow is the same, and is run once. A state is all that
//! decides what follows and whether it is right: the time, the step of the scene, the datagrams under way and when
//! they are due, each host (`Host::view`), what its application knows, what the checks have noted of it, and the
//! number of choices that are left. Times are compared as they are, and not by their distance from the present: a
//! host also goes by how much time has passed since it was made.

mod actor;
mod choice;
mod promises;
mod provider;
mod run;
mod scene;
mod schedule;
mod seen;
mod sweep;
mod wire;

use alloc::string::{String, ToString};
use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

pub use choice::{Choice, Choices, NoChoice};
pub use provider::Remembering;
pub use scene::Scene;
pub use schedule::Schedule;
pub use sweep::sweep;

use crate::swarm::message;
use run::{Again, Chooser, Effort, Run};
use seen::Seen;

/// How far an exploration goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The number of datagrams for each of which there is a choice.
    pub datagrams: usize,
    /// The most of these of which something else becomes than [`Choice::Now`].
    pub faults: usize,
    /// True if what follows a state is run once, and not again where another schedule comes to it.
    pub compares: bool,
}

impl Bound {
    /// Each choice for each of this number of datagrams. States are compared.
    ///
    /// ```
    /// assert_eq!(porous_sim::explore::Bound::new(5).datagrams, 5);
    /// ```
    #[must_use]
    pub const fn new(datagrams: usize) -> Self {
        Self {
            datagrams,
            faults: datagrams,
            compares: true,
        }
    }
}

/// What came of the schedules of a scene.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Schedules that were run to their ends.
    pub whole: u64,
    /// Schedules of which all choices were made, and which then came to a state that was known.
    pub joined: u64,
    /// Beginnings of schedules that came to a known state with choices left: each stands for all schedules that
    /// begin like it.
    pub cut: u64,
    /// Different states in which schedules were compared.
    pub states: u64,
    /// Datagrams that arrived.
    pub datagrams: u64,
    /// Audits of hosts.
    pub audits: u64,
    /// The first schedule that broke a promise, and what it said. No other was run after it.
    pub failure: Option<(Choices, String)>,
    /// True if all schedules were run, or one has failed.
    pub is_complete: bool,
}

impl Report {
    /// The number of schedules of which it is known what comes of them; those that begin alike and were left with
    /// choices to be made count once.
    ///
    /// ```
    /// use porous_sim::explore::Report;
    ///
    /// let report = Report { whole: 5, joined: 3, cut: 1, ..Report::default() };
    /// assert_eq!(report.schedules(), 9);
    /// ```
    #[must_use]
    pub const fn schedules(&self) -> u64 {
        self.whole + self.joined + self.cut
    }
}

/// Runs all schedules of a scene, as long as `goes_on` says so, which is asked before each. They end with the first
/// that breaks a promise.
///
/// A failure is a panic inside, which is caught: the hook of the process is called as always.
///
/// ```
/// use porous_sim::explore::{Bound, Scene, explore};
///
/// let scene = Scene::named("handshake").unwrap();
/// let bound = Bound { compares: false, ..Bound::new(2) };
/// let report = explore(scene, bound, || true);
/// assert_eq!((report.whole, report.failure), (49, None));
/// ```
#[must_use]
pub fn explore(scene: Scene, bound: Bound, mut goes_on: impl FnMut() -> bool) -> Report {
    let mut schedule = Schedule::new(bound.faults);
    let mut seen = Seen::default();
    let mut report = Report::default();
    while goes_on() {
        let chooser = Chooser {
            schedule: &mut schedule,
            datagrams: bound.datagrams,
            seen: bound.compares.then_some(&mut seen),
        };
        let (ended, effort, _) = run(scene, chooser, false);
        report.datagrams += effort.datagrams;
        report.audits += effort.audits;
        match ended {
            Ok(Ok(())) => report.whole += 1,
            Ok(Err(Again { left: 0 })) => report.joined += 1,
            Ok(Err(Again { .. })) => report.cut += 1,
            Err(failure) => {
                let choices = schedule.made().map(|choice| Choice::ALL[choice]);
                report.whole += 1;
                report.failure = Some((Choices(choices.collect()), failure));
            }
        }
        report.is_complete = report.failure.is_some() || !schedule.advance();
        if report.is_complete {
            break;
        }
    }
    report.states = seen.len() as u64;
    report
}

/// Runs one schedule of a scene: what went wrong, if anything; and all datagrams and events as lines, if `has_text`.
///
/// ```
/// use porous_sim::explore::{Scene, replay};
///
/// let scene = Scene::named("crossing").unwrap();
/// let (failure, text) = replay(scene, &"lb".parse()?, true);
/// assert_eq!(failure, None);
/// assert!(text.unwrap().contains("becomes: Lost"));
/// # Ok::<(), porous_sim::explore::NoChoice>(())
/// ```
#[must_use]
pub fn replay(scene: Scene, choices: &Choices, has_text: bool) -> (Option<String>, Option<String>) {
    let mut schedule = Schedule::of(choices);
    let chooser = Chooser {
        schedule: &mut schedule,
        datagrams: choices.0.len(),
        seen: None,
    };
    let (ended, _, text) = run(scene, chooser, has_text);
    (ended.err(), text)
}

/// Runs a scene once: how it ended, what it took, and its text if that was asked for.
fn run(
    scene: Scene,
    chooser: Chooser<'_>,
    has_text: bool,
) -> (Result<Result<(), Again>, String>, Effort, Option<String>) {
    let mut run = match Run::new(scene, chooser, has_text) {
        Ok(run) => run,
        Err(error) => panic!("{scene} has a bad configuration: {error}"),
    };
    let played = catch_unwind(AssertUnwindSafe(|| run.play()));
    let text = run.world.trace().text().map(ToString::to_string);
    (
        played.map_err(|payload| message(&*payload)),
        run.effort,
        text,
    )
}
