//! Roads that players have: Wi-Fi, mobile networks, satellites, policers, crowds, games. Each is the text of a
//! [`Scenario`], with `ME` for the controller, and what is asked of a controller that keeps the queue short.

use alloc::vec::Vec;

use super::{Row, Situation};
use crate::lab::case::Case;
use crate::lab::controllers::Class;
use crate::lab::measure::{Gate, Measure, ratio};
use crate::lab::scenario::{FlowReport, Report, Scenario};
use crate::lab::stage::Stage;

/// A number of a report that a row asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lab) enum Number {
    /// Goodput of all flows, in percent of the road.
    Goodput,
    /// The mean queue in milliseconds.
    Queue,
    /// The 95th percentile of the queue in milliseconds.
    LongQueue,
    /// Datagrams of the controller's flows that were dropped, in percent.
    Dropped,
    Jain,
    /// What the controller's first flow got beside what the last flow got.
    Ratio,
    /// Datagrams of the controller's flows that were declared lost and arrived, in percent.
    FalselyLost,
    /// The 99th percentile of the time that packets took, in milliseconds, of the flow of the controller where it
    /// is the longest.
    Latency,
}

use Gate::{AtLeast, AtMost, Within};
use Number::{Dropped, FalselyLost, Goodput, Jain, Latency, LongQueue, Queue, Ratio};

impl Number {
    const ALL: [Self; 8] = [
        Goodput,
        Queue,
        LongQueue,
        Dropped,
        Jain,
        Ratio,
        FalselyLost,
        Latency,
    ];

    /// What it is called, and its unit.
    const fn name(self) -> (&'static str, &'static str) {
        match self {
            Goodput => ("goodput", "%"),
            Queue => ("mean queue", "ms"),
            LongQueue => ("p95 queue", "ms"),
            Dropped => ("dropped", "%"),
            Jain => ("Jain", ""),
            Ratio => ("to the last flow", ""),
            FalselyLost => ("falsely lost", "%"),
            Latency => ("p99 of packets", "ms"),
        }
    }

    /// Whether the number says something about this road: how several flows share it does not where there is one.
    fn is_told(self, report: &Report) -> bool {
        match self {
            Jain => report.flows.len() > 1,
            // Beside a flow that is there for a part of the time it says nothing.
            Ratio => false,
            Latency => report.flows.iter().any(|flow| flow.latency.is_some()),
            Goodput | Queue | LongQueue | Dropped | FalselyLost => true,
        }
    }

