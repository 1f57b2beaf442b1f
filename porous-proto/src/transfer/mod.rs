//! §3.1: the transfer layer. It delivers messages by priority and reliability, subject to a
//! transfer window and a congestion window, and knows nothing of channels.

mod ack_timer;
mod acknowledge;
mod answers;
mod assembly;
#[cfg(any(test, feature = "audit"))]
mod audit;
mod budget;
mod copies;
mod cut;
mod ecn;
mod figures;
mod gate;
mod late;
mod limits;
mod loss;
mod missing;
mod nonces;
mod pacer;
mod path;
mod path_mtu;
mod ping;
mod probe;
mod queue;
mod received;
mod recovery;
mod rtt;
mod send_queue;
mod sentinel;
mod source;
mod store;
#[cfg(test)]
mod tests;
mod width;
mod written;

use core::time::Duration;

use self::ack_timer::AckTimer;
use self::answers::Answers;
use self::budget::Budget;
use self::copies::Copies;
use self::ecn::{Heard, Marking};
pub(crate) use self::figures::Figures;
pub(crate) use self::gate::Gate;
use self::late::Dropped;
use self::limits::Limits;
use self::loss::LaterAcks;
use self::nonces::Nonces;
pub(crate) use self::path::PathWords;
pub(crate) use self::path_mtu::Narrowed;
use self::path_mtu::PathMtu;
use self::ping::Pings;
use self::probe::{Asked, Probe};
use self::queue::{Record, TransferQueue};
pub(crate) use self::received::Arrival;
use self::received::Received;
use self::recovery::Recovery;
use self::send_queue::SendQueue;
use self::sentinel::SentinelFrames;
pub(crate) use self::source::{NextMessage, Source};
pub(crate) use self::store::Delivery;
use self::store::Store;
use self::width::Widths;
pub(crate) use self::written::Written;
use crate::config::Policy;
use crate::congestion::Congestion;
use crate::event::Ecn;
use crate::frame::{AckBlock, Check, ConnectionId, Context, Short};
use crate::time::Instant;

/// A frame is full that has no more room than this: the reserve around a fragment.
const FULL_SLACK: usize = 48;

/// So many ids are left out at most because the remote host has acknowledged a later one.
const LEFT_OUT_MAX: u64 = 32;

/// What both hosts agreed on, as far as this layer needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransferParams {
    /// What the remote host wants to see in our datagrams.
    pub(crate) connection_id: ConnectionId,
    pub(crate) context: Context,
    pub(crate) check: Check,
    /// MTU: the largest datagram.
    pub(crate) max_datagram: u16,
    /// What it may become, if the path carries it.
    pub(crate) path_mtu: u16,
    /// Bytes of a datagram that are kept free around a part of a packet.
    pub(crate) reserve: usize,
    /// N_P.
    pub(crate) window: u64,
    /// B_r: how far behind the newest a frame may come.
    pub(crate) behind: u64,
    /// The most we want to send, in bytes a second.
    pub(crate) send_rate: u32,
    /// The most that we want to receive, and that the remote host does.
    pub(crate) receive_rate: u32,
    pub(crate) remote_rate: u32,
    /// B of (10), in bytes a second: the smaller of what we want to send and it to receive.
    pub(crate) bandwidth: u32,
    /// Silence for so long ends the connection.
    pub(crate) timeout: Duration,
    pub(crate) policy: Policy,
    pub(crate) congestion: Congestion,
    /// Under the modern policy a silent connection is heard of so often.
    pub(crate) keepalive: Duration,
    /// Data is marked as ECN-capable.
    pub(crate) ecn: bool,
    /// What nobody else knows.
    pub(crate) secret: u64,
}

/// An acknowledgement block with its ids recovered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked<'a> {
    pub(crate) largest: u64,
    pub(crate) block: &'a AckBlock,
}

impl Acked<'_> {
    /// Calls `each` for the acknowledged ids, first to last of those that follow each other, from
    /// the newest down.
    pub(crate) fn for_each_range(&self, mut each: impl FnMut(u64, u64)) {
        let mut run = (self.largest, self.largest);
        for bit in 0..u64::from(u32::BITS).min(self.largest) {
            let id = self.largest - 1 - bit;
            if self.block.map >> bit & 1 == 0 {
                continue;
            }
            if id + 1 < run.0 {
                each(run.0, run.1);
                run.1 = id;
            }
            run.0 = id;
        }
        each(run.0, run.1);
        let mut top = self.largest.saturating_sub(33);
        for range in &self.block.ranges {
            let high = top - u64::from(range.gap);
            let length = u64::from(range.length);
            each(high + 1 - length, high);
            top = (high + 1).saturating_sub(length + 1);
        }
    }
}

