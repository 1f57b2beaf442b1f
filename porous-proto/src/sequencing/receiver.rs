//! The receiving half of a channel: which messages it takes in, by the receive window Q_r (17), by what is
//! there, and by what the remote host is believed to have sent.

use bytes::Bytes;

use super::delivery::Delivery;
use super::entry::{Content, Entry};
use super::trust::{Dispute, Trust};
use super::{SequencingParams, Shared, cost};
use crate::buffers::Buffers;
use crate::config::Order;
use crate::frame::{Marker, Mode, Packet};
use crate::serial;
use crate::time::Instant;

/// What is to be done with a message that brings bytes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It begins a packet: its bytes count in the receive budget, and the charge for a packet.
    Begin,
    /// It adds this number of new bytes to a packet that is there; only they count.
    Join(usize),
    /// It brings nothing: its packet was passed, or the bytes are there.
    Stale,
    /// No honest sender sends this.
    Violation,
}

/// The receiving half of a channel.
#[derive(Debug)]
pub(crate) struct Receiver {
    pub(super) delivery: Delivery,
    pub(super) trust: Trust,
    dispute: Dispute,
}

/// The verdict on the first message of a channel, whose ids begin at `first`: a packet, or what stands in its place.
pub(crate) fn check_first(
    (id, dependency): (u32, u32),
    params: &SequencingParams,
    first: u64,
) -> Verdict {
    check_place(dependency, expand(id, first, params), |_| false)
}

/// Checks the place of a message in the order of its channel. `id` is that of its packet, unless the window has passed
/// it; `is_there`: whether something of that packet has come.
fn check_place(dependency: u32, id: Option<u64>, is_there: impl Fn(u64) -> bool) -> Verdict {
    match id {
        // There is no packet before 0 to depend on.
        Some(id) if u64::from(dependency) > id => Verdict::Violation,
        Some(id) if !is_there(id) => Verdict::Begin,
        Some(_) | None => Verdict::Stale,
    }
}

/// The full id of a packet in Q_r (17), whose window begins at `base`. None if the window has passed it.
fn expand(id: u32, base: u64, params: &SequencingParams) -> Option<u64> {
    // Of the whole id space everything but the window lies behind it, as late messages do.
    let behind = (1 << params.id_bits) - params.window;
    serial::expand(id, params.id_bits, base, behind).filter(|&id| id >= base)
}

impl Receiver {
    pub(crate) fn new(first_id: u64, order: Order) -> Self {
        Self {
            delivery: Delivery::new(first_id, order),
            trust: Trust::new(first_id),
            dispute: Dispute::default(),
        }
    }

    /// m_b.
    pub(crate) const fn base(&self) -> u64 {
        self.delivery.queue.base()
    }

    fn expand(&self, id: u32, params: &SequencingParams) -> Option<u64> {
        expand(id, self.base(), params)
    }

    /// The full id of a packet in the window, unless the dependency reaches below the first packet.
    fn place(&self, id: u32, dependency: u32, params: &SequencingParams) -> Option<u64> {
        let id = self.expand(id, params)?;
        (u64::from(dependency) <= id).then_some(id)
    }

    /// Checks a message without changing anything.
    #[inline]
    pub(crate) fn check(&self, packet: &Packet<&[u8]>, params: &SequencingParams) -> Verdict {
        let Some(id) = self.expand(packet.id, params) else {
            return Verdict::Stale;
        };
        // There is no packet before 0 to depend on.
        if u64::from(packet.dependency) > id {
            return Verdict::Violation;
        }
        // Nearly always. Nothing is there of it, and nothing waits that it could contradict.
        if self.delivery.queue.is_beyond(id) {
            return Verdict::Begin;
        }
        self.compare(id, packet).unwrap_or(Verdict::Violation)
    }

    /// The packet that cannot be what is kept of it if this message is true: that of the message, or the
    /// first one that waits for another.
    pub(super) fn contradicted_by(
        &self,
        packet: &Packet<&[u8]>,
        params: &SequencingParams,
    ) -> Option<u64> {
        let id = self.place(packet.id, packet.dependency.into(), params)?;
        self.compare(id, packet).err()
    }

