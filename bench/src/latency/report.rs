//! The table.

use std::fmt::Write as _;

use super::{Bar, JITTERS, SERVICES, Service, VARIANTS};

const HEAD: &str = "\
# How long a lost message takes

Mean and 95th percentile of the time from `send` to delivery, of reliable messages whose first
transmission was lost. 60 messages of 64 bytes a second go both ways, on four channels in turn. A
datagram travels 30 ms, and up to twice the jitter longer, each time as likely as any other; it does
not overtake others; 2 % are lost. A message that is not lost takes the same time without the repair:
30 ms, the jitter, and what it waits for the next frame.

*modern* has default options: while frames get lost, the host copies small reliable packets by itself, as
far as a sixteenth of the bytes goes. That is enough for events among other packets, and for few messages
of this flow, which has no others. *redundancy 0* and *redundancy 1* are the same policy with no copies,
and with one of each message.

*Served once a frame* means: the program calls the host each 16.7 ms, and does nothing in between.
*At every arrival*: it also wakes when a datagram comes or a deadline passes.

This file and `latency.svg` are made by
`cargo run --release --manifest-path bench/Cargo.toml -- latency`.

![The table as bars](latency.svg)
";

pub(super) fn markdown(bars: &[Bar]) -> String {
    let mut text = String::from(HEAD);
    for service in SERVICES {
        let of = bars.iter().filter(|bar| bar.service == service);
        let count = of.clone().map(|bar| bar.count).min().unwrap_or(0);
        // To write to a string never fails.
        _ = write!(
            text,
            "\n## {}\n\nMean (95th percentile) in milliseconds, of at least {count} messages.\n\n",
            title(service)
        );
        text.push_str("| policy |");
        for jitter in JITTERS {
            _ = write!(text, " jitter {jitter} ms |");
        }
        text.push_str("\n| --- |");
        text.push_str(&" --: |".repeat(JITTERS.len()));
        for variant in &VARIANTS {
            _ = write!(text, "\n| {} |", variant.name);
            for bar in of.clone().filter(|bar| bar.variant == variant.name) {
                _ = write!(text, " {:.0} ({:.0}) |", bar.mean_ms, bar.p95_ms);
            }
        }
        text.push('\n');
    }
    text
}

pub(super) const fn title(service: Service) -> &'static str {
    match service {
        Service::Tick => "Served once a frame",
        Service::Event => "Served at every arrival",
    }
}
