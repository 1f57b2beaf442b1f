//! Two endpoints and their carrier, and the messages that each may receive from the other.

use core::time::Duration;

use porous_message::{Arrival, Endpoint, Reason};
use porous_proto::Instant;

use crate::setup::{MAX_BLOCK, Numbered, Op, Setup, block};

/// The number of packets that the carrier remembers.
pub(crate) const IN_FLIGHT: usize = 24;
/// The most steps of 100 ms until all messages have arrived after the last loss: an endpoint that doubts an
/// ack may wait for 64 s.
pub(crate) const HEALING: u32 = 20_000;
/// One end, with the messages that it has sent and received.
pub(crate) struct End {
    pub(crate) endpoint: Endpoint<Numbered>,
    next_packet: u16,
    packets: Vec<(u16, Vec<u8>)>,
    /// The number of messages sent, by channel.
    pub(crate) sent: [u16; 3],
    pub(crate) heard: [u16; 3],
    /// The lengths of the blocks sent, in bytes.
    pub(crate) blocks: Vec<u16>,
    /// The numbers of the other end's blocks that were received.
    pub(crate) heard_blocks: Vec<u16>,
}

impl End {
    pub(crate) fn new(setup: &Setup) -> Self {
        Self {
            endpoint: Endpoint::new(setup.config()),
            next_packet: u16::MAX - 10,
            packets: Vec::new(),
            sent: [0; 3],
            heard: [0; 3],
            blocks: Vec::new(),
            heard_blocks: Vec::new(),
        }
    }

    pub(crate) fn send(&mut self, channel: usize, len: u8) {
        let number = self.sent.get(channel).copied().unwrap_or(0);
        let message = Numbered::new(number, len);
        match self.endpoint.send_urgent(channel, message.clone(), len) {
            Ok(()) => self.sent[channel] += 1,
            Err(unsent) => {
                assert_eq!(unsent.message, message);
                let expected = [Reason::NoChannel, Reason::Full, Reason::TooLarge];
                assert!(expected.contains(&unsent.reason), "{unsent:?}");
                assert_eq!(unsent.reason == Reason::NoChannel, channel == 3);
            }
        }
    }

    pub(crate) fn send_block(&mut self, len: u16, message: u8) {
        let number = u16::try_from(self.blocks.len()).expect("not so many");
        let (message, len) = (Numbered::new(number, message), len % (MAX_BLOCK + 2));
        match self.endpoint.send_block(2, message, block(number, len)) {
            Ok(()) => self.blocks.push(len),
            Err(unsent) => {
                assert!(matches!(unsent.reason, Reason::Full | Reason::TooLarge));
                assert!(len <= MAX_BLOCK || unsent.reason == Reason::TooLarge);
            }
        }
    }

    /// Writes a packet. True if there was one.
    pub(crate) fn write(&mut self, now: Instant, setup: &Setup) -> bool {
        let mut buffer = [0; 400];
        let written = self
            .endpoint
            .write_packet(now, self.next_packet, &mut buffer);
        let Some(packet) = written.expect("the buffer is long enough") else {
            return false;
        };
        assert!(packet.len() <= setup.packet, "{} bytes", packet.len());
        if self.packets.len() == IN_FLIGHT {
            self.packets.remove(0);
        }
        self.packets.push((self.next_packet, packet.to_vec()));
        self.next_packet = self.next_packet.wrapping_add(1);
        true
    }

    pub(crate) fn packet(&self, place: u8) -> Option<(u16, Vec<u8>)> {
        let place = usize::from(place).checked_rem(self.packets.len())?;
        self.packets.get(place).cloned()
    }

    pub(crate) fn hear(&mut self, from: &Self, most: usize) {
        for _ in 0..most {
            let Some(arrival) = self.endpoint.receive() else {
                return;
            };
            let Arrival {
                channel,
                message,
                block: bytes,
            } = arrival;
            assert!(message.is_whole(), "{message:?}");
            if let Some(bytes) = bytes {
                let len = from.blocks[usize::from(message.number)];
                assert_eq!((channel, &bytes[..]), (2, &block(message.number, len)[..]));
                assert!(!self.heard_blocks.contains(&message.number), "twice");
                self.heard_blocks.push(message.number);
            } else {
                assert!(message.number < from.sent[channel], "never sent");
                // The carrier may deliver an unreliable packet twice.
                assert!(
                    channel == 1 || message.number == self.heard[channel],
                    "in order"
                );
                self.heard[channel] += 1;
            }
        }
    }

