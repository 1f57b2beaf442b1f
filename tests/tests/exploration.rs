//! All that may become of the first two datagrams of each scene of `porous_sim::explore` (`docs/testing.md`,
//! "Exploration"), and every schedule that ever showed a bug.

extern crate alloc;

use alloc::collections::BTreeMap;

use porous_sim::explore::{Bound, Choices, Report, Scene, explore, replay, sweep};

/// The reports of all scenes, by their names.
fn reports(bound: Bound, threads: usize) -> BTreeMap<String, Report> {
    let scenes: Vec<Scene> = Scene::all().collect();
    let mut all = BTreeMap::new();
    sweep(
        &scenes,
        bound,
        threads,
        || false,
        |scene, report| {
            let again = "porous sim explore --scene";
            assert_eq!(report.failure, None, "{again} {scene}");
            assert!(report.is_complete, "{scene}");
            all.insert(scene.to_string(), report);
        },
    );
    assert_eq!(all.len(), scenes.len(), "two scenes have one name");
    all
}

#[test]
fn whatever_becomes_of_two_datagrams_every_promise_is_kept() {
    let compared = reports(Bound::new(2), 2);
    let sum = |of: fn(&Report) -> u64| compared.values().map(of).sum::<u64>();
    // Each of the two has seven choices, unless a known state was reached before the second.
    assert!(compared.values().all(|report| report.schedules() == 49));
    // A fifth of all states at the ends of the choices were known, or more.
    assert!(5 * sum(|report| report.joined) > sum(Report::schedules) / 2);
}

/// Comparing states leaves nothing out: if nothing is compared, each schedule is run to its end, with the same
/// verdict.
#[test]
fn without_comparing_states_every_promise_is_kept_as_well() {
    let bound = Bound {
        compares: false,
        ..Bound::new(1)
    };
    for (name, report) in reports(bound, 2) {
        let Report {
            whole,
            joined,
            cut,
            states,
            ..
        } = report;
        assert_eq!((whole, joined, cut, states), (7, 0, 0, 0), "{name}");
    }
}

#[test]
fn few_faults_among_many_datagrams_are_fewer_schedules() {
    let bound = Bound {
        faults: 1,
        compares: false,
        ..Bound::new(5)
    };
    let scene = Scene::named("goodbye").expect("a scene");
    let report = explore(scene, bound, || true);
    // None, or one of six others at one of five places.
    assert_eq!((report.whole, report.failure), (1 + 5 * 6, None));
}

#[test]
fn an_exploration_does_not_depend_on_the_threads_and_can_be_stopped() {
    assert_eq!(reports(Bound::new(1), 1), reports(Bound::new(1), 3));
    let scene = Scene::named("handshake").expect("a scene");
    let mut asked = 0;
    let report = explore(scene, Bound::new(3), || {
        asked += 1;
        asked <= 10
    });
    assert_eq!((report.schedules(), report.is_complete), (10, false));
}

#[test]
fn a_schedule_is_the_same_each_time_it_is_run() {
    let scene = Scene::named("restart-client-sealed").expect("a scene");
    let choices: Choices = "ldr".parse().expect("choices");
    let (failure, text) = replay(scene, &choices, true);
    assert_eq!(failure, None);
    let text = text.unwrap_or_default();
    for choice in ["Lost", "Delayed", "Repeated"] {
        assert_eq!(text.matches(&format!("becomes: {choice}")).count(), 1);
    }
    assert_eq!(replay(scene, &choices, true).1, Some(text));
}
