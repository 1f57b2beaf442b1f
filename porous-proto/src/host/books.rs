//! What a host keeps of all its peers together, beside the table: when each is due, what each takes,
//! which of them have ended, what the application is to be told, and counts.

use alloc::collections::VecDeque;
use core::time::Duration;

use rand_core::Rng;

use super::member::Member;
use super::schedule::Schedule;
use super::shares::{Inbound, Kept, Source};
use super::table::{Slot, Table};
use super::{Address, PeerId};
use crate::config::Config;
use crate::event::{Event, Ignored};
use crate::frame::Offer;
use crate::peer::{LINGER, News, Peer, Tick};
use crate::sequencing::Receipt;
use crate::time::Instant;
use crate::transfer::Written;

/// While this number of events waits for the application, nobody is let in (told in `Config`).
const EVENTS_MAX: usize = 4096;

/// Events that the application has not taken.
#[derive(Debug)]
struct Events<A> {
    queue: VecDeque<Event<A>>,
    /// How many of them are receipts.
    receipts: usize,
}

impl<A: Address> Events<A> {
    fn push(&mut self, event: Event<A>) {
        self.receipts += usize::from(matches!(event, Event::Receipt { .. }));
        self.queue.push_back(event);
    }

    fn pop(&mut self) -> Option<Event<A>> {
        let event = self.queue.pop_front()?;
        self.receipts -= usize::from(matches!(event, Event::Receipt { .. }));
        if self.queue.is_empty() && self.queue.capacity() > EVENTS_MAX {
            self.queue = VecDeque::new(); // of a peer that ended with many receipts
        }
        Some(event)
    }

    /// Whether the application has not looked for long. Receipts have bounds of their own.
    fn are_too_many(&self) -> bool {
        self.queue.len() - self.receipts >= EVENTS_MAX
    }
}

/// What the application is told of a peer.
fn event_of<A>(peer: PeerId, address: A, news: News) -> Option<Event<A>> {
    Some(match news {
        News::Request => Event::Request { peer, address },
        News::Connected => Event::Connected { peer, address },
        News::Readable => Event::Readable { peer },
        News::Writable => Event::Writable { peer },
        News::PathNarrowed(bytes) => Event::PathNarrowed { peer, bytes },
        News::Receipt(Receipt { token, outcome, .. }) => Event::Receipt {
            peer,
            token,
            outcome,
        },
        News::Ended { told: false, .. } => return None,
        News::Ended {
            reason,
            undelivered,
            told: true,
        } => Event::Disconnected {
            peer,
            reason,
            undelivered,
        },
    })
}

/// The books.
#[derive(Debug)]
pub(super) struct Books<A> {
    schedule: Schedule,
    /// Live peers that connected to us.
    inbound: Inbound<A>,
    /// Received packets.
    kept: Kept,
    /// Peers that have ended and linger, the oldest first.
    lingering: VecDeque<PeerId>,
    /// At most two for each peer that may be connected.
    lingering_max: usize,
    /// Until then a request may come again whose peer did not linger for as long as it should.
    forgetful_until: Instant,
    events: Events<A>,
    /// How many peers have connected.
    connected: u64,
}