    /// What a message of the packet `id` brings beside what is there. An error is the packet that it
    /// contradicts (`deviations.md` Q13).
    fn compare(&self, id: u64, packet: &Packet<&[u8]>) -> Result<Verdict, u64> {
        let dependency = u32::from(packet.dependency);
        let verdict = match self.delivery.queue.get(id) {
            None => Verdict::Begin,
            Some(entry) => match &entry.content {
                // It may have taken the place of a packet with any mode and bytes.
                Content::Tombstone | Content::Buried => Verdict::Stale,
                // Nothing is left that could be mended, and it must not be delivered once more.
                Content::Delivered => Verdict::Stale,
                _ if entry.mode != packet.mode || entry.dependency != dependency => {
                    return Err(id);
                }
                // A sentinel takes nothing of the budget: the packet itself does, now.
                Content::Sentinel => Verdict::Begin,
                Content::Partial(parts) => {
                    let (offset, len) = packet.part();
                    let news = parts.news(offset, packet.payload);
                    match news.filter(|_| parts.whole() == len) {
                        None => return Err(id),
                        Some(0) => Verdict::Stale,
                        Some(news) => Verdict::Join(news),
                    }
                }
                Content::Complete(_) => Verdict::Stale,
            },
        };
        // Dependencies never go back: the last reliable packet before this newer one cannot be older than the
        // packet that the first waiting entry waits for. A forged dependency on what never comes is found out
        // by this.
        let waiting = self.delivery.queue.limit();
        if waiting < id {
            if let Some(entry) = self.delivery.queue.get(waiting) {
                let awaited = waiting.saturating_sub(entry.dependency.into());
                let last = id.saturating_sub(u64::from(dependency).max(1));
                if dependency == 0 || last < awaited {
                    return Err(waiting);
                }
            }
        }
        Ok(verdict)
    }

    /// Takes a message in that was checked. One that contradicts an earlier message of the same datagram is
    /// dropped: the first counts (`deviations.md` Q13).
    #[inline]
    pub(crate) fn insert(
        &mut self,
        packet: &Packet<&[u8]>,
        (frame, now): (u64, Instant),
        shared: &mut Shared<'_>,
        buffers: &mut Buffers,
    ) {
        let Some(id) = self.expand(packet.id, shared.params) else {
            return;
        };
        // Whatever the verdict: a repeated message in another frame shows as well what was sent.
        self.trust.on_message(id, frame, shared.params.window);
        // Once more, as messages of the same datagram were taken in since it was checked.
        let more = match self.check(packet, shared.params) {
            Verdict::Begin => cost(packet.payload.len()),
            Verdict::Join(news) => news as u64,
            Verdict::Stale | Verdict::Violation => return,
        };
        let (mode, dependency) = (packet.mode, packet.dependency.into());
        // The packet that it was to join may have made room for others of the datagram: then it counts for
        // more than was made room for, and is dropped, as unreliable packets may be.
        if mode == Mode::Unreliable && shared.totals.kept + more > shared.params.receive_budget {
            return;
        }
        let mut add = |entry: &mut Entry| {
            entry.add(packet, buffers);
            entry.is_complete()
        };
        let is_complete = if let Some(is_complete) = self.delivery.queue.change(id, &mut add) {
            shared.totals.keep(mode, more);
            is_complete
        } else {
            // Filled before it is put into the queue, which then looks once at what it is.
            let mut entry = Entry::new(mode, dependency, Content::Sentinel);
            let is_complete = add(&mut entry);
            self.delivery.open(id, entry, shared.totals);
            is_complete
        };
        if mode == Mode::Unreliable {
            if is_complete {
                self.delivery.partials.forget(id);
            } else {
                self.delivery.grows(id, shared.totals, now);
            }
        }
    }

    /// Takes in a sentinel packet: an unreliable packet with this id was sent (§3.2.2).
    pub(crate) fn insert_sentinel(&mut self, marker: Marker, frame: u64, shared: &mut Shared<'_>) {
        let dependency = marker.dependency;
        let Some(id) = self.place(marker.id, dependency, shared.params) else {
            return;
        };
        self.trust.on_message(id, frame, shared.params.window);
        // Reliable and passive packets need none, so that theirs would be forged (Q6).
        let note = |entry: &mut Entry| entry.sentinel |= entry.mode == Mode::Unreliable;
        if self.delivery.queue.change(id, note).is_none() {
            let mut entry = Entry::new(Mode::Unreliable, dependency, Content::Sentinel);
            entry.sentinel = true;
            self.delivery.open(id, entry, shared.totals);
        }
    }