/// The transfer layer of one peer.
#[derive(Debug)]
pub(crate) struct Transfer {
    params: TransferParams,
    store: Store,
    send_queue: SendQueue,
    queue: TransferQueue,
    dropped: Dropped,
    widths: Widths,
    nonces: Nonces,
    received: Received,
    later_acks: LaterAcks,
    recovery: Recovery,
    /// The newest frame that was considered dropped.
    last_lost: u64,
    /// The first frame on this path: what becomes of older ones tells nothing of it.
    path_began: u64,
    probe: Option<Probe>,
    asked: Option<Asked>,
    copies: Copies,
    pings: Pings,
    pub(crate) answers: Answers,
    limits: Limits,
    pub(crate) gate: Gate,
    sentinels: SentinelFrames,
    budget: Budget,
    path: PathMtu,
    heard: Heard,
    marking: Marking,
    ack_timer: AckTimer,
    /// T_step,avg of (7), as last told by the host.
    step: Duration,
    /// How late the host is stepped when something is due.
    lag: Duration,
    figures: Figures,
}

impl Transfer {
    /// Both hosts' ids start at 0 (`docs/deviations.md` C21); tests start elsewhere.
    pub(crate) fn new(params: TransferParams, first: u64) -> Self {
        let secret = match params.policy {
            Policy::Paper => None,
            Policy::Modern => Some(params.secret),
        };
        let mut new = Self {
            params,
            store: Store::new(),
            send_queue: SendQueue::new(),
            queue: TransferQueue::new(params.window, first),
            dropped: Dropped::default(),
            widths: Widths::new(params.policy, first),
            nonces: Nonces::new(secret),
            received: Received::new(params.behind, params.window, first),
            later_acks: LaterAcks::new(first),
            recovery: Recovery::new(params.policy),
            last_lost: first,
            path_began: first,
            probe: None,
            asked: None,
            copies: Copies::new(),
            pings: Pings::new(
                params.policy,
                params.timeout,
                params.keepalive,
                params.check.ours > params.check.theirs,
            ),
            answers: Answers::default(),
            limits: Limits::new(params.receive_rate),
            gate: Gate::default(),
            sentinels: SentinelFrames::new(params.window),
            budget: Budget::new(&params),
            path: PathMtu::new(params.max_datagram, params.path_mtu),
            heard: Heard::default(),
            marking: Marking::new(params.ecn && params.policy == Policy::Modern),
            ack_timer: AckTimer::new(params.policy),
            step: Duration::ZERO,
            lag: Duration::ZERO,
            figures: Figures::new(first),
        };
        new.leave_out();
        new
    }

    /// The average time between steps (7).
    pub(crate) const fn set_step(&mut self, step: Duration, lag: Duration) {
        (self.step, self.lag) = (step, lag);
    }

    /// What leads the datagrams that are sent.
    pub(crate) const fn remote_connection_id(&self) -> ConnectionId {
        self.params.connection_id
    }

    pub(crate) const fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    pub(crate) fn resend_timeout(&self) -> Duration {
        self.recovery.resend_timeout(self.step)
    }

    pub(crate) const fn flight(&self) -> u32 {
        self.queue.flight()
    }

    /// Whether data is marked as ECN-capable now, and how many frames routers have marked.
    pub(crate) const fn marks(&self) -> (bool, u32) {
        (self.marking.is_on(), self.marking.count())
    }

    /// How large datagrams may be now.
    pub(crate) const fn path_mtu(&self) -> u16 {
        self.path.current()
    }

    /// Sets W_c, to draw a figure.
    #[cfg(test)]
    fn congestion_for_test(&mut self, window: u32) {
        let mtu = self.params.max_datagram.into();
        self.budget
            .set_controller(crate::congestion::paper_with_window(mtu, window));
    }

