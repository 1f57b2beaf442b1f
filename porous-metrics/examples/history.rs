//! Half a minute of a connection over a line that becomes bad and good again, as a graph of text, in
//! simulated time: `cargo run -p porous-metrics --example history`.
#![expect(clippy::print_stdout, reason = "it prints a graph")]

use core::time::Duration;

use porous_metrics::{History, Second};
use porous_proto::{Config, Mode};
use porous_sim::{LinkConfig, Pair, Seed};

/// One letter a second: from the lowest bar for nothing to the highest for `most`; a space where nothing is
/// known.
fn bars(history: &History, most: u64, value: impl Fn(&Second) -> u64) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let bar = |second: &Second| {
        let height = 7 * value(second).min(most) / most;
        usize::try_from(height).map_or('?', |height| BARS[height])
    };
    let seconds = history.seconds();
    seconds.map(|second| second.map_or(' ', bar)).collect()
}

fn main() {
    let good = LinkConfig::new().delay(Duration::from_millis(20));
    let bad = good.delay(Duration::from_millis(70)).loss(15.0);
    let (client, server) = (Config::client(), Config::new());
    let mut pair = Pair::new(Seed::new(1), good, client, server);
    pair.connect_to_listener();
    let mut history = History::new();
    for tick in 0..600 {
        // Twenty ticks a second; the line is bad from the tenth to the fifteenth second.
        let line = if (200..300).contains(&tick) {
            bad
        } else {
            good
        };
        pair.world.network_mut().set_all(line);
        let sent = pair.send(Pair::A, 0, Mode::Unreliable, vec![7; 200]);
        sent.expect("the connection lasts");
        pair.world.run_for(Duration::from_millis(50));
        let (now, peer) = (pair.world.now(), pair.peer(Pair::A));
        if let Some(peer) = pair.world.host(Pair::A).peer(peer) {
            history.sample(&peer.stats(), now);
        }
    }
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    println!("rtt  0-200 ms {}", bars(&history, 200, |it| millis(it.rtt)));
    println!(
        "loss   0-20 % {}",
        bars(&history, 2000, |it| it.loss_sent.into())
    );
    println!("sent 0-8 kB/s {}", bars(&history, 8000, |it| it.bytes_sent));
    println!(
        "quality 0-100 {}",
        bars(&history, 100, |it| it.quality.into())
    );
}
