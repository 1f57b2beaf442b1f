//! §3.1: the transfer layer. It delivers messages by priority and reliability, subject to a
//! transfer window and a congestion window, and knows nothing of channels.

mod answers;
mod assembly;
#[cfg(any(test, feature = "audit"))]
mod audit;
mod congestion;
mod loss;
mod ping;
mod queue;
mod reach;
mod received;
mod rtt;
mod send_queue;
mod sentinel;
mod source;
mod store;
#[cfg(test)]
mod tests;

use core::time::Duration;

use self::answers::Answers;
use self::congestion::Paper;
use self::loss::LaterAcks;
use self::ping::Pings;
use self::queue::{Record, TransferQueue};
pub(crate) use self::received::Arrival;
use self::received::Received;
use self::rtt::Rtt;
use self::send_queue::SendQueue;
use self::sentinel::SentinelFrames;
pub(crate) use self::source::{NextMessage, Source};
pub(crate) use self::store::Delivery;
use self::store::Store;
use crate::canary::{Bug, strikes};
use crate::frame::{AckBlock, ConnectionId, Context};
use crate::time::Instant;

/// What both hosts agreed on, as far as this layer needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransferParams {
    /// What the remote host wants to see in our datagrams.
    pub(crate) connection_id: ConnectionId,
    pub(crate) context: Context,
    pub(crate) nonces: [u64; 2],
    /// MTU: the largest datagram.
    pub(crate) max_datagram: u16,
    /// N_P.
    pub(crate) window: u64,
    /// B_r: how far behind the newest a frame may come.
    pub(crate) behind: u64,
    /// The most we want to send, in bytes a second.
    pub(crate) send_rate: u32,
    /// B of (10), in bytes a second: the smaller of that and what the remote host wants to receive.
    pub(crate) bandwidth: u32,
    /// Silence for so long ends the connection.
    pub(crate) timeout: Duration,
}

/// An acknowledgement block with its ids recovered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked<'a> {
    pub(crate) largest: u64,
    pub(crate) block: &'a AckBlock,
}

/// The transfer layer of one peer.
#[derive(Debug)]
pub(crate) struct Transfer {
    params: TransferParams,
    store: Store,
    send_queue: SendQueue,
    queue: TransferQueue,
    received: Received,
    later_acks: LaterAcks,
    rtt: Rtt,
    pings: Pings,
    pub(crate) answers: Answers,
    /// The serial of the newest limits that the remote host sent.
    limits: u16,
    sentinels: SentinelFrames,
    congestion: Paper,
    /// A frame that wants an acknowledgement came since one was last sent.
    ack_due: bool,
    /// T_step,avg of (7), as last told by the host.
    step: Duration,
    frames_sent: u64,
    frames_lost: u64,
}

impl Transfer {
    /// Both hosts' ids start at 0 (`docs/deviations.md` C21); tests start elsewhere.
    pub(crate) fn new(params: TransferParams, first: u64) -> Self {
        Self {
            params,
            store: Store::new(),
            send_queue: SendQueue::new(),
            queue: TransferQueue::new(params.window, first),
            received: Received::new(params.behind, params.window, first),
            later_acks: LaterAcks::new(first),
            rtt: Rtt::new(),
            pings: Pings::new(params.timeout),
            answers: Answers::default(),
            limits: 0,
            sentinels: SentinelFrames::new(params.window),
            congestion: Paper::new(u32::from(params.max_datagram)),
            ack_due: false,
            step: Duration::ZERO,
            frames_sent: 0,
            frames_lost: 0,
        }
    }

    /// The average time between steps (7).
    pub(crate) const fn set_step(&mut self, step: Duration) {
        self.step = step;
    }

    /// What leads the datagrams that are sent.
    pub(crate) const fn remote_connection_id(&self) -> ConnectionId {
        self.params.connection_id
    }

    pub(crate) const fn rtt(&self) -> &Rtt {
        &self.rtt
    }

