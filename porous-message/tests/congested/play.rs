//! A game that sends messages at each tick, in sessions or in reliable packets of the host's own.

use core::time::Duration;

use bytes::Bytes;
use porous_message::{
    Carrier, Error, MessageChannel, MessageConfig, MessageStats, Serialize, Session, Stream,
};
use porous_proto::congestion::Congestion;
use porous_proto::{
    Channel, ChannelId, Config, Event, Host, Instant, Mode, PeerId, PeerStats, Priority,
};
use porous_sim::{ChaCha8Rng, LinkConfig, Pair, Seed};

/// The length of a tick: there are 62.5 a second.
const TICK: Duration = Duration::from_millis(16);

const MESSAGES: ChannelId = ChannelId(0);
const BULK: ChannelId = ChannelId(1);

/// The length of a message in bytes.
pub(crate) const LEN: usize = 27;

/// The carrier of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Session,
    /// A session that knows the state of its host a tick late.
    FarSession,
    /// Reliable packets of the host's own.
    Host,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) by: By,
    /// The number of messages at each tick: 15 are 25 kB/s.
    pub(crate) each: u32,
    /// True if both ends send, and not only the first.
    pub(crate) both: bool,
    /// True if bulk data is sent beside the messages at low priority, as much as the host takes.
    pub(crate) bulk: bool,
    pub(crate) congestion: Congestion,
    pub(crate) seconds: u64,
}

impl Load {
    /// A minute of 25 kB/s one way.
    pub(crate) const fn new(by: By) -> Self {
        Self {
            by,
            each: 15,
            both: false,
            bulk: false,
            congestion: Congestion::Lean,
            seconds: 60,
        }
    }
}

/// A message with its number.
#[derive(Debug, PartialEq)]
pub(crate) struct Numbered(u32);

impl Serialize for Numbered {
    fn blank() -> Self {
        Self(0)
    }

    fn serialize<S: Stream>(&mut self, stream: &mut S) -> Result<(), Error> {
        self.0.serialize(stream)?;
        stream.bytes(&mut [7; LEN - 4])
    }
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) sent: usize,
    /// The time that each arrived message took, in milliseconds; sorted.
    pub(crate) took: Vec<u64>,
    /// Bytes of UDP payload, both ways together.
    pub(crate) wire: u64,
    /// The most bytes that waited in a host on the sessions' channel, with 64 for each packet, or were
    /// not acknowledged.
    pub(crate) waiting: usize,
    pub(crate) messages: MessageStats,
}

impl Seen {
    /// The time in milliseconds that this percentage of messages does not exceed.
    pub(crate) fn within(&self, percent: usize) -> u64 {
        let last = self.took.len() - 1;
        self.took[(self.took.len() * percent / 100).min(last)]
    }
}

/// One end.
struct End {
    address: u32,
    session: Session<Numbered>,
    /// The statistics of the host at the last tick.
    stats: PeerStats,
    sent: Vec<Instant>,
    /// The number of messages that found no room yet.
    backlog: u32,
    heard: usize,
    took: Vec<u64>,
    waiting: usize,
}

impl End {
    fn new(address: u32) -> Self {
        let messages = MessageConfig::new(&[MessageChannel::reliable()]).unwrap();
        Self {
            address,
            session: Session::new(messages),
            stats: PeerStats::default(),
            sent: Vec::new(),
            backlog: 0,
            heard: 0,
            took: Vec::new(),
            waiting: 0,
        }
    }

    fn hear(&mut self, pair: &mut Pair, by: By, other: &[Instant]) {
        let now = pair.world.now();
        for received in pair.receive_all(self.address) {
            if received.channel == BULK {
                continue;
            }
            match by {
                By::Session | By::FarSession => {
                    self.session.receive_packet(&received.payload).unwrap();
                }
                By::Host => {
                    let number = received.payload.first_chunk().unwrap();
                    self.heard(u32::from_le_bytes(*number), now, other);
                }
            }
        }
        while let Some(event) = pair.world.poll_event(self.address) {
            if let Event::Receipt { token, outcome, .. } = event {
                self.session.receipt(token, outcome);
            }
            assert!(!matches!(event, Event::Disconnected { .. }), "{event:?}");
        }
        while let Some(arrival) = self.session.endpoint().receive() {
            self.heard(arrival.message.0, now, other);
        }
    }

