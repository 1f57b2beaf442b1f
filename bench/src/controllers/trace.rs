//! Random histories of a sender, drawn from a seed: acknowledgements of one frame or of many, losses one
//! by one and in bursts, marks, outages, round trips that change, and an application that now and then
//! has little to send.

use core::time::Duration;
use std::collections::VecDeque;

use porous_proto::Instant;
use porous_sim::Seed;
use porous_sim::rand_core::Rng;

/// A frame in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) sent: Instant,
    pub(super) bytes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    Loss,
    Mark,
    /// Everything that was sent for seconds was lost.
    Persistent,
}

/// An event that a controller is told of.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Sent {
        bytes: u32,
        in_flight: u32,
    },
    Acked {
        /// The acknowledged frames, in the order in which they were sent.
        frames: Vec<Frame>,
        is_limited: bool,
        /// The index of the round-trip time.
        rtt: usize,
    },
    /// The frames that were lost, in the order in which they were sent, or one frame that was marked.
    Trouble(Trouble, Vec<Frame>),
}

/// The most frames in flight, however large the window is.
const FRAMES: usize = 600;

pub(super) struct Trace<R> {
    dice: R,
    now: Instant,
    mtu: u32,
    flight: VecDeque<Frame>,
    events: VecDeque<(Instant, Event)>,
    rtts: Vec<Duration>,
    rtt: usize,
    /// True while the application has more to send than the window lets through.
    is_greedy: bool,
    is_limited: bool,
    /// One acknowledgement in `losses` reports a loss.
    losses: u32,
    /// Frames in flight beyond which the path begins to lose some.
    room: usize,
}

const MS: Duration = Duration::from_millis(1);

/// The MTU of a trace in bytes, and the trace, whose round trips move among `rtts`.
pub(super) fn trace(seed: u64, rtts: &[Duration]) -> (u32, Trace<impl Rng>) {
    let mut dice = Seed::new(seed).stream("trace", 0);
    let mtu = [576, 1200, 1200, 1452, 8972][below(&mut dice, 5)];
    let rtt = below(&mut dice, rtts.len());
    let losses = [10, 50, 200, 1000, 1_000_000][below(&mut dice, 5)];
    let room = [20, 60, 150, 400, usize::MAX][below(&mut dice, 5)];
    let trace = Trace {
        dice,
        now: Instant::from_micros(1000),
        mtu,
        flight: VecDeque::new(),
        events: VecDeque::new(),
        rtts: rtts.to_vec(),
        rtt,
        is_greedy: true,
        is_limited: false,
        losses,
        room,
    };
    (mtu, trace)
}

fn below(dice: &mut impl Rng, most: usize) -> usize {
    dice.next_u32() as usize % most
}

impl<R: Rng> Trace<R> {
    /// The next event of a sender with this window, and its time.
    pub(super) fn next(&mut self, window: u32) -> (Instant, Event) {
        loop {
            if let Some(event) = self.events.pop_front() {
                return event;
            }
            self.go_on(window);
        }
    }

    fn below(&mut self, most: usize) -> usize {
        below(&mut self.dice, most)
    }

    fn once_in(&mut self, many: u32) -> bool {
        self.below(many as usize) == 0
    }

    fn tell(&mut self, event: Event) {
        self.events.push_back((self.now, event));
    }

    fn in_flight(&self) -> u32 {
        self.flight.iter().map(|frame| frame.bytes).sum()
    }

    fn go_on(&mut self, window: u32) {
        if self.once_in(300) {
            self.is_greedy = !self.is_greedy;
        }
        if self.once_in(40) {
            let (rtt, last) = (self.rtt + self.below(3), self.rtts.len() - 1);
            self.rtt = rtt.saturating_sub(1).min(last);
        }
        self.send_what_fits(window);
        if self.once_in(1000) {
            self.outage();
        } else if self.flight.is_empty() {
            // Nothing to send for up to ten seconds.
            self.now = self.now + self.below(10_000) as u32 * MS;
            self.send(100);
        } else {
            self.acknowledge();
        }
    }

    fn send(&mut self, bytes: u32) {
        self.now = self.now + Duration::from_micros(10);
        let sent = self.now;
        self.flight.push_back(Frame { sent, bytes });
        let in_flight = self.in_flight();
        self.tell(Event::Sent { bytes, in_flight });
    }

    fn send_what_fits(&mut self, window: u32) {
        self.is_limited = false;
        if !self.is_greedy {
            // An application with little to send: now and then a little, now and then nothing.
            if self.once_in(2) && 200 + self.in_flight() <= window {
                self.send(200);
            }
            return;
        }
        while self.flight.len() < FRAMES {
            let mut bytes = self.mtu;
            if self.once_in(8) {
                bytes = 50 + self.below(self.mtu as usize - 50) as u32;
            }
            if self.in_flight() + bytes > window {
                self.is_limited = true;
                return;
            }
            self.send(bytes);
        }
    }

    /// Acknowledges the oldest frames, or loses some of them.
    fn acknowledge(&mut self) {
        let rtt = self.rtts[self.rtt];
        let Some(&oldest) = self.flight.front() else {
            return;
        };
        let jitter = self.below(rtt.as_micros() as usize / 8 + 1) as u64;
        let due = oldest.sent + rtt + Duration::from_micros(jitter);
        self.now = due.max(self.now + Duration::from_micros(1));
        let most = if self.once_in(20) { 100 } else { 8 };
        let most = 1 + self.below(most);
        let is_full = self.flight.len() > self.room && self.once_in(4);
        let is_lossy = is_full || self.once_in(self.losses);
        let (mut frames, mut lost) = (Vec::new(), Vec::new());
        while frames.len() + lost.len() < most {
            let Some(frame) = self
                .flight
                .pop_front_if(|frame| frame.sent + rtt <= self.now)
            else {
                break;
            };
            if is_lossy && (lost.is_empty() || self.once_in(2)) {
                lost.push(frame);
            } else {
                frames.push(frame);
            }
        }
        let marked = frames.last().copied().filter(|_| self.once_in(500));
        self.tell_acknowledged(frames);
        if let Some(frame) = marked {
            self.tell(Event::Trouble(Trouble::Mark, vec![frame]));
        } else if !lost.is_empty() {
            self.tell(Event::Trouble(Trouble::Loss, lost));
        }
    }

    fn tell_acknowledged(&mut self, frames: Vec<Frame>) {
        if !frames.is_empty() {
            let (is_limited, rtt) = (self.is_limited, self.rtt);
            self.tell(Event::Acked {
                frames,
                is_limited,
                rtt,
            });
        }
    }

    /// An outage: nothing arrives for seconds, and then the third probe does. Frames sent after it are still
    /// in flight, and their fate is open.
    fn outage(&mut self) {
        for _ in 0..3 {
            self.now = self.now + (1000 + self.below(2000) as u32) * MS;
            self.send(100);
        }
        let probe = self.flight.pop_back();
        let lost = self.flight.drain(..).collect();
        for _ in 0..self.below(8) {
            self.send(self.mtu);
        }
        self.now = self.now + self.rtts[self.rtt];
        self.is_limited = false;
        self.tell_acknowledged(probe.into_iter().collect());
        self.tell(Event::Trouble(Trouble::Persistent, lost));
    }
}
