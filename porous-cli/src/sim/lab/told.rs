//! The text with what the statistics of a connection say of its path beside what was true.

use core::fmt::Write as _;

use super::{Run, number};

const HEAD: &str = "\
# Told beside true

What the statistics of a connection (`PeerStats` of its sender) say of the path, beside what was true, on the
roads of [README.md](README.md), where each is described. One line is the first flow of a controller. All
numbers are means of a hundred looks a second, in the time that the road measures.

- RTT is `rtt` beside the time that the last datagram took there, queue included, and the last one back.
- Loss is `loss_sent`, which covers the 5 to 10 s before each look, beside the datagrams that queue or policer
  did not take or that were lost behind these, of those that were sent.
- Quality is `quality`, from 0 to 100.

| road | controller | RTT told, ms | RTT true, ms | loss told, % | loss true, % | quality |
|---|---|--:|--:|--:|--:|--:|
";

/// The text of told.md; `None` if no flow was told anything.
pub(super) fn text(runs: &[Run]) -> Option<String> {
    let mut text = HEAD.to_string();
    for run in runs {
        let Some(beside) = run.outcome.flows.first().and_then(|flow| flow.beside) else {
            continue;
        };
        let _ = write!(text, "| {} | {} |", run.row.name, run.controller.name);
        for value in [
            Some(beside.told_rtt_ms),
            Some(beside.true_rtt_ms),
            Some(beside.told_loss_percent),
            beside.true_loss_percent,
            Some(beside.told_quality),
        ] {
            let _ = write!(text, " {} |", number(value));
        }
        text.push('\n');
    }
    (text.len() > HEAD.len()).then_some(text)
}
