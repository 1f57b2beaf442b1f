//! §2.1: the host object, and its verbs.

mod address;
mod answer;
#[cfg(any(test, feature = "audit"))]
mod audit;
mod commands;
mod connection_ids;
mod cookie;
mod handle;
mod inbound;
mod kept;
mod limits;
mod others;
mod peers;
mod rates;
mod replies;
mod reset;
mod roaming;
mod schedule;
mod short;
mod transmit;
mod ways;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::time::Duration;

use rand_core::CryptoRng;

pub use self::address::{Address, ChannelId};
pub use self::connection_ids::ConnectionIds;
use self::cookie::Cookies;
use self::inbound::Inbound;
pub use self::inbound::ip_source;
use self::kept::Kept;
use self::limits::Limits;
pub use self::peers::PeerId;
use self::peers::Peers;
use self::replies::Replies;
use self::schedule::Schedule;
use crate::bucket::Cap;
use crate::config::Config;
use crate::event::{Event, Listen};
use crate::frame::Offer;
use crate::peer::{LINGER, News, Peer, Tick};
use crate::sequencing::Receipt;
use crate::stats::HostStats;
use crate::time::Instant;

/// A step that comes so long after the one before says nothing about how often the host is
/// stepped; one that comes so long after it was due follows a pause.
const PAUSE: Duration = Duration::from_millis(250);

/// A pause of this part of the timeout excuses silence. Steps that are always a second apart are no
/// pauses, although something may be due in between.
const LONG_PAUSE: u32 = 4;

/// One socket's worth of peers: the state machine of the protocol.
///
/// The host does no input or output. A driver hands it the datagrams that arrive and the time, and
/// takes from it the datagrams to be sent, the events, and the time when it wants to be called
/// next. See the [crate's documentation](crate) for the loop.
///
/// `R` is the source of randomness, `A` is how the driver names remote hosts.
#[derive(Debug)]
pub struct Host<R, A = core::net::SocketAddr> {
    /// It is large, and hosts are moved.
    config: Box<Config>,
    offer: Offer,
    rng: R,
    /// Whether two addresses differ by no more than the port.
    same_host: fn(&A, &A) -> bool,
    cookies: Cookies,
    listen: Listen,
    connection_ids: ConnectionIds,
    peers: Peers<A>,
    /// Live peers that connected to us.
    inbound: Inbound<A>,
    /// Received packets.
    kept: Kept,
    /// Peers that have ended and linger, the oldest first.
    lingering: VecDeque<PeerId>,
    /// Until then a request may come again whose peer did not linger for as long as it should.
    forgetful_until: Instant,
    schedule: Schedule,
    replies: Replies<A>,
    limits: Limits,
    /// Of the data to all peers.
    cap: Cap,
    /// When there is room under it.
    room_at: Instant,
    events: VecDeque<Event<A>>,
    /// How many of them are receipts.
    receipts: usize,
    stats: HostStats,
    /// The latest time that was heard of.
    now: Instant,
    last_step: Instant,
    /// T_step,avg of (7), in microseconds.
    step_us: u64,
    /// How late steps were of late, in microseconds.
    lag_us: u64,
    awake_since: Instant,
    /// As `awake_since`, of long pauses.
    back_since: Instant,
}

impl<R: CryptoRng, A: Address> Host<R, A> {
    /// A host with this configuration. It draws its keys, random ids and connection ids from `rng`.
    ///
    /// ```
    /// use porous_proto::{Config, Host};
    /// # use porous_proto::doc::example_rng;
    ///
    /// let host = Host::<_, core::net::SocketAddr>::new(Config::new(), example_rng());
    /// assert_eq!(host.poll_timeout(), None);
    /// ```
    pub fn new(config: Config, mut rng: R) -> Self {
        Self {
            offer: config.offer(),
            cookies: Cookies::new(&mut rng),
            limits: Limits::new(&config),
            replies: Replies::new(limits::burst(config.replies)),
            cap: Cap::new(config.host_send_rate),
            room_at: Instant::ZERO,
            kept: Kept::new(&config),
            config: Box::new(config),
            rng,
            same_host: |_, _| false,
            listen: Listen::Closed,
            connection_ids: ConnectionIds::Random,
            peers: Peers::new(),
            inbound: Inbound::new(),
            lingering: VecDeque::new(),
            forgetful_until: Instant::ZERO,
            schedule: Schedule::default(),
            events: VecDeque::new(),
            receipts: 0,
            stats: HostStats::default(),
            now: Instant::ZERO,
            last_step: Instant::ZERO,
            step_us: 0,
            lag_us: 0,
            awake_since: Instant::ZERO,
            back_since: Instant::ZERO,
        }
    }

