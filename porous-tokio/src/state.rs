//! All that tasks and the driver share: the endpoint, and the tasks that wait for its peers.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use core::fmt;
use core::mem;
use core::net::SocketAddr;
use core::time::Duration;
use std::io;
use std::thread;

use porous_udp::{Conditioner, Disconnect, Ecn, Endpoint, Event, Instant, Listen, PeerId};

use crate::Closed;
use crate::link::Link;
use crate::socket::TokioSocket;

/// The way a connection ends of which nobody has a handle any more.
pub(crate) const LEFT: Disconnect = Disconnect::Now { reason: 0 };

/// The conditioner of an endpoint, whatever its type: a type of its own for each connection would be known all
/// over a program.
pub(crate) struct Net(pub(crate) Box<dyn Conditioner + Send>);

impl fmt::Debug for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Net")
    }
}

impl Conditioner for Net {
    fn take(&mut self, now: Instant, to: SocketAddr, ecn: Ecn, datagram: &[u8]) -> bool {
        self.0.take(now, to, ecn, datagram)
    }

    fn release(&mut self, now: Instant) -> Option<(SocketAddr, Ecn, Vec<u8>)> {
        self.0.release(now)
    }

    fn next_release(&self) -> Option<Instant> {
        self.0.next_release()
    }
}

/// A peer of which the application was not told yet.
#[derive(Clone, Debug)]
pub(crate) struct Newcomer {
    pub(crate) peer: PeerId,
    pub(crate) link: Arc<Link>,
}

/// Newcomers in the order in which they came.
#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Newcomer>,
    /// The length at which those that are gone are looked for.
    prune_at: usize,
}

impl Queue {
    /// Strangers can come and go while nobody accepts them: those that are gone leave the queue before it has twice
    /// the length that it needs.
    fn push(&mut self, newcomer: Newcomer, is_gone: impl Fn(&Newcomer) -> bool) {
        if self.waiting.len() >= self.prune_at {
            self.waiting.retain(|waiting| !is_gone(waiting));
            self.prune_at = (2 * self.waiting.len()).max(64);
        }
        self.waiting.push_back(newcomer);
    }

    fn pop(&mut self, is_gone: impl Fn(&Newcomer) -> bool) -> Option<Newcomer> {
        loop {
            let newcomer = self.waiting.pop_front()?;
            if !is_gone(&newcomer) {
                return Some(newcomer);
            }
        }
    }
}

/// A peer that has not ended.
#[derive(Debug)]
struct Row {
    link: Arc<Link>,
    /// True if the application, or the end of its last handle, has ended the connection.
    is_leaving: bool,
}

/// What the driver does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// There is more to do, once other tasks had a turn.
    GoOn,
    /// Nothing, for this time at most, unless a datagram or a command comes; or, if datagrams wait for room in the
    /// socket, there is room.
    Sleep {
        time: Option<Duration>,
        is_blocked: bool,
    },
    /// The driver has ended.
    End,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) endpoint: Endpoint<TokioSocket, Net>,
    rows: BTreeMap<PeerId, Row>,
    arrived: Queue,
    requests: Queue,
    /// When the driver wakes by itself. `Some(Instant::ZERO)` while it is awake.
    wakes_at: Option<Instant>,
    /// True if a newcomer came, or a connection ended, since this was last asked.
    has_news: bool,
    /// True if no handle is left.
    is_abandoned: bool,
    end: Option<Closed>,
}

impl State {
    pub(crate) fn new(endpoint: Endpoint<TokioSocket, Net>) -> Self {
        Self {
            endpoint,
            rows: BTreeMap::new(),
            arrived: Queue::default(),
            requests: Queue::default(),
            wakes_at: Some(Instant::ZERO),
            has_news: false,
            is_abandoned: false,
            end: None,
        }
    }

    /// Why the driver has ended, if it has.
    pub(crate) const fn end(&self) -> Option<Closed> {
        self.end
    }

