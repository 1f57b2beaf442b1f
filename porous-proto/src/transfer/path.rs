//! The path that a connection takes (RFC 9000 §9): all that is measured of it, and what may therefore
//! be sent. When the remote host moves, a new path takes the place of this one.

use alloc::boxed::Box;
use core::time::Duration;

use super::TransferParams;
use super::acked::LaterAcks;
use super::congestion_control::{CongestionControl, Pace};
use super::ecn::Marking;
use super::path_mtu::PathMtu;
use super::plan::{Plan, Purpose};
use super::queue::{Sent, TransferQueue};
use super::recovery::{self, Due, Flight, Lost, Recovery};
use super::rtt::Rtt;
use crate::congestion::{Ack, Signal, Trouble};
use crate::event::Ecn;
use crate::frame::Marks;
use crate::time::Instant;

/// What an acknowledgement acknowledges for the first time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Newly {
    /// The frames with data, and their bytes.
    pub(super) frames: u32,
    pub(super) bytes: u32,
    /// When the newest of them was sent.
    pub(super) sent: Instant,
    /// The flight size before the acknowledgement.
    pub(super) in_flight: u32,
    /// The round trip that it tells.
    pub(super) rtt: Option<Duration>,
}

impl Newly {
    /// This frame with data was acknowledged.
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
    /// When it was sent, if it tells of the path and is acknowledged for the first time.
    pub(super) sent: Option<Instant>,
    /// It was sent with ECT(0), and is acknowledged for the first time.
    pub(super) was_marked: bool,
}

