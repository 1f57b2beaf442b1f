//! A host in another process: what it tells, and how it is told what to do.

use core::fmt::Debug;
use core::str::FromStr;
use core::time::Duration;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use porous_std::Clock;

/// Far more than anything here takes.
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

/// The process is killed with it, and says nothing.
pub(crate) struct Actor {
    name: String,
    process: Child,
    input: Option<ChildStdin>,
    output: Receiver<Line>,
    /// The address of the peer that it connected with last, or has followed there.
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

    /// Tells it what to do.
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

    /// Waits until it has a connection, and says with whom.
    pub(crate) fn connected(&mut self) -> String {
        self.tried()
            .unwrap_or_else(|reason| panic!("{}: no connection: {reason}", self.name))
    }

    /// Waits until an attempt to connect has come to its end, and says with whom it is connected, or
    /// why not.
    pub(crate) fn tried(&mut self) -> Result<String, String> {
        let is_over = |line: &Line| line.is("connected") || line.is("ended");
        let line = self.until("the end of an attempt", is_over);
        if line.is("ended") {
            return Err(line.value("reason"));
        }
        self.peer = line.value("peer");
        Ok(self.peer.clone())
    }

    /// Waits until it has `answers` more than it had, from the peer it connected with
    /// last, or followed.
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

    /// Waits until it follows its peer, and says where from and where to.
    pub(crate) fn moved(&mut self) -> [String; 2] {
        let line = self.until("a move", |line| line.is("moved"));
        self.peer = line.value("to");
        ["from", "to"].map(|name| line.value(name))
    }

    /// Waits until a connection has ended, and says why.
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

    /// The end of what it told.
    fn last(&self) -> &[Line] {
        &self.told[self.told.len().saturating_sub(20)..]
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        // Before its input ends: it would say goodbye, or not, as fast as it is.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