    fn heard(&mut self, number: u32, now: Instant, other: &[Instant]) {
        let number = usize::try_from(number).unwrap();
        assert_eq!(number, self.heard, "in order");
        self.heard += 1;
        let took = now.saturating_duration_since(other[number]);
        self.took.push(u64::try_from(took.as_millis()).unwrap());
    }

    fn speak(&mut self, pair: &mut Pair, load: &Load, messages: u32) {
        let (now, peer) = (pair.world.now(), pair.peer(self.address));
        let host = pair.world.host_mut(self.address);
        self.sent.extend((0..messages).map(|_| now));
        self.backlog += messages;
        while self.backlog > 0 {
            let number = u32::try_from(self.sent.len()).unwrap() - self.backlog;
            if !self.send(host, peer, load.by, number) {
                break;
            }
            self.backlog -= 1;
        }
        while load.bulk && host.send(peer, BULK, vec![7; 1000], Mode::Reliable).is_ok() {}
        let connection = host.peer(peer).unwrap();
        let carrier = match load.by {
            By::FarSession => Carrier::from(&self.stats),
            By::Session | By::Host => Carrier::of(connection, MESSAGES),
        };
        self.stats = connection.stats();
        for (packet, options) in self.session.packets(now, carrier).unwrap() {
            host.send(peer, MESSAGES, packet, options).unwrap();
        }
        if !load.bulk {
            let waiting = host.peer(peer).unwrap().queued_bytes();
            self.waiting = self.waiting.max(waiting);
        }
    }

    fn send(
        &mut self,
        host: &mut Host<ChaCha8Rng, u32>,
        peer: PeerId,
        by: By,
        number: u32,
    ) -> bool {
        match by {
            By::Session | By::FarSession => {
                self.session.endpoint().send(0, Numbered(number)).is_ok()
            }
            By::Host => {
                let mut bytes = vec![7; LEN];
                bytes[..4].copy_from_slice(&number.to_le_bytes());
                host.send(peer, MESSAGES, Bytes::from(bytes), Mode::Reliable)
                    .is_ok()
            }
        }
    }
}

/// Plays the load, and then until all messages have arrived, for at most half a minute.
pub(crate) fn play(seed: Seed, line: LinkConfig, load: &Load) -> Seen {
    play_on(seed, |_| line, load)
}

/// As [`play`], on a line that changes: `line` returns its conditions at each tick.
pub(crate) fn play_on(seed: Seed, line: impl Fn(u64) -> LinkConfig, load: &Load) -> Seen {
    let config = |config: Config| {
        let channel = Channel::new(Priority::High);
        let channel = match load.by {
            By::Host => channel,
            By::Session | By::FarSession => channel.unordered(),
        };
        let config = config.congestion(load.congestion);
        let config = config.channels(&[Priority::High, Priority::Low]).unwrap();
        config.channel(MESSAGES, channel).unwrap()
    };
    let mut pair = Pair::new(
        seed,
        line(0),
        config(Config::client()),
        config(Config::new()),
    );
    pair.connect_to_listener();
    let (mut a, mut b) = (End::new(Pair::A), End::new(Pair::B));
    let ticks = load.seconds * 1000 / 16;
    for tick in 0..ticks + 1875 {
        let messages = if tick < ticks { load.each } else { 0 };
        pair.world.network_mut().set_all(line(tick));
        a.hear(&mut pair, load.by, &b.sent);
        b.hear(&mut pair, load.by, &a.sent);
        a.speak(&mut pair, load, messages);
        b.speak(&mut pair, load, if load.both { messages } else { 0 });
        pair.world.run_for(TICK);
        let all = a.sent.len() == b.heard && b.sent.len() == a.heard;
        if tick >= ticks && all {
            break;
        }
    }
    let mut took = [a.took, b.took].concat();
    took.sort_unstable();
    let host = pair.world.host(Pair::A).peer(pair.peer(Pair::A)).unwrap();
    let stats = host.stats();
    Seen {
        sent: a.sent.len() + b.sent.len(),
        took,
        wire: stats.bytes_sent + stats.bytes_received,
        waiting: a.waiting.max(b.waiting),
        messages: a.session.endpoint().stats(),
    }
}
