//! What the server shows while it runs.

use core::net::SocketAddr;
use core::time::Duration;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::widgets::{Row, Table};

use super::worker::{Shown, Snapshot};
use crate::minute::Minute;
use crate::screen::{Graph, draw_graphs, title};

/// The graphs of the last minute.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) address: SocketAddr,
    pub(crate) threads: u8,
    /// The longest round trip of a client, in microseconds.
    rtt: Minute,
    /// The most bytes that wait at the server for one client.
    queue: Minute,
    /// Bytes of UDP payload.
    sent: Minute,
    received: Minute,
    /// What was sent and received until the last sample.
    before: (u64, u64),
}

impl View {
    pub(crate) fn new(address: SocketAddr, threads: u8) -> Self {
        Self {
            address,
            threads,
            rtt: Minute::default(),
            queue: Minute::default(),
            sent: Minute::default(),
            received: Minute::default(),
            before: (0, 0),
        }
    }

    /// Notes what the threads say at `now`, since the server began.
    pub(crate) fn sample(&mut self, all: &[Snapshot], now: Duration) {
        let sum = |bytes: fn(&Snapshot) -> u64| all.iter().map(bytes).sum::<u64>();
        let (sent, received) = (sum(|one| one.bytes_sent), sum(|one| one.bytes_received));
        self.sent.add(now, sent.saturating_sub(self.before.0));
        self.received
            .add(now, received.saturating_sub(self.before.1));
        self.before = (sent, received);
        for client in all.iter().flat_map(|one| &one.clients) {
            let micros = u64::try_from(client.stats.rtt.as_micros()).unwrap_or(u64::MAX);
            self.rtt.greatest(now, micros);
            self.queue.greatest(now, client.stats.queued_bytes.into());
        }
    }

    /// Draws the head, the graphs, and as many clients as there is room for.
    pub(crate) fn draw(&self, all: &[Snapshot], frame: &mut Frame<'_>) {
        let connected: usize = all.iter().map(|one| one.connected).sum();
        let accepted: u64 = all.iter().map(|one| one.accepted).sum();
        let head = format!(
            "porous serve {}  {connected} connected, {accepted} in all  q: stop",
            self.address
        );
        let rows = [
            Constraint::Length(1),
            Constraint::Length(if frame.area().height >= 20 { 8 } else { 4 }),
            Constraint::Min(0),
        ];
        let [top, graphs, table] = Layout::vertical(rows).areas(frame.area());
        frame.render_widget(title(&head), top);
        draw_graphs(&self.graphs(), graphs, frame);
        draw_clients(all, table, frame);
    }

    fn graphs(&self) -> [Graph; 4] {
        let kilobytes = |minute: &Minute| format!("{:.1} kB/s", thousands(minute.last()));
        let graph = |label, value, minute: &Minute, colour| Graph {
            label,
            value,
            seconds: minute.seconds(),
            colour,
        };
        let rtt = format!("{:.1} ms", thousands(self.rtt.last()));
        let queue = format!("{:.1} kB", thousands(self.queue.last()));
        [
            graph("worst rtt", rtt, &self.rtt, Color::Cyan),
            graph("out", kilobytes(&self.sent), &self.sent, Color::Green),
            graph("in", kilobytes(&self.received), &self.received, Color::Blue),
            graph("queue", queue, &self.queue, Color::Magenta),
        ]
    }
}

fn thousands(value: Option<u64>) -> f64 {
    value.unwrap_or(0) as f64 / 1000.0
}

fn draw_clients(all: &[Snapshot], area: Rect, frame: &mut Frame<'_>) {
    let cells = |client: &Shown| {
        let stats = &client.stats;
        [
            client.address.to_string(),
            format!("{:.1}", stats.rtt.as_secs_f64() * 1e3),
            format!("{:.1}", stats.jitter.as_secs_f64() * 1e3),
            format!("{:.1}", f64::from(stats.loss_sent) / 100.0),
            format!("{:.1}", f64::from(stats.loss_received) / 100.0),
            format!("{:.1}", f64::from(stats.send_rate) / 1e3),
            format!("{:.1}", f64::from(stats.receive_rate) / 1e3),
            (if client.is_sealed { "sealed" } else { "plain" }).to_owned(),
        ]
    };
    let clients = all.iter().flat_map(|one| &one.clients);
    let room = usize::from(area.height).saturating_sub(1);
    let rows = clients.take(room).map(|client| Row::new(cells(client)));
    let head = [
        "client", "rtt ms", "jitter", "% out", "% in", "kB/s out", "in", "seal",
    ];
    let widths = [
        Constraint::Min(15),
        Constraint::Length(7),
        Constraint::Length(7),
        Constraint::Length(6),
        Constraint::Length(6),
        Constraint::Length(8),
        Constraint::Length(8),
        Constraint::Length(6),
    ];
    let head = Row::new(head).style(Style::new().add_modifier(Modifier::UNDERLINED));
    // A narrow terminal has room for the first columns alone.
    frame.render_widget(Table::new(rows, widths).header(head), area);
}

/// The news of all threads, a line each.
pub(crate) fn lines(all: &[Snapshot]) -> String {
    let mut lines = String::new();
    for line in all.iter().flat_map(|one| &one.news) {
        lines.push_str(line);
        lines.push('\n');
    }
    let untold: u64 = all.iter().map(|one| one.untold).sum();
    if untold > 0 {
        lines.push_str(&format!("and {untold} more that came and left\n"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use porous_std::PeerStats;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn all() -> Vec<Snapshot> {
        let mut stats = PeerStats::default();
        stats.rtt = Duration::from_millis(40);
        let client = |port| Shown {
            address: SocketAddr::from(([192, 0, 2, 1], port)),
            is_sealed: true,
            stats,
        };
        let one = Snapshot {
            clients: (1..40).map(client).collect(),
            connected: 39,
            accepted: 50,
            bytes_sent: 123_456,
            ..Snapshot::default()
        };
        vec![one.clone(), one]
    }

    fn picture(width: u16, height: u16) -> String {
        let mut view = View::new(SocketAddr::from(([127, 0, 0, 1], 4000)), 2);
        view.sample(&all(), Duration::from_millis(100));
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| view.draw(&all(), frame)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn clients_and_sums_are_shown_in_80_columns() {
        let text = picture(80, 24);
        for part in [
            "78 connected",
            "40.0 ms",
            "246.9 kB/s",
            "192.0.2.1:1 ",
            "sealed",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_small_terminal_shows_the_sums() {
        let text = picture(40, 6);
        assert!(
            text.contains("40.0 ms") && text.contains("246.9 kB/s"),
            "{text}"
        );
        for (width, height) in [(1, 1), (10, 2), (40, 1)] {
            picture(width, height);
        }
    }

    #[test]
    fn news_are_told_once_and_bounded() {
        let mut snapshot = Snapshot {
            news: vec!["a has connected".to_owned()],
            untold: 3,
            ..Snapshot::default()
        };
        let taken = [snapshot.take()];
        assert_eq!(
            lines(&taken),
            "a has connected\nand 3 more that came and left\n"
        );
        assert_eq!(lines(&[snapshot.take()]), "");
    }
}