    /// Time never goes backwards here, whatever the driver says, and it never ends.
    fn advance(&mut self, now: Instant) -> Tick {
        self.now = self.now.max(now.min(Instant::LAST));
        Tick {
            now: self.now,
            step: Duration::from_micros(self.step_us),
            lag: Duration::from_micros(self.lag_us),
            is_full: false,
            may_keep: u64::MAX,
            awake_since: self.awake_since,
            back_since: self.back_since,
        }
    }

    /// One step of the paper (§2.1): everything whose time has come is done. To be called when
    /// [`poll_timeout`](Self::poll_timeout) says so, or at regular intervals, after the datagrams
    /// that have arrived were [handled](Self::handle_datagram). Too early is harmless, too late
    /// costs quality.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// # let (mut host, _) = example_pair();
    /// let due = host.poll_timeout().unwrap();
    /// host.handle_timeout(due);
    /// ```
    pub fn handle_timeout(&mut self, now: Instant) {
        self.measure_step(now.min(Instant::LAST));
        let tick = self.advance(now);
        while let Some(slot) = self.schedule.pop_due(tick.now) {
            if let Some((_, peer)) = self.peers.at_mut(slot) {
                peer.handle_timeout(tick);
                self.look_for(slot, tick);
                self.settle(slot);
            }
        }
    }