impl<A: Address> Books<A> {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            schedule: Schedule::new(config.host_send_rate),
            inbound: Inbound::new(),
            kept: Kept::new(config),
            lingering: VecDeque::new(),
            lingering_max: 2 * config.max_peers as usize,
            forgetful_until: Instant::ZERO,
            events: Events {
                queue: VecDeque::new(),
                receipts: 0,
            },
            connected: 0,
        }
    }

    /// How many peers have connected, of either side.
    pub(super) const fn connected(&self) -> u64 {
        self.connected
    }

    pub(super) const fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    pub(super) const fn schedule_mut(&mut self) -> &mut Schedule {
        &mut self.schedule
    }

    /// See [`Inbound::set_source_of`].
    pub(super) const fn set_source_of(&mut self, source_of: fn(&A) -> Source) {
        self.inbound.set_source_of(source_of);
    }

    /// What received packets of this peer may take.
    pub(super) fn may_keep(&self, slot: Slot) -> u64 {
        self.kept.limit(slot)
    }

    /// A peer has not taken a datagram of its.
    pub(super) fn on_untaken(&mut self, slot: Slot, cause: Ignored) {
        if cause == Ignored::OverBudget {
            self.kept.refuse(slot);
        }
    }

    /// Whether one more peer may connect to us, from anywhere.
    pub(super) fn has_room(&self, config: &Config) -> bool {
        self.inbound.count() < config.max_peers && !self.events.are_too_many()
    }

    /// Whether one more may, from this address. It looks at all: to be asked of proved addresses.
    pub(super) fn has_place(&self, from: &A, config: &Config) -> bool {
        self.inbound.has_place(from, config)
    }

    /// A peer has connected to us.
    pub(super) fn on_accepted(&mut self, slot: Slot, from: &A) {
        self.inbound.insert(slot, from);
    }

    /// Whether a newcomer has to prove itself by a datagram of its own connection: another peer has
    /// its address, or its request may be an old one, of a connection that was forgotten early.
    pub(super) fn must_prove(&self, table: &Table<A>, address: A, now: Instant) -> bool {
        let counts = |peer: &Peer| peer.state().is_live() && !peer.is_asked();
        now < self.forgetful_until || table.find(address, counts).is_some()
    }

    /// Something to tell that is no news of the peer itself.
    pub(super) fn tell(&mut self, event: Event<A>) {
        self.events.push(event);
    }

    /// The next event, which the application takes.
    pub(super) fn next_event(&mut self, table: &mut Table<A>, now: Instant) -> Option<Event<A>> {
        let mut event = self.events.pop()?;
        match &mut event {
            Event::Readable { peer } => {
                if let Some(member) = table.get_mut(*peer) {
                    member.peer.readable_taken();
                }
            }
            Event::Writable { peer } => {
                if let Some(member) = table.get_mut(*peer) {
                    member.peer.writable_taken();
                }
            }
            Event::Receipt { peer, .. } => {
                let member = table.get_mut(*peer);
                if member.is_some_and(|member| member.peer.receipt_taken()) {
                    self.settle(table, peer.slot, now);
                }
            }
            Event::PathNarrowed { peer, bytes } => {
                let member = table.get_mut(*peer);
                let narrowed = member.and_then(|member| member.peer.narrowed_taken());
                *bytes = narrowed.unwrap_or(*bytes);
            }
            Event::PeerMoved { peer, to, .. } => {
                *to = table.get_mut(*peer).map_or(*to, Member::moved_taken);
            }
            Event::Request { .. }
            | Event::Connected { .. }
            | Event::PortClosed { .. }
            | Event::Disconnected { .. } => {}
        }
        Some(event)
    }

    /// After anything that may have changed a peer: its events, its deadline, its turn to send, and
    /// its end.
    pub(super) fn settle(&mut self, table: &mut Table<A>, slot: Slot, now: Instant) {
        let id = table.id(slot);
        let Some(member) = table.at_mut(slot) else {
            return;
        };
        let address = member.address();
        let peer = &mut member.peer;
        self.kept.set(slot, peer.kept());
        while let Some(news) = peer.next_news() {
            if matches!(news, News::Connected) {
                self.connected += 1;
            }
            if matches!(news, News::Ended { .. }) {
                if peer.is_inbound() {
                    self.inbound.remove(slot);
                }
                if !peer.is_over() {
                    self.lingering.push_back(id);
                }
            }
            if let Some(event) = event_of(id, address, news) {
                self.events.push(event);
            }
        }
        self.schedule.set_deadline(slot, peer.next_deadline());
        if peer.is_over() {
            self.bury(table, slot);
        } else {
            self.schedule.set_ready(slot);
        }
        self.bound_lingering(table, now);
    }

    /// Deletes a peer (§2.2).
    fn bury(&mut self, table: &mut Table<A>, slot: Slot) {
        self.schedule.set_deadline(slot, Instant::NEVER);
        self.kept.set(slot, 0);
        table.remove(slot);
    }

    /// The oldest of too many lingering peers go first.
    fn bound_lingering(&mut self, table: &mut Table<A>, now: Instant) {
        while let Some(&id) = self.lingering.front() {
            let is_gone = table.get(id).is_none();
            if !is_gone && self.lingering.len() <= self.lingering_max {
                return;
            }
            self.lingering.pop_front();
            if !is_gone {
                self.forgetful_until = now + LINGER;
                self.bury(table, id.slot);
            }
        }
    }

    /// Does what is due. `timeout`: after which silence ends a peer.
    pub(super) fn handle_timeout(
        &mut self,
        table: &mut Table<A>,
        tick: Tick,
        timeout: Duration,
        rng: &mut impl Rng,
    ) {
        while let Some(slot) = self.schedule.pop_due(tick.now) {
            if let Some(member) = table.at_mut(slot) {
                member.handle_timeout(tick, timeout, || rng.next_u64());
                self.settle(table, slot, tick.now);
            }
        }
    }

    /// Writes the next datagram to a peer, if there is one: where to.
    pub(super) fn poll_transmit(
        &mut self,
        table: &mut Table<A>,
        offer: &Offer,
        tick: Tick,
        buf: &mut [u8],
    ) -> Option<(A, Written)> {
        loop {
            let tick = self.schedule.look_for_room(tick);
            let slot = self.schedule.first(!tick.is_full)?;
            let Some(member) = table.at_mut(slot) else {
                self.schedule.turn_over(!tick.is_full, false);
                continue;
            };
            let sent = member.poll_transmit(offer, tick, buf);
            let (gate, has_news) = (member.peer.gate(), member.peer.has_news());
            self.schedule
                .set_deadline(slot, member.peer.next_deadline());
            self.schedule.turn_over(!tick.is_full, sent.is_some());
            if tick.is_full && gate.waits && sent.is_none() {
                self.schedule.set_waiting(slot);
            }
            // Sending may end a peer, and may make the room that `Writable` is owed for.
            if has_news {
                self.settle(table, slot, tick.now);
            }
            let Some((to, written)) = sent else { continue };
            if gate.data {
                self.schedule.spend(written.len, tick.now);
            } else {
                self.schedule.count(written.len);
            }
            return Some((to, written));
        }
    }

    /// # Panics
    ///
    /// If something is counted wrong, without a deadline, or over a limit, where no datagram is longer
    /// than this.
    #[cfg(any(test, feature = "audit"))]
    pub(super) fn audit(&self, table: &Table<A>, config: &Config, longest: usize) {
        self.schedule.audit(longest);
        let mut inbound = alloc::vec::Vec::new();
        for (id, member) in table.iter() {
            let (slot, peer) = (id.slot, &member.peer);
            if peer.is_inbound() && peer.state().is_live() {
                inbound.push(slot);
            }
            let most = config.receive_budget.into();
            self.kept.audit(slot, peer.kept(), most);
            let scheduled = self.schedule.deadline(slot);
            assert_eq!(scheduled, peer.next_deadline(), "{id:?}");
        }
        self.inbound.audit(&inbound, config);
        let lingering = self.lingering.len();
        assert!(lingering <= self.lingering_max, "lingering peers");
    }
}