/// One path.
#[derive(Debug)]
pub(crate) struct Path {
    /// The first frame that was sent on it: what becomes of earlier ones tells nothing of it.
    first_frame: u64,
    pub(crate) rtt: Rtt,
    pub(super) recovery: Box<dyn Recovery>,
    pub(super) control: CongestionControl,
    pub(crate) mtu: PathMtu,
    pub(crate) marking: Marking,
    /// The newest frame that was considered dropped.
    last_lost: u64,
    /// B of (10): the most that may be sent, in bytes a second.
    bandwidth: u32,
    /// How late our host is stepped when something is due.
    lag: Duration,
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
            lag: Duration::ZERO,
        }
    }

    /// The remote host has moved, and nothing is known of the path to where it is now
    /// (RFC 9000 §9.4).
    pub(super) fn renew(&mut self, params: &TransferParams, first_frame: u64) {
        let old = core::mem::replace(self, Self::new(params, first_frame));
        self.control.inherit(old.control);
        self.bandwidth = old.bandwidth;
        self.marking.inherit(&old.marking);
        self.rtt.set_step(old.rtt.step());
        self.lag = old.lag;
    }

    /// Only the port of the remote host is another, which is the doing of a router on the same path.
    /// That frames were lost on the way tells nothing.
    pub(super) const fn begin_anew(&mut self, first_frame: u64) {
        self.first_frame = first_frame;
    }

    /// Whether the frame was sent on this path.
    pub(super) const fn carried(&self, id: u64) -> bool {
        id >= self.first_frame
    }

    /// How often our host is stepped (7), and how late when something is due.
    pub(crate) const fn set_steps(&mut self, average: Duration, lag: Duration) {
        self.rtt.set_step(average);
        self.lag = lag;
    }

    pub(super) const fn set_bandwidth(&mut self, bandwidth: u32) {
        self.bandwidth = bandwidth;
    }

    /// W_c. `is_trusted`: the remote host acknowledges what it has received, as far as can be told. One
    /// that acknowledges what never came would empty the flight for nothing: it gets two frames
    /// (`docs/deviations.md` T26).
    pub(super) fn window(&self, is_trusted: bool) -> u32 {
        let mtu = self.mtu.current().into();
        let window = self.control.window(mtu);
        if is_trusted {
            window
        } else {
            window.min(2 * mtu)
        }
    }

    /// Whether more is in flight than the window allows.
    pub(super) fn is_overfull(&self, flight: u32) -> bool {
        flight > self.control.window(self.mtu.current().into())
    }

    /// Whether the pace or the cap holds data back now.
    fn is_held(&mut self, is_trusted: bool, now: Instant) -> bool {
        let pace = Pace {
            rate: self.pacing_rate(is_trusted),
            bandwidth: self.bandwidth,
            mtu: self.mtu.current().into(),
            step: self.lag,
        };
        self.control.is_held(&pace, now)
    }

    /// In bytes a second: what the controller says, or a window in four fifths of a round trip
    /// (RFC 9002 §7.7), but never so little that nothing would leave. `None` before the first round trip.
    fn pacing_rate(&self, is_trusted: bool) -> Option<u32> {
        self.rtt.minimum().filter(|least| !least.is_zero())?;
        let rate = self.control.pacing_rate().unwrap_or_else(|| {
            let micros = self.rtt.smoothed().as_micros().max(1);
            let rate = u128::from(self.window(is_trusted)) * 1_250_000 / micros;
            u32::try_from(rate).unwrap_or(u32::MAX)
        });
        Some(rate.max(self.mtu.current().into()))
    }

    /// Frames were acknowledged for the first time.
    pub(super) fn on_acked(&mut self, newly: &Newly, now: Instant) {
        self.control.on_ack(&Ack {
            now,
            bytes: newly.bytes,
            frames: newly.frames,
            sent: newly.sent,
            rtt: newly.rtt,
            smoothed_rtt: self.rtt.smoothed(),
            in_flight: newly.in_flight,
            is_limited: false,
            bandwidth: self.bandwidth,
            step: self.lag,
        });
    }

    /// An acknowledgement with these marks came. A new one counts as one loss of an episode does.
    pub(super) fn on_marks(
        &mut self,
        newest: &NewestAcked,
        marks: Marks,
        queue: &TransferQueue,
        now: Instant,
    ) {
        let is_news = self.marking.on_ack(newest.was_marked, marks);
        if is_news && self.carried(newest.id) && self.recovery.on_marked(newest.id, queue.next()) {
            // What is sent now was sent before anything could be done about it.
            self.control.on_trouble(&Trouble {
                now,
                signal: Signal::Mark,
                bytes: 0,
                sent: newest.sent.unwrap_or(now),
                in_flight: queue.flight(),
            });
        }
    }

    /// A frame was acknowledged, which is not in the flight size any more.
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

    /// A frame leaves with this length: whether it is so large that its loss may be due to that.
    pub(super) fn is_large(&mut self, plan: &Plan, len: usize, now: Instant) -> bool {
        let size = u16::try_from(len).unwrap_or(u16::MAX);
        if let Purpose::MtuProbe { .. } = plan.purpose {
            self.mtu.on_probe(plan.header.id, size, now);
            return false;
        }
        size > self.mtu.largest_small()
    }

    /// A frame that was considered dropped was acknowledged after all.
    pub(super) fn on_late(&mut self, id: u64, late: &Sent, acks: &LaterAcks, now: Instant) {
        self.on_passed(id, late.is_large);
        if !self.carried(id) {
            return;
        }
        self.rtt.on_late(now.saturating_duration_since(late.at));
        // What is outside the windows is no loss to them, and excuses none.
        let newest = acks.next().saturating_sub(1);
        if late.is_data() && self.recovery.on_spurious(id, newest, &self.rtt) {
            self.control.on_spurious();
        }
    }

    /// A frame is considered dropped, which has left the queue.
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

    /// How long a datagram with data may be, if no more than this is possible, by the window.
    pub(super) fn room(&self, flight: u32, is_trusted: bool, max: usize) -> usize {
        let available = self.window(is_trusted).saturating_sub(flight);
        max.min(usize::try_from(available).unwrap_or(usize::MAX))
    }

    /// The same, by the pace too.
    pub(super) fn allowance(
        &mut self,
        flight: u32,
        is_trusted: bool,
        max: usize,
        now: Instant,
    ) -> usize {
        if self.is_held(is_trusted, now) {
            0
        } else {
            self.room(flight, is_trusted, max)
        }
    }

    /// What is due of frames that are on their way, and when.
    pub(super) fn deadline(&self, queue: &TransferQueue, acks: &LaterAcks) -> (Instant, Due) {
        // A path that is silent must not get a second window of probes (RFC 9002 §7.5).
        let unprobed = queue.unprobed();
        let unprobed = unprobed.filter(|_| !self.is_overfull(queue.flight()));
        let flight = Flight {
            oldest: queue.oldest().map(|(id, sent)| (id, sent.at)),
            unprobed: unprobed.and_then(|(_, sent)| Some((sent.at, sent.probe()?))),
        };
        self.recovery.deadline(&flight, acks, &self.rtt)
    }

    /// Whether later frames have overtaken this one, the oldest, so that it is lost (Figure 7).
    pub(super) fn is_lost(&self, id: u64, sent: &Sent, acks: &LaterAcks, now: Instant) -> bool {
        self.recovery.is_lost((id, sent.at), acks, &self.rtt, now)
    }

    /// The size of the probe that is to be sent now in search of a larger MTU, if there is one. `next`:
    /// the id of the next frame.
    pub(super) fn probe_mtu(&mut self, next: u64, now: Instant) -> Option<u16> {
        if self.mtu.is_settled() {
            return None;
        }
        let before = self.mtu.current();
        let size = self.mtu.probe_now(3 * self.rtt.timeout(), next, now);
        if self.mtu.current() != before {
            self.control.on_mtu(self.mtu.current());
        }
        size
    }
}