    /// The remote host may have forgotten the connection.
    pub(crate) fn on_doubt(&mut self, now: Instant) {
        self.pings.on_doubt(now);
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    pub(crate) fn deadline(&self) -> Instant {
        self.recovery_deadline()
            .min(self.ack_deadline())
            .min(self.ping_deadline())
            .min(self.pace_deadline())
    }

    /// When data may go that the pace holds back.
    pub(crate) const fn pace_deadline(&self) -> Instant {
        self.budget.held_until()
    }

    pub(crate) const fn ping_deadline(&self) -> Instant {
        self.pings.due()
    }

    /// B of (10).
    #[cfg(test)]
    pub(crate) const fn bandwidth_for_test(&self) -> u32 {
        self.params.bandwidth
    }

    pub(crate) const fn figures(&self) -> &Figures {
        &self.figures
    }

    pub(crate) const fn frames_sent(&self) -> u64 {
        self.figures.sent
    }

    pub(crate) const fn frames_lost(&self) -> u64 {
        self.figures.lost
    }

    /// The full id of a received frame, if there is one that it can be.
    pub(crate) fn expand(&self, low: u32, width: u8) -> Option<u64> {
        self.received.expand(low, width)
    }

    pub(crate) fn classify(&self, id: u64) -> Arrival {
        self.received.classify(id)
    }

    /// A frame came from beyond the receive window.
    pub(crate) const fn note_beyond(&mut self, id: u64) {
        self.received.note_beyond(id);
    }

    /// The full id of a frame of ours that is acknowledged, if there is one that it can be.
    pub(crate) fn expand_acked(&self, low: u32, width: u8) -> Option<u64> {
        crate::serial::expand_frame(low, u32::from(width), self.later_acks.next())
    }

    /// An acknowledgement that passed its check names a frame that was never sent: somebody has
    /// forged one, or the remote host lies. The next frame takes this very id, so that what the
    /// remote host says is true again as soon as it has come. The ids before it are left out, few at
    /// a time: work must not depend on what one datagram claims.
    pub(crate) fn on_ack_of_unsent(&mut self, id: u64, now: Instant) {
        let next = self.queue.next();
        if id < next || id - next >= received::AHEAD {
            return;
        }
        for _ in next..id.min(next + LEFT_OUT_MAX) {
            if !self.queue.is_full() {
                self.queue.leave_out();
            }
        }
        self.pings.on_doubt(now);
    }

    /// The next id may be one that is left out.
    fn leave_out(&mut self) {
        while self.nonces.skips(self.queue.next()) {
            self.queue.leave_out();
        }
    }

    /// Whether the remote host can know what it acknowledges (`deviations.md` T26).
    pub(crate) fn believes(&mut self, acked: &Acked<'_>) -> bool {
        self.nonces.check(acked)
    }

    /// Recovers the ids of a block. None if it acknowledges a frame that was never sent
    /// (`deviations.md` T4), ids below 0, or more than a host keeps in mind.
    pub(crate) fn check_ack<'a>(&self, block: &'a AckBlock) -> Option<Acked<'a>> {
        let largest = self.expand_acked(block.largest_low, block.largest_width)?;
        if largest >= self.queue.next() || !map_is_real(largest, block.map) {
            return None;
        }
        let oldest = (largest + 1).saturating_sub(received::span(self.params.window));
        let mut top = largest.checked_sub(33);
        for range in &block.ranges {
            let high = top?.checked_sub(u64::from(range.gap))?;
            let length = u64::from(range.length);
            if length > high + 1 || high + 1 - length < oldest {
                return None;
            }
            top = (high + 1).checked_sub(length + 1);
        }
        Some(Acked { largest, block })
    }

    /// Notes a valid frame, and what its IP header said. `eliciting`: it wants to be acknowledged.
    pub(crate) fn on_frame(
        &mut self,
        (id, ecn): (u64, Ecn),
        short: &Short<'_>,
        eliciting: bool,
        now: Instant,
    ) {
        let next = self.received.next();
        let own_next = self.queue.next();
        let is_new = (self.received).record(id, short.id_width, short.nonce, own_next);
        self.heard.on_frame(ecn, id >= next, is_new, own_next);
        if is_new {
            self.figures.on_received(id, short.nonce, now);
        }
        if id >= next {
            self.ack_timer.on_newest(now);
        }
        if eliciting {
            let at_once = short.ack_now || id != next || ecn == Ecn::Ce;
            let is_full = short.bytes.len() + FULL_SLACK >= usize::from(self.params.max_datagram);
            self.ack_timer.on_frame(at_once, is_full, now);
        }
    }

    /// When what was received has to be acknowledged.
    pub(crate) const fn ack_deadline(&self) -> Instant {
        self.ack_timer.due()
    }

    /// Acknowledges at once what was received. False if all of it is acknowledged.
    pub(crate) fn hurry_ack(&mut self) -> bool {
        self.ack_timer.hurry()
    }

    pub(crate) fn on_ping(&mut self, id: u16, now: Instant) {
        self.answers.on_ping(id, now);
        self.pings.on_pinged();
    }

    pub(crate) fn on_pong(&mut self, id: u16, now: Instant) {
        if let Some(elapsed) = self.pings.answered(id, now) {
            self.recovery.on_pong(elapsed);
            if let Recovery::Paper(_) = self.recovery {
                self.figures.on_round_trip(elapsed, now);
            }
        }
    }
}

/// Ids below 0 read as received (`docs/wire.md`).
const fn map_is_real(largest: u64, map: u32) -> bool {
    let below = 32_u64.saturating_sub(largest);
    below == 0 || map.leading_ones() as u64 >= below
}
