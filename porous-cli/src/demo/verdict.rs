//! What the numbers of a run mean, in words.

use core::fmt::Write as _;

use super::report::{ModeReport, Report};
use crate::args::DemoArgs;

/// The conditions of a run, and the best that they allow.
pub(crate) fn conditions(args: &DemoArgs) -> String {
    let one_way = args.delay().as_secs_f64() * 1000.0;
    let jitter = args.delay_jitter().as_secs_f64() * 1000.0;
    let (clients, seconds) = (args.clients, args.seconds);
    let mut text = format!(
        "{clients} {}, {seconds} s: one way {one_way} ms",
        if clients == 1 { "client" } else { "clients" }
    );
    let mut add = |words: core::fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        let _ = text.write_fmt(words);
    };
    if jitter > 0.0 {
        add(format_args!(" and up to {jitter} ms more or less"));
    }
    for (percent, what) in [
        (args.loss, "lost"),
        (args.duplicate, "doubled"),
        (args.reorder, "held back"),
    ] {
        if percent > 0.0 {
            add(format_args!(", {percent} % {what}"));
        }
    }
    if args.rate > 0 {
        add(format_args!(", {} kbit/s", args.rate));
    }
    let repaired = one_way * 3.0;
    add(format_args!(
        "\nthe best that physics allows: {one_way} ms, and {repaired} ms for what was lost once and\n\
         is sent again when that is known"
    ));
    text
}

/// What came of it.
pub(crate) fn words(report: &Report, args: &DemoArgs) -> String {
    let modes = &report.modes;
    let best = args.delay().as_secs_f64() * 1000.0;
    let events = if modes.reliable.is_perfect() {
        format!(
            "All {} events arrived once and in order",
            modes.reliable.sent
        )
    } else {
        format!(
            "Of {} events {} arrived",
            modes.reliable.sent, modes.reliable.delivered
        )
    };
    let share = |mode: &ModeReport| 100.0 * mode.delivered as f64 / mode.sent.max(1) as f64;
    format!(
        "{events},\n  {}.\n{:.1} % of the states arrived,\n  {}.\n{:.1} % of the updates arrived,\n  {}.\n",
        beyond(&modes.reliable, best),
        share(&modes.unreliable),
        beyond(&modes.unreliable, best),
        share(&modes.passive),
        beyond(&modes.passive, best),
    )
}

/// How much longer packets of a mode took than the way itself does.
fn beyond(mode: &ModeReport, best: f64) -> String {
    match (mode.p50_ms, mode.p99_ms) {
        (Some(half), Some(most)) => format!(
            "half of them within {:.1} ms of the best, 99 % within {:.1} ms",
            (half - best).max(0.0),
            (most - best).max(0.0)
        ),
        _ => "none of them in time to be measured".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};
    use crate::demo::report::tests::good;

    fn args(words: &[&str]) -> DemoArgs {
        let words = ["porous", "demo"].iter().chain(words);
        let Command::Demo(args) = Cli::try_parse_from(words).unwrap().command else {
            panic!("not the demo");
        };
        args
    }

    #[test]
    fn conditions_name_what_is_set_and_what_is_possible() {
        let text = conditions(&args(&[
            "--clients",
            "1",
            "--reorder",
            "3",
            "--rate",
            "500",
        ]));
        let (first, rest) = text.split_once('\n').unwrap();
        assert_eq!(
            first,
            "1 client, 10 s: one way 30 ms and up to 2.5 ms more or less, 2 % lost, 3 % held back, \
             500 kbit/s"
        );
        assert!(
            rest.starts_with("the best that physics allows: 30 ms, and 90 ms for"),
            "{rest}"
        );
        let text = conditions(&args(&["--jitter", "0", "--loss", "0", "--rtt", "25"]));
        assert!(
            text.starts_with("8 clients, 10 s: one way 12.5 ms\n"),
            "{text}"
        );
    }

    #[test]
    fn a_verdict_says_what_arrived_and_how_late() {
        let mut report = good();
        let text = words(&report, &args(&[]));
        assert!(
            text.starts_with("All 24 events arrived once and in order,\n  none of"),
            "{text}"
        );
        (report.modes.reliable.p50_ms, report.modes.reliable.p99_ms) = (Some(31.5), Some(100.0));
        (report.modes.reliable.delivered, report.modes.reliable.lost) = (23, 1);
        let text = words(&report, &args(&[]));
        let expected = "Of 24 events 23 arrived,\n  half of them within 1.5 ms of the best, 99 % \
                        within 70.0 ms.\n97.5 % of the states arrived";
        assert!(text.starts_with(expected), "{text}");
    }
}
