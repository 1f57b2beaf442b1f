//! §2.1: the host object, and its verbs.

mod answers;
mod backlog;
mod commands;
mod connection_ids;
mod cookie;
mod deadlines;
#[cfg(feature = "seal")]
mod door;
mod events;
mod input;
mod member;
#[cfg(feature = "record")]
mod record;
mod roaming;
mod schedule;
#[cfg(feature = "seal")]
mod sealed;
mod shares;
mod slot_mask;
mod steps;
mod strangers;
mod table;
#[cfg(feature = "audit")]
mod view;

use alloc::boxed::Box;

use rand_core::CryptoRng;

use self::backlog::Backlog;
pub use self::connection_ids::ConnectionIds;
#[cfg(feature = "seal")]
use self::door::Door;
use self::events::Events;
use self::input::{Input, Taken};
use self::member::Member;
use self::schedule::{Reason, Schedule};
pub use self::shares::ip_source;
use self::shares::{Inbound, Kept, Lingering};
use self::slot_mask::SlotMask;
use self::steps::Steps;
use self::strangers::Strangers;
use self::table::{Found, Table};
use crate::buffers::Memory;
use crate::config::Config;
use crate::event::{Disposition, Ecn, Event, Transmit};
#[cfg(any(test, feature = "audit"))]
use crate::hooks::audit::Audit;
use crate::ids::{Address, PeerId, Slot};
use crate::peer::{News, Peer, Settings, Tick};
use crate::stats::{FrameStats, HostStats};
use crate::time::Instant;
use crate::timer::Timer;
use crate::transfer::Written;

/// One socket's worth of peers: the state machine of the protocol.
///
/// The host does no input or output. A driver hands it the datagrams that arrive and the time, and
/// takes from it the datagrams to be sent, the events, and the time when it wants to be called
/// next. See the [crate's documentation](crate) for the loop.
///
/// `R` is the source of random numbers, `A` is how the driver names remote hosts.
#[derive(Debug)]
pub struct Host<R, A = core::net::SocketAddr> {
    /// Boxed: it holds the settings of 255 channels, and a host is moved by value.
    local: Box<Settings>,
    connection_ids: ConnectionIds,
    /// Bytes that the driver adds to each datagram of the connections that this host begins from now on.
    envelope: u8,
    rng: R,
    /// True of two addresses that differ by no more than the port.
    same_host: fn(&A, &A) -> bool,
    table: Table<A>,
    schedule: Schedule,
    /// Places of live peers that connected to us.
    inbound: Inbound<A>,
    /// Memory of received packets that the application has not pulled.
    kept: Kept,
    memory: Memory,
    lingering: Lingering,
    events: Events<A>,
    strangers: Strangers<A>,
    backlog: Backlog,
    /// Admits the bearers of tokens.
    #[cfg(feature = "seal")]
    door: Door<A>,
    steps: Steps,
    stats: HostStats,
    /// Frames to peers that have ended.
    ended: FrameStats,
}

impl<R: CryptoRng, A: Address> Host<R, A> {
    /// A host with this configuration. It draws its keys, random ids and connection ids from `rng`.
    ///
    /// ```
    /// use porous_proto::{Config, Host};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let host = Host::<_, core::net::SocketAddr>::new(Config::new(), example_rng());
    /// assert_eq!(host.poll_timeout(), None);
    /// ```
    pub fn new(config: Config, mut rng: R) -> Self {
        let strangers = Strangers::new(&config, &mut rng);
        let mask = SlotMask::new(strangers.key_of_ids());
        Self {
            strangers,
            schedule: Schedule::new(config.budgets.host_send_rate),
            kept: Kept::new(&config),
            memory: Memory::new(config.budgets_of_peers()),
            lingering: Lingering::new(&config),
            local: Box::new(Settings::new(config)),
            connection_ids: ConnectionIds::default(),
            envelope: 0,
            rng,
            same_host: |_, _| false,
            table: Table::new(mask),
            inbound: Inbound::new(),
            events: Events::new(),
            backlog: Backlog::default(),
            #[cfg(feature = "seal")]
            door: Door::default(),
            steps: Steps::default(),
            stats: HostStats::default(),
            ended: FrameStats::default(),
        }
    }

