//! The path that a connection takes (RFC 9000 §9): all that is measured of it, and what may be sent on it as
//! a result. When the remote host moves, a new path takes the place of this one.

use alloc::boxed::Box;

use super::TransferParams;
use super::acked::LaterAcks;
use super::congestion_control::{CongestionControl, Pace};
use super::ecn::Marking;
use super::path_mtu::PathMtu;
use super::plan::{Plan, Purpose};
use super::queue::{Sent, TransferQueue};
use super::recovery::{self, Due, Flight, Lost, Recovery};
use super::rtt::Rtt;
use crate::config::Priority;
use crate::congestion::{Ack, Signal, Trouble};
use crate::event::Ecn;
use crate::frame::Marks;
use crate::time::{Instant, Micros};

/// What an acknowledgement acknowledges for the first time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Newly {
    /// Frames with data.
    pub(super) frames: u32,
    /// The bytes of these frames.
    pub(super) bytes: u32,
    /// When the newest of them was sent.
    pub(super) sent: Instant,
    /// The flight in bytes before the acknowledgement.
    pub(super) in_flight: u32,
    /// The round trip that the acknowledgement tells.
    pub(super) rtt: Option<Micros>,
}

impl Newly {
    /// A frame with data was acknowledged.
    pub(super) fn add(&mut self, sent: &Sent) {
        self.bytes += sent.bytes();
        self.frames += 1;
        self.sent = self.sent.max(sent.at);
    }
}

/// The newest frame of an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewestAcked {
    pub(super) id: u64,
    /// When the frame was sent; `None` if it tells nothing of the path, or was acknowledged before.
    pub(super) sent: Option<Instant>,
    /// True if the frame was sent with ECT(0), and is acknowledged for the first time.
    pub(super) was_marked: bool,
}

/// The most bytes that a datagram with data may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    /// By the congestion window and by the pace: 0 while the pace holds data back.
    pub(super) bulk: usize,
    /// For urgent data, which may leave ahead of both.
    urgent: usize,
}

impl Allowance {
    pub(super) const fn of(&self, priority: Priority) -> usize {
        match priority {
            Priority::High => self.urgent,
            Priority::Low => self.bulk,
        }
    }
}

/// One path, and all that the sender has learnt of it.
#[derive(Debug)]
pub(crate) struct Path {
    /// The first frame that was sent on the path. The fate of earlier ones tells nothing of it.
    first_frame: u64,
    pub(crate) rtt: Rtt,
    pub(super) recovery: Box<dyn Recovery>,
    pub(super) control: CongestionControl,
    pub(crate) mtu: PathMtu,
    pub(crate) marking: Marking,
    /// Id of the frame that was considered dropped last.
    last_lost: u64,
    /// The most that may be sent, in bytes a second: B of (10). `u32::MAX` without a limit.
    bandwidth: u32,
    /// How late this host is called when something is due, at most recently.
    lag: Micros,
}

impl Path {
    pub(super) fn new(params: &TransferParams, first_frame: u64) -> Self {
        Self {
            first_frame,
            rtt: Rtt::new(params.policy),
            recovery: recovery::of(params.policy),
            control: CongestionControl::new(params),
            mtu: PathMtu::new(params.max_datagram, params.path_mtu, first_frame),
            marking: Marking::new(params.marks()),
            last_lost: first_frame,
            bandwidth: params.bandwidth(),
            lag: Micros::ZERO,
        }
    }

    /// The remote host has moved, and nothing is known of the path to its new address (RFC 9000 §9.4).
    pub(super) fn renew(&mut self, params: &TransferParams, first_frame: u64) {
        let old = core::mem::replace(self, Self::new(params, first_frame));
        // What belongs to the connection or to this host goes on: agreed rates, the counts of marks, which
        // the remote host goes on counting, and how this host is called.
        self.control.inherit(old.control);
        self.bandwidth = old.bandwidth;
        self.marking.inherit(&old.marking);
        self.rtt.set_step(old.rtt.step());
        self.lag = old.lag;
    }

    /// Frames before `first_frame` tell nothing of the path any more, but what was learnt of it holds on:
    /// only the port of the remote host has changed, which is the doing of a router on the same path.
    pub(super) const fn begin_anew(&mut self, first_frame: u64) {
        self.first_frame = first_frame;
    }

    /// Whether the frame was sent on this path.
    pub(super) const fn carried(&self, id: u64) -> bool {
        id >= self.first_frame
    }

    /// `average`: the time between steps of this host (7). `lag`: how late it is called when something is
    /// due.
    pub(crate) const fn set_steps(&mut self, average: Micros, lag: Micros) {
        self.rtt.set_step(average);
        self.lag = lag;
    }

    pub(super) const fn set_bandwidth(&mut self, bandwidth: u32) {
        self.bandwidth = bandwidth;
    }

    /// W_c in bytes. `is_trusted`: the remote host acknowledges what it has received, as far as can be told.
    pub(super) fn window(&self, is_trusted: bool) -> u32 {
        let mtu = self.mtu.current().into();
        let window = self.control.window(mtu);
        // A host that acknowledges what never came would empty the flight for nothing, and be sent ever more.
        // Two frames keep the connection alive (`docs/deviations.md` T26).
        if is_trusted {
            window
        } else {
            window.min(2 * mtu)
        }
    }

