//! An event loop for very many hosts: in each turn, only those are asked that have an event, a command or
//! a deadline.

use alloc::collections::BTreeSet;
use core::net::SocketAddr;
use core::time::Duration;
use std::io::{self, ErrorKind};

use mio::{Events, Interest, Poll, Token};
use porous_mio::{Clock, Event, Instant, MioHost};

/// Counts of the loop.
#[derive(Clone, Copy, Default)]
pub(crate) struct Turns {
    /// Times that the loop woke.
    pub(crate) wakeups: u64,
    /// Events that mio reported.
    pub(crate) events: u64,
    /// Steps of all hosts.
    pub(crate) steps: u64,
}

pub(crate) struct Hosts {
    poll: Poll,
    events: Events,
    /// The clock of the loop. Each host has one of its own.
    clock: Clock,
    hosts: Vec<MioHost>,
    /// When each host is due, by the clock of the loop.
    due: Vec<Option<Instant>>,
    /// The same times, in their order, with the index of the host.
    order: BTreeSet<(Instant, usize)>,
    pub(crate) turns: Turns,
}

impl Hosts {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            poll: Poll::new()?,
            events: Events::with_capacity(1024),
            clock: Clock::start(),
            hosts: Vec::new(),
            due: Vec::new(),
            order: BTreeSet::new(),
            turns: Turns::default(),
        })
    }

    /// Registers a host, and returns its index.
    pub(crate) fn add(&mut self, mut host: MioHost) -> io::Result<usize> {
        let index = self.hosts.len();
        let both = Interest::READABLE | Interest::WRITABLE;
        self.poll
            .registry()
            .register(&mut host, Token(index), both)?;
        self.hosts.push(host);
        self.due.push(None);
        self.ask(index);
        Ok(index)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &MioHost> {
        self.hosts.iter()
    }

    /// Lets a closure use a host, which may make the host due.
    pub(crate) fn with<T>(&mut self, index: usize, what: impl FnOnce(&mut MioHost) -> T) -> T {
        let result = what(&mut self.hosts[index]);
        self.ask(index);
        result
    }

    /// The time since the loop began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.clock.now().saturating_duration_since(Instant::ZERO)
    }

    /// Sleeps until a host is due, but at most for `max`, and steps the hosts that are. Returns their
    /// events.
    pub(crate) fn turn(&mut self, max: Duration) -> io::Result<Vec<(usize, Event<SocketAddr>)>> {
        let first = self.order.first();
        let timeout = first.map_or(max, |(at, _)| {
            at.saturating_duration_since(self.clock.now()).min(max)
        });
        match self.poll.poll(&mut self.events, Some(timeout)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
            Ok(()) | Err(_) => self.turns.wakeups += 1,
        }
        let mut told = Vec::new();
        for event in &self.events {
            let Token(index) = event.token();
            self.hosts[index].handle_event(event);
            told.push(index);
        }
        self.turns.events += told.len() as u64;
        for index in told {
            self.ask(index);
        }

        let now = self.clock.now();
        // One step each: a host that is due again at once waits for the others.
        let due: Vec<usize> = self
            .order
            .range(..=(now, usize::MAX))
            .map(|&(_, index)| index)
            .collect();
        let mut news = Vec::new();
        for index in due {
            self.turns.steps += 1;
            let host = &mut self.hosts[index];
            host.step()?;
            news.extend(core::iter::from_fn(|| host.poll_event()).map(|event| (index, event)));
            self.ask(index);
        }
        Ok(news)
    }

    /// Notes when this host is due.
    fn ask(&mut self, index: usize) {
        let timeout = self.hosts[index].timeout();
        let due = timeout.map(|timeout| self.clock.now() + timeout);
        if let Some(before) = self.due[index] {
            self.order.remove(&(before, index));
        }
        if let Some(due) = due {
            self.order.insert((due, index));
        }
        self.due[index] = due;
    }
}