    /// Tells the host which addresses differ by no more than the port: `same_host` is true of two such
    /// addresses. If a peer [moves](crate::Config::roaming) to another port alone, a router has most
    /// likely given it that port, and all measurements of the path stay. After any other move the path
    /// is measured anew: its round-trip time, its window and the datagrams that it carries. By default
    /// no two addresses are of one host. The drivers of this project set this by themselves.
    ///
    /// ```
    /// use core::net::SocketAddr;
    /// use porous_proto::{Config, Host};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = Host::<_, SocketAddr>::new(Config::new().roaming(true), example_rng());
    /// host.set_same_host(|a, b| a.ip() == b.ip());
    /// ```
    pub const fn set_same_host(&mut self, same_host: fn(&A, &A) -> bool) {
        self.same_host = same_host;
    }

    /// Tells the host which addresses belong to one owner, for
    /// [`Config::max_peers_per_source`](crate::Config::max_peers_per_source): those for which
    /// `source_of` gives the same 16 bytes. Addresses for which it gives 16 zeros are not limited; by
    /// default that is so of all. Call this before the host listens: peers that are there already are
    /// not counted by source.
    ///
    /// The drivers of this project for UDP and smoltcp set this by themselves, with [`ip_source`]. A
    /// server whose players all come through one proxy or load balancer, which hides their addresses,
    /// sets a function of its own, or allows each source as many peers as
    /// [`max_peers`](crate::Config::max_peers).
    ///
    /// ```
    /// use porous_proto::{Config, Host};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// // Addresses of a network of our own, whose upper half names a machine.
    /// let mut host = Host::<_, u64>::new(Config::new(), example_rng());
    /// host.set_source_of(|from| u128::from(from >> 32).to_be_bytes());
    /// ```
    pub const fn set_source_of(&mut self, source_of: fn(&A) -> [u8; 16]) {
        self.inbound.set_source_of(source_of);
    }

