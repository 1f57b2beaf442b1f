//! A run over time, as lines to draw.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::measure::limited;
use super::stage::Stage;

/// Points of a line, about.
const POINTS: u32 = 120;

/// The least time between points.
const CLOSEST: Duration = Duration::from_millis(50);

/// A flow over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The name of the flow's controller.
    pub name: String,
    /// The points in the order of time, about 120.
    pub points: Vec<Point>,
}

/// A flow at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Seconds since the beginning.
    pub time: f64,
    /// Bytes a second that the bottleneck took since the last point.
    pub rate: f64,
    /// The congestion window, in bytes; `None` if nothing limits it, or before the flow begins.
    pub window: Option<f64>,
    /// The time that a datagram waits for the bottleneck, in milliseconds.
    pub queue: f64,
    /// The smoothed round trip, in milliseconds; `None` before the first is measured.
    pub rtt: Option<f64>,
}

pub(super) fn lines(stage: &Stage) -> Vec<Line> {
    let record = stage.record();
    let length = record.length();
    let step = (length / POINTS).max(CLOSEST);
    let point = |flow, at: Duration| {
        let (seen, _) = record.at(flow, at);
        Point {
            time: at.as_secs_f64(),
            rate: record.rate(flow, [at.saturating_sub(step), at]),
            window: limited(seen.window).filter(|&window| window > 0.0),
            queue: 1000.0 * record.queue_at(at).as_secs_f64(),
            rtt: Some(1000.0 * seen.rtt.as_secs_f64()).filter(|&rtt| rtt > 0.0),
        }
    };
    let times = || (1..).map(|n| step * n).take_while(|&at| at <= length);
    let line = |(flow, name): (usize, &str)| Line {
        name: name.into(),
        points: times().map(|at| point(flow, at)).collect(),
    };
    stage.names().enumerate().map(line).collect()
}
