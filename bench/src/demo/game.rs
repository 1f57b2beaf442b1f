//! The traffic of `porous demo` between one client and its server.

use core::time::Duration;
use std::collections::VecDeque;

use crate::peer::Endpoint;
use crate::run::Application;

/// The end that is the server. End 0 connects.
const SERVER: usize = 1;

/// The bytes that say which message it is: its channel, then its number.
const HEADER: usize = 8;

/// The channel of the file, behind those of the kinds.
const FILE: u8 = Kind::ALL.len() as u8;

/// The longest piece of the file, in bytes.
const PIECE: u64 = 1000;

/// One of the streams of messages that follow the clock. Rates and lengths are those of `porous demo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Reliable.
    Event,
    /// Unreliable.
    State,
    /// Passive, from the server alone.
    Update,
}

impl Kind {
    /// All of them, in the order of their channels.
    pub(super) const ALL: [Self; 3] = [Self::Event, Self::State, Self::Update];

    /// Messages a second.
    const fn rate(self) -> u64 {
        match self {
            Self::Event => 12,
            Self::State => 60,
            Self::Update => 4,
        }
    }

    /// The bytes of a message.
    const fn len(self) -> usize {
        match self {
            Self::Event => 24,
            Self::State => 200,
            Self::Update => 3000,
        }
    }

    fn comes_from(self, end: usize) -> bool {
        self != Self::Update || end == SERVER
    }
}

/// The length of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// The time in which messages are made.
    pub(super) duration: Duration,
    /// The time after it in which messages that are not reliable may still arrive.
    pub(super) grace: Duration,
    /// The length of the file in bytes.
    pub(super) file: u64,
    /// The most bytes of the file that are sent and have not arrived.
    pub(super) window: u64,
}

impl Plan {
    /// The bytes of all messages and of the file.
    pub(super) fn bytes(self) -> u64 {
        let of = |kind: Kind| {
            let ends = [0, SERVER].into_iter().filter(|&end| kind.comes_from(end));
            ends.count() as u64 * kind.rate() * kind.len() as u64 * self.duration.as_secs()
        };
        self.file + Kind::ALL.into_iter().map(of).sum::<u64>()
    }

    /// The length of the piece of the file at this offset.
    fn piece(self, offset: u64) -> u64 {
        PIECE.min(self.file - offset)
    }
}

/// The application at both ends.
pub(super) struct Game {
    plan: Plan,
    /// By the end that sends, and by kind.
    flows: [[Flow; Kind::ALL.len()]; 2],
    file: Transfer,
}

impl Game {
    /// `share` of each period, from 0 to 1, passes before its first message, so that clients do not send
    /// at once.
    pub(super) fn new(plan: Plan, share: f64) -> Self {
        let flow = |end, kind: Kind| {
            let duration = if kind.comes_from(end) {
                plan.duration
            } else {
                Duration::ZERO
            };
            Flow::new(kind, duration, share)
        };
        Self {
            plan,
            flows: [0, SERVER].map(|end| Kind::ALL.map(|kind| flow(end, kind))),
            file: Transfer::default(),
        }
    }

    /// The messages of a kind that were sent, both ways.
    pub(super) fn sent(&self, kind: Kind) -> u64 {
        let sent = |flows: &[Flow; 3]| flows[kind as usize].sent.len() as u64;
        self.flows.iter().map(sent).sum()
    }

    /// The time that each message of a kind took which arrived, both ways, in microseconds.
    pub(super) fn took(&self, kind: Kind) -> impl Iterator<Item = u64> {
        let flows = self.flows.iter();
        flows.flat_map(move |flows| flows[kind as usize].took.iter().copied())
    }

    /// The time after which the whole file was there; `None` if it is not.
    pub(super) fn file_took(&self) -> Option<Duration> {
        let is_there = self.file.arrived == self.plan.file;
        is_there.then_some(self.file.last)
    }

    fn arrived(&mut self, end: usize, elapsed: Duration, message: &[u8]) {
        let (channel, number) = read(message);
        if channel == FILE {
            self.file.arrived(self.plan, number, elapsed);
        } else {
            self.flows[1 - end][usize::from(channel)].arrived(number, elapsed);
        }
    }

    /// True if all that is reliable has arrived.
    fn is_complete(&self) -> bool {
        let events = |flows: &[Flow; 3]| flows[Kind::Event as usize].is_complete();
        self.file_took().is_some() && self.flows.iter().all(events)
    }
}

