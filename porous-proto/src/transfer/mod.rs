//! The transfer layer (§3.1). It delivers messages by priority and reliability, within a transfer window and
//! a congestion window, and knows nothing of channels.

mod ack_timer;
mod acked;
mod congestion_control;
mod copies;
mod ecn;
mod inbound;
mod messages;
mod nonces;
mod outbound;
mod path;
mod path_mtu;
mod ping;
mod plan;
mod probe;
mod queue;
mod rates;
mod received;
mod record;
mod recovery;
mod redundancy;
mod rtt;
mod send_queue;
mod signals;
mod store;
#[cfg(test)]
mod tests;
mod width;

pub(crate) use self::ack_timer::Urgency;
pub(crate) use self::acked::Acked;
pub(crate) use self::congestion_control::Gate;
#[cfg(feature = "seal")]
use alloc::boxed::Box;

use self::congestion_control::Leaving;
pub(crate) use self::inbound::{Inbound, Incoming, PathWords};
use self::nonces::Nonces;
use self::outbound::Outbound;
pub(crate) use self::path_mtu::Narrowed;
pub(crate) use self::plan::Written;
use self::plan::{Plan, Purpose};
use self::probe::Way;
use self::queue::Sent;
pub(crate) use self::received::{Arrival, Report};
use self::signals::Signals;
use self::store::List;
use self::width::Widths;
use crate::config::{Policy, Priority};
use crate::congestion::Congestion;
use crate::event::Ecn;
#[cfg(feature = "record")]
use crate::frame::Ids;
use crate::frame::{
    AckBlock, Check, ConnectionId, Context, Control, Header, Message, Packet, Short,
};
#[cfg(feature = "seal")]
use crate::seal::{datagram::Unsealed, phases::Sealer};
#[cfg(feature = "record")]
use crate::serial::expand_frame;
use crate::source::{MessageBytes, Source};
use crate::time::{Instant, Micros};
use crate::timer::{Timer, earliest};
use crate::wire::NoRoom;

/// Most ids that are left out at once because the remote host acknowledges a later one: the work of one
/// datagram stays bounded, whatever it claims.
const LEFT_OUT_MAX: u64 = 32;

/// What both hosts agreed on, and what the configuration says, as far as this layer needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransferParams {
    /// The connection id at the front of datagrams to the remote host.
    pub(crate) connection_id: ConnectionId,
    pub(crate) context: Context,
    pub(crate) check: Check,
    /// MTU: the most bytes of a datagram at first.
    pub(crate) max_datagram: u16,
    /// The most bytes of a datagram, if the path carries as many.
    pub(crate) path_mtu: u16,
    /// Bytes of a datagram that are kept free around a part of a packet.
    pub(crate) reserve: usize,
    /// N_P: frames.
    pub(crate) window: u64,
    /// The most ids behind the newest at which a frame is still taken, as far as packet ids bound them.
    pub(crate) behind: u64,
    /// The most that this host wants to send, in bytes a second.
    pub(crate) send_rate: u32,
    /// The most that this host wants to receive, in bytes a second.
    pub(crate) receive_rate: u32,
    /// The most that the remote host wants to receive, in bytes a second.
    pub(crate) remote_rate: u32,
    /// The silence that ends the connection at either end.
    pub(crate) timeout: Micros,
    pub(crate) policy: Policy,
    pub(crate) congestion: Congestion,
    /// Time between signs of life of a silent connection under the modern policy.
    pub(crate) keepalive: Micros,
    /// True if the application wants data to be marked as ECN-capable.
    pub(crate) ecn: bool,
    /// A random number that no other host knows.
    pub(crate) secret: u64,
}

impl TransferParams {
    /// B of (10), in bytes a second: the smaller of what this host wants to send and the remote host to
    /// receive.
    fn bandwidth(&self) -> u32 {
        self.send_rate.min(self.remote_rate)
    }

