//! The plot: a bar for each mean, and a line above it up to the 95th percentile.

use std::error::Error;
use std::io;

use plotters::prelude::*;

use super::report::title;
use super::{Bar, JITTERS, SERVICES, Service, VARIANTS};

const SIZE: (u32, u32) = (900, 360);

/// The colours of the variants.
const COLOURS: [RGBColor; 4] = [
    RGBColor(120, 120, 120),
    RGBColor(31, 119, 180),
    RGBColor(214, 139, 38),
    RGBColor(44, 160, 44),
];

/// The width of a bar, where groups are 1 apart.
const WIDTH: f64 = 0.2;

pub(super) fn svg(bars: &[Bar]) -> io::Result<String> {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
    let highest = bars.iter().map(|bar| bar.p95_ms).fold(0.0, f64::max);
    let drawn = || -> Result<(), Box<dyn Error>> {
        area.fill(&WHITE)?;
        let panels = area.split_evenly((1, SERVICES.len()));
        for (panel, service) in panels.iter().zip(SERVICES) {
            draw(panel, service, bars, highest * 1.1)?;
        }
        area.present()?;
        Ok(())
    };
    drawn().map_err(|error| io::Error::other(error.to_string()))?;
    drop(area);
    Ok(text)
}

type Panel<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn draw(panel: &Panel<'_>, service: Service, bars: &[Bar], top: f64) -> Result<(), Box<dyn Error>> {
    let groups = JITTERS.len() as f64;
    let mut chart = ChartBuilder::on(panel)
        .caption(title(service), ("sans-serif", 18))
        .margin(8)
        .x_label_area_size(36)
        .y_label_area_size(48)
        .build_cartesian_2d(-0.5..groups - 0.5, 0.0..top)?;
    let label = |at: &f64| {
        let jitter = JITTERS.get(at.round() as usize);
        jitter.map_or(String::new(), u64::to_string)
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(JITTERS.len())
        .x_label_formatter(&label)
        .x_desc("jitter, ms")
        .y_label_formatter(&|ms| format!("{ms:.0}"))
        .y_desc("mean and 95th percentile, ms")
        .draw()?;
    for ((index, variant), colour) in VARIANTS.iter().enumerate().zip(COLOURS) {
        let of = bars.iter().filter(|bar| bar.service == service);
        let of = of.filter(|bar| bar.variant == variant.name).enumerate();
        let left =
            |group: usize| group as f64 + WIDTH * (index as f64 - VARIANTS.len() as f64 / 2.0);
        let rectangles = of.clone().map(|(group, bar)| {
            let corners = [(left(group), 0.0), (left(group) + WIDTH, bar.mean_ms)];
            Rectangle::new(corners, colour.filled())
        });
        chart
            .draw_series(rectangles)?
            .label(variant.name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled()));
        let lines = of.map(|(group, bar)| {
            let middle = left(group) + WIDTH / 2.0;
            PathElement::new([(middle, bar.mean_ms), (middle, bar.p95_ms)], BLACK)
        });
        chart.draw_series(lines)?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .border_style(BLACK)
        .background_style(WHITE)
        .draw()?;
    Ok(())
}
