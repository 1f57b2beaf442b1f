//! The pictures: for each controller a row of panels, in which its flows are drawn over time.

use core::error::Error;

use plotters::coord::Shift;
use plotters::prelude::*;
use porous_sim::lab::{Line, Point, Row};

use super::Run;
use crate::plot;

/// The width and height of a panel, in pixels.
const PANEL: (u32, u32) = (290, 140);

/// The height of the name of a controller and of the legend above its panels, and that of a line of the title.
const HEADING: u32 = 24;
const TITLE: u32 = 22;

/// The most characters of a line of the title.
const COLUMNS: usize = 165;

/// The ticks of the axes, at most.
const TIMES: usize = 6;
const VALUES: usize = 4;

/// The colours of flows: the controller's first, then those of the flows beside it.
const COLOURS: [RGBColor; 7] = [
    RGBColor(31, 119, 180),
    RGBColor(214, 39, 40),
    RGBColor(44, 150, 44),
    RGBColor(225, 110, 10),
    RGBColor(148, 103, 189),
    RGBColor(160, 100, 80),
    RGBColor(210, 90, 175),
];

/// The colour of what all flows share.
const SHARED: RGBColor = RGBColor(120, 120, 120);

/// A quantity that is drawn, with the name of its axis.
struct Quantity {
    name: &'static str,
    /// The value at a point, if it has one.
    of: fn(&Point) -> Option<f64>,
    /// True if all flows of a run have the same value, so that one line shows it.
    is_shared: bool,
}

const QUANTITIES: [Quantity; 4] = [
    Quantity {
        name: "rate, MB/s",
        of: |point| Some(point.rate / 1e6),
        is_shared: false,
    },
    Quantity {
        name: "window, kB",
        of: |point| Some(point.window? / 1e3),
        is_shared: false,
    },
    Quantity {
        name: "queue, ms",
        of: |point| Some(point.queue),
        is_shared: true,
    },
    Quantity {
        name: "RTT, ms",
        of: |point| point.rtt,
        is_shared: false,
    },
];

type Panel<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn<T = ()> = Result<T, Box<dyn Error>>;

/// The picture of the runs of one row.
pub(super) fn svg(row: &Row, runs: &[&Run]) -> Drawn<String> {
    let about = lines(row.about);
    let head = TITLE * (1 + u32::try_from(about.len())?);
    let bands = u32::try_from(runs.len())?;
    let columns = u32::try_from(QUANTITIES.len())?;
    let size = (PANEL.0 * columns, head + (HEADING + PANEL.1) * bands);
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
    let drawn = || -> Drawn {
        area.fill(&WHITE)?;
        let (title, bands) = area.split_vertically(head);
        title.draw_text(row.name, &("sans-serif", 19).into_font().into(), (8, 4))?;
        for (line, y) in about.iter().zip((26..).step_by(18)) {
            title.draw_text(line, &("sans-serif", 14).into_font().into(), (8, y))?;
        }
        let tops = QUANTITIES
            .each_ref()
            .map(|quantity| highest(runs, quantity));
        for (band, run) in bands.split_evenly((runs.len(), 1)).iter().zip(runs) {
            let (heading, panels) = band.split_vertically(HEADING);
            legend(&heading, run)?;
            let panels = panels.split_evenly((1, QUANTITIES.len()));
            for ((panel, quantity), top) in panels.iter().zip(&QUANTITIES).zip(tops) {
                draw(panel, &run.outcome.lines, quantity, top)?;
            }
        }
        area.present()?;
        Ok(())
    };
    drawn()?;
    drop(area);
    let title = format!("{}: {}", row.name, row.about);
    Ok(plot::finished(&text, &title))
}

/// Words in lines that fit the picture.
fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= COLUMNS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The top of the axis that all runs share. A few points lie above it, or one peak would flatten all lines.
fn highest(runs: &[&Run], quantity: &Quantity) -> f64 {
    let lines = runs.iter().flat_map(|run| &run.outcome.lines);
    let mut all: Vec<f64> = lines
        .flat_map(|line| line.points.iter().filter_map(quantity.of))
        .collect();
    all.sort_by(f64::total_cmp);
    let usual = all.get(all.len() * 97 / 100).copied();
    // An axis on which all is 0 ends at 1.
    usual
        .filter(|&usual| usual > 0.0)
        .map_or(1.0, |usual| 1.2 * usual)
}

