//! The run as a picture: how late packets came, and round trips, losses, traffic and queues over time.

use core::error::Error;
use core::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::kind::Kind;
use super::samples::Sample;
use super::session::Session;
use crate::latency::Latencies;
use crate::plot::{self, decimals};

/// The width and height of the picture, in pixels.
const SIZE: (u32, u32) = (860, 900);

const TITLE: &str =
    "A game's traffic over a bad network: how late packets came, and the server over time";

/// The colours of events, states and updates.
const COLOURS: [RGBColor; 3] = [
    RGBColor(31, 119, 180),
    RGBColor(217, 95, 2),
    RGBColor(27, 158, 119),
];

/// The colours of losses, and of what stands behind something else.
const LOST: RGBColor = RGBColor(214, 39, 40);
const BEHIND: RGBColor = RGBColor(130, 130, 130);

/// The ticks of an axis of time and of one of values, at most.
const TIMES: usize = 10;
const VALUES: usize = 5;

type Panel<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn Error>>;

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Picture<'a> {
    latencies: [(&'static str, &'a Latencies); 3],
    samples: &'a [Sample],
}

impl<'a> Picture<'a> {
    pub(crate) fn of(session: &'a Session) -> Self {
        let of = |kind: Kind| &session.latencies[kind as usize];
        Self {
            latencies: [
                ("events, reliable", of(Kind::Event)),
                ("states, unreliable", of(Kind::State)),
                ("updates, passive", of(Kind::Update)),
            ],
            samples: session.samples.all(),
        }
    }

    /// The picture as SVG, on white, or on black where the reader's system is dark.
    pub(crate) fn svg(self) -> Result<String, String> {
        let mut text = String::new();
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        let drawn = || -> Drawn {
            area.fill(&WHITE)?;
            let (upper, lower) = area.split_vertically(300);
            self.distribution(&upper)?;
            let [rtt, rate, queue] = &lower.split_evenly((3, 1))[..] else {
                return Ok(());
            };
            self.round_trips(rtt)?;
            let (rates, queues) = (self.line(|s| s.sent_rate), self.line(|s| s.queued));
            self.over_time(rate, "sent by the server, kB/s", &rates)?;
            self.over_time(queue, "waiting at the server, kB", &queues)?;
            area.present()?;
            Ok(())
        };
        drawn().map_err(|error| format!("cannot draw: {error}"))?;
        drop(area);
        Ok(plot::finished(&text, TITLE))
    }

    fn line(self, of: fn(&Sample) -> f64) -> Vec<(f64, f64)> {
        let point = |sample: &Sample| (sample.at, of(sample));
        self.samples.iter().map(point).collect()
    }

