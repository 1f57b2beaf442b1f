//! The chart: instructions against the length of messages, the clients of a server, and channels.

use std::error::Error;
use std::io;
use std::iter::once;
use std::path::Path;
use std::thread;

use clap::ValueEnum as _;
use plotters::coord::Shift;
use plotters::prelude::*;
use porous_loads::node::Protocol;

use super::protocols::PROTOCOLS;
use super::row::instructions_of_unit;
use super::sweep::Sweep;

const SIZE: (u32, u32) = (1140, 380);

/// The colours of the protocols.
const COLOURS: [RGBColor; PROTOCOLS.len()] = [
    RGBColor(31, 119, 180),
    RGBColor(120, 120, 120),
    RGBColor(214, 39, 40),
    RGBColor(44, 160, 44),
    RGBColor(148, 103, 189),
];

/// The points of one protocol: what changes, and the instructions for each unit.
type Line = Vec<(f64, f64)>;

/// Counts, and writes the chart.
pub(super) fn write(file: &Path) -> io::Result<()> {
    let lines: Vec<_> = Sweep::ALL
        .into_iter()
        .map(|sweep| Ok((sweep, measure(sweep)?)))
        .collect::<io::Result<_>>()?;
    let mut text = String::new();
    draw(&lines, &mut text).map_err(|error| io::Error::other(error.to_string()))?;
    std::fs::write(file, text)
}

/// A line of each protocol. Counts do not depend on what else runs, so all protocols run at once.
fn measure(sweep: Sweep) -> io::Result<Vec<Line>> {
    thread::scope(|scope| {
        let lines = PROTOCOLS.each_ref().map(|protocol| {
            let points = move || points(sweep, protocol);
            scope.spawn(points)
        });
        let joined = lines.into_iter().map(|line| line.join().expect("a line"));
        joined.collect()
    })
}

fn points(sweep: Sweep, protocol: &Protocol) -> io::Result<Line> {
    let name = sweep.to_possible_value().expect("a name");
    let possible = sweep.points().iter().copied();
    possible
        .filter(|&at| sweep.is_possible(at, protocol))
        .map(|at| {
            let sweep = ["--sweep", name.get_name(), "--at"].map(String::from);
            let task = [&sweep[..], &[at.to_string()]].concat();
            Ok((at as f64, instructions_of_unit(&task, protocol)?))
        })
        .collect()
}

fn draw(lines: &[(Sweep, Vec<Line>)], text: &mut String) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let panels = area.split_evenly((1, lines.len()));
    for (panel, (sweep, lines)) in panels.iter().zip(lines) {
        draw_panel(panel, *sweep, lines)?;
    }
    area.present()?;
    Ok(())
}

fn draw_panel(
    panel: &DrawingArea<SVGBackend<'_>, Shift>,
    sweep: Sweep,
    lines: &[Line],
) -> Result<(), Box<dyn Error>> {
    let [title, unit] = sweep.titles();
    let xs = sweep.points().iter().map(|&at| at as f64);
    let most = xs.fold(1.0, f64::max);
    let highest = lines.iter().flatten().map(|point| point.1);
    let highest = highest.fold(1.0, f64::max);
    let least = sweep.points()[0] as f64;
    let mut chart = ChartBuilder::on(panel)
        .margin(8)
        .x_label_area_size(36)
        .y_label_area_size(64)
        .build_cartesian_2d(
            (least..most).log_scale(),
            (100.0..highest * 2.0).log_scale(),
        )?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .x_desc(title)
        .y_label_formatter(&|y| format!("{y:.0}"))
        .y_desc(format!("instructions for each {unit}"))
        .draw()?;
    for ((line, protocol), colour) in lines.iter().zip(&PROTOCOLS).zip(COLOURS) {
        if line.is_empty() {
            continue;
        }
        chart
            .draw_series(once(PathElement::new(line.clone(), colour.stroke_width(2))))?
            .label(protocol.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 14, y)], colour.stroke_width(2)));
        let dots = line
            .iter()
            .map(|&point| Circle::new(point, 3, colour.filled()));
        chart.draw_series(dots)?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerLeft)
        .border_style(BLACK)
        .background_style(WHITE)
        .draw()?;
    Ok(())
}
