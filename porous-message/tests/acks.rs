//! Messages in an engine's own packets: an endpoint over packet acks; and the headers of
//! `docs/message.md`.

#![expect(clippy::unwrap_used, reason = "a test")]

use core::time::Duration;

use porous_message::{
    AckHeader, AckSystem, Endpoint, Freshness, MessageChannel, MessageConfig, read, write,
};
use porous_proto::Instant;
use porous_sim::{LinkConfig, Network, Seed};

const HEADER: usize = 8;
const TICK: Duration = Duration::from_micros(16_667);

/// Messages are numbers that count up.
struct Side {
    acks: AckSystem,
    endpoint: Endpoint<u32>,
    sent: u32,
    heard: u32,
}

impl Side {
    fn new() -> Self {
        let config = MessageConfig::new(&[MessageChannel::reliable()]).unwrap();
        Self {
            acks: AckSystem::new(1024),
            endpoint: Endpoint::new(config),
            sent: 0,
            heard: 0,
        }
    }

    /// A packet for each tick, even if it carries nothing but acks.
    fn packet<'b>(&mut self, now: Instant, buffer: &'b mut [u8]) -> &'b [u8] {
        if self.endpoint.send(0, self.sent).is_ok() {
            self.sent += 1;
        }
        if let Some(rtt) = self.acks.rtt() {
            self.endpoint.set_rtt(rtt);
        }
        let mut header = self.acks.packet_sent(now);
        let (head, rest) = buffer.split_at_mut(HEADER);
        write(&mut header, head).unwrap();
        let written = self.endpoint.write_packet(now, header.sequence, rest);
        let length = written.unwrap().map_or(0, |rest| rest.len());
        &buffer[..HEADER + length]
    }

    fn receive(&mut self, now: Instant, packet: &[u8], seed: Seed) {
        let (head, rest) = packet.split_at(HEADER);
        let header: AckHeader = read(head).unwrap();
        let checked = self.acks.check(header.sequence);
        if checked == Freshness::New && !rest.is_empty() {
            self.endpoint.read_packet(rest).unwrap();
        }
        let endpoint = &mut self.endpoint;
        let on_acked = |sequence| endpoint.packet_acked(sequence);
        let freshness = self.acks.packet_received(now, &header, on_acked);
        assert_eq!(freshness, checked, "{seed}");
        while let Some(arrival) = self.endpoint.receive() {
            assert_eq!(arrival.message, self.heard, "{seed}");
            self.heard += 1;
        }
    }
}

/// Both sides after `ticks` ticks with new messages, and some ticks without.
fn talk(line: LinkConfig, ticks: u64) -> [Side; 2] {
    let seed = Seed::from_env(Seed::new(11));
    let mut network = Network::new(seed, line);
    let mut sides = [Side::new(), Side::new()];
    let (mut now, mut buffer) = (Instant::ZERO, [0; 1200]);
    for _ in 0..ticks {
        for (side, name) in sides.iter_mut().zip([0_u8, 1]) {
            let packet = side.packet(now, &mut buffer);
            network.send(now, name, 1 - name, packet);
        }
        now = now + TICK;
        while let Some((_, to, packet)) = network.receive(now) {
            sides[usize::from(to)].receive(now, &packet, seed);
        }
    }
    for (side, other) in [(0, 1), (1, 0)] {
        let (heard, sent) = (sides[side].heard, sides[other].sent);
        let queued = sides[other].endpoint.queued(0);
        assert!(usize::try_from(sent - heard).unwrap() <= queued, "{seed}");
    }
    sides
}

#[test]
fn messages_arrive_in_order_over_three_turns_of_packet_numbers() {
    let line = LinkConfig::new()
        .delay(Duration::from_millis(200))
        .jitter(Duration::from_millis(100))
        .jitter_reorders(true)
        .loss(25.0)
        .duplicate(25.0);
    for side in talk(line, 4 << 16) {
        assert!(side.heard > 200_000, "{}", side.heard);
    }
}

#[test]
fn messages_arrive_in_order_at_95_percent_loss() {
    let line = LinkConfig::new()
        .delay(Duration::from_millis(50))
        .jitter(Duration::from_millis(50))
        .jitter_reorders(true)
        .loss(95.0);
    for side in talk(line, 4 << 16) {
        assert!(side.heard > 10_000, "{}", side.heard);
    }
}

#[test]
fn a_message_goes_into_one_packet_at_any_round_trip_if_nothing_is_lost() {
    for delay in [10, 60, 120, 240] {
        let line = LinkConfig::new().delay(Duration::from_millis(delay));
        for side in talk(line, 1000) {
            let stats = side.endpoint.stats();
            // Until the first round trip is known, each message is sent again after 100 ms.
            let first = if delay > 40 { 2 * delay / 16 * 4 } else { 0 };
            assert!(stats.resent <= first, "{delay} ms: {stats:?}");
            assert!(stats.sent > 900, "{delay} ms: {stats:?}");
        }
    }
}

/// Parses `packet 2, received 5 4`: the header that an ack system gives.
fn header_of(case: &str) -> AckHeader {
    let (packet, received) = case.split_once(", received ").unwrap();
    let packet: u32 = packet.strip_prefix("packet ").unwrap().parse().unwrap();
    let mut acks = AckSystem::new(1024);
    for _ in 0..packet {
        let _ = acks.packet_sent(Instant::ZERO);
    }
    for sequence in received.split(' ').filter(|word| *word != "nothing") {
        let header = AckHeader {
            sequence: sequence.parse().unwrap(),
            ..AckHeader::default()
        };
        let freshness = acks.packet_received(Instant::ZERO, &header, |_| {});
        assert_eq!(freshness, Freshness::New, "{case}");
    }
    acks.packet_sent(Instant::ZERO)
}

#[test]
fn the_headers_of_the_documentation_are_what_they_say() {
    let document = include_str!("../../docs/message.md");
    let block = document.split("```acks\n").nth(1).unwrap();
    let lines = block.split("```").next().unwrap().lines();
    let mut count = 0;
    for line in lines {
        let (case, hex) = line.split_once(" | ").unwrap();
        let bytes = hex.split(' ').map(|byte| u8::from_str_radix(byte, 16));
        let bytes: Vec<u8> = bytes.collect::<Result<_, _>>().unwrap();
        let mut header = header_of(case.trim());
        assert_eq!(write(&mut header, &mut [0; 8]).unwrap(), bytes, "{case}");
        assert_eq!(read(&bytes), Ok(header), "{case}");
        count += 1;
    }
    assert_eq!(count, 4);
}