    /// True if no connection is left that has not ended, or the driver has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.end.is_some() || self.rows.is_empty()
    }

    pub(crate) const fn take_news(&mut self) -> bool {
        mem::replace(&mut self.has_news, false)
    }

    /// True if the driver has to be woken, as what was done since its last turn is due before it wakes by itself.
    /// Says so once.
    pub(crate) fn has_to_wake(&mut self) -> bool {
        let due = match self.endpoint.deadline() {
            _ if self.is_abandoned => Some(Instant::ZERO),
            due => due,
        };
        let is_early = match (due, self.wakes_at) {
            (Some(due), Some(wakes_at)) => due < wakes_at,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if is_early {
            self.wakes_at = Some(Instant::ZERO);
        }
        is_early
    }

    /// A turn of the driver: takes in, sends, and tells.
    pub(crate) fn turn(&mut self) -> Next {
        if self.end.is_some() {
            return Next::End;
        }
        let may_be_more = match self.carry() {
            Ok(may_be_more) => may_be_more,
            Err(error) => {
                self.finish(Closed::Socket(error.kind()));
                return Next::End;
            }
        };
        self.tell();
        if self.is_abandoned && self.endpoint.is_empty() {
            return Next::End;
        }
        let deadline = self.endpoint.deadline();
        let now = self.endpoint.now();
        if may_be_more || deadline.is_some_and(|at| at <= now) {
            self.wakes_at = Some(Instant::ZERO);
            return Next::GoOn;
        }
        self.wakes_at = deadline;
        Next::Sleep {
            time: deadline.map(|at| at.saturating_duration_since(now)),
            is_blocked: self.endpoint.is_blocked(),
        }
    }

    fn carry(&mut self) -> io::Result<bool> {
        let may_be_more = self.endpoint.receive_datagrams()?;
        self.endpoint.transmit()?;
        Ok(may_be_more)
    }

    /// Tells the tasks that wait what has happened.
    fn tell(&mut self) {
        while let Some(event) = self.endpoint.poll_event() {
            match event {
                Event::Request { peer, .. } => {
                    let newcomer = self.newcomer(peer);
                    self.requests
                        .push(newcomer, |waiting| waiting.link.ended().is_some());
                }
                Event::Connected { peer, .. } => self.connected(peer),
                Event::Readable { peer } => {
                    self.with(peer, |row| row.link.readable.notify_waiters())
                }
                Event::Writable { peer } => {
                    self.with(peer, |row| row.link.changed.notify_waiters())
                }
                Event::PortClosed { peer, .. } => self.with(peer, |row| row.link.port_closed()),
                Event::Disconnected {
                    peer,
                    reason,
                    undelivered,
                } => self.disconnected(
                    peer,
                    Closed::Ended {
                        reason,
                        undelivered,
                    },
                ),
                // What `Connection::peer` tells when it is asked.
                Event::Receipt { .. }
                | Event::PeerMoved { .. }
                | Event::PathNarrowed { .. }
                | _ => {}
            }
        }
    }

    fn with(&mut self, peer: PeerId, act: impl FnOnce(&mut Row)) {
        if let Some(row) = self.rows.get_mut(&peer) {
            act(row);
        }
    }

    fn newcomer(&mut self, peer: PeerId) -> Newcomer {
        self.has_news = true;
        let link = self.add(peer);
        Newcomer { peer, link }
    }

    /// Notes a peer that the application connects to, or that came. Returns what is told of it.
    pub(crate) fn add(&mut self, peer: PeerId) -> Arc<Link> {
        let link = Arc::<Link>::default();
        let row = Row {
            link: Arc::clone(&link),
            is_leaving: false,
        };
        self.rows.insert(peer, row);
        link
    }

    fn connected(&mut self, peer: PeerId) {
        if !self.rows.contains_key(&peer) {
            let newcomer = self.newcomer(peer);
            let endpoint = &self.endpoint;
            // One that has ended may have left packets, which the host keeps for 30 s.
            self.arrived
                .push(newcomer, |waiting| is_forgotten(endpoint, waiting));
        }
        self.with(peer, |row| row.link.connected());
    }

    fn disconnected(&mut self, peer: PeerId, how: Closed) {
        let Some(row) = self.rows.remove(&peer) else {
            return;
        };
        self.has_news = true;
        row.link.end(how);
        // Without a handle nobody can read what is left.
        if Arc::strong_count(&row.link) == 1 {
            self.drop_packets(peer);
        }
    }

    fn drop_packets(&mut self, peer: PeerId) {
        while self.endpoint.receive(peer).is_some() {}
    }

    /// The next peer that has connected, and was not told of.
    pub(crate) fn next_arrived(&mut self) -> Option<Newcomer> {
        let endpoint = &self.endpoint;
        self.arrived.pop(|waiting| is_forgotten(endpoint, waiting))
    }

    /// The next peer that asks, and was not told of.
    pub(crate) fn next_request(&mut self) -> Option<Newcomer> {
        self.requests.pop(|waiting| waiting.link.ended().is_some())
    }

    /// Ends a connection as the application says.
    pub(crate) fn disconnect(&mut self, peer: PeerId, how: Disconnect) {
        // A connection that has ended already has nothing to end.
        let _known = self.endpoint.disconnect(peer, how);
        self.with(peer, |row| row.is_leaving = true);
    }

    /// Ends all connections so.
    pub(crate) fn disconnect_all(&mut self, how: Disconnect) {
        self.endpoint.disconnect_all(how);
        for row in self.rows.values_mut() {
            row.is_leaving = true;
        }
    }

    /// The last handle of a connection is gone. A connection that is being flushed goes on with that.
    pub(crate) fn leave(&mut self, peer: PeerId) {
        if self.rows.get(&peer).is_some_and(|row| !row.is_leaving) {
            self.disconnect(peer, LEFT);
        }
        self.drop_packets(peer);
    }

    /// Nobody accepts any more: lets no stranger in, and ends what nobody has accepted.
    pub(crate) fn close_door(&mut self) {
        // Every host may be closed.
        let _allowed = self.endpoint.listen(Listen::Closed);
        for Newcomer { peer, .. } in mem::take(&mut self.requests.waiting) {
            // One that has given up needs no answer.
            let _waits = self.endpoint.refuse(peer, &[]);
        }
        for Newcomer { peer, .. } in mem::take(&mut self.arrived.waiting) {
            self.leave(peer);
        }
        // Newcomers that still have to prove where they are: nobody was told of them.
        let peers = self.endpoint.peers().map(|(peer, _)| peer);
        let unknown: Vec<_> = peers.filter(|peer| !self.rows.contains_key(peer)).collect();
        for peer in unknown {
            self.disconnect(peer, LEFT);
        }
    }

    /// The last handle is gone. The driver ends when each peer knows.
    pub(crate) const fn abandon(&mut self) {
        self.is_abandoned = true;
    }

    /// The end of the driver: all that wait are told, and peers are told once. What has arrived can be received.
    pub(crate) fn finish(&mut self, how: Closed) {
        if self.end.is_some() {
            return;
        }
        self.end = Some(how);
        // What panicked may have been the host.
        if !thread::panicking() {
            self.tell();
            self.endpoint.disconnect_all(LEFT);
            // The socket may be broken, and nobody waits for room.
            let _sent = self.endpoint.transmit();
        }
        for row in mem::take(&mut self.rows).into_values() {
            row.link.end(how);
        }
    }
}

/// True if nothing is left of a peer, not even a packet.
fn is_forgotten(endpoint: &Endpoint<TokioSocket, Net>, newcomer: &Newcomer) -> bool {
    newcomer.link.ended().is_some() && endpoint.peer(newcomer.peer).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn newcomer() -> Newcomer {
        Newcomer {
            peer: PeerId::from_u64(1 << 32).unwrap(),
            link: Arc::default(),
        }
    }

    #[test]
    fn strangers_that_come_and_go_do_not_fill_a_queue() {
        let is_gone = |newcomer: &Newcomer| newcomer.link.ended().is_some();
        let mut queue = Queue::default();
        let stays = newcomer();
        queue.push(stays.clone(), is_gone);
        for _ in 0..10_000 {
            let goes = newcomer();
            goes.link.end(Closed::Stopped);
            queue.push(goes, is_gone);
        }
        assert!(queue.waiting.len() <= 64, "{}", queue.waiting.len());
        let found = queue.pop(is_gone).unwrap();
        assert!(Arc::ptr_eq(&found.link, &stays.link));
        assert!(queue.pop(is_gone).is_none());
    }
}
