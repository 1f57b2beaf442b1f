//! A host and the parts of its program around it: the socket's buffer, the loop, the application's queue
//! of events.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use porous_proto::{Config, Ecn, Event, Host, Instant};

use crate::local::LocalClock;
#[cfg(feature = "swarm")]
use crate::watch::Watch;
use crate::{ChaCha8Rng, Service, SimAddress};

/// The default socket buffer of Linux, in bytes.
const SOCKET_BUFFER: usize = 212_992;

/// A simulated program.
#[derive(Debug)]
pub(crate) struct Station<A> {
    pub(crate) host: Host<ChaCha8Rng, A>,
    service: Service,
    clock: LocalClock,
    inbox: VecDeque<(A, Ecn, Vec<u8>)>,
    inbox_bytes: usize,
    capacity: usize,
    overflowed: u64,
    events: VecDeque<Event<A>>,
    /// True if the application has called the host, which may have something to send.
    touched: bool,
    /// The host is not called before this: its machine is busy, or it was called at this tick.
    resting: Instant,
    /// Datagrams that the host has taken in and sent in this turn.
    moved: [usize; 2],
    /// Observes the calls of the host.
    #[cfg(feature = "swarm")]
    pub(crate) watch: Watch<A>,
}

impl<A: SimAddress> Station<A> {
    pub(crate) fn new(config: Config, rng: ChaCha8Rng) -> Self {
        Self {
            host: Host::new(config, rng),
            service: Service::Event,
            clock: LocalClock::new(),
            inbox: VecDeque::new(),
            inbox_bytes: 0,
            capacity: SOCKET_BUFFER,
            overflowed: 0,
            events: VecDeque::new(),
            touched: false,
            resting: Instant::ZERO,
            moved: [0; 2],
            #[cfg(feature = "swarm")]
            watch: Watch::new(),
        }
    }

    pub(crate) const fn service(&self) -> Service {
        self.service
    }

    pub(crate) const fn set_service(&mut self, service: Service) {
        self.service = service;
        self.resting = Instant::ZERO;
    }

    pub(crate) const fn set_socket_buffer(&mut self, bytes: usize) {
        self.capacity = bytes;
    }

    pub(crate) const fn overflowed(&self) -> u64 {
        self.overflowed
    }

    /// The time that its clock shows.
    pub(crate) fn time(&self, now: Instant) -> Instant {
        self.clock.show(now)
    }

    pub(crate) const fn clock_mut(&mut self) -> &mut LocalClock {
        &mut self.clock
    }

    /// True if the host is not called at this time, as its machine is busy.
    pub(crate) fn rests(&self, now: Instant) -> bool {
        self.resting > now
    }

    /// Keeps the host from being called before this time.
    pub(crate) fn rest_until(&mut self, until: Instant) {
        self.resting = self.resting.max(until);
    }

    pub(crate) const fn touch(&mut self) {
        self.touched = true;
    }

    /// When the host is to be called next, if no datagram arrives before; `None` if it has nothing to do.
    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        let wanted = if self.touched || !self.inbox.is_empty() {
            now
        } else {
            self.clock.when(self.host.poll_timeout()?).max(now)
        };
        // Only a tick with something to do, so that a world of ticked hosts can come to rest.
        Some(self.service.at_or_after(wanted.max(self.resting)))
    }

    /// Puts a datagram into the buffer of the socket. False if the buffer has no room.
    pub(crate) fn deliver(&mut self, from: A, ecn: Ecn, datagram: Vec<u8>) -> bool {
        let bytes = self.inbox_bytes.saturating_add(datagram.len());
        if bytes > self.capacity {
            self.overflowed += 1;
            return false;
        }
        self.inbox_bytes = bytes;
        self.inbox.push_back((from, ecn, datagram));
        true
    }

    /// Hands the host the datagrams that wait in the socket, then the time. Afterwards take the datagrams
    /// that the host wants to send by [`transmit`](Self::transmit), and [`rest`](Self::rest).
    pub(crate) fn wake(&mut self, now: Instant) {
        self.touched = false;
        // The host knows only the clock of its own machine.
        let now = self.clock.show(now);
        let taken = self.inbox.len().min(self.service.at_once());
        self.moved = [taken, 0];
        #[cfg(feature = "swarm")]
        self.watch.wakes();
        for (from, ecn, datagram) in self.inbox.drain(..taken) {
            self.inbox_bytes -= datagram.len();
            #[cfg(feature = "swarm")]
            let before = porous_proto::hooks::work::done();
            let _taken = self.host.handle_datagram(now, from, ecn, &datagram);
            #[cfg(feature = "swarm")]
            {
                use porous_proto::Disposition::{Accepted, Handled, Ignored};
                let place = match _taken {
                    // A request is taken only from where its sender has brought a cookie back.
                    Accepted(_) | Handled(_) if is_request(&datagram) => Some(from),
                    Accepted(peer) | Handled(peer) => self.host.address(peer),
                    Ignored(_) => None,
                };
                let datagram = (from, datagram.len());
                self.watch.received(datagram, before, _taken, place);
            }
        }
        self.host.handle_backlog(now, !self.inbox.is_empty());
        self.host.handle_timeout(now);
    }

    /// Ends the turn: the host is called again when its machine can.
    pub(crate) fn rest(&mut self, now: Instant) {
        let [taken, sent] = self.moved;
        self.resting = self.service.rest(now, taken.saturating_add(sent));
        // What it had no time to send.
        self.touched |= self.has_no_time();
    }

    /// True if the turn has no time to send more.
    fn has_no_time(&self) -> bool {
        let [_, sent] = self.moved;
        sent == self.service.at_once()
    }

    /// The next datagram that the host wants to send, and its destination. None once the turn has no time
    /// left.
    pub(crate) fn transmit(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
    ) -> Option<(A, Ecn, Vec<u8>)> {
        if self.has_no_time() {
            return None;
        }
        buffer.resize(self.host.max_datagram_size(), 0);
        let now = self.clock.show(now);
        let transmit = self.host.poll_transmit(now, buffer)?;
        let [_, sent] = &mut self.moved;
        *sent += 1;
        #[cfg(feature = "swarm")]
        self.watch.sent(transmit.to, transmit.datagram.len());
        Some((transmit.to, transmit.ecn, transmit.datagram.to_vec()))
    }

    /// The next new event of the host. It is also kept for the application.
    pub(crate) fn collect(&mut self) -> Option<Event<A>> {
        let event = self.host.poll_event()?;
        self.events.push_back(event);
        Some(event)
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event<A>> {
        self.events.pop_front()
    }
}

/// Whether a datagram is a request, with message 1 in front of it or without (`docs/wire.md`, "Long forms").
#[cfg(feature = "swarm")]
fn is_request(datagram: &[u8]) -> bool {
    match datagram {
        [0xD2, low, high, rest @ ..] => {
            let length = usize::from(u16::from_le_bytes([*low, *high]));
            rest.get(length) == Some(&0xC0)
        }
        _ => datagram.first() == Some(&0xC0),
    }
}
