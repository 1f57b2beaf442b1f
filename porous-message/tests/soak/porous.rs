//! Two sessions over two hosts of porous.

use core::time::Duration;

use porous_message::{Carrier, MessageStats, Resend, Session};
use porous_proto::congestion::Congestion;
use porous_proto::{Channel, ChannelId, Config, Event, Priority};
use porous_sim::{LinkConfig, Pair, Seed};

use crate::talk::{Numbered, Speaker, all_was_heard, config, talk};

const CHANNEL: ChannelId = ChannelId(0);

/// A tick of a tenth of a second, as in the article's own soak test.
const TICK: Duration = Duration::from_millis(100);

/// The article's time to send a message again.
pub(crate) const ARTICLE: Resend = Resend::After(Duration::from_millis(100));

/// Two hosts, each with a session and a speaker.
struct Both {
    pair: Pair,
    sessions: [Session<Numbered>; 2],
    speakers: [Speaker; 2],
}

/// The settings of both ends.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) channel: Channel,
    pub(crate) congestion: Congestion,
    pub(crate) resend: Resend,
}

impl Settings {
    pub(crate) const fn new() -> Self {
        Self {
            channel: Channel::new(Priority::High).unordered(),
            // Most other controllers take such losses for a full path, and send next to nothing.
            congestion: Congestion::Fixed { rate: 16_000 },
            resend: Resend::ByRoundTrip,
        }
    }
}

impl Both {
    fn new(seed: Seed, link: LinkConfig, settings: Settings) -> Self {
        let Settings {
            channel,
            congestion,
            resend,
        } = settings;
        let host = |config: Config| {
            let config = config.congestion(congestion);
            config.channel(CHANNEL, channel).unwrap()
        };
        let (a, b) = (host(Config::client()), host(Config::new()));
        let mut pair = Pair::new(seed, LinkConfig::new(), a, b);
        pair.connect_to_listener();
        pair.world.network_mut().set_all(link);
        Self {
            pair,
            sessions: [(); 2].map(|()| Session::new(config().resend(resend))),
            speakers: ["a", "b"].map(|name| Speaker::new(seed, name)),
        }
    }

    /// One tick of both ends. Each sends messages if `talks` is true. Returns true if all were received.
    fn tick(&mut self, talks: bool) -> bool {
        for (index, address) in [Pair::A, Pair::B].into_iter().enumerate() {
            let (session, speaker) = (&mut self.sessions[index], &mut self.speakers[index]);
            for received in self.pair.receive_all(address) {
                session
                    .receive_packet(&received.payload)
                    .expect("it is one of ours");
            }
            while let Some(event) = self.pair.world.poll_event(address) {
                if let Event::Receipt { token, outcome, .. } = event {
                    session.receipt(token, outcome);
                }
                assert!(!matches!(event, Event::Disconnected { .. }), "{event:?}");
            }
            speaker.hear(session.endpoint());
            if talks {
                speaker.speak(session.endpoint());
            }
            let (now, peer) = (self.pair.world.now(), self.pair.peer(address));
            let host = self.pair.world.host_mut(address);
            let carrier = Carrier::of(host.peer(peer).unwrap(), CHANNEL);
            for (packet, options) in session.packets(now, carrier).unwrap() {
                // A packet that the host does not take counts as lost for the session.
                let _ = host.send(peer, CHANNEL, packet, options);
            }
        }
        self.pair.world.run_for(TICK);
        let [a, b] = &self.speakers;
        all_was_heard(a, b)
    }

    fn stats(&mut self) -> [MessageStats; 2] {
        self.sessions
            .each_mut()
            .map(|session| session.endpoint().stats())
    }
}

/// Lets both ends send for `ticks` ticks, and then wait until all messages were received.
pub(crate) fn soak(seed: Seed, link: LinkConfig, settings: Settings, ticks: u32) {
    let mut both = Both::new(seed, link, settings);
    talk(seed, ticks, 10_000, |talks| both.tick(talks));
    let [a, b] = &both.speakers;
    // The share of unreliable messages that arrive is that of the packets.
    let heard = b.heard[2] as f32 / a.sent[2] as f32;
    assert!((0.6..0.9).contains(&heard), "{heard} {seed}");
    assert!(
        a.sent[0] > 10_000 && a.sent[1] > 100 && b.heard[2] > 100,
        "{:?} {seed}",
        a.sent
    );
    let [a, b] = both.stats();
    assert_eq!((a.packets_refused, b.packets_refused), (0, 0), "{seed}");
    assert!(a.resent > 1000 && a.duplicates > 500, "{a:?} {seed}");
}

/// 64 messages at once, while nine of ten datagrams are lost.
pub(crate) fn at_90_percent(seed: Seed) {
    let link = LinkConfig::new()
        .delay(Duration::from_millis(50))
        .loss(90.0);
    let settings = Settings {
        resend: ARTICLE,
        ..Settings::new()
    };
    let mut both = Both::new(seed, link, settings);
    for number in 0..64 {
        let sent = both.sessions[0].endpoint().send(0, Numbered::new(number));
        sent.expect("there is room");
        both.speakers[0].sent[0] += 1;
    }
    talk(seed, 0, 1000, |talks| both.tick(talks));
}

/// Packets that were overtaken are acknowledged by the host, and not given to the session.
pub(crate) fn on_an_ordered_channel(seed: Seed, link: LinkConfig) {
    let settings = Settings {
        channel: Channel::new(Priority::High),
        ..Settings::new()
    };
    let mut both = Both::new(seed, link, settings);
    talk(seed, 2000, 10_000, |talks| both.tick(talks));
    let [a, b] = both.stats();
    assert!(a.packets_acked > b.packets_read + 10, "{a:?} {b:?} {seed}");
}
