//! The situations that have code of their own, in the order of the table.

use super::{Row, applications, changes, fairness, noise, queues, row};

/// The rows of the other files, but the roads.
pub(super) const OWN: &[Row] = &[
    // Alone.
    row(
        "alone-0.5",
        "Alone at 10 Mbit/s and RTT 50 ms, before a drop-tail queue of half a BDP (31 KB, 25 \
         ms). All numbers are from 5 s on.",
        queues::alone_half,
    ),
    row(
        "alone-1",
        "The same before a queue of 1 BDP (62.5 KB, 50 ms).",
        queues::alone_1,
    ),
    row(
        "alone-4",
        "The same before a queue of 4 BDP (200 ms): which controllers fill it.",
        queues::alone_4,
    )
    .drawn(),
    row(
        "alone-8",
        "The same before a queue of 8 BDP (400 ms).",
        queues::alone_8,
    ),
    row(
        "alone-codel",
        "The same before a queue with CoDel (RFC 8289).",
        queues::alone_codel,
    ),
    row(
        "alone-1m",
        "Alone at 1 Mbit/s and RTT 50 ms, 4 BDP: a BDP is five datagrams.",
        queues::alone_slow,
    ),
    row(
        "alone-300",
        "Alone at 10 Mbit/s and RTT 300 ms, 1 BDP: a satellite, or a bad mobile network.",
        queues::alone_far,
    ),
    row(
        "alone-10",
        "Alone at 100 Mbit/s and RTT 10 ms, 1 BDP: a server nearby.",
        queues::alone_near,
    ),
    row(
        "64k-fast",
        "Alone at 1.25 MB/s and RTT 50 ms, before a drop-tail queue of 64 KB: little more \
         than a BDP.",
        queues::fast_64k,
    ),
    row(
        "64k-fast-ticks",
        "The same, the hosts served 60 times a second, as in the frames of a game.",
        queues::fast_64k_ticks,
    ),
    row(
        "64k-slow",
        "Alone at 0.25 MB/s, before the same 64 KB: 5 BDP, a quarter of a second.",
        queues::slow_64k,
    ),
    row(
        "64k-slow-ticks",
        "The same, the hosts served 60 times a second.",
        queues::slow_64k_ticks,
    ),
    row(
        "file-5",
        "The first 20 s at 5 Mbit/s and RTT 60 ms, before a queue of 60 ms, slow start \
         included. Goodput is the share of the bottleneck that was of use.",
        queues::file_5,
    ),
    row(
        "file-5-loss",
        "The same with 1 % of random loss.",
        queues::file_5_loss,
    ),
    row(
        "file-100",
        "The first 20 s at 100 Mbit/s and RTT 60 ms, before a queue of 60 ms.",
        queues::file_100,
    ),
    row(
        "file-100-loss",
        "The same with 1 % of random loss.",
        queues::file_100_loss,
    ),
    // Beside others.
    row(
        "equal-2",
        "Two begin within a tenth of a second, at 10 Mbit/s and RTT 50 ms, 1 BDP: the smaller \
         share from 10 s to 20 s, the worst of five tries.",
        fairness::equal,
    ),
    row(
        "jain-2",
        "Two on the same road, from 60 s to 90 s.",
        fairness::jain_2,
    ),
    row("jain-4", "The same with four.", fairness::jain_4),
    row("jain-8", "The same with eight.", fairness::jain_8),
    row(
        "jain-rtt",
        "Two with round trips of 25 ms and 100 ms, from 60 s to 90 s: an old unfairness of windows, \
         without a demand.",
        fairness::jain_rtt,
    ),
    row(
        "late",
        "A second begins after 20 s, when the first has all.",
        fairness::late,
    )
    .drawn(),
    row(
        "reno-0.5",
        "Beside TCP Reno at 10 Mbit/s and RTT 50 ms, half a BDP: how many times TCP's bytes \
         it gets, over five tries that begin at different times, from 20 s to 80 s.",
        fairness::reno_half,
    ),
    row("reno-1", "Beside TCP Reno, 1 BDP.", fairness::reno_1),
    row("reno-4", "Beside TCP Reno, 4 BDP.", fairness::reno_4),
    row(
        "reno-codel",
        "Beside TCP Reno, CoDel.",
        fairness::reno_codel,
    ),
    row(
        "cubic-0.5",
        "Beside TCP Cubic, half a BDP.",
        fairness::cubic_half,
    ),
    row("cubic-1", "Beside TCP Cubic, 1 BDP.", fairness::cubic_1).drawn(),
    row("cubic-4", "Beside TCP Cubic, 4 BDP.", fairness::cubic_4),
    // When the path changes.
    row(
        "fall",
        "10 Mbit/s become 2 after 20 s, and 10 again 20 s later; RTT 50 ms, a queue of 62.5 \
         KB, which is 50 ms and then 250.",
        changes::fall,
    )
    .drawn(),
    row(
        "black-hole",
        "Nothing gets through from 20 s to 25 s; 10 Mbit/s, RTT 50 ms, 1 BDP.",
        changes::black_hole,
    ),
    row(
        "no-feedback",
        "Nothing comes back any more after 10 s; the same road. What is sent then must be \
         less than a datagram in a round trip, and ever less.",
        changes::no_feedback,
    ),
    // When the path is bad.
    row(
        "wide-loss",
        "1 % of random loss, RTT 100 ms, and no bottleneck at all.",
        noise::wide_loss,
    ),
    row(
        "loss-1",
        "1 % of random loss at 10 Mbit/s and RTT 50 ms, 1 BDP.",
        noise::loss_1,
    ),
    row("loss-5", "5 % on the same road.", noise::loss_5),
    row(
        "reorder-bulk",
        "Jitter of 5 ms either way that reorders, on the same road, and no loss but by the \
         queue.",
        noise::reorder_bulk,
    ),
    row(
        "wifi",
        "A radio whose rate changes every 20 to 200 ms between 2 and 30 Mbit/s, with pauses \
         of up to 60 ms after which all comes at once; RTT 40 ms, a queue of 256 KB.",
        noise::wifi,
    ),
    row(
        "policer",
        "A policer of 10 Mbit/s that lets 30 KB pass at once and queues nothing; RTT 50 ms.",
        noise::policer,
    ),
    // Traffic of games.
    row(
        "reorder",
        "500 packets of 1000 bytes a second, less than the road takes, with jitter of 5 ms \
         either way that reorders: no cut is deserved.",
        noise::reorder,
    )
    .for_games(),
    row(
        "loss-2",
        "40 kB/s of reliable packets with 2 % of random loss: what arrived within a second \
         after it was sent.",
        applications::loss_2,
    )
    .for_games(),
    row(
        "push",
        "60 packets of 100 bytes a second for 60 s, then 1 MB at once: no burst may be as \
         large as a window that was never used.",
        applications::push,
    )
    .for_games(),
    row(
        "push-far",
        "The same at 50 Mbit/s and RTT 150 ms, with jitter of 20 ms either way: 1 MB takes 0.3 s there if \
         the road is filled at once.",
        applications::push_far,
    )
    .for_games(),
    row(
        "priority",
        "60 small packets of high priority a second beside bulk on the same connection, at 10 \
         Mbit/s and RTT 50 ms, 4 BDP: from `send` until they have left the bottleneck, after 5 s.",
        applications::priority,
    )
    .for_games(),
];