    /// Takes in a datagram that came from the address `from`, and says what became of it. Whatever the
    /// datagram contains, the work is bounded by its length and by the configuration, and nothing grows
    /// past a limit of the configuration.
    ///
    /// `ecn` is what the IP header said, or `NotEct` if the driver does not know.
    ///
    /// ```
    /// use porous_proto::{Config, Disposition, Ecn, Host, Instant};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = Host::<_, u32>::new(Config::new(), example_rng());
    /// let disposition = host.handle_datagram(Instant::ZERO, 7, Ecn::NotEct, b"garbage");
    /// assert!(matches!(disposition, Disposition::Ignored(_)));
    /// ```
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        from: A,
        ecn: Ecn,
        datagram: &[u8],
    ) -> Disposition {
        let tick = self.steps.advance(now);
        self.stats.datagrams_received += 1;
        self.stats.bytes_received += datagram.len() as u64;
        let mut input = Input {
            host: self,
            tick,
            from,
        };
        match input.take(ecn, datagram) {
            Ok(Taken { slot, is_new }) => {
                // Counted before `settle`, as the `Disconnected` of this very datagram closes the books.
                if let Some(member) = self.table.at_mut(slot) {
                    member.peer.count_received(datagram.len(), tick.now);
                }
                let peer = self.table.id(slot); // `settle` may delete the peer, and the name with it
                self.settle(slot);
                if is_new {
                    self.stats.accepted += 1;
                    Disposition::Accepted(peer)
                } else {
                    Disposition::Handled(peer)
                }
            }
            Err(cause) => {
                self.stats.ignored[cause.index()] += 1;
                Disposition::Ignored(cause)
            }
        }
    }

    /// Tells the host that the system cannot send to the address `to`: it has no route there, or does
    /// not allow it. A driver calls this when the system says so of a datagram for the address. An
    /// attempt to connect no longer tries the address, and ends when none of its addresses is left: with
    /// [`DisconnectReason::Unreachable`](crate::DisconnectReason::Unreachable), or with the refusal
    /// if one of them has refused. Nothing else changes: a connection survives the error, unless it
    /// lasts, as it survives any loss.
    ///
    /// ```
    /// use porous_proto::{Config, DisconnectReason, Event, Host, Instant};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = Host::<_, u32>::new(Config::client(), example_rng());
    /// let peer = host.connect(Instant::ZERO, 7)?;
    /// host.handle_unreachable(Instant::ZERO, 7);
    /// let (reason, undelivered) = (DisconnectReason::Unreachable, 0);
    /// let ended = Event::Disconnected { peer, reason, undelivered };
    /// assert_eq!(host.poll_event(), Some(ended));
    /// # Ok::<(), porous_proto::ConnectError>(())
    /// ```
    pub fn handle_unreachable(&mut self, now: Instant, to: A) {
        let now = self.steps.advance(now).now;
        if let Some(Found { slot, way, member }) = self.table.find_mut(to, Peer::is_attempt) {
            member.peer.on_unreachable(way, now);
            self.settle(slot);
        }
    }

    /// Tells the host whether the turn of taking in datagrams that began at `now` has left some behind for
    /// want of time. A driver calls this at the end of each turn. If each turn of a second has left some
    /// behind, more comes than the program can take in: requests of strangers are then refused as
    /// [`Full`](crate::Refusal::Full), until a turn leaves nothing behind, and
    /// [`HostStats::overloaded`] counts them. Connected peers go before newcomers.
    ///
    /// A turn counts for at most 100 ms, so that a program that was stopped for a while is not taken to be
    /// too slow.
    ///
    /// ```
    /// use core::time::Duration;
    /// use porous_proto::{Config, Host, Instant, Listen};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = Host::<_, u32>::new(Config::new(), example_rng());
    /// host.listen(Listen::Open)?;
    /// let now = Instant::ZERO + Duration::from_millis(8);
    /// // Here the program has handed over what it could within its time, and more has come.
    /// host.handle_backlog(now, true);
    /// # Ok::<(), porous_proto::ListenError>(())
    /// ```
    pub fn handle_backlog(&mut self, now: Instant, waits: bool) {
        self.backlog.note(now, waits);
    }

    /// Tells the host that nothing is bound to the port of the address `at`, as the machine there says
    /// (ICMP "port unreachable"). A driver calls this where its system reports it, with `None` if the
    /// system does not report the address: the host then knows it only if it has one peer, which
    /// connects to one address. If an attempt to connect tries the address, [`Event::PortClosed`] tells
    /// of it, once; nothing else happens, as such a message can be forged.
    ///
    /// ```
    /// use porous_proto::{Config, Event, Host, Instant};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let mut host = Host::<_, u32>::new(Config::client(), example_rng());
    /// let peer = host.connect(Instant::ZERO, 7)?;
    /// host.handle_port_closed(Some(7));
    /// assert_eq!(host.poll_event(), Some(Event::PortClosed { peer, address: 7 }));
    /// # Ok::<(), porous_proto::ConnectError>(())
    /// ```
    pub fn handle_port_closed(&mut self, at: Option<A>) {
        let Some(address) = at.or_else(|| self.table.only_address()) else {
            return;
        };
        // Only of attempts: a message that anybody can forge must not touch a connection (C12).
        let attempt = self.table.find_mut(address, Peer::is_attempt);
        if let Some(Found { slot, way, member }) = attempt {
            if member.peer.on_port_closed(way) {
                let peer = self.table.id(slot);
                self.events.push(Event::PortClosed { peer, address });
            }
        }
    }

    /// Does everything that is due. Call it when [`poll_timeout`](Self::poll_timeout) says so, or at
    /// regular intervals, after the datagrams that have arrived were
    /// [handled](Self::handle_datagram). A call that is too early is harmless; one that is late makes
    /// acknowledgements and repairs of losses late. The paper's step (§2.1).
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// # let (mut host, _) = example_pair();
    /// let due = host.poll_timeout().unwrap();
    /// host.handle_timeout(due);
    /// ```
    pub fn handle_timeout(&mut self, now: Instant) {
        let timeout = self.local.config.timeouts.timeout;
        // How late this step is counts from the earliest deadline, before any is taken (T23).
        let tick = self
            .steps
            .step(now, self.schedule.next(now), timeout.into());
        self.memory.buffers.handle_timeout(tick.now);
        // This ends: what is due becomes pending, and leaves with the next datagram.
        while let Some(slot) = self.schedule.pop_due(tick.now) {
            if let Some(member) = self.table.at_mut(slot) {
                member.handle_timeout(tick, timeout, || self.rng.next_u64());
                self.settle(slot);
            }
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next. A time in the past means
    /// that datagrams wait to be [sent](Self::poll_transmit); `None` that nothing is due by itself.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// let (host, _) = example_pair();
    /// assert!(host.poll_timeout().is_some()); // a connected peer is pinged now and then
    /// ```
    pub fn poll_timeout(&self) -> Option<Instant> {
        let answers = self.strangers.has_answer().then_some(Instant::ZERO);
        answers.or_else(|| self.schedule.next_call())
    }

    /// What is due at the time that [`poll_timeout`](Self::poll_timeout) tells, and of which peer if it is one's:
    /// for traces, and for the question why a host wakes so often. It has no other use, and is not made for speed.
    /// A deadline may have been put off meanwhile: then the host is called, does nothing, and tells a later time.
    ///
    /// ```
    /// use porous_proto::{ChannelId, Mode, Timer};
    /// # use porous_proto::hooks::doc::example_pair;
    ///
    /// # let (mut host, peer) = example_pair();
    /// assert_eq!(host.timer(), Some((Timer::Ping, Some(peer))));
    /// host.send(peer, ChannelId(0), "hello", Mode::Reliable)?;
    /// assert_eq!(host.timer(), Some((Timer::Transmit, Some(peer))));
    /// # Ok::<(), porous_proto::SendError>(())
    /// ```
    #[must_use]
    pub fn timer(&self) -> Option<(Timer, Option<PeerId>)> {
        if self.strangers.has_answer() {
            return Some((Timer::Transmit, None));
        }
        Some(match self.schedule.next_reason()? {
            Reason::Ready(slot) => (Timer::Transmit, Some(self.table.id(slot))),
            Reason::Room => (Timer::HostRate, None),
            Reason::Deadline(slot) => {
                let peer = self.table.id(slot);
                (self.table.get(peer)?.peer.next_timer(), Some(peer))
            }
        })
    }

    /// The next event, if there is one.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// # let (mut host, _) = example_pair();
    /// while let Some(event) = host.poll_event() {
    ///     let _ = event;
    /// }
    /// ```
    pub fn poll_event(&mut self) -> Option<Event<A>> {
        let mut event = self.events.pop()?;
        // Of events that may come again one of each waits at most: the peer hears that it was taken.
        match &mut event {
            Event::Readable { peer } => {
                if let Some(member) = self.table.get_mut(*peer) {
                    member.peer.readable_taken();
                }
            }
            Event::Writable { peer } => {
                if let Some(member) = self.table.get_mut(*peer) {
                    member.peer.writable_taken();
                }
            }
            Event::Receipt { peer, .. } => {
                let slot = peer.slot;
                let member = self.table.get_mut(*peer);
                // Its 64 bytes of the send budget are free: a refused `send` may have room now.
                if member.is_some_and(|member| member.peer.receipt_taken()) {
                    self.settle(slot);
                }
            }
            // Both tell what holds now, not when the event was queued.
            Event::PathNarrowed { peer, bytes } => {
                let member = self.table.get_mut(*peer);
                let narrowed = member.and_then(|member| member.peer.narrowed_taken());
                *bytes = narrowed.unwrap_or(*bytes);
            }
            Event::PeerMoved { peer, to, .. } => {
                *to = self.table.get_mut(*peer).map_or(*to, Member::moved_taken);
            }
            Event::Request { .. }
            | Event::Connected { .. }
            | Event::PortClosed { .. }
            | Event::Disconnected { .. } => {}
        }
        Some(event)
    }

    /// The bytes of the buffer that [`poll_transmit`](Self::poll_transmit) needs: no datagram of this
    /// host is longer. The largest of [`Config::max_datagram`](crate::Config::max_datagram),
    /// [`path_mtu_discovery`](crate::Config::path_mtu_discovery) and
    /// [`request_size`](crate::Config::request_size), so at least 512. A buffer to receive into needs as
    /// many bytes, and at least 1200: remote hosts may pad their requests to that.
    ///
    /// ```
    /// use porous_proto::{Config, Host};
    /// # use porous_proto::hooks::doc::example_rng;
    ///
    /// let host = Host::<_, u32>::new(Config::new(), example_rng());
    /// assert_eq!(host.max_datagram_size(), 1200);
    /// ```
    pub fn max_datagram_size(&self) -> usize {
        self.local.longest()
    }

    /// Writes the next datagram to be sent into `buf`. Call it until it returns `None`: after every
    /// input or command that may have caused output, and after
    /// [`handle_timeout`](Self::handle_timeout).
    ///
    /// # Panics
    ///
    /// If `buf` is shorter than [`max_datagram_size`](Self::max_datagram_size), before anything
    /// changes.
    ///
    /// ```
    /// # use porous_proto::{hooks::doc::example_pair, Instant};
    /// # let (mut host, _) = example_pair();
    /// # let now = Instant::ZERO;
    /// let mut buf = [0; 1200];
    /// while let Some(transmit) = host.poll_transmit(now, &mut buf) {
    ///     let _ = (transmit.to, transmit.datagram); // to the socket
    /// }
    /// ```
    pub fn poll_transmit<'b>(
        &mut self,
        now: Instant,
        buf: &'b mut [u8],
    ) -> Option<Transmit<'b, A>> {
        assert!(
            buf.len() >= self.max_datagram_size(),
            "the buffer is too short: see max_datagram_size"
        );
        let tick = self.steps.advance(now);
        let answer = self.strangers.poll_transmit(&self.local.offer, buf);
        let to_stranger = answer.is_some();
        let (to, written) = match answer {
            // The cap of the host counts answers, but `AnswerLimits` has held them back already.
            Some((to, len)) => {
                self.schedule.on_sent(len, false, tick.now);
                (to, Written::plain(len))
            }
            None => self.write_next(tick, buf)?,
        };
        self.stats.datagrams_sent += 1;
        self.stats.bytes_sent += written.len as u64;
        Some(Transmit {
            to,
            ecn: written.ecn,
            dont_fragment: written.dont_fragment,
            to_stranger,
            datagram: &buf[..written.len],
        })
    }

    /// Writes the next datagram to a peer, if there is one, and says where to.
    fn write_next(&mut self, tick: Tick, buf: &mut [u8]) -> Option<(A, Written)> {
        loop {
            let tick = self.schedule.look_for_room(tick);
            let slot = self.schedule.first(!tick.is_full)?;
            let Some(member) = self.table.at_mut(slot) else {
                // The peer was deleted while its slot stood in the queue.
                self.schedule.turn_over(!tick.is_full, false);
                continue;
            };
            let sent = member.poll_transmit(&self.local, tick, buf);
            let (gate, has_news) = (member.peer.gate(), member.peer.has_news());
            let due = member.peer.next_deadline();
            self.schedule.set_deadline(slot, due);
            // One datagram a turn: peers share the cap by datagram (P11).
            let more = sent.as_ref().is_some_and(|(_, written)| written.more);
            self.schedule.turn_over(!tick.is_full, more);
            // Only data waits for room: the peer has another turn when there is some.
            if tick.is_full && gate.waits && sent.is_none() {
                self.schedule.set_waiting(slot);
            }
            // Sending may end a peer, and may make the room that `Writable` is owed for.
            if has_news {
                self.settle(slot);
            }
            let Some((to, written)) = sent else { continue };
            self.schedule.on_sent(written.len, gate.data, tick.now);
            return Some((to, written));
        }
    }

    /// Brings the books of a peer up to date, after anything that may have changed it: its events, its
    /// deadline, its turn to send, and its end.
    fn settle(&mut self, slot: Slot) {
        let id = self.table.id(slot);
        let Some(member) = self.table.at_mut(slot) else {
            return;
        };
        let address = member.address();
        let peer = &mut member.peer;
        self.kept.set(slot, peer.kept());
        while let Some(news) = peer.next_news() {
            self.stats.connected += u64::from(matches!(news, News::Connected));
            if matches!(news, News::Ended { .. }) {
                self.ended = self.ended.plus(peer.frames());
                // Its place is free at once, although it may linger: live peers count (C15).
                if peer.is_inbound() {
                    self.inbound.remove(slot);
                }
                if !peer.is_over() {
                    self.lingering.push(id);
                }
            }
            self.events.tell(id, address, news);
        }
        if peer.is_over() {
            self.bury(slot);
        } else {
            // Whether it has anything to send only its turn shows.
            self.schedule.set_ready(slot);
            self.schedule.set_deadline(slot, peer.next_deadline());
        }
        let now = self.steps.now();
        while let Some(slot) = self.lingering.pop_excess(&self.table, now) {
            self.bury(slot);
        }
    }

    /// Deletes a peer (§2.2).
    fn bury(&mut self, slot: Slot) {
        self.schedule.set_deadline(slot, Instant::NEVER);
        self.kept.set(slot, 0);
        self.table.remove(slot);
        if self.table.is_empty() {
            self.memory.buffers.clear(); // without peers, no step might come
        }
    }

    /// Whether a newcomer at this address has to prove itself by a datagram of its own connection:
    /// another peer has the address (C5), or the newcomer's request may be an old one, of a connection
    /// that this host forgot early (P3).
    fn must_prove(&self, address: A) -> bool {
        // Not the newcomer itself, as long as the application is asked about it.
        let counts = |peer: &Peer| peer.state().is_live() && !peer.is_asked();
        let is_forgetful = self.lingering.is_forgetful(self.steps.now());
        is_forgetful || self.table.find(address, counts).is_some()
    }

    /// What was counted since the host was made.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// let (host, _) = example_pair();
    /// assert_eq!(host.stats().connected, 1);
    /// ```
    pub const fn stats(&self) -> HostStats {
        self.stats
    }

    /// The frames to all peers, live ones and those that have ended, since the host was made. The work grows
    /// with the number of live peers: meant for once a second, not for each tick.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// let (host, _) = example_pair();
    /// let frames = host.frames();
    /// assert!(frames.lost <= frames.sent);
    /// ```
    pub fn frames(&self) -> FrameStats {
        let live = self.peers().map(|(_, peer)| peer.frames());
        live.fold(self.ended, FrameStats::plus)
    }

    /// The peer with this id, until it is deleted: when its `Disconnected` is due at the earliest, and
    /// 30 s later at the latest.
    ///
    /// ```
    /// # use porous_proto::{hooks::doc::example_pair, PeerState};
    /// let (host, peer) = example_pair();
    /// assert_eq!(host.peer(peer).unwrap().state(), PeerState::Connected);
    /// ```
    pub fn peer(&self, peer: PeerId) -> Option<&Peer> {
        self.table.get(peer).map(|member| &member.peer)
    }

    /// The live peers, in a stable order: those that connect, are connected or are being
    /// disconnected. A peer is live until it ends, which its `Disconnected` tells. Newcomers that
    /// still have to prove themselves, of which no event has told yet, are among them.
    ///
    /// ```
    /// # use porous_proto::{hooks::doc::example_pair, Disconnect, Instant};
    /// let (mut host, peer) = example_pair();
    /// host.disconnect(Instant::ZERO, peer, Disconnect::Now { reason: 0 })?;
    /// assert_eq!(host.peers().count(), 1); // until the remote host has acknowledged that
    /// # Ok::<(), porous_proto::UnknownPeer>(())
    /// ```
    pub fn peers(&self) -> impl Iterator<Item = (PeerId, &Peer)> {
        let members = self.table.iter().map(|(id, member)| (id, &member.peer));
        members.filter(|(_, peer)| peer.state().is_live())
    }

    /// True if no peer is live, and nothing more is to be said to those that have ended. After
    /// [`drain`](Self::drain) or [`disconnect_all`](Self::disconnect_all): if all peers know, or were
    /// given up. Packets that had arrived can still be [received](Self::receive).
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// let (host, _) = example_pair();
    /// assert!(!host.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        let is_done = |peer: &Peer| !peer.state().is_live() && !peer.owes_answer();
        !self.strangers.has_goodbye() && self.table.iter().all(|(_, member)| is_done(&member.peer))
    }

    /// The peers of which packets can be [received](Self::receive) now, also of those that have
    /// ended, in a stable order: for an application that has missed their `Readable`.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// let (host, _) = example_pair();
    /// assert_eq!(host.readable().count(), 0);
    /// ```
    pub fn readable(&self) -> impl Iterator<Item = PeerId> {
        let members = self.table.iter();
        let readable = members.filter(|(_, member)| member.peer.is_readable());
        readable.map(|(id, _)| id)
    }

    /// The peer that is connected at this address, or connects to it, perhaps among other addresses; `None`
    /// if there is none, or if it is being disconnected.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// let (host, peer) = example_pair();
    /// assert_eq!(host.peer_at(2), Some(peer));
    /// assert_eq!(host.peer_at(3), None);
    /// ```
    pub fn peer_at(&self, address: A) -> Option<PeerId> {
        let slot = self.table.find(address, |peer| peer.state().is_open())?;
        Some(self.table.id(slot))
    }

    /// The address that datagrams to a peer go to; `None` once the peer is deleted.
    ///
    /// ```
    /// # use porous_proto::hooks::doc::example_pair;
    /// let (host, peer) = example_pair();
    /// assert_eq!(host.address(peer), Some(2));
    /// ```
    pub fn address(&self, peer: PeerId) -> Option<A> {
        self.table.get(peer).map(Member::address)
    }

    /// Counts everything again, and says what there is. For tests: its work grows with what there is.
    ///
    /// # Panics
    ///
    /// If something is counted wrong, without a deadline, or over a limit.
    #[cfg(any(test, feature = "audit"))]
    #[doc(hidden)]
    #[must_use]
    pub fn audit(&self) -> Audit {
        let mut audit = Audit {
            replies: self.strangers.waiting(),
            ..Audit::default()
        };
        let config = &self.local.config;
        let mut inbound = alloc::vec::Vec::new();
        for (id, Member { peer, .. }) in self.table.iter() {
            audit.peers += 1;
            if peer.is_inbound() && peer.state().is_live() {
                inbound.push(id.slot);
            }
            peer.audit(&mut audit);
            let most = config.offered.receive_budget.into();
            self.kept.audit(id.slot, peer.kept(), most);
            // A deadline may be set too early: what puts one off need not tell the schedule.
            let (set, due) = (self.schedule.deadline(id.slot), peer.next_deadline());
            assert!(set <= due, "{id:?}: {set:?} is too late for {due:?}");
        }
        self.table.audit();
        self.schedule.audit(self.local.longest());
        self.inbound.audit(&inbound, config);
        self.lingering.audit();
        audit
    }

    /// Writes all that decides what this host does next, where hosts of one configuration are compared; `position`
    /// tells how far the source of random numbers has come. For tests: the work grows with what the host holds.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    #[cfg(feature = "audit")]
    #[doc(hidden)]
    pub fn view(
        &self,
        out: &mut dyn core::fmt::Write,
        position: fn(&R) -> u128,
    ) -> core::fmt::Result {
        view::write(self, out, position)
    }

    /// All peers, also those that have ended and linger. For tests.
    #[cfg(any(test, feature = "audit"))]
    #[doc(hidden)]
    pub fn all_peers(&self) -> impl Iterator<Item = (PeerId, &Peer)> {
        self.table.iter().map(|(id, member)| (id, &member.peer))
    }
}

#[cfg(test)]
mod tests;