/// The name of the controller and, if there are several flows, which curve is whose.
fn legend(heading: &Panel<'_>, run: &Run) -> Drawn {
    let name = run.controller.name;
    heading.draw_text(name, &("sans-serif", 16).into_font().into(), (8, 5))?;
    let all = &run.outcome.lines;
    if all.len() < 2 {
        return Ok(());
    }
    let small = || ("sans-serif", 13).into_font();
    let mut x = 120;
    for (index, (line, colour)) in all.iter().zip(COLOURS).enumerate() {
        let name = numbered(all, index, &line.name);
        heading.draw(&PathElement::new(
            [(x, 13), (x + 18, 13)],
            colour.stroke_width(2),
        ))?;
        heading.draw_text(&name, &small().into(), (x + 24, 7))?;
        x += 44 + 7 * i32::try_from(name.len())?;
    }
    if let Some(more) = all
        .len()
        .checked_sub(COLOURS.len())
        .filter(|&more| more > 0)
    {
        heading.draw_text(
            &format!("and {more} more, not drawn"),
            &small().into(),
            (x, 7),
        )?;
    }
    Ok(())
}

/// The name of a flow: that of its controller, with a number if there are others of it.
fn numbered(all: &[Line], index: usize, name: &str) -> String {
    let same = |lines: &[Line]| lines.iter().filter(|line| line.name == name).count();
    if same(all) > 1 {
        format!("{name} {}", same(&all[..=index]))
    } else {
        name.to_owned()
    }
}

fn draw(panel: &Panel<'_>, lines: &[Line], quantity: &Quantity, top: f64) -> Drawn {
    let end = lines.iter().filter_map(|line| line.points.last());
    let end = end.map(|point| point.time).reduce(f64::max).unwrap_or(1.0);
    let (time, value) = (0.0..end, 0.0..top);
    let decimals = [plot::decimals(&time, TIMES), plot::decimals(&value, VALUES)];
    let mut chart = ChartBuilder::on(panel)
        .margin(6)
        // The last tick stands half beyond the axis.
        .margin_right(12)
        .x_label_area_size(32)
        .y_label_area_size(56)
        .build_cartesian_2d(time, value)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .max_light_lines(0)
        .x_labels(TIMES)
        .y_labels(VALUES)
        .x_label_formatter(&|seconds| format!("{seconds:.*}", decimals[0]))
        .y_label_formatter(&|value| format!("{value:.*}", decimals[1]))
        .x_desc("time, s")
        .y_desc(quantity.name)
        .label_style(("sans-serif", 13))
        .axis_desc_style(("sans-serif", 14))
        .draw()?;
    let flows = lines.iter().zip(COLOURS);
    let shared = lines.iter().take(1).map(|line| (line, SHARED));
    let curves: Vec<(&Line, RGBColor)> = if quantity.is_shared {
        shared.collect()
    } else {
        flows.collect()
    };
    for (line, colour) in curves {
        // A point without a value parts a curve.
        for part in line.points.split(|point| (quantity.of)(point).is_none()) {
            // A peak above the axis is drawn at its top.
            let point = |point: &Point| Some((point.time, (quantity.of)(point)?.min(top)));
            let points: Vec<(f64, f64)> = part.iter().filter_map(point).collect();
            chart.draw_series([PathElement::new(points, colour)])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_can_be_seen_on_light_and_on_dark() {
        plot::tests::can_be_seen(&COLOURS);
        plot::tests::can_be_seen(&[SHARED]);
    }

    #[test]
    fn flows_of_one_controller_are_numbered() {
        let line = |name: &str| Line {
            name: name.to_owned(),
            points: Vec::new(),
        };
        let all = ["lean", "tcp-reno", "lean"].map(line);
        let names: Vec<String> = (0..)
            .zip(&all)
            .map(|(n, it)| numbered(&all, n, &it.name))
            .collect();
        assert_eq!(names, ["lean 1", "tcp-reno", "lean 2"]);
    }
}
