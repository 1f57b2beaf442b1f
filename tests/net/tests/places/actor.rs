//! A host in another process: its lines, and the commands to it.

use core::fmt::Debug;
use core::str::FromStr;
use core::time::Duration;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use porous_std::Clock;

/// Far longer than any of these tests waits.
const LIMIT: Duration = Duration::from_secs(30);

/// A line: a word, and values with names.
#[derive(Clone, Debug)]
pub(crate) struct Line(String);

impl Line {
    pub(crate) fn is(&self, word: &str) -> bool {
        self.0.split(' ').next() == Some(word)
    }

    pub(crate) fn value<T: FromStr<Err: Debug>>(&self, name: &str) -> T {
        let mut words = self.0.split(' ').filter_map(|word| word.split_once('='));
        let value = words.find_map(|(key, value)| (key == name).then_some(value));
        value
            .unwrap_or_else(|| panic!("no {name}: {self:?}"))
            .parse()
            .unwrap()
    }
}

/// A host in another process, which is killed without a goodbye when this value is dropped.
pub(crate) struct Actor {
    name: String,
    process: Child,
    input: Option<ChildStdin>,
    output: Receiver<Line>,
    /// The address of the peer with which the host connected last, or to which it has followed the peer.
    peer: String,
    /// All lines so far, to be shown when a test fails.
    told: Vec<Line>,
}

impl Actor {
    pub(crate) fn start(name: &str, command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (input, output) = (process.stdin.take(), process.stdout.take().unwrap());
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(Line(line)).is_err() {
                    break;
                }
            }
        });
        let mut actor = Self {
            name: name.into(),
            process,
            input,
            output: receiver,
            peer: String::new(),
            told: Vec::new(),
        };
        actor.until("its socket", |line| line.is("bound"));
        actor
    }

    /// Sends the host a command.
    pub(crate) fn command(&self, text: &str) {
        writeln!(self.input.as_ref().unwrap(), "{text}").unwrap();
    }

    /// Waits for a line that is `wanted`. No connection must end before it comes.
    pub(crate) fn until(&mut self, what: &str, wanted: impl Fn(&Line) -> bool) -> Line {
        let clock = Clock::start();
        let end = clock.now() + LIMIT;
        loop {
            let rest = end.saturating_duration_since(clock.now());
            let Ok(line) = self.output.recv_timeout(rest) else {
                panic!("{}: {what} did not come: {:#?}", self.name, self.last());
            };
            self.told.push(line.clone());
            if wanted(&line) {
                return line;
            }
            let is_bad = line.is("ended") || line.is("failed");
            assert!(
                !is_bad,
                "{}: {what} did not come: {:#?}",
                self.name,
                self.last()
            );
        }
    }

    /// Waits until the host has a connection. Returns the address of the peer.
    pub(crate) fn connected(&mut self) -> String {
        self.tried()
            .unwrap_or_else(|reason| panic!("{}: no connection: {reason}", self.name))
    }

    /// Waits until an attempt to connect has ended. Returns the address of the peer, or the reason of the
    /// failure.
    pub(crate) fn tried(&mut self) -> Result<String, String> {
        let is_over = |line: &Line| line.is("connected") || line.is("ended");
        let line = self.until("the end of an attempt", is_over);
        if line.is("ended") {
            return Err(line.value("reason"));
        }
        self.peer = line.value("peer");
        Ok(self.peer.clone())
    }

    /// Waits until the host has `answers` more answers from the peer with which it connected last.
    pub(crate) fn hears(&mut self, answers: u64) {
        let peer = self.peer.clone();
        let heard = |line: &Line| {
            let is_peer = line.is("peer") && line.value::<String>("address") == peer;
            is_peer.then(|| line.value::<u64>("answers"))
        };
        self.told.extend(self.output.try_iter());
        let before = self.until("answers", |line| heard(line).is_some());
        let enough = heard(&before).unwrap_or(0) + answers;
        self.until("answers", |line| {
            heard(line).is_some_and(|now| now >= enough)
        });
    }

    /// Waits until the host follows its peer. Returns the old address and the new one.
    pub(crate) fn moved(&mut self) -> [String; 2] {
        let line = self.until("a move", |line| line.is("moved"));
        self.peer = line.value("to");
        ["from", "to"].map(|name| line.value(name))
    }

    /// Waits until a connection has ended. Returns the reason.
    pub(crate) fn ended(&mut self) -> String {
        self.until("an end", |line| line.is("ended"))
            .value("reason")
    }

    /// Waits for `count` reports, which come ten times a second.
    pub(crate) fn reports(&mut self, count: usize) {
        for _ in 0..count {
            self.until("a report", |line| line.is("socket"));
        }
    }

    /// The newest line of this kind.
    pub(crate) fn now(&mut self, word: &str) -> Option<Line> {
        self.told.extend(self.output.try_iter());
        self.told.iter().rev().find(|line| line.is(word)).cloned()
    }

    /// The number of lines of this kind so far.
    pub(crate) fn count(&mut self, word: &str) -> usize {
        self.told.extend(self.output.try_iter());
        self.told.iter().filter(|line| line.is(word)).count()
    }

    /// The last lines of the host.
    fn last(&self) -> &[Line] {
        &self.told[self.told.len().saturating_sub(20)..]
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        // Before its input ends, or the host might say goodbye, depending on its speed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
