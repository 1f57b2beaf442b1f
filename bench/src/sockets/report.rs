//! The table.

use core::fmt::Write as _;

use super::load::{Load, Unit};
use super::meter::Part;
use super::program::Pair;

/// The rounds of one load and program.
pub(super) struct Row {
    pub(super) load: Load,
    pub(super) program: &'static str,
    pub(super) rounds: Vec<Pair>,
}

/// The least and the median of some figures.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Figures {
    best: f64,
    median: f64,
}

impl Figures {
    fn of(figures: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = figures.collect();
        sorted.sort_by(f64::total_cmp);
        Self {
            best: sorted[0],
            median: sorted[sorted.len() / 2],
        }
    }
}

/// The processor time of each process by the unit of the load: the server's, and the clients'.
fn costs(load: Load, pair: &Pair) -> [f64; 2] {
    let shape = load.shape();
    [pair.server, pair.clients].map(|part| {
        let seconds = part.processor.as_secs_f64();
        let read = pair.server.read as f64;
        match load.unit() {
            Unit::MillionMessages => seconds / (read / 1e6),
            Unit::Gigabyte => seconds / (read * shape.up as f64 / 1e9),
            Unit::ClientAndSecond => {
                seconds * 1e3 / (shape.clients as f64 * part.elapsed.as_secs_f64())
            }
        }
    })
}

impl Row {
    fn all(&self) -> Figures {
        let sum = |pair: &Pair| costs(self.load, pair).iter().sum();
        Figures::of(self.rounds.iter().map(sum))
    }

    fn server(&self) -> Figures {
        Figures::of(self.rounds.iter().map(|pair| costs(self.load, pair)[0]))
    }

    /// Messages a second that were read. Where the server sends none, its clients read its reports alone,
    /// which are no messages of the load.
    fn rate(&self) -> f64 {
        let rate = |part: Part| part.read as f64 / part.elapsed.as_secs_f64();
        let both_send = self.load.shape().down > 0;
        let rates = self.rounds.iter().map(|pair| {
            let down = if both_send { rate(pair.clients) } else { 0.0 };
            rate(pair.server) + down
        });
        Figures::of(rates).median
    }
}

/// The table, with these lines above it.
pub(super) fn table(rows: &[Row], head: &str) -> String {
    let mut text = format!(
        "# Sockets\n\nWhat the rows and columns mean: see `bench/README.md`, \"Sockets\".\n\n{head}\n\n\
         | load | processor time | program | best | to enet | median | to enet | server, best | to enet | \
         messages a second |\n\
         | --- | --- | --- | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    for row in rows {
        let beside = rows
            .iter()
            .find(|other| other.load == row.load && other.program == "enet");
        // Larger is better: the time of ENet goes above.
        let ratio = |of: &dyn Fn(&Row) -> f64| {
            beside.map_or(String::new(), |other| format!("{:.2}", of(other) / of(row)))
        };
        let (all, server) = (row.all(), row.server());
        // To write to a string never fails.
        _ = writeln!(
            text,
            "| {} | {} | {} | {:.3} | {} | {:.3} | {} | {:.3} | {} | {:.0} |",
            row.load.title(),
            row.load.unit().title(),
            row.program,
            all.best,
            ratio(&|row| row.all().best),
            all.median,
            ratio(&|row| row.all().median),
            server.best,
            ratio(&|row| row.server().best),
            row.rate(),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    fn row(program: &'static str, load: Load, milliseconds: &[u64]) -> Row {
        let part = |milliseconds| Part {
            processor: Duration::from_millis(milliseconds),
            elapsed: Duration::from_secs(2),
            read: 500_000,
        };
        let pair = |&milliseconds| Pair {
            server: part(milliseconds),
            clients: part(3 * milliseconds),
        };
        Row {
            load,
            program,
            rounds: milliseconds.iter().map(pair).collect(),
        }
    }

    #[test]
    fn a_program_that_takes_half_the_time_of_enet_has_a_ratio_of_two() {
        let load = Load::ReliableSaturated;
        let rows = [
            row("porous", load, &[200, 100, 300]),
            row("enet", load, &[200, 600, 500]),
        ];
        let text = table(&rows, "");
        let wanted = "| porous | 0.800 | 2.00 | 1.600 | 2.50 | 0.200 | 2.00 | 250000 |\n";
        assert!(text.contains(wanted), "{text}");
    }

    #[test]
    fn a_row_without_enet_has_no_ratio() {
        let text = table(&[row("porous", Load::Clients, &[100])], "");
        // 400 ms of 200 clients in 2 s, and the messages that both read.
        let wanted = "| porous | 1.000 |  | 1.000 |  | 0.250 |  | 500000 |\n";
        assert!(text.contains(wanted), "{text}");
    }
}