impl Application for Game {
    fn step(&mut self, end: usize, elapsed: Duration, endpoint: &mut dyn Endpoint) {
        while let Some(message) = endpoint.received() {
            self.arrived(end, elapsed, &message);
        }
        for flow in &mut self.flows[end] {
            flow.send_due(elapsed, endpoint);
        }
        // After the messages of the game: the file gets the room that these leave.
        if end == SERVER {
            self.file.send(self.plan, endpoint);
        }
    }

    fn is_over(&self, elapsed: Duration) -> bool {
        let Plan {
            duration, grace, ..
        } = self.plan;
        // As `porous demo`, which waits for ten times as long as the traffic took.
        elapsed > duration * 11 || elapsed > duration + grace && self.is_complete()
    }
}

/// The messages of one kind from one end.
struct Flow {
    kind: Kind,
    /// When the first message is due.
    phase: Duration,
    total: u64,
    /// When each message was made; `None` for those that have arrived.
    sent: Vec<Option<Duration>>,
    /// The numbers of events that found no room yet.
    backlog: VecDeque<u64>,
    /// The number of the next event: events arrive in order.
    next: u64,
    /// In microseconds, of the messages that have arrived.
    took: Vec<u64>,
}

impl Flow {
    fn new(kind: Kind, duration: Duration, share: f64) -> Self {
        Self {
            kind,
            phase: Duration::from_secs(1).mul_f64(share) / kind.rate() as u32,
            total: kind.rate() * duration.as_secs(),
            sent: Vec::new(),
            backlog: VecDeque::new(),
            next: 0,
            took: Vec::new(),
        }
    }

    /// Sends what is due. An event without room waits, and the wait counts; any other message is lost.
    fn send_due(&mut self, elapsed: Duration, endpoint: &mut dyn Endpoint) {
        while let Some(&number) = self.backlog.front() {
            if !self.send(number, endpoint) {
                break;
            }
            self.backlog.pop_front();
        }
        while (self.sent.len() as u64) < self.due(elapsed) {
            let number = self.sent.len() as u64;
            self.sent.push(Some(elapsed));
            // An event must not overtake an older one that waits.
            let is_sent = self.backlog.is_empty() && self.send(number, endpoint);
            if !is_sent && self.kind == Kind::Event {
                self.backlog.push_back(number);
            }
        }
    }

    fn send(&self, number: u64, endpoint: &mut dyn Endpoint) -> bool {
        let channel = self.kind as u8;
        let message = message(channel, number, self.kind.len());
        match self.kind {
            Kind::Event => endpoint.send(channel, &message, true),
            Kind::State => endpoint.send(channel, &message, false),
            Kind::Update => endpoint.send_passive(channel, &message),
        }
    }

    /// Messages that should have been made by now.
    fn due(&self, elapsed: Duration) -> u64 {
        let Some(since) = elapsed.checked_sub(self.phase) else {
            return 0;
        };
        let due = since.as_micros() as u64 * self.kind.rate() / 1_000_000 + 1;
        due.min(self.total)
    }

    fn arrived(&mut self, number: u64, elapsed: Duration) {
        if self.kind == Kind::Event {
            assert_eq!(number, self.next, "in order");
            self.next += 1;
        }
        let sent = self.sent[number as usize].take();
        let took = elapsed - sent.expect("each arrives once");
        self.took.push(took.as_micros() as u64);
    }

    /// True if every message has been made and has arrived.
    fn is_complete(&self) -> bool {
        self.took.len() as u64 == self.total
    }
}

/// The file under way. Counts are bytes.
#[derive(Default)]
struct Transfer {
    sent: u64,
    arrived: u64,
    /// When the last piece arrived.
    last: Duration,
}

impl Transfer {
    /// Sends pieces while there is room.
    fn send(&mut self, plan: Plan, endpoint: &mut dyn Endpoint) {
        while self.sent < plan.file && self.sent - self.arrived < plan.window {
            let len = plan.piece(self.sent);
            // The number of a piece is its offset. The last piece may be shorter than a header.
            let piece = message(FILE, self.sent, HEADER.max(len as usize));
            if !endpoint.send(FILE, &piece, true) {
                return;
            }
            self.sent += len;
        }
    }

    fn arrived(&mut self, plan: Plan, offset: u64, elapsed: Duration) {
        assert_eq!(offset, self.arrived, "in order");
        self.arrived += plan.piece(offset);
        self.last = elapsed;
    }
}

/// A message of `len` bytes, at least [`HEADER`].
fn message(channel: u8, number: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    bytes[..HEADER].copy_from_slice(&(number << 8 | u64::from(channel)).to_le_bytes());
    bytes
}

/// The channel and the number of a message.
fn read(message: &[u8]) -> (u8, u64) {
    let header = message.first_chunk().expect("as long as it was sent");
    let header = u64::from_le_bytes(*header);
    (header as u8, header >> 8)
}