    /// Whether more bytes are in flight than the congestion window holds.
    pub(super) fn is_overfull(&self, flight: u32) -> bool {
        flight > self.control.window(self.mtu.current().into())
    }

    /// Whether the pace or the cap holds data back now.
    #[inline]
    fn is_held(&mut self, is_trusted: bool, now: Instant) -> bool {
        let pace = Pace {
            rate: self.pacing_rate(is_trusted),
            bandwidth: self.bandwidth,
            mtu: self.mtu.current().into(),
            step: self.lag,
        };
        self.control.is_held(&pace, now)
    }

    /// The pace in bytes a second: that of the controller, or a window in four fifths of a round trip
    /// (RFC 9002 §7.7). `None` before the first round trip.
    fn pacing_rate(&self, is_trusted: bool) -> Option<u32> {
        // A round trip of nothing (both hosts in one process) gives no rate.
        self.rtt.minimum().filter(|least| !least.is_zero())?;
        let rate = self.control.pacing_rate().unwrap_or_else(|| {
            let rtt = self.rtt.smoothed().get().max(1);
            // Faster than a window a round trip, so that the pace does not keep the window from being used.
            let rate = u64::from(self.window(is_trusted)) * 1_250_000 / rtt;
            u32::try_from(rate).unwrap_or(u32::MAX)
        });
        // A frame a second at least, or nothing might leave at all.
        Some(rate.max(self.mtu.current().into()))
    }

    /// Frames were acknowledged for the first time.
    pub(super) fn on_acked(&mut self, newly: &Newly, now: Instant) {
        self.control.on_ack(&Ack {
            now,
            bytes: newly.bytes,
            frames: newly.frames,
            sent: newly.sent,
            rtt: newly.rtt.map(Micros::duration),
            smoothed_rtt: self.rtt.smoothed().into(),
            in_flight: newly.in_flight,
            // `CongestionControl` knows whether the window was used, and fills this in.
            is_limited: false,
            bandwidth: self.bandwidth,
            step: self.lag.into(),
        });
    }

    /// An acknowledgement with these marks came.
    pub(super) fn on_marks(
        &mut self,
        newest: &NewestAcked,
        marks: Marks,
        queue: &TransferQueue,
        now: Instant,
    ) {
        // Frames of another path may have met another router: a mark counts only if the newest frame went
        // here. Marks of one round trip are one episode, as losses are (D9).
        let is_news = self.marking.on_ack(newest.was_marked, marks);
        if is_news && self.carried(newest.id) && self.recovery.on_marked(newest.id, queue.next()) {
            // Without a known time of sending the mark counts as that of a frame sent now.
            self.control.on_trouble(&Trouble {
                now,
                signal: Signal::Mark,
                bytes: 0,
                sent: newest.sent.unwrap_or(now),
                in_flight: queue.flight(),
            });
        }
    }

    /// A frame was acknowledged, and is not in the flight any more. `flight`: the bytes that are left in it.
    #[inline]
    pub(super) fn on_arrived(&mut self, id: u64, sent: &Sent, flight: u32, now: Instant) {
        self.on_passed(id, sent.is_large);
        self.marking.on_passed(id, sent.ecn == Ecn::Ect0);
        self.recovery
            .on_acknowledged(id, sent.is_data(), flight == 0, now);
    }

    fn on_passed(&mut self, id: u64, is_large: bool) {
        if self.mtu.on_passed(id, is_large) {
            self.control.on_mtu(self.mtu.current());
        }
    }

    /// A frame of `len` bytes leaves. Returns whether it is so long that its loss may be due to its length.
    pub(super) fn is_large(&mut self, plan: &Plan, len: usize, now: Instant) -> bool {
        let size = u16::try_from(len).unwrap_or(u16::MAX);
        if let Purpose::MtuProbe { .. } = plan.purpose {
            // The search itself judges its probes; their losses must not make the size in use doubtful (D8).
            self.mtu.on_probe(plan.header.id, size, now);
            return false;
        }
        size > self.mtu.largest_small()
    }

    /// A frame was acknowledged for the first time, and a frame that was sent later had been acknowledged
    /// before.
    pub(super) fn on_overtaken(&mut self, id: u64, sent: &Sent, now: Instant) {
        // What asks for no acknowledgement may be told of at any time.
        if self.carried(id) && sent.is_eliciting() {
            let elapsed = now.since(sent.at);
            self.recovery.on_overtaken(elapsed, &self.rtt, now);
        }
    }

    /// A frame that was considered dropped was acknowledged after all.
    pub(super) fn on_late(&mut self, id: u64, late: &Sent, now: Instant) {
        self.on_passed(id, late.is_large);
        if !self.carried(id) {
            return;
        }
        self.rtt.on_late(now.since(late.at));
        // Signalling is outside the windows: its loss was none to them, and its arrival excuses none (T20).
        if late.is_data() && self.recovery.on_spurious(id) {
            self.control.on_spurious();
        }
    }