    /// Whether data is sent with ECT(0) at first.
    fn marks(&self) -> bool {
        // Under the paper's policy nothing would follow from a mark (D9).
        self.ecn && self.policy == Policy::Modern
    }
}

/// The transfer layer of one peer.
#[derive(Debug)]
pub(crate) struct Transfer {
    params: TransferParams,
    /// There if the connection is sealed.
    #[cfg(feature = "seal")]
    sealer: Option<Box<Sealer>>,
    pub(crate) inbound: Inbound,
    pub(crate) outbound: Outbound,
    pub(crate) signals: Signals,
    widths: Widths,
    /// Shows whether the remote host received what it acknowledges (`docs/deviations.md` T26).
    pub(crate) nonces: Nonces,
    pub(crate) gate: Gate,
}

impl Transfer {
    /// `first` is the id of the first frame of both hosts: 0 (`docs/deviations.md` C21), but for tests.
    pub(crate) fn new(params: TransferParams, first: u64) -> Self {
        let secret = match params.policy {
            Policy::Paper => None,
            Policy::Modern => Some(params.secret),
        };
        let mut new = Self {
            inbound: Inbound::new(&params, first),
            outbound: Outbound::new(&params, first),
            signals: Signals::new(&params),
            widths: Widths::new(params.policy, first),
            nonces: Nonces::new(secret),
            gate: Gate::default(),
            #[cfg(feature = "seal")]
            sealer: None,
            params,
        };
        new.leave_out();
        new
    }

    /// Seals all datagrams from now on. None may have left yet.
    #[cfg(feature = "seal")]
    pub(crate) fn seal(&mut self, sealer: Sealer) {
        self.sealer = Some(Box::new(sealer));
    }

    // What this layer is asked.

    /// The connection id at the front of the datagrams to the remote host.
    pub(crate) const fn remote_connection_id(&self) -> ConnectionId {
        self.params.connection_id
    }

    /// W_c in bytes.
    pub(crate) fn window(&self) -> u32 {
        self.outbound.path.window(self.nonces.is_trusted())
    }

    /// The most bytes of a packet that a datagram on the path carries at present, if nothing else is in it.
    pub(crate) fn most_of_packet(&self) -> usize {
        usize::from(self.outbound.path.mtu.current()) - self.params.reserve
    }

    /// B of (10), in bytes a second.
    #[cfg(test)]
    pub(crate) fn bandwidth_for_test(&self) -> u32 {
        self.outbound.messages.rates.bandwidth()
    }

    /// Sets W_c, to draw a figure.
    #[cfg(test)]
    fn congestion_for_test(&mut self, window: u32) {
        let mtu = self.params.max_datagram.into();
        self.outbound
            .path
            .control
            .set_controller(crate::congestion::paper_with_window(mtu, window));
    }

    /// The whole ids of a short form that this host has sent.
    #[cfg(feature = "record")]
    pub(crate) fn sent_ids(&self, short: &Short<'_>) -> Option<Ids> {
        let next = self.outbound.queue.next();
        let acked = match short.newest_acked().ok()? {
            Some((low, width)) => Some(self.inbound.expand(low, width)?),
            None => None,
        };
        let frame = expand_frame(short.id_low, short.id_width.into(), next)?;
        Some(Ids { frame, acked })
    }

    // What this layer is told.

    /// The application wants to send no more than `rate` bytes a second.
    pub(crate) fn set_send_rate(&mut self, rate: u32) {
        self.outbound.messages.rates.set_send(rate);
        self.outbound
            .path
            .set_bandwidth(self.outbound.messages.rates.bandwidth());
    }

    /// The application wants to receive no more than `rate` bytes a second.
    pub(crate) const fn set_receive_rate(&mut self, rate: u32) {
        self.outbound.messages.rates.set_receive(rate);
    }

    /// The remote host wants to receive no more than `receive_rate` bytes a second.
    pub(crate) fn on_limits(&mut self, serial: u16, receive_rate: u32) {
        self.outbound.messages.rates.on_limits(serial, receive_rate);
        self.outbound
            .path
            .set_bandwidth(self.outbound.messages.rates.bandwidth());
    }

