//! Two endpoints and their carrier. A test decides about each packet.

use core::time::Duration;

use porous_message::{Endpoint, MessageChannel, MessageConfig, Serialize};
use porous_proto::Instant;

pub(crate) const A: usize = 0;
pub(crate) const B: usize = 1;

/// Both ends.
pub(crate) struct Both<M> {
    pub(crate) ends: [Endpoint<M>; 2],
    pub(crate) now: Instant,
    /// The numbers of the next packets.
    pub(crate) next: [u16; 2],
}

/// A packet that was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Packet {
    pub(crate) from: usize,
    pub(crate) sequence: u16,
    pub(crate) bytes: Vec<u8>,
}

impl<M: Serialize + core::fmt::Debug> Both<M> {
    pub(crate) fn new(channels: &[MessageChannel]) -> Self {
        Self::with(MessageConfig::new(channels).unwrap())
    }

    pub(crate) fn with(config: MessageConfig) -> Self {
        Self {
            ends: [(); 2].map(|()| Endpoint::new(config.clone())),
            now: Instant::ZERO,
            next: [0; 2],
        }
    }

    pub(crate) fn wait(&mut self, millis: u64) {
        self.now = self.now + Duration::from_millis(millis);
    }

    /// The next packet of this end, if it has one.
    pub(crate) fn write(&mut self, from: usize) -> Option<Packet> {
        let mut buffer = [0; 2000];
        let sequence = self.next[from];
        let packet = self.ends[from].write_packet(self.now, sequence, &mut buffer);
        let bytes = packet.unwrap()?.to_vec();
        self.next[from] = sequence.wrapping_add(1);
        Some(Packet {
            from,
            sequence,
            bytes,
        })
    }

    /// Lets the packet arrive.
    pub(crate) fn read(&mut self, packet: &Packet) {
        self.ends[1 - packet.from]
            .read_packet(&packet.bytes)
            .unwrap();
    }

    /// Tells the sender of the packet that it has arrived.
    pub(crate) fn ack(&mut self, packet: &Packet) {
        self.ends[packet.from].packet_acked(packet.sequence);
    }

    /// Lets both ends send packets, which all arrive and are acknowledged, until neither end has any more.
    pub(crate) fn exchange(&mut self) {
        for _ in 0..100_000 {
            let packets = [A, B].map(|end| self.write(end));
            if packets == [None, None] {
                return;
            }
            for packet in packets.iter().flatten() {
                self.read(packet);
                self.ack(packet);
            }
        }
        panic!("they never stop");
    }

    /// The messages that this end has received by now, without blocks.
    pub(crate) fn received(&mut self, end: usize) -> Vec<M> {
        let arrivals = core::iter::from_fn(|| self.ends[end].receive());
        arrivals.map(|arrival| arrival.message).collect()
    }
}