    pub(crate) fn has_heard_all(&self, from: &Self) -> bool {
        let is_heard = |channel: usize| self.heard[channel] == from.sent[channel];
        let is_settled = |channel| from.endpoint.queued(channel) == 0;
        is_heard(0)
            && is_heard(2)
            && self.heard_blocks.len() == from.blocks.len()
            && is_settled(0)
            && is_settled(2)
    }
}

pub(crate) struct Pair {
    pub(crate) setup: Setup,
    pub(crate) now: Instant,
    pub(crate) ends: [End; 2],
}

impl Pair {
    pub(crate) fn new(setup: Setup) -> Self {
        let setup = setup.valid();
        Self {
            setup,
            now: Instant::ZERO,
            ends: [End::new(&setup), End::new(&setup)],
        }
    }

    /// This end, and the other one.
    fn both(&mut self, first: bool) -> (&mut End, &mut End) {
        let [a, b] = &mut self.ends;
        if first { (a, b) } else { (b, a) }
    }

    pub(crate) fn apply(&mut self, op: &Op) {
        let (now, setup) = (self.now, self.setup);
        match *op {
            Op::Send(end, channel, len, count) => {
                (0..count).for_each(|_| self.both(end).0.send(channel, len));
            }
            Op::Block(end, len, message) => self.both(end).0.send_block(len, message),
            Op::Write(end, count) => {
                let _ = (0..count).all(|_| self.both(end).0.write(now, &setup));
            }
            Op::Deliver(end, place, is_told) => {
                let (from, to) = self.both(end);
                if let Some((number, packet)) = from.packet(place) {
                    assert_eq!(to.endpoint.read_packet(&packet), Ok(()));
                    if is_told {
                        from.endpoint.packet_acked(number);
                    }
                }
            }
            Op::Acked(end, place) => {
                let from = self.both(end).0;
                let number = from.packet(place).map(|(number, _)| number);
                from.endpoint
                    .packet_acked(number.unwrap_or_else(|| place.into()));
            }
            Op::Lost(end, place) => {
                let from = self.both(end).0;
                let number = from.packet(place).map(|(number, _)| number);
                from.endpoint
                    .packet_lost(number.unwrap_or_else(|| place.into()));
            }
            Op::Receive(end, most) => {
                let (to, from) = self.both(end);
                to.hear(from, most.into());
            }
            Op::Pass(millis) => self.now = now + Duration::from_millis(millis.into()),
            Op::RoundTrip(end, millis) => {
                let rtt = Duration::from_millis(millis.into());
                self.both(end).0.endpoint.set_rtt(rtt);
            }
        }
    }

    /// Lets all packets arrive from now on. True if either end had one.
    pub(crate) fn tick(&mut self) -> bool {
        let (now, setup) = (self.now, self.setup);
        let mut wrote = false;
        for end in [true, false] {
            let (from, to) = self.both(end);
            for _ in 0..4 {
                if !from.write(now, &setup) {
                    break;
                }
                wrote = true;
                let (number, packet) = from.packets.pop().expect("it was written");
                assert_eq!(to.endpoint.read_packet(&packet), Ok(()));
                from.endpoint.packet_acked(number);
                to.hear(from, usize::MAX);
            }
            to.hear(from, usize::MAX);
        }
        self.now = now + Duration::from_millis(100);
        wrote
    }

    pub(crate) fn heal(&mut self) {
        let mut ticks = 0..HEALING;
        loop {
            let [a, b] = &self.ends;
            if a.has_heard_all(b) && b.has_heard_all(a) {
                break;
            }
            assert!(ticks.next().is_some(), "it never ends");
            self.tick();
        }
        // After that nothing is sent.
        for _ in 0..20 {
            self.tick();
        }
        assert!(!self.tick(), "what is there to say?");
        for end in &self.ends {
            assert_eq!(end.endpoint.stats().packets_refused, 0);
        }
    }
}
