//! The arena in a terminal, as the first bot's client shows it.

use core::time::Duration;
use std::env;
use std::io;

use porous_arena::{Bodies, Body, Client, Happening, SIZE};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::canvas::{Canvas, Context};
use ratatui::widgets::{Block, Paragraph};
use ratatui::{DefaultTerminal, Frame};

use crate::session::Session;

/// The width of the scores beside the arena, and the height of the news below it.
const SCORES: u16 = 24;
const NEWS: u16 = 6;

/// A glyph for each second direction, from east by south.
const AIMS: [&str; 8] = ["→", "↘", "↓", "↙", "←", "↖", "↑", "↗"];

/// The whole terminal, until it is dropped.
pub(crate) struct Screen(DefaultTerminal);

impl Screen {
    /// Takes the terminal. `None` if it shows lines alone.
    pub(crate) fn take() -> Option<Self> {
        let is_dumb = cfg!(unix) && env::var_os("TERM").is_none_or(|term| term == "dumb");
        match is_dumb {
            true => None,
            false => ratatui::try_init().ok().map(Self),
        }
    }

    /// Draws the game. Returns false if the terminal takes no more.
    pub(crate) fn draw(&mut self, session: &Session) -> bool {
        let Some(client) = session.games().next() else {
            return false;
        };
        self.0.draw(|frame| draw(client, frame)).is_ok()
    }

    /// Whether the user has pressed `q`, Esc or Ctrl-C, which is a key in this mode of a terminal.
    pub(crate) fn asks_to_stop(&self) -> bool {
        let next = || -> io::Result<Option<Event>> {
            match event::poll(Duration::ZERO)? {
                true => event::read().map(Some),
                false => Ok(None),
            }
        };
        while let Ok(Some(event)) = next() {
            if matches!(event, Event::Key(key) if is_stop(key)) {
                return true;
            }
        }
        false
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing any more.
        let _ = ratatui::try_restore();
    }
}

fn is_stop(key: KeyEvent) -> bool {
    let is_ctrl_c = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    let is_end = matches!(key.code, KeyCode::Char('q') | KeyCode::Esc);
    key.kind != KeyEventKind::Release && (is_ctrl_c || is_end)
}

fn draw(client: &Client, frame: &mut Frame<'_>) {
    let rows = [Constraint::Min(5), Constraint::Length(NEWS)];
    let [top, below] = Layout::vertical(rows).areas(frame.area());
    let columns = [Constraint::Min(10), Constraint::Length(SCORES)];
    let [arena, beside] = Layout::horizontal(columns).areas(top);
    draw_arena(client, arena, frame);
    let scores = Paragraph::new(scores(client, beside.height)).block(Block::bordered());
    frame.render_widget(scores, beside);
    let news = Paragraph::new(news(client)).block(Block::bordered().title(" q leaves "));
    frame.render_widget(news, below);
}

fn draw_arena(client: &Client, area: Rect, frame: &mut Frame<'_>) {
    let [width, height] = SIZE.map(f64::from);
    let (you, seen) = (client.you(), client.view());
    let canvas = Canvas::default()
        .block(Block::bordered().title(" arena "))
        .x_bounds([0.0, width])
        .y_bounds([0.0, height])
        .paint(|context| paint(context, you, &seen));
    frame.render_widget(canvas, area);
}

fn paint(context: &mut Context<'_>, you: Option<u8>, seen: &Bodies) {
    for (number, body) in (0..).zip(seen) {
        if let Some(body) = body {
            let [x, y] = body.at.map(f64::from);
            // On the canvas, up is more.
            context.print(x, f64::from(SIZE[1]) - y, glyph(body, you == Some(number)));
        }
    }
}

fn glyph(body: &Body, is_you: bool) -> Span<'static> {
    let colour = match (is_you, body.health) {
        (_, 0) => Color::DarkGray,
        (true, _) => Color::Cyan,
        (false, 1..=40) => Color::Red,
        (false, _) => Color::Green,
    };
    let aim = AIMS[usize::from(body.aim / 2) % AIMS.len()];
    let shown = if body.health == 0 { "×" } else { aim };
    Span::styled(shown, Style::new().fg(colour))
}

/// The best players, as many as there are lines for.
fn scores(client: &Client, height: u16) -> Vec<Line<'static>> {
    let mut scores = client.scores().to_vec();
    scores.sort_by_key(|it| (core::cmp::Reverse(it.felled), it.fallen, it.player));
    let line = |it: &porous_arena::Score| {
        let mark = if client.you() == Some(it.player) {
            "you"
        } else {
            ""
        };
        Line::from(format!(
            "{:>3} {mark:<4}{:>5}{:>7}",
            it.player, it.felled, it.fallen
        ))
    };
    let head = Line::from("    felled / fallen");
    let rest = scores.iter().map(line);
    core::iter::once(head)
        .chain(rest)
        .take(height.saturating_sub(2).into())
        .collect()
}

fn news(client: &Client) -> Vec<Line<'static>> {
    let all: Vec<&Happening> = client.news().collect();
    let newest = all.len().saturating_sub(usize::from(NEWS) - 2);
    all[newest..]
        .iter()
        .map(|it| Line::from(it.to_string()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use porous_arena::{Input, Kind, Server};
    use porous_std::sim::Seed;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    /// A client that has seen two players, one of them its own.
    fn client() -> Client {
        let (mut server, mut client) = (Server::new(Seed::new(1)), Client::new());
        let you = server.enter().unwrap();
        server.enter().unwrap();
        for _ in 0..120 {
            client.step(Input::IDLE);
            for packet in server.step().iter().filter(|packet| packet.to == you) {
                match packet.kind {
                    Kind::Snapshot { .. } => client.receive_snapshot(&packet.bytes),
                    Kind::Told => client.receive_told(&packet.bytes),
                    Kind::Scores => client.receive_scores(&packet.bytes),
                    Kind::Inputs => {}
                }
            }
        }
        client
    }

    #[test]
    fn all_players_and_their_scores_are_shown() {
        let client = client();
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| draw(&client, frame)).unwrap();
        let shown = terminal.backend().to_string();
        let players = shown.chars().filter(|c| AIMS.concat().contains(*c)).count();
        assert_eq!(players, 2, "{shown}");
        assert!(shown.contains("  0 you     0      0"), "{shown}");
    }

    #[test]
    fn a_small_terminal_shows_what_it_can() {
        for (width, height) in [(1, 1), (10, 3), (24, 6), (300, 100)] {
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            terminal.draw(|frame| draw(&client(), frame)).unwrap();
        }
    }

    #[test]
    fn what_happened_is_told() {
        let hit = |health| Happening::Hit {
            by: 1,
            whom: 2,
            health,
        };
        assert_eq!(hit(40).to_string(), "1 hits 2: 40 left");
        assert_eq!(hit(0).to_string(), "1 has felled 2");
        assert_eq!(Happening::Rises(7).to_string(), "7 is back");
    }

    #[test]
    fn q_escape_and_ctrl_c_stop() {
        assert!(is_stop(KeyEvent::new(
            KeyCode::Char('c'),
            KeyModifiers::CONTROL
        )));
        assert!(is_stop(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE)));
        assert!(!is_stop(KeyEvent::new(
            KeyCode::Char('c'),
            KeyModifiers::NONE
        )));
    }
}
