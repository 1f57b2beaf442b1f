//! Many scenes, on several threads.

use super::{Bound, Report, Scene, explore};
use crate::threads;

/// [Explores](explore) these scenes on `threads` threads, and hands out the reports in the order of the scenes, so
/// that they do not depend on the number of threads. Once `stop` returns true no scene is begun, and those that were
/// begun are not completed; it is asked before each schedule.
///
/// ```
/// use porous_sim::explore::{Bound, Scene, sweep};
///
/// let scenes: Vec<Scene> = Scene::all().take(2).collect();
/// let mut counts = Vec::new();
/// sweep(&scenes, Bound::new(1), 2, || false, |_, report| counts.push(report.schedules()));
/// assert_eq!(counts, [7, 7]);
/// ```
pub fn sweep(
    scenes: &[Scene],
    bound: Bound,
    threads: usize,
    stop: impl Fn() -> bool + Sync,
    mut each: impl FnMut(Scene, Report),
) {
    let of = |number: u64| usize::try_from(number).ok().and_then(|n| scenes.get(n));
    let job = |number| of(number).map(|&scene| (scene, explore(scene, bound, || !stop())));
    threads::in_order(0..scenes.len() as u64, threads, &stop, job, |explored| {
        if let Some((scene, report)) = explored {
            each(scene, report);
        }
    });
}
