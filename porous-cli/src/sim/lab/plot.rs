//! The pictures: for each controller its flows over time, one quantity below the other.

use core::error::Error;
use std::io;

use plotters::coord::Shift;
use plotters::prelude::*;
use porous_sim::lab::{Line, Point};

use super::Run;

/// The width and height of a panel, in pixels.
const PANEL: (u32, u32) = (300, 130);

/// The colours of flows: the controller's first, then those of the flows beside it.
const COLOURS: [RGBColor; 8] = [
    RGBColor(31, 119, 180),
    RGBColor(214, 39, 40),
    RGBColor(44, 160, 44),
    RGBColor(255, 127, 14),
    RGBColor(148, 103, 189),
    RGBColor(140, 86, 75),
    RGBColor(227, 119, 194),
    RGBColor(120, 120, 120),
];

/// A quantity that is drawn, with the name of its axis.
struct Quantity {
    name: &'static str,
    of: fn(&Point) -> f64,
    /// True if all flows of a run have the same value, so that one line shows it.
    is_shared: bool,
}

const QUANTITIES: [Quantity; 4] = [
    Quantity {
        name: "rate, MB/s",
        of: |point| point.rate / 1e6,
        is_shared: false,
    },
    Quantity {
        name: "window, kB",
        of: |point| point.window / 1e3,
        is_shared: false,
    },
    Quantity {
        name: "queue, ms",
        of: |point| point.queue,
        is_shared: true,
    },
    Quantity {
        name: "RTT, ms",
        of: |point| point.rtt,
        is_shared: false,
    },
];

type Panel<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The picture of the runs of one row.
pub(super) fn svg(runs: &[&Run]) -> io::Result<String> {
    let columns = u32::try_from(runs.len()).unwrap_or(u32::MAX);
    let rows = u32::try_from(QUANTITIES.len()).unwrap_or(u32::MAX);
    let mut text = String::new();
    let size = (PANEL.0 * columns, PANEL.1 * rows);
    let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
    let drawn = || -> Result<(), Box<dyn Error>> {
        area.fill(&WHITE)?;
        let panels = area.split_evenly((QUANTITIES.len(), runs.len()));
        for (panels, quantity) in panels.chunks(runs.len()).zip(&QUANTITIES) {
            let top = highest(runs, quantity);
            for (panel, run) in panels.iter().zip(runs) {
                draw(panel, run, quantity, top)?;
            }
        }
        area.present()?;
        Ok(())
    };
    drawn().map_err(|error| io::Error::other(error.to_string()))?;
    drop(area);
    Ok(text)
}

/// The top of the axis that all runs share. A few points lie above it, or one peak would flatten all lines.
fn highest(runs: &[&Run], quantity: &Quantity) -> f64 {
    let lines = runs.iter().flat_map(|run| &run.outcome.lines);
    let mut all: Vec<f64> = lines
        .flat_map(|line| line.points.iter().map(quantity.of))
        .collect();
    all.sort_by(f64::total_cmp);
    let usual = all.get(all.len() * 97 / 100).copied().unwrap_or_default();
    1.2 * usual.max(0.001)
}

fn draw(panel: &Panel<'_>, run: &Run, quantity: &Quantity, top: f64) -> Result<(), Box<dyn Error>> {
    let lines: &[Line] = &run.outcome.lines;
    let end = lines.iter().filter_map(|line| line.points.last());
    let end = end.map(|point| point.time).fold(1.0, f64::max);
    let mut builder = ChartBuilder::on(panel);
    builder
        .margin(6)
        .x_label_area_size(18)
        .y_label_area_size(52);
    // The name of a controller stands above its column only.
    if quantity.name == QUANTITIES[0].name {
        builder.caption(run.controller.name, ("sans-serif", 15));
    }
    let mut chart = builder.build_cartesian_2d(0.0..end, 0.0..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .max_light_lines(0)
        .x_labels(6)
        .y_labels(4)
        .x_label_formatter(&|seconds| format!("{seconds:.0}"))
        .y_label_formatter(&|value| {
            if top < 10.0 {
                format!("{value:.1}")
            } else {
                format!("{value:.0}")
            }
        })
        .y_desc(quantity.name)
        .label_style(("sans-serif", 12))
        .axis_desc_style(("sans-serif", 13))
        .draw()?;
    let shown = if quantity.is_shared { 1 } else { COLOURS.len() };
    for (line, colour) in lines.iter().zip(COLOURS).take(shown) {
        let points = line
            .points
            .iter()
            // A peak above the axis is drawn at its top.
            .map(|point| (point.time, (quantity.of)(point).min(top)));
        let points: Vec<(f64, f64)> = points.collect();
        chart.draw_series([PathElement::new(points, colour)])?;
    }
    Ok(())
}
