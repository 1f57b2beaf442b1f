//! The situations: each a row of the table.

mod applications;
mod changes;
mod fairness;
mod noise;
mod queues;

use alloc::vec::Vec;

use super::case::Case;
use super::measure::Measure;
use super::stage::Stage;

/// A situation.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// In tables and on the command line.
    pub name: &'static str,
    /// What happens, in a sentence.
    pub about: &'static str,
    /// Whether a sender that has nothing but bulk can take part.
    pub bulk: bool,
    /// Whether it is worth a picture.
    pub plot: bool,
    pub(super) run: fn(&Case) -> (Stage, Vec<Measure>),
}

/// All situations, in the order of the table.
pub const ROWS: &[Row] = &[
    // Alone.
    row(
        "alone-0.5",
        "Alone at 10 Mbit/s, RTT 50 ms, with a drop-tail queue of half a BDP.",
        queues::alone_half,
    ),
    row(
        "alone-1",
        "The same with a queue of 1 BDP.",
        queues::alone_1,
    ),
    row(
        "alone-4",
        "The same with a queue of 4 BDP.",
        queues::alone_4,
    )
    .drawn(),
    row(
        "alone-8",
        "The same with a queue of 8 BDP.",
        queues::alone_8,
    ),
    row("alone-codel", "The same with CoDel.", queues::alone_codel),
    row(
        "64k-fast",
        "Alone at 1.25 MB/s, RTT 50 ms, with a queue of 64 KB.",
        queues::fast_64k,
    )
    .drawn(),
    row(
        "64k-fast-ticks",
        "The same, the hosts served 60 times a second.",
        queues::fast_64k_ticks,
    ),
    row(
        "64k-slow",
        "Alone at 0.25 MB/s, RTT 50 ms, with a queue of 64 KB.",
        queues::slow_64k,
    )
    .drawn(),
    row(
        "64k-slow-ticks",
        "The same, the hosts served 60 times a second.",
        queues::slow_64k_ticks,
    ),
    row(
        "file-5",
        "The first 20 s at 5 Mbit/s, RTT 60 ms, with a queue of 60 ms.",
        queues::file_5,
    ),
    row(
        "file-5-loss",
        "The same with 1 % of random loss.",
        queues::file_5_loss,
    ),
    row(
        "file-100",
        "The first 20 s at 100 Mbit/s, RTT 60 ms, with a queue of 60 ms.",
        queues::file_100,
    ),
    row(
        "file-100-loss",
        "The same with 1 % of random loss.",
        queues::file_100_loss,
    ),
    // With others.
    row(
        "equal-2",
        "Two begin at once at 10 Mbit/s, RTT 50 ms, 1 BDP; their shares from 5 s to 10 s.",
        fairness::equal,
    )
    .drawn(),
    row(
        "jain-2",
        "Two on the same bottleneck, RTT 50 ms, 1 BDP, after 60 s.",
        fairness::jain_2,
    ),
    row("jain-4", "Four on the same.", fairness::jain_4).drawn(),
    row("jain-8", "Eight on the same.", fairness::jain_8),
    row(
        "jain-rtt",
        "Two with round trips of 25 ms and 100 ms.",
        fairness::jain_rtt,
    ),
    row("late", "A second begins after 20 s.", fairness::late).drawn(),
    row(
        "reno-0.5",
        "Beside TCP Reno at 10 Mbit/s, RTT 50 ms, with a queue of half a BDP.",
        fairness::reno_half,
    ),
    row("reno-1", "Beside TCP Reno, 1 BDP.", fairness::reno_1).drawn(),
    row("reno-4", "Beside TCP Reno, 4 BDP.", fairness::reno_4),
    row(
        "reno-codel",
        "Beside TCP Reno, CoDel.",
        fairness::reno_codel,
    ),
    row("cubic-1", "Beside TCP Cubic, 1 BDP.", fairness::cubic_1).drawn(),
    row("cubic-4", "Beside TCP Cubic, 4 BDP.", fairness::cubic_4),
    // When the path changes.
    row(
        "fall",
        "10 Mbit/s become 2 after 20 s, and 10 again 20 s later; RTT 50 ms, 1 BDP of 10 Mbit/s.",
        changes::fall,
    )
    .drawn(),
    row(
        "black-hole",
        "10 Mbit/s, RTT 50 ms, 1 BDP: nothing gets through from 20 s to 25 s.",
        changes::black_hole,
    )
    .drawn(),
    row(
        "no-feedback",
        "The same road: nothing comes back any more after 10 s.",
        changes::no_feedback,
    ),
    // When it is not a good line.
    row(
        "wide-loss",
        "RTT 100 ms, 1 % of random loss, no bottleneck.",
        noise::wide_loss,
    )
    .drawn(),
    row(
        "loss-1",
        "10 Mbit/s, RTT 50 ms, 1 BDP, with 1 % of random loss.",
        noise::loss_1,
    ),
    row("loss-5", "The same with 5 %.", noise::loss_5),
    row(
        "reorder-bulk",
        "The same with jitter of 5 ms either way that reorders, and no random loss.",
        noise::reorder_bulk,
    ),
    row(
        "wifi",
        "20 Mbit/s that change every 20 to 200 ms between 2 and 30, with pauses of up to 60 ms.",
        noise::wifi,
    )
    .drawn(),
    row(
        "policer",
        "A policer of 10 Mbit/s that lets 30 KB pass at once; RTT 50 ms.",
        noise::policer,
    )
    .drawn(),
    // What games do.
    games(
        "reorder",
        "500 packets of 1000 bytes a second with jitter of 5 ms either way that reorders, and no loss.",
        noise::reorder,
    ),
    games(
        "loss-2",
        "40 kB/s of reliable packets with 2 % of random loss.",
        applications::loss_2,
    ),
    games(
        "push",
        "60 packets of 100 bytes a second for 60 s, then 1 MB at once.",
        applications::push,
    )
    .drawn(),
    games(
        "priority",
        "60 small packets of high priority a second beside bulk, 10 Mbit/s, RTT 50 ms, 4 BDP.",
        applications::priority,
    ),
];

const fn row(
    name: &'static str,
    about: &'static str,
    run: fn(&Case) -> (Stage, Vec<Measure>),
) -> Row {
    Row {
        name,
        about,
        bulk: true,
        plot: false,
        run,
    }
}

/// A row with packets that TCP does not have.
const fn games(
    name: &'static str,
    about: &'static str,
    run: fn(&Case) -> (Stage, Vec<Measure>),
) -> Row {
    Row {
        bulk: false,
        ..row(name, about, run)
    }
}

impl Row {
    const fn drawn(mut self) -> Self {
        self.plot = true;
        self
    }
}
