//! A game that sends messages at each tick, in sessions or in reliable packets of the host's own.

use core::time::Duration;

use bytes::Bytes;
use porous_message::{Carrier, Error, MessageChannel, MessageConfig, Serialize, Session, Stream};
use porous_proto::{Channel, ChannelId, Config, Event, Instant, Mode, PeerStats, Priority};
use porous_sim::{LinkConfig, Pair, Seed};

/// Ticks in a second.
const RATE: u64 = 60;

/// Messages of a tick. With their length and rate, 25 kB/s.
const EACH: u32 = 15;
/// The length of a message in bytes.
const LEN: usize = 28;

/// Seconds after the last tick with messages in which they may still arrive.
const GRACE: u64 = 10;

const CHANNEL: ChannelId = ChannelId(0);

/// The carrier of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// A session beside its host.
    Session,
    /// A session that knows the statistics of its host a tick late, as beside a host in a thread.
    FarSession,
    /// Reliable packets of the host.
    Host,
}

/// A message with its number.
struct Numbered(u32);

impl Serialize for Numbered {
    fn blank() -> Self {
        Self(0)
    }

    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        self.0.serialize(stream)?;
        stream.bytes(&mut [7; LEN - 4])
    }
}

/// The results of a run.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) sent: u64,
    /// The time that each message took which arrived, in microseconds.
    pub(super) took: Vec<u64>,
    /// UDP payloads, both ways.
    pub(super) bytes: u64,
    pub(super) datagrams: u64,
    /// The most bytes that waited in a host to be sent or acknowledged, with 64 bytes for each packet.
    pub(super) waiting: u64,
}

struct End {
    address: u32,
    by: By,
    session: Session<Numbered>,
    /// The statistics of the host a tick ago.
    stats: PeerStats,
    sent: Vec<Instant>,
    /// Messages that found no room yet.
    backlog: usize,
    heard: usize,
    seen: Seen,
}

impl End {
    fn new(address: u32, by: By) -> Self {
        let messages = MessageConfig::new(&[MessageChannel::reliable()]);
        Self {
            address,
            by,
            session: Session::new(messages.expect("one channel")),
            stats: PeerStats::default(),
            sent: Vec::new(),
            backlog: 0,
            heard: 0,
            seen: Seen::default(),
        }
    }

    fn hear(&mut self, pair: &mut Pair, sent: &[Instant]) {
        let now = pair.world.now();
        for received in pair.receive_all(self.address) {
            match self.by {
                By::Session | By::FarSession => {
                    let read = self.session.receive_packet(&received.payload);
                    read.expect("it is one of ours");
                }
                By::Host => self.heard(now, sent),
            }
        }
        while let Some(event) = pair.world.poll_event(self.address) {
            if let Event::Receipt { token, outcome, .. } = event {
                self.session.receipt(token, outcome);
            }
        }
        while self.session.endpoint().receive().is_some() {
            self.heard(now, sent);
        }
    }

    /// Notes the arrival of the next message: all messages come in order.
    fn heard(&mut self, now: Instant, sent: &[Instant]) {
        let took = now.saturating_duration_since(sent[self.heard]);
        self.seen.took.push(took.as_micros() as u64);
        self.heard += 1;
    }

    fn speak(&mut self, pair: &mut Pair, messages: u32) {
        let (now, peer) = (pair.world.now(), pair.peer(self.address));
        let host = pair.world.host_mut(self.address);
        for _ in 0..messages {
            self.sent.push(now);
            self.backlog += 1;
        }
        while self.backlog > 0 {
            let number = (self.sent.len() - self.backlog) as u32;
            let is_sent = match self.by {
                By::Session | By::FarSession => {
                    self.session.endpoint().send(0, Numbered(number)).is_ok()
                }
                By::Host => {
                    let message = Bytes::from_static(&[7; LEN]);
                    host.send(peer, CHANNEL, message, Mode::Reliable).is_ok()
                }
            };
            if !is_sent {
                break;
            }
            self.backlog -= 1;
        }
        let connection = host.peer(peer).expect("it is connected");
        let carrier = match self.by {
            By::FarSession => Carrier::from(&self.stats),
            By::Session | By::Host => Carrier::of(connection, CHANNEL),
        };
        self.stats = connection.stats();
        let packets = self.session.packets(now, carrier);
        for (packet, options) in packets.expect("it writes what it measures") {
            let sent = host.send(peer, CHANNEL, packet, options);
            sent.expect("there is room for what it writes");
        }
        let waiting = host.peer(peer).map_or(0, |peer| peer.queued_bytes() as u64);
        self.seen.waiting = self.seen.waiting.max(waiting);
    }
}

/// Plays for these seconds, and then until all messages have arrived. `both` is true if both ends send,
/// and not the first alone.
pub(super) fn play(line: LinkConfig, (by, both): (By, bool), seconds: u64, seed: u64) -> Seen {
    let channel = match by {
        By::Session | By::FarSession => Channel::new(Priority::High).unordered(),
        By::Host => Channel::new(Priority::High),
    };
    let host = |config: Config| config.channel(CHANNEL, channel).expect("the first");
    let (client, server) = (host(Config::client()), host(Config::new()));
    let mut pair = Pair::new(Seed::new(seed), line, client, server);
    pair.connect_to_listener();
    let (mut a, mut b) = (End::new(Pair::A, by), End::new(Pair::B, by));
    let begin = pair.world.now();
    for tick in 0..(seconds + GRACE) * RATE {
        let messages = if tick < seconds * RATE { EACH } else { 0 };
        a.hear(&mut pair, &b.sent);
        b.hear(&mut pair, &a.sent);
        a.speak(&mut pair, messages);
        b.speak(&mut pair, if both { messages } else { 0 });
        let next = Duration::from_micros((tick + 1) * 1_000_000 / RATE);
        pair.world.run_until(begin + next);
        let all = (a.heard, b.heard) == (b.sent.len(), a.sent.len());
        if messages == 0 && all {
            break;
        }
    }
    let ways = [(Pair::A, Pair::B), (Pair::B, Pair::A)];
    let links = ways.map(|(from, to)| pair.world.network().link_stats(from, to));
    let took = [core::mem::take(&mut a.seen.took), b.seen.took].concat();
    Seen {
        sent: (a.sent.len() + b.sent.len()) as u64,
        took,
        bytes: links.iter().map(|link| link.bytes_sent).sum(),
        datagrams: links.iter().map(|link| link.sent).sum(),
        waiting: a.seen.waiting.max(b.seen.waiting),
    }
}
