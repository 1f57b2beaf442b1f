//! The two processes of a measurement: a server, and all of its clients.

use core::time::Duration;
use std::io::{self, Write as _};

use porous_std::{Clock, Instant};
use rustix::event::{Timespec, poll};

use super::load::{Pace, Shape};
use super::meter::{Meter, Part};
use super::node::{Node, Seen};

/// The longest sleep: a process whose other process is gone sees that its time is over.
const PATIENCE: Duration = Duration::from_millis(100);

/// The time that a process has beside the measurement, to connect and to end.
const GRACE: Duration = Duration::from_secs(10);

/// The step of a process that only connects or ends connections.
const STEP: Duration = Duration::from_millis(1);

/// A process's own ticks, and the end of its time.
struct Ticks {
    clock: Clock,
    period: Duration,
    next: Instant,
    limit: Instant,
}

impl Ticks {
    fn new(period: Duration, measured: Duration) -> Self {
        Self {
            clock: Clock::start(),
            period,
            next: Instant::ZERO,
            limit: Instant::ZERO + measured + GRACE,
        }
    }

    /// Sleeps until the next tick. Ticks that are missed are not made up for.
    fn rest(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        self.next = (self.next + self.period).max(now);
        let rest = self.next.saturating_duration_since(now);
        let timeout = Timespec::try_from(rest).map_err(io::Error::other)?;
        poll(&mut [], Some(&timeout))?;
        Ok(())
    }

    /// An error when the process's time is over.
    fn check(&self) -> io::Result<()> {
        if self.clock.now() > self.limit {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "it takes too long"));
        }
        Ok(())
    }
}

/// Serves until all clients have come and gone. Says its port first. Measured from the moment at which all
/// clients are there until the first leaves.
pub(super) fn serve<N: Node>(shape: &Shape, measured: Duration) -> io::Result<Part> {
    let (mut node, port) = N::server(shape.clients)?;
    let mut out = io::stdout();
    writeln!(out, "{port}")?;
    out.flush()?;
    let period = match shape.pace {
        Pace::Ticks { period, .. } if shape.down > 0 => Some(period),
        Pace::Ticks { .. } | Pace::Saturated { .. } => None,
    };
    let report_each = match shape.pace {
        Pace::Saturated { under_way } => under_way.div_ceil(4),
        Pace::Ticks { .. } => u64::MAX,
    };
    let mut ticks = Ticks::new(period.unwrap_or_default(), measured);
    let down = vec![7; shape.down];
    let mut peers = Vec::new();
    let (mut read, mut reported, mut ended) = (0, 0, 0);
    let (mut meter, mut part) = (None, None);
    while ended < shape.clients {
        ticks.check()?;
        let longest = period.map_or(PATIENCE, |_| Duration::ZERO);
        node.turn(longest, &mut |peer, seen| match seen {
            Seen::Connected => peers.push(peer),
            Seen::Message(_) => read += 1,
            Seen::Ended => ended += 1,
        })?;
        if meter.is_none() && peers.len() == shape.clients {
            meter = Some(Meter::start(read)?);
        }
        if let (1.., None, Some(meter)) = (ended, part, &meter) {
            part = Some(meter.part(read)?);
        }
        if read - reported >= report_each {
            node.send(peers[0], &read.to_le_bytes(), true);
            reported = read;
        }
        if period.is_some() {
            for &peer in peers.iter().filter(|_| ended == 0) {
                node.send(peer, &down, false);
            }
            node.flush()?;
            ticks.rest()?;
        }
    }
    part.ok_or_else(|| io::Error::other("a client ended before all had come"))
}

/// A client, with its connection.
struct Client<N: Node> {
    node: N,
    peer: N::Peer,
    is_connected: bool,
    has_ended: bool,
    sent: u64,
    read: u64,
    /// Messages that the server has said to have read.
    reported: u64,
}

impl<N: Node> Client<N> {
    fn new(port: u16) -> io::Result<Self> {
        let (node, peer) = N::client(port)?;
        Ok(Self {
            node,
            peer,
            is_connected: false,
            has_ended: false,
            sent: 0,
            read: 0,
            reported: 0,
        })
    }

    fn turn(&mut self, longest: Duration) -> io::Result<()> {
        self.node.turn(longest, &mut |_, seen| match seen {
            Seen::Connected => self.is_connected = true,
            Seen::Message(message) => {
                self.read += 1;
                if let Ok(count) = message.try_into() {
                    self.reported = u64::from_le_bytes(count);
                }
            }
            Seen::Ended => self.has_ended = true,
        })
    }

    /// Sends this number of messages, or as many of them as there is room for.
    fn send(&mut self, count: u64, message: &[u8], is_reliable: bool) {
        for _ in 0..count {
            if !self.node.send(self.peer, message, is_reliable) {
                break;
            }
            self.sent += 1;
        }
    }
}

/// Connects all clients to a server, lets them send for the measured time, and ends the connections.
pub(super) fn drive<N: Node>(shape: &Shape, port: u16, measured: Duration) -> io::Result<Part> {
    let clients = (0..shape.clients).map(|_| Client::<N>::new(port));
    let mut clients = clients.collect::<io::Result<Vec<_>>>()?;
    step_until(&mut clients, |client| client.is_connected)?;
    let message = vec![7; shape.up];
    let period = match shape.pace {
        Pace::Ticks { period, .. } => period,
        Pace::Saturated { .. } => Duration::ZERO,
    };
    let read = |clients: &[Client<N>]| clients.iter().map(|client| client.read).sum();
    let meter = Meter::start(read(&clients))?;
    let mut ticks = Ticks::new(period, measured);
    while meter.elapsed() < measured {
        match shape.pace {
            Pace::Saturated { under_way } => {
                for client in &mut clients {
                    let count = under_way.saturating_sub(client.sent - client.reported);
                    client.send(count, &message, shape.is_reliable);
                    client.turn(PATIENCE)?;
                }
            }
            Pace::Ticks { burst, .. } => {
                for client in &mut clients {
                    client.turn(Duration::ZERO)?;
                    client.send(burst, &message, shape.is_reliable);
                    client.node.flush()?;
                }
                ticks.rest()?;
            }
        }
        if clients.iter().any(|client| client.has_ended) {
            return Err(io::Error::other("a connection ended early"));
        }
    }
    let part = meter.part(read(&clients))?;
    for client in &mut clients {
        client.node.leave(client.peer);
    }
    step_until(&mut clients, |client| client.has_ended)?;
    Ok(part)
}

/// Serves all clients until each is as it should be.
fn step_until<N: Node>(
    clients: &mut [Client<N>],
    is_done: impl Fn(&Client<N>) -> bool,
) -> io::Result<()> {
    let mut ticks = Ticks::new(STEP, Duration::ZERO);
    while !clients.iter().all(&is_done) {
        ticks.check()?;
        for client in &mut *clients {
            client.turn(Duration::ZERO)?;
        }
        ticks.rest()?;
    }
    Ok(())
}