    /// Takes in a tombstone: a reliable or passive packet with this id was given up.
    pub(crate) fn insert_tombstone(&mut self, marker: Marker, frame: u64, shared: &mut Shared<'_>) {
        let dependency = marker.dependency;
        let Some(id) = self.place(marker.id, dependency, shared.params) else {
            return;
        };
        self.trust.on_message(id, frame, shared.params.window);
        let bury = |entry: &mut Entry| {
            let before = entry.cost();
            // A packet that is complete is delivered all the same.
            if matches!(entry.content, Content::Partial(_)) && entry.mode != Mode::Unreliable {
                entry.content = Content::Tombstone;
            }
            (entry.mode, before - entry.cost())
        };
        match self.delivery.queue.change(id, bury) {
            Some((mode, freed)) => shared.totals.release(mode, freed),
            None => {
                // Passive or reliable makes no difference to what is consumed as empty; but unlike an
                // unreliable packet it must not make room for others.
                let entry = Entry::new(Mode::Reliable, dependency, Content::Tombstone);
                self.delivery.open(id, entry, shared.totals);
            }
        }
    }

    /// Checks a sentinel or a tombstone, which is the first message of its packet or one of several.
    pub(crate) fn check_marker(&self, marker: Marker, params: &SequencingParams) -> Verdict {
        let is_there = |id| self.delivery.queue.get(id).is_some();
        check_place(marker.dependency, self.expand(marker.id, params), is_there)
    }

    /// One past the newest entry that is believed, or m_b: nothing from here on may be consumed.
    pub(super) fn believed_end(&self) -> u64 {
        self.delivery.queue.end().min(self.trust.reach())
    }

    /// Whether [`consume`](Self::consume) would deliver something.
    #[inline]
    pub(crate) fn is_ready(&self, params: &SequencingParams) -> bool {
        self.delivery.is_ready(self.believed_end(), params)
    }

    /// Consumes entries up to and including the next packet that can be delivered.
    #[inline]
    pub(crate) fn consume(&mut self, shared: &mut Shared<'_>) -> Option<(Mode, Bytes)> {
        self.delivery.consume(self.believed_end(), shared)
    }

    /// To be called when the remote host is about to be told where the window is: see [`Delivery::catch_up`].
    pub(super) fn catch_up(&mut self, shared: &mut Shared<'_>) {
        self.delivery.catch_up(self.believed_end(), shared);
    }

    /// Believes in all that is there. At the end of a connection nobody can be asked about suspects, which
    /// have been acknowledged.
    pub(super) fn believe_all(&mut self) {
        self.trust.believe(self.delivery.queue.end());
    }

    fn has_suspects(&self) -> bool {
        self.delivery.queue.end() > self.trust.reach()
    }

    /// Whether a question about suspects becomes due.
    pub(super) fn wants_to_ask(&mut self) -> bool {
        self.has_suspects() && self.trust.wants_to_ask()
    }

    /// The question that is due is about to be sent under this number: whether there is still a need for it.
    pub(super) fn ask(&mut self, number: u16) -> bool {
        let asks = self.has_suspects();
        self.trust.ask(asks.then_some(number));
        asks
    }

    /// The remote host answers a question: suspects that it has not sent are forgotten.
    pub(super) fn told(&mut self, number: u16, next: u32, shared: &mut Shared<'_>) {
        if !(self.trust).told(number, next, (self.base(), shared.params.window)) {
            return;
        }
        let reach = self.trust.reach();
        while let Some(id) = self.delivery.queue.next(reach) {
            self.delivery.forget(id, shared.totals);
        }
        self.delivery.queue.end_at(reach);
    }

    /// Forgets what this message of a refused frame contradicts, if another frame contradicted it before.
    /// True if something was forgotten.
    pub(super) fn on_contradiction(
        &mut self,
        packet: &Packet<&[u8]>,
        frame: u64,
        shared: &mut Shared<'_>,
    ) -> bool {
        let Some(id) = self.contradicted_by(packet, shared.params) else {
            return false;
        };
        if !self.dispute.is_believed(frame) {
            return false;
        }
        self.delivery.forget(id, shared.totals);
        // The packet that is forgotten may be the first that waited.
        self.delivery.queue.settle();
        true
    }
}