    /// For each mode, how many packets had arrived after how long.
    fn distribution(self, panel: &Panel<'_>) -> Drawn {
        let latest = |(_, latencies): &(_, &Latencies)| latencies.percentile(99);
        let latest = self.latencies.iter().filter_map(latest);
        let end = 1.15 * latest.fold(1.0, f64::max);
        let places = decimals(&(0.0..end), TIMES);
        let mut chart = ChartBuilder::on(panel)
            .caption("How late packets came", ("sans-serif", 17))
            .margin(10)
            .x_label_area_size(36)
            .y_label_area_size(62)
            .build_cartesian_2d(0.0..end, 0.0..100.0)?;
        chart
            .configure_mesh()
            .max_light_lines(0)
            .x_desc("latency one way, ms")
            .y_desc("arrived by then, %")
            .x_labels(TIMES)
            .y_labels(VALUES)
            .y_label_formatter(&|percent| format!("{percent:.0}"))
            .x_label_formatter(&|ms| format!("{ms:.places$}"))
            .label_style(("sans-serif", 12))
            .axis_desc_style(("sans-serif", 13))
            .draw()?;
        for ((name, latencies), colour) in self.latencies.into_iter().zip(COLOURS) {
            let point = |percent| Some((latencies.percentile(percent)?.min(end), percent as f64));
            let points: Vec<_> = (1..=100).filter_map(point).collect();
            chart
                .draw_series([PathElement::new(points, colour.stroke_width(2))])?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .label_font(("sans-serif", 13))
            .background_style(WHITE)
            .border_style(TRANSPARENT)
            .draw()?;
        Ok(())
    }

    fn round_trips(self, panel: &Panel<'_>) -> Drawn {
        let (mut median, mut worst) = (self.line(|s| s.rtt_ms), self.line(|s| s.rtt_worst_ms));
        // Before the first is measured there is none.
        for line in [&mut median, &mut worst] {
            line.retain(|&(_, rtt)| rtt > 0.0);
        }
        let mut chart = axes(panel, "round trip, ms", (self.end(), top(&worst)))?;
        chart.draw_series([PathElement::new(worst, BEHIND)])?;
        chart.draw_series([PathElement::new(median, COLOURS[0].stroke_width(2))])?;
        // A mark at the foot for each sample in which something was found lost, longer for more.
        let mark = |sample: &Sample| {
            let height = (sample.lost as f64).min(10.0) * chart.y_range().end / 40.0;
            PathElement::new([(sample.at, 0.0), (sample.at, height)], LOST)
        };
        let marks: Vec<_> = self
            .samples
            .iter()
            .filter(|s| s.lost > 0)
            .map(mark)
            .collect();
        chart.draw_series(marks)?;
        let legend = [
            ("median client", COLOURS[0]),
            ("worst client", BEHIND),
            ("found lost", LOST),
        ];
        for (place, (name, colour)) in (0..).zip(legend) {
            let style = ("sans-serif", 12).into_font().color(&colour);
            panel.draw_text(name, &style, (560 + 96 * place, 2))?;
        }
        Ok(())
    }

    fn over_time(self, panel: &Panel<'_>, name: &str, points: &[(f64, f64)]) -> Drawn {
        let mut chart = axes(panel, name, (self.end(), top(points)))?;
        let points = points.to_vec();
        chart.draw_series([PathElement::new(points, COLOURS[0].stroke_width(2))])?;
        Ok(())
    }

    /// The end of the axis of time, in seconds.
    fn end(self) -> f64 {
        self.samples.last().map_or(1.0, |sample| sample.at.max(0.1))
    }
}

/// The top of an axis on which all points have room.
fn top(points: &[(f64, f64)]) -> f64 {
    let values = points.iter().map(|&(_, value)| value);
    1.15 * values.fold(0.5, f64::max)
}

type Chart<'a, 'b> = ChartContext<
    'a,
    SVGBackend<'b>,
    Cartesian2d<plotters::coord::types::RangedCoordf64, plotters::coord::types::RangedCoordf64>,
>;

/// The axes of a quantity over time.
fn axes<'a, 'b>(
    panel: &'a Panel<'b>,
    name: &str,
    (end, top): (f64, f64),
) -> Result<Chart<'a, 'b>, Box<dyn Error>> {
    let (time, value): (Range<f64>, Range<f64>) = (0.0..end, 0.0..top);
    let places = [decimals(&time, TIMES), decimals(&value, VALUES)];
    let mut chart = ChartBuilder::on(panel)
        .margin(10)
        .x_label_area_size(34)
        .y_label_area_size(62)
        .build_cartesian_2d(time, value)?;
    chart
        .configure_mesh()
        .max_light_lines(0)
        .x_desc("time, s")
        .y_desc(name)
        .x_labels(TIMES)
        .y_labels(VALUES)
        .x_label_formatter(&|seconds| format!("{seconds:.*}", places[0]))
        .y_label_formatter(&|value| format!("{value:.*}", places[1]))
        .label_style(("sans-serif", 12))
        .axis_desc_style(("sans-serif", 13))
        .draw()?;
    Ok(chart)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_can_be_seen_on_light_and_on_dark() {
        plot::tests::can_be_seen(&COLOURS);
        plot::tests::can_be_seen(&[LOST, BEHIND]);
    }
}
