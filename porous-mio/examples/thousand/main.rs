//! A thousand clients, each with a socket of its own, and their server, all in one event loop of one
//! thread. First the clients send packets, and the answers are checked. Then they are silent, and the
//! cost of silence is measured.
#![expect(clippy::cast_precision_loss, reason = "what is shown has three digits")]

extern crate alloc;

mod clock;
mod hosts;
mod machine;
mod talk;

use core::error::Error;
use core::time::Duration;
use std::io::{self, Write, stdout};

use clap::Parser;
use porous_mio::{Config, Listen, MioHost, Mode, Priority};

use crate::hosts::{Hosts, Turns};
use crate::talk::Talk;

/// The most that each thousand silent clients and their server may cost, in percent of one core, with
/// optimisations.
const IDLE_PERCENT: f64 = 10.0;

/// The time after the last packet in which hosts still measure round-trip times.
const SETTLE: Duration = Duration::from_secs(4);

/// A thousand clients and their server in one event loop.
///
/// The exit status is 0 if every reliable packet came back once, in order and intact, no other came
/// twice, and the silence cost little.
#[derive(Debug, Parser)]
struct Args {
    /// Clients
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    clients: u32,
    /// Clients that send; the others are silent. One core is not enough for all ten thousand and their server
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..))]
    active: u32,
    /// Seconds in all; the clients send for a third of them
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(3..=3600))]
    seconds: u64,
}

/// A moment, and the counts until then.
struct Mark {
    time: Duration,
    computed: Option<Duration>,
    turns: Turns,
    datagrams: u64,
}

impl Mark {
    fn now(hosts: &Hosts) -> Self {
        Self {
            time: hosts.elapsed(),
            computed: clock::computed(),
            turns: hosts.turns,
            datagrams: hosts.iter().map(|host| host.stats().datagrams_sent).sum(),
        }
    }

    /// Prints the cost of the time since this moment. Returns it in percent of one core, if the system can
    /// tell.
    fn report(&self, hosts: &Hosts, what: &str) -> io::Result<Option<f64>> {
        let end = Self::now(hosts);
        let seconds = (end.time - self.time).as_secs_f64();
        let rate = |before: u64, after: u64| (after - before) as f64 / seconds;
        let cost = self.computed.zip(end.computed);
        let percent = cost.map(|(from, to)| (to - from).as_secs_f64() / seconds * 100.0);
        writeln!(
            stdout(),
            "{what:<8} {seconds:5.1} s: {:5.1} % of a core; a second {:.0} datagrams, {:.0} \
             wake-ups, {:.0} events, {:.0} steps",
            percent.unwrap_or(f64::NAN),
            rate(self.datagrams, end.datagrams),
            rate(self.turns.wakeups, end.turns.wakeups),
            rate(self.turns.events, end.turns.events),
            rate(self.turns.steps, end.turns.steps),
        )?;
        Ok(percent)
    }
}

fn open(args: &Args) -> Result<(Hosts, Talk), Box<dyn Error>> {
    let two = [Priority::High, Priority::Low];
    let mut hosts = Hosts::new()?;
    let config = Config::new().channels(&two)?.max_peers(args.clients);
    let mut server = MioHost::bind("127.0.0.1:0", config)?;
    server.listen(Listen::Open)?;
    let to = server.local_addr()?;
    hosts.add(server)?;

    let mut clients = Vec::new();
    for _ in 0..args.clients {
        let client = MioHost::bind("127.0.0.1:0", Config::client().channels(&two)?)?;
        let index = hosts.add(client)?;
        let peer = hosts.with(index, |host| host.connect(to))?;
        clients.push((index, peer));
    }
    Ok((hosts, Talk::new(clients.into_iter())))
}

/// Turns the loop until this holds, for at most 20 s.
fn until(
    hosts: &mut Hosts,
    talk: &mut Talk,
    what: &str,
    holds: impl Fn(&Talk) -> bool,
) -> io::Result<()> {
    let begun = hosts.elapsed();
    while !holds(talk) {
        let rest = Duration::from_secs(20).saturating_sub(hosts.elapsed() - begun);
        if rest.is_zero() {
            return Err(io::Error::other(format!("not all {what} in 20 s")));
        }
        talk.turn(hosts, rest)?;
    }
    Ok(())
}

/// Turns the loop until this time.
fn silence(hosts: &mut Hosts, talk: &mut Talk, end: Duration) -> io::Result<()> {
    while let Some(rest) = end.checked_sub(hosts.elapsed()) {
        talk.turn(hosts, rest)?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    machine::open_files(args.clients as usize + 1)?;
    let (mut hosts, mut talk) = open(&args)?;
    writeln!(stdout(), "{} clients and their server", args.clients)?;

    let begun = Mark::now(&hosts);
    until(&mut hosts, &mut talk, "are connected", Talk::is_connected)?;
    begun.report(&hosts, "connect")?;

    let begun = Mark::now(&hosts);
    let all = Duration::from_secs(args.seconds);
    talk.run(&mut hosts, all / 3, args.active.into())?;
    until(&mut hosts, &mut talk, "came back", Talk::is_complete)?;
    begun.report(&hosts, "talk")?;
    for mode in [Mode::Unreliable, Mode::Reliable, Mode::Passive] {
        let (sent, back) = talk.counts(mode);
        writeln!(stdout(), "  {mode:?}: {back} of {sent} came back")?;
    }

    let settled = hosts.elapsed() + SETTLE;
    silence(&mut hosts, &mut talk, settled)?;
    let begun = Mark::now(&hosts);
    silence(&mut hosts, &mut talk, all.max(begun.time + SETTLE))?;
    let percent = begun.report(&hosts, "silence")?;
    if let Some(memory) = machine::memory() {
        writeln!(stdout(), "memory   {memory}")?;
    }
    let most = IDLE_PERCENT * f64::from(args.clients.max(1000)) / 1000.0;
    if !cfg!(debug_assertions) && percent.is_some_and(|percent| percent > most) {
        return Err(format!("silence may cost {most} % of a core").into());
    }
    Ok(())
}