    pub(crate) fn on_ping(&mut self, id: u16, now: Instant) {
        self.signals.answers.on_ping(id, now);
        self.signals.pings.on_pinged(now);
    }

    pub(crate) fn on_pong(&mut self, id: u16, now: Instant) {
        if let Some(elapsed) = self.signals.pings.answered(id, now) {
            self.outbound.path.rtt.on_pong(elapsed, now);
        }
    }

    /// The remote host has moved: see [`Outbound::on_moved`]. `same_host`: only its port has changed.
    pub(crate) fn on_moved(&mut self, same_host: bool, source: &mut impl Source, now: Instant) {
        let params = (!same_host).then_some(&self.params);
        self.outbound.on_moved(params, source, now);
    }

    // Frames that come.

    /// Recovers and checks the ids of a block: see [`Acked::new`].
    #[inline]
    pub(crate) fn check_ack<'a>(&self, block: &'a AckBlock) -> Option<Acked<'a>> {
        let largest = self
            .outbound
            .later_acks
            .expand(block.largest_low, block.largest_width)?;
        Acked::new(
            block,
            largest,
            self.outbound.queue.next(),
            self.params.window,
        )
    }

    /// An acknowledgement that passed its check names the frame `id`, which was never sent: a
    /// frame was forged, or the remote host lies.
    pub(crate) fn on_ack_of_unsent(&mut self, id: u64, now: Instant) {
        let next = self.outbound.queue.next();
        // The next frame takes this very id, so that the word of the remote host is true again once that
        // frame has come. Farther ahead a single forged frame does not move the window of an honest host, so
        // that it acknowledges none.
        if id < next || id - next >= received::AHEAD {
            return;
        }
        // A few at a time: later acknowledgements of the same id leave the rest out.
        for _ in next..id.min(next + LEFT_OUT_MAX) {
            if !self.outbound.queue.is_full() {
                self.outbound.queue.leave_out();
            }
        }
        self.leave_out();
        // The frame that sets the remote host right has to leave soon, also if there is no data.
        let _soon = self.signals.pings.on_doubt(now);
    }

    /// Whether the key may seal no further frame, as the remote host has acknowledged none that would show that it
    /// has come along with the last change of keys.
    #[cfg(feature = "seal")]
    pub(crate) fn is_key_worn_out(&self) -> bool {
        let next = self.outbound.queue.next();
        (self.sealer.as_ref()).is_some_and(|sealer| !sealer.may_seal(next))
    }

    #[cfg(all(test, feature = "seal"))]
    pub(crate) fn wear_out_key_for_test(&mut self) {
        if let Some(sealer) = &mut self.sealer {
            sealer.wear_out_for_test();
        }
    }

    /// Whether a message that the source has handed over has not left yet.
    pub(crate) fn has_unsent(&self) -> bool {
        self.outbound.messages.has_unsent()
    }

    /// Notes a valid frame.
    #[inline]
    pub(crate) fn on_frame(&mut self, frame: &Incoming, short: &Short<'_>, now: Instant) {
        self.inbound
            .on_frame(frame, short, self.outbound.queue.next(), now);
    }

    /// Frames of this host were acknowledged: see [`Outbound::on_ack`].
    #[inline]
    pub(crate) fn on_ack(&mut self, acked: &Acked<'_>, source: &mut impl Source, now: Instant) {
        // Only here, where the whole datagram was found valid, a right sum counts towards trust.
        self.nonces.trust();
        let is_trusted = self.nonces.is_trusted();
        #[cfg(feature = "seal")]
        if let Some(sealer) = &mut self.sealer {
            sealer.on_acknowledged(acked.largest, now);
        }
        let (outbound, inbound) = (&mut self.outbound, &mut self.inbound);
        if outbound.on_ack(acked, is_trusted, inbound, source, now) {
            self.signals.pings.on_sample(now);
        }
    }

    // Time.

    /// When [`handle_timeout`](Self::handle_timeout) is due next.
    pub(crate) fn deadline(&self) -> Instant {
        self.outbound
            .deadline()
            .min(self.inbound.ack_timer.due())
            .min(self.signals.pings.due())
    }

    /// What is due then, and when.
    pub(crate) fn timer(&self) -> (Instant, Timer) {
        let acknowledgement = self.inbound.ack_timer.due();
        earliest([
            self.outbound.timer(),
            (acknowledgement, Timer::Acknowledgement),
            (self.signals.pings.due(), Timer::Ping),
        ])
    }

    /// Turns all that is due into something that leaves with the next datagram.
    pub(crate) fn handle_timeout(&mut self, source: &mut impl Source, now: Instant) {
        self.signals.pings.handle_timeout(now);
        self.inbound.ack_timer.handle_timeout(now);
        self.outbound.handle_timeout(source, now);
    }

    // Frames that leave.

    /// Writes the next datagram, if one is to be sent now. An error is a bug: a planned frame did not fit.
    #[inline(never)]
    pub(crate) fn poll_transmit(
        &mut self,
        source: &mut impl Source,
        now: Instant,
        buf: &mut [u8],
    ) -> Result<Option<Written>, NoRoom> {
        self.gate.ask();
        if !self.has_work(source) {
            return Ok(None);
        }
        let max = self.largest().min(buf.len());
        // A plan is large, and the stack of a microcontroller is small: there is one plan, in a function that
        // is not inlined into its caller.
        let mut plan = Plan::new(self.header(now), self.params.context);
        // A probe of the MTU comes before all else, as nothing holds it back and it shares its frame with
        // nothing: its loss must concern no message.
        if !self.plan_mtu_probe(&mut plan, buf.len(), now)
            && !self.plan(&mut plan, source, max, now)
        {
            return Ok(None);
        }
        self.outbound.forget_oldest_if_full(source);
        // What a probe repeats may have been dropped because of its mark, and must not be marked as well (D9).
        let ecn = self
            .outbound
            .path
            .marking
            .mark(plan.has_data && !plan.is_repeat);
        let kept = |part: &Packet<MessageBytes>| source.kept(part);
        let len = self.write(&mut plan, kept, ecn, now, buf)?;
        debug_assert!(
            len <= max || plan.purpose != Purpose::Ordinary,
            "no longer than planned"
        );
        Ok(Some(Written {
            len,
            ecn,
            dont_fragment: len > usize::from(self.params.max_datagram),
            // Asked at once: most peers have one datagram at a time, and a turn of its own to find out that
            // there is no second one costs more.
            more: self.has_work(source),
        }))
    }

    /// Writes a frame with these words and nothing else, for another address of the remote host. `None` if
    /// the buffer is too short, or the transfer queue is full (RFC 9000 §8.2; `docs/wire.md`, "Roaming").
    pub(crate) fn write_path_words(
        &mut self,
        words: &[Control],
        now: Instant,
        buf: &mut [u8],
    ) -> Result<Option<Written>, NoRoom> {
        self.gate.ask();
        let mut plan = Plan::new(self.header(now), self.params.context);
        // No acknowledgement either: only the answer is wanted of the other path.
        plan.purpose = Purpose::Aside;
        for &word in words {
            plan.say(word);
        }
        if plan.len > buf.len() || self.outbound.queue.is_full() {
            return Ok(None);
        }
        let len = self.write(&mut plan, |_| None, Ecn::NotEct, now, buf)?;
        Ok(Some(Written::plain(len)))
    }

    /// Whether there may be something to send. False is certain: a host asks until nothing is left, so that
    /// without this each flight of datagrams would end with a frame that is planned in full for nothing.
    fn has_work(&mut self, source: &mut impl Source) -> bool {
        let outbound = &mut self.outbound;
        let is_due = self.inbound.ack_timer.pending
            || self.signals.are_due(outbound, source)
            || outbound.probes.are_due()
            || !outbound.path.mtu.is_settled();
        if is_due {
            return true;
        }
        if !outbound.queue.has_room() {
            return false;
        }
        let may_send = outbound.messages.may_send(source);
        if !may_send {
            // With nothing to send the window is not used (RFC 9002 §7.8).
            outbound.path.control.set_limited(false);
        }
        may_send
    }

    /// The header of the next frame.
    fn header(&mut self, now: Instant) -> Header {
        let id = self.outbound.queue.next();
        Header {
            connection_id: self.params.connection_id,
            id,
            id_width: self.widths.choose(id, self.outbound.later_acks.next(), now),
            nonce: self.nonces.bit(id),
            ack_now: false,
        }
    }

    /// The most bytes that the next datagram may have.
    fn largest(&self) -> usize {
        // A datagram that must be answered replaces others that were lost, perhaps because of their length:
        // it is no longer than what surely passes.
        usize::from(if self.outbound.probes.insists() {
            self.outbound.path.sure()
        } else {
            self.outbound.path.mtu.current()
        })
    }

    /// Makes the frame a padded ping if a size is to be tried, of at most `room` bytes. Returns false if none
    /// is.
    fn plan_mtu_probe(&mut self, plan: &mut Plan, room: usize, now: Instant) -> bool {
        let size = self
            .outbound
            .path
            .probe_mtu(self.outbound.queue.next(), now);
        let is_planned = size.is_some_and(|size| {
            let size = usize::from(size);
            size <= room && plan.pad_to(size)
        });
        // A size that does not arrive is told by a short frame that does, and that left later (D16).
        if is_planned && self.outbound.path.needs_ping() {
            self.signals.pings.ask();
        }
        is_planned
    }

    /// Plans a frame of at most `max` bytes. Returns false if nothing is to be sent.
    fn plan(
        &mut self,
        plan: &mut Plan,
        source: &mut impl Source,
        max: usize,
        now: Instant,
    ) -> bool {
        // The order is that of the frame: the acknowledgement, as it tells the remote host most in the fewest
        // bytes; signalling, which is outside the windows; probes; new data; copies of what is on its way, in
        // spare bytes only.
        let in_doubt = self.outbound.path.is_in_doubt();
        let sure = self.outbound.path.mtu.sure(in_doubt).into();
        // What the remote host has to hear must not vanish with data because a datagram is large (D16).
        let ack_due = if in_doubt {
            self.inbound.ack_timer.hurry()
        } else {
            self.inbound.ack_timer.pending
        };
        let is_asking = self.signals.pings.is_asking();
        if let Some(report) = self.inbound.report(is_asking, now) {
            plan.acknowledge(report);
        }
        let outbound = &mut self.outbound;
        let short = if in_doubt { max.min(sure) } else { max };
        self.signals.plan(plan, outbound, source, short, now);
        let mut way = Way {
            queue: &outbound.queue,
            store: &mut outbound.messages.store,
            pings: &mut self.signals.pings,
            rtt: outbound.path.rtt.smoothed(),
        };
        let is_short = in_doubt && (ack_due || plan.messages > 0);
        let max = if is_short { short } else { max };
        // What a probe repeats may need more room: it waits for the next frame.
        let max = if is_short && !outbound.probes.insists() {
            max
        } else {
            let probes = &mut outbound.probes;
            probes.plan(plan, &mut way, source, [sure, max], now)
        };
        // What a probe adds is no news: `before` is where new data begins.
        let (repeated, before) = (plan.messages, plan.len_beside_ack());
        self.plan_data(plan, source, max, ack_due, now);
        // A frame with new data beside repeated messages may need an early probe of its own.
        plan.is_repeat &= plan.messages == repeated;
        // While frames get lost, the fate of reliable content is worth an acknowledgement of its own (T19).
        if self.outbound.path.recovery.is_lossy(now) {
            plan.header.ack_now |= self.outbound.messages.store.has_reliable(&plan.contents);
        }
        // An acknowledgement that is not due yet leaves with a frame, but makes none.
        if plan.messages == 0 && !ack_due {
            return false;
        }
        let news = plan.len_beside_ack() - before;
        // The pace does not hold copies back, as they ride in datagrams that leave anyway; caps and windows
        // do (P8).
        let is_held = self.gate.is_shut || self.outbound.path.control.is_capped();
        let (flight, is_trusted) = (self.outbound.queue.flight(), self.nonces.is_trusted());
        let room = (self.outbound.queue.has_room() && !is_held)
            .then(|| self.outbound.path.room(flight, is_trusted, max));
        self.outbound
            .messages
            .plan_copies(plan, source, news, room, now);
        if let Some(report) = plan.report() {
            self.inbound.on_planned(report);
        }
        true
    }

    /// Fills the frame from the send queue, as far as the transfer window, the congestion window and the MTU
    /// allow (Figure 5). `max`: the most bytes of the frame.
    fn plan_data(
        &mut self,
        plan: &mut Plan,
        source: &mut impl Source,
        max: usize,
        ack_due: bool,
        now: Instant,
    ) {
        if !self.outbound.queue.has_room() {
            return;
        }
        let (flight, is_trusted) = (self.outbound.queue.flight(), self.nonces.is_trusted());
        let allowance = self.outbound.path.allowance(flight, is_trusted, max, now);
        // Until a message is found that does not fit: with nothing to send the window is not used
        // (RFC 9002 §7.8).
        self.outbound.path.control.set_limited(false);
        let most = self.most_of_packet();
        // Priorities are strict: a message of low priority leaves only if none of high priority waits (T21).
        for priority in [Priority::High, Priority::Low] {
            while self.outbound.messages.refill(source, priority, most) {
                if plan.is_full() {
                    self.outbound.messages.detach_front(priority);
                    return;
                }
                let Some(front) = self.outbound.messages.front(source, priority, most) else {
                    break;
                };
                let len = plan.layout.length(&front.message);
                let otherwise = allowance.of(priority);
                let limit = self.gate.limit(otherwise);
                // The acknowledgement may be long for many round trips. It is left out where a message finds
                // no room beside it, unless it is due: otherwise a message that fills a datagram would never
                // leave.
                let is_long = !ack_due && plan.len + len > max;
                // The first message that does not fit ends the frame, so that nothing overtakes it.
                if plan.len + len > limit && !(is_long && plan.gives_way(len, limit)) {
                    let is_part =
                        matches!(&front.message, Message::Packet(p) if p.fragment.is_some());
                    self.outbound.path.mtu.on_full(plan.len + len, is_part);
                    // A frame that is full to the MTU is limited by neither window nor pace. The cap of the
                    // host is no word about the path.
                    self.outbound.path.control.set_limited(allowance.bulk < max);
                    self.gate.waits = plan.len + len <= otherwise;
                    self.outbound.messages.detach_front(priority);
                    return;
                }
                source.sent(&front.message);
                plan.push(&front.message, len);
                plan.on_data(priority, allowance.bulk);
                let goes_on = matches!(&front.message, Message::Packet(packet) if packet.goes_on());
                self.gate.data = true;
                self.outbound
                    .messages
                    .take_front(priority, &mut plan.contents);
                // Behind a fragment that fills the frame comes the next one of its packet, or one of another
                // channel: to cut it now would only let it wait.
                if goes_on && max.saturating_sub(plan.len) < self.params.reserve {
                    self.outbound.path.mtu.on_full(max + 1, true);
                    self.outbound.path.control.set_limited(allowance.bulk < max);
                    return;
                }
            }
        }
    }

    /// Writes the planned frame, which leaves with the mark `ecn`. Returns its length in bytes.
    #[inline]
    fn write<'s>(
        &mut self,
        plan: &mut Plan,
        kept: impl Fn(&Packet<MessageBytes>) -> Option<&'s [u8]>,
        ecn: Ecn,
        now: Instant,
        buf: &mut [u8],
    ) -> Result<usize, NoRoom> {
        let store = &self.outbound.messages.store;
        let len = plan.write(store, kept, self.params.context, buf)?;
        let len = self.protect(plan, len, now, buf)?;
        self.outbound.messages.on_sent(&plan.contents, now);
        let bytes = u32::try_from(len).unwrap_or(u32::MAX);
        let sent = Sent {
            at: now,
            kind: plan.kind(bytes, &self.outbound.messages.store),
            ecn,
            is_large: self.outbound.path.is_large(plan, len, now),
            sentinel: plan.has_sentinel(),
            reported: plan.report().map_or(0, |report| report.settles),
        };
        if let Purpose::MtuProbe { .. } = plan.purpose {
            // Nobody waits for a probe, and much may follow before its acknowledgement comes: its record is
            // kept for longer than those of other pings.
            self.outbound.queue.keep_next();
        }
        if sent.is_data() {
            self.outbound.figures.sent += 1;
            self.signals
                .pings
                .on_data(now, self.outbound.path.rtt.smoothed());
            self.inbound.ack_timer.on_data(now);
        }
        if sent.is_tracked() {
            self.outbound.path.recovery.on_sent(now);
        }
        // A probe of the MTU and a frame to another address carry no acknowledgement: what is due stays due.
        if plan.purpose == Purpose::Ordinary {
            self.inbound.on_sent(plan.report().is_some());
        }
        self.widths.note(self.outbound.queue.next(), now);
        let contents = core::mem::replace(&mut plan.contents, List::EMPTY);
        let forgotten = now - self.outbound.path.memory();
        self.outbound.queue.push(&sent, contents, forgotten);
        let leaving = Leaving {
            bytes,
            in_flight: sent.bytes(),
            can_wait: self.gate.data,
            flight: self.outbound.queue.flight(),
            loan: plan.loan,
        };
        self.outbound.path.control.on_sent(&leaving, now);
        self.outbound.messages.redundancy.on_sent(len);
        self.leave_out();
        Ok(len)
    }

    /// Ends the frame in the first `len` bytes of `buf` with what shows that it is of this connection: a check,
    /// or, of a frame that is sealed, the tag. Returns its length in bytes.
    #[cfg(feature = "seal")]
    #[inline]
    fn protect(
        &mut self,
        plan: &Plan,
        len: usize,
        now: Instant,
        buf: &mut [u8],
    ) -> Result<usize, NoRoom> {
        let Some(sealer) = &mut self.sealer else {
            return self.params.check.append(buf, len, plan.ids());
        };
        let frame = Unsealed {
            id: plan.header.id,
            head: plan.header.length(None),
            len,
        };
        let timeout = self.outbound.path.rtt.timeout();
        frame.seal(sealer, now, timeout, buf)
    }

    /// Ends the frame in the first `len` bytes of `buf` with the check that shows that it is of this
    /// connection. Returns its length in bytes.
    #[cfg(not(feature = "seal"))]
    #[inline]
    fn protect(
        &self,
        plan: &Plan,
        len: usize,
        _: Instant,
        buf: &mut [u8],
    ) -> Result<usize, NoRoom> {
        self.params.check.append(buf, len, plan.ids())
    }

    /// Passes over the next id if the nonces leave it out.
    fn leave_out(&mut self) {
        while self.nonces.skips(self.outbound.queue.next()) {
            self.outbound.queue.leave_out();
        }
    }
}

#[cfg(any(test, feature = "audit"))]
impl Transfer {
    /// # Panics
    ///
    /// If the books of the outbound frames are wrong.
    pub(crate) fn audit(&self, audit: &mut crate::hooks::audit::Audit) {
        self.outbound.audit(audit, self.params.path_mtu.into());
    }
}