    /// T_step,avg (7): a moving average of the time between steps, without pauses. A pause is also
    /// a step that something waited for.
    fn measure_step(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.last_step);
        self.last_step = self.last_step.max(now);
        if !elapsed.is_zero() && elapsed <= PAUSE {
            let elapsed = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
            self.step_us = (7 * self.step_us + elapsed) / 8;
        }
        let due = self.schedule.next().unwrap_or(now);
        let late = now.saturating_duration_since(due);
        if due < now && late <= PAUSE {
            let late = u64::try_from(late.as_micros()).unwrap_or(u64::MAX);
            self.lag_us = late.max(self.lag_us - self.lag_us / 16);
        } else if due == now {
            self.lag_us -= self.lag_us.div_ceil(16);
        }
        if late > PAUSE {
            self.awake_since = self.last_step;
        }
        if late > self.config.timeout / LONG_PAUSE {
            self.back_since = self.last_step;
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) wants to be called next. A time in the past
    /// means that datagrams wait to be [sent](Self::poll_transmit).
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// let (host, _) = example_pair();
    /// assert!(host.poll_timeout().is_some()); // a connected peer is pinged now and then
    /// ```
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.schedule.is_ready() || !self.replies.is_empty() {
            return Some(Instant::ZERO);
        }
        let room = self.schedule.waits().then_some(self.room_at);
        self.schedule.next().into_iter().chain(room).min()
    }

    /// The next event, if there is one.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// # let (mut host, _) = example_pair();
    /// while let Some(event) = host.poll_event() {
    ///     let _ = event;
    /// }
    /// ```
    pub fn poll_event(&mut self) -> Option<Event<A>> {
        let mut event = self.events.pop_front()?;
        if self.events.is_empty() && self.events.capacity() > handle::EVENTS_MAX {
            self.events = VecDeque::new(); // of a peer that ended with many receipts
        }
        match &mut event {
            Event::Readable { peer } => {
                if let Some(peer) = self.peers.get_mut(*peer) {
                    peer.readable_taken();
                }
            }
            Event::Writable { peer } => {
                if let Some(peer) = self.peers.get_mut(*peer) {
                    peer.writable_taken();
                }
            }
            Event::Receipt { peer, .. } => {
                self.receipts -= 1;
                if self.peers.get_mut(*peer).is_some_and(Peer::receipt_taken) {
                    self.settle(peer.slot);
                }
            }
            Event::PathNarrowed { peer, bytes } => {
                let peer = self.peers.get_mut(*peer);
                *bytes = peer.and_then(Peer::narrowed_taken).unwrap_or(*bytes);
            }
            Event::PeerMoved { peer, to, .. } => *to = self.moved_taken(*peer).unwrap_or(*to),
            Event::Request { .. }
            | Event::Connected { .. }
            | Event::PortClosed { .. }
            | Event::Disconnected { .. } => {}
        }
        Some(event)
    }

    /// After anything that may have changed a peer: its events, its deadline, its turn to send, and
    /// its end.
    fn settle(&mut self, slot: u32) {
        let id = self.peers.id(slot);
        self.choose_way(slot);
        let Some((address, peer)) = self.peers.at_mut(slot) else {
            return;
        };
        let address = *address;
        self.kept.set(slot, peer.kept());
        while let Some(news) = peer.next_news() {
            let event = match news {
                News::Request => Event::Request { peer: id, address },
                News::Connected => {
                    self.stats.connected += 1;
                    Event::Connected { peer: id, address }
                }
                News::Readable => Event::Readable { peer: id },
                News::Writable => Event::Writable { peer: id },
                News::PathNarrowed(bytes) => Event::PathNarrowed { peer: id, bytes },
                News::Receipt(Receipt { token, outcome, .. }) => {
                    self.receipts += 1;
                    Event::Receipt {
                        peer: id,
                        token,
                        outcome,
                    }
                }
                News::Ended {
                    reason,
                    undelivered,
                    told,
                } => {
                    if peer.is_inbound() {
                        self.inbound.remove(slot);
                    }
                    if !peer.is_over() {
                        self.lingering.push_back(id);
                    }
                    if !told {
                        continue;
                    }
                    Event::Disconnected {
                        peer: id,
                        reason,
                        undelivered,
                    }
                }
            };
            self.events.push_back(event);
        }
        self.schedule.set_deadline(slot, peer.next_deadline());
        if peer.is_over() {
            self.bury(slot);
        } else {
            self.schedule.set_ready(slot);
        }
        self.bound_lingering();
    }

    /// Deletes a peer (§2.2).
    fn bury(&mut self, slot: u32) {
        self.schedule.set_deadline(slot, Instant::NEVER);
        self.kept.set(slot, 0);
        self.peers.remove(slot);
    }

    /// At most two lingering peers for each that may be connected; the oldest go first.
    fn bound_lingering(&mut self) {
        let max = 2 * self.config.max_peers as usize;
        while let Some(&id) = self.lingering.front() {
            let gone = self.peers.get(id).is_none();
            if !gone && self.lingering.len() <= max {
                return;
            }
            self.lingering.pop_front();
            if !gone {
                self.forgetful_until = self.now + LINGER;
                self.bury(id.slot);
            }
        }
    }

    /// What was counted since the host was made.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// let (host, _) = example_pair();
    /// assert_eq!(host.stats().connected, 1);
    /// ```
    pub const fn stats(&self) -> HostStats {
        self.stats
    }

    /// A peer, while it is there: until a while after its `Disconnected`.
    ///
    /// ```
    /// # use porous_proto::{doc::example_pair, PeerState};
    /// let (host, peer) = example_pair();
    /// assert_eq!(host.peer(peer).unwrap().state(), PeerState::Connected);
    /// ```
    pub fn peer(&self, peer: PeerId) -> Option<&Peer> {
        self.peers.get(peer).map(|(_, peer)| peer)
    }

    /// The live peers, in a stable order: those that connect, are connected or are being
    /// disconnected. A peer is live until it ends, which its `Disconnected` tells. Newcomers of
    /// which no event has told yet, as they have to prove themselves, are among them.
    ///
    /// ```
    /// # use porous_proto::{doc::example_pair, Disconnect, Instant};
    /// let (mut host, peer) = example_pair();
    /// host.disconnect(Instant::ZERO, peer, Disconnect::Now { reason: 0 })?;
    /// assert_eq!(host.peers().count(), 1); // until the remote host has acknowledged that
    /// # Ok::<(), porous_proto::UnknownPeer>(())
    /// ```
    pub fn peers(&self) -> impl Iterator<Item = (PeerId, &Peer)> {
        self.peers.iter().filter(|(_, peer)| peer.state().is_live())
    }

    /// The peers of which packets can be [received](Self::receive) at once, those included that
    /// have ended, in a stable order: for who has missed their `Readable`.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// let (host, _) = example_pair();
    /// assert_eq!(host.readable().count(), 0);
    /// ```
    pub fn readable(&self) -> impl Iterator<Item = PeerId> {
        let readable = self.peers.iter().filter(|(_, peer)| peer.is_readable());
        readable.map(|(id, _)| id)
    }

    /// Where a peer is.
    ///
    /// ```
    /// # use porous_proto::doc::example_pair;
    /// let (host, peer) = example_pair();
    /// assert_eq!(host.address(peer), Some(2));
    /// ```
    pub fn address(&self, peer: PeerId) -> Option<A> {
        self.peers.get(peer).map(|&(address, _)| address)
    }
}

#[cfg(test)]
mod tests;