    /// A frame is considered dropped, and is not in the flight any more.
    pub(super) fn on_lost(&mut self, id: u64, sent: &Sent, queue: &TransferQueue, now: Instant) {
        if !self.carried(id) {
            return;
        }
        if sent.is_large && self.mtu.on_vanished(id, queue.next(), now) {
            self.control.on_mtu(self.mtu.current());
        }
        if sent.ecn == Ecn::Ect0 {
            self.marking.on_lost(id);
        }
        // Signalling is outside the congestion window, so that its loss is no congestion (T20).
        if !sent.is_data() {
            return;
        }
        let lost = Lost {
            id,
            sent: sent.at,
            next: queue.next(),
            is_alone: queue.has_acknowledged(self.last_lost, id),
        };
        let signal = self.recovery.on_lost(&lost, &self.rtt, now);
        self.last_lost = id;
        self.control.on_trouble(&Trouble {
            now,
            signal,
            bytes: sent.bytes(),
            sent: sent.at,
            in_flight: queue.flight(),
        });
    }

    /// The most bytes that a datagram with data may have by the congestion window, `max` at most.
    pub(super) fn room(&self, flight: u32, is_trusted: bool, max: usize) -> usize {
        let available = self.window(is_trusted).saturating_sub(flight);
        max.min(usize::try_from(available).unwrap_or(usize::MAX))
    }

    /// The same, by the congestion window and by the pace.
    #[inline]
    pub(super) fn allowance(
        &mut self,
        flight: u32,
        is_trusted: bool,
        max: usize,
        now: Instant,
    ) -> Allowance {
        let bulk = if self.is_held(is_trusted, now) {
            0
        } else {
            self.room(flight, is_trusted, max)
        };
        // A host that acknowledges what never came is lent nothing (`docs/deviations.md` T26).
        let lent = if bulk < max && is_trusted {
            self.control.lends(self.mtu.current().into())
        } else {
            0
        };
        let lent = max.min(usize::try_from(lent).unwrap_or(usize::MAX));
        Allowance {
            bulk,
            urgent: bulk.max(lent),
        }
    }

    /// A timeout has passed. `next`: the id of the next frame.
    pub(super) fn on_timeout(&mut self, next: u64, now: Instant) {
        if self.recovery.is_silent() && self.mtu.on_silence(next, now) {
            self.control.on_mtu(self.mtu.current());
        }
    }

    /// Whether datagrams of the size in use may not arrive: nothing was acknowledged for two timeouts in a row,
    /// or for three of them while data went on leaving, or several large ones vanished.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.mtu.is_suspicious() || self.recovery.is_silent()
    }

    /// Whether the probe of the size that leaves now should have a short frame behind it.
    pub(super) fn needs_ping(&self) -> bool {
        self.mtu.needs_ping(self.recovery.is_silent())
    }

    /// Bytes of a datagram that arrives if any does.
    pub(super) fn sure(&self) -> u16 {
        self.mtu.sure(self.is_in_doubt())
    }

    /// Age up to which a late acknowledgement of a frame that was considered dropped is awaited: a round trip
    /// beyond the verdict.
    pub(super) fn memory(&self) -> Micros {
        self.recovery.patience(&self.rtt) + self.rtt.feedback()
    }

    /// What is due next of frames that are on their way, and when.
    #[inline]
    pub(super) fn deadline(&self, queue: &TransferQueue, acks: &LaterAcks) -> (Instant, Due) {
        // While more is in flight than the window holds, early probes wait: a silent path must not get a
        // second window of them (RFC 9002 §7.5).
        let unprobed = queue.unprobed();
        let unprobed = unprobed.filter(|_| !self.is_overfull(queue.flight()));
        let flight = Flight {
            oldest: queue.oldest().map(|(id, sent)| (id, sent.at)),
            unprobed: unprobed.and_then(|(_, sent)| Some((sent.at, sent.probe()?))),
        };
        self.recovery.deadline(&flight, acks, &self.rtt)
    }

    /// Whether later frames have overtaken the oldest one, so that it is lost (Figure 7).
    pub(super) fn is_lost(&self, id: u64, sent: &Sent, acks: &LaterAcks, now: Instant) -> bool {
        self.recovery.is_lost((id, sent.at), acks, &self.rtt, now)
    }

    /// Bytes of the probe that is to be sent now in search of a larger MTU; `None` if none is due. `next`:
    /// the id of the next frame.
    #[inline]
    pub(super) fn probe_mtu(&mut self, next: u64, now: Instant) -> Option<u16> {
        if self.mtu.is_settled() {
            return None;
        }
        // Where nothing is acknowledged, a probe of a size that had passed tells nothing: it waits.
        if self.mtu.is_doubtful() && self.recovery.is_silent() {
            return None;
        }
        let before = self.mtu.current();
        let size = self.mtu.probe_now(self.rtt.timeout(), next, now);
        if self.mtu.current() != before {
            self.control.on_mtu(self.mtu.current());
        }
        size
    }
}
