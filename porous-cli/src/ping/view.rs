//! What `porous ping` shows while it runs.

use core::time::Duration;

use porous_metrics::Second;
use porous_std::Mode;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::Color;

use super::session::Session;
use super::stream::Stream;
use crate::screen::{Graph, draw_graphs, title};

/// The head of the lines, without a terminal.
pub(crate) const HEAD: &str = "\
        round trips in ms, those of modes at most  loss in %   kB/s       queue
    s    rtt jitter reliab. unrel. passive   there  back    out     in     kB
";

/// The line of a second that is over.
pub(crate) fn line(session: &Session, second: u64) -> String {
    let stats = &session.stats;
    let mode = |mode| {
        let mut streams = session.streams.iter();
        let stream = streams.find(|stream| stream.mode == mode);
        let micros = stream.and_then(|stream| stream.minute.last());
        micros.map_or_else(
            || "-".to_owned(),
            |micros| format!("{:.1}", micros as f64 / 1e3),
        )
    };
    format!(
        "{second:>5} {:>6.1} {:>6.1} {:>7} {:>6} {:>7}  {:>6.1} {:>5.1} {:>6.1} {:>6.1} {:>6.1}\n",
        millis(stats.rtt),
        millis(stats.jitter),
        mode(Mode::Reliable),
        mode(Mode::Unreliable),
        mode(Mode::Passive),
        f64::from(stats.loss_sent) / 100.0,
        f64::from(stats.loss_received) / 100.0,
        f64::from(stats.send_rate) / 1e3,
        f64::from(stats.receive_rate) / 1e3,
        f64::from(stats.queued_bytes) / 1e3,
    )
}

/// Draws the last minute.
pub(crate) fn draw(session: &Session, head: &str, frame: &mut Frame<'_>) {
    let [top, area] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(frame.area());
    let seconds = session.elapsed().as_secs();
    frame.render_widget(title(&format!("{head}  {seconds} s  q: stop")), top);
    draw_graphs(&graphs(session), area, frame);
}

fn graphs(session: &Session) -> Vec<Graph> {
    let (stats, seconds) = (&session.stats, &session.history);
    let graph = |label, value, colour, of: &dyn Fn(&Second) -> u64| Graph {
        label,
        value,
        seconds: seconds.seconds().map(|second| second.map(of)).collect(),
        colour,
    };
    let percent = |hundredths| format!("{:.1} %", f64::from(hundredths) / 100.0);
    let rate = |bytes| format!("{:.1} kB/s", f64::from(bytes) / 1e3);
    let ms = |time| format!("{:.1} ms", millis(time));
    let (loss_sent, loss_back) = (percent(stats.loss_sent), percent(stats.loss_received));
    let queue = format!("{:.1} kB", f64::from(stats.queued_bytes) / 1e3);
    let mut graphs = vec![
        graph("rtt", ms(stats.rtt), Color::Cyan, &|s| micros(s.rtt)),
        graph("jitter", ms(stats.jitter), Color::Cyan, &|s| {
            micros(s.jitter)
        }),
        graph("loss there", loss_sent, Color::Red, &|s| s.loss_sent.into()),
        graph("loss back", loss_back, Color::Red, &|s| {
            s.loss_received.into()
        }),
    ];
    graphs.extend(session.streams.iter().map(of_mode));
    graphs.extend([
        graph("out", rate(stats.send_rate), Color::Green, &|s| {
            s.bytes_sent
        }),
        graph("in", rate(stats.receive_rate), Color::Blue, &|s| {
            s.bytes_received
        }),
        graph("queue", queue, Color::Magenta, &|s| s.queued_bytes.into()),
    ]);
    graphs
}

/// The longest round trips of a mode.
fn of_mode(stream: &Stream) -> Graph {
    let longest = stream.minute.last().unwrap_or(0);
    Graph {
        label: name(stream.mode),
        value: format!("{:.1} ms", longest as f64 / 1e3),
        seconds: stream.minute.seconds(),
        colour: Color::Yellow,
    }
}

/// The name of a mode.
pub(crate) const fn name(mode: Mode) -> &'static str {
    match mode {
        Mode::Reliable => "reliable",
        Mode::Unreliable => "unreliable",
        Mode::Passive => "passive",
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
