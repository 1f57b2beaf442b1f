//! The terminal while a command draws on it, and the sparklines that it draws.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::io::{self, IsTerminal};

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Sparkline, SparklineBar};
use ratatui::{DefaultTerminal, Frame};

/// Between two pictures: often enough for the eye.
pub(crate) const PICTURE: Duration = Duration::from_millis(200);

/// The columns of a label and of a value beside a sparkline.
const LABEL: u16 = 11;
const VALUE: u16 = 12;

/// Whether the terminal is in the hands of a [`Screen`].
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The whole terminal, until it is dropped.
#[derive(Debug)]
pub(crate) struct Screen(DefaultTerminal);

impl Screen {
    /// Takes the terminal. `None` if there is none, or one that shows lines alone.
    pub(crate) fn take() -> Option<Self> {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if !io::stdout().is_terminal() || (cfg!(unix) && is_dumb) {
            return None;
        }
        let terminal = ratatui::try_init().ok()?;
        IS_TAKEN.store(true, Ordering::Relaxed);
        Some(Self(terminal))
    }

    /// Draws a picture. Returns false if the terminal takes none any more.
    pub(crate) fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> bool {
        self.0.draw(picture).is_ok()
    }

    /// Whether the user has pressed a key to stop. In this mode of a terminal Ctrl-C is a key and no signal.
    pub(crate) fn asks_to_stop() -> bool {
        while event::poll(Duration::ZERO).unwrap_or(false) {
            match event::read() {
                Ok(Event::Key(key)) if is_stop(key) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        false
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back to the shell, if it was taken.
pub(crate) fn give_back() {
    if IS_TAKEN.swap(false, Ordering::Relaxed) {
        // A terminal that is gone needs nothing any more.
        let _ = ratatui::try_restore();
    }
}

fn is_stop(key: KeyEvent) -> bool {
    let is_ctrl_c = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    let is_end = matches!(key.code, KeyCode::Char('q') | KeyCode::Esc);
    key.kind != KeyEventKind::Release && (is_ctrl_c || is_end)
}

/// The head of a picture.
pub(crate) fn title(text: &str) -> Paragraph<'_> {
    Paragraph::new(text).style(Style::new().add_modifier(Modifier::BOLD))
}

/// One quantity of the last minute.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) label: &'static str,
    /// The current value, with its unit.
    pub(crate) value: String,
    /// A value for each second, the oldest first; `None` for a second without.
    pub(crate) seconds: Vec<Option<u64>>,
    /// Not shown if the user wants none by `NO_COLOR`, which crossterm heeds.
    pub(crate) colour: Color,
}

/// Draws graphs, each with the same number of lines, as many as there is room for. Those that do not fit are
/// left out from the end.
pub(crate) fn draw_graphs(graphs: &[Graph], area: Rect, frame: &mut Frame<'_>) {
    let count = u16::try_from(graphs.len()).unwrap_or(u16::MAX).max(1);
    let height = (area.height / count).clamp(1, 3);
    for (graph, top) in graphs.iter().zip(0..) {
        let top = height.saturating_mul(top);
        if top + height > area.height {
            break;
        }
        let row = Rect::new(area.x, area.y + top, area.width, height);
        draw_graph(graph, row, frame);
    }
}

fn draw_graph(graph: &Graph, row: Rect, frame: &mut Frame<'_>) {
    let columns = [
        Constraint::Length(LABEL),
        Constraint::Length(VALUE),
        Constraint::Min(0),
    ];
    let [label, value, line] = Layout::horizontal(columns).areas(row);
    frame.render_widget(Paragraph::new(graph.label), label);
    let text = Line::from(format!("{} ", graph.value)).right_aligned();
    frame.render_widget(Paragraph::new(text), value);
    // The newest seconds, if there is no room for all.
    let first = graph.seconds.len().saturating_sub(line.width.into());
    let bars = graph.seconds[first..].iter().copied();
    let sparkline = Sparkline::default()
        .data(bars.map(SparklineBar::from))
        .style(Style::new().fg(graph.colour));
    frame.render_widget(sparkline, line);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn graph(label: &'static str) -> Graph {
        Graph {
            label,
            value: "12.3 ms".to_owned(),
            seconds: (0..60).map(|n| (n != 30).then_some(n)).collect(),
            colour: Color::Cyan,
        }
    }

    fn picture(width: u16, height: u16, graphs: &[Graph]) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal
            .draw(|frame| draw_graphs(graphs, frame.area(), frame))
            .unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn a_narrow_terminal_shows_values_and_the_newest_seconds() {
        let text = picture(40, 2, &[graph("rtt"), graph("jitter")]);
        assert!(text.contains("rtt") && text.contains("jitter"), "{text}");
        assert_eq!(text.matches("12.3 ms").count(), 2, "{text}");
        assert!(text.contains('█'), "{text}");
    }

    #[test]
    fn graphs_without_room_are_left_out() {
        let graphs = ["a", "b", "c"].map(graph);
        assert_eq!(picture(80, 2, &graphs).matches("12.3 ms").count(), 2);
        for (width, height) in [(1, 1), (5, 1), (24, 1), (200, 60)] {
            picture(width, height, &graphs);
        }
        picture(80, 24, &[]);
    }

    #[test]
    fn ctrl_c_and_q_stop() {
        let key = KeyEvent::new;
        assert!(is_stop(key(KeyCode::Char('c'), KeyModifiers::CONTROL)));
        assert!(is_stop(key(KeyCode::Char('q'), KeyModifiers::NONE)));
        assert!(!is_stop(key(KeyCode::Char('c'), KeyModifiers::NONE)));
    }
}