    pub(crate) fn resend_timeout(&self) -> Duration {
        self.rtt.resend_timeout(self.step)
    }

    pub(crate) const fn flight(&self) -> u32 {
        self.queue.flight()
    }

    pub(crate) const fn window(&self) -> u32 {
        self.congestion.window()
    }

    /// Sets W_c, to draw a figure.
    #[cfg(test)]
    fn congestion_for_test(&mut self, window: u32) {
        self.congestion = Paper::new(self.params.max_datagram.into()).with_window(window);
    }

    /// B of (10).
    #[cfg(test)]
    pub(crate) const fn bandwidth_for_test(&self) -> u32 {
        self.params.bandwidth
    }

    pub(crate) const fn frames_sent(&self) -> u64 {
        self.frames_sent
    }

    pub(crate) const fn frames_lost(&self) -> u64 {
        self.frames_lost
    }

    /// The full id of a received frame, if it can be known.
    pub(crate) fn expand(&self, low: u32, width: u8, now: Instant) -> Option<u64> {
        self.received.expand(low, width, now)
    }

    pub(crate) fn classify(&self, id: u64) -> Arrival {
        self.received.classify(id)
    }

    /// Recovers the ids of a block. None if it acknowledges a frame that was never sent
    /// (`deviations.md` T4), or ids below 0.
    pub(crate) fn check_ack<'a>(&self, block: &'a AckBlock) -> Option<Acked<'a>> {
        let anchor = self.later_acks.next();
        let largest =
            crate::serial::expand_frame(block.largest_low, u32::from(block.largest_width), anchor)?;
        if largest >= self.queue.next() || !map_is_real(largest, block.map) {
            return None;
        }
        let mut top = largest.checked_sub(33);
        for range in &block.ranges {
            let high = top?.checked_sub(u64::from(range.gap))?;
            let length = u64::from(range.length);
            if length > high + 1 {
                return None;
            }
            top = (high + 1).checked_sub(length + 1);
        }
        Some(Acked { largest, block })
    }

    /// Notes a valid frame. `eliciting`: it wants to be acknowledged.
    pub(crate) fn on_frame(
        &mut self,
        id: u64,
        width: u8,
        nonce: bool,
        eliciting: bool,
        now: Instant,
    ) {
        self.received
            .record(id, width, nonce, self.queue.next(), now);
        self.ack_due |= eliciting;
    }

    pub(crate) fn on_pong(&mut self, id: u16, now: Instant) {
        if let Some(elapsed) = self.pings.answered(id, now) {
            self.rtt.sample(elapsed);
        }
    }

    /// The remote host changed what it wants to receive (`docs/deviations.md` C14).
    pub(crate) fn on_limits(&mut self, serial: u16, receive_rate: u32) {
        let newer = serial.wrapping_sub(self.limits);
        if newer > 0 && newer < 1 << 15 {
            self.limits = serial;
            self.params.bandwidth = self.params.send_rate.min(receive_rate);
        }
    }

    /// Takes acknowledged frames out of the transfer queue (§3.1.2), and those that are considered
    /// dropped because of it.
    pub(crate) fn on_ack(&mut self, acked: &Acked<'_>, source: &mut impl Source, now: Instant) {
        let Acked { largest, block } = *acked;
        self.acknowledge(largest, largest, source, now);
        for bit in 0..32 {
            if block.map >> bit & 1 == 1 && largest > bit {
                self.acknowledge(largest - 1 - bit, largest - 1 - bit, source, now);
            }
        }
        let mut top = largest.saturating_sub(33);
        for range in &block.ranges {
            let high = top - u64::from(range.gap);
            let length = u64::from(range.length);
            self.acknowledge(high + 1 - length, high, source, now);
            top = (high + 1).saturating_sub(length + 1);
        }
        self.queue.settle();
        self.drop_overtaken(source, now);
    }

    fn acknowledge(&mut self, low: u64, high: u64, source: &mut impl Source, now: Instant) {
        let mut from = low;
        while let Some(id) = self.queue.first_open(from, high) {
            from = id + 1;
            if let Some(sent) = self.queue.take_late(id) {
                // It was not lost, T_rto was too short (P1): the estimate has to know, or a line that is
                // slower than its pings would drop everything for ever.
                self.rtt.sample(now.saturating_duration_since(sent));
            }
            let Some(mut record) = self.queue.take(id) else {
                continue;
            };
            self.later_acks.on_acknowledged(id);
            if let Some(largest) = record.reported {
                self.received.confirm(id, largest);
            }
            while let Some(outgoing) = self.store.pop(&mut record.contents) {
                source.acknowledged(&outgoing.message);
            }
            if record.bytes > 0 {
                let (bandwidth, rtt) = (self.params.bandwidth, self.rtt.average());
                self.congestion
                    .on_acknowledged(record.bytes, bandwidth, rtt);
            }
        }
    }

    /// Frames that three later ones overtook are considered dropped (Figure 7).
    fn drop_overtaken(&mut self, source: &mut impl Source, now: Instant) {
        let below = self.later_acks.dropped_below();
        while let Some((id, _)) = self.queue.oldest().filter(|&(id, _)| id < below) {
            self.drop_frame(id, source, now);
        }
    }

    /// When the oldest frame will be considered dropped by time (§3.1.5).
    pub(crate) fn resend_deadline(&self) -> Instant {
        match self.queue.oldest() {
            Some((_, record)) => record.sent + self.resend_timeout(),
            None => Instant::NEVER,
        }
    }

    pub(crate) const fn ping_deadline(&self) -> Instant {
        self.pings.due()
    }

    /// Frames that were not acknowledged within T_rto are considered dropped (§3.1.5).
    pub(crate) fn handle_timeout(&mut self, source: &mut impl Source, now: Instant) {
        self.pings.handle_timeout(now);
        while self.resend_deadline() <= now {
            let Some((id, _)) = self.queue.oldest() else {
                return;
            };
            self.drop_frame(id, source, now);
        }
    }

    /// A transmission is dropped once: it leaves the queue, and its reliable content waits to be
    /// sent under a new id (`docs/deviations.md` T2, T6).
    fn drop_frame(&mut self, id: u64, source: &mut impl Source, now: Instant) {
        let Some(record) = self.queue.take_dropped(id) else {
            return;
        };
        self.queue.settle();
        if record.bytes > 0 {
            self.frames_lost += 1;
            let (rtt, rto) = (self.rtt.average(), self.resend_timeout());
            self.congestion.on_dropped(now, rtt, rto);
        }
        self.salvage(id, record, source);
    }

    fn salvage(&mut self, id: u64, mut record: Record, source: &mut impl Source) {
        let mut reliable = false;
        while let Some(outgoing) = self.store.pop(&mut record.contents) {
            match outgoing.delivery {
                Delivery::Reliable => {
                    reliable = true;
                    if strikes(Bug::ForgetsResend) {
                        continue;
                    }
                    self.send_queue.push_again(&mut self.store, outgoing);
                }
                Delivery::Unreliable | Delivery::Latest => source.lost(&outgoing.message),
            }
        }
        if !reliable && record.tracked {
            self.sentinels.on_dropped(id, record.noop);
        }
    }

    fn forget_oldest_if_full(&mut self, source: &mut impl Source) {
        if self.queue.is_full() {
            if let Some((id, _)) = self.queue.oldest() {
                if let Some(record) = self.queue.take(id) {
                    self.salvage(id, record, source);
                }
            }
            self.queue.settle();
        }
    }
}

/// Ids below 0 read as received (`docs/wire.md`).
const fn map_is_real(largest: u64, map: u32) -> bool {
    let below = 32_u64.saturating_sub(largest);
    below == 0 || map.leading_ones() as u64 >= below
}
