//! Two endpoints in packets of their own, with an ack system, on a bare network.

use core::time::Duration;

use porous_message::{
    AckHeader, AckSystem, Endpoint, Freshness, MessageConfig, ReadStream, Resend, Serialize,
    WriteStream,
};
use porous_proto::Instant;
use porous_sim::{LinkConfig, Network, Seed};

use crate::talk::{Numbered, Speaker, all_was_heard, talk};

const TICK: Duration = Duration::from_millis(100);

/// The length of the header in bytes.
const HEADER: usize = 8;

/// One end.
struct Player {
    acks: AckSystem,
    endpoint: Endpoint<Numbered>,
    speaker: Speaker,
}

impl Player {
    fn new(seed: Seed, name: &str, config: MessageConfig) -> Self {
        Self {
            acks: AckSystem::new(1024),
            endpoint: Endpoint::new(config),
            speaker: Speaker::new(seed, name),
        }
    }

    /// A packet of the steady flow: it goes out even if it has nothing but acks.
    fn packet(&mut self, now: Instant) -> Vec<u8> {
        let mut header = self.acks.packet_sent(now);
        let mut packet = vec![0; HEADER + 1100];
        let (head, rest) = packet.split_at_mut(HEADER);
        let mut stream = WriteStream::new(head);
        header.serialize(&mut stream).unwrap();
        let _ = stream.finish();
        let content = self.endpoint.write_packet(now, header.sequence, rest);
        let length = content.unwrap().map_or(0, |content| content.len());
        packet.truncate(HEADER + length);
        packet
    }

    fn receive(&mut self, now: Instant, packet: &[u8]) {
        let (head, rest) = packet.split_at(HEADER);
        let mut header = AckHeader::blank();
        header.serialize(&mut ReadStream::new(head)).unwrap();
        if self.acks.check(header.sequence) != Freshness::New {
            return;
        }
        if !rest.is_empty() {
            self.endpoint.read_packet(rest).expect("it is one of ours");
        }
        let endpoint = &mut self.endpoint;
        let arrived = |sequence| endpoint.packet_acked(sequence);
        let _ = self.acks.packet_received(now, &header, arrived);
        if let Some(rtt) = self.acks.rtt() {
            self.endpoint.set_rtt(rtt);
        }
    }
}

/// Two ends.
struct Both {
    network: Network<usize>,
    players: [Player; 2],
    now: Instant,
}

impl Both {
    fn new(seed: Seed, link: LinkConfig, config: &MessageConfig) -> Self {
        Self {
            network: Network::new(seed, link),
            players: ["a", "b"].map(|name| Player::new(seed, name, config.clone())),
            now: Instant::ZERO,
        }
    }

    fn tick(&mut self, talks: bool) -> bool {
        while let Some((_, to, packet)) = self.network.receive(self.now) {
            self.players[to].receive(self.now, &packet);
        }
        for (index, player) in self.players.iter_mut().enumerate() {
            player.speaker.hear(&mut player.endpoint);
            if talks {
                player.speaker.speak(&mut player.endpoint);
            }
            let packet = player.packet(self.now);
            self.network.send(self.now, index, 1 - index, packet);
        }
        self.now = self.now + TICK;
        let [a, b] = &self.players;
        all_was_heard(&a.speaker, &b.speaker)
    }
}

/// Lets both ends send for `ticks` ticks, and then wait until all messages were received.
pub(crate) fn soak(seed: Seed, link: LinkConfig, config: &MessageConfig, ticks: u32) {
    let mut both = Both::new(seed, link, config);
    talk(seed, ticks, 10_000, |talks| both.tick(talks));
    for player in &both.players {
        let (stats, sent) = (player.endpoint.stats(), player.speaker.sent);
        assert!(sent[0] > 10_000 && sent[1] > 100, "{sent:?} {seed}");
        assert_eq!(stats.packets_refused, 0, "{seed}");
        assert!(
            stats.resent > 1000 && stats.duplicates > 1000,
            "{stats:?} {seed}"
        );
    }
}

/// 64 messages at once, while nine of ten packets are lost.
pub(crate) fn at_90_percent(seed: Seed, config: &MessageConfig) {
    let link = LinkConfig::new()
        .delay(Duration::from_millis(50))
        .loss(90.0);
    let mut both = Both::new(seed, link, &config.clone().resend(Resend::ByRoundTrip));
    for number in 0..64 {
        let [a, _] = &mut both.players;
        a.endpoint.send(0, Numbered::new(number)).unwrap();
        a.speaker.sent[0] += 1;
    }
    talk(seed, 0, 1000, |talks| both.tick(talks));
}