    /// The number; `None` if nothing was counted.
    fn of(self, report: &Report, name: &str) -> Option<f64> {
        let mine = || report.flows.iter().filter(|flow| flow.name == name);
        let mean = |number: fn(&FlowReport) -> Option<f64>| {
            let all: Vec<f64> = mine().filter_map(number).collect();
            (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
        };
        let (first, last) = (report.flows.first()?, report.flows.last()?);
        match self {
            Goodput => report.goodput_percent,
            Queue => Some(report.queue.mean_ms),
            LongQueue => Some(report.queue.p95_ms),
            Dropped => mean(|flow| flow.dropped_percent),
            Jain => report.jain,
            Ratio => ratio(first.kbyte_per_s, last.kbyte_per_s),
            FalselyLost => mean(|flow| flow.falsely_lost_percent),
            Latency => mine()
                .filter_map(|flow| Some(flow.latency?.p99))
                .reduce(f64::max),
        }
    }
}

/// A road and what is asked on it.
#[derive(Clone, Copy, Debug)]
pub(in crate::lab) struct Asked {
    words: &'static str,
    gates: &'static [(Number, Gate)],
}

impl Asked {
    /// Puts the controller on the road.
    pub(in crate::lab) fn run(&self, case: &Case) -> (Stage, Vec<Measure>, Vec<FlowReport>) {
        let name = case.controller.name;
        let words = self.words.replace("ME", name);
        let scenario: Result<Scenario, _> = words.parse();
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        let scenario = scenario.seeded(case.seed);
        let scenario = if case.quick {
            scenario.shorter()
        } else {
            scenario
        };
        let stage = scenario.stage(case.recording.take());
        let report = scenario.report(&stage);
        let is_asked = case.controller.class == Class::Delay;
        let numbers = Number::ALL.into_iter();
        let measures = numbers.filter_map(|number| {
            let gate = self.gates.iter().find(|(asked, _)| *asked == number);
            if gate.is_none() && !number.is_told(&report) {
                return None;
            }
            let gate = gate.map(|&(_, gate)| gate).filter(|_| is_asked);
            let (what, unit) = number.name();
            Some(Measure::new(what, number.of(&report, name), unit).gate(gate))
        });
        let measures = measures.collect();
        (stage, measures, report.flows)
    }
}

const fn road(
    name: &'static str,
    about: &'static str,
    words: &'static str,
    gates: &'static [(Number, Gate)],
) -> Row {
    Row {
        name,
        about,
        bulk: true,
        plot: false,
        run: Situation::Road(Asked { words, gates }),
    }
}

/// The rows of this file.
pub(super) const ROADS: &[Row] = &[
    road(
        "crowd-8",
        "Eight flows, one after the other, at 10 Mbit/s and RTT 50 ms, 1 BDP.",
        "flow=ME*8",
        &[
            (Dropped, AtMost(1.0)),
            (Jain, AtLeast(0.95)),
            (Queue, AtMost(25.0)),
        ],
    ),
    road(
        "crowd-16",
        "Sixteen flows on the same road.",
        "flow=ME*16",
        &[
            (Dropped, AtMost(3.0)),
            (Jain, AtLeast(0.95)),
            (Queue, AtMost(25.0)),
        ],
    ),
    road(
        "crowd-32",
        "Thirty-two flows on the same road: a flow has two datagrams in a round trip.",
        "flow=ME*32",
        &[
            (Dropped, AtMost(9.0)),
            (Jain, AtLeast(0.95)),
            (Queue, AtMost(25.0)),
        ],
    ),
    road(
        "crowd-8-deep",
        "Eight flows before a queue of 4 BDP.",
        "q=400 flow=ME*8",
        &[(Queue, AtMost(30.0)), (Dropped, AtMost(1.0))],
    ),
    road(
        "crowd-16-deep",
        "Sixteen flows before a queue of 4 BDP.",
        "q=400 flow=ME*16",
        &[(Queue, AtMost(40.0)), (Dropped, AtMost(1.0))],
    ),
    road(
        "wander-20",
        "The way there takes up to 20 ms longer, drawn anew every 50 ms in the mean.",
        "wander=20:50 flow=ME",
        &[(Goodput, AtLeast(95.0)), (Queue, AtMost(15.0))],
    ),
    road(
        "wander-40",
        "Up to 40 ms longer, drawn anew every 50 ms.",
        "wander=40:50 flow=ME",
        &[(Goodput, AtLeast(90.0)), (Queue, AtMost(15.0))],
    ),
    road(
        "wander-20-slow",
        "Up to 20 ms longer, drawn anew every 200 ms.",
        "wander=20:200 flow=ME",
        &[(Goodput, AtLeast(90.0)), (Queue, AtMost(40.0))],
    ),
    road(
        "wander-40-slow",
        "Up to 40 ms longer, drawn anew every 200 ms.",
        "wander=40:200 flow=ME",
        &[(Goodput, AtLeast(90.0)), (Queue, AtMost(40.0))],
    ),
    road(
        "route-60",
        "The route grows from 50 to 60 ms of RTT; from 5 s after that on.",
        "at=20:delay:30 from=25 flow=ME",
        &[(Goodput, AtLeast(95.0)), (Queue, AtMost(10.0))],
    ),
    road(
        "route-65",
        "The route grows from 50 to 65 ms.",
        "at=20:delay:32.5 from=25 flow=ME",
        &[(Goodput, AtLeast(95.0)), (Queue, AtMost(10.0))],
    ),
    road(
        "route-75",
        "The route grows from 50 to 75 ms.",
        "at=20:delay:37.5 from=25 flow=ME",
        &[(Goodput, AtLeast(95.0)), (Queue, AtMost(10.0))],
    ),
    road(
        "route-100",
        "The route grows from 50 to 100 ms.",
        "at=20:delay:50 from=25 flow=ME",
        &[(Goodput, AtLeast(95.0)), (Queue, AtMost(10.0))],
    ),
    road(
        "game-1",
        "60 reliable packets of 1000 bytes a second at 1 % loss; RTT 150 ms, from 20 s on 205 ms.",
        "rtt=150 loss=1 at=20:delay:102.5 flow=ME+st60x1000r",
        &[(Latency, AtMost(500.0))],
    )
    .for_games(),
    road(
        "game-2",
        "The same at 2 % loss.",
        "rtt=150 loss=2 at=20:delay:102.5 flow=ME+st60x1000r",
        &[(Latency, AtMost(500.0))],
    )
    .for_games(),
    road(
        "game-5",
        "The same at 5 % loss.",
        "rtt=150 loss=5 at=20:delay:102.5 flow=ME+st60x1000r",
        &[(Latency, AtMost(800.0))],
    )
    .for_games(),
    road(
        "satellite",
        "50 Mbit/s, whose one-way delay moves by 5 to 15 ms up or down every 15 s.",
        "rate=50000 step=5:15:15 end=120 flow=ME",
        &[(Goodput, AtLeast(95.0)), (LongQueue, AtMost(10.0))],
    ),
    road(
        "policer-10",
        "A policer of 10 Mbit/s that lets 30 KB pass at once.",
        "policer=30000 flow=ME",
        &[(Dropped, AtMost(2.0))],
    ),
    road(
        "policer-2",
        "A policer of 2 Mbit/s that lets 30 KB pass at once.",
        "rate=2000 policer=30000 flow=ME",
        &[(Dropped, AtMost(3.0))],
    ),
    road(
        "policer-cubic",
        "Beside TCP Cubic behind the policer of 10 Mbit/s.",
        "policer=30000 flow=ME flow=tcpcubic",
        &[(Ratio, AtMost(2.0))],
    ),
    road(
        "codel-1",
        "CoDel at 1 Mbit/s.",
        "rate=1000 q=codel flow=ME",
        &[(Dropped, AtMost(2.0))],
    ),
    road(
        "codel-2",
        "CoDel at 2 Mbit/s.",
        "rate=2000 q=codel flow=ME",
        &[(Dropped, AtMost(1.0))],
    ),
    road(
        "codel-5",
        "CoDel at 5 Mbit/s.",
        "rate=5000 q=codel flow=ME",
        &[(Dropped, AtMost(0.5))],
    ),
    road(
        "codel-5-crowd",
        "Four flows before CoDel at 5 Mbit/s.",
        "rate=5000 q=codel flow=ME*4",
        &[(Dropped, AtMost(3.0))],
    ),
    road(
        "codel-reno",
        "Beside TCP Reno before CoDel at 10 Mbit/s.",
        "q=codel flow=ME flow=tcpreno",
        &[(Ratio, Within(0.5, 2.0))],
    ),
    road(
        "fq-codel",
        "Beside TCP Cubic before FQ-CoDel at 10 Mbit/s.",
        "q=fqcodel flow=ME flow=tcpcubic",
        &[],
    ),
    road(
        "lan",
        "100 Mbit/s, RTT 2 ms, hosts called 60 times a second, a buffer of 100 KB.",
        "rate=100000 rtt=2 ticks=60 q=400 flow=ME",
        &[(Dropped, AtMost(0.5)), (Goodput, AtLeast(80.0))],
    ),
    road(
        "lan-shallow",
        "The same with a buffer of 25 KB.",
        "rate=100000 rtt=2 ticks=60 q=100 flow=ME",
        &[(Dropped, AtMost(0.5)), (Goodput, AtLeast(40.0))],
    ),
    road(
        "ticks-30",
        "Hosts called 30 times a second, RTT 30 ms.",
        "ticks=30 rtt=30 flow=ME",
        &[(Goodput, AtLeast(80.0))],
    ),
    road(
        "ticks-2",
        "Two flows whose hosts are called 60 times a second, 4 BDP.",
        "ticks=60 q=400 flow=ME*2",
        &[(Queue, AtMost(35.0)), (Jain, AtLeast(0.95))],
    ),
    road(
        "ticks-4",
        "Four flows whose hosts are called 60 times a second, 4 BDP.",
        "ticks=60 q=400 flow=ME*4",
        &[(Queue, AtMost(35.0)), (Jain, AtLeast(0.95))],
    ),
    road(
        "tenth",
        "A buffer of a tenth of a BDP.",
        "q=10 flow=ME",
        &[(Dropped, AtMost(1.5))],
    ),
    road(
        "tcp-leaves",
        "TCP Cubic leaves a queue of 4 BDP after 15 s; the 45 s after that.",
        "q=400 flow=ME flow=tcpcubic@0-15 from=15",
        &[(Queue, AtMost(10.0))],
    ),
    road(
        "reorder-50",
        "50 Mbit/s with jitter of 5 ms either way that reorders, and no loss.",
        "rate=50000 jit=5 jre=1 end=30 flow=ME",
        &[(Goodput, AtLeast(95.0)), (FalselyLost, AtMost(0.1))],
    ),
    road(
        "reorder-100",
        "100 Mbit/s with the same jitter.",
        "rate=100000 jit=5 jre=1 end=30 flow=ME",
        &[(Goodput, AtLeast(95.0)), (FalselyLost, AtMost(0.1))],
    ),
    road(
        "reorder-200",
        "200 Mbit/s with the same jitter.",
        "rate=200000 jit=5 jre=1 end=20 flow=ME",
        &[(Goodput, AtLeast(95.0)), (FalselyLost, AtMost(0.1))],
    ),
    road(
        "jitter-order",
        "20 Mbit/s, RTT 60 ms: each datagram is up to 10 ms earlier or later, and none overtakes another.",
        "rate=20000 rtt=60 jit=10 flow=ME",
        &[(Goodput, AtLeast(93.0))],
    ),
    road(
        "jitter-steps",
        "The same, each delay rounded up to a step of 16.7 ms, as behind a host called 60 times a second.",
        "rate=20000 rtt=60 jit=10 jstep=16.7 flow=ME",
        &[(Goodput, AtLeast(80.0))],
    ),
    road(
        "jitter-reorder",
        "Up to 10 ms earlier or later, and datagrams overtake each other.",
        "rate=20000 rtt=60 jit=10 jre=1 flow=ME",
        &[(Goodput, AtLeast(85.0))],
    ),
    road(
        "jitter-30",
        "Up to 30 ms earlier or later, the whole delay of one way, and datagrams overtake each other.",
        "rate=20000 rtt=60 jit=30 jre=1 flow=ME",
        &[(Goodput, AtLeast(70.0)), (FalselyLost, AtMost(2.0))],
    ),
    road(
        "jitter-loss",
        "20 Mbit/s, RTT 60 ms, jitter of 10 ms either way in order, and 10 % lost by chance.",
        "rate=20000 rtt=60 jit=10 loss=10 flow=ME",
        &[(Goodput, AtLeast(35.0))],
    ),
    road(
        "jitter-loss-far",
        "10 Mbit/s, RTT 150 ms, jitter of 40 ms either way in order, and 10 % lost by chance each way. 5 % of it are \
         63 kB/s.",
        "rtt=150 jit=40 loss=10 aloss=10 flow=ME",
        &[(Goodput, AtLeast(5.0))],
    ),
    road(
        "jitter-loss-reorder",
        "The same, and datagrams overtake each other.",
        "rtt=150 jit=40 jre=1 loss=10 aloss=10 flow=ME",
        &[(Goodput, AtLeast(65.0))],
    ),
    road(
        "loss-5-slow",
        "5 % lost by chance at 1 Mbit/s, RTT 40 ms: never more than five frames are under way.",
        "rate=1000 rtt=40 loss=5 flow=ME",
        &[(Goodput, AtLeast(70.0))],
    ),
    road(
        "loss-10",
        "10 % lost by chance at 20 Mbit/s, RTT 60 ms.",
        "rate=20000 rtt=60 loss=10 flow=ME",
        &[(Goodput, AtLeast(83.0))],
    ),
    road(
        "loss-20",
        "20 % on the same road.",
        "rate=20000 rtt=60 loss=20 flow=ME",
        &[(Goodput, AtLeast(70.0))],
    ),
    road(
        "loss-25",
        "25 % on the same road.",
        "rate=20000 rtt=60 loss=25 flow=ME",
        &[(Goodput, AtLeast(67.0))],
    ),
    road(
        "loss-10-far",
        "10 % lost by chance at RTT 2 s, in the four minutes after the first.",
        "rtt=2000 loss=10 from=60 end=300 flow=ME",
        &[(Goodput, AtLeast(50.0))],
    ),
    road(
        "loss-25-far",
        "25 % on the same road; 7.6 % of it are 95 kB/s.",
        "rtt=2000 loss=25 from=60 end=300 flow=ME",
        &[(Goodput, AtLeast(7.6))],
    ),
    road(
        "outages",
        "A radio that takes nothing for 50 ms of each 250. Goodput is in percent of what it takes in the other 200.",
        "every=250:50 flow=ME",
        &[(Goodput, AtLeast(65.0))],
    ),
    road(
        "players-32",
        "Thirty-two players at 20 Mbit/s, each with 60 states a second and a file beside them. The states of the \
         player who waits longest count, with the 25 ms of the road.",
        "rate=20000 flow=ME*32+game",
        &[(Jain, AtLeast(0.95)), (Latency, AtMost(160.0))],
    )
    .for_games(),
    road(
        "radio",
        "A radio whose rate is 2 to 20 Mbit/s, drawn anew every 100 ms.",
        "radio=2000:20000:100 q=300 flow=ME",
        &[],
    ),
    road(
        "wifi-frames",
        "30 Mbit/s with jitter of 4 ms in steps of 2 ms.",
        "rate=30000 jit=4 jstep=2 flow=ME",
        &[],
    ),
    road(
        "handover",
        "Nothing is taken for 100 ms of each 15 s.",
        "every=15000:100 flow=ME",
        &[],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_road_is_understood() {
        for row in ROADS {
            let Situation::Road(asked) = row.run else {
                panic!("{} is a road", row.name);
            };
            let scenario: Result<Scenario, _> = asked.words.replace("ME", "lean").parse();
            assert!(scenario.is_ok(), "{}: {scenario:?}", row.name);
        }
    }
}
