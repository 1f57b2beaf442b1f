//! `porous sim table` as a user runs it.

use std::process::{Command, Output};

fn table(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_porous"))
        .args(["sim", "table", "--quick"])
        .args(args)
        .output()
        .expect("this program starts")
}

/// The cells of the lines of a row.
fn lines(run: &Output, row: &str) -> Vec<Vec<String>> {
    let text = String::from_utf8_lossy(&run.stdout);
    let of = text
        .lines()
        .filter(|line| line.starts_with(&format!("| {row} |")));
    of.map(|line| {
        let cells = line.trim_matches(['|', ' ']).split(" | ");
        cells.map(str::to_string).collect()
    })
    .collect()
}

#[test]
fn each_goal_is_a_line_beside_all_controllers_and_does_not_depend_on_the_threads() {
    let runs = ["1", "3"].map(|threads| {
        let args = ["--seeds", "1-3", "--only", "ticks-2,game-1"];
        let run = table(&[&args[..], &["--threads", threads]].concat());
        assert!(run.status.code().is_some_and(|code| code < 2), "{run:?}");
        run
    });
    assert_eq!(runs[0].stdout, runs[1].stdout);
    let two = lines(&runs[0], "ticks-2");
    // The queue and Jain; a row, its number, its goal, and four controllers.
    assert_eq!(two.len(), 2, "{two:?}");
    assert!(two.iter().all(|line| line.len() == 7), "{two:?}");
    assert_eq!(two[0][1..3], ["mean queue, ms", "<= 35"]);
    let game = lines(&runs[0], "game-1");
    assert_eq!(
        game[0][4..],
        ["-", "-", "-"],
        "TCP has no packets: {game:?}"
    );
}

#[test]
fn a_seed_gives_one_number_and_several_give_the_least_and_the_greatest() {
    let of = |seeds| {
        let run = table(&[
            "--seeds",
            seeds,
            "--only",
            "jain-rtt",
            "--controllers",
            "lean",
        ]);
        lines(&run, "jain-rtt")[0][3].replace('*', "")
    };
    let one: f64 = of("2").parse().expect("a number");
    let two: f64 = of("3").parse().expect("a number");
    assert_ne!(one, two, "seeds differ");
    let both = of("2-3");
    let cell: Vec<&str> = both.split([' ', '(', ')']).collect();
    let numbers = cell.iter().filter_map(|word| word.parse().ok());
    let numbers: Vec<f64> = numbers.collect();
    assert_eq!(numbers[1..], [one.min(two), one.max(two)], "{both}");
    assert!(
        (numbers[0] - (one + two) / 2.0).abs() < 0.001,
        "{both}: the mean of two in the middle"
    );
}

#[test]
fn a_goal_that_is_missed_is_bold_and_named_and_the_exit_status() {
    let of = |row, controller| table(&["--seeds", "1", "--only", row, "--controllers", controller]);
    let told = |run: &Output| String::from_utf8_lossy(&run.stdout).into_owned();
    // Seven tenths of five BDP are still more than 100 ms.
    let missed = of("fall", "cubic");
    assert_eq!(missed.status.code(), Some(1), "{missed:?}");
    assert!(lines(&missed, "fall")[0][3].starts_with("**"), "{missed:?}");
    let sum = "Of 1 goals `cubic` misses 1 at one seed or more: fall (queue back at 100 ms).";
    assert!(told(&missed).ends_with(&format!("{sum}\n")), "{missed:?}");

    let met = of("no-feedback", "reno");
    assert_eq!(met.status.code(), Some(0), "{met:?}");
    let sum = "Of 2 goals `reno` misses 0 at one seed or more.";
    assert!(told(&met).ends_with(&format!("{sum}\n")), "{met:?}");

    // Of TCP nothing is asked, and a row without goals has one line.
    let free = of("no-feedback", "tcpreno");
    assert_eq!(free.status.code(), Some(0), "{free:?}");
    assert_eq!(lines(&free, "no-feedback").len(), 1, "{free:?}");
    assert!(!told(&free).contains("Of "), "{free:?}");
}

#[test]
fn what_there_is_not_is_refused_in_a_line() {
    for args in [
        ["--only", "nowhere"],
        ["--seeds", "3-2"],
        ["--seeds", "1-9999"],
        ["--seeds", "x"],
        ["--controllers", "quic"],
    ] {
        let run = table(&args);
        assert_eq!(run.status.code(), Some(2), "{args:?}");
        let told = String::from_utf8_lossy(&run.stderr);
        assert!(told.lines().count() == 1 && run.stdout.is_empty(), "{told}");
    }
}
